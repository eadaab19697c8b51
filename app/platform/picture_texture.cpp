#include "app/platform/picture_texture.h"

#include <algorithm>
#include <array>

namespace headwise {

PictureTexture::PictureTexture(const Image& image)
    : texture_("picture", gl::TexelFormat::rgba8, image.width, image.height, image.rgba.data()) {}

Image reduced(const Image& image, int width, int height) {
  Image small{width, height, {}};
  small.rgba.reserve(4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const auto begin_of = [](int i, int from, int to) { return i * from / to; };
  for (int y = 0; y < height; ++y) {
    const int top = begin_of(y, image.height, height);
    const int bottom = std::max(top + 1, begin_of(y + 1, image.height, height));
    for (int x = 0; x < width; ++x) {
      const int left = begin_of(x, image.width, width);
      const int right = std::max(left + 1, begin_of(x + 1, image.width, width));
      std::array<unsigned, 4> sum{};
      for (int from_y = top; from_y < bottom; ++from_y) {
        for (int from_x = left; from_x < right; ++from_x) {
          const std::size_t at = 4 * (static_cast<std::size_t>(from_y) * static_cast<std::size_t>(image.width) +
                                      static_cast<std::size_t>(from_x));
          for (std::size_t channel = 0; channel < 4; ++channel) sum[channel] += image.rgba[at + channel];
        }
      }
      const auto count = static_cast<unsigned>((bottom - top) * (right - left));
      for (const unsigned each : sum)
        small.rgba.push_back(static_cast<std::uint8_t>((each + count / 2) / count));
    }
  }
  return small;
}

}  // namespace headwise
