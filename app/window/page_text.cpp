#include "app/window/page_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/edit_summary.h"
#include "app/window/answer_editor.h"
#include "app/window/page_place.h"
#include "app/window/window_state.h"
#include "core/model/files/model_files.h"

namespace headwise {
namespace {

// In one line: an error may have several.
std::string refused_words(const PlaylistWalk& walk) {
  std::string why = walk.arrival->refused;
  std::ranges::replace(why, '\n', ' ');
  return fmt::format("This page cannot be computed: {}{}", why, why.ends_with('.') ? "" : ".");
}

}  // namespace

// Numbers that take long to compute are not computed between two frames.
void refresh_words(WindowDocument& document) {
  const Session& session = document.session;
  PlaylistWalk& walk = document.walk;
  const PlaylistPage* page = walk.shown();
  PlaylistWalk::Words& words = walk.words;
  if (!page) {
    words = {};
    return;
  }
  const TracePtr trace = document.gradients.at_hand(session.trace_ptr());
  words.gives_up = false;
  // On the way to a page the trace is still the previous page's.
  if (walk.arrival && (session.computing() || walk.refused())) {
    words = {};
    words.gives_up = session.awaited() || session.waiting().told();
    if (!page->notes.empty()) words.notes = "…";
    if (!session.computing()) {
      (walk.asking() ? words.ask : words.caption) = refused_words(walk);
      return;
    }
    if (!page->ask.empty()) words.ask = "…";
    words.caption = "…";
    if (const Scenario* awaited = session.awaited())
      (walk.asking() ? words.ask : words.caption) =
          fmt::format("Training this page’s model ({}): {:.0f} %. Esc cancels.",
                      model_name(*awaited->parameters.file), 100.0 * session.waiting().fraction);
    return;
  }
  if (words.trace == trace && words.ask_written == page->ask && words.caption_written == page->caption &&
      words.notes_written == page->notes && words.answer_written == page->answer &&
      words.scenario_written == page->scenario)
    return;
  const LiveAnswers answers =
      computes_at_once(session.traced_scenario()) ? LiveAnswers::all : LiveAnswers::quick;
  if (words.scenario_written != page->scenario) {
    words.comparisons.reset();
    words.labels.reset();
  }
  words.trace = trace;
  words.ask_written = page->ask;
  words.caption_written = page->caption;
  words.notes_written = page->notes;
  words.answer_written = page->answer;
  words.scenario_written = page->scenario;
  const auto unchanged = [&](const Scenario& each) { return !has_changed_scenario(walk, each); };
  words.edits.reset();
  if (unchanged(session.traced_scenario())) {
    words.comparisons = compare_choices(*trace);
    words.labels = session.inputs().labels;
  } else {
    words.edits = edits_since(session.history(), unchanged);
  }
  static_cast<PageWords&>(words) =
      page_words(*page, session.traced_scenario(), session.inputs(), *trace, answers);
}

bool words_are_readable(PlaylistWalk& walk, const LiveSubject& subject) {
  if (!walk.page || !walk.edits_words || walk.refused()) return true;
  // It is better to learn of unreadable numbers in braces now than in front of a class.
  walk.words_problem = page_problem(*walk.shown(), subject.trace);
  if (walk.words_problem.empty()) walk.words_problem = answer_problem(walk.playlist, *walk.shown(), subject);
  return walk.words_problem.empty();
}

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

}  // namespace headwise
