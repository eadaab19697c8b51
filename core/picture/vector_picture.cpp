// to_svg and to_pdf: a picture on a vector canvas.
#include "core/picture/pdf_document.h"
#include "core/picture/picture.h"
#include "core/picture/svg_canvas.h"
#include "core/picture/vector_plane.h"

namespace headwise {
namespace {

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
}

}  // namespace

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
