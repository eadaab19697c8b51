// The colours of the window as people with the three common deficiencies see them.
#include <doctest/doctest.h>

#include "app/widgets/palette.h"
#include "tests/core/export/color_vision.h"

using namespace headwise;

TEST_CASE("q, k and v can be told apart in every theme and every vision") {
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    const Palette& palette = palette_of(theme);
    for (const Vision vision : all_visions) {
      CAPTURE(static_cast<int>(theme));
      CAPTURE(static_cast<int>(vision));
      CHECK(color_distance(palette.q, palette.k, vision) > 15.0);
      CHECK(color_distance(palette.k, palette.v, vision) > 15.0);
      CHECK(color_distance(palette.q, palette.v, vision) > 15.0);
    }
  }
}

TEST_CASE("text, hues, warnings and errors are read on their ground in every theme and every vision") {
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    const Palette& palette = palette_of(theme);
    for (const Vision vision : all_visions) {
      CAPTURE(static_cast<int>(theme));
      CAPTURE(static_cast<int>(vision));
      for (const Rgba8 ink : {palette.text, palette.text_dim, palette.q, palette.k, palette.v,
                              palette.warning, palette.error, palette.focus}) {
        CHECK(std::abs(seen_lightness(ink, vision) - seen_lightness(palette.panel, vision)) > 35.0);
      }
    }
  }
}

TEST_CASE("the projector's inks are further from their ground than those of the other themes") {
  const auto contrast = [](Theme theme, Rgba8 ink) { return contrast_ratio(ink, palette_of(theme).panel); };
  const Palette &projector = palette_of(Theme::projector), &light = palette_of(Theme::light);
  for (const auto& [strong, usual] : {std::pair{projector.text, light.text},
                                      {projector.text_dim, light.text_dim},
                                      {projector.q, light.q},
                                      {projector.k, light.k},
                                      {projector.v, light.v}}) {
    CHECK(contrast(Theme::projector, strong) > contrast(Theme::light, usual));
    CHECK(contrast(Theme::projector, strong) >= 7.0);  // WCAG 2, AAA
  }
}

TEST_CASE("any two of the eight hues of heads can be told apart in every theme and every vision") {
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    const auto& heads = palette_of(theme).heads;
    for (const Vision vision : all_visions) {
      CAPTURE(static_cast<int>(theme));
      CAPTURE(static_cast<int>(vision));
      for (std::size_t one = 0; one < heads.size(); ++one) {
        CAPTURE(one);
        for (std::size_t other = 0; other < one; ++other)
          CHECK(color_distance(heads[one], heads[other], vision) > 20.0);
      }
    }
  }
}

TEST_CASE("head 8 has the hue of head 0 again, and no other") {
  const Palette& palette = palette_of(Theme::dark);
  CHECK(head_hue(palette, 8) == head_hue(palette, 0));
  CHECK(head_hue(palette, 31) == head_hue(palette, 7));
  CHECK(!(head_hue(palette, 1) == head_hue(palette, 0)));
}
