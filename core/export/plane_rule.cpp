#include "core/export/plane_rule.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/export/picture.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// What a column or row of pixels shows of one axis of the matrix.
struct PixelCells {
  Index first = 0, last = 0;  // the cells that it represents: [first, last)
  int inside = 0;             // its offset in the cell: u or v
  int extent = 1;             // the cell's pixels: cw or ch
};

std::vector<PixelCells> pixel_cells(Index count, int pixels) {
  std::vector<PixelCells> out(static_cast<std::size_t>(pixels));
  for (int x = 0; x < pixels; ++x) {
    PixelCells& pixel = out[static_cast<std::size_t>(x)];
    if (pixels < count) {
      pixel.first = x * count / pixels;
      pixel.last = ((x + 1) * count + pixels - 1) / pixels;
    } else {
      pixel.first = (2 * x + 1) * count / (2 * pixels);
      pixel.last = pixel.first + 1;
      const int begin = cell_begin(pixel.first, count, pixels);
      pixel.inside = x - begin;
      pixel.extent = cell_begin(pixel.last, count, pixels) - begin;
    }
  }
  return out;
}

// Decides between cells that share a pixel: the class first, within values the distance from the neutral. Not
// the position in the table: cells beyond a fixed range are distinguished, so that a range can change without
// choosing again.
struct CellPriority {
  int rank = 0;  // 0 blocked, 1 value, 2 ±inf, 3 NaN
  double distance = 0.0;
  auto operator<=>(const CellPriority&) const = default;
};

// A cell as painted.
struct CellPaint {
  CellKind kind = CellKind::blocked;
  CellPriority priority;
  Rgba8 color, ink;
};

class CellPainter {
 public:
  explicit CellPainter(const HeatmapSpec& spec)
      : spec_(spec),
        table_(color_table(spec.color_map, spec.theme)),
        diverging_(color_map_entry(spec.color_map).diverging) {}

  // The most significant of the cells [rows.first, rows.last) × [cols.first, cols.last).
  CellPaint paint(const PixelCells& rows, const PixelCells& cols) const {
    CellPaint best;
    bool first = true;
    for (Index row = rows.first; row < rows.last; ++row) {
      for (Index col = cols.first; col < cols.last; ++col) {
        const CellKind kind = cell_kind(spec_, row, col);
        const CellPriority priority = priority_of(kind, row, col);
        if (!first && !(priority > best.priority)) continue;
        first = false;
        best = {kind, priority, color_of(kind, row, col), {}};
      }
    }
    if (best.kind == CellKind::blocked)
      best.ink = blocked_ink_;
    else if (best.kind != CellKind::value)
      best.ink = ink_on(best.color);
    return best;
  }

 private:
  CellPriority priority_of(CellKind kind, Index row, Index col) const {
    if (kind == CellKind::nan) return {3, 0.0};
    if (kind == CellKind::minus_inf || kind == CellKind::plus_inf) return {2, 0.0};
    if (kind == CellKind::blocked) return {0, 0.0};
    const double value = spec_.values.value(row, col);
    return {1, diverging_ ? std::abs(value) : value};
  }

  Rgba8 color_of(CellKind kind, Index row, Index col) const {
    if (kind == CellKind::nan) return nan_color(spec_.theme);
    if (kind == CellKind::minus_inf) return table_.front();
    if (kind == CellKind::plus_inf) return table_.back();
    if (kind == CellKind::blocked) return blocked_color(spec_.theme);
    return color_at(spec_.values.value(row, col), spec_.range, table_);
  }

  const HeatmapSpec& spec_;
  const ColorTable& table_;
  bool diverging_;
  Rgba8 blocked_ink_ = ink_on(blocked_color(spec_.theme));
};

bool on_mark(CellKind kind, const PixelCells& col, const PixelCells& row, const PlaneRule& rule) {
  const int mark = rule.mark;
  if (mark == 0) return false;
  const int a = std::abs(2 * col.inside + 1 - col.extent), b = std::abs(2 * row.inside + 1 - row.extent);
  const bool minus = b <= mark && 2 * a <= col.extent;
  const int uneven = col.extent % 2 == 1 ? b - a : a - b;
  switch (kind) {
    case CellKind::blocked:
      return rule.cross > 0 && uneven <= rule.cross && -uneven < rule.cross &&
             5 * std::max(a, b) <= 2 * std::min(col.extent, row.extent);
    case CellKind::nan:
      return std::abs(a * row.extent - b * col.extent) <= mark * std::max(col.extent, row.extent) &&
             4 * a <= 3 * col.extent;
    case CellKind::minus_inf:
      return minus;
    case CellKind::plus_inf:
      return minus || (a <= mark && 2 * b <= row.extent);
    default:
      return false;
  }
}

void set_pixel(std::uint8_t* pixel, Rgba8 color) {
  pixel[0] = color.r;
  pixel[1] = color.g;
  pixel[2] = color.b;
  pixel[3] = color.a;
}

