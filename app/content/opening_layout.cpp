#include "app/content/opening_layout.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

constexpr double most_arc_share = 0.42;  // of the area's height
constexpr double lowest_arc = 0.12;      // of the highest
constexpr double pixels_per_point = 4.0;

double middle(const RectF& word) {
  return word.x + 0.5 * word.width;
}

PointF between(PointF a, PointF b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

// How many words fit in each line.
std::vector<std::size_t> words_per_line(const OpeningShape& shape, double width) {
  std::vector<std::size_t> lines;
  double end = 0.0;
  for (const double word : shape.word_widths) {
    if (lines.empty() || end + shape.space + word > width) {
      lines.push_back(0);
      end = -shape.space;
    }
    end += shape.space + word;
    ++lines.back();
  }
  return lines;
}

}  // namespace

OpeningLayout opening_layout(const OpeningShape& shape, RectF area) {
  OpeningLayout layout;
  const std::vector<std::size_t> lines = words_per_line(shape, area.width);
  layout.lines = static_cast<int>(lines.size());
  const double pitch = shape.word_height + shape.weight_height;
  const double sentence = pitch * layout.lines;
  const double left = area.height - sentence - shape.text_height;
  layout.highest_arc = std::clamp(left, 0.0, most_arc_share * area.height);
  double y = area.y + layout.highest_arc + std::max(0.0, 0.5 * (left - layout.highest_arc));
  std::size_t word = 0;
  for (const std::size_t count : lines) {
    double width = -shape.space;
    for (std::size_t i = word; i < word + count; ++i) width += shape.word_widths[i] + shape.space;
    double x = area.x + 0.5 * (area.width - width);
    for (const std::size_t end = word + count; word < end; ++word) {
      layout.words.push_back({std::round(x), std::round(y), shape.word_widths[word], shape.word_height});
      x += shape.word_widths[word] + shape.space;
    }
    y += pitch;
  }
  layout.text = {area.x, std::round(y), area.width, shape.text_height};
  return layout;
}

Arc opening_arc(const OpeningLayout& layout, std::size_t from, std::size_t to, double gap) {
  const RectF& a = layout.words[from];
  const RectF& b = layout.words[to];
  double farthest = 1.0;
  for (const RectF& word : layout.words) farthest = std::max(farthest, std::abs(middle(word) - middle(a)));
  const double distance = std::abs(middle(b) - middle(a)) / farthest;
  const double room = std::max(0.0, layout.highest_arc - gap);
  // A cubic curve rises to three quarters of the height of its inner points.
  const double rise = room * (lowest_arc + (1.0 - lowest_arc) * distance) / 0.75;
  const double top = std::min(a.y, b.y) - gap - rise;
  return {{{middle(a), a.y - gap}, {middle(a), top}, {middle(b), top}, {middle(b), b.y - gap}}};
}

Arc arc_between(const Arc& a, const Arc& b, double share) {
  Arc arc;
  for (std::size_t i = 0; i < arc.size(); ++i) arc[i] = between(a[i], b[i], share);
  return arc;
}

std::vector<PointF> arc_points(const Arc& arc, double grown) {
  const double length = std::abs(arc[3].x - arc[0].x) + 2.0 * std::abs(arc[1].y - arc[0].y);
  const int count = std::clamp(static_cast<int>(length / pixels_per_point), 8, 400);
  const double end = std::clamp(grown, 0.0, 1.0);
  std::vector<PointF> points;
  for (int i = 0; i <= count; ++i) {
    const double t = end * i / count;
    const PointF a = between(arc[0], arc[1], t), b = between(arc[1], arc[2], t), c = between(arc[2], arc[3], t);
    points.push_back(between(between(a, b, t), between(b, c, t), t));
  }
  return points;
}

}  // namespace headwise
