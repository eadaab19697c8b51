// What surrounds the planes of a picture: the title above, the colour bar and the legend below.
#pragma once

#include "core/picture/picture_builder.h"

namespace headwise {

// Above everything so far; truncated if it is far wider than the picture.
void add_title(PictureBuilder& picture, const std::string& title, Theme theme, double base);

// Below everything so far, from x = 0: the bar, and the legend to its right if there is room, else under it.
// The bar is about `width` pixels wide, within legible limits.
void add_bar_and_legend(PictureBuilder& picture, const HeatmapSpec& spec, const HeatmapContents& contents,
                        bool with_bar, double width, double base, const PictureOptions& options = {});

}  // namespace headwise
