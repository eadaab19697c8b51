#include "app/render/plane_texels.h"

#include <algorithm>
#include <cmath>

namespace headwise {

namespace {

struct Cells {
  Index first, last;  // half-open
};

Cells cells_under(int texel, int texels, Index cells) {
  return {texel * cells / texels, ((texel + 1) * cells + texels - 1) / texels};
}

struct Texel {
  CellKind kind;
  double value;
};

bool shows_value(CellKind kind) {
  return kind == CellKind::value || kind == CellKind::blocked_value;
}

// NaN before ±inf before a value before a cell that is only blocked.
int rank_of(CellKind kind) {
  switch (kind) {
    case CellKind::nan:
      return 3;
    case CellKind::minus_inf:
    case CellKind::plus_inf:
      return 2;
    case CellKind::value:
    case CellKind::blocked_value:
      return 1;
    case CellKind::blocked:
      break;
  }
  return 0;
}

bool more_telling(const Texel& a, const Texel& b, bool diverging) {
  const int rank_a = rank_of(a.kind), rank_b = rank_of(b.kind);
  if (rank_a != rank_b || rank_a != 1) return rank_a > rank_b;
  return diverging ? std::abs(a.value) > std::abs(b.value) : a.value > b.value;
}

Texel most_telling(const HeatmapSpec& spec, const Cells& rows, const Cells& cols, bool diverging) {
  const auto cell = [&spec](Index row, Index col) {
    return Texel{cell_kind(spec, row, col), spec.values.value(row, col)};
  };
  Texel best = cell(rows.first, cols.first);
  for (Index row = rows.first; row < rows.last; ++row)
    for (Index col = cols.first; col < cols.last; ++col)
      if (const Texel other = cell(row, col); more_telling(other, best, diverging)) best = other;
  return best;
}

}  // namespace

PlaneTexels plane_texels(const HeatmapSpec& spec, const TexelGrid& grid) {
  const bool diverging = color_map_entry(spec.color_map).diverging;
  std::vector<Texel> texels;
  texels.reserve(static_cast<std::size_t>(grid.box_rows) * static_cast<std::size_t>(grid.box_cols));
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (int r = grid.first_row; r < grid.first_row + grid.box_rows; ++r) {
    const Cells rows = cells_under(r, grid.rows, spec.values.rows);
    for (int c = grid.first_col; c < grid.first_col + grid.box_cols; ++c) {
      texels.push_back(most_telling(spec, rows, cells_under(c, grid.cols, spec.values.cols), diverging));
      if (!shows_value(texels.back().kind)) continue;
      lowest = std::min(lowest, texels.back().value);
      highest = std::max(highest, texels.back().value);
    }
  }

  PlaneTexels result;
  if (lowest <= highest) {
    // Where all values lie on one side of 0, they are counted from the one nearest to it.
    result.offset = lowest > 0 ? lowest : highest < 0 ? highest : 0.0;
    const double largest = std::max(std::abs(lowest - result.offset), std::abs(highest - result.offset));
    if (largest > 0) std::frexp(largest, &result.exponent);
  }
  result.texels.reserve(texels.size() * 2);
  for (const Texel& texel : texels) {
    const double value =
        shows_value(texel.kind) ? std::ldexp(texel.value - result.offset, -result.exponent) : 0.0;
    result.texels.push_back(static_cast<float>(value));
    result.texels.push_back(static_cast<float>(texel.kind));
    result.plain = result.plain && texel.kind == CellKind::value;
  }
  return result;
}

}  // namespace headwise
