#include "app/widgets/axis_labels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include <fmt/format.h>

#include "app/platform/fonts.h"
#include "app/widgets/text_edit.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "core/export/label_text.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

constexpr float row_label_gap = 8.0f;  // units between a row label and its matrix
constexpr float column_gap = 4.0f;     // units between a matrix and the labels below it
constexpr float closest_turned = 18.0f;
constexpr float usual_label = 15.0f;        // design units
constexpr float most_column_label = 18.0f;  // of larger ones, the slanted words would take too much height
// Lines of type between two labels: of rows, of slanted columns, of columns whose words run down
constexpr double lines_per_row = 1.1, lines_per_column = 1.3, lines_per_upright_column = 0.88;
constexpr float least_turned = 11.0f,
                least_row = 8.0f;  // design units of type, of those that run down and of rows
constexpr std::size_t most_measured = 256;
constexpr float usual_font_size = 12.0f;  // design units: for the dots below turned text
constexpr std::size_t most_bytes = 1024;  // of a label being fitted: no more of it is ever visible

// The step between labels that can be drawn.
Index step_for(double pitch, double closest) {
  return pitch <= 0 ? 1 : std::max<Index>(1, static_cast<Index>(std::ceil(closest / pitch)));
}

// The chosen one is always drawn, and the marked one too; those too close to them give way.
bool is_drawn(Index i, Index step, std::optional<Index> chosen, const std::optional<MarkedLabel>& marked) {
  const auto gives_way = [&](Index to) { return step > 1 && std::abs(i - to) < step; };
  if (i == chosen) return true;
  if (marked && i == marked->index) return !chosen || !gives_way(*chosen);
  if (i % step != 0) return false;
  return !(chosen && gives_way(*chosen)) && !(marked && gives_way(marked->index));
}

Rgba8 label_color(const WidgetContext& context, Index i, bool bold, const std::optional<MarkedLabel>& marked) {
  if (marked && i == marked->index) return marked->color;
  return bold ? context.palette.text : context.palette.text_dim;
}

// A label as it can be drawn, before fitting. A token of 100,000 letters is cut well before that: the label
// is never that wide.
std::string shown_text(const std::string& label, const ImFont* font) {
  if (label.size() <= most_bytes) return drawable_text(printable(label), font);
  std::size_t bytes = most_bytes;
  while (bytes > 0 && (static_cast<unsigned char>(label[bytes]) & 0xC0U) == 0x80U) --bytes;
  return drawable_text(printable(label.substr(0, bytes)), font) + "…";
}

std::string shown_label(const std::string& label, const ImFont* font) {
  return shown_text(axis_word(label), font);
}

// Larger type may take more room, as large as it is.
float most_width(const WidgetContext& context, const Type& type) {
  return std::max(1.0f, type.size / context.px(usual_label)) * context.px(longest_label_units);
}

std::string fitted_label(const WidgetContext& context, const std::string& label, const Type& type) {
  return fitted_text(shown_label(label, type.font), type.font,
                     most_width(context, type) * type.font->FontSize / type.size);
}

// The labels of a hall where their lines leave room for them, else smaller ones; nothing outside a hall.
Type presentation_label_type(const WidgetContext& context, double pitch, double lines, float most,
                             const std::vector<std::string>& labels) {
  if (!context.labels.font) return {};
  const auto room = float(pitch / lines);
  Type type = context.labels;
  if (type.size > most) type = type_at(context.fonts, context.scale, most / context.scale, "");
  return type.size <= room ? type : label_type(context.fonts, context.scale, room * 1.25f, labels);
}

Type in_bold(const WidgetContext& context, const Type& type, const std::string& label) {
  const Type bold = type_at(context.fonts, context.scale, type.size / context.scale, axis_word(label), true);
  return bold.size >= type.size ? bold : type;
}

float presentation_label_width(const WidgetContext& context, const std::vector<std::string>& labels,
                               Index count, const Type& type) {
  float widest = 0.0f;
  const std::size_t shown = std::min(labels.size(), static_cast<std::size_t>(std::max<Index>(count, 0)));
  const std::size_t step = shown / most_measured + 1;
  for (std::size_t i = 0; i < shown; i += step) {
    const Type bold = in_bold(context, type, labels[i]);
    widest = std::max(widest, width_in(bold, shown_label(labels[i], bold.font)));
  }
  return std::min(widest, most_width(context, type));
}

constexpr int pieces = 64;  // between one colour and the next; 64 are smooth at 150 pixels

}  // namespace

std::string axis_word(const std::string& label) {
  const std::string_view word = unknown_word(label);
  return word.empty() ? label : std::string(word);
}

