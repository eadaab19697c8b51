// The kinds and sizes of a model's blocks, from the shapes of its arrays and its config.json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/transformer_names.h"
#include "core/tensor/shape.h"

namespace headwise {

// BERT: x = norm(x + f(x)); GPT-2 and Llama: x = x + f(norm(x)); without norms: x = x + f(x).
enum class NormPlace { after, before, none };
// Which linear maps have a bias: all; those that have one in the file; none, and one in the file is an error.
enum class Biases { all, as_in_file, none };
enum class PositionKind { none, learned, sinusoidal, rotary, alibi, relative };

// What the attention of a layer computes besides its parameters.
struct TransformerHeads {
  Index heads = 0, kv_heads = 0, head_dim = 0, v_head_dim = 0;  // H, G, D, Dv
  bool is_causal = false;
  std::optional<Index> sliding_window = std::nullopt;  // query i sees keys j with |i − j| < this
  std::vector<double> alibi_slopes = {};       // per head (core/attention/attention_mask.h); empty: none
  std::optional<double> scale = std::nullopt;  // null: 1/√D
  double softcap = 0.0;                        // c > 0: c·tanh(x/c) of a scaled score
  Rotation rotation = {};                      // of q and k by their positions; none: they are not rotated
  LayerOptions options = {};                   // qk_norm, its kind, offset and ε; relative_bias
  std::optional<ModelRotary> by_length = {};  // instead of rotation, where it depends on the tokens of a text
};

// gpt-oss's gate: with g = min(gate·x, limit) and u = in·x within ±limit, (u + 1)·g·σ(alpha·g).
struct ClampedGate {
  double alpha = 1.702, limit = 7.0;
};

// How a model of pictures cuts them: its tokens are first_tokens learned ones, then the patches, row by row.
struct PatchGrid {
  Index channels = 0, height = 0, width = 0;  // of a picture, in pixels
  Index patch_height = 0, patch_width = 0;
  Index first_tokens = 0;
  Index rows() const { return height / patch_height; }
  Index columns() const { return width / patch_width; }
  Index tokens() const { return first_tokens + rows() * columns(); }
};

struct TransformerConfig {
  const TransformerNames* names = nullptr;  // never null in a transformer
  std::string root;                         // the prefix of the family's names: "bert."; may be empty
  Index embed_dim = 0, num_layers = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0, v_head_dim = 0;
  // of the embeddings; if it is not embed_dim, a projection follows them (ELECTRA, OPT)
  Index word_width = 0;
  // of the first block, or of one of its experts; 0: the blocks have no feed-forward part
  Index feed_forward_dim = 0;
  std::string_view feed_in = {}, feed_gate = {};  // of names, or its gated ones
  Index chosen_experts = 0;                       // for each token, in blocks that have some
  bool weighs_chosen_experts = true;
  std::optional<ClampedGate> clamped_gate;
  std::optional<PatchGrid> patches;  // it reads pictures, and no texts
  Index vocabulary = 0;     // ids are below this; of a model of pictures: its classes, 0 without a head
  Index max_positions = 0;  // tokens of the longest text; relative positions bound none
  bool is_causal = false;
  std::vector<TransformerHeads> attention;  // of each layer in the file
  bool has_output_projection = true;        // false: the heads side by side are the output of attention
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::after;
  bool is_parallel = false;  // pre-norm: both parts of a block get the input of the block (GPT-NeoX)
  double embedding_factor = 1.0, residual_factor = 1.0, logits_factor = 1.0, logits_cap = 0.0;
  bool has_final_norm = false;  // after the last block
  double norm_epsilon = 0.0;
  Biases attention_biases = Biases::all, feed_forward_biases = Biases::all;
  Activation activation = Activation::gelu;
  std::vector<Activation> head_activations;  // of each of names->heads
  PositionKind positions = PositionKind::learned;
  Index first_position = 0;  // row of the first token in the position embeddings
  // RoBERTa's pad_token_id: the position of every such token is this row, and the others count on without it.
  // first_position is one more.
  std::optional<Index> padding_id;
  std::optional<bool> tie_word_embeddings;
};

// Those that a text goes through: of a model with an encoder whose blocks are known here, the encoder's; else
// all.
AttentionLayers layers_of_text(const AttentionLayers& layers);

// Of layers_of_text. Throws Error(input), one sentence: no config.json, a family whose blocks are not known
// here, a model_type or a setting that would be computed differently, layers of several kinds, arrays that
// are missing or have the wrong shape. Reads no arrays.
TransformerConfig read_transformer_config(const ModelFiles& files, const AttentionLayers& layers);

// What the token predicted at a position is: the next one; the one in this place (masked-word models); the
// answer of the task that the model was trained on, which asks for one at some positions only; the class of
// the whole picture, at its first token.
enum class PredictedToken { next, in_place, answer, picture_class };
PredictedToken predicted_token(const TransformerConfig& config);

// "post-LayerNorm blocks, GELU, learned positions": what `headwise info` prints.
std::string blocks_text(const TransformerConfig& config);

}  // namespace headwise
