#include "core/model/config/model_config.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "core/files/file_paths.h"
#include "core/files/json_value.h"
#include "core/model/config/model_types.h"
#include "core/model/config/rotary_scaling_json.h"
#include "core/model/files/model_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr JsonFormat rotary_format{.dialect = JsonDialect::python,
                                   .problem = "this is not a valid number for rotary positions"};

std::string text_under(const JsonValue& object, const char* key) {
  const Json& value = object.at(key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// The length of training is the config's own where it has one, else the longest text.
void read_scaling(const JsonValue& scaling, const JsonValue& config, ModelRotary& rotary) {
  const std::string type = rotary_scaling_type(scaling);
  if (type.empty() || scales_nothing(type)) return;  // sections of mrope are reported elsewhere
  const std::optional<RotaryScalingKind> kind = rotary_scaling_kind(type);
  if (!kind) {
    rotary.unsupported = "rope_scaling " + one_line(type, 40);
    return;
  }
  RotaryScaling& read = rotary.scaling.emplace(read_rotary_scaling(scaling, *kind));
  read.partial_rotary_factor.reset();  // rotary.share has it, where the model reads it
  const std::optional<double> longest = number_under(config, {"max_position_embeddings"});
  std::optional<double>& original = read.original_max_position_embeddings;
  if (*kind == RotaryScalingKind::dynamic)
    original = longest.value_or(2048.0);
  else if (const auto own = number_under(config, {"original_max_position_embeddings"}))
    original = own;
  else if (!original)
    original = longest.value_or(*kind == RotaryScalingKind::llama3 ? 8192.0 : 2048.0);
  if (!read.factor)
    read.factor = *kind == RotaryScalingKind::linear   ? 1.0
                  : *kind == RotaryScalingKind::llama3 ? 8.0
                                                       : longest.value_or(*original) / *original;
  // Whether longrope's lists fit the columns is told where their number is known.
  const Index width = *kind == RotaryScalingKind::longrope ? 2 * std::ssize(read.short_factor) : 4;
  if (const std::string problem = rotary_scaling_problem(read, std::max<Index>(2, width)); !problem.empty())
    scaling.refuse_got("rope_scaling " + problem, type);
}

// Keys other than those read here. mrope_section gives each pair of columns a position in time, height or
// width: in a text these are the same number, so types that read it can ignore it.
void refuse_other_keys(const Json& part, bool reads_sections, ModelRotary& rotary) {
  std::vector<std::string> known = rotary_scaling_keys();
  std::ranges::copy(rotary_object_keys(), std::back_inserter(known));
  // The second is of queries: each layer tells of it.
  known.insert(known.end(), {"max_position_embeddings", "llama_4_scaling_beta"});
  for (const auto& [key, value] : part.items())
    if (!value.is_null() && rotary.unsupported.empty() && std::ranges::find(known, key) == known.end() &&
        !(reads_sections && key == "mrope_section"))
      rotary.unsupported = "rope_parameters with " + one_line(key, 40);
}

// May be lists, with one entry per stage: Swin's, SegFormer's.
constexpr std::array<const char*, 2> heads_by_stage_keys{"num_heads", "num_attention_heads"};
constexpr Index most = Index{1} << 32;  // of any size, so that products of two stay far from overflow

constexpr JsonFormat size_format{.dialect = JsonDialect::python, .problem = "this is not a size"};

// The first of the keys that is present and not null.
std::optional<Index> size_under(const JsonValue& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const Json& size = config.at(key);
    const bool by_stage =
        size.is_array() && !size.empty() &&
        std::ranges::find(heads_by_stage_keys, std::string_view(key)) != heads_by_stage_keys.end();
    if (!size.is_null() && !by_stage) return config[key].integer(1, most);
  }
  return std::nullopt;
}

// "clip_text_model" for the model type "clip" and a part "text_config" without a type of its own.
std::string part_type(const std::string& whole, const std::string& part) {
  const std::string kind = part.ends_with("_config") ? part.substr(0, part.size() - 7) : part;
  for (const std::string& name : {whole + "_" + kind + "_model", whole + "_" + kind})
    if (find_model_type(name)) return name;
  return "";
}

// A model nested in config.json: "text_config", "encoder".
bool is_part(const std::string& key, const Json& value) {
  if (!value.is_object()) return false;
  return key.ends_with("_config") ? key != "quantization_config"
                                  : value.contains("model_type") && !value["model_type"].is_null();
}

// With the rotary positions that the model's class has where a config.json omits them.
std::shared_ptr<const Json> with_usual_rope(std::shared_ptr<const Json> settings) {
  const JsonValue json(*settings, "", size_format);
  const ModelType* const type = find_model_type(text_under(json, "model_type"));
  if (!type || type->usual_rope.empty() || json.has("rope_parameters") || json.has("rope_scaling"))
    return settings;
  auto whole = std::make_shared<Json>(*settings);
  (*whole)["rope_parameters"] = Json::parse(type->usual_rope);
  return whole;
}

std::shared_ptr<const ModelConfig> config_of(std::shared_ptr<const Json> settings, const std::string& where,
                                             const std::string& whole_type = {}) {
  settings = with_usual_rope(std::move(settings));
  const JsonValue json(*settings, where, size_format);
  const auto of = [&](std::initializer_list<const char*> keys) { return size_under(json, keys); };
  auto made = std::make_shared<ModelConfig>();
  ModelConfig& config = *made;
  config.where = where;
  config.whole_type = whole_type;
  if (const Json& type = json.at("model_type"); type.is_string()) config.model_type = type.get<std::string>();
  config.embed_dim = of({"n_embed", "hidden_size", "n_embd", "d_model", "dim"});
  // LXMERT counts three stacks in one object, and a head of 0 columns is invalid:
  // neither is needed to compute a layer.
  const auto unless_odd = [&](std::initializer_list<const char*> keys, auto odd) -> std::optional<Index> {
    for (const char* key : keys) {
      if (!json.has(key)) continue;
      if (!odd(json.at(key))) break;
      config.invalid_sizes.push_back(
          fmt::format("{}: {} = {} is not a size and is ignored", where, key, json_as_written(json.at(key))));
      return std::nullopt;
    }
    return of(keys);
  };
  config.num_layers = unless_odd({"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
                                 [](const Json& size) { return size.is_object(); });
  config.num_heads = of({"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"});
  config.num_kv_heads = of({"num_key_value_heads"});
  if (const ModelType* const type = find_model_type(config.model_type); type && !whole_type.empty()) {
    if (!config.num_heads && type->usual_heads > 0) {
      config.num_heads = type->usual_heads;
      if (!config.num_kv_heads && type->usual_kv_heads > 0) config.num_kv_heads = type->usual_kv_heads;
    }
  }
  config.head_dim = unless_odd({"head_dim", "d_kv"}, [](const Json& size) {
    return size.is_number_unsigned() && size.get<std::uint64_t>() == 0;
  });
  config.encoder_heads = of({"encoder_attention_heads"});
  config.decoder_heads = of({"decoder_attention_heads", "decoder_num_attention_heads"});
  config.decoder_dim = of({"decoder_hidden_size"});
  for (const char* key : heads_by_stage_keys)
    if (json.at(key).is_array() && config.heads_by_stage.empty())
      json[key].each([&](const JsonValue& heads) { config.heads_by_stage.push_back(heads.integer(1, most)); });
  config.rotary = read_model_rotary(*settings, where);
  for (const auto& [key, value] : settings->items()) {
    if (!is_part(key, value)) continue;
    auto part = std::make_shared<Json>(value);
    if (!part->contains("model_type")) {
      const std::string type = part_type(config.model_type, key);
      if (!type.empty()) (*part)["model_type"] = type;
    }
    config.parts.emplace_back(
        key, config_of(std::move(part), fmt::format("{}: {}", where, key), config.model_type));
  }
  config.settings = std::move(settings);
  return made;
}

// Components of a layer's name that assign it to a part of the model.
struct PartWords {
  std::string_view part;
  std::initializer_list<std::string_view> words;
};
const std::initializer_list<PartWords> part_words{
    {"vision_config", {"vision", "visual", "image", "video"}},
    {"image_config", {"image"}},
    {"multimodal_config", {"multimodal"}},
    {"text_config", {"text", "language"}},
    {"audio_config", {"audio", "speech"}},
    {"qformer_config", {"qformer"}},
    {"encoder", {"encoder."}},
    {"decoder", {"decoder."}},
    {"text_encoder", {"text_encoder"}},
    {"audio_encoder", {"audio_encoder"}},
};

// The language model of a vision-language model is recognised without one: "model.layers.0",
// "transformer.h.0". What lies between two parts has one: "model.connector.layers.0".
bool needs_no_word(std::string_view layer_name) {
  constexpr std::array<std::string_view, 9> wrappers{"model.",    "base_model.", "transformer.",
                                                     "gpt_neox.", "bert.",       "roberta.",
                                                     "encoder.",  "decoder.",    "lm."};
  constexpr std::array<std::string_view, 4> stacks{"layers.", "layer.", "h.", "block."};
  for (bool stripped = true; stripped;) {
    stripped = false;
    for (const std::string_view wrapper : wrappers) {
      if (!layer_name.starts_with(wrapper)) continue;
      layer_name.remove_prefix(wrapper.size());
      stripped = true;
    }
  }
  return std::ranges::any_of(stacks, [&](std::string_view stack) { return layer_name.starts_with(stack); });
}

}  // namespace

ModelRotary read_model_rotary(const nlohmann::json& json, const std::string& path,
                              const std::string& layer_type) {
  ModelRotary rotary;
  const JsonValue config(json, path, rotary_format);
  for (const char* const key : {"rope_parameters", "rope_scaling"})
    if (config.has(key) && !config.at(key).is_object())
      config[key].refuse_got("wrong type", json_as_written(config.at(key)), "an object, or null");
  JsonValue parameters = config["rope_parameters"];
  const Json& parts = parameters.json();
  if (parts.is_object() && !parts.empty() &&
      std::ranges::all_of(parts, [](const Json& part) { return part.is_object(); })) {
    if (!parameters.has(layer_type)) rotary.unsupported = "rope_parameters has one object per kind of layer";
    parameters = parameters[layer_type];
  }
  const JsonValue scaling = config["rope_scaling"];
  // Keys among the rotary settings take precedence over those next to them, as in transformers.
  const auto number = [&](auto written, double otherwise) {
    for (const JsonValue* part : std::initializer_list<const JsonValue*>{&parameters, &scaling, &config})
      if (const std::optional<double> found = written(*part)) return *found;
    return otherwise;
  };
  const ModelType* const type = find_model_type(text_under(config, "model_type"));
  rotary.backwards = type && type->rotates_backwards;
  rotary.base = number(written_rotary_base, type ? type->usual_base : rotary.base);
  // In files without rope_parameters. A local_rope_theta of null is the global one, and Gemma 3 scales only
  // layers without a window.
  if (type && (type->reads & reads::base_by_kind) != 0 && layer_type == "sliding_attention" && parts.is_null()) {
    const bool as_global = config.contains("local_rope_theta") && !config.has("local_rope_theta");
    if (const auto written = number_under(config, {"rope_local_base_freq", "local_rope_theta"}); !as_global)
      rotary.base = written.value_or(type->usual_local_base);
    if ((type->reads & reads::window_pattern) != 0) return rotary;
  }
  rotary.share = number(written_rotary_share, type ? type->usual_share : rotary.share);
  if (rotary.share > 1.0)
    config["partial_rotary_factor"].refuse_got("this is not a share of a head's columns",
                                               fmt::format("{}", rotary.share), "a number above 0, at most 1");
  read_scaling(config.has("rope_scaling") ? scaling : parameters, config, rotary);
  // An unknown type is reported as such, so its sections need not be.
  const bool reads_sections = !type || (type->reads & reads::rope_sections) != 0;
  for (const JsonValue* part : std::initializer_list<const JsonValue*>{&scaling, &parameters})
    if (part->json().is_object()) refuse_other_keys(part->json(), reads_sections, rotary);
  return rotary;
}

Index rotary_width(const ModelRotary& rotary, Index head_dim) {
  return columns_of_share(rotary.share, head_dim);
}

Rotation model_rotation(const ModelRotary& rotary, Index head_dim, Index tokens) {
  const Index width = rotary_width(rotary, head_dim);
  if (width == 0 || (rotary.scaling && !rotary_scaling_problem(*rotary.scaling, width).empty())) return {};
  Rotation rotation = rotary.scaling ? scaled_rotation(*rotary.scaling, width, rotary.base, tokens)
                                     : Rotation{rotary_inverse_frequencies(width, rotary.base)};
  rotation.pairs = rotary.pairs;
  if (rotary.backwards)
    for (double& frequency : rotation.inverse_frequencies) frequency = -frequency;
  return rotation;
}

std::string rotary_text(const ModelRotary& rotary) {
  std::string text = fmt::format("base {}", rotary.base);
  if (rotary.backwards) text += ", in the opposite direction";
  if (rotary.pairs == RotaryPairs::neighbours) text += ", of neighbouring columns 2j and 2j + 1";
  if (rotary.share < 1.0) text += fmt::format(", of {:g} of each head's columns", rotary.share);
  if (rotary.scaling)
    text += ", scaled: " + rotary_scaling_json(*rotary.scaling)["rope_type"].get<std::string>();
  if (rotary.scaling && rotary.scaling->factor) text += fmt::format(" by {:g}", *rotary.scaling->factor);
  if (!rotary.unsupported.empty()) text += "; not understood: " + rotary.unsupported;
  return text;
}

std::shared_ptr<const ModelConfig> read_model_config(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  require_reachable(path);
  if (!is_there(path)) return nullptr;
  return config_of(std::make_shared<const Json>(read_json_object(path, model_format)), path);
}

std::shared_ptr<const ModelConfig> part_of_layer(const std::shared_ptr<const ModelConfig>& config,
                                                 const std::string& layer_name) {
  if (!config || config->parts.empty()) return config;
  const auto part_named = [&](std::string_view name) -> std::shared_ptr<const ModelConfig> {
    for (const auto& [key, part] : config->parts)
      if (key == name) return part;
    return nullptr;
  };
  const std::string name = layer_name + ".";
  for (const PartWords& words : part_words) {
    const bool named = std::ranges::any_of(words.words, [&](std::string_view word) {
      // "encoder." and "decoder." begin the names of their models; elsewhere they are stacks of one model.
      return word.ends_with('.') ? name.starts_with(word) : name.find(word) != std::string::npos;
    });
    if (!named) continue;
    if (auto part = part_named(words.part)) return part;
  }
  const bool has_sizes = config->num_heads || config->encoder_heads || !config->heads_by_stage.empty();
  if (const auto text = part_named("text_config"); text && !has_sizes && needs_no_word(layer_name))
    return text;
  return config;
}

}  // namespace headwise
