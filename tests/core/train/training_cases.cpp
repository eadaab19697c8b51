// Writes what the training computes, for tests/peers/compare_training_with_pytorch.py:
// headwise_training_cases FOLDER
//
// For each option of trained_options(), FOLDER/NN.json has its configuration and FOLDER/NN.npz in f64: the
// batch, the parameters and their gradients, the factors of dropout by layer, and the losses and last
// parameters of 200 steps of an optimiser.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/attention/softmax.h"
#include "core/files/array_files.h"
#include "core/files/atomic_file.h"
#include "core/train/train_json.h"
#include "core/train/train_optimiser.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {
namespace {

constexpr Index sequences = 40, steps = 200;  // more sequences than are computed at a time
constexpr std::uint64_t seeds[] = {21, 22, 23, 24};

// Each kind of optimiser and schedule in turn.
OptimiserConfig optimiser_of_case(std::size_t number) {
  constexpr OptimiserKind kinds[] = {OptimiserKind::adam, OptimiserKind::adamw, OptimiserKind::sgd,
                                     OptimiserKind::momentum};
  OptimiserConfig config;
  config.kind = kinds[number % 4];
  if (number % 2 == 1) config.weight_decay = 0.01;
  if (number % 3 == 1) config.clip_norm = 0.1;
  if (number % 3 == 2) {
    config.warm_up_steps = 20;
    config.cosine_steps = 150;
    config.final_share = 0.1;
  }
  return config;
}

TensorPtr array_of(Shape shape, const std::vector<double>& values, Index at = 0) {
  Tensor tensor(std::move(shape), DType::f64);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, values[static_cast<std::size_t>(at + i)]);
  return std::make_shared<const Tensor>(std::move(tensor));
}

void write_case(const std::string& folder, std::size_t number, const NamedTrainModel& model) {
  const TrainModelConfig& config = model.config;
  const TrainBatch batch = random_batch(config, sequences, config.longest_sequence);
  std::vector<double> values = moved_parameters(config), gradient(values.size());
  std::vector<NamedTensor> arrays;
  const auto add = [&](const std::string& name, TensorPtr tensor) {
    arrays.push_back({name, std::move(tensor), "f64"});
  };
  const auto add_parameters = [&](const std::string& prefix, const std::vector<double>& of) {
    for (const TrainParameter& parameter : train_parameters(config))
      add(prefix + parameter.name, array_of(parameter.shape, of, parameter.offset));
  };
  const Shape grid{{"N", sequences}, {"T", batch.length}};
  add("tokens", array_of(grid, {batch.tokens.begin(), batch.tokens.end()}));
  add("targets", array_of(grid, {batch.targets.begin(), batch.targets.end()}));
  DropoutSeeds dropout;
  if (config.dropout > 0.0) {
    dropout = DropoutSeeds(seeds).first(static_cast<std::size_t>(config.layers));
    const Shape map{{"N", sequences}, {"H", config.heads}, {"L", batch.length}, {"S", batch.length}};
    for (Index layer = 0; layer < config.layers; ++layer) {
      std::vector<double> factors;
      for (Index i = 0; i < map.element_count(); ++i)
        factors.push_back(dropout_factor(config.dropout, seeds[layer], i));
      add(fmt::format("dropout.{}", layer), array_of(map, factors));
    }
  }
  TrainPass<double> pass(config);
  pass.gradient(values, batch, std::span(gradient), dropout);
  add_parameters("value.", values);
  add_parameters("gradient.", gradient);

  const OptimiserConfig settings = optimiser_of_case(number);
  Optimiser<double> optimiser(settings, pass.size());
  std::vector<double> losses;
  for (Index step = 0; step < steps; ++step) {
    losses.push_back(pass.gradient(values, batch, std::span(gradient), dropout).loss);
    optimiser.step(values, gradient);
  }
  add("losses", array_of({{"steps", steps}}, losses));
  add_parameters("last.", values);

  nlohmann::ordered_json json{
      {"name", model.name}, {"model", train_model_json(config)}, {"optimiser", optimiser_json(settings)}};
  const std::string path = fmt::format("{}/{:02}", folder, number);
  write_npz(path + ".npz", arrays);
  write_file_atomically(path + ".json", json.dump(1));
}

}  // namespace
}  // namespace headwise::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: headwise_training_cases FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  const auto options = headwise::test::trained_options();
  for (std::size_t i = 0; i < options.size(); ++i) headwise::test::write_case(argv[1], i, options[i]);
  return 0;
}
