#include "tests/core/lessons/seen_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/score_path.h"
#include "core/lessons/operation_counts.h"

namespace headwise::lessons_test {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

}  // namespace

Index SeenPage::size(const TensorPtr& tensor, Index axis) const {
  return tensor && axis < tensor->shape().rank() ? tensor->shape().size(axis) : 0;
}

std::optional<Index> SeenPage::offset(const TensorPtr& tensor, std::vector<Index> index) const {
  if (!tensor || static_cast<Index>(index.size()) != tensor->shape().rank()) return std::nullopt;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const Index most = tensor->shape().size(static_cast<Index>(axis));
    if (index[axis] < 0) index[axis] += most;
    if (index[axis] < 0 || index[axis] >= most) return std::nullopt;
  }
  return tensor->shape().offset(index);
}

double SeenPage::at(const TensorPtr& tensor, std::vector<Index> index) const {
  const std::optional<Index> cell = offset(tensor, std::move(index));
  return cell ? tensor->flat(*cell) : none;
}

Index SeenPage::queries() const {
  return size(t().scores, 2);
}
Index SeenPage::keys() const {
  return size(t().scores, 3);
}

bool SeenPage::is_frozen(Index head) const {
  return std::ranges::count(options().frozen_heads, head) > 0;
}

double SeenPage::score(Index head, Index query, Index key) const {
  const TensorPtr &q = queries_of_scores(t(), options()), &k = keys_of_scores(t(), options());
  const Index of_key = head / (heads() / size(k, 1));
  if (size(q, 0) == 0 || query >= size(q, 2) || key >= size(k, 2)) return none;
  double sum = 0.0;
  std::vector<Index> of_q{0, head, query, 0}, of_k{0, of_key, key, 0};
  for (Index c = 0; c < size(q, 3); ++c) {
    of_q[3] = of_k[3] = c;
    sum += q->at(of_q) * k->at(of_k);
  }
  return sum;
}

double SeenPage::scaled(Index head, Index query, Index key) const {
  const double scale = options().scale.value_or(1.0 / std::sqrt(static_cast<double>(size(t().q_heads, 3))));
  const double x = score(head, query, key) * scale / options().temperature, cap = options().softcap;
  return cap > 0.0 ? cap * std::tanh(x / cap) : x;
}

bool SeenPage::blocked(Index head, Index query, Index key) const {
  return at(t().mask_bias, {0, head, query, key}) == -INFINITY;
}

Index SeenPage::blocked_pairs() const {
  if (blocked_count >= 0) return blocked_count;
  Index pairs = 0;
  for (Index i = 0; t().mask_bias && i < t().mask_bias->size(); ++i) {
    const Index s = keys(), l = queries();
    if (t().mask_bias->at({i / (s * l * heads()), i / (s * l) % heads(), i / s % l, i % s}) == -INFINITY)
      ++pairs;
  }
  return blocked_count = pairs;
}

double SeenPage::masked(Index head, Index query, Index key) const {
  if (!t().mask_bias) return scaled(head, query, key);
  if (blocked(head, query, key)) return options().mask_value.value_or(-INFINITY);
  return scaled(head, query, key) + at(t().mask_bias, {0, head, query, key});
}

const std::vector<double>& SeenPage::masked_row(Index head, Index query) const {
  std::vector<double>& row = masked_rows[{head, query}];
  for (Index j = static_cast<Index>(row.size()); j < keys(); ++j) row.push_back(masked(head, query, j));
  return row;
}

double SeenPage::weight(Index head, Index query, Index key) const {
  if (query < 0) query += queries();
  if (key < 0) key += keys();
  if (head >= heads() || query < 0 || query >= queries() || key < 0 || key >= keys()) return none;
  const auto held = std::ranges::find(options().frozen_heads, head);
  if (held != options().frozen_heads.end())
    return at(t().frozen_weights, {0, held - options().frozen_heads.begin(), query, key});
  std::vector<double>& row = weight_rows[{head, query}];
  if (row.empty()) {
    const double sink = t().sinks ? at(t().sinks, {head}) : -INFINITY;
    double most = sink;
    for (const double x : masked_row(head, query)) most = larger(x, most);
    double sum = t().sinks ? std::exp(sink - most) : 0.0;
    for (const double x : masked_row(head, query)) sum += std::exp(x - most);
    const bool zeros = most == -INFINITY && options().fully_masked_rows == FullyMaskedRows::zero;
    for (const double x : masked_row(head, query)) row.push_back(zeros ? 0.0 : std::exp(x - most) / sum);
  }
  return row[static_cast<std::size_t>(key)];
}

