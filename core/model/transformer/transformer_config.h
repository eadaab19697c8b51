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
#include "core/tensor/shape.h"

namespace headwise {

// How families of models name the arrays around attention: assets/models/transformers.txt.
//
// An array is root + name: root is the file's prefix of the family's names ("bert.",
// "model.", "transformer.", "").

// relu_squared: max(0, x)² (So et al. 2021, "Primer")
enum class Activation { gelu, gelu_tanh, quick_gelu, relu, relu_squared, silu };

// The part that turns the last hidden states into a logit per token. Some files have it without the root.
struct LmHeadNames {
  // a dense layer, activation and norm before the decoder; empty: none
  std::string_view dense = {}, norm = {};
  std::string_view decoder = {};  // (V,E) if it is not the word embeddings
  std::string_view bias = {};     // (V); may be missing
  bool is_gelu = false;           // its activation, whatever config.json says for the blocks
};

struct TransformerNames {
  std::string_view family = {};  // ModelFamily::name of its attention layers
  std::string_view name = {};    // of the row: a family may have several, for different model_types
  std::vector<std::string_view> model_types;  // of config.json, those computed as described here
  std::string_view blocks = {};               // block 3 is root + blocks + "3."
  // After the root. Empty: the family has none.
  // The projection exists if the embeddings have a width of their own.
  std::string_view word_embeddings = {}, position_embeddings = {}, token_type_embeddings = {},
                   embedding_norm = {};
  std::string_view embedding_projection = {};
  // OPT's: from the width of the token embeddings alone, before positions are added; and back to it,
  // after the final norm.
  std::string_view first_projection = {}, last_projection = {};
  std::string_view final_norm = {};
  // After the block's name.
  std::string_view attention_norm = {}, feed_forward_norm = {};
  // Of what a part of the block gives, before it is added (Gemma 2; in OLMo 2 there are no others).
  std::string_view attention_output_norm = {}, feed_forward_output_norm = {};
  std::string_view feed_in = {}, feed_gate = {}, feed_out = {};
  bool gate_is_in_feed_in = false;  // one array: rows of the gate, then as many rows of what it multiplies
  bool has_bias = true;      // every linear map and norm has one; false: those that have one in the file
  bool conv1d = false;       // matrices of the feed-forward part are [in,out]
  Index first_position = 0;  // row of the first token in the position embeddings
  NormKind norm = NormKind::layer;
  double norm_offset =
      0.0;  // added to the gains of norms: 1 where they are stored as differences from 1 (Gemma)
  bool is_parallel = false;   // both parts of a block get its input, if parallel_key does not say otherwise
  bool shares_norm = false;   // if they do, attention_norm's is the input of both (Cohere, GPT-J)
  bool scales_words = false;  // the embeddings are multiplied by √E
  bool gelu_is_tanh = false;  // "gelu" in config.json means its approximation (Gemma)
  // Keys of config.json, and the default if it lacks them. No key:
  // the default holds for every model of the family.
  std::string_view epsilon_key = {};
  double epsilon = 1e-5;
  Activation activation = Activation::gelu;
  bool ties_words = true;
  std::string_view bias_key = {}, attention_bias_key = {};  // false: no linear map (of attention) has one
  std::string_view norm_before_key = {};                    // false: post-norm blocks, and no final norm
  std::string_view no_final_norm_key = {};                  // true: there is none, even in pre-norm blocks
  // false: the model has no norms, no feed-forward part
  std::string_view norms_key = {}, feed_forward_key = {};
  std::string_view parallel_key = {};  // whether both parts get the input of the block, or one after the other
  // Factors, 1 if config.json has none: of the embeddings, of what each part adds, of the logits, and what
  // these are divided by
  std::string_view embedding_factor_key = {}, residual_factor_key = {}, logits_factor_key = {},
                   logits_divisor_key = {};
  double logits_factor = 1.0;            // if config.json has none
  std::string_view logits_cap_key = {};  // c: logits become c·tanh(logits/c)
  double logits_cap = 0.0;               // if config.json has none; 0: they stay
  // core/train/train_model.h: position_embedding_type is one of its words, no array has another name, and a
  // prediction is the answer of a task.
  bool is_of_training = false;
  std::vector<LmHeadNames> heads;         // the first one present is used
  std::vector<std::string_view> buffers;  // endings of arrays in a block that are not parameters
};

std::span<const TransformerNames> transformer_names();

// The row of the family for this model_type, or its first; null: nothing is known about the rest of its
// models.
const TransformerNames* find_transformer_names(std::string_view family, std::string_view model_type = {});

// The shortest of "module.bert." + name, "module." + name, name that is an array of the model;
// empty if there is none.
std::string find_under_root(const ModelFiles& files, const std::string& root, std::string_view name);

// The array's name: LayerNorm's gain is "weight" or "gamma", its bias "bias" or "beta";
// empty if there is none.
std::string norm_gain_name(const ModelFiles& files, const std::string& norm);
std::string norm_bias_name(const ModelFiles& files, const std::string& norm);

// BERT: x = norm(x + f(x)); GPT-2 and Llama: x = x + f(norm(x)); without norms: x = x + f(x).
enum class NormPlace { after, before, none };
// Which linear maps have a bias: all; those that have one in the file; none, and one in the file is an error.
enum class Biases { all, as_in_file, none };
enum class PositionKind { none, learned, sinusoidal, rotary, alibi };

// softmax(q·kᵀ·scale + ALiBi, causal if the model is)·v per head, without keeping the stages.
struct TransformerHeads {
  Index heads = 0, kv_heads = 0, head_dim = 0, v_head_dim = 0;  // H, G, D, Dv
  bool is_causal = false;
  std::optional<Index> sliding_window = std::nullopt;  // query i sees keys j with |i − j| < this
  std::vector<double> alibi_slopes = {};       // per head (core/attention/attention_mask.h); empty: none
  std::optional<double> scale = std::nullopt;  // null: 1/√D
  double softcap = 0.0;                        // c > 0: c·tanh(x/c) of a scaled score
  Rotation rotation = {};                      // of q and k by their positions; none: they are not rotated
  LayerOptions norms = {};                     // qk_norm, its kind, offset and ε
};

struct TransformerConfig {
  const TransformerNames* names = nullptr;  // never null in a transformer
  std::string root;                         // the prefix of the family's names: "bert."; may be empty
  Index embed_dim = 0, num_layers = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0, v_head_dim = 0;
  // of the embeddings; if it is not embed_dim, a projection follows them (ELECTRA, OPT)
  Index word_width = 0;
  Index feed_forward_dim = 0;  // 0: the blocks have no feed-forward part
  Index vocabulary = 0;        // ids are below this
  Index max_positions = 0;     // tokens of the longest text
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
  PositionKind positions = PositionKind::learned;
  Index first_position = 0;  // row of the first token in the position embeddings
  // RoBERTa's pad_token_id: the position of every such token is this row, and the others count on without it.
  // first_position is one more.
  std::optional<Index> padding_id;
  std::optional<bool> tie_word_embeddings;
};

// Throws Error(input), one sentence: no config.json, a family whose blocks are not known here, a model_type
// or a setting that would be computed differently, layers of several kinds, arrays that are missing or have
// the wrong shape. Reads no arrays.
TransformerConfig read_transformer_config(const ModelFiles& files, const AttentionLayers& layers);

// What the token predicted at a position is: the next one; the one in this place (masked-word models); the
// answer of the task that the model was trained on, which asks for one at some positions only.
enum class PredictedToken { next, in_place, answer };
PredictedToken predicted_token(const TransformerConfig& config);

const char* activation_name(Activation activation);  // "GELU", "GELU (tanh)" …

// "post-LayerNorm blocks, GELU, learned positions": what `headwise info` prints.
std::string blocks_text(const TransformerConfig& config);

}  // namespace headwise
