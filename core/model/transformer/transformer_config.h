// What kinds of blocks a model is built of, and their sizes: from the shapes of its arrays and its config.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/transformer_names.h"

namespace headwise {

// BERT: x = norm(x + f(x)); GPT-2 and Llama: x = x + f(norm(x)).
enum class NormPlace { after, before };
// Which linear maps have one: each; those that have one in the file; none, and one in the file is refused.
enum class Biases { all, as_in_file, none };
enum class PositionKind { learned, sinusoidal, rotary, alibi };

struct TransformerConfig {
  const TransformerNames* names = nullptr;  // never null in an transformer
  std::string root;                         // what stands before the family's names: "bert."; may be empty
  Index embed_dim = 0, num_layers = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0, v_head_dim = 0;
  Index word_width =
      0;  // of the embeddings; where it is not embed_dim, a projection follows them (ELECTRA, OPT)
  Index feed_forward_dim = 0;
  Index vocabulary = 0;     // ids are below it
  Index max_positions = 0;  // tokens of the longest text
  bool is_causal = false;
  std::optional<Index> sliding_window;  // query i sees keys j with i − j < it
  NormKind norm = NormKind::layer_norm;
  NormPlace norm_place = NormPlace::after;
  bool is_parallel = false;  // pre-norm: both parts of a block are given what the block is given (GPT-NeoX)
  bool has_final_norm = false;  // behind the last block
  double norm_epsilon = 0.0;
  Biases attention_biases = Biases::all, feed_forward_biases = Biases::all;
  Activation activation = Activation::gelu;
  PositionKind positions = PositionKind::learned;
  Index first_position = 0;  // row of the first token in the position embeddings
  // RoBERTa's pad_token_id: wherever such a token stands its position is this row, and the others count on without it.
  // first_position is one more.
  std::optional<Index> padding_id;
  std::vector<double> rotary_inverse_frequencies;  // of rotary positions; empty: there are none
  std::vector<double> alibi_slopes;                // of ALiBi, one a head; empty: there are none
  std::optional<bool> tie_word_embeddings;
};

// Throws Error(input), one sentence: no config.json, a family without blocks known here, a model_type or a setting that would be
// computed otherwise, layers of several kinds, arrays that are missing or of another shape. No array is read.
TransformerConfig read_transformer_config(const ModelFiles& files, const AttentionLayers& layers);

const char* activation_name(Activation activation);  // "GELU", "GELU (tanh)" …

// "post-LayerNorm blocks, GELU, learned positions": what `headwise info` prints.
std::string blocks_text(const TransformerConfig& config);

}  // namespace headwise
