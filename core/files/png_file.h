// Pictures from PNG files: every colour type, depth and interlacing of the format becomes 8-bit RGB, as the
// numbers are stored (no gamma or colour profile is applied).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct RgbPicture {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // (height, width, 3), row-major from the top
  bool has_alpha = false;         // some pixel was not opaque: its colour is kept, its alpha is left out
};

inline constexpr Index most_png_side = 32768;
inline constexpr Index most_png_pixels = Index{1} << 26;

// "cat.png", "CAT.PNG"
bool is_png_name(std::string_view path);

// Of 16-bit numbers the high byte is kept; grey values become three equal ones, as Pillow's convert("RGB")
// does. Throws Error(input): no PNG (other formats are named), damaged, cut off, or more pixels than the
// limits above; Error(memory). Sizes are checked before memory is allocated for them.
RgbPicture read_png(const std::string& path);

}  // namespace headwise
