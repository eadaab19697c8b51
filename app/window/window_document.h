// What the window works on, with what is computed of it in the background, and the files that it comes from and goes to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/session/comparisons.h"
#include "app/session/full_size_runs.h"
#include "app/session/gradients.h"
#include "app/session/head_finding.h"
#include "app/session/other_side.h"
#include "app/session/session.h"
#include "app/session/token_predictions.h"
#include "app/window/playlist_walk.h"

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
  PlaylistWalk walk;

  std::string scenario_path;  // of the file that was opened or saved last; empty: none
  std::string picture_path;   // of the picture of the stage that was saved last; empty: none
  std::string program_path;   // of the program that was saved last; empty: none
  std::string kept_folder;    // for what is left unsaved (app/session/kept_work.h); empty: nothing is kept
  std::string recent_file;    // where the recent files are kept; empty: they are not
  std::vector<std::string> recent_files;  // absolute paths, the newest first
};

}  // namespace headwise
