// Pages whose models are trained when they are first shown, beside the window.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

#include "app/window/frame_snapshot.h"
#include "app/window/menu_bar.h"
#include "app/window/page_turns.h"
#include "app/window/window_commands.h"
#include "app/window/window_files.h"
#include "core/files/file_paths.h"
#include "core/lessons/lessons.h"
#include "tests/app/gated_models.h"
#include "tests/app/window/playlist_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

// Three pages after one that is there at once: each % is a model of its own.
constexpr const char* trained_pages = R"({ "headwise_playlist": 1, "title": "Trained", "pages": [
  { "scenario": "hand_made", "step": "scores", "caption": "First." },
  { "scenario": { "headwise": 1, "inputs": { "source": "text", "text": "garden river lamp" },
      "parameters": { "source": "model", "layer": 0, "file": "builtin:gated/%/1" } },
    "title": "Second", "step": "softmax", "view": "all_heads", "head": 1, "ask_step": "mask", "masks_as": "true_keeps",
    "pin": { "tensor": "attn_weights", "index": [0, 1, 2, 0] },
    "ask": "How many heads?", "caption": "{H}.", "answer": { "kind": "number", "is": "H" } },
  { "set": ["parameters.file=builtin:gated/%/2"], "step": "concat", "view": "compare", "beside": "one_wide_head",
    "caption": "Third: {shape q}." },
  { "scenario": "causal", "step": "softmax", "caption": "Fourth." } ] })";

std::string pages_of(const std::string& model, std::string text = trained_pages) {
  for (std::size_t at; (at = text.find('%')) != std::string::npos;) text.replace(at, 1, model);
  return text;
}

// The window as it runs: without pictures, and with models trained beside it.
WindowBench open_beside(int width = 1280, int height = 720) {
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  bench.ui->rasterise(false);
  bench.session().train_in_background(true);
  bench.state().view.settings.filmstrip = false;  // its pictures are trained for, too
  return bench;
}

void open_pages(WindowBench& bench, const TemporaryFolder& folder, const std::string& text) {
  drop(bench, folder.with_file("lesson.json", text));
}

PlaylistWalk& walk_of(WindowBench& bench) {
  return bench.walk();
}

// Frames, as they would be drawn, until nothing is on its way.
void let_arrive(WindowBench& bench) {
  while (bench.session().computing()) {
    bench.ui->run_frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bench.ui->run_until_still();
}

// All that is seen of a page, and can be done with it.
struct Seen {
  std::optional<std::size_t> page;
  Scenario scenario, traced;
  Selection selection;
  std::string words, undo, told, error;
  std::optional<MaskConvention> own_masks_as;
  std::optional<CompareWith> own_compare_with;
  std::optional<bool> own_queries_as_columns;
  bool answered = false;
  std::vector<std::string> names;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen_in(WindowBench& bench) {
  const PlaylistWalk& walk = walk_of(bench);
  return {walk.page,
          bench.scenario(),
          bench.session().traced_scenario(),
          bench.selection(),
          walk.words.ask + "|" + walk.words.caption + "|" + walk.words.key.shown,
          bench.session().undo_label(),
          last_edit_notice(bench.state().document),
          bench.session().error(),
          walk.own_choices.masks_as,
          walk.own_choices.beside,
          walk.own_choices.queries_as_columns,
          walk.answered,
          bench.ui->names()};
}

// The second page, which asks, its answer, the two pages after it, one page back, and out of the lesson.
constexpr std::array keys_through_pages{"PageDown", "PageDown", "PageDown", "PageDown", "PageUp", "Escape"};

}  // namespace

TEST_CASE("while a page's model is trained the window draws, and the caption says what is trained, how far") {
  ModelGate& gate = close_model_gate();
  WINDOW_OR_SKIP(bench, open_beside());
  const TemporaryFolder folder;
  open_pages(bench, folder, pages_of("caption"));
  REQUIRE(walk_of(bench).page == 0);
  CHECK(needs_making("builtin:gated/caption/1"));  // opening the playlist has not waited for it
  bench.ui->key("PageDown");
  CHECK(walk_of(bench).page == 1);
  CHECK(bench.ui->has("caption/heading"));
  CHECK_FALSE(bench.ui->has("caption/number"));  // nothing is asked yet
  for (const int percent : {0, 25, 50, 99}) {
    gate.fraction = percent / 100.0;
    while (bench.session().waiting().fraction < gate.fraction) std::this_thread::yield();
    bench.ui->run_frames(2);
    CHECK(walk_of(bench).words.ask ==
          fmt::format("Training this page’s model (caption, step 1): {} %. Esc cancels.", percent));
  }
  CHECK(bench.ui->result().wake_after <= 0.1);  // the percentage moves
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.scenario().parameters.file == std::nullopt);
  bench.ui->key("C");  // what is there can be changed meanwhile
  CHECK(bench.scenario().mask.is_causal);
  gate.open = true;
  let_arrive(bench);
  CHECK(bench.ui->has("caption/number"));
  CHECK(walk_of(bench).words.ask == "How many heads?");
  CHECK(walk_of(bench).words.key.number == 2.0);
  CHECK(bench.selection().step == Step::mask);
  CHECK(bench.scenario().parameters.file == "builtin:gated/caption/1");
}

