// Where the person is looking. Not part of a Scenario: it changes no number.
#pragma once

#include <optional>

#include "app/session/loss.h"
#include "core/playlist/compare_with.h"
#include "core/playlist/mask_convention.h"
#include "core/playlist/stage_view.h"
#include "core/scenario/presets.h"
#include "core/trace/cell_provenance.h"
#include "core/trace/steps.h"

namespace headwise {

struct Selection {
  Step step = Step::inputs;
  StageView view = StageView::one_head;
  Index batch = 0;
  Index head = 0;
  std::optional<CellRef> hovered;  // under the mouse, for this frame
  std::optional<CellRef> pinned;   // clicked, until Escape
  std::optional<TensorId> tensor;  // chosen in the graph: the picture of the step that makes it, else by itself
  bool spotlight = false;          // all is dimmed but the cell that is looked at and what it was made from
  bool all_the_way = false;  // light what the cell depends on and feeds back to the inputs and on to the output
  std::optional<Loss> loss;                        // what gradients are of; none: the default
  CompareWith compare_with = CompareWith::pinned;  // in the view Compare
  MaskConvention mask_convention = MaskConvention::added;
  bool queries_as_columns = false;  // maps of queries and keys, (L,S), stand turned: a column a query
  bool colors_by_head = false;      // of small maps of all heads: the colours end at each head's own numbers
  friend bool operator==(const Selection&, const Selection&) = default;
};

// Where a preset shows what it is about: its head, and at the step that makes it the weight that it names.
Selection look_at(const Preset& preset, Selection selection);

// Whether something of this place needs the backward pass.
bool wants_gradients(const Selection& selection);

// The same place in another trace: batch and head inside its sizes, and a cell or tensor that it does not
// have let go. In a trace without a backward pass the cell of a gradient stays where its tensor has such a cell: the
// gradients may only be on their way.
Selection selection_within(const Selection& selection, const Trace& trace);

}  // namespace headwise
