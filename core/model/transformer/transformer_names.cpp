#include "core/model/transformer/transformer_names.h"

#include <array>

namespace headwise {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 5> bert_types{"bert", "roberta", "xlm-roberta", "camembert", "electra"};
constexpr std::array<Names, 1> distilbert_types{"distilbert"};
constexpr std::array<Names, 1> gpt2_types{"gpt2"};
constexpr std::array<Names, 3> llama_types{"llama", "mistral", "qwen2"};
constexpr std::array<Names, 1> gpt_neox_types{"gpt_neox"};
constexpr std::array<Names, 1> opt_types{"opt"};
constexpr std::array<Names, 1> bloom_types{"bloom"};
constexpr std::array<Names, 1> phi3_types{"phi3"};
constexpr std::array<Names, 1> headwise_types{"headwise"};

constexpr std::array bert_heads{LmHeadNames{.dense = "cls.predictions.transform.dense.",
                                            .norm = "cls.predictions.transform.LayerNorm.",
                                            .decoder = "cls.predictions.decoder.weight",
                                            .bias = "cls.predictions.bias"},
                                LmHeadNames{.dense = "lm_head.dense.",
                                            .norm = "lm_head.layer_norm.",
                                            .decoder = "lm_head.decoder.weight",
                                            .bias = "lm_head.bias",
                                            .is_gelu = true},
                                LmHeadNames{.dense = "generator_predictions.dense.",
                                            .norm = "generator_predictions.LayerNorm.",
                                            .decoder = "generator_lm_head.weight",
                                            .bias = "generator_lm_head.bias",
                                            .is_gelu = true}};
constexpr std::array distilbert_heads{LmHeadNames{.dense = "vocab_transform.",
                                                  .norm = "vocab_layer_norm.",
                                                  .decoder = "vocab_projector.weight",
                                                  .bias = "vocab_projector.bias"}};
constexpr std::array plain_heads{LmHeadNames{.decoder = "lm_head.weight", .bias = "lm_head.bias"}};

// embed_out until transformers 5.
constexpr std::array gpt_neox_heads{LmHeadNames{.decoder = "embed_out.weight"},
                                    LmHeadNames{.decoder = "lm_head.weight"}};

constexpr std::array headwise_heads{LmHeadNames{.decoder = "unembedding.weight"}};

constexpr std::array<Names, 2> gpt2_buffers{"attn.bias", "attn.masked_bias"};
constexpr std::array<Names, 1> llama_buffers{"self_attn.rotary_emb.inv_freq"};
constexpr std::array<Names, 3> gpt_neox_buffers{"attention.bias", "attention.masked_bias",
                                                "attention.rotary_emb.inv_freq"};

constexpr std::array families{
    TransformerNames{.family = "BERT",
                     .model_types = bert_types,
                     .blocks = "encoder.layer.",
                     .word_embeddings = "embeddings.word_embeddings.weight",
                     .position_embeddings = "embeddings.position_embeddings.weight",
                     .token_type_embeddings = "embeddings.token_type_embeddings.weight",
                     .embedding_norm = "embeddings.LayerNorm.",
                     .embedding_projection = "embeddings_project.",
                     .attention_norm = "attention.output.LayerNorm.",
                     .feed_forward_norm = "output.LayerNorm.",
                     .feed_in = "intermediate.dense.",
                     .feed_out = "output.dense.",
                     .epsilon_key = "layer_norm_eps",
                     .epsilon = 1e-12,
                     .heads = bert_heads},
    TransformerNames{.family = "DistilBERT",
                     .model_types = distilbert_types,
                     .blocks = "transformer.layer.",
                     .word_embeddings = "embeddings.word_embeddings.weight",
                     .position_embeddings = "embeddings.position_embeddings.weight",
                     .embedding_norm = "embeddings.LayerNorm.",
                     .attention_norm = "sa_layer_norm.",
                     .feed_forward_norm = "output_layer_norm.",
                     .feed_in = "ffn.lin1.",
                     .feed_out = "ffn.lin2.",
                     .epsilon = 1e-12,
                     .heads = distilbert_heads},
    TransformerNames{.family = "GPT-2",
                     .model_types = gpt2_types,
                     .blocks = "h.",
                     .word_embeddings = "wte.weight",
                     .position_embeddings = "wpe.weight",
                     .final_norm = "ln_f.",
                     .attention_norm = "ln_1.",
                     .feed_forward_norm = "ln_2.",
                     .feed_in = "mlp.c_fc.",
                     .feed_out = "mlp.c_proj.",
                     .conv1d = true,
                     .epsilon_key = "layer_norm_epsilon",
                     .activation = Activation::gelu_tanh,
                     .heads = plain_heads,
                     .buffers = gpt2_buffers},
    TransformerNames{.family = "Llama",
                     .model_types = llama_types,
                     .blocks = "layers.",
                     .word_embeddings = "embed_tokens.weight",
                     .final_norm = "norm.",
                     .attention_norm = "input_layernorm.",
                     .feed_forward_norm = "post_attention_layernorm.",
                     .feed_in = "mlp.up_proj.",
                     .feed_gate = "mlp.gate_proj.",
                     .feed_out = "mlp.down_proj.",
                     .has_bias = false,
                     .norm = NormKind::rms_norm,
                     .epsilon_key = "rms_norm_eps",
                     .epsilon = 1e-6,
                     .activation = Activation::silu,
                     .ties_words = false,
                     .heads = plain_heads,
                     .buffers = llama_buffers},
    TransformerNames{.family = "GPT-NeoX",
                     .model_types = gpt_neox_types,
                     .blocks = "layers.",
                     .word_embeddings = "embed_in.weight",
                     .final_norm = "final_layer_norm.",
                     .attention_norm = "input_layernorm.",
                     .feed_forward_norm = "post_attention_layernorm.",
                     .feed_in = "mlp.dense_h_to_4h.",
                     .feed_out = "mlp.dense_4h_to_h.",
                     .epsilon_key = "layer_norm_eps",
                     .ties_words = false,
                     .attention_bias_key = "attention_bias",
                     .parallel_key = "use_parallel_residual",
                     .heads = gpt_neox_heads,
                     .buffers = gpt_neox_buffers},
    TransformerNames{.family = "OPT, BART",
                     .model_types = opt_types,
                     .blocks = "decoder.layers.",
                     .word_embeddings = "decoder.embed_tokens.weight",
                     .position_embeddings = "decoder.embed_positions.weight",
                     .first_projection = "decoder.project_in.",
                     .last_projection = "decoder.project_out.",
                     .final_norm = "decoder.final_layer_norm.",
                     .attention_norm = "self_attn_layer_norm.",
                     .feed_forward_norm = "final_layer_norm.",
                     .feed_in = "fc1.",
                     .feed_out = "fc2.",
                     .first_position = 2,
                     .activation = Activation::relu,
                     .bias_key = "enable_bias",
                     .norm_before_key = "do_layer_norm_before",
                     .no_final_norm_key = "_remove_final_layer_norm",
                     .heads = plain_heads},
    TransformerNames{.family = "BLOOM",
                     .model_types = bloom_types,
                     .blocks = "h.",
                     .word_embeddings = "word_embeddings.weight",
                     .embedding_norm = "word_embeddings_layernorm.",
                     .final_norm = "ln_f.",
                     .attention_norm = "input_layernorm.",
                     .feed_forward_norm = "post_attention_layernorm.",
                     .feed_in = "mlp.dense_h_to_4h.",
                     .feed_out = "mlp.dense_4h_to_h.",
                     .epsilon_key = "layer_norm_epsilon",
                     .activation = Activation::gelu_tanh,
                     .heads = plain_heads},
    TransformerNames{.family = "Phi-3",
                     .model_types = phi3_types,
                     .blocks = "layers.",
                     .word_embeddings = "embed_tokens.weight",
                     .final_norm = "norm.",
                     .attention_norm = "input_layernorm.",
                     .feed_forward_norm = "post_attention_layernorm.",
                     .feed_in = "mlp.gate_up_proj.",
                     .feed_out = "mlp.down_proj.",
                     .gate_is_in_feed_in = true,
                     .has_bias = false,
                     .norm = NormKind::rms_norm,
                     .epsilon_key = "rms_norm_eps",
                     .activation = Activation::silu,
                     .ties_words = false,
                     .heads = plain_heads,
                     .buffers = llama_buffers},
    // core/train/train_model.h
    TransformerNames{.family = "Headwise",
                     .model_types = headwise_types,
                     .blocks = "layers.",
                     .word_embeddings = "embedding.weight",
                     .position_embeddings = "positions.weight",
                     .final_norm = "norm.",
                     .attention_norm = "norm1.",
                     .feed_forward_norm = "norm2.",
                     .feed_in = "linear1.",
                     .feed_out = "linear2.",
                     .activation = Activation::gelu_tanh,
                     .ties_words = false,
                     .norms_key = "layer_norm",
                     .feed_forward_key = "feed_forward",
                     .is_of_training = true,
                     .heads = headwise_heads}};

std::string first_that_is_there(const ModelFiles& files, const std::string& stem, Names one, Names other) {
  for (const Names ending : {one, other})
    if (const std::string name = stem + std::string(ending); files.find(name)) return name;
  return "";
}

}  // namespace

const TransformerNames* find_transformer_names(std::string_view family) {
  for (const TransformerNames& names : families)
    if (names.family == family) return &names;
  return nullptr;
}

std::string find_under_root(const ModelFiles& files, const std::string& root, std::string_view name) {
  for (std::string before = root;;) {
    if (const std::string whole = before + std::string(name); files.find(whole)) return whole;
    if (before.empty()) return "";
    before.pop_back();
    before.resize(before.rfind('.') + 1);  // npos + 1 is 0
  }
}

std::string norm_gain_name(const ModelFiles& files, const std::string& norm) {
  return first_that_is_there(files, norm, "weight", "gamma");
}

std::string norm_bias_name(const ModelFiles& files, const std::string& norm) {
  return first_that_is_there(files, norm, "bias", "beta");
}

}  // namespace headwise
