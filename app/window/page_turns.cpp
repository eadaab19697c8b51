#include "app/window/page_turns.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/lesson/answer_kinds.h"
#include "app/lesson/page_place.h"
#include "app/lesson/page_text.h"
#include "app/session/kept_work.h"
#include "app/widgets/focus_order.h"
#include "app/window/page_edits.h"
#include "app/window/window_state.h"

namespace headwise {
namespace {

// What the page sets, else what the user had set before a page changed it.
template <class Choice>
Choice taken(const std::optional<Choice>& of_page, Choice now, std::optional<Choice>& own) {
  if (of_page) {
    if (!own) own = now;
    return *of_page;
  }
  return std::exchange(own, std::nullopt).value_or(now);
}

void take_choices(PlaylistWalk& walk, const DisplayChoices& page, const Selection& now, Selection& place) {
  DisplayChoices::each([&](auto choice, auto shown) {
    place.*shown = taken(page.*choice, now.*shown, walk.own_choices.*choice);
  });
}

// Whether the page on its way cannot be shown. It stays on its way, in case an edit mends it.
bool is_refused(WindowState& window) {
  PlaylistWalk::Arrival& arrival = *window.document.walk.arrival;
  const Session& session = window.document.session;
  if (arrival.page && !session.error().empty()) {
    if (arrival.refused.empty()) {  // what was pinned elsewhere is none of this page
      Selection& now = window.view.selection;
      now.step = arrival.selection.step;
      now.view = arrival.selection.view;
      now.tensor.reset();
      now.pinned.reset();
      skip_motion(window.view.motion);
    }
    arrival.refused = session.error();
    arrival.stale = session.trace_ptr();
  }
  if (arrival.stale != session.trace_ptr()) arrival.refused.clear();
  return !arrival.refused.empty();
}

void take_place(WindowState& window) {
  WindowDocument& document = window.document;
  WindowView& view = window.view;
  PlaylistWalk& walk = document.walk;
  if (!walk.arrival || document.session.computing() || is_refused(window)) return;
  const PlaylistWalk::Arrival arrival = *std::exchange(walk.arrival, std::nullopt);
  walk.arrival_notice = document.session.last_edit();
  // A scenario without a trace is reported by the session; the last good picture stays.
  if (!document.session.error().empty()) return;
  const Step from = view.selection.step;
  const bool same_picture = view.selection.view == arrival.selection.view;
  Selection place = arrival.selection;
  // Few pages set the user's display choices.
  take_choices(walk, choices_of_page(walk), view.selection, place);
  view.selection = selection_within(place, document.session.trace());
  view.arrived = true;
  skip_motion(view.motion);
  if (same_picture && walk.page && view.selection.step != from)
    begin_motion(view.motion, shown_steps(document.session.trace().options), from, view.selection.step);
  if (!arrival.page) return;
  const std::string problem = page_problem(*arrival.page, document.session.trace());
  if (!problem.empty()) view.notices.complain(fmt::format("Page {}: {}", *walk.page + 1, problem));
}

// The user's own pages that are about to be replaced; true if they had to be kept.
bool keep_unsaved(const WindowDocument& document) {
  const PlaylistWalk& walk = document.walk;
  return walk.changed && !walk.playlist.pages.empty() && keep_playlist(document.kept_folder, walk.playlist);
}

bool belongs_to(const PlaylistWalk::Kept& kept, const PlaylistPage& page) {
  return kept.title == page.title && kept.ask == page.ask && kept.answer == page.answer &&
         (kept.scenario == page.scenario || *kept.scenario == *page.scenario);
}

// To the place of the page that is shown, as soon as it has its trace.
void go_to_page(PlaylistWalk& walk, bool answered) {
  walk.answered = answered;
  if (!walk.arrival) walk.arrival.emplace();
  walk.arrival->selection = selection_of(*walk.shown(), answered);
}

// It moves from where the page asked to its own place.
void reveal_answer(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  const PlaylistPage& page = *walk.shown();
  walk.answered = true;
  window.view.steps.playing = false;
  window.view.notices.dismiss_all();  // on how it is answered
  if (page.answer && view_of(*page.answer).drawn(walk)) {
    walk.given.made = true;
    if (walk.given.sum_of_bars() > 0.0) walk.given.scale_bars();
  }
  std::erase_if(walk.kept, [&](const PlaylistWalk::Kept& kept) { return belongs_to(kept, page); });
  walk.kept.push_back({page.scenario, page.title, page.ask, page.answer, walk.given});
  if (window.view.full_screen) release_focus(window.view.focus);  // its keys turn pages again
  if (page.asks_covered() || walk.departure) go_to_page(walk, true);
}

// Without forgetting the answers given.
void walk_on(WindowState& window, Playlist playlist, const std::string& path, std::size_t page,
             bool from_program) {
  PlaylistWalk& walk = window.document.walk;
  const bool other = !(playlist == walk.playlist);
  const bool kept = other && keep_unsaved(window.document);
  if (other) walk.retired.clear();
  walk.left_page.reset();
  const bool from_own = !walk.page;
  if (from_own) {
    walk.own_history = window.document.session.history();
    walk.own_selection = window.view.selection;
  }
  walk.from_program = from_program;
  walk.playlist = std::move(playlist);
  walk.path = path;
  walk.changed = false;
  show_page(window, std::min(page, walk.playlist.pages.size() - 1));
  if (from_own && walk.arrival) walk.arrival->from_own = true;
  if (other) walk.earlier_page.reset();  // its pages are no longer loaded
  if (kept) {
    window.view.notices.say(fmt::format("Your playlist was not saved. “{}” in the Teach menu brings it back.",
                                        command_entry(CommandId::reopen_playlist).name));
  }
}

// The user's own pages take the place of the lesson that was visited from them.
void resume_interrupted(PlaylistWalk& walk) {
  PlaylistWalk::Interrupted own = *std::exchange(walk.interrupted, std::nullopt);
  walk.page = own.page;
  walk.from_program = false;
  static_cast<LoadedPages&>(walk) = std::move(own);
}

}  // namespace

void arrive(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (std::exchange(walk.given.done, false) && walk.asking()) reveal_answer(window);
  if (walk.asking() && walk.edits_words) go_to_page(walk, true);  // a page is written at its own place
  take_place(window);
  const Session& session = window.document.session;
  observe_words(window);
  refresh_words(walk, session, window.document.trace_at_hand_ptr());
  const Selection& now = window.view.selection;
  walk.departure = departure_of(
      walk, now, session.trace(),
      {chosen_query(window.view.stage_choices, now.view), first_query(window.view.stage_choices, now.view),
       has_moved_query(window.view.stage_choices, now), &session.inputs().labels, window.view.full_screen,
       window.view.motion.progress < 1.0 && !window.view.motion.running});
  walk.answers_on_stage = answers_on_stage(walk, now, session.trace(), window.view.full_screen);
}

PageEntry entry_towards(const PlaylistWalk& walk, std::size_t page) {
  return walk.page && page < *walk.page ? PageEntry::back : PageEntry::ahead;
}

void show_page(WindowState& window, std::size_t page, PageEntry entry) {
  PlaylistWalk& walk = window.document.walk;
  keep_own_edits(window.document);
  const bool from_own = walk.arrival && walk.arrival->from_own;
  // A page that never arrived is no place to go back to.
  if (!walk.arrival)
    walk.earlier_page =
        walk.page ? std::optional(PlaylistWalk::EarlierPage{*walk.page, walk.answered}) : std::nullopt;
  walk.followed_from.reset();
  // What the keys pointed at on a map has been left.
  if (window.view.full_screen || focuses_map(window.view.focus)) release_focus(window.view.focus);
  walk.page = page;
  walk.edits_words = false;
  window.view.steps.playing = false;
  walk.words_problem.clear();
  walk.just_removed = false;
  window.view.notices.dismiss_all();  // notices about the previous page
  const PlaylistPage& shown = walk.playlist.pages[page];
  const auto kept = std::ranges::find_if(walk.kept, [&](const auto& each) { return belongs_to(each, shown); });
  const bool known = kept != walk.kept.end();
  walk.given = known && kept->given.made ? kept->given : PlaylistWalk::Given{};
  walk.answered = entry == PageEntry::answered || shown.ask.empty() || walk.given.made ||
                  (known && entry == PageEntry::back);
  window.view.setup.forget_scenario();
  window.view.trail.clear();  // its numbers are another page's
  window.document.session.open_page(*shown.scenario, page);
  walk.arrival = PlaylistWalk::Arrival{selection_of(shown, walk.answered), shown, from_own};
  arrive(window);
}

void keep_own_edits(WindowDocument& document) {
  PlaylistWalk& walk = document.walk;
  if (walk.page && walk.arrival && walk.arrival->from_own && document.session.awaited())
    walk.own_history = document.session.history();
}

bool give_up_page(WindowState& window) {
  WindowDocument& document = window.document;
  PlaylistWalk& walk = document.walk;
  if (!document.session.cancel()) return false;
  if (!walk.arrival || !walk.page) return true;
  walk.arrival.reset();
  const auto from = walk.earlier_page;
  if (from && from->page < walk.playlist.pages.size()) {
    show_page(window, from->page, entry_with(from->answered));
    walk.earlier_page = from;  // with what was edited there
  } else {
    step_out(window);
  }
  window.view.notices.say("Cancelled. The page was not opened.");
  return true;
}

std::string last_edit_notice(const WindowDocument& document) {
  const PlaylistWalk& walk = document.walk;
  const std::string& notice = document.session.last_edit();
  return walk.arrival || notice == walk.arrival_notice ? "" : notice;
}

void start_walk(WindowState& window, Playlist playlist, const std::string& path, std::size_t page,
                bool unsaved) {
  if (PlaylistWalk& walk = window.document.walk; walk.interrupted) resume_interrupted(walk);
  window.document.walk.kept.clear();
  window.view.presented_seconds = 0.0;
  walk_on(window, std::move(playlist), path, page, path.empty() && !unsaved);
  window.document.walk.changed = unsaved;
}

void visit_lesson(WindowState& window, const Playlist& lesson, std::size_t page) {
  PlaylistWalk& walk = window.document.walk;
  if (walk.page && !walk.from_program && !walk.interrupted)
    walk.interrupted = {std::exchange(static_cast<LoadedPages&>(walk), {}), *walk.page, walk.answered};
  walk.kept.clear();
  walk_on(window, lesson, {}, page, true);
}

void walk_pages(WindowState& window, int by) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page || !words_are_readable(window)) return;
  // A page whose model is being trained, or cannot be, has not asked yet.
  const bool not_yet = walk.refused() || (walk.arrival && window.document.session.awaited());
  if (by > 0 && !walk.answered && !not_yet) {
    walk.given.done = true;
    return arrive(window);
  }
  const auto last = static_cast<std::ptrdiff_t>(walk.playlist.pages.size()) - 1;
  const auto here = static_cast<std::ptrdiff_t>(*walk.page);
  const auto next = std::clamp<std::ptrdiff_t>(here + by, 0, last);
  if (next == here) {
    // On the full screen the line below the words counts the pages, and nothing may lie over the last one.
    if (!window.view.full_screen)
      window.view.notices.say(by > 0 ? "This is the last page. Esc returns to your own scenario."
                                     : "This is the first page.");
    return;
  }
  const auto to = static_cast<std::size_t>(next);
  show_page(window, to, entry_towards(walk, to));
}

