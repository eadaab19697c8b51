#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/picture/picture.h"
#include "tests/core/picture/read_png.h"
#include "tests/core/picture/sample_heatmaps.h"

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
    images.push_back(read_png(from_base64(svg.substr(begin, svg.find('"', begin) - begin))));
  }
  return images;
}

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("an SVG is well-formed XML whatever stands in the labels") {
  HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  spec.title = "a < b & c > \"d\" 'e' ]]> <!-- \x01\xff\xEF\xBF\xBF";
  spec.row_labels = {"<script>", "&amp;", "\n\r\t"};
  spec.col_labels = {"\xED\xA0\x80", "😀", "\u202Eשלום", std::string("\0", 1)};
  const std::string svg = to_svg(heatmap_picture(spec, 28.0));
  CHECK(xml_fault(svg) == "");
  CHECK(svg.find("&lt;script&gt;") != std::string::npos);
  CHECK(svg.find("&amp;amp;") != std::string::npos);
  CHECK(xml_fault(svg + "<g>") != "");
  CHECK(xml_fault(to_svg(heatmap_picture(sample_heatmap(0, 3), 28.0))) == "");
}

TEST_CASE("the cells of an SVG are one unsmoothed image of their colours") {
  const HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  const std::string svg = to_svg(heatmap_picture(spec, 28.0));
  const Image cells = embedded_images(svg).front();
  const int enlarged = cells.width / 4;
  REQUIRE(cells.width == 4 * enlarged);
  REQUIRE(cells.height == 3 * enlarged);
  const ColorTable& table = color_table(spec.color_map, spec.theme);
  for (int y = 0; y < cells.height; ++y) {
    for (int x = 0; x < cells.width; ++x) {
      const Index row = y / enlarged, col = x / enlarged;
      Rgba8 expected = color_at(0.0, spec.range, table);
      switch (cell_kind(spec, row, col)) {
        case CellKind::nan:
          expected = nan_color(spec.theme);
          break;
        case CellKind::blocked:
          expected = blocked_color(spec.theme);
          break;
        case CellKind::minus_inf:
          expected = table.front();
          break;
        case CellKind::plus_inf:
          expected = table.back();
          break;
        default:
          expected = color_at(spec.values.value(row, col), spec.range, table);
      }
      REQUIRE(pixel(cells, x, y) == expected);
    }
  }
  CHECK(svg.find("image-rendering:pixelated") != std::string::npos);
}

TEST_CASE("text, hatch, gaps and marks of an SVG are vectors, in the fonts of the picture") {
  const HeatmapSpec spec = with_every_kind(sample_heatmap(3, 4));
  const Picture picture = heatmap_picture(spec, 28.0);
  const std::string svg = to_svg(picture);
  CHECK(occurrences(svg, "<text ") == picture.texts.size());
  CHECK(svg.find("DejaVu Sans") != std::string::npos);
  CHECK(svg.find("rotate(-90 ") != std::string::npos);
  CHECK(occurrences(svg, "<pattern ") ==
        4);  // light and dark lines over a blocked value: in the plane, in the legend
  CHECK(occurrences(svg, "fill=\"#ffffff\"") >= 2);  // the ground, and the gaps in its colour
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
