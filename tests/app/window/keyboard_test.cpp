// What has the focus is worked by its keys: maps, lists, menus, dialogs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/window/window_commands.h"
#include "core/files/atomic_file.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/keyboard_bench.h"

using namespace headwise;

TEST_CASE("Enter leads into the map: the arrows go from number to number, Enter pins, Escape comes back") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  bench.ui->key("Enter");
  CHECK(bench.selection().hovered == CellRef{{TensorId::scores}, {0, 0, 0, 0}});
  for (const char* key : {"Down", "Down", "Right"}) bench.ui->key(key);
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.selection().hovered == CellRef{{TensorId::scores}, {0, 0, 2, 1}});
  bench.ui->key("Enter");
  CHECK(bench.selection().pinned == CellRef{{TensorId::scores}, {0, 0, 2, 1}});
  bench.ui->key("End").key("Ctrl+Down");
  CHECK(bench.selection().hovered == CellRef{{TensorId::scores}, {0, 0, 11, 11}});
  bench.ui->key("3");  // another head, the same place
  CHECK(bench.selection().hovered == CellRef{{TensorId::scores}, {0, 3, 11, 11}});
  // The mouse takes over where it is moved.
  const UiRect map = bench.ui->rect("stage/result");
  bench.ui->move_to(map.min.x + 3, map.min.y + 3);
  CHECK(bench.selection().hovered == CellRef{{TensorId::scores}, {0, 3, 0, 0}});
  bench.ui->key("Left");
  CHECK(bench.selection().hovered == CellRef{{TensorId::scores}, {0, 3, 11, 10}});
  bench.ui->key("Escape").key("Right");
  CHECK(bench.selection().step == Step::scale);
}

TEST_CASE("in every view the arrows look at numbers, and Enter pins what they look at") {
  for (const StageView view :
       {StageView::all_heads, StageView::head_rows, StageView::tokens, StageView::elementwise,
        StageView::query_key_plane, StageView::gradients, StageView::compare}) {
    WINDOW_OR_SKIP(bench, open_at(Step::scores, view));
    // What is pinned has the same heads: its maps are linked to the present ones, the three of them.
    const std::ptrdiff_t maps = view == StageView::compare ? 3 : 1;
    if (view == StageView::compare) perform(bench.state(), {CommandId::pin_scenario});
    const auto has_map = [&] {
      return std::ranges::count_if(focus_of(bench).window,
                                   [](const FocusOrder::Stop& stop) { return stop.map; }) >= maps;
    };
    for (int i = 0; i < 5000 && !has_map(); ++i)
      bench.ui->run_frames(1);  // some are computed in the background
    CAPTURE(static_cast<int>(view));
    bench.ui->key("Enter").key("Down");
    CHECK(bench.selection().hovered.has_value());
    bench.ui->key("Enter");
    CHECK(bench.selection().pinned == bench.selection().hovered);
    CHECK(bench.selection().step == Step::scores);
  }
}

TEST_CASE("the mask is painted with Space, held over the arrows as a mouse is dragged") {
  WINDOW_OR_SKIP(bench, open_at(Step::mask));
  bench.ui->click("stage/brush/paint").key("Enter").key("Down").hold("Space").key("Right");
  bench.ui->key("Right").release_key("Space");
  const auto blocked = [&](Index query, Index key) {
    const TensorPtr mask = bench.trace().tensors.mask_bias;
    return mask && mask->at({0, 0, query, key}) == -INFINITY;
  };
  for (Index key = 0; key < 3; ++key) CHECK(blocked(1, key));
  CHECK_FALSE(blocked(1, 3));
  CHECK_FALSE(blocked(0, 0));
  CHECK_FALSE(bench.selection().pinned);
  bench.ui->key("Down").key("Space");
  CHECK(blocked(2, 2));
  bench.ui->key("Ctrl+Z");  // one press is one step
  CHECK_FALSE(blocked(2, 2));
  CHECK(blocked(1, 2));
  bench.ui->key("Ctrl+Z");
  CHECK_FALSE(bench.trace().tensors.mask_bias);
}

TEST_CASE("the heads, the timeline, the graph and the terms are worked by their keys") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  REQUIRE(tab_to(bench, "heads/thumbnail/1"));
  bench.ui->key("Right");
  CHECK(bench.selection().head == 1);
  CHECK(bench.selection().step == Step::scores);
  bench.ui->key("Space");
  CHECK(bench.scenario().head_gain.has_value());
  bench.ui->key("Space");
  CHECK_FALSE(bench.scenario().head_gain.has_value());
  REQUIRE(tab_to(bench, "step_bar/timeline"));
  bench.ui->key("PageUp");
  CHECK(bench.selection().step == Step::split_heads);
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.state().view.motion.progress == doctest::Approx(0.05));
  REQUIRE(tab_to(bench, "graph/concat"));
  bench.ui->key("Enter");
  CHECK(bench.selection().step == Step::concat);
  bench.selection() = {};
  bench.selection().step = Step::scores;
  bench.selection().pinned = CellRef{{TensorId::scores}, {0, 0, 6, 3}};
  bench.ui->run_frames(3);
  REQUIRE(tab_to(bench, "inspector/term/1"));
  bench.ui->key("Right").key("Enter");
  REQUIRE(bench.selection().pinned.has_value());
  CHECK(bench.selection().pinned->tensor == TensorName{TensorId::k_heads});  // the second factor
}

