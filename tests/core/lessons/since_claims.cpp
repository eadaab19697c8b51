// The claims of the lesson on what changed since 2017.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/attention/score_path.h"
#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/page_measures.h"

namespace headwise::lessons_test {
namespace {

using Row = std::vector<double>;

// Numbers that are not finite claim nothing.
bool same(double a, double b, double share = 1e-3) {
  if (!std::isfinite(a) || !std::isfinite(b)) return true;
  return std::abs(a - b) <= share * std::max({1.0, std::abs(a), std::abs(b)});
}

bool says_count(See s, Index count) {
  return s.says(fmt::format("{}", count));
}

// A number of an expression: without digits after the point if it is whole.
bool says_result(See s, double number) {
  const bool whole = std::abs(number - std::round(number)) <= 1e-5 * std::abs(number);
  return s.says(number) || (whole && s.says(fmt::format("{:.0f}", number)));
}

Index last_query(See s) {
  return s.queries() - 1;
}

// The row of a query or key, of batch 0; of a tensor without heads if `head` is −1.
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

// The largest difference of rows 0 and 5; NaN if one is missing.
double apart(See s, const TensorPtr& tensor, Index head = -1) {
  const Row a = row_of(s, tensor, head, 0), b = row_of(s, tensor, head, 5);
  double most = a.empty() ? NAN : 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double difference = a[c] == b[c] ? 0.0 : std::abs(a[c] - b[c]);
    if (std::isnan(difference) || difference > most) most = difference;
  }
  return most;
}

std::string lower(std::string word) {
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return word;
}

bool same_words(See s) {
  const std::vector<std::string>& words = s.inputs.labels.query;
  return words.size() > 5 && lower(words[0]) == lower(words[5]);
}

bool no_position_added(See s) {
  return !s.scenario.inputs.positions && s.scenario.inputs.source == InputSource::text && !s.inputs.model_input;
}

// What the positions add are pairs of a sine and a cosine, in columns that are 0 without them.
bool adds_waves(See s) {
  Scenario without = s.scenario;
  without.inputs.positions = false;
  const TensorPtr words = make_scenario_inputs(without, DType::f32).attention.tensors.query;
  std::vector<Index> added;
  for (Index c = 0; c < s.size(s.t().query, 2); ++c) {
    bool differs = false, empty = true;
    for (Index i = 0; i < s.queries(); ++i) {
      differs = differs || s.at(s.t().query, {0, i, c}) != s.at(words, {0, i, c});
      empty = empty && s.at(words, {0, i, c}) == 0.0;
    }
    if (differs && !empty) return false;
    if (differs) added.push_back(c);
  }
  for (std::size_t pair = 0; pair + 1 < added.size(); pair += 2)
    for (Index i = 0; i < s.queries(); ++i) {
      const double sine = s.at(s.t().query, {0, i, added[pair]});
      const double cosine = s.at(s.t().query, {0, i, added[pair + 1]});
      if (!near(sine * sine + cosine * cosine, 1.0) || (i == 0 && sine != 0.0)) return false;
    }
  return added.size() > 1 && added.size() % 2 == 0;
}

// Whether another seed makes other weights.
bool random_weights(See s) {
  Scenario reseeded = s.scenario;
  ++reseeded.parameters.seed;
  const TraceTensors other = make_scenario_inputs(reseeded, DType::f32).attention.tensors;
  const TensorPtr &a = s.t().in_proj_weight ? s.t().in_proj_weight : s.t().q_proj_weight,
                  &b = other.in_proj_weight ? other.in_proj_weight : other.q_proj_weight;
  Index differ = 0;
  for (Index i = 0; a && b && i < std::min(a->size(), b->size()); ++i) differ += a->flat(i) != b->flat(i);
  return a && b && 2 * differ > a->size();
}

Row frequencies(See s) {
  if (!s.options().rotary_base) return s.options().rotary_inverse_frequencies;
  const auto d = static_cast<double>(width(s));
  Row of;
  for (Index j = 0; j < width(s) / 2; ++j)
    of.push_back(std::pow(*s.options().rotary_base, -2.0 * static_cast<double>(j) / d));
  return of;
}

// The row, with each pair of columns turned by its angle at this position.
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

// Whether q and k are rotated by their positions.
bool rotated(See s) {
  const TraceTensors& t = s.t();
  const Row of = frequencies(s);
  const bool at_the_end = s.options().causal_alignment == CausalAlignment::bottom_right;
  const Index first = at_the_end ? s.size(t.k_rotary, 2) - s.size(t.q_rotary, 2) : 0;
  return !of.empty() && std::ranges::all_of(of, [](double f) { return f > 0.0; }) &&
         turned_by_positions(s, before_rotation(s, t.q_normed, t.q_heads), t.q_rotary, first) &&
         turned_by_positions(s, before_rotation(s, t.k_normed, t.k_heads), t.k_rotary, 0);
}

bool every_pair_rotated(See s) {
  return rotated(s) && 2 * static_cast<Index>(frequencies(s).size()) == width(s);
}

// Whether the scores of head 0 follow from the rows before the rotation and the distance alone.
bool only_distance_is_left(See s) {
  const TensorPtr &q = before_rotation(s, s.t().q_normed, s.t().q_heads),
                  &k = before_rotation(s, s.t().k_normed, s.t().k_heads);
  if (s.options().qk_norm == QkNorm::per_head_after_rotary) return near(s.score(0, 0, 0), s.score(0, 5, 5));
  const double squared = s.options().rotary_factor * s.options().rotary_factor;
  for (Index i = 0; i < s.queries(); ++i)
    for (Index j = 0; j < s.keys(); ++j) {
      const Row at_distance = turned(s, row_of(s, q, 0, i), static_cast<double>(i - j), squared);
      if (!same(product(at_distance, row_of(s, k, 0, j)), s.score(0, i, j))) return false;
    }
  return near(s.score(0, 0, 0), s.score(0, 5, 5));
}

// What a cache keeps of one token.
Index cached(See s) {
  return groups(s) * (s.size(s.t().k_heads, 3) + s.size(s.t().v_heads, 3));
}

std::string shape_of_keys(See s) {
  const TensorPtr& k = s.t().k_heads;
  return fmt::format("({},{},{},{})", s.size(k, 0), s.size(k, 1), s.size(k, 2), s.size(k, 3));
}

Index parameters_of(const TraceTensors& tensors) {
  Index count = 0;
  for (const TensorEntry& entry : tensor_entries())
    if (const TensorPtr& tensor = tensors.*entry.member;
        tensor && entry.role == TensorRole::parameter && entry.id != TensorId::head_gain)
      count += tensor->size();
  return count;
}

Index parameters_without_sharing(See s) {
  Scenario own_keys = s.scenario;
  own_keys.attention.num_kv_heads.reset();
  return parameters_of(make_scenario_inputs(own_keys, DType::f32).attention.tensors);
}

// Whether neighbours take their scores from one head of keys.
bool neighbours_share(See s) {
  for (Index h = 0; h < s.heads(); ++h)
    for (Index j = 0; j < s.keys(); ++j)
      if (!same(s.score(h, last_query(s), j), s.at(s.t().scores, {0, h, -1, j}))) return false;
  return s.size(s.t().attn_weights, 1) == s.heads();
}

Index open_pairs(See s) {
  Index count = 0;
  for (Index i = 0; i < s.queries(); ++i) count += open_keys(s, 0, i);
  return count;
}

Index first_open_key(See s) {
  Index j = 0;
  while (j + 1 < s.keys() && s.blocked(0, last_query(s), j)) ++j;
  return j;
}

// The keys that are not appended.
Index own_keys(See s) {
  return module(s) ? s.size(s.t().key, 1) : s.keys();
}

// Of a batch without sequences, every key.
bool far_keys_blocked(See s, Index distance) {
  for (Index i = 0; i < s.queries(); ++i)
    for (Index j = 0; j < own_keys(s); ++j)
      if (std::abs(i - j) >= distance && !s.blocked(0, i, j)) return s.size(s.t().scores, 0) == 0;
  return true;
}

// No weight comes from farther away, in any head.
bool carried_at_most(See s, Index places) {
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i)
      for (Index j = 0; j < own_keys(s); ++j)
        if (std::abs(i - j) > places && s.weight(h, i, j) > 0.0) return false;
  return true;
}

