#include "tests/core/lessons/since_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headwise::lessons_test {

bool same(double a, double b, double share) {
  if (!std::isfinite(a) || !std::isfinite(b)) return true;
  return std::abs(a - b) <= share * std::max({1.0, std::abs(a), std::abs(b)});
}

bool says_count(See s, Index count) {
  return s.says(fmt::format("{}", count));
}

bool says_result(See s, double number) {
  const bool whole = std::abs(number - std::round(number)) <= 1e-5 * std::abs(number);
  return s.says(number) || (whole && s.says(fmt::format("{:.0f}", number)));
}

bool says_difference(See s, double a, double b) {
  const double least = 1e-5 * std::max(std::abs(a), std::abs(b));  // the digits that f32 leaves of it
  return std::abs(a - b) < 100 * least || says_result(s, a - b) || says_result(s, a - b + least) ||
         says_result(s, a - b - least);
}

Index last_query(See s) {
  return s.queries() - 1;
}

Row row_of(See s, const TensorPtr& tensor, Index head, Index at) {
  Row row;
  for (Index c = 0; c < s.size(tensor, head < 0 ? 2 : 3); ++c)
    row.push_back(head < 0 ? s.at(tensor, {0, at, c}) : s.at(tensor, {0, head, at, c}));
  return row;
}

double product(const Row& a, const Row& b) {
  double sum = 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

double length(const Row& row) {
  return std::sqrt(product(row, row));
}

double apart(See s, const TensorPtr& tensor, Index head) {
  const Row a = row_of(s, tensor, head, 0), b = row_of(s, tensor, head, 5);
  double most = a.empty() ? NAN : 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double difference = a[c] == b[c] ? 0.0 : std::abs(a[c] - b[c]);
    if (std::isnan(difference) || difference > most) most = difference;
  }
  return most;
}

bool no_position_added(See s) {
  return !s.scenario.inputs.positions && s.scenario.inputs.source == InputSource::text && !s.inputs.model_input;
}

Row frequencies(See s) {
  if (!s.options().rotary_base) return s.options().rotary_inverse_frequencies;
  const auto d = static_cast<double>(width(s));
  Row of;
  for (Index j = 0; j < width(s) / 2; ++j)
    of.push_back(std::pow(*s.options().rotary_base, -2.0 * static_cast<double>(j) / d));
  return of;
}

Row turned(See s, Row row, double position, double factor) {
  const Row of = frequencies(s);
  for (std::size_t j = 0; j < of.size(); ++j) {
    const bool halves = s.options().rotary_pairs == RotaryPairs::halves;
    double &a = row.at(halves ? j : 2 * j), &b = row.at(halves ? j + of.size() : 2 * j + 1);
    const double sine = factor * std::sin(position * of[j]), cosine = factor * std::cos(position * of[j]);
    const double x = a, y = b;
    a = x * cosine - y * sine;
    b = y * cosine + x * sine;
  }
  return row;
}

const TensorPtr& before_rotation(See s, const TensorPtr& normed, const TensorPtr& heads) {
  return s.options().qk_norm == QkNorm::per_head ? normed : heads;
}

namespace {

bool turned_by_positions(See s, const TensorPtr& from, const TensorPtr& to, Index first) {
  for (Index h = 0; h < s.size(to, 1); ++h)
    for (Index i = 0; i < s.size(to, 2); ++i) {
      const Row row = row_of(s, from, h, i), is = row_of(s, to, h, i);
      const Row expected = turned(s, row, static_cast<double>(first + i), s.options().rotary_factor);
      for (std::size_t c = 0; c < is.size(); ++c)
        if (!same(is[c], expected[c])) return false;
    }
  return has(to);
}

}  // namespace

bool rotated(See s) {
  const TraceTensors& t = s.t();
  const Row of = frequencies(s);
  const bool at_the_end = s.options().causal_alignment == CausalAlignment::bottom_right;
  const Index past = t.past_key ? s.size(t.past_key, 2) : 0;
  const Index first = past + (at_the_end ? s.size(t.k_rotary, 2) - s.size(t.q_rotary, 2) : 0);
  return !of.empty() && std::ranges::all_of(of, [](double f) { return f > 0.0; }) &&
         turned_by_positions(s, before_rotation(s, t.q_normed, t.q_heads), t.q_rotary, first) &&
         turned_by_positions(s, before_rotation(s, t.k_normed, t.k_heads), t.k_rotary, past);
}

bool every_pair_rotated(See s) {
  return rotated(s) && 2 * static_cast<Index>(frequencies(s).size()) == width(s);
}

Row normalised_row(Row row, NormKind kind, double epsilon) {
  const auto count = static_cast<double>(row.size());
  double mean = 0.0;
  for (const double x : row) mean += kind == NormKind::layer ? x / count : 0.0;
  for (double& x : row) x -= mean;
  const double root = std::sqrt(product(row, row) / (kind == NormKind::l2 ? 1.0 : count) + epsilon);
  for (double& x : row) x /= root;
  return row;
}

