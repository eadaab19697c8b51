// Where points, feet and labels of the Q–K plane lie.
#include "app/content/query_key_layout.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace headwise;

namespace {

QueryKeyPlane some_plane(Index keys) {
  QueryKeyPlane plane;
  plane.rank = 2;
  plane.queries = {{2.0, 1.0}, {-3.0, 0.5}};
  for (Index s = 0; s < keys; ++s) {
    const double turn = 0.7 * static_cast<double>(s);
    plane.keys.push_back({4.0 * std::cos(turn), 2.0 * std::sin(turn)});
  }
  return plane;
}

bool holds(const RectF& area, PlanePoint at) {
  return at.x >= area.x && at.y >= area.y && at.x <= area.x + area.width && at.y <= area.y + area.height;
}

}  // namespace

TEST_CASE("all points and the origin lie in the plane's rectangle, to the same scale along both axes") {
  for (const RectF& area : {RectF{10, 20, 700, 300}, RectF{0, 0, 500, 600}, RectF{0, 0, 240, 200}}) {
    const QueryKeyPlane plane = some_plane(30);
    const QueryKeyLayout layout = query_key_layout(plane, area, 1.0);
    REQUIRE(layout.fits);
    CHECK(holds(layout.plane, layout.on_screen({})));
    for (const PlanePoint& key : plane.keys) {
      CHECK(holds(layout.plane, layout.on_screen(key)));
      const PlanePoint back = layout.in_plane(layout.on_screen(key));
      CHECK(back.x == doctest::Approx(key.x));
      CHECK(back.y == doctest::Approx(key.y));
    }
    const PlanePoint far = layout.on_screen(layout.clamped({1e6, -1e6}));
    CHECK(holds(
        {layout.plane.x - 1e-6, layout.plane.y - 1e-6, layout.plane.width + 2e-6, layout.plane.height + 2e-6},
        far));
    CHECK(layout.rows.x + layout.rows.width <= area.x + area.width + 1e-9);
    CHECK(layout.rows.y + layout.rows.height <= area.y + area.height + 1e-9);
  }
  CHECK_FALSE(query_key_layout(some_plane(3), {0, 0, 100, 300}, 1.0).fits);
}

TEST_CASE("a key's foot lies on the arrow's line, at its dot product with the arrow") {
  const PlanePoint tip{3.0, -1.0}, key{0.5, 4.0}, foot = foot_on_line(tip, key);
  CHECK(foot.x * tip.y - foot.y * tip.x == doctest::Approx(0.0));
  CHECK(dot(foot, tip) == doctest::Approx(dot(key, tip)));
  const QueryKeyLayout layout = query_key_layout(some_plane(5), {0, 0, 600, 400}, 1.0);
  const auto line = line_through(layout, tip);
  REQUIRE(line);
  for (const PlanePoint& end : {line->first, line->second})
    CHECK(holds({layout.plane.x - 1, layout.plane.y - 1, layout.plane.width + 2, layout.plane.height + 2}, end));
  CHECK_FALSE(line_through(layout, {}));
}

TEST_CASE("a label leaves the plane's lines free where it has another place, and is there if it has none") {
  const std::vector<MarkLabel> mark{{100, 60, 40, 13, 4}};
  const RectF area{0, 0, 240, 120};
  const auto place = [&](const std::vector<ScreenLine>& lines) { return place_labels(mark, area, lines)[0]; };
  const auto first = place({});
  REQUIRE(first);
  CHECK(first->x > 100);  // to the right of the mark
  const ScreenLine right{{100, 60}, {160, 60}}, left{{100, 60}, {40, 61}};
  CHECK(place({right})->x < 60);
  const auto above = place({right, left});
  CHECK(above->y + 13 <= 60);
  CHECK(above->x == doctest::Approx(80));
  std::vector<ScreenLine> everywhere;
  for (double y = 0; y < 120; y += 5) everywhere.push_back({{0, y}, {240, y}});
  CHECK(place(everywhere));
}

TEST_CASE("labels overlap neither each other nor a mark, and stay inside") {
  std::vector<MarkLabel> marks;
  for (int i = 0; i < 40; ++i)
    marks.push_back({20.0 + 9.0 * (i % 20), 30.0 + 17.0 * (i / 20) + 3.0 * (i % 3), 40.0, 13.0, 4.0});
  const RectF area{0, 0, 240, 120};
  const auto places = place_labels(marks, area);
  REQUIRE(places.size() == marks.size());
  REQUIRE(places[0]);
  std::size_t placed = 0;
  const auto apart = [](const RectF& a, const RectF& b) {
    return a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) continue;
    ++placed;
    const RectF own{places[i]->x, places[i]->y, marks[i].width, marks[i].height};
    CHECK(holds(area, {own.x, own.y}));
    CHECK(holds(area, {own.x + own.width, own.y + own.height}));
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (j == i) continue;
      CHECK(apart(own, {marks[j].x - 4, marks[j].y - 4, 8, 8}));
      if (places[j]) CHECK(apart(own, {places[j]->x, places[j]->y, marks[j].width, marks[j].height}));
    }
  }
  CHECK(placed > 3);
  CHECK(placed < marks.size());
}

TEST_CASE("where not all keys have a row, those with the largest weights have one, in their order") {
  const std::vector<double> weights{0.1, 0.4, 0.0, 0.3, std::numeric_limits<double>::quiet_NaN(), 0.2};
  CHECK(keys_with_rows(weights, 6) == std::vector<Index>{0, 1, 2, 3, 4, 5});
  CHECK(keys_with_rows(weights, 3) == std::vector<Index>{1, 3, 4});
  CHECK(keys_with_rows(weights, 0).empty());
}

TEST_CASE("the heads' rows and the words beside them stay inside, and many heads share what room there is") {
  for (const Index heads : {1, 8, 64}) {
    for (const RectF& area : {RectF{0, 0, 700, 400}, RectF{5, 7, 420, 500}, RectF{0, 0, 900, 800}}) {
      const HeadRowsLayout layout = head_rows_layout(
          {.heads = heads, .keys = 15, .name_width = 120, .key_label_width = 60, .words = true}, area, 1.0);
      REQUIRE(layout.row_count > 0);
      CHECK(layout.row_count <= heads);
      CHECK(layout.cells.x >= layout.names_x + layout.name_width);
      CHECK(layout.cells.y + layout.cells.height <= area.y + area.height + 1e-9);
      CHECK(layout.cells.x + layout.cells.width <= area.x + area.width + 1e-9);
      CHECK(layout.words.width > 0);
      const bool beside = layout.words.x >= layout.cells.x + layout.cells.width;
      CHECK((beside || layout.words.y >= layout.cells.y + layout.cells.height));
    }
  }
  CHECK(head_rows_layout({.heads = 8, .keys = 15}, {0, 0, 30, 10}, 1.0).row_count == 0);
}
