// Named axes and shapes. Axis names are the letters listed in README: N batch, L query length, S key length,
// E model width, H heads, G key/value heads, D head width of q and k, Dv head width of v; joined axes are
// written "H·D". S′ (the key length with appended columns) is "S′" only if it differs from S.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace headwise {

using Index = std::int64_t;

struct Axis {
  std::string name;
  Index size = 0;  // >= 0
  friend bool operator==(const Axis&, const Axis&) = default;
};

// An ordered list of axes, row-major: the last axis is contiguous. Rank 0 is a single number. Sizes are
// checked on construction: a negative size, or a product that overflows Index, throws Error(memory).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Axis> axes);
  explicit Shape(std::vector<Axis> axes);

  Index rank() const { return static_cast<Index>(axes_.size()); }
  Index size(Index axis) const { return axes_[static_cast<std::size_t>(axis)].size; }
  const std::string& name(Index axis) const { return axes_[static_cast<std::size_t>(axis)].name; }
  const std::vector<Axis>& axes() const { return axes_; }
  Index element_count() const { return element_count_; }
  std::vector<Index> sizes() const;
  std::vector<Index> strides() const;  // in elements

  // Flat offset of a cell; the index must have one entry per axis, each in range (Error(usage) otherwise).
  Index offset(std::span<const Index> index) const;
  std::vector<Index> index_of(Index offset) const;

  std::string letters() const;     // "(N,H,L,S)"
  std::string sizes_text() const;  // "(1,8,12,12)"
  std::string to_string() const;   // "(N=1, H=8, L=12, S=12)"

  // Same sizes in the same order; names may differ.
  bool same_sizes(const Shape& other) const;
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Axis> axes_;
  Index element_count_ = 1;
};

// a·b for non-negative sizes; throws Error(memory) naming `what` on overflow.
Index checked_multiply(Index a, Index b, const std::string& what);

}  // namespace headwise
