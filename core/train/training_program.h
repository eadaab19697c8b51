// A run as a Python program that trains the same with PyTorch: the same beginning, the same batches and
// dropout, drawn by the same counter-based random numbers, and the same optimiser.
#pragma once

#include <string>

#include "core/train/checkpoint.h"

namespace headwise {

struct TrainingProgram {
  std::string text;
  std::string data;  // the content of the file that it reads beside it: the task's file; empty: none
};

// The program of `steps` steps, unless another number is its first argument. It needs NumPy and PyTorch 1.13
// or newer, prints a line "STEP LOSS" for each step and then loss and accuracy on held-out examples. In f64
// the losses are those of TrainingRun<double> up to rounding (tests/peers/compare_training_programs.py: the
// first 50 within 1e-9). `data_file` is the name of the file beside it. Throws as task_of() does.
TrainingProgram training_program(TaskSource source, const TrainingSettings& settings, DType dtype,
                                 Index steps, const std::string& data_file);

// Writes the program to `path`, which ends in .py, and the task's file, if it has one, to the same path with
// its own ending. Throws Error(output); then neither file has changed,
// unless the second could not be written.
void write_training_program(const std::string& path, const TaskSource& source,
                            const TrainingSettings& settings, DType dtype, Index steps);

}  // namespace headwise
