// How the document is viewed: the place, the motion, the settings, and the state of every panel.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/content/motion.h"
#include "app/inspector/inspector_panel.h"
#include "app/opening/opening_scene.h"
#include "app/session/cell_editing.h"
#include "app/session/pointed.h"
#include "app/session/reach_of_cell.h"
#include "app/session/selection.h"
#include "app/session/settings.h"
#include "app/session/trail.h"
#include "app/setup/setup_panel.h"
#include "app/stage/stage_panel.h"
#include "app/stage/step_bar.h"
#include "app/widgets/focus_order.h"
#include "app/window/first_steps.h"
#include "app/window/notices.h"
#include "app/window/place_in_training.h"
#include "app/window/window_layout.h"

namespace headwise {

class PictureRecording;  // app/window/picture_recording.h

// How long playback stays at each step.
inline constexpr double seconds_per_step = 2.0;

struct WindowView {
  Selection selection;
  Trail trail;  // the way back from cell to cell
  ReachOfCell reach;
  Pointed pointed;   // by the mouse in the last frame, highlighted in this one
  Pointed pointing;  // what the panels of this frame have found so far
  MotionState motion;
  std::shared_ptr<PictureRecording> recording;  // null: no pictures are being saved
  double seconds_to_next_step = 0.0;            // while playing
  bool opened_on_result = false;  // until another step is selected: play starts with the first one

  Settings settings;
  std::string settings_file;          // empty: nothing is remembered
  std::optional<SidePanel> unfolded;  // of the panels without room of their own
  bool stage_only = false;   // no setup, graph, inspector and menu; type as large as the window allows
  bool full_screen = false;  // and on the whole screen, for a hall: the map and the caption alone
  double steps_shown = 0.0;  // seconds that the steps still lie over the full screen after the mouse moved
  double steps_seen = 0.0;   // seconds since they came there
  bool steps_deaf =
      false;  // the mouse was pressed where they had just come: its release is for what was there before
  bool arrived = false;            // a page has taken its place, since the last frame
  bool blank = false;              // the screen is dark until a key or the mouse is pressed
  double presented_seconds = 0.0;  // since the playlist was begun
  bool notes = false;              // the presenter's notes stand below the stage

  PlaceInTraining place_in_training;
  OpeningState opening;  // what the window begins with

  StageChoices stage_choices;  // of the last frame

  FocusOrder focus;
  StepBarState steps;
  SetupState setup;
  InspectorState inspector;
  FirstSteps first_steps;
  ShownSuggestion suggestion;
  NoticesState notices;
  int menu_to_open = -1;                   // by the keyboard, in the next frame; −1: none
  std::optional<BrushShape> wanted_brush;  // chosen by name: the stage takes it in the next frame
};

}  // namespace headwise
