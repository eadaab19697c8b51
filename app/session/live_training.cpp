#include "app/session/live_training.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index past_bytes = Index{96} << 20,
                maps_bytes = Index{32} << 20;  // of a run, as far as the fewest allow
constexpr Index fewest_states = 8, most_states = 256, fewest_points = 8, most_points = 256;
constexpr Index widest_map = 128;  // rows and columns that are kept of each map
constexpr Index measured_tokens = 4096, most_examples = 128, most_habit_examples = 16;
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

struct LiveTraining::Run {
  Run(const TrainTask& task, const TrainingSettings& settings)
      : run(task, settings), history(states_kept(settings)), most_points(points_kept(settings)) {
    history.keep(run);
  }

  TrainingRun<float> run;
  TrainingHistory<float> history;
  std::optional<TrainingStep> last;  // that was taken, unless the run went elsewhere since
  TrainingPointPtr now;
  // Not published yet.
  std::vector<TrainingLoss> losses;
  std::vector<TrainingPointPtr> past;
  Index told = 0;  // losses, published or not: those of the steps before
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
};

LiveTraining::LiveTraining(std::function<void()> wake)
    : wake_(std::move(wake)), arrived_(std::make_unique<Arrived>()), worker_(wake_) {}

LiveTraining::~LiveTraining() = default;

Index LiveTraining::step() const {
  Index step = 0;
  for (const WatchedRun& run : watched_) step = std::max(step, run.step());
  return step;
}

Index LiveTraining::reached() const {
  Index reached = 0;
  for (const WatchedRun& run : watched_) reached = std::max(reached, run.reached());
  return reached;
}

void LiveTraining::begin(TaskSource source, const TrainingSettings& settings) {
  const auto begun = std::make_shared<const TrainTask>(task_of(source));
  const TrainTask& task = *begun;
  auto run = std::make_unique<Run>(task, settings);
  stop();
  source_ = std::move(source);
  task_ = begun;
  ++number_;
  runs_.clear();
  watched_.clear();
  runs_.push_back(std::move(run));
  watched_.push_back({.settings = settings});
  arrived_->runs.assign(1, {});
  tokens_.assign(static_cast<std::size_t>(task.length), 0);
  targets_ = tokens_;
  task.example(TaskSplit::held_out, settings.seed, 0, tokens_, targets_);
  start(false, [this] { keep_point(*runs_.front()); });
}

void LiveTraining::begin_beside(TrainingChange change) {
  stop();
  const TrainingSettings settings = changed_settings(watched_.front().settings, change).value();
  auto run = std::make_unique<Run>(task(), settings);
  ++number_;
  runs_.resize(1);
  watched_.resize(1);
  runs_.push_back(std::move(run));
  watched_.push_back({.settings = settings, .change = change});
  arrived_->runs.resize(1);
  arrived_->runs.emplace_back();
  start(false, [this] { keep_point(*runs_.back()); });
}

void LiveTraining::end_beside() {
  stop();
  runs_.resize(std::min<std::size_t>(runs_.size(), 1));
  watched_.resize(runs_.size());
  arrived_->runs.resize(runs_.size());
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
  for (WatchedRun& run : watched_) {
    const auto after = std::ranges::upper_bound(run.past, step, {}, &TrainingPoint::step);
    if (after != run.past.begin()) run.now = *std::prev(after);
  }
  start(false, [this, step] {
    for (const auto& run : runs_) {
      run->last.reset();
      run->history.go_to(run->run, std::min(step, run->told));
    }
  });
}

// Whatever is done ends with what can be seen of it, also where it was given up.
void LiveTraining::start(bool playing, std::function<void()> work) {
  playing_ = playing;
  error_.clear();
  answer_.reset();
  asked_ = false;
  standing_.clear();
  worker_.start([this, work = std::move(work)] {
    // One processor is left to the window.
    const ThreadLimit limit(std::max(1, available_threads() - 1));
    const char* no_memory = "this does not fit in memory: choose shorter sequences or fewer of them";
    const std::string error = error_of(work, no_memory);
    const CancelScope seen_in_any_case(nullptr);
    const std::string unseen = error_of(
        [this] {
          for (const auto& run : runs_) run->now = measured(*run, true);
        },
        no_memory);
    publish();
    const std::lock_guard lock(mutex_);
    arrived_->error = worker_.cancelled() ? "" : error.empty() ? unseen : error;
  });
}

void LiveTraining::stop() {
  worker_.stop();
  playing_ = false;
  take_arrived();
}

