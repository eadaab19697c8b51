#include "app/content/followed_token.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/content/cell_terms.h"
#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/output_gate.h"
#include "core/attention/score_path.h"
#include "core/attention/steps.h"
#include "core/export/number_text.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;

std::string quoted_or_numbered(const std::vector<std::string>& labels, Index at, std::string_view letter) {
  const bool token = at < static_cast<Index>(labels.size());
  const std::string name = token_at(labels, at, letter);
  return token ? "“" + name + "”" : name;
}

// One row of a tensor, whatever its leading axes are;
// a map shared by all sequences or heads is read at its only index.
std::vector<double> row_of(const TensorPtr& tensor, const FollowedRow& row, Index head) {
  if (!tensor || tensor->size() == 0 || tensor->shape().rank() < 2) return {};
  const Shape& shape = tensor->shape();
  std::vector<Index> index(static_cast<std::size_t>(shape.rank()), 0);
  for (Index axis = 0; axis + 1 < shape.rank(); ++axis) {
    const std::string& name = shape.name(axis);
    const Index wanted = name == "N" ? row.batch : name == "H" ? head : name == "L" ? row.token : 0;
    index[static_cast<std::size_t>(axis)] = std::min(wanted, shape.size(axis) - 1);
  }
  std::vector<double> values(static_cast<std::size_t>(shape.size(shape.rank() - 1)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    index.back() = static_cast<Index>(i);
    values[i] = tensor->at(index);
  }
  return values;
}

double length_of(const std::vector<double>& values, std::size_t begin = 0, std::size_t end = SIZE_MAX) {
  double sum = 0.0;
  for (std::size_t i = begin; i < std::min(end, values.size()); ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

bool has_nan(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

std::string number(double value) {
  return decimal_text(value, 2);
}

struct Row {
  const Trace& trace;
  const TokenLabels& labels;
  const FollowedRow& at;
  Index head;

  std::vector<double> of(Id id) const { return row_of(trace.tensor(id), at, head); }
  std::string name() const { return followed_name(labels, at); }
  std::string key(std::size_t j) const {
    return quoted_or_numbered(labels.key, static_cast<Index>(j), "key ");
  }
};

constexpr const char* not_a_number = "Its row has NaN: some number it was computed from is not one.";

std::size_t best_of(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

// Largest first, those worth 0 left out.
std::vector<std::size_t> largest_two(const std::vector<double>& values) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < values.size(); ++j)
    if (values[j] != 0.0) order.push_back(j);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
  order.resize(std::min<std::size_t>(order.size(), 2));
  return order;
}

std::string inputs_sentence(const Row& row) {
  const std::vector<double> values = row.of(Id::query);
  if (values.empty()) return {};
  if (has_nan(values)) return not_a_number;
  return fmt::format("{} is row {} of query: {} numbers, a vector of length {}.", row.name(), row.at.token,
                     values.size(), number(length_of(values)));
}

std::string project_sentence(const Row& row) {
  const std::vector<double> before = row.of(Id::query), after = row.of(Id::q);
  if (before.empty() || after.empty()) return {};
  if (has_nan(after)) return not_a_number;
  if (const std::vector<double> pressed = row.of(Id::compressed_q); !pressed.empty())
    return fmt::format(
        "Its row of query (length {}) is compressed into {} numbers, and W_UQ makes its row of q of them "
        "(length {}).",
        number(length_of(before)), pressed.size(), number(length_of(after)));
  return fmt::format(
      "W_q turns its row of query (length {}) into its row of q (length {}): what it asks of the keys.",
      number(length_of(before)), number(length_of(after)));
}

std::string split_sentence(const Row& row) {
  const std::vector<double> whole = row.of(Id::q), part = row.of(Id::q_heads);
  if (whole.empty() || part.empty()) return {};
  if (has_nan(part)) return not_a_number;
  const auto begin = static_cast<std::size_t>(row.head) * part.size();
  return fmt::format("Head {} takes columns {} to {} of its row of q: {} of {} numbers, of length {}.",
                     row.head, begin, begin + part.size() - 1, part.size(), whole.size(),
                     number(length_of(part)));
}

std::string norm_sentence(const Row& row) {
  const Id before = made_of(Id::q_normed, row.trace.options);
  const std::vector<double> long_row = row.of(before), normed = row.of(Id::q_normed);
  if (long_row.empty() || normed.empty()) return {};
  if (has_nan(normed)) return not_a_number;
  return fmt::format("Its row of {} had the length {}, and now has {}.", tensor_entry(before).name,
                     number(length_of(long_row)), number(length_of(normed)));
}

std::string scores_sentence(const Row& row) {
  const std::vector<double> scores = row.of(Id::scores);
  if (scores.empty()) return {};
  if (has_nan(scores)) return not_a_number;
  const std::size_t best = best_of(scores);
  const auto worst = static_cast<std::size_t>(std::ranges::min_element(scores) - scores.begin());
  if (scores[best] == scores[worst])
    return fmt::format("Its query matches every key alike: {}.", number(scores[best]));
  return fmt::format("Its query matches {} best ({}) and {} least ({}).", row.key(best), number(scores[best]),
                     row.key(worst), number(scores[worst]));
}

std::string scale_sentence(const Row& row) {
  const std::vector<double> before = row.of(Id::scores), after = row.of(Id::scaled_scores);
  if (before.empty() || after.empty()) return {};
  if (has_nan(after)) return not_a_number;
  const auto [low, high] = std::ranges::minmax(before);
  const auto [scaled_low, scaled_high] = std::ranges::minmax(after);
  return fmt::format("Its scores ranged from {} to {}, and now from {} to {}.", number(low), number(high),
                     number(scaled_low), number(scaled_high));
}

std::string mask_sentence(const Row& row) {
  const std::vector<double> scores = row.of(Id::masked_scores);
  if (scores.empty()) return {};
  const std::vector<double> bias = row.of(Id::mask_bias);
  if (bias.empty()) return fmt::format("No mask: it may attend to all {} keys.", scores.size());
  const auto blocked = static_cast<std::size_t>(std::ranges::count(bias, -INFINITY));
  if (blocked == bias.size())
    return fmt::format("All {} keys are blocked: {} may attend to none.", bias.size(), row.name());
  if (has_nan(scores)) return not_a_number;
  const std::size_t best = best_of(scores);
  const std::string rest = fmt::format("the best {}is {} ({}).", blocked == 0 ? "" : "of the rest ",
                                       row.key(best), number(scores[best]));
  if (blocked == 0) return fmt::format("None of its {} keys is blocked; {}", bias.size(), rest);
  return fmt::format("{} of its {} keys {} blocked{}; {}", blocked, bias.size(), blocked == 1 ? "is" : "are",
                     row.trace.options.indexer ? " or not chosen" : "", rest);
}

std::string softmax_sentence(const Row& row) {
  const std::vector<double> weights = row.of(Id::attn_weights);
  if (weights.empty()) return {};
  if (has_nan(weights)) return "Its weights are NaN.";
  const std::vector<std::size_t> largest = largest_two(weights);
  if (largest.empty()) return "It attends to no key: all its weights are 0.";
  const auto share = [&](std::size_t j) {
    const double percent = 100.0 * weights[j];
    return fmt::format("{:.{}f} % ", percent, percent > 99.0 && percent < 100.0 ? 2 : 1);
  };
  std::string sink;
  if (const TensorPtr& sinks = row.trace.tensors.sink_weights)
    sink = fmt::format(" The sink takes {:.1f} %.", 100.0 * sinks->at({row.at.batch, row.head, row.at.token}));
  if (largest.size() == 1)
    return fmt::format("{}of its attention goes to one key, {}.{}", share(largest[0]), row.key(largest[0]),
                       sink);
  return fmt::format("{}of its attention goes to {}, {}to {}.{}", share(largest[0]), row.key(largest[0]),
                     share(largest[1]), row.key(largest[1]), sink);
}

std::string sum_sentence(const Row& row) {
  // What multiplies the values: after dropout, where there is any.
  const std::vector<double> dropped = row.of(Id::dropped_weights);
  const std::vector<double> weights = dropped.empty() ? row.of(Id::attn_weights) : dropped;
  const std::vector<double> made = row.of(Id::head_output);
  if (weights.empty() || made.empty()) return {};
  if (has_nan(made)) return not_a_number;
  const std::vector<std::size_t> largest = largest_two(weights);
  if (largest.empty()) return "Nothing is added up: all its weights are 0.";
  std::string sum;
  for (const std::size_t j : largest)
    sum += fmt::format("{}{} × the value of {}", sum.empty() ? "" : " + ", decimal_text(weights[j], 3),
                       row.key(j));
  const auto others = std::ranges::count_if(weights, [](double weight) { return weight != 0.0; }) -
                      static_cast<std::ptrdiff_t>(largest.size());
  if (others > 0) sum += fmt::format(" + {}", counted(others, "smaller part"));
  return fmt::format("Head {} gives it {}: length {}.", row.head, sum, number(length_of(made)));
}

std::string concat_sentence(const Row& row) {
  const std::vector<double> joined = row.of(Id::concat), own = row.of(Id::head_output);
  if (joined.empty() || own.empty()) return {};
  if (has_nan(joined)) return not_a_number;
  const std::size_t width = own.size(), heads = joined.size() / width;
  std::vector<double> lengths(heads);
  for (std::size_t h = 0; h < heads; ++h) lengths[h] = length_of(joined, h * width, (h + 1) * width);
  const std::size_t longest = best_of(lengths);
  const auto begin = static_cast<std::size_t>(row.head) * width;
  return fmt::format(
      "Head {}’s {} numbers are columns {} to {} of its row; of the {} heads, head {}’s are longest ({}).",
      row.head, width, begin, begin + width - 1, heads, longest, number(lengths[longest]));
}

std::string gate_sentence(const Row& row) {
  const std::vector<double> joined = row.of(Id::concat), gate = row.of(Id::output_gate);
  const std::vector<double> passed = row.of(Id::gated_concat);
  if (gate.empty() || passed.empty()) return {};
  if (has_nan(passed)) return not_a_number;
  const auto open = std::ranges::count_if(gate, [](double x) { return x > 0.0; });
  return fmt::format(
      "{} of its {} gates are more than half open; its row of concat keeps {} of a length of {}.", open,
      gate.size(), number(length_of(passed)), number(length_of(joined)));
}

std::string past_sentence(const Row& row) {
  const AttentionSizes sizes = attention_sizes(row.trace.options, row.trace.tensors);
  if (!row.trace.options.past_length) return {};
  const Index place = row.at.token + causal_offset(row.trace.options, sizes.queries, sizes.keys);
  return fmt::format("The cache holds the {} of {}; {} comes after them, at position {}.",
                     is_latent(row.trace.options) ? "latents and the rotated keys" : "keys and values",
                     counted(sizes.past, "earlier token"), row.name(), place);
}

std::string choose_sentence(const Row& row) {
  const std::vector<double> scores = row.of(Id::indexer_scores), bias = row.of(Id::mask_bias);
  if (scores.empty() || bias.size() != scores.size()) return {};
  if (has_nan(scores)) return not_a_number;
  std::optional<std::size_t> best;
  std::size_t kept = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (bias[j] == -INFINITY) continue;
    ++kept;
    if (!best || scores[j] > scores[*best]) best = j;
  }
  if (!best) return fmt::format("All {} keys are blocked: {} may attend to none.", bias.size(), row.name());
  return fmt::format("It keeps {} of its {} keys; the indexer scores {} highest ({}).", kept, bias.size(),
                     row.key(*best), number(scores[*best]));
}

std::string output_sentence(const Row& row) {
  const Id rows = rows_of_output(row.trace.tensors);
  const std::vector<double> joined = row.of(rows), made = row.of(Id::output);
  if (made.empty()) return {};
  if (has_nan(made)) return not_a_number;
  if (joined.empty()) return fmt::format("Its output: a vector of length {}.", number(length_of(made)));
  return fmt::format("W_O mixes all heads: its row of {} (length {}) becomes its output (length {}).",
                     tensor_entry(rows).name, number(length_of(joined)), number(length_of(made)));
}

}  // namespace

std::optional<FollowedRow> followed_row(const Trace& trace, const Selection& selection) {
  const auto pinned = selection_within(selection, trace).pinned;
  if (!pinned) return std::nullopt;
  const TensorPtr tensor = trace.tensor(pinned->tensor);
  // The gradient of a tensor may still be on its way: it has the tensor's axes.
  const TensorPtr shaped = tensor ? tensor : trace.tensor(pinned->tensor.id);
  if (!shaped) return std::nullopt;
  FollowedRow row;
  bool found = false;
  for (Index axis = 0; axis < shaped->shape().rank(); ++axis) {
    const Index at = pinned->index[static_cast<std::size_t>(axis)];
    if (shaped->shape().name(axis) == "N") row.batch = at;
    if (shaped->shape().name(axis) == "L") {
      row.token = at;
      found = true;
    }
  }
  return found ? std::optional(row) : std::nullopt;
}

std::optional<FollowedLine> followed_line(const StageMatrix& matrix, const FollowedRow& row) {
  if (!matrix.view.tensor) return std::nullopt;
  const Shape& shape = matrix.view.tensor->shape();
  if (!matrix.leading.empty() && shape.name(0) == "N" && matrix.leading.front() != row.batch)
    return std::nullopt;
  const auto inside = [](Index at, Index count) { return at >= 0 && at < count; };
  const Index at = row.token - matrix.row_begin;
  if (matrix.row_axis == "L" && inside(at, matrix.view.rows)) return FollowedLine{false, at};
  if (matrix.col_axis == "L" && inside(at, matrix.view.cols)) return FollowedLine{true, at};
  return std::nullopt;
}

std::string followed_name(const TokenLabels& labels, const FollowedRow& row) {
  return quoted_or_numbered(labels.query, row.token, "query ");
}

std::string followed_sentence(const Trace& trace, const TokenLabels& labels, const Selection& selection,
                              const FollowedRow& followed) {
  // In the order of Step. Only the module projects and splits.
  constexpr std::array<std::string (*)(const Row&), step_count> sentences{
      inputs_sentence, project_sentence, split_sentence, scores_sentence, scale_sentence,
      mask_sentence,   softmax_sentence, sum_sentence,   concat_sentence, output_sentence,
      norm_sentence,   gate_sentence,    past_sentence,  choose_sentence};
  const Step step = selection.step;
  if ((step == Step::project || step == Step::split_heads) && !projects(trace.options.op)) return {};
  return sentences[static_cast<std::size_t>(step)]({trace, labels, followed, selection.head});
}

}  // namespace headwise