bool causal_and_no_more(See s) {
  for (Index h = 0; h < s.heads(); ++h) {
    if (!blocked_exactly(s, h, [](Index i, Index j) { return j > i; })) return false;
    for (Index i = 0; i < s.queries(); ++i)
      for (Index j = 0; j <= i; ++j)
        if (s.at(s.t().mask_bias, {0, h, i, j}) != 0.0) return false;
  }
  return s.queries() == s.keys();
}

bool causal_softmax_of(See s, const std::function<Row(Row row, Index position)>& made) {
  const double root = std::sqrt(static_cast<double>(width(s)));
  std::vector<std::vector<Row>> k(static_cast<std::size_t>(groups(s)));
  for (Index g = 0; g < groups(s); ++g)
    for (Index j = 0; j < s.keys(); ++j)
      k[static_cast<std::size_t>(g)].push_back(made(row_of(s, s.t().k_heads, g, j), j));
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i) {
      const Row q = made(row_of(s, s.t().q_heads, h, i), i);
      const std::vector<Row>& keys = k[static_cast<std::size_t>(h / (s.heads() / groups(s)))];
      Row scores;
      for (Index j = 0; j <= i; ++j) scores.push_back(product(q, keys[static_cast<std::size_t>(j)]) / root);
      const double most = *std::ranges::max_element(scores);
      double sum = 0.0;
      for (double& x : scores) sum += x = std::exp(x - most);
      for (Index j = 0; j < s.keys(); ++j) {
        const double expected = j > i ? 0.0 : scores[static_cast<std::size_t>(j)] / sum;
        if (!same(s.at(s.t().attn_weights, {0, h, i, j}), expected, 3e-3)) return false;
      }
    }
  return true;
}

bool splits(See s) {
  const Index i = last_query(s), d = width(s);
  for (Index h = 0; h < s.heads(); ++h)
    for (Index c = 0; c < d; ++c)
      if (!same(s.at(s.t().q, {0, i, h * d + c}), s.at(s.t().q_heads, {0, h, i, c}))) return false;
  return module(s);
}

bool joins(See s) {
  const TraceTensors& t = s.t();
  const Index i = last_query(s), dv = value_width(s);
  for (Index h = 0; h < s.heads(); ++h)
    for (Index c = 0; c < dv; ++c)
      if (!same(s.at(t.concat, {0, i, h * dv + c}), s.head_output(h, i, c))) return false;
  for (Index c = 0; c < s.size(t.output, 2); ++c)
    if (!same(s.at(t.output, {0, i, c}), s.output(i, c))) return false;
  return module(s) && s.size(t.concat, 2) == s.heads() * dv;
}

double gate_number(See s, Index query, Index column) {
  const TensorPtr& weight = s.t().output_gate_weight;
  double sum = s.t().output_gate_bias ? s.at(s.t().output_gate_bias, {column}) : 0.0;
  for (Index c = 0; c < s.size(weight, 1); ++c)
    sum += s.at(s.t().query, {0, query, c}) * s.at(weight, {column, c});
  return sum;
}

bool gated(See s) {
  const TraceTensors& t = s.t();
  const bool by_head = s.size(t.output_gate_weight, 0) == s.heads();
  for (Index i = 0; i < s.queries(); ++i)
    for (Index c = 0; c < s.size(t.concat, 2); ++c) {
      const double open = 1.0 / (1.0 + std::exp(-gate_number(s, i, by_head ? c / value_width(s) : c)));
      if (!same(s.at(t.gated_concat, {0, i, c}), s.at(t.concat, {0, i, c}) * open)) return false;
    }
  return module(s) && has(t.gated_concat);
}

double sink(See s) {  // of head 0
  return s.at(s.t().sinks, {0});
}

// ln Σ exp of a row of masked scores of head 0.
double log_sum(See s, Index query) {
  double most = -INFINITY, sum = 0.0;
  for (const double x : s.masked_row(0, query)) most = std::max(most, x);
  for (const double x : s.masked_row(0, query)) sum += std::exp(x - most);
  return most + std::log(sum);
}

// What the sink of head 0 takes of a row: exp(s) over all that is below the line.
double taken(See s, Index query) {
  return 1.0 / (1.0 + std::exp(log_sum(s, query) - sink(s)));
}

// Whether a row of head 0 is exp of its scores over their sum with exp(s), its output made of values alone.
bool sinks_in(See s, Index query) {
  const double below = std::exp(sink(s)) + std::exp(log_sum(s, query));
  for (Index j = 0; j < s.keys(); ++j)
    if (!same(s.at(s.t().attn_weights, {0, 0, query, j}), std::exp(s.masked(0, query, j)) / below))
      return false;
  for (Index c = 0; c < value_width(s); ++c)
    if (!same(s.at(s.t().head_output, {0, 0, query, c}), s.head_output(0, query, c))) return false;
  return has(s.t().sinks) && !s.is_frozen(0);
}

}  // namespace headwise::lessons_test
