// The claims of the questions about conventions: the order of norm and rotation, YaRN's factor, where a gate
// is applied, sinks as a factor, what a window counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/attention/reference_backend.h"
#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/since_measures.h"

namespace headwise::lessons_test {
namespace {

bool rows_of_heads(See s) {
  return s.options().qk_norm == QkNorm::per_head || s.options().qk_norm == QkNorm::per_head_after_rotary;
}

// Whether the rows of q are normalised, before the rotation or after it, without learned weights.
bool queries_normalised(See s) {
  const TraceTensors& t = s.t();
  const TensorPtr& from = s.options().qk_norm == QkNorm::per_head ? t.q_heads : t.q_rotary;
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i) {
      const Row row = row_of(s, from, h, i), is = row_of(s, t.q_normed, h, i);
      const Row expected = normalised_row(row, s.options().qk_norm_kind, s.options().qk_norm_epsilon);
      for (std::size_t c = 0; c < is.size(); ++c)
        if (!same(is[c], expected[c], 5e-3)) return false;
    }
  return has(t.q_normed) && rows_of_heads(s);
}

// The largest share by which a score changes if norm and rotation change places.
double changed_by_the_order(See s) {
  AttentionInputs inputs = s.inputs.attention;
  const bool first = inputs.options.qk_norm == QkNorm::per_head;
  inputs.options.qk_norm = first ? QkNorm::per_head_after_rotary : QkNorm::per_head;
  const TracePtr other = reference_forward(inputs);
  double most = 0.0;
  for (Index i = 0; i < s.t().scores->size(); ++i) {
    const double a = s.t().scores->flat(i), b = other->tensors.scores->flat(i);
    if (std::isfinite(a) && std::isfinite(b))
      most = std::max(most, std::abs(a - b) / std::max({1.0, std::abs(a), std::abs(b)}));
  }
  return most;
}

double length_of_last(See s, const TensorPtr& tensor) {
  return length(row_of(s, tensor, 0, last_query(s)));
}

bool says_length_of_last(See s, const TensorPtr& tensor) {
  return says_result(s, length_of_last(s, tensor));
}

// How many times as long the rotation makes the rows of these heads; NaN if not all the same.
double grown(See s, const TensorPtr& before, const TensorPtr& after) {
  double factor = NAN;
  for (Index h = 0; h < s.size(after, 1); ++h)
    for (Index i = 0; i < s.size(after, 2); ++i) {
      const double of_row = length(row_of(s, after, h, i)) / length(row_of(s, before, h, i));
      if (!std::isfinite(of_row)) continue;
      if (std::isnan(factor)) factor = of_row;
      if (!near(of_row, factor)) return NAN;
    }
  return factor;
}

bool scores_grow_by(See s, double factor) {
  AttentionInputs inputs = s.inputs.attention;
  inputs.options.rotary_factor = 1.0;
  const TracePtr angles = reference_forward(inputs);
  for (Index i = 0; i < s.t().scores->size(); ++i)
    if (!same(s.t().scores->flat(i), factor * angles->tensors.scores->flat(i))) return false;
  return says_result(s, factor);
}

// W_O makes the last row of what comes before it, the gated numbers if there is a gate.
bool output_follows(See s) {
  for (Index c = 0; c < s.size(s.t().output, 2); ++c)
    if (!same(s.at(s.t().output, {0, -1, c}), s.output(last_query(s), c))) return false;
  return module(s);
}

bool gate_is_before_the_output(See s) {
  const Index columns = s.size(s.t().concat, 2);
  return s.size(s.t().output_gate, 2) == columns && s.size(s.t().out_proj_weight, 1) == columns &&
         says_count(s, columns) && gated(s) && output_follows(s);
}

// What a plain softmax has to be multiplied by in a row.
double left_by_the_sink(See s, Index query) {
  return 1.0 / (1.0 + std::exp(sink(s) - log_sum(s, query)));
}

bool last_row_is_plain_times_a_factor(See s) {
  const Index i = last_query(s);
  const double lse = log_sum(s, i), left = left_by_the_sink(s, i);
  for (Index j = 0; j < s.keys(); ++j)
    if (!same(s.at(s.t().attn_weights, {0, 0, i, j}), std::exp(s.masked(0, i, j) - lse) * left)) return false;
  return s.says(left) && s.says(taken(s, i)) && sinks_in(s, i);
}

// The last query sees its own key and so many before it, and no other.
bool sees_earlier(See s, Index earlier) {
  const Index last = last_query(s);
  for (Index j = 0; j < s.keys(); ++j)
    if (s.blocked(0, last, j) != (j < last - earlier || j > last)) return false;
  return s.queries() == s.keys();
}

}  // namespace

