#include "app/content/cell_meaning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/content/cell_terms.h"
#include "core/trace/blocked_cells.h"
#include "core/trace/cell_reach.h"

namespace headwise {
namespace {

using Id = TensorId;

std::string quoted(const std::vector<std::string>& labels, Index at) {
  return "“" + token_at(labels, at, "") + "”";
}

bool is_frozen(const Trace& trace, Index head) {
  return std::ranges::find(trace.options.frozen_heads, head) != trace.options.frozen_heads.end();
}

// Small shares keep a nonzero digit; anything below a ten-thousandth is stated as such.
std::string percent(double share) {
  if (share > 0.0 && share < 1e-4) return "less than 0.01 %";
  return fmt::format("{:.{}f} %", 100.0 * share, share == 0.0 ? 0 : share < 0.0995 ? 2 : 1);
}

// Rank in the row that contains the index, 1 for the largest; 0 if the number has none, being NaN.
Index place_in_row(const Tensor& tensor, std::vector<Index> index) {
  const double value = tensor.at(index);
  if (std::isnan(value)) return 0;
  Index place = 1;
  for (index.back() = 0; index.back() < tensor.shape().size(tensor.shape().rank() - 1); ++index.back())
    place += tensor.at(index) > value;
  return place;
}

std::string ordinal(Index number) {
  const Index last = number % 100 / 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string score_meaning(const Tensor& scores, const CellRef& cell, Index head, const std::string& query,
                          const std::string& key) {
  const Index place = place_in_row(scores, cell.index);
  const Index keys = scores.shape().size(scores.shape().rank() - 1);
  if (place == 0) return {};
  return fmt::format("Query {}, key {}, head {}: {} of the {} in this row.", query, key, head,
                     place == 1 ? "the best match" : fmt::format("the {} best match", ordinal(place)), keys);
}

std::string weight_meaning(double weight, Index head, const std::string& query, const std::string& key) {
  if (!(weight >= 0.0 && weight <= 1.0)) return {};
  return fmt::format("In head {}, {} gives {} of its attention to {}.", head, query, percent(weight), key);
}

// The key with the largest share in a row of weights; none if some of the row are not shares.
std::string mixed_from(const Trace& trace, const TokenLabels& labels, const CellRef& cell) {
  const TensorPtr weights = trace.tensor(Id::attn_weights);
  if (!weights || trace.options.dropout > 0.0) return {};
  std::vector<Index> index = cell.index;
  Index most = 0;
  double largest = -1.0;
  for (index.back() = 0; index.back() < weights->shape().size(3); ++index.back()) {
    const double weight = weights->at(index);
    if (!(weight >= 0.0 && weight <= 1.0)) return {};
    if (weight > largest) largest = weight, most = index.back();
  }
  if (largest <= 0.0) return {};
  return fmt::format(", most of all {} ({})", quoted(labels.key, most), percent(largest));
}

}  // namespace

std::string cell_meaning(const Trace& trace, const TokenLabels& labels, const CellRef& cell) {
  const TensorPtr tensor = trace.tensor(cell.tensor);
  if (!tensor || cell.tensor.gradient) return {};
  const Id id = cell.tensor.id;
  const double value = tensor->at(cell.index);
  if (id == Id::concat) {
    const TensorPtr heads = trace.tensor(Id::head_output);
    if (!heads) return {};
    const Index width = heads->shape().size(3), column = cell.index.back();
    return fmt::format("Head {} wrote this for {}: it is column {} of its output.", column / width,
                       quoted(labels.query, cell.index[1]), column % width);
  }
  if (id != Id::scores && id != Id::masked_scores && id != Id::attn_weights && id != Id::head_output)
    return {};
  const Index head = cell.index[1];
  const std::string query = quoted(labels.query, cell.index[2]);
  if (id == Id::head_output) {
    if (is_frozen(trace, head)) return {};
    return fmt::format(
        "Column {} of head {}'s output for {}: the values of all keys, weighted by attention{}.",
        cell.index[3], head, query, mixed_from(trace, labels, cell));
  }
  const std::string key = quoted(labels.key, cell.index[3]);
  if (id == Id::scores) return score_meaning(*tensor, cell, head, query, key);
  if (id == Id::attn_weights) {
    if (is_frozen(trace, head)) return {};
    if (value == 0.0 && open_keys(trace, cell.index[0], head, cell.index[2]) == 0)
      return fmt::format("The masks block every key for {}: all its weights are set to 0.", query);
    if (value == 0.0 && is_blocked(trace, cell.tensor, cell.index))
      return fmt::format(
          "The mask blocks {} for {}: its share is 0, and the other keys share all of the attention{}.", key,
          query, mixed_from(trace, labels, cell));
    return weight_meaning(value, head, query, key);
  }
  if (value != -std::numeric_limits<double>::infinity()) return {};
  // In a completely blocked row the weights are NaN, or what the operator substitutes for it.
  const TensorPtr weights = trace.tensor(Id::attn_weights);
  return fmt::format("{} may not attend to {}: the mask blocks this pair{}.", query, key,
                     weights && weights->at(cell.index) == 0.0 ? ", and its weight is 0" : "");
}

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
