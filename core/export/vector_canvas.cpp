#include "core/export/vector_canvas.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/attention/cell_provenance.h"
#include "core/export/label_text.h"
#include "core/export/pdf_document.h"
#include "core/export/plane_rule.h"
#include "core/files/element_type.h"

namespace headwise {
namespace {

// Hundredths of a pixel are more than any viewer shows.
std::string coordinate_text(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string color_attributes(const char* name, const char* opacity, Rgba8 color) {
  std::string text = fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", name, color.r, color.g, color.b);
  if (color.a != 255) text += fmt::format(" {}=\"{:.3g}\"", opacity, color.a / 255.0);
  return text;
}

std::string fill_attributes(Rgba8 color) {
  return color_attributes("fill", "fill-opacity", color);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string path_data(const VectorPath& path) {
  std::string data;
  PointF start, at;
  for (const VectorPath::Element& element : path.elements()) {
    switch (element.verb) {
      case VectorPath::Verb::move:
        data += fmt::format("M{} {}", coordinate_text(element.to.x), coordinate_text(element.to.y));
        start = element.to;
        break;
      case VectorPath::Verb::line:
        if (element.to.y == at.y)
          data += "H" + coordinate_text(element.to.x);
        else if (element.to.x == at.x)
          data += "V" + coordinate_text(element.to.y);
        else
          data += fmt::format("L{} {}", coordinate_text(element.to.x), coordinate_text(element.to.y));
        break;
      case VectorPath::Verb::close:
        data += 'Z';
        break;
    }
    at = element.verb == VectorPath::Verb::close ? start : element.to;
  }
  return data;
}

// The maximum number of cells whose hatch and marks are drawn individually; a larger matrix is embedded as
// painted, pixel by pixel.
constexpr Index most_marked_cells = 250000;

// The colours of the cells without gap, hatch or mark, each cell `enlarged` pixels wide and high.
Image flat_cells(const HeatmapSpec& spec, int enlarged) {
  return rasterise_plane(spec, static_cast<int>(spec.values.cols) * enlarged,
                         static_cast<int>(spec.values.rows) * enlarged, PlaneRule{enlarged, 0, 1, 1, 0, 0});
}

class PlaneVectors {
 public:
  PlaneVectors(VectorCanvas& canvas, const PlaneItem& item, Rgba8 ground)
      : canvas_(canvas),
        item_(item),
        ground_(ground),
        rows_(item.spec.values.rows),
        cols_(item.spec.values.cols),
        width_(static_cast<int>(std::lround(item.rect.width))),
        height_(static_cast<int>(std::lround(item.rect.height))),
        rule_(plane_rule(rows_, cols_, width_, height_)) {}

  // A rectangle for each cell, and one for neighbours of one colour that touch. Where cells touch, each
  // reaches half a pixel below the next ones, which are drawn later: a viewer that smooths edges would show
  // the ground between them.
  void draw_cell_shapes() const {
    const Image colors = flat_cells(item_.spec, 1);
    const double under = rule_.gap == 0 ? 0.5 : 0.0;
    VectorPath path;
    Rgba8 path_color;
    for (Index row = 0; row < rows_; ++row) {
      for (Index col = 0; col < cols_; ++col) {
        if (rule_.gap > 0 && is_blocked(row, col)) continue;  // without a gap: draw_hatch
        const Rgba8 color = color_in(colors, row, col);
        const Index first = col;
        while (rule_.gap == 0 && col + 1 < cols_ && color_in(colors, row, col + 1) == color) ++col;
        if (color != path_color) flush(path, path_color);
        path_color = color;
        path.box(x(first) + (first > 0 ? rule_.gap : 0), y(row) + (row > 0 ? rule_.gap : 0),
                 x(col + 1) + (col + 1 < cols_ ? under : 0.0), y(row + 1) + (row + 1 < rows_ ? under : 0.0));
      }
    }
    flush(path, path_color);
  }

  void draw_cell_image() const {
    constexpr int sharp = 1024;  // pixels per side: about what a slide shows
    const int enlarged = std::clamp(sharp / static_cast<int>(std::max(rows_, cols_)), 1, 16);
    canvas_.image(item_.rect, flat_cells(item_.spec, enlarged));
    if (rule_.gap == 0) return;
    VectorPath gaps;
    for (Index col = 1; col < cols_; ++col) gaps.box(x(col), y(0), x(col) + rule_.gap, y(rows_));
    for (Index row = 1; row < rows_; ++row) gaps.box(x(0), y(row), x(cols_), y(row) + rule_.gap);
    flush(gaps, ground_);
  }

  // Blocked cells have no gap, so their background is painted over it.
  void draw_hatch() const {
    VectorPath blocked = runs(CellKind::blocked);
    VectorPath kept = runs(CellKind::blocked_value);
    if (!blocked.empty()) {
      if (rule_.gap > 0) canvas_.fill(blocked, blocked_color(item_.spec.theme));
      if (rule_.cross == 0)
        canvas_.fill(blocked, hatch(rule_.hatch_period, 0, hatch_color(item_.spec.theme)));
    }
    if (kept.empty()) return;
    canvas_.fill(kept, hatch(rule_.kept_period, 0, {255, 255, 255}));
    canvas_.fill(kept, hatch(rule_.kept_period, rule_.hatch_width, {0, 0, 0}));
  }

  void draw_titles() const {
    const HeatmapSpec& spec = item_.spec;
    const auto name = [](const std::string& axis, const std::vector<std::string>& labels, Index at) {
      const std::string label = labels.empty() ? std::to_string(at) : labels[static_cast<std::size_t>(at)];
      return axis.empty() || label.starts_with(axis) ? label : axis + " " + label;
    };
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col)
        canvas_.title(
            {x(col), y(row), x(col + 1) - x(col), y(row + 1) - y(row)},
            fmt::format("{}, {}: {}{}", name(spec.row_axis, spec.row_labels, row),
                        name(spec.col_axis, spec.col_labels, col), number_text(spec.values.value(row, col)),
                        is_blocked(row, col) ? ", blocked" : ""));
  }

  void draw_marks() const {
    if (rule_.mark == 0) return;
    const ColorTable& table = color_table(item_.spec.color_map, item_.spec.theme);
    if (rule_.cross > 0) draw_marks_of(CellKind::blocked, blocked_color(item_.spec.theme));
    draw_marks_of(CellKind::nan, nan_color(item_.spec.theme));
    draw_marks_of(CellKind::minus_inf, table.front());
    draw_marks_of(CellKind::plus_inf, table.back());
  }

 private:
  double x(Index col) const { return item_.rect.x + cell_begin(col, cols_, width_); }
  double y(Index row) const { return item_.rect.y + cell_begin(row, rows_, height_); }

  bool is_blocked(Index row, Index col) const { return cell_kind(item_.spec, row, col) == CellKind::blocked; }

  Rgba8 color_in(const Image& colors, Index row, Index col) const {
    const std::uint8_t* c = &colors.rgba[4 * static_cast<std::size_t>(row * cols_ + col)];
    return {c[0], c[1], c[2], c[3]};
  }

  void flush(VectorPath& path, Rgba8 color) const {
    if (!path.empty()) canvas_.fill(path, color);
    path.clear();
  }

  VectorHatch hatch(int period, int after, Rgba8 color) const {
    return {.origin = {item_.rect.x, item_.rect.y},
            .middle = (rule_.hatch_width + 1) / 2.0 + after,
            .period = static_cast<double>(period),
            .width = rule_.hatch_width / std::sqrt(2.0),
            .color = color};
  }

  // A box for each horizontal run of cells of this kind.
  VectorPath runs(CellKind kind) const {
    VectorPath path;
    for (Index row = 0; row < rows_; ++row) {
      for (Index col = 0; col < cols_; ++col) {
        if (cell_kind(item_.spec, row, col) != kind) continue;
        const Index first = col;
        while (col + 1 < cols_ && cell_kind(item_.spec, row, col + 1) == kind) ++col;
        path.box(x(first), y(row), x(col + 1), y(row + 1));
      }
    }
    return path;
  }

  // The strokes of a mark reach half the cell (NaN's cross three quarters of it, the square one of a blocked
  // cell two fifths of its shorter side) and are as thick as in pixels.
  void draw_marks_of(CellKind kind, Rgba8 ground) const {
    VectorPath path;
    for (Index row = 0; row < rows_; ++row) {
      for (Index col = 0; col < cols_; ++col) {
        if (cell_kind(item_.spec, row, col) != kind) continue;
        const double middle_x = (x(col) + x(col + 1)) / 2, middle_y = (y(row) + y(row + 1)) / 2;
        const double width = x(col + 1) - x(col), height = y(row + 1) - y(row);
        const double reach = kind == CellKind::nan ? 0.375 : 0.25;
        double dx = reach * width, dy = reach * height;
        if (kind == CellKind::blocked) dx = dy = 0.2 * std::min(width, height);
        const auto stroke = [&](double from_x, double from_y, double to_x, double to_y) {
          path.move({middle_x + from_x, middle_y + from_y});
          path.line({middle_x + to_x, middle_y + to_y});
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
    canvas_.stroke(path, thick, ink_on(ground));
  }

  VectorCanvas& canvas_;
  const PlaneItem& item_;
  Rgba8 ground_;
  Index rows_, cols_;
  int width_, height_;
  PlaneRule rule_;
};

VectorPath box_path(const RectF& rect) {
  VectorPath path;
  path.box(rect.x, rect.y, rect.x + rect.width, rect.y + rect.height);
  return path;
}

void draw_bar(VectorCanvas& canvas, const ColorBarItem& item) {
  const ColorTable& table = color_table(item.color_map, item.theme);
  constexpr int steps = 64;  // even, so that the middle of a diverging map is one of them
  VectorGradient gradient{
      .from = {item.rect.x, item.rect.y}, .to = {item.rect.x + item.rect.width, item.rect.y}, .colors = {}};
  for (int i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    gradient.colors.push_back(color_at(item.range.lo * (1 - share) + item.range.hi * share, item.range, table));
  }
  canvas.fill(box_path(item.rect), gradient);
}

// Boxes of one colour that follow each other are one path.
void draw_boxes(VectorCanvas& canvas, const std::vector<BoxItem>& boxes) {
  for (std::size_t i = 0; i < boxes.size();) {
    const Rgba8 color = boxes[i].color;
    VectorPath path;
    for (; i < boxes.size() && boxes[i].color == color; ++i) {
      const RectF& rect = boxes[i].rect;
      path.box(rect.x, rect.y, rect.x + rect.width, rect.y + rect.height);
    }
    canvas.fill(path, color);
  }
}

void draw_picture(VectorCanvas& canvas, const Picture& picture) {
  Index cells = 0;
  for (const PlaneItem& item : picture.planes) cells += item.spec.values.rows * item.spec.values.cols;
  for (const PlaneItem& item : picture.planes)
    draw_plane(canvas, item, picture.ground, cells <= most_cell_shapes);
  for (const ColorBarItem& item : picture.bars) draw_bar(canvas, item);
  draw_boxes(canvas, picture.boxes);
  for (const LineItem& item : picture.lines) {
    VectorPath path;
    path.move(item.from);
    path.line(item.to);
    canvas.stroke(path, item.width, item.color);
  }
  for (const TextItem& item : picture.texts) canvas.text(item);
  if (!picture.cell_titles || cells > most_cell_shapes) return;
  for (const PlaneItem& item : picture.planes)
    if (!item.spec.row_axis.empty() || !item.spec.col_axis.empty())  // else a swatch of the legend
      PlaneVectors(canvas, item, picture.ground).draw_titles();
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height, Rgba8 ground, double dpi)
    : width_(width), height_(height), dpi_(dpi), ground_(ground) {}

void SvgCanvas::fill(const VectorPath& path, Rgba8 color) {
  body_ += fmt::format("<path{}{} d=\"{}\"/>\n", fill_attributes(color), clip_, path_data(path));
}

void SvgCanvas::fill(const VectorPath& path, const VectorGradient& gradient) {
  const std::size_t id = next_paint_++;
  defs_ += fmt::format(
      "<linearGradient id=\"shade{}\" gradientUnits=\"userSpaceOnUse\" x1=\"{}\" y1=\"{}\" x2=\"{}\" "
      "y2=\"{}\">",
      id, coordinate_text(gradient.from.x), coordinate_text(gradient.from.y), coordinate_text(gradient.to.x),
      coordinate_text(gradient.to.y));
  const auto last = static_cast<double>(gradient.colors.size() - 1);
  for (std::size_t i = 0; i < gradient.colors.size(); ++i)
    defs_ += fmt::format("<stop offset=\"{:.6g}\"{}/>", static_cast<double>(i) / last,
                         color_attributes("stop-color", "stop-opacity", gradient.colors[i]));
  defs_ += "</linearGradient>\n";
  // Crisp, or a hairline of the background would show between two shades.
  body_ += fmt::format("<path shape-rendering=\"crispEdges\" fill=\"url(#shade{})\"{} d=\"{}\"/>\n", id,
                       clip_, path_data(path));
}

void SvgCanvas::fill(const VectorPath& path, const VectorHatch& hatch) {
  const std::size_t id = next_paint_++;
  const std::string period = coordinate_text(hatch.period), inside = coordinate_text(hatch.period - 1),
                    outside = coordinate_text(hatch.period + 1);
  defs_ += fmt::format(
      "<pattern id=\"hatch{0}\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{3}\" "
      "patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1L1 -1M0 {3}L{3} 0M{4} {5}L{5} {4}\"{6} "
      "stroke-width=\"{7}\"/></pattern>\n",
      id, coordinate_text(hatch.origin.x + hatch.middle), coordinate_text(hatch.origin.y), period, inside,
      outside, color_attributes("stroke", "stroke-opacity", hatch.color), coordinate_text(hatch.width));
  body_ += fmt::format("<path fill=\"url(#hatch{})\"{} d=\"{}\"/>\n", id, clip_, path_data(path));
}

void SvgCanvas::stroke(const VectorPath& path, double width, Rgba8 color) {
  body_ += fmt::format("<path fill=\"none\"{} stroke-width=\"{}\"{} d=\"{}\"/>\n",
                       color_attributes("stroke", "stroke-opacity", color), coordinate_text(width), clip_,
                       path_data(path));
}

void SvgCanvas::image(const RectF& rect, const Image& image) {
  const std::vector<std::uint8_t> png = to_png(image);
  body_ += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "image-rendering=\"pixelated\" style=\"image-rendering:pixelated\"{} "
      "xlink:href=\"data:image/png;base64,{}\"/>\n",
      coordinate_text(rect.x), coordinate_text(rect.y), coordinate_text(rect.width),
      coordinate_text(rect.height), clip_, base64(std::as_bytes(std::span(png))));
}

void SvgCanvas::text(const TextItem& item, double length) {
  static constexpr const char* faces[] = {"", " font-weight=\"bold\"",
                                          " font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\""};
  static constexpr const char* anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const std::string x = coordinate_text(item.baseline.x), y = coordinate_text(item.baseline.y);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}", x, y, coordinate_text(item.size),
                       fill_attributes(item.color), faces[static_cast<std::size_t>(item.face)],
                       anchors[static_cast<std::size_t>(item.anchor)]);
  // The length keeps the picture intact if a viewer uses another font.
  if (length > 0.0)
    body_ += fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", coordinate_text(length));
  if (item.degrees != 0.0)
    body_ += fmt::format(" transform=\"rotate({} {} {})\"", coordinate_text(item.degrees), x, y);
  body_ += fmt::format("{}>{}</text>\n", clip_, escaped(printable(item.text)));
}

void SvgCanvas::title(const RectF& rect, const std::string& text) {
  body_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" "
      "pointer-events=\"all\"><title>{}</title></rect>\n",
      coordinate_text(rect.x), coordinate_text(rect.y), coordinate_text(rect.width),
      coordinate_text(rect.height), escaped(printable(text)));
}

void SvgCanvas::clip(const std::optional<RectF>& rect) {
  clip_.clear();
  if (!rect) return;
  const auto [entry, added] =
      clips_.emplace(std::array<double, 4>{rect->x, rect->y, rect->width, rect->height}, clips_.size());
  if (added)
    defs_ += fmt::format(
        "<clipPath id=\"clip{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
        entry->second, coordinate_text(rect->x), coordinate_text(rect->y), coordinate_text(rect->width),
        coordinate_text(rect->height));
  clip_ = fmt::format(" clip-path=\"url(#clip{})\"", entry->second);
}

std::string SvgCanvas::finish() const {
  const std::string width = coordinate_text(width_), height = coordinate_text(height_);
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{}\" "
      "height=\"{}\" viewBox=\"0 0 {} {}\" font-family=\"'DejaVu Sans',Verdana,sans-serif\" "
      "xml:space=\"preserve\" style=\"white-space:pre\">\n",
      coordinate_text(width_ * usual_dpi / dpi_), coordinate_text(height_ * usual_dpi / dpi_), width, height);
  if (!defs_.empty()) svg += "<defs>\n" + defs_ + "</defs>\n";
  svg += fmt::format("<rect width=\"{}\" height=\"{}\"{}/>\n", width, height, fill_attributes(ground_));
  return svg + body_ + "</svg>\n";
}

void draw_plane(VectorCanvas& canvas, const PlaneItem& item, Rgba8 ground, bool cells_as_shapes) {
  const Index rows = item.spec.values.rows, cols = item.spec.values.cols;
  const auto width = static_cast<int>(std::lround(item.rect.width)),
             height = static_cast<int>(std::lround(item.rect.height));
  if (rows == 0 || cols == 0 || width == 0 || height == 0) return;
  if (width < cols || height < rows || rows * cols > most_marked_cells) {
    canvas.image(item.rect, rasterise_plane(item.spec, width, height));
    return;
  }
  const PlaneVectors vectors(canvas, item, ground);
  if (cells_as_shapes)
    vectors.draw_cell_shapes();
  else
    vectors.draw_cell_image();
  vectors.draw_hatch();
  vectors.draw_marks();
}

std::string to_svg(const Picture& picture, double dpi) {
  SvgCanvas canvas(picture.width, picture.height, picture.ground, dpi);
  draw_picture(canvas, picture);
  return canvas.finish();
}

std::string to_pdf(const Picture& picture, double dpi) {
  PdfDocument document;
  draw_picture(document.begin_page(picture.width, picture.height, picture.ground, dpi), picture);
  return document.finish();
}

}  // namespace headwise
