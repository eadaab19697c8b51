// A picture as a list of shapes in pixels, made once and painted by several painters: PNG, SVG and the
// window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/picture/heatmap.h"
#include "core/picture/image.h"

namespace headwise {

enum class FontFace { sans, bold, mono };
enum class TextAnchor { start, middle, end };

struct PointF {
  double x = 0, y = 0;
};
struct RectF {
  double x = 0, y = 0, width = 0, height = 0;
};

// The plane of cells of a heatmap: painted by rule (color_map.h), not as shapes.
struct PlaneItem {
  RectF rect;
  HeatmapSpec spec;
};
// A strip of the colour map from range.lo to range.hi, left to right.
struct ColorBarItem {
  RectF rect;
  ColorMap color_map;
  Theme theme;
};
struct TextItem {
  PointF baseline;
  std::string text;
  FontFace face;
  double size;
  Rgba8 color;
  TextAnchor anchor;
  double degrees;
};
struct LineItem {
  PointF from, to;
  double width;
  Rgba8 color;
};
struct RectItem {
  RectF rect;
  Rgba8 fill;
};

struct Picture {
  double width = 0, height = 0;
  Rgba8 ground;
  std::vector<RectItem> rects;
  std::vector<PlaneItem> planes;
  std::vector<ColorBarItem> bars;
  std::vector<LineItem> lines;
  std::vector<TextItem> texts;
};

// One heatmap with title, axis labels (column labels slanted where they would collide, thinned where they
// would not fit), and its colour bar with end and zero ticks. cell_pixels > 0 is the side of a cell.
Picture heatmap_picture(const HeatmapSpec& spec, double cell_pixels);
// The same for many, as a grid under one title; specs that share a range share one colour bar.
Picture heatmap_grid_picture(const std::vector<HeatmapSpec>& specs, const std::string& title,
                             double cell_pixels);

// Width in pixels of a line of text, from the same font that is painted (DejaVu, embedded).
double text_width(const std::string& text, FontFace face, double size);

// Throws Error(memory) where the image would not fit, Error(usage) above 32,768 pixels a side.
Image rasterise(const Picture& picture);
// Planes as embedded PNG images (one pixel a cell, not smoothed), everything else as vectors.
std::string to_svg(const Picture& picture);

// The plane of cells alone, on width×height pixels: what the window's shader draws, pixel for pixel, by the
// rule that core/picture/plane_rule.h spells out. Clear in the gaps. Throws as rasterise.
Image rasterise_plane(const HeatmapSpec& spec, int width, int height);
// The same with `cell_pixels` a cell.
Image rasterise_plane(const HeatmapSpec& spec, int cell_pixels);

}  // namespace headwise
