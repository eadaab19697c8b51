#include "core/model/encoder_names.h"

#include <array>

namespace headwise {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 5> bert_types{"bert", "roberta", "xlm-roberta", "camembert", "electra"};
constexpr std::array<Names, 1> distilbert_types{"distilbert"};
constexpr std::array<Names, 1> gpt2_types{"gpt2"};
constexpr std::array<Names, 3> llama_types{"llama", "mistral", "qwen2"};

constexpr std::array bert_heads{WordHeadNames{.dense = "cls.predictions.transform.dense.",
                                              .norm = "cls.predictions.transform.LayerNorm.",
                                              .decoder = "cls.predictions.decoder.weight",
                                              .bias = "cls.predictions.bias"},
                                WordHeadNames{.dense = "lm_head.dense.",
                                              .norm = "lm_head.layer_norm.",
                                              .decoder = "lm_head.decoder.weight",
                                              .bias = "lm_head.bias",
                                              .is_gelu = true},
                                WordHeadNames{.dense = "generator_predictions.dense.",
                                              .norm = "generator_predictions.LayerNorm.",
                                              .decoder = "generator_lm_head.weight",
                                              .bias = "generator_lm_head.bias",
                                              .is_gelu = true}};
constexpr std::array distilbert_heads{WordHeadNames{.dense = "vocab_transform.",
                                                    .norm = "vocab_layer_norm.",
                                                    .decoder = "vocab_projector.weight",
                                                    .bias = "vocab_projector.bias"}};
constexpr std::array plain_heads{WordHeadNames{.decoder = "lm_head.weight", .bias = "lm_head.bias"}};

constexpr std::array<Names, 2> gpt2_buffers{"attn.bias", "attn.masked_bias"};
constexpr std::array<Names, 1> llama_buffers{"self_attn.rotary_emb.inv_freq"};

constexpr std::array families{EncoderNames{.family = "BERT",
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
                                           .heads = bert_heads},
                              EncoderNames{.family = "DistilBERT",
                                           .model_types = distilbert_types,
                                           .blocks = "transformer.layer.",
                                           .word_embeddings = "embeddings.word_embeddings.weight",
                                           .position_embeddings = "embeddings.position_embeddings.weight",
                                           .embedding_norm = "embeddings.LayerNorm.",
                                           .attention_norm = "sa_layer_norm.",
                                           .feed_forward_norm = "output_layer_norm.",
                                           .feed_in = "ffn.lin1.",
                                           .feed_out = "ffn.lin2.",
                                           .heads = distilbert_heads},
                              EncoderNames{.family = "GPT-2",
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
                                           .heads = plain_heads,
                                           .buffers = gpt2_buffers},
                              EncoderNames{.family = "Llama",
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
                                           .ties_words = false,
                                           .heads = plain_heads,
                                           .buffers = llama_buffers}};

std::string first_that_is_there(const ModelFiles& files, const std::string& stem, Names one, Names other) {
  for (const Names ending : {one, other})
    if (const std::string name = stem + std::string(ending); files.find(name)) return name;
  return "";
}

}  // namespace

const EncoderNames* find_encoder_names(std::string_view family) {
  for (const EncoderNames& names : families)
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
