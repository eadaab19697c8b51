#include "app/session/training_saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "core/lessons/playlist.h"
#include "core/model/heads/head_scores.h"
#include "core/scenario/run_record.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"

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

std::vector<Index> salient_steps(const std::vector<Index>& steps, const WatchedRun& run, std::size_t count) {
  if (steps.size() <= count || count < 2) return steps;
  // How much has happened until each step: the changes of the loss,
  // and a quarter as much for the time that went by.
  std::vector<double> changed{0.0};
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto before = loss_around(run, steps[i - 1]), after = loss_around(run, steps[i]);
    changed.push_back(changed.back() + (before && after ? std::abs(*after - *before) : 0.0));
  }
  const double all = changed.back(), time = static_cast<double>(steps.back() - steps.front());
  std::vector<Index> chosen;
  std::size_t next = 0;
  for (std::size_t page = 0; page < count; ++page) {
    const double share = static_cast<double>(page) / static_cast<double>(count - 1);
    const auto happened = [&](std::size_t i) {
      const double passed = static_cast<double>(steps[i] - steps.front()) / time;
      return all > 0.0 ? 0.8 * changed[i] / all + 0.2 * passed : passed;
    };
    const std::size_t last = steps.size() - (count - page);  // as many pages follow
    while (next < last && happened(next) < share - 1e-9) ++next;
    chosen.push_back(steps[next++]);
  }
  return chosen;
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

namespace {

struct HabitEntry {
  std::string_view name, short_name;
  std::optional<double> TrainedHabits::*weight;
};
// In the order of Habit.
constexpr std::array<HabitEntry, habit_count> habit_entries{
    {{"previous token", "previous", &TrainedHabits::previous_token},
     {"induction", "induction", &TrainedHabits::induction},
     {"same token", "same", &TrainedHabits::same_token},
     {"first token", "first", &TrainedHabits::first_token}}};

const HabitEntry& habit_entry(Habit habit) {
  return habit_entries[static_cast<std::size_t>(habit)];
}

}  // namespace

std::string_view habit_short_name(Habit habit) {
  return habit_entry(habit).short_name;
}

std::string_view habit_name(Habit habit) {
  return habit_entry(habit).name;
}

std::optional<double> habit_of(const TrainedHabits& habits, Habit habit) {
  return habits.*habit_entry(habit).weight;
}

bool has_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning, Habit habit) {
  return is_habit(habit_of(now, habit), habit_of(at_the_beginning, habit));
}

std::optional<Habit> strongest_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning) {
  Habit strongest = Habit::previous_token;
  double most = 0.0;
  for (int i = 0; i < habit_count; ++i) {
    const auto habit = static_cast<Habit>(i);
    const double weight = habit_of(now, habit).value_or(0.0);
    if (weight <= most || !has_habit(now, at_the_beginning, habit)) continue;
    most = weight;
    strongest = habit;
  }
  return most > 0.0 ? std::make_optional(strongest) : std::nullopt;
}

std::string trained_head_name(Index layer, Index head) {
  return fmt::format("{}.{}", layer, head);
}

