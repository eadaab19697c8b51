#include "app/platform/texel_cache.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

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

bool more_salient(const Texel& a, const Texel& b, bool diverging) {
  const int rank_a = rank_of(a.kind), rank_b = rank_of(b.kind);
  if (rank_a != rank_b || rank_a != 1) return rank_a > rank_b;
  return diverging ? std::abs(a.value) > std::abs(b.value) : a.value > b.value;
}

// The cells as stored, for values and mask of one type; `Any` reads every other pair.
template <class T>
struct Stored {
  using Value = T;
  static constexpr bool typed = true;
  static constexpr double cost = 2.0;  // of a cell, in multiply-adds

  const T* values;
  const T* mask;  // null: nothing is blocked
  MatrixView at, mask_at;

  bool rows_lie_together() const { return at.col_stride == 1 && (!mask || mask_at.col_stride == 1); }
  double value(Index row, Index col) const {
    return static_cast<double>(values[row * at.row_stride + col * at.col_stride]);
  }
  // -inf; or +inf, which may mean something too (core/export/heatmap.h).
  bool blocked(Index row, Index col) const {
    return mask && std::isinf(mask[row * mask_at.row_stride + col * mask_at.col_stride]);
  }
};

struct Any {
  using Value = double;
  static constexpr bool typed = false;
  static constexpr double cost = 8.0;

  const HeatmapSpec& spec;
  double value(Index row, Index col) const { return spec.values.value(row, col); }
  bool blocked(Index row, Index col) const { return spec.mask && std::isinf(spec.mask->value(row, col)); }
};

template <class Reader>
Texel most_salient(const Reader& read, const HeatmapSpec& spec, const Cells& rows, const Cells& cols,
                   bool diverging) {
  // Nearly every cell is a finite, unblocked value: those are recognised without determining their kind.
  const auto cell = [&](Index row, Index col) {
    const double value = read.value(row, col);
    const bool plain = std::isfinite(value) && !read.blocked(row, col);
    return Texel{plain ? CellKind::value : cell_kind(spec, row, col), value};
  };
  Texel best = cell(rows.first, cols.first);
  for (Index row = rows.first; row < rows.last; ++row)
    for (Index col = cols.first; col < cols.last; ++col)
      if (const Texel other = cell(row, col); more_salient(other, best, diverging)) best = other;
  return best;
}

// The smallest and the largest value of each column over some rows of cells, vectorised. False if a cell is
// neither a finite value nor only blocked: those rows are examined cell by cell.
template <class T>
bool column_extremes(const Stored<T>& read, double blocked_at, const Cells& rows, const Cells& cols, T* least,
                     T* most) {
  using Flag = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const Index count = cols.last - cols.first;
  std::fill_n(least, count, infinity);
  std::fill_n(most, count, -infinity);
  const T filled = static_cast<T>(blocked_at), nearly = static_cast<T>(static_cast<float>(blocked_at));
  const bool hides = blocked_at < std::numeric_limits<double>::infinity();
  Flag other = 0;
  for (Index row = rows.first; row < rows.last; ++row) {
    const T* __restrict const value = read.values + row * read.at.row_stride + cols.first;
    const T* __restrict const mask =
        read.mask ? read.mask + row * read.mask_at.row_stride + cols.first : nullptr;
    T* __restrict const low = least, * __restrict const high = most;
    if (!mask) {
      for (Index i = 0; i < count; ++i) {
        const T v = value[i];
        other |= std::abs(v) < infinity ? Flag{0} : Flag{1};
        low[i] = v < low[i] ? v : low[i];
        high[i] = v > high[i] ? v : high[i];
      }
      continue;
    }
    for (Index i = 0; i < count; ++i) {
      const T v = value[i];
      const bool blocked = mask[i] == -infinity, kept = !hides & (mask[i] == infinity);
      const bool plain = !blocked & !kept & (std::abs(v) < infinity);
      const bool hatched = hides & blocked & ((v == T{0}) | (v == -infinity) | (v == filled) | (v == nearly));
      other |= (plain | hatched) ? Flag{0} : Flag{1};
      const T if_low = plain ? v : infinity, if_high = plain ? v : -infinity;
      low[i] = if_low < low[i] ? if_low : low[i];
      high[i] = if_high > high[i] ? if_high : high[i];
    }
  }
  return other == 0;
}

// The most significant of these columns; none if the sign of two equally large ones decides.
template <class T>
std::optional<Texel> most_salient(const T* least, const T* most, Index count, bool diverging) {
  T low = least[0], high = most[0];
  for (Index i = 1; i < count; ++i) {
    low = least[i] < low ? least[i] : low;
    high = most[i] > high ? most[i] : high;
  }
  if (low > high) return Texel{CellKind::blocked, 0.0};
  if (diverging && high == -low && high != T{0}) return std::nullopt;
  return Texel{CellKind::value, static_cast<double>(diverging && -low > high ? low : high)};
}

