#include "core/train/train_json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/tensor/error.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {

TEST_CASE("a trained model's settings come back from JSON as they were") {
  for (const auto& [name, config] : trained_options()) {
    CAPTURE(name);
    CHECK(train_model_of_json(train_model_json(config), "config.json") == config);
  }
  TrainModelConfig config;
  config.frozen_heads = {{0, 3}, {1, 7}};
  config.dropout = 0.1;
  CHECK(train_model_of_json(train_model_json(config), "config.json") == config);
  CHECK(train_model_json(config)["model_type"] == "headwise");
  CHECK(train_model_of_json({{"model_type", "headwise"}}, "config.json") == TrainModelConfig{});
}

TEST_CASE("an optimiser's settings come back from JSON as they were") {
  OptimiserConfig config;
  CHECK(optimiser_of_json(optimiser_json(config), "run.json") == config);
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
  CHECK(optimiser_of_json(optimiser_json(config), "run.json") == config);
}

TEST_CASE("settings in JSON that are wrong are refused in one sentence that names the file and the setting") {
  const auto refused = [](const char* key, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = train_model_json({});
    json[key] = value;
    try {
      train_model_of_json(json, "config.json");
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
  refused("model_type", "bert");
  refused("colour", "red");
  CHECK_THROWS_AS(train_model_of_json(nlohmann::ordered_json::array(), "config.json"), Error);
  CHECK_THROWS_AS(optimiser_of_json({{"kind", "lion"}}, "run.json"), Error);
  CHECK_THROWS_AS(train_positions_named("--positions", "spiral"), Error);
}

}  // namespace headwise::test
