#include "app/session/session_backup.h"

#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

UnsavedWork some_work() {
  UnsavedWork work;
  work.scenario = preset_scenario("welcome");
  work.scenario->mask.is_causal = true;
  work.playlist = lesson_playlist("questions");
  work.playlist->pages[0].caption = "half a sen";
  work.playlist_path = "/somewhere/mine.json";
  work.playlist_changed = true;
  work.page = 1;
  work.page_scenario = preset_scenario("hand_made");
  work.page_scenario->inputs.seed = 7;
  return work;
}

std::size_t sessions_in(const TemporaryFolder& folder) {
  std::error_code missing;
  const fs::directory_iterator sessions(folder.file("sessions"), missing);
  return missing ? 0 : static_cast<std::size_t>(std::distance(sessions, {}));
}

}  // namespace

TEST_CASE("unsaved work is found again once its window is gone, and not before") {
  const TemporaryFolder folder;
  CHECK_FALSE(abandoned_session(folder.file("")));
  const UnsavedWork work = some_work();
  {
    SessionBackup living(folder.file(""));
    living.write(work);
    CHECK_FALSE(abandoned_session(folder.file("")));
    UnsavedWork more = work;
    more.playlist->pages[0].caption = "half a sentence";
    living.write(more);
    living.write(work);
  }
  const std::optional<SessionBackup> found = abandoned_session(folder.file(""));
  REQUIRE(found);
  CHECK(found->read() == work);
  CHECK(found->text().starts_with(unsaved_text(work) + " ("));
  CHECK(unsaved_text(work).starts_with("a playlist of "));
  CHECK(unsaved_text(work).ends_with(" pages and a changed scenario"));
  CHECK_FALSE(abandoned_session(folder.file("")));  // another window that starts meanwhile
  // Only what was written last is still there: three files, session.json and the lock.
  CHECK(std::distance(fs::directory_iterator(found->folder()), {}) == 5);
}

TEST_CASE("a session that was taken over is written further, and removed when nothing is unsaved") {
  const TemporaryFolder folder;
  UnsavedWork work = some_work();
  SessionBackup(folder.file("")).write(work);
  {
    std::optional<SessionBackup> found = abandoned_session(folder.file(""));
    REQUIRE(found);
    work.page_scenario.reset();
    work.page = 0;
    found->write(work);
  }
  std::optional<SessionBackup> found = abandoned_session(folder.file(""));
  REQUIRE(found);
  CHECK(found->read() == work);
  found->write({});
  CHECK(sessions_in(folder) == 0);
}

TEST_CASE("of many sessions the newest is offered first, the oldest go, and what says nothing is removed") {
  const TemporaryFolder folder;
  UnsavedWork work;
  for (std::uint64_t i = 0; i < 12; ++i) {
    work.scenario = preset_scenario("hand_made");
    work.scenario->inputs.seed = 1000 + i;
    SessionBackup backup(folder.file(""));
    backup.write(work);
    fs::last_write_time(backup.folder() + "/session.json",
                        fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
  }
  fs::create_directories(folder.file("sessions/empty"));
  const std::optional<SessionBackup> newest = abandoned_session(folder.file(""));
  REQUIRE(newest);
  CHECK(newest->read() == work);
  CHECK(sessions_in(folder) == 8);
  CHECK_FALSE(fs::exists(folder.file("sessions/empty")));
  const std::optional<SessionBackup> next = abandoned_session(folder.file(""));
  REQUIRE(next);
  CHECK(next->read().scenario->inputs.seed == 1010);
}

TEST_CASE("a damaged session is set aside with its files, not offered; one too large is not written") {
  const TemporaryFolder folder;
  std::string path;
  {
    SessionBackup backup(folder.file(""));
    backup.write(some_work());
    path = backup.folder();
  }
  folder.with_file("sessions/" + fs::path(path).filename().string() + "/session.json", "{");
  CHECK_FALSE(abandoned_session(folder.file("")));
  CHECK_FALSE(fs::exists(path));
  CHECK(fs::exists(path + ".damaged/1-playlist.json"));
  CHECK_FALSE(abandoned_session(folder.file("")));
  UnsavedWork large = some_work();
  SessionBackup backup(folder.file(""));
  backup.write(large);
  large.scenario->inputs.text = std::string(SessionBackup::most_bytes, 'a');
  try {
    backup.write(large);
    FAIL("written");
  } catch (const Error& error) {
    CHECK_CONTAINS(std::string(error.what()), "save it in a file");
  }
  CHECK(backup.read() == some_work());
}

TEST_CASE("a half-written answer is backed up as it is") {
  const TemporaryFolder folder;
  UnsavedWork work = some_work();
  PlaylistPage& page = work.playlist->pages[0];
  page.ask = "Which?";
  page.ask_step.reset();
  page.ask_view.reset();
  page.veil = false;
  page.answer = PageAnswer{};
  for (const AnswerKind kind : {AnswerKind::choice, AnswerKind::tensor}) {
    page.answer->kind = kind;
    page.answer->options = {{"q", "max scores[0,", "", ""}, {}};
    SessionBackup backup(folder.file(""));
    backup.write(work);
    CHECK(backup.read() == work);
    backup.remove();
  }
  page.answer = PageAnswer{};
  page.answer->kind = AnswerKind::head;
  page.answer->is = "argmax (";
  SessionBackup backup(folder.file(""));
  backup.write(work);
  CHECK(backup.read() == work);
}
