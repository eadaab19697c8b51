#include "app/render/plane_texels.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

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

// The cells as they are stored, for values and mask of one type; `Any` reads every other pair.
template <class T>
struct Stored {
  const T* values;
  const T* mask;  // null: nothing is blocked
  MatrixView at, mask_at;

  double value(Index row, Index col) const {
    return static_cast<double>(values[row * at.row_stride + col * at.col_stride]);
  }
  bool blocked(Index row, Index col) const {
    return mask &&
           mask[row * mask_at.row_stride + col * mask_at.col_stride] == -std::numeric_limits<T>::infinity();
  }
};

struct Any {
  const HeatmapSpec& spec;
  double value(Index row, Index col) const { return spec.values.value(row, col); }
  bool blocked(Index row, Index col) const {
    return spec.mask && spec.mask->value(row, col) == -std::numeric_limits<double>::infinity();
  }
};

template <class Reader>
Texel most_telling(const Reader& read, const HeatmapSpec& spec, const Cells& rows, const Cells& cols,
                   bool diverging) {
  // Nearly every cell is a finite value that no mask blocks: those are told apart without asking for their kind.
  const auto cell = [&](Index row, Index col) {
    const double value = read.value(row, col);
    const bool plain = std::isfinite(value) && !read.blocked(row, col);
    return Texel{plain ? CellKind::value : cell_kind(spec, row, col), value};
  };
  Texel best = cell(rows.first, cols.first);
  for (Index row = rows.first; row < rows.last; ++row)
    for (Index col = cols.first; col < cols.last; ++col)
      if (const Texel other = cell(row, col); more_telling(other, best, diverging)) best = other;
  return best;
}

// Rows of texels by several threads.
template <class Reader>
void read_texels(const Reader& read, const HeatmapSpec& spec, const TexelGrid& grid,
                 std::vector<Texel>& texels) {
  const bool diverging = color_map_entry(spec.color_map).diverging;
  const double cells_of_row =
      static_cast<double>(spec.values.rows) / grid.rows * static_cast<double>(spec.values.cols);
  for_ranges(grid.box_rows, 3.0 * std::max(cells_of_row, static_cast<double>(grid.box_cols)),
             [&](Index first, Index last) {
               for (auto r = static_cast<int>(first); r < static_cast<int>(last); ++r) {
                 const Cells rows = cells_under(grid.first_row + r, grid.rows, spec.values.rows);
                 Texel* const row =
                     &texels[static_cast<std::size_t>(r) * static_cast<std::size_t>(grid.box_cols)];
                 for (int c = 0; c < grid.box_cols; ++c) {
                   const Cells cols = cells_under(grid.first_col + c, grid.cols, spec.values.cols);
                   row[c] = most_telling(read, spec, rows, cols, diverging);
                 }
               }
             });
}

std::vector<Texel> read_texels(const HeatmapSpec& spec, const TexelGrid& grid) {
  std::vector<Texel> texels(static_cast<std::size_t>(grid.box_rows) *
                            static_cast<std::size_t>(grid.box_cols));
  if (texels.empty()) return texels;
  const DType dtype = spec.values.tensor->dtype();
  const bool one_type = !spec.mask || spec.mask->tensor->dtype() == dtype;
  if (!one_type || (dtype != DType::f32 && dtype != DType::f64)) {
    read_texels(Any{spec}, spec, grid, texels);
    return texels;
  }
  dispatch_float(dtype, [&]<class T>() {
    const T* const values = spec.values.tensor->values<T>().data() + spec.values.offset;
    const T* const mask = spec.mask ? spec.mask->tensor->values<T>().data() + spec.mask->offset : nullptr;
    read_texels(Stored<T>{values, mask, spec.values, spec.mask.value_or(MatrixView{})}, spec, grid, texels);
  });
  return texels;
}

}  // namespace

PlaneTexels plane_texels(const HeatmapSpec& spec, const TexelGrid& grid) {
  const std::vector<Texel> texels = read_texels(spec, grid);
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const Texel& texel : texels) {
    if (!shows_value(texel.kind)) continue;
    lowest = std::min(lowest, texel.value);
    highest = std::max(highest, texel.value);
  }

  PlaneTexels result;
  if (lowest <= highest) {
    // Where all values lie on one side of 0, they are counted from the one nearest to it.
    result.offset = lowest > 0 ? lowest : highest < 0 ? highest : 0.0;
    const double largest = std::max(std::abs(lowest - result.offset), std::abs(highest - result.offset));
    if (largest > 0) std::frexp(largest, &result.exponent);
  }
  // A division by a power of two is exact; one factor would overflow for the smallest exponents.
  const int half = result.exponent / 2;
  const double up = std::ldexp(1.0, -half), more = std::ldexp(1.0, half - result.exponent);
  result.texels.resize(texels.size() * 2);
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const Texel& texel = texels[i];
    const double value = shows_value(texel.kind) ? (texel.value - result.offset) * up * more : 0.0;
    result.texels[2 * i] = static_cast<float>(value);
    result.texels[2 * i + 1] = static_cast<float>(texel.kind);
    result.plain = result.plain && texel.kind == CellKind::value;
  }
  return result;
}

}  // namespace headwise
