// Pieces of an SVG, for writing one that is not a Picture.
#pragma once

#include <cstddef>
#include <string>

#include "core/picture/picture.h"

namespace headwise {

// "12.5": a length in pixels, to hundredths.
std::string svg_number(double value);
// "#1c2127"
std::string svg_color(Rgba8 color);
// With &, < and > escaped.
std::string svg_escaped(const std::string& text);
// A plane of cells, as written by to_svg. `id` is a number unique within the file.
std::string svg_plane(const PlaneItem& item, Rgba8 ground, std::size_t id);

}  // namespace headwise
