// The claims of pages about a relative bias, a past, latents and an indexer, in both lessons that have them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/attention/reference_backend.h"
#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/since_measures.h"

namespace headwise::lessons_test {
namespace {

// Which pairs of a head are equally far apart: the bias of each is that of the first pair of its diagonal.
bool equal_along_diagonals(See s, Index keys) {
  const TensorPtr& bias = s.t().position_bias;
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 1; i < s.queries(); ++i)
      for (Index j = 1; j < keys; ++j)
        if (s.at(bias, {0, h, i, j}) != s.at(bias, {0, h, i - 1, j - 1})) return false;
  return has(bias);
}

Index appended(See s) {
  return (s.t().bias_k ? 1 : 0) + (s.options().add_zero_attn ? 1 : 0);
}

// Every number of the bias is one of the learned table, in the column of its head; appended keys have none.
bool from_the_table(See s) {
  const TensorPtr &bias = s.t().position_bias, &table = s.t().relative_bias_weight;
  for (Index h = 0; h < s.heads(); ++h) {
    std::set<double> learned;
    for (Index bucket = 0; bucket < s.size(table, 0); ++bucket) learned.insert(s.at(table, {bucket, h}));
    for (Index i = 0; i < s.queries(); ++i)
      for (Index j = 0; j < s.keys() - appended(s); ++j)
        if (!learned.contains(s.at(bias, {0, h, i, j}))) return false;
  }
  return has(bias) && has(table);
}

double bias_of(See s, Index head, Index query, Index at) {
  return s.at(s.t().position_bias, {0, head, query, at});
}

// Beside its score, a pair brings its bias to the softmax, wherever no mask blocks.
bool added_to_every_score(See s) {
  AttentionInputs inputs = s.inputs.attention;
  inputs.options.relative_bias.reset();
  inputs.tensors.relative_bias_weight.reset();
  const TracePtr without = reference_forward(inputs);
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i)
      for (Index j = 0; j < s.keys(); ++j)
        if (!s.blocked(h, i, j) && !s.is_frozen(h) &&
            !same(s.at(s.t().masked_scores, {0, h, i, j}),
                  s.at(without->tensors.masked_scores, {0, h, i, j}) + bias_of(s, h, i, j)))
          return false;
  return true;
}

Index different_in_the_last_row(See s) {
  std::set<double> found;
  for (Index j = 0; j < s.keys(); ++j) found.insert(s.at(s.t().position_bias, {0, 0, -1, j}));
  return std::ssize(found);
}

Index different_on_open_pairs(See s) {
  std::set<double> found;
  for (Index i = 0; i < s.queries(); ++i)
    for (Index j = 0; j <= i; ++j) found.insert(s.at(s.t().position_bias, {0, 0, i, j}));
  return std::ssize(found);
}

Index past(See s) {
  return s.size(s.t().past_key, 2);
}

// Another seed draws another past.
bool random_past(See s) {
  Scenario reseeded = s.scenario;
  ++reseeded.inputs.seed;
  const TensorPtr other = make_scenario_inputs(reseeded, DType::f32).attention.tensors.past_key;
  Index differ = 0;
  for (Index i = 0; other && i < other->size(); ++i) differ += other->flat(i) != s.t().past_key->flat(i);
  return has(other) && 2 * differ >= other->size();
}

// The cached rows come first, then the new ones, and the scores are made of these keys.
bool appended_to_the_cache(See s) {
  const TraceTensors& t = s.t();
  const bool normed_last = s.options().qk_norm == QkNorm::per_head_after_rotary;
  const TensorPtr& made = t.k_rotary && !normed_last ? t.k_rotary : t.k_normed ? t.k_normed : t.k_heads;
  if (s.size(t.scores, 0) == 0) return has(t.present_key);
  for (Index g = 0; g < groups(s); ++g)
    for (Index j = 0; j < s.size(t.present_key, 2); ++j) {
      const Row expected = j < past(s) ? row_of(s, t.past_key, g, j) : row_of(s, made, g, j - past(s));
      if (row_of(s, t.present_key, g, j) != expected) return false;
      const Row value = j < past(s) ? row_of(s, t.past_value, g, j) : row_of(s, t.v_heads, g, j - past(s));
      if (row_of(s, t.present_value, g, j) != value) return false;
    }
  return has(t.present_key) && s.size(t.present_key, 2) == s.keys();
}

