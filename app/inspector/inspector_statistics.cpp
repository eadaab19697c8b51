#include "app/inspector/inspector_statistics.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "app/content/cell_terms.h"
#include "app/content/stage_marks.h"
#include "app/platform/fonts.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"
#include "core/tensor/join.h"

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
  const auto place = [&](std::size_t axis, const char* letter, Index at) {
    const auto& axes = tensor->shape().axes();
    if (axis < axes.size() && axes[axis].name == letter) cell.index[axis] = std::min(at, axes[axis].size - 1);
  };
  place(0, "N", context.selection.batch);
  place(1, "H", context.selection.head);
  return cell;
}

// The statistics of the map, kept until another one is shown.
const MapStatistics& statistics_of(const PanelContext& context, MapStatisticsState& state,
                                   const MatrixView& view, const CellRef& cell) {
  const Id id = cell.tensor.id;
  const bool behind_mask = !cell.tensor.gradient &&
                           (id == Id::masked_scores || id == Id::attn_weights || id == Id::dropped_weights);
  const TensorPtr& mask = context.trace.tensors.mask_bias;
  const bool masked = behind_mask && mask && mask->shape().same_sizes(view.tensor->shape());
  if (state.of.lock() != view.tensor || state.offset != view.offset || state.masked_by.lock() != mask) {
    state.of = view.tensor;
    state.offset = view.offset;
    state.masked_by = mask;
    std::optional<MatrixView> blocked;
    if (masked) blocked = matrix_view(mask, std::span(cell.index).first(cell.index.size() - 2));
    state.statistics = map_statistics(view, blocked);
  }
  return state.statistics;
}

std::string open_cells_remark(const MapStatistics& map) {
  std::vector<std::string> parts;
  const auto count = [&](Index number, const char* what) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  count(map.nans, "NaN");
  count(map.minus_infs, "−∞");
  count(map.plus_infs, "+∞");
  return join(parts, ", ");
}

}  // namespace

void draw_row_statistics(const PanelContext& context, TextColumn& column) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2) return;
  if (context.veil && context.veil->hides(cell->tensor)) return;
  const RowStatistics row = row_statistics(*tensor, cell->index);
  BoxRef box = box_of(*cell);
  box.begin.back() = 0;
  box.end.back() = tensor->shape().size(tensor->shape().rank() - 1);
  column.heading("THIS ROW: " + box_text(context.trace, box));
  column.row(
      "range",
      row.finite > 0 ? fmt::format("{} … {}", decimal_text(row.min, 2), decimal_text(row.max, 2)) : "none",
      row.not_finite > 0 ? fmt::format("{} not finite", row.not_finite) : "");
  const Id id = cell->tensor.id;
  const double root = std::sqrt(static_cast<double>(context.trace.options.head_dim));
  if (cell->tensor.gradient) {  // neither logits nor probabilities, whatever their tensor is
    column.row("standard deviation", decimal_text(row.deviation, 2));
    return column.row("sum", decimal_text(row.mean * static_cast<double>(row.finite), 4));
  }
  const bool logits = id == Id::scores || id == Id::scaled_scores || id == Id::masked_scores;
  column.row("standard deviation", decimal_text(row.deviation, 2),
             id == Id::scores ? fmt::format("√D = {:.4g}", root) : std::string());
  const bool weights = id == Id::attn_weights || id == Id::dropped_weights;
  const TensorPtr probabilities = context.trace.tensor(id == Id::dropped_weights ? id : Id::attn_weights);
  const bool told = !context.veil || !context.veil->hides({Id::attn_weights});
  if ((logits || weights) && told && probabilities && probabilities->shape().same_sizes(tensor->shape())) {
    const double most = std::log(static_cast<double>(tensor->shape().size(tensor->shape().rank() - 1)));
    if (const auto entropy = row_entropy(*probabilities, cell->index)) {
      column.row(weights ? "entropy" : "entropy after softmax", decimal_text(*entropy, 2),
                 fmt::format("of {:.2f}", most));
    }
  }
  if (weights) column.row("sum", decimal_text(row.mean * static_cast<double>(row.finite), 4));
}

void draw_map_statistics(const PanelContext& context, MapStatisticsState& state, TextColumn& column,
                         const std::optional<StepPicture>& picture) {
  const std::optional<CellRef> cell = cell_of_map(context, picture);
  if (!cell || (context.veil && context.veil->hides(cell->tensor))) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2 || tensor->size() == 0) return;
  const std::size_t leading = cell->index.size() - 2;
  const MatrixView view = matrix_view(tensor, std::span(cell->index).first(leading));
  const MapStatistics& map = statistics_of(context, state, view, *cell);
  BoxRef box = box_of(*cell);
  for (std::size_t axis = leading; axis < cell->index.size(); ++axis) {
    box.begin[axis] = 0;
    box.end[axis] = tensor->shape().size(static_cast<Index>(axis));
  }
  column.space(8);
  const ImVec2 top = column.cursor();
  column.heading("THIS MAP: " + box_text(context.trace, box));
  column.row("open cells", fmt::format("{} of {}", map.open, map.cells), open_cells_remark(map));
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
