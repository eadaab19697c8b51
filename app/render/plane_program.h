// The shader program that draws planes of cells, with setters for what it needs.
#pragma once

#include <span>

#include "app/gl/program.h"
#include "app/render/texel_cache.h"
#include "core/picture/plane_rule.h"

namespace headwise {

// Framebuffer pixels from the top left corner, half-open.
struct PixelRect {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
  bool empty() const { return x1 <= x0 || y1 <= y0; }
  friend bool operator==(const PixelRect&, const PixelRect&) = default;
};
PixelRect intersection(const PixelRect& a, const PixelRect& b);

// Where the shader starts counting along one axis: the first visible cell and the pixel where it begins. All further
// numbers are then small, whatever the size of the plane, and fit in 32 bits.
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
  // The colour table as the shader reads it: this many steps between entries, less than one colour level apart.
  static constexpr int steps = 16;
  static gl::Texture color_texture(const ColorTable& table);

  PlaneProgram(std::string_view label, std::span<const unsigned char> fragment);

  void use(int framebuffer_width, int framebuffer_height) const;
  // While in use:
  void set_theme(ColorMap map, Theme theme) const;
  void draw(const PlaneTile& tile) const;

 private:
  gl::Program program_;
  struct Uniforms {
    GLint framebuffer_size, on_screen, plane, base_pixel, base_cell, tile_cell, cells, pixels, pixel_rest,
        cell_rest, rule, blocked_cross, position, state_colors, inks;
  } uniforms_;
};

}  // namespace headwise
