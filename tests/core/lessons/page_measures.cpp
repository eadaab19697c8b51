#include "tests/core/lessons/page_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headwise::lessons_test {

bool near(double a, double b, double share) {
  return a == b || std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b));
}

bool module(See s) {
  return s.is_module();
}

Index width(See s) {
  return s.size(s.t().q_heads, 3);
}

Index value_width(See s) {
  return s.size(s.t().v_heads, 3);
}

Index groups(See s) {
  return s.size(s.t().k_heads, 1);
}

bool hand_made(See s) {
  return s.scenario.parameters.source == ParameterSource::hand_made && module(s);
}

bool sums_to_one(See s, Index head, Index query) {
  return near(s.weights_sum(head, query, 0, s.keys()), 1.0);
}

bool row_blocked(See s, Index head, Index query) {
  for (Index j = 0; j < s.keys(); ++j)
    if (!s.blocked(head, query, j)) return false;
  return true;
}

bool blocked_exactly(See s, Index head, const std::function<bool(Index query, Index key)>& rule) {
  for (Index i = 0; i < s.queries(); ++i)
    for (Index j = 0; j < s.keys(); ++j)
      if (s.blocked(head, i, j) != rule(i, j)) return false;
  return true;
}

double largest_weight_of_all(See s) {
  double most = 0.0;
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i) {
      const double weight = s.largest_weight(h, i);
      if (weight > most) most = weight;
    }
  return most;
}

Index finite_scores(See s, Index head, Index query) {
  Index count = 0;
  for (Index j = 0; j < s.keys(); ++j) count += std::isfinite(s.masked(head, query, j)) ? 1 : 0;
  return count;
}

Index open_keys(See s, Index head, Index query) {
  Index count = 0;
  for (Index j = 0; j < s.keys(); ++j) count += s.blocked(head, query, j) ? 0 : 1;
  return count;
}

bool all_zero(const TensorPtr& tensor) {
  for (Index i = 0; i < tensor->shape().size(1); ++i)
    for (Index c = 0; c < tensor->shape().size(2); ++c)
      if (tensor->at({0, i, c}) != 0.0) return false;
  return true;
}

bool has(const TensorPtr& tensor) {
  return tensor != nullptr;
}

Index pairs(See s) {
  return s.t().scores ? s.t().scores->size() : 0;
}

bool ends_in_nan(See s) {
  return std::isnan(
      s.at(s.t().output, s.is_module() ? std::vector<Index>{0, -1, -1} : std::vector<Index>{0, -1, -1, -1}));
}

double fill(See s) {
  return s.options().mask_value.value_or(-INFINITY);
}

double scale(See s) {
  return s.options().scale.value_or(1.0 / std::sqrt(static_cast<double>(width(s)))) / s.options().temperature;
}

bool follows_root(See s) {
  const auto d = static_cast<double>(width(s));
  return near(s.spread(4), 2 * s.spread(1), 0.16) && near(s.spread(width(s)), std::sqrt(d) * s.spread(1), 0.3);
}

const std::string& word(const std::vector<std::string>& words, Index at) {
  return words[static_cast<std::size_t>(at < 0 ? at + static_cast<Index>(words.size()) : at)];
}

std::string key(See s, Index at) {
  return fmt::format("'{}'", word(s.inputs.labels.key, at));
}

}  // namespace headwise::lessons_test