TEST_CASE("F6 goes from panel to panel and back to the steps") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  const auto part = [&] { return focused_part(focus_of(bench)); };
  std::vector<int> parts;
  do {
    bench.ui->key("F6");
    parts.push_back(part());
  } while (parts.back() != 0 && parts.size() < 20);
  CHECK(parts == std::vector<int>{1, 2, 3, 4, 5, 8, 0});
  bench.ui->key("Shift+F6");
  CHECK(part() == 8);
  bench.ui->key("Shift+F6");
  CHECK(part() == 5);
  bench.ui->key("Escape");
  CHECK(focus_of(bench).focused == 0);
}

TEST_CASE("F10 opens the menus: the arrows go through them, Enter chooses") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  bench.ui->key("F10").run_frames(3);
  REQUIRE(bench.ui->has("menu/Open…"));
  bench.ui->key("Right").run_frames(3);
  REQUIRE(bench.ui->has("menu/Undo"));
  CHECK_FALSE(bench.ui->has("menu/Open…"));
  bench.ui->key("Left").run_frames(3);
  bench.ui->key("Left");  // round to the last one
  bench.ui->run_frames(3);
  REQUIRE(bench.ui->has("menu/Keys"));
  CHECK(bench.selection().step == Step::scores);
  bench.ui->key("Escape").run_frames(2);
  CHECK_FALSE(bench.ui->has("menu/Keys"));

  // A person holds a key for longer than a frame.
  for (const char* key : {"F10", "Right"}) bench.ui->hold(key).run_frames(6).release_key(key).run_frames(6);
  REQUIRE(bench.ui->has("menu/Undo"));
  bench.ui->key("Escape").run_frames(2);

  for (const char* key : {"F10", "Right", "Right", "Down", "Enter"}) bench.ui->key(key).run_frames(3);
  CHECK(bench.selection().step == Step::split_heads);  // View: below "Next step" stands "Previous step"
}

TEST_CASE("the list of mask patterns is opened and chosen from by keys, and the focus returns") {
  WINDOW_OR_SKIP(bench, open_at(Step::mask));
  REQUIRE(tab_to(bench, "setup/preset"));
  const ImGuiID before = focus_of(bench).focused;
  bench.ui->key("Enter").run_frames(3);
  REQUIRE(bench.ui->has("setup/preset/none"));
  bench.ui->key("Down").key("Enter").run_frames(3);
  CHECK_FALSE(bench.ui->has("setup/preset/none"));
  CHECK(bench.scenario().mask.preset.has_value());
  CHECK(focus_of(bench).focused == before);
}

TEST_CASE("a letter of the sizes lights its axis when Tab comes to it, and Shift+F1 says what it is") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  std::set<std::string> axes;
  bench.ui->key("Shift+Tab");
  while (focused_part(focus_of(bench)) == 8) {
    axes.insert(bench.state().view.pointed.axis);
    bench.ui->key("Shift+Tab");
  }
  CHECK(axes == std::set<std::string>{"E", "H", "D", "L"});
  CHECK_FALSE(bench.ui->has("tooltip"));
  bench.ui->key("Shift+F1");
  CHECK(bench.ui->has("tooltip"));
  bench.ui->key("Shift+Tab");
  CHECK_FALSE(bench.ui->has("tooltip"));
}

TEST_CASE("a file is found and opened in the dialog by keys alone") {
  WINDOW_OR_SKIP(bench, open_at(Step::inputs));
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "headwise_by_keys";
  fs::remove_all(folder);
  fs::create_directories(folder / "inner");
  Scenario small = preset_scenario("hand_made");
  small.inputs.text = "three words here";
  write_file_atomically((folder / "inner" / "small.json").string(), scenario_to_json(small));
  bench.ui->key("Ctrl+O").run_frames(2);
  bench.state().dialogs.files.path = folder.string() + "/";
  bench.ui->run_frames(2).key("Tab").key("Down");
  bench.ui->key("Enter");  // into the folder, and the arrows stay in the list
  CHECK(bench.state().dialogs.files.path == (folder / "inner").string() + "/");
  bench.ui->key("Down").key("Enter");
  CHECK(bench.state().dialogs.files.path == (folder / "inner" / "small.json").string());
  bench.ui->key("Enter").run_frames(3);
  CHECK(bench.scenario().inputs.text == "three words here");
  fs::remove_all(folder);
}
