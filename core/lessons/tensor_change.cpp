#include "core/lessons/tensor_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

bool equal_or_both_nan(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Over contiguous cells, all of them finite on both sides; each sum in eight parts, so that it is vectorised.
struct FinitePart {
  bool finite = true;
  Index changed = 0;
  double squares = 0.0, squares_before = 0.0, largest = 0.0;
};

template <class T>
FinitePart finite_part(const T* before, const T* after, Index count) {
  constexpr Index lanes = 8;
  double squares[lanes] = {}, squares_before[lanes] = {}, largest[lanes] = {}, poison[lanes] = {};
  Index changed[lanes] = {};
  const auto add = [&](Index i, Index lane) {
    const auto a = static_cast<double>(before[i]), b = static_cast<double>(after[i]);
    const double delta = b - a, size = std::abs(delta);
    poison[lane] += 0.0 * delta;  // NaN if either is not finite
    squares[lane] += delta * delta;
    squares_before[lane] += a * a;
    largest[lane] = size > largest[lane] ? size : largest[lane];
    changed[lane] += a != b ? 1 : 0;
  };
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) add(i + lane, lane);
  for (; i < count; ++i) add(i, 0);
  FinitePart part;
  for (Index lane = 0; lane < lanes; ++lane) {
    part.finite = part.finite && !std::isnan(poison[lane]);
    part.changed += changed[lane];
    part.squares += squares[lane];
    part.squares_before += squares_before[lane];
    part.largest = std::max(part.largest, largest[lane]);
  }
  return part;
}

// nullopt if a cell is not finite.
template <class T>
std::optional<TensorChange> finite_change(const T* before, const T* after, Index count) {
  constexpr Index cells = 16384;  // per part
  std::vector<FinitePart> parts(static_cast<std::size_t>((count + cells - 1) / cells));
  for_ranges(static_cast<Index>(parts.size()), 4.0 * cells, [&](Index first, Index last) {
    for (Index part = first; part < last; ++part)
      parts[static_cast<std::size_t>(part)] =
          finite_part(before + part * cells, after + part * cells, std::min(cells, count - part * cells));
  });
  TensorChange change;
  change.cells = count;
  double squares = 0.0, squares_before = 0.0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (!parts[part].finite) return std::nullopt;
    change.changed += parts[part].changed;
    squares += parts[part].squares;
    squares_before += parts[part].squares_before;
    if (parts[part].largest <= change.largest) continue;
    change.largest = parts[part].largest;
    Index at = static_cast<Index>(part) * cells;
    while (std::abs(static_cast<double>(after[at]) - static_cast<double>(before[at])) != change.largest) ++at;
    change.row = 0;
    change.col = at;
  }
  change.length = std::sqrt(squares);
  change.length_before = std::sqrt(squares_before);
  return change;
}

// The largest |after − before|, rounded to a float; NaN if one is not finite.
float rounded_largest(const float* before, const float* after, Index count) {
  constexpr Index lanes = 16;
  float largest[lanes] = {}, poison[lanes] = {};
  const auto add = [&](Index i, Index lane) {
    const float delta = after[i] - before[i], size = std::abs(delta);
    poison[lane] += 0.0f * delta;
    largest[lane] = size > largest[lane] ? size : largest[lane];
  };
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) add(i + lane, lane);
  for (; i < count; ++i) add(i, 0);
  for (Index lane = 0; lane < lanes; ++lane)
    if (std::isnan(poison[lane])) return poison[lane];
  return *std::max_element(largest, largest + lanes);
}

}  // namespace

// Rounding keeps the order: the largest difference is among those that round to the largest rounded one.
std::optional<double> largest_change(const TensorPtr& before, const TensorPtr& after) {
  if (before->dtype() != DType::f32 || after->dtype() != DType::f32) return std::nullopt;
  constexpr Index cells = 16384;  // per part
  const float *const from = before->values<float>().data(), *const to = after->values<float>().data();
  const Index count = after->size();
  std::vector<float> parts(static_cast<std::size_t>((count + cells - 1) / cells));
  for_ranges(static_cast<Index>(parts.size()), 2.0 * cells, [&](Index first, Index last) {
    for (Index part = first; part < last; ++part)
      parts[static_cast<std::size_t>(part)] =
          rounded_largest(from + part * cells, to + part * cells, std::min(cells, count - part * cells));
  });
  if (std::ranges::any_of(parts, [](float part) { return std::isnan(part); })) return std::nullopt;
  const float rounded = parts.empty() ? 0.0f : std::ranges::max(parts);
  double largest = 0.0;
  for (Index i = 0; i < count; ++i) {
    if (i % cells == 0 && parts[static_cast<std::size_t>(i / cells)] != rounded) {
      i += cells - 1;
      continue;
    }
    if (std::abs(to[i] - from[i]) == rounded)
      largest = std::max(largest, std::abs(static_cast<double>(to[i]) - static_cast<double>(from[i])));
  }
  return largest;
}

std::optional<double> TensorChange::relative() const {
  if (length_before == 0.0) return std::nullopt;
  return length / length_before;
}

TensorChange tensor_change(const MatrixView& before, const MatrixView& after) {
  TensorChange change;
  change.cells = after.rows * after.cols;
  double squares = 0.0, squares_before = 0.0;
  for (Index row = 0; row < after.rows; ++row) {
    for (Index col = 0; col < after.cols; ++col) {
      const double a = before.value(row, col), b = after.value(row, col);
      const bool finite = std::isfinite(a) && std::isfinite(b);
      if (!std::isfinite(b)) ++change.not_finite;
      if (finite) squares_before += a * a;
      if (equal_or_both_nan(a, b)) continue;
      ++change.changed;
      if (!finite) {
        ++change.mismatches;
        continue;
      }
      const double delta = b - a;
      squares += delta * delta;
      if (change.row < 0 || std::abs(delta) > change.largest) {
        change.largest = std::abs(delta);
        change.row = row;
        change.col = col;
      }
    }
  }
  change.length = std::sqrt(squares);
  change.length_before = std::sqrt(squares_before);
  return change;
}

TensorChange tensor_change(const TensorPtr& before, const TensorPtr& after) {
  if (before->dtype() == after->dtype() && (after->dtype() == DType::f32 || after->dtype() == DType::f64)) {
    const std::optional<TensorChange> change = dispatch_float(after->dtype(), [&]<class T>() {
      return finite_change(before->values<T>().data(), after->values<T>().data(), after->size());
    });
    if (change) return *change;
  }
  const auto as_row = [](const TensorPtr& tensor) {
    return MatrixView{tensor, 0, 1, tensor->size(), tensor->size(), 1};
  };
  return tensor_change(as_row(before), as_row(after));
}

std::string percent_text(double share) {
  const double value = 100.0 * share;
  if (value >= 99.5) return fmt::format("{:.0f} %", value);
  return fmt::format("{:.2g} %", value);
}

TensorPtr difference_of(const MatrixView& before, const MatrixView& after) {
  Tensor difference(Shape{{"rows", after.rows}, {"cols", after.cols}}, DType::f64);
  for (Index row = 0; row < after.rows; ++row) {
    for (Index col = 0; col < after.cols; ++col) {
      const double a = before.value(row, col), b = after.value(row, col);
      difference.set_flat(row * after.cols + col, equal_or_both_nan(a, b) ? 0.0 : b - a);
    }
  }
  return std::make_shared<const Tensor>(std::move(difference));
}

}  // namespace headwise
