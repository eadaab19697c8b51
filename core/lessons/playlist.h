// A playlist: pages to walk through in front of a class. Each page is a place in a scenario with a caption.
//
//   { "headwise_playlist": 1,
//     "title": "Why divide by √D?",
//     "pages": [
//       { "scenario": "hand_made", "step": "scores", "head": 4, "caption": "One number for each pair of tokens." },
//       { "set": ["attention.scale=1"], "step": "softmax", "pin": { "tensor": "attn_weights", "index": [0,4,2,0] },
//         "caption": "Without the scale the softmax tends to all or nothing." } ] }
//
// Only "headwise_playlist" and "pages" are required. The keys of a page:
//   scenario   the name of a preset, the path of a scenario file (relative to the playlist's folder), or a
//              scenario object; default: that of the previous page (first page: hand_made)
//   set        a list of "PATH=VALUE", as for --set, applied to the scenario
//   step view batch head    default: as on the previous page (first page: inputs, one_head, 0, 0). A new
//              scenario starts at batch 0 and head 0
//   beside     what the view compare compares with: one_wide_head, packed, separate, per_head, scale or mask;
//              default: one_wide_head; in an included lesson, the user's choice
//   tensor     which of the step's pictures is shown, or a single tensor; default: the step's own
//   pin        { "tensor": NAME, "index": [i, …] }: the pinned cell
//   spotlight  true: dims all but the pinned cell and what it was made from; needs a pin
//   lines      { "share": 0.5, "per": "key" }: the view tokens draws the strongest lines, until they cover
//              this share of what each query (the default) gives or each key gets; share: 0.5, 0.8, 0.95 or
//              1, default: suited to the number of tokens
//   loss       of what the view gradients takes gradients: sum, first_cell, random or given; default: the
//              inputs' own grad_output, else the sum
//   masks_as   added (the default), true_blocks or true_keeps: how this page writes masks
//   queries_as_columns   true: queries are the columns of maps of queries and keys; default: false. An
//              included lesson leaves both to the user, and the next
//   colors_by_head       true: the colours of each head's small map span its own numbers; default: false
//   title      a heading above the caption
//   ask        a question to think about first: the caption, its answer, appears at the next press
//   ask_step ask_view    the step and view shown while the page asks, so that the stage does not give the
//              answer away: step, view, tensor, pin and spotlight then come with the answer
//   veil       true: while the page asks, the result of its step is hidden, and all that follows from it;
//              instead of ask_step and ask_view
//   answer     what the question is answered with: a number, a choice … (PageAnswer);
//              without it, the question is only to be thought about
//   keywords   extra words by which the command palette finds a question of a lesson
//   notes      for the presenter: shown beside a clock on a sheet of its own, never on a slide;
//              with live numbers
//   caption    plain text; line breaks are kept. Numbers in braces, as {E} or {scores[0,0,8,1]}, are read
//              from the trace (core/lessons/live_text.h), in ask too. Other braces are kept. A claim that an
//              edit of the page could make false goes under the condition that makes it true, {if COND: … |
//              if COND: … | else: …}; if no part holds, the page says that it was changed and how to restore
//              it (core/lessons/page_words.h)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/cell_provenance.h"
#include "core/attention/steps.h"
#include "core/attention/tensor_names.h"
#include "core/lessons/stage_view.h"
#include "core/scenario/scenario.h"

