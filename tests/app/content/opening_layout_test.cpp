#include "app/content/opening_layout.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace headwise;

namespace {

OpeningShape shape_of(std::vector<double> widths) {
  return {
      .word_widths = std::move(widths), .space = 10, .word_height = 40, .weight_height = 30, .text_height = 200};
}

}  // namespace

TEST_CASE("a sentence that fits stands centred in one line, with the arcs above it and the text below") {
  const RectF area{40, 60, 1200, 600};
  const OpeningLayout layout = opening_layout(shape_of({50, 100, 60}), area);
  REQUIRE(layout.words.size() == 3);
  CHECK(layout.lines == 1);
  CHECK(layout.words[0].x - area.x == doctest::Approx(area.x + area.width - (layout.words[2].x + 60)));
  CHECK(layout.words[1].x == layout.words[0].x + 60);
  CHECK(layout.highest_arc == doctest::Approx(0.42 * 600));
  CHECK(layout.words[0].y - layout.highest_arc >= area.y);
  CHECK(layout.text.y == layout.words[0].y + 70);
  CHECK(layout.text.y + layout.text.height <= area.y + area.height);
}

TEST_CASE("a sentence that is too wide is broken into lines that fit, and keeps the order of its words") {
  const RectF area{0, 0, 200, 600};
  const OpeningLayout layout = opening_layout(shape_of({90, 90, 90, 90, 90}), area);
  CHECK(layout.lines == 3);
  for (std::size_t i = 0; i < layout.words.size(); ++i) {
    CHECK(layout.words[i].x >= area.x);
    CHECK(layout.words[i].x + layout.words[i].width <= area.x + area.width);
    if (i > 0)
      CHECK((layout.words[i].y > layout.words[i - 1].y ||
             layout.words[i].x >= layout.words[i - 1].x + layout.words[i - 1].width + 10));
  }
}

TEST_CASE("where there is no height left for arcs there are none, and nothing starts above the area") {
  const RectF area{0, 30, 800, 240};
  const OpeningLayout layout = opening_layout(shape_of({50, 50}), area);
  CHECK(layout.highest_arc == 0.0);
  CHECK(layout.words[0].y == area.y);
  CHECK(opening_layout(shape_of({}), area).words.empty());
}

TEST_CASE("arcs begin and end over their words, leave them vertically, and rise with the distance") {
  const OpeningLayout layout = opening_layout(shape_of({50, 50, 50, 50}), {0, 0, 800, 700});
  double before = 0.0;
  for (const std::size_t to : {1u, 2u, 3u}) {
    const Arc arc = opening_arc(layout, 0, to, 6.0);
    CHECK(arc[0].x == layout.words[0].x + 25);
    CHECK(arc[3].x == layout.words[to].x + 25);
    CHECK(arc[0].y == layout.words[0].y - 6);
    CHECK(arc[1].x == arc[0].x);
    CHECK(arc[2].x == arc[3].x);
    const auto points = arc_points(arc, 1.0);
    double top = arc[0].y;
    for (const PointF& point : points) top = std::min(top, point.y);
    const double rise = arc[0].y - top;
    CHECK(rise > before);
    CHECK(rise <= layout.highest_arc - 6.0 + 1e-9);
    before = rise;
  }
  CHECK(before == doctest::Approx(layout.highest_arc - 6.0).epsilon(0.01));
}

TEST_CASE("an arc grows from its first word, and swings between two ends") {
  const OpeningLayout layout = opening_layout(shape_of({50, 50, 50}), {0, 0, 800, 700});
  const Arc near = opening_arc(layout, 0, 1, 6.0), far = opening_arc(layout, 0, 2, 6.0);
  CHECK(arc_points(far, 1.0).front().x == far[0].x);
  CHECK(arc_points(far, 1.0).back().x == doctest::Approx(far[3].x));
  CHECK(arc_points(far, 0.5).back().x == doctest::Approx(0.5 * (far[0].x + far[3].x)));
  CHECK(arc_between(near, far, 0.0)[3].x == near[3].x);
  CHECK(arc_between(near, far, 1.0)[3].x == far[3].x);
  CHECK(arc_between(near, far, 0.5)[3].x == doctest::Approx(0.5 * (near[3].x + far[3].x)));
}
