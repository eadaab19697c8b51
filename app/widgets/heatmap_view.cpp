#include "app/widgets/heatmap_view.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

PlaneRecording* active = nullptr;

PixelRect to_pixels(ImVec2 min, ImVec2 max) {
  // Far outside any screen, and still within an int.
  const auto pixel = [](float x) { return static_cast<int>(std::round(std::clamp(x, -1e8f, 1e8f))); };
  return {pixel(min.x), pixel(min.y), pixel(max.x), pixel(max.y)};
}

// ImGui calls this while it draws the frame.
void draw_batch(const ImDrawList*, const ImDrawCmd* command) {
  const auto& batch = *static_cast<const HeatmapRenderer::Batch*>(command->UserCallbackData);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const ImVec4& clip = command->ClipRect;
  batch.renderer->draw(batch, static_cast<int>(size.x), static_cast<int>(size.y),
                       to_pixels(ImVec2(clip.x, clip.y), ImVec2(clip.z, clip.w)));
}

// Rounded as in the renderer.
void record(PlaneRecording& recording, ImDrawList* list, std::span<const HeatmapPlane> planes) {
  list->AddCallback(recorded_planes, reinterpret_cast<void*>(recording.batches.size()));
  std::vector<PlaneItem>& batch = recording.batches.emplace_back();
  for (const HeatmapPlane& plane : planes) {
    if (!(plane.max.x > plane.min.x && plane.max.y > plane.min.y)) continue;
    const double x = std::round(plane.min.x), y = std::round(plane.min.y);
    batch.push_back({{x, y, std::round(plane.max.x) - x, std::round(plane.max.y) - y}, *plane.spec});
  }
}

// First and one past the last index of `count` cells that a span of pixels touches.
std::pair<Index, Index> visible(float from, float to, int begin, int pixels, Index count) {
  const double cell = static_cast<double>(pixels) / static_cast<double>(count);
  const auto first = static_cast<Index>(std::floor((from - float(begin)) / cell));
  const auto last = static_cast<Index>(std::ceil((to - float(begin)) / cell));
  return {std::clamp<Index>(first, 0, count), std::clamp<Index>(last, 0, count)};
}

// Pixels: on a slide or a high-density screen the type may be smaller relative to its surroundings than in a
// window, if it is legible.
constexpr float smallest_type = 10.0f;

// How numbers are written so that they fit into a cell.
struct DigitStyle {
  int decimals = 0;
  float size = 0.0f;                  // font size, in pixels; 0: they do not fit
  float width = 0.0f, height = 0.0f;  // size that the cell needs
};

// The font as it is, else slightly smaller; then one decimal fewer, but never none if the numbers are small;
// finally as small as is still legible.
DigitStyle digit_style(const WidgetContext& context, const HeatmapSpec& spec, bool probability, float air,
                       double cell_width, double cell_height) {
  ImFont* font = context.fonts.mono_small;
  const float letter = width_of(font, "0");
  const float small = std::round(font->FontSize * 0.84f), tiny = std::round(font->FontSize * 0.72f);
  const int most = cell_decimals(spec.range);
  const int fewer = probability ? most : fewer_cell_decimals(spec.range);
  // With two digits, "−9.9" may be wider than the ends of the range.
  const double nine = 9.9;
  const struct {
    int decimals;
    std::initializer_list<float> sizes;
  } tries[] = {
      {most, {font->FontSize, small}}, {fewer, {font->FontSize, small}}, {most, {tiny}}, {fewer, {tiny}}};
  DigitStyle style;
  for (const auto& [decimals, sizes] : tries) {
    float letters = 0.0f;
    for (const double end :
         {spec.range.lo, spec.range.hi, std::max(spec.range.lo, -nine), std::min(spec.range.hi, nine)}) {
      const std::string text = cell_number(end, decimals, probability);
      letters = std::max(letters, width_of(font, text) / letter);
    }
    if (spec.mask && !probability) letters = std::max(letters, 2.0f);  // "−∞"
    for (const float size : sizes) {
      if (size < small && size < smallest_type) continue;
      const float width = letters * letter * size / font->FontSize + context.px(3);
      style = {decimals, size, width, size + context.px(air)};
      if (style.width <= cell_width && style.height <= cell_height) return style;
    }
  }
  style.size = 0.0f;
  return style;
}

// How numbers are written for a back row: as large as the cell allows, with fewer decimals only if they are
// no larger than in a window otherwise; without a font if even that does not help.
struct LargeDigits {
  Type type;
  int decimals = 0;
};

