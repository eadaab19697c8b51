// Pieces of an SVG, for whoever writes one that is no Picture.
#pragma once

#include <cstddef>
#include <string>

#include "core/picture/picture.h"

namespace headwise {

// "12.5": a length in pixels, to hundredths.
std::string svg_number(double value);
// "#1c2127"
std::string svg_color(Rgba8 color);
// With &, < and > written out.
std::string svg_escaped(const std::string& text);
// A plane of cells, as to_svg writes it. `id` is a number that no other plane of the file has.
std::string svg_plane(const PlaneItem& item, Rgba8 ground, std::size_t id);

}  // namespace headwise
