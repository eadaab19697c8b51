#include "app/window/page_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/lesson/page_text.h"
#include "app/session/edit_summary.h"
#include "app/window/page_turns.h"
#include "app/window/window_state.h"

namespace headwise {

bool words_are_readable(WindowState& window) {
  const Session& session = window.document.session;
  PlaylistWalk& walk = window.document.walk;
  if (words_are_readable(
          walk, LiveSubject(window.document.trace_at_hand(), &session.traced_scenario(), &session.inputs())))
    return true;
  // The line below the fields may be out of sight.
  NoticesState& notices = window.view.notices;
  const std::string problem = fmt::format("Page {} has an error: {}. Correct it before you leave the page.",
                                          *walk.page + 1, walk.words_problem);
  if (std::ranges::find(notices.notices, problem, &Notice::text) == notices.notices.end())
    notices.complain(problem);
  return false;
}

namespace {

// Nothing was edited since the page was opened.
bool is_unedited_page(const Session& session) {
  return session.history().step_back(0).page && session.scenario() == session.history().current();
}

// The page before was left with edits, to which undo leads back.
bool left_edits_before(const PlaylistWalk& walk, const History& history) {
  if (walk.edits_words || !walk.earlier_page || walk.earlier_page->page >= walk.playlist.pages.size() ||
      !history.before())
    return false;  // whoever writes a page stays on it
  if (history.step_back(1).page ||
      is_scenario_of(walk.playlist.pages[walk.earlier_page->page], *history.before()))
    return false;
  std::size_t back = 1;
  while (back < history.steps_back() && !history.step_back(back).page) ++back;
  // By what it shows: its place may have changed since.
  return history.step_back(back).page &&
         is_scenario_of(walk.playlist.pages[walk.earlier_page->page], history.step_back(back).scenario);
}

// What was edited last are the words that are being written.
bool edited_words_last(const PlaylistWalk& walk, const History& history) {
  const auto& edits = walk.words_edits.edits;
  return walk.edits_words && !edits.empty() && edits.back().history_steps == history.steps_back();
}

}  // namespace

std::string undo_label(const WindowDocument& document) {
  const PlaylistWalk& walk = document.walk;
  const Session& session = document.session;
  if (edited_words_last(walk, session.history())) return "edit the words";
  if (walk.refused()) return "";  // what was done before belongs to another page
  if (!walk.page || !is_unedited_page(session)) return session.undo_label();
  if (walk.just_removed) return "remove the page";
  return left_edits_before(walk, session.history()) ? "turn the page" : "";
}

bool undo_to_page_before(WindowState& window) {
  const PlaylistWalk& walk = window.document.walk;
  const Session& session = window.document.session;
  const History& history = session.history();
  if (!walk.page || walk.just_removed || !is_unedited_page(session) || !left_edits_before(walk, history))
    return false;
  const PlaylistWalk::EarlierPage from = *walk.earlier_page;
  const Scenario scenario = *history.before();
  const PlaylistPage& page = walk.playlist.pages[from.page];
  std::string edit = edits_since(
      history, [&](const Scenario& each) { return is_scenario_of(page, each); }, 1);
  if (edit.empty()) edit = history.step_back(1).label;
  show_page(window, from.page, entry_with(from.answered));
  window.document.session.edit(scenario, edit);
  return true;
}

bool drop_refused_edit(WindowState& window) {
  Session& session = window.document.session;
  const PlaylistWalk& walk = window.document.walk;
  if (session.error().empty() || walk.refused() || (walk.page && is_unedited_page(session))) return false;
  return session.undo();
}

void observe_words(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  PlaylistWalk::WordsEdits& kept = walk.words_edits;
  if (!walk.page || !walk.edits_words) {
    kept = {};
    return;
  }
  const PlaylistPage& page = *walk.shown();
  if (kept.page != walk.page) kept = {walk.page, page, {}};
  if (written_words(kept.seen) == written_words(page)) return;
  const unsigned field = window.view.focus.focused;
  const std::size_t steps = window.document.session.history().steps_back();
  if (kept.edits.empty() || kept.edits.back().field != field || kept.edits.back().history_steps != steps)
    kept.edits.push_back({std::move(kept.seen), field, steps});
  kept.seen = page;
}

bool undo_words(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  observe_words(window);
  if (!edited_words_last(walk, window.document.session.history())) return false;
  PlaylistWalk::WordsEdits& kept = walk.words_edits;
  PlaylistPage& page = walk.playlist.pages[*walk.page];
  written_words(page) = written_words(kept.edits.back().before);
  kept.edits.pop_back();
  kept.seen = page;
  walk.changed = true;
  walk.words_problem.clear();
  return true;
}

}  // namespace headwise
