// Models that are trained when they are first read,
// so that a page of a lesson can show a training that is stored nowhere:
//
//   builtin:trained/RECIPE/STEP    the checkpoint of a training after STEP steps, in f64
//
// A recipe is the name of a task, then what differs from its usual settings, each after a comma,
// as options of `headwise train`:
//
//   induction
//   induction,length=16,width=32,heads=4,learning-rate=0.006,seed=2
//   induction,one-wide-head            at most one change (core/train/training_changes.h), at the end
//
// Options: length, symbols, layers, width, heads, batch, learning-rate, seed.
#pragma once

#include <string>
#include <string_view>

#include "core/train/checkpoint.h"
#include "core/train/training_changes.h"

namespace headwise {

inline constexpr std::string_view trained_prefix = "builtin:trained/";

struct TrainingRecipe {
  TaskSource source;
  TrainingSettings settings;  // valid ones
};

// Throws Error(usage), naming the recipe, for one that cannot be read or trained.
TrainingRecipe training_recipe(const std::string& recipe);

struct TrainedModelPath {
  std::string recipe;
  Index step = 0;
};
// The parts of a folder's path, which must begin with trained_prefix. Both are checked, nothing is trained.
// Throws Error(usage) as training_recipe does, for a step outside 0 … 10,000, and for a training that takes
// too long to wait for: more than 2·10¹¹ multiply-adds, some ten seconds.
TrainedModelPath trained_model_path(const std::string& folder);

// Adds the maker of such folders to core/files. An unfinished training is kept, and goes on when a later step
// is asked for.
void offer_trained_models();

}  // namespace headwise
