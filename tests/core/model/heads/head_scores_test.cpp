#include "core/model/heads/head_scores.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/tensor/error.h"
#include "core/tensor/random.h"

using namespace headwise;

namespace {

// A map of one head, (1,1,L,L).
Tensor map_of(Index length, const std::function<double(Index, Index)>& weight, DType dtype = DType::f64) {
  Tensor map({{"N", 1}, {"H", 1}, {"L", length}, {"S", length}}, dtype);
  for (Index i = 0; i < length; ++i)
    for (Index j = 0; j < length; ++j) map.set_flat(i * length + j, weight(i, j));
  return map;
}

// A token for each letter: the same letter the same word; ',' and '.' are marks, '^' and '$' stand round the
// text, '?' is unknown.
std::vector<ScoredToken> letters(const std::string& text) {
  std::vector<ScoredToken> tokens;
  for (const char c : text) {
    const bool around = c == '^' || c == '$';
    tokens.push_back(
        {.id = c, .of_text = !around, .is_word = !around && c != '?', .punctuation = c == ',' || c == '.'});
  }
  return tokens;
}

HeadScores of(const Tensor& map, const std::string& text, const SeenKeys& seen = {}) {
  return head_scores(map, 0, 0, letters(text), seen);
}

Tensor uniform(Index length, bool is_causal) {
  return map_of(length, [=](Index i, Index j) {
    if (!is_causal) return 1.0 / static_cast<double>(length);
    return j <= i ? 1.0 / static_cast<double>(i + 1) : 0.0;
  });
}

// What a head does on a text of `length` different words, with these weights.
std::optional<HeadHabit> habit_of(Index length, const std::function<double(Index, Index)>& weight,
                                  const std::vector<TokenId>& ids = {}) {
  Tensor map({{"N", 1}, {"H", 1}, {"L", length}, {"S", length}}, DType::f64);
  for (Index i = 0; i < length; ++i)
    for (Index j = 0; j < length; ++j) map.set_flat(i * length + j, weight(i, j));
  std::vector<ScoredToken> tokens(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i].id = ids.empty() ? static_cast<TokenId>(i) : ids[i];
  return head_habit(head_scores(map, 0, 0, tokens, {}));
}

// `share` on the key at `offset` from the query, the rest on all others alike.
std::function<double(Index, Index)> mostly_at(Index length, Index offset, double share) {
  return [=](Index i, Index j) {
    const Index target = i + offset;
    if (target < 0 || target >= length) return 1.0 / static_cast<double>(length);
    return j == target ? share : (1.0 - share) / static_cast<double>(length - 1);
  };
}

}  // namespace

TEST_CASE("a head that looks at its own place has itself and first token as they are, and no entropy") {
  const HeadScores head = of(map_of(4, [](Index i, Index j) { return i == j ? 1.0 : 0.0; }), "abcd");
  CHECK(head[HeadScore::itself].value == 1.0);
  CHECK(head[HeadScore::itself].queries == 4);
  CHECK(head[HeadScore::itself].uniform == 0.25);
  CHECK(head[HeadScore::previous_token].value == 0.0);
  CHECK(head[HeadScore::previous_token].queries == 3);
  CHECK(head[HeadScore::next_token].value == 0.0);
  // The first token's look at itself is no look at the first token.
  CHECK(head[HeadScore::first_token].value == 0.0);
  CHECK(head[HeadScore::first_token].queries == 3);
  CHECK(head[HeadScore::entropy].value == 0.0);
  CHECK(head.entropy_bits == 0.0);
}

TEST_CASE("what a text does not have has no score, which is not 0") {
  const HeadScores head = of(uniform(4, false), "abcd");
  CHECK_FALSE(head[HeadScore::same_word].value.has_value());
  CHECK_FALSE(head[HeadScore::induction].value.has_value());
  CHECK_FALSE(head[HeadScore::punctuation].value.has_value());
  CHECK(head[HeadScore::punctuation].queries == 0);
}

