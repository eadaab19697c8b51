#include "core/export/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/tensor/error.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The finite extremes of all values added.
struct Extremes {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  void add(const Extremes& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
  bool empty() const { return min > max; }
};

// Whether the cells of a view are contiguous, row by row.
bool lies_together(const MatrixView& view) {
  return view.col_stride == 1 && (view.row_stride == view.cols || view.rows <= 1);
}

// Over finite contiguous cells, except those that are only blocked; `mask` may be null. Eight parallel lanes,
// so that it is vectorised.
template <class T>
Extremes extremes_of(const T* values, const T* mask, double blocked_at, Index count) {
  constexpr Index lanes = 8;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T filled = static_cast<T>(blocked_at), nearly = static_cast<T>(static_cast<float>(blocked_at));
  const bool any = blocked_at == std::numeric_limits<double>::infinity();
  T least[lanes], most[lanes];
  std::fill_n(least, lanes, infinity);
  std::fill_n(most, lanes, -infinity);
  const auto add = [&](Index i, Index lane) {
    const T value = values[i];
    const bool hatched =
        mask && mask[i] == -infinity && (any || value == T{0} || value == filled || value == nearly);
    const bool counts = std::abs(value) < infinity && !hatched;
    const T low = counts ? value : infinity, high = counts ? value : -infinity;
    least[lane] = low < least[lane] ? low : least[lane];
    most[lane] = high > most[lane] ? high : most[lane];
  };
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) add(i + lane, lane);
  for (; i < count; ++i) add(i, 0);
  Extremes extremes;
  for (Index lane = 0; lane < lanes; ++lane) {
    extremes.min = std::min(extremes.min, static_cast<double>(least[lane]));
    extremes.max = std::max(extremes.max, static_cast<double>(most[lane]));
  }
  return extremes;
}

// The extremes of what a heatmap shows; nullopt if its memory layout does not allow this fast path.
std::optional<Extremes> quick_extremes(const HeatmapSpec& spec) {
  const MatrixView& view = spec.values;
  const DType dtype = view.tensor->dtype();
  if (!lies_together(view) || (dtype != DType::f32 && dtype != DType::f64)) return std::nullopt;
  if (spec.mask && (!lies_together(*spec.mask) || spec.mask->tensor->dtype() != dtype)) return std::nullopt;
  Extremes all;
  std::mutex adding;
  dispatch_float(dtype, [&]<class T>() {
    const T* const values = view.tensor->values<T>().data() + view.offset;
    const T* const mask = spec.mask ? spec.mask->tensor->values<T>().data() + spec.mask->offset : nullptr;
    for_ranges(view.rows * view.cols, 1.0, [&](Index first, Index last) {
      const Extremes part =
          extremes_of(values + first, mask ? mask + first : nullptr, spec.blocked_at, last - first);
      const std::lock_guard lock(adding);
      all.add(part);
    });
  });
  return all;
}

ValueRange range_from(const Extremes& extremes, bool diverging, bool probabilities) {
  if (diverging) {
    if (extremes.empty()) return {-1.0, 1.0};
    const double magnitude = std::max(std::abs(extremes.min), std::abs(extremes.max));
    return {-magnitude, magnitude};
  }
  if (extremes.empty()) return {0.0, 1.0};
  if (!probabilities) return {extremes.min, extremes.max};
  if (extremes.min >= 0.0 && extremes.max <= 0.0) return {0.0, 1.0};
  return {std::min(0.0, extremes.min), std::max(0.0, extremes.max)};
}

}  // namespace

