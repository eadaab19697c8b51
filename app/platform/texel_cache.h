// The textures of planes, cached as long as they are drawn. A texture belongs to a tensor by identity, not by
// address: a reused address never gets the old texture, and no tensor is kept alive by being drawn.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "app/platform/drawing_objects.h"
#include "core/export/heatmap.h"

namespace headwise {

// The cells of a heatmap's plane as the texels that the shader reads: one per cell or, if cells are smaller
// than a pixel, one per pixel, holding the most significant cell below it (core/export/plane_rule.h).
// Knows nothing about GL.

// A grid of texels over the rows and columns of a view, and a box of it. Texel (r, c) stands for the cells
// [r·R/rows, (r+1)·R/rows) in rows, rounded outwards, likewise in columns.
struct TexelGrid {
  int rows = 0, cols = 0;  // at least 1, at most the rows R and columns of the view
  int first_row = 0, first_col = 0, box_rows = 0, box_cols = 0;
  friend auto operator<=>(const TexelGrid&, const TexelGrid&) = default;
};

struct PlaneTexels {
  // (box_rows, box_cols, 2): value and CellKind. value = (v − offset) · 2^−exponent, within [−1, 1], so that
  // f64 values of any magnitude keep the precision of a float. 0 if the kind does not show its value.
  std::vector<float> texels;
  double offset = 0.0;
  int exponent = 0;
  bool plain = true;  // every texel is CellKind::value
};

PlaneTexels plane_texels(const HeatmapSpec& spec, const TexelGrid& grid);

struct CachedTexels {
  gl::Texture texture;
  double offset = 0.0;
  int exponent = 0;
  bool plain = false;  // PlaneTexels
};

class TexelCache {
 public:
  // The texture of this box of the grid, filled if not there yet. The reference is valid until forget().
  const CachedTexels& find(const HeatmapSpec& spec, const TexelGrid& grid);
  // Once a frame: drops textures whose tensor is gone, that no frame has requested during the last 120, or,
  // above 256 MiB in total, that the last frame did not request.
  void forget();

  std::size_t uploads() const { return uploads_; }
  std::size_t textures() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct ViewKey {
    std::weak_ptr<const Tensor> tensor;
    Index offset = 0, rows = 0, cols = 0, row_stride = 0, col_stride = 0;
  };
  struct Key {
    ViewKey values, mask;
    double blocked_at;
    bool by_magnitude;
    TexelGrid grid;
  };
  struct KeyLess {
    bool operator()(const Key& a, const Key& b) const;
  };
  struct Entry {
    CachedTexels cached;
    long last_used = 0;
  };
  static ViewKey key_of(const MatrixView& view);

  std::map<Key, Entry, KeyLess> entries_;
  std::size_t uploads_ = 0, bytes_ = 0;
  long frame_ = 0;
};

}  // namespace headwise
