// headwise train: trains a small model on a task, with checkpoints and a curve in a folder.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/train_options.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"
#include "core/train/checkpoint.h"
#include "core/train/training_curve.h"

namespace headwise {
namespace {

std::atomic<bool> wants_to_stop = false;

// Ctrl+C ends the training after its step, with a checkpoint; a second one ends the program as usual.
class StopOnSignals {
 public:
  StopOnSignals() {
    for (std::size_t i = 0; i < std::size(signals); ++i) {
      before_[i] = std::signal(signals[i], [](int signal) {
        wants_to_stop = true;
        std::signal(signal, SIG_DFL);
      });
      if (before_[i] == SIG_IGN) std::signal(signals[i], SIG_IGN);  // nohup stays in effect
    }
  }
  ~StopOnSignals() {
    for (std::size_t i = 0; i < std::size(signals); ++i) std::signal(signals[i], before_[i]);
  }
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  void (*before_[std::size(signals)])(int) = {};
};

std::string text_of_file(const std::string& path) {
  if (!is_there(path)) return "";
  const InputFile file(path);
  return file.read_text(0, file.size());
}

struct TrainRequest {
  TaskSource source;
  std::string folder;
  Index steps, every;
  std::optional<std::string> resumed;  // the checkpoint
  SavedRun saved;                      // of it
};

// A line for a checkpoint, with the habit that stands out.
template <class T>
std::string checkpoint_line(TrainingRun<T>& run, const TrainingStep& last, const BatchResult& held_out,
                            double tokens_per_second) {
  std::string line = fmt::format("step {}: loss {:.4g}, held-out loss {:.4g}, accuracy {:.1f} %", run.step(),
                                 last.batch.loss, held_out.loss, 100.0 * accuracy_of(held_out));
  double most = 0.0;
  std::string strongest;
  const auto habits = run.habits();
  for (std::size_t layer = 0; layer < habits.size(); ++layer)
    for (std::size_t head = 0; head < habits[layer].size(); ++head) {
      const TrainedHabits& of = habits[layer][head];
      for (const auto& [value, name] :
           {std::pair(of.previous_token, "previous token"), std::pair(of.induction, "induction")})
        if (value && *value > most) {
          most = *value;
          strongest = fmt::format(", {} {:.2f} in head {}.{}", name, most, layer, head);
        }
    }
  return line + strongest + fmt::format(", {:.0f} tokens/s\n", tokens_per_second);
}

template <class T>
void train(const TrainRequest& request, TrainTask task, const TrainingSettings& settings) {
  using Clock = std::chrono::steady_clock;
  TrainingRun<T> run(std::move(task), settings);
  const std::string curve = request.folder + "/curve.csv";
  std::string before = curve_before("", 0);
  if (request.resumed) {
    run.restore(read_training_state<T>(*request.resumed, request.saved));
    before = curve_before(text_of_file(curve), run.step());
  }
  std::vector<CurveRow> rows;
  const auto keep = [&] {
    const std::string csv = curve_csv(rows);
    write_checkpoint(request.folder, request.source, run);
    write_file_atomically(curve, before + csv.substr(csv.find('\n') + 1));
  };
  wants_to_stop = false;
  const StopOnSignals stop_on_signals;
  if (!request.resumed) keep();  // as it began
  Clock::duration spent{};
  Index taken = 0;
  const Index first = run.step();
  while (run.step() < request.steps) {
    const ProgressPart part = slice_of_work(run.step() - first, request.steps - first);
    const Clock::time_point begin = Clock::now();
    const std::optional<TrainingStep> step = run.take_step();
    spent += Clock::now() - begin;
    if (!step) {
      const std::string where =
          fmt::format("; the last whole step is in {}", checkpoint_path(request.folder, run.step()));
      if (rows.empty() || checkpoint_steps(request.folder).back() != run.step()) keep();
      throw Error(ExitStatus::usage, {.where = "training", .what = run.failure()->what + where});
    }
    rows.push_back({*step, std::nullopt});
    ++taken;
    const bool ends = wants_to_stop || run.step() == request.steps;
    if (!ends && run.step() % request.every != 0) continue;
    rows.back().held_out = run.held_out();
    keep();
    const double seconds = std::chrono::duration<double>(spent).count();
    print(checkpoint_line(run, *step, *rows.back().held_out,
                          static_cast<double>(taken * settings.batch * run.task().length) / seconds));
    if (wants_to_stop)
      throw Error(ExitStatus::cancelled, {.where = "training",
                                          .what = fmt::format("stopped at step {}", run.step()),
                                          .remedy = "headwise train --resume goes on"});
  }
}

}  // namespace

void run_train(CommandOptions& options, const Words& words) {
  TrainWords wanted;
  add_train_flags(options, wanted);
  if (!options.parse(words)) return;
  TrainRequest request;
  request.folder = wanted.output;
  request.steps = count_of("--steps", wanted.steps);
  request.every =
      wanted.every.empty() ? std::max<Index>(1, request.steps / 10) : count_of("--every", wanted.every);
  if (wanted.dtype != "f32" && wanted.dtype != "f64")
    throw Error(ExitStatus::usage, {"--dtype", "there is no such type", wanted.dtype, "f32 or f64", ""});
  DType dtype = wanted.dtype == "f32" ? DType::f32 : DType::f64;
  const std::vector<Index> there = checkpoint_steps(request.folder);
  TrainingSettings settings;
  TrainTask task;
  if (wanted.resume) {
    if (there.empty())
      throw Error(ExitStatus::input, {request.folder, "there is no checkpoint to go on from", "",
                                      "a folder of an earlier training", "leave out --resume"});
    refuse_settings(options);
    request.resumed = checkpoint_path(request.folder, there.back());
    request.saved = read_saved_run(*request.resumed);
    request.source = request.saved.task;
    task = task_of(request.source);
    settings = request.saved.settings;
    dtype = request.saved.dtype;
    if (request.saved.step >= request.steps)
      throw Error(ExitStatus::usage, {"--steps", "the training has taken these steps already",
                                      fmt::format("{}, at step {}", request.steps, request.saved.step),
                                      fmt::format("more than {}", request.saved.step), ""});
  } else {
    if (wanted.task.empty())
      throw Error(ExitStatus::usage,
                  {"TASK", "no task is given", "", "a task or a text file", "see headwise list tasks"});
    if (!there.empty())
      throw Error(ExitStatus::usage, {request.folder, "there is a training in this folder already",
                                      fmt::format("{} checkpoints", there.size()), "",
                                      "add --resume to go on, or choose another folder"});
    request.source = source_of(wanted);
    task = task_of(request.source);
    settings = settings_of(wanted, task);
  }
  if (dtype == DType::f32) {
    train<float>(request, std::move(task), settings);
  } else {
    train<double>(request, std::move(task), settings);
  }
}

}  // namespace headwise
