#include "core/model/config/model_rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/files/strict_json.h"
#include "core/model/config/model_types.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

constexpr double most = 1e15;  // of a base or a factor: far from overflow

// Llama-like names, but adjacent columns are rotated together.
constexpr std::array<std::string_view, 2> interleaved_types{"llama4", "llama4_text"};

const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

// The first of the keys that is present, above 0.
std::optional<double> number_under(const Json& object, std::initializer_list<const char*> keys,
                                   const std::string& path) {
  for (const char* key : keys) {
    const Json* value = find(object, key);
    if (value == nullptr) continue;
    const double number = value->is_number() ? value->get<double>() : 0.0;
    if (!(number > 0.0 && number <= most)) {
      throw Error(ExitStatus::input,
                  {fmt::format("{}: {}", path, key), "this is not a valid number for rotary positions",
                   json_as_written(*value), fmt::format("a number above 0, at most {:g}", most), ""});
    }
    return number;
  }
  return std::nullopt;
}

std::string text_under(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// `most_tokens`: the longest text of training, if config.json gives it.
void read_scaling(const Json& scaling, const std::string& path, std::optional<double> most_tokens,
                  ModelRotary& rotary) {
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
    rotary.linear_factor = number_under(scaling, {"factor"}, path).value_or(1.0);
  } else if (type == "llama3") {
    Llama3FrequencyScaling& llama3 = rotary.llama3.emplace();
    llama3.factor = number_under(scaling, {"factor"}, path).value_or(llama3.factor);
    llama3.low_freq_factor = number_under(scaling, {"low_freq_factor"}, path).value_or(llama3.low_freq_factor);
    llama3.high_freq_factor =
        number_under(scaling, {"high_freq_factor"}, path).value_or(llama3.high_freq_factor);
    llama3.original_max_position_embeddings =
        number_under(scaling, {"original_max_position_embeddings"}, path)
            .value_or(most_tokens.value_or(llama3.original_max_position_embeddings));
    if (llama3.high_freq_factor <= llama3.low_freq_factor) {
      throw Error(ExitStatus::input,
                  {path + ": rope_scaling", "the ranges of slow and fast frequencies overlap",
                   fmt::format("low_freq_factor = {}, high_freq_factor = {}", llama3.low_freq_factor,
                               llama3.high_freq_factor),
                   "high_freq_factor above low_freq_factor", ""});
    }
  } else {
    rotary.not_understood = "rope_scaling " + one_line(type, 40);
  }
}

// Keys other than those read here. mrope_section gives each pair of columns a position in time, height or width: in a text these are the
// same number, so types that read it can ignore it.
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

ModelRotary read_model_rotary(const nlohmann::json& config, const std::string& path,
                              const std::string& layer_type) {
  ModelRotary rotary;
  static const Json none;
  const Json* parameters = find(config, "rope_parameters");
  const bool by_layer = parameters != nullptr && parameters->is_object() && !parameters->empty() &&
                        std::ranges::all_of(*parameters, [](const Json& part) { return part.is_object(); });
  if (by_layer) {
    const Json* const own = find(*parameters, layer_type.c_str());
    if (own == nullptr) rotary.not_understood = "rope_parameters has one object per kind of layer";
    parameters = own;
  }
  const Json& newer = parameters != nullptr ? *parameters : none;
  const Json* const scaling = find(config, "rope_scaling");
  // Keys among the rotary settings take precedence over those next to them, as in transformers.
  const auto number = [&](std::initializer_list<const char*> keys, double otherwise) {
    for (const Json* part : {parameters, scaling, &config})
      if (part != nullptr)
        if (const auto written = number_under(*part, keys, path)) return *written;
    return otherwise;
  };
  const ModelType* const type = find_model_type(text_under(config, "model_type"));
  rotary.base = number({"rope_theta", "rotary_emb_base"}, type ? type->usual_base : rotary.base);
  rotary.share = number({"partial_rotary_factor", "rotary_pct"}, type ? type->usual_share : rotary.share);
  if (rotary.share > 1.0) {
    throw Error(ExitStatus::input,
                {path + ": partial_rotary_factor", "this is not a share of a head's columns",
                 fmt::format("{}", rotary.share), "a number above 0, at most 1", ""});
  }
  read_scaling(scaling != nullptr ? *scaling : newer, path,
               number_under(config, {"max_position_embeddings"}, path), rotary);
  // An unknown type is reported as such, so its sections need not be.
  const bool reads_sections = !type || (type->reads & reads::rope_sections) != 0;
  for (const Json* part : {scaling, parameters})
    if (part != nullptr && part->is_object()) refuse_other_keys(*part, reads_sections, rotary);
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
