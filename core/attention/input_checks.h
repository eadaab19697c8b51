// The parts of check_attention_inputs that are files of their own: masks and a past, and what enters the
// scores by an option. Each throws a Refusal.
#pragma once

#include "core/attention/attention_sizes.h"
#include "core/attention/refusals.h"
#include "core/attention/trace.h"

namespace headwise {

// Checks the given masks and lengths against the sizes; their types have already been checked.
void check_masks(const AttentionInputs& inputs, const AttentionSizes& sizes, Refusals& refusals);

// The past that the operator's cache keeps, and nothing that stands for keys that are not projected.
void check_past(const AttentionInputs& inputs);
void check_past_shapes(const AttentionInputs& inputs, const AttentionSizes& sizes);

// Checks that columns can be rotated in pairs, and that everything has a position.
void check_rotary_embedding(const AttentionInputs& inputs);
// Where and of which shape the norms of q and k may be.
void check_qk_norm(const AttentionInputs& inputs, const AttentionSizes& sizes);
// A gate for each column of concat, or for each head.
void check_output_gate(const AttentionInputs& inputs, const AttentionSizes& sizes);
// One logit for each head, from the option or the array.
void check_sinks(const AttentionInputs& inputs, const AttentionSizes& sizes);
// A number for each head and bucket, if and only if they are asked for.
void check_relative_bias(const AttentionInputs& inputs, const AttentionSizes& sizes);
// The indexer's parameters, or for scaled_dot_product_attention its queries, keys and weights, if and only if
// it is asked for; and a key of its own for every key that is masked.
void check_indexer(const AttentionInputs& inputs, const AttentionSizes& sizes);

}  // namespace headwise
