#include "app/platform/heatmap_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headwise {

std::string_view embedded_heatmap_plane_vert(), embedded_heatmap_plane_frag(),
    embedded_heatmap_plane_plain_frag();

namespace {

// Floats represent integers and halves exactly up to here, and divide them without crossing an integer.
constexpr Index largest_plain = Index{1} << 21;

// Where the values of a texture lie in the colour table: at + value · slope, as in color_position().
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

void set_ints(GLint where, Index x, Index y) {
  glUniform2i(where, static_cast<GLint>(x), static_cast<GLint>(y));
}

void set_uints(GLint where, Index x, Index y) {
  glUniform2ui(where, static_cast<GLuint>(x), static_cast<GLuint>(y));
}

// Maximum texels per side of one texture: small enough that a zoomed map uploads little more than its visible
// part.
constexpr int largest_tile = 1024;

}  // namespace

PixelRect intersection(const PixelRect& a, const PixelRect& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

AxisBase axis_base(Index first_seen, Index seen, Index cells, Index pixels) {
  AxisBase base;
  base.cell = (2 * first_seen + 1) * cells / (2 * pixels);
  base.pixel = cell_begin(base.cell, cells, static_cast<int>(pixels));
  base.pixel_rest = (2 * base.pixel + 1) * cells - 2 * base.cell * pixels;
  base.cell_rest = 2 * base.cell * pixels + cells - 1 - 2 * base.pixel * cells;
  // A pixel's product exceeds that of the cell it lies in by less than one cell, 2 · pixels.
  base.largest = 2 * (first_seen + seen - base.pixel) * cells + 2 * cells + 4 * pixels;
  return base;
}

bool PlaneTile::plain() const {
  return texels->plain && std::max(x.largest, y.largest) < largest_plain;
}

gl::Texture PlaneProgram::color_texture(const ColorTable& table) {
  std::vector<Rgba8> texels;
  texels.reserve(255 * steps + 1);
  for (int i = 0; i <= 255 * steps; ++i)
    texels.push_back(color_at(static_cast<double>(i), {0.0, 255.0 * steps}, table));
  return gl::Texture("colour table", gl::TexelFormat::rgba8, static_cast<int>(texels.size()), 1, texels.data());
}

PlaneProgram::PlaneProgram(std::string_view label, std::string_view fragment)
    : program_(label, embedded_heatmap_plane_vert(), fragment),
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
                .blocked_cross = program_.uniform("blocked_cross"),
                .kept_period = program_.uniform("kept_period"),
                .position = program_.uniform("position"),
                .state_colors = program_.uniform("state_colors"),
                .inks = program_.uniform("inks")} {
  program_.use();
  glUniform1i(program_.uniform("texels"), texels_unit);
  glUniform1i(program_.uniform("colors"), colors_unit);
  glUseProgram(0);
}

void PlaneProgram::use(int framebuffer_width, int framebuffer_height) const {
  program_.use();
  glUniform2f(uniforms_.framebuffer_size, static_cast<float>(framebuffer_width),
              static_cast<float>(framebuffer_height));
}

void PlaneProgram::set_theme(ColorMap map, Theme theme) const {
  std::array<float, 12> states{};
  auto* out = states.begin();
  for (const Rgba8 color : {nan_color(theme), blocked_color(theme), hatch_color(theme)})
    for (const std::uint8_t channel : {color.r, color.g, color.b, color.a})
      *out++ = static_cast<float>(channel) / 255.0f;
  glUniform4fv(uniforms_.state_colors, 3, states.data());
  const ColorTable& table = color_table(map, theme);
  const auto ink = [](Rgba8 ground) { return static_cast<float>(ink_on(ground).r) / 255.0f; };
  glUniform4f(uniforms_.inks, ink(nan_color(theme)), ink(table.front()), ink(table.back()),
              ink(blocked_color(theme)));
}

void PlaneProgram::draw(const PlaneTile& tile) const {
  const PixelRect& at = tile.on_screen;
  const AxisBase &x = tile.x, &y = tile.y;
  tile.texels->texture.bind(texels_unit);
  glUniform4f(uniforms_.on_screen, static_cast<float>(at.x0), static_cast<float>(at.y0),
              static_cast<float>(at.x1), static_cast<float>(at.y1));
  set_ints(uniforms_.plane, tile.plane.x0, tile.plane.y0);
  set_ints(uniforms_.base_pixel, x.pixel, y.pixel);
  set_ints(uniforms_.base_cell, x.cell, y.cell);
  set_ints(uniforms_.tile_cell, tile.grid.first_col, tile.grid.first_row);
  set_uints(uniforms_.cells, tile.grid.cols, tile.grid.rows);
  set_uints(uniforms_.pixels, tile.plane.width(), tile.plane.height());
  set_uints(uniforms_.pixel_rest, x.pixel_rest, y.pixel_rest);
  set_uints(uniforms_.cell_rest, x.cell_rest, y.cell_rest);
  glUniform4i(uniforms_.rule, tile.rule.gap, tile.rule.hatch_period, tile.rule.hatch_width, tile.rule.mark);
  glUniform1i(uniforms_.blocked_cross, tile.rule.cross);
  glUniform1i(uniforms_.kept_period, tile.rule.kept_period);
  const TablePosition position = table_position(tile.range, *tile.texels);
  glUniform2f(uniforms_.position, position.at, position.slope);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

HeatmapRenderer::HeatmapRenderer()
    : every_kind_("heatmap plane", embedded_heatmap_plane_frag()),
      plain_("heatmap plane, plain", embedded_heatmap_plane_plain_frag()),
      vertex_array_("heatmap plane"),
      tile_side_(std::min(largest_tile, gl::max_texture_size())) {}

HeatmapRenderer::Batch& HeatmapRenderer::new_batch(int frame) {
  if (frame != frame_) {
    frame_ = frame;
    before_.swap(batches_);
    batches_.clear();
    uploads_before_ = cache_.uploads();
    pictures_before_ = pictures_;
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
  return cache_.uploads() == uploads_before_ && pictures_ == pictures_before_ &&
         std::ranges::equal(batches_, before_, {}, &Batch::tiles, &Batch::tiles);
}

std::intptr_t HeatmapRenderer::picture(const std::shared_ptr<const void>& of,
                                       const std::function<Image()>& make) {
  if (!picture_ || picture_of_.lock() != of) {
    picture_.emplace(make());
    picture_of_ = of;
    ++pictures_;
  }
  return picture_->id();
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
