#include "app/inspector/inspector_statistics.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "app/content/cell_terms.h"
#include "app/content/stage_marks.h"
#include "app/content/stage_matrix.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/answers/head_statistics.h"
#include "core/picture/number_text.h"
#include "core/tensor/join.h"
#include "core/trace/blocked_cells.h"

namespace headwise {
namespace {

using Id = TensorId;

// The cell whose map the stage shows, or the first one of the step's result.
std::optional<CellRef> cell_of_map(const PanelContext& context, const std::optional<StepPicture>& picture) {
  if (const auto cell = focused_cell(context.trace, context.selection)) return cell;
  if (!picture) return std::nullopt;
  const TensorPtr tensor = context.trace.tensor(picture->result);
  if (!tensor || tensor->size() == 0) return std::nullopt;
  CellRef cell{{picture->result}, std::vector<Index>(static_cast<std::size_t>(tensor->shape().rank()), 0)};
  const StagePlace place{context.selection.batch, context.selection.head};
  if (const auto shown = stage_matrix(context.trace, cell.tensor, place))
    std::ranges::copy(shown->leading, cell.index.begin());
  return cell;
}

std::optional<MatrixView> mask_of_map(const PanelContext& context, const CellRef& cell) {
  const TensorPtr mask = blocked_cells(context.trace, cell.tensor);
  if (!mask) return std::nullopt;
  return matrix_view(mask, std::span(cell.index).first(cell.index.size() - 2));
}

// The statistics of the map, kept until another one is shown.
const CellStatistics& statistics_of(const PanelContext& context, MapStatisticsState& state,
                                    const MatrixView& view, const CellRef& cell) {
  const std::optional<MatrixView> mask = mask_of_map(context, cell);
  const TensorPtr masked_by = mask ? mask->tensor : nullptr;
  if (state.of.lock() != view.tensor || state.offset != view.offset || state.masked_by.lock() != masked_by) {
    state.of = view.tensor;
    state.offset = view.offset;
    state.masked_by = masked_by;
    state.statistics = cell_statistics(view, mask);
  }
  return state.statistics;
}

std::string open_cells_remark(const CellStatistics& map) {
  std::vector<std::string> parts;
  const auto count = [&](Index number, const char* what) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  count(map.nans, "NaN");
  count(map.minus_infs, "−∞");
  count(map.plus_infs, "+∞");
  return join(parts, ", ");
}

// What a row and a map have in common: how many of their cells no mask blocks, and what else has no finite
// number.
void draw_open_cells(TextColumn& column, const CellStatistics& cells) {
  column.row("open cells", fmt::format("{} of {}", cells.open, cells.cells), open_cells_remark(cells));
}

// The entropy of the attention that the row belongs to: that of the head's caption over All heads, for one
// row.
void draw_row_entropy(const PanelContext& context, TextColumn& column, const CellRef& cell) {
  const std::vector<Index>& at = cell.index;
  const bool is_told = !context.veil || !context.veil->hides({Id::attn_weights});
  const bool of_weights = cell.tensor.id == Id::attn_weights;
  const bool is_per_head = of_weights || cell.tensor.id == Id::scores || cell.tensor.id == Id::scaled_scores ||
                           cell.tensor.id == Id::masked_scores || cell.tensor.id == Id::dropped_weights;
  if (!is_told || !is_per_head || at.size() != 4) return;
  const auto row = row_entropy(context.trace, at[0], at[1], at[2]);
  if (!row) return;
  // After dropout a row is no distribution any more.
  const char* name = of_weights                              ? "entropy"
                     : cell.tensor.id == Id::dropped_weights ? "entropy before dropout"
                                                             : "entropy after softmax";
  column.row(name, decimal_text(row->entropy, 2), fmt::format("of {:.2f}", row->most));
}

}  // namespace

void draw_row_statistics(const PanelContext& context, TextColumn& column) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2) return;
  if (context.veil && context.veil->hides(cell->tensor)) return;
  const std::size_t leading = cell->index.size() - 2;
  const MatrixView map = matrix_view(tensor, std::span(cell->index).first(leading));
  std::optional<MatrixView> mask = mask_of_map(context, *cell);
  if (mask) mask = row_of(*mask, cell->index[leading]);
  const CellStatistics row = cell_statistics(row_of(map, cell->index[leading]), mask);
  BoxRef box = box_of(*cell);
  box.begin.back() = 0;
  box.end.back() = tensor->shape().size(tensor->shape().rank() - 1);
  const ImVec2 top = column.cursor();
  column.heading("THIS ROW: " + box_text(context.trace, box));
  draw_open_cells(column, row);
  const bool has_all = row.open == row.cells;
  column.row("range",
             row.finite > 0 ? fmt::format("{} … {}", decimal_text(row.least, 2), decimal_text(row.largest, 2))
                            : "none",
             has_all ? "" : "of the open cells");
  const bool gives_root = cell->tensor == TensorName{Id::scores};
  const double root = std::sqrt(static_cast<double>(context.trace.options.head_dim));
  column.row("standard deviation", decimal_text(row.deviation, 2),
             gives_root ? fmt::format("√D = {:.4g}", root) : std::string());
  if (!cell->tensor.gradient) draw_row_entropy(context, column, *cell);
  // A gradient is neither logits nor probabilities, whatever its tensor is.
  if (cell->tensor.gradient || tensor_entry(cell->tensor.id).probabilities)
    column.row("sum", decimal_text(row.sum, 4));
  ui_probe("inspector/row", top, {top.x + column.width(), column.cursor().y});
}

void draw_map_statistics(const PanelContext& context, MapStatisticsState& state, TextColumn& column,
                         const std::optional<StepPicture>& picture) {
  const std::optional<CellRef> cell = cell_of_map(context, picture);
  if (!cell || (context.veil && context.veil->hides(cell->tensor))) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2 || tensor->size() == 0) return;
  const std::size_t leading = cell->index.size() - 2;
  const MatrixView view = matrix_view(tensor, std::span(cell->index).first(leading));
  const CellStatistics& map = statistics_of(context, state, view, *cell);
  BoxRef box = box_of(*cell);
  for (std::size_t axis = leading; axis < cell->index.size(); ++axis) {
    box.begin[axis] = 0;
    box.end[axis] = tensor->shape().size(static_cast<Index>(axis));
  }
  column.space(8);
  const ImVec2 top = column.cursor();
  const bool hides_head = context.points_at_heads && leading > 1;
  column.heading("THIS MAP: " + (hides_head ? to_string(cell->tensor) : box_text(context.trace, box)));
  draw_open_cells(column, map);
  if (map.finite > 0) {
    column.row("mean", decimal_text(map.mean, 4), map.open < map.cells ? "of the open cells" : "");
    column.row("standard deviation", decimal_text(map.deviation, 4));
    CellRef largest = *cell;
    largest.index[leading] = map.place.first;
    largest.index[leading + 1] = map.place.second;
    const std::string tokens = cell_tokens(context.trace, context.inputs.labels, largest);
    const std::string place =
        fmt::format("[{},{}]{}{}", map.place.first, map.place.second, tokens.empty() ? "" : " ",
                    drawable_text(tokens, context.fonts.small));
    column.row("largest", decimal_text(map.largest, 4), place);
  }
  ui_probe("inspector/map", top, {top.x + column.width(), column.cursor().y});
}

}  // namespace headwise
