// A text put together from the words that its model knows, and typed with their help.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "app/panels/typed_words.h"
#include "core/model/files/sentence_patterns.h"
#include "core/scenario/text_inputs.h"
#include "tests/app/keyboard_bench.h"
#include "tests/app/palette_bench.h"
#include "tests/app/window/edit_bench.h"

using namespace headwise;

namespace {

const std::string welcome = "the animal did not cross the street because it was too tired .";

WindowBench open_builder(int width = 1600, int height = 1000) {
  WindowBench bench = open_unpainted(width, height, preset_scenario("welcome"));
  if (!bench.ui) return bench;
  bench.ui->click("setup/builder").run_until_still();
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
  bench.ui->click("builder/" + place).run_until_still();
  REQUIRE(bench.ui->has("builder/" + place + "/filter"));
  bench.ui->type(word).key("Enter").run_until_still();
}

}  // namespace

TEST_CASE("the builder opens on the sentence of the text, and a word chosen from a list is an edit") {
  WINDOW_OR_SKIP(bench, open_builder());
  CHECK_FALSE(bench.ui->has("builder/use"));
  CHECK(bench.ui->has("says/was"));
  bench.ui->click("builder/adjective").run_until_still();
  bench.ui->click("builder/adjective/hungry").run_until_still();
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
  bench.ui->click("builder/subject").run_until_still();
  CHECK(bench.ui->has("builder/subject/dog"));
  bench.ui->type("c");
  bench.ui->key("C");  // the key of the causal mask
  bench.ui->key("Backspace").type("amel").run_until_still();
  CHECK(bench.ui->has("builder/subject/camel"));
  CHECK_FALSE(bench.ui->has("builder/subject/dog"));
  CHECK_FALSE(bench.scenario().mask.is_causal);
  bench.ui->key("Escape").run_until_still();
  CHECK_FALSE(bench.ui->has("builder/subject/camel"));
  CHECK(text_of(bench) == welcome);
  CHECK(bench.selection() == before);
}

TEST_CASE("the arrow keys walk through a list, and Enter takes the word") {
  WINDOW_OR_SKIP(bench, open_builder());
  const Step step = bench.selection().step;
  REQUIRE(tab_to(bench, "builder/verb"));
  bench.ui->key("Enter").run_until_still();
  REQUIRE(bench.ui->has("builder/verb/cross"));
  bench.ui->key("Down").key("Down").key("Up").key("Enter").run_until_still();
  CHECK(text_of(bench) == with_verb(1));
  // The focus is back on the chip: its arrows choose at once, and all of them are one undo step.
  CHECK(is_inside(focus_of(bench), bench.ui->rect("builder/verb")));
  bench.ui->key("Down").key("Down");
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
    bench.ui->click("builder/surprise").run_until_still();
    CHECK(texts.insert(text_of(bench)).second);
    REQUIRE(bench.session().inputs().model_input);
    CHECK(bench.session().inputs().model_input->text.notices.empty());
  }
  for (int i = 0; i < 6; ++i) bench.ui->key("Ctrl+Z");
  CHECK(text_of(bench) == welcome);
}

TEST_CASE("a text of one's own is kept until a word is chosen or the sentence is used") {
  WINDOW_OR_SKIP(bench, open_builder(1280, 720));
  bench.ui->click("setup/text").key("Ctrl+A").type("the dog was here .").key("Enter").run_until_still();
  CHECK(text_of(bench) == "the dog was here .");
  CHECK(bench.ui->rect("builder/use").max.x <= bench.ui->rect("setup/text").max.x);
  bench.ui->click("builder/use").run_until_still();
  CHECK(text_of(bench) == welcome);
  CHECK_FALSE(bench.ui->has("builder/use"));
  bench.ui->key("Ctrl+Z");
  CHECK(text_of(bench) == "the dog was here .");
  CHECK(bench.ui->has("builder/use"));
}

TEST_CASE("a model without patterns has no builder") {
  for (const char* preset : {"copycat", "hand_made"}) {
    WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000, preset_scenario(preset)));
    CHECK_FALSE(bench.ui->has("setup/builder"));
  }
}

TEST_CASE("the command palette opens the builder") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000, preset_scenario("welcome")));
  ask_for(bench, "build a sentence");
  REQUIRE_FALSE(listed(bench).empty());
  CHECK(listed(bench).front() == "Setting: sentence builder");
  bench.ui->key("Enter").run_until_still();
  CHECK(bench.ui->has("builder/surprise"));
  CHECK(is_inside(focus_of(bench), bench.ui->rect("setup/builder")));
}