TEST_CASE("Escape, undo, the next page and the page before give up a page whose model is being trained") {
  for (const char* key : {"Escape", "Ctrl+Z", "PageUp"}) {
    CAPTURE(key);
    ModelGate& gate = close_model_gate();
    WINDOW_OR_SKIP(bench, open_beside());
    const TemporaryFolder folder;
    open_pages(bench, folder, pages_of(std::string("turned") + key));
    bench.ui->key("PageDown");
    REQUIRE(bench.session().awaited());
    bench.ui->key("PageDown");  // it has not asked yet: the page after it
    CHECK(walk_of(bench).page == 2);
    REQUIRE(bench.session().awaited());
    CHECK(bench.session().awaited()->parameters.file->ends_with("/2"));
    const bool back = std::string_view(key) == "PageUp";
    bench.ui->key(key);
    CHECK(walk_of(bench).page == (back ? 1 : 0));
    CHECK(bench.session().computing() == back);
    if (back) bench.ui->key("PageUp");
    bench.session().finish();
    bench.ui->run_until_still();
    CHECK(walk_of(bench).page == 0);
    CHECK(bench.selection().step == Step::scores);
    CHECK(walk_of(bench).words.caption == "First.");
    CHECK(bench.scenario() == preset_scenario("hand_made"));
    CHECK(gate.given_up == gate.begun);
    bench.ui->key("PageDown").key("PageDown").key("PageDown");
    CHECK_FALSE(bench.session().computing());
    CHECK(walk_of(bench).page == 3);
    CHECK(walk_of(bench).words.caption == "Fourth.");
    CHECK(bench.selection().step == Step::softmax);
    gate.open = true;
    bench.ui->key("PageUp");
    let_arrive(bench);
    CHECK(walk_of(bench).page == 2);
    CHECK(bench.scenario().attention.num_heads == 2);
  }
}

TEST_CASE("while a page's model is trained on the full screen, the foot says what Escape does then") {
  ModelGate& gate = close_model_gate();
  WINDOW_OR_SKIP(bench, open_beside());
  const TemporaryFolder folder;
  open_pages(bench, folder, pages_of("foot"));
  bench.ui->key("F5").key("PageDown");
  REQUIRE(bench.session().awaited());
  CHECK(bench.ui->has("says/2 of 4 · Page Down goes on, Esc cancels"));
  gate.open = true;
  let_arrive(bench);
  CHECK(bench.ui->has("says/2 of 4 · Page Down goes on, Esc leaves full screen"));
}

