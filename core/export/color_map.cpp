#include "core/export/color_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headwise {
namespace {

// Every fifth entry of the published tables, as 0xRRGGBB; linear in between (within 1/255 of the published
// entry for viridis, within 4/255 at the kink of cividis' red). viridis: N. Smith, S. van der Walt, E. Firing
// (matplotlib, CC0); cividis: J. Nuñez, C. Anderton, R. Renslow, PLoS ONE 13(7), 2018.
using SequentialKnots = std::array<std::uint32_t, 52>;

constexpr SequentialKnots viridis_knots = {
    0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781,
    0x433d84, 0x414287, 0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e,
    0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e, 0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c,
    0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80, 0x2eb37c, 0x35b779, 0x3dbc74,
    0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840, 0xa2da37,
    0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725};

constexpr SequentialKnots cividis_knots = {
    0x00224e, 0x002656, 0x002a5f, 0x002d68, 0x003070, 0x083370, 0x163770, 0x203a6f, 0x273e6e,
    0x2e416d, 0x34456c, 0x3a486c, 0x3f4c6c, 0x444f6c, 0x49536c, 0x4e566c, 0x535a6d, 0x575d6d,
    0x5c616e, 0x60646f, 0x656870, 0x696b71, 0x6d6f72, 0x727274, 0x767676, 0x7a7a78, 0x7e7d78,
    0x838179, 0x888578, 0x8d8878, 0x928c78, 0x969077, 0x9b9476, 0xa09875, 0xa59c74, 0xaaa073,
    0xafa471, 0xb5a86f, 0xbaac6d, 0xbfb06b, 0xc4b468, 0xc9b965, 0xcfbd62, 0xd4c15f, 0xdac65b,
    0xdfca57, 0xe5cf52, 0xead34c, 0xf0d846, 0xf6dd3f, 0xfce236, 0xfee838};

// One side of the diverging map, from the neutral middle to the end: the hues. Their lightness is set by the
// ramp below.
using ArmKnots = std::array<std::uint32_t, 5>;
struct DivergingKnots {
  ArmKnots below, above;
};
constexpr DivergingKnots light_knots = {{0xf1f2f2, 0xa6c2e4, 0x5a90d0, 0x275f9f, 0x0c3262},
                                        {0xf1f2f2, 0xecb78e, 0xd27b37, 0x9c4c18, 0x642503}};
constexpr DivergingKnots dark_knots = {{0x20242b, 0x26466f, 0x3a79bf, 0x76ace8, 0xb9dcff},
                                       {0x20242b, 0x703e1c, 0xbc6020, 0xe8964c, 0xffd4a6}};

using LinearRgb = std::array<double, 3>;

double to_linear(double srgb) {
  return srgb <= 0.04045 ? srgb / 12.92 : std::pow((srgb + 0.055) / 1.055, 2.4);
}
double to_srgb(double linear) {
  return linear <= 0.0031308 ? linear * 12.92 : 1.055 * std::pow(linear, 1.0 / 2.4) - 0.055;
}
double luminance(const LinearRgb& c) {
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}
// CIE L* (0…100), in which equal steps look equal, and back.
double lightness(double y) {
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}
double luminance_of_lightness(double l) {
  return l > 8.0 ? std::pow((l + 16.0) / 116.0, 3.0) : l * 27.0 / 24389.0;
}

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::floor(std::clamp(value, 0.0, 255.0) + 0.5));
}

// sRGB, each channel in [0,255], at t in [0,1] along evenly spaced knots.
template <std::size_t count>
std::array<double, 3> along(const std::array<std::uint32_t, count>& knots, double t) {
  const double position = t * static_cast<double>(count - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(position), count - 2);
  const double f = position - static_cast<double>(i);
  std::array<double, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) {
    const auto channel = [c](std::uint32_t rgb) { return static_cast<double>((rgb >> (16 - 8 * c)) & 0xffu); };
    out[c] = channel(knots[i]) + f * (channel(knots[i + 1]) - channel(knots[i]));
  }
  return out;
}

ColorTable sequential_table(const SequentialKnots& knots) {
  ColorTable table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto rgb = along(knots, static_cast<double>(i) / 255.0);
    table[i] = {to_byte(rgb[0]), to_byte(rgb[1]), to_byte(rgb[2])};
  }
  return table;
}

// The colour with its luminance set to `target`: scaled down to darken, mixed with white to lighten; keeps
// the hue.
LinearRgb with_luminance(LinearRgb color, double target) {
  const double now = luminance(color);
  for (double& channel : color)
    channel = now >= target ? channel * target / now : channel + (1.0 - channel) * (target - now) / (1.0 - now);
  return color;
}

Rgba8 arm_color(const ArmKnots& knots, double t, double target) {
  const auto rgb = along(knots, t);
  LinearRgb linear{};
  for (std::size_t c = 0; c < 3; ++c) linear[c] = to_linear(rgb[c] / 255.0);
  linear = with_luminance(linear, target);
  return {to_byte(255.0 * to_srgb(linear[0])), to_byte(255.0 * to_srgb(linear[1])),
          to_byte(255.0 * to_srgb(linear[2]))};
}

