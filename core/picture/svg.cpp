#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/picture/label_text.h"
#include "core/picture/picture.h"
#include "core/picture/plane_rule.h"
#include "core/picture/svg_parts.h"

namespace headwise {
namespace {

// Hundredths of a pixel are more than any viewer shows.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string color_text(Rgba8 color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return k < bytes.size() ? bytes[k] : 0u; };
    const unsigned group = (byte(i) << 16) | (byte(i + 1) << 8) | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? digits[(group >> (18 - 6 * k)) & 63u] : '=';
    }
  }
  return out;
}

void add_image(std::string& svg, const RectF& rect, const Image& image) {
  svg += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "image-rendering=\"pixelated\" style=\"image-rendering:pixelated\" "
      "xlink:href=\"data:image/png;base64,{}\"/>\n",
      number(rect.x), number(rect.y), number(rect.width), number(rect.height), base64(to_png(image)));
}

// The maximum number of cells whose hatch and marks are drawn individually; a larger matrix is embedded as
// painted, pixel by pixel.
constexpr Index most_vector_cells = 250000;

// The colours of the cells without gap, hatch or mark, each cell `enlarged` pixels wide and high: a viewer
// that smooths images all the same then blurs only the edge of a cell.
Image flat_cells(const HeatmapSpec& spec) {
  const auto rows = static_cast<int>(spec.values.rows), cols = static_cast<int>(spec.values.cols);
  constexpr int sharp = 1024;  // pixels per side: about what a slide shows
  const int enlarged = std::clamp(sharp / std::max(rows, cols), 1, 16);
  return rasterise_plane(spec, cols * enlarged, rows * enlarged, PlaneRule{enlarged, 0, 1, 0, 0});
}

// The rest of the plane rule in vectors.
class PlaneVectors {
 public:
  PlaneVectors(const PlaneItem& item, Rgba8 ground)
      : item_(item),
        ground_(ground),
        rows_(item.spec.values.rows),
        cols_(item.spec.values.cols),
        width_(static_cast<int>(std::lround(item.rect.width))),
        height_(static_cast<int>(std::lround(item.rect.height))),
        rule_(plane_rule(rows_, cols_, width_, height_)) {}

  // Blocked cells have no gap, so their background is painted over it again.
  void add_hatch(std::string& svg, std::size_t id) const {
    const std::string blocked = runs([](CellKind kind) { return kind == CellKind::blocked; });
    const std::string kept = runs([](CellKind kind) { return kind == CellKind::blocked_value; });
    if (!blocked.empty() && rule_.gap > 0)
      add_fill(svg, color_text(blocked_color(item_.spec.theme)), blocked);
    if (rule_.cross == 0)
      add_lines(svg, fmt::format("hatch{}", id), 0, hatch_color(item_.spec.theme), blocked);
    add_lines(svg, fmt::format("light{}", id), 0, {255, 255, 255}, kept);
    add_lines(svg, fmt::format("dark{}", id), rule_.hatch_width, {0, 0, 0}, kept);
  }

  // Diagonal lines over a path, `after` pixels to the right of where the hatch begins.
  void add_lines(std::string& svg, const std::string& id, int after, Rgba8 color,
                 const std::string& path) const {
    if (path.empty()) return;
    const double middle = (rule_.hatch_width + 1) / 2.0 + after;
    const double period = rule_.hatch_period, line = rule_.hatch_width / std::sqrt(2.0);
    svg += fmt::format(
        "<pattern id=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1L1 -1M0 {}L{} 0M{} {}L{} {}\" stroke=\"{}\" "
        "stroke-width=\"{}\"/></pattern>\n",
        id, number(item_.rect.x + middle), number(item_.rect.y), number(period), number(period),
        number(period), number(period), number(period - 1), number(period + 1), number(period + 1),
        number(period - 1), color_text(color), number(line));
    add_fill(svg, fmt::format("url(#{})", id), path);
  }

