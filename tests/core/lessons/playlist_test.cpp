// Playlists as values and as files.
#include "core/lessons/playlist.h"

#include <filesystem>
#include <fstream>

#include "core/attention/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

Playlist parsed(const std::string& pages) {
  return playlist_from_json("{\"headwise_playlist\": 1, \"pages\": " + pages + "}", "lesson.json");
}

}  // namespace

TEST_CASE("a page that says nothing shows the inputs of the hand-made heads") {
  const Playlist playlist = parsed("[{}]");
  REQUIRE(playlist.pages.size() == 1);
  const PlaylistPage& page = playlist.pages[0];
  CHECK(*page.scenario == preset_scenario("hand_made"));
  CHECK(page.step == Step::inputs);
  CHECK(page.view == StageView::one_head);
  CHECK(page.head == 0);
  CHECK_FALSE(page.tensor);
  CHECK_FALSE(page.pin);
  CHECK(page.caption.empty());
}

TEST_CASE(
    "what a page leaves out stays as it was on the page before, but for the cell, the tensor and the words") {
  const Playlist playlist = parsed(R"([
    {"scenario": "causal", "step": "weighted_sum", "view": "all_heads", "head": 3, "tensor": "head_output",
     "pin": {"tensor": "grad.scores", "index": [0, 3, 1, 2]}, "spotlight": true, "title": "A", "caption": "two\nlines"},
    {"step": "output"},
    {"scenario": "random", "caption": "another"}])");
  const PlaylistPage &first = playlist.pages[0], &second = playlist.pages[1], &third = playlist.pages[2];
  CHECK(first.tensor == TensorId::head_output);
  CHECK(first.pin == CellRef{{TensorId::scores, true}, {0, 3, 1, 2}});
  CHECK(first.spotlight);
  CHECK(first.caption == "two\nlines");
  CHECK(second.scenario == first.scenario);
  CHECK(second.step == Step::output);
  CHECK(second.view == StageView::all_heads);
  CHECK(second.head == 3);
  CHECK_FALSE(second.tensor);
  CHECK_FALSE(second.pin);
  CHECK_FALSE(second.spotlight);
  CHECK(second.caption.empty());
  CHECK(*third.scenario == preset_scenario("random"));
  CHECK(third.step == Step::output);
  CHECK(third.head == 0);
}

TEST_CASE("a page changes the scenario of the page before by settings, as --set does") {
  const Playlist playlist = parsed(
      R"([{"scenario": {"attention": {"embed_dim": 16, "num_heads": 2}}}, {"set": ["mask.is_causal=true"]},
          {"set": ["attention.scale=1", "heads.gain=[1, 0]"]}])");
  CHECK_FALSE(playlist.pages[0].scenario->mask.is_causal);
  CHECK(playlist.pages[1].scenario->mask.is_causal);
  CHECK(playlist.pages[2].scenario->mask.is_causal);
  CHECK(playlist.pages[2].scenario->attention.scale == 1.0);
  CHECK(playlist.pages[2].scenario->head_gain == std::vector<double>{1, 0});
}

TEST_CASE("scenario files are found beside the playlist, and the file names all of them once") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("lesson/parts"));
  std::ofstream(folder.file("lesson/parts/small.json"))
      << R"({"attention": {"embed_dim": 12}, "inputs": {"source": "file", "file": "rows.npz"}})";
  const std::string file = folder.file("lesson/list.json");
  std::ofstream(file) << R"({"headwise_playlist": 1, "title": "T", "pages": [
    {"scenario": "parts/small.json"}, {"scenario": "welcome"}, {"scenario": "parts/small.json", "head": 1}]})";
  const Playlist playlist = read_playlist_file(file);
  CHECK(playlist.title == "T");
  CHECK(playlist.pages[0].scenario->attention.embed_dim == 12);
  CHECK(playlist.pages[2].scenario == playlist.pages[0].scenario);

  // Written elsewhere, it names the arrays as they are seen from there.
  const std::string other = folder.file("elsewhere.json");
  write_playlist_file(playlist, other);
  const Playlist again = read_playlist_file(other);
  CHECK(again.pages[0].scenario->inputs.file == "lesson/parts/rows.npz");
  CHECK(again.pages[0].scenario->origin.folder + "/" == folder.file(""));
}

TEST_CASE("a playlist that is written reads back the same") {
  const Playlist playlist = parsed(R"([
    {"scenario": "welcome", "step": "split_heads", "tensor": "k_heads", "head": 2, "caption": "ein Käfer: ❄"},
    {"head": 0, "set": ["inputs.text=The \"cat\""]},
    {"scenario": "grouped_query", "step": "softmax", "view": "gradients", "head": 7,
     "pin": {"tensor": "attn_weights", "index": [0, 7, 1, 1]}, "title": "Last", "ask": "{E}?", "caption": "{scores[0,0,0,0]}", "spotlight": true},
    {"view": "one_head"}])");
  CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
}

