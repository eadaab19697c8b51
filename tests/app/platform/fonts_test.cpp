#include "app/platform/fonts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string_view>

#include "app/platform/picture_surface.h"
#include "tests/app/ui_driver.h"

using namespace headwise;

namespace {

// The first characters of the text that the font has no glyph for.
std::string missing(const ImFont* font, std::u16string_view text) {
  std::string codes;
  for (const char16_t character : text)
    if (font->FindGlyphNoFallback(static_cast<ImWchar>(character)) == nullptr)
      codes += fmt::format("U+{:04X} ", static_cast<unsigned>(character));
  return codes;
}

}  // namespace

TEST_CASE("every font has the signs of the formulas, the graph and the controls") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  const Fonts& fonts = driver->fonts();
  const std::u16string_view signs =
      u"ABCxyz0189 äéßŁ αβΣΩ Яж ₕₖ₀₁ ⁰¹² ᵀ √∑∏∂∞≈≤≥±×·÷− ℝ ⊙⊕ ∈ ← → ↑ ↓ ⌈⌉⌊⌋ ⟨⟩ │─┌┘ █ ▶◀▲▼●○■□ ✓✗ … – — ′ ″ "
      u"\xFFFD";
  for (const ImFont* font : {fonts.sans, fonts.bold, fonts.mono, fonts.title, fonts.formula, fonts.caption,
                             fonts.small, fonts.mono_small}) {
    CAPTURE(font->GetDebugName());
    CHECK(missing(font, signs) == "");
  }
}

TEST_CASE("the fonts of the person's own words have other scripts too") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  for (const ImFont* font : {driver->fonts().sans, driver->fonts().bold})
    CHECK(missing(font, u"tiếng Việt Ἑλλάς Հայ ქართ") == "");
  CHECK(missing(driver->fonts().sans, u"שלום مرحبا") == "");
}

TEST_CASE("text grows with the scale, and again when the scale changes") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64, 1.0f));
  const Fonts& fonts = driver->fonts();
  CHECK(fonts.sans->FontSize == 15.0f);
  driver->push(ScaleChanged{2.0f}).run_frames(1);
  CHECK(fonts.sans->FontSize == 30.0f);
  CHECK(fonts.mono_small->FontSize == 24.0f);
  // The texture of the old size is gone; what is drawn with the new one is to be seen.
  driver->set_frame([](const FrameInput&, const Fonts& now, float scale) {
    CHECK(scale == 2.0f);
    ImGui::GetBackgroundDrawList()->AddText(now.title, now.title->FontSize, ImVec2(2, 2), IM_COL32_WHITE, "M");
    return FrameResult{};
  });
  driver->run_frames(1);
  int lit = 0;
  const Image image = driver->pixels();
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) lit += image.rgba[i] > 200;
  CHECK(lit > 50);
}

TEST_CASE("fonts are built once for a scale; a picture made within a frame leaves the frame its letters") {
  OPEN_OR_SKIP(driver, UiDriver::start(64, 64));
  const Fonts& fonts = driver->fonts();
  CHECK(font_atlas(1.0f)->fonts().sans == fonts.sans);
  CHECK(font_atlas(1.5f)->fonts().sans != fonts.sans);
  ImTextureID before = nullptr, within = nullptr, after = nullptr;
  driver->set_frame([&](const FrameInput&, const Fonts&, float) {
    const auto letters = [] { return ImGui::GetIO().Fonts->TexID; };
    before = letters();
    {
      PictureSurface surface(16, 16, 1.0f);
      surface.image([&](const Fonts&, float) { within = letters(); }, ImVec4(0, 0, 0, 1));
    }
    after = letters();
    return FrameResult{};
  });
  driver->run_frames(1);
  CHECK(within != before);
  CHECK(after == before);
}
