// What is hidden while a page asks: the results of a step and all that follows from them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/attention/steps.h"
#include "core/attention/tensor_names.h"
#include "core/lessons/answer_key.h"
#include "core/lessons/playlist.h"

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

// The mask that a page asks for, while it is painted on the veiled map, and then beside the right one.
// Its box is that of a map's cells that is asked for; blocked are those that were painted.
struct AnswerMask : MaskPairs {
  bool touched = false;  // a first pair was painted
  // Which are wrong, once the page has answered and its map is still as large; empty while it asks.
  std::vector<bool> wrong = {};
  bool asks = true;

  // A stroke under way: all its pairs become what the first one became.
  bool painting = false, blocks = true;
  std::pair<Index, Index> last = {};
};

}  // namespace headwise
