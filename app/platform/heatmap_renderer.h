// Draws the planes of heatmaps: values as a texture, colours by the rule of core/export in a fragment
// shader. A change of range, colour map or theme uploads nothing; a new tensor, another view of it or (if
// cells are smaller than a pixel) another size on the screen does.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "app/platform/drawing_objects.h"
#include "app/platform/picture_texture.h"
#include "app/platform/texel_cache.h"
#include "core/export/plane_rule.h"

namespace headwise {

// The shader program that draws planes of cells, with setters for what it needs.

// Framebuffer pixels from the top left corner, half-open.
struct PixelRect {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
  bool empty() const { return x1 <= x0 || y1 <= y0; }
  friend bool operator==(const PixelRect&, const PixelRect&) = default;
};
PixelRect intersection(const PixelRect& a, const PixelRect& b);

// Where the shader starts counting along one axis: the first visible cell and the pixel where it begins. All
// further numbers are then small, whatever the size of the plane, and fit in 32 bits.
struct AxisBase {
  Index cell = 0, pixel = 0;            // in the plane
  Index pixel_rest = 0, cell_rest = 0;  // shaders/heatmap_plane.frag
  Index largest = 0;                    // the largest product in the shader
  friend bool operator==(const AxisBase&, const AxisBase&) = default;
};
AxisBase axis_base(Index first_seen, Index seen, Index cells, Index pixels);

// A plane, or the tile of one, that a texture holds.
struct PlaneTile {
  const CachedTexels* texels = nullptr;
  TexelGrid grid;
  PixelRect plane, on_screen;
  PlaneRule rule;
  ValueRange range;
  ColorMap color_map = ColorMap::viridis;
  Theme theme = Theme::light;
  AxisBase x, y;

  // Whether shaders/heatmap_plane_plain.frag draws it correctly.
  bool plain() const;
  friend bool operator==(const PlaneTile&, const PlaneTile&) = default;
};

class PlaneProgram {
 public:
  static constexpr int texels_unit = 0, colors_unit = 1;  // texture units
  // The colour table as the shader reads it: this many steps between entries,
  // less than one colour level apart.
  static constexpr int steps = 16;
  static gl::Texture color_texture(const ColorTable& table);

  PlaneProgram(std::string_view label, std::string_view fragment);

  void use(int framebuffer_width, int framebuffer_height) const;
  // While in use:
  void set_theme(ColorMap map, Theme theme) const;
  void draw(const PlaneTile& tile) const;

 private:
  gl::Program program_;
  struct Uniforms {
    GLint framebuffer_size, on_screen, plane, base_pixel, base_cell, tile_cell, cells, pixels, pixel_rest,
        cell_rest, rule, blocked_cross, kept_period, position, state_colors, inks;
  } uniforms_;
};

class HeatmapRenderer {
 public:
  // Planes drawn by one call.
  struct Batch {
    HeatmapRenderer* renderer;
    std::vector<PlaneTile> tiles;
  };

  // Needs a current context of OpenGL 3.3 core or newer, here and in every call. Throws Error(no_display) if
  // a shader does not compile.
  HeatmapRenderer();
  HeatmapRenderer(const HeatmapRenderer&) = delete;
  HeatmapRenderer& operator=(const HeatmapRenderer&) = delete;

  // A batch to be drawn in the frame with this number. It stays in place until the first call with another
  // number, which also drops textures (TexelCache::forget).
  Batch& new_batch(int frame);
  // Uploads what is missing of the part of the plane inside the clip rectangle. A view without cells or a
  // rectangle without pixels adds nothing.
  void add(Batch& batch, const HeatmapSpec& spec, const PixelRect& plane, const PixelRect& clip);
  // Draws into the bound framebuffer of this size. Leaves its program, vertex array, textures of units 0 and
  // 1 and scissor set: the caller must set its own state again.
  void draw(const Batch& batch, int framebuffer_width, int framebuffer_height, const PixelRect& clip);

  // The number by which ImGui draws a picture (ImTextureID). It is kept for this `of`, and made for another.
  std::intptr_t picture(const std::shared_ptr<const void>& of, const std::function<Image()>& make);

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
  std::weak_ptr<const void> picture_of_;
  std::optional<PictureTexture> picture_;
  std::size_t pictures_ = 0, pictures_before_ = 0;  // made so far
  std::size_t uploads_before_ = 0;
  int tile_side_;
  int frame_ = -1;
};

}  // namespace headwise
