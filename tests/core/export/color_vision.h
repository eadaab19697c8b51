// How a colour looks to people who miss one kind of cone, and how far two colours are apart.
//
// Dichromacy: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, matrices of severity 1 in linear RGB.
// Distance: CIE 1976 ΔE in L*a*b*, white D65; 2.3 is just noticeable.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/export/color_map.h"

namespace headwise {

enum class Vision { usual, protanopia, deuteranopia, tritanopia };
inline constexpr std::array all_visions{Vision::usual, Vision::protanopia, Vision::deuteranopia,
                                        Vision::tritanopia};

using Triple = std::array<double, 3>;
using Matrix3 = std::array<Triple, 3>;

inline Triple times(const Matrix3& m, const Triple& v) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

inline Triple linear_rgb(Rgba8 color) {
  const auto linear = [](std::uint8_t byte) {
    const double s = byte / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return {linear(color.r), linear(color.g), linear(color.b)};
}

inline Triple seen(Rgba8 color, Vision vision) {
  constexpr Matrix3 usual{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  constexpr Matrix3 protanopia{
      {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
  constexpr Matrix3 deuteranopia{
      {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
  constexpr Matrix3 tritanopia{
      {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
  const Matrix3& matrix = vision == Vision::protanopia     ? protanopia
                          : vision == Vision::deuteranopia ? deuteranopia
                          : vision == Vision::tritanopia   ? tritanopia
                                                           : usual;
  Triple out = times(matrix, linear_rgb(color));
  for (double& channel : out) channel = std::clamp(channel, 0.0, 1.0);
  return out;
}

// L*, a*, b* of linear sRGB.
inline Triple lab(const Triple& rgb) {
  constexpr Matrix3 to_xyz{
      {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
  const Triple xyz = times(to_xyz, rgb);
  const auto f = [](double t) {
    return t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0;
  };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)};
}

inline double color_distance(Rgba8 a, Rgba8 b, Vision vision) {
  const Triple one = lab(seen(a, vision)), other = lab(seen(b, vision));
  return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

inline double seen_lightness(Rgba8 color, Vision vision) {
  return lab(seen(color, vision))[0];
}

}  // namespace headwise