  void add_gaps(std::string& svg) const {
    if (rule_.gap == 0) return;
    std::string path;
    for (Index col = 1; col < cols_; ++col) add_box(path, x(col), y(0), x(col) + rule_.gap, y(rows_));
    for (Index row = 1; row < rows_; ++row) add_box(path, x(0), y(row), x(cols_), y(row) + rule_.gap);
    if (!path.empty()) add_fill(svg, color_text(ground_), path);
  }

  void add_marks(std::string& svg) const {
    if (rule_.mark == 0) return;
    const ColorTable& table = color_table(item_.spec.color_map, item_.spec.theme);
    if (rule_.cross > 0) add_marks_of(svg, CellKind::blocked, blocked_color(item_.spec.theme));
    add_marks_of(svg, CellKind::nan, nan_color(item_.spec.theme));
    add_marks_of(svg, CellKind::minus_inf, table.front());
    add_marks_of(svg, CellKind::plus_inf, table.back());
  }

 private:
  double x(Index col) const { return item_.rect.x + cell_begin(col, cols_, width_); }
  double y(Index row) const { return item_.rect.y + cell_begin(row, rows_, height_); }

  // A box for each horizontal run of cells of the requested kind.
  template <class Wanted>
  std::string runs(Wanted wanted) const {
    std::string path;
    for (Index row = 0; row < rows_; ++row) {
      for (Index col = 0; col < cols_; ++col) {
        if (!wanted(cell_kind(item_.spec, row, col))) continue;
        const Index first = col;
        while (col + 1 < cols_ && wanted(cell_kind(item_.spec, row, col + 1))) ++col;
        add_box(path, x(first), y(row), x(col + 1), y(row + 1));
      }
    }
    return path;
  }

  static void add_fill(std::string& svg, const std::string& fill, const std::string& path) {
    svg += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", fill, path);
  }

  static void add_box(std::string& path, double left, double top, double right, double bottom) {
    path += fmt::format("M{} {}H{}V{}H{}Z", number(left), number(top), number(right), number(bottom),
                        number(left));
  }

  // The strokes of a mark reach half the cell (NaN's cross three quarters of it, the square one of a blocked cell two
  // fifths of its shorter side) and are as thick as in pixels.
  void add_marks_of(std::string& svg, CellKind kind, Rgba8 ground) const {
    std::string path;
    for (Index row = 0; row < rows_; ++row) {
      for (Index col = 0; col < cols_; ++col) {
        if (cell_kind(item_.spec, row, col) != kind) continue;
        const double middle_x = (x(col) + x(col + 1)) / 2, middle_y = (y(row) + y(row + 1)) / 2;
        const double width = x(col + 1) - x(col), height = y(row + 1) - y(row);
        const double reach = kind == CellKind::nan ? 0.375 : 0.25;
        double dx = reach * width, dy = reach * height;
        if (kind == CellKind::blocked) dx = dy = 0.2 * std::min(width, height);
        const auto stroke = [&](double from_x, double from_y, double to_x, double to_y) {
          path += fmt::format("M{} {}L{} {}", number(middle_x + from_x), number(middle_y + from_y),
                              number(middle_x + to_x), number(middle_y + to_y));
        };
        if (kind == CellKind::nan || kind == CellKind::blocked) {
          stroke(-dx, -dy, dx, dy);
          stroke(-dx, dy, dx, -dy);
        } else {
          stroke(-dx, 0, dx, 0);
          if (kind == CellKind::plus_inf) stroke(0, -dy, 0, dy);
        }
      }
    }
    if (path.empty()) return;
    const auto slanted = [](int pixels) { return std::max(1.0, pixels / std::sqrt(2.0)); };
    const double thick = kind == CellKind::nan       ? slanted(rule_.mark)
                         : kind == CellKind::blocked ? slanted(rule_.cross)
                                                     : rule_.mark;
    svg += fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" d=\"{}\"/>\n",
                       color_text(ink_on(ground)), number(thick), path);
  }

  const PlaneItem& item_;
  Rgba8 ground_;
  Index rows_, cols_;
  int width_, height_;
  PlaneRule rule_;
};

