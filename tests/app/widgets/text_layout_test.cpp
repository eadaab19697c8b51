// A text of 100,000 characters is laid out when it changes, not in every frame.
#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <string>

#include "app/widgets/axis_labels.h"
#include "app/widgets/text_layout.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

// What fits, letter by letter.
std::string fitted_slowly(const std::string& text, ImFont* font, float width) {
  const auto fits = [&](const std::string& part) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, part.c_str()).x <= width;
  };
  if (fits(text)) return text;
  std::string cut = text;
  while (!cut.empty()) {
    while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0U) == 0x80U) cut.pop_back();
    if (!cut.empty()) cut.pop_back();
    if (fits(cut + "…")) break;
  }
  return cut.empty() && !fits("…") ? "" : cut + "…";
}

}  // namespace

TEST_CASE("the lines of a long text are broken once, and again when it, its width or its scale changes") {
  Scenario scenario = preset_scenario("hand_made");
  scenario.attention.embed_dim = 16;
  scenario.attention.num_heads = 1;
  scenario.parameters.source = ParameterSource::random;
  scenario.inputs.text.clear();
  while (scenario.inputs.text.size() < 100'000) scenario.inputs.text += std::string(999, 'x') + " ";
  WINDOW_OR_SKIP(bench, open_window(1600, 1000, scenario));
  bench.ui->run_until_still();
  const auto made_by = [&](auto act) {
    const long before = text_layouts().made();
    act();
    return text_layouts().made() - before;
  };
  CHECK(made_by([&] { bench.ui->run_frames(5); }) == 0);
  bench.ui->click("setup/text");
  CHECK(made_by([&] { bench.ui->wheel(-3); }) == 0);
  CHECK(made_by([&] { bench.ui->key("End"); }) == 0);
  CHECK(made_by([&] { bench.ui->type("s"); }) == 1);
  CHECK(bench.scenario().inputs.text.size() == 100'001);
  CHECK(made_by([&] { bench.ui->run_frames(5); }) == 0);
  CHECK(made_by([&] { bench.ui->key("Ctrl+="); }) >= 1);
}

TEST_CASE("a text is cut to the same letters as if it were shortened one by one, however long it is") {
  WINDOW_OR_SKIP(bench, open_window());
  ImFont* font = bench.ui->fonts().sans;
  std::string words = "Straße, naïve café: ";
  while (words.size() < 300) words += words;
  for (const std::size_t length : {0, 1, 3, 20, 63, 64, 65, 127, 300})
    for (const float width : {0.0f, 5.0f, 17.0f, 92.0f, 300.0f, 501.5f, 4000.0f}) {
      CAPTURE(length);
      CAPTURE(width);
      std::string text = words.substr(0, length);
      while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.pop_back();
      CHECK(fitted_text(text, font, width) == fitted_slowly(text, font, width));
    }
  const std::string huge(1'000'000, 'w');
  const std::string cut = fitted_text(huge, font, 92.0f);
  CHECK(cut.size() < 40);
  CHECK(cut.ends_with("…"));
}

TEST_CASE("lines break at blanks alone: a number stays in one piece whatever stands in it") {
  WINDOW_OR_SKIP(bench, open_window(640, 480));
  const ImFont* font = bench.ui->fonts().sans;
  const std::string text =
      "k and v of 1,152 numbers are 4.5 KiB, \u22120.98 at scores[0,3,8,1].\nThe next line: 12,582,912.";
  const auto width_of = [&](const std::string& part) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, part.c_str()).x;
  };
  const float widest = width_of("scores[0,3,8,1].") + 1.0f;
  for (float width = widest; width < 900.0f; width += 7.0f) {
    CAPTURE(width);
    const std::string lines = with_line_breaks(text, font, width);
    std::string joined = lines, given = text;
    std::ranges::replace(joined, '\n', ' ');
    std::ranges::replace(given, '\n', ' ');
    CHECK(joined == given);  // breaks stand where blanks stood
    CHECK(width_of(lines) <= width);
    // So nothing is left for ImGui to break.
    CHECK(font->CalcTextSizeA(font->FontSize, FLT_MAX, width, lines.c_str()).y ==
          font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, lines.c_str()).y);
  }
  CHECK(with_line_breaks(text, font, 2000.0f) == text);
}
