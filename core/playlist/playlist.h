// A playlist: pages to be walked through in front of a class, each a place in a scenario with a caption.
//
//   { "headwise_playlist": 1,
//     "title": "Why divide by √D?",
//     "pages": [
//       { "scenario": "hand_made", "step": "scores", "head": 4, "caption": "One number for each pair of tokens." },
//       { "set": ["attention.scale=1"], "step": "softmax", "pin": { "tensor": "attn_weights", "index": [0,4,2,0] },
//         "caption": "Without the scale the softmax tends to all or nothing." } ] }
//
// Only "headwise_playlist" and "pages" must be there. A page's keys:
//   scenario   the name of a preset, the path of a scenario file (relative to the playlist's folder), or a scenario as an
//              object; left out: that of the page before (the first: hand_made)
//   set        a list of "PATH=VALUE", as --set takes them, applied to that
//   step view batch head    left out: as on the page before (the first: inputs, one_head, 0, 0). Another scenario begins
//              with batch 0 and head 0
//   beside     what stands beside it in the view compare: one_wide_head, packed, separate, per_head, scale or mask; left out:
//              what the person has chosen
//   tensor     which of the step's pictures is shown, or a tensor by itself; left out: the step's own
//   pin        { "tensor": NAME, "index": [i, …] }: the cell that is pinned
//   spotlight  true: all is dimmed but the pinned cell and what it was made from; needs a pin
//   masks_as   added, true_blocks or true_keeps: how the masks are written on this page
//   title      a heading over the caption
//   ask        a question to think about first: the caption, its answer, appears at the next press
//   ask_step ask_view    where the page stands while it asks, so that the stage does not say the answer before it is
//              thought of: step, view, tensor, pin and spotlight then come with the answer
//   keywords   more words by which the command palette finds a question of a lesson
//   caption    what is to be said, as plain text; line breaks are kept. Numbers in braces, as {E} or {scores[0,0,8,1]},
//              are read from the trace (core/answers/live_text.h); so they are in ask. Other braces stay. A claim that a change
//              of the page could make false stands under the condition that makes it true, {if COND: … | if COND: … | else: …}; where
//              no part holds, the page says that it was changed and how to restore it (core/playlist/page_words.h)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/playlist/compare_with.h"
#include "core/playlist/mask_convention.h"
#include "core/playlist/stage_view.h"
#include "core/scenario/scenario.h"
#include "core/trace/cell_provenance.h"
#include "core/trace/steps.h"

namespace headwise {

using ScenarioPtr = std::shared_ptr<const Scenario>;

// Complete in itself: what the file leaves out has been filled in.
struct PlaylistPage {
  ScenarioPtr scenario;  // never null; the same pointer as the page before where nothing of it changes
  Step step = Step::inputs;
  StageView view = StageView::one_head;
  Index batch = 0, head = 0;
  std::optional<CompareWith> beside;  // never `pinned`: a file has nothing pinned
  std::optional<TensorId> tensor;
  std::optional<CellRef> pin;
  bool spotlight = false;
  std::optional<MaskConvention> masks_as;  // none: as the person likes it
  std::string title, ask, caption;         // UTF-8, the last two with live numbers
  std::optional<Step> ask_step;            // only where the page asks, as ask_view
  std::optional<StageView> ask_view;
  std::string keywords;

  bool asks_elsewhere() const { return !ask.empty() && (ask_step || ask_view); }
};
bool operator==(const PlaylistPage& a, const PlaylistPage& b);

struct Playlist {
  static constexpr std::size_t most_pages = 1000;

  std::string title;
  std::vector<PlaylistPage> pages;  // at least one
  friend bool operator==(const Playlist&, const Playlist&) = default;
};

// "split_heads": the word of a file for a step.
std::string step_word(Step step);
// "one_wide_head": the word of a file for what stands beside.
std::string_view compare_word(CompareWith beside);

// Throws Error(usage), one sentence that names the page (counted from 1, as the window does): malformed JSON, an unknown
// key, step, view, tensor or preset (with the nearest one), a duplicate key, a wrong type, a scenario file that is missing or
// wrong, more than 1000 pages, or scenarios of more than 256 MiB together. Nothing is computed: whether a head or a cell is
// there is page_problem's to say. `where` begins the error line; scenario files are relative to `folder` (empty: the working
// folder).
Playlist playlist_from_json(std::string_view json, const std::string& where, const std::string& folder = {});

// Whether the text is an object with the key "headwise_playlist": a playlist and no scenario. Throws nothing; false for
// text that is not JSON.
bool is_playlist(std::string_view json);

// The same of a file; false too where it cannot be read.
bool is_playlist_file(const std::string& path);

// Every scenario stands in it, so that the file needs no other but the arrays that a scenario names; those relative to
// `folder`.
std::string playlist_to_json(const Playlist& playlist, const std::string& folder = {});

// At most 64 MiB are read. Throws Error(usage), writing Error(output).
Playlist read_playlist_file(const std::string& path);
void write_playlist_file(const Playlist& playlist, const std::string& path);

// Why the page cannot be shown as it says, one sentence ("head 9 of 8 heads, counted from 0"); empty where it can.
// `trace` is its scenario's.
std::string page_problem(const PlaylistPage& page, const Trace& trace);

}  // namespace headwise