TEST_CASE("Tab reaches every place of the builder, and every one says what it is") {
  WINDOW_OR_SKIP(bench, open_builder());
  for (const char* place : {"pattern", "subject", "verb", "object", "adjective", "surprise"}) {
    const std::string name = std::string("builder/") + place;
    CAPTURE(name);
    CHECK(tab_to(bench, name));
    bench.ui->key("Shift+F1").run_frames(2);
    CHECK(bench.ui->has("tooltip"));
  }
}

TEST_CASE("in a small window with large type chips stay inside the panel, and lists inside the window") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, preset_scenario("welcome"), 1.5f));
  bench.ui->click("tab/settings").run_frames(2).click("setup/builder").run_until_still();
  const UiRect panel = bench.ui->rect("panel/setup");
  for (const char* place : {"pattern", "subject", "verb", "object", "adjective"}) {
    const std::string name = std::string("builder/") + place;
    CAPTURE(name);
    CHECK(bench.ui->rect(name).max.x <= panel.max.x);
    REQUIRE(tab_to(bench, name));
    bench.ui->key("Enter").run_until_still();
    REQUIRE(bench.ui->has(name + "/filter"));
    const UiRect list = bench.ui->rect(name + "/filter");
    CHECK(list.min.y >= 0.0f);
    CHECK(list.max.y <= 720.0f);
    CHECK(list.max.x <= 1280.0f);
    bench.ui->key("Escape").run_until_still();
  }
}

TEST_CASE("Surprise me draws by its seed: another start of the program gives other sentences") {
  const auto drawn = [](std::uint64_t seed) {
    WindowBench bench = open_builder();
    std::vector<std::string> texts;
    if (!bench.ui) return texts;
    bench.state().view.setup.builder.drawn = seed;
    for (int i = 0; i < 3; ++i) {
      bench.ui->click("builder/surprise").run_until_still();
      texts.push_back(text_of(bench));
    }
    return texts;
  };
  const std::vector<std::string> one = drawn(1764028800);
  CHECK(drawn(1764028800) == one);
  if (!one.empty()) CHECK(drawn(1764028861) != one);
}

namespace {

WindowBench open_welcome(int width = 1600, int height = 1000) {
  return open_window(width, height, preset_scenario("welcome"));
}

const std::string& typed(const WindowBench& bench) {
  return bench.scenario().inputs.text;
}

// Pixels of the colour of warnings in a part of the window: the dots below words.
int dots(const WindowBench& bench, std::string_view where = "setup/text") {
  const Rgba8 color = palette_of(Theme::dark).warning;
  const std::vector<std::uint8_t> pixels = part(bench, where);
  int count = 0;
  for (std::size_t i = 0; i + 3 < pixels.size(); i += 4)
    count += pixels[i] == color.r && pixels[i + 1] == color.g && pixels[i + 2] == color.b ? 1 : 0;
  return count;
}

bool completes(const WindowBench& bench) {
  return std::ranges::any_of(bench.ui->names(),
                             [](const std::string& name) { return name.starts_with("completion/"); });
}

}  // namespace

TEST_CASE("a word that the model does not know is underlined, and says why under the mouse") {
  WINDOW_OR_SKIP(bench, open_welcome());
  CHECK(dots(bench) == 0);
  type_into(bench, "setup/text", "gryphon was here .");
  bench.ui->key("Enter").run_until_still();
  CHECK(dots(bench) > 10);
  const UiRect field = bench.ui->rect("setup/text");
  bench.ui->move_to(static_cast<double>(field.min.x) + 30, static_cast<double>(field.min.y) + 14);
  bench.ui->run_frames(3, 0.4);
  CHECK(bench.ui->has("tooltip"));
  const TypedWordsState& state = bench.state().view.setup.typed_words;
  REQUIRE(state.sentences.size() == 1);
  CHECK(state.sentences.front().starts_with("“gryphon” is split into "));
  CHECK(state.sentences.front().ends_with(" pieces, gr ##y ##ph ##on: the model knows it only by these."));
  type_into(bench, "setup/text", "the dog was here .");
  bench.ui->key("Enter").run_until_still();
  CHECK(dots(bench) == 0);

  // copycat has a list of words and no pieces.
  WindowBench list = open_window(1600, 1000, preset_scenario("copycat"));
  type_into(list, "setup/text", "garden gryphon garden");
  list.ui->key("Enter").run_until_still();
  CHECK(dots(list) > 10);
  const TypedWordsState& in_list = list.window->state().view.setup.typed_words;
  REQUIRE(in_list.sentences.size() == 1);
  CHECK(in_list.sentences.front() == "“gryphon” is not in the model's vocabulary: it is read as [UNK].");
}