namespace {

// Pixels
constexpr double margin = 24, picture_width = 1200, plot_height = 150, axis_room = 44, name_size = 13,
                 small_size = 12;

constexpr double map_gap = 8, name_room = 20, most_map_side = 140;
constexpr int milliseconds_each = 160, milliseconds_last = 3000;
constexpr Index most_per_row = 8;

struct AnimationColors {
  Rgba8 ink, dim, line, curve;
};

AnimationColors colors_of(Theme theme) {
  if (theme == Theme::dark) return {{228, 231, 235}, {150, 158, 168}, {52, 60, 70}, {255, 196, 87}};
  return {{24, 28, 33}, {90, 98, 108}, {216, 220, 225}, {176, 92, 0}};
}

void draw_curve(Picture& picture, const WatchedRun& run, Index step, double top, const AnimationColors& colors) {
  const RectF area{margin + axis_room, top, picture_width - 2 * margin - axis_room, plot_height};
  double most = 0.0;
  const auto loss_at = [&](Index of) {
    const TrainingLoss* known = run.loss_at(of);
    return known ? static_cast<double>(known->loss) : 0.0;
  };
  for (Index i = run.losses_from + 1; i <= run.reached(); ++i) most = std::max(most, loss_at(i));
  const auto at = [&](double of, double value) {
    return PointF{area.x + area.width * of / static_cast<double>(std::max<Index>(1, run.reached())),
                  area.y + area.height * (1.0 - value / std::max(most, 1e-9))};
  };
  for (const double value : {0.0, most}) {
    picture.lines.push_back({at(0, value), at(static_cast<double>(run.reached()), value), 1.0, colors.line});
    picture.texts.push_back({{area.x - 8, at(0, value).y + 4},
                             fmt::format("{:.2f}", value),
                             FontFace::mono,
                             small_size,
                             colors.dim,
                             TextAnchor::end});
  }
  picture.texts.push_back(
      {{margin, area.y + 0.5 * area.height}, "loss", FontFace::sans, small_size, colors.dim});
  const Index columns = static_cast<Index>(area.width / 2);
  const Index first = run.losses_from + 1;
  PointF before = at(static_cast<double>(first), loss_at(first));
  Index column = first * columns / std::max<Index>(1, run.reached());
  for (Index i = first + 1; i <= std::min(step, run.reached()); ++i) {
    const Index here = i * columns / std::max<Index>(1, run.reached());
    if (here == column && i < step) continue;
    column = here;
    const PointF next = at(static_cast<double>(i), loss_at(i));
    picture.lines.push_back({before, next, 2.0, colors.curve});
    before = next;
  }
  const double x = at(static_cast<double>(step), 0).x;
  picture.lines.push_back({{x, area.y}, {x, area.y + area.height}, 1.0, colors.ink});
}

std::string head_words(const WatchedRun& run, const TrainingPoint& point, Index layer, Index head) {
  const std::string words = trained_head_name(layer, head);
  if (point.habits.empty()) return words;
  const auto of_head = [&](const TrainingPoint& of) -> const TrainedHabits& {
    return of.habits[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
  };
  const auto has = strongest_habit(of_head(point), of_head(*run.past.front()));
  return has ? words + " " + std::string(habit_name(*has)) : words;
}

}  // namespace

TensorPtr hidden_from_tokens(const TrainModelConfig& model, Index side) {
  const PositionWindow seen = seen_by_token(model);
  if (!seen.bounds()) return nullptr;
  auto bias = std::make_shared<Tensor>(Shape{{"L", side}, {"S", side}}, DType::f32);
  for (Index row = 0; row < side; ++row)
    for (Index column = 0; column < side; ++column)
      if (row - column > seen.behind || column - row > seen.ahead)
        bias->set_flat(row * side + column, -std::numeric_limits<double>::infinity());
  return bias;
}

HeatmapSpec trained_map(const TensorPtr& maps, Index head, const TensorPtr& bias, Theme theme) {
  HeatmapSpec spec;
  const Index leading[] = {0, head};
  spec.values = matrix_view(maps, leading);
  if (bias) spec.mask = matrix_view(bias);
  spec.color_map = ColorMap::viridis;
  spec.range = {0.0, 1.0};
  spec.theme = theme;
  return spec;
}

Picture training_picture(const WatchedRun& run, const TrainingPoint& point, const std::string& title,
                         Theme theme) {
  const TrainModelConfig& model = run.settings.model;
  const AnimationColors colors = colors_of(theme);
  const Index per_row = std::min(model.heads, most_per_row), rows = (model.heads + per_row - 1) / per_row;
  const double side = std::floor(
      std::min(most_map_side, (picture_width - 2 * margin) / static_cast<double>(per_row) - map_gap));
  Picture picture;
  picture.ground = ground_color(theme);
  picture.width = picture_width;
  const double top = margin + 34;
  double y = top + plot_height + 40;
  picture.texts.push_back({{margin, margin + 12}, title, FontFace::bold, 16, colors.ink});
  std::string place = fmt::format("step {}", point.step);
  if (point.held_out.counted > 0)
    place += fmt::format(" · {:.1f} % of held-out answers right", 100.0 * accuracy_of(point.held_out));
  picture.texts.push_back(
      {{picture_width - margin, margin + 12}, place, FontFace::mono, 14, colors.ink, TextAnchor::end});
  draw_curve(picture, run, point.step, top, colors);
  const Index tokens = point.maps.front()->shape().size(2);
  const TensorPtr bias = hidden_from_tokens(model, tokens);
  for (Index layer = 0; layer < model.layers; ++layer)
    for (Index row = 0; row < rows; ++row) {
      for (Index head = row * per_row; head < std::min(model.heads, (row + 1) * per_row); ++head) {
        const double x = margin + static_cast<double>(head - row * per_row) * (side + map_gap);
        picture.texts.push_back(
            {{x, y - 6}, head_words(run, point, layer, head), FontFace::sans, name_size, colors.dim});
        HeatmapSpec spec = trained_map(point.maps[static_cast<std::size_t>(layer)], head, bias, theme);
        spec.digits = false;
        picture.planes.push_back({{x, y, side, side}, spec});
      }
      y += side + name_room + map_gap;
    }
  picture.height = std::ceil(y - name_room + margin - map_gap);
  return picture;
}

AnimatedPng training_animation(const WatchedRun& run, const std::string& title, Theme theme, int frames) {
  if (run.past.empty())
    throw Error(ExitStatus::usage,
                {.where = "training", .what = "nothing was trained yet, so there is nothing to show"});
  AnimatedPng animation;
  const Index count = std::min<Index>(std::ssize(run.past), std::max(frames, 1));
  for (Index i = 0; i < count; ++i) {
    check_cancelled();
    const ProgressPart part = slice_of_work(i, count);
    const auto at = count == 1 ? 0 : i * (std::ssize(run.past) - 1) / (count - 1);
    const TrainingPoint& point = *run.past[static_cast<std::size_t>(at)];
    animation.add(rasterise(training_picture(run, point, title, theme)),
                  i + 1 == count ? milliseconds_last : milliseconds_each);
  }
  return animation;
}

}  // namespace headwise
