#include "core/model/heads/head_scores.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace headwise;

namespace {

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