std::string fitted_text(const std::string& text, ImFont* font, float width) {
  need_characters(std::string_view(text).substr(0, most_bytes), *font);
  const auto beginning = [&](std::size_t bytes) {
    // Continuation bytes stay with the byte that they continue.
    while (bytes > 0 && bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U)
      --bytes;
    return text.substr(0, bytes);
  };
  // Longer prefixes are wider: first find one that is too wide, then the longest that is not. So a word of
  // 100,000 letters costs no more than its visible part.
  std::size_t too_wide = 64;
  while (too_wide < text.size() && width_of(font, beginning(too_wide)) <= width) too_wide *= 2;
  if (too_wide >= text.size()) {
    if (width_of(font, text) <= width) return text;
    too_wide = text.size();
  }
  std::size_t fitting = 0;
  while (too_wide - fitting > 1) {
    const std::size_t middle = fitting + (too_wide - fitting) / 2;
    (width_of(font, beginning(middle) + "…") <= width ? fitting : too_wide) = middle;
  }
  // A box too narrow for the ellipsis stays empty.
  const std::string cut = beginning(fitting);
  return cut.empty() && width_of(font, "…") > width ? "" : cut + "…";
}

std::string drawable_text(const std::string& text, const ImFont* font) {
  need_characters(text, *font);
  std::string shown;
  for (std::size_t at = 0, next = 0; at < text.size(); at = next) {
    next = next_character(text, at);
    const char32_t character = code_point(text, at);
    constexpr char32_t last_wide = sizeof(ImWchar) == 2 ? 0xFFFF : 0x10FFFF;
    const bool drawn = character <= last_wide && font->FindGlyphNoFallback(static_cast<ImWchar>(character));
    // Joiners and variation selectors are invisible even where the font has them.
    const bool silent = character == 0x200D || (character >= 0xFE00 && character <= 0xFE0F);
    if (silent) continue;
    if (drawn) {
      shown.append(text, at, next - at);
    } else {
      shown += fmt::format("{}U+{:04X}", shown.empty() ? "" : " ", static_cast<std::uint32_t>(character));
    }
  }
  return shown;
}

float column_label_width(const WidgetContext& context, const std::vector<std::string>& labels, Index count) {
  if (!context.labels.font || context.labels.size <= context.px(most_column_label))
    return label_width(context, labels, count);
  return presentation_label_width(context, labels, count,
                                  type_at(context.fonts, context.scale, most_column_label, ""));
}

float label_width(const WidgetContext& context, const std::vector<std::string>& labels, Index count) {
  if (context.labels.font) return presentation_label_width(context, labels, count, context.labels);
  float widest = 0.0f;
  const std::size_t shown = std::min(labels.size(), static_cast<std::size_t>(std::max<Index>(count, 0)));
  const float most = context.px(longest_label_units);
  // Of very many only a few are drawn, and a few suffice to know their width.
  const std::size_t step = shown / most_measured + 1;
  for (std::size_t i = 0; i < shown && widest < most; i += step) {
    widest = std::max(widest, width_of(context.fonts.bold, shown_label(labels[i], context.fonts.bold)));
  }
  return std::min(widest, most);
}

void draw_row_labels(const Painter& paint, const PlaneGeometry& plane, const std::vector<std::string>& labels,
                     std::optional<Index> chosen, std::optional<MarkedLabel> marked) {
  const double pitch = static_cast<double>(plane.height) / static_cast<double>(std::max<Index>(plane.rows, 1));
  Type large = presentation_label_type(paint, pitch, lines_per_row, FLT_MAX, labels);
  double closest = paint.px(closest_rows);
  // A little smaller before every second one is left out.
  if (const float fits = std::floor(float(pitch / lines_per_row)); large.font && fits >= paint.px(least_row)) {
    large.size = std::min(large.size, fits);
    closest = std::min<double>(closest, lines_per_row * large.size);
  }
  const Index step = step_for(pitch, closest);
  const bool others_dim = !large.font || chosen;  // from the back row, dim words are hard to read
  for (Index row = 0; row < plane.rows && row < static_cast<Index>(labels.size()); ++row) {
    if (!is_drawn(row, step, chosen, marked)) continue;
    const bool bold = row == chosen || (marked && row == marked->index);
    ImFont* font = bold ? paint.fonts.bold : pitch >= paint.px(17) ? paint.fonts.sans : paint.fonts.small;
    const std::string& label = labels[static_cast<std::size_t>(row)];
    const Type type = !large.font ? Type(font) : bold ? in_bold(paint, large, label) : large;
    const std::string text = fitted_label(paint, label, type);
    const RectF cell = plane.cell(row, 0);
    const float width = width_in(type, text);
    const ImVec2 at(std::floor(float(cell.x) - paint.px(row_label_gap) - width),
                    std::floor(float(cell.y + cell.height / 2) - type.size / 2));
    paint.text(type, at, label_color(paint, row, bold || !others_dim, marked), text);
    if (!unknown_word(label).empty())
      draw_dotted_line(paint.list, {at.x, at.y + type.size}, at.x + width, im_color(paint.palette.warning),
                       paint.scale);
    if (large.font) ui_probe("label/row", static_cast<int>(row), at, {at.x + width, at.y + type.size});
  }
}

