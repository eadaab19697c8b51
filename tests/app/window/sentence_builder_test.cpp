// The sentence builder: every choice is an edit of the text, by mouse and by keyboard,
// and undo takes it back.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/model/files/sentence_patterns.h"
#include "core/scenario/text_inputs.h"
#include "tests/app/keyboard_bench.h"
#include "tests/app/palette_bench.h"

using namespace headwise;

namespace {

const std::string welcome = "the animal did not cross the street because it was too tired .";

WindowBench open_builder(int width = 1600, int height = 1000) {
  WindowBench bench = open_window(width, height, preset_scenario("welcome"));
  if (!bench.ui) return bench;
  bench.ui->click("setup/builder");
  bench.ui->run_until_still();
  return bench;
}

const std::string& text_of(const WindowBench& bench) {
  return bench.scenario().inputs.text;
}

// The welcome sentence with the verb that stands `by` places further in the list.
std::string with_verb(std::size_t by) {
  const auto patterns = SentencePatterns::in_folder("builtin:sentences");
  REQUIRE(patterns);
  auto sentence = patterns->recognised(welcome);
  REQUIRE(sentence);
  const std::vector<std::string>& verbs = patterns->patterns()[sentence->pattern].verbs;
  const auto at = std::ranges::find(verbs, "cross") - verbs.begin();
  REQUIRE(static_cast<std::size_t>(at) + by < verbs.size());
  sentence->at(SentencePlace::verb) = verbs[static_cast<std::size_t>(at) + by];
  return patterns->text(*sentence);
}

// The name of a pattern in which this noun did not do something to the other one.
std::string pattern_with(const std::string& subject, const std::string& object) {
  const auto patterns = SentencePatterns::in_folder("builtin:sentences");
  REQUIRE(patterns);
  const auto has = [](const std::vector<std::string>& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  };
  for (const SentencePattern& pattern : patterns->patterns())
    if (has(pattern.subjects, subject) && has(pattern.objects, object)) return pattern.name;
  return "";
}

void choose(WindowBench& bench, const std::string& place, const std::string& word) {
  bench.ui->click("builder/" + place);
  bench.ui->run_until_still();
  REQUIRE(bench.ui->has("builder/" + place + "/filter"));
  bench.ui->type(word);
  bench.ui->key("Enter");
  bench.ui->run_until_still();
}

}  // namespace

TEST_CASE("the builder opens on the sentence of the text, and a word chosen from a list is an edit") {
  WINDOW_OR_SKIP(bench, open_builder());
  CHECK_FALSE(bench.ui->has("builder/use"));
  CHECK(bench.ui->has("says/was"));
  bench.ui->click("builder/adjective");
  bench.ui->run_until_still();
  REQUIRE(bench.ui->has("builder/adjective/hungry"));
  bench.ui->click("builder/adjective/hungry");
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("builder/adjective/hungry"));
  CHECK(text_of(bench) == "the animal did not cross the street because it was too hungry .");
  CHECK(bench.session().inputs().labels.query[12] == "hungry");
  choose(bench, "adjective", "wid");
  CHECK(text_of(bench) == "the animal did not cross the street because it was too wide .");
  choose(bench, "subject", "lion");
  choose(bench, "verb", "reach");
  choose(bench, "object", "lake");
  CHECK(text_of(bench) == "the lion did not reach the lake because it was too wide .");
  for (int i = 0; i < 5; ++i) bench.ui->key("Ctrl+Z");
  CHECK(text_of(bench) == welcome);
  CHECK_FALSE(bench.session().history().can_undo());
}

TEST_CASE("letters typed in a list filter it and are no commands, and Escape closes it without a choice") {
  WINDOW_OR_SKIP(bench, open_builder());
  const Selection before = bench.selection();
  bench.ui->click("builder/subject");
  bench.ui->run_until_still();
  CHECK(bench.ui->has("builder/subject/dog"));
  bench.ui->type("c");
  bench.ui->key("C");  // the key of the causal mask
  bench.ui->key("Backspace");
  bench.ui->type("amel");
  bench.ui->run_until_still();
  CHECK(bench.ui->has("builder/subject/camel"));
  CHECK_FALSE(bench.ui->has("builder/subject/dog"));
  CHECK_FALSE(bench.scenario().mask.is_causal);
  bench.ui->key("Escape");
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("builder/subject/camel"));
  CHECK(text_of(bench) == welcome);
  CHECK(bench.selection() == before);
}

TEST_CASE("the arrow keys walk through a list, and Enter takes the word") {
  WINDOW_OR_SKIP(bench, open_builder());
  const Step step = bench.selection().step;
  REQUIRE(tab_to(bench, "builder/verb"));
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  REQUIRE(bench.ui->has("builder/verb/cross"));
  bench.ui->key("Down");
  bench.ui->key("Down");
  bench.ui->key("Up");
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK(text_of(bench) == with_verb(1));
  // The focus is back on the chip: its arrows choose at once, and all of them are one undo step.
  CHECK(is_inside(focus_of(bench), bench.ui->rect("builder/verb")));
  bench.ui->key("Down");
  bench.ui->key("Down");
  CHECK(text_of(bench) == with_verb(3));
  CHECK(bench.selection().step == step);
  bench.ui->key("Ctrl+Z");
  CHECK(text_of(bench) == with_verb(1));
}

