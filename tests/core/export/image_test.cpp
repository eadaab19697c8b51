// PNGs and animated PNGs, taken apart again.
#include "core/export/image.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <string>

#include "core/export/color_map.h"
#include "core/tensor/error.h"
#include "tests/core/export/read_png.h"

using namespace headwise;

namespace {

Image filled(int width, int height, Rgba8 color) {
  Image image{width, height, {}};
  for (int i = 0; i < width * height; ++i)
    image.rgba.insert(image.rgba.end(), {color.r, color.g, color.b, color.a});
  return image;
}

void set(Image& image, int x, int y, Rgba8 color) {
  const auto at =
      4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  image.rgba[at] = color.r;
  image.rgba[at + 1] = color.g;
  image.rgba[at + 2] = color.b;
}

struct Chunk {
  std::string type;
  std::vector<std::uint8_t> data;
};

std::uint32_t number(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24U | std::uint32_t{bytes[at + 1]} << 16U |
         std::uint32_t{bytes[at + 2]} << 8U | bytes[at + 3];
}

// Checks every length and check sum on the way.
std::vector<Chunk> chunks_of(const std::vector<std::uint8_t>& file) {
  REQUIRE(std::memcmp(file.data(), "\x89PNG\r\n\x1a\n", 8) == 0);
  std::vector<Chunk> chunks;
  std::size_t at = 8;
  while (at < file.size()) {
    const std::size_t length = number(file, at);
    REQUIRE(at + 12 + length <= file.size());
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
    chunks.push_back(
        {std::string(begin + 4, begin + 8), {begin + 8, begin + 8 + static_cast<std::ptrdiff_t>(length)}});
    CHECK(crc32_z(0, file.data() + at + 4, length + 4) == number(file, at + 8 + length));
    at += length + 12;
  }
  return chunks;
}

// The pixels of a frame of RGB without filters.
std::vector<std::uint8_t> unpacked(const std::uint8_t* data, std::size_t size, int width, int height) {
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(height) * (1 + 3 * static_cast<std::size_t>(width)));
  uLongf length = rows.size();
  REQUIRE(uncompress(rows.data(), &length, data, size) == Z_OK);
  CHECK(length == rows.size());
  return rows;
}

}  // namespace

TEST_CASE("a PNG reads back pixel for pixel, opaque or not, and is the same bytes each time") {
  for (const int alpha : {255, 7}) {
    Image image{5, 3, {}};
    for (int i = 0; i < 5 * 3; ++i) {
      for (const int channel : {17 * i, 255 - 16 * i, 3 * i})
        image.rgba.push_back(static_cast<std::uint8_t>(channel));
      image.rgba.push_back(static_cast<std::uint8_t>(alpha));
    }
    const std::vector<std::uint8_t> png = to_png(image);
    CHECK(decoded_png(png).width == 5);
    CHECK(decoded_png(png).rgba == image.rgba);
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
  CHECK(decoded_png(to_png(image, 300.0)).rgba == image.rgba);
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

TEST_CASE("an animation tells how many pictures it has, where each lies and how long it stands") {
  Image picture = filled(20, 10, {10, 20, 30, 255});
  AnimatedPng animation;
  animation.add(picture, 500);
  set(picture, 7, 3, {255, 0, 0, 255});
  set(picture, 9, 5, {0, 255, 0, 255});
  animation.add(picture, 40);
  CHECK(animation.frame_count() == 2);
  const std::vector<Chunk> chunks = chunks_of(animation.finish());

  std::vector<std::string> types;
  for (const Chunk& chunk : chunks) types.push_back(chunk.type);
  CHECK(types == std::vector<std::string>{"IHDR", "sRGB", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "IEND"});
  CHECK(number(chunks[0].data, 0) == 20);
  CHECK(number(chunks[2].data, 0) == 2);
  CHECK(number(chunks[2].data, 4) == 0);
  // Sequence number, width, height, x, y, delay
  CHECK(number(chunks[3].data, 0) == 0);
  CHECK(number(chunks[3].data, 4) == 20);
  const std::vector<std::uint8_t>& second = chunks[5].data;
  CHECK(number(second, 0) == 1);
  CHECK(number(second, 4) == 3);
  CHECK(number(second, 8) == 3);
  CHECK(number(second, 12) == 7);
  CHECK(number(second, 16) == 3);
  CHECK(number(second, 20) == (40U << 16U | 1000U));
  CHECK(number(chunks[6].data, 0) == 2);

  const auto rows = unpacked(chunks[6].data.data() + 4, chunks[6].data.size() - 4, 3, 3);
  CHECK(rows[1] == 255);
  CHECK(rows[2] == 0);
  CHECK(rows[4] == 10);
  CHECK(rows[2 * 10 + 1 + 6 + 1] == 255);
}

TEST_CASE("a picture that does not differ prolongs the one before") {
  AnimatedPng animation;
  const Image picture = filled(4, 4, {1, 2, 3, 255});
  animation.add(picture, 100);
  animation.add(picture, 150);
  CHECK(animation.frame_count() == 1);
  const std::vector<Chunk> chunks = chunks_of(animation.finish());
  CHECK(chunks[3].type == "fcTL");
  CHECK(number(chunks[3].data, 20) == (250U << 16U | 1000U));
}

TEST_CASE("an animation refuses pictures of another size, and to be empty") {
  AnimatedPng animation;
  CHECK_THROWS_AS(animation.finish(), Error);
  animation.add(filled(4, 4, {0, 0, 0, 255}), 10);
  CHECK_THROWS_WITH_AS(animation.add(filled(5, 4, {0, 0, 0, 255}), 10), doctest::Contains("5 × 4"), Error);
}
