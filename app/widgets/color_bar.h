// A strip of the colour map with its caption above it and the values of its ends below.
#pragma once

#include <string>

#include "app/widgets/painter.h"
#include "core/picture/color_bar.h"
#include "core/picture/picture.h"

namespace headwise {

// `strip` is the strip alone; caption and ticks take a line each above and below it. In less than
// `caption_width` pixels the caption first loses its last clause, ", all heads", and only then letters.
// `ends`: texts at the ends instead of the range's own values; null: those.
// Returns where the widest of the three ends.
float draw_color_bar(const Painter& paint, const RectF& strip, ColorMap map, Theme theme, ValueRange range,
                     const std::string& caption, float caption_width, const RangeTicks* ends = nullptr);

}  // namespace headwise
