// RGBA images.
#pragma once

#include <cstdint>
#include <vector>

namespace headwise {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // row-major from the top, straight alpha
};

constexpr int max_image_side = 32768;
// Pixels per inch on paper, unless others are asked for: what CSS, and so an SVG, calls a pixel.
constexpr double usual_dpi = 96.0;

// Throws Error(usage) above max_image_side, Error(memory) if four bytes per pixel are not available.
void check_image_size(double width, double height);

// The same image gives the same bytes (for one version of libpng and zlib). Opaque images are stored as RGB.
// Throws Error(usage) for an empty image.
std::vector<std::uint8_t> to_png(const Image& image);
// The same with `dpi` pixels per inch declared (pHYs), for programs that ask how large it is on paper.
std::vector<std::uint8_t> to_png(const Image& image, double dpi);

}  // namespace headwise
