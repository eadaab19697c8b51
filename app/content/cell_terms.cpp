#include "app/content/cell_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/cell_reach.h"
#include "core/attention/indexer.h"
#include "core/export/label_text.h"
#include "core/tensor/join.h"

namespace headwise {

const std::vector<std::string>* tokens_of(const TokenLabels& labels, const std::string& axis) {
  return labels.along(axis);
}

namespace {

std::string index_name(const TokenLabels& labels, const Axis& axis, Index index) {
  const auto* tokens = tokens_of(labels, axis.name);
  if (tokens && index < static_cast<Index>(tokens->size()))
    return printable((*tokens)[static_cast<std::size_t>(index)]);
  // A joined axis ("H·D", "C+R") has no letter by which a reader would know the index.
  if (axis.name.find("·") != std::string::npos ||
      (axis.name.find('+') != std::string::npos && !is_key_axis(axis.name)))
    return fmt::format("col {}", index);
  std::string letter = axis.name;
  if (!letter.empty()) letter[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(letter[0])));
  return fmt::format("{} {}", letter, index);
}

// Terms that begin with the same tensor, and the axes of its index that vary between terms.
struct TermGroup {
  TensorName tensor;
  const std::vector<Index>* first = nullptr;
  std::vector<bool> runs;

  bool any() const { return std::ranges::find(runs, true) != runs.end(); }
};

// A sum may have several: x·Wᵀ with its bias, or the gradients coming back through q, k and v.
std::vector<TermGroup> term_groups(const std::vector<Term>& terms) {
  std::vector<TermGroup> groups;
  for (const Term& term : terms) {
    if (term.factors.empty() || !term.label.empty()) continue;
    const CellRef& cell = term.factors.front();
    auto group = std::ranges::find(groups, cell.tensor, &TermGroup::tensor);
    if (group == groups.end()) {
      groups.push_back({cell.tensor, &cell.index, std::vector<bool>(cell.index.size(), false)});
      continue;
    }
    for (std::size_t axis = 0; axis < cell.index.size(); ++axis)
      if (cell.index[axis] != (*group->first)[axis]) group->runs[axis] = true;
  }
  return groups;
}

// "d 1", the token "animal", "n 0, it", "grad.k, col 3"; the tensor alone if no axis varies.
std::string term_name(const Trace& trace, const TokenLabels& labels, const std::vector<TermGroup>& groups,
                      const CellRef& first) {
  const auto group = std::ranges::find(groups, first.tensor, &TermGroup::tensor);
  std::vector<std::string> parts;
  if (!group->any() || std::ranges::count_if(groups, &TermGroup::any) > 1)
    parts.push_back(to_string(first.tensor));
  const auto& axes = trace.tensor(first.tensor)->shape().axes();
  for (std::size_t axis = 0; axis < group->runs.size(); ++axis)
    if (group->runs[axis]) parts.push_back(index_name(labels, axes[axis], first.index[axis]));
  return join(parts, ", ");
}

double magnitude(const Term& term) {
  return std::isnan(term.value) ? std::numeric_limits<double>::infinity() : std::abs(term.value);
}

// Design units
constexpr float widest_name = 150.0f, least_name = 26.0f, some_name = 56.0f;
constexpr float least_bar = 24.0f, term_bar_gap = 8.0f;
constexpr float bar_share = 0.13f;  // of the width, if there is room
constexpr float most_air = 26.0f;   // extra space between two columns beyond this goes to the names

float numbers_of(const TermWidths& widths, float sign) {
  return std::accumulate(widths.factors.begin(), widths.factors.end(), widths.value,
                         [sign](float sum, float factor) { return sum + factor + sign; });
}

using Id = TensorId;

std::string quoted(const std::vector<std::string>& labels, Index at) {
  return "“" + token_at(labels, at, "") + "”";
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

std::string sink_meaning(const Trace& trace, double share, Index head, const std::string& query) {
  if (is_frozen(trace, head))
    return fmt::format("Head {} keeps its weights, so its sink takes nothing of them.", head);
  if (!(share >= 0.0 && share <= 1.0)) return {};
  return fmt::format("In head {}, the sink takes {} of the attention of {}; the keys share the other {}.",
                     head, percent(share), query, percent(1.0 - share));
}

std::string lse_meaning(double lse, Index head, const std::string& query) {
  if (!std::isfinite(lse)) return {};
  return fmt::format("All scores of {} in head {} together: a sink of this score would take half of the row.",
                     query, head);
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

bool is_frozen(const Trace& trace, Index head) {
  return std::ranges::find(trace.options.frozen_heads, head) != trace.options.frozen_heads.end();
}

CellTerms cell_terms(const Trace& trace, const TokenLabels& labels, const CellProvenance& provenance,
                     std::size_t shown) {
  CellTerms result;
  const std::vector<Term>& terms = provenance.terms;
  std::vector<std::size_t> order(terms.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  shown = std::min(shown, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(shown), [&](std::size_t a, std::size_t b) {
        return magnitude(terms[a]) != magnitude(terms[b]) ? magnitude(terms[a]) > magnitude(terms[b]) : a < b;
      });
  const std::vector<TermGroup> groups = term_groups(terms);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Term& term = terms[order[i]];
    result.sum += term.value;
    if (i >= shown) {
      ++result.more;
      result.more_value += term.value;
      continue;
    }
    NamedTerm named{term.label, term.factors, {}, term.value};
    for (const CellRef& factor : term.factors)
      named.values.push_back(trace.tensor(factor.tensor)->at(factor.index));
    if (named.name.empty() && !term.factors.empty())
      named.name = term_name(trace, labels, groups, term.factors.front());
    result.largest.push_back(std::move(named));
  }
  return result;
}

std::string box_text(const Trace& trace, const BoxRef& box) {
  const TensorPtr tensor = trace.tensor(box.tensor);
  std::vector<std::string> parts;
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
    const Index begin = box.begin[axis], end = box.end[axis];
    const bool whole = tensor && begin == 0 && end == tensor->shape().size(static_cast<Index>(axis));
    if (end == begin + 1) {
      parts.push_back(fmt::format("{}", begin));
    } else if (whole) {
      parts.emplace_back(":");
    } else {
      parts.push_back(fmt::format("{}:{}", begin, end));
    }
  }
  return fmt::format("{}[{}]", to_string(box.tensor), join(parts, ","));
}

std::string token_at(const std::vector<std::string>& labels, Index at, std::string_view letter) {
  if (at < 0 || at >= static_cast<Index>(labels.size())) return fmt::format("{}{}", letter, at);
  const std::string& word = labels[static_cast<std::size_t>(at)];
  std::string text = printable(word);
  if (std::ranges::count(labels, word) < 2) return text;
  constexpr const char* subscripts[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  for (const char digit : std::to_string(at)) text += subscripts[digit - '0'];
  return text;
}

std::string cell_tokens(const Trace& trace, const TokenLabels& labels, const CellRef& cell) {
  const TensorPtr tensor = trace.tensor(cell.tensor);
  std::string text;
  if (!tensor) return text;
  for (std::size_t axis = 0; axis < cell.index.size(); ++axis) {
    const auto* tokens = tokens_of(labels, tensor->shape().name(static_cast<Index>(axis)));
    if (!tokens || cell.index[axis] >= static_cast<Index>(tokens->size())) continue;
    if (!text.empty()) text += " → ";
    text += token_at(*tokens, cell.index[axis], "");
  }
  return text;
}

const float* TermColumns::end_of(std::size_t factor, std::size_t count) const {
  const std::size_t left_out = count - std::min(count, factor_ends.size());
  return factor < left_out ? nullptr : &factor_ends[factor - left_out];
}

TermColumns term_columns(std::span<const TermWidths> choices, float width, float sign, float scale) {
  struct Try {
    std::size_t choice;
    float name, bar;
  };
  std::vector<Try> tries;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const float whole = std::min(choices[i].name, widest_name * scale);
    const float some = std::min(whole, some_name * scale), least = std::min(whole, least_name * scale);
    for (const float name : {whole, some, least}) {
      tries.push_back({i, name, least_bar * scale});
      if (i + 1 == choices.size()) tries.push_back({i, name, 0.0f});
    }
  }
  TermColumns columns;
  if (tries.empty()) return columns;
  const auto needed = [&](const Try& each) {
    const float bar = each.bar > 0.0f ? each.bar + term_bar_gap * scale : 0.0f;
    return each.name + sign + numbers_of(choices[each.choice], sign) + bar;
  };
  const auto fits = [&](const Try& each) { return needed(each) <= width; };
  const auto found = std::ranges::find_if(tries, fits);
  const Try chosen = found == tries.end() ? tries.back() : *found;
  const TermWidths& widths = choices[chosen.choice];
  float spare = std::max(0.0f, width - needed(chosen));
  columns.decimals = widths.decimals;
  if (chosen.bar > 0.0f) {
    columns.bar = std::clamp(bar_share * width, chosen.bar, chosen.bar + spare);
    spare -= columns.bar - chosen.bar;
  }
  columns.bar_begin = width - columns.bar;
  columns.value_end = columns.bar > 0.0f ? columns.bar_begin - term_bar_gap * scale : width;
  const auto gaps = static_cast<float>(widths.factors.size() + 1);
  const float air = std::min(spare / gaps, most_air * scale);
  float end = columns.value_end - widths.value - sign - air;
  for (std::size_t i = widths.factors.size(); i-- > 0;) {
    if (end - widths.factors[i] < chosen.name) break;  // the first factors give way
    columns.factor_ends.insert(columns.factor_ends.begin(), end);
    end -= widths.factors[i] + sign + air;
  }
  columns.name = std::max(chosen.name, std::min(end, widest_name * scale));
  return columns;
}

namespace {

// Of attn_weights and masked_scores: whether no mask blocks the key, but the indexer does not choose it.
bool is_left_out(const Trace& trace, const CellRef& cell) {
  if (!trace.options.indexer) return false;
  const ChosenKeys chosen = chosen_keys(trace, cell.index[0], cell.index[1], cell.index[2]);
  return chosen.rank(cell.index[3]) && !chosen(cell.index[3]);
}

// Of indexer_scores.
std::string choice_meaning(const Trace& trace, const TokenLabels& labels, const CellRef& cell) {
  const ChosenKeys chosen = chosen_keys(trace, cell.index[0], 0, cell.index[1]);
  const std::string query = quoted(labels.query, cell.index[1]), key = quoted(labels.key, cell.index[2]);
  const std::optional<Index> rank = chosen.rank(cell.index[2]);
  if (!rank)
    return fmt::format("A mask blocks {} for {}: the indexer does not choose among such keys.", key, query);
  const std::string place = *rank == 1 ? "largest" : ordinal(*rank) + " largest";
  return fmt::format("The indexer {} {} for {}: its score is the {} of the {} that the masks leave.",
                     chosen(cell.index[2]) ? "chooses" : "does not choose", key, query, place,
                     chosen.allowed());
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
  if (id == Id::indexer_scores && trace.options.indexer) return choice_meaning(trace, labels, cell);
  const bool of_row = id == Id::sink_weights || id == Id::lse;
  if (id != Id::scores && id != Id::masked_scores && id != Id::attn_weights && id != Id::head_output && !of_row)
    return {};
  const Index head = cell.index[1];
  const std::string query = quoted(labels.query, cell.index[2]);
  if (of_row)
    return id == Id::lse ? lse_meaning(value, head, query) : sink_meaning(trace, value, head, query);
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
    const std::string_view shared =
        trace.tensors.sinks ? "what the sink leaves of the attention" : "all of the attention";
    if (value == 0.0 && is_left_out(trace, cell))
      return fmt::format(
          "The indexer does not choose {} for {}: its share is 0, and the chosen keys share {}{}.", key,
          query, shared, mixed_from(trace, labels, cell));
    if (value == 0.0 && is_blocked(trace, cell.tensor, cell.index))
      return fmt::format("The mask blocks {} for {}: its share is 0, and the other keys share {}{}.", key,
                         query, shared, mixed_from(trace, labels, cell));
    return weight_meaning(value, head, query, key);
  }
  if (value != -std::numeric_limits<double>::infinity()) return {};
  // In a completely blocked row the weights are NaN, or what the operator substitutes for it.
  const TensorPtr weights = trace.tensor(Id::attn_weights);
  return fmt::format("{} may not attend to {}: the {} this pair{}.", query, key,
                     is_left_out(trace, cell) ? "indexer does not choose" : "mask blocks",
                     weights && weights->at(cell.index) == 0.0 ? ", and its weight is 0" : "");
}

std::string reach_words(const Trace& trace, const std::vector<BoxRef>& boxes, TensorName tensor, bool brief) {
  const TensorPtr values = trace.tensor(tensor);
  const Index covered = cells_covered(boxes, tensor);
  if (!values || covered == 0) return "";
  const Shape& shape = values->shape();
  if (covered == shape.element_count()) return "all";
  if (covered == 1) return "1 cell";
  std::vector<std::vector<Part>> parts;
  for (const BoxRef& box : boxes)
    if (box.tensor == tensor) parts.push_back(narrow_parts(shape, box));
  const auto same_axis = [&](const std::vector<Part>& each) {
    return each.size() == 1 && parts.front().size() == 1 && each[0].axis == parts.front()[0].axis;
  };
  if (parts.size() == 1 && brief) {
    const auto row = std::ranges::find(parts[0], shape.rank() - 2, &Part::axis);
    return (row == parts[0].end() ? parts[0].front() : *row).words;
  }
  if (parts.size() == 1 && parts[0].size() <= 2)
    return parts[0][0].words + (parts[0].size() == 2 ? " " + parts[0][1].words : "");
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