TEST_CASE("a page that was given up, or has no model, takes over nothing of the page it was turned to from") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    ModelGate& gate = close_model_gate();
    gate.open = fails;
    WINDOW_OR_SKIP(bench, open_beside());
    const TemporaryFolder folder;
    open_pages(bench, folder, pages_of(fails ? "broken" : "left"));
    bench.ui->key("C").key("PageDown");
    if (fails) {
      let_arrive(bench);
      REQUIRE_FALSE(bench.session().error().empty());
      CHECK(bench.scenario().parameters.file == "builtin:gated/broken/1");
    } else {
      bench.ui->key("Escape");
      CHECK(bench.scenario() == preset_scenario("hand_made"));
    }
    bench.ui->key("Ctrl+Z").run_until_still();
    CHECK(walk_of(bench).page == 0);
    CHECK(bench.scenario().mask.is_causal);
    CHECK(walk_of(bench).words.edits == "causal mask on");
    CHECK(bench.session().error().empty());
  }
}

TEST_CASE("on a page that has no model undo and Escape do not show another page's scenario under its words") {
  ModelGate& gate = close_model_gate();
  gate.open = true;
  WINDOW_OR_SKIP(bench, open_beside());
  const TemporaryFolder folder;
  open_pages(bench, folder, pages_of("broken"));
  bench.ui->key("PageDown");
  let_arrive(bench);
  bench.ui->key("Ctrl+Z");
  CHECK(walk_of(bench).page == 1);
  CHECK(bench.scenario().parameters.file == "builtin:gated/broken/1");
  for (int i = 0; i < 3 && walk_of(bench).page; ++i) {
    CHECK(bench.scenario().parameters.file == "builtin:gated/broken/1");
    bench.ui->key("Escape");
  }
  CHECK_FALSE(walk_of(bench).page);
}

TEST_CASE("a page that was trained beside the window is the page that is trained at once") {
  ModelGate& gate = close_model_gate();
  const TemporaryFolder folder;
  std::vector<Seen> beside, at_once;
  {
    WINDOW_OR_SKIP(bench, open_beside());
    open_pages(bench, folder, pages_of("same"));
    for (const char* key : keys_through_pages) {
      gate.open = false;
      bench.ui->key(key);
      CHECK(bench.session().computing() == (beside.size() == 0 || beside.size() == 2));
      bench.ui->run_frames(3);
      gate.open = true;
      let_arrive(bench);
      beside.push_back(seen_in(bench));
    }
  }
  WindowBench bench = open_window(1280, 720);
  bench.ui->rasterise(false);
  bench.state().view.settings.filmstrip = false;
  open_pages(bench, folder, pages_of("same"));
  for (const char* key : keys_through_pages) {
    bench.ui->key(key);
    CHECK_FALSE(bench.session().computing());
    bench.ui->run_until_still();
    at_once.push_back(seen_in(bench));
  }
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    CAPTURE(keys_through_pages[i]);
    CAPTURE(i);
    CHECK(at_once[i].error.empty());
    CHECK(beside[i].page == at_once[i].page);
    CHECK(beside[i].scenario == at_once[i].scenario);
    CHECK(beside[i].selection == at_once[i].selection);
    CHECK(beside[i].words == at_once[i].words);
    CHECK(beside[i].undo == at_once[i].undo);
    CHECK(beside[i].told == at_once[i].told);
    CHECK(beside[i].names == at_once[i].names);
    CHECK(beside[i] == at_once[i]);
  }
  CHECK(at_once[1].words == "How many heads?|2.|2");
  CHECK(at_once[1].selection.pinned);
  CHECK(at_once[2].words == "|Third: (1,3,16).|");
  CHECK_FALSE(at_once.back().page);
}

TEST_CASE("a page whose training fails says why, and the pages beside it can still be turned to") {
  ModelGate& gate = close_model_gate();
  gate.open = true;
  WINDOW_OR_SKIP(bench, open_beside());
  const TemporaryFolder folder;
  open_pages(bench, folder, pages_of("broken"));
  bench.ui->key("PageDown");
  let_arrive(bench);
  CHECK(walk_of(bench).page == 1);
  CHECK_CONTAINS(bench.session().error(), "this training failed: step 3: the loss has exploded");
  CHECK_CONTAINS(walk_of(bench).words.ask, "This page cannot be computed: ");
  CHECK_FALSE(bench.ui->has("notice/lasting"));  // it would say the same
  bench.ui->key("PageUp");
  CHECK(walk_of(bench).page == 0);
  CHECK(bench.session().error().empty());
  CHECK(walk_of(bench).words.caption == "First.");
}

