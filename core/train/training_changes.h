// Changes of one thing that can be trained beside a run, with the same seed and the same batches: what each
// head, scale and mask is for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/train/training_run.h"

namespace headwise {

enum class TrainingChange {
  one_wide_head,     // H = 1 with D' = H·D: as many parameters
  half_the_heads,    // H/2, each as wide as before
  one_head,          // H = 1, as wide as before
  frozen_head,       // head 0 of layer 0
  equal_heads,       // all heads begin as head 0
  equal_but_output,  // the same, but with random columns of W_O
  grouped_keys,      // G = H/2
  one_key_head,      // G = 1
  latents,           // C = E/4
  no_scale,          // without 1/√D
  qk_norm,
  qk_norm_high_learning_rate,  // with both
  sink,
  no_causal_mask,
  sliding_window,  // of 4 tokens
  dropout,         // p = 0.2
  output_gate,
  no_out_projection,  // without W_O
  no_positions,
  learned_positions,
  sinusoidal_positions,
  rotary_positions,
  alibi_positions,
  relative_bias,
  high_learning_rate,  // × 30
};

struct TrainingChangeEntry {
  TrainingChange change;
  std::string_view group;     // "heads", above those of a menu that belong together; they are neighbours
  std::string_view name;      // "one-wide-head", for files and the command line
  std::string_view label;     // "one wide head", for a button
  std::string_view with;      // "with one wide head", in a sentence
  std::string_view question;  // why one would try it, one or two sentences
  bool (*apply)(TrainingSettings& settings);  // makes it; false where it does not apply
};
// In the order of a menu, which is that of the enumerators.
std::span<const TrainingChangeEntry> training_change_entries();
const TrainingChangeEntry& training_change_entry(TrainingChange change);
// Throws Error(usage) that names the option and lists what there is.
TrainingChange training_change_named(const std::string& option, const std::string& name);

// The settings with that one change; null if it changes nothing, or the changed settings cannot be trained.
// The settings must be valid.
std::optional<TrainingSettings> changed_settings(const TrainingSettings& settings, TrainingChange change);

}  // namespace headwise
