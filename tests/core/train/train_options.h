// Every option of a trained model, in small configurations that differ from each other in a few settings,
// and batches for them.
#pragma once

#include <string>
#include <vector>

#include "core/train/train_pass.h"

namespace headwise::test {

struct NamedTrainModel {
  std::string name;
  TrainModelConfig config;
};

// Two layers of E = 16, H = 4, T = 7, V = 11 unless the option says otherwise.
std::vector<NamedTrainModel> trained_options();

// Random tokens and targets; about a third of the positions do not count.
TrainBatch random_batch(const TrainModelConfig& config, Index sequences, Index length);

// As the model begins, with biases and norms moved away from 0 and 1,
// so that a gradient that misses them shows.
std::vector<double> moved_parameters(const TrainModelConfig& config);

}  // namespace headwise::test
