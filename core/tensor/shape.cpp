#include "core/tensor/shape.h"

#include <fmt/format.h>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

Index checked_multiply(Index a, Index b, const std::string& what) {
  Index product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) {
    throw Error(ExitStatus::memory,
                {what, "the number of elements is out of range", fmt::format("{} × {}", a, b),
                 "sizes of 0 or more whose product fits in 63 bits", "choose smaller sizes"});
  }
  return product;
}

Shape::Shape(std::initializer_list<Axis> axes) : Shape(std::vector<Axis>(axes)) {}

Shape::Shape(std::vector<Axis> axes) : axes_(std::move(axes)) {
  // A zero size must not hide an overflow in the others: a later edit may change it.
  bool empty = false;
  Index product = 1;
  for (const Axis& axis : axes_) {
    if (axis.size == 0) empty = true;
    const Index size = axis.size == 0 ? 1 : axis.size, before = product;
    // The name is made only for what is refused: it costs more than the shape.
    if (size < 0 || __builtin_mul_overflow(before, size, &product))
      checked_multiply(before, size, "shape " + letters());
  }
  element_count_ = empty ? 0 : product;
}

std::vector<Index> Shape::sizes() const {
  std::vector<Index> out;
  for (const Axis& axis : axes_) out.push_back(axis.size);
  return out;
}

std::vector<Index> Shape::strides() const {
  std::vector<Index> out(axes_.size(), 1);
  for (std::size_t i = axes_.size(); i-- > 1;) out[i - 1] = out[i] * axes_[i].size;
  return out;
}

Index Shape::offset(std::span<const Index> index) const {
  bool inside = index.size() == axes_.size();
  Index offset = 0;
  for (std::size_t i = 0; inside && i < axes_.size(); ++i) {
    inside = index[i] >= 0 && index[i] < axes_[i].size;
    offset = offset * axes_[i].size + index[i];
  }
  if (!inside) {
    throw Error(ExitStatus::usage,
                {"cell index", "there is no such cell", fmt::format("[{}]", join(index, ",")),
                 "an index inside " + to_string(), "count every axis from 0"});
  }
  return offset;
}

std::vector<Index> Shape::index_of(Index offset) const {
  std::vector<Index> index(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    index[i] = offset % axes_[i].size;
    offset /= axes_[i].size;
  }
  return index;
}

std::string Shape::letters() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes_) names.push_back(axis.name);
  return fmt::format("({})", join(names, ","));
}

std::string Shape::sizes_text() const {
  return fmt::format("({})", join(sizes(), ","));
}

std::string Shape::to_string() const {
  std::vector<std::string> parts;
  for (const Axis& axis : axes_) parts.push_back(fmt::format("{}={}", axis.name, axis.size));
  return fmt::format("({})", join(parts, ", "));
}

bool Shape::same_sizes(const Shape& other) const {
  return sizes() == other.sizes();
}

}  // namespace headwise
