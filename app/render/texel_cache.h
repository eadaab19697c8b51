// The textures of planes, kept as long as somebody draws them. A texture belongs to a tensor by identity, not
// by address: an address that is used again never meets the old texture, and no tensor is kept alive for
// being drawn.
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
  // The texture of this box of the grid, filled where it is not there yet. The reference is good until
  // forget().
  const CachedTexels& find(const HeatmapSpec& spec, const TexelGrid& grid);
  // Once a frame: lets go of textures whose tensor is gone, that no frame has asked for during the last 120,
  // or, above 256 MiB in all, that the last frame did not ask for.
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
