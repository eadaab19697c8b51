// Shapes, images and text as vectors: a picture, or a frame of the window, is drawn on a canvas and becomes
// an SVG (SvgCanvas) or a page of a PDF (pdf_document.h).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/export/font.h"
#include "core/export/image.h"
#include "core/export/picture.h"

namespace headwise {

// Polygons and lines. Each begins with a move; a fill closes it.
class VectorPath {
 public:
  enum class Verb : std::uint8_t { move, line, close };
  struct Element {
    Verb verb = Verb::move;
    PointF to;
  };

  void move(PointF to) { elements_.push_back({Verb::move, to}); }
  void line(PointF to) { elements_.push_back({Verb::line, to}); }
  void close() { elements_.push_back({Verb::close, {}}); }
  void box(double left, double top, double right, double bottom) {
    move({left, top});
    line({right, top});
    line({right, bottom});
    line({left, bottom});
    close();
  }

  bool empty() const { return elements_.empty(); }
  void clear() { elements_.clear(); }
  const std::vector<Element>& elements() const { return elements_; }

 private:
  std::vector<Element> elements_;
};

// Colours along a line, evenly spaced from its start to its end: at least two.
struct VectorGradient {
  PointF from, to;
  std::vector<Rgba8> colors;
};

// Lines at 45° that rise to the right, `period` apart horizontally; one of them crosses the picture's row at
// `origin` where x = origin.x + middle.
struct VectorHatch {
  PointF origin;
  double middle = 0, period = 0;
  double width = 0;  // of a line
  Rgba8 color;
};

// Pixels from the upper left corner. The alpha of a colour is its opacity.
class VectorCanvas {
 public:
  virtual ~VectorCanvas() = default;

  virtual void fill(const VectorPath& path, Rgba8 color) = 0;
  virtual void fill(const VectorPath& path, const VectorGradient& gradient) = 0;
  virtual void fill(const VectorPath& path, const VectorHatch& hatch) = 0;
  virtual void stroke(const VectorPath& path, double width, Rgba8 color) = 0;
  // Stretched to the rectangle and not smoothed.
  virtual void image(const RectF& rect, const Image& image) = 0;
  // `length` > 0: the text is stretched along its line to this many pixels.
  virtual void text(const TextItem& item, double length = 0.0) = 0;
  // What is said of this rectangle at the pointer, in formats that can.
  virtual void title(const RectF& /*rect*/, const std::string& /*text*/) {}
  // What is drawn from now on ends at this rectangle; none: nothing is cut off.
  virtual void clip(const std::optional<RectF>& rect) = 0;
};

// An SVG with text as text.

class SvgCanvas : public VectorCanvas {
 public:
  // Pixels. On paper, `dpi` of them are an inch.
  SvgCanvas(double width, double height, Rgba8 ground, double dpi = usual_dpi);

  void fill(const VectorPath& path, Rgba8 color) override;
  void fill(const VectorPath& path, const VectorGradient& gradient) override;
  void fill(const VectorPath& path, const VectorHatch& hatch) override;
  void stroke(const VectorPath& path, double width, Rgba8 color) override;
  // An embedded PNG.
  void image(const RectF& rect, const Image& image) override;
  void text(const TextItem& item, double length = 0.0) override;
  void title(const RectF& rect, const std::string& text) override;
  void clip(const std::optional<RectF>& rect) override;

  // The whole file. The same calls give the same bytes.
  std::string finish() const;

 private:
  double width_, height_, dpi_;
  Rgba8 ground_;
  std::string defs_, body_;
  std::string clip_;  // the attribute of everything that is drawn now
  std::map<std::array<double, 4>, std::size_t> clips_;
  std::size_t next_paint_ = 0;
};

// The plane of cells of a heatmap as vectors, after the rule in core/export/plane_rule.h.

// How many cells all the planes of a picture may have for each of them to be a rectangle of its own. In a
// picture with more, the colours of a plane are an image, not smoothed, and enlarged by whole pixels for
// viewers that smooth all the same.
constexpr Index most_cell_shapes = 10000;

// The gaps, the hatch and the marks are vectors; a plane with more than 250,000 cells, or with cells smaller
// than a pixel, is an image as rasterised. `ground` is seen in the gaps.
void draw_plane(VectorCanvas& canvas, const PlaneItem& item, Rgba8 ground, bool cells_as_shapes);

}  // namespace headwise
