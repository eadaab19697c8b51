#include "app/session/training_saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "app/session/training_animation.h"
#include "core/model/heads/head_scores.h"
#include "core/playlist/playlist.h"
#include "core/scenario/run_record.h"

namespace headwise {
namespace {

constexpr std::array<TrainingFormEntry, training_form_count> training_forms{
    {{"a folder of checkpoints", ""},
     {"an animated picture (.png)", ".png"},
     {"a PyTorch program (.py)", ".py"},
     {"pages of a lesson (.json)", ".json"}}};

// The mean of the losses around a step; none where they are not known.
std::optional<double> loss_around(const WatchedRun& run, Index step) {
  double sum = 0.0;
  int known = 0;
  for (Index at = step - 2; at <= step + 2; ++at)
    if (const TrainingLoss* loss = run.loss_of(at); loss && std::isfinite(loss->loss)) {
      sum += loss->loss;
      ++known;
    }
  if (known == 0) return std::nullopt;
  return sum / known;
}

struct HabitOfHead {
  Index layer = 0, head = 0;
  Habit habit{};
  double weight = 0.0;
};

// The head of a layer with the strongest habit, or of any layer; none if no head has one.
std::optional<HabitOfHead> strongest_head(const WatchedRun& run, const TrainingPoint& point,
                                          std::optional<Index> of_layer) {
  std::optional<HabitOfHead> strongest;
  if (run.past.empty()) return strongest;
  const auto& begin = run.past.front()->habits;
  for (std::size_t layer = 0; layer < std::min(begin.size(), point.habits.size()); ++layer) {
    if (of_layer && static_cast<std::size_t>(*of_layer) != layer) continue;
    for (std::size_t head = 0; head < point.habits[layer].size(); ++head) {
      const auto habit = strongest_habit(point.habits[layer][head], begin[layer][head]);
      if (!habit) continue;
      const double weight = habit_of(point.habits[layer][head], *habit).value_or(0.0);
      if (!strongest || weight > strongest->weight)
        strongest = {static_cast<Index>(layer), static_cast<Index>(head), *habit, weight};
    }
  }
  return strongest;
}

// As a live text names it: a score of core/model/heads/head_scores.h.
std::string_view score_of_habit(Habit habit) {
  constexpr std::array<HeadScore, habit_count> scores{HeadScore::previous_token, HeadScore::induction,
                                                      HeadScore::same_word, HeadScore::first_token};
  return head_score_words(scores[static_cast<std::size_t>(habit)]).id;
}

// With live numbers, which stay right when the page is edited, if the model reads the page's text.
std::string page_caption(const WatchedRun& run, Index step, Index layer, const std::string& task,
                         bool reads_text) {
  if (!reads_text) return fmt::format("The model after {} steps of training on the task {}.", step, task);
  std::string caption = fmt::format(
      "The model after {{trained step}} steps of training on the task {}. On held-out examples its loss is "
      "{{trained loss}}, and {{= 100 * trained accuracy}} % of its answers are right.",
      task);
  const TrainingPointPtr point = run.measured_at(step);
  if (!point || point->habits.empty()) return caption;
  if (const auto habit = strongest_head(run, *point, layer))
    return caption +
           fmt::format(
               " Of layer {}, head {} has the strongest habit, {}: {{habit {} {}}} of its weight here.",
               layer, habit->head, habit_name(habit->habit), score_of_habit(habit->habit), habit->head);
  return caption + fmt::format(" No head of layer {} has a habit that is measured.", layer);
}

}  // namespace

const TrainingFormEntry& training_form_entry(TrainingForm form) {
  return training_forms[static_cast<std::size_t>(form)];
}

std::vector<Index> spread_steps(const std::vector<Index>& steps, std::size_t count) {
  if (steps.size() <= count || count < 2) return steps;
  std::vector<Index> spread;
  for (std::size_t i = 0; i < count; ++i) spread.push_back(steps[i * (steps.size() - 1) / (count - 1)]);
  return spread;
}

std::vector<Index> telling_steps(const std::vector<Index>& steps, const WatchedRun& run, std::size_t count) {
  if (steps.size() <= count || count < 2) return steps;
  // How much has happened until each step: the changes of the loss,
  // and a quarter as much for the time that went by.
  std::vector<double> changed{0.0};
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto before = loss_around(run, steps[i - 1]), after = loss_around(run, steps[i]);
    changed.push_back(changed.back() + (before && after ? std::abs(*after - *before) : 0.0));
  }
  const double all = changed.back(), time = static_cast<double>(steps.back() - steps.front());
  std::vector<Index> telling;
  std::size_t next = 0;
  for (std::size_t page = 0; page < count; ++page) {
    const double share = static_cast<double>(page) / static_cast<double>(count - 1);
    const auto happened = [&](std::size_t i) {
      const double passed = static_cast<double>(steps[i] - steps.front()) / time;
      return all > 0.0 ? 0.8 * changed[i] / all + 0.2 * passed : passed;
    };
    const std::size_t last = steps.size() - (count - page);  // as many pages follow
    while (next < last && happened(next) < share - 1e-9) ++next;
    telling.push_back(steps[next++]);
  }
  return telling;
}

void write_training_pages(const std::string& path, const std::vector<std::string>& checkpoints,
                          const WatchedRun& run, const std::string& named) {
  // Braces of a file's name would be live numbers.
  std::string task = named;
  std::ranges::replace(task, '{', '(');
  std::ranges::replace(task, '}', ')');
  Playlist playlist;
  playlist.title = "Training: " + task;
  const TrainingPointPtr end = run.measured_at(run.reached());
  const auto strongest = end ? strongest_head(run, *end, std::nullopt) : std::nullopt;
  const Index layer = strongest ? strongest->layer : run.settings.model.layers - 1;
  for (const std::string& checkpoint : checkpoints) {
    const Index step = read_saved_run(checkpoint).step;
    auto scenario = std::make_shared<Scenario>(scenario_of_file(checkpoint));
    scenario->parameters.layer = layer;
    PlaylistPage page;
    page.step = Step::softmax;
    page.view = StageView::all_heads;
    page.title = fmt::format("Step {}", step);
    page.caption = page_caption(run, step, layer, task, scenario->inputs.source == InputSource::text);
    page.scenario = std::move(scenario);
    playlist.pages.push_back(std::move(page));
  }
  write_playlist_file(playlist, path);
}

}  // namespace headwise
