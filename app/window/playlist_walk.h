// Walking through the pages of a playlist.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "app/panels/panel.h"
#include "app/panels/veil.h"
#include "app/session/history.h"
#include "app/session/selection.h"
#include "app/stage/views.h"
#include "core/answers/live_value.h"
#include "core/playlist/page_words.h"
#include "core/playlist/playlist.h"
#include "core/trace/trace.h"

namespace headwise {

enum class CommandId : int;
struct WindowDocument;  // app/window/window_state.h
struct WindowState;

// Choices of how the stage shows things, which a page may make in the user's place.
struct DisplayChoices {
  std::optional<CompareWith> beside;
  std::optional<MaskConvention> masks_as;
  std::optional<bool> queries_as_columns, colors_by_head;

  // Calls `visit` with each, and where a place has it.
  template <class Visit>
  static void each(Visit visit) {
    visit(&DisplayChoices::beside, &Selection::compare_with);
    visit(&DisplayChoices::masks_as, &Selection::mask_convention);
    visit(&DisplayChoices::queries_as_columns, &Selection::queries_as_columns);
    visit(&DisplayChoices::colors_by_head, &Selection::colors_by_head);
  }
};

// What is written on a page.
auto written_words(auto& page) {
  return std::tie(page.title, page.ask, page.caption, page.notes, page.answer);
}

// The pages that are loaded, walked or not, and what was done to them.
struct LoadedPages {
  Playlist playlist;     // without pages: none
  std::string path;      // of its file; empty: none yet
  bool changed = false;  // since it was opened or saved

  // What the user has answered to the page's question
  struct Given {
    bool made = false;  // one of these is the answer
    bool done = false;  // the page's own answer is to be shown, whether or not one was given: arrive does so
    std::size_t option = 0;
    double number = 0.0;
    Index head = 0;
    CellRef cell;
    std::vector<Index> sizes;
    std::string typed;         // of a number or shape that is not given yet
    bool unreadable = false;   // what was typed is no number
    bool wants_focus = false;  // the field of the number, or the bars, take it in the next frame
    // A row of weights as bars: while they are drawn, of any sum; once given, of 1
    std::vector<double> bars;
    std::size_t bar = 0;                  // that the keys raise and lower
    std::optional<std::size_t> last_bar;  // that the mouse was over, while it draws
    AnswerMask mask;

    void give() { made = done = true; }
    double sum_of_bars() const { return std::accumulate(bars.begin(), bars.end(), 0.0); }
    // So that they sum to 1, as weights do.
    void scale_bars() {
      for (const double sum = sum_of_bars(); double& each : bars) each /= sum;
    }
  };

  // Pages that can be brought back, the newest last: removed ones, and what a page was before it was updated
  struct Retired {
    PlaylistPage page;
    std::size_t place = 0;
    bool replaced = false;  // the page at `place` was updated
  };
  std::vector<Retired> retired;
  // Questions answered since the playlist was opened: whoever comes back to the page finds the answer and its
  // verdict. One whose answer was only shown asks again, unless its page is turned back to. A question that
  // was changed since is new.
  struct Kept {
    ScenarioPtr scenario;
    std::string title, ask;
    std::optional<PageAnswer> answer;
    Given given;
  };
  std::vector<Kept> kept;
};

struct PlaylistWalk : LoadedPages {
  bool from_program = false;        // a built-in lesson: adding pages starts another playlist
  std::optional<std::size_t> page;  // the current page; none: not walking
  std::size_t left_at = 0;          // the page shown when it was left: presenting goes on there
  bool edits_words = false;         // the page's title, question and caption are being written
  bool words_have_focus = false;    // since editing began
  // The last click, while they are edited, was among them: letters are no commands
  bool typing_in_caption = true;
  std::string words_problem;  // why editing cannot end: a number that cannot be read
  // What its words were before they were edited, since editing began (app/window/page_text.h)
  struct WordsEdits {
    std::optional<std::size_t> page;
    PlaylistPage seen;  // in the last frame
    struct Edit {
      PlaylistPage before;
      unsigned field = 0;             // which had the focus
      std::size_t history_steps = 0;  // of the scenario, at that time
    };
    std::vector<Edit> edits;  // the newest last
  } words_edits;
  bool answered = true;  // false: the page asks a question, and its caption is still hidden
  std::optional<std::size_t> followed_from;  // the page whose link “see …” led here

