// Layers of multi_head_latent_attention in a model's files: DeepSeek's names and sizes, of which most follow
// from the arrays.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/model/layers/attention_layers.h"

namespace headwise {

// The columns of a head's query that have no position: D − R; 0 without latents.
Index qk_nope_head_dim(const AttentionLayer& layer);
// An array's stem, "self_attn.kv_b_proj.", and the operator's name for it.
struct LatentArray {
  std::string stem;
  const char* parameter;
  bool has_bias = false;  // may have one
};
std::vector<LatentArray> latent_arrays(const AttentionLayer& layer);

// Those arrays with the sizes that they have to have.
std::vector<LayerArray> arrays_of_latents(const AttentionLayer& layer);

// Those of the indexer beside them, if there is one. Its heads and width are those of its own arrays.
std::vector<LayerArray> arrays_of_indexer(const AttentionLayer& layer);
std::optional<Indexer> indexer_sizes(const AttentionLayer& layer);

// Sets the sizes that the arrays give. `needs` returns the weights at a stem, or notes that they are missing.
using NeededArray = std::function<const ArrayInfo*(std::string_view stem)>;
void set_latents(AttentionLayer& layer, const ModelFiles& files, const NeededArray& needs);
// The rows of k and v, once the number of heads is known.
void split_latent_rows(AttentionLayer& layer);

// Where the arrays are not of the sizes that config.json gives, or of none at all; else empty.
std::string latent_contradiction(const AttentionLayer& layer);
std::string indexer_contradiction(const AttentionLayer& layer);

}  // namespace headwise