// The colour of the hatch at a pixel of a cell; nullopt off its lines.
std::optional<Rgba8> hatch_at(int x, int y, CellKind kind, const PlaneRule& rule, Theme theme) {
  const bool kept = kind == CellKind::blocked_value;
  if (!kept && (kind != CellKind::blocked || rule.cross > 0)) return std::nullopt;
  const int across = (x + y) % (kept ? rule.kept_period : rule.hatch_period);
  if (across < rule.hatch_width) return kept ? Rgba8{255, 255, 255} : hatch_color(theme);
  if (kept && across < 2 * rule.hatch_width) return Rgba8{0, 0, 0};
  return std::nullopt;
}

std::uint8_t* pixel_at(Image& image, int x, int y) {
  return &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                          static_cast<std::size_t>(x))];
}

void put(Image& image, int x, int y, Rgba8 color) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  set_pixel(pixel_at(image, x, y), color);
}

int whole(double v) {
  return static_cast<int>(std::lround(v));
}

void draw(Image& image, const PlaneItem& item) {
  const Image plane = rasterise_plane(item.spec, whole(item.rect.width), whole(item.rect.height));
  const int left = whole(item.rect.x), top = whole(item.rect.y);
  const std::uint8_t* from = plane.rgba.data();
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x, from += 4)
      if (from[3] != 0) put(image, left + x, top + y, {from[0], from[1], from[2], from[3]});
}

void draw(Image& image, const ColorBarItem& item) {
  const ColorTable& table = color_table(item.color_map, item.theme);
  const int left = whole(item.rect.x), top = whole(item.rect.y), width = whole(item.rect.width);
  for (int x = 0; x < width; ++x) {
    const double share = width > 1 ? static_cast<double>(x) / (width - 1) : 0.5;
    const Rgba8 color = color_at(item.range.lo * (1 - share) + item.range.hi * share, item.range, table);
    for (int y = 0; y < whole(item.rect.height); ++y) put(image, left + x, top + y, color);
  }
}

void draw(Image& image, const BoxItem& item) {
  const int right = whole(item.rect.x + item.rect.width), bottom = whole(item.rect.y + item.rect.height);
  for (int y = whole(item.rect.y); y < bottom; ++y)
    for (int x = whole(item.rect.x); x < right; ++x) put(image, x, y, item.color);
}

// Each pixel is covered by the fraction of its width that is within half the line width of the line.
void draw(Image& image, const LineItem& item) {
  const double reach = item.width / 2 + 1;
  const double dx = item.to.x - item.from.x, dy = item.to.y - item.from.y, length = std::hypot(dx, dy);
  const int x_end = whole(std::min<double>(image.width, std::ceil(std::max(item.from.x, item.to.x) + reach)));
  const int y_end = whole(std::min<double>(image.height, std::ceil(std::max(item.from.y, item.to.y) + reach)));
  const int x_begin = whole(std::max(0.0, std::floor(std::min(item.from.x, item.to.x) - reach)));
  const int y_begin = whole(std::max(0.0, std::floor(std::min(item.from.y, item.to.y) - reach)));
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = x_begin; x < x_end; ++x) {
      const double px = x + 0.5 - item.from.x, py = y + 0.5 - item.from.y;
      const double along = length > 0 ? (px * dx + py * dy) / length : 0.0;
      const double beside = length > 0 ? std::abs(px * dy - py * dx) / length : std::hypot(px, py);
      const double past_end = std::max(-along, along - length);
      const double coverage =
          std::clamp(item.width / 2 + 0.5 - beside, 0.0, 1.0) * std::clamp(0.5 - past_end, 0.0, 1.0);
      if (coverage <= 0) continue;
      std::uint8_t* pixel = pixel_at(image, x, y);
      const std::uint8_t ink[] = {item.color.r, item.color.g, item.color.b};
      for (int c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(
            std::lround(pixel[c] + coverage * (static_cast<double>(ink[c]) - pixel[c])));
    }
  }
}

}  // namespace

PlaneRule plane_rule(Index rows, Index cols, int width, int height) {
  const int side = static_cast<int>(std::min(width / cols, height / rows));
  PlaneRule rule;
  rule.side = side;
  rule.gap = side < 10 ? 0 : 1 + side / 48;
  rule.hatch_period = std::clamp(side / 4, 6, 16);
  rule.kept_period = side < 8 ? rule.hatch_period : 2 * rule.hatch_period;
  rule.hatch_width = rule.hatch_period / 6;
  rule.mark = side < 5 ? 0 : std::max(1, side / 8);
  rule.cross = side < 10 ? 0 : 1 + side / 32;
  return rule;
}

int cell_begin(Index index, Index count, int pixels) {
  return static_cast<int>((2 * index * pixels + count - 1) / (2 * count));
}

