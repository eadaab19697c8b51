// A strip of the colour map with what it speaks of above it and its ends below.
#pragma once

#include <string>

#include "app/widgets/widget_context.h"
#include "core/picture/color_bar.h"
#include "core/picture/picture.h"

namespace headwise {

// `strip` is the strip alone; caption and ticks take a line each above and below it. In less than `caption_width`
// pixels the caption loses its last clause, ", all heads", and only then letters. `ends`: what stands at the ends instead of the range's own; null: those.
void draw_color_bar(const WidgetContext& context, ImDrawList* list, const RectF& strip, ColorMap map,
                    Theme theme, ValueRange range, const std::string& caption, float caption_width,
                    const RangeTicks* ends = nullptr);

}  // namespace headwise
