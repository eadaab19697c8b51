// Typing a sentence for a model: words that it hardly knows are underlined,
// and words are completed without getting in the way.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/setup/typed_words.h"
#include "core/scenario/text_inputs.h"
#include "tests/app/keyboard_bench.h"
#include "tests/app/window/edit_bench.h"

using namespace headwise;

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
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK(dots(bench) > 10);
  const UiRect field = bench.ui->rect("setup/text");
  bench.ui->move_to(static_cast<double>(field.min.x) + 30, static_cast<double>(field.min.y) + 14);
  bench.ui->run_frames(3, 0.4);
  CHECK(bench.ui->has("tooltip"));
  const TypedWordsState& state = bench.window->state().view.setup.typed_words;
  REQUIRE(state.sentences.size() == 1);
  CHECK(state.sentences.front().starts_with("“gryphon” is split into "));
  CHECK(state.sentences.front().ends_with(" pieces, gr ##y ##ph ##on: the model knows it only by these."));
  type_into(bench, "setup/text", "the dog was here .");
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK(dots(bench) == 0);

  // copycat has a list of words and no pieces.
  WindowBench list = open_window(1600, 1000, preset_scenario("copycat"));
  type_into(list, "setup/text", "garden gryphon garden");
  list.ui->key("Enter");
  list.ui->run_until_still();
  CHECK(dots(list) > 10);
  const TypedWordsState& in_list = list.window->state().view.setup.typed_words;
  REQUIRE(in_list.sentences.size() == 1);
  CHECK(in_list.sentences.front() == "“gryphon” is not in the model's vocabulary: it is read as [UNK].");
}

TEST_CASE("words of a text without a model are not underlined") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("hand_made")));
  type_into(bench, "setup/text", "gryphon zzyzx");
  CHECK_FALSE(completes(bench));
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK(dots(bench) == 0);
}

TEST_CASE("on the axes an unknown word is underlined, and its name says what the model read") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, preset_scenario("copycat")));
  bench.window->state().view.selection.step = Step::softmax;
  bench.ui->run_until_still();
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
    bench.window->state().view.selection.view = view;
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
  REQUIRE(bench.ui->has("completion/animals"));
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