  // Where the stage is not at the page's own place.
  struct Departure {
    // It shows another step or view, about which the page's text says nothing; else a detail of the same
    bool elsewhere = false;
    std::string page, stage;  // "head 7", "head 3": what the page is about, and what the stage shows
  };
  std::optional<Departure> departure;  // none: it shows what the page is about. Of this frame
  bool answers_on_stage = false;       // a click on what it shows can answer the page's question

  // The text of the current page, with the numbers of the trace.
  struct Words : PageWords {
    TracePtr trace;  // what they were made from
    PlaylistPage written;
    // What was changed on the page, "causal mask off"; none: nothing. Empty where the history has forgotten
    // it
    std::optional<std::string> edits;
    // What the comparisons are called beside the page's own scenario; none: not seen yet
    std::optional<CompareChoices> comparisons;
    std::optional<TokenLabels> labels;  // of its sentence, in the same way
    // Escape gives up the page, which is on its way
    bool gives_up = false;
    // The question or the caption no longer holds, and the page says so
    bool changed(bool answered) const { return ask_changed || (answered && caption_changed); }
  } words;

  Given given;  // what the user has answered to the page's question

  bool just_removed = false;  // a page, and nothing since: undo puts it back
  // The user's own pages, while a lesson is visited from one of them; leaving the lesson leads back there
  struct Interrupted : LoadedPages {
    std::size_t page = 0;
    bool answered = true;
  };
  std::optional<Interrupted> interrupted;

  // The page from which a training was looked into, with what the walk goes on with when it comes back
  struct LeftPage {
    std::size_t page = 0;
    bool answered = true;
    History own_history;
    Selection own_selection;
  };
  std::optional<LeftPage> left_page;

  // The user's own place, restored on leaving
  std::optional<History> own_history;
  Selection own_selection;
  // The user's own display choices, while a page overrides them
  DisplayChoices own_choices;
  // Where to go once the requested scenario has its trace
  struct Arrival {
    Selection selection;
    std::optional<PlaylistPage> page;  // not yet checked for problems
    bool from_own = false;             // until then the user's own scenario is there, and can be edited
    // Why the page's scenario has no trace; empty: it may still get one. `stale`: the trace of before, until
    // something else has been computed on the page
    std::string refused = {};
    TracePtr stale = {};
  };
  std::optional<Arrival> arrival;
  // The page shown before the current one, where whoever gives up waiting for this one goes back to; none:
  // the user's own place, or own pages
  struct EarlierPage {
    std::size_t page = 0;
    bool answered = true;
  };
  std::optional<EarlierPage> earlier_page;
  std::string arrival_notice;  // summary of the edit made by opening the page

