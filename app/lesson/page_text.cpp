#include "app/lesson/page_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/lesson/page_answers.h"
#include "app/lesson/page_place.h"
#include "app/session/edit_summary.h"
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
void refresh_words(PlaylistWalk& walk, const Session& session, const TracePtr& trace) {
  const PlaylistPage* page = walk.shown();
  PlaylistWalk::Words& words = walk.words;
  if (!page) {
    words = {};
    return;
  }
  words.gives_up = false;
  // On the way to a page the trace is still the previous page's.
  if (walk.arrival && (session.computing() || walk.refused())) {
    words = {};
    words.gives_up = session.awaited() || session.waiting().is_long();
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
  const bool same_scenario = words.written.scenario == page->scenario;
  if (words.trace == trace && same_scenario && written_words(words.written) == written_words(*page)) return;
  const LiveAnswers answers =
      computes_at_once(session.traced_scenario()) ? LiveAnswers::all : LiveAnswers::quick;
  if (!same_scenario) {
    words.comparisons.reset();
    words.labels.reset();
  }
  words.trace = trace;
  words.written = *page;
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

}  // namespace headwise
