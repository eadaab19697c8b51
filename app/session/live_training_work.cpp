// What a LiveTraining does on its worker's thread: steps, measurements, checkpoints.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "app/session/live_training_run.h"
#include "app/session/training_saving.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"
#include "core/train/training_folder.h"
#include "core/train/training_program.h"

namespace headwise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index past_bytes = Index{96} << 20,
                maps_bytes = Index{32} << 20;  // of a run, as far as the fewest allow
constexpr Index fewest_states = 8, most_states = 256, fewest_points = 8, most_points = 256;
constexpr Index widest_map = 128;  // rows and columns that are kept of each map
constexpr std::chrono::milliseconds between_pictures{25}, longest_sleep{5}, between_speeds{500};

Index states_kept(const TrainingSettings& settings) {
  return std::clamp(past_bytes / TrainingHistory<float>::bytes(settings, 1), fewest_states, most_states);
}

// Of one point.
Index map_bytes(const TrainingSettings& settings) {
  const Index side = std::min(settings.model.longest_sequence, widest_map);
  return settings.model.layers * settings.model.heads * side * side * static_cast<Index>(sizeof(float));
}

Index points_kept(const TrainingSettings& settings) {
  return std::clamp(maps_bytes / map_bytes(settings), fewest_points, most_points);
}

// The first rows and columns of each head's map.
TensorPtr cropped(const Tensor& maps) {
  const Index heads = maps.shape().size(1), length = maps.shape().size(2), side = std::min(length, widest_map);
  auto part = std::make_shared<Tensor>(Shape{{"N", 1}, {"H", heads}, {"L", side}, {"S", side}}, DType::f32);
  for (Index head = 0; head < heads; ++head)
    for (Index row = 0; row < side; ++row)
      for (Index column = 0; column < side; ++column)
        part->set_flat((head * side + row) * side + column, maps.flat((head * length + row) * length + column));
  return part;
}

}  // namespace

LiveTraining::Run::Run(const TrainTask& task, const TrainingSettings& settings)
    : run(task, settings),
      history(states_kept(settings)),
      curve_before(headwise::curve_before("", 0)),
      most_points(points_kept(settings)) {
  history.keep(run);
}

LiveTraining::Run* LiveTraining::behind(Index last_step) {
  Run* behind = nullptr;
  for (const auto& run : current_.runs)
    if (!run->run.failure() && run->run.step() < last_step && (!behind || run->run.step() < behind->run.step()))
      behind = run.get();
  return behind;
}

void LiveTraining::play_here(StepsPerSecond pace, Index last_step) {
  Clock::time_point due = Clock::now(), shown = due, timed = due;
  Clock::duration spent{};
  Index tokens = 0;
  while (Run* next = behind(last_step)) {
    // Two runs side by side take the same step in the same turn.
    const bool in_turn =
        next != current_.runs.front().get() && current_.runs.front()->run.step() == next->run.step() + 1;
    if (pace > 0.0 && !in_turn) {
      while (Clock::now() < due) {
        check_cancelled();
        std::this_thread::sleep_for(std::min<Clock::duration>(due - Clock::now(), longest_sleep));
      }
      due = Clock::now() +
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / pace));
    }
    check_cancelled();
    if (next->run.step() >= next->next_point) keep_point(*next);
    const Clock::time_point begun = Clock::now();
    take_step_here(*next);
    spent += Clock::now() - begun;
    tokens += next->run.settings().batch * next->run.task().length;
    if (Clock::now() - shown < between_pictures) continue;
    for (const auto& run : current_.runs) run->now = measured(*run, false);
    shown = Clock::now();
    if (shown - timed > between_speeds) {
      const std::lock_guard lock(mutex_);
      arrived_->tokens_per_second = static_cast<double>(tokens) / std::chrono::duration<double>(spent).count();
      timed = shown;
      spent = {};
      tokens = 0;
    }
    publish();
  }
}

void LiveTraining::take_step_here(Run& run) {
  const Index step = run.run.step();
  run.last = run.run.take_step();
  if (!run.last) return;
  run.history.keep(run.run);
  if (step < run.recorded) return;  // again, to the same bits
  const BatchResult& batch = run.last->batch;
  run.losses.push_back({static_cast<float>(batch.loss), static_cast<float>(accuracy_of(batch))});
  run.curve.push_back({*run.last, std::nullopt});
  ++run.recorded;
}

// Of the states and the points that are kept, as many may be those of checkpoints, the newest one among them.
Index LiveTraining::most_held(const Run& run) {
  return std::min(states_kept(run.run.settings()), run.most_points) / 2 - 1;
}

void LiveTraining::keep_point(Run& run) {
  run.past.push_back(measured(run, true));
  if (++run.points > run.most_points) {
    run.spacing *= 2;
    run.points = (run.points + 1) / 2;
  }
  run.next_point = (run.run.step() / run.spacing + 1) * run.spacing;
}