TEST_CASE("a causal head of the token before is measured from the first query that has one") {
  const HeadScores head = of(
      map_of(5, [](Index i, Index j) { return j == std::max<Index>(i - 1, 0) ? 1.0 : 0.0; }), "abcde", {true});
  CHECK(head[HeadScore::previous_token].value == 1.0);
  CHECK(head[HeadScore::previous_token].queries == 4);
  CHECK_FALSE(head[HeadScore::next_token].value.has_value());  // nobody sees it
  CHECK(head[HeadScore::itself].value == 0.0);
  CHECK(head[HeadScore::itself].queries == 4);  // query 0 sees itself alone, and has no choice
  CHECK(head[HeadScore::first_token].value == 0.25);
  CHECK(head[HeadScore::entropy].value == 0.0);
}

TEST_CASE("a head of the token after has that score and no other") {
  const HeadScores head =
      of(map_of(4, [](Index i, Index j) { return j == std::min<Index>(i + 1, 3) ? 1.0 : 0.0; }), "abcd");
  CHECK(head[HeadScore::next_token].value == 1.0);
  CHECK(head[HeadScore::next_token].queries == 3);
  CHECK(head[HeadScore::previous_token].value == 0.0);
  CHECK(head[HeadScore::itself].value == 0.25);
}

TEST_CASE("weights that are all alike have the scores that are told as uniform, and all the entropy") {
  for (const bool is_causal : {false, true}) {
    CAPTURE(is_causal);
    const HeadScores head = of(uniform(9, is_causal), "^ab,abca$", {is_causal});
    for (std::size_t i = 0; i < head_score_count; ++i) {
      CAPTURE(head_score_words(static_cast<HeadScore>(i)).name);
      if (is_causal && static_cast<HeadScore>(i) == HeadScore::next_token) {
        CHECK_FALSE(head.scores[i].value.has_value());
        continue;
      }
      REQUIRE(head.scores[i].value.has_value());
      CHECK(*head.scores[i].value == doctest::Approx(head.scores[i].uniform));
    }
    CHECK(head[HeadScore::entropy].uniform == 1.0);
  }
  const HeadScores bits = of(uniform(8, false), "abcdefgh");
  CHECK(*bits.entropy_bits == doctest::Approx(3.0));
}

TEST_CASE("an induction head looks at what came after the same word before") {
  // a b c a b c: 3 → 1, 4 → 2, 5 → 3; the others rest on the first token.
  const HeadScores head =
      of(map_of(6, [](Index i, Index j) { return j == (i < 3 ? 0 : i - 2) ? 1.0 : 0.0; }), "abcabc", {true});
  CHECK(head[HeadScore::induction].value == 1.0);
  CHECK(head[HeadScore::induction].queries == 3);
  CHECK(head[HeadScore::induction].uniform == doctest::Approx((1.0 / 4 + 1.0 / 5 + 1.0 / 6) / 3));
  CHECK(head[HeadScore::same_word].value == 0.0);
  CHECK(head[HeadScore::same_word].queries == 3);
  CHECK(head[HeadScore::first_token].value == doctest::Approx(2.0 / 5.0));
}

TEST_CASE("induction takes every earlier place of the word, and never the token's own") {
  // a x a y a: the last looks 0.5 at x and 0.25 at y. "aa": what came after the first a is the second itself.
  const HeadScores several = of(map_of(5,
                                       [](Index i, Index j) {
                                         if (i != 4) return j == 0 ? 1.0 : 0.0;
                                         return j == 1 ? 0.5 : j == 3 ? 0.25 : j == 4 ? 0.25 : 0.0;
                                       }),
                                "axaya", {true});
  CHECK(several[HeadScore::induction].queries == 2);  // queries 2 and 4
  CHECK(several[HeadScore::induction].value == doctest::Approx(0.75 / 2));
  CHECK_FALSE(of(uniform(2, true), "aa", {true})[HeadScore::induction].value.has_value());
}

