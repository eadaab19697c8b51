// The commands, those that are suggested, and how one is found by some letters of its name.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "app/session/commands.h"
#include "app/session/fuzzy_match.h"
#include "app/session/suggestions.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("every command has a name and says what it does, in one line") {
  CHECK(command_entries().size() == command_count);
  for (const CommandEntry& entry : command_entries()) {
    INFO(entry.name);
    CHECK_FALSE(entry.name.empty());
    CHECK_FALSE(entry.what.empty());
    CHECK(entry.what.size() < 90);
    CHECK(entry.what.find('\n') == std::string_view::npos);
    CHECK(&command_entry(entry.id) == &entry);
  }
}

TEST_CASE("the commands stand in the order of CommandId, each by its name there") {
  std::ifstream file(HEADWISE_SOURCE_DIR "/app/session/commands.h");
  const std::string header(std::istreambuf_iterator<char>(file), {});
  std::string ids = "enum class CommandId : int {\n";
  for (const CommandEntry& entry : command_entries()) ids += "  " + std::string(entry.word) + ",\n";
  CHECK_CONTAINS(header, ids + "};");
}

TEST_CASE("no two commands share a key") {
  std::set<std::tuple<int, bool, bool, bool>> seen;
  for (const CommandEntry& entry : command_entries()) {
    for (const KeyChord& chord : entry.keys) {
      if (chord.key == Key::none) continue;
      for (int i = 0; i < entry.key_count; ++i) {
        INFO(entry.name, " ", chord_text(chord));
        CHECK(seen.insert({static_cast<int>(chord.key) + i, chord.ctrl, chord.shift, chord.alt}).second);
      }
    }
  }
  CHECK(seen.size() > 30);
}

TEST_CASE("a chord finds its command, with the digit as argument") {
  CHECK(find_command({letter('Z'), true, false}) == CommandCall{CommandId::undo});
  CHECK(find_command({letter('Y'), true, false}) == CommandCall{CommandId::redo});
  CHECK(find_command({letter('Z'), true, true}) == CommandCall{CommandId::redo});
  CHECK(find_command({Key::right, false, false}) == CommandCall{CommandId::next_step});
  CHECK(find_command({Key::page_up, false, false}) == CommandCall{CommandId::previous_page});
  CHECK(find_command({letter('7'), false, false}) == CommandCall{CommandId::look_at_head, 7});
  CHECK(find_command({Key::zero, true, false}) == CommandCall{CommandId::normal_text});
  CHECK(find_command({letter('Z'), false, false}) == CommandCall{CommandId::full_size});
  CHECK(find_command({letter('R'), false, false}) == CommandCall{CommandId::heads_of_model});
  CHECK_FALSE(find_command({letter('J'), false, false}).has_value());
  CHECK_FALSE(find_command({Key::none, false, false}).has_value());
  CHECK_FALSE(find_command({letter('7'), true, false}).has_value());
}

TEST_CASE("Shift with a letter means the letter, where it is no chord of its own") {
  CHECK(intended_chord({letter('A'), false, true}) == KeyChord{letter('A')});
  CHECK(intended_chord({letter('Z'), true, true}) == KeyChord{letter('Z'), true, true});
  CHECK(intended_chord({Key::right, false, true}) == KeyChord{Key::right, false, true});
  CHECK(intended_chord({letter('C'), false, true, true}) == KeyChord{letter('C'), false, true, true});
}

TEST_CASE("keys are named as they are printed on a keyboard") {
  CHECK(all_keys_text(CommandId::redo) == "Ctrl+Y or Ctrl+Shift+Z");
  CHECK(first_key_text(CommandId::next_step) == "→");
  CHECK(all_keys_text(CommandId::next_page) == "Page Down");
  CHECK(first_key_text(CommandId::look_at_head) == "0 … 9");
  CHECK(all_keys_text(CommandId::larger_text) == "Ctrl++ or Ctrl+keypad +");
  CHECK(first_key_text(CommandId::about).empty());
}

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

namespace {

// The text with the matched letters as capitals, all others small: "Next Head" for "nh".
std::string marked(std::string_view query, std::string_view text, FuzzyRule rule = FuzzyRule::subsequence) {
  const auto match = fuzzy_match(query, text, rule);
  if (!match) return "-";
  std::string shown(text);
  for (char& c : shown) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const std::size_t place : match->places)
    if (shown[place] >= 'a' && shown[place] <= 'z') shown[place] = static_cast<char>(shown[place] - 32);
  return shown;
}

int score(std::string_view query, std::string_view text) {
  const auto match = fuzzy_match(query, text);
  REQUIRE(match.has_value());
  return match->score;
}

}  // namespace

TEST_CASE("letters are found in their order, whatever lies between them") {
  CHECK(marked("nh", "Next head") == "Next Head");
  CHECK(marked("NXD", "next head") == "NeXt heaD");
  CHECK(marked("softmax", "Go to Softmax") == "go to SOFTMAX");
  CHECK(marked("hn", "Next head") == "-");
  CHECK(marked("next heads", "Next head") == "-");
  CHECK(marked("", "Next head") == "next head");
  CHECK(marked("a", "") == "-");
}

TEST_CASE("of several ways to match, beginnings of words and runs of letters are taken") {
  CHECK(marked("head", "the best of the heads: head") == "the best of the HEADs: head");
  CHECK(marked("st", "last step") == "last STep");
  CHECK(marked("lt", "normal or larger text") == "normal or Larger Text");
  CHECK(score("mask", "Causal mask") > score("mask", "Make a quick sketch"));
  CHECK(score("play", "Play") > score("play", "Re-play"));
  CHECK(score("sh", "Solo head") > score("sh", "push"));
}

TEST_CASE("by words, a letter inside a word counts only behind the one before it") {
  CHECK(marked("cell", "copy the number of the cell", FuzzyRule::words) == "copy the number of the CELL");
  CHECK(marked("ctn", "copy the number", FuzzyRule::words) == "Copy The Number");
  CHECK(marked("umber", "copy the number", FuzzyRule::words) == "-");
  CHECK(marked("cpy", "copy the number", FuzzyRule::words) == "-");
  CHECK(marked("zzz", "copy the number", FuzzyRule::words) == "-");
}

TEST_CASE("a query of any length and of any bytes is answered") {
  CHECK_FALSE(fuzzy_match(std::string(100'000, 'a'), "a").has_value());
  CHECK(fuzzy_match("ₕ", "Qₕ Kₕᵀ").has_value());
  CHECK_FALSE(fuzzy_match("\xff\xfe", "Qₕ Kₕᵀ").has_value());
  CHECK(query_words("  go\tto \n softmax ") == std::vector<std::string>{"go", "to", "softmax"});
  CHECK(query_words(" \t").empty());
  CHECK(query_words("why, \"softmax\"?") == std::vector<std::string>{"why", "softmax"});
  CHECK(query_words("?") == std::vector<std::string>{"?"});
}

TEST_CASE("of a question, the words that every question has are left out") {
  using Words = std::vector<std::string>;
  CHECK(content_words({"When", "are", "the", "heads", "cut"}) == Words{"heads", "cut"});
  CHECK(content_words({"is", "it", "the"}) == Words{"is", "it", "the"});
  CHECK(content_words({"the", "mask"}) == Words{"the", "mask"});
}
