// The command palette, driven as a person would: what it lists, how it is chosen from, and what is done then.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "app/content/stage_views.h"
#include "app/lesson/playlist_walk.h"
#include "app/window/page_turns.h"
#include "app/window/window_commands.h"
#include "tests/app/palette_bench.h"

using namespace headwise;

namespace {

// All that a command can change, but for what goes by in time.
struct Situation {
  Scenario scenario;
  Selection selection;
  Settings settings;
  std::string rest;
  friend bool operator==(const Situation&, const Situation&) = default;
};

Situation situation(const WindowBench& bench) {
  const WindowState& w = bench.state();
  std::string notices;
  for (const Notice& notice : w.view.notices.notices) notices += notice.text + "; ";
  const char* clipboard = ImGui::GetClipboardText();
  return {bench.scenario(), bench.selection(), w.view.settings,
          fmt::format("keys {} about {} docs {} compare {} full size {} training {} heads {} files {} export "
                      "{} palette {} playing {} full {} blank {} quit {} path {} notices {} clipboard {}",
                      w.dialogs.help.keys, w.dialogs.help.about, w.dialogs.docs.open,
                      w.dialogs.comparison.open, w.dialogs.full_size.open, w.dialogs.training.open,
                      w.dialogs.heads.open, w.dialogs.files.open, w.dialogs.export_dialog.open,
                      w.dialogs.palette.open, w.view.steps.playing, w.view.full_screen, w.view.blank, w.quit,
                      w.dialogs.files.path, notices, clipboard ? clipboard : "")};
}

// The same place for every command: something to copy, to let go, to take back and to do again.
void prepare(WindowBench& bench) {
  WindowState& window = bench.state();
  leave_walk(window);  // a page that was added before is none of this command's
  window.view.notices.dismiss_all();
  window.dialogs.help = {};
  window.dialogs.docs.open = false;
  window.dialogs.palette.open = false;
  window.dialogs.full_size.open = window.dialogs.training.open = window.dialogs.heads.open =
      window.dialogs.comparison.open = window.dialogs.files.open = window.dialogs.export_dialog.open = false;
  window.view.full_screen = window.view.blank = window.quit = window.view.steps.playing = false;
  window.view.settings = {};
  window.document.session.edit(preset_scenario("hand_made"), "begin again");
  window.view.selection = {};
  window.view.selection.step = Step::scores;
  window.view.selection.head = 4;
  for (const CommandId id : {CommandId::toggle_mute, CommandId::toggle_causal, CommandId::undo})
    perform(window, {id});
  window.view.selection.pinned = CellRef{{TensorId::scores}, {0, 4, 2, 3}};
  ImGui::SetClipboardText("");
  bench.ui->run_frames(2);
}

// Where each command leads, by itself or by its name in the palette.
std::vector<Situation> after_each_command(bool by_name) {
  std::vector<Situation> all;
  WindowBench bench = open_unpainted(640, 480);
  if (!bench.ui) return all;
  bench.ui->rasterise(false);
  for (const CommandEntry& entry : command_entries()) {
    // These two open the palette itself.
    if (entry.key_count > 1 || entry.id == CommandId::find_by_name || entry.id == CommandId::ask_question)
      continue;
    CAPTURE(entry.name);
    prepare(bench);
    if (by_name) {
      ask_for(bench, entry.name);
      REQUIRE(palette(bench).open);
      REQUIRE_FALSE(palette(bench).matches.empty());
      CHECK(listed(bench).front() == entry.name);
      bench.ui->key("Enter");
      CHECK_FALSE(palette(bench).open);
    } else {
      perform(bench.state(), {entry.id});
      bench.ui->run_frames(2);
    }
    all.push_back(situation(bench));
  }
  return all;
}

}  // namespace

TEST_CASE("every command does the same by its name as by itself") {
  const std::vector<Situation> by_name = after_each_command(true), by_itself = after_each_command(false);
  REQUIRE(by_name.size() == by_itself.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    CAPTURE(i);
    CHECK(by_name[i].rest == by_itself[i].rest);
    CHECK(by_name[i] == by_itself[i]);
  }
}

