#include "app/window/window_backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "app/lesson/page_place.h"
#include "app/session/edit_summary.h"
#include "app/window/page_turns.h"
#include "app/window/window_state.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// A request that failed has no scenario worth keeping; one that is being computed has.
const Scenario& scenario_at_hand(const Session& session) {
  return session.error().empty() ? session.scenario() : session.traced_scenario();
}

void restore(WindowState& window, UnsavedWork work) {
  WindowDocument& document = window.document;
  leave_walk(window);
  window.view.setup.forget_scenario();
  if (!work.playlist) {
    if (work.scenario) document.session.open(*work.scenario, restored_label);
    window.view.selection = selection_within(window.view.selection, document.session.trace());
    return;
  }
  start_walk(window, *std::move(work.playlist), work.playlist_path, work.page.value_or(0), !work.from_program);
  PlaylistWalk& walk = document.walk;
  if (work.scenario)
    walk.own_history->push(*work.scenario, restored_label);  // computed when the walk is left
  if (walk.arrival) walk.arrival->from_own = false;          // what is there meanwhile is not that one
  if (!work.page) leave_walk(window);
  walk.changed = work.playlist_changed;
  if (work.page_scenario) document.session.edit(*work.page_scenario, restored_label);
}

}  // namespace

UnsavedWork unsaved_work(const WindowDocument& document) {
  const PlaylistWalk& walk = document.walk;
  const Session& session = document.session;
  const Scenario& shown = scenario_at_hand(session);
  UnsavedWork work;
  if (walk.own_history) {
    if (walk.own_history->can_undo()) work.scenario = walk.own_history->current();
  } else if (session.history().can_undo() || session.computing()) {
    work.scenario = shown;
  }
  if (walk.interrupted && walk.interrupted->changed) {
    work.playlist = walk.interrupted->playlist;
    work.playlist_path = walk.interrupted->path;
    work.playlist_changed = true;
    work.page = walk.interrupted->page;
    return work;
  }
  const bool page_changed = !walk.arrival && has_changed_scenario(walk, shown);
  if (walk.playlist.pages.empty() || !(walk.changed || page_changed)) return work;
  work.playlist = walk.playlist;
  work.playlist_path = walk.path;
  work.playlist_changed = walk.changed;
  work.from_program = walk.from_program;
  work.page = walk.page;
  if (page_changed) work.page_scenario = shown;
  return work;
}

void WindowBackup::begin(const std::string& state_folder) {
  if (state_folder.empty()) return;
  own_ = std::make_unique<SessionBackup>(state_folder);
  if (std::optional<SessionBackup> found = abandoned_session(state_folder))
    offered_ = std::make_unique<SessionBackup>(*std::move(found));
}

double WindowBackup::observe(const WindowDocument& document, std::string& error) {
  if (!own_) return std::numeric_limits<double>::infinity();
  constexpr double soon = 0.1;
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> left = last_check_ + interval - now;
  if (left.count() > 0.0) return left.count();
  if (worker_.busy() && !worker_.ended()) return soon;
  if (!write_error_.empty() && write_error_ != reported_error_) error = write_error_;
  reported_error_ = write_error_;
  last_check_ = now;
  auto work = std::make_shared<const UnsavedWork>(unsaved_work(document));
  if (*work == *written_ && write_error_.empty()) return std::numeric_limits<double>::infinity();
  written_ = std::move(work);
  worker_.start([this, work = written_] {
    write_error_ = error_of([&] { own_->write(*work); }, "there is no memory to back up the unsaved work");
  });
  return std::chrono::duration<double>(interval).count();  // to report an error
}

void WindowBackup::write_now(const WindowDocument& document) noexcept {
  if (!own_) return;
  worker_.finish();
  error_of([&] {
    const UnsavedWork work = unsaved_work(document);
    if (!(work == *written_) || !write_error_.empty()) own_->write(work);
  });
}

void WindowBackup::close() {
  worker_.finish();
  if (own_) own_->remove();
}

void restore_offered(WindowState& window) {
  WindowBackup& backup = window.document.backup;
  NoticesState& notices = window.view.notices;
  notices.offer = {};
  if (!backup.offered_) return;
  backup.worker_.finish();
  std::unique_ptr<SessionBackup> offered = std::move(backup.offered_);
  try {
    UnsavedWork work = offered->read();
    // Its files become this window's own, so that the work is never without a backup.
    auto written = std::make_shared<const UnsavedWork>(work);
    restore(window, std::move(work));
    backup.own_->remove();
    backup.own_ = std::move(offered);
    backup.written_ = std::move(written);
    notices.say("The unsaved work is back. It is not yet saved in a file.");
  } catch (const std::exception& error) {
    const std::string aside = offered ? offered->set_aside() : "";
    notices.complain(
        fmt::format("The unsaved work could not be restored: {}. Its files are in {}", error.what(), aside));
  }
}

void offer_unsaved_work(WindowState& window) {
  const std::string found = window.document.backup.offered();
  if (!found.empty())
    window.view.notices.offer = {
        fmt::format("Headwise ended without being closed. It had not saved {}.", found),
        "Restore unsaved work", "Discard"};
}

void discard_offered(WindowState& window) {
  window.view.notices.offer = {};
  if (const std::unique_ptr<SessionBackup> offered = std::move(window.document.backup.offered_))
    offered->remove();
}

}  // namespace headwise
