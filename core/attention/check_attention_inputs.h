#pragma once

#include <memory>
#include <string>

#include "core/attention/trace.h"

namespace headwise {

// Checks shapes, types, options and their combinations; throws Error(input) that names both shapes and the
// likely cause. Inputs and parameters must have the trace's dtype, masks bool, f32 or f64, frozen_weights f32
// or f64, valid_lens i64. Of the values only those of valid_lens are read, so that everything else is checked
// for outlines (Tensor::outline) too.
void check_attention_inputs(const AttentionInputs& inputs);

// A trace before its first stage: the resolved options and what was given. The query, key and value of
// scaled_dot_product_attention are its q_heads, k_heads and v_heads.
std::shared_ptr<Trace> begun_trace(const AttentionInputs& inputs);

// Why a backend that computes in f32 leaves these inputs to the reference, a sentence that names it. Empty if
// it does not: they are in f32, no option is set that only the reference computes (OptionRow),
// and no size is 0.
std::string f32_backend_refusal(const AttentionInputs& inputs, const std::string& backend);

}  // namespace headwise
