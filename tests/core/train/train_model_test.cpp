#include "core/train/train_model.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files/json_value.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "core/train/train_json.h"
#include "tests/checks.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {
namespace {

std::string refusal_of(const TrainModelConfig& config) {
  return test::refusal_line([&] { check_train_model(config); }, ExitStatus::usage);
}

std::map<std::string, std::string> shapes_of(const TrainModelConfig& config) {
  std::map<std::string, std::string> shapes;
  for (const TrainParameter& parameter : train_parameters(config))
    shapes[parameter.name] = parameter.shape.sizes_text();
  return shapes;
}

std::vector<double> begun(const TrainModelConfig& config, std::uint64_t seed = 1) {
  const std::vector<TrainParameter> parameters = train_parameters(config);
  std::vector<double> values(static_cast<std::size_t>(train_parameter_count(parameters)), NAN);
  initialise_parameters(config, parameters, seed, std::span(values));
  return values;
}

TrainModelConfig read_back(const nlohmann::json& json) {
  return train_model_of_json({json, "config.json", training_format});
}

OptimiserConfig optimiser_read_back(const nlohmann::json& json) {
  return optimiser_of_json({json, "run.json", training_format});
}

}  // namespace

TEST_CASE("the parameters of a trained model have the names and shapes of PyTorch's state_dict") {
  TrainModelConfig config;
  config.layers = 1;
  config.vocabulary = 10;
  const std::map<std::string, std::string> expected{{"embedding.weight", "(10,64)"},
                                                    {"positions.weight", "(32,64)"},
                                                    {"layers.0.norm1.weight", "(64)"},
                                                    {"layers.0.norm1.bias", "(64)"},
                                                    {"layers.0.self_attn.in_proj_weight", "(192,64)"},
                                                    {"layers.0.self_attn.in_proj_bias", "(192)"},
                                                    {"layers.0.self_attn.out_proj.weight", "(64,64)"},
                                                    {"layers.0.self_attn.out_proj.bias", "(64)"},
                                                    {"layers.0.norm2.weight", "(64)"},
                                                    {"layers.0.norm2.bias", "(64)"},
                                                    {"layers.0.linear1.weight", "(256,64)"},
                                                    {"layers.0.linear1.bias", "(256)"},
                                                    {"layers.0.linear2.weight", "(64,256)"},
                                                    {"layers.0.linear2.bias", "(64)"},
                                                    {"norm.weight", "(64)"},
                                                    {"norm.bias", "(64)"},
                                                    {"unembedding.weight", "(10,64)"}};
  CHECK(shapes_of(config) == expected);
}

TEST_CASE("what a configuration leaves out has no parameters") {
  TrainModelConfig config;
  config.layers = 1;
  config.feed_forward = config.norms = config.out_projection = false;
  config.tied = true;
  config.positions = TrainPositions::rotary;
  config.kv_heads = 2;
  const std::map<std::string, std::string> expected{{"embedding.weight", "(16,64)"},
                                                    {"layers.0.self_attn.in_proj_bias", "(96)"},
                                                    {"layers.0.self_attn.in_proj_weight", "(96,64)"}};
  CHECK(shapes_of(config) == expected);
}

TEST_CASE("the parameters fill one array without a gap") {
  TrainModelConfig config;
  config.layers = 3;
  Index at = 0;
  std::set<std::string> names;
  for (const TrainParameter& parameter : train_parameters(config)) {
    CHECK(parameter.offset == at);
    at += parameter.size();
    CHECK(names.insert(parameter.name).second);
  }
  CHECK(at == train_parameter_count(train_parameters(config)));
}

