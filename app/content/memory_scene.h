// What the view of memory order shows at a place: the operations of the step, the matrix of the head that is looked at, and
// the cell in it. A function of trace and selection, so it is tested without a window.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/stage_matrix.h"
#include "app/session/selection.h"
#include "core/answers/memory_order.h"

namespace headwise {

struct MemoryScene {
  MemoryOrder order;
  StageMatrix matrix;       // order.result at the batch and head that are looked at, as the last state has it
  Index map = 0;            // the head of it, among order.heads; 0 where there are none
  Index first_float = 0;    // that is looked at, in the first memory
  std::vector<Index> cell;  // of the last state, that shows it
  bool example = false;     // nobody looks at a cell: one was chosen that tells most

  // Cells of the matrix: their float in the first memory, as it is and as the wrong reading has it.
  Index right_float(Index row, Index col) const;
  Index wrong_float(Index row, Index col) const;
  // The cell of the trace that shows a float, and the head that it is of.
  CellRef cell_of_float(Index first_float) const;
  // Row and column of the looked-at cell in the matrix; null where it is of another head or batch.
  std::optional<std::pair<Index, Index>> place() const;
  // How many memories there are: one, and one for every copy.
  std::size_t memories() const;
  // The last state that lies in a memory.
  std::size_t last_in(std::size_t memory) const;
  Index floats() const { return matrix.view.tensor->size(); }
};

// Null where there is nothing to show, or no cell of it.
std::optional<MemoryScene> memory_scene(const Trace& trace, const Selection& selection, bool batch_first);

// "offset = h·D + l·E + d = 1·16 + 3·128 + 5 = 405", for every memory that the cell of the last state comes through; the
// copy's first. `letters`: false leaves the middle out where there is little room.
std::vector<std::string> offset_formulas(const std::vector<MemoryState>& states,
                                         const std::vector<Index>& cell, bool letters = true);

// One or two sentences on what happens to the floats.
std::string memory_words(const MemoryScene& scene, const Trace& trace);

}  // namespace headwise
