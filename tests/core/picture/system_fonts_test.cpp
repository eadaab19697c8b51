// Text in scripts that the embedded fonts lack. The packages of third_party/packages.txt bring a font with
// Chinese and Japanese in it.

#include <doctest/doctest.h>

#include <thread>

#include "core/picture/font.h"

using namespace headwise;

namespace {

Image painted(const std::string& text) {
  Image image{32, 32, std::vector<std::uint8_t>(std::size_t{4} * 32 * 32, 255)};
  draw_text(image, {{4.0, 24.0}, text, FontFace::sans, 20.0, {0, 0, 0}});
  return image;
}

}  // namespace

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
