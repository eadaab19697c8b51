// The attention layers of a model's files, recognised by the names of their arrays.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/config/model_config.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/model_families.h"

namespace headwise {

struct AttentionLayer {
  std::string name;  // what stands before the family's names, without the dot: "encoder.layer.0"; may be empty
  const ModelFamily* family;                           // never null
  AttentionLayout layout = AttentionLayout::separate;  // the family's, unless config.json says another (Falcon)
  Index number = 0;       // of its block, as its name has it: 3 in "model.layers.3"; 0 without one
  bool is_cross = false;  // keys and values come from another stack
  std::shared_ptr<const ModelConfig> config;  // of the part of the model that it belongs to; null: no config.json
  Index query_width = 0;                      // E: columns of q's weights
  Index key_width = 0;                        // columns of k's and v's
  Index q_rows = 0, k_rows = 0,
        v_rows = 0;       // H·D, G·D, G·Dv; of interleaved and packed arrays only where heads are known
  Index packed_rows = 0;  // of the one array with q, k and v; 0: they are separate
  std::optional<Index> num_heads, num_kv_heads;  // none: no config.json says it
  bool has_bias = false;                         // any of the projections
  bool has_bias_kv = false;                      // bias_k and bias_v of nn.MultiheadAttention
  std::vector<std::string> unused_tensors;       // of its attention, by name, that no number here is made of
  std::vector<std::string> missing;              // arrays that the family has and that are not there
};

struct AttentionLayers {
  std::vector<AttentionLayer> layers;         // numbers in their names in order: layer 2 before layer 10
  std::shared_ptr<const ModelConfig> config;  // null: there is none
};

// The layers of a model, and its config.json. No array is read. Throws Error(input) for a config.json that is wrong.
AttentionLayers find_attention_layers(const ModelFiles& files);

// The layer with so many heads, where no config.json says how many.
AttentionLayer with_heads(AttentionLayer layer, Index num_heads, Index num_kv_heads);

// Why the layer cannot be computed with, a sentence: arrays are missing, shapes do not fit, the number of heads is not known or does
// not divide; empty where it can.
std::string layer_problem(const AttentionLayer& layer);

// "encoder.layer.0.attention.self.query.weight", of a stem of its family and "weight" or "bias".
std::string layer_array(const AttentionLayer& layer, std::string_view stem, const char* what);

}  // namespace headwise
