// Collects the items of a picture and tracks their bounding box, so that nothing is ever placed outside.
#pragma once

#include <string>
#include <vector>

#include "core/export/picture.h"

namespace headwise {

// Colours of text and thin lines.
struct PictureInk {
  Rgba8 text, dim;
};
PictureInk picture_ink(Theme theme);

class PictureBuilder {
 public:
  void add(TextItem item);
  void add(LineItem item);
  void add(PlaneItem item);
  void add(ColorBarItem item);
  void add(BoxItem item);
  // Everything of `part`, moved right and down.
  void add(const PictureBuilder& part, PointF by);

  // The bounding box of everything so far; {0,0,0,0} if there is nothing. `corner` extends it to a point.
  void corner(PointF point);
  double left() const { return left_; }
  double top() const { return top_; }
  double right() const { return right_; }
  double bottom() const { return bottom_; }
  double width() const { return right_ - left_; }
  double height() const { return bottom_ - top_; }

  // The picture of everything with `margin` around it, whole pixels wide and high. Moves by whole pixels, so
  // that planes stay aligned to them.
  Picture finish(double margin, Rgba8 ground) const;

 private:
  Picture items_;
  double left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;
  bool empty_ = true;
};

// The colour bar and the legend of a heatmap: what the colours mean, and what cells without a colour mean.

// The end labels of a range: enough digits that the rounding is below a two-hundredth of its width; "≤ −1"
// and "≥ 1" if values beyond them are drawn in the end's colour; the zero tick only if 0 lies between.
struct RangeTicks {
  std::string lo, hi;
  bool zero = false;
};
RangeTicks range_ticks(ValueRange range, bool clipped_below, bool clipped_above);

// The strip of colours with `spec.range_note` above and ticks below; its strip starts at x = 0, its box at y
// = 0. `width` is the preferred width; it becomes wider if the ticks need it.
// `contents` says what is clipped.
PictureBuilder color_bar(const HeatmapSpec& spec, const HeatmapContents& contents, double width, double size);

// One entry for each kind of cell in `contents` that is not a plain value: a heatmap of one cell in the
// colours of `spec`, and its meaning.
struct LegendEntry {
  HeatmapSpec swatch;
  std::string text;
};
std::vector<LegendEntry> legend_entries(const HeatmapSpec& spec, const HeatmapContents& contents);

// The same as a picture, in lines of at most `width` pixels (at least one entry per line).
// Empty if there is none.
PictureBuilder cell_legend(const HeatmapSpec& spec, const HeatmapContents& contents, double width, double size);

}  // namespace headwise
