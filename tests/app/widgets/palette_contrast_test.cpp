// The contrast of everything that is drawn in one colour of the palette on another, by WCAG 2: 4.5 for text,
// 3 for outlines, tracks and marks.
#include <doctest/doctest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "app/widgets/palette.h"

using namespace headwise;

namespace {

constexpr double of_text = 4.5, of_marks = 3.0;

struct Named {
  std::string_view name;
  Rgba8 color;
};

void check_contrast(const std::vector<Named>& inks, const std::vector<Named>& grounds, double least) {
  for (const Named& ink : inks) {
    for (const Named& ground : grounds) {
      CAPTURE(ink.name);
      CAPTURE(ground.name);
      CHECK(contrast_ratio(ink.color, ground.color) >= least);
    }
  }
}

// `share` of `over`, the rest of what is below it.
Rgba8 blended(Rgba8 over, Rgba8 below, double share) {
  const auto channel = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(share * a + (1.0 - share) * b));
  };
  return {channel(over.r, below.r), channel(over.g, below.g), channel(over.b, below.b)};
}

template <class Check>
void in_every_theme(const Check& check) {
  for (const Theme theme : {Theme::light, Theme::dark, Theme::projector}) {
    CAPTURE(theme_names[static_cast<std::size_t>(theme)]);
    check(theme, palette_of(theme));
  }
}

}  // namespace

TEST_CASE("text can be read on panels, fields and controls in every theme") {
  in_every_theme([](Theme, const Palette& p) {
    const std::vector<Named> grounds{{"window", p.window},
                                     {"panel", p.panel},
                                     {"field", p.field},
                                     {"control", p.control},
                                     {"control_hover", p.control_hover},
                                     {"selection", blended(p.q, p.field, 0.35)},
                                     {"bar of a weight", blended(p.bar, p.panel, 0.45)}};
    check_contrast({{"text", p.text}, {"focus", p.focus}}, grounds, of_text);
    check_contrast({{"text_dim", p.text_dim}}, {grounds.begin(), grounds.begin() + 5}, of_text);
    check_contrast(
        {{"q", p.q}, {"k", p.k}, {"v", p.v}, {"followed", p.followed}, {"warning", p.warning}, {"error", p.error}},
        {grounds.begin(), grounds.begin() + 3}, of_text);
  });
}

TEST_CASE("outlines, tracks, bars and what is disabled stand out from their ground in every theme") {
  in_every_theme([](Theme theme, const Palette& p) {
    const ColorTable& table = color_table(ColorMap::blue_orange, theme);
    check_contrast({{"text_faint", p.text_faint}, {"bar", p.bar}, {"blocked cell", blocked_color(theme)}},
                   {{"window", p.window}, {"panel", p.panel}}, of_marks);
    check_contrast({{"bar of a negative term", table[64]}}, {{"panel", p.panel}}, of_marks);
    for (const Rgba8 hue : p.heads) {
      check_contrast({{"dot of a head", hue}},
                     {{"window", p.window}, {"panel", p.panel}, {"control", p.control}}, of_marks);
    }
    check_contrast({{"text_faint", p.text_faint}}, {{"field", p.field}, {"control_hover", p.control_hover}},
                   of_marks);
  });
}

TEST_CASE("the neutral colour of a map can be told from the blocked cells beside it in every theme") {
  in_every_theme([](Theme theme, const Palette&) {
    for (const ColorMapEntry& entry : color_map_entries()) {
      CAPTURE(entry.name);
      const ColorTable& table = color_table(entry.map, theme);
      CHECK(contrast_ratio(table[entry.diverging ? 127 : 0], blocked_color(theme)) >= of_marks);
    }
  });
}
