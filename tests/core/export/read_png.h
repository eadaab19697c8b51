// PNG read back by libpng's own reader.
#pragma once

#include <doctest/doctest.h>
#include <png.h>

#include <cstring>
#include <vector>

#include "core/export/image.h"

namespace headwise {

inline Image decoded_png(const std::vector<std::uint8_t>& bytes) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()));
  header.format = PNG_FORMAT_RGBA;
  Image image{static_cast<int>(header.width), static_cast<int>(header.height), {}};
  image.rgba.resize(PNG_IMAGE_SIZE(header));
  REQUIRE(png_image_finish_read(&header, nullptr, image.rgba.data(), 0, nullptr));
  return image;
}

}  // namespace headwise