double SeenPage::weights_sum(Index head, Index query, Index from, Index to) const {
  double sum = 0.0;
  for (Index j = from; j < to; ++j) sum += weight(head, query, j);
  return sum;
}

double SeenPage::largest_weight(Index head, Index query) const {
  double most = -INFINITY;
  for (Index j = 0; j < keys(); ++j) most = larger(weight(head, query, j), most);
  return most;
}

double SeenPage::smallest_weight(Index head, Index query) const {
  double least = INFINITY;
  for (Index j = 0; j < keys(); ++j) least = -larger(-weight(head, query, j), -least);
  return least;
}

double SeenPage::head_output(Index head, Index query, Index column) const {
  double sum = 0.0;
  const Index of_value = head / (heads() / size(t().v_heads, 1));
  for (Index j = 0; j < keys(); ++j)
    sum += at(t().dropped_weights, {0, head, query, j}) * at(t().v_heads, {0, of_value, j, column});
  return sum;
}

double SeenPage::output(Index query, Index column) const {
  double sum = t().out_proj_bias ? at(t().out_proj_bias, {column}) : 0.0;
  const TensorPtr& joined = t().gated_concat ? t().gated_concat : t().concat;
  const Index terms = size(joined, 2);
  if (terms == 0) return sum;
  const auto row = offset(joined, {0, query, 0}), weights = offset(t().out_proj_weight, {column, 0});
  if (!row || !weights || size(t().out_proj_weight, 1) != terms) return none;
  for (Index c = 0; c < terms; ++c) sum += joined->flat(*row + c) * t().out_proj_weight->flat(*weights + c);
  return sum;
}

double SeenPage::spread(Index products) const {
  if (const auto known = spreads.find(products); known != spreads.end()) return known->second;
  const TensorPtr &q = queries_of_scores(t(), options()), &k = keys_of_scores(t(), options());
  double sum = 0.0, squares = 0.0, count = 0.0;
  for (Index n = 0; n < size(q, 0); ++n)
    for (Index h = 0; h < heads(); ++h)
      for (Index i = 0; i < size(q, 2); ++i)
        for (Index j = 0; j < size(k, 2); ++j) {
          const auto of_q = offset(q, {n, h, i, 0}), of_k = offset(k, {n, h / (heads() / size(k, 1)), j, 0});
          double score = of_q && of_k && products <= size(q, 3) ? 0.0 : none;
          for (Index c = 0; c < products && !std::isnan(score); ++c)
            score += q->flat(*of_q + c) * k->flat(*of_k + c);
          sum += score, squares += score * score, count += 1.0;
        }
  return spreads[products] = std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

bool SeenPage::says(const std::string& word) const {
  const bool is_count = word.size() > 3 && word.find_first_not_of("0123456789") == std::string::npos;
  if (is_count && says(count_text(std::stol(word)))) return true;  // settings are as in a file: 10000
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto is_part = [](char c) { return (c >= '0' && c <= '9') || static_cast<unsigned char>(c) == 0x92; };
    const bool begins = at == 0 || !is_part(text[at - 1]);
    const std::size_t end = at + word.size();
    const bool ends =
        end >= text.size() ||
        !((text[end] >= '0' && text[end] <= '9') ||
          (text[end] == '.' && end + 1 < text.size() && text[end + 1] >= '0' && text[end + 1] <= '9'));
    if (begins && ends) return true;
  }
  return false;
}

bool SeenPage::says(double number) const {
  // The trace's number is rounded to f32: the last digit may be another one.
  for (const double factor : {1.0, 1.0 + 1e-5, 1.0 - 1e-5, 1.0 + 1e-3, 1.0 - 1e-3})
    if (says(live_number(number * factor))) return true;
  return number == 0.0 || std::abs(number) > 1e-4
             ? false
             : says(std::string("0")) || text.find("e−") != std::string::npos;
}

}  // namespace headwise::lessons_test
