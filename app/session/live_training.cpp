#include "app/session/live_training.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "app/session/live_training_run.h"
#include "app/session/training_saving.h"
#include "core/files/input_file.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/task_threads.h"

namespace headwise {

TrainingPointPtr WatchedRun::measured_at(Index step) const {
  const auto after = std::ranges::upper_bound(past, step, {}, &TrainingPoint::step);
  return after == past.begin() ? nullptr : *std::prev(after);
}

TrainingPointPtr WatchedRun::measured_now() const {
  return now && !now->habits.empty() ? now : measured_at(step());
}

LiveTraining::LiveTraining(std::function<void()> wake)
    : wake_(std::move(wake)), arrived_(std::make_unique<Arrived>()), worker_(wake_) {}

LiveTraining::~LiveTraining() = default;

Index LiveTraining::step() const {
  Index step = 0;
  for (const WatchedRun& run : current_.watched) step = std::max(step, run.step());
  return step;
}

Index LiveTraining::reached() const {
  Index reached = 0;
  for (const WatchedRun& run : current_.watched) reached = std::max(reached, run.reached());
  return reached;
}

void LiveTraining::stand_at_start(TaskSource source, const TrainingSettings& settings) {
  const auto begun = std::make_shared<const TrainTask>(task_of(source));
  const TrainTask& task = *begun;
  check_training(task, settings);
  require_memory(most_bytes(settings), "the past of the training");
  auto run = std::make_unique<Run>(task, settings);
  stop();
  park_current();
  current_ = {};
  current_.number = ++last_number_;
  current_.source = std::move(source);
  current_.task = begun;
  arrived_->tokens_per_second = 0.0;
  current_.runs.push_back(std::move(run));
  current_.watched.push_back({.settings = current_.runs.front()->run.settings()});
  arrived_->runs.assign(1, {});
  current_.tokens.assign(static_cast<std::size_t>(task.length), 0);
  current_.targets = current_.tokens;
  task.example(TaskSplit::held_out, current_.watched.front().settings.seed, 0, current_.tokens,
               current_.targets);
}

void LiveTraining::begin(TaskSource source, const TrainingSettings& settings) {
  stand_at_start(std::move(source), settings);
  start(false, [this] { keep_point(*current_.runs.front()); });
}

void LiveTraining::start_variant(TrainingChange change) {
  stop();
  if (current_.runs.size() > 1 && current_.watched[1].change == change) return start(false, [] {});
  const TrainingSettings settings = changed_settings(current_.watched.front().settings, change).value();
  std::unique_ptr<ParkedRun> before = take_parked_variant(change);
  park_variant();
  current_.number = ++last_number_;
  arrived_->runs.emplace_back();
  if (before) {
    current_.runs.push_back(std::move(before->runs.front()));
    current_.watched.push_back(std::move(before->watched.front()));
    return start(false, [] {});
  }
  current_.runs.push_back(std::make_unique<Run>(task(), settings));
  current_.watched.push_back({.settings = settings, .change = change});
  start(false, [this] { keep_point(*current_.runs.back()); });
}

void LiveTraining::end_variant() {
  stop();
  park_variant();
  answer_.reset();
}

void LiveTraining::play(StepsPerSecond pace, Index last_step) {
  stop();
  start(true, [this, pace, last_step] { play_here(pace, last_step); });
}

void LiveTraining::pause() {
  playing_ = false;
  worker_.cancel();
}

void LiveTraining::take_step() {
  stop();
  const Index next = step() + 1;
  start(false, [this, next] { play_here(0.0, next); });
}

void LiveTraining::go_to(Index step) {
  stop();
  // Until the step itself is there: what was measured closest before it.
  for (WatchedRun& run : current_.watched)
    if (TrainingPointPtr before = run.measured_at(step)) run.now = std::move(before);
  start(false, [this, step] {
    for (const auto& run : current_.runs) {
      run->last.reset();
      run->history.go_to(run->run, std::min(step, run->recorded));
    }
  });
}

// Whatever is done ends with what can be seen of it, also where it was given up.
void LiveTraining::start(bool playing, std::function<void()> work) {
  playing_ = playing;
  saving_ = false;
  error_.clear();
  answer_.reset();
  asked_ = false;
  current_states_.clear();
  worker_.start([this, work = std::move(work)] {
    // One processor is left to the window.
    const ThreadLimit limit(std::max(1, available_threads() - 1));
    const char* no_memory = "this does not fit in memory: choose shorter sequences or fewer of them";
    const std::string error = error_of(work, no_memory);
    const CancelScope seen_in_any_case(nullptr);
    const std::string unseen = error_of(
        [this] {
          // Two that were stopped between their turns are brought to the same step.
          if (Run* late = late_by_one()) take_step_here(*late);
          // The maps first: what takes longer must not hold them up.
          for (const auto& run : current_.runs) run->now = measured(*run, false);
          publish();
          for (const auto& run : current_.runs) run->now = measured(*run, true);
        },
        no_memory);
    publish();
    const std::lock_guard lock(mutex_);
    arrived_->error = worker_.cancelled() ? "" : error.empty() ? unseen : error;
  });
}

LiveTraining::Run* LiveTraining::late_by_one() {
  if (current_.runs.size() < 2) return nullptr;
  const Index first = current_.runs[0]->run.step(), second = current_.runs[1]->run.step();
  if (first + 1 != second && second + 1 != first) return nullptr;
  return behind(std::max(first, second));
}

void LiveTraining::stop() {
  worker_.stop();
  playing_ = false;
  take_arrived();
}

void LiveTraining::collect_results() {
  const bool ended = worker_.ended();
  if (ended) playing_ = saving_ = false;
  take_arrived();
  if (!worker_.busy()) answer_when_ready();
}

void LiveTraining::take_arrived() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < current_.watched.size(); ++i) {
    WatchedRun& run = current_.watched[i];
    Arrived::OfRun& arrived = arrived_->runs[i];
    if (!arrived.now) continue;
    run.losses.insert(run.losses.end(), arrived.losses.begin(), arrived.losses.end());
    run.past.insert(run.past.end(), arrived.past.begin(), arrived.past.end());
    std::erase_if(run.past, [&](const TrainingPointPtr& point) { return point->step % arrived.spacing != 0; });
    run.now = std::move(arrived.now);
    run.last = arrived.last;
    run.failure = arrived.failure;
    arrived = {};
  }
  tokens_per_second_ = arrived_->tokens_per_second;
  if (!arrived_->error.empty()) error_ = std::exchange(arrived_->error, "");
  if (!arrived_->saved.empty()) saved_ = std::exchange(arrived_->saved, "");
  if (arrived_->answer) answer_ = std::exchange(arrived_->answer, nullptr);
}

