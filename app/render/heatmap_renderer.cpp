#include "app/render/heatmap_renderer.h"

#include <algorithm>

namespace headwise {

namespace embedded {
std::span<const unsigned char> heatmap_plane_frag();
std::span<const unsigned char> heatmap_plane_plain_frag();
}  // namespace embedded

namespace {

// Maximum texels per side of one texture: small enough that a zoomed map uploads little more than its visible part.
constexpr int largest_tile = 1024;

}  // namespace

HeatmapRenderer::HeatmapRenderer()
    : every_kind_("heatmap plane", embedded::heatmap_plane_frag()),
      plain_("heatmap plane, plain", embedded::heatmap_plane_plain_frag()),
      vertex_array_("heatmap plane"),
      tile_side_(std::min(largest_tile, gl::max_texture_size())) {}

HeatmapRenderer::Batch& HeatmapRenderer::new_batch(int frame) {
  if (frame != frame_) {
    frame_ = frame;
    before_.swap(batches_);
    batches_.clear();
    uploads_before_ = cache_.uploads();
    cache_.forget();
  }
  return batches_.emplace_back(Batch{this, {}});
}

void HeatmapRenderer::add(Batch& batch, const HeatmapSpec& spec, const PixelRect& plane, const PixelRect& clip) {
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
      const PixelRect tile = {plane.x0 + cell_begin(grid.first_col, grid.cols, plane.width()),
                              plane.y0 + cell_begin(grid.first_row, grid.rows, plane.height()),
                              plane.x0 + cell_begin(grid.first_col + grid.box_cols, grid.cols, plane.width()),
                              plane.y0 + cell_begin(grid.first_row + grid.box_rows, grid.rows, plane.height())};
      const PixelRect on_screen = intersection(tile, seen);
      if (on_screen.empty()) continue;
      batch.tiles.push_back(
          {&cache_.find(spec, grid), grid, plane, on_screen, rule, spec.range, spec.color_map, spec.theme,
           axis_base(on_screen.x0 - plane.x0, on_screen.width(), grid.cols, plane.width()),
           axis_base(on_screen.y0 - plane.y0, on_screen.height(), grid.rows, plane.height())});
    }
  }
}

// A texture not uploaded in between is unchanged, though its place may have been another's before.
bool HeatmapRenderer::as_before() const {
  return cache_.uploads() == uploads_before_ &&
         std::ranges::equal(batches_, before_, {}, &Batch::tiles, &Batch::tiles);
}

void HeatmapRenderer::draw(const Batch& batch, int framebuffer_width, int framebuffer_height,
                           const PixelRect& clip) {
  if (batch.tiles.empty() || clip.empty()) return;
  glEnable(GL_SCISSOR_TEST);
  glScissor(clip.x0, framebuffer_height - clip.y1, clip.width(), clip.height());
  glDisable(GL_BLEND);
  glBindVertexArray(vertex_array_.name());
  const PlaneProgram* in_use = nullptr;
  const PlaneTile* before = nullptr;
  for (const PlaneTile& tile : batch.tiles) {
    const PlaneProgram& program = tile.plain() ? plain_ : every_kind_;
    const bool other_theme =
        before == nullptr || before->color_map != tile.color_map || before->theme != tile.theme;
    if (&program != in_use) program.use(framebuffer_width, framebuffer_height);
    if (other_theme) bind_colors(tile.color_map, tile.theme);
    if (other_theme || &program != in_use) program.set_theme(tile.color_map, tile.theme);
    program.draw(tile);
    in_use = &program;
    before = &tile;
  }
  glActiveTexture(GL_TEXTURE0);
}

void HeatmapRenderer::bind_colors(ColorMap map, Theme theme) {
  gl::Texture& texture = colors_[{map, theme}];
  if (!texture) texture = PlaneProgram::color_texture(color_table(map, theme));
  texture.bind(PlaneProgram::colors_unit);
}

}  // namespace headwise
