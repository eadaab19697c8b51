// Pictures as vectors: SVG and PDF.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/export/font.h"
#include "core/export/pdf_document.h"
#include "core/export/picture.h"
#include "tests/checks.h"
#include "tests/core/export/read_pdf.h"
#include "tests/core/export/read_png.h"
#include "tests/core/export/sample_heatmaps.h"

using namespace headwise;

namespace {

// Empty where the text is well-formed XML as far as this program writes it: elements closed in order,
// attributes quoted, & only before a name that XML knows, no control character; else what is wrong and where.
std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  const auto fault = [&](const std::string& what, std::size_t at) {
    return what + " near: " + std::string(xml.substr(at, 60));
  };
  for (std::size_t i = 0; i < xml.size();) {
    const auto byte = static_cast<unsigned char>(xml[i]);
    if (byte < 0x20 && byte != '\n') return fault("control character", i);
    if (xml[i] == '&') {
      const std::string_view name = xml.substr(i, xml.find(';', i) - i);
      if (name != "&amp" && name != "&lt" && name != "&gt" && name != "&quot") return fault("bare &", i);
    }
    if (xml[i] != '<') {
      ++i;
      continue;
    }
    const std::size_t end = xml.find('>', i);
    if (end == std::string_view::npos) return fault("open tag", i);
    std::string_view tag = xml.substr(i + 1, end - i - 1);
    if (tag.find('<') != std::string_view::npos) return fault("< in a tag", i);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return fault("open quote", i);
    const std::string name(tag.substr(0, tag.find_first_of(" /")));
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return fault("closed out of order", i);
      open.pop_back();
    } else if (tag.back() != '/' && tag.front() != '?') {
      open.push_back(name);
    }
    i = end + 1;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

std::vector<std::uint8_t> from_base64(std::string_view text) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<std::uint8_t>(bits >> count));
    }
  }
  return out;
}