TEST_CASE("another pattern keeps the words that fit, and the pronoun follows the nouns") {
  WINDOW_OR_SKIP(bench, open_builder());
  choose(bench, "pattern", pattern_with("queen", "street"));
  choose(bench, "subject", "man");
  CHECK(text_of(bench) == "the man did not cross the street because he was too tired .");
  choose(bench, "subject", "queen");
  CHECK(text_of(bench) == "the queen did not cross the street because she was too tired .");
  choose(bench, "adjective", "narrow");
  CHECK(text_of(bench) == "the queen did not cross the street because it was too narrow .");
}

TEST_CASE("Surprise me draws another sentence each time, all of which the model knows") {
  WINDOW_OR_SKIP(bench, open_builder());
  std::set<std::string> texts{text_of(bench)};
  for (int i = 0; i < 6; ++i) {
    bench.ui->click("builder/surprise");
    bench.ui->run_until_still();
    CHECK(texts.insert(text_of(bench)).second);
    REQUIRE(bench.session().inputs().model_input);
    CHECK(bench.session().inputs().model_input->text.notices.empty());
  }
  for (int i = 0; i < 6; ++i) bench.ui->key("Ctrl+Z");
  CHECK(text_of(bench) == welcome);
}

TEST_CASE("a text of one's own is kept until a word is chosen or the sentence is used") {
  WINDOW_OR_SKIP(bench, open_builder(1280, 720));
  bench.ui->click("setup/text");
  bench.ui->key("Ctrl+A");
  bench.ui->type("the dog was here .");
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK(text_of(bench) == "the dog was here .");
  REQUIRE(bench.ui->has("builder/use"));
  CHECK(bench.ui->rect("builder/use").max.x <= bench.ui->rect("setup/text").max.x);
  bench.ui->click("builder/use");
  bench.ui->run_until_still();
  CHECK(text_of(bench) == welcome);
  CHECK_FALSE(bench.ui->has("builder/use"));
  bench.ui->key("Ctrl+Z");
  CHECK(text_of(bench) == "the dog was here .");
  CHECK(bench.ui->has("builder/use"));
}

TEST_CASE("a model without patterns has no builder") {
  for (const char* preset : {"copycat", "hand_made"}) {
    WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario(preset)));
    CHECK_FALSE(bench.ui->has("setup/builder"));
  }
}

TEST_CASE("the command palette opens the builder") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("welcome")));
  ask_for(bench, "build a sentence");
  REQUIRE_FALSE(listed(bench).empty());
  CHECK(listed(bench).front() == "Setting: sentence builder");
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK(bench.ui->has("builder/surprise"));
  CHECK(is_inside(focus_of(bench), bench.ui->rect("setup/builder")));
}

TEST_CASE("Tab reaches every place of the builder, and every one says what it is") {
  WINDOW_OR_SKIP(bench, open_builder());
  for (const char* place : {"pattern", "subject", "verb", "object", "adjective", "surprise"}) {
    const std::string name = std::string("builder/") + place;
    CAPTURE(name);
    CHECK(tab_to(bench, name));
    bench.ui->key("Shift+F1");
    bench.ui->run_frames(2);
    CHECK(bench.ui->has("tooltip"));
  }
}

TEST_CASE(
    "in a small window with large type every chip stays inside the panel, and every list inside the window") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario("welcome"), 1.5f));
  bench.ui->click("tab/settings");
  bench.ui->run_frames(2);
  bench.ui->click("setup/builder");
  bench.ui->run_until_still();
  const UiRect panel = bench.ui->rect("panel/setup");
  for (const char* place : {"pattern", "subject", "verb", "object", "adjective"}) {
    const std::string name = std::string("builder/") + place;
    CAPTURE(name);
    CHECK(bench.ui->rect(name).max.x <= panel.max.x);
    REQUIRE(tab_to(bench, name));
    bench.ui->key("Enter");
    bench.ui->run_until_still();
    REQUIRE(bench.ui->has(name + "/filter"));
    const UiRect list = bench.ui->rect(name + "/filter");
    CHECK(list.min.y >= 0.0f);
    CHECK(list.max.y <= 720.0f);
    CHECK(list.max.x <= 1280.0f);
    bench.ui->key("Escape");
    bench.ui->run_until_still();
  }
}

TEST_CASE("Surprise me draws by its seed: another start of the program gives other sentences") {
  const auto drawn = [](std::uint64_t seed) {
    WindowBench bench = open_builder();
    std::vector<std::string> texts;
    if (!bench.ui) return texts;
    bench.window->state().view.setup.builder.drawn = seed;
    for (int i = 0; i < 3; ++i) {
      bench.ui->click("builder/surprise");
      bench.ui->run_until_still();
      texts.push_back(text_of(bench));
    }
    return texts;
  };
  const std::vector<std::string> one = drawn(1764028800);
  CHECK(drawn(1764028800) == one);
  if (!one.empty()) CHECK(drawn(1764028861) != one);
}
