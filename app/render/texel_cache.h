// The textures of planes, cached as long as they are drawn. A texture belongs to a tensor by identity, not by address: a
// reused address never gets the old texture, and no tensor is kept alive by being drawn.
#pragma once

#include <map>
#include <memory>

#include "app/gl/texture.h"
#include "app/render/plane_texels.h"

namespace headwise {

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
  // Once a frame: drops textures whose tensor is gone, that no frame has requested during the last 120, or, above 256 MiB
  // in total, that the last frame did not request.
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