TrainingPointPtr LiveTraining::measured(Run& run, bool whole) {
  auto point = std::make_shared<TrainingPoint>();
  point->step = run.run.step();
  for (const Tensor& maps : run.run.held_out_maps(0)) point->maps.push_back(cropped(maps));
  if (whole) {
    point->habits = run.run.habits();
    point->held_out = run.run.held_out();
    if (!run.curve.empty() && run.curve.back().step.step + 1 == point->step)
      run.curve.back().held_out = point->held_out;
  }
  return point;
}

void LiveTraining::publish() {
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < current_.runs.size(); ++i) {
      Run& run = *current_.runs[i];
      Arrived::OfRun& arrived = arrived_->runs[i];
      arrived.losses.insert(arrived.losses.end(), run.losses.begin(), run.losses.end());
      arrived.past.insert(arrived.past.end(), run.past.begin(), run.past.end());
      run.losses.clear();
      run.past.clear();
      arrived.spacing = run.spacing;
      arrived.now = run.now;
      arrived.last = run.last;
      arrived.failure = run.run.failure();
    }
  }
  if (wake_) wake_();
}

std::string LiveTraining::curve_of(const Run& run) {
  const std::string taken = curve_csv(run.curve);
  return run.curve_before + taken.substr(taken.find('\n') + 1);
}

TrainingOutcome LiveTraining::outcome_of(Run& run, std::vector<double> losses) {
  return training_outcome(run.run, std::span<const double>(losses));
}

std::vector<std::string> LiveTraining::write_checkpoints(Run& run, const std::string& folder,
                                                         const std::vector<Index>& steps, bool with_curve) {
  const TrainingFolder held(folder);
  if (!checkpoint_steps(folder).empty())
    throw Error(ExitStatus::usage, {.where = folder,
                                    .what = "there are checkpoints of a training in this folder already",
                                    .remedy = "choose another folder"});
  if (paths_in(folder).size() > 1)  // the lock is one
    throw Error(ExitStatus::usage,
                {.where = folder,
                 .what = "there are other files in this folder, which the checkpoints would mix with",
                 .remedy = "name a new folder"});
  // Before the checkpoints: a training goes on from the newest one, whose steps must all have their rows.
  if (with_curve) write_file_atomically(folder + "/curve.csv", curve_of(run));
  const TrainingState<float> stood = run.run.state();
  std::vector<std::string> paths;
  std::string error;
  for (std::size_t i = 0; i < steps.size() && error.empty(); ++i)
    error = error_of([&] {
      const ProgressPart part = slice_of_work(static_cast<Index>(i), std::ssize(steps));
      run.history.go_to(run.run, steps[i]);
      headwise::write_checkpoint(folder, current_.source, run.run, run.plan);
      paths.push_back(checkpoint_path(folder, steps[i]));
    });
  run.run.restore(stood);
  if (error.empty()) return paths;
  std::error_code ignored;
  if (with_curve && paths.empty()) std::filesystem::remove(folder + "/curve.csv", ignored);
  throw Error(ExitStatus::output, {.what = error});
}

void LiveTraining::save_here(TrainingForm form, const std::string& path, Theme theme, Run& run,
                             const WatchedRun& watched) {
  constexpr std::size_t most_checkpoints = 32, most_pages = 8;
  const std::string called =
      watched.change ? fmt::format("{}, {}", name(), training_change_entry(*watched.change).with) : name();
  std::vector<Index> steps;
  for (const Index step : run.history.steps())
    if (step < watched.reached()) steps.push_back(step);
  steps.push_back(watched.reached());
  std::string what(training_form_entry(form).name);
  switch (form) {
    case TrainingForm::folder:
      write_checkpoints(run, path, spread_steps(steps, most_checkpoints), true);
      break;
    case TrainingForm::picture: {
      const std::vector<std::uint8_t> bytes =
          training_animation(watched, "training: " + called, theme).finish();
      write_file_atomically(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      break;
    }
    case TrainingForm::program:
      write_training_program(path, current_.source, watched.settings, DType::f32, watched.reached());
      break;
    case TrainingForm::pages: {
      const std::string folder = std::filesystem::path(path).replace_extension().string();
      write_training_pages(path,
                           write_checkpoints(run, folder, salient_steps(steps, watched, most_pages), false),
                           watched, called);
      break;
    }
  }
  const std::lock_guard lock(mutex_);
  arrived_->saved = fmt::format("Saved the training as {} in {}", what.substr(0, what.find(" (")), path);
}

Index LiveTraining::most_bytes(const TrainingSettings& settings) {
  return TrainingHistory<float>::bytes(settings, states_kept(settings)) +
         map_bytes(settings) * points_kept(settings);
}

Index LiveTraining::bytes_of(const ParkedRun& aside) {
  Index bytes = 0;
  for (const auto& run : aside.runs)
    bytes += TrainingHistory<float>::bytes(run->run.settings(), std::ssize(run->history.steps())) +
             map_bytes(run->run.settings()) * run->points;
  for (const auto& second : aside.seconds) bytes += bytes_of(*second);
  return bytes;
}

}  // namespace headwise