void follow_to_page(WindowState& window, std::size_t page) {
  const std::size_t from = *window.document.walk.page;
  show_page(window, page);
  window.document.walk.followed_from = from;
}

bool return_from_link(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page || !walk.followed_from || *walk.followed_from >= walk.playlist.pages.size()) return false;
  show_page(window, *walk.followed_from, PageEntry::back);
  return true;
}

void leave_walk(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  keep_own_edits(window.document);
  walk.left_page.reset();
  if (!walk.page) return;
  if (walk.interrupted) resume_interrupted(walk);
  walk.left_at = *walk.page;
  walk.page.reset();
  walk.edits_words = false;
  window.view.setup.forget_scenario();
  window.view.trail.clear();
  window.document.session.return_to(*std::exchange(walk.own_history, std::nullopt), "exit the playlist");
  walk.arrival = PlaylistWalk::Arrival{walk.own_selection, std::nullopt};
  arrive(window);
}

void step_out(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!words_are_readable(window)) return;
  if (!walk.page) return leave_walk(window);
  if (!walk.interrupted) {
    const std::string& title = walk.playlist.title;
    window.view.notices.say(fmt::format("You left {}, page {} of {} · {} returns",
                                        title.empty() ? "the playlist" : "“" + title + "”", *walk.page + 1,
                                        walk.playlist.pages.size(), first_key_text(CommandId::walk_playlist)));
    return leave_walk(window);
  }
  const bool answered = walk.interrupted->answered;
  resume_interrupted(walk);
  show_page(window, *walk.page, entry_with(answered));
  walk.earlier_page.reset();  // a page of the lesson
  window.view.notices.say(fmt::format("Back on page {} of your playlist.", *walk.page + 1));
}