std::vector<PageClaim> convention_claims() {
  return {
      // Is QK-norm applied before RoPE, or after it?
      {"is normalised here, and then rotated by its position",
       [](See s) { return queries_normalised(s) && rotated(s) && s.options().qk_norm == QkNorm::per_head; }},
      {"is rotated here by its position, and then normalised",
       [](See s) {
         return queries_normalised(s) && rotated(s) && s.options().qk_norm == QkNorm::per_head_after_rotary;
       }},
      {"the rows of a head are not both normalised and rotated",
       [](See s) { return !has(s.t().q_normed) || !has(s.t().q_rotary) || !rows_of_heads(s); }},
      {"so both orders divide a row by the same number",
       [](See s) {
         return changed_by_the_order(s) < 5e-3 && says_length_of_last(s, s.t().q_heads) &&
                says_length_of_last(s, s.t().q_normed) && says_length_of_last(s, s.t().q_rotary);
       }},
      {"layer norm also subtracts a row's mean",
       [](See s) { return changed_by_the_order(s) > 1e-6 && s.options().qk_norm_kind == NormKind::layer; }},
      {"RoPE also makes rows ",
       [](See s) {
         return changed_by_the_order(s) > 1e-6 && says_result(s, grown(s, s.t().q_normed, s.t().q_rotary));
       }},
      {"here row 0 of q_rotary is that of q_normed",
       [](See s) { return row_of(s, s.t().q_rotary, 0, 0) == row_of(s, s.t().q_normed, 0, 0) && rotated(s); }},
      {"here row 0 of q_rotary is that of q_heads",
       [](See s) { return row_of(s, s.t().q_rotary, 0, 0) == row_of(s, s.t().q_heads, 0, 0) && rotated(s); }},
      // Does YaRN change the scale, too?
      {"RoPE is scaled by YaRN here",
       [](See s) { return s.scenario.attention.rotary_scaling->kind == RotaryScalingKind::yarn; }},
      {"RoPE is scaled here, for texts", [](See s) { return s.scenario.attention.rotary_scaling.has_value(); }},
      {"RoPE is not scaled here", [](See s) { return !s.scenario.attention.rotary_scaling; }},
      {"cos and sin are multiplied by a factor",
       [](See s) {
         const double of_q = grown(s, s.t().q_heads, s.t().q_rotary);
         return near(of_q, grown(s, s.t().k_heads, s.t().k_rotary)) && !near(of_q, 1.0, 1e-4) &&
                says_result(s, of_q) && says_length_of_last(s, s.t().q_heads) &&
                says_length_of_last(s, s.t().q_rotary);
       }},
      {"times what the angles alone would make of it",
       [](See s) {
         return scores_grow_by(
             s, grown(s, s.t().q_heads, s.t().q_rotary) * grown(s, s.t().k_heads, s.t().k_rotary));
       }},
      {"No: the last row of q in head 0 is ",
       [](See s) {
         return near(length_of_last(s, s.t().q_heads), length_of_last(s, s.t().q_rotary)) &&
                says_length_of_last(s, s.t().q_heads) && says_length_of_last(s, s.t().q_rotary);
       }},
      // Is a gate applied before W_O, or after it?
      {"An output gate multiplies numbers by a σ(g)",
       [](See s) {
         return gated(s) && says_count(s, s.heads() * value_width(s)) && says_count(s, s.size(s.t().output, 2));
       }},
      {", one for each column of concat: the gate is before W_O",
       [](See s) { return gate_is_before_the_output(s) && says_count(s, s.size(s.t().output, 2)); }},
      {"so the number does not tell",
       [](See s) { return gate_is_before_the_output(s) && s.size(s.t().concat, 2) == s.size(s.t().output, 2); }},
      {"None here: W_O reads concat", [](See s) { return !has(s.t().gated_concat) && output_follows(s); }},
      {", and the number is multiplied by ",
       [](See s) {
         const double g = gate_number(s, last_query(s), 0);
         return s.says(g) && says_result(s, 1.0 / (1.0 + std::exp(-g))) && gated(s);
       }},
      // Is a sink the same as Granite's σ(lse − s)?
      {"A sink adds exp(s) to the sum",
       [](See s) { return s.says(sink(s)) && s.says(log_sum(s, last_query(s))) && sinks_in(s, last_query(s)); }},
      {"which is σ(lse − s). So it is the same", last_row_is_plain_times_a_factor},
      {", as without a sink",
       [](See s) { return !has(s.t().sinks) && sums_to_one(s, 0, last_query(s)) && !s.is_frozen(0); }},
      {"They sum to ", [](See s) { return s.says(s.weights_sum(0, last_query(s), 0, s.keys())); }},
      {"A row with a larger lse keeps more",
       [](See s) {
         return log_sum(s, 0) > log_sum(s, last_query(s)) && s.says(left_by_the_sink(s, 0)) &&
                left_by_the_sink(s, 0) > left_by_the_sink(s, last_query(s)) && sinks_in(s, 0);
       }},
      {"A row with a smaller lse keeps less",
       [](See s) {
         return log_sum(s, 0) < log_sum(s, last_query(s)) && s.says(left_by_the_sink(s, 0)) &&
                left_by_the_sink(s, 0) < left_by_the_sink(s, last_query(s)) && sinks_in(s, 0);
       }},
      // Does a window of 4 count the query's own token?
      {"The mask is causal, and sliding_window is ",
       [](See s) { return s.options().is_causal && says_count(s, *s.options().sliding_window); }},
      {"The mask is causal, and window_left is ",
       [](See s) { return s.options().is_causal && says_count(s, *s.options().window_left); }},
      {"The mask is not causal here", [](See s) { return !s.options().is_causal; }},
      {"The window has no bound before the query",
       [](See s) { return !s.options().sliding_window && !s.options().window_left; }},
      {"Its own alone", [](See s) { return sees_earlier(s, 0); }},
      {"': its own and ",
       [](See s) {
         const Index earlier = open_keys(s, 0, last_query(s)) - 1;
         return earlier > 0 && sees_earlier(s, earlier) && says_count(s, earlier) && says_count(s, earlier + 1);
       }},
      {"sliding_window counts the query's own token",
       [](See s) { return sees_earlier(s, *s.options().sliding_window - 1); }},
      {"window_left counts the earlier tokens alone",
       [](See s) { return sees_earlier(s, *s.options().window_left); }},
      {"keys are not blocked for it",
       [](See s) { return says_count(s, open_keys(s, 0, last_query(s))) && says_count(s, s.keys()); }},
  };
}

}  // namespace headwise::lessons_test
