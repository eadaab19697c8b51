// The attention layers in a model's files, recognised by the names of their arrays.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config/model_config.h"
#include "core/model/files/model_files.h"

namespace headwise {

// How families of models name and lay out the arrays of an attention layer: assets/models/families.txt.

enum class AttentionLayout {
  separate,     // q, k and v each [out,in]
  packed,       // rows of q, then k, then v: [out,in]
  packed_in,    // columns of q, then k, then v: [in,out] (GPT-2's Conv1D), the output projection [in,out] too
  interleaved,  // per head its rows of q, k and v: [H·3·D,in]
  queries_in,   // columns of q [in,out], of k and v in one array [in,2·out]: GPT-2's cross-attention
  grouped,      // per key/value head the rows of its query heads, then of k and v: [G·(H/G+2)·D,in]
  latent,       // those of multi_head_latent_attention, under DeepSeek's names
};

// Names are what follows a layer's prefix, up to "weight" or "bias": "attention.self.query." is part of
// "encoder.layer.0.attention.self.query.weight" in the layer "encoder.layer.0.".
struct ModelFamily {
  std::string_view name = {};  // "BERT"
  AttentionLayout layout = AttentionLayout::separate;
  std::string_view q = {}, k = {}, v = {};  // of separate arrays
  std::string_view kv = {};                 // of one array with k and v, next to that of q
  std::string_view qkv = {};                // of one array
  std::string_view output = {};
  std::string_view joint_bias = {};  // of separate arrays with one bias for q, k and v; else empty
  bool is_causal = false;            // outside of an encoder
  bool is_cross = false;             // keys and values come from another stack
  bool scales = true;                // by 1/√D
  // Many programs use these names for queries, but with other output names:
  // without this output the layer is not of this family.
  bool needs_output = false;
  // Only for models of this model_type in config.json; empty: for all.
  std::string_view model_type = {};
  // How attention itself sees positions: "rotary", "ALiBi", "relative"; else empty.
  std::string_view positions = {};

  std::string_view first_stem() const { return !qkv.empty() ? qkv : !q.empty() ? q : kv; }
};

// In the order in which they are tried: the first with all its arrays present wins.
std::span<const ModelFamily> model_families();

std::string_view layout_name(AttentionLayout layout);  // as `headwise info` prints it

struct AttentionLayer {
  std::string name;  // the prefix of the family's names, without the dot: "encoder.layer.0"; may be empty
  const ModelFamily* family;  // never null
  AttentionLayout layout =
      AttentionLayout::separate;  // the family's, unless config.json says otherwise (Falcon)
  Index number = 0;               // of its block, as in its name: 3 in "model.layers.3"; 0 if there is none
  bool is_cross = false;          // keys and values come from another stack
  // of the part of the model that it belongs to; null: no config.json
  std::shared_ptr<const ModelConfig> config;
  Index query_width = 0;  // E: columns of q's weights
  Index key_width = 0;    // columns of the weights of k and v
  Index q_rows = 0, k_rows = 0,
        v_rows = 0;  // H·D, G·D, G·Dv; for interleaved and packed arrays only if heads are known
  // Of latents, where there are some: C and R, Cq where queries are made of one, too, and H·(Dn+Dv)
  Index kv_lora_rank = 0, qk_rope_head_dim = 0, q_lora_rank = 0, kv_b_rows = 0;
  Index packed_rows = 0;                         // of the one array with q, k and v; 0: they are separate
  std::optional<Index> num_heads, num_kv_heads;  // nullopt: not given in a config.json
  // D and E as its model computes them from config.json, with which the arrays have to agree; nullopt: the
  // arrays decide.
  std::optional<Index> head_dim, hidden_size;
  bool has_pruned_heads = false;  // num_heads are those that pruned_heads in config.json leaves
  bool has_bias = false;          // any of the projections
  bool has_output = true;         // false: there is no W_O, so that the heads side by side are the output
  bool has_bias_kv = false;       // bias_k and bias_v of nn.MultiheadAttention
  // Arrays with the weights of the norms of q and of k, if its type has them: one, or one for each head
  std::vector<std::string> q_norms, k_norms;
  // The module of the output gate, "…gate_proj", if its type has one; gate_in_q: q has 2·H·D rows, for each
  // head its D and then the gate's
  std::string gate;
  bool gate_in_q = false;
  // The array (buckets,H) of a relative bias: its own, or its stack's first block's; else empty
  std::string relative_bias;
  // The module of the indexer, "…self_attn.indexer", if its type has one and the file its arrays; else empty
  std::string indexer;
  std::string sinks;  // the array with a sink for each head, if its type has them; else empty
  std::vector<std::string> unused_tensors;  // attention tensors, by name, that nothing here is computed from
  std::vector<std::string> missing;         // arrays that the family has and that are absent
  std::map<std::string, ArrayInfo> arrays;  // those that it is computed from, by name
};

struct AttentionLayers {
  std::vector<AttentionLayer> layers;         // in numerical order of their names: layer 2 before layer 10
  std::shared_ptr<const ModelConfig> config;  // null: there is none
};

// One of the arrays that a layer is computed from, under its name in the file.
struct LayerArray {
  std::string name;
  std::vector<Index> sizes;
  bool is_bias = false;  // may be absent
};

// The layers of a model, and its config.json. Reads no arrays. Throws Error(input) if config.json is invalid.
AttentionLayers find_attention_layers(const ModelFiles& files);

// The layer with this many heads, if no config.json gives the number.
AttentionLayer with_heads(AttentionLayer layer, Index num_heads, Index num_kv_heads);

// Why the layer cannot be computed, a sentence: arrays are missing, their shapes do not fit each other or
// config.json, they hold no floating-point numbers, the number of heads is unknown or does not divide; empty
// if it can. `headwise info` and whatever computes ask this one.
std::string layer_problem(const AttentionLayer& layer);

// Of relative_attention_num_buckets in config.json; T5's 32 where it is not given.
Index relative_buckets_of(const AttentionLayer& layer);

// "encoder.layer.0.attention.self.query.weight", from a name of its family and "weight" or "bias".
std::string layer_array(const AttentionLayer& layer, std::string_view stem, const char* what);

}  // namespace headwise