Image rasterise_plane(const HeatmapSpec& spec, int width, int height, const PlaneRule& rule) {
  check_mask(spec);
  check_image_size(width, height);
  Image image{width, height, {}};
  image.rgba.resize(4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (image.rgba.empty() || spec.values.rows == 0 || spec.values.cols == 0) return image;
  const std::vector<PixelCells> cols = pixel_cells(spec.values.cols, width);
  const std::vector<PixelCells> rows = pixel_cells(spec.values.rows, height);
  const CellPainter painter(spec);
  std::vector<CellPaint> paints(cols.size());  // for the current row of cells, one per pixel column

  for (int y = 0; y < height; ++y) {
    const PixelCells& row = rows[static_cast<std::size_t>(y)];
    if (y == 0 || row.first != rows[static_cast<std::size_t>(y) - 1].first ||
        row.last != rows[static_cast<std::size_t>(y) - 1].last) {
      for (std::size_t x = 0; x < cols.size(); ++x) {
        const bool same_cell = x > 0 && cols[x].first == cols[x - 1].first && cols[x].last == cols[x - 1].last;
        paints[x] = same_cell ? paints[x - 1] : painter.paint(row, cols[x]);
      }
    }
    const bool in_row_gap = row.first > 0 && row.inside < rule.gap;
    std::uint8_t* out = &image.rgba[4 * static_cast<std::size_t>(y) * static_cast<std::size_t>(width)];
    for (int x = 0; x < width; ++x, out += 4) {
      const PixelCells& col = cols[static_cast<std::size_t>(x)];
      const CellPaint& paint = paints[static_cast<std::size_t>(x)];
      const bool in_gap = in_row_gap || (col.first > 0 && col.inside < rule.gap);
      if (in_gap && paint.kind != CellKind::blocked) continue;
      Rgba8 color = paint.color;
      if (const auto hatch = hatch_at(x, y, paint.kind, rule, spec.theme)) color = *hatch;
      if (on_mark(paint.kind, col, row, rule)) color = paint.ink;
      set_pixel(out, color);
    }
  }
  return image;
}

Image rasterise_plane(const HeatmapSpec& spec, int width, int height) {
  const Index rows = spec.values.rows, cols = spec.values.cols;
  const bool any = rows > 0 && cols > 0;
  return rasterise_plane(spec, width, height, any ? plane_rule(rows, cols, width, height) : PlaneRule{});
}

Image rasterise_plane(const HeatmapSpec& spec, int cell_pixels) {
  if (cell_pixels < 1)
    throw Error(ExitStatus::usage, {"heatmap", "a cell cannot be that small",
                                    fmt::format("{} pixels", cell_pixels), "1 or more", ""});
  const Index width = checked_multiply(spec.values.cols, cell_pixels, "the plane of cells");
  const Index height = checked_multiply(spec.values.rows, cell_pixels, "the plane of cells");
  check_image_size(static_cast<double>(width), static_cast<double>(height));
  return rasterise_plane(spec, static_cast<int>(width), static_cast<int>(height));
}

RectF PlaneGeometry::rect(const CellBox& box) const {
  const int x0 = cell_begin(box.col_begin, cols, width) + (box.col_begin > 0 ? gap : 0);
  const int y0 = cell_begin(box.row_begin, rows, height) + (box.row_begin > 0 ? gap : 0);
  const int x1 = cell_begin(box.col_end, cols, width), y1 = cell_begin(box.row_end, rows, height);
  return {static_cast<double>(x + x0), static_cast<double>(y + y0), static_cast<double>(std::max(x1 - x0, 1)),
          static_cast<double>(std::max(y1 - y0, 1))};
}

std::optional<std::pair<Index, Index>> PlaneGeometry::cell_at(double px, double py) const {
  const double u = std::floor(px) - x, v = std::floor(py) - y;
  if (!(u >= 0 && v >= 0 && u < width && v < height) || rows <= 0 || cols <= 0) return std::nullopt;
  // The cell whose pixels contain this one's centre.
  const auto at = [](double pixel, Index count, int pixels) {
    const auto index = static_cast<Index>((2 * pixel + 1) * static_cast<double>(count) / (2.0 * pixels));
    return std::clamp<Index>(index, 0, count - 1);
  };
  return std::pair(at(v, rows, height), at(u, cols, width));
}

PlaneGeometry plane_geometry(const RectF& rect, Index rows, Index cols) {
  PlaneGeometry plane;
  plane.x = static_cast<int>(std::round(rect.x));
  plane.y = static_cast<int>(std::round(rect.y));
  plane.width = static_cast<int>(std::round(rect.x + rect.width)) - plane.x;
  plane.height = static_cast<int>(std::round(rect.y + rect.height)) - plane.y;
  plane.rows = rows;
  plane.cols = cols;
  if (rows > 0 && cols > 0 && plane.width > 0 && plane.height > 0)
    plane.gap = plane_rule(rows, cols, plane.width, plane.height).gap;
  return plane;
}

Image rasterise(const Picture& picture) {
  check_image_size(std::ceil(picture.width), std::ceil(picture.height));
  Image image;
  image.width = std::max(1, whole(std::ceil(picture.width)));
  image.height = std::max(1, whole(std::ceil(picture.height)));
  image.rgba.resize(4 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) put(image, x, y, picture.ground);
  for (const PlaneItem& item : picture.planes) draw(image, item);
  for (const ColorBarItem& item : picture.bars) draw(image, item);
  for (const BoxItem& item : picture.boxes) draw(image, item);
  for (const LineItem& item : picture.lines) draw(image, item);
  for (const TextItem& item : picture.texts) draw_text(image, item);
  return image;
}

}  // namespace headwise
