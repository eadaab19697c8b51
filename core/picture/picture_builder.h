// Collects the items of a picture and tracks their bounding box, so that nothing is ever placed outside.
#pragma once

#include "core/picture/picture.h"

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

}  // namespace headwise
