// The part shared by pictures of one and of many heatmaps: a plane of cells with everything attached to it.
#pragma once

#include "core/picture/picture_builder.h"

namespace headwise {

// Font sizes in pixels. They follow from the cells and from the picture as a whole, so that a picture that is
// shown scaled down remains legible.
struct PictureType {
  double base = 12;   // title, axis names, colour bar
  double label = 12;  // labels of cells
};
// `plane_side` is the shorter side, in pixels, of all the planes together. `font_size` > 0: both sizes are
// this one.
PictureType picture_type(double cell_pixels, double plane_side, double font_size = 0.0);

// The length of `cells` cells in pixels: a whole number, 0 only if there are no cells. Throws Error(usage) if
// cell_pixels is not a number above 0, or the plane is too large for any file.
double plane_pixels(Index cells, double cell_pixels);

struct BlockParts {
  bool row_labels = true, col_labels = true, row_axis = true, col_axis = true;
};

// The plane with its upper left corner at 0,0, the numbers in its cells, its labels and its axis names. An
// empty matrix is replaced by a line of text.
PictureBuilder heatmap_block(const HeatmapSpec& spec, const HeatmapContents& contents, double cell_pixels,
                             PictureType type, BlockParts parts);

}  // namespace headwise
