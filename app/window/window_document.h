// What the window works on, with what is computed from it in the background, and its source and target files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/session/comparisons.h"
#include "app/session/explained_cell.h"
#include "app/session/full_size_runs.h"
#include "app/session/gradients.h"
#include "app/session/head_finding.h"
#include "app/session/live_training.h"
#include "app/session/other_side.h"
#include "app/session/session.h"
#include "app/session/token_predictions.h"
#include "app/window/playlist_walk.h"
#include "app/window/window_backup.h"

namespace headwise {

struct WindowDocument {
  // Throws Error where `first` has no trace. `wake` as in Session.
  explicit WindowDocument(const Scenario& first, const std::function<void()>& wake = {})
      : session(first, wake),
        comparisons(wake),
        gradients(wake),
        other_sides(wake),
        predictions(wake),
        full_size_runs(wake),
        training(wake),
        explained_cells(explain_cell, wake),
        head_finding(wake) {}

  // The session's trace, with its gradients if they are available.
  const Trace& trace_at_hand() const { return gradients.at_hand(session.trace()); }

  Session session;
  Comparisons comparisons;
  Gradients gradients;
  OtherSides other_sides;
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

}  // namespace headwise
