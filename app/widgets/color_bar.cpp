#include "app/widgets/color_bar.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/fitted_clauses.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr int pieces = 64;  // between one colour and the next; 64 are smooth at 150 pixels

}  // namespace

float draw_color_bar(const Painter& paint, const RectF& strip, ColorMap map, Theme theme, ValueRange range,
                     const std::string& caption, float caption_width, const RangeTicks* ends) {
  const ColorTable& table = color_table(map, theme);
  const ImVec2 min(std::round(float(strip.x)), std::round(float(strip.y)));
  const ImVec2 max(min.x + std::round(float(strip.width)),
                   min.y + std::max(4.0f, std::round(float(strip.height))));
  const float width = (max.x - min.x) / pieces;
  for (int i = 0; i < pieces; ++i) {
    const ImU32 left = im_color(table[static_cast<std::size_t>(i * 255 / pieces)]);
    const ImU32 right = im_color(table[static_cast<std::size_t>((i + 1) * 255 / pieces)]);
    paint.list->AddRectFilledMultiColor(ImVec2(min.x + float(i) * width, min.y),
                                        ImVec2(min.x + float(i + 1) * width, max.y), left, right, right, left);
  }
  ImFont* font = paint.fonts.small;
  const ImU32 dim = im_color(paint.palette.text_dim);
  std::string shown = fitted_clauses(caption, font, caption_width);
  if (shown.empty())
    shown = fitted_text(caption, font, caption_width);  // the beginning of a name still identifies it
  const ImVec2 at(min.x, min.y - font->FontSize - paint.px(3));
  const Box written = paint.text(font, at, dim, shown);
  ui_probe("color_bar/" + shown, written);

  ImFont* mono = paint.fonts.mono_small;
  const float y = max.y + paint.px(2);
  const RangeTicks ticks = ends ? *ends : range_ticks(range, false, false);
  const auto tick = [&](const std::string& text, float x, Align align) {
    return paint.text(mono, {x, y}, dim, text, align).width();
  };
  const float lo = tick(ticks.lo, min.x, Align::left), between = paint.px(6);
  // Right of a short strip, if both do not fit below it.
  const float hi_end = std::max(max.x, min.x + lo + between + width_of(mono, ticks.hi));
  const float used = lo + tick(ticks.hi, hi_end, Align::right);
  if (ticks.zero && used < (max.x - min.x) * 0.75f) {
    const double zero = -range.lo / (range.hi - range.lo);
    tick("0", min.x + (max.x - min.x) * float(zero), Align::middle);
  }
  return std::max(hi_end, written.max.x);
}

}  // namespace headwise
