#include "app/stage/compare_changes.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "app/content/cell_terms.h"

namespace headwise {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

bool same_view(const MatrixView& a, const MatrixView& b) {
  return a.tensor == b.tensor && a.offset == b.offset && a.rows == b.rows && a.cols == b.cols &&
         a.row_stride == b.row_stride && a.col_stride == b.col_stride;
}

// Cells that both sides block are marked in their difference too.
TensorPtr common_mask(const HeatmapSpec& a, const HeatmapSpec& b) {
  if (!a.mask || !b.mask) return nullptr;
  Tensor mask(Shape{{"rows", a.mask->rows}, {"cols", a.mask->cols}}, DType::f64);
  for (Index row = 0; row < a.mask->rows; ++row) {
    for (Index col = 0; col < a.mask->cols; ++col) {
      const bool both = a.mask->value(row, col) == minus_infinity && b.mask->value(row, col) == minus_infinity;
      mask.set_flat(row * a.mask->cols + col, both ? minus_infinity : 0.0);
    }
  }
  return std::make_shared<const Tensor>(std::move(mask));
}

// Null if the two cannot be compared.
const TensorChange* update(WholeChange& known, const TensorPtr& before, const TensorPtr& after) {
  if (!before || !after || !before->shape().same_sizes(after->shape())) return nullptr;
  if (known.before != before || known.after != after)
    known = {before, after, before == after ? TensorChange{} : tensor_change(before, after)};
  return &known.change;
}

// "max |Δ| = 0.353 (it → animal), ‖Δ‖ is 12 % of ‖pinned‖", "identical in every cell, max |Δ| = 0". `where`: the place of
// the largest.
std::string change_text(const TensorChange& change, const std::string& before, const std::string& where = {}) {
  if (change.changed == 0) return "identical in every cell, max |Δ| = 0";
  std::string text;
  if (change.changed > change.mismatches) {
    text = fmt::format("max |Δ| = {:.3g}", change.largest);
    if (!where.empty()) text += fmt::format(" ({})", where);
    if (const auto share = change.relative())
      text += fmt::format(", ‖Δ‖ is {} of ‖{}‖", percent_text(*share), before);
  }
  if (change.mismatches > 0) {
    if (!text.empty()) text += ", and ";
    text += fmt::format("{} of {} cells {} NaN or infinite on one side only", change.mismatches, change.cells,
                        change.mismatches == 1 ? "is" : "are");
  }
  return text;
}

}  // namespace

const MapDifference& map_difference(CompareChanges& changes, const HeatmapSpec& before,
                                    const HeatmapSpec& after) {
  std::optional<MapDifference>& known = changes.map;
  if (known && same_view(known->before, before.values) && same_view(known->after, after.values))
    return *known;
  known = MapDifference{before.values, after.values, difference_of(before.values, after.values),
                        common_mask(before, after), tensor_change(before.values, after.values)};
  return *known;
}

std::string output_words(const PanelContext& context, CompareChanges& changes, const OtherSide& side) {
  const TensorPtr& other = side.computation->trace->tensors.output;
  const TensorChange* output = update(changes.output, other, context.trace.tensors.output);
  return output ? fmt::format(" The output: {}.", change_text(*output, side.name)) : "";
}

std::string change_words(const PanelContext& context, CompareChanges& changes, const StagePart& part,
                         const OtherSide& side) {
  const StageMatrix& matrix = part.matrix;
  const bool named = part.row_labels && part.col_labels;  // a pair of tokens says where a cell is
  const Trace& other = *side.computation->trace;
  const TensorChange& map = changes.map->change;
  std::string where;
  if (map.row >= 0) {
    where = named ? cell_tokens(context.trace, context.inputs.labels, cell_at(matrix, map.row, map.col))
                  : fmt::format("row {}, column {}", map.row, map.col);
  }
  std::string text = fmt::format("This map: {}.", change_text(map, side.name, where));
  if (head_count(context.trace, matrix.name) > 1) {
    const TensorChange* all =
        update(changes.all_heads, other.tensor(matrix.name), context.trace.tensor(matrix.name));
    if (all) text += fmt::format(" All heads: {}.", change_text(*all, side.name));
  }
  if (matrix.name.id != TensorId::output) text += output_words(context, changes, side);
  return text;
}

}  // namespace headwise
