// Colour tables, and the one rule that turns a value into an entry of a table. The window's shader samples the same
// 256 entries by the same rule, so a picture in a file is the picture on the screen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headwise {

enum class Theme { light, dark };

struct Rgba8 {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend bool operator==(const Rgba8&, const Rgba8&) = default;
};

enum class ColorMap : std::uint8_t {
  viridis,      // sequential, for probabilities
  cividis,      // sequential, made for colour-vision deficiency
  blue_orange,  // diverging, centred at 0: neutral in the middle (the theme's ground), blue below, orange above
};

using ColorTable = std::array<Rgba8, 256>;

struct ColorMapEntry {
  ColorMap map;
  std::string_view name;   // as --colormap takes it
  bool diverging;
  std::string_view what;
};
std::span<const ColorMapEntry> color_map_entries();
std::optional<ColorMap> find_color_map(std::string_view name);
const ColorTable& color_table(ColorMap map, Theme theme);

// lo <= hi, both finite. For a diverging map lo = -hi.
struct ValueRange {
  double lo = 0.0, hi = 1.0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// Entry of the table for a finite value: clamped to the range, rounded to the nearest of 256; a range of no width gives
// the middle entry. ±inf clamp; NaN has no entry and is drawn as nan_color with a cross.
int color_index(double value, ValueRange range);

Rgba8 nan_color(Theme theme);
// Cells that a mask blocks: their own colour, hatched by diagonal lines of this colour.
Rgba8 hatch_color(Theme theme);
// Ink that can be read on `ground`: black or white, whichever has the higher contrast (WCAG relative luminance).
Rgba8 ink_on(Rgba8 ground);

}  // namespace headwise
