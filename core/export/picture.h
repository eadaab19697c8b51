// A picture as a list of shapes in pixels, built once and painted by several painters: PNG, SVG and the
// window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/export/font.h"
#include "core/export/heatmap.h"
#include "core/export/image.h"

namespace headwise {

// The plane of cells of a heatmap: painted by rule (color_map.h), not as shapes.
struct PlaneItem {
  RectF rect;
  HeatmapSpec spec;
};
// The colours of a range from lo to hi, left to right; for a range of zero width, its one colour.
struct ColorBarItem {
  RectF rect;
  ColorMap color_map;
  Theme theme;
  ValueRange range;
};
// A filled rectangle.
struct BoxItem {
  RectF rect;
  Rgba8 color;
};
struct LineItem {
  PointF from, to;
  double width;
  Rgba8 color;
};

// Painted in the order of the members.
struct Picture {
  double width = 0, height = 0;
  Rgba8 ground;
  std::vector<PlaneItem> planes;
  std::vector<ColorBarItem> bars;
  std::vector<BoxItem> boxes;
  std::vector<LineItem> lines;
  std::vector<TextItem> texts;
  bool cell_titles = false;  // PictureOptions
};

// What can be chosen of a picture besides its heatmaps.
struct PictureOptions {
  bool color_bar = true;  // the legend of blocked cells, NaN and infinities is drawn without it too
  std::optional<std::string> bar_label = {};  // instead of HeatmapSpec::range_note; "": none
  double font_size = 0.0;  // of names and labels, in pixels; 0: follows from the cells and the picture
  // An SVG of at most most_cell_shapes cells says at the pointer which cell it is and its number.
  bool cell_titles = false;
};

// One heatmap with title, axis labels (column labels slanted if they would collide, thinned if they would not
// fit), and its colour bar with end and zero ticks. cell_pixels > 0 is the side of a cell.
Picture heatmap_picture(const HeatmapSpec& spec, double cell_pixels, const PictureOptions& options = {});
// The same for many, as a grid under one title; specs that share a range share one colour bar.
Picture heatmap_grid_picture(const std::vector<HeatmapSpec>& specs, const std::string& title,
                             double cell_pixels, const PictureOptions& options = {});

// Throws as the two and, for pixels, as rasterise do if the cells of `count` heatmaps of rows × cols alone
// make the picture too large: known before there are values.
void check_picture_size(Index count, Index rows, Index cols, double cell_pixels,
                        const PictureOptions& options, bool pixels);

// Throws Error(memory) if the image would not fit, Error(usage) above 32,768 pixels per side.
Image rasterise(const Picture& picture);
// As vectors (core/export/vector_canvas.h), on paper `dpi` pixels per inch. The same picture gives the same
// bytes.
std::string to_svg(const Picture& picture, double dpi = usual_dpi);
std::string to_pdf(const Picture& picture, double dpi = usual_dpi);

// Only the plane of cells, on width×height pixels: what the window's shader draws, pixel for pixel, by the
// rule in core/export/plane_rule.h. Transparent in the gaps. Throws like rasterise.
Image rasterise_plane(const HeatmapSpec& spec, int width, int height);
// The same with `cell_pixels` per cell.
Image rasterise_plane(const HeatmapSpec& spec, int cell_pixels);

}  // namespace headwise