LargeDigits large_digits(const WidgetContext& context, const HeatmapSpec& spec, bool probability,
                         double cell_width, double cell_height) {
  const float across = float(cell_width) - context.px(8),
              down = std::min(float(cell_height) - context.px(3), context.fonts.formula->FontSize);
  const int most = cell_decimals(spec.range);
  for (const int decimals : {most, probability ? most : fewer_cell_decimals(spec.range)}) {
    std::vector<std::string> numbers;
    for (const double end : {spec.range.lo, spec.range.hi, -9.9, 9.9})
      if (end >= spec.range.lo && end <= spec.range.hi)
        numbers.push_back(cell_number(end, decimals, probability));
    const auto widest = [&](const Type& type) {
      float width = 0.0f;
      for (const std::string& number : numbers) width = std::max(width, width_in(type, number));
      return width;
    };
    Type type = type_at(context.fonts, context.scale, down / context.scale, numbers.front());
    if (const float width = widest(type); width > across)
      type = type_at(context.fonts, context.scale, type.size / context.scale * across / width, numbers.front());
    if (const float width = widest(type); width > across) type.size *= across / width;
    type.size = std::floor(type.size);
    if (type.size > context.fonts.mono_small->FontSize) return {type, decimals};
  }
  return {};
}

}  // namespace

void record_planes(PlaneRecording* recording) {
  active = recording;
}

PlaneRecording* plane_recording() {
  return active;
}

void recorded_planes(const ImDrawList*, const ImDrawCmd*) {}

void draw_heatmap_planes(ImDrawList* list, HeatmapRenderer& renderer, std::span<const HeatmapPlane> planes) {
  if (PlaneRecording* recording = plane_recording()) return record(*recording, list, planes);
  HeatmapRenderer::Batch& batch = renderer.new_batch(ImGui::GetFrameCount());
  const PixelRect clip = to_pixels(list->GetClipRectMin(), list->GetClipRectMax());
  for (const HeatmapPlane& plane : planes)
    // Written so that a corner that is NaN draws nothing.
    if (plane.max.x > plane.min.x && plane.max.y > plane.min.y)
      renderer.add(batch, *plane.spec, to_pixels(plane.min, plane.max), clip);
  if (batch.tiles.empty()) return;
  list->AddCallback(draw_batch, &batch);
  list->AddCallback(ImDrawCallback_ResetRenderState, nullptr);
  // ImGui 1.86 asserts when it dims the background of a dialog whose list ends in a callback: end it with a
  // rectangle that is always clipped.
  list->AddRectFilled({-2, -2}, {-1, -1}, IM_COL32_BLACK);
}

void draw_heatmap_plane(ImDrawList* list, HeatmapRenderer& renderer, const HeatmapSpec& spec, ImVec2 min,
                        ImVec2 max) {
  const HeatmapPlane plane = {&spec, min, max};
  draw_heatmap_planes(list, renderer, {&plane, 1});
}

ImVec2 least_digit_cell(const WidgetContext& context, const HeatmapSpec& spec, bool probability, float air) {
  const DigitStyle least = digit_style(context, spec, probability, air, 0.0, 0.0);
  // Cells of this size have a one-pixel gap between them.
  return {std::ceil(least.width) + 1.0f, std::ceil(least.height) + 1.0f};
}

bool draw_cell_word(const Painter& paint, const RectF& cell, const CellWord& word) {
  ImFont* font = word.font ? word.font : paint.fonts.mono_small;
  const float size = word.size > 0.0f ? word.size : font->FontSize;
  const float width = width_of(font, word.text, size);
  if (static_cast<double>(width) > cell.width) return false;
  const float x = float(cell.x + cell.width / 2), y = float(cell.y + cell.height / 2);
  if (word.plated) {
    // As large as the cross (core/export/plane_rule.h), or as the text.
    const double cross = 0.2 * std::min(cell.width, cell.height) + 2.0;
    const auto half = [&](float text, double side) {
      return float(std::min(std::max(text / 2 + 1.0, cross), side / 2));
    };
    const float across = half(width, cell.width), down = half(size, cell.height);
    paint.fill({std::floor(x - across), std::floor(y - down)}, {std::ceil(x + across), std::ceil(y + down)},
               {word.ground, word.opacity});
  }
  paint.text({font, size}, {x - width / 2, y - size / 2}, {ink_on(word.ground), word.opacity}, word.text);
  return true;
}

bool draw_cell_digits(const Painter& paint, const PlaneGeometry& plane, const HeatmapSpec& spec,
                      bool probability, float air, float opacity, bool large) {
  if (plane.rows <= 0 || plane.cols <= 0) return false;
  const double cell_width = static_cast<double>(plane.width) / static_cast<double>(plane.cols) - plane.gap;
  const double cell_height = static_cast<double>(plane.height) / static_cast<double>(plane.rows) - plane.gap;
  const DigitStyle style = digit_style(paint, spec, probability, air, cell_width, cell_height);
  if (style.size <= 0.0f) return false;
  const LargeDigits larger =
      large ? large_digits(paint, spec, probability, cell_width, cell_height) : LargeDigits{};
  const int decimals = larger.type.font ? larger.decimals : style.decimals;
  const float size = larger.type.font ? larger.type.size : style.size;

  const ColorTable& table = color_table(spec.color_map, spec.theme);
  const ImVec2 clip_min = paint.list->GetClipRectMin(), clip_max = paint.list->GetClipRectMax();
  const auto [row_begin, row_end] = visible(clip_min.y, clip_max.y, plane.y, plane.height, plane.rows);
  const auto [col_begin, col_end] = visible(clip_min.x, clip_max.x, plane.x, plane.width, plane.cols);
  for (Index row = row_begin; row < row_end; ++row) {
    for (Index col = col_begin; col < col_end; ++col) {
      const CellKind kind = cell_kind(spec, row, col);
      const double value = spec.values.value(row, col);
      const bool blocked = kind == CellKind::blocked, plain = kind == CellKind::value;
      if (!blocked && !plain && kind != CellKind::blocked_value) continue;
      const std::string text = blocked ? blocked_text(spec, value) : cell_number(value, decimals, probability);
      if (text.empty()) continue;
      const Rgba8 ground = blocked ? blocked_color(spec.theme) : color_at(value, spec.range, table);
      // Not drawn where it does not fit: a value far outside the range of the colours.
      draw_cell_word(paint, plane.cell(row, col), {text, ground, !plain, size, opacity, larger.type.font});
    }
  }
  return true;
}

