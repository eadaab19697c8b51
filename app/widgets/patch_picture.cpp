#include "app/widgets/patch_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/platform/heatmap_renderer.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// What covers a patch without weight: so much of the ground that its outlines can just be seen.
constexpr float darkest = 0.86f;
constexpr float grid_opacity = 0.35f;
constexpr double least_grid_pitch = 6.0;  // in pixels; closer lines would hide the picture

Image rgba_of(const RgbPicture& picture) {
  Image image{static_cast<int>(picture.width), static_cast<int>(picture.height), {}};
  image.rgba.reserve(picture.rgb.size() / 3 * 4);
  for (std::size_t i = 0; i + 2 < picture.rgb.size(); i += 3)
    image.rgba.insert(image.rgba.end(), {picture.rgb[i], picture.rgb[i + 1], picture.rgb[i + 2], 255});
  return image;
}

ImTextureID texture_of(HeatmapRenderer& renderer, const std::shared_ptr<const ModelPicture>& picture) {
  return reinterpret_cast<ImTextureID>(renderer.picture(picture, [&] { return rgba_of(picture->shown); }));
}

// The part of the picture that patches cover: a rest at its right and bottom has no token.
ImVec2 covered(const PatchGrid& grid) {
  return {float(grid.columns() * grid.patch_width) / float(grid.width),
          float(grid.rows() * grid.patch_height) / float(grid.height)};
}

// Vector files have no textures (draw_data_vectors.h): there the picture is so many squares a side, each the
// mean of its pixels.
constexpr Index most_squares = 56;

void draw_as_shapes(const Painter& paint, const ModelPicture& picture, const Box& place) {
  const PatchGrid& grid = picture.grid;
  const Index width = grid.columns() * grid.patch_width, height = grid.rows() * grid.patch_height;
  const Index across = std::min(width, most_squares), down = std::min(height, most_squares);
  for (Index row = 0; row < down; ++row) {
    for (Index column = 0; column < across; ++column) {
      std::array<Index, 3> sum{};
      Index count = 0;
      for (Index y = row * height / down; y < (row + 1) * height / down; ++y)
        for (Index x = column * width / across; x < (column + 1) * width / across; ++x, ++count)
          for (std::size_t c = 0; c < 3; ++c)
            sum[c] += picture.shown.rgb[static_cast<std::size_t>(3 * (y * picture.shown.width + x)) + c];
      const auto mean = [&](std::size_t c) {
        return static_cast<std::uint8_t>(sum[c] / std::max<Index>(count, 1));
      };
      const auto at = [](float from, float size, Index i, Index of) {
        return from + size * float(i) / float(of);
      };
      paint.fill(
          {at(place.min.x, place.width(), column, across), at(place.min.y, place.height(), row, down)},
          {at(place.min.x, place.width(), column + 1, across), at(place.min.y, place.height(), row + 1, down)},
          Rgba8{mean(0), mean(1), mean(2), 255});
    }
  }
}

}  // namespace

Box PatchPlane::box(Index token) const {
  const auto firsts = static_cast<Index>(first.size());
  if (token < firsts) return first[static_cast<std::size_t>(token)];
  const Index row = (token - firsts) / columns, column = (token - firsts) % columns;
  const double width = place.width / static_cast<double>(columns),
               height = place.height / static_cast<double>(rows);
  return RectF{place.x + width * static_cast<double>(column), place.y + height * static_cast<double>(row),
               width, height};
}

std::optional<Index> PatchPlane::token_at(ImVec2 point) const {
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i].has(point)) return static_cast<Index>(i);
  if (!Box(place).has(point)) return std::nullopt;
  const auto along = [](double offset, double size, Index count) {
    return std::clamp<Index>(static_cast<Index>(offset / size * static_cast<double>(count)), 0, count - 1);
  };
  return static_cast<Index>(first.size()) + along(point.y - place.y, place.height, rows) * columns +
         along(point.x - place.x, place.width, columns);
}

