// What the memory order view shows at a place: the operations of the step, the matrix of the selected head,
// and the cell in it. A function of trace and selection, so it is tested without a window.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/stage_matrix.h"
#include "app/session/selection.h"
#include "core/attention/memory_order.h"

namespace headwise {

struct MemoryScene {
  MemoryOrder order;
  StageMatrix matrix;       // order.result at the selected batch and head, in the last state
  Index map = 0;            // its head, among order.heads; 0 where there are none
  Index first_float = 0;    // of the focused cell, in the first memory
  std::vector<Index> cell;  // the index in the last state that shows it
  bool example = false;     // no cell is focused: an instructive one was chosen

  // The float of a cell of the matrix, in the first memory: correct, and as the wrong reading takes it.
  Index right_float(Index row, Index col) const;
  Index wrong_float(Index row, Index col) const;
  // The cell of the trace that shows a float, and the head it belongs to.
  CellRef cell_of_float(Index first_float) const;
  // Row and column of the focused cell in the matrix; null where it belongs to another head or batch.
  std::optional<std::pair<Index, Index>> place() const;
  // The number of memories: one, plus one for every copy.
  std::size_t memories() const;
  // The last state stored in a memory.
  std::size_t last_in(std::size_t memory) const;
  Index floats() const { return matrix.view.tensor->size(); }
};

// Null where there is nothing to show, or it has no cells.
std::optional<MemoryScene> memory_scene(const Trace& trace, const Selection& selection, bool batch_first);

// "offset = h·D + l·E + d = 1·16 + 3·128 + 5 = 405", for every memory that the cell of the last state passes
// through; the copy's first. `letters`: false omits the middle part, where there is little room.
std::vector<std::string> offset_formulas(const std::vector<MemoryState>& states,
                                         const std::vector<Index>& cell, bool letters = true);

// One or two sentences on what happens to the floats.
std::string memory_words(const MemoryScene& scene, const Trace& trace);

}  // namespace headwise
