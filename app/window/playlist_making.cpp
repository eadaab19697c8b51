#include "app/window/playlist_making.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/kept_work.h"
#include "app/window/window_state.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

PlaylistPage page_of(const WindowState& window) {
  const Selection& selection = window.view.selection;
  PlaylistPage page;
  page.scenario = std::make_shared<const Scenario>(window.document.session.traced_scenario());
  page.step = selection.step;
  page.view = selection.view;
  page.batch = selection.batch;
  page.head = selection.head;
  page.tensor = selection.tensor;
  page.pin = selection.pinned;
  page.spotlight = selection.spotlight && selection.pinned;
  if (selection.step == Step::mask && selection.mask_convention != MaskConvention::added)
    page.masks_as = selection.mask_convention;
  if (selection.view == StageView::compare && selection.compare_with != CompareWith::pinned)
    page.beside = selection.compare_with;
  return page;
}

void begin_own(PlaylistWalk& walk) {
  walk.playlist = {};
  walk.path.clear();
  walk.from_program = walk.changed = false;
  walk.left_at = 0;
}

}  // namespace

void add_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page && walk.from_program && !walk.changed) begin_own(walk);
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  if (pages.size() >= Playlist::most_pages) {
    window.view.notices.complain(fmt::format("A playlist has at most {} pages.", Playlist::most_pages));
    return;
  }
  const std::size_t place = walk.page ? *walk.page + 1 : pages.size();
  pages.insert(pages.begin() + static_cast<std::ptrdiff_t>(place), page_of(window));
  walk.changed = true;
  if (walk.page) {
    walk.page = place;
    walk.edits_words = true;
    // What is typed next belongs to the new page, even if a click elsewhere has taken the focus from the last one.
    walk.words_have_focus = false;
    walk.answered = true;
    if (walk.from_program) {
      walk.from_program = false;
      window.view.notices.say("You are now editing a copy of the lesson; “Save playlist…” saves it.");
    }
    return;
  }
  window.view.notices.say(
      fmt::format("Added as page {} of {} playlist. “Present playlist” shows it and lets you write "
                  "captions; “Save playlist…” saves it.",
                  pages.size(), pages.size() == 1 ? "a new" : "the"));
}

void remove_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  if (!walk.page) {
    window.view.notices.say("Walk to the page you want to remove.");
    return;
  }
  const std::size_t place = *walk.page;
  walk.changed = true;
  if (pages.size() == 1) leave_walk(window);
  pages.erase(pages.begin() + static_cast<std::ptrdiff_t>(place));
  if (walk.page) show_page(window, std::min(place, pages.size() - 1));
}

void move_page(WindowState& window, int by) {
  PlaylistWalk& walk = window.document.walk;
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  if (!walk.page) {
    window.view.notices.say("Walk to the page you want to move.");
    return;
  }
  const auto to = static_cast<std::ptrdiff_t>(*walk.page) + by;
  if (to < 0 || to >= static_cast<std::ptrdiff_t>(pages.size())) return;
  std::swap(pages[*walk.page], pages[static_cast<std::size_t>(to)]);
  walk.page = static_cast<std::size_t>(to);
  walk.changed = true;
}

void new_playlist(WindowState& window) {
  Playlist playlist;
  playlist.pages.push_back(page_of(window));
  leave_walk(window);
  start_walk(window, std::move(playlist));
  PlaylistWalk& walk = window.document.walk;
  walk.from_program = false;
  walk.changed = walk.edits_words = true;
}

void reopen_playlist(WindowState& window) {
  try {
    std::optional<Playlist> playlist = kept_playlist(window.document.kept_folder);
    if (!playlist) {
      window.view.notices.say("There is no unsaved playlist.");
      return;
    }
    start_walk(window, *std::move(playlist));
    window.document.walk.from_program = false;
    window.document.walk.changed = true;
  } catch (const Error& error) {
    window.view.notices.complain(error.what());
  }
}

void reopen_scenario(WindowState& window) {
  WindowView& view = window.view;
  try {
    const std::optional<Scenario> scenario = kept_scenario(window.document.kept_folder);
    if (!scenario) {
      view.notices.say("There is no earlier session to reopen.");
      return;
    }
    leave_walk(window);
    view.setup.edited_row.clear();
    window.document.session.open(*scenario, "reopen last session");
    view.selection = selection_within(view.selection, window.document.session.trace());
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
}

void keep_what_is_left(const WindowDocument& document) {
  const PlaylistWalk& walk = document.walk;
  if (walk.changed && !walk.playlist.pages.empty()) keep_playlist(document.kept_folder, walk.playlist);
  const History& history = walk.own_history ? *walk.own_history : document.session.history();
  if (history.can_undo()) keep_scenario(document.kept_folder, history.current());
}

}  // namespace headwise