TEST_CASE("every step and every view has a word that is read back") {
  for (const StepEntry& entry : step_entries()) {
    const Playlist playlist = parsed("[{\"step\": \"" + step_word(entry.step) + "\"}]");
    CHECK(playlist.pages[0].step == entry.step);
  }
  for (int view = 0; view < stage_view_count; ++view) {
    const std::string word(stage_view_words[static_cast<std::size_t>(view)]);
    CHECK(parsed("[{\"view\": \"" + word + "\"}]").pages[0].view == static_cast<StageView>(view));
  }
}

TEST_CASE("a page says what stands beside it in the view compare, and only there") {
  for (const char* word : {"one_wide_head", "packed", "separate", "per_head", "scale", "mask"}) {
    const Playlist playlist =
        parsed(std::string("[{\"view\": \"compare\", \"beside\": \"") + word + "\"}, {}]");
    REQUIRE(playlist.pages[0].beside);
    CHECK(compare_word(*playlist.pages[0].beside) == word);
    CHECK_FALSE(playlist.pages[1].beside);
    CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
  }
  CHECK_THROWS_WITH_AS(parsed(R"([{"view": "compare", "beside": "pinned"}])"),
                       doctest::Contains("one_wide_head"), Error);
  CHECK_THROWS_WITH_AS(parsed(R"([{"view": "tokens", "beside": "mask"}])"),
                       doctest::Contains("only the view compare"), Error);
}

TEST_CASE("the lines and the loss of a page are its own, and are read back") {
  const Playlist playlist = parsed(R"([
    {"step": "softmax", "view": "tokens", "lines": {"share": 0.95, "per": "key"}}, {},
    {"view": "gradients", "loss": "first_cell"}, {}])");
  CHECK(playlist.pages[0].lines == TokenLines{2, true});
  CHECK(playlist.pages[1].lines == TokenLines{});
  CHECK(playlist.pages[2].loss == Loss::first_cell);
  CHECK_FALSE(playlist.pages[3].loss);
  CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
}

TEST_CASE(
    "where a page asks, how it writes masks and what it compares with belong to it alone, and are read "
    "back") {
  const Playlist playlist = parsed(R"([
    {"step": "softmax", "view": "compare", "beside": "one_wide_head", "masks_as": "true_keeps",
     "ask": "What?", "ask_step": "mask", "ask_view": "all_heads", "caption": "That.", "keywords": "wide single"},
    {"ask": "And?", "caption": "This."}])");
  const PlaylistPage &first = playlist.pages[0], &second = playlist.pages[1];
  CHECK(first.beside == CompareWith::one_wide_head);
  CHECK(first.masks_as == MaskConvention::true_keeps);
  CHECK(first.ask_step == Step::mask);
  CHECK(first.ask_view == StageView::all_heads);
  CHECK(first.keywords == "wide single");
  CHECK(first.asks_elsewhere());
  CHECK_FALSE(second.beside);
  CHECK_FALSE(second.masks_as);
  CHECK_FALSE(second.asks_elsewhere());
  CHECK(second.keywords.empty());
  const Playlist again = playlist_from_json(playlist_to_json(playlist), "again");
  CHECK(again == playlist);
  Playlist other = again;
  other.pages[0].ask_step.reset();
  CHECK_FALSE(other == playlist);
}

TEST_CASE("a file is a playlist by its first key and nothing else") {
  CHECK(is_playlist(R"({"headwise_playlist": 1, "pages": [{}]})"));
  CHECK(is_playlist(R"({"headwise_playlist": "?"})"));
  // One that forgets the first key is told so, in place of what a scenario has not.
  CHECK(is_playlist(R"({"title": "?", "pages": [{}]})"));
  CHECK_FALSE(is_playlist(R"({"headwise": 1})"));
  CHECK_FALSE(is_playlist(R"({"headwise": 1, "inputs": {"text": "the \"pages\""}})"));
  CHECK_FALSE(is_playlist("[1]"));
  CHECK_FALSE(is_playlist("{\"headwise_playlist\""));
}

TEST_CASE("a page says what of it the trace does not have") {
  const ScenarioInputs inputs = make_scenario_inputs(preset_scenario("hand_made"), DType::f32);
  const TracePtr trace = reference_forward(inputs.attention);
  const auto problem = [&](const std::string& page) {
    return page_problem(parsed("[" + page + "]").pages[0], *trace);
  };
  CHECK(problem("{}") == "");
  CHECK(problem(R"({"caption": "{scores[0,0,0,0]} of {E}"})") == "");
  CHECK_CONTAINS(problem(R"({"caption": "{scoers[0]}"})"), "scores");
  CHECK(problem(R"({"head": 8})") == "there is no head 8: 8 heads, counted from 0");
  CHECK(problem(R"({"batch": 1})").starts_with("there is no batch 1"));
  CHECK(problem(R"({"tensor": "attn_mask"})") == "this scenario has no tensor attn_mask");
  CHECK(problem(R"({"pin": {"tensor": "scores", "index": [0, 0, 0, 0]}})") == "");
  CHECK(problem(R"({"pin": {"tensor": "scores", "index": [0, 0, 99, 0]}})")
            .starts_with("scores[0,0,99,0] lies outside"));
  CHECK(problem(R"({"pin": {"tensor": "scores", "index": [0, 0]}})").starts_with("an index of 2 numbers"));
}