TEST_CASE("the palette lists every command with its keys, every step, view, preset and head") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  bench.ui->key("Ctrl+Shift+P");
  REQUIRE(bench.ui->has("overlay/palette"));
  std::set<std::string> names;
  for (const std::string& name : listed(bench)) CHECK(names.insert(name).second);
  for (const CommandEntry& entry : command_entries())
    if (entry.key_count == 1) CHECK_MESSAGE(names.contains(std::string(entry.name)), entry.name);
  const std::vector<Step> shown = shown_steps(bench.trace().options);
  for (const StepEntry& step : step_entries())
    CHECK_MESSAGE(
        names.contains("Go to " + std::string(step.name)) == (std::ranges::count(shown, step.step) == 1),
        step.name);
  for (const Preset& preset : presets())
    CHECK_MESSAGE(names.contains("Open " + std::string(preset.name)), preset.name);
  for (const StageViewEntry& view : stage_views())
    CHECK_MESSAGE(names.contains("View: " + std::string(view.name)), view.name);
  CHECK(names.contains("Head 7"));
  CHECK_FALSE(names.contains("Head 8"));
  for (const PaletteEntry& entry : palette(bench).entries)
    if (entry.name == "Redo") CHECK(entry.keys == "Ctrl+Y or Ctrl+Shift+Z");
}

TEST_CASE("a few letters, the arrows and Enter go to a step, open a preset, look at a head") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  ask_for(bench, "go softm");
  CHECK(listed(bench).front() == "Go to Softmax");
  bench.ui->key("Enter");
  CHECK(bench.selection().step == Step::softmax);
  ask_for(bench, "view tok");
  bench.ui->key("Enter");
  CHECK(bench.selection().view == StageView::tokens);
  ask_for(bench, "open causal");
  bench.ui->key("Enter");
  CHECK(bench.scenario() == preset_scenario("causal"));
  CHECK(bench.selection().step == Step::softmax);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  ask_for(bench, "head");
  const std::vector<std::string> names = listed(bench);
  REQUIRE(names.size() > 3);
  CHECK(palette(bench).chosen == 0);
  for (int i = 0; i < 3; ++i) bench.ui->key("Down");
  bench.ui->key("Up");
  CHECK(palette(bench).chosen == 2);
  bench.ui->type(" 3");
  CHECK(palette(bench).chosen == 0);
  CHECK(listed(bench).front() == "Head 3");
  bench.ui->key("Enter");
  CHECK(bench.selection().head == 3);
}

TEST_CASE("the choice goes round at the ends, and is scrolled to") {
  WINDOW_OR_SKIP(bench, open_unpainted(900, 600));
  bench.ui->key("Ctrl+Shift+P");
  const std::size_t count = palette(bench).matches.size();
  const auto is_seen = [&](std::size_t i) {
    const UiRect list = bench.ui->rect("palette/list"),
                 entry = bench.ui->rect(fmt::format("palette/entry/{}", i));
    return entry.min.y >= list.min.y - 0.5f && entry.max.y <= list.max.y + 0.5f;
  };
  CHECK(is_seen(0));
  CHECK_FALSE(is_seen(count - 1));
  bench.ui->key("Up");
  CHECK(palette(bench).chosen == count - 1);
  CHECK(is_seen(count - 1));
  bench.ui->key("Down");
  CHECK(palette(bench).chosen == 0);
  CHECK(is_seen(0));
  bench.ui->key("PageDown");
  CHECK(palette(bench).chosen > 5);
  CHECK(is_seen(palette(bench).chosen));
  bench.ui->key("PageUp");
  CHECK(palette(bench).chosen == 0);
}

TEST_CASE("a click does the entry under the mouse, a click beside the palette does nothing") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  ask_for(bench, "go to");
  const std::vector<std::string> names = listed(bench);
  REQUIRE(names.size() >= 10);
  const auto place = std::find(names.begin(), names.end(), "Go to Concat") - names.begin();
  bench.ui->move_to("palette/query").move_to(fmt::format("palette/entry/{}", place));
  CHECK(palette(bench).chosen == static_cast<std::size_t>(place));
  CHECK(bench.selection().step == Step::inputs);
  bench.ui->click(fmt::format("palette/entry/{}", place));
  CHECK_FALSE(palette(bench).open);
  CHECK(bench.selection().step == Step::concat);
  bench.ui->key("Ctrl+Shift+P");
  const Situation before = situation(bench);
  bench.ui->click(4, 500);
  CHECK_FALSE(palette(bench).open);
  bench.ui->key("Ctrl+Shift+P").key("Ctrl+Shift+P");
  CHECK_FALSE(palette(bench).open);
  bench.ui->key("Ctrl+Shift+P");
  CHECK(situation(bench) == before);
}

