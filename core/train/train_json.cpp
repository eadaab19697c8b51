#include "core/train/train_json.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files/json_value.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using ChoiceWords = std::vector<std::string_view>;  // in the order of their enumerators

const ChoiceWords positions_words{"none", "learned", "sinusoidal", "rotary", "alibi", "relative_bias"};
const ChoiceWords activation_words{"relu", "gelu_pytorch_tanh"};
const ChoiceWords kind_words{"sgd", "momentum", "adam", "adamw"};

template <class T>
T named_in(const ChoiceWords& words, const std::string& option, const std::string& name) {
  const auto found = std::ranges::find(words, name);
  if (found == words.end())
    throw Error(ExitStatus::usage, {option, "there is no such choice", name, join(words, ", "), ""});
  return static_cast<T>(found - words.begin());
}

// Writes the settings of a configuration to JSON.
struct SettingWriter {
  nlohmann::ordered_json json;

  template <class T>
  void operator()(const char* key, const T& value) {
    json[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    json[key] = nullptr;
    if (value) json[key] = *value;
  }
  template <class T>
  void operator()(const char* key, T value, const ChoiceWords& words) {
    json[key] = words[static_cast<std::size_t>(value)];
  }
  void operator()(const char* key, const std::vector<FrozenHead>& heads) {
    json[key] = nlohmann::ordered_json::array();
    for (const FrozenHead& head : heads) json[key].push_back({head.layer, head.head});
  }
};

// Reads them; what is not there stays.
struct SettingReader {
  const JsonValue& json;
  std::vector<std::string> known;

  template <class T, class... Rest>
  void operator()(const char* key, T& value, const Rest&... words) {
    known.emplace_back(key);
    json.read_key(key, value, words...);
  }
  void operator()(const char* key, std::vector<FrozenHead>& heads) {
    known.emplace_back(key);
    if (!json.contains(key)) return;
    heads.clear();
    json[key].list("a list of [layer, head]").each([&](const JsonValue& pair) {
      std::vector<Index> numbers;
      if (pair.list("[layer, head]").json().size() != 2) pair.refuse("wrong type", "[layer, head]");
      pair.each([&](const JsonValue& number) { numbers.push_back(number.integer()); });
      heads.push_back({numbers[0], numbers[1]});
    });
  }
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
  visit("kv_lora_rank", config.latent_width);
  visit("feed_forward", config.feed_forward);
  visit("intermediate_size", config.feed_forward_width);
  visit("hidden_act", config.activation, activation_words);
  visit("layer_norm", config.norms);
  visit("position_embedding_type", config.positions, positions_words);
  visit("is_causal", config.causal);
  visit("sliding_window", config.sliding_window);
  visit("scale_attn_weights", config.scaled);
  visit("qk_norm", config.qk_norm);
  visit("sink", config.sink);
  visit("output_gate", config.output_gate);
  visit("out_projection", config.out_projection);
  visit("tie_word_embeddings", config.tied);
  visit("attention_dropout", config.dropout);
  visit("frozen_heads", config.frozen_heads);
  visit("heads_begin_equal", config.heads_begin_equal);
  visit("equal_out_projection", config.equal_out_projection);
}

template <class Visitor, class Config>
void visit_optimiser(Visitor& visit, Config& config) {
  visit("kind", config.kind, kind_words);
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

constexpr const char* model_type = "headwise";

// `visit` names the settings, `check` refuses a configuration.
template <class Config, class Visit, class Check>
Config settings_of(const JsonValue& json, std::vector<std::string> known, Visit visit, Check check) {
  Config config;
  SettingReader read{json.object("{…}"), std::move(known)};
  visit(read, config);
  json.only(read.known);
  try {
    check(config);
  } catch (const Error& error) {
    json.refuse_got(error.what(), "");
  }
  return config;
}

}  // namespace

constinit const JsonFormat training_format{.limits = {.levels = 8, .values = 10'000, .keys = 1'000}};

nlohmann::ordered_json train_model_json(const TrainModelConfig& config) {
  SettingWriter write;
  write("model_type", model_type);
  visit_model(write, config);
  return std::move(write.json);
}

nlohmann::ordered_json optimiser_json(const OptimiserConfig& config) {
  SettingWriter write;
  visit_optimiser(write, config);
  return std::move(write.json);
}

TrainModelConfig train_model_of_json(const JsonValue& json) {
  const JsonValue type = json.object("{…}")["model_type"];
  if (type.json() != model_type) type.refuse("this is no model that Headwise trained", model_type);
  return settings_of<TrainModelConfig>(
      json, {"model_type"}, [](auto& read, TrainModelConfig& config) { visit_model(read, config); },
      check_train_model);
}

OptimiserConfig optimiser_of_json(const JsonValue& json) {
  return settings_of<OptimiserConfig>(
      json, {}, [](auto& read, OptimiserConfig& config) { visit_optimiser(read, config); }, check_optimiser);
}

TrainPositions train_positions_named(const std::string& option, const std::string& name) {
  return named_in<TrainPositions>(positions_words, option, name);
}

OptimiserKind optimiser_kind_named(const std::string& option, const std::string& name) {
  return named_in<OptimiserKind>(kind_words, option, name);
}

}  // namespace headwise