TEST_CASE("a page that cannot be shown says why, asks nothing, and shows no number of the page before") {
  close_model_gate().open = true;
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    WINDOW_OR_SKIP(bench, open_beside(1280, presentation ? 720 : 1000));
    UiDriver& ui = *bench.ui;
    const TemporaryFolder folder;
    open_pages(bench, folder, pages_of("broken"));
    WindowState& state = bench.state();
    state.view.selection.pinned = CellRef{{TensorId::scores}, {0, 0, 8, 7}};
    if (presentation) ui.key("F5");
    ui.key("PageDown");
    let_arrive(bench);
    const auto is_refused = [&] {
      ui.run_until_still();
      CHECK(walk_of(bench).page == 1);
      CHECK(walk_of(bench).words.ask.starts_with("This page cannot be computed: "));
      CHECK_CONTAINS(walk_of(bench).words.ask, "this training failed: step 3: the loss has exploded");
      ui.check_shown({"caption/ask", "says/there is nothing to see: this page cannot be computed"});
      ui.check_absent({"caption/elsewhere", "caption/changed", "caption/number", "caption/answer",
                       "caption/words", "stage/result", "notice/lasting", "status/time"});
      for (const std::string& name : ui.names())
        if (name.starts_with("stage/") || name.starts_with("inspector/")) FAIL_CHECK(name);
      CHECK_FALSE(FrameSnapshot(state).selection.pinned);
      // Neither menu bar nor setup has sizes of the page before.
      CHECK(sizes_text(*FrameSnapshot(state).trace).empty());
      ui.check_absent({"says/KV cache", "setup/cache", "setup/layout_differences"});
    };
    is_refused();
    ui.save_png(presentation ? "refused_page_hall" : "refused_page");
    CHECK(bench.selection().step == Step::mask);  // where it asks
    ui.key("Ctrl+Z");
    CHECK_CONTAINS(state.view.notices.notices.back().text, "There is nothing to undo on this page.");
    for (const CommandId needs :
         {CommandId::copy_table, CommandId::add_page, CommandId::update_page, CommandId::look_at_head}) {
      perform(state, CommandCall{needs});
      CHECK(state.view.notices.notices.back().text ==
            "This page has no numbers: it cannot be computed. Its text says why.");
    }
    CHECK(walk_of(bench).playlist.pages.size() == 4);
    is_refused();
    ui.key("2");  // answers nothing
    is_refused();
    ui.key("PageDown");
    let_arrive(bench);
    CHECK(walk_of(bench).page == 2);
    CHECK(walk_of(bench).words.caption.starts_with("This page cannot be computed: "));
    ui.key("PageDown");
    let_arrive(bench);
    CHECK(walk_of(bench).words.caption == "Fourth.");
    CHECK(ui.has("stage/result"));
    ui.save_png(presentation ? "after_refused_hall" : "after_refused").key("PageUp");
    let_arrive(bench);
    ui.key("Escape").run_until_still();
    if (!presentation) {
      CHECK_FALSE(walk_of(bench).page);
      CHECK(bench.session().error().empty());
      continue;
    }
    CHECK(walk_of(bench).page == 2);
    CHECK_FALSE(ui.result().full_screen);
    // What mends it is a change of the page, at the page's own place.
    state.document.session.edit(preset_scenario("causal"), "mend");
    let_arrive(bench);
    CHECK(ui.has("stage/result"));
    CHECK(bench.selection().view == StageView::compare);
    CHECK(ui.has("caption/changed"));
  }
}