TEST_CASE("painted pairs are cleared by name, numbers set by hand forgotten, and the setup says painted") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  Scenario edited = bench.scenario();
  edited.edits = {{"attn_mask", {0, 1}, 1.0}, {"query", {0, 0, 0}, 0.5}};
  bench.session().edit(edited, "by hand");
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("setup/preset/painted"));
  ask_for(bench, "clear mask");
  CHECK(listed(bench).front() == "Clear painted mask");
  bench.ui->key("Enter");
  CHECK(bench.scenario().edits.size() == 1);
  CHECK_FALSE(bench.ui->has("setup/preset/painted"));
  ask_for(bench, "discard edits");
  CHECK(listed(bench).front() == "Discard manual edits");
  bench.ui->key("Enter");
  CHECK(bench.scenario().edits.empty());
  for (int i = 0; i < 2; ++i) bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == edited);
}

TEST_CASE("the Help menu takes a question") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  bench.ui->click("menu/Help").click("menu/Ask a question…").run_frames(2);
  REQUIRE(palette(bench).open);
  CHECK(palette(bench).entries.size() == question_entries().size());
  bench.ui->type("why divide by sqrt").key("Enter").run_frames(2);
  REQUIRE(bench.walk().page);
  CHECK(bench.walk().shown()->title.starts_with("Why divide by √d_k"));
}

TEST_CASE("what is no command is told, and Enter does nothing then") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  ask_for(bench, "qqzz");
  CHECK(palette(bench).matches.empty());
  CHECK(bench.ui->has("palette/nothing"));
  const Situation before = situation(bench);
  bench.ui->key("Enter").key("Down").key("PageUp");
  CHECK(situation(bench) == before);
  CHECK(palette(bench).open);
  for (int i = 0; i < 4; ++i) bench.ui->key("Backspace");
  CHECK_FALSE(bench.ui->has("palette/nothing"));
  CHECK(palette(bench).matches.size() == palette(bench).entries.size());
  bench.ui->key("Escape");
  CHECK_FALSE(palette(bench).open);
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("overlay/palette"));
}

TEST_CASE("while the palette is open, its keys go nowhere else") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  prepare(bench);
  bench.ui->click("setup/embed_dim").key("Ctrl+Shift+P");
  REQUIRE(palette(bench).open);
  const Situation before = situation(bench);
  for (const char* key : {"M", "C", "S", "T", "A", "I", "7", "Right", "PageDown", "Home", "End", "Space",
                          "F1", "Ctrl+Z", "Ctrl+E", "Ctrl+O", "Tab", "Shift+Tab"}) {
    CAPTURE(key);
    bench.ui->key(key);
    CHECK(situation(bench) == before);
  }
  bench.ui->type("mcsta 7");
  CHECK(palette(bench).query == "mcsta 7");
  CHECK(situation(bench) == before);
  bench.ui->key("Escape");
  CHECK_FALSE(palette(bench).open);
  CHECK(bench.selection().pinned == before.selection.pinned);
  bench.ui->key("Escape");  // the field has its focus again
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::scale);
}

TEST_CASE("a dialog that was chosen by name waits for an Enter of its own") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  ask_for(bench, "save scenario");
  bench.ui->key("Enter");
  CHECK(bench.state().dialogs.files.open);
  CHECK(bench.ui->has("overlay/file"));
  CHECK(bench.state().dialogs.files.error.empty());
  CHECK(bench.state().document.scenario_path.empty());
  bench.ui->key("Escape");
  CHECK_FALSE(bench.state().dialogs.files.open);
}

TEST_CASE("the palette stays inside a small window, and survives one of a pixel") {
  WINDOW_OR_SKIP(bench, open_unpainted(900, 600));
  for (const auto& [width, height] : {std::pair{1280, 720}, {640, 400}, {320, 240}}) {
    bench.ui->resize(width, height).key("Ctrl+Shift+P").run_frames(2);
    const UiRect overlay = bench.ui->rect("overlay/palette");
    CAPTURE(width);
    CHECK(overlay.min.x >= 0.0f);
    CHECK(overlay.min.y >= 0.0f);
    CHECK(overlay.max.x <= static_cast<float>(width));
    CHECK(overlay.max.y <= static_cast<float>(height));
    bench.ui->key("Escape");
  }
  bench.ui->key("Ctrl+Shift+P").resize(1, 1).type("softmax").key("Enter");
  CHECK(bench.selection().step == Step::softmax);
}