bool says_scores_of_a_head(See s) {
  return says_count(s, s.queries() * s.keys()) && s.size(s.t().scores, 1) == s.heads();
}

// --- Stretched rotation ---

// By how much pair j turns in one position, and how many times as much by rotary_base alone.
double turn_of(See s, std::size_t pair) {
  const Row of = frequencies(s);
  return pair < of.size() ? of[pair] : NAN;
}

double slowed(See s, std::size_t pair) {
  const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(width(s));
  return std::pow(s.scenario.attention.rotary_base.value_or(NAN), exponent) / turn_of(s, pair);
}

std::size_t last_pair(See s) {
  return frequencies(s).size() - 1;
}

// How many times as long the rotation makes a row of q, the same for all rows that are not 0.
double lengthened(See s) {
  const double factor = length(row_of(s, s.t().q_rotary, 0, 5)) / length(row_of(s, s.t().q_heads, 0, 5));
  for (Index h = 0; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i)
      if (!same(length(row_of(s, s.t().q_rotary, h, i)), factor * length(row_of(s, s.t().q_heads, h, i))))
        return NAN;
  return factor;
}

// --- Latents ---

// Those of all keys: with a past, it comes first.
const TensorPtr& latents(See s) {
  return s.t().present_compressed_kv ? s.t().present_compressed_kv : s.t().compressed_kv;
}

const TensorPtr& shared_columns(See s) {
  return s.t().present_k_rot ? s.t().present_k_rot : s.t().k_rot;
}

Index latent_width(See s) {
  return s.size(latents(s), 2);
}

Index shared_width(See s) {
  return s.size(shared_columns(s), 3);
}

Index own_width(See s) {
  return width(s) - shared_width(s);
}

Index values_of_latents(See s) {
  return s.size(s.t().out_proj_weight, 1) / s.heads();
}

// Cell c of head h's part of W_UKV · c, of its columns of keys and then of values.
double expanded(See s, Index head, Index token, Index column) {
  double sum = 0.0;
  for (Index c = 0; c < latent_width(s); ++c)
    sum += s.at(latents(s), {0, token, c}) *
           s.at(s.t().kv_b_weight, {head * (own_width(s) + values_of_latents(s)) + column, c});
  return sum;
}

// The scores of the last query, from the latents and k_rot alone.
bool scores_follow_from_the_cache(See s) {
  const TraceTensors& t = s.t();
  const Index last = last_query(s), nope = own_width(s);
  const TensorPtr& q = t.q_rotary ? t.q_rotary : t.q_heads;
  for (Index h = 0; h < s.heads(); ++h)
    for (Index j = 0; j < s.keys(); ++j) {
      double sum = 0.0;
      for (Index c = 0; c < nope; ++c) sum += s.at(q, {0, h, last, c}) * expanded(s, h, j, c);
      for (Index c = 0; c < shared_width(s); ++c)
        sum += s.at(q, {0, h, last, nope + c}) * s.at(shared_columns(s), {0, 0, j, c});
      if (!same(sum, s.at(t.scores, {0, h, last, j}))) return false;
    }
  return s.options().op == Op::multi_head_latent_attention && s.size(shared_columns(s), 1) == 1;
}

// The output of a head for the last query, as its part of W_UKV times the sum of latents.
bool outputs_follow_from_the_cache(See s) {
  for (Index h = 0; h < s.heads(); ++h)
    for (Index c = 0; c < values_of_latents(s); ++c) {
      double sum = 0.0;
      for (Index j = 0; j < s.keys(); ++j)
        sum += s.at(s.t().dropped_weights, {0, h, -1, j}) * expanded(s, h, j, own_width(s) + c);
      if (!same(sum, s.at(s.t().head_output, {0, h, -1, c}))) return false;
    }
  return true;
}