TEST_CASE("the same word is looked for before and behind, itself left out") {
  // Without a mask the first a sees the second.
  const auto map = map_of(4, [](Index i, Index j) { return j == (i + 2) % 4 ? 1.0 : 0.0; });
  const HeadScores head = of(map, "abab");
  CHECK(head[HeadScore::same_word].value == 1.0);
  CHECK(head[HeadScore::same_word].queries == 4);
  CHECK(head[HeadScore::same_word].uniform == 0.25);
  CHECK(head[HeadScore::itself].value == 0.0);
}

TEST_CASE("what stands round the text asks nothing, but is looked at") {
  const auto first = map_of(5, [](Index i, Index j) { return j == (i == 0 || i == 4 ? 2 : 0) ? 1.0 : 0.0; });
  const HeadScores head = of(first, "^a,a$");
  CHECK(head[HeadScore::first_token].value == 1.0);
  CHECK(head[HeadScore::first_token].queries == 3);
  CHECK(head[HeadScore::punctuation].value == 0.0);
  CHECK(head[HeadScore::punctuation].queries == 3);
  CHECK(head[HeadScore::entropy].queries == 3);
}

TEST_CASE("unknown tokens are the same word as no other, as special ones are") {
  const HeadScores head = of(uniform(6, false), "^a?b?$");
  CHECK_FALSE(head[HeadScore::same_word].value.has_value());
  CHECK_FALSE(head[HeadScore::induction].value.has_value());
  CHECK(head[HeadScore::entropy].queries == 4);
}

TEST_CASE("punctuation adds up over all marks") {
  const HeadScores head = of(
      map_of(4, [](Index, Index j) { return j == 1   ? 0.5
                                            : j == 3 ? 0.25
                                            : j == 0 ? 0.25
                                                     : 0.0; }), "a,b.");
  CHECK(head[HeadScore::punctuation].value == doctest::Approx(0.75));
  CHECK(head[HeadScore::punctuation].uniform == doctest::Approx(0.5));
}

TEST_CASE("a map of NaN, one of zeros and one token have no scores") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {nan, 0.0, std::numeric_limits<double>::infinity()}) {
    const HeadScores head = of(map_of(3, [=](Index, Index) { return value; }), "a,a");
    for (const MeasuredScore& score : head.scores) CHECK_FALSE(score.value.has_value());
    CHECK_FALSE(head.entropy_bits.has_value());
    CHECK(head.left_out == 3);
  }
  const HeadScores one = of(uniform(1, false), "a");
  for (const MeasuredScore& score : one.scores) CHECK_FALSE(score.value.has_value());
  CHECK(one.left_out == 0);
  const HeadScores none = of(map_of(0, [](Index, Index) { return 0.0; }), "");
  for (const MeasuredScore& score : none.scores) CHECK_FALSE(score.value.has_value());
}

TEST_CASE("one row of NaN is left out, and the others count") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HeadScores head =
      of(map_of(3, [=](Index i, Index j) { return i == 1   ? nan
                                                  : i == j ? 1.0
                                                           : 0.0; }), "abc");
  CHECK(head.left_out == 1);
  CHECK(head[HeadScore::itself].value == 1.0);
  CHECK(head[HeadScore::itself].queries == 2);
}

TEST_CASE("a sliding window hides what lies further away, and what is hidden is no target") {
  // A window of 2, causal: a query sees itself and the one before; of a b a, nobody sees its word before.
  const SeenKeys seen{true, 2};
  const auto map =
      map_of(4, [](Index i, Index j) { return j == i || j == i - 1 ? (i == 0 ? 1.0 : 0.5) : 0.0; });
  const HeadScores head = of(map, "abab", seen);
  CHECK(head[HeadScore::previous_token].value == 0.5);
  CHECK(head[HeadScore::previous_token].uniform == 0.5);
  CHECK(head[HeadScore::entropy].value == doctest::Approx(1.0));
  CHECK_FALSE(head[HeadScore::same_word].value.has_value());
  CHECK(head[HeadScore::first_token].queries == 1);
  // What came after b before, at 2, is seen by the second b, at 3; what came after a, at 1, by the second a.
  CHECK(head[HeadScore::induction].value == 0.5);
  CHECK(head[HeadScore::induction].queries == 2);
}

