// Where the user is looking. Not part of a Scenario: it changes no number.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/cell_reach.h"
#include "core/attention/steps.h"
#include "core/lessons/stage_view.h"
#include "core/scenario/presets.h"

namespace headwise {

// The head that was looked at, and what was pinned in it, before there were too few heads for it.
struct LostHead {
  Index head = 0;
  std::optional<CellRef> pinned;
  friend bool operator==(const LostHead&, const LostHead&) = default;
};

struct Selection {
  Step step = Step::inputs;
  StageView view = StageView::one_head;
  Index batch = 0;
  Index head = 0;
  std::optional<CellRef> hovered;  // under the mouse, for this frame
  std::optional<CellRef> pinned;   // clicked, until Escape
  // chosen in the graph: the picture of the step that makes it, else by itself
  std::optional<TensorId> tensor;
  bool spotlight = false;    // everything is dimmed except the focused cell and what it was computed from
  bool all_the_way = false;  // light up all that the cell depends on and feeds, inputs to output
  std::optional<Loss> loss;  // what gradients are of; none: the default
  CompareWith compare_with = CompareWith::pinned;  // in the view Compare
  TokenLines lines;                                // in the view Tokens
  MaskConvention mask_convention = MaskConvention::added;
  bool queries_as_columns = false;    // maps of queries and keys, (L,S), are transposed: one column per query
  std::optional<LostHead> lost_head;  // looked at again as soon as there are enough heads
  bool colors_by_head = false;        // small maps of all heads: colours span each head's own numbers
  friend bool operator==(const Selection&, const Selection&) = default;
};

// Where a head's weights are seen: alone, at the softmax, with nothing pinned.
Selection weights_of_head(Selection selection, Index head);

// The place where a preset shows its point: its head, and the weight that it names,
// at the step that computes it.
Selection place_of_preset(const Preset& preset, Selection selection);

// Whether something at this place needs the backward pass.
bool wants_gradients(const Selection& selection);

// The same place in another trace: batch and head clamped to its sizes, the pinned cell's too, and a cell or
// tensor that it does not have dropped. In a trace without a backward pass, the cell of a gradient stays if
// its tensor has such a cell: the gradients may still be on their way.
Selection selection_within(const Selection& selection, const Trace& trace);

// What the mouse points at by name: a term or a link of the inspector, a tensor's name, a letter of a shape.
// It lights up everywhere it occurs, until the mouse moves on.
struct Pointed {
  std::vector<BoxRef> boxes;  // cells, rows or whole tensors
  std::string axis;           // a letter, "L"; empty: none
  friend bool operator==(const Pointed&, const Pointed&) = default;
};

// The places left by following a number to what it was computed from, and the way back.
class Trail {
 public:
  static constexpr std::size_t most = 100;  // older places are forgotten

  // Remembers `from` if going to `to` replaces the pinned cell by another; `always`: also if the same cell
  // stays pinned, because a link to a whole row or tensor was followed.
  void left(const Selection& from, const Selection& to, bool always = false);
  // Removes and returns the place left last; null if there is none.
  std::optional<Selection> back();

  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  // The cell that back() would pin; the trail is not empty.
  const CellRef& cell() const { return *places_.back().pinned; }
  void clear() { places_.clear(); }

 private:
  std::vector<Selection> places_;  // each with a pinned cell
};

// The reach of the focused cell, cached until the cell or the trace changes.
class ReachOfCell {
 public:
  // Null if there is no such cell.
  const CellReach* of(const TracePtr& trace, const std::optional<CellRef>& cell);

 private:
  TracePtr trace_;  // kept alive, so that no other trace gets its address
  CellReach reach_;
};

// Keeps the pinned cell when tokens move from one trace to the next,
// and the head when there are fewer for a while.

// The same place in another computation. Where the same text is split into different tokens, as between the
// trained model's tokenizer and the hand-made heads, the pin stays on its words, on the same occurrence of
// them; it is dropped if one of them is gone. A head that is no longer there is remembered, and looked at
// again when there are as many heads, unless another was chosen meanwhile. Otherwise as selection_within.
Selection selection_after(const Selection& selection, const Computation& before, const Computation& now);

}  // namespace headwise