bool other_layout_agrees(See s) {
  AttentionInputs inputs = s.inputs.attention;
  const bool absorbed = inputs.options.layout == LatentLayout::absorbed;
  inputs.options.layout = absorbed ? LatentLayout::expanded : LatentLayout::absorbed;
  inputs.options.num_kv_heads = absorbed ? s.heads() : 1;
  const TracePtr other = reference_forward(inputs);
  double most = 0.0, largest = 0.0;
  for (Index i = 0; i < s.t().output->size(); ++i) {
    most = std::max(most, std::abs(other->tensors.output->flat(i) - s.t().output->flat(i)));
    largest = std::max(largest, std::abs(s.t().output->flat(i)));
  }
  return s.says(most) && most < 1e-3 * largest && scores_follow_from_the_cache(s) &&
         outputs_follow_from_the_cache(s);
}

bool says_the_latents_cache(See s) {
  const Index heads = s.heads(), all = width(s) + values_of_latents(s);
  return says_count(s, latent_width(s) + shared_width(s)) && says_count(s, latent_width(s)) &&
         says_count(s, shared_width(s)) && says_count(s, heads * all) && says_count(s, width(s)) &&
         says_count(s, values_of_latents(s)) && scores_follow_from_the_cache(s);
}

// --- The indexer ---

TracePtr without_choice(See s) {
  AttentionInputs inputs = s.inputs.attention;
  inputs.options.indexer.reset();
  TraceTensors& t = inputs.tensors;
  for (TensorPtr* given : {&t.indexer_wq_b, &t.indexer_wk, &t.indexer_k_norm_weight, &t.indexer_k_norm_bias,
                           &t.indexer_weights_proj, &t.indexer_q, &t.indexer_k, &t.indexer_weights})
    given->reset();
  return reference_forward(inputs);
}

// Of the keys that the other masks leave in a row, those with the largest scores of the indexer are open.
bool largest_are_kept(See s) {
  const TracePtr all = without_choice(s);
  const TensorPtr& scores = s.t().indexer_scores;
  const Index k = s.options().indexer ? s.options().indexer->k : 0;
  for (Index i = 0; i < s.queries(); ++i) {
    double least_kept = INFINITY, most_left_out = -INFINITY;
    Index kept = 0;
    for (Index j = 0; j < s.keys(); ++j) {
      if (s.at(all->tensors.mask_bias, {0, 0, i, j}) == -INFINITY) continue;
      const double score = s.at(scores, {0, i, j});
      if (s.blocked(0, i, j)) {
        most_left_out = std::max(most_left_out, score);
      } else {
        least_kept = std::min(least_kept, score);
        ++kept;
      }
    }
    if (s.size(scores, 0) > 0 && (kept > k || most_left_out > least_kept)) return false;
  }
  return k > 0 && has(scores);
}

Index strongest_without_choice(See s) {
  const TracePtr all = without_choice(s);
  Index best = 0;
  for (Index j = 0; j < s.keys(); ++j)
    if (s.at(all->tensors.attn_weights, {0, 0, -1, j}) > s.at(all->tensors.attn_weights, {0, 0, -1, best}))
      best = j;
  return best;
}

bool same_keys_in_all_heads(See s) {
  for (Index h = 1; h < s.heads(); ++h)
    for (Index i = 0; i < s.queries(); ++i)
      for (Index j = 0; j < s.keys(); ++j)
        if (s.blocked(h, i, j) != s.blocked(0, i, j)) return false;
  return true;
}

bool strongest_is_said(See s) {
  for (Index j = 0; j < s.keys(); ++j)
    if (s.says(key(s, j)) && near(s.weight(0, last_query(s), j), s.largest_weight(0, last_query(s))))
      return s.says(s.largest_weight(0, last_query(s)));
  return false;
}

}  // namespace