std::vector<Image> embedded_images(std::string_view svg) {
  std::vector<Image> images;
  constexpr std::string_view start = "data:image/png;base64,";
  for (std::size_t at = svg.find(start); at != std::string_view::npos; at = svg.find(start, at + 1)) {
    const std::size_t begin = at + start.size();
    images.push_back(decoded_png(from_base64(svg.substr(begin, svg.find('"', begin) - begin))));
  }
  return images;
}

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// As cairo writes a number: six digits behind the leading zeros.
std::string shade(std::uint8_t channel) {
  const double value = channel / 255.0;
  std::string text = fmt::format("{:.{}f}", value, value >= 0.1 ? 6 : value >= 0.01 ? 7 : 8);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("an SVG is well-formed XML whatever stands in the labels") {
  HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  spec.title = "a < b & c > \"d\" 'e' ]]> <!-- \x01\xff\xEF\xBF\xBF";
  spec.row_labels = {"<script>", "&amp;", "\n\r\t"};
  spec.col_labels = {"\xED\xA0\x80", "😀", "\u202Eשלום", std::string("\0", 1)};
  const std::string svg = to_svg(heatmap_picture(spec, 28.0));
  CHECK(xml_fault(svg) == "");
  CHECK_CONTAINS(svg, "&lt;script&gt;");
  CHECK_CONTAINS(svg, "&amp;amp;");
  CHECK(xml_fault(svg + "<g>") != "");
  CHECK(xml_fault(to_svg(heatmap_picture(sample_heatmap(0, 3), 28.0))) == "");
}

TEST_CASE("the cells of an SVG are rectangles in their colours, and nothing of it is an image") {
  HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  Picture picture = heatmap_picture(spec, 28.0);
  const std::string svg = to_svg(picture);
  CHECK(embedded_images(svg).empty());
  CHECK_CONTAINS(svg, "<linearGradient ");  // the colour bar
  picture.planes.resize(1);                 // without the legend
  picture.boxes.clear();
  picture.bars.clear();
  const std::string plane = to_svg(picture);
  const ColorTable& table = color_table(spec.color_map, spec.theme);
  for (Index row = 0; row < 3; ++row) {
    for (Index col = 0; col < 4; ++col) {
      const CellKind kind = cell_kind(spec, row, col);
      Rgba8 color = blocked_color(spec.theme);
      if (kind == CellKind::nan) color = nan_color(spec.theme);
      if (kind == CellKind::minus_inf) color = table.front();
      if (kind == CellKind::plus_inf) color = table.back();
      if (kind == CellKind::value || kind == CellKind::blocked_value)
        color = color_at(spec.values.value(row, col), spec.range, table);
      // A gap of one pixel left of and above each cell, but not of the first ones, and not of blocked ones.
      const bool blocked = kind == CellKind::blocked;
      const RectF& rect = picture.planes.front().rect;
      const double left = rect.x + 28.0 * static_cast<double>(col) + (col > 0 && !blocked ? 1 : 0),
                   top = rect.y + 28.0 * static_cast<double>(row) + (row > 0 && !blocked ? 1 : 0),
                   right = rect.x + 28.0 * static_cast<double>(col + 1),
                   bottom = rect.y + 28.0 * static_cast<double>(row + 1);
      const std::string box = fmt::format("M{} {}H{}V{}H{}Z", left, top, right, bottom, left);
      const std::size_t at = plane.find(box);
      CAPTURE(box);
      REQUIRE(at != std::string::npos);
      const std::string fill = fmt::format("fill=\"#{:02x}{:02x}{:02x}\"", color.r, color.g, color.b);
      CHECK(plane.rfind(fill, at) > plane.rfind("<path", at));
      CHECK(plane.rfind(fill, at) != std::string::npos);
    }
  }
}

TEST_CASE("cells that touch reach below the next ones, so that no viewer shows the ground between them") {
  const HeatmapSpec spec = sample_heatmap(2, 2);
  Picture picture = heatmap_picture(spec, 8.0);
  const RectF& rect = picture.planes.front().rect;
  const std::string svg = to_svg(picture);
  const auto box = [&](double left, double top, double right, double bottom) {
    return fmt::format("M{} {}H{}V{}H{}Z", rect.x + left, rect.y + top, rect.x + right, rect.y + bottom,
                       rect.x + left);
  };
  CHECK(svg.find(box(0, 0, 8.5, 8.5)) < svg.find(box(8, 0, 16, 8.5)));
  CHECK(svg.find(box(8, 0, 16, 8.5)) < svg.find(box(0, 8, 8.5, 16)));
  CHECK(svg.find(box(0, 8, 8.5, 16)) < svg.find(box(8, 8, 16, 16)));
  CHECK_CONTAINS(svg, box(8, 8, 16, 16));
}

TEST_CASE("above 10,000 cells the colours are one unsmoothed image, and gaps and marks remain vectors") {
  CHECK(embedded_images(to_svg(heatmap_picture(sample_heatmap(100, 100), 12.0))).empty());
  const HeatmapSpec spec = sample_heatmap(100, 101);
  const std::string svg = to_svg(heatmap_picture(spec, 12.0));
  const std::vector<Image> images = embedded_images(svg);
  REQUIRE(images.size() == 1);
  const int enlarged = images.front().width / 101;
  REQUIRE(images.front().width == 101 * enlarged);
  REQUIRE(images.front().height == 100 * enlarged);
  const ColorTable& table = color_table(spec.color_map, spec.theme);
  for (Index row = 0; row < 100; ++row)
    for (Index col = 0; col < 101; ++col)
      REQUIRE(pixel(images.front(), static_cast<int>(col) * enlarged, static_cast<int>(row) * enlarged) ==
              color_at(spec.values.value(row, col), spec.range, table));
  CHECK_CONTAINS(svg, "image-rendering:pixelated");
  // The cells of all planes count together.
  const std::vector<HeatmapSpec> heads(3, sample_heatmap(60, 60));
  CHECK(embedded_images(to_svg(heatmap_grid_picture(heads, "", 12.0))).size() == 3);
}

TEST_CASE("an SVG is printed at the number of pixels per inch that was asked for, in the same layout") {
  const Picture picture = heatmap_picture(sample_heatmap(3, 4), 28.0);
  const std::string usual = to_svg(picture), fine = to_svg(picture, 192.0);
  const std::string box = fmt::format(" viewBox=\"0 0 {} {}\"", picture.width, picture.height);
  CHECK_CONTAINS(usual, fmt::format("width=\"{}\" height=\"{}\"{}", picture.width, picture.height, box));
  CHECK_CONTAINS(fine, fmt::format("width=\"{}\" height=\"{}\"{}", picture.width / 2, picture.height / 2, box));
}

TEST_CASE("text, hatch, gaps and marks of an SVG are vectors, in the fonts of the picture") {
  const HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  const Picture picture = heatmap_picture(spec, 28.0);
  const std::string svg = to_svg(picture);
  CHECK(occurrences(svg, "<text ") == picture.texts.size());
  CHECK_CONTAINS(svg, "DejaVu Sans");
  CHECK_CONTAINS(svg, "rotate(-90 ");
  CHECK(occurrences(svg, "<pattern ") ==
        4);  // light and dark lines over a blocked value: in the plane, in the legend
}

TEST_CASE("in an SVG small blocked cells are hatched, larger ones crossed, and each text stands on its box") {
  HeatmapSpec spec = sample_heatmap(3, 4);
  spec.mask = matrix_of(3, 4, {0, 0, 0, -std::numeric_limits<double>::infinity(), 0, 0, 0, 0, 0, 0, 0, 0});
  Tensor values = *spec.values.tensor;
  values.set_flat(3, 0.0);
  spec.values.tensor = std::make_shared<Tensor>(std::move(values));
  const auto plane_of = [&](double cell) {
    Picture picture = heatmap_picture(spec, cell);
    picture.planes.resize(1);  // without the legend
    return picture;
  };
  const Picture small = plane_of(8.0), large = plane_of(28.0);
  CHECK(occurrences(to_svg(small), "<pattern ") == 1);
  CHECK(occurrences(to_svg(small), "stroke=\"#ffffff\" stroke-width=\"1\"") == 0);
  CHECK(occurrences(to_svg(large), "<pattern ") == 0);
  CHECK(occurrences(to_svg(large), "stroke=\"#ffffff\" stroke-width=\"1\"") == 1);
  CHECK(large.boxes.empty());
  Tensor blocked = *spec.values.tensor;
  blocked.set_flat(3, -std::numeric_limits<double>::infinity());
  spec.values.tensor = std::make_shared<Tensor>(std::move(blocked));
  const Picture written = plane_of(28.0);
  REQUIRE(written.boxes.size() == 1);
  CHECK(written.boxes.front().color == blocked_color(spec.theme));
  CHECK(occurrences(to_svg(written), ">−∞</text>") == 1);
}

TEST_CASE("a plane with cells below a pixel, or with very many, is embedded as it is rasterised") {
  const HeatmapSpec small = with_every_kind(sample_heatmap(20, 20));
  CHECK(embedded_images(to_svg(heatmap_picture(small, 0.5))).front().rgba ==
        rasterise_plane(small, 10, 10).rgba);
  const HeatmapSpec many = with_every_kind(sample_heatmap(600, 600));
  CHECK(embedded_images(to_svg(heatmap_picture(many, 1.0))).front().rgba == rasterise_plane(many, 1).rgba);
}

TEST_CASE("the same picture gives the same SVG") {
  const Picture picture = heatmap_picture(with_every_kind(sample_heatmap(3, 4)), 28.0);
  CHECK(to_svg(picture) == to_svg(picture));
}

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
