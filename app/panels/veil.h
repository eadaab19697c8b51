// What is hidden while a page asks: the results of a step and all that follows from them.
#pragma once

#include <optional>

#include "core/playlist/playlist.h"
#include "core/trace/steps.h"

namespace headwise {

struct Veil {
  Step from = Step::inputs;  // the results of this step and of later ones are hidden
  bool mask = false;         // and so is mask_bias, which is asked for

  // Parameters, masks and gains are given, not results: they stay in sight at their step.
  bool hides(TensorName name) const;
  friend bool operator==(const Veil&, const Veil&) = default;
};
// What the page hides while it asks, in its window and in its pictures; nullopt if nothing.
std::optional<Veil> veil_of_question(const PlaylistPage& page);

}  // namespace headwise
