// The curve of a run as a table: a row for each step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/train/training_run.h"

namespace headwise {

struct CurveRow {
  TrainingStep step;
  std::optional<BatchResult> held_out;  // measured after the update, at some steps
};

// CSV with the header "step,loss,accuracy,learning_rate,gradient_norm,held_out_loss,held_out_accuracy";
// numbers in decimal, as short as round-tripping allows, and empty where nothing was measured.
std::string curve_csv(const std::vector<CurveRow>& rows);

// The lines of such a table, with its header, whose step is below `step`: what a run that goes on from there
// keeps. Lines that are none of its own are dropped.
std::string curve_before(const std::string& csv, Index step);

// How many of the steps below `step` such a table has no row for.
Index missing_rows(const std::string& csv, Index step);

// What such a table says of the batch of a step.
struct CurveLoss {
  Index step = 0;
  double loss = 0.0, accuracy = 0.0;
};
// Of each line that has both, in the order of the lines; others are skipped.
std::vector<CurveLoss> curve_losses(const std::string& csv);

}  // namespace headwise
