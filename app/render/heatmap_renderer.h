// Draws the planes of heatmaps: values as a texture, colours by the rule of core/picture in a fragment shader. A change of
// range, colour map or theme uploads nothing; a new tensor, another view of it or (if cells are smaller than a pixel)
// another size on the screen does.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "app/gl/vertex_array.h"
#include "app/render/plane_program.h"
#include "app/render/texel_cache.h"

namespace headwise {

class HeatmapRenderer {
 public:
  // Planes drawn by one call.
  struct Batch {
    HeatmapRenderer* renderer;
    std::vector<PlaneTile> tiles;
  };

  // Needs a current context of OpenGL 3.3 core or newer, here and in every call. Throws Error(no_display) if a shader does
  // not compile.
  HeatmapRenderer();
  HeatmapRenderer(const HeatmapRenderer&) = delete;
  HeatmapRenderer& operator=(const HeatmapRenderer&) = delete;

  // A batch to be drawn in the frame with this number. It stays in place until the first call with another number, which
  // also drops textures (TexelCache::forget).
  Batch& new_batch(int frame);
  // Uploads what is missing of the part of the plane inside the clip rectangle. A view without cells or a rectangle without
  // pixels adds nothing.
  void add(Batch& batch, const HeatmapSpec& spec, const PixelRect& plane, const PixelRect& clip);
  // Draws into the bound framebuffer of this size. Leaves its program, vertex array, textures of units 0 and 1 and scissor
  // set: the caller must set its own state again.
  void draw(const Batch& batch, int framebuffer_width, int framebuffer_height, const PixelRect& clip);

  // Whether the batches of this frame draw the same as those of the last frame that had any.
  bool as_before() const;

  const TexelCache& cache() const { return cache_; }

 private:
  void bind_colors(ColorMap map, Theme theme);

  PlaneProgram every_kind_, plain_;
  gl::VertexArray vertex_array_;
  std::map<std::pair<ColorMap, Theme>, gl::Texture> colors_;
  TexelCache cache_;
  std::deque<Batch> batches_, before_;  // of this frame and the previous one
  std::size_t uploads_before_ = 0;
  int tile_side_;
  int frame_ = -1;
};

}  // namespace headwise