void LiveTraining::answer_when_ready() {
  if (asked_ || current_.watched.size() < 2 || !error_.empty()) return;
  if (current_.watched[0].losses_from > 0) return;  // what it did then is not known
  const bool stands_still =
      current_.watched[0].step() == current_.watched[1].step() || current_.watched[1].failure;
  if (!stands_still || current_.watched[0].step() == 0) return;
  const auto losses_of = [](const WatchedRun& run) {
    std::vector<double> losses;
    for (Index i = 0; i < run.step(); ++i) losses.push_back(run.losses[static_cast<std::size_t>(i)].loss);
    return losses;
  };
  start(false, [this, change = *current_.watched[1].change, first = losses_of(current_.watched[0]),
                second = losses_of(current_.watched[1])] {
    auto answer = std::make_shared<const ChangeAnswer>(
        change_answer(change, outcome_of(*current_.runs[0], first), outcome_of(*current_.runs[1], second)));
    const std::lock_guard lock(mutex_);
    arrived_->answer = std::move(answer);
  });
  asked_ = true;
}

std::string LiveTraining::write_checkpoint(const std::string& folder, std::size_t run) {
  TrainingRun<float>& stopped = stopped_run(run);
  headwise::write_checkpoint(folder, current_.source, stopped, current_.runs[run]->plan);
  return checkpoint_path(folder, stopped.step());
}

void LiveTraining::save(TrainingForm form, const std::string& path, Theme theme, std::size_t run) {
  stop();
  const std::shared_ptr<const ChangeAnswer> answer = answer_;
  start(false, [this, form, path, theme, run, watched = current_.watched[run]] {
    save_here(form, path, theme, *current_.runs[run], watched);
  });
  asked_ = true;  // nothing has changed
  answer_ = answer;
  saving_ = true;
}

TrainingRun<float>& LiveTraining::stopped_run(std::size_t run) {
  stop();
  return current_.runs[run]->run;
}

std::shared_ptr<const TrainingState<float>> LiveTraining::current_state(std::size_t run) {
  if (worker_.busy()) return nullptr;
  current_states_.resize(current_.runs.size());
  if (!current_states_[run])
    current_states_[run] = std::make_shared<const TrainingState<float>>(current_.runs[run]->run.state());
  return current_states_[run];
}