namespace headwise {

// What a page's question is answered with. The right answer is never stored: it is an expression over the
// trace, in the language of live text (core/lessons/live_expression.h),
// so that it stays right when the page is changed.
//
//   { "kind": "number", "is": "attn_weights[0,0,8,7]", "within": 0.05 }
//   { "kind": "choice", "options": [
//       { "text": "Each row", "is": "sum attn_weights[0,2,5,:] ≈ 1" },
//       { "text": "Each column", "is": "sum attn_weights[0,2,:,5] ≈ 1", "why": "A key may get a lot or nothing.",
//         "see": "Softmax over rows, or over columns?" } ] }
//
//   { "kind": "shape", "is": "shape k_heads" }
//   { "kind": "head", "is": "argmax attn_weights[0,:,8,7]" }
//   { "kind": "cell", "tensor": "attn_weights", "row": "8", "column": "argmax attn_weights[0,0,8,:]" }
//   { "kind": "tensor", "options": [
//       { "tensor": "query", "is": "difference q_heads[0,1,8,:] query[0,8,16:32] = 0", "why": "The projection comes first." },
//       { "tensor": "q", "is": "difference q_heads[0,1,8,:] q[0,8,16:32] = 0" } ] }
//   { "kind": "weights", "is": "attn_weights[0,0,8,:]", "within": 0.1 }
//   { "kind": "mask", "is": "mask_bias[0,0,:,:] = -inf" }
//
// number   is             the key: an arithmetic expression
//          within         how far off counts as right; or within_share, as a share of the key. Default:
//                         a share of 0.05
//          unit           written behind the number: "of 1"
//          why            plain text with live numbers, said with the verdict. A key that reads nothing of
//                         the page, as "3" or "0 * E + 5", needs it: it stays the same whatever is changed,
//                         so it must be said why it is right
// choice   options        two to nine; `is` is the condition under which an option is right, and on the
//                         page's own scenario exactly one of them holds
//          text, why      plain text with live numbers; `why`: shown when the option was chosen and is wrong
//          see            the title of a page of this playlist, or else of a built-in lesson,
//                         that goes into it
// shape    is             "shape NAME"; sizes are typed, or letters of the page: "1, H, 12, D"
// head     is             the number of a query head; it is clicked, or its digit pressed
// cell     tensor         the map in which a cell is clicked: the result of the page's step,
//                         also under its veil
//          row, column    its last two indices, of which one may be left out: any row, or any column, is then
//                         right; at least one reads the page
// tensor   options        as of a choice, with the name of a tensor instead of a text. A tensor is answered
//                         by a click on one of its maps or on its name. Live text computes numbers and
//                         truths, no names, so each tensor that may be right has the condition under which it
//                         is: the right one changes with the page, and why a wrong one is wrong can be said
//                         of each. A click on any other tensor is no answer
// weights  is             a row of at least two numbers from 0 to 1 that sum to 1: an expression with a box
//                         of several cells, which stands for each of its cells in turn
//                         (core/lessons/live_expression.h). It is drawn as bars,
//                         and what is drawn is scaled to sum to 1
//          within         how much of the weight may lie where it does not belong:
//                         half of Σ |drawn − right|. Default: 0.1
// mask     is             a condition with a box over the last two axes of a tensor: true where a pair is
//                         blocked. The pairs are painted on the veiled map that the page's step makes, so the
//                         page needs a veil, which hides the mask too

struct AnswerOption {
  std::string text, is, why, see;  // text: of a tensor, its name
  friend bool operator==(const AnswerOption&, const AnswerOption&) = default;
};

enum class AnswerKind { number, choice, shape, head, cell, tensor, weights, mask };
std::vector<std::string_view> answer_kind_names();  // in their order

struct PageAnswer {
  static constexpr std::size_t least_options = 2, most_options = 9;  // one for each digit key
  static constexpr double usual_share = 0.05;
  static constexpr double usual_misplaced = 0.1;  // of a row of weights
  static constexpr Index most_weights = 64, most_pairs = 4096;

  AnswerKind kind = AnswerKind::number;
  std::string is;  // of all but a choice, a cell and a tensor
  double within = 0.0,
         within_share = 0.0;          // at least one of them is positive for a number; weights have the first
  std::string unit, why;              // of a number
  std::vector<AnswerOption> options;  // of a choice or a tensor
  std::optional<TensorId> tensor;     // of a cell
  std::string row, column;