TEST_CASE("words of a text without a model are not underlined") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("hand_made")));
  type_into(bench, "setup/text", "gryphon zzyzx");
  CHECK_FALSE(completes(bench));
  bench.ui->key("Enter").run_until_still();
  CHECK(dots(bench) == 0);
}

TEST_CASE("on the axes an unknown word is underlined, and its name says what the model read") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("copycat")));
  bench.show(Step::softmax);
  const int before = dots(bench, "panel/stage");
  type_into(bench, "setup/text", "garden gryphon lamp zzyzx");
  const std::vector<std::string>& labels = bench.session().inputs().labels.query;
  const std::vector<std::string>& read = bench.session().inputs().model_input->text.labels;
  REQUIRE(labels.size() == read.size());
  CHECK(std::ranges::count(read, "[UNK]") == 2);
  for (const char* word : {"gryphon", "zzyzx"}) {
    const auto found = std::ranges::find(labels, std::string(word) + " → [UNK]");
    REQUIRE(found != labels.end());
    CHECK(read[static_cast<std::size_t>(found - labels.begin())] == "[UNK]");
  }
  CHECK(std::ranges::count(labels, "lamp") == 1);
  for (const StageView view : {StageView::one_head, StageView::tokens}) {
    bench.selection().view = view;
    bench.ui->run_until_still();
    CHECK(dots(bench, "panel/stage") > before + 20);
  }
}

TEST_CASE("Tab takes the first word that completes what is typed, as part of the typing") {
  WINDOW_OR_SKIP(bench, open_welcome());
  const std::string before = typed(bench);
  type_into(bench, "setup/text", "the a");
  CHECK_FALSE(completes(bench));
  bench.ui->type("nima");
  REQUIRE(bench.ui->has("completion/animal"));
  bench.ui->key("Tab");
  CHECK(typed(bench) == "the animal");
  CHECK_FALSE(completes(bench));
  bench.ui->type(" slept");
  CHECK(typed(bench) == "the animal slept");
  bench.ui->key("Ctrl+Z");
  CHECK(typed(bench) == before);
}

TEST_CASE("a click takes a word of the list, and typing goes on behind it") {
  WINDOW_OR_SKIP(bench, open_welcome());
  type_into(bench, "setup/text", "the anima");
  bench.ui->click("completion/animals");
  CHECK(typed(bench) == "the animals");
  CHECK_FALSE(completes(bench));
  bench.ui->type(" slept");
  CHECK(typed(bench) == "the animals slept");
}

TEST_CASE("Escape closes the list and leaves the typing, which goes on") {
  WINDOW_OR_SKIP(bench, open_welcome());
  type_into(bench, "setup/text", "the anima");
  REQUIRE(completes(bench));
  bench.ui->key("Escape");
  CHECK_FALSE(completes(bench));
  bench.ui->type("x");
  CHECK(typed(bench) == "the animax");
  bench.ui->key("Escape");  // now it leaves the field
  CHECK(focus_of(bench).focused == 0);
}

TEST_CASE("the list takes neither Enter nor the arrow keys from the field, and Shift+Tab moves on") {
  WINDOW_OR_SKIP(bench, open_welcome());
  type_into(bench, "setup/text", "the anima");
  REQUIRE(completes(bench));
  bench.ui->key("Left");
  CHECK_FALSE(completes(bench));  // the cursor is elsewhere
  bench.ui->type("x");
  CHECK(typed(bench) == "the animxa");
  type_into(bench, "setup/text", "the anima");
  bench.ui->key("Enter");
  CHECK(typed(bench) == "the anima");
  CHECK(focus_of(bench).focused == 0);
  CHECK_FALSE(completes(bench));
  type_into(bench, "setup/text", "the anima");
  bench.ui->key("Shift+Tab");
  CHECK(typed(bench) == "the anima");
  CHECK_FALSE(is_inside(focus_of(bench), bench.ui->rect("setup/text")));
  CHECK_FALSE(completes(bench));
}

TEST_CASE("without a list Tab goes to the next control, also behind a word") {
  WINDOW_OR_SKIP(bench, open_welcome());
  type_into(bench, "setup/text", "the zzyzx");
  CHECK_FALSE(completes(bench));
  bench.ui->key("Tab");
  CHECK(typed(bench) == "the zzyzx");
  CHECK_FALSE(is_inside(focus_of(bench), bench.ui->rect("setup/text")));
}
