#include "core/picture/picture_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headwise {
namespace {

void move(PointF& point, PointF by) {
  point.x += by.x;
  point.y += by.y;
}
void move(RectF& rect, PointF by) {
  rect.x += by.x;
  rect.y += by.y;
}

Picture moved(Picture items, PointF by) {
  for (PlaneItem& plane : items.planes) move(plane.rect, by);
  for (ColorBarItem& bar : items.bars) move(bar.rect, by);
  for (BoxItem& box : items.boxes) move(box.rect, by);
  for (LineItem& line : items.lines) {
    move(line.from, by);
    move(line.to, by);
  }
  for (TextItem& text : items.texts) move(text.baseline, by);
  return items;
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

PictureInk picture_ink(Theme theme) {
  return theme != Theme::dark ? PictureInk{{0x1c, 0x21, 0x27}, {0x5d, 0x66, 0x72}}
                              : PictureInk{{0xdf, 0xe3, 0xe8}, {0x8d, 0x96, 0xa3}};
}

void PictureBuilder::corner(PointF point) {
  left_ = empty_ ? point.x : std::min(left_, point.x);
  top_ = empty_ ? point.y : std::min(top_, point.y);
  right_ = empty_ ? point.x : std::max(right_, point.x);
  bottom_ = empty_ ? point.y : std::max(bottom_, point.y);
  empty_ = false;
}

void PictureBuilder::add(TextItem item) {
  if (item.text.empty()) return;
  for (const PointF point : text_box(item).corners) corner(point);
  items_.texts.push_back(std::move(item));
}

void PictureBuilder::add(LineItem item) {
  corner(item.from);
  corner(item.to);
  items_.lines.push_back(item);
}

void PictureBuilder::add(PlaneItem item) {
  corner({item.rect.x, item.rect.y});
  corner({item.rect.x + item.rect.width, item.rect.y + item.rect.height});
  items_.planes.push_back(std::move(item));
}

void PictureBuilder::add(ColorBarItem item) {
  corner({item.rect.x, item.rect.y});
  corner({item.rect.x + item.rect.width, item.rect.y + item.rect.height});
  items_.bars.push_back(item);
}

void PictureBuilder::add(BoxItem item) {
  corner({item.rect.x, item.rect.y});
  corner({item.rect.x + item.rect.width, item.rect.y + item.rect.height});
  items_.boxes.push_back(item);
}

void PictureBuilder::add(const PictureBuilder& part, PointF by) {
  if (part.empty_) return;
  corner({part.left_ + by.x, part.top_ + by.y});
  corner({part.right_ + by.x, part.bottom_ + by.y});
  Picture items = moved(part.items_, by);
  append(items_.planes, std::move(items.planes));
  append(items_.bars, std::move(items.bars));
  append(items_.boxes, std::move(items.boxes));
  append(items_.lines, std::move(items.lines));
  append(items_.texts, std::move(items.texts));
}

Picture PictureBuilder::finish(double margin, Rgba8 ground) const {
  const PointF by = {std::ceil(margin - left_), std::ceil(margin - top_)};
  Picture picture = moved(items_, by);
  picture.width = std::ceil(right_ + by.x + margin);
  picture.height = std::ceil(bottom_ + by.y + margin);
  picture.ground = ground;
  return picture;
}

}  // namespace headwise
