// The colour bar and the legend of a heatmap: what the colours mean, and what cells without a colour mean.
#pragma once

#include <string>
#include <vector>

#include "core/picture/picture_builder.h"

namespace headwise {

// The end labels of a range: enough digits that the rounding is below a two-hundredth of its width; "≤ −1"
// and "≥ 1" if values beyond them are drawn in the end's colour; the zero tick only if 0 lies between.
struct RangeTicks {
  std::string lo, hi;
  bool zero = false;
};
RangeTicks range_ticks(ValueRange range, bool clipped_below, bool clipped_above);

// The strip of colours with `spec.range_note` above and ticks below; its strip starts at x = 0, its box at y
// = 0. `width` is the preferred width; it becomes wider if the ticks need it.
// `contents` says what is clipped.
PictureBuilder color_bar(const HeatmapSpec& spec, const HeatmapContents& contents, double width, double size);

// One entry for each kind of cell in `contents` that is not a plain value: a heatmap of one cell in the
// colours of `spec`, and its meaning.
struct LegendEntry {
  HeatmapSpec swatch;
  std::string text;
};
std::vector<LegendEntry> legend_entries(const HeatmapSpec& spec, const HeatmapContents& contents);

// The same as a picture, in lines of at most `width` pixels (at least one entry per line).
// Empty if there is none.
PictureBuilder cell_legend(const HeatmapSpec& spec, const HeatmapContents& contents, double width, double size);

}  // namespace headwise
