#include "app/render/texel_cache.h"

#include <tuple>

namespace headwise {

namespace {

constexpr long frames_kept = 120;
constexpr std::size_t bytes_kept = std::size_t{256} << 20;

std::size_t bytes_of(const gl::Texture& texture) {
  return static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height()) * 2 *
         sizeof(float);
}

}  // namespace

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
  // Which cell is the most significant depends on the kind of colour map; with one texel per cell there is no choice.
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
