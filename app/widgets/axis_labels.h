// Beside a map: the labels of its rows and columns, and its colour bar.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/widgets/painter.h"
#include "core/export/picture.h"
#include "core/export/picture_builder.h"
#include "core/export/plane_rule.h"

namespace headwise {

// Names longer than this are cut, in units.
inline constexpr float longest_label_units = 92.0f;
// Labels of rows that are closer than this, in units, are thinned.
inline constexpr float closest_rows = 12.0f;

// The text, cut with "…" if it is wider than `width` pixels.
std::string fitted_text(const std::string& text, ImFont* font, float width);

// Characters that the font lacks are named instead: "U+1F600".
std::string drawable_text(const std::string& text, const ImFont* font);

// Width of the widest label as drawn, in pixels: of rows, and of columns, which in a hall are not as large.
float label_width(const WidgetContext& context, const std::vector<std::string>& labels, Index count);
float column_label_width(const WidgetContext& context, const std::vector<std::string>& labels, Index count);

// A label in a colour of its own: bold, and always drawn, as the chosen one is.
struct MarkedLabel {
  Index index = 0;
  Rgba8 color;
};

// Right-aligned, left of the plane.
void draw_row_labels(const Painter& paint, const PlaneGeometry& plane, const std::vector<std::string>& labels,
                     std::optional<Index> chosen, std::optional<MarkedLabel> marked = {});
// Below the plane, centred, or slanted by `degrees` > 0 from the column's middle down to the right;
// 90: straight down.
void draw_column_labels(const Painter& paint, const PlaneGeometry& plane,
                        const std::vector<std::string>& labels, std::optional<Index> chosen, float degrees,
                        std::optional<MarkedLabel> marked = {});

// The label as an axis shows it: of an unknown word only the word (core/scenario/text_inputs.h),
// which gets a dotted line.
std::string axis_word(const std::string& label);

// Text whose left end, at half its height, lies at `pivot`, rotated by `degrees` clockwise; with a dotted
// line below it if `dots` is a colour other than 0.
void draw_turned_text(const Painter& paint, const Type& type, ImVec2 pivot, float degrees, ImU32 color,
                      const std::string& text, ImU32 dots = 0);

// A strip of the colour map with its caption above it and the values of its ends below. `strip` is the strip
// alone; caption and ticks take a line each above and below it. In less than `caption_width` pixels the
// caption first loses its last clause, ", all heads", and only then letters. `ends`: texts at the ends
// instead of the range's own values; null: those. Returns where the widest of the three ends.
float draw_color_bar(const Painter& paint, const RectF& strip, ColorMap map, Theme theme, ValueRange range,
                     const std::string& caption, float caption_width, const RangeTicks* ends = nullptr);

}  // namespace headwise
