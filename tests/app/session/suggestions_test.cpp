#include "app/session/suggestions.h"

#include <doctest/doctest.h>

#include <set>

using namespace headwise;

TEST_CASE("every suggestion has a name of its own, a line, and its place") {
  std::set<std::string_view> names;
  CHECK(suggestion_entries().size() == suggestion_count);
  for (std::size_t i = 0; i < suggestion_count; ++i) {
    const SuggestionEntry& entry = suggestion_entries()[i];
    CHECK(static_cast<std::size_t>(entry.id) == i);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.text.empty());
  }
}

TEST_CASE("a suggestion comes when it fits, once, and all come in the end") {
  CHECK(next_suggestion({}, {}) == Suggestion::ask);
  CHECK(next_suggestion({}, {.model = true}) == Suggestion::heads_of_model);
  CHECK(next_suggestion({}, {.model = true, .pinned = true}) == Suggestion::all_the_way);
  CHECK(next_suggestion({}, {.muted = true}) == Suggestion::is_it_the_same);
  CHECK(next_suggestion({}, {.stepped = true}) == Suggestion::timeline);
  SuggestionSet dragged;
  dragged.set(static_cast<std::size_t>(Suggestion::timeline));
  CHECK(next_suggestion(dragged, {.stepped = true}) == Suggestion::train);
  CHECK(next_suggestion({}, {.own_text = true}) == Suggestion::cross_attention);
  const SuggestionContext everything{true, true, true, true, true, 100};
  SuggestionSet done;
  for (std::size_t i = 0; i < suggestion_count; ++i) {
    const auto next = next_suggestion(done, everything);
    REQUIRE(next);
    CHECK_FALSE(done[static_cast<std::size_t>(*next)]);
    done.set(static_cast<std::size_t>(*next));
  }
  CHECK_FALSE(next_suggestion(done, everything));
}

TEST_CASE("a command answers its suggestion, however it is invoked") {
  CHECK(suggestion_of(CommandId::spotlight) == Suggestion::spotlight);
  CHECK(suggestion_of(CommandId::new_playlist) == Suggestion::playlist);
  CHECK_FALSE(suggestion_of(CommandId::quit));
}