void draw_column_labels(const Painter& paint, const PlaneGeometry& plane,
                        const std::vector<std::string>& labels, std::optional<Index> chosen, float degrees,
                        std::optional<MarkedLabel> marked) {
  const double pitch = static_cast<double>(plane.width) / static_cast<double>(std::max<Index>(plane.cols, 1));
  const bool upright = degrees > 89.0f;
  const double lines = upright ? lines_per_upright_column : degrees > 0 ? lines_per_column : 0.5;
  Type large = presentation_label_type(paint, pitch, lines, paint.px(most_column_label), labels);
  // A little smaller before every second one is left out.
  if (const float fits = std::floor(float(pitch / lines));
      degrees > 0 && large.font && fits >= paint.px(least_turned))
    large.size = std::min(large.size, fits);
  const bool others_dim = !large.font || chosen;
  const double closest =
      large.font ? std::min<double>(lines * large.size, paint.px(closest_turned)) : paint.px(closest_turned);
  const Index step = degrees > 0 ? step_for(pitch, closest) : 1;
  for (Index col = 0; col < plane.cols && col < static_cast<Index>(labels.size()); ++col) {
    if (!is_drawn(col, step, chosen, marked)) continue;
    const bool bold = col == chosen || (marked && col == marked->index);
    ImFont* font = bold ? paint.fonts.bold : pitch >= paint.px(24) ? paint.fonts.sans : paint.fonts.small;
    const std::string& label = labels[static_cast<std::size_t>(col)];
    const Type type = !large.font ? Type(font) : bold ? in_bold(paint, large, label) : large;
    const std::string text = fitted_label(paint, label, type);
    const ImU32 color = im_color(label_color(paint, col, bold || !others_dim, marked));
    const RectF cell = plane.cell(plane.rows - 1, col);
    const float x = float(cell.x + cell.width / 2);
    const float y = float(plane.y + plane.height) + paint.px(column_gap);
    const bool unknown = !unknown_word(label).empty();
    const ImU32 dots = unknown ? im_color(paint.palette.warning) : 0;
    if (degrees > 0) {
      const ImVec2 from(upright ? x : x - paint.px(3), y + (upright ? 0.0f : paint.px(4)));
      draw_turned_text(paint, type, from, degrees, color, text, dots);
    } else {
      const float width = width_in(type, text), left = std::floor(x - width / 2);
      paint.text(type, {left, y}, color, text);
      if (unknown)
        draw_dotted_line(paint.list, {left, std::floor(y) + type.size}, left + width, dots, paint.scale);
    }
    if (large.font) ui_probe("label/column", static_cast<int>(col), {x, y}, {x + type.size, y + type.size});
  }
}

void draw_turned_text(const Painter& paint, const Type& type, ImVec2 pivot, float degrees, ImU32 color,
                      const std::string& text, ImU32 dots) {
  // ImGui leaves out letters outside the clip rectangle before they are rotated,
  // so they are placed in its corner first.
  const ImVec2 corner = paint.list->GetClipRectMin();
  const ImVec2 from(std::ceil(corner.x), std::ceil(corner.y));
  const int first = paint.list->VtxBuffer.Size;
  paint.text(type, from, color, text);
  if (dots != 0)
    draw_dotted_line(paint.list, {from.x, from.y + type.size}, from.x + width_in(type, text), dots,
                     type.size / usual_font_size);
  const float angle = degrees * std::numbers::pi_v<float> / 180.0f;
  const float c = std::cos(angle), s = std::sin(angle);
  for (int i = first; i < paint.list->VtxBuffer.Size; ++i) {
    ImVec2& p = paint.list->VtxBuffer[i].pos;
    const float x = p.x - from.x, y = p.y - from.y - type.size / 2;
    p = ImVec2(pivot.x + c * x - s * y, pivot.y + s * x + c * y);
  }
}

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
