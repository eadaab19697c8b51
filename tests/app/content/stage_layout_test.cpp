#include "app/content/stage_layout.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace headwise;

namespace {

double right(const RectF& r) {
  return r.x + r.width;
}
double bottom(const RectF& r) {
  return r.y + r.height;
}

bool inside(const RectF& r, const RectF& area) {
  return r.x >= area.x - 0.01 && r.y >= area.y - 0.01 && right(r) <= right(area) + 0.01 &&
         bottom(r) <= bottom(area) + 0.01;
}

bool overlap(const RectF& a, const RectF& b) {
  return a.x < right(b) - 0.01 && b.x < right(a) - 0.01 && a.y < bottom(b) - 0.01 && b.y < bottom(a) - 0.01;
}

struct Case {
  std::string name;
  StageShape shape;
};

// What the ten steps ask for, from tiny to large.
std::vector<Case> cases(double scale) {
  std::vector<Case> all;
  const double word = 62 * scale;
  for (const Index length : {1, 2, 12, 64, 512}) {
    for (const Index heads : {1, 8, 32, 96}) {
      const Index width = 128, head_dim = 16;
      const auto name = [&](const char* step) { return fmt::format("{} L={} H={}", step, length, heads); };
      StageShape scores{.rows = length, .cols = length, .left_cols = head_dim, .above_rows = head_dim};
      scores.heads = heads;
      scores.row_label_width = scores.col_label_width = word;
      scores.bar_captions = {90 * scale, 90 * scale};
      all.push_back({name("scores"), scores});
      StageShape sum{.rows = length, .cols = head_dim, .left_cols = length, .above_rows = length};
      sum.heads = heads;
      sum.row_label_width = sum.left_col_label_width = sum.above_label_width = word;
      sum.bar_captions = {90 * scale, 90 * scale, 90 * scale};
      all.push_back({name("weighted sum"), sum});
      StageShape softmax{.rows = length, .cols = length, .left_cols = length};
      softmax.cell_for_cell = true;
      softmax.row_figures = 2;
      softmax.heads = heads;
      softmax.row_label_width = softmax.col_label_width = softmax.left_col_label_width = word;
      softmax.bar_captions = {90 * scale, 90 * scale};
      all.push_back({name("softmax"), softmax});
      StageShape turned = softmax;
      turned.row_figures = 0;
      turned.col_figures = 2;
      all.push_back({name("softmax, queries as columns"), turned});
      StageShape mask = softmax;
      mask.row_figures = 0;
      mask.above_rows = length;
      all.push_back({name("mask"), mask});
      StageShape project{.rows = length, .cols = width, .left_cols = width, .above_rows = width};
      project.bias_row = true;
      project.row_label_width = word;
      project.bar_captions = {90 * scale, 90 * scale, 90 * scale};
      all.push_back({name("project"), project});
      StageShape inputs{.rows = length, .cols = width};
      inputs.row_label_width = word;
      inputs.bar_captions = {90 * scale};
      all.push_back({name("inputs"), inputs});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the stage keeps rows beside rows and columns under columns, inside it and without overlaps") {
  for (const double scale : {1.0, 1.5}) {
    for (const RectF area : {RectF{280, 120, 690 * scale, 430 * scale},
                             RectF{10, 20, 900 * scale, 690 * scale}, RectF{0, 0, 1500 * scale, 900 * scale}}) {
      for (const Case& c : cases(scale)) {
        CAPTURE(c.name);
        CAPTURE(scale);
        CAPTURE(area.width);
        const StageLayout layout = stage_layout(c.shape, area, scale);
        std::vector<RectF> parts{layout.result};
        REQUIRE(layout.left.has_value() == c.shape.left_cols.has_value());
        REQUIRE(layout.above.has_value() == c.shape.above_rows.has_value());
        if (layout.left) {
          CHECK(layout.left->y == layout.result.y);
          CHECK(layout.left->height == layout.result.height);
          parts.push_back(*layout.left);
        }
        if (layout.above) {
          CHECK(layout.above->x == layout.result.x);
          CHECK(layout.above->width == layout.result.width);
          parts.push_back(*layout.above);
        }
        if (layout.bias) {
          CHECK(layout.bias->x == layout.result.x);
          CHECK(layout.bias->width == layout.result.width);
          parts.push_back(*layout.bias);
        }
        for (const RectF& r : layout.row_figures) {
          CHECK(r.y == layout.result.y);
          CHECK(r.height == layout.result.height);
          parts.push_back(r);
        }
        CHECK(static_cast<int>(layout.col_figures.size()) == c.shape.col_figures);
        for (const RectF& r : layout.col_figures) {
          CHECK(r.x == layout.result.x);
          CHECK(r.width == layout.result.width);
          parts.push_back(r);
        }
        for (const RectF& r : layout.bars) parts.push_back(r);
        if (layout.heads) {
          for (Index h = 0; h < c.shape.heads; ++h) {
            parts.push_back(layout.heads->thumbnail(h));
            parts.push_back(layout.heads->number_line(h));
            if (layout.heads->name_form) parts.push_back(layout.heads->name_line(h));
          }
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
          CAPTURE(i);
          const bool good = parts[i].width > 0 && parts[i].height > 0 && inside(parts[i], area);
          CHECK(good);
          for (std::size_t j = 0; j < i; ++j) {
            if (overlap(parts[i], parts[j])) FAIL_CHECK("parts overlap: " << i << " and " << j);
          }
        }
      }
    }
  }
}

TEST_CASE("row labels fit left of the leftmost matrix, and those of the operand above beside it") {
  const RectF area{280, 120, 690, 430};
  StageShape shape{.rows = 12, .cols = 16, .left_cols = 12, .above_rows = 12};
  shape.row_label_width = shape.above_label_width = 70;
  const StageLayout layout = stage_layout(shape, area, 1.0);
  CHECK(layout.left->x - area.x >= 70);
  CHECK(layout.above->x - right(*layout.left) >= 70);
}

TEST_CASE("cells of one size where a map is made cell for cell") {
  StageShape shape{.rows = 12, .cols = 12, .left_cols = 12, .above_rows = 12};
  shape.cell_for_cell = true;
  const StageLayout layout = stage_layout(shape, {0, 0, 900, 700}, 1.0);
  CHECK(layout.left->width == layout.result.width);
  CHECK(layout.above->height == layout.result.height);
}

TEST_CASE("column labels are slanted only where they would collide") {
  StageShape shape{.rows = 4, .cols = 4};
  shape.col_label_width = 40;
  CHECK_FALSE(stage_layout(shape, {0, 0, 900, 700}, 1.0).slanted);
  shape.cols = 64;
  CHECK(stage_layout(shape, {0, 0, 900, 700}, 1.0).slanted);
}

TEST_CASE("ninety-six heads stay readable at 1280 by 720") {
  StageShape shape{.rows = 12, .cols = 12, .left_cols = 16, .above_rows = 16};
  shape.heads = 96;
  shape.row_label_width = shape.col_label_width = 62;
  const StageLayout layout = stage_layout(shape, {280, 120, 690, 430}, 1.0);
  REQUIRE(layout.heads);
  CHECK(layout.heads->side >= 20);
  CHECK(layout.result.width / 12 >= 20);
  CHECK(layout.result.height / 12 >= 7);
}

TEST_CASE("the frame of a head lies over no words and no thumbnail beside, above or below it") {
  constexpr double frame = 2.75, lowest_letter = 1.15;  // around the map; of the type's size
  for (const std::vector<double>& names : {std::vector<double>{}, {100.0, 70.0}})
    for (const double height : {160.0, 220.0}) {
      const HeadGrid grid = head_grid(8, {0, 0, 300, height}, 1.0, 64, names);
      REQUIRE(grid.columns < 8);
      const RectF below = grid.thumbnail(grid.columns), beside = grid.thumbnail(1), first = grid.thumbnail(0);
      const RectF words = grid.name_form ? grid.name_line(0) : grid.number_line(0);
      CHECK(words.y + lowest_letter * 12.0 <= below.y - frame);
      CHECK(first.x + first.width + frame <= beside.x - frame);
    }
}

TEST_CASE("a hall sees a small map twice as large, and its labels above the colour bars") {
  StageShape shape{.rows = 3, .cols = 3};
  shape.bar_captions = {90};
  const RectF area{0, 0, 1300, 800};
  const StageLayout window = stage_layout(shape, area, 1.0);
  shape.presentation = true;
  const StageLayout presentation = stage_layout(shape, area, 1.0);
  CHECK(presentation.result.width == 2 * window.result.width);
  CHECK(presentation.result.height == 2 * window.result.height);
  const auto below = [](const StageLayout& layout) {
    return layout.bars[0].y - layout.result.y - layout.result.height;
  };
  CHECK(below(presentation) >= below(window) + 4);
}

TEST_CASE("colour bars side by side end where their line ends, however little room they have") {
  for (const double width : {240.0, 420.0, 900.0}) {
    StageShape shape{.rows = 6, .cols = 6};
    shape.bar_captions = {90, 120, 150, 80};
    const StageLayout layout = stage_layout(shape, {10, 0, width, 500}, 1.0);
    REQUIRE(layout.bars.size() == 4);
    CHECK(layout.bars[3].x + layout.bars[3].width <= 10 + width + 1e-9);
  }
}

TEST_CASE("eight heads sit in the corner that the product leaves free") {
  StageShape shape{.rows = 12, .cols = 12, .left_cols = 16, .above_rows = 16};
  shape.heads = 8;
  shape.row_label_width = shape.col_label_width = 62;
  const StageLayout layout = stage_layout(shape, {280, 120, 900, 690}, 1.0);
  REQUIRE(layout.heads);
  CHECK(layout.heads->side >= 40);
  CHECK(bottom(layout.heads->number_line(7)) <= layout.result.y);
  CHECK(layout.above->y < layout.heads->thumbnail(0).y + 30);
}

TEST_CASE("the grid of all heads shows every map inside its rectangle, none over another") {
  for (const Index count : {1, 2, 8, 12, 32, 96}) {
    for (const Index cols : {12, 16, 512}) {
      CAPTURE(count);
      CAPTURE(cols);
      StageShape shape{.rows = 12, .cols = cols};
      shape.row_label_width = shape.col_label_width = 62;
      shape.bar_captions = {90};
      const RectF area{280, 120, 690, 430};
      const MapGrid grid = map_grid(count, shape, area, 1.0);
      for (Index i = 0; i < count; ++i) {
        CHECK(grid.map(i).width > 0);
        CHECK(inside(grid.map(i), area));
        for (Index j = 0; j < i; ++j) {
          if (overlap(grid.map(i), grid.map(j))) FAIL_CHECK("maps overlap: " << i << " and " << j);
        }
      }
      for (const RectF& bar : grid.bars) CHECK(inside(bar, area));
    }
  }
}

TEST_CASE("of all grids the one is taken whose cells are largest and nearest to squares, with its labels") {
  StageShape shape{.rows = 12, .cols = 12};
  shape.row_label_width = shape.col_label_width = 62;
  shape.bar_captions = {90};
  shape.note_lines = 3;
  const MapGrid wide = map_grid(8, shape, {0, 0, 1236, 470}, 1.0);
  CHECK(wide.columns == 4);
  CHECK(wide.map_width <= 2.0 * wide.map_height);
  CHECK(wide.map_height <= 1.5 * wide.map_width);
  // A slide of 1920 × 1080 in its units.
  const MapGrid slide = map_grid(8, shape, {0, 0, 1360, 640}, 1.0);
  CHECK(slide.columns == 4);
  CHECK(slide.row_labels);
  CHECK(slide.col_labels);
}

TEST_CASE("maps in a grid have names at their edges where some of them have room, and the maps keep theirs") {
  StageShape shape{.rows = 21, .cols = 21};
  shape.row_label_width = shape.col_label_width = 54;
  shape.bar_captions = {90};
  shape.note_lines = 3;
  // Twelve heads of 21 tokens in a window of 1600 × 1000, and of 1280 × 720 in larger type.
  const MapGrid roomy = map_grid(12, shape, {0, 0, 884, 650}, 1.0);
  CHECK(roomy.row_labels);
  CHECK(roomy.col_labels);
  CHECK(roomy.map_height >= 4.0 * 21);
  CHECK(roomy.map_width >= 4.5 * 21);
  shape.note_lines = 0;
  const MapGrid low = map_grid(12, shape, {0, 0, 514, 310}, 1.0);
  CHECK_FALSE(low.row_labels);
  CHECK_FALSE(low.col_labels);
  CHECK(low.area.x == 0.0);
}

TEST_CASE("names of heads move thumbnails apart, in the longest wording that fits, and cost little size") {
  const RectF area{10, 20, 900, 105};
  const HeadGrid plain = head_grid(8, area, 1.0, 64);
  CHECK_FALSE(plain.name_form);
  const HeadGrid full = head_grid(8, area, 1.0, 64, {100, 70});
  CHECK(full.name_form == std::size_t{0});
  CHECK(full.pitch_x >= 100);
  CHECK(full.side >= 0.8 * plain.side);
  CHECK(full.name_line(0).y == full.number_line(0).y + full.number_line(0).height);
  CHECK(full.name_line(7).x + 100 <= area.x + area.width);
  CHECK(head_grid(8, area, 1.0, 64, {150, 70}).name_form == std::size_t{1});
  CHECK_FALSE(head_grid(8, area, 1.0, 64, {150, 140}).name_form);
  // 32 heads have no room for names, and lose nothing.
  const HeadGrid many = head_grid(32, area, 1.0, 64, {100, 70});
  CHECK_FALSE(many.name_form);
  CHECK(many.side == head_grid(32, area, 1.0, 64).side);
}
