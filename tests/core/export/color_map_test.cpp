// The colour maps, also as people with the three common deficiencies see them.
#include "core/export/color_map.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/core/export/color_vision.h"

using namespace headwise;

namespace {

constexpr Theme all_themes[] = {Theme::light, Theme::dark, Theme::projector};

double cie_lightness(Rgba8 color) {
  return 116.0 * std::cbrt(relative_luminance(color)) - 16.0;
}

int largest_difference(Rgba8 a, Rgba8 b) {
  return std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)});
}

constexpr std::array themes{Theme::light, Theme::dark, Theme::projector};

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
    for (const ColorMapEntry& entry : color_map_entries())
      for (const Rgba8 color : color_table(entry.map, theme))
        CHECK(largest_difference(color, nan_color(theme)) > 80);
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
    for (const ColorMapEntry& entry : color_map_entries())
      for (const Rgba8 ground : color_table(entry.map, theme))
        CHECK(contrast_ratio(ground, ink_on(ground)) >= 4.5);
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

TEST_CASE("the simulation leaves greys as they are and takes from red and green what tells them apart") {
  for (const Vision vision : all_visions) {
    CHECK(color_distance({0, 0, 0}, {255, 255, 255}, vision) == doctest::Approx(100.0).epsilon(0.01));
    CHECK(color_distance({120, 120, 120}, {121, 121, 121}, vision) < 1.0);
  }
  constexpr Rgba8 red{200, 60, 40}, green{110, 110, 20};
  CHECK(color_distance(red, green, Vision::usual) > 60.0);
  CHECK(color_distance(red, green, Vision::deuteranopia) < 0.5 * color_distance(red, green, Vision::usual));
}

TEST_CASE("a larger probability is lighter in every vision, and sixteen steps can be told apart") {
  for (const ColorMap map : {ColorMap::viridis, ColorMap::cividis}) {
    const ColorTable& table = color_table(map, Theme::light);
    for (const Vision vision : all_visions) {
      CAPTURE(static_cast<int>(map));
      CAPTURE(static_cast<int>(vision));
      for (std::size_t i = 0; i + 15 <= 255; i += 15) {
        CHECK(seen_lightness(table[i + 15], vision) > seen_lightness(table[i], vision));
        CHECK(color_distance(table[i], table[i + 15], vision) > 2.3);
      }
    }
  }
}

TEST_CASE(
    "numbers below and above 0 can be told apart in every vision, and the larger magnitude stands out more") {
  for (const Theme theme : themes) {
    const ColorTable& table = color_table(ColorMap::blue_orange, theme);
    for (const Vision vision : all_visions) {
      CAPTURE(static_cast<int>(theme));
      CAPTURE(static_cast<int>(vision));
      // From an eighth of the range on; nearer to 0 both are nearly neutral, which is the point.
      for (std::size_t i = 16; i < 112; i += 16)
        CHECK(color_distance(table[127 - i], table[128 + i], vision) > 10.0);
      const bool lighter = theme == Theme::dark;
      for (std::size_t i = 0; i + 16 < 128; i += 16) {
        const auto further = [&](Rgba8 near, Rgba8 far) {
          const double change = seen_lightness(far, vision) - seen_lightness(near, vision);
          return lighter ? change > 0.0 : change < 0.0;
        };
        CHECK(further(table[128 + i], table[128 + i + 16]));
        CHECK(further(table[127 - i], table[127 - i - 16]));
      }
    }
  }
}

TEST_CASE("a cell that is no number stands out by its colour in every vision, and by its cross") {
  for (const Theme theme : themes) {
    for (const ColorMapEntry& entry : color_map_entries()) {
      const ColorTable& table = color_table(entry.map, theme);
      for (const Vision vision : all_visions) {
        double nearest = color_distance(ground_color(theme), nan_color(theme), vision);
        for (const Rgba8& color : table)
          nearest = std::min(nearest, color_distance(color, nan_color(theme), vision));
        CAPTURE(entry.name);
        CAPTURE(static_cast<int>(theme));
        CAPTURE(static_cast<int>(vision));
        CHECK(nearest > 30.0);
      }
    }
    for (const Vision vision : all_visions)
      CHECK(color_distance(nan_color(theme), ink_on(nan_color(theme)), vision) > 40.0);
  }
}
