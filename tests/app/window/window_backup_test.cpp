// Unsaved work of a window that ends without being closed.
#include "app/window/window_backup.h"
#include "app/window/page_turns.h"

#include <filesystem>
#include <thread>

#include "app/window/playlist_making.h"
#include "app/window/window_commands.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

void begin_backup(WindowBench& bench, const TemporaryFolder& folder) {
  WindowState& state = bench.state();
  state.document.kept_folder = folder.file("state");
  state.document.backup.interval = std::chrono::milliseconds(0);
  state.document.backup.begin(folder.file("state"));
  offer_unsaved_work(state);
}

// Frames until what has changed is written.
void let_it_write(WindowBench& bench) {
  for (int i = 0; i < 4; ++i) {
    bench.ui->run_frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void command_in(WindowBench& bench, CommandId id) {
  perform(bench.state(), {id});
  bench.ui->run_frames(2);
}

}  // namespace

TEST_CASE("a window that is gone without being closed offers its pages and its scenario to the next") {
  const TemporaryFolder folder;
  Playlist pages;
  {
    WINDOW_OR_SKIP(bench, open_window(1280, 900));
    begin_backup(bench, folder);
    CHECK(bench.state().view.notices.offer.text.empty());
    let_it_write(bench);
    CHECK_FALSE(fs::exists(folder.file("state")));  // nothing was done
    bench.ui->key("C");
    command_in(bench, CommandId::new_playlist);
    bench.ui->type("half a sen");
    command_in(bench, CommandId::add_page);
    bench.ui->type("and another");
    pages = bench.walk().playlist;
    let_it_write(bench);
    // While it lives, nobody else is offered it.
    CHECK_FALSE(abandoned_session(folder.file("state")));
  }
  WindowBench bench = open_window(1280, 900);
  begin_backup(bench, folder);
  bench.ui->run_frames(2);
  WindowState& state = bench.state();
  CHECK_CONTAINS(state.view.notices.offer.text, "a playlist of 2 pages and a changed scenario");
  CHECK_FALSE(bench.scenario().mask.is_causal);  // it is not forced
  bench.ui->click("notice/accept").run_frames(2);
  CHECK(state.view.notices.offer.text.empty());
  CHECK(state.document.walk.playlist == pages);
  CHECK(state.document.walk.page == 1);
  CHECK(state.document.walk.changed);
  CHECK_FALSE(state.document.walk.from_program);
  leave_walk(state);
  bench.ui->run_frames(2);
  CHECK(bench.scenario().mask.is_causal);
  let_it_write(bench);
  CHECK(std::distance(fs::directory_iterator(folder.file("state/sessions")), {}) == 1);  // it is this window's now
  CHECK(keep_all_unsaved(state.document));
  state.document.backup.close();
  CHECK(fs::is_empty(folder.file("state/sessions")));
}

TEST_CASE("what was changed on the page of a lesson comes back on that page") {
  const TemporaryFolder folder;
  {
    WINDOW_OR_SKIP(bench, open_window(1280, 900));
    begin_backup(bench, folder);
    start_walk(bench.state(), lesson_playlist("break_it"), "", 1);
    bench.ui->run_frames(2);
    let_it_write(bench);
    CHECK_FALSE(fs::exists(folder.file("state")));
    Scenario changed = bench.scenario();
    changed.inputs.seed += 5;
    bench.session().edit(changed, "seed");
    let_it_write(bench);
  }
  WindowBench bench = open_window(1280, 900);
  begin_backup(bench, folder);
  command_in(bench, CommandId::reopen_scenario);
  const PlaylistWalk& walk = bench.walk();
  REQUIRE(walk.page == 1);
  CHECK(walk.from_program);
  CHECK_FALSE(walk.changed);
  CHECK(walk.playlist == lesson_playlist("break_it"));
  CHECK(bench.scenario().inputs.seed == walk.shown()->scenario->inputs.seed + 5);
}

TEST_CASE("unsaved work that is discarded is removed, and what nobody decided on is offered again") {
  const TemporaryFolder folder;
  {
    WINDOW_OR_SKIP(bench, open_window(1280, 900));
    begin_backup(bench, folder);
    bench.ui->key("C");
    bench.state().document.backup.write_now(bench.state().document);
  }
  for (const bool discards : {false, true}) {
    WindowBench bench = open_window(1280, 900);
    begin_backup(bench, folder);
    bench.ui->run_frames(2);
    WindowState& state = bench.state();
    CHECK_CONTAINS(state.view.notices.offer.text, "It had not saved a changed scenario (");
    bench.ui->key("F11");
    CHECK_FALSE(bench.ui->has("notice/offer"));  // a class is not asked
    bench.ui->key("Escape");
    CHECK(bench.ui->has("notice/offer"));
    if (discards) bench.ui->click("notice/decline");
    state.document.backup.close();
  }
  CHECK(fs::is_empty(folder.file("state/sessions")));
  WindowBench bench = open_window(1280, 900);
  begin_backup(bench, folder);
  CHECK(bench.state().view.notices.offer.text.empty());
}

TEST_CASE("unsaved work that cannot be backed up is said once, and what cannot be restored is set aside") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  folder.with_file("state", "a file, no folder");
  begin_backup(bench, folder);
  bench.ui->key("C");
  let_it_write(bench);
  const std::vector<Notice>& notices = bench.state().view.notices.notices;
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].text.starts_with("Unsaved work is not backed up: "));
  fs::remove(folder.file("state"));
  let_it_write(bench);
  REQUIRE(fs::exists(folder.file("state/sessions")));
  const std::string session = fs::directory_iterator(folder.file("state/sessions"))->path().string();
  bench.state().document.backup.begin("/nowhere");  // lets go of it
  for (const fs::directory_entry& entry : fs::directory_iterator(session))
    if (entry.path().string().ends_with("-scenario.json")) fs::remove(entry.path());
  begin_backup(bench, folder);
  bench.ui->run_frames(2).click("notice/accept");
  CHECK_CONTAINS(notices.back().text, "could not be restored");
  CHECK(fs::exists(session + ".damaged"));
}
