#include "core/train/train_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
struct Named {
  T value;
  const char* name;
};
template <class T>
Named(T, const char*) -> Named<T>;  // clang 14 does not deduce it

constexpr std::array positions_names{
    Named{TrainPositions::none, "none"}, Named{TrainPositions::learned, "learned"},
    Named{TrainPositions::sinusoidal, "sinusoidal"}, Named{TrainPositions::rotary, "rotary"},
    Named{TrainPositions::alibi, "alibi"}};
constexpr std::array activation_names{Named{TrainActivation::relu, "relu"},
                                      Named{TrainActivation::gelu, "gelu_pytorch_tanh"}};
constexpr std::array kind_names{Named{OptimiserKind::sgd, "sgd"}, Named{OptimiserKind::momentum, "momentum"},
                                Named{OptimiserKind::adam, "adam"}, Named{OptimiserKind::adamw, "adamw"}};

template <class Names, class T>
const char* name_in(const Names& names, T value) {
  for (const auto& entry : names)
    if (entry.value == value) return entry.name;
  return "";
}

template <class Names>
auto named_in(const Names& names, ExitStatus status, const std::string& where, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& entry : names) {
    if (name == entry.name) return entry.value;
    known.emplace_back(entry.name);
  }
  throw Error(status, {where, "there is no such choice", name, join(known, ", "), ""});
}

// Writes the settings of a configuration to JSON.
class SettingWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    json_[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    json_[key] = value ? Json(*value) : Json();
  }
  template <class T, std::size_t N>
  void operator()(const char* key, T value, const std::array<Named<T>, N>& names) {
    json_[key] = name_in(names, value);
  }
  void operator()(const char* key, const std::vector<FrozenHead>& heads) {
    json_[key] = Json::array();
    for (const FrozenHead& head : heads) json_[key].push_back({head.layer, head.head});
  }
  Json json_;
};

// Reads them; what is not there stays.
class SettingReader {
 public:
  SettingReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) wrong("", "the settings are no object", json, "{…}");
  }

  template <class T>
  void operator()(const char* key, T& value) {
    if (const Json* const found = find(key)) read(key, *found, value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    const Json* const found = find(key);
    if (!found) return;
    if (found->is_null()) return value.reset();
    read(key, *found, value.emplace());
  }
  template <class T, std::size_t N>
  void operator()(const char* key, T& value, const std::array<Named<T>, N>& names) {
    std::string name = name_in(names, value);
    (*this)(key, name);
    value = named_in(names, ExitStatus::input, place(key), name);
  }
  void operator()(const char* key, std::vector<FrozenHead>& heads) {
    const Json* const found = find(key);
    if (!found) return;
    heads.clear();
    if (!found->is_array()) wrong(key, "the value has the wrong type", *found, "a list of [layer, head]");
    for (const Json& pair : *found) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number_integer())
        wrong(key, "the value has the wrong type", pair, "[layer, head]");
      heads.push_back({pair[0].get<Index>(), pair[1].get<Index>()});
    }
  }

  void refuse_unknown() const {
    for (const auto& [key, value] : json_.items())
      if (!known_.contains(key))
        wrong(key, "there is no such setting", value, join(std::vector(known_.begin(), known_.end()), ", "));
  }

 private:
  std::string place(const std::string& key) const { return key.empty() ? where_ : where_ + ": " + key; }

  [[noreturn]] void wrong(const std::string& key, const char* what, const Json& got,
                          const std::string& expected) const {
    throw Error(ExitStatus::input,
                {place(key), what, got.dump(-1, ' ', false, Json::error_handler_t::replace), expected, ""});
  }

  const Json* find(const char* key) {
    known_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  void read(const char* key, const Json& json, Index& value) const {
    if (!json.is_number_integer()) wrong(key, "the value has the wrong type", json, "a whole number");
    value = json.get<Index>();
  }
  void read(const char* key, const Json& json, double& value) const {
    if (!json.is_number()) wrong(key, "the value has the wrong type", json, "a number");
    value = json.get<double>();
  }
  void read(const char* key, const Json& json, bool& value) const {
    if (!json.is_boolean()) wrong(key, "the value has the wrong type", json, "true or false");
    value = json.get<bool>();
  }
  void read(const char* key, const Json& json, std::string& value) const {
    if (!json.is_string()) wrong(key, "the value has the wrong type", json, "a word");
    value = json.get<std::string>();
  }

  const Json& json_;
  std::string where_;
  std::set<std::string> known_;
};

