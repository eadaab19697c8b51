#include "app/platform/fonts.h"

#include <doctest/doctest.h>

#include "app/widgets/axis_labels.h"
#include "tests/app/ui_driver.h"

using namespace headwise;

namespace {

void draw_word(UiDriver& driver, std::string word) {
  driver.set_frame([word = std::move(word)](const FrameInput&, const Fonts& fonts, float) {
    const std::string text = drawable_text(word, fonts.sans);
    ImGui::GetBackgroundDrawList()->AddText(fonts.sans, fonts.sans->FontSize, ImVec2(2, 2), IM_COL32_WHITE,
                                            text.c_str());
    return FrameResult{};
  });
}

}  // namespace

TEST_CASE("a word that the fonts lack is named by its numbers in one frame and drawn in the next") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  draw_word(*driver, "猫 cat");
  CHECK(drawable_text("猫", driver->fonts().sans) == "U+732B");
  driver->run_frames(2);
  CHECK(drawable_text("猫 cat", driver->fonts().sans) == "猫 cat");
  const Fonts& fonts = driver->fonts();
  for (const ImFont* font :
       {fonts.sans, fonts.bold, fonts.mono, fonts.title, fonts.caption, fonts.small, fonts.mono_small}) {
    const ImFontGlyph* glyph = font->FindGlyphNoFallback(0x732B);
    REQUIRE_MESSAGE(glyph != nullptr, "no font of this system has Chinese: install fonts-droid-fallback");
    // It stands in the line of the Latin letters: between the highest ascender and the lowest descender.
    CHECK(glyph->Y0 >= -1.0f);
    CHECK(glyph->Y1 <= font->FontSize + 1.0f);
    CHECK(glyph->AdvanceX == doctest::Approx(font->FontSize / 1.164f).epsilon(0.12));
  }
}

TEST_CASE("fonts are built anew for what is new, once") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  draw_word(*driver, "犬");
  driver->run_frames(2);
  const ImFont* built = driver->fonts().sans;
  const ImFontGlyph* glyphs = built->Glyphs.Data;
  // No font has an emoji of more than 16 bits here, and none a number that is no character.
  draw_word(*driver, "犬 \xF0\x9F\x98\x80 \xEF\xB7\x90");
  driver->run_frames(3);
  CHECK(driver->fonts().sans == built);
  CHECK(driver->fonts().sans->Glyphs.Data == glyphs);
  CHECK(drawable_text("\xF0\x9F\x98\x80", driver->fonts().sans) == "U+1F600");
}

TEST_CASE("no text makes the picture of the fonts larger than a driver takes") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  std::string all;
  for (char32_t character = 0x4E00; character < 0x4E00 + 3000; ++character) {
    all += {static_cast<char>(0xE0 | character >> 12), static_cast<char>(0x80 | (character >> 6 & 0x3F)),
            static_cast<char>(0x80 | (character & 0x3F))};
  }
  draw_word(*driver, all);
  driver->push(ScaleChanged{5.0f}).run_frames(3);
  const ImFontAtlas* atlas = driver->fonts().sans->ContainerAtlas;
  CHECK(atlas->TexWidth <= 16384);
  CHECK(atlas->TexHeight <= 16384);
  CHECK(drawable_text("一", driver->fonts().sans) == "一");
}