  const PlaylistPage* shown() const { return page ? &playlist.pages[*page] : nullptr; }
  // The page asks a question, and its answer is not revealed yet.
  bool asking() const { return page && !answered; }
  // It has said all that it says, and the stage shows something else.
  bool has_left() const { return answered && departure && departure->elsewhere; }
  // The page cannot be shown: what the session last computed belongs to another one.
  bool refused() const { return page && arrival && !arrival->refused.empty(); }
};

// Whether the page on the stage is the one that asks: it is neither on its way nor being written.
bool asks_now(const PlaylistWalk& walk);
// Whether the pinned cell is the page's own.
bool is_pinned_by_page(const PlaylistWalk& walk, const Selection& selection);
// What is hidden while the page asks; nullopt if nothing is.
std::optional<Veil> veil_of(const PlaylistWalk& walk);

// The tensor of which the page asks for a cell.
std::optional<TensorId> tensor_to_point_at(const PlaylistWalk& walk);
// Whether the page asks for a tensor, or for a head.
bool asks_for_tensor(const PlaylistWalk& walk);
bool asks_for_head(const PlaylistWalk& walk);
// The mask that the page asks for, to be painted, or what was painted beside what is right; null if there is
// none. To be called in each frame.
AnswerMask* answer_mask(PlaylistWalk& walk);
// What is right where it is a place, once the page has answered: given or not. Null if there is none,
// or none that is known.
std::optional<Index> right_head(const PlaylistWalk& walk);
std::optional<RightCells> right_cells(const PlaylistWalk& walk);

// Shows the page and starts the walk; on leaving, the user's own scenario comes back with its history.
// `path`: of the playlist's file, empty for a built-in one, or where the pages are the user's own and
// `unsaved`. playlist.pages must not be empty. The user's own unsaved pages that this would replace are kept
// (app/session/kept_work.h). Answers given before are forgotten.
void start_walk(WindowState& window, Playlist playlist, const std::string& path = {}, std::size_t page = 0,
                bool unsaved = false);
// The same for a built-in lesson. Visited from a page of the user's own, which stay as they are, with the
// answers given: step_out leads back to that page.
void visit_lesson(WindowState& window, const Playlist& lesson, std::size_t page = 0);
// Going forwards, a page that asks a question first reveals its answer. Does nothing if no playlist is being
// walked; stops at the ends.
void walk_pages(WindowState& window, int by);
// Back to the user's own scenario and place. The playlist stays loaded; out of a lesson that was visited from
// the user's own pages, those.
void leave_walk(WindowState& window);
// Out of a lesson that was visited from the user's own pages back to them; else as leave_walk.
void step_out(WindowState& window);
// How a page is come to: asked about anew unless an answer was given; turned back to, with an answer that was
// only shown; or with its answer in any case.
enum class PageEntry { ahead, back, answered };
constexpr PageEntry entry_with(bool answered) {
  return answered ? PageEntry::answered : PageEntry::ahead;
}
// Of a page that is gone to from the one that is shown.
PageEntry entry_towards(const PlaylistWalk& walk, std::size_t page);
// Shows another page of the playlist being walked; the page must exist.
void show_page(WindowState& window, std::size_t page, PageEntry entry = PageEntry::ahead);
// Follows the link of a wrong option to the page about it; go_back leads back.
void follow_to_page(WindowState& window, std::size_t page);
// Back to the page whose link led here; false if none did.
bool return_from_link(WindowState& window);
// Restores the current page's own settings and place, as an edit that can be undone; an answer already
// revealed stays revealed. Does nothing if no playlist is being walked.
void restore_page(WindowState& window);
// Walks the loaded playlist on from where it was left, with the answers given before, or leaves it.
void toggle_walk(WindowState& window);
// Shows the loaded playlist on the whole screen: the page that is shown, or the one where it was left, with
// the answers given before. In a lesson that is visited from the user's own pages: back to those. Never
// leaves what is presented.
void present(WindowState& window);
// A class sees the page, not the fields it is written in, and is asked its question. Does nothing while no
// page is written.
void end_writing(WindowState& window);
// Leaves the page for another scenario, of a training that is looked into; resume_page returns to it. Does
// nothing without a page.
void suspend_page(WindowState& window);
// Back to the page that suspend_page left; false if there is none.
bool resume_page(WindowState& window);
// Takes back the answer given to the page's question, which it asks again. Does nothing if it asks none, or
// still asks.
void take_back_answer(WindowState& window);
// Forgets all answers given, and goes to the first page.
void start_over(WindowState& window);
// While a page is on the full screen, the keys that go through the steps turn the pages, so that no caption
// stands beside another page's stage. False if the command is none of them, or no page is presented.
bool turn_page_by_key(WindowState& window, CommandId id);

// What the status line says about the last edit. Opening a page does not count: its effect on the output is
// often the answer to the page's question. Empty until something is changed on the page.
std::string last_edit_notice(const WindowDocument& document);

// Takes what was edited on the way from the user's own scenario to a page into what comes back on leaving. To
// be called before the page can arrive.
void keep_own_edits(WindowDocument& document);

// Cancels what is computed for the page on the way, and goes back to where it was turned from. False if
// nothing is being computed.
bool give_up_page(WindowState& window);

// Once a frame: moves to the page's place when its scenario has a trace, and updates its text. Once
// walk.given is done, the page that asked shows its answer, at its own place; bars or a mask that were drawn
// are then the answer given.
void arrive(WindowState& window);

}  // namespace headwise
