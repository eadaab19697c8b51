// What every panel is given and what it may return. A panel is a state struct and a free draw function
// `PanelAction draw_NAME(const PanelContext&, NameState&)` that fills the current ImGui window;
// it changes no data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/veil.h"
#include "app/session/selection.h"
#include "app/widgets/painter.h"
#include "core/attention/cell_reach.h"
#include "core/attention/trace.h"
#include "core/export/color_map.h"
#include "core/export/picture.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

class HeatmapRenderer;  // app/platform
struct AnswerMask;      // app/panels/veil.h
struct WatchedModel;    // app/session/explained_cell.h
enum class CommandId : int;
struct ComparisonTarget;  // app/session/comparison_target.h
struct TokenPredictions;  // app/session/token_predictions.h

// A page of a built-in lesson (core/lessons/lessons.h).
struct LessonPage {
  std::string lesson;
  std::size_t page = 0;
  friend bool operator==(const LessonPage&, const LessonPage&) = default;
};

// The cells that a page's question asked for: of the map of one head, a row, a column, or where both meet.
struct RightCells {
  TensorId tensor{};
  Index batch = 0, head = 0;
  std::optional<Index> row, column;
  friend bool operator==(const RightCells&, const RightCells&) = default;
};

struct PanelContext {
  const Scenario& scenario;      // the requested scenario
  const ScenarioInputs& inputs;  // what the trace was computed from
  const Trace& trace;            // the last good one; with its gradients if the selection needs them
  const Selection& selection;
  const std::string& last_edit;  // one line: what the last edit changed
  const std::string& error;      // empty, or why the requested scenario has no trace
  HeatmapRenderer& heatmaps;
  const Fonts& fonts;
  const Palette& palette;
  Theme theme = Theme::dark;
  float scale = 1.0f;           // pixels per design unit (HiDPI × font scale)
  FocusOrder* focus = nullptr;  // which control has keyboard focus; null: none in this panel
  bool mouse_rests = false;     // it has not moved since the place changed: what lies under it is not focused
  double motion = 1.0;  // progress of the motion into the step; 1: nothing moves (app/content/motion.h)
  bool reduce_motion = false;                           // fade from picture to picture instead
  const ComparisonTarget* comparison_target = nullptr;  // in the Compare view; null while it is computed
  std::string_view gradients_refusal = {};  // why the trace has none although they are needed: a sentence
  const TokenPredictions* predictions = nullptr;  // in the Prediction view; null while they are computed
  std::string_view predictions_refusal = {};      // the sentence shown meanwhile
  const Pointed* pointed = nullptr;  // what the mouse pointed at by name in the last frame: it lights up
  Pointed* pointing = nullptr;       // what it points at in this one: panels fill it in
  const Trail* trail = nullptr;      // the way back
  bool picture = false;  // drawing a picture of the stage, not a window: nothing clickable is drawn
  std::vector<RectF>* lit = nullptr;       // what a spotlight leaves bright, in pixels; panels add to it
  const CellReach* reach = nullptr;        // of the focused cell, if its whole reach is to be lit up
  std::optional<Veil> veil = {};           // while a page asks: what no panel may tell
  std::optional<TensorId> points_at = {};  // while a page asks for one of its cells, which may be veiled
  bool points_at_tensors = false;          // while a page asks for a tensor, which may be veiled
  bool points_at_heads = false;  // while a page asks for a head: none is marked as the one that is shown
  bool pinned_by_page = false;   // the pinned cell is that of the page, which Escape leaves instead
  // The page that is shown has no numbers: those of the trace belong to another one, and no panel tells them
  bool page_refused = false;
  AnswerMask* answer_mask = nullptr;  // of a page that asks for a mask
  // if the model is a step of the watched training, which can be asked
  const WatchedModel* watched = nullptr;
  double* wake_after = nullptr;  // seconds until another frame is needed without any event: panels lower it

  // On the whole screen of a hall, for its back row: `picture` is true then, and labels are as large as this.
  bool presentation = false;
  Type labels = {};
  // Once a page has answered: what is right, where it is a place.
  std::optional<Index> right_head = {};
  std::optional<RightCells> right_cells = {};

  // What a head does, or where it looks, might be the answer.
  bool hides_heads() const { return points_at_heads || (veil && veil->hides({TensorId::attn_weights})); }

  const char* hidden_heads_words() const {
    return points_at_heads
               ? "This page asks about the heads: they appear here once it is answered."
               : "This page hides the attention weights: the heads appear here once it is answered.";
  }
  // In the headings of the pinned cell.
  const char* pinned_words() const { return pinned_by_page ? "PINNED BY THE PAGE" : "PINNED · ESC UNPINS"; }

  // Widgets are given a panel's context as it is.
  operator WidgetContext() const { return widgets(); }
  WidgetContext widgets() const { return {palette, fonts, scale, focus, wake_after, labels}; }
  float px(float design) const { return design * scale; }
  float hairline(float units = 1.0f) const { return widgets().hairline(units); }
  Painter painter() const { return Painter(widgets()); }  // of the current ImGui window
};

struct PanelAction {
  std::optional<Scenario> scenario;  // an edit
  std::string edit_label;            // "mute head 5": what undo shows
  bool opens = false;           // `scenario` was made elsewhere: it is not that of the file opened before
  bool edit_continues = false;  // a drag or typing still under way: merges into one undo step
  std::optional<Selection> selection;  // a new place to look at
  std::optional<Index> head;           // clicked, while a page asks for a head: also the one that is shown
  bool follows_link = false;           // `selection` follows a link: the way back leads here
  std::optional<double> timeline;      // a position on the timeline of all steps, to pause at
  std::optional<std::string> file;     // to open, as if it had been dropped on the window
  std::optional<CommandId> command;    // a command of the table, as if its key had been pressed
  std::optional<LessonPage> lesson;    // to walk from there
  std::optional<std::size_t> page;     // of the playlist that is walked, to show
  bool returns_to_page = false;        // to the place of the page that is walked
};

}  // namespace headwise