TEST_CASE("what is edited before the first page of a lesson arrives is there again when the lesson is left") {
  ModelGate& gate = close_model_gate();
  for (const bool arrives : {true, false}) {
    CAPTURE(arrives);
    WINDOW_OR_SKIP(bench, open_beside());
    const TemporaryFolder folder;
    std::string text = pages_of(fmt::format("own{}", arrives));
    const std::string first = R"({ "scenario": "hand_made", "step": "scores", "caption": "First." },)";
    text.replace(text.find(first), first.size(), "");
    gate.open = false;
    open_pages(bench, folder, text);
    REQUIRE(bench.session().awaited());
    CHECK(bench.ui->has("panel/caption"));
    bench.ui->key("C");
    CHECK(bench.scenario().mask.is_causal);
    gate.open = arrives;
    if (arrives) let_arrive(bench);
    bench.ui->key("Escape").run_until_still();
    CHECK_FALSE(walk_of(bench).page);
    CHECK_FALSE(bench.session().computing());
    CHECK(bench.scenario().mask.is_causal);
    CHECK(bench.scenario().parameters.file == std::nullopt);
    bench.ui->key("Ctrl+Z");
    CHECK(bench.scenario() == preset_scenario("hand_made"));
  }
}

TEST_CASE("a lesson whose first page is given up leads back to the page that it was visited from") {
  ModelGate& gate = close_model_gate();
  WINDOW_OR_SKIP(bench, open_beside());
  const TemporaryFolder folder;
  open_pages(bench, folder, lesson);
  bench.ui->key("PageDown");
  REQUIRE(walk_of(bench).page == 1);
  Playlist visited = playlist_from_json(pages_of("visited"), "visited");
  visited.pages.erase(visited.pages.begin());
  visit_lesson(bench.state(), visited);
  bench.ui->run_frames(2);
  REQUIRE(bench.session().awaited());
  bench.ui->key("Escape").run_until_still();
  CHECK(walk_of(bench).page == 1);
  CHECK(walk_of(bench).playlist.title == "A lesson");
  CHECK(walk_of(bench).words.caption == "Divided.");
  gate.open = true;
}

TEST_CASE("small pictures of pages do not wait for their models, nor hold up the page that is turned to") {
  ModelGate& gate = close_model_gate();
  WINDOW_OR_SKIP(bench, open_beside(1280, 1000));
  const TemporaryFolder folder;
  open_pages(bench, folder, pages_of("strip"));
  bench.state().view.settings.filmstrip = true;
  for (int i = 0; i < 200 && gate.begun == 0; ++i) bench.ui->run_frames(1);
  REQUIRE(gate.begun == 1);  // a picture waits
  bench.ui->run_frames(5).key("PageDown").key("PageDown");
  while (gate.begun < 2) bench.ui->run_frames(1);  // it has made room for the page
  CHECK(bench.session().awaited());
  gate.open = true;
  let_arrive(bench);
  CHECK(walk_of(bench).page == 2);
  CHECK(bench.scenario().attention.num_heads == 2);
  for (int i = 0; i < 2000 && !bench.ui->has("filmstrip/picture/2"); ++i) bench.ui->run_frames(1);
  CHECK(bench.ui->has("filmstrip/picture/2"));
}

TEST_CASE("the first page of a lesson that is really trained comes by itself") {
  WINDOW_OR_SKIP(bench, open_beside());
  const TemporaryFolder folder;
  // A training that no other test asks for.
  std::string text = pages_of("real");
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"gated/real/1", "trained/reverse,width=32,heads=2,seed=77/60"},
        {"gated/real/2", "trained/reverse,width=32,heads=2,seed=77/80"}})
    text.replace(text.find(from), from.size(), to);
  open_pages(bench, folder, text);
  bench.ui->key("PageDown");
  let_arrive(bench);
  CHECK(walk_of(bench).page == 1);
  CHECK(walk_of(bench).words.key.number == 2.0);
  CHECK_FALSE(needs_making("builtin:trained/reverse,width=32,heads=2,seed=77/60"));
  CHECK(needs_making("builtin:trained/reverse,width=32,heads=2,seed=77/80"));
}
