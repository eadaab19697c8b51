#include <fmt/format.h>

#include "core/picture/font.h"
#include "core/picture/pdf_document.h"
#include "core/picture/picture.h"
#include "tests/checks.h"
#include "tests/core/picture/read_pdf.h"
#include "tests/core/picture/sample_heatmaps.h"

using namespace headwise;

namespace {

// As cairo writes a number: six digits behind the leading zeros.
std::string shade(std::uint8_t channel) {
  const double value = channel / 255.0;
  std::string text = fmt::format("{:.{}f}", value, value >= 0.1 ? 6 : value >= 0.01 ? 7 : 8);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("the cells of a PDF are rectangles in their colours") {
  const HeatmapSpec spec = sample_heatmap(3, 4);
  Picture picture = heatmap_picture(spec, 28.0);
  const std::string whole = to_pdf(picture);
  CHECK(whole.starts_with("%PDF-1."));
  CHECK_LACKS(whole, "/Subtype /Image");
  picture.bars.clear();
  picture.boxes.clear();
  const std::string page = pdf_streams(to_pdf(picture));
  CHECK(occurrences_in(page, " re f") == 1 + 3 * 4);  // the ground and the cells
  const ColorTable& table = color_table(spec.color_map, spec.theme);
  for (Index row = 0; row < 3; ++row) {
    for (Index col = 0; col < 4; ++col) {
      const Rgba8 color = color_at(spec.values.value(row, col), spec.range, table);
      const std::string operands = fmt::format("{} {} {} rg", shade(color.r), shade(color.g), shade(color.b));
      CAPTURE(operands);
      CHECK_CONTAINS(page, operands);
    }
  }
}

TEST_CASE("the text of a PDF is text, in embedded subsets of the picture's fonts") {
  HeatmapSpec spec = sample_heatmap(3, 4);
  spec.row_labels = {"animal", "(it)", "tired\\"};
  const std::string pdf = to_pdf(heatmap_picture(spec, 28.0));
  const std::string streams = pdf_streams(pdf), text = pdf_text(streams);
  for (const char* words : {"scores[0,0] ", "query", "key", "animal", "(it)", "tired\\", "fixed"}) {
    CAPTURE(words);
    CHECK_CONTAINS(text, words);
  }
  for (const char* font : {"+DejaVuSans\n", "+DejaVuSans-Bold", "+DejaVuSansMono"}) {
    CAPTURE(font);
    CHECK_CONTAINS(pdf, font);
  }
  CHECK(occurrences_in(pdf, "/FontFile2 ") >= 3);
  CHECK(occurrences_in(pdf, "/FontFile2 ") == occurrences_in(pdf, "/Type /FontDescriptor"));
  CHECK_CONTAINS(streams, "<2212>");  // the minus of the colour bar, for whoever copies it
  CHECK(pdf.size() < 100000);         // subsets: DejaVu Sans alone has 750 kB
}

TEST_CASE("a PDF embeds the system font of characters that DejaVu lacks") {
  if (!system_font_with(U'語')) return;
  HeatmapSpec spec = sample_heatmap(2, 2);
  spec.row_labels = {"語", "a"};
  const std::string pdf = to_pdf(heatmap_picture(spec, 28.0));
  CHECK_CONTAINS(pdf_streams(pdf), "<8a9e>");
}

TEST_CASE("the same picture gives the same PDF, without a date") {
  const Picture picture = heatmap_picture(with_every_kind(sample_heatmap(3, 4)), 28.0);
  const std::string pdf = to_pdf(picture);
  CHECK(to_pdf(picture) == pdf);
  CHECK_LACKS(pdf, "CreationDate");
  CHECK_LACKS(pdf, "ModDate");
}

TEST_CASE("above 10,000 cells the colours of a PDF are one image that viewers do not smooth") {
  const std::string pdf = to_pdf(heatmap_picture(sample_heatmap(100, 101), 12.0));
  CHECK(occurrences_in(pdf, "/Subtype /Image") == 1);
  CHECK_LACKS(pdf, "/Interpolate true");
  CHECK_LACKS(to_pdf(heatmap_picture(sample_heatmap(100, 100), 12.0)), "/Subtype /Image");
}

TEST_CASE("a page of a PDF has the size of the picture at its pixels per inch, and at most 200 inches") {
  const Picture picture = heatmap_picture(sample_heatmap(3, 4), 28.0);
  const auto box = [](double width, double height) {
    return fmt::format("/MediaBox [ 0 0 {} {} ]", width, height);
  };
  CHECK_CONTAINS(to_pdf(picture), box(picture.width * 0.75, picture.height * 0.75));
  CHECK_CONTAINS(to_pdf(picture, 288.0), box(picture.width / 4, picture.height / 4));
  PdfDocument document;
  document.begin_page(28800, 7200, {255, 255, 255});
  document.begin_page(100, 200, {255, 255, 255});
  const std::string pdf = document.finish();
  CHECK_CONTAINS(pdf, box(14400, 3600));
  CHECK_CONTAINS(pdf, box(75, 150));
  CHECK_CONTAINS(pdf, "/Count 2");
}
