#include "core/train/training_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
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

namespace {

constexpr const char* curve_header =
    "step,loss,accuracy,learning_rate,gradient_norm,held_out_loss,held_out_accuracy\n";

// Loss and accuracy; nothing counted has none.
std::string measured(const BatchResult& result) {
  if (result.counted == 0) return ",";
  return fmt::format("{},{}", result.loss,
                     static_cast<double>(result.correct) / static_cast<double>(result.counted));
}

// A number up to the next comma, which is dropped as well; nullopt if there is none.
template <class V>
std::optional<V> next_number(std::string_view& line) {
  V value = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const auto read = static_cast<std::size_t>(stop - line.data());
  if (error != std::errc() || read == line.size() || line[read] != ',') return std::nullopt;
  line.remove_prefix(read + 1);
  return value;
}

// Calls see(step, what follows it, the line) for each line that begins with a step.
template <class See>
void each_row(const std::string& csv, See&& see) {
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    const auto step = next_number<Index>(rest);
    if (step && *step >= 0) see(*step, rest, line);
  }
}

}  // namespace

std::string curve_csv(const std::vector<CurveRow>& rows) {
  std::string csv = curve_header;
  for (const CurveRow& row : rows)
    csv += fmt::format("{},{},{},{},{}\n", row.step.step, measured(row.step.batch),
                       row.step.update.learning_rate, row.step.update.gradient_norm,
                       row.held_out ? measured(*row.held_out) : ",");
  return csv;
}

std::string curve_before(const std::string& csv, Index step) {
  std::string kept = curve_header;
  each_row(csv, [&](Index of_line, std::string_view, const std::string& line) {
    if (of_line < step) kept += line + "\n";
  });
  return kept;
}

Index missing_rows(const std::string& csv, Index step) {
  std::set<Index> rows;
  each_row(csv, [&](Index of_line, std::string_view, const std::string&) {
    if (of_line < step) rows.insert(of_line);
  });
  return step - std::ssize(rows);
}

std::vector<CurveLoss> curve_losses(const std::string& csv) {
  std::vector<CurveLoss> losses;
  each_row(csv, [&](Index step, std::string_view rest, const std::string&) {
    const auto loss = next_number<double>(rest);
    const auto accuracy = loss ? next_number<double>(rest) : std::nullopt;
    if (accuracy) losses.push_back({step, *loss, *accuracy});
  });
  return losses;
}

}  // namespace headwise
