// All that the window remembers between two frames, whoever draws it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/motion.h"
#include "app/inspector/inspector_panel.h"
#include "app/session/cell_editing.h"
#include "app/session/comparisons.h"
#include "app/session/gradients.h"
#include "app/session/other_side.h"
#include "app/session/pointed.h"
#include "app/session/reach_of_cell.h"
#include "app/session/session.h"
#include "app/session/settings.h"
#include "app/session/token_predictions.h"
#include "app/session/trail.h"
#include "app/setup/setup_panel.h"
#include "app/sheets/command_palette.h"
#include "app/sheets/comparison_sheet.h"
#include "app/sheets/export_dialog.h"
#include "app/sheets/file_dialog.h"
#include "app/sheets/full_size_sheet.h"
#include "app/sheets/heads_question.h"
#include "app/sheets/heads_sheet.h"
#include "app/sheets/help_sheet.h"
#include "app/stage/step_bar.h"
#include "app/widgets/focus_order.h"
#include "app/window/first_steps.h"
#include "app/window/notices.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// How long the walk through the steps stays with each.
inline constexpr double seconds_per_step = 2.0;
// Who presses play wants to see something happen.
inline constexpr double seconds_to_first_step = 0.6;

class MotionRecording;  // app/window/motion_recording.h

struct WindowState {
  // Throws Error where `first` has no trace. `wake` as in Session.
  explicit WindowState(const Scenario& first, const std::function<void()>& wake = {})
      : session(first, wake),
        comparisons(wake),
        gradients(wake),
        other_sides(wake),
        predictions(wake),
        full_size_runs(wake),
        head_finding(wake) {}

  // The session's, with its gradients where they are known.
  const Trace& trace_at_hand() const { return gradients.at_hand(session.trace()); }

  Session session;
  Comparisons comparisons;
  Gradients gradients;
  OtherSides other_sides;
  PredictionRuns predictions;
  FullSizeRuns full_size_runs;
  HeadFinding head_finding;
  Selection selection;
  Trail trail;  // the way back from cell to cell
  ReachOfCell reach;
  Pointed pointed;   // by the mouse in the last frame, and it lights up in this one
  Pointed pointing;  // what the panels of this frame have found so far
  Settings settings;
  std::string settings_file;  // empty: nothing is remembered

  MotionState motion;
  FocusOrder focus;
  StepBarState steps;
  SetupState setup;
  FirstSteps first_steps;
  InspectorState inspector;
  NoticesState notices;
  PlaylistWalk walk;
  HelpSheetState help;
  CommandPaletteState palette;
  ComparisonSheetState comparison;
  FullSizeState full_size;
  HeadsSheetState heads;
  HeadsQuestion heads_question;
  FileDialogState files;
  ExportDialogState export_dialog;
  std::shared_ptr<MotionRecording> recording;  // null: no motion is being saved

  std::string kept_folder;    // for what is left unsaved (app/session/kept_work.h); empty: nothing is kept
  std::string scenario_path;  // of the file that was opened or saved last; empty: none
  std::string recent_file;    // where they are kept; empty: they are not
  std::vector<std::string> recent_files;  // absolute paths, the newest first
  std::string picture_path;               // of the picture of the stage that was saved last; empty: none
  std::string program_path;               // of the program that was saved last; empty: none
  double seconds_to_next_step = 0.0;      // while playing
  bool opened_on_result = false;          // until another step is looked at: play begins with the first one
  bool stage_only = false;  // no setup, graph, inspector and menu; type as large as the window allows
  bool full_screen = false;
  int menu_to_open = -1;                   // by the keyboard, in the next frame; −1: none
  std::optional<BrushShape> wanted_brush;  // chosen by name: the stage takes it in the next frame
  bool quit = false;
  std::string clipboard;  // to be put there in this frame; empty: nothing
};

}  // namespace headwise
