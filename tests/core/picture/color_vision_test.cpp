// The colour maps as people with the three common deficiencies see them.
#include "tests/core/picture/color_vision.h"

#include <doctest/doctest.h>

using namespace headwise;

namespace {

constexpr std::array themes{Theme::light, Theme::dark, Theme::projector};

}  // namespace

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
