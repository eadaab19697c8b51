// Colour tables, and the one rule that turns a value into a colour. The window's shader reads the same 256
// entries by the same rule, so a picture in a file is the picture on the screen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headwise {

// projector: light, in colours that a washed-out beam leaves apart.
enum class Theme { light, dark, projector };
// In the order of Theme, as --theme and the settings name them.
inline constexpr std::array<std::string_view, 3> theme_names{"light", "dark", "projector"};
std::optional<Theme> find_theme(std::string_view name);

struct Rgba8 {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend bool operator==(const Rgba8&, const Rgba8&) = default;
};

enum class ColorMap : std::uint8_t {
  viridis,      // sequential, for probabilities
  cividis,      // sequential, made for colour-vision deficiency
  blue_orange,  // diverging, centred at 0: neutral in the middle (a shade off the theme's ground), blue
                // below, orange above; entries as far from the middle have equal luminance
};

using ColorTable = std::array<Rgba8, 256>;

struct ColorMapEntry {
  ColorMap map;
  std::string_view name;  // as --colormap takes it
  bool diverging;
  std::string_view what;
};
std::span<const ColorMapEntry> color_map_entries();
const ColorMapEntry& color_map_entry(ColorMap map);
std::optional<ColorMap> find_color_map(std::string_view name);
// Opaque, of monotone luminance (each arm, for a diverging map). The sequential maps do not depend on the
// theme. Entries 127 and 128 of the diverging map are the same neutral, so 0 is exactly neutral.
const ColorTable& color_table(ColorMap map, Theme theme);

// lo <= hi, both finite. For a diverging map lo = -hi, unless a person asked for other ends: then its neutral
// lies in their middle, and the colour bar shows where 0 is.
struct ValueRange {
  double lo = 0.0, hi = 1.0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// Where a value stands in a table, in [0,255]: 255 · clamp((value - lo) / (hi - lo), 0, 1). ±inf clamp; a
// range of no width gives the middle, 127.5. Not for NaN, which has no place in a table.
double color_position(double value, ValueRange range);

// The colour there: linear between the two neighbouring entries, each channel rounded to the nearest.
// (Linear, so that a shader that computes in f32 differs by a rounding and never by a whole entry.)
Rgba8 color_at(double value, ValueRange range, const ColorTable& table);

// What stands behind the cells and shows in the gaps between them: white paper, or the panel's ground.
Rgba8 ground_color(Theme theme);
// A cell that is NaN: a colour that no table comes near, under a cross in its ink.
Rgba8 nan_color(Theme theme);
// A cell that a mask blocks: this ground, under diagonal lines of hatch_color (core/picture/plane_rule.h).
Rgba8 blocked_color(Theme theme);
Rgba8 hatch_color(Theme theme);

// WCAG 2 relative luminance of the opaque colour, in [0,1].
double relative_luminance(Rgba8 color);
// Ink that can be read on `ground`: black or white, whichever has the higher contrast (WCAG relative
// luminance).
Rgba8 ink_on(Rgba8 ground);

}  // namespace headwise
