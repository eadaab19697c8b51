// The parts of core/train/training_program.cpp, as Python.
#pragma once

#include <string>

#include "core/train/checkpoint.h"

namespace headwise {

// def example(draws, tokens, targets) of a task, with the constants that it needs. `data_file`: as in training_program().
std::string task_part(const TaskSource& source, const TrainTask& task, const std::string& data_file);

// The parameters as they begin, and the model: def logits_of(tokens, dropout).
std::string parameters_part(const TrainModelConfig& config);
std::string model_part(const TrainModelConfig& config);

// The optimiser and the loop.
std::string training_part(const TrainingSettings& settings);

}  // namespace headwise
