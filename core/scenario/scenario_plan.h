// A fully resolved scenario: every size and option, from what is written, what the arrays say and what
// follows from the rest. No tensor is created here,
// so impossible sizes are refused before memory is allocated.
#pragma once

#include <optional>
#include <string>

#include "core/attention/attention_options.h"
#include "core/attention/attention_sizes.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/mask_presets.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct ScenarioPlan {
  AttentionOptions options;
  Index batch = 0;                        // N
  Index query_length = 0;                 // of key and value as given
  Index key_length = 0;                   // of key and value as they come in
  Index past = 0;                         // P: keys of the past, before them
  Index masked_keys = 0;                  // P + S: the same, unless static_k or static_v replace them
  Index all_keys = 0;                     // S′: including the appended columns
  bool self_attention = false;            // key and value are the query
  bool value_is_key = false;              // cross-attention: one array for both
  bool packed = false;                    // in_proj_weight, else separate q, k and v
  std::optional<MaskPreset> mask_preset;  // if it makes an attn_mask

  const char* key_axis() const { return key_axis_name(past > 0, all_keys != masked_keys); }
};

// How many tokens the texts have; empty if the inputs are not text.
struct TextLengths {
  std::optional<Index> query, key;
};

// A key as errors begin with it, with where its value comes from: "s.json: attention.embed_dim", "--set
// attention.embed_dim", "layer 1 of builtin:sentences: attention.embed_dim".
std::string place_of_value(const Scenario& scenario, const std::string& key);

// Checks all ranges, for a Scenario that was not read from JSON: throws Error(usage).
void check_scenario(const Scenario& scenario);

// Throws Error(usage) for a scenario that contradicts itself, naming every cause, and Error(input) if arrays
// are the cause. `given` are the arrays that `sizes` were read from.
ScenarioPlan plan_scenario(const Scenario& scenario, const GivenArrays& given, const GivenSizes& sizes,
                           const TextLengths& text);

// Bytes of the inputs, parameters and labels that the plan leads to. Throws Error(memory) on overflow.
Index planned_bytes(const ScenarioPlan& plan, const Scenario& scenario, DType dtype);

// Bytes of one tensor of the shape of the scores, (N,H,L,S′). Throws Error(memory) on overflow.
Index planned_map_bytes(const ScenarioPlan& plan, DType dtype);

// Throws Error(memory) if the inputs and parameters do not fit in addition to `maps` such tensors, naming the
// key of the largest size and its maximum.
// What of `given` has been read is in memory and is not counted again.
void require_planned_memory(const ScenarioPlan& plan, const Scenario& scenario, DType dtype,
                            const GivenArrays& given, Index maps);

}  // namespace headwise