double largest(See s, double (SeenPage::*score)(Index, Index, Index) const, const TensorPtr& of_other_batches) {
  double most = -INFINITY;
  const auto take = [&](double x) {
    if (std::isnan(x) || x > most) most = x;
  };
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i)
      for (Index j = 0; j < s.keys(); ++j) take((s.*score)(h, i, j));
  for (Index at = s.heads() * s.queries() * s.keys(); at < of_other_batches->size(); ++at)
    take(of_other_batches->flat(at));
  return most;
}

double largest_x(See s) {  // before the cap
  return largest(s, &SeenPage::score, s.t().scores) * scale(s);
}

double largest_scaled(See s) {
  return largest(s, &SeenPage::scaled, s.t().scaled_scores);
}

// The cap leaves the last row of head 0 in its order; its largest is that of the key that is named.
bool keeps_the_order(See s) {
  Index best = 0;
  for (Index a = 0; a < s.keys(); ++a) {
    if (s.score(0, last_query(s), a) > s.score(0, last_query(s), best)) best = a;
    for (Index b = 0; b < s.keys(); ++b) {
      const double before = s.score(0, last_query(s), a) - s.score(0, last_query(s), b);
      if (before > 1e-3 && s.scaled(0, last_query(s), a) <= s.scaled(0, last_query(s), b)) return false;
    }
  }
  for (Index j = 0; j < s.keys(); ++j)
    if (s.says(key(s, j)) && same(s.score(0, last_query(s), j), s.score(0, last_query(s), best), 1e-5)) return true;
  return false;
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

// Whether the rows of q and k of each head are normalised so, up to learned weights.
bool rows_normalised(See s, NormKind kind, double epsilon) {
  const TraceTensors& t = s.t();
  const auto are = [&](const TensorPtr& heads, const TensorPtr& rotary, const TensorPtr& normed, bool weighted) {
    const bool after = s.options().qk_norm == QkNorm::per_head_after_rotary && rotary;
    for (Index h = 0; h < s.size(normed, 1) && !weighted; ++h)
      for (Index i = 0; i < s.size(normed, 2); ++i) {
        const Row is = row_of(s, normed, h, i);
        const Row expected = normalised_row(row_of(s, after ? rotary : heads, h, i), kind, epsilon);
        for (std::size_t c = 0; c < is.size(); ++c)
          if (!same(is[c], expected[c], 5e-3)) return false;
      }
    return normed && normed->shape().rank() == 4;
  };
  return are(t.q_heads, t.q_rotary, t.q_normed, has(t.q_norm_weight)) &&
         are(t.k_heads, t.k_rotary, t.k_normed, has(t.k_norm_weight));
}

double longest_row(See s, const TensorPtr& tensor) {
  double most = 0.0;
  for (Index h = 0; h < s.size(tensor, 1); ++h)
    for (Index i = 0; i < s.size(tensor, 2); ++i) most = std::max(most, length(row_of(s, tensor, h, i)));
  return most;
}

// Whether all rows of all heads are equally long.
bool one_length(See s, const TensorPtr& tensor) {
  for (Index h = 0; h < s.size(tensor, 1); ++h)
    for (Index i = 0; i < s.size(tensor, 2); ++i) {
      const double is = length(row_of(s, tensor, h, i));
      if (std::isfinite(is) && !near(is, longest_row(s, tensor), 5e-3)) return false;
    }
  return s.size(tensor, 1) > 0;
}

TensorPtr first_rows_times_ten(const TensorPtr& tensor, Index rows) {
  if (!tensor) return nullptr;
  Tensor larger(*tensor);
  const Index columns = tensor->shape().rank() > 1 ? tensor->shape().size(1) : 1;
  for (Index i = 0; i < rows * columns; ++i) larger.set_flat(i, 10.0 * larger.flat(i));
  return std::make_shared<const Tensor>(std::move(larger));
}

bool ten_times_the_queries_score_the_same(See s) {
  AttentionInputs inputs = s.inputs.attention;
  TraceTensors& t = inputs.tensors;
  const Index rows = s.heads() * width(s);
  t.in_proj_weight = first_rows_times_ten(t.in_proj_weight, rows);
  t.q_proj_weight = first_rows_times_ten(t.q_proj_weight, rows);
  t.in_proj_bias = first_rows_times_ten(t.in_proj_bias, rows);
  const TracePtr other = reference_forward(inputs);
  const Tensor &before = *s.t().scaled_scores, &after = *other->tensors.scaled_scores;
  const Tensor &q = *s.t().q, &larger = *other->tensors.q;
  for (Index i = 0; i < q.size(); ++i)
    if (!same(10.0 * q.flat(i), larger.flat(i))) return false;
  for (Index i = 0; i < before.size(); ++i)
    if (!same(before.flat(i), after.flat(i), 5e-3)) return false;
  return before.size() == after.size();
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

// The weights are those of softmax(q·kᵀ/√D) under a causal mask, with q and k made of the heads' rows.
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

// Whether the last row of q is split into heads, and nothing more.
bool splits(See s) {
  const Index i = last_query(s), d = width(s);
  for (Index h = 0; h < s.heads(); ++h)
    for (Index c = 0; c < d; ++c)
      if (!same(s.at(s.t().q, {0, i, h * d + c}), s.at(s.t().q_heads, {0, h, i, c}))) return false;
  return module(s);
}

// The weighted sum, concat and W_O, in the last row.
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

bool as_in_2017(See s) {
  return groups(s) == s.heads() && s.heads() > 1 && causal_and_no_more(s) &&
         causal_softmax_of(s, [](Row row, Index) { return row; }) && splits(s) && joins(s);
}

bool as_in_qwen3(See s) {
  const auto made = [&](Row row, Index position) {
    return turned(s, normalised_row(std::move(row), NormKind::rms, 1e-6), static_cast<double>(position), 1.0);
  };
  return no_position_added(s) && groups(s) < s.heads() && !has(s.t().in_proj_bias) &&
         !has(s.t().out_proj_bias) && s.options().rotary_pairs == RotaryPairs::halves &&
         every_pair_rotated(s) && !s.options().sliding_window && causal_and_no_more(s) &&
         causal_softmax_of(s, made) && splits(s) && joins(s);
}

bool over_the_root_of_width(See s) {
  for (Index j = 0; j < s.keys(); ++j) {
    const double expected = s.score(0, last_query(s), j) / std::sqrt(static_cast<double>(width(s)));
    if (!same(s.at(s.t().scaled_scores, {0, 0, -1, j}), expected)) return false;
    if (!same(s.at(s.t().attn_weights, {0, 0, -1, j}), s.weight(0, last_query(s), j))) return false;
  }
  return !s.options().alibi && !s.options().sliding_window && s.options().frozen_heads.empty();
}

}  // namespace

std::vector<PageClaim> since_claims() {
  return {
      // The layer of the paper
      {"Tokens 0 and 5 are the same word", same_words},
      {" is token 0, '",
       [](See s) {
         return s.says(fmt::format("'{}' is token 0", word(s.inputs.labels.query, 0))) &&
                s.says(fmt::format("'{}' token 5", word(s.inputs.labels.query, 5)));
       }},
      {"No: they differ, by up to ",
       [](See s) { return apart(s, s.t().query) > 0 && s.says(apart(s, s.t().query)); }},
      {"as waves of sine and cosine", [](See s) { return same_words(s) && adds_waves(s); }},
      {"Yes, they are equal", [](See s) { return apart(s, s.t().query) == 0; }},
      {", as no position is added", [](See s) { return no_position_added(s) && same_words(s); }},
      {"as a decoder of 2017 has it", [](See s) { return as_in_2017(s) && says_count(s, s.heads()); }},
      {"Its parameters are random", random_weights},
      // Positions: rotated, not added
      {"No position is added any more; q and k are rotated",
       [](See s) { return no_position_added(s) && rotated(s); }},
      {"In q_rotary, by up to ",
       [](See s) {
         return apart(s, s.t().q) == 0 && apart(s, s.t().q_heads, 0) == 0 &&
                apart(s, s.t().q_rotary, 0) > 0 && s.says(apart(s, s.t().q_rotary, 0));
       }},
      {"In query, by up to ", [](See s) { return apart(s, s.t().query) > 0 && s.says(apart(s, s.t().query)); }},
      {"each pair of columns is turned by an angle that grows", every_pair_rotated},
      {"The rotation changes no length",
       [](See s) {
         for (Index h = 0; h < s.heads(); ++h)
           for (Index i = 0; i < s.queries(); ++i) {
             const double before = length(row_of(s, s.t().q_heads, h, i));
             if (std::isfinite(before) && !near(before, length(row_of(s, s.t().q_rotary, h, i))))
               return false;
           }
         return rotated(s) && says_result(s, length(row_of(s, s.t().q_heads, 0, 5))) &&
                says_result(s, length(row_of(s, s.t().q_rotary, 0, 5)));
       }},
      {"Of two positions only the distance is left",
       [](See s) {
         return same_words(s) && rotated(s) && only_distance_is_left(s) && s.says(s.score(0, 5, 5));
       }},
      // Fewer heads of keys and values
      {" heads of queries now share ",
       [](See s) {
         return groups(s) < s.heads() && says_count(s, s.heads()) && says_count(s, groups(s)) &&
                says_count(s, s.heads() * (width(s) + value_width(s)));
       }},
      {"Nothing is shared here. How many", [](See s) { return groups(s) == s.heads(); }},
      {"times smaller, and k_heads is ",
       [](See s) {
         return groups(s) < s.heads() && says_count(s, cached(s)) && says_count(s, s.heads() / groups(s)) &&
                says_count(s, s.heads()) && s.says(shape_of_keys(s)) && neighbours_share(s);
       }},
      {": nothing is shared here, and k_heads is ",
       [](See s) { return groups(s) == s.heads() && says_count(s, cached(s)) && s.says(shape_of_keys(s)); }},
      {"W_k and W_v shrink too: ",
       [](See s) {
         const Index now = parameters_of(s.t()), before = parameters_without_sharing(s);
         return now < before && says_count(s, now) && says_count(s, before);
       }},
      // A window on the past
      {"A causal mask leaves ",
       [](See s) {
         Index left = 0;
         for (Index i = 0; i < s.queries(); ++i) left += std::min(i + 1, s.keys());
         const Index window = s.options().sliding_window.value_or(0);
         return says_count(s, left) && says_count(s, s.queries() * s.keys()) && says_count(s, window) &&
                far_keys_blocked(s, window) && s.options().is_causal;
       }},
      {" or more places away are blocked",
       [](See s) {
         const Index window = s.options().sliding_window.value_or(0);
         return says_count(s, window) && far_keys_blocked(s, window);
       }},
      {"No window is set here", [](See s) { return !s.options().sliding_window; }},
      {" keys, '",
       [](See s) {
         return s.says(key(s, first_open_key(s))) && s.says(key(s, -1)) && first_open_key(s) < last_query(s) &&
                says_count(s, s.keys() - first_open_key(s)) &&
                open_keys(s, 0, last_query(s)) == s.keys() - first_open_key(s);
       }},
      {"itself alone", [](See s) { return open_keys(s, 0, last_query(s)) == 1 && !s.blocked(0, last_query(s), last_query(s)); }},
      {": the last query sees ",
       [](See s) { return says_count(s, open_pairs(s)) && fill(s) == -INFINITY && !s.is_frozen(0); }},
      {" pairs are not blocked, and ",
       [](See s) {
         return says_count(s, open_pairs(s)) && says_count(s, s.queries() * s.keys()) &&
                says_count(s, open_keys(s, 0, last_query(s))) && says_count(s, s.keys());
       }},
      {"each layer carries a word up to ",
       [](See s) {
         const Index places = s.options().sliding_window.value_or(1) - 1;
         return places > 0 && says_count(s, places) && carried_at_most(s, places);
       }},
      // Scores that cannot run away: a cap
      {"The largest score, scaled, is x = ", [](See s) { return says_result(s, largest_x(s)); }},
      {"Now it becomes c·tanh(x/c)",
       [](See s) { return s.options().softcap > 0 && s.says(fmt::format("{}", s.options().softcap)); }},
      {"and no cap c is set", [](See s) { return s.options().softcap == 0; }},
      {", less than c",
       [](See s) { return s.says(largest_scaled(s)) && largest_scaled(s) < s.options().softcap; }},
      {", although x is larger",
       [](See s) { return s.options().softcap > 0 && largest_x(s) > s.options().softcap; }},
      {": nothing is capped", [](See s) { return s.options().softcap == 0 && s.says(largest_x(s)); }},
      {"The order stays: ", [](See s) { return s.options().softcap > 0 && keeps_the_order(s); }},
      {"; untrained scores are small",
       [](See s) {
         return !s.inputs.layer && std::abs(largest_x(s)) < 0.11 * 50 &&
                s.says(fmt::format("{}", s.options().softcap));
       }},
      // Scores that cannot run away: QK-norm
      {"No cap now: each", [](See s) { return s.options().softcap == 0; }},
      {"is divided by the root of its mean square",
       [](See s) { return rows_normalised(s, NormKind::rms, 0.0) && says_count(s, width(s)); }},
      {" numbers, is normalised",
       [](See s) {
         return rows_normalised(s, s.options().qk_norm_kind, s.options().qk_norm_epsilon) &&
                says_count(s, width(s));
       }},
      {", the root of ",
       [](See s) {
         const double is = length(row_of(s, s.t().q_normed, 0, 8));
         return near(is * is, static_cast<double>(width(s)), 5e-3) && says_result(s, is) &&
                says_count(s, width(s));
       }},
      {"Before, row 8 was ",
       [](See s) {
         return says_result(s, length(row_of(s, s.t().q_heads, 0, 8))) &&
                says_result(s, length(row_of(s, s.t().q_heads, 0, 0))) &&
                s.options().qk_norm == QkNorm::per_head;
       }},
      {"(Learned weights follow; here they are 1.)",
       [](See s) { return !has(s.t().q_norm_weight) && !has(s.t().k_norm_weight); }},
      {"The product of two such rows is at most ",
       [](See s) {
         const auto d = static_cast<double>(width(s));
         const double q = longest_row(s, queries_of_scores(s.t(), s.options())),
                      k = longest_row(s, keys_of_scores(s.t(), s.options()));
         return q * k < 1.005 * d && near(q * k, d, 0.01) && largest_scaled(s) < 1.005 * std::sqrt(d) &&
                s.says(largest_scaled(s)) && says_count(s, width(s));
       }},
      {"A W_q ten times as large", ten_times_the_queries_score_the_same},
      {", with its bias,", [](See s) { return has(s.t().in_proj_bias); }},
      // What is left of the paper?
      {"this is how a layer of Qwen3 attends", as_in_qwen3},
      {" heads of queries share ",
       [](See s) { return groups(s) < s.heads() && says_count(s, s.heads()) && says_count(s, groups(s)); }},
      {"Here each head has its own keys", [](See s) { return groups(s) == s.heads(); }},
      {"No position is added to the inputs", no_position_added},
      {"Norm gives the rows of q and k one length",
       [](See s) { return one_length(s, s.t().q_normed) && one_length(s, s.t().k_normed) && rotated(s); }},
      {"The rest is as in 2017",
       [](See s) {
         return over_the_root_of_width(s) && joins(s) && s.says(s.weights_sum(0, last_query(s), 0, s.keys()));
       }},
  };
}

}  // namespace headwise::lessons_test
