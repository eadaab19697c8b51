// Shapes, images and text as vectors: a picture, or a frame of the window, is drawn on a canvas and becomes
// an SVG (svg_canvas.h) or a page of a PDF (pdf_document.h).
#pragma once

#include <optional>
#include <vector>

#include "core/picture/font.h"
#include "core/picture/image.h"

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
  // What is drawn from now on ends at this rectangle; none: nothing is cut off.
  virtual void clip(const std::optional<RectF>& rect) = 0;
};

}  // namespace headwise
