// The claims of the lesson on what changed since 2017: of its pages from the cap on the scores on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/attention/score_path.h"
#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/since_measures.h"

namespace headwise::lessons_test {
namespace {

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
    if (s.says(key(s, j)) && same(s.score(0, last_query(s), j), s.score(0, last_query(s), best), 1e-5))
      return true;
  return false;
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

bool as_in_qwen3(See s) {
  const auto made = [&](Row row, Index position) {
    return turned(s, normalised_row(std::move(row), NormKind::rms, 1e-6), static_cast<double>(position), 1.0);
  };
  return no_position_added(s) && groups(s) < s.heads() && !has(s.t().in_proj_bias) &&
         !has(s.t().out_proj_bias) && s.options().rotary_pairs == RotaryPairs::halves &&
         every_pair_rotated(s) && !window_of(s.options()).bounds() && causal_and_no_more(s) &&
         causal_softmax_of(s, made) && splits(s) && joins(s);
}

bool as_in_qwen3_next(See s) {
  return as_in_qwen3(s) && gated(s) && !has(s.t().sinks);
}

bool over_the_root_of_width(See s) {
  for (Index j = 0; j < s.keys(); ++j) {
    const double expected = s.score(0, last_query(s), j) / std::sqrt(static_cast<double>(width(s)));
    if (!same(s.at(s.t().scaled_scores, {0, 0, -1, j}), expected)) return false;
    if (!same(s.at(s.t().attn_weights, {0, 0, -1, j}), s.weight(0, last_query(s), j))) return false;
  }
  return !s.options().alibi && !window_of(s.options()).bounds() && s.options().frozen_heads.empty();
}

// The one open key of the first row of head 0; NaN unless there is one, and no other is NaN.
double only_score(See s) {
  double x = NAN;
  for (const double of_key : s.masked_row(0, 0)) {
    if (of_key == -INFINITY) continue;
    if (!std::isnan(x) || !std::isfinite(of_key)) return NAN;
    x = of_key;
  }
  return x;
}

// A plain softmax times σ(lse − s) gives the weights of the last row of head 0.
bool plain_softmax_times_a_factor(See s) {
  const Index i = last_query(s);
  const double lse = log_sum(s, i), left = 1.0 / (1.0 + std::exp(sink(s) - lse));
  for (Index j = 0; j < s.keys(); ++j) {
    const double plain = std::exp(s.masked(0, i, j) - lse);
    if (!same(s.at(s.t().attn_weights, {0, 0, i, j}), plain * left)) return false;
  }
  return s.says(left) && s.says(lse) && s.says(s.weights_sum(0, i, 0, s.keys()));
}

double largest_of_last_row(See s) {  // of the masked scores of head 0
  const std::vector<double>& row = s.masked_row(0, last_query(s));
  return row.empty() ? NAN : *std::ranges::max_element(row);
}

bool names_the_largest_of_last_row(See s) {
  for (Index j = 0; j < s.keys(); ++j)
    if (same(s.masked(0, last_query(s), j), largest_of_last_row(s), 1e-5) && s.says(key(s, j))) return true;
  return false;
}

bool names_rows_0_and_5(See s) {
  return s.says(fmt::format("'{}' and '{}'", word(s.inputs.labels.query, 0), word(s.inputs.labels.query, 5)));
}

}  // namespace

std::vector<PageClaim> since_softmax_claims() {
  return {
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
      {"The dot product of two such rows is at most ",
       [](See s) {
         const auto d = static_cast<double>(width(s));
         const double q = longest_row(s, queries_of_scores(s.t(), s.options())),
                      k = longest_row(s, keys_of_scores(s.t(), s.options()));
         return q * k < 1.005 * d && near(q * k, d, 0.01) && largest_scaled(s) < 1.005 * std::sqrt(d) &&
                s.says(largest_scaled(s)) && says_count(s, width(s));
       }},
      {"A W_q ten times as large", ten_times_the_queries_score_the_same},
      {", with its bias,", [](See s) { return has(s.t().in_proj_bias); }},
      // A head that may look at nothing: a sink
      {" sees one key, and its masked score is x = ",
       [](See s) {
         return s.says(only_score(s)) && s.says(fmt::format("'{}'", word(s.inputs.labels.query, 0)));
       }},
      {" has one score more, s = ",
       [](See s) { return s.says(sink(s)) && sinks_in(s, 0) && s.size(s.t().masked_scores, 3) == s.keys(); }},
      {"No sink is set here", [](See s) { return !has(s.t().sinks); }},
      {"To exp(x) / (exp(x) + exp(s)) = ",
       [](See s) {
         return s.says(1.0 / (1.0 + std::exp(sink(s) - only_score(s)))) && s.says(taken(s, 0)) &&
                sinks_in(s, 0);
       }},
      {" The sink takes ",
       [](See s) { return s.says(s.weights_sum(0, 0, 0, s.keys())) && s.says(taken(s, 0)) && sinks_in(s, 0); }},
      {"every term of the sum in the denominator belongs to a key",
       [](See s) { return !has(s.t().sinks) && !s.is_frozen(0) && sums_to_one(s, 0, 0); }},
      {"That is σ(lse − s)", plain_softmax_times_a_factor},
      // No map in memory: the log-sum-exp
      {"In the last row of head 0, lse is ",
       [](See s) {
         return s.says(log_sum(s, last_query(s))) && s.says(largest_of_last_row(s)) &&
                names_the_largest_of_last_row(s);
       }},
      {": exp(x − lse), with x − lse = ",
       [](See s) {
         const double x = largest_of_last_row(s), lse = log_sum(s, last_query(s));
         return same(s.largest_weight(0, last_query(s)), std::exp(x - lse)) && s.says(std::exp(x - lse)) &&
                says_difference(s, x, lse);
       }},
      {"Here a head's map has ",
       [](See s) {
         return says_count(s, s.queries() * s.keys()) && says_count(s, s.queries()) &&
                s.size(s.t().lse, 2) == s.queries();
       }},
      // A gate after the heads
      {"', are equal.", [](See s) { return apart(s, s.t().query) == 0 && names_rows_0_and_5(s); }},
      {"', differ.", [](See s) { return apart(s, s.t().query) > 0 && names_rows_0_and_5(s); }},
      {"The sink is gone", [](See s) { return !has(s.t().sinks); }},
      {"each number of concat is multiplied by", [](See s) { return gated(s) && !has(s.t().output_gate_bias); }},
      {"No gate is set here", [](See s) { return !has(s.t().gated_concat); }},
      {"In output_gate: g is made ",
       [](See s) {
         for (Index c = 0; c < s.size(s.t().output_gate, 2); ++c)
           for (const Index i : {Index{0}, Index{5}})
             if (!same(s.at(s.t().output_gate, {0, i, c}), gate_number(s, i, c))) return false;
         return apart(s, s.t().output_gate) == 0 && apart(s, s.t().query) == 0 &&
                s.says(apart(s, s.t().concat)) && s.says(apart(s, s.t().gated_concat));
       }},
      {"In output_gate they differ, ",
       [](See s) {
         return apart(s, s.t().output_gate) > 0 && s.says(apart(s, s.t().output_gate)) &&
                s.says(apart(s, s.t().gated_concat));
       }},
      {" of the number passes",
       [](See s) {
         const double g = gate_number(s, 5, 0);
         return s.says(g) && says_result(s, 1.0 / (1.0 + std::exp(-g))) && gated(s);
       }},
      {"a gate near 0 silences a head without touching the softmax",
       [](See s) { return gated(s) && sums_to_one(s, 0, last_query(s)); }},
      {"a fifth matrix, W_g, here ",
       [](See s) {
         const TensorPtr& w = s.t().output_gate_weight;
         return s.says(fmt::format("({},{})", s.size(w, 0), s.size(w, 1)));
       }},
      // What is left of the paper?
      {"this is how a layer of Qwen3 attends", [](See s) { return as_in_qwen3(s) && !has(s.t().gated_concat); }},
      {"this is how a layer of Qwen3-Next with a softmax attends", as_in_qwen3_next},
      {" heads of queries share ",
       [](See s) { return groups(s) < s.heads() && says_count(s, s.heads()) && says_count(s, groups(s)); }},
      {"Here each head has its own keys", [](See s) { return groups(s) == s.heads(); }},
      {"No position is added to the inputs", no_position_added},
      {"Norm gives the rows of q and k the same length",
       [](See s) { return one_length(s, s.t().q_normed) && one_length(s, s.t().k_normed) && rotated(s); }},
      {"stands between concat and W_O", gated},
      {"The rest is as in 2017",
       [](See s) {
         return over_the_root_of_width(s) && joins(s) && s.says(s.weights_sum(0, last_query(s), 0, s.keys()));
       }},
  };
}

}  // namespace headwise::lessons_test
