#include "core/export/plane_rule.h"

#include <cmath>
#include <limits>

#include "core/export/picture.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

HeatmapSpec heatmap(Index rows, Index cols, std::vector<double> values) {
  HeatmapSpec spec;
  spec.values = matrix_view(std::make_shared<Tensor>(Shape{{"L", rows}, {"S", cols}}, std::move(values)));
  spec.range = {-1.0, 1.0};
  return spec;
}

Rgba8 plane_pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                           static_cast<std::size_t>(x))];
  return {p[0], p[1], p[2], p[3]};
}

int count(const Image& image, Rgba8 color) {
  int found = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) found += plane_pixel(image, x, y) == color;
  return found;
}

const ColorTable& table() {
  return color_table(ColorMap::blue_orange, Theme::light);
}

}  // namespace

TEST_CASE("a pixel lies in the cell that its centre lies in, at any ratio of pixels to cells") {
  for (const int pixels : {1, 7, 12, 100, 333}) {
    for (const Index cells : {Index{1}, Index{5}, Index{7}, Index{12}}) {
      if (pixels < cells) continue;
      CHECK(cell_begin(0, cells, pixels) == 0);
      CHECK(cell_begin(cells, cells, pixels) == pixels);
      for (int x = 0; x < pixels; ++x) {
        const Index cell = (2 * x + 1) * cells / (2 * pixels);
        CHECK(cell_begin(cell, cells, pixels) <= x);
        CHECK(x < cell_begin(cell + 1, cells, pixels));
      }
    }
  }
}

TEST_CASE("gap, hatch and marks grow with the shorter side of a cell") {
  const auto of_side = [](int side) { return plane_rule(3, 2, 4 * side, 3 * side + 2); };
  CHECK(of_side(1) == PlaneRule{1, 0, 6, 6, 1, 0});
  CHECK(of_side(5) == PlaneRule{5, 0, 6, 6, 1, 1});
  CHECK(of_side(9) == PlaneRule{9, 0, 6, 12, 1, 1});
  CHECK(of_side(10) == PlaneRule{10, 1, 6, 12, 1, 1, 1});
  CHECK(of_side(28) == PlaneRule{28, 1, 7, 14, 1, 3, 1});
  CHECK(of_side(48) == PlaneRule{48, 2, 12, 24, 2, 6, 2});
  CHECK(of_side(100) == PlaneRule{100, 3, 16, 32, 2, 12, 4});
  CHECK(plane_rule(20, 1, 30, 10).side == 0);
}

TEST_CASE("cells are flat squares of their value's colour, one pixel a cell and many") {
  const HeatmapSpec spec = heatmap(2, 3, {-1, -0.5, 0, 0.25, 0.5, 1});
  for (const int cell_pixels : {1, 2, 9}) {
    const Image image = rasterise_plane(spec, cell_pixels);
    REQUIRE(image.width == 3 * cell_pixels);
    REQUIRE(image.height == 2 * cell_pixels);
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const double value = spec.values.value(y / cell_pixels, x / cell_pixels);
        REQUIRE(plane_pixel(image, x, y) == color_at(value, spec.range, table()));
      }
    }
  }
}

TEST_CASE("large cells stand apart by a gap that is clear, and the plane's edges have none") {
  const HeatmapSpec spec = heatmap(2, 2, {1, 1, 1, 1});
  for (const int cell_pixels : {10, 28, 60}) {
    const int gap = plane_rule(2, 2, 2 * cell_pixels, 2 * cell_pixels).gap;
    REQUIRE(gap == (cell_pixels == 60 ? 2 : 1));
    const Image image = rasterise_plane(spec, cell_pixels);
    CHECK(count(image, {0, 0, 0, 0}) == 2 * gap * 2 * cell_pixels - gap * gap);
    CHECK(plane_pixel(image, cell_pixels, 0).a == 0);
    CHECK(plane_pixel(image, cell_pixels - 1, 0).a == 255);
    CHECK(plane_pixel(image, 2 * cell_pixels - 1, 2 * cell_pixels - 1).a == 255);
  }
}

TEST_CASE(
    "small blocked cells are hatched on their own ground, one with a value left on its value's colour") {
  HeatmapSpec spec = heatmap(1, 2, {0.0, 0.5});
  spec.mask = heatmap(1, 2, {-unbounded, -unbounded}).values;
  const Image image = rasterise_plane(spec, 9);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 18; ++x) {
      const int across = (x + y) % 12;
      if (x < 9) {
        REQUIRE(plane_pixel(image, x, y) ==
                (across % 6 == 0 ? hatch_color(Theme::light) : blocked_color(Theme::light)));
      } else {
        // White and black side by side: one of them stands out, whatever the value's colour. Half as many
        // lines, so that the value's colour and its number are what is seen first.
        const Rgba8 ground = color_at(0.5, spec.range, table());
        REQUIRE(plane_pixel(image, x, y) == (across == 0   ? Rgba8{255, 255, 255}
                                             : across == 1 ? Rgba8{0, 0, 0}
                                                           : ground));
      }
    }
  }
}

