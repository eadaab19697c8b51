#include "core/picture/image.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

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

TEST_CASE("a PNG declares its pixels per inch where they are given, and is otherwise the same") {
  const Image image{2, 1, {255, 0, 0, 255, 0, 0, 255, 255}};
  const auto declared = [&](const std::vector<std::uint8_t>& png) {
    const std::string bytes(png.begin(), png.end());
    const std::size_t at = bytes.find("pHYs");
    return at == std::string::npos ? std::string() : bytes.substr(at + 4, 9);
  };
  CHECK(declared(to_png(image)).empty());
  // Pixels per metre across and down, and that it is metres: 300 / 0.0254 = 11811, 96 / 0.0254 = 3780.
  using std::string_literals::operator""s;
  CHECK(declared(to_png(image, 300.0)) == "\x00\x00\x2e\x23\x00\x00\x2e\x23\x01"s);
  CHECK(declared(to_png(image, usual_dpi)) == "\x00\x00\x0e\xc4\x00\x00\x0e\xc4\x01"s);
  CHECK(read_png(to_png(image, 300.0)).rgba == image.rgba);
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
