// Pages whose models are trained when they are first shown: in the background, and given up with Escape.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "core/files/made_folders.h"
#include "tests/app/window/playlist_bench.h"

using namespace headwise;

namespace {

// A training that no other test asks for, and that takes a second or more.
constexpr const char* trained_page = R"({ "headwise_playlist": 1, "pages": [
  { "scenario": "hand_made", "step": "scores", "caption": "First." },
  { "scenario": { "headwise": 1, "inputs": { "source": "text", "text": "a b c" },
      "parameters": { "source": "model", "layer": 0, "file": "builtin:trained/reverse,width=64,heads=4,seed=%/400" } },
    "step": "softmax", "ask": "How many heads?", "caption": "{H}.",
    "answer": { "kind": "number", "is": "H" } } ] })";

std::string with_seed(const char* seed) {
  std::string text = trained_page;
  return text.replace(text.find('%'), 1, seed);
}

}  // namespace

TEST_CASE("a page's model is trained beside the window, which says so, and Escape gives the page up") {
  WindowBench bench = open_window(1280, 720);
  if (!bench.ui) return;
  bench.ui->rasterise(false);
  const TemporaryFolder folder;
  const std::string model = "builtin:trained/reverse,width=64,heads=4,seed=77/400";
  drop(bench, folder.with_file("lesson.json", with_seed("77")));
  PlaylistWalk& walk = bench.window->state().document.walk;
  REQUIRE(walk.page == 0);
  CHECK(needs_making(model));  // opening the playlist has not waited for it
  bench.ui->key("PageDown");
  REQUIRE(bench.session().computing());
  CHECK(walk.words.ask.starts_with("The model of this page is trained now"));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  bench.ui->run_frames(2);
  if (bench.session().computing()) {  // on a very fast machine it is there already
    CHECK(walk.words.ask.find("%. Esc gives up.") != std::string::npos);
    bench.ui->key("Escape");
    bench.ui->run_frames(3);
    CHECK(walk.page == 0);
    CHECK_FALSE(bench.session().computing());
    CHECK(bench.selection().step == Step::scores);
    CHECK(walk.words.caption == "First.");
    bench.ui->key("PageDown");
  }
  bench.window->state().document.session.finish();
  bench.ui->run_until_still();
  CHECK(walk.page == 1);
  CHECK(bench.session().error().empty());
  CHECK_FALSE(needs_making(model));
  CHECK(bench.selection().step == Step::softmax);
  CHECK(bench.scenario().attention.num_heads == 4);
  CHECK(bench.session().scenario() == bench.session().traced_scenario());
  CHECK(walk.words.key.number == 4.0);
}