TEST_CASE("a configuration that cannot be trained is refused in one sentence that names the setting") {
  CHECK(refusal_of({}).empty());
  const auto refused = [](const char* setting, auto&& change) {
    TrainModelConfig config;
    change(config);
    const std::string line = refusal_of(config);
    CHECK_MESSAGE(line.starts_with(setting), line);
  };
  refused("layers", [](TrainModelConfig& c) { c.layers = 5; });
  refused("layers", [](TrainModelConfig& c) { c.layers = 0; });
  refused("width", [](TrainModelConfig& c) { c.width = 8; });
  refused("heads", [](TrainModelConfig& c) { c.heads = 17; });
  refused("heads", [](TrainModelConfig& c) { c.heads = c.kv_heads = 7; });
  refused("kv_heads", [](TrainModelConfig& c) { c.kv_heads = 3; });
  refused("head_width", [](TrainModelConfig& c) { c.head_width = 0; });
  refused("positions", [](TrainModelConfig& c) {
    c.head_width = 7;
    c.positions = TrainPositions::rotary;
  });
  refused("positions", [](TrainModelConfig& c) {
    c.width = 33;
    c.heads = c.kv_heads = 1;
    c.positions = TrainPositions::sinusoidal;
  });
  refused("out_projection", [](TrainModelConfig& c) {
    c.head_width = 4;
    c.out_projection = false;
  });
  refused("feed_forward_width", [](TrainModelConfig& c) { c.feed_forward_width = -1; });
  refused("dropout", [](TrainModelConfig& c) { c.dropout = 1.0; });
  refused("dropout", [](TrainModelConfig& c) { c.dropout = NAN; });
  refused("vocabulary", [](TrainModelConfig& c) { c.vocabulary = 1; });
  refused("longest_sequence", [](TrainModelConfig& c) { c.longest_sequence = 0; });
  refused("frozen_heads", [](TrainModelConfig& c) { c.frozen_heads = {{2, 0}}; });
  refused("frozen_heads", [](TrainModelConfig& c) { c.frozen_heads = {{1, 3}, {1, 3}}; });
}