PatchPlane patch_plane(const PatchGrid& grid, const RectF& area, float line) {
  PatchPlane plane{.place = {}, .rows = grid.rows(), .columns = grid.columns(), .first = {}};
  const double gap = std::round(0.25 * static_cast<double>(line));
  const double high = area.height - static_cast<double>(line) - gap;
  const double wide = static_cast<double>(grid.columns() * grid.patch_width),
               tall = static_cast<double>(grid.rows() * grid.patch_height);
  // Whole pixels for a patch, so that all are alike.
  const double scale = std::min(area.width / wide, high / tall);
  const double patch_width = std::max(1.0, std::floor(scale * static_cast<double>(grid.patch_width)));
  const double patch_height = std::max(1.0, std::floor(patch_width * static_cast<double>(grid.patch_height) /
                                                       static_cast<double>(grid.patch_width)));
  plane.place = {std::floor(area.x), std::floor(area.y + static_cast<double>(line) + gap),
                 patch_width * static_cast<double>(plane.columns),
                 patch_height * static_cast<double>(plane.rows)};
  const double box =
      std::min(3.6 * static_cast<double>(line), plane.place.width / static_cast<double>(grid.first_tokens));
  for (Index i = 0; i < grid.first_tokens; ++i)
    plane.first.emplace_back(RectF{plane.place.x + static_cast<double>(i) * (box + gap), std::floor(area.y),
                                   std::floor(box), static_cast<double>(line)});
  return plane;
}

void draw_patches(const Painter& paint, HeatmapRenderer& renderer,
                  const std::shared_ptr<const ModelPicture>& picture, const PatchPlane& plane,
                  std::span<const std::string> labels, std::span<const double> weights) {
  const Box place(plane.place);
  if (plane_recording())
    draw_as_shapes(paint, *picture, place);
  else
    paint.list->AddImage(texture_of(renderer, picture), place.min, place.max, {0, 0}, covered(picture->grid));
  const auto firsts = static_cast<Index>(plane.first.size());
  double most = 0.0;
  for (Index i = firsts; i < plane.tokens() && i < std::ssize(weights); ++i)
    most = std::max(most, weights[static_cast<std::size_t>(i)]);  // not NaN
  for (Index i = firsts; i < plane.tokens() && !weights.empty(); ++i) {
    const double weight = i < std::ssize(weights) ? weights[static_cast<std::size_t>(i)] : 0.0;
    const double bright = most > 0.0 && weight > 0.0 ? weight / most : 0.0;
    paint.fill(plane.box(i), {paint.palette.panel, darkest * float(1.0 - bright)});
  }
  const double pitch = plane.place.width / static_cast<double>(std::max<Index>(plane.columns, 1));
  if (pitch >= least_grid_pitch) {
    const Ink ink(paint.palette.panel, grid_opacity);
    for (Index column = 1; column < plane.columns; ++column) {
      const float x = plane.box(firsts + column).min.x;
      paint.line({x, place.min.y}, {x, place.max.y}, ink);
    }
    for (Index row = 1; row < plane.rows; ++row) {
      const float y = plane.box(firsts + row * plane.columns).min.y;
      paint.line({place.min.x, y}, {place.max.x, y}, ink);
    }
  }
  ImFont* font = paint.fonts.small;
  for (std::size_t i = 0; i < plane.first.size() && i < labels.size(); ++i) {
    const Box& box = plane.first[i];
    paint.fill(box, paint.palette.control, paint.px(3));
    paint.text_beside(font, box.middle(), paint.palette.text, fitted_text(labels[i], font, box.width()),
                      Align::middle);
    ui_probe("patches/first", static_cast<int>(i), box);
  }
  ui_probe("patches/picture", place);
}

void draw_patch(const Painter& paint, HeatmapRenderer& renderer,
                const std::shared_ptr<const ModelPicture>& picture, Index token, const Box& place) {
  const PatchGrid& grid = picture->grid;
  const Index patch = token - grid.first_tokens;
  if (patch < 0 || token >= grid.tokens()) return;
  const auto row = float(patch / grid.columns()), column = float(patch % grid.columns());
  const ImVec2 size{float(grid.patch_width) / float(grid.width), float(grid.patch_height) / float(grid.height)};
  paint.list->AddImage(texture_of(renderer, picture), place.min, place.max, {column * size.x, row * size.y},
                       {(column + 1.0f) * size.x, (row + 1.0f) * size.y});
}

}  // namespace headwise
