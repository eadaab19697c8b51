#include "core/train/train_json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/files/json_value.h"
#include "core/tensor/error.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {
namespace {

TrainModelConfig read_back(const nlohmann::json& json) {
  return train_model_of_json({json, "config.json", training_format});
}

OptimiserConfig optimiser_read_back(const nlohmann::json& json) {
  return optimiser_of_json({json, "run.json", training_format});
}

}  // namespace

TEST_CASE("a trained model's settings come back from JSON as they were") {
  for (const auto& [name, config] : trained_options()) {
    CAPTURE(name);
    CHECK(read_back(train_model_json(config)) == config);
  }
  TrainModelConfig config;
  config.frozen_heads = {{0, 3}, {1, 7}};
  config.dropout = 0.1;
  CHECK(read_back(train_model_json(config)) == config);
  CHECK(train_model_json(config)["model_type"] == "headwise");
  CHECK(read_back({{"model_type", "headwise"}}) == TrainModelConfig{});
}

TEST_CASE("an optimiser's settings come back from JSON as they were") {
  OptimiserConfig config;
  CHECK(optimiser_read_back(optimiser_json(config)) == config);
  config = {.kind = OptimiserKind::momentum,
            .learning_rate = 0.1,
            .momentum = 0.5,
            .beta1 = 0.8,
            .beta2 = 0.9,
            .epsilon = 1e-6,
            .weight_decay = 0.01,
            .clip_norm = 1.0,
            .warm_up_steps = 10,
            .cosine_steps = 100,
            .final_share = 0.1};
  CHECK(optimiser_read_back(optimiser_json(config)) == config);
}

TEST_CASE("settings in JSON that are wrong are refused in one sentence that names the file and the setting") {
  const auto refused = [](const char* key, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = train_model_json({});
    json[key] = value;
    try {
      read_back(json);
      FAIL_CHECK("accepted ", key);
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::input);
      const std::string line = error.what();
      CHECK_MESSAGE(line.starts_with("config.json: "), line);
    }
  };
  refused("hidden_size", "64");
  refused("hidden_size", 64.5);
  refused("hidden_size", 4);
  refused("is_causal", 1);
  refused("attention_dropout", "much");
  refused("attention_dropout", 2.0);
  refused("position_embedding_type", "spiral");
  refused("frozen_heads", {{9, 9}});
  refused("frozen_heads", {1, 2});
  refused("hidden_size", 9223372036854775808U);
  refused("model_type", "bert");
  refused("colour", "red");
  CHECK_THROWS_AS(read_back(nlohmann::json::array()), Error);
  CHECK_THROWS_AS(optimiser_read_back({{"kind", "lion"}}), Error);
  CHECK_THROWS_AS(train_positions_named("--positions", "spiral"), Error);
}

}  // namespace headwise::test