  bool chooses() const { return kind == AnswerKind::choice || is_tensor(); }  // an option
  bool is_head() const { return kind == AnswerKind::head; }
  bool is_tensor() const { return kind == AnswerKind::tensor; }
  bool is_weights() const { return kind == AnswerKind::weights; }
  bool is_mask() const { return kind == AnswerKind::mask; }
  friend bool operator==(const PageAnswer&, const PageAnswer&) = default;
};

// An answer of this kind without a key, and with the tolerance that is usual.
PageAnswer blank_answer(AnswerKind kind);

using ScenarioPtr = std::shared_ptr<const Scenario>;

// A complete page: defaults are filled in.
struct PlaylistPage {
  ScenarioPtr scenario;  // never null; the previous page's pointer if nothing changes
  Step step = Step::inputs;
  StageView view = StageView::one_head;
  Index batch = 0, head = 0;
  std::optional<CompareWith> beside;  // never `pinned`: a file contains no pinned scenario
  TokenLines lines;
  std::optional<Loss> loss;
  std::optional<TensorId> tensor;
  std::optional<CellRef> pin;
  bool spotlight = false;
  std::optional<MaskConvention> masks_as;  // nullopt: added, or the reader's choice in a lesson
  bool queries_as_columns = false;         // a lesson leaves it to its reader, and the next
  bool colors_by_head = false;
  std::string title, ask, caption;  // UTF-8, the last two with live numbers
  std::optional<Step> ask_step;     // only where the page asks, as ask_view
  std::optional<StageView> ask_view;
  std::optional<PageAnswer> answer;  // only where the page asks
  std::string keywords;
  std::string notes;  // for the presenter, with live numbers

  bool veil = false;  // while the page asks, the result of its step is hidden, and what follows from it

  // While it asks, something of its place is left out.
  bool asks_covered() const {
    return asks_elsewhere() || (!ask.empty() && veil) || asks_for_head() || asks_for_pinned();
  }
  // Its head is left out then, and its pinned cell, which lies in one.
  bool asks_for_head() const { return !ask.empty() && answer && answer->is_head(); }
  // Its pinned cell is one of those that can be clicked then, and might be the right one.
  bool asks_for_pinned() const {
    return !ask.empty() && answer && pin && answer->tensor && pin->tensor == TensorName{*answer->tensor};
  }
  bool asks_elsewhere() const { return !ask.empty() && (ask_step || ask_view); }
};
bool operator==(const PlaylistPage& a, const PlaylistPage& b);
// Whether it is the page's scenario. What a model's layer determines, a page leaves open.
bool is_scenario_of(const PlaylistPage& page, const Scenario& scenario);

struct Playlist {
  static constexpr std::size_t most_pages = 1000;

  std::string title;
  std::vector<PlaylistPage> pages;  // at least one
  friend bool operator==(const Playlist&, const Playlist&) = default;
};

// Returns the word for a step in files: "split_heads".
std::string step_word(Step step);
// Returns the word for a comparison in files: "one_wide_head".
std::string_view compare_word(CompareWith beside);

// In a draft an answer may be half written: it stays as it is. A whole text leaves it out, and cannot be read
// with it.
enum class PlaylistText { whole, draft };

// Reads a playlist. `where` begins the error line; scenario files are relative to `folder` (empty: the
// working directory). Throws Error(usage), one sentence that names the page (counted from 1, as in the
// window): malformed JSON, an unknown key, step, view, tensor or preset (with the nearest one), a duplicate
// key, a wrong type, a missing or wrong scenario file, more than 1000 pages, or scenarios of more than 256
// MiB together. Computes nothing: page_problem checks whether a head or a cell exists.
Playlist playlist_from_json(std::string_view json, const std::string& where, const std::string& folder = {},
                            PlaylistText text = PlaylistText::whole);

// Returns whether the text is an object with the key "headwise_playlist" or "pages", not a scenario. Throws
// nothing; false for text that is not JSON.
bool is_playlist(std::string_view json);

// The same for a file; false if it cannot be read.
bool is_playlist_file(const std::string& path);

// Returns a file that contains every scenario, so it needs no other files but the arrays that a scenario
// names, relative to `folder`.
std::string playlist_to_json(const Playlist& playlist, const std::string& folder = {},
                             PlaylistText text = PlaylistText::whole);

// Reads at most 64 MiB. Reading throws Error(usage), writing Error(output).
Playlist read_playlist_file(const std::string& path, PlaylistText text = PlaylistText::whole);
void write_playlist_file(const Playlist& playlist, const std::string& path,
                         PlaylistText text = PlaylistText::whole);

// Returns why the page cannot ask for its answer, without a full stop: a mask, where nothing is veiled or its
// step makes no map of pairs. Empty if it can.
std::string answer_page_problem(const PlaylistPage& page);

// Returns why the page cannot be shown, in one sentence ("there is no head 9: 8 heads, counted from 0");
// empty if it can. `trace` is that of its scenario.
std::string page_problem(const PlaylistPage& page, const Trace& trace);

}  // namespace headwise
