// A LiveTraining that goes on from a folder.
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/session/live_training_run.h"
#include "app/session/training_saving.h"
#include "core/files/input_file.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr Index most_saved_steps = 10'000'000;
constexpr std::uint64_t most_curve_bytes = std::uint64_t{64} << 20;

SavedRun newest_run(const std::string& folder, const std::string& checkpoint) {
  SavedRun saved = read_saved_run(checkpoint);
  if (saved.dtype != DType::f32)
    throw Error(ExitStatus::input,
                {folder, "this training computes in f64", "", "f32, in which the window trains",
                 "headwise train --resume goes on with it"});
  if (saved.step < 0 || saved.step > most_saved_steps)
    throw Error(ExitStatus::input,
                {checkpoint + "/training.json: step", "the value is out of range", std::to_string(saved.step),
                 "0 to " + std::to_string(most_saved_steps), ""});
  return saved;
}

// What is known of the steps before `step`; a curve that is missing or cannot be read is none.
std::string saved_curve(const std::string& folder, Index step) {
  const std::string path = folder + "/curve.csv";
  std::string text;
  error_of([&] {
    const InputFile file(path);
    if (file.size() <= most_curve_bytes) text = file.read_text(0, file.size());
  });
  return curve_before(text, step);
}

// The losses of the steps before `step`, as far back as all of them are known; the others are not a number.
std::vector<TrainingLoss> losses_before(const std::string& curve, Index step) {
  constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
  std::vector<TrainingLoss> losses(static_cast<std::size_t>(step), TrainingLoss{unknown, unknown});
  for (const CurveLoss& row : curve_losses(curve))
    losses[static_cast<std::size_t>(row.step)] = {static_cast<float>(row.loss),
                                                  static_cast<float>(row.accuracy)};
  return losses;
}

Index first_known(const std::vector<TrainingLoss>& losses) {
  Index first = std::ssize(losses);
  while (first > 0 && std::isfinite(losses[static_cast<std::size_t>(first - 1)].loss)) --first;
  return first;
}

}  // namespace

void LiveTraining::begin_saved(const std::string& folder, Index step) {
  std::vector<Index> steps = checkpoint_steps(folder);
  if (steps.empty())
    throw Error(ExitStatus::input,
                {folder, "there is no checkpoint to go on from", "", "a folder of an earlier training", ""});
  const std::string newest = checkpoint_path(folder, steps.back());
  const SavedRun saved = newest_run(folder, newest);
  TrainingState<float> state = read_training_state<float>(newest, saved);
  const std::string curve = saved_curve(folder, saved.step);
  stand_at_start(saved.task, saved.settings);
  Run& run = *runs_.front();
  run.folder = folder;
  run.plan = saved.plan;
  run.curve_before = curve;
  run.told = saved.step;
  WatchedRun& watched = watched_.front();
  watched.losses = losses_before(curve, saved.step);
  watched.losses_from = first_known(watched.losses);
  // Here and not in the background, where it could be given up: its habits are compared to those of step 0, and it stands at the newest.
  keep_point(run);
  run.run.restore(state);
  run.history.hold(state);
  run.next_point = state.step;
  steps.pop_back();
  start(false, [this, &run, folder, state = std::move(state), step,
                older = spread_steps(steps, static_cast<std::size_t>(most_held(run)))] {
    run.now = measured(run, false);
    publish();
    // Where this is given up, or a checkpoint cannot be read, fewer of them are kept: every step is computed again from those before it.
    error_of([&] {
      for (const Index each : older) take_checkpoint(run, checkpoint_path(folder, each), each);
    });
    run.run.restore(state);
    run.history.go_to(run.run, std::clamp<Index>(step, 0, run.told));
  });
}

const std::string& LiveTraining::saved_folder() const {
  static const std::string none;
  return runs_.empty() ? none : runs_.front()->folder;
}

void LiveTraining::take_checkpoint(Run& run, const std::string& path, Index step) {
  check_cancelled();
  const SavedRun saved = read_saved_run(path);
  if (saved.settings != run.run.settings() || saved.step != step || step == 0 || step >= run.told) return;
  TrainingState<float> state = read_training_state<float>(path, saved);
  run.run.restore(state);
  run.history.hold(std::move(state));
  run.past.push_back(measured(run, true));
  ++run.points;
  publish();
}

}  // namespace headwise
