// The stages of the reference's forward pass that are not about pairs of queries and keys. Private to core/trace: see
// core/reference/reference_backend.h and core/reference/reference_parts.h.
#pragma once

#include "core/reference/stage_cache.h"
#include "core/trace/attention_sizes.h"

namespace headwise::reference_stages {

TensorPtr head_gain_tensor(const AttentionInputs& inputs, const Trace* previous);
void project(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes,
             StageCache& sharing);
void take_as_heads(TraceTensors& t);
void split(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes, StageCache& sharing);
void rotate(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes, StageCache& sharing);
void merge_and_project(TraceTensors& t, const AttentionSizes& sizes, StageCache& sharing);
void add_and_norm(TraceTensors& t, const AttentionOptions& options, StageCache& sharing);

}  // namespace headwise::reference_stages
