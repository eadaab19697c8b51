// A playlist that is walked through: the page that is shown, and what has been answered.
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
#include "core/attention/trace.h"
#include "core/lessons/given_answer.h"
#include "core/lessons/live_value.h"
#include "core/lessons/page_words.h"
#include "core/lessons/playlist.h"

namespace headwise {

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
  struct Given : GivenAnswer {  // its weights are bars: while they are drawn, of any sum; once given, of 1
    bool made = false;          // one of these is the answer
    bool done = false;  // the page's own answer is to be shown, whether or not one was given: arrive does so
    std::string typed;  // of a number or shape that is not given yet
    bool unreadable = false;              // what was typed is no number
    bool wants_focus = false;             // the field of the number, or the bars, take it in the next frame
    std::size_t bar = 0;                  // that the keys raise and lower
    std::optional<std::size_t> last_bar;  // that the mouse was over, while it draws
    AnswerMask mask;                      // instead of the pairs

    GivenAnswer answer() const {
      GivenAnswer answer = *this;
      answer.pairs = mask;
      return answer;
    }
    void give() { made = done = true; }
    double sum_of_bars() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }
    // So that they sum to 1, as weights do.
    void scale_bars() {
      for (const double sum = sum_of_bars(); double& each : weights) each /= sum;
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
  // What its words were before they were edited, since editing began (app/window/page_edits.h)
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

}  // namespace headwise
