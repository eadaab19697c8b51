// What a LiveTraining keeps of each run, and hands over from its worker's thread; for its own files alone.
#pragma once

#include "app/session/live_training.h"
#include "core/train/training_history.h"

namespace headwise {

struct LiveTraining::Run {
  Run(const TrainTask& task, const TrainingSettings& settings);

  TrainingRun<float> run;
  TrainingHistory<float> history;
  std::optional<TrainingStep> last;  // that was taken, unless the run went elsewhere since
  TrainingPointPtr now;
  // Not published yet.
  std::vector<TrainingLoss> losses;
  std::vector<TrainingPointPtr> past;
  std::vector<CurveRow> curve;       // of every step that was taken here
  std::string folder;                // that the run goes on from; empty: it began here
  std::optional<TrainingPlan> plan;  // of the folder
  std::string curve_before;          // the table of the steps before, with its header
  Index recorded = 0;                // losses, published or not: those of the steps before
  Index points = 0, most_points, spacing = 1;
  Index next_point = 0;  // the next step at which a point is kept
};

struct LiveTraining::Arrived {
  struct OfRun {
    std::vector<TrainingLoss> losses;
    std::vector<TrainingPointPtr> past;
    Index spacing = 1;
    TrainingPointPtr now;
    std::optional<TrainingStep> last;
    std::optional<TrainingFailure> failure;
  };
  std::vector<OfRun> runs;
  double tokens_per_second = 0.0;
  std::string error;
  std::shared_ptr<const ChangeAnswer> answer;
  std::string saved;
};

}  // namespace headwise
