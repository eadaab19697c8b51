#include "core/picture/image.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/tensor/error.h"
#include "tests/core/picture/read_png.h"

using namespace headwise;

TEST_CASE("a PNG reads back pixel for pixel, opaque or not, and is the same bytes each time") {
  for (const int alpha : {255, 7}) {
    Image image{5, 3, {}};
    for (int i = 0; i < 5 * 3; ++i) {
      for (const int channel : {17 * i, 255 - 16 * i, 3 * i})
        image.rgba.push_back(static_cast<std::uint8_t>(channel));
      image.rgba.push_back(static_cast<std::uint8_t>(alpha));
    }
    const std::vector<std::uint8_t> png = to_png(image);
    CHECK(read_png(png).width == 5);
    CHECK(read_png(png).rgba == image.rgba);
    CHECK(to_png(image) == png);
  }
}

TEST_CASE("an image without a pixel is no PNG") {
  CHECK_THROWS_AS(to_png(Image{}), Error);
}

TEST_CASE("an image that is too large is refused, and one that is no size too") {
  CHECK_NOTHROW(check_image_size(max_image_side, 1));
  CHECK_THROWS_AS(check_image_size(max_image_side + 1, 1), Error);
  CHECK_THROWS_AS(check_image_size(1, 1e300), Error);
  CHECK_THROWS_AS(check_image_size(1, std::nan("")), Error);
}
