// The plane of cells of a heatmap as vectors, after the rule in core/picture/plane_rule.h.
#pragma once

#include "core/picture/picture.h"
#include "core/picture/vector_canvas.h"

namespace headwise {

// How many cells all the planes of a picture may have for each of them to be a rectangle of its own. In a
// picture with more, the colours of a plane are an image, not smoothed, and enlarged by whole pixels for
// viewers that smooth all the same.
constexpr Index most_cell_shapes = 10000;

// The gaps, the hatch and the marks are vectors; a plane with more than 250,000 cells, or with cells smaller
// than a pixel, is an image as rasterised. `ground` is seen in the gaps.
void draw_plane(VectorCanvas& canvas, const PlaneItem& item, Rgba8 ground, bool cells_as_shapes);

}  // namespace headwise