TEST_CASE("every score of any map lies between 0 and 1, in f32 as in f64") {
  const std::string text = "^ab,ab.ca?b$";
  const auto length = static_cast<Index>(text.size());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CounterRandom random(seed, "map");
    std::vector<std::vector<double>> rows;
    for (Index i = 0; i < length; ++i) {
      std::vector<double> row;
      double sum = 0.0;
      for (Index j = 0; j < length; ++j) {
        row.push_back(j <= i ? std::exp(6.0 * random.uniform(static_cast<std::uint64_t>(i * length + j)))
                             : 0.0);
        sum += row.back();
      }
      for (double& p : row) p /= sum;
      rows.push_back(row);
    }
    const auto at = [&](Index i, Index j) {
      return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    };
    const HeadScores exact = of(map_of(length, at), text, {true});
    const HeadScores single = of(map_of(length, at, DType::f32), text, {true});
    for (std::size_t i = 0; i < head_score_count; ++i) {
      if (static_cast<HeadScore>(i) == HeadScore::next_token) continue;
      REQUIRE(exact.scores[i].value.has_value());
      CHECK(*exact.scores[i].value >= 0.0);
      CHECK(*exact.scores[i].value <= 1.0);
      CHECK(*single.scores[i].value == doctest::Approx(*exact.scores[i].value).epsilon(1e-5));
    }
  }
}

TEST_CASE("what a tokenizer makes is told apart: text, words, marks") {
  const std::vector<EncodedToken> tokens{{2, "[CLS]", 0, 0, true, false}, {7, "cat", 0, 3, false, false},
                                         {8, ",", 3, 4, false, false},    {9, "Ġ\"", 4, 6, false, false},
                                         {1, "[UNK]", 6, 9, false, true}, {4, "[MASK]", 9, 15, true, false},
                                         {5, "##s", 15, 16, false, false}};
  const std::vector<ScoredToken> scored = scored_tokens(tokens);
  CHECK_FALSE(scored[0].of_text);
  CHECK_FALSE(scored[0].is_word);
  CHECK(scored[1].of_text);
  CHECK(scored[1].is_word);
  CHECK_FALSE(scored[1].punctuation);
  CHECK(scored[2].punctuation);
  CHECK(scored[3].punctuation);
  CHECK(scored[4].of_text);
  CHECK_FALSE(scored[4].is_word);
  CHECK_FALSE(scored[4].punctuation);
  CHECK(scored[5].of_text);  // written in the text: it asks as any other
  CHECK_FALSE(scored[5].is_word);
  CHECK_FALSE(scored[5].punctuation);
  CHECK_FALSE(scored[6].punctuation);
}

TEST_CASE("a map that is not of these tokens is refused") {
  CHECK_THROWS_AS(of(uniform(3, false), "ab"), Error);
  CHECK_THROWS_AS(head_scores(uniform(3, false), 0, 1, letters("abc"), {}), Error);
  CHECK_THROWS_AS(head_scores(uniform(3, false), 1, 0, letters("abc"), {}), Error);
  const Tensor whole({{"N", 1}, {"H", 1}, {"L", 2}, {"S", 2}}, DType::i64);
  CHECK_THROWS_AS(head_scores(whole, 0, 0, letters("ab"), {}), Error);
}

