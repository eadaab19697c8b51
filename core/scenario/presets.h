// Built-in scenarios: the welcome one and those of the menu, of `list presets` and of `bench --preset`.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/scenario/scenario.h"
#include "core/tensor/shape.h"

namespace headwise {

struct Preset {
  std::string_view name;   // "welcome"
  std::string_view title;  // in a menu: "Hand-made heads"
  std::string_view what;   // one line
  std::string_view json;   // the scenario file
  Index head = 0;          // the first one to look at
  // The weight of a query for a key that shows what the preset is about, at the step that computes it;
  // nullopt: the current step is kept.
  std::optional<std::pair<Index, Index>> weight = std::nullopt;
  // Two words of which the text has the first: with the second it means something else,
  // and attention follows. Empty: none.
  std::array<std::string_view, 2> swap{};
};

std::span<const Preset> presets();  // the welcome scenario first

// Both throw Error(usage) naming the nearest one.
const Preset& preset_named(std::string_view name);
Scenario preset_scenario(std::string_view name);

// What the heads of the built-in models do, if it has a name. Measured on texts that the models were not
// trained on: assets/models/*/card.md.

struct TrainedHeadRole {
  std::string_view name;    // "a noun for “it”"
  std::string_view reason;  // one sentence, with what was measured
  // Words that a text must have for the head to do it; empty: any text
  std::string_view needs = {};
  // What to try in a text with all of these words; empty: nothing
  std::string_view hint = {}, hint_needs = {};
  // What in the training was made for this head: a clause; empty: nothing
  std::string_view taught = {};
};

// `model` as parameters.file names it, "builtin:sentences"; nullopt for other models,
// and for heads without a named role.
std::optional<TrainedHeadRole> trained_head(std::string_view model, Index layer, Index head);

}  // namespace headwise
