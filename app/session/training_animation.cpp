#include "app/session/training_animation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, habit_count> habit_names{"previous token", "induction", "same token",
                                                                "first token"};

constexpr std::array<std::string_view, habit_count> habit_short_names{"previous", "induction", "same",
                                                                      "first"};

}  // namespace

std::string_view habit_short_name(Habit habit) {
  return habit_short_names[static_cast<std::size_t>(habit)];
}

std::string_view habit_name(Habit habit) {
  return habit_names[static_cast<std::size_t>(habit)];
}

std::optional<double> habit_of(const TrainedHabits& habits, Habit habit) {
  switch (habit) {
    case Habit::previous_token:
      return habits.previous_token;
    case Habit::induction:
      return habits.induction;
    case Habit::same_token:
      return habits.same_token;
    case Habit::first_token:
      return habits.first_token;
  }
  return std::nullopt;
}

bool has_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning, Habit habit) {
  const double weight = habit_of(now, habit).value_or(0.0);
  return weight >= habit_from && weight >= habit_of(at_the_beginning, habit).value_or(0.0) + habit_grown_by;
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

TensorPtr blocked_above_diagonal(Index side) {
  auto bias = std::make_shared<Tensor>(Shape{{"L", side}, {"S", side}}, DType::f32);
  for (Index row = 0; row < side; ++row)
    for (Index column = row + 1; column < side; ++column)
      bias->set_flat(row * side + column, -std::numeric_limits<double>::infinity());
  return bias;
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
  const TensorPtr bias = model.causal ? blocked_above_diagonal(tokens) : nullptr;
  for (Index layer = 0; layer < model.layers; ++layer)
    for (Index row = 0; row < rows; ++row) {
      for (Index head = row * per_row; head < std::min(model.heads, (row + 1) * per_row); ++head) {
        const double x = margin + static_cast<double>(head - row * per_row) * (side + map_gap);
        picture.texts.push_back(
            {{x, y - 6}, head_words(run, point, layer, head), FontFace::sans, name_size, colors.dim});
        HeatmapSpec spec;
        const Index leading[] = {0, head};
        spec.values = matrix_view(point.maps[static_cast<std::size_t>(layer)], leading);
        if (bias) spec.mask = matrix_view(bias);
        spec.color_map = ColorMap::viridis;
        spec.range = {0.0, 1.0};
        spec.theme = theme;
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
