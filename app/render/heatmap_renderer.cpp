#include "app/render/heatmap_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headwise {

namespace embedded {
std::span<const unsigned char> heatmap_plane_vert();
std::span<const unsigned char> heatmap_plane_frag();
}  // namespace embedded

namespace {

// Texels a side that one texture holds at most: small enough that a zoomed map uploads little more than what
// is seen.
constexpr int tile_side = 1024;

constexpr int texels_unit = 0, colors_unit = 1;

// Where the shader starts to count along one axis: the first cell that is seen and the pixel where it begins.
// What follows is small then, whatever the size of the plane, and 32 bits are enough for it.
struct Base {
  Index cell = 0, pixel = 0;  // in the plane
  Index pixel_rest = 0, cell_rest = 0;
};

Base base_of(Index first_seen, Index cells, Index pixels) {
  Base base;
  base.cell = (2 * first_seen + 1) * cells / (2 * pixels);
  base.pixel = cell_begin(base.cell, cells, static_cast<int>(pixels));
  base.pixel_rest = (2 * base.pixel + 1) * cells - 2 * base.cell * pixels;
  base.cell_rest = 2 * base.cell * pixels + cells - 1 - 2 * base.pixel * cells;
  return base;
}

// Where the values of a texture stand in the colour table: at + value · slope, as color_position() has it.
struct TablePosition {
  float at, slope;
};

TablePosition table_position(const ValueRange& range, const CachedTexels& texels) {
  if (!(range.hi > range.lo)) return {127.5f, 0.0f};
  // Halved, so that a range as wide as the type does not overflow; kept finite, so that the shader sees no
  // NaN.
  const double half_width = range.hi / 2 - range.lo / 2;
  const double at = 255.0 * ((texels.offset / 2 - range.lo / 2) / half_width);
  const double slope = 127.5 * std::ldexp(1.0 / half_width, texels.exponent);
  return {static_cast<float>(std::clamp(at, -1e30, 1e30)), static_cast<float>(std::min(slope, 1e30))};
}

}  // namespace

