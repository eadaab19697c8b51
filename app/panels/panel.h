// What every panel is given and what it may give back. A panel is a state struct and a free draw function
// `PanelAction draw_NAME(const PanelContext&, NameState&)` that fills the current ImGui window; it changes no
// data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/pointed.h"
#include "app/session/selection.h"
#include "app/session/trail.h"
#include "app/widgets/widget_context.h"
#include "core/picture/color_map.h"
#include "core/picture/picture.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_reach.h"
#include "core/trace/trace.h"

namespace headwise {

class HeatmapRenderer;  // app/render
enum class CommandId : int;
struct OtherSide;         // app/session/other_side.h
struct TokenPredictions;  // app/session/token_predictions.h

// A page of a lesson that is in the program (core/playlist/lessons.h).
struct LessonPage {
  std::string lesson;
  std::size_t page = 0;
  friend bool operator==(const LessonPage&, const LessonPage&) = default;
};

struct PanelContext {
  const Scenario& scenario;      // what is asked for
  const ScenarioInputs& inputs;  // what the trace was made from
  const Trace& trace;            // the last good one; with its gradients where the selection wants them
  const Selection& selection;
  const std::string& last_edit;  // one line: what the last edit changed
  const std::string& error;      // empty, or why the scenario asked for has no trace
  HeatmapRenderer& heatmaps;
  const Fonts& fonts;
  const Palette& palette;
  Theme theme = Theme::dark;
  float scale = 1.0f;                     // pixels per design unit (HiDPI × font scale)
  FocusOrder* focus = nullptr;            // which control the keyboard speaks to; null: none of this panel
  double motion = 1.0;                    // how far the step is made; 1: nothing moves (app/content/motion.h)
  bool reduce_motion = false;             // fade from picture to picture instead
  const OtherSide* other_side = nullptr;  // in the view Compare; null while it is computed
  std::string_view no_gradients = {};     // why the trace has none although they are wanted: a sentence
  const TokenPredictions* predictions = nullptr;  // in the view Prediction; null while they are computed
  std::string_view no_predictions = {};           // a sentence meanwhile
  const Pointed* pointed = nullptr;   // what the mouse pointed at by name in the last frame: it lights up
  Pointed* pointing = nullptr;        // what it points at in this one: panels fill it in
  const Trail* trail = nullptr;       // the way back
  bool picture = false;               // no window but a picture of the stage: nothing to click is drawn
  std::vector<RectF>* lit = nullptr;  // what a spotlight leaves bright, in pixels; panels add to it
  const CellReach* reach = nullptr;   // of the cell that is looked at, where all the way is to be lit
  double* wake_after =
      nullptr;  // seconds until another frame is wanted although nothing happens: panels lower it

  WidgetContext widgets() const { return {palette, fonts, scale, focus, wake_after}; }
};

struct PanelAction {
  std::optional<Scenario> scenario;    // an edit
  std::string edit_label;              // "mute head 5": what undo shows
  bool edit_continues = false;         // a drag or typing still under way: merges into one undo step
  std::optional<Selection> selection;  // a new place to look at
  bool follows_link = false;           // that a link led to: the way back leads here
  std::optional<double> timeline;      // a place on the line of all steps, to be held there
  std::optional<std::string> file;     // to be opened, as if it had been dropped on the window
  std::optional<CommandId> command;    // a command of the table, as if its key had been pressed
  std::optional<LessonPage> lesson;    // to be walked from there
};

}  // namespace headwise