std::vector<PageClaim> option_claims() {
  return {
      // Positions: a number for each distance
      {"No position is added to the rows any more", no_position_added},
      {"Each head adds to every score a learned number for the distance",
       [](See s) { return equal_along_diagonals(s, s.keys()) && from_the_table(s) && added_to_every_score(s); }},
      {"Each head has learned numbers for distances",
       [](See s) { return s.size(s.t().relative_bias_weight, 1) == s.heads(); }},
      {"No number for distances is learned here", [](See s) { return !has(s.t().position_bias); }},
      {" scores that the causal mask leaves",
       [](See s) {
         return blocked_exactly(s, 0, [](Index i, Index j) { return j > i; }) && s.queries() == s.keys() &&
                says_count(s, s.queries() * (s.queries() + 1) / 2) &&
                different_on_open_pairs(s) == different_in_the_last_row(s);
       }},
      {"How many different numbers does head 0 add to the scores of the last query", [](See) { return true; }},
      {"so along each diagonal the numbers are equal",
       [](See s) {
         return equal_along_diagonals(s, s.keys()) && says_count(s, different_on_open_pairs(s)) &&
                different_on_open_pairs(s) == s.queries() && says_count(s, s.queries() - 1);
       }},
      {"The last row has ",
       [](See s) { return has(s.t().position_bias) && says_count(s, different_in_the_last_row(s)); }},
      {", and as much to that of query 3 and key 2",
       [](See s) {
         return bias_of(s, 0, 8, 7) == bias_of(s, 0, 3, 2) && s.says(bias_of(s, 0, 8, 7)) &&
                s.says(fmt::format("'{}'", word(s.inputs.labels.query, 8)));
       }},
      {"The scores are not divided by √D, here as in T5",
       [](See s) {
         for (Index i = 0; i < s.t().scores->size(); ++i)
           if (!same(s.t().scores->flat(i), s.t().scaled_scores->flat(i))) return false;
         return has(s.t().position_bias);
       }},
      // Longer texts: a slower rotation
      {"RoPE turns the first pair of columns by ",
       [](See s) {
         return rotated(s) && says_result(s, turn_of(s, 0) * slowed(s, 0)) &&
                says_result(s, turn_of(s, last_pair(s)) * slowed(s, last_pair(s)));
       }},
      {"For this, YaRN makes pairs of columns turn more slowly",
       [](See s) {
         return slowed(s, last_pair(s)) > 1.0 || s.scenario.attention.rotary_scaling->factor <= 1.0;
       }},
      {"Pairs can be slowed down for texts", [](See) { return true; }},
      {"The slow ones: the last pair turns ",
       [](See s) {
         return s.says(slowed(s, last_pair(s))) && slowed(s, last_pair(s)) > slowed(s, 0) && rotated(s);
       }},
      {"; the first pair ",
       [](See s) { return near(slowed(s, 0), 1.0) ? s.says("as before") : s.says(slowed(s, 0)); }},
      {"All: each turns ",
       [](See s) {
         for (std::size_t j = 0; j <= last_pair(s); ++j)
           if (!s.says(slowed(s, j))) return false;
         return rotated(s);
       }},
      {"None: nothing is stretched",
       [](See s) { return near(slowed(s, 0), 1.0) && near(slowed(s, last_pair(s)), 1.0); }},
      {"goes round once in about 6 positions",
       [](See s) { return std::abs(2.0 * 3.14159265 / turn_of(s, 0) - 6.0) < 0.5 && rotated(s); }},
      {"YaRN also makes the rotated rows longer, ",
       [](See s) { return says_result(s, lengthened(s)) && lengthened(s) > 1.0; }},
      // One more token: the KV cache
      {"The keys and values of the first ", [](See s) { return says_count(s, past(s)) && past(s) > 0; }},
      {"(random numbers here)", random_past},
      {"' is new",
       [](See s) { return s.queries() == 1 && s.says(fmt::format("'{}'", word(s.inputs.labels.query, 0))); }},
      {" tokens are new", [](See s) { return says_count(s, s.queries()); }},
      {"No key lies in a cache here", [](See s) { return !has(s.t().past_key); }},
      {": the new query meets ",
       [](See s) {
         const Index all = past(s) + 1;
         return says_scores_of_a_head(s) && says_count(s, past(s)) && appended_to_the_cache(s) &&
                s.size(s.t().q, 1) == 1 && s.size(s.t().k, 1) == 1 && s.size(s.t().v, 1) == 1 &&
                s.keys() == all && says_count(s, all) && says_count(s, all * (all + 1) / 2);
       }},
      {" keys are cached.",
       [](See s) { return says_scores_of_a_head(s) && says_count(s, past(s)) && past(s) > 0; }},
      {". Nothing is cached.", [](See s) { return says_scores_of_a_head(s) && !has(s.t().past_key); }},
      {"and query i sees the keys j ≤ i + ",
       [](See s) {
         const Index first = past(s);
         return first > 0 && says_count(s, first) &&
                blocked_exactly(s, 0, [first](Index i, Index j) { return j > i + first; }) &&
                (!has(s.t().q_rotary) || rotated(s));
       }},
      // One latent instead of keys and values
      {"has keys and values of its own again",
       [](See s) {
         return s.size(s.t().k_heads, 1) == s.heads() && s.size(s.t().v_heads, 1) == s.heads() &&
                says_count(s, s.heads());
       }},
      {" numbers, the latent c",
       [](See s) {
         return says_count(s, latent_width(s)) && says_count(s, own_width(s)) &&
                says_count(s, values_of_latents(s)) && says_count(s, shared_width(s)) &&
                scores_follow_from_the_cache(s) && outputs_follow_from_the_cache(s);
       }},
      {"carry the position and",
       [](See s) { return !frequencies(s).empty() && has(s.t().k_rot) && has(s.t().q_rotary); }},
      {"There is no latent here", [](See s) { return !has(s.t().compressed_kv); }},
      {": c and k_rot, ", says_the_latents_cache},
      {"They need not even be made", other_layout_agrees},
      // Keys that are chosen: top-k
      {"Here a second attention, the indexer, ",
       [](See s) { return largest_are_kept(s) && says_count(s, s.options().indexer->k); }},
      {"An indexer gives each pair a score",
       [](See s) {
         return s.size(s.t().indexer_scores, 1) == s.queries() && s.size(s.t().indexer_scores, 2) == s.keys();
       }},
      {"No indexer is set here", [](See s) { return !s.options().indexer && !has(s.t().indexer_scores); }},
      {"Without this choice, the last query of head 0",
       [](See s) {
         const Index best = strongest_without_choice(s);
         return s.says(key(s, best)) && says_count(s, best) &&
                s.says(s.at(without_choice(s)->tensors.attn_weights, {0, 0, -1, best}));
       }},
      {"No: that key is left out",
       [](See s) { return s.blocked(0, last_query(s), strongest_without_choice(s)) && strongest_is_said(s); }},
      {"Yes: its weight is ",
       [](See s) {
         const double weight = s.weight(0, last_query(s), strongest_without_choice(s));
         return s.says(weight) && near(weight, s.largest_weight(0, last_query(s)));
       }},
      {"The choice comes before the softmax",
       [](See s) {
         return open_keys(s, 0, last_query(s)) == s.options().indexer->k && sums_to_one(s, 0, last_query(s)) &&
                says_count(s, s.options().indexer->k) && largest_are_kept(s);
       }},
      {"All heads keep the same keys", same_keys_in_all_heads},
      {"This indexer is untrained", [](See s) { return !s.inputs.layer && s.options().indexer; }},
      // Why are keys cached, but not queries?
      {" earlier tokens lie in a cache; ",
       [](See s) { return says_count(s, past(s)) && past(s) > 0 && says_count(s, s.queries()); }},
      {": the map has a row for each new query",
       [](See s) {
         return says_count(s, s.queries()) && says_count(s, s.keys()) && past(s) > 0 &&
                s.size(s.t().scores, 2) == s.queries();
       }},
      {" of keys: the map has a row for each query",
       [](See s) { return says_count(s, s.queries()) && says_count(s, s.keys()); }},
      // Is T5's bias added before the scale, or after?
      {" for their distance the head has learned b = ",
       [](See s) { return s.says(s.score(0, 8, 1)) && s.says(bias_of(s, 0, 8, 1)) && from_the_table(s); }},
      {"Nor are they scaled here", [](See s) { return near(scale(s), 1.0); }},
      {"Suppose it did, by ", [](See s) { return s.says(scale(s)) && !near(scale(s), 1.0, 0.0); }},
      {"No bias is learned here", [](See s) { return !has(s.t().position_bias); }},
      {"After it: ",
       [](See s) {
         return same(s.at(s.t().masked_scores, {0, 0, 8, 1}),
                     s.score(0, 8, 1) * scale(s) + bias_of(s, 0, 8, 1)) &&
                s.says(s.score(0, 8, 1)) && s.says(scale(s)) && says_result(s, s.score(0, 8, 1) * scale(s)) &&
                s.says(s.score(0, 8, 1) * scale(s) + bias_of(s, 0, 8, 1));
       }},
      {"With a scale of 1 it makes no difference",
       [](See s) {
         return same(s.at(s.t().masked_scores, {0, 0, 8, 1}), s.score(0, 8, 1) + bias_of(s, 0, 8, 1)) &&
                near(scale(s), 1.0);
       }},
      {"other things than scale and bias reach this score",
       [](See s) {
         const double plain = s.score(0, 8, 1) * scale(s) + bias_of(s, 0, 8, 1);
         const double is = s.at(s.t().masked_scores, {0, 0, 8, 1});
         return !(std::abs(is - plain) <= 1e-6 * std::abs(plain)) || std::isnan(is) ||
                s.at(s.t().mask_bias, {0, 0, 8, 1}) != bias_of(s, 0, 8, 1);
       }},
      // What does DeepSeek's cache hold for a token?
      {"All keys and values come from a latent, c, of ",
       [](See s) { return says_count(s, latent_width(s)) && outputs_follow_from_the_cache(s); }},
      {"; their keys and values are ", says_the_latents_cache},
      {"c and k_rot.", scores_follow_from_the_cache},
      {" have the same last columns in their keys: k_rot",
       [](See s) {
         for (Index j = 0; j < s.keys(); ++j)
           for (Index c = 0; c < shared_width(s); ++c)
             for (const Index h : {Index{0}, s.heads() - 1})
               if (s.at(s.t().k_heads, {0, h, j, own_width(s) + c}) != s.at(shared_columns(s), {0, 0, j, c}))
                 return false;
         return says_count(s, s.heads() - 1) && s.heads() > 1;
       }},
      {"Nor do keys and values have to be made again", other_layout_agrees},
      // Does top-k choose before the softmax or after it?
      {"For the last query, an indexer keeps ",
       [](See s) {
         return open_keys(s, 0, last_query(s)) == s.options().indexer->k && says_count(s, s.keys()) &&
                says_count(s, s.options().indexer->k) && largest_are_kept(s);
       }},
      {"Before it, once for all heads: ",
       [](See s) {
         const Index last = last_query(s);
         return sums_to_one(s, 0, last) && sums_to_one(s, 1, last) && same_keys_in_all_heads(s) &&
                says_count(s, open_keys(s, 0, last)) && s.says(s.weights_sum(0, last, 0, s.keys()));
       }},
      {"The last row sums to ", [](See s) { return s.says(s.weights_sum(0, last_query(s), 0, s.keys())); }},
      {"What the others would have had is shared out again",
       [](See s) {
         const double now = s.weight(0, last_query(s), s.keys() - 1),
                      before = s.at(without_choice(s)->tensors.attn_weights, {0, 0, -1, -1});
         return now > before && s.says(now) && s.says(before) && s.says(key(s, -1));
       }},
      {"The choice is made from scores of its own, ",
       [](See s) {
         const TensorPtr& scores = s.t().indexer_scores;
         return scores->shape().rank() == 3 && s.says(scores->shape().sizes_text());
       }},
  };
}

}  // namespace headwise::lessons_test
