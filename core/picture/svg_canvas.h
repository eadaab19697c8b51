// An SVG with text as text.
#pragma once

#include <array>
#include <map>
#include <string>

#include "core/picture/vector_canvas.h"

namespace headwise {

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

}  // namespace headwise
