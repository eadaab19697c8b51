// What the heads of the built-in models do, if it has a name. Measured on texts that the models were not
// trained on: assets/models/*/card.md.
#pragma once

#include <optional>
#include <string_view>

#include "core/tensor/shape.h"

namespace headwise {

struct TrainedHead {
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
std::optional<TrainedHead> trained_head(std::string_view model, Index layer, Index head);

}  // namespace headwise