LiveTraining::Run* LiveTraining::behind(Index last_step) {
  Run* behind = nullptr;
  for (const auto& run : runs_)
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
    const bool in_turn = next != runs_.front().get() && runs_.front()->run.step() == next->run.step() + 1;
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
    for (const auto& run : runs_) run->now = measured(*run, false);
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
  if (step < run.told) return;  // again, to the same bits
  const BatchResult& batch = run.last->batch;
  run.losses.push_back({static_cast<float>(batch.loss), static_cast<float>(accuracy_of(batch))});
  ++run.told;
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
    const Index length = run.run.task().length;
    point->habits = run.run.habits(std::clamp(measured_tokens / length / 4, Index{1}, most_habit_examples));
    point->held_out = run.run.held_out(std::clamp(measured_tokens / length, Index{1}, most_examples));
  }
  return point;
}

void LiveTraining::publish() {
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Run& run = *runs_[i];
      Arrived::OfRun& told = arrived_->runs[i];
      told.losses.insert(told.losses.end(), run.losses.begin(), run.losses.end());
      told.past.insert(told.past.end(), run.past.begin(), run.past.end());
      run.losses.clear();
      run.past.clear();
      told.spacing = run.spacing;
      told.now = run.now;
      told.last = run.last;
      told.failure = run.run.failure();
    }
  }
  if (wake_) wake_();
}

void LiveTraining::take_in() {
  const bool ended = worker_.ended();
  if (ended) playing_ = false;
  take_arrived();
  if (!worker_.busy()) answer_if_it_can();
}

void LiveTraining::take_arrived() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    WatchedRun& run = watched_[i];
    Arrived::OfRun& told = arrived_->runs[i];
    if (!told.now) continue;
    run.losses.insert(run.losses.end(), told.losses.begin(), told.losses.end());
    run.past.insert(run.past.end(), told.past.begin(), told.past.end());
    std::erase_if(run.past, [&](const TrainingPointPtr& point) { return point->step % told.spacing != 0; });
    run.now = std::move(told.now);
    run.last = told.last;
    run.failure = told.failure;
    told = {};
  }
  tokens_per_second_ = arrived_->tokens_per_second;
  if (!arrived_->error.empty()) error_ = std::exchange(arrived_->error, "");
  if (arrived_->answer) answer_ = std::exchange(arrived_->answer, nullptr);
}

TrainingOutcome LiveTraining::outcome_of(Run& run, std::vector<double> losses) {
  const Index length = run.run.task().length;
  return training_outcome(run.run, std::span<const double>(losses),
                          std::clamp(measured_tokens / length, Index{1}, most_examples));
}

void LiveTraining::answer_if_it_can() {
  if (asked_ || watched_.size() < 2 || !error_.empty()) return;
  const bool stands_still = watched_[0].step() == watched_[1].step() || watched_[1].failure;
  if (!stands_still || watched_[0].step() == 0) return;
  const auto losses_of = [](const WatchedRun& run) {
    std::vector<double> losses;
    for (Index i = 0; i < run.step(); ++i) losses.push_back(run.losses[static_cast<std::size_t>(i)].loss);
    return losses;
  };
  start(false,
        [this, change = *watched_[1].change, first = losses_of(watched_[0]), second = losses_of(watched_[1])] {
          auto answer = std::make_shared<const ChangeAnswer>(
              change_answer(change, outcome_of(*runs_[0], first), outcome_of(*runs_[1], second)));
          const std::lock_guard lock(mutex_);
          arrived_->answer = std::move(answer);
        });
  asked_ = true;
}

std::string LiveTraining::write_checkpoint(const std::string& folder, std::size_t run) {
  const TrainingRun<float>& stopped = stopped_run(run);
  headwise::write_checkpoint(folder, source_, stopped);
  return checkpoint_path(folder, stopped.step());
}

TrainingRun<float>& LiveTraining::stopped_run(std::size_t run) {
  stop();
  return runs_[run]->run;
}

std::shared_ptr<const TrainingState<float>> LiveTraining::standing_state(std::size_t run) {
  if (worker_.busy()) return nullptr;
  standing_.resize(runs_.size());
  if (!standing_[run]) standing_[run] = std::make_shared<const TrainingState<float>>(runs_[run]->run.state());
  return standing_[run];
}

Index LiveTraining::most_bytes(const TrainingSettings& settings) {
  return TrainingHistory<float>::bytes(settings, states_kept(settings)) +
         map_bytes(settings) * points_kept(settings);
}

}  // namespace headwise