double lightness_of(std::uint32_t rgb) {
  const auto channel = [rgb](int shift) { return static_cast<std::uint8_t>((rgb >> shift) & 0xffu); };
  return lightness(relative_luminance({channel(16), channel(8), channel(0)}));
}

// Both arms share one lightness ramp, linear from the middle to the mean of the two ends: equal magnitudes
// look equally strong, whatever their sign.
ColorTable diverging_table(const DivergingKnots& knots) {
  const double middle = lightness_of(knots.below.front());
  const double end = (lightness_of(knots.below.back()) + lightness_of(knots.above.back())) / 2.0;
  ColorTable table;
  for (std::size_t i = 0; i < 128; ++i) {
    const double t = static_cast<double>(i) / 127.0;
    const double target = luminance_of_lightness(middle + t * (end - middle));
    table[127 - i] = arm_color(knots.below, t, target);
    table[128 + i] = arm_color(knots.above, t, target);
  }
  return table;
}

constexpr std::array<ColorMapEntry, 3> color_maps = {{
    {ColorMap::viridis, "viridis", false, "sequential, dark violet to yellow; for probabilities"},
    {ColorMap::cividis, "cividis", false, "sequential, blue to yellow; made for colour-vision deficiency"},
    {ColorMap::blue_orange, "blue_orange", true, "diverging, centred at 0: blue below, orange above"},
}};

}  // namespace

std::span<const ColorMapEntry> color_map_entries() {
  return color_maps;
}

const ColorMapEntry& color_map_entry(ColorMap map) {
  return color_maps[static_cast<std::size_t>(map)];
}

std::optional<ColorMap> find_color_map(std::string_view name) {
  const auto* found = std::ranges::find(color_maps, name, &ColorMapEntry::name);
  return found == color_maps.end() ? std::nullopt : std::optional(found->map);
}

std::optional<Theme> find_theme(std::string_view name) {
  const auto* found = std::ranges::find(theme_names, name);
  if (found == theme_names.end()) return std::nullopt;
  return static_cast<Theme>(found - theme_names.begin());
}

const ColorTable& color_table(ColorMap map, Theme theme) {
  static const ColorTable viridis = sequential_table(viridis_knots);
  static const ColorTable cividis = sequential_table(cividis_knots);
  static const ColorTable blue_orange_light = diverging_table(light_knots);
  static const ColorTable blue_orange_dark = diverging_table(dark_knots);
  if (map == ColorMap::viridis) return viridis;
  if (map == ColorMap::cividis) return cividis;
  return theme == Theme::dark ? blue_orange_dark : blue_orange_light;
}

double color_position(double value, ValueRange range) {
  if (!(range.hi > range.lo)) return 127.5;
  if (value <= range.lo) return 0.0;
  if (value >= range.hi) return 255.0;
  // Halved, so that a range as wide as the type does not overflow.
  return 255.0 * ((value / 2 - range.lo / 2) / (range.hi / 2 - range.lo / 2));
}

Rgba8 color_at(double value, ValueRange range, const ColorTable& table) {
  const double position = color_position(value, range);
  const auto i = static_cast<std::size_t>(position);
  const double f = position - static_cast<double>(i);
  const Rgba8 a = table[i], b = table[std::min<std::size_t>(i + 1, 255)];
  const auto mix = [f](std::uint8_t x, std::uint8_t y) {
    return to_byte(x + f * (static_cast<double>(y) - x));
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)};
}

Rgba8 ground_color(Theme theme) {
  return theme == Theme::dark ? Rgba8{0x15, 0x18, 0x1d} : Rgba8{0xff, 0xff, 0xff};
}
Rgba8 nan_color(Theme theme) {
  return theme == Theme::dark ? Rgba8{0xa8, 0x00, 0xfc} : Rgba8{0xb4, 0x00, 0xfc};
}
// The same in every theme: zeros are nearly black (the sequential maps) or nearly the ground,
// which may be white.
Rgba8 blocked_color(Theme /*theme*/) {
  return {0x6e, 0x74, 0x7d};
}
Rgba8 hatch_color(Theme theme) {
  return ground_color(theme);
}

double relative_luminance(Rgba8 color) {
  return luminance({to_linear(color.r / 255.0), to_linear(color.g / 255.0), to_linear(color.b / 255.0)});
}

double contrast_ratio(Rgba8 a, Rgba8 b) {
  const double y = relative_luminance(a) + 0.05, z = relative_luminance(b) + 0.05;
  return std::max(y, z) / std::min(y, z);
}

Rgba8 ink_on(Rgba8 ground) {
  // Contrast is (lighter + 0.05) / (darker + 0.05): black on Y gives (Y + 0.05) / 0.05, white 1.05 / (Y +
  // 0.05).
  const double y = relative_luminance(ground) + 0.05;
  return y / 0.05 >= 1.05 / y ? Rgba8{0, 0, 0} : Rgba8{255, 255, 255};
}

}  // namespace headwise