MatrixView matrix_view(TensorPtr tensor, std::span<const Index> leading) {
  const Shape& shape = tensor->shape();
  const Index rank = shape.rank();
  const Index leading_axes = std::max<Index>(rank - 2, 0);
  const std::vector<Index> strides = shape.strides();
  if (static_cast<Index>(leading.size()) > leading_axes) {
    throw Error(ExitStatus::usage,
                {"matrix", "the index has more entries than the tensor has axes before its last two",
                 fmt::format("{} entries", leading.size()),
                 fmt::format("at most {} for {}", leading_axes, shape.to_string()), ""});
  }
  MatrixView view{tensor, 0, 1, 1, 0, 0};
  for (std::size_t axis = 0; axis < leading.size(); ++axis) {
    const Index size = shape.size(static_cast<Index>(axis));
    if (leading[axis] < 0 || leading[axis] >= size) {
      throw Error(
          ExitStatus::usage,
          {"matrix", fmt::format("axis {} has no such index", shape.name(static_cast<Index>(axis))),
           fmt::format("{}", leading[axis]), fmt::format("0 … {} of {}", size - 1, shape.to_string()), ""});
    }
    view.offset += leading[axis] * strides[axis];
  }
  if (rank >= 1) {
    view.cols = shape.size(rank - 1);
    view.col_stride = 1;
  }
  if (rank >= 2) {
    view.rows = shape.size(rank - 2);
    view.row_stride = strides[static_cast<std::size_t>(rank - 2)];
  }
  // A leading axis of size 0 contains no matrix at all, whatever the last two axes say.
  if (tensor->size() == 0 && view.rows > 0 && view.cols > 0) view.rows = 0;
  return view;
}

void check_mask(const HeatmapSpec& spec) {
  const MatrixView& values = spec.values;
  if (!spec.mask || (spec.mask->rows == values.rows && spec.mask->cols == values.cols)) return;
  throw Error(ExitStatus::usage, {"heatmap", "the mask does not lie on the cells",
                                  fmt::format("{}×{}", spec.mask->rows, spec.mask->cols),
                                  fmt::format("{}×{}", values.rows, values.cols), ""});
}

CellKind cell_kind(const HeatmapSpec& spec, Index row, Index col) {
  const double value = spec.values.value(row, col);
  if (std::isnan(value)) return CellKind::nan;
  const double mask = spec.mask ? spec.mask->value(row, col) : 0.0;
  const bool any = spec.blocked_at == -minus_infinity, blocked = mask == minus_infinity;
  // In an f32 tensor the fill value is the nearest float.
  const bool filled =
      value == spec.blocked_at || value == static_cast<double>(static_cast<float>(spec.blocked_at));
  if (blocked && (any || value == 0.0 || value == minus_infinity || filled)) return CellKind::blocked;
  if (std::isinf(value)) return value < 0 ? CellKind::minus_inf : CellKind::plus_inf;
  return blocked || (any && mask == -minus_infinity) ? CellKind::blocked_value : CellKind::value;
}

HeatmapContents heatmap_contents(const HeatmapSpec& spec) {
  check_mask(spec);
  HeatmapContents contents;
  if (spec.values.tensor->is_outline()) return contents;
  Extremes extremes;
  for (Index row = 0; row < spec.values.rows; ++row) {
    for (Index col = 0; col < spec.values.cols; ++col) {
      switch (cell_kind(spec, row, col)) {
        case CellKind::blocked:
          ++contents.blocked;
          continue;
        case CellKind::nan:
          ++contents.nans;
          continue;
        case CellKind::minus_inf:
          ++contents.minus_infs;
          continue;
        case CellKind::plus_inf:
          ++contents.plus_infs;
          continue;
        case CellKind::value:
          ++contents.values;
          break;
        case CellKind::blocked_value:
          ++contents.blocked_values;
          break;
      }
      const double value = spec.values.value(row, col);
      extremes.add(value);
      contents.below += value < spec.range.lo;
      contents.above += value > spec.range.hi;
    }
  }
  if (!extremes.empty()) {
    contents.min = extremes.min;
    contents.max = extremes.max;
  }
  return contents;
}

ValueRange range_of(std::span<const MatrixView> views, bool diverging, bool probabilities) {
  Extremes extremes;
  for (const MatrixView& view : views) {
    for (Index row = 0; row < view.rows; ++row)
      for (Index col = 0; col < view.cols; ++col) extremes.add(view.value(row, col));
  }
  return range_from(extremes, diverging, probabilities);
}

ValueRange range_of(std::span<const HeatmapSpec> specs, bool diverging, bool probabilities) {
  Extremes extremes;
  for (const HeatmapSpec& spec : specs) {
    check_mask(spec);
    if (spec.values.rows == 0 || spec.values.cols == 0) continue;
    if (const std::optional<Extremes> quick = quick_extremes(spec)) {
      extremes.add(*quick);
      continue;
    }
    const HeatmapContents contents = heatmap_contents(spec);
    if (!contents.finite()) continue;
    extremes.add(contents.min);
    extremes.add(contents.max);
  }
  return range_from(extremes, diverging, probabilities);
}

}  // namespace headwise