void add_plane(std::string& svg, const PlaneItem& item, Rgba8 ground, std::size_t id) {
  const Index rows = item.spec.values.rows, cols = item.spec.values.cols;
  const auto width = static_cast<int>(std::lround(item.rect.width)),
             height = static_cast<int>(std::lround(item.rect.height));
  if (rows == 0 || cols == 0 || width == 0 || height == 0) return;
  if (width < cols || height < rows || rows * cols > most_vector_cells) {
    add_image(svg, item.rect, rasterise_plane(item.spec, width, height));
    return;
  }
  add_image(svg, item.rect, flat_cells(item.spec));
  const PlaneVectors vectors(item, ground);
  vectors.add_gaps(svg);
  vectors.add_hatch(svg, id);
  vectors.add_marks(svg);
}

void add_bar(std::string& svg, const ColorBarItem& item) {
  const ColorTable& table = color_table(item.color_map, item.theme);
  Image strip{256, 1, {}};
  for (int x = 0; x < strip.width; ++x) {
    const double share = x / 255.0;
    const Rgba8 color = color_at(item.range.lo * (1 - share) + item.range.hi * share, item.range, table);
    strip.rgba.insert(strip.rgba.end(), {color.r, color.g, color.b, color.a});
  }
  add_image(svg, item.rect, strip);
}

// Boxes of one colour that follow each other are one path.
void add_boxes(std::string& svg, const std::vector<BoxItem>& boxes) {
  for (std::size_t i = 0; i < boxes.size();) {
    svg += fmt::format("<path fill=\"{}\" d=\"", color_text(boxes[i].color));
    const Rgba8 color = boxes[i].color;
    for (; i < boxes.size() && boxes[i].color == color; ++i) {
      const RectF& rect = boxes[i].rect;
      svg += fmt::format("M{} {}h{}v{}h{}Z", number(rect.x), number(rect.y), number(rect.width),
                         number(rect.height), number(-rect.width));
    }
    svg += "\"/>\n";
  }
}

void add_line(std::string& svg, const LineItem& item) {
  svg += fmt::format("<path stroke=\"{}\" stroke-width=\"{}\" d=\"M{} {}L{} {}\"/>\n", color_text(item.color),
                     number(item.width), number(item.from.x), number(item.from.y), number(item.to.x),
                     number(item.to.y));
}

void add_text(std::string& svg, const TextItem& item) {
  static constexpr const char* faces[] = {"", " font-weight=\"bold\"",
                                          " font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\""};
  static constexpr const char* anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const std::string x = number(item.baseline.x), y = number(item.baseline.y);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{}{}", x, y, number(item.size),
                     color_text(item.color), faces[static_cast<std::size_t>(item.face)],
                     anchors[static_cast<std::size_t>(item.anchor)]);
  if (item.degrees != 0.0) svg += fmt::format(" transform=\"rotate({} {} {})\"", number(item.degrees), x, y);
  svg += fmt::format(">{}</text>\n", escaped(printable(item.text)));
}

}  // namespace

std::string svg_number(double value) {
  return number(value);
}

std::string svg_color(Rgba8 color) {
  return color_text(color);
}

std::string svg_escaped(const std::string& text) {
  return escaped(text);
}

std::string svg_plane(const PlaneItem& item, Rgba8 ground, std::size_t id) {
  std::string svg;
  add_plane(svg, item, ground, id);
  return svg;
}

std::string to_svg(const Picture& picture) {
  const std::string width = number(picture.width), height = number(picture.height);
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n",
      width, height, color_text(picture.ground));
  for (std::size_t i = 0; i < picture.planes.size(); ++i)
    add_plane(svg, picture.planes[i], picture.ground, i);
  for (const ColorBarItem& item : picture.bars) add_bar(svg, item);
  add_boxes(svg, picture.boxes);
  svg += "<g fill=\"none\">\n";
  for (const LineItem& item : picture.lines) add_line(svg, item);
  svg += "</g>\n<g font-family=\"'DejaVu Sans',Verdana,sans-serif\" style=\"white-space:pre\">\n";
  for (const TextItem& item : picture.texts) add_text(svg, item);
  svg += "</g>\n</svg>\n";
  return svg;
}

}  // namespace headwise
