// How families of models name the arrays around attention, and what else differs between them:
// assets/models/transformers.txt.
//
// An array is root + name: root is the file's prefix of the family's names ("bert.",
// "model.", "transformer.", "").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/model/files/model_files.h"

namespace headwise {

// relu_squared: max(0, x)² (So et al. 2021, "Primer")
enum class Activation { gelu, gelu_tanh, quick_gelu, relu, relu_squared, silu };

// The part that turns the last hidden states into a logit per token. Some files have it without the root.
struct LmHeadNames {
  // a dense layer, activation and norm before the decoder; empty: none
  std::string_view dense = {}, norm = {};
  std::string_view decoder = {};  // (V,E) if it is not the word embeddings
  std::string_view bias = {};     // (V); may be missing
  // Of a second decoder, which reads the second token: the logits are the mean of both (DeiT's teacher).
  std::string_view second_decoder = {};
  bool is_gelu = false;  // its activation, whatever config.json says for the blocks
  // Key of config.json: its activation, GELU if there is none. No key: that of the blocks.
  std::string_view activation_key = {};
};

struct TransformerNames {
  std::string_view family = {};  // ModelFamily::name of its attention layers
  std::string_view name = {};    // of the row: a family may have several, for different model_types
  std::vector<std::string_view> model_types;  // of config.json, those computed as described here
  std::string_view blocks = {};               // block 3 is root + blocks + "3."
  // Between a block's name and that of its attention layer: ".layer.0" (T5); empty: they have one name.
  std::string_view attention_in_block = {};
  // A text goes through the layers of these blocks alone: the others are a decoder's (T5).
  bool is_encoder = false;
  // After the root. Empty: the family has none.
  // The projection exists if the embeddings have a width of their own.
  std::string_view word_embeddings = {}, position_embeddings = {}, token_type_embeddings = {},
                   embedding_norm = {};
  std::string_view shared_embeddings = {};  // of the encoder and the decoder: used if the file has it (T5)
  std::string_view embedding_projection = {};
  // Of models of pictures, which have no words: what makes a token of a patch, and the learned tokens before
  // the patches.
  std::string_view patch_projection = {}, class_token = {}, distillation_token = {};
  // OPT's: from the width of the token embeddings alone, before positions are added; and back to it,
  // after the final norm.
  std::string_view first_projection = {}, last_projection = {};
  std::string_view final_norm = {};
  // After the block's name.
  std::string_view attention_norm = {}, feed_forward_norm = {};
  bool first_without_norm = false;  // block 0 has no attention_norm (ModernBERT)
  // Of what a part of the block gives, before it is added (Gemma 2; in OLMo 2 there are no others).
  std::string_view attention_output_norm = {}, feed_forward_output_norm = {};
  std::string_view feed_in = {}, feed_gate = {}, feed_out = {};
  // Instead of feed_in and feed_gate, in files without that feed_in (T5 1.1, mT5)
  std::string_view gated_feed_in = {}, gated_feed_gate = {};
  // Experts, in blocks whose file has this router; of expert 3, after experts + "3.". joined_experts: the
  // arrays of all experts in one, as gpt-oss has them.
  std::string_view router = {}, experts = {}, expert_in = {}, expert_gate = {}, expert_out = {};
  bool joined_experts = false;
  std::string_view expert_share_key = {};  // false: experts are weighed by a softmax of all, not of those chosen
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
  std::string_view activation_key = {};  // the one key that names it; none: several do
  std::string_view feed_forward_kind_key = {};  // "relu", "gated-gelu" …: the activation, and whether there is a gate
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
  std::vector<LmHeadNames> heads;         // the first one present is used; none: the family predicts no words
  std::vector<std::string_view> buffers;  // endings of arrays in a block that are not parameters
};

std::span<const TransformerNames> transformer_names();

// The row of the family for this model_type, or its first; null: nothing is known about the rest of its
// models.
const TransformerNames* find_transformer_names(std::string_view family, std::string_view model_type = {});

// The word embeddings' array: root + its name, or the shared one.
std::string words_name(const TransformerNames& names, const ModelFiles& files, const std::string& root);

// The shortest of "module.bert." + name, "module." + name, name that is an array of the model;
// empty if there is none.
std::string find_under_root(const ModelFiles& files, const std::string& root, std::string_view name);

// The array's name: LayerNorm's gain is "weight" or "gamma", its bias "bias" or "beta";
// empty if there is none.
std::string norm_gain_name(const ModelFiles& files, const std::string& norm);
std::string norm_bias_name(const ModelFiles& files, const std::string& norm);

}  // namespace headwise