PixelRect intersection(const PixelRect& a, const PixelRect& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

HeatmapRenderer::HeatmapRenderer()
    : program_("heatmap plane", embedded::heatmap_plane_vert(), embedded::heatmap_plane_frag()),
      vertex_array_("heatmap plane"),
      uniforms_{.framebuffer_size = program_.uniform("framebuffer_size"),
                .on_screen = program_.uniform("on_screen"),
                .plane = program_.uniform("plane"),
                .base_pixel = program_.uniform("base_pixel"),
                .base_cell = program_.uniform("base_cell"),
                .tile_cell = program_.uniform("tile_cell"),
                .cells = program_.uniform("cells"),
                .pixels = program_.uniform("pixels"),
                .pixel_rest = program_.uniform("pixel_rest"),
                .cell_rest = program_.uniform("cell_rest"),
                .rule = program_.uniform("rule"),
                .position = program_.uniform("position"),
                .state_colors = program_.uniform("state_colors"),
                .inks = program_.uniform("inks")},
      tile_side_(std::min(tile_side, gl::max_texture_size())) {
  program_.use();
  glUniform1i(program_.uniform("texels"), texels_unit);
  glUniform1i(program_.uniform("colors"), colors_unit);
  glUseProgram(0);
}

HeatmapRenderer::Batch& HeatmapRenderer::new_batch(int frame) {
  if (frame != frame_) {
    frame_ = frame;
    batches_.clear();
    cache_.forget();
  }
  return batches_.emplace_back(Batch{this, {}});
}

void HeatmapRenderer::add(Batch& batch, const HeatmapSpec& spec, const PixelRect& plane,
                          const PixelRect& clip) {
  const PixelRect seen = intersection(plane, clip);
  const MatrixView& values = spec.values;
  if (values.tensor == nullptr || values.rows <= 0 || values.cols <= 0 || seen.empty()) return;
  const PlaneRule rule = plane_rule(values.rows, values.cols, plane.width(), plane.height());
  TexelGrid grid;
  grid.rows = static_cast<int>(std::min<Index>(values.rows, plane.height()));
  grid.cols = static_cast<int>(std::min<Index>(values.cols, plane.width()));
  for (grid.first_row = 0; grid.first_row < grid.rows; grid.first_row += tile_side_) {
    grid.box_rows = std::min(tile_side_, grid.rows - grid.first_row);
    for (grid.first_col = 0; grid.first_col < grid.cols; grid.first_col += tile_side_) {
      grid.box_cols = std::min(tile_side_, grid.cols - grid.first_col);
      const PixelRect tile = {
          plane.x0 + cell_begin(grid.first_col, grid.cols, plane.width()),
          plane.y0 + cell_begin(grid.first_row, grid.rows, plane.height()),
          plane.x0 + cell_begin(grid.first_col + grid.box_cols, grid.cols, plane.width()),
          plane.y0 + cell_begin(grid.first_row + grid.box_rows, grid.rows, plane.height())};
      const PixelRect on_screen = intersection(tile, seen);
      if (on_screen.empty()) continue;
      batch.tiles.push_back(
          {&cache_.find(spec, grid), grid, plane, on_screen, rule, spec.range, spec.color_map, spec.theme});
    }
  }
}

void HeatmapRenderer::draw(const Batch& batch, int framebuffer_width, int framebuffer_height,
                           const PixelRect& clip) {
  if (batch.tiles.empty() || clip.empty()) return;
  glEnable(GL_SCISSOR_TEST);
  glScissor(clip.x0, framebuffer_height - clip.y1, clip.width(), clip.height());
  glDisable(GL_BLEND);
  program_.use();
  glBindVertexArray(vertex_array_.name());
  glUniform2f(uniforms_.framebuffer_size, static_cast<float>(framebuffer_width),
              static_cast<float>(framebuffer_height));
  const Tile* before = nullptr;
  for (const Tile& tile : batch.tiles) {
    if (before == nullptr || before->color_map != tile.color_map || before->theme != tile.theme)
      set_colors(tile.color_map, tile.theme);
    before = &tile;
    draw(tile);
  }
  glActiveTexture(GL_TEXTURE0);
}

void HeatmapRenderer::set_colors(ColorMap map, Theme theme) {
  const ColorTable& table = color_table(map, theme);
  gl::Texture& texture = colors_[{map, theme}];
  if (!texture) texture = gl::Texture("colour table", gl::TexelFormat::rgba8, 256, 1, table.data());
  texture.bind(colors_unit);
  std::array<float, 12> states{};
  auto* out = states.begin();
  for (const Rgba8 color : {nan_color(theme), blocked_color(theme), hatch_color(theme)})
    for (const std::uint8_t channel : {color.r, color.g, color.b, color.a})
      *out++ = static_cast<float>(channel) / 255.0f;
  glUniform4fv(uniforms_.state_colors, 3, states.data());
  const auto ink = [](Rgba8 ground) { return static_cast<float>(ink_on(ground).r) / 255.0f; };
  glUniform3f(uniforms_.inks, ink(nan_color(theme)), ink(table.front()), ink(table.back()));
}

void HeatmapRenderer::draw(const Tile& tile) {
  const PixelRect& at = tile.on_screen;
  const TexelGrid& grid = tile.grid;
  const Base x = base_of(at.x0 - tile.plane.x0, grid.cols, tile.plane.width());
  const Base y = base_of(at.y0 - tile.plane.y0, grid.rows, tile.plane.height());
  const auto ints = [](GLint where, Index a, Index b) {
    glUniform2i(where, static_cast<GLint>(a), static_cast<GLint>(b));
  };
  const auto uints = [](GLint where, Index a, Index b) {
    glUniform2ui(where, static_cast<GLuint>(a), static_cast<GLuint>(b));
  };
  tile.texels->texture.bind(texels_unit);
  glUniform4f(uniforms_.on_screen, static_cast<float>(at.x0), static_cast<float>(at.y0),
              static_cast<float>(at.x1), static_cast<float>(at.y1));
  ints(uniforms_.plane, tile.plane.x0, tile.plane.y0);
  ints(uniforms_.base_pixel, x.pixel, y.pixel);
  ints(uniforms_.base_cell, x.cell, y.cell);
  ints(uniforms_.tile_cell, grid.first_col, grid.first_row);
  uints(uniforms_.cells, grid.cols, grid.rows);
  uints(uniforms_.pixels, tile.plane.width(), tile.plane.height());
  uints(uniforms_.pixel_rest, x.pixel_rest, y.pixel_rest);
  uints(uniforms_.cell_rest, x.cell_rest, y.cell_rest);
  glUniform4i(uniforms_.rule, tile.rule.gap, tile.rule.hatch_period, tile.rule.hatch_width, tile.rule.mark);
  const TablePosition position = table_position(tile.range, *tile.texels);
  glUniform2f(uniforms_.position, position.at, position.slope);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

}  // namespace headwise
