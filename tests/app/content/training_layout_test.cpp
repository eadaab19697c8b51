#include "app/content/training_layout.h"

#include <doctest/doctest.h>

#include <vector>

using namespace headwise;

namespace {

bool parts_overlap(const RectF& a, const RectF& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

}  // namespace

TEST_CASE("the parts of the training view lie inside it, and none over another") {
  for (const double scale : {1.0, 1.5})
    for (const auto& [width, height] : {std::pair{1200.0, 600.0}, {1520.0, 880.0}, {900.0, 480.0}}) {
      const RectF area{10, 20, width * scale, height * scale};
      const TrainingLayout l = training_layout(area, scale, {.sentence_lines = width < 1000.0 ? 2u : 1u});
      const std::vector<RectF> parts{l.choices, l.sentence, l.plot,    l.habits,
                                     l.maps,    l.readout,  l.changes, l.timeline};
      for (std::size_t i = 0; i < parts.size(); ++i) {
        CHECK(parts[i].x >= area.x);
        CHECK(parts[i].y >= area.y);
        CHECK(parts[i].x + parts[i].width <= area.x + area.width + 1e-9);
        CHECK(parts[i].y + parts[i].height <= area.y + area.height + 1e-9);
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(parts_overlap(parts[i], parts[j]));
      }
    }
}

TEST_CASE("the lines of all heads have room beside the curve, and the maps keep theirs") {
  constexpr double beside = 152.0;  // of eight lines of small type and their legend
  for (const double scale : {1.0, 1.25, 1.5})
    for (const auto& [width, height] : {std::pair{1140.0, 560.0}, {1520.0, 880.0}, {1180.0, 540.0}})
      for (const Index layers : {1, 2})
        for (const Index runs : {1, 2})
          for (const bool maps : {true, false}) {
            CAPTURE(width);
            CAPTURE(layers);
            CAPTURE(runs);
            const RectF area{10, 20, width * scale, height * scale};
            const TrainingLayout l = training_layout(
                area, scale,
                {.layers = layers, .heads = 8, .runs = runs, .beside = beside * scale, .maps = maps});
            CHECK(habit_grid(layers, 8).columns * habit_grid(layers, 8).rows == 8 * layers);
            CHECK(l.habits.height + 1e-9 >= beside * scale);
            RectF run = training_run_area(l.maps, runs - 1, runs, scale);
            CHECK(run.x + run.width == doctest::Approx(area.x + area.width));
            run.y += 20 * scale, run.height -= 20 * scale;
            CHECK(training_maps(run, layers, 8, scale).side >= 50 * scale);
          }
}

TEST_CASE("what the maps cannot use goes to the curve") {
  const RectF area{0, 0, 1200, 600};
  const auto plot_of = [&](Index heads, bool maps) {
    return training_layout(area, 1.0, {.heads = heads, .maps = maps}).plot.height;
  };
  CHECK(plot_of(8, true) > plot_of(8, false) + 40);  // one row, as high as it is wide
  CHECK(plot_of(1, true) == plot_of(1, false));
}

TEST_CASE("the maps of all heads fit, as large as they can be") {
  const RectF area{5, 7, 1200, 240};
  for (const auto& [layers, heads] : {std::pair{1, 1}, {1, 8}, {2, 8}, {2, 16}, {4, 4}}) {
    const TrainingMaps maps = training_maps(area, layers, heads, 1.0);
    for (Index layer = 0; layer < layers; ++layer)
      for (Index head = 0; head < heads; ++head) {
        const RectF plane = maps.plane(layer, head);
        CHECK(plane.width == maps.side);
        CHECK(plane.x >= area.x);
        CHECK(plane.y - maps.name_height >= area.y);
        CHECK(plane.x + plane.width <= area.x + area.width);
        CHECK(plane.y + plane.height <= area.y + area.height);
        for (Index other = 0; other < head; ++other)
          CHECK_FALSE(parts_overlap(plane, maps.plane(layer, other)));
        if (layer > 0) CHECK_FALSE(parts_overlap(plane, maps.plane(layer - 1, head)));
      }
  }
  CHECK(training_maps(area, 1, 8, 1.0).side > 130.0);
}

TEST_CASE("the axis of steps ends at a round step behind the furthest one") {
  CHECK(last_step_shown(0) == 200);
  CHECK(last_step_shown(150) == 200);
  CHECK(last_step_shown(200) == 250);
  CHECK(last_step_shown(1000) == 1200);
  CHECK(last_step_shown(9500) == 12000);
  for (Index reached = 0; reached < 20'000; reached += 37) CHECK(last_step_shown(reached) > reached);
}

TEST_CASE("a thinned curve has the mean of each pixel column, and every value where there is room") {
  const std::vector<CurvePoint> curve{{0, 4.0}, {1, 2.0}, {2, 6.0}, {3, 1.0}};
  const std::vector<CurvePoint> all = thinned_curve(curve, 4, 400);
  REQUIRE(all.size() == 4);
  CHECK(all[2].value == 6.0);
  const std::vector<CurvePoint> halves = thinned_curve(curve, 4, 2);
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].step == 0.5);
  CHECK(halves[0].value == 3.0);
  CHECK(halves[1].value == 3.5);
  CHECK(thinned_curve(curve, 0, 10).empty());
  CHECK(thinned_curve({}, 4, 10).empty());
}

TEST_CASE("ticks are round, begin at 0 and reach the largest value") {
  CHECK(axis_ticks(3.47, 6) == std::vector<double>{0.0, 1.0, 2.0, 3.0, 4.0});
  CHECK(axis_ticks(1.0, 6).back() == doctest::Approx(1.0));
  CHECK(axis_ticks(0.0, 6) == std::vector<double>{0.0, 1.0});
  for (const double most : {0.003, 0.7, 1.0, 4.2, 99.0, 250.0, 12000.0}) {
    const std::vector<double> ticks = axis_ticks(most, 6);
    CHECK(ticks.size() <= 7);
    CHECK(ticks.size() >= 3);
    CHECK(ticks.back() >= most * 0.999);
  }
}
