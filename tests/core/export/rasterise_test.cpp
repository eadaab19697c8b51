#include <algorithm>

#include "core/export/picture.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/export/sample_heatmaps.h"
#include "tests/refusals.h"

using namespace headwise;

TEST_CASE("the plane in a picture is the plane alone, on the ground") {
  HeatmapSpec spec = with_every_kind(sample_heatmap(4, 6));
  spec.digits = false;
  for (const Theme theme : {Theme::light, Theme::dark}) {
    spec.theme = theme;
    const Picture picture = heatmap_picture(spec, 15.0);
    const Image image = rasterise(picture), plane = rasterise_plane(spec, 15);
    const RectF& rect = picture.planes.front().rect;
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const Rgba8 cell = pixel(plane, x, y);
        const Rgba8 expected = cell.a == 0 ? ground_color(theme) : cell;
        REQUIRE(pixel(image, static_cast<int>(rect.x) + x, static_cast<int>(rect.y) + y) == expected);
      }
    }
    CHECK(pixel(image, 0, 0) == ground_color(theme));
  }
}

TEST_CASE("a colour bar runs through the whole map, and through one colour where the range has no width") {
  const ColorTable& table = color_table(ColorMap::viridis, Theme::light);
  Picture picture;
  picture.width = 256;
  picture.height = 20;
  picture.bars = {{{0, 0, 256, 10}, ColorMap::viridis, Theme::light, {2.0, 3.0}},
                  {{0, 10, 256, 10}, ColorMap::viridis, Theme::light, {2.0, 2.0}}};
  const Image image = rasterise(picture);
  CHECK(pixel(image, 0, 0) == table[0]);
  CHECK(pixel(image, 255, 9) == table[255]);
  CHECK(pixel(image, 0, 15) == pixel(image, 255, 15));
  CHECK(pixel(image, 0, 15) == color_at(2.0, {2.0, 2.0}, table));
}

TEST_CASE("a line covers the pixels it runs through, and half of those it halves") {
  Picture picture;
  picture.width = picture.height = 10;
  picture.ground = {255, 255, 255};
  picture.lines = {{{2.5, 1.0}, {2.5, 9.0}, 1.0, {0, 0, 0}}, {{6.0, 1.0}, {6.0, 9.0}, 1.0, {0, 0, 0}}};
  const Image image = rasterise(picture);
  CHECK(pixel(image, 2, 5).r == 0);
  CHECK(pixel(image, 3, 5).r == 255);
  CHECK(pixel(image, 5, 5).r == 128);
  CHECK(pixel(image, 6, 5).r == 128);
  CHECK(pixel(image, 2, 9).r > 200);
}

TEST_CASE("the same heatmap gives the same pixels and the same file") {
  const HeatmapSpec spec = with_every_kind(sample_heatmap(5, 7));
  const auto once = [&] { return to_png(rasterise(heatmap_picture(spec, 20.0))); };
  CHECK(once() == once());
}

TEST_CASE("an image beyond 32,768 pixels is refused with the remedy") {
  test::refused_with([] { rasterise(heatmap_picture(sample_heatmap(1, 1000), 40.0)); },
                     {"32768", "fewer pixels a cell"}, ExitStatus::usage);
}

TEST_CASE("a large matrix is drawn below one pixel a cell, with its one spike still in it") {
  HeatmapSpec spec = sample_heatmap(1, 1);
  std::vector<double> values(1000 * 1000, 0.0);
  values[123 * 1000 + 456] = 4.0;
  spec.values = matrix_of(1000, 1000, std::move(values));
  const Image plane = rasterise_plane(spec, 100, 100);
  CHECK(pixel(plane, 45, 12) == color_table(ColorMap::blue_orange, Theme::light).back());
  CHECK(heatmap_picture(spec, 0.1).planes.front().rect.width == 100);
}
