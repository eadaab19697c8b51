// The options of headwise train, and the settings that they describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_options.h"
#include "core/train/checkpoint.h"

namespace headwise {

struct TrainWords {
  std::string task, output, steps = "500", every, keep = "32", seed, dtype = "f32";
  std::string length, symbols, layers, width, heads, kv_heads, head_width, positions, dropout;
  std::vector<std::string> frozen;
  bool no_feed_forward = false, no_norms = false, no_out_projection = false, no_causal = false,
       no_scale = false, tied = false, equal_heads = false, equal_but_output = false, resume = false;
  std::string beside;
  std::string optimiser, learning_rate, weight_decay, clip, warm_up, cosine, batch;
};

void add_train_flags(CommandOptions& options, TrainWords& words);

// The task that was named, or the text file; what the other options change of its usual settings. Throw Error(usage).
TaskSource source_of(const TrainWords& words);
TrainingSettings settings_of(const TrainWords& words, const TrainTask& task);

// Throws Error(usage) if an option is given that a training has already, which goes on.
void refuse_settings(const CommandOptions& options);

// What --steps, --every and --keep say; what is not given is as `saved` with the training that goes on.
TrainingPlan plan_of(const CommandOptions& options, const TrainWords& words,
                     const std::optional<TrainingPlan>& saved = {});

}  // namespace headwise
