#include "core/model/transformer/transformer_names.h"

#include <algorithm>

#include "core/files/word_rows.h"

namespace headwise {

std::string_view embedded_model_transformers();

namespace {

using Names = TransformerNames;

// clang-format off
constexpr FieldWord<Names> name_words[]{
    {"type", field<&Names::model_types>}, {"blocks", field<&Names::blocks>},
    {"word_embeddings", field<&Names::word_embeddings>},
    {"position_embeddings", field<&Names::position_embeddings>},
    {"token_type_embeddings", field<&Names::token_type_embeddings>},
    {"embedding_norm", field<&Names::embedding_norm>},
    {"embedding_projection", field<&Names::embedding_projection>},
    {"shared_embeddings", field<&Names::shared_embeddings>}, {"encoder", field<&Names::is_encoder>},
    {"attention_in_block", field<&Names::attention_in_block>},
    {"first_without_norm", field<&Names::first_without_norm>},
    {"gated_feed_in", field<&Names::gated_feed_in>}, {"gated_feed_gate", field<&Names::gated_feed_gate>},
    {"activation_key", field<&Names::activation_key>},
    {"feed_forward_kind_key", field<&Names::feed_forward_kind_key>},
    {"first_projection", field<&Names::first_projection>}, {"last_projection", field<&Names::last_projection>},
    {"patch_projection", field<&Names::patch_projection>}, {"class_token", field<&Names::class_token>},
    {"distillation_token", field<&Names::distillation_token>},
    {"final_norm", field<&Names::final_norm>}, {"attention_norm", field<&Names::attention_norm>},
    {"feed_forward_norm", field<&Names::feed_forward_norm>}, {"feed_in", field<&Names::feed_in>},
    {"attention_output_norm", field<&Names::attention_output_norm>},
    {"feed_forward_output_norm", field<&Names::feed_forward_output_norm>},
    {"no_norm_before", [](Names& names, std::string_view value) {
       names.attention_norm = names.feed_forward_norm = {};
       return value.empty(); }},
    {"router", field<&Names::router>}, {"experts", field<&Names::experts>},
    {"expert_in", field<&Names::expert_in>}, {"expert_gate", field<&Names::expert_gate>},
    {"expert_out", field<&Names::expert_out>}, {"joined_experts", field<&Names::joined_experts>},
    {"expert_share_key", field<&Names::expert_share_key>},
    {"not_gated", [](Names& names, std::string_view value) { names.feed_gate = {}; return value.empty(); }},
    {"feed_gate", field<&Names::feed_gate>}, {"feed_out", field<&Names::feed_out>},
    {"gate_is_in_feed_in", field<&Names::gate_is_in_feed_in>}, {"conv1d", field<&Names::conv1d>},
    {"first_position", field<&Names::first_position>}, {"epsilon_key", field<&Names::epsilon_key>},
    {"epsilon", field<&Names::epsilon>}, {"bias_key", field<&Names::bias_key>},
    {"attention_bias_key", field<&Names::attention_bias_key>},
    {"norm_before_key", field<&Names::norm_before_key>},
    {"no_final_norm_key", field<&Names::no_final_norm_key>}, {"norms_key", field<&Names::norms_key>},
    {"feed_forward_key", field<&Names::feed_forward_key>}, {"parallel_key", field<&Names::parallel_key>},
    {"parallel", field<&Names::is_parallel>}, {"shares_norm", field<&Names::shares_norm>},
    {"norm_offset", field<&Names::norm_offset>}, {"scales_words", field<&Names::scales_words>},
    {"gelu_is_tanh", field<&Names::gelu_is_tanh>},
    {"embedding_factor_key", field<&Names::embedding_factor_key>},
    {"residual_factor_key", field<&Names::residual_factor_key>},
    {"logits_factor_key", field<&Names::logits_factor_key>}, {"logits_factor", field<&Names::logits_factor>},
    {"logits_divisor_key", field<&Names::logits_divisor_key>},
    {"logits_cap_key", field<&Names::logits_cap_key>}, {"logits_cap", field<&Names::logits_cap>},
    {"of_training", field<&Names::is_of_training>}, {"buffer", field<&Names::buffers>},
    {"biases_in_file", chosen<&Names::has_bias, false>}, {"untied", chosen<&Names::ties_words, false>},
    {"tied", chosen<&Names::ties_words, true>},
    {"rms_norm", chosen<&Names::norm, NormKind::rms>}, {"layer_norm", chosen<&Names::norm, NormKind::layer>},
    {"gelu_tanh", chosen<&Names::activation, Activation::gelu_tanh>},
    {"quick_gelu", chosen<&Names::activation, Activation::quick_gelu>},
    {"relu", chosen<&Names::activation, Activation::relu>},
    {"relu_squared", chosen<&Names::activation, Activation::relu_squared>},
    {"silu", chosen<&Names::activation, Activation::silu>}};
// clang-format on

constexpr FieldWord<LmHeadNames> head_words[]{{"dense", field<&LmHeadNames::dense>},
                                              {"norm", field<&LmHeadNames::norm>},
                                              {"decoder", field<&LmHeadNames::decoder>},
                                              {"bias", field<&LmHeadNames::bias>},
                                              {"second_decoder", field<&LmHeadNames::second_decoder>},
                                              {"gelu", field<&LmHeadNames::is_gelu>},
                                              {"activation_key", field<&LmHeadNames::activation_key>}};

std::vector<TransformerNames> read_families() {
  constexpr std::string_view file = "transformers.txt";
  std::vector<TransformerNames> families;
  for (const auto& [row, value] : word_rows(embedded_model_transformers(), file)) {
    TransformerNames names;
    names.family = names.name = row;
    const std::vector<std::string_view> parts = parts_in(value);
    std::string_view words = parts.front();
    if (constexpr std::string_view like = "like "; words.starts_with(like)) {
      const std::size_t end = std::min(words.find_first_of(" \n", like.size()), words.size());
      const auto earlier =
          std::ranges::find(families, words.substr(like.size(), end - like.size()), &TransformerNames::name);
      if (earlier != families.end()) {
        names = *earlier;
        names.name = row;
        names.model_types.clear();
        words.remove_prefix(end);
      }
    }
    read_fields(words, names, name_words, file, row);
    if (parts.size() > 1) names.heads.clear();
    for (std::size_t i = 1; i < parts.size(); ++i)
      read_fields(parts[i], names.heads.emplace_back(), head_words, file, row);
    families.push_back(std::move(names));
  }
  return families;
}

std::string first_existing(const ModelFiles& files, const std::string& stem, std::string_view one,
                           std::string_view other) {
  for (const std::string_view ending : {one, other})
    if (const std::string name = stem + std::string(ending); files.find(name)) return name;
  return "";
}

}  // namespace

std::span<const TransformerNames> transformer_names() {
  static const std::vector<TransformerNames> families = read_families();
  return families;
}

const TransformerNames* find_transformer_names(std::string_view family, std::string_view model_type) {
  const TransformerNames* first = nullptr;
  for (const TransformerNames& names : transformer_names()) {
    if (names.family != family) continue;
    if (std::ranges::find(names.model_types, model_type) != names.model_types.end()) return &names;
    if (!first) first = &names;
  }
  return first;
}

std::string words_name(const TransformerNames& names, const ModelFiles& files, const std::string& root) {
  if (!names.shared_embeddings.empty())
    if (const std::string shared = root + std::string(names.shared_embeddings); files.find(shared))
      return shared;
  return root + std::string(names.word_embeddings);
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
  return first_existing(files, norm, "weight", "gamma");
}

std::string norm_bias_name(const ModelFiles& files, const std::string& norm) {
  return first_existing(files, norm, "bias", "beta");
}

}  // namespace headwise
