// The claims of the lesson on what changed since 2017: here those of its pages up to the window.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/since_measures.h"

namespace headwise::lessons_test {
namespace {

std::string lower(std::string word) {
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return word;
}

bool same_words(See s) {
  const std::vector<std::string>& words = s.inputs.labels.query;
  return words.size() > 5 && lower(words[0]) == lower(words[5]);
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

bool outside_blocked(See s) {
  const Index left = s.options().window_left.value_or(0), right = s.options().window_right.value_or(0);
  for (Index i = 0; i < s.queries(); ++i)
    for (Index j = 0; j < own_keys(s); ++j)
      if ((j < i - left || j > i + right) && !s.blocked(0, i, j)) return s.size(s.t().scores, 0) == 0;
  return true;
}

bool says_open_pairs_and_ends(See s) {
  return says_count(s, open_pairs(s)) && says_count(s, open_keys(s, 0, 0)) &&
         says_count(s, open_keys(s, 0, last_query(s)));
}

bool as_in_2017(See s) {
  return groups(s) == s.heads() && s.heads() > 1 && causal_and_no_more(s) &&
         causal_softmax_of(s, [](Row row, Index) { return row; }) && splits(s) && joins(s);
}

std::vector<PageClaim> claims_before_the_softmax() {
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
      {"each pair of columns is rotated by an angle that grows", every_pair_rotated},
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
      {"A score depends on two positions only through their distance",
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
      {"No window is set here", [](See s) { return !window_of(s.options()).bounds(); }},
      {" keys, '",
       [](See s) {
         return s.says(key(s, first_open_key(s))) && s.says(key(s, -1)) &&
                first_open_key(s) < last_query(s) && says_count(s, s.keys() - first_open_key(s)) &&
                open_keys(s, 0, last_query(s)) == s.keys() - first_open_key(s);
       }},
      {"itself alone",
       [](See s) { return open_keys(s, 0, last_query(s)) == 1 && !s.blocked(0, last_query(s), last_query(s)); }},
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
      // A window on both sides
      {"so there is no causal mask here",
       [](See s) {
         return !s.options().is_causal && outside_blocked(s) && says_count(s, *s.options().window_left) &&
                says_count(s, *s.options().window_right);
       }},
      {"A window is set here", [](See s) { return window_of(s.options()).bounds(); }},
      {": a query in the middle sees ",
       [](See s) {
         const Index left = *s.options().window_left, right = *s.options().window_right;
         return blocked_exactly(s, 0, [&](Index i, Index j) { return j < i - left || j > i + right; }) &&
                left + right < s.queries() && says_count(s, left) && says_count(s, right) &&
                says_count(s, left + 1 + right) && says_open_pairs_and_ends(s);
       }},
      {" pairs are not blocked; the first query sees ",
       [](See s) { return says_open_pairs_and_ends(s) && says_count(s, s.queries() * s.keys()); }},
  };
}

}  // namespace

std::vector<PageClaim> since_claims() {
  std::vector<PageClaim> all = claims_before_the_softmax();
  for (PageClaim& claim : since_softmax_claims()) all.push_back(std::move(claim));
  return all;
}

}  // namespace headwise::lessons_test
