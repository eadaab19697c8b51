#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

#include "app/session/commands.h"
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
