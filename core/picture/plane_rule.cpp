#include "core/picture/plane_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/picture/picture.h"
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
struct Telling {
  int rank = 0;  // 0 blocked, 1 value, 2 ±inf, 3 NaN
  double distance = 0.0;
  auto operator<=>(const Telling&) const = default;
};

// A cell as painted.
struct CellPaint {
  CellKind kind = CellKind::blocked;
  Telling telling;
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
        const Telling telling = telling_of(kind, row, col);
        if (!first && !(telling > best.telling)) continue;
        first = false;
        best = {kind, telling, color_of(kind, row, col), {}};
      }
    }
    if (best.kind == CellKind::blocked)
      best.ink = blocked_ink_;
    else if (best.kind != CellKind::value)
      best.ink = ink_on(best.color);
    return best;
  }

 private:
  Telling telling_of(CellKind kind, Index row, Index col) const {
    switch (kind) {
      case CellKind::nan:
        return {3, 0.0};
      case CellKind::minus_inf:
      case CellKind::plus_inf:
        return {2, 0.0};
      case CellKind::blocked:
        return {0, 0.0};
      case CellKind::value:
      case CellKind::blocked_value:
        break;
    }
    const double value = spec_.values.value(row, col);
    return {1, diverging_ ? std::abs(value) : value};
  }

  Rgba8 color_of(CellKind kind, Index row, Index col) const {
    switch (kind) {
      case CellKind::nan:
        return nan_color(spec_.theme);
      case CellKind::minus_inf:
        return table_.front();
      case CellKind::plus_inf:
        return table_.back();
      case CellKind::blocked:
        return blocked_color(spec_.theme);
      case CellKind::value:
      case CellKind::blocked_value:
        break;
    }
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
  switch (kind) {
    case CellKind::blocked:
      return rule.cross > 0 && std::abs(a - b) <= rule.cross &&
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

// The colour of the hatch at a pixel of a cell; nullopt off its lines.
std::optional<Rgba8> hatch_at(int x, int y, CellKind kind, const PlaneRule& rule, Theme theme) {
  const bool kept = kind == CellKind::blocked_value;
  if (!kept && (kind != CellKind::blocked || rule.cross > 0)) return std::nullopt;
  const int across = (x + y) % rule.hatch_period;
  if (across < rule.hatch_width) return kept ? Rgba8{255, 255, 255} : hatch_color(theme);
  if (kept && across < 2 * rule.hatch_width) return Rgba8{0, 0, 0};
  return std::nullopt;
}

}  // namespace

PlaneRule plane_rule(Index rows, Index cols, int width, int height) {
  const int side = static_cast<int>(std::min(width / cols, height / rows));
  PlaneRule rule;
  rule.side = side;
  rule.gap = side < 10 ? 0 : 1 + side / 48;
  rule.hatch_period = std::clamp(side / 4, 6, 16);
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
      out[0] = color.r;
      out[1] = color.g;
      out[2] = color.b;
      out[3] = color.a;
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
  if (cell_pixels < 1) {
    throw Error(ExitStatus::usage, {"heatmap", "a cell cannot be that small",
                                    fmt::format("{} pixels", cell_pixels), "1 or more", ""});
  }
  const Index width = checked_multiply(spec.values.cols, cell_pixels, "the plane of cells");
  const Index height = checked_multiply(spec.values.rows, cell_pixels, "the plane of cells");
  check_image_size(static_cast<double>(width), static_cast<double>(height));
  return rasterise_plane(spec, static_cast<int>(width), static_cast<int>(height));
}

}  // namespace headwise
