// Everything the window remembers between two frames, whoever draws it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/motion.h"
#include "app/lesson/playlist_walk.h"
#include "app/panels/command_palette.h"
#include "app/panels/comparison_sheet.h"
#include "app/panels/doc_sheet.h"
#include "app/panels/export_dialog.h"
#include "app/panels/file_dialog.h"
#include "app/panels/full_size_sheet.h"
#include "app/panels/heads_question.h"
#include "app/panels/heads_sheet.h"
#include "app/panels/help_sheet.h"
#include "app/panels/opening_scene.h"
#include "app/panels/setup_panel.h"
#include "app/session/cell_editing.h"
#include "app/session/comparison_target.h"
#include "app/session/explained_cell.h"
#include "app/session/full_size_runs.h"
#include "app/session/gradients.h"
#include "app/session/head_finding.h"
#include "app/session/live_training.h"
#include "app/session/selection.h"
#include "app/session/session.h"
#include "app/session/settings.h"
#include "app/session/token_predictions.h"
#include "app/stage/inspector_panel.h"
#include "app/stage/stage_navigation.h"
#include "app/stage/stage_panel.h"
#include "app/training/training_view.h"
#include "app/widgets/focus_order.h"
#include "app/window/notices.h"
#include "app/window/window_backup.h"
#include "app/window/window_layout.h"
#include "app/window/window_opening.h"
#include "core/model/files/model_files.h"

namespace headwise {

// Where in a training the model stands that the window shows; kept from frame to frame.
struct PlaceInTraining {
  std::string of;                            // the path of the model that this was looked up for
  std::vector<ModelCheckpoint> checkpoints;  // beside it in its folder, itself among them
  bool resumable = false;                    // the training can be gone on with: Headwise wrote them
  // where the watched training's models are written that are looked into; empty: none yet
  std::string folder;
  int number = 0;  // LiveTraining::number() of that training
  std::size_t run = 0;
  std::optional<Index> target;  // a step of the watched training that was asked for and is not computed yet
};

// How the document is viewed: the place, the motion, the settings, and the state of every panel.
class PictureRecording;  // app/window/slides.h

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
  double steps_visible_seconds = 0.0;  // seconds since they came there
  bool steps_ignore_input =
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

// The sheets and dialogs on top of the window.
struct WindowDialogs {
  HelpSheetState help;
  DocSheetState docs;
  LogSheetState log;
  CommandPaletteState palette;
  ComparisonSheetState comparison;
  FullSizeState full_size;
  TrainingViewState training;
  HeadsSheetState heads;
  HeadsQuestion heads_question;
  FileDialogState files;
  ExportDialogState export_dialog;

  bool any_open() const {
    return help.keys || help.about || docs.open || log.open || comparison.open || full_size.open ||
           training.open || heads.open || heads_question.open || files.open || export_dialog.open ||
           palette.open;
  }
};

// What the window works on, with what is computed from it in the background, and its source and target files.
struct WindowDocument {
  // Throws Error where `first` has no trace. `wake` as in Session.
  explicit WindowDocument(const Scenario& first, const std::function<void()>& wake = {})
      : session(first, wake),
        comparisons(wake),
        gradients(wake),
        comparison_targets(wake),
        predictions(wake),
        full_size_runs(wake),
        training(wake),
        explained_cells(explain_cell, wake),
        head_finding(wake) {}

  // The session's trace, with its gradients if they are available.
  TracePtr trace_at_hand_ptr() const { return gradients.cached(session.trace_ptr()); }
  const Trace& trace_at_hand() const { return *trace_at_hand_ptr(); }

  Session session;
  Comparisons comparisons;
  Gradients gradients;
  ComparisonTargets comparison_targets;
  PredictionRuns predictions;
  FullSizeRuns full_size_runs;
  LiveTraining training;
  ExplainedCells explained_cells;
  HeadFinding head_finding;
  PlaylistWalk walk;
  WindowBackup backup;

  std::string scenario_path;  // of the file opened or saved last; empty: none
  std::string picture_path;   // of the stage picture saved last; empty: none
  std::string program_path;   // of the program saved last; empty: none
  std::string kept_folder;    // for what is left unsaved (app/session/kept_work.h); empty: nothing is kept
  std::string recent_file;    // file that stores the recent files; empty: they are not stored
  std::vector<std::string> recent_files;  // absolute paths, newest first
};

struct WindowState {
  // As WindowDocument.
  explicit WindowState(const Scenario& first, const std::function<void()>& wake = {})
      : document(first, wake) {}

  WindowDocument document;
  WindowView view;
  WindowDialogs dialogs;

  bool quit = false;
  std::string clipboard;  // to be copied in this frame; empty: nothing
};

}  // namespace headwise