// The one list of a model's settings, for both directions.
template <class Visitor, class Config>
void visit_model(Visitor& visit, Config& config) {
  visit("vocab_size", config.vocabulary);
  visit("max_position_embeddings", config.longest_sequence);
  visit("num_hidden_layers", config.layers);
  visit("hidden_size", config.width);
  visit("num_attention_heads", config.heads);
  visit("num_key_value_heads", config.kv_heads);
  visit("head_dim", config.head_width);
  visit("feed_forward", config.feed_forward);
  visit("intermediate_size", config.feed_forward_width);
  visit("hidden_act", config.activation, activation_names);
  visit("layer_norm", config.norms);
  visit("position_embedding_type", config.positions, positions_names);
  visit("is_causal", config.causal);
  visit("scale_attn_weights", config.scaled);
  visit("out_projection", config.out_projection);
  visit("tie_word_embeddings", config.tied);
  visit("attention_dropout", config.dropout);
  visit("frozen_heads", config.frozen_heads);
  visit("heads_begin_equal", config.heads_begin_equal);
  visit("equal_out_projection", config.equal_out_projection);
}

template <class Visitor, class Config>
void visit_optimiser(Visitor& visit, Config& config) {
  visit("kind", config.kind, kind_names);
  visit("learning_rate", config.learning_rate);
  visit("momentum", config.momentum);
  visit("beta1", config.beta1);
  visit("beta2", config.beta2);
  visit("epsilon", config.epsilon);
  visit("weight_decay", config.weight_decay);
  visit("clip_norm", config.clip_norm);
  visit("warm_up_steps", config.warm_up_steps);
  visit("cosine_steps", config.cosine_steps);
  visit("final_share", config.final_share);
}

// Runs `check`, whose refusal is of a file here.
template <class F>
void check_file(const std::string& where, F&& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(ExitStatus::input, {.where = where, .what = error.what()});
  }
}

constexpr const char* model_type = "headwise";

}  // namespace

nlohmann::ordered_json train_model_json(const TrainModelConfig& config) {
  SettingWriter write;
  write("model_type", model_type);
  visit_model(write, config);
  return std::move(write.json_);
}

nlohmann::ordered_json optimiser_json(const OptimiserConfig& config) {
  SettingWriter write;
  visit_optimiser(write, config);
  return std::move(write.json_);
}

TrainModelConfig train_model_of_json(const nlohmann::ordered_json& json, const std::string& where) {
  TrainModelConfig config;
  SettingReader read(json, where);
  std::string type;
  read("model_type", type);
  if (type != model_type)
    throw Error(ExitStatus::input,
                {where + ": model_type", "this is no model that Headwise trained", type, model_type, ""});
  visit_model(read, config);
  read.refuse_unknown();
  check_file(where, [&] { check_train_model(config); });
  return config;
}

OptimiserConfig optimiser_of_json(const nlohmann::ordered_json& json, const std::string& where) {
  OptimiserConfig config;
  SettingReader read(json, where);
  visit_optimiser(read, config);
  read.refuse_unknown();
  check_file(where, [&] { check_optimiser(config); });
  return config;
}

const char* train_positions_name(TrainPositions positions) {
  return name_in(positions_names, positions);
}

const char* optimiser_kind_name(OptimiserKind kind) {
  return name_in(kind_names, kind);
}

TrainPositions train_positions_named(const std::string& option, const std::string& name) {
  return named_in(positions_names, ExitStatus::usage, option, name);
}

OptimiserKind optimiser_kind_named(const std::string& option, const std::string& name) {
  return named_in(kind_names, ExitStatus::usage, option, name);
}

}  // namespace headwise
