// A scenario with nothing left open: every size and option, from what is written, what the arrays say and
// what follows from the rest. No tensor is made here, so sizes that cannot be are refused before memory is
// taken.
#pragma once

#include <optional>

#include "core/attention/attention_options.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/mask_presets.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct ScenarioPlan {
  AttentionOptions options;
  Index batch = 0;                        // N
  Index query_length = 0;                 // L
  Index key_length = 0;                   // of key and value as they come in
  Index masked_keys = 0;                  // S: the same, unless static_k or static_v replace them
  Index all_keys = 0;                     // S′: with the appended columns
  bool self_attention = false;            // key and value are the query
  bool value_is_key = false;              // cross-attention: one memory for both
  bool packed = false;                    // in_proj_weight, else q, k and v each their own
  std::optional<MaskPreset> mask_preset;  // where it makes an attn_mask
};

// How many tokens the texts have; none where the inputs are not text.
struct TextLengths {
  std::optional<Index> query, key;
};

// Ranges of everything, for a Scenario that was not read from JSON: throws Error(usage).
void check_scenario(const Scenario& scenario);

// Throws Error(usage) for a scenario that contradicts itself, every cause named, and Error(input) where
// arrays are the cause. `given` are the arrays that `sizes` were read from.
ScenarioPlan plan_scenario(const Scenario& scenario, const GivenArrays& given, const GivenSizes& sizes,
                           const TextLengths& text);

// Bytes of the inputs, parameters and labels that the plan leads to. Throws Error(memory) where that
// overflows.
Index planned_bytes(const ScenarioPlan& plan, const Scenario& scenario, DType dtype);

// Bytes of one tensor of the shape of the scores, (N,H,L,S′). Throws Error(memory) where that overflows.
Index planned_map_bytes(const ScenarioPlan& plan, DType dtype);

// Throws Error(memory) where the inputs and parameters do not fit beside `maps` such tensors, naming the key of the largest size
// and the most that it could be. `given` are in memory already:
// they are not asked for a second time beside the maps.
void require_planned_memory(const ScenarioPlan& plan, const Scenario& scenario, DType dtype,
                            const GivenArrays& given, Index maps);

}  // namespace headwise
