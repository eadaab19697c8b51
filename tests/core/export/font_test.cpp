// Text in the embedded fonts, and in scripts that these lack. The packages of third_party/packages.txt bring
// a font with Chinese and Japanese in it.
#include "core/export/font.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "tests/core/export/sample_heatmaps.h"

using namespace headwise;

namespace {

struct InkBox {
  int left = 1000, top = 1000, right = -1, bottom = -1;
};

Image white(int width, int height) {
  return {width, height, std::vector<std::uint8_t>(4 * static_cast<std::size_t>(width * height), 255)};
}

InkBox ink_of(const Image& image) {
  InkBox box;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (pixel(image, x, y).r > 200) continue;
      box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x), std::max(box.bottom, y)};
    }
  }
  return box;
}

Image painted(const std::string& text) {
  Image image{32, 32, std::vector<std::uint8_t>(std::size_t{4} * 32 * 32, 255)};
  draw_text(image, {{4.0, 24.0}, text, FontFace::sans, 20.0, {0, 0, 0}});
  return image;
}

}  // namespace

TEST_CASE("a text's width is that of its letters and grows with the size") {
  const double width = text_width("query", FontFace::sans, 10.0);
  CHECK(width > 25.0);
  CHECK(width < 35.0);
  CHECK(text_width("query", FontFace::sans, 40.0) == doctest::Approx(4 * width));
  CHECK(text_width("", FontFace::sans, 10.0) == 0.0);
  CHECK(text_width("iii", FontFace::mono, 10.0) == doctest::Approx(text_width("WWW", FontFace::mono, 10.0)));
  CHECK(text_width("e\xCC\x81", FontFace::sans, 10.0) == doctest::Approx(text_width("é", FontFace::sans, 10.0)));
}

TEST_CASE("text is painted inside its box, at every anchor and angle") {
  for (const TextAnchor anchor : {TextAnchor::start, TextAnchor::middle, TextAnchor::end}) {
    for (const double degrees : {0.0, 35.0, 60.0, -90.0, 180.0}) {
      const TextItem item{{150.0, 150.0}, "Headwise gq", FontFace::sans, 16.0, {0, 0, 0}, anchor, degrees};
      Image image = white(300, 300);
      draw_text(image, item);
      const InkBox ink = ink_of(image);
      const TextBox box = text_box(item);
      double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
      for (const PointF corner : box.corners) {
        left = std::min(left, corner.x);
        top = std::min(top, corner.y);
        right = std::max(right, corner.x);
        bottom = std::max(bottom, corner.y);
      }
      CAPTURE(degrees);
      REQUIRE(ink.right >= 0);
      CHECK(ink.left >= left - 1.0);
      CHECK(ink.top >= top - 1.0);
      CHECK(ink.right <= right + 1.0);
      CHECK(ink.bottom <= bottom + 1.0);
      CHECK(ink.right - ink.left >= 0.7 * (right - left));
      CHECK(ink.bottom - ink.top >= 0.6 * (bottom - top));
    }
  }
}

TEST_CASE("an upright text stands on its baseline") {
  Image image = white(60, 40);
  draw_text(image, {{5.0, 30.0}, "HEL", FontFace::bold, 20.0, {0, 0, 0}});
  const InkBox ink = ink_of(image);
  CHECK(ink.bottom == 29);
  CHECK(std::abs(ink.bottom + 1 - ink.top - cap_height * 20.0) <= 1.0);
}

TEST_CASE("the empty box stands for a character that the font does not have") {
  Image image = white(40, 40);
  draw_text(image, {{5.0, 30.0}, "日", FontFace::sans, 20.0, {0, 0, 0}});
  CHECK(ink_of(image).right > 0);
}

TEST_CASE("text that lies outside an image is cut off") {
  Image image = white(10, 10);
  draw_text(image, {{-20.0, 4.0}, "far and wide", FontFace::sans, 30.0, {0, 0, 0}, TextAnchor::start, 35.0});
  draw_text(image, {{500.0, 500.0}, "x", FontFace::sans, 30.0, {0, 0, 0}});
  CHECK(image.rgba.size() == 400);
}

TEST_CASE("threads measure and paint the same") {
  const auto paint = [] {
    Image image = white(80, 20);
    draw_text(image, {{2.0, 15.0}, "attn_weights", FontFace::sans, 12.0, {0, 0, 0}});
    return image.rgba;
  };
  const std::vector<std::uint8_t> here = paint();
  std::vector<std::uint8_t> there;
  std::thread([&] { there = paint(); }).join();
  CHECK(here == there);
}

TEST_CASE("what no embedded font has is painted in a font of the system") {
  const SystemFont* font = system_font_with(U'中');
  REQUIRE_MESSAGE(font != nullptr, "no font of this system has Chinese: install fonts-droid-fallback");
  CHECK_FALSE(font->file.empty());
  CHECK(font->line_ems > 0.8);
  CHECK(font->line_ems < 2.0);
  // Two characters are two pictures: not the one empty box that stands for all that are missing.
  CHECK(painted("中").rgba != painted("国").rgba);
  CHECK(painted("中").rgba != painted("").rgba);
  // As wide as it is high, and among Latin letters where these would be without it.
  CHECK(text_width("中", FontFace::sans, 20.0) == doctest::Approx(20.0).epsilon(0.1));
  CHECK(text_width("a中b", FontFace::mono, 20.0) ==
        doctest::Approx(text_width("ab", FontFace::mono, 20.0) + text_width("中", FontFace::sans, 20.0)));
}

TEST_CASE("a character that no font has keeps its empty box") {
  CHECK(system_font_with(0x3FFFE) == nullptr);  // never a character
  CHECK(text_width("\xF0\xBF\xBF\xBE", FontFace::sans, 20.0) > 0.0);
}

TEST_CASE("fonts of the system are one for all threads") {
  std::vector<const SystemFont*> found(4);
  {
    std::vector<std::jthread> threads;
    for (const SystemFont*& font : found) {
      threads.emplace_back([&font] {
        font = system_font_with(U'語');
        painted("語");
      });
    }
  }
  for (const SystemFont* font : found) CHECK(font == found.front());
}