void restore_page(WindowState& window) {
  if (const PlaylistWalk& walk = window.document.walk; walk.page)
    show_page(window, *walk.page, entry_with(walk.answered));
}

void toggle_walk(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (walk.page) {
    step_out(window);
  } else if (walk.playlist.pages.empty()) {
    window.view.notices.say("There is no playlist yet. Open one, or start one with “Add page”.");
  } else {
    const bool changed = walk.changed;
    walk_on(window, walk.playlist, walk.path, walk.left_at, walk.from_program);
    walk.changed = changed;
  }
}

void present(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page) toggle_walk(window);
  if (!walk.page) return;
  if (walk.interrupted) return step_out(window);
  if (!words_are_readable(window)) return;
  window.view.full_screen = window.view.stage_only = true;
  skip_motion(window.view.motion);  // a class sees the page's place, not the way there
  window.view.notices.dismiss_all();
  end_writing(window);
}

void end_writing(WindowState& window) {
  if (std::exchange(window.document.walk.edits_words, false)) take_back_answer(window);
}

void suspend_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page) return;
  walk.left_page =
      PlaylistWalk::LeftPage{*walk.page, walk.answered, *std::exchange(walk.own_history, std::nullopt),
                             std::exchange(walk.own_selection, {})};
  walk.left_at = *walk.page;
  walk.page.reset();
  walk.arrival.reset();
  walk.edits_words = false;
  Selection& selection = window.view.selection;
  take_choices(walk, {}, selection, selection);
}