TEST_CASE(
    "keys that a mask blocks are not seen: they count neither as targets nor among those of uniform "
    "attention") {
  const double no = -std::numeric_limits<double>::infinity();
  // The last two of five tokens are padding; the head looks at the token before.
  const Tensor map = map_of(5, [](Index i, Index j) {
    if (i == 0 || i == 4) return j < 3 ? 1.0 / 3.0 : 0.0;
    return j == i - 1 ? 1.0 : 0.0;
  });
  const auto padding = std::make_shared<const Tensor>(map_of(
      5, [no](Index, Index j) { return j < 3 ? 0.0 : no; }, DType::f32));
  const HeadScores seen = of(map, "abcde", {.mask = padding});
  CHECK(seen[HeadScore::previous_token].queries == 3);  // 4 has its previous token blocked
  CHECK(seen[HeadScore::previous_token].value == 1.0);
  CHECK(seen[HeadScore::previous_token].uniform == doctest::Approx(1.0 / 3.0));
  CHECK(seen[HeadScore::entropy].value == doctest::Approx(2.0 / 5.0));
  CHECK(of(map, "abcde")[HeadScore::previous_token].value == doctest::Approx(0.75));
  // A blocked key that gets weight all the same was seen.
  const Tensor even = map_of(5, [](Index, Index) { return 0.2; });
  CHECK(of(even, "abcde", {.mask = padding})[HeadScore::entropy].value == doctest::Approx(1.0));
  // A causal mask says what `is_causal` says.
  const auto causal = std::make_shared<const Tensor>(map_of(
      5, [no](Index i, Index j) { return j <= i ? 0.0 : no; }, DType::f32));
  const HeadScores by_mask = of(uniform(5, true), "abcab", {.mask = causal}),
                   by_rule = of(uniform(5, true), "abcab", {.is_causal = true});
  for (std::size_t score = 0; score < head_score_count; ++score) {
    CAPTURE(score);
    CHECK(by_mask.scores[score].value == by_rule.scores[score].value);
    CHECK(by_mask.scores[score].uniform == by_rule.scores[score].uniform);
    CHECK(by_mask.scores[score].queries == by_rule.scores[score].queries);
  }
  const auto narrow = std::make_shared<const Tensor>(map_of(4, [](Index, Index) { return 0.0; }));
  CHECK_THROWS_AS(of(map, "abcde", {.mask = narrow}), Error);
}

TEST_CASE("a head is named by the score that stands out most") {
  const auto previous = habit_of(8, mostly_at(8, -1, 0.64));
  REQUIRE(previous);
  CHECK(previous->score == HeadScore::previous_token);
  CHECK(previous->value == doctest::Approx(0.64));
  CHECK(previous->uniform == doctest::Approx(1.0 / 8));
  CHECK(previous->queries == 7);
  CHECK(habit_name(previous->score) == "previous token");
  CHECK(short_habit_name(previous->score) == "previous");
  CHECK(habit_of(8, mostly_at(8, 1, 0.9))->score == HeadScore::next_token);
  CHECK(habit_of(8, mostly_at(8, 0, 0.5))->score == HeadScore::itself);
}

TEST_CASE("a score close to that of uniform attention is no habit") {
  CHECK_FALSE(habit_of(8, mostly_at(8, -1, 0.125 + 0.24)));
  CHECK(habit_of(8, mostly_at(8, -1, 0.125 + 0.26)));
  // Of two tokens, each has half of uniform attention already.
  CHECK_FALSE(habit_of(2, mostly_at(2, 0, 0.7)));
}

TEST_CASE("what a few queries do is no habit of the head") {
  // Two of twelve words are the same: they attend to each other,
  // and all others spread their attention over five keys.
  std::vector<TokenId> ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0};
  const auto pair = [](Index i, Index j) {
    if (i == 0) return j == 11 ? 1.0 : 0.0;
    if (i == 11) return j == 0 ? 1.0 : 0.0;
    return j >= 2 && j <= 6 ? 0.2 : 0.0;
  };
  CHECK_FALSE(habit_of(12, pair, ids));
}

TEST_CASE("attention that is spread evenly is a habit, and NaN is none") {
  const auto even = habit_of(6, [](Index, Index) { return 1.0 / 6; });
  REQUIRE(even);
  CHECK(even->score == HeadScore::entropy);
  CHECK(even->value == doctest::Approx(1.0));
  CHECK(habit_name(even->score) == "even");
  CHECK_FALSE(habit_of(6, [](Index, Index) { return std::nan(""); }));
  CHECK_FALSE(habit_of(1, [](Index, Index) { return 1.0; }));
}