// Computes rows of texels on several threads.
template <class Reader>
void read_texels(const Reader& read, const HeatmapSpec& spec, const TexelGrid& grid,
                 std::vector<Texel>& texels) {
  const bool diverging = color_map_entry(spec.color_map).diverging;
  const double cells_of_row =
      static_cast<double>(spec.values.rows) / grid.rows * static_cast<double>(spec.values.cols);
  std::vector<Cells> columns;
  for (int c = 0; c < grid.box_cols; ++c)
    columns.push_back(cells_under(grid.first_col + c, grid.cols, spec.values.cols));
  const Cells all{columns.front().first, columns.back().last};
  for_ranges(
      grid.box_rows, Reader::cost * std::max(cells_of_row, static_cast<double>(grid.box_cols)),
      [&](Index first, Index last) {
        std::vector<typename Reader::Value> extremes(2 * static_cast<std::size_t>(all.last - all.first));
        typename Reader::Value *const least = extremes.data(), *const most = least + (all.last - all.first);
        for (auto r = static_cast<int>(first); r < static_cast<int>(last); ++r) {
          const Cells rows = cells_under(grid.first_row + r, grid.rows, spec.values.rows);
          Texel* row = &texels[static_cast<std::size_t>(r) * static_cast<std::size_t>(grid.box_cols)];
          bool together = false;
          if constexpr (Reader::typed)
            together =
                read.rows_lie_together() && column_extremes(read, spec.blocked_at, rows, all, least, most);
          for (const Cells& cols : columns) {
            std::optional<Texel> texel;
            const Index at = cols.first - all.first;
            if (together) texel = most_salient(least + at, most + at, cols.last - cols.first, diverging);
            *row++ = texel ? *texel : most_salient(read, spec, rows, cols, diverging);
          }
        }
      });
}

std::vector<Texel> read_texels(const HeatmapSpec& spec, const TexelGrid& grid) {
  std::vector<Texel> texels(static_cast<std::size_t>(grid.box_rows) * static_cast<std::size_t>(grid.box_cols));
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

constexpr long frames_kept = 120;
constexpr std::size_t bytes_kept = std::size_t{256} << 20;

std::size_t bytes_of(const gl::Texture& texture) {
  return static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height()) * 2 *
         sizeof(float);
}

}  // namespace

PlaneTexels plane_texels(const HeatmapSpec& spec, const TexelGrid& grid) {
  const std::vector<Texel> texels = read_texels(spec, grid);
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  bool plain = true;
  for (const Texel& texel : texels) {
    plain = plain && texel.kind == CellKind::value;
    if (!shows_value(texel.kind)) continue;
    lowest = std::min(lowest, texel.value);
    highest = std::max(highest, texel.value);
  }

  PlaneTexels result;
  result.plain = plain;
  if (lowest <= highest) {
    // If all values lie on one side of 0, they are relative to the one nearest to it.
    result.offset = lowest > 0 ? lowest : highest < 0 ? highest : 0.0;
    const double largest = std::max(std::abs(lowest - result.offset), std::abs(highest - result.offset));
    if (largest > 0) std::frexp(largest, &result.exponent);
  }
  // Division by a power of two is exact; a single factor would overflow for the smallest exponents.
  const int half = result.exponent / 2;
  const double up = std::ldexp(1.0, -half), more = std::ldexp(1.0, half - result.exponent);
  result.texels.resize(texels.size() * 2);
  for_ranges(static_cast<Index>(texels.size()), 4.0, [&](Index first, Index last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      const Texel& texel = texels[i];
      const double value = shows_value(texel.kind) ? (texel.value - result.offset) * up * more : 0.0;
      result.texels[2 * i] = static_cast<float>(value);
      result.texels[2 * i + 1] = static_cast<float>(texel.kind);
    }
  });
  return result;
}

bool TexelCache::KeyLess::operator()(const Key& a, const Key& b) const {
  for (const auto& [x, y] : {std::pair(&a.values, &b.values), std::pair(&a.mask, &b.mask)}) {
    if (x->tensor.owner_before(y->tensor)) return true;
    if (y->tensor.owner_before(x->tensor)) return false;
  }
  const auto numbers = [](const ViewKey& key) {
    return std::tie(key.offset, key.rows, key.cols, key.row_stride, key.col_stride);
  };
  return std::tuple(numbers(a.values), numbers(a.mask), a.blocked_at, a.by_magnitude, a.grid) <
         std::tuple(numbers(b.values), numbers(b.mask), b.blocked_at, b.by_magnitude, b.grid);
}

TexelCache::ViewKey TexelCache::key_of(const MatrixView& view) {
  return {view.tensor, view.offset, view.rows, view.cols, view.row_stride, view.col_stride};
}

const CachedTexels& TexelCache::find(const HeatmapSpec& spec, const TexelGrid& grid) {
  // Which cell is the most significant depends on the kind of colour map;
  // with one texel per cell there is no choice.
  const bool one_to_one = grid.rows == spec.values.rows && grid.cols == spec.values.cols;
  Key key{.values = key_of(spec.values),
          .mask = spec.mask ? key_of(*spec.mask) : ViewKey{},
          .blocked_at = spec.mask ? spec.blocked_at : 0.0,
          .by_magnitude = !one_to_one && color_map_entry(spec.color_map).diverging,
          .grid = grid};
  const auto [place, is_new] = entries_.try_emplace(std::move(key));
  Entry& entry = place->second;
  entry.last_used = frame_;
  if (is_new) {
    const PlaneTexels texels = plane_texels(spec, grid);
    entry.cached = {gl::Texture("heatmap cells", gl::TexelFormat::rg32f, grid.box_cols, grid.box_rows,
                                texels.texels.data()),
                    texels.offset, texels.exponent, texels.plain};
    bytes_ += bytes_of(entry.cached.texture);
    ++uploads_;
  }
  return entry.cached;
}

void TexelCache::forget() {
  for (auto place = entries_.begin(); place != entries_.end();) {
    const long unused = frame_ - place->second.last_used;
    if (place->first.values.tensor.expired() || unused > frames_kept || (bytes_ > bytes_kept && unused > 0)) {
      bytes_ -= bytes_of(place->second.cached.texture);
      place = entries_.erase(place);
    } else {
      ++place;
    }
  }
  ++frame_;
}

}  // namespace headwise
