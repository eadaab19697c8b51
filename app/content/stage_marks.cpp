#include "app/content/stage_marks.h"

namespace headwise {
namespace {

// The mark that matters most for the labels: the cell itself, then what it was computed from,
// then what it feeds.
template <class Single>
std::optional<Index> singled_out(const StageMatrix& matrix, const std::vector<StageMark>& marks, Single single) {
  for (const MarkKind kind :
       {MarkKind::pointed, MarkKind::cell, MarkKind::source, MarkKind::consumer, MarkKind::pinned}) {
    for (const StageMark& mark : marks) {
      if (mark.kind != kind) continue;
      const auto box = drawn_box(matrix, mark.box);
      if (!box) continue;
      if (const auto index = single(*box)) return index;
    }
  }
  return std::nullopt;
}

constexpr TensorName dropped{TensorId::dropped_weights}, weights{TensorId::attn_weights};

bool without_dropout(const Trace& trace) {
  return trace.tensors.dropped_weights && trace.tensors.dropped_weights == trace.tensors.attn_weights;
}

BoxRef shown_box(const Trace& trace, BoxRef box) {
  if (box.tensor == dropped && without_dropout(trace)) box.tensor = weights;
  return box;
}

void add_next(const Trace& trace, const CellRef& cell, std::vector<StageMark>& marks) {
  for (BoxRef& box : shown_consumers(trace, cell)) marks.push_back({std::move(box), MarkKind::consumer});
  for (BoxRef& box : shown_provenance(trace, cell).sources) {
    marks.push_back({std::move(box), MarkKind::source});
  }
}

}  // namespace

CellProvenance shown_provenance(const Trace& trace, const CellRef& cell) {
  CellProvenance provenance = cell_provenance(trace, cell.tensor, cell.index);
  if (!without_dropout(trace)) return provenance;
  for (BoxRef& box : provenance.sources) box = shown_box(trace, std::move(box));
  for (Term& term : provenance.terms) {
    for (CellRef& factor : term.factors) {
      if (factor.tensor == dropped) factor.tensor = weights;
    }
  }
  return provenance;
}

std::vector<BoxRef> shown_consumers(const Trace& trace, const CellRef& cell) {
  std::vector<BoxRef> consumers = cell_consumers(trace, cell.tensor, cell.index);
  if (cell.tensor != weights || !without_dropout(trace)) return consumers;
  std::erase_if(consumers, [](const BoxRef& box) { return box.tensor == dropped; });
  std::vector<BoxRef> shown = cell_consumers(trace, dropped, cell.index);
  shown.insert(shown.end(), consumers.begin(), consumers.end());
  return shown;
}

std::optional<CellRef> pinned_pair_at_step(const Trace& trace, const Selection& selection) {
  const auto map_of = [](Step step) -> std::optional<TensorId> {
    switch (step) {
      case Step::scores:
        return TensorId::scores;
      case Step::scale:
        return TensorId::scaled_scores;
      case Step::mask:
        return TensorId::masked_scores;
      case Step::softmax:
        return TensorId::attn_weights;
      default:
        return std::nullopt;
    }
  };
  const std::optional<CellRef>& pinned = selection.pinned;
  const std::optional<TensorId> map = map_of(selection.step);
  if (!pinned || pinned->tensor.gradient || !map || selection.tensor) return std::nullopt;
  const Step made_in = step_of(pinned->tensor.id);
  if (made_in == selection.step || map_of(made_in) != pinned->tensor.id) return std::nullopt;
  const TensorPtr here = trace.tensor(*map), there = trace.tensor(pinned->tensor.id);
  if (!here || !there || !(here->shape() == there->shape())) return std::nullopt;
  return CellRef{{*map}, pinned->index};
}

std::optional<CellRef> focused_cell(const Trace& trace, const Selection& selection) {
  const Selection within = selection_within(selection, trace);
  if (!within.hovered)
    if (const auto here = pinned_pair_at_step(trace, within)) return here;
  const std::optional<CellRef>& cell = within.hovered ? within.hovered : within.pinned;
  // A gradient may still be on its way.
  return cell && trace.tensor(cell->tensor) ? cell : std::nullopt;
}

std::vector<StageMark> stage_marks(const Trace& trace, const Selection& asked, const Pointed* pointed,
                                   const CellReach* reach) {
  std::vector<StageMark> marks;
  const Selection selection = selection_within(asked, trace);
  if (reach) {
    for (const BoxRef& box : reach->forward) marks.push_back({shown_box(trace, box), MarkKind::consumer});
    for (const BoxRef& box : reach->back) marks.push_back({shown_box(trace, box), MarkKind::source});
  }
  if (const std::optional<CellRef> cell = focused_cell(trace, selection)) {
    if (!reach) add_next(trace, *cell, marks);
    if (selection.pinned && *selection.pinned != *cell) {
      marks.push_back({box_of(*selection.pinned), MarkKind::pinned});
    }
    marks.push_back({box_of(*cell), MarkKind::cell});
  }
  if (!pointed) return marks;
  for (BoxRef box : pointed->boxes) {
    box.tensor = first_name(trace, box.tensor);
    marks.push_back({std::move(box), MarkKind::pointed});
  }
  return marks;
}

std::optional<Index> marked_row(const StageMatrix& matrix, const std::vector<StageMark>& marks) {
  return singled_out(matrix, marks, [&](const CellBox& box) -> std::optional<Index> {
    return box.row_end - box.row_begin == 1 && matrix.view.rows > 1 ? std::optional(box.row_begin)
                                                                    : std::nullopt;
  });
}

std::optional<Index> marked_col(const StageMatrix& matrix, const std::vector<StageMark>& marks) {
  return singled_out(matrix, marks, [&](const CellBox& box) -> std::optional<Index> {
    return box.col_end - box.col_begin == 1 && matrix.view.cols > 1 ? std::optional(box.col_begin)
                                                                    : std::nullopt;
  });
}

}  // namespace headwise