bool resume_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.left_page || walk.page) return false;
  PlaylistWalk::LeftPage from = *std::exchange(walk.left_page, std::nullopt);
  walk.own_history = std::move(from.own_history);
  walk.own_selection = std::move(from.own_selection);
  show_page(window, from.page, entry_with(from.answered));
  return true;
}

void take_back_answer(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  const PlaylistPage* page = walk.shown();
  if (!page || !walk.answered || page->ask.empty() || walk.edits_words) return;
  std::erase_if(walk.kept, [&](const PlaylistWalk::Kept& kept) { return belongs_to(kept, *page); });
  walk.given = {};
  window.view.steps.playing = false;
  go_to_page(walk, false);
  arrive(window);
}

void start_over(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  walk.kept.clear();
  walk.given = {};
  walk.left_at = 0;
  walk.left_page.reset();
  if (walk.page) show_page(window, 0);
  window.view.presented_seconds = 0.0;
  window.view.notices.say(walk.page ? "The answers given are forgotten; this is the first page."
                                    : "The answers given are forgotten.");
}

bool answer_by_head(WindowState& window, Index head) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_for_head(walk)) return false;
  walk.given.head = head;
  walk.given.give();
  return true;
}

bool answer_by_pointing(WindowState& window, const Selection& wanted) {
  PlaylistWalk& walk = window.document.walk;
  if (!asks_now(walk) || !walk.shown()->answer) return false;
  const std::string problem =
      view_of(*walk.shown()->answer).click(walk, window.document.session.trace(), window.view.selection, wanted);
  if (!problem.empty()) window.view.notices.say(problem);
  return walk.given.done;
}

void answer_by_character(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  const FocusOrder& focus = window.view.focus;
  const bool writes = (focus.focused != 0 && focus.keys == FocusKeys::text) || focus.list != KeyedList::none;
  if (writes || !asks_now(walk) || !walk.shown()->answer) return;
  const AnswerKindView& view = view_of(*walk.shown()->answer);
  const auto begins = [&](ImWchar typed) {
    return std::ranges::any_of(view.characters, [&](char each) { return typed == ImWchar(each); });
  };
  if (std::ranges::any_of(ImGui::GetIO().InputQueueCharacters, begins)) view.digit(walk, 0);
}

bool answer_by_key(WindowState& window, KeyChord chord) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page || walk.shown()->ask.empty() || !walk.shown()->answer) return false;
  const int digit = static_cast<int>(chord.key) - static_cast<int>(Key::zero);
  const AnswerKindView& view = view_of(*walk.shown()->answer);
  const bool is_digit = digit >= 0 && digit <= 9, typed = view.typed;
  const auto is_key = [&](char each) { return chord.key == letter(each); };
  const bool types = is_digit || (typed && (chord.key == Key::minus || is_key('.'))) ||
                     (asks_now(walk) && std::ranges::any_of(view.letters, is_key));
  if (chord.ctrl || chord.alt || chord.shift || !types) return false;
  // A number that is typed once more is still none of a head. Elsewhere digits are the keys of heads again.
  if (typed && walk.answered && !walk.edits_words && !walk.arrival && window.view.full_screen) {
    window.view.notices.say(fmt::format("The answer is already shown. “{}” asks the question again.",
                                        command_entry(CommandId::take_back_answer).name));
    return true;
  }
  if (!asks_now(walk)) return false;
  if (!view.digit(walk, digit)) return false;
  arrive(window);
  return true;
}

}  // namespace headwise
