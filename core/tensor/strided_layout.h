// Where the cells of a tensor are in memory, as in PyTorch: a size and a stride per axis, over one row of
// floats. `view` and `transpose` give the same floats another layout,
// `contiguous` copies them in row-major order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct StridedAxis {
  std::string name;
  Index size = 0;    // >= 0
  Index stride = 1;  // floats from one index to the next
  // The stride in letters: {"H","L","D"} for H·L·D; empty: 1.
  std::vector<std::string> stride_letters = {};
  friend bool operator==(const StridedAxis&, const StridedAxis&) = default;
};

class StridedLayout {
 public:
  // Row-major, with PyTorch's strides, in which an axis of size 0 counts as 1.
  static StridedLayout contiguous(const Shape& shape);

  const std::vector<StridedAxis>& axes() const { return axes_; }
  Index rank() const { return static_cast<Index>(axes_.size()); }
  Shape shape() const;
  std::string strides_text() const;  // "(1536,16,128,1)"

  // Swaps two axes with their strides: no float moves. Throws Error(usage) for an axis that does not exist.
  StridedLayout transposed(Index a, Index b) const;
  // Axis i of the result is axis order[i] of this; each axis once (Error(usage) otherwise).
  StridedLayout permuted(std::span<const Index> order) const;
  // The same floats in the same order under other axes, if strides can express it: each new axis must lie
  // inside a run of old axes that are contiguous among themselves. nullopt if PyTorch refuses.
  std::optional<StridedLayout> viewed(const Shape& shape) const;
  // PyTorch's error message if it refuses that view; empty otherwise.
  std::string view_refusal(const Shape& shape) const;
  // Whether the cells are in row-major order without gaps: then contiguous() copies nothing.
  bool is_contiguous() const;

  // Offset in floats from the tensor's first. The index has one entry per axis,
  // each in range (Error(usage) otherwise).
  Index offset(std::span<const Index> index) const;
  // The cell at an offset. Every float must belong to one cell, as after any number of views and transposes
  // of a contiguous tensor; offset in [0, number of cells).
  std::vector<Index> index_of(Index offset) const;

  // "h·D + l·E + d", without axes of size 1; "0" if all are.
  std::string offset_letters() const;
  // The same with numbers: "1·16 + 3·128 + 5".
  std::string offset_numbers(std::span<const Index> index) const;

  friend bool operator==(const StridedLayout&, const StridedLayout&) = default;

 private:
  explicit StridedLayout(std::vector<StridedAxis> axes) : axes_(std::move(axes)) {}

  std::vector<StridedAxis> axes_;
};

}  // namespace headwise
