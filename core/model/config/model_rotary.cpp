#include "core/model/config/model_rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "core/files/json_value.h"
#include "core/model/config/model_types.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr double most = 1e15;  // of a base or a factor: far from overflow

// Llama-like names, but adjacent columns are rotated together.
constexpr std::array<std::string_view, 2> interleaved_types{"llama4", "llama4_text"};

constexpr JsonFormat rotary_format{.dialect = JsonDialect::python,
                                   .problem = "this is not a valid number for rotary positions"};

// The first of the keys that is present, above 0.
std::optional<double> number_under(const JsonValue& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (object.has(key)) return object.number(key, 0.0, most);
  return std::nullopt;
}

std::string text_under(const JsonValue& object, const char* key) {
  const Json& value = object.at(key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// `most_tokens`: the longest text of training, if config.json gives it.
void read_scaling(const JsonValue& scaling, std::optional<double> most_tokens, ModelRotary& rotary) {
  std::string type = text_under(scaling, "rope_type");
  if (type.empty()) type = text_under(scaling, "type");
  // The mrope of earlier files scales nothing: its sections are reported elsewhere.
  if (type.empty() || type == "default" || type == "mrope") return;
  if (type == "dynamic") {
    // It begins after the longest text of training.
    rotary.most_positions = static_cast<Index>(most_tokens.value_or(2048.0));
    return;
  }
  if (type == "linear") {
    rotary.linear_factor = scaling.number("factor", 1.0, most);
  } else if (type == "llama3") {
    Llama3FrequencyScaling& llama3 = rotary.llama3.emplace();
    llama3.factor = scaling.number("factor", llama3.factor, most);
    llama3.low_freq_factor = scaling.number("low_freq_factor", llama3.low_freq_factor, most);
    llama3.high_freq_factor = scaling.number("high_freq_factor", llama3.high_freq_factor, most);
    llama3.original_max_position_embeddings =
        scaling.number("original_max_position_embeddings",
                       most_tokens.value_or(llama3.original_max_position_embeddings), most);
    if (llama3.high_freq_factor <= llama3.low_freq_factor)
      scaling.refuse_got("the ranges of slow and fast frequencies overlap",
                         fmt::format("low_freq_factor = {}, high_freq_factor = {}", llama3.low_freq_factor,
                                     llama3.high_freq_factor),
                         "high_freq_factor above low_freq_factor");
  } else {
    rotary.not_understood = "rope_scaling " + one_line(type, 40);
  }
}

// Keys other than those read here. mrope_section gives each pair of columns a position in time, height or
// width: in a text these are the same number, so types that read it can ignore it.
void refuse_other_keys(const Json& part, bool reads_sections, ModelRotary& rotary) {
  constexpr std::array<std::string_view, 12> known{"rope_type",
                                                   "type",
                                                   "rope_theta",
                                                   "partial_rotary_factor",
                                                   "factor",
                                                   "low_freq_factor",
                                                   "high_freq_factor",
                                                   "original_max_position_embeddings",
                                                   "max_position_embeddings",
                                                   "rotary_emb_base",
                                                   "rotary_pct",
                                                   "attention_factor"};
  for (const auto& [key, value] : part.items())
    if (!value.is_null() && rotary.not_understood.empty() && std::ranges::find(known, key) == known.end() &&
        !(reads_sections && key == "mrope_section"))
      rotary.not_understood = "rope_parameters with " + one_line(key, 40);
}

}  // namespace

ModelRotary read_model_rotary(const nlohmann::json& json, const std::string& path,
                              const std::string& layer_type) {
  ModelRotary rotary;
  const JsonValue config(json, path, rotary_format);
  JsonValue parameters = config["rope_parameters"];
  const Json& parts = parameters.json();
  if (parts.is_object() && !parts.empty() &&
      std::ranges::all_of(parts, [](const Json& part) { return part.is_object(); })) {
    if (!parameters.has(layer_type))
      rotary.not_understood = "rope_parameters has one object per kind of layer";
    parameters = parameters[layer_type];
  }
  const JsonValue scaling = config["rope_scaling"];
  // Keys among the rotary settings take precedence over those next to them, as in transformers.
  const auto number = [&](std::initializer_list<const char*> keys, double otherwise) {
    for (const JsonValue* part : std::initializer_list<const JsonValue*>{&parameters, &scaling, &config})
      if (const auto written = number_under(*part, keys)) return *written;
    return otherwise;
  };
  const ModelType* const type = find_model_type(text_under(config, "model_type"));
  rotary.base = number({"rope_theta", "rotary_emb_base"}, type ? type->usual_base : rotary.base);
  rotary.share = number({"partial_rotary_factor", "rotary_pct"}, type ? type->usual_share : rotary.share);
  if (rotary.share > 1.0)
    config["partial_rotary_factor"].refuse_got("this is not a share of a head's columns",
                                               fmt::format("{}", rotary.share), "a number above 0, at most 1");
  read_scaling(config.has("rope_scaling") ? scaling : parameters,
               number_under(config, {"max_position_embeddings"}), rotary);
  // An unknown type is reported as such, so its sections need not be.
  const bool reads_sections = !type || (type->reads & reads::rope_sections) != 0;
  for (const JsonValue* part : std::initializer_list<const JsonValue*>{&scaling, &parameters})
    if (part->json().is_object()) refuse_other_keys(part->json(), reads_sections, rotary);
  if (std::ranges::find(interleaved_types, text_under(config, "model_type")) != interleaved_types.end())
    rotary.not_understood = "its pairs are neighbouring columns";
  return rotary;
}

Index rotary_width(const ModelRotary& rotary, Index head_dim) {
  const auto width = static_cast<Index>(static_cast<double>(head_dim) * rotary.share);
  return width % 2 == 0 ? width : 0;
}

bool is_plain_rotary(const ModelRotary& rotary, Index head_dim) {
  return rotary_width(rotary, head_dim) == head_dim && rotary.linear_factor == 1.0 && !rotary.llama3;
}

std::vector<double> rotary_inverse_frequencies(const ModelRotary& rotary, Index head_dim) {
  const Index width = rotary_width(rotary, head_dim);
  if (width == 0) return {};
  std::vector<double> frequencies = rotary_inverse_frequencies(width, rotary.base);
  for (double& frequency : frequencies) frequency /= rotary.linear_factor;
  if (rotary.llama3) frequencies = scaled_inverse_frequencies(std::move(frequencies), *rotary.llama3);
  return frequencies;
}

std::string rotary_text(const ModelRotary& rotary) {
  std::string text = fmt::format("base {}", rotary.base);
  if (rotary.share < 1.0) text += fmt::format(", of {:g} of each head's columns", rotary.share);
  if (rotary.linear_factor != 1.0) text += fmt::format(", frequencies divided by {:g}", rotary.linear_factor);
  if (rotary.llama3) text += ", frequencies scaled as in Llama 3.1";
  if (!rotary.not_understood.empty()) text += "; not understood: " + rotary.not_understood;
  return text;
}

}  // namespace headwise
