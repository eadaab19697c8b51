#include "core/export/picture_builder.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/export/label_text.h"
#include "core/tensor/join.h"

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

// `value` with as few digits as keep it within `tolerance`, at least three.
std::string tick_text(double value, double tolerance) {
  std::string text;
  for (int digits = 3; digits <= 17; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
    double read = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (std::abs(read - value) <= tolerance) break;
  }
  if (text == "-0") text = "0";
  std::string out;
  for (const char c : text) out += c == '-' ? "−" : std::string(1, c);
  return out;
}

// A heatmap of one cell, painted by the same rule as the cells it explains.
HeatmapSpec swatch(const HeatmapSpec& like, double value, double mask) {
  const auto one_cell = [](double v) {
    return matrix_view(std::make_shared<Tensor>(Shape{}, std::vector<double>{v}));
  };
  HeatmapSpec spec;
  spec.values = one_cell(value);
  if (mask != 0.0) spec.mask = one_cell(mask);
  if (mask > 0.0) spec.blocked_at = mask;
  spec.color_map = like.color_map;
  spec.range = like.range;
  spec.theme = like.theme;
  spec.digits = false;
  return spec;
}

// Whether what the mask blocks is −∞ in these values too; after the softmax it is 0.
bool blocked_is_minus_infinity(const HeatmapSpec& spec) {
  bool any = false;
  for (Index row = 0; row < spec.values.rows; ++row) {
    for (Index col = 0; col < spec.values.cols; ++col) {
      if (cell_kind(spec, row, col) != CellKind::blocked) continue;
      const double value = spec.values.value(row, col);
      if (!std::isinf(value) || value > 0) return false;
      any = true;
    }
  }
  return any;
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

RangeTicks range_ticks(ValueRange range, bool clipped_below, bool clipped_above) {
  const double tolerance = (range.hi / 2 - range.lo / 2) / 100.0;
  const std::string lo = tick_text(range.lo, tolerance), hi = tick_text(range.hi, tolerance);
  if (range.lo == range.hi && !clipped_below && !clipped_above) return {"all " + lo, "", false};
  return {clipped_below ? "≤ " + lo : lo, clipped_above ? "≥ " + hi : hi, range.lo < 0.0 && range.hi > 0.0};
}

PictureBuilder color_bar(const HeatmapSpec& spec, const HeatmapContents& contents, double width, double size) {
  const PictureInk ink = picture_ink(spec.theme);
  const RangeTicks ticks = range_ticks(spec.range, contents.below > 0, contents.above > 0);
  const double lo_width = text_width(ticks.lo, FontFace::mono, size),
               hi_width = text_width(ticks.hi, FontFace::mono, size);
  width = std::round(std::max(width, lo_width + hi_width + 1.5 * size));

  PictureBuilder bar;
  bar.corner({0, 0});
  double y = 0;
  if (!spec.range_note.empty()) {
    const std::string note = shorten(spec.range_note, FontFace::sans, size, std::max(width, 24 * size));
    bar.add(TextItem{{0, text_ascent * size}, note, FontFace::sans, size, ink.dim});
    y = std::round(1.35 * size);
  }
  const double strip = std::round(0.85 * size);
  bar.add(ColorBarItem{{0, y, width, strip}, spec.color_map, spec.theme, spec.range});
  y += strip;

  const double tick = std::round(0.3 * size), baseline = y + tick + (0.1 + text_ascent) * size;
  const double zero =
      ticks.zero ? std::floor(width * (0 - spec.range.lo) / (spec.range.hi - spec.range.lo)) : 0.0;
  const auto mark = [&](double x) { bar.add(LineItem{{x, y}, {x, y + tick}, 1.0, ink.dim}); };
  mark(0.5);
  bar.add(TextItem{{0, baseline}, ticks.lo, FontFace::mono, size, ink.text});
  if (!ticks.hi.empty()) {
    mark(width - 0.5);
    bar.add(TextItem{{width, baseline}, ticks.hi, FontFace::mono, size, ink.text, TextAnchor::end});
  }
  if (ticks.zero) {
    mark(zero + 0.5);
    const double half = text_width("0", FontFace::mono, size) / 2;
    if (zero - half > lo_width + 0.5 * size && zero + half < width - hi_width - 0.5 * size)
      bar.add(TextItem{{zero + 0.5, baseline}, "0", FontFace::mono, size, ink.text, TextAnchor::middle});
  }
  return bar;
}

std::vector<LegendEntry> legend_entries(const HeatmapSpec& spec, const HeatmapContents& contents) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Kind {
    Index cells;
    double value;
    double mask;
    std::string text;
  };
  const auto cells_of = [](std::string_view what, Index cells) {
    return fmt::format("{}, {}", what, counted(cells, "cell"));
  };
  const bool chooses = spec.blocked_at == infinity;
  const Kind kinds[] = {
      {contents.blocked, 0.0, -infinity,
       contents.blocked > 0 && blocked_is_minus_infinity(spec) ? "blocked: −∞" : "blocked"},
      {contents.blocked_values, spec.range.hi == 0.0 ? 1.0 : spec.range.hi, chooses ? infinity : -infinity,
       chooses ? "not chosen" : "blocked, with a value"},
      {contents.nans, std::nan(""), 0.0, cells_of("NaN", contents.nans)},
      {contents.minus_infs, -infinity, 0.0, cells_of("−∞", contents.minus_infs)},
      {contents.plus_infs, infinity, 0.0, cells_of("+∞", contents.plus_infs)},
  };
  std::vector<LegendEntry> entries;
  for (const Kind& kind : kinds)
    if (kind.cells > 0) entries.push_back({swatch(spec, kind.value, kind.mask), kind.text});
  return entries;
}

PictureBuilder cell_legend(const HeatmapSpec& spec, const HeatmapContents& contents, double width, double size) {
  const double side = std::round(std::max(1.25 * size, 12.0)), line = 1.5 * side;
  PictureBuilder legend;
  double x = 0, y = 0;
  for (LegendEntry& entry : legend_entries(spec, contents)) {
    const double entry_width = side + 0.5 * size + text_width(entry.text, FontFace::sans, size);
    if (x > 0 && x + entry_width > width) {
      y += std::round(line);
      x = 0;
    }
    legend.add(PlaneItem{{std::round(x), y, side, side}, std::move(entry.swatch)});
    legend.add(TextItem{{std::round(x) + side + 0.5 * size, y + side / 2 + cap_height / 2 * size},
                        entry.text,
                        FontFace::sans,
                        size,
                        picture_ink(spec.theme).text});
    x += entry_width + 1.6 * size;
  }
  return legend;
}

}  // namespace headwise
