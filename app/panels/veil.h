// What is hidden while a page asks: the results of a step and all that follows from them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/attention/steps.h"
#include "core/attention/tensor_names.h"
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
struct AnswerMask {
  // The box of a map's cells that is asked for, and which of them were painted as blocked, row-major.
  Index row = 0, column = 0, rows = 0, columns = 0;
  std::vector<bool> blocked = {};
  bool touched = false;  // a first pair was painted
  // Which are wrong, once the page has answered and its map is still as large; empty while it asks.
  std::vector<bool> wrong = {};
  bool asks = true;

  // A stroke under way: all its pairs become what the first one became.
  bool painting = false, blocks = true;
  std::pair<Index, Index> last = {};

  bool has(Index at_row, Index at_column) const {
    return at_row >= row && at_row < row + rows && at_column >= column && at_column < column + columns;
  }
  template <class Key>
  bool is_box_of(const Key& key) const {
    return row == key.row && column == key.column && rows == key.rows && columns == key.columns;
  }
  // Of a cell of the box.
  std::size_t place(Index at_row, Index at_column) const {
    return static_cast<std::size_t>((at_row - row) * columns + at_column - column);
  }
};

}  // namespace headwise