void draw_column_blocks(const Painter& paint, const PlaneGeometry& plane, Index block) {
  if (block <= 0) return;
  const float width =
      std::max(1.0f, std::round(paint.px(plane.width / (plane.cols / block + 1) > 24 ? 3.0f : 1.0f)));
  for (Index col = block; col < plane.cols; col += block) {
    const float x = std::floor(float(plane.rect({0, 1, col, col + 1}).x) - width / 2);
    paint.fill({x, float(plane.y)}, {x + width, float(plane.y + plane.height)}, paint.palette.panel);
  }
}

void draw_row_blocks(const Painter& paint, const PlaneGeometry& plane, Index block) {
  if (block <= 0) return;
  const float width =
      std::max(1.0f, std::round(paint.px(plane.height / (plane.rows / block + 1) > 24 ? 3.0f : 1.0f)));
  for (Index row = block; row < plane.rows; row += block) {
    const float y = std::floor(float(plane.rect({row, row + 1, 0, 1}).y) - width / 2);
    paint.fill({float(plane.x), y}, {float(plane.x + plane.width), y + width}, paint.palette.panel);
  }
}

void draw_box_outline(const Painter& paint, const PlaneGeometry& plane, const CellBox& box, ImU32 color,
                      float width) {
  const RectF rect = plane.rect(box);
  const Box edge = Box(rect).grown(std::floor(width / 2));
  const float hairline = std::max(1.0f, std::round(paint.scale));
  const float out = width / 2 + hairline / 2;
  const ImU32 ground = im_color(paint.palette.panel, 0.8f);
  paint.outline(edge.grown(out), ground, hairline);
  if (rect.width > 4 * width && rect.height > 4 * width) paint.outline(edge.grown(-out), ground, hairline);
  paint.outline(edge, color, width);
}

void draw_muted(const Painter& paint, const RectF& rect) {
  const ImVec2 min = corner(rect), max = far_corner(rect);
  paint.fill(min, max, {paint.palette.panel, 0.55f});
  paint.list->PushClipRect(min, max, true);
  const float step = std::max(4.0f, std::round(paint.px(6)));
  const float height = max.y - min.y;
  for (float x = min.x - height; x < max.x; x += step) {
    paint.line({x, max.y}, {x + height, min.y}, paint.palette.panel, paint.px(2));
  }
  paint.list->PopClipRect();
}

void draw_lock(const Painter& paint, const RectF& rect) {
  // Size of the lock's body, with its shackle above; smaller on a small map.
  const float size = std::round(std::clamp(0.2f * float(rect.width), paint.px(5), paint.px(9)));
  const float margin = std::round(0.3f * size), shackle = std::round(0.55f * size);
  const float ground_width = size + 2 * margin, ground_height = size + shackle + 2 * margin;
  if (float(rect.width) < 1.5f * ground_width || float(rect.height) < 1.5f * ground_height) return;
  const ImVec2 ground(std::floor(float(rect.x + rect.width) - ground_width), std::floor(float(rect.y)));
  const ImVec2 ground_end(ground.x + ground_width, ground.y + ground_height);
  paint.fill(ground, ground_end, {paint.palette.panel, 0.85f}, paint.px(2));
  const ImU32 ink = im_color(paint.palette.text);
  const ImVec2 body(ground.x + margin, ground.y + margin + shackle);
  paint.fill(body, {body.x + size, body.y + size}, ink, paint.px(1.5f));
  const float radius = 0.32f * size;
  const ImVec2 centre(body.x + 0.5f * size, body.y - 0.2f * size);
  paint.list->PathLineTo(ImVec2(centre.x - radius, body.y));
  paint.list->PathArcTo(centre, radius, 3.14159265f, 2.0f * 3.14159265f, 10);
  paint.list->PathLineTo(ImVec2(centre.x + radius, body.y));
  paint.list->PathStroke(ink, 0, std::max(1.0f, paint.px(1.6f)));
  ui_probe("lock", ground, ground_end);
}

}  // namespace headwise
