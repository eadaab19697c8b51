// Help, Ask a question…: typed with real keys, and where the answers lead.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/lessons/lessons.h"
#include "tests/app/palette_bench.h"

using namespace headwise;

namespace {

void ask(WindowBench& bench, std::string_view question) {
  bench.ui->click("menu/Help").click("menu/Ask a question…").run_frames(2).type(question).run_frames(2);
}

}  // namespace

TEST_CASE("a term leads to its section of the documentation, which is scrolled to") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  ask(bench, "what does a temperature mean");
  REQUIRE(bench.ui->has("palette/answered"));
  const std::vector<std::string> names = listed(bench);
  const auto term = std::ranges::find(names, "Temperature");
  REQUIRE(term != names.end());
  for (auto at = names.begin(); at != term; ++at) bench.ui->key("Down");
  bench.ui->key("Enter").run_frames(4);
  REQUIRE(bench.ui->has("overlay/docs"));
  CHECK_FALSE(bench.ui->has("overlay/palette"));
  const DocSheetState& docs = bench.state().dialogs.docs;
  CHECK(doc_pages()[static_cast<std::size_t>(docs.page)].name == "glossary");
  CHECK(bench.ui->has("says/Temperature"));
  CHECK_FALSE(bench.ui->has("says/ALiBi"));  // at the top of the page
  bench.ui->key("Home");
  CHECK(bench.ui->has("says/ALiBi"));  // it can be scrolled away from
  bench.ui->key("Escape");

  // A second answer on the page that is already open in the sheet's state
  ask(bench, "kv cache");
  REQUIRE(listed(bench).front() == "KV cache");
  bench.ui->click("palette/entry/0").run_frames(4);
  CHECK(bench.ui->has("says/cache"));
  CHECK_FALSE(bench.ui->has("says/ALiBi"));
}

TEST_CASE("a question leads to the page of a lesson, any of them") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  ask(bench, "what if the attention is too hot");
  REQUIRE_FALSE(listed(bench).empty());
  CHECK(listed(bench).front() == "Too hot");
  bench.ui->key("Enter").run_frames(2);
  REQUIRE(bench.walk().page);
  CHECK(bench.walk().shown()->title == "Too hot");
}

TEST_CASE("a command is done, a setting gets the keyboard") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  ask(bench, "switch the causal mask");
  const std::vector<std::string> names = listed(bench);
  const auto command = std::ranges::find(names, "Causal mask");
  REQUIRE(command != names.end());
  std::size_t place = static_cast<std::size_t>(command - names.begin());
  if (palette(bench).entries[palette(bench).matches[place].entry].from == "Glossary")
    place = static_cast<std::size_t>(std::find(command + 1, names.end(), "Causal mask") - names.begin());
  REQUIRE(place < names.size());
  for (std::size_t i = 0; i < place; ++i) bench.ui->key("Down");
  bench.ui->key("Enter").run_frames(2);
  CHECK(bench.scenario().mask.is_causal);
}

TEST_CASE("what is not its subject is not answered: the nearest pages are offered as such") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  ask(bench, "how do I train for a marathon");
  CHECK(bench.ui->has("palette/nearest"));
  CHECK_FALSE(bench.ui->has("palette/answered"));
  CHECK_FALSE(listed(bench).empty());
  bench.ui->key("Escape");
  ask(bench, "recipe for soup");
  CHECK(listed(bench).empty());
  CHECK(bench.ui->has("palette/nothing"));
  bench.ui->key("Enter");  // nowhere to go
  CHECK(palette(bench).open);
}

TEST_CASE("until something is asked the questions of the lessons are suggested") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  ask(bench, "");
  CHECK(listed(bench).size() == question_entries().size());
  bench.ui->type("mask");
  CHECK(palette(bench).entries.size() > question_entries().size());
  for (int i = 0; i < 4; ++i) bench.ui->key("Backspace");
  CHECK(listed(bench).size() == question_entries().size());
}

TEST_CASE("a question among the commands finds its answers behind what is named so") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  ask_for(bench, "what does CLS mean");
  const std::vector<std::string> names = listed(bench);
  CHECK(std::ranges::count(names, "CLS") == 1);
  bench.ui->key("Escape");
  ask_for(bench, "all heads muted");
  std::vector<std::string> found = listed(bench);
  CHECK(std::ranges::find(found, "All heads muted") != found.end());
}
