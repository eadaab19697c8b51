#include "core/model/transformer/transformer_names.h"

#include "core/files/word_fields.h"

namespace headwise {

namespace embedded {
std::span<const unsigned char> model_transformers();
}  // namespace embedded

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
    {"first_projection", field<&Names::first_projection>}, {"last_projection", field<&Names::last_projection>},
    {"final_norm", field<&Names::final_norm>}, {"attention_norm", field<&Names::attention_norm>},
    {"feed_forward_norm", field<&Names::feed_forward_norm>}, {"feed_in", field<&Names::feed_in>},
    {"feed_gate", field<&Names::feed_gate>}, {"feed_out", field<&Names::feed_out>},
    {"gate_is_in_feed_in", field<&Names::gate_is_in_feed_in>}, {"conv1d", field<&Names::conv1d>},
    {"first_position", field<&Names::first_position>}, {"epsilon_key", field<&Names::epsilon_key>},
    {"epsilon", field<&Names::epsilon>}, {"bias_key", field<&Names::bias_key>},
    {"attention_bias_key", field<&Names::attention_bias_key>},
    {"norm_before_key", field<&Names::norm_before_key>},
    {"no_final_norm_key", field<&Names::no_final_norm_key>}, {"norms_key", field<&Names::norms_key>},
    {"feed_forward_key", field<&Names::feed_forward_key>}, {"parallel_key", field<&Names::parallel_key>},
    {"of_training", field<&Names::is_of_training>}, {"buffer", field<&Names::buffers>},
    {"biases_in_file", chosen<&Names::has_bias, false>}, {"untied", chosen<&Names::ties_words, false>},
    {"rms_norm", chosen<&Names::norm, NormKind::rms_norm>},
    {"gelu_tanh", chosen<&Names::activation, Activation::gelu_tanh>},
    {"quick_gelu", chosen<&Names::activation, Activation::quick_gelu>},
    {"relu", chosen<&Names::activation, Activation::relu>},
    {"silu", chosen<&Names::activation, Activation::silu>}};
// clang-format on

constexpr FieldWord<LmHeadNames> head_words[]{{"dense", field<&LmHeadNames::dense>},
                                              {"norm", field<&LmHeadNames::norm>},
                                              {"decoder", field<&LmHeadNames::decoder>},
                                              {"bias", field<&LmHeadNames::bias>},
                                              {"gelu", field<&LmHeadNames::is_gelu>}};

std::vector<TransformerNames> read_families() {
  constexpr std::string_view file = "transformers.txt";
  std::vector<TransformerNames> families;
  for (const auto& [family, value] : word_rows(embedded::model_transformers(), file)) {
    TransformerNames& names = families.emplace_back();
    names.family = family;
    const std::vector<std::string_view> parts = parts_in(value);
    read_fields(parts.front(), names, name_words, file, family);
    for (std::size_t i = 1; i < parts.size(); ++i)
      read_fields(parts[i], names.heads.emplace_back(), head_words, file, family);
  }
  return families;
}

std::string first_that_is_there(const ModelFiles& files, const std::string& stem, std::string_view one,
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

const TransformerNames* find_transformer_names(std::string_view family) {
  for (const TransformerNames& names : transformer_names())
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