namespace {

constexpr std::size_t most_kept = 4, most_seconds = 2;
constexpr Index most_kept_bytes = Index{512} << 20;

std::string name_of_source(const TaskSource& source) {
  return source.file.empty() ? source.name : std::filesystem::path(source.file).filename().string();
}

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

std::string LiveTraining::name() const {
  return name_of_source(current_.source);
}

std::vector<KeptTraining> LiveTraining::kept() const {
  std::vector<KeptTraining> kept;
  for (const auto& parked : parked_) {
    Index reached = 0;
    for (const WatchedRun& run : parked->watched) reached = std::max(reached, run.reached());
    kept.push_back({parked->number, name_of_source(parked->source), reached, parked->watched.front().settings});
  }
  return kept;
}

void LiveTraining::park_current() {
  if (reached() == 0) return;
  parked_.insert(parked_.begin(), std::make_unique<ParkedRun>(std::move(current_)));
  Index bytes = 0;
  std::size_t fitting = 0;
  while (fitting < std::min(parked_.size(), most_kept)) {
    bytes += bytes_of(*parked_[fitting]);
    if (fitting > 0 && bytes > most_kept_bytes) break;
    ++fitting;
  }
  parked_.resize(fitting);
}

void LiveTraining::return_to(int number) {
  const auto found = std::ranges::find(parked_, number, [](const auto& parked) { return parked->number; });
  if (found == parked_.end()) return;
  const std::unique_ptr<ParkedRun> wanted = std::move(*found);
  parked_.erase(found);
  stop();
  park_current();
  current_ = std::move(*wanted);
  arrived_->runs.clear();
  arrived_->runs.resize(current_.runs.size());
  arrived_->tokens_per_second = 0.0;
  start(false, [] {});
}

void LiveTraining::park_variant() {
  if (current_.runs.size() < 2) return;
  if (current_.watched[1].reached() > 0) {
    auto parked = std::make_unique<ParkedRun>();
    parked->runs.push_back(std::move(current_.runs[1]));
    parked->watched.push_back(std::move(current_.watched[1]));
    current_.seconds.insert(current_.seconds.begin(), std::move(parked));
    current_.seconds.resize(std::min(current_.seconds.size(), most_seconds));
  }
  current_.runs.resize(1);
  current_.watched.resize(1);
  arrived_->runs.resize(1);
}

std::unique_ptr<LiveTraining::ParkedRun> LiveTraining::take_parked_variant(TrainingChange change) {
  const auto found = std::ranges::find(current_.seconds, std::make_optional(change),
                                       [](const auto& parked) { return parked->watched.front().change; });
  if (found == current_.seconds.end()) return nullptr;
  std::unique_ptr<ParkedRun> parked = std::move(*found);
  current_.seconds.erase(found);
  return parked;
}

void LiveTraining::resume_saved(const std::string& folder, Index step) {
  std::vector<Index> steps = checkpoint_steps(folder);
  if (steps.empty())
    throw Error(ExitStatus::input,
                {folder, "there is no checkpoint to go on from", "", "a folder of an earlier training", ""});
  const std::string newest = checkpoint_path(folder, steps.back());
  const SavedRun saved = newest_run(folder, newest);
  TrainingState<float> state = read_training_state<float>(newest, saved);
  const std::string curve = saved_curve(folder, saved.step);
  stand_at_start(saved.task, saved.settings);
  Run& run = *current_.runs.front();
  run.folder = folder;
  run.plan = saved.plan;
  run.curve_before = curve;
  run.recorded = saved.step;
  WatchedRun& watched = current_.watched.front();
  watched.losses = losses_before(curve, saved.step);
  watched.losses_from = first_known(watched.losses);
  // Here and not in the background, where it could be given up: its habits are compared to those of step 0,
  // and it stands at the newest.
  keep_point(run);
  run.run.restore(state);
  run.history.hold(state);
  run.next_point = state.step;
  steps.pop_back();
  start(false, [this, &run, folder, state = std::move(state), step,
                older = spread_steps(steps, static_cast<std::size_t>(most_held(run)))] {
    run.now = measured(run, false);
    publish();
    // Where this is given up, or a checkpoint cannot be read, fewer of them are kept: every step is computed
    // again from those before it.
    error_of([&] {
      for (const Index each : older) take_checkpoint(run, checkpoint_path(folder, each), each);
    });
    run.run.restore(state);
    run.history.go_to(run.run, std::clamp<Index>(step, 0, run.recorded));
  });
}

const std::string& LiveTraining::saved_folder() const {
  static const std::string none;
  return current_.runs.empty() ? none : current_.runs.front()->folder;
}

void LiveTraining::take_checkpoint(Run& run, const std::string& path, Index step) {
  check_cancelled();
  const SavedRun saved = read_saved_run(path);
  if (saved.settings != run.run.settings() || saved.step != step || step == 0 || step >= run.recorded) return;
  TrainingState<float> state = read_training_state<float>(path, saved);
  run.run.restore(state);
  run.history.hold(std::move(state));
  run.past.push_back(measured(run, true));
  ++run.points;
  publish();
}

}  // namespace headwise
