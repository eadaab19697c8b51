#include "core/train/training_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

Index arrays_of(OptimiserKind kind) {
  switch (kind) {
    case OptimiserKind::sgd:
      return 1;
    case OptimiserKind::momentum:
      return 2;
    case OptimiserKind::adam:
    case OptimiserKind::adamw:
      return 3;
  }
  return 3;
}

}  // namespace

template <class T>
TrainingHistory<T>::TrainingHistory(Index most_states) : most_states_(std::max<Index>(2, most_states)) {}

template <class T>
void TrainingHistory<T>::keep(const TrainingRun<T>& run) {
  if (run.step() % spacing_ != 0) return;
  const auto at = std::ranges::lower_bound(states_, run.step(), {}, &TrainingState<T>::step);
  if (at != states_.end() && at->step == run.step()) return;  // the same bits: the run has been here before
  states_.insert(at, run.state());
  thin_out();
}

template <class T>
void TrainingHistory<T>::hold(TrainingState<T> state) {
  if (std::ranges::find(held_, state.step) != held_.end()) return;
  if (2 * (std::ssize(held_) + 1) > most_states_)
    throw Error(ExitStatus::usage, {.where = "training history", .what = "too many states are held"});
  held_.push_back(state.step);
  const auto at = std::ranges::lower_bound(states_, state.step, {}, &TrainingState<T>::step);
  if (at != states_.end() && at->step == state.step)
    *at = std::move(state);
  else
    states_.insert(at, std::move(state));
  thin_out();
}

// Ends: of those that are not held, none but that of step 0 is a multiple of every spacing.
template <class T>
void TrainingHistory<T>::thin_out() {
  while (std::ssize(states_) > most_states_) {
    spacing_ *= 2;
    std::erase_if(states_, [&](const TrainingState<T>& state) {
      return state.step % spacing_ != 0 && std::ranges::find(held_, state.step) == held_.end();
    });
  }
}

template <class T>
void TrainingHistory<T>::go_to(TrainingRun<T>& run, Index step) const {
  const auto after = std::ranges::upper_bound(states_, step, {}, &TrainingState<T>::step);
  const bool runs_on = !run.failure() && run.step() <= step &&
                       (after == states_.begin() || std::prev(after)->step <= run.step());
  if (!runs_on) {
    if (after == states_.begin())
      throw Error(ExitStatus::usage,
                  {"training", "no state before this step is kept", fmt::format("step {}", step), "", ""});
    run.restore(*std::prev(after));
  }
  while (run.step() < step) {
    check_cancelled();
    if (!run.take_step()) throw Error(ExitStatus::usage, {.where = "training", .what = run.failure()->what});
  }
}

template <class T>
std::vector<Index> TrainingHistory<T>::steps() const {
  std::vector<Index> steps;
  for (const TrainingState<T>& state : states_) steps.push_back(state.step);
  return steps;
}

template <class T>
Index TrainingHistory<T>::bytes(const TrainingSettings& settings, Index states) {
  const Index values =
      train_parameter_count(train_parameters(settings.model)) * arrays_of(settings.optimiser.kind);
  return checked_multiply(checked_multiply(values, static_cast<Index>(sizeof(T)), "training history"), states,
                          "training history");
}

template class TrainingHistory<float>;
template class TrainingHistory<double>;

}  // namespace headwise