TEST_CASE("parameters begin within the bounds and with the deviations of PyTorch's modules") {
  const TrainModelConfig config;
  const std::vector<double> values = begun(config);
  const auto bound = [](double inputs) { return 1.0 / std::sqrt(inputs); };
  for (const TrainParameter& parameter : train_parameters(config)) {
    double sum = 0.0, squares = 0.0, largest = 0.0;
    for (Index i = 0; i < parameter.size(); ++i) {
      const double value = values[static_cast<std::size_t>(parameter.offset + i)];
      CHECK(value == static_cast<double>(static_cast<float>(value)));
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    const double count = static_cast<double>(parameter.size()), deviation = std::sqrt(squares / count);
    const std::string& name = parameter.name;
    const auto is_uniform = [&](double of) {
      CHECK_MESSAGE(largest <= of, name);
      CHECK_MESSAGE(deviation == doctest::Approx(of / std::sqrt(3.0)).epsilon(0.12), name);
    };
    if (name.ends_with("in_proj_weight")) is_uniform(std::sqrt(6.0 / (192 + 64)));
    if (name.ends_with("out_proj.weight") || name.starts_with("unembedding")) is_uniform(bound(64));
    if (name.ends_with("linear1.weight") || name.ends_with("linear1.bias")) is_uniform(bound(64));
    if (name.ends_with("linear2.weight") || name.ends_with("linear2.bias")) is_uniform(bound(256));
    if (name.starts_with("embedding") || name.starts_with("positions"))
      CHECK_MESSAGE(deviation == doctest::Approx(1.0).epsilon(0.1), name);
    if (name.ends_with("proj_bias") || name.ends_with("out_proj.bias")) CHECK_MESSAGE(largest == 0.0, name);
    if (name.find("norm") != std::string::npos)
      CHECK_MESSAGE(sum == (name.ends_with("weight") ? count : 0.0), name);
  }
}

TEST_CASE("parameters begin the same whenever they are drawn, and differently under another seed") {
  const TrainModelConfig config;
  const std::vector<double> once = begun(config);
  CHECK(begun(config) == once);
  CHECK(begun(config, 2) != once);
  std::vector<float> narrow(once.size());
  initialise_parameters(config, train_parameters(config), 1, std::span(narrow));
  CHECK(std::vector<double>(narrow.begin(), narrow.end()) == once);
}

TEST_CASE("heads that begin equal have equal rows of W_Q, W_K and W_V and equal columns of W_O") {
  TrainModelConfig config;
  config.heads_begin_equal = true;
  config.kv_heads = 4;
  const std::vector<double> values = begun(config);
  const Index head_width = head_width_of(config);
  for (const TrainParameter& parameter : train_parameters(config)) {
    const bool in = parameter.role == TrainRole::in_weight, out = parameter.role == TrainRole::out_weight;
    if (!in && !out) continue;
    const auto cell = [&](Index row, Index column) {
      return values[static_cast<std::size_t>(parameter.offset + row * parameter.columns() + column)];
    };
    Index different = 0;
    for (Index row = 0; row < parameter.rows(); ++row)
      for (Index column = 0; column < parameter.columns(); ++column) {
        const Index unit = row / head_width;
        const Index first = unit < 8 ? 0 : unit < 12 ? 8 : 12;
        different += in ? cell(row, column) != cell(first * head_width + row % head_width, column)
                        : cell(row, column) != cell(row, column % head_width);
      }
    CHECK(different == 0);
    CHECK(cell(0, 0) != cell(1, 0));  // within a head they differ
  }
}

TEST_CASE(
    "a frozen head keeps its rows of W_Q and its columns of W_O, and W_K and W_V only where no other head "
    "reads them") {
  TrainModelConfig config;
  config.layers = 1;
  config.kv_heads = 4;
  config.frozen_heads = {{0, 2}, {0, 3}, {0, 5}};  // all heads of group 1, one of group 2
  const std::vector<TrainParameter> parameters = train_parameters(config);
  const std::vector<std::uint8_t> frozen = frozen_values(config, parameters);
  for (const TrainParameter& parameter : parameters) {
    std::set<Index> rows, columns;
    Index count = 0;
    for (Index i = 0; i < parameter.size(); ++i) {
      if (!frozen[static_cast<std::size_t>(parameter.offset + i)]) continue;
      rows.insert(i / parameter.columns() / 8);
      columns.insert(i % parameter.columns() / 8);
      ++count;
    }
    if (parameter.role == TrainRole::in_weight) {
      CHECK(rows == std::set<Index>{2, 3, 5, 8 + 1, 12 + 1});
      CHECK(count == 5 * 8 * 64);
    } else if (parameter.role == TrainRole::in_bias) {
      CHECK(columns == std::set<Index>{2, 3, 5, 9, 13});
    } else if (parameter.role == TrainRole::out_weight) {
      CHECK(columns == std::set<Index>{2, 3, 5});
      CHECK(count == 3 * 8 * 64);
    } else {
      CHECK(count == 0);
    }
  }
  CHECK(frozen_values(TrainModelConfig{}, train_parameters({})).empty());
}

TEST_CASE(
    "a frozen head keeps its sink and its gate, and its column of the relative biases if no layer trains "
    "it") {
  TrainModelConfig config;
  config.sink = config.output_gate = true;
  config.positions = TrainPositions::relative_bias;
  config.frozen_heads = {{0, 2}, {0, 3}, {1, 3}};
  const std::vector<TrainParameter> parameters = train_parameters(config);
  const std::vector<std::uint8_t> frozen = frozen_values(config, parameters);
  const auto kept = [&](TrainRole role, Index layer, Index step) {
    std::set<Index> units;
    for (const TrainParameter& parameter : parameters)
      for (Index i = 0; i < parameter.size() && parameter.role == role && parameter.layer == layer; ++i)
        if (frozen[static_cast<std::size_t>(parameter.offset + i)])
          units.insert(step > 0 ? i / step : i % config.heads);
    return units;
  };
  CHECK(kept(TrainRole::sinks, 0, 1) == std::set<Index>{2, 3});
  CHECK(kept(TrainRole::sinks, 1, 1) == std::set<Index>{3});
  CHECK(kept(TrainRole::gate_weight, 0, 8 * 64) == std::set<Index>{2, 3});
  CHECK(kept(TrainRole::gate_weight, 1, 8 * 64) == std::set<Index>{3});
  CHECK(kept(TrainRole::relative_bias, 0, 0) == std::set<Index>{3});
}

TEST_CASE(
    "a frozen head of latents keeps its keys and values, and the latents only if all heads are frozen") {
  TrainModelConfig config;
  config.latent_width = 16;
  config.layers = 2;
  config.frozen_heads = {{0, 2}, {0, 5}};
  for (Index head = 0; head < 8; ++head) config.frozen_heads.push_back({1, head});
  const std::vector<TrainParameter> parameters = train_parameters(config);
  const std::vector<std::uint8_t> frozen = frozen_values(config, parameters);
  const auto kept = [&](TrainRole role, Index layer, Index step) {
    std::set<Index> units;
    for (const TrainParameter& parameter : parameters)
      for (Index i = 0; i < parameter.size() && parameter.role == role && parameter.layer == layer; ++i)
        if (frozen[static_cast<std::size_t>(parameter.offset + i)]) units.insert(i / step);
    return units;
  };
  CHECK(kept(TrainRole::q_weight, 0, 8 * 64) == std::set<Index>{2, 5});
  CHECK(kept(TrainRole::kv_b_weight, 0, (2 * 8 - 2) * 16) == std::set<Index>{2, 5});
  CHECK(kept(TrainRole::kv_a_weight, 0, 64).empty());
  CHECK(kept(TrainRole::latent_norm, 0, 1).empty());
  CHECK(kept(TrainRole::kv_b_weight, 1, (2 * 8 - 2) * 16).size() == 8);
  CHECK(kept(TrainRole::kv_a_weight, 1, 64).size() == 16 + 2);
  CHECK(kept(TrainRole::latent_norm, 1, 1).size() == 16);
}

TEST_CASE(
    "a configuration with latents that cannot be is refused by a sentence that names what is in the way") {
  const auto refusal = [](auto&& change) {
    TrainModelConfig config;
    config.latent_width = 16;
    check_train_model(config);
    change(config);
    try {
      check_train_model(config);
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_CONTAINS(refusal([](TrainModelConfig& c) { c.latent_width = 0; }), "got 0; expected 1 to 128");
  CHECK_CONTAINS(refusal([](TrainModelConfig& c) { c.latent_width = 129; }), "got 129; expected 1 to 128");
  CHECK_CONTAINS(refusal([](TrainModelConfig& c) { c.kv_heads = 4; }), "kv_heads = 4, heads = 8");
  CHECK_CONTAINS(refusal([](TrainModelConfig& c) { c.head_width = 2; }),
                 "head width = 2; expected a head width of 3 or more");
  CHECK_CONTAINS(refusal([](TrainModelConfig& c) { c.qk_norm = true; }), "QK-norm cannot be combined");
  // Positions rotate the two shared columns, so the width of a head may be odd.
  CHECK(refusal([](TrainModelConfig& c) {
          c.head_width = 3;
          c.positions = TrainPositions::rotary;
        }).empty());
}

TEST_CASE("heads that begin equal have equal gates, sinks and relative biases, which all layers share") {
  TrainModelConfig config;
  config.sink = config.output_gate = config.heads_begin_equal = true;
  config.positions = TrainPositions::relative_bias;
  const std::vector<double> values = begun(config);
  Index tables = 0;
  for (const TrainParameter& parameter : train_parameters(config)) {
    const auto at = [&](Index i) { return values[static_cast<std::size_t>(parameter.offset + i)]; };
    Index different = 0;
    if (parameter.role == TrainRole::gate_weight) {
      for (Index i = 0; i < parameter.size(); ++i) different += at(i) != at(i % (8 * 64));
      CHECK(at(0) != at(1));
    }
    if (parameter.role == TrainRole::sinks)
      for (Index i = 0; i < parameter.size(); ++i) different += at(i) != 0.0;
    if (parameter.role == TrainRole::relative_bias) {
      CHECK(parameter.name == "layers.0.self_attn.relative_attention_bias.weight");
      CHECK(parameter.shape.sizes() == std::vector<Index>{32, 8});
      for (Index i = 0; i < parameter.size(); ++i) different += at(i) != at(i / 8 * 8);
      CHECK(at(0) != at(8));
      ++tables;
    }
    CHECK(different == 0);
  }
  CHECK(tables == 1);
}

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
    CHECK_MESSAGE(refusal_line([&] { read_back(json); }).starts_with("config.json: "), key);
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
