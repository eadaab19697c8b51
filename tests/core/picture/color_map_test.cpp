#include "core/picture/color_map.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace headwise;

namespace {

constexpr Theme all_themes[] = {Theme::light, Theme::dark, Theme::projector};

double cie_lightness(Rgba8 color) {
  return 116.0 * std::cbrt(relative_luminance(color)) - 16.0;
}

int largest_difference(Rgba8 a, Rgba8 b) {
  return std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)});
}

}  // namespace

TEST_CASE("every colour map is found by its name and by nothing else") {
  for (const ColorMapEntry& entry : color_map_entries()) {
    CHECK(find_color_map(entry.name) == entry.map);
    CHECK(color_map_entry(entry.map).name == entry.name);
  }
  CHECK(color_map_entries().size() == 3);
  CHECK_FALSE(find_color_map("Viridis"));
  CHECK_FALSE(find_color_map(""));
}

TEST_CASE("the sequential maps grow lighter all along, over a wide span") {
  for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis}) {
    const ColorTable& table = color_table(map, Theme::light);
    for (std::size_t i = 2; i < table.size(); ++i) {
      CAPTURE(i);
      CHECK(cie_lightness(table[i]) > cie_lightness(table[i - 1]) - 0.1);  // less than one byte's rounding
      CHECK(cie_lightness(table[i]) > cie_lightness(table[i - 2]));
    }
    CHECK(cie_lightness(table[255]) - cie_lightness(table[0]) > 70.0);
  }
}

TEST_CASE("viridis and cividis are the published maps") {
  // Entries between the knots, from the published 256-entry tables.
  const ColorTable& viridis = color_table(ColorMap::viridis, Theme::dark);
  CHECK(largest_difference(viridis[0], {0x44, 0x01, 0x54}) <= 1);
  CHECK(largest_difference(viridis[128], {0x21, 0x91, 0x8c}) <= 1);
  CHECK(largest_difference(viridis[255], {0xfd, 0xe7, 0x25}) <= 1);
  const ColorTable& cividis = color_table(ColorMap::cividis, Theme::dark);
  CHECK(largest_difference(cividis[0], {0x00, 0x22, 0x4e}) <= 1);
  CHECK(largest_difference(cividis[128], {0x7d, 0x7c, 0x78}) <= 1);
  CHECK(largest_difference(cividis[255], {0xfe, 0xe8, 0x38}) <= 1);
}

TEST_CASE("the diverging map is neutral at 0, as light on one side as on the other, and even in its steps") {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const ColorTable& table = color_table(ColorMap::blue_orange, theme);
    const Rgba8 zero = color_at(0.0, {-3.0, 3.0}, table);
    CHECK(zero == table[127]);
    CHECK(zero == table[128]);
    CHECK(std::max({zero.r, zero.g, zero.b}) - std::min({zero.r, zero.g, zero.b}) < 16);
    for (std::size_t i = 0; i < 128; ++i) {
      CAPTURE(i);
      CHECK(std::abs(cie_lightness(table[127 - i]) - cie_lightness(table[128 + i])) < 0.5);
    }
    const double sign =
        theme == Theme::light ? -1.0 : 1.0;  // away from the ground: darker on white, lighter on black
    const double step = sign * (cie_lightness(table[255]) - cie_lightness(table[128])) / 127.0;
    CHECK(step > 0.45);
    for (std::size_t i = 129; i < 256; ++i) {
      const double here = sign * (cie_lightness(table[i]) - cie_lightness(table[i - 1]));
      CAPTURE(i);
      CHECK(here > 0.2 * step);
      CHECK(here < 1.8 * step);
    }
    CHECK(table[0].b > table[0].r + 40);      // blue below
    CHECK(table[255].r > table[255].b + 40);  // orange above
  }
}

TEST_CASE("a value stands where it divides its range, and clamps outside") {
  const ValueRange range{-2.0, 2.0};
  CHECK(color_position(-2.0, range) == 0.0);
  CHECK(color_position(0.0, range) == 127.5);
  CHECK(color_position(1.0, range) == 191.25);
  CHECK(color_position(5.0, range) == 255.0);
  CHECK(color_position(-std::numeric_limits<double>::infinity(), range) == 0.0);
  CHECK(color_position(std::numeric_limits<double>::infinity(), range) == 255.0);
  CHECK(color_position(7.0, {7.0, 7.0}) == 127.5);
  const double largest = std::numeric_limits<double>::max();
  CHECK(color_position(0.0, {-largest, largest}) == 127.5);
}

TEST_CASE("a colour is exact at an entry and rounded between two") {
  const ColorTable& table = color_table(ColorMap::viridis, Theme::light);
  CHECK(color_at(10.0, {0.0, 255.0}, table) == table[10]);
  const Rgba8 between = color_at(10.5, {0.0, 255.0}, table);
  CHECK(std::abs(2 * between.g - table[10].g - table[11].g) <= 1);
}

TEST_CASE("no table comes near the colour of NaN") {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    for (const ColorMapEntry& entry : color_map_entries()) {
      for (const Rgba8 color : color_table(entry.map, theme)) {
        CHECK(largest_difference(color, nan_color(theme)) > 80);
      }
    }
  }
}

TEST_CASE("the contrast of two colours is that of WCAG 2, whichever is named first") {
  constexpr Rgba8 black{0, 0, 0}, white{255, 255, 255}, grey{0x77, 0x77, 0x77};
  CHECK(contrast_ratio(black, white) == doctest::Approx(21.0));
  CHECK(contrast_ratio(white, black) == contrast_ratio(black, white));
  CHECK(contrast_ratio(grey, grey) == 1.0);
  CHECK(contrast_ratio(grey, white) == doctest::Approx(4.48).epsilon(0.001));  // the known near miss of 4.5
}

TEST_CASE("ink can be read on any colour of any table") {
  for (const Theme theme : all_themes) {
    for (const ColorMapEntry& entry : color_map_entries()) {
      for (const Rgba8 ground : color_table(entry.map, theme)) {
        CHECK(contrast_ratio(ground, ink_on(ground)) >= 4.5);
      }
    }
  }
}

TEST_CASE("a blocked cell stands out from one that holds 0, and its mark from the cell") {
  for (const Theme theme : all_themes) {
    CAPTURE(static_cast<int>(theme));
    const Rgba8 blocked = blocked_color(theme);
    for (const ColorMapEntry& entry : color_map_entries()) {
      CAPTURE(entry.name);
      const ColorTable& table = color_table(entry.map, theme);
      CHECK(contrast_ratio(blocked, entry.diverging ? table[127] : table[0]) >= 3.0);
    }
    CHECK(contrast_ratio(blocked, ground_color(theme)) >= 3.0);
    CHECK(contrast_ratio(blocked, hatch_color(theme)) >= 3.0);
    CHECK(contrast_ratio(blocked, ink_on(blocked)) >= 4.5);
  }
}
