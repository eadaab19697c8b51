#include "core/tensor/strided_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// "l" for L, "d" for Dv, "s" for S′: the index that runs along an axis.
std::string index_letter(const std::string& axis) {
  if (axis.empty()) return "i";
  if (axis == "N·H") return "b";
  return std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(axis.front()))));
}

// Row-major strides of axes [begin, end), where the last one has the stride `inner`.
void lay_row_major(std::span<StridedAxis> axes, const StridedAxis& inner) {
  Index stride = inner.stride;
  std::vector<std::string> letters = inner.stride_letters;
  for (std::size_t i = axes.size(); i-- > 0;) {
    axes[i].stride = stride;
    axes[i].stride_letters = letters;
    stride *= std::max<Index>(axes[i].size, 1);
    letters.insert(letters.begin(), axes[i].name);
  }
}

// An axis that is unchanged keeps its letters: E floats to the next row, not H·D.
void keep_letters(std::span<StridedAxis> axes, std::span<const StridedAxis> before) {
  for (StridedAxis& axis : axes) {
    for (const StridedAxis& old : before) {
      if (old.stride == axis.stride && old.stride > 1 && old.stride_letters.size() <= axis.stride_letters.size())
        axis.stride_letters = old.stride_letters;
    }
  }
}

std::vector<StridedAxis> without_strides(const Shape& shape) {
  std::vector<StridedAxis> axes;
  for (const Axis& axis : shape.axes()) axes.push_back({axis.name, axis.size});
  return axes;
}

}  // namespace

StridedLayout StridedLayout::contiguous(const Shape& shape) {
  std::vector<StridedAxis> axes = without_strides(shape);
  lay_row_major(axes, {});
  return StridedLayout(std::move(axes));
}

Shape StridedLayout::shape() const {
  std::vector<Axis> axes;
  for (const StridedAxis& axis : axes_) axes.push_back({axis.name, axis.size});
  return Shape(std::move(axes));
}

std::string StridedLayout::strides_text() const {
  std::vector<Index> strides;
  for (const StridedAxis& axis : axes_) strides.push_back(axis.stride);
  return fmt::format("({})", join(strides, ","));
}

StridedLayout StridedLayout::transposed(Index a, Index b) const {
  std::vector<Index> order(axes_.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (a < 0 || b < 0 || a >= rank() || b >= rank()) {
    throw Error(ExitStatus::usage, {"transpose", "there is no such axis", fmt::format("{} and {}", a, b),
                                    fmt::format("axes 0 to {}", rank() - 1), ""});
  }
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  return permuted(order);
}

StridedLayout StridedLayout::permuted(std::span<const Index> order) const {
  std::vector<Index> sorted(order.begin(), order.end());
  std::ranges::sort(sorted);
  bool each_once = sorted.size() == axes_.size();
  for (std::size_t i = 0; each_once && i < sorted.size(); ++i) each_once = sorted[i] == static_cast<Index>(i);
  if (!each_once) {
    throw Error(ExitStatus::usage, {"permute", "this is no order of the axes", join(order, ", "),
                                    fmt::format("each of {} axes once, counted from 0", rank()), ""});
  }
  std::vector<StridedAxis> axes;
  for (const Index axis : order) axes.push_back(axes_[static_cast<std::size_t>(axis)]);
  return StridedLayout(std::move(axes));
}

std::optional<StridedLayout> StridedLayout::viewed(const Shape& wanted) const {
  const Shape own = shape();
  if (wanted.element_count() != own.element_count()) return std::nullopt;
  if (own.element_count() == 0 && own.same_sizes(wanted)) {
    std::vector<StridedAxis> axes = axes_;
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i].name = wanted.axes()[i].name;
    return StridedLayout(std::move(axes));
  }
  if (own.element_count() == 0 || axes_.empty()) return contiguous(wanted);
  // From the last axis to the first: old axes that are contiguous among themselves form a run, and new axes
  // are taken from it until it is used up exactly.
  std::vector<StridedAxis> axes = without_strides(wanted);
  std::size_t end = axes.size();  // of the new axes that have no stride yet
  std::size_t last = axes_.size() - 1;
  Index run = 1;
  for (std::size_t old = axes_.size(); old-- > 0;) {
    run *= axes_[old].size;
    const Index next_stride = axes_[last].stride * run;
    if (old > 0 && (axes_[old - 1].size == 1 || axes_[old - 1].stride == next_stride)) continue;
    std::size_t begin = end;
    Index covered = 1;
    while (begin > 0 && (covered < run || axes[begin - 1].size == 1)) covered *= axes[--begin].size;
    if (covered != run) return std::nullopt;
    const auto cut = std::span(axes).subspan(begin, end - begin);
    lay_row_major(cut, axes_[last]);
    keep_letters(cut, std::span(axes_).subspan(old, last - old + 1));
    end = begin;
    run = 1;
    if (old > 0) last = old - 1;
  }
  if (end > 0) return std::nullopt;
  return StridedLayout(std::move(axes));
}

std::string StridedLayout::view_refusal(const Shape& wanted) const {
  const Index count = shape().element_count();
  if (wanted.element_count() != count)
    return fmt::format("shape '[{}]' is invalid for input of size {}", join(wanted.sizes(), ", "), count);
  if (viewed(wanted)) return "";
  return "view size is not compatible with input tensor's size and stride (at least one dimension spans "
         "across two contiguous subspaces). Use .reshape(...) instead.";
}

bool StridedLayout::is_contiguous() const {
  Index stride = 1;
  if (shape().element_count() == 0) return true;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    if (axes_[i].size == 1) continue;
    if (axes_[i].stride != stride) return false;
    stride *= axes_[i].size;
  }
  return true;
}

Index StridedLayout::offset(std::span<const Index> index) const {
  static_cast<void>(shape().offset(index));  // throws if it is out of range
  Index offset = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) offset += index[i] * axes_[i].stride;
  return offset;
}

std::vector<Index> StridedLayout::index_of(Index offset) const {
  // A mixed radix: the axis with the largest stride is the first digit.
  std::vector<std::size_t> order(axes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return axes_[a].stride > axes_[b].stride; });
  std::vector<Index> index(axes_.size(), 0);
  for (const std::size_t axis : order) {
    if (axes_[axis].size <= 1) continue;
    index[axis] = std::min(offset / axes_[axis].stride, axes_[axis].size - 1);
    offset -= index[axis] * axes_[axis].stride;
  }
  return index;
}

std::string StridedLayout::offset_letters() const {
  std::vector<std::string> terms;
  for (const StridedAxis& axis : axes_) {
    if (axis.size == 1) continue;
    std::string term = index_letter(axis.name);
    for (const std::string& letter : axis.stride_letters) term += "·" + letter;
    terms.push_back(std::move(term));
  }
  return terms.empty() ? "0" : join(terms, " + ");
}

std::string StridedLayout::offset_numbers(std::span<const Index> index) const {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].size == 1) continue;
    terms.push_back(axes_[i].stride == 1 ? fmt::format("{}", index[i])
                                         : fmt::format("{}·{}", index[i], axes_[i].stride));
  }
  return terms.empty() ? "0" : join(terms, " + ");
}

}  // namespace headwise
