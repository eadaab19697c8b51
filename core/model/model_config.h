// What config.json beside a model says of its sizes, under the keys of many families.
#pragma once

#include <optional>
#include <string>

#include "core/model/model_rotary.h"
#include "core/tensor/shape.h"

namespace headwise {

// Empty where the file does not say it.
struct ModelConfig {
  std::string model_type;                             // "bert", "gpt2", "llama" …
  std::optional<Index> embed_dim;                     // hidden_size, n_embd, d_model, dim
  std::optional<Index> num_layers;                    // num_hidden_layers, n_layer, n_layers, num_layers
  std::optional<Index> num_heads;                     // num_attention_heads, n_head, n_heads, num_heads
  std::optional<Index> num_kv_heads;                  // num_key_value_heads
  std::optional<Index> head_dim;                      // head_dim, d_kv
  std::optional<Index> encoder_heads, decoder_heads;  // encoder_attention_heads …, where they may differ
  std::optional<Index> sliding_window;  // where neither use_sliding_window nor layer_types denies it
  ModelRotary rotary;  // of families with rotary positions; what the file does not say is as usual
};

// Nothing where the folder has no config.json. Throws Error(input): no JSON object, a size that is no whole number of at least 1.
std::optional<ModelConfig> read_model_config(const std::string& folder);

}  // namespace headwise
