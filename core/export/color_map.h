// Colour tables, and the single rule that maps a value to a colour. The window's shader reads the same 256
// entries by the same rule, so a picture in a file matches the picture on the screen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headwise {

// projector: light, with colours that remain distinguishable in a washed-out projection.
enum class Theme { light, dark, projector };
// In the order of Theme; the names for --theme and the settings.
inline constexpr std::array<std::string_view, 3> theme_names{"light", "dark", "projector"};
std::optional<Theme> find_theme(std::string_view name);

struct Rgba8 {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend bool operator==(const Rgba8&, const Rgba8&) = default;
};

enum class ColorMap : std::uint8_t {
  viridis,      // sequential, for probabilities
  cividis,      // sequential, made for colour-vision deficiency
  blue_orange,  // diverging, centred at 0: neutral in the middle (slightly off the theme's background), blue
                // below, orange above; entries equally far from the middle have equal luminance
};

using ColorTable = std::array<Rgba8, 256>;

struct ColorMapEntry {
  ColorMap map;
  std::string_view name;  // the argument of --colormap
  bool diverging;
  std::string_view what;
};
std::span<const ColorMapEntry> color_map_entries();
const ColorMapEntry& color_map_entry(ColorMap map);
std::optional<ColorMap> find_color_map(std::string_view name);
// Opaque, with monotone luminance (in each arm, for a diverging map). The sequential maps do not depend on
// the theme. Entries 127 and 128 of the diverging map are the same neutral, so 0 is exactly neutral.
const ColorTable& color_table(ColorMap map, Theme theme);

// lo <= hi, both finite. For a diverging map lo = -hi, unless the user chose other ends: then its neutral
// colour lies in their middle, and the colour bar shows where 0 is.
struct ValueRange {
  double lo = 0.0, hi = 1.0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// The position of a value in a table, in [0,255]: 255 · clamp((value - lo) / (hi - lo), 0, 1). ±inf clamp; a
// range of zero width gives the middle, 127.5. Not for NaN, which has no position in a table.
double color_position(double value, ValueRange range);

// The colour there: linear between the two adjacent entries, each channel rounded to nearest. (Linear, so
// that a shader that computes in f32 differs by a rounding and never by a whole entry.)
Rgba8 color_at(double value, ValueRange range, const ColorTable& table);

// The background of the cells, visible in the gaps between them: white paper, or the panel's background.
Rgba8 ground_color(Theme theme);
// A NaN cell: a colour unlike any table's, under a cross in its ink.
Rgba8 nan_color(Theme theme);
// A cell that a mask blocks: a grey with a contrast of at least 3:1 to 0 in every colour map, under a cross
// in its ink or, in small cells, under diagonal lines of hatch_color (core/export/plane_rule.h).
Rgba8 blocked_color(Theme theme);
Rgba8 hatch_color(Theme theme);

// WCAG 2 relative luminance of the opaque colour, in [0,1].
double relative_luminance(Rgba8 color);
// WCAG 2 contrast ratio of two opaque colours, in [1,21]: 3 is required of marks and outlines, 4.5 of text.
double contrast_ratio(Rgba8 a, Rgba8 b);
// A legible ink on `ground`: black or white, whichever has the higher contrast; it is always above 4.5.
Rgba8 ink_on(Rgba8 ground);

}  // namespace headwise
