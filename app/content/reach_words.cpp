#include "app/content/reach_words.h"

#include <fmt/format.h>
#include <algorithm>

#include "core/trace/cell_reach.h"

namespace headwise {
namespace {

// "row", "head" …: what an index of this axis is called.
std::string axis_word(const Shape& shape, Index axis) {
  const std::string& name = shape.name(axis);
  if (name == "N") return "batch";
  if (name == "H" || name == "G") return "head";
  if (axis + 1 == shape.rank()) return shape.rank() == 1 ? "entry" : "column";
  return axis + 2 == shape.rank() ? "row" : name;
}

// The narrow axes of a box, in words.
struct Part {
  Index axis = 0;
  std::string words, plural, numbers;  // "row 8", "rows", "8"
};

std::vector<Part> narrow_parts(const Shape& shape, const BoxRef& box) {
  std::vector<Part> parts;
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    const Index begin = box.begin[static_cast<std::size_t>(axis)];
    const Index end = box.end[static_cast<std::size_t>(axis)];
    if (begin == 0 && end == shape.size(axis)) continue;
    const std::string word = axis_word(shape, axis);
    Part part{axis, "", word == "entry" ? "entries" : word == "batch" ? "batches" : word + "s", ""};
    part.numbers = end == begin + 1 ? fmt::format("{}", begin) : fmt::format("{}–{}", begin, end - 1);
    part.words = fmt::format("{} {}", end == begin + 1 ? word : part.plural, part.numbers);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

std::string reach_words(const Trace& trace, const std::vector<BoxRef>& boxes, TensorName tensor, bool brief) {
  const TensorPtr values = trace.tensor(tensor);
  const Index covered = cells_covered(boxes, tensor);
  if (!values || covered == 0) return "";
  const Shape& shape = values->shape();
  if (covered == shape.element_count()) return "all";
  if (covered == 1) return "1 cell";
  std::vector<std::vector<Part>> parts;
  for (const BoxRef& box : boxes) {
    if (box.tensor == tensor) parts.push_back(narrow_parts(shape, box));
  }
  const auto same_axis = [&](const std::vector<Part>& each) {
    return each.size() == 1 && parts.front().size() == 1 && each[0].axis == parts.front()[0].axis;
  };
  if (parts.size() == 1 && brief) {
    const auto row = std::ranges::find(parts[0], shape.rank() - 2, &Part::axis);
    return (row == parts[0].end() ? parts[0].front() : *row).words;
  }
  if (parts.size() == 1 && parts[0].size() <= 2) {
    return parts[0][0].words + (parts[0].size() == 2 ? " " + parts[0][1].words : "");
  }
  if (parts.size() == 2 && std::ranges::all_of(parts, same_axis)) {
    auto first = std::ranges::min(parts[0][0].numbers, parts[1][0].numbers,
                                  [](auto& x, auto& y) { return std::stoll(x) < std::stoll(y); });
    const std::string& second = first == parts[0][0].numbers ? parts[1][0].numbers : parts[0][0].numbers;
    const bool two = (parts[0][0].numbers + parts[1][0].numbers).find("–") == std::string::npos;
    if (brief && two) return "2 " + parts[0][0].plural;
    if (!brief) return fmt::format("{} {}, {}", parts[0][0].plural, first, second);
  }
  const double share = 100.0 * static_cast<double>(covered) / static_cast<double>(shape.element_count());
  return share < 1.0 ? "< 1 %" : fmt::format("{:.0f} %", share);
}

std::vector<TensorName> tensors_reached(const std::vector<BoxRef>& boxes) {
  std::vector<TensorName> names;
  for (const bool gradient : {false, true}) {
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorName name{entry.id, gradient};
      if (std::ranges::find(boxes, name, &BoxRef::tensor) != boxes.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace headwise
