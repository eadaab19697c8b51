// The past of a run, in bounded memory: states at evenly spaced steps, ever fewer of them as the run grows.
// Those in between are computed again, to the same bits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/train/training_run.h"

namespace headwise {

template <class T>
class TrainingHistory {
 public:
  // Keeps at most `most_states` ≥ 2.
  explicit TrainingHistory(Index most_states);

  // To be called before the first step and after each: keeps the state if its step is a multiple of
  // spacing(). When there are more than most_states, the spacing doubles and every second state is dropped.
  void keep(const TrainingRun<T>& run);
  // Keeps this state whatever the spacing, as one of most_states: at most half of them are held. For states
  // that were saved. Throws Error(usage) for more.
  void hold(TrainingState<T> state);

  // Brings the run to a step: onwards from where it is, or from the last state kept before that step if the
  // run has passed it or the state is closer. Throws Error(usage) if no such state is kept, or the run fails
  // on the way; Error(cancelled).
  void go_to(TrainingRun<T>& run, Index step) const;

  Index spacing() const { return spacing_; }
  std::vector<Index> steps() const;  // of the states that are kept, ascending

  // Bytes of that many states of such a run, so that they can be told before it starts.
  static Index bytes(const TrainingSettings& settings, Index states);

 private:
  void thin_out();

  Index most_states_;
  Index spacing_ = 1;
  std::vector<TrainingState<T>> states_;  // by step
  std::vector<Index> held_;               // the steps of those that stay
};

extern template class TrainingHistory<float>;
extern template class TrainingHistory<double>;

// The curve of a run as a table: a row for each step.

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