TEST_CASE("a blocked cell with room has a square cross in its middle and no hatch") {
  HeatmapSpec spec = heatmap(2, 2, {0, 0, 0, 0});
  spec.mask = heatmap(2, 2, {-unbounded, -unbounded, -unbounded, -unbounded}).values;
  const Rgba8 ground = blocked_color(Theme::light), ink = ink_on(ground);
  for (const auto& [width, height] : {std::pair{20, 20}, {60, 28}, {41, 63}, {200, 200}}) {
    CAPTURE(width);
    const Image image = rasterise_plane(spec, width, height);
    CHECK(count(image, ink) > 0);
    CHECK(count(image, ink) + count(image, ground) == width * height);
    // Around the middle of the first cell, it reaches a fifth of the shorter side each way and no further.
    const int cw = cell_begin(1, 2, width), ch = cell_begin(1, 2, height), reach = std::min(cw, ch) / 5;
    int left = cw, right = 0, top = ch, bottom = 0;
    for (int y = 0; y < ch; ++y) {
      for (int x = 0; x < cw; ++x) {
        if (plane_pixel(image, x, y) != ink) continue;
        left = std::min(left, x);
        right = std::max(right, x);
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
    }
    CHECK(right - left >= 2 * reach - 2);
    CHECK(right - left <= 2 * reach + 1);
    CHECK(std::abs((right - left) - (bottom - top)) <= 1);
    CHECK(left + right == cw - 1);
    CHECK(top + bottom == ch - 1);
    CHECK(plane_pixel(image, (left + right) / 2, (top + bottom) / 2) == ink);
    CHECK(plane_pixel(image, left, (top + bottom) / 2) == ground);
  }
}

TEST_CASE("the cross of a blocked cell is equally thick in cells of odd and even sides") {
  HeatmapSpec spec = heatmap(1, 1, {0});
  spec.mask = heatmap(1, 1, {-unbounded}).values;
  const Rgba8 ink = ink_on(blocked_color(Theme::light));
  for (const int width : {16, 17, 40, 41}) {
    for (const int height : {16, 17, 40, 41}) {
      CAPTURE(width);
      CAPTURE(height);
      const Image image = rasterise_plane(spec, width, height);
      // In each row, but for those in which the strokes meet.
      const int thick = plane_rule(1, 1, width, height).cross, above = height / 2 - thick - 1;
      for (const int y : {above, height - 1 - above}) {
        int across = 0;
        for (int x = 0; x < width; ++x) across += plane_pixel(image, x, y) == ink ? 1 : 0;
        CHECK(across == 2 * thick);
      }
    }
  }
}

TEST_CASE("a blocked area is one area without gaps, and gapped off from cells with a value") {
  HeatmapSpec spec = heatmap(1, 4, {1, 0, 0, 1});
  spec.mask = heatmap(1, 4, {0, -unbounded, -unbounded, 0}).values;
  const Image image = rasterise_plane(spec, 20);
  for (int x = 20; x < 60; ++x) CHECK(plane_pixel(image, x, 10).a == 255);
  CHECK(plane_pixel(image, 60, 10).a == 0);
}

TEST_CASE("NaN is a cross on its own colour, infinity a plus or a minus on the end of the table") {
  const Image image = rasterise_plane(heatmap(1, 3, {std::nan(""), -unbounded, unbounded}), 9);
  const Rgba8 ground = nan_color(Theme::light), ink = ink_on(ground);
  const Rgba8 low = table().front(), high = table().back();
  CHECK(plane_pixel(image, 4, 4) == ink);
  CHECK(plane_pixel(image, 2, 2) == ink);
  CHECK(plane_pixel(image, 6, 2) == ink);
  CHECK(plane_pixel(image, 4, 2) == ground);
  CHECK(plane_pixel(image, 0, 0) == ground);
  CHECK(plane_pixel(image, 9 + 2, 4) == ink_on(low));  // minus: a stroke across
  CHECK(plane_pixel(image, 9 + 4, 2) == low);          //        none down
  CHECK(plane_pixel(image, 18 + 2, 4) == ink_on(high));
  CHECK(plane_pixel(image, 18 + 4, 2) == ink_on(high));
  CHECK(plane_pixel(image, 18 + 2, 2) == high);
}

TEST_CASE("cells too small for a mark keep the colour that tells them") {
  const Image image = rasterise_plane(heatmap(1, 2, {std::nan(""), 0.0}), 1);
  CHECK(plane_pixel(image, 0, 0) == nan_color(Theme::light));
}

TEST_CASE("below a pixel a cell, the most telling of the cells shows: no spike and no NaN disappears") {
  std::vector<double> values(100 * 100, 0.01);
  values[57 * 100 + 33] = -0.9;
  values[3 * 100 + 98] = std::nan("");
  const Image image = rasterise_plane(heatmap(100, 100, values), 7, 9);
  CHECK(count(image, color_at(-0.9, {-1.0, 1.0}, table())) >= 1);
  CHECK(count(image, nan_color(Theme::light)) >= 1);
  CHECK(plane_pixel(image, 33 * 7 / 100, 57 * 9 / 100) == color_at(-0.9, {-1.0, 1.0}, table()));
}

TEST_CASE("a blocked cell does not hide an open one that shares its pixel") {
  HeatmapSpec spec = heatmap(1, 3, {0.0, 0.5, 0.0});
  spec.mask = heatmap(1, 3, {-unbounded, 0.0, -unbounded}).values;
  CHECK(plane_pixel(rasterise_plane(spec, 1, 1), 0, 0) == color_at(0.5, spec.range, table()));
}

TEST_CASE("a matrix with no cell is an image with no pixel") {
  HeatmapSpec spec = heatmap(0, 5, {});
  CHECK(rasterise_plane(spec, 8).rgba.empty());
}

TEST_CASE("a plane that would be too large, and a mask of another size, are refused") {
  const HeatmapSpec spec = heatmap(1, 2, {0, 1});
  test::refused_with([&] { rasterise_plane(spec, 20000); }, {"40000×20000"}, ExitStatus::usage);
  HeatmapSpec other = spec;
  other.mask = heatmap(2, 1, {0, 0}).values;
  CHECK_THROWS_AS(rasterise_plane(other, 1), Error);
  CHECK_THROWS_AS(heatmap_picture(other, 28.0), Error);
}
