#include "app/stage/token_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/named_text.h"
#include "app/platform/fonts.h"
#include "app/stage/stage_cells.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/dotted_line.h"
#include "app/widgets/large_type.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/unknown_token.h"

namespace headwise {
namespace {

constexpr double widest_pitch_units = 34.0, widest_in_hall_units = 64.0;
constexpr float smallest_label = 0.8f;  // of the usual text

}  // namespace

std::optional<Index> TokenColumn::token_at(ImVec2 mouse, float reach) const {
  const bool beside =
      right ? mouse.x >= x - 8 && mouse.x <= x + reach : mouse.x <= x + 8 && mouse.x >= x - reach;
  const auto i = static_cast<Index>(std::floor((mouse.y - top) / pitch));
  if (!beside || i < 0 || i >= count) return std::nullopt;
  return i;
}

TokenColumns token_columns(const PanelContext& context, const MatrixView& weights, const RectF& area) {
  const float u = context.scale, width = static_cast<float>(area.width);
  const float label_room = std::min(0.25f * width, 150.0f * u);
  const auto height = static_cast<float>(std::max(1.0, area.height - 16.0 * u));
  const auto longest = static_cast<float>(std::max<Index>({weights.rows, weights.cols, 1}));
  const float pitch = std::min(
      height / longest, static_cast<float>(context.hall ? widest_in_hall_units : widest_pitch_units) * u);
  const float span = std::clamp(width - 2 * label_room - 16 * u, 60.0f * u, 460.0f * u);
  const float left = static_cast<float>(area.x) + label_room, top = static_cast<float>(area.y) + 14 * u;
  const TokenLabels& labels = context.inputs.labels;
  return {{&labels.query, weights.rows, left, top, pitch, false},
          {&labels.key, weights.cols, left + span, top, pitch, true},
          label_room,
          area.y};
}

void draw_token_captions(const PanelContext& context, const TokenColumns& columns, const StageMatrix& weights) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float u = context.scale, y = static_cast<float>(columns.top) - 4 * u;
  const auto caption = [&](const TokenColumn& column, const char* text, Rgba8 color) {
    ImFont* bold = context.fonts.bold;
    const float size = context.hall ? bold->FontSize : context.fonts.small->FontSize;
    const float x = column.right ? column.x + 8 * u : column.x - 8 * u - width_of(bold, text);
    list->AddText(bold, size, {std::floor(x), y}, im_color(color), text);
  };
  caption(columns.queries, "queries", context.palette.q);
  caption(columns.keys, "keys", context.palette.k);
  if (columns.keys.x - columns.queries.x <= 110.0f * u) return;
  ImFont* mono = context.fonts.mono_small;
  const auto size = [&](const std::string& axis, const TokenColumn& column) {
    const std::string text = fmt::format("{} {}", axis, column.count);
    const float x = column.right ? column.x - 8 * u - width_of(mono, text) : column.x + 8 * u;
    draw_shape_text(context, list, mono, {std::floor(x), y}, context.palette.text_dim, text, true);
  };
  size(weights.row_axis, columns.queries);
  size(weights.col_axis, columns.keys);
}

void draw_token_labels(const PanelContext& context, const TokenColumn& column, std::optional<Index> chosen,
                       float room) {
  const Type large = context.hall && column.labels
                         ? label_type(context.fonts, context.scale, column.pitch, *column.labels)
                         : own_size(context.fonts.sans);
  ImFont* font = large.size > context.fonts.sans->FontSize ? large.font : context.fonts.sans;
  ImDrawList* list = ImGui::GetWindowDrawList();
  // If they would touch, they are made smaller, then every second, third … is left out.
  const float size =
      std::round(font->FontSize * std::clamp(column.pitch / (1.1f * font->FontSize), smallest_label, 1.0f));
  Index every = 1;
  for (const Index step : {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}) {
    every = step;
    if (column.pitch * static_cast<float>(step) >= size * 1.05f) break;
  }
  for (Index i = 0; i < column.count; ++i) {
    if (i % every != 0 && i != chosen) continue;
    ImFont* face = i == chosen && font == context.fonts.sans ? context.fonts.bold : font;
    const bool labelled = column.labels && i < static_cast<Index>(column.labels->size());
    const std::string name = labelled ? (*column.labels)[static_cast<std::size_t>(i)] : std::to_string(i);
    const std::string text = fitted_text(labelled ? drawable_text(axis_word(name), face) : name, face,
                                         room * font->FontSize / size);
    const float gap = 8.0f * context.scale;
    const float x =
        column.right ? column.x + gap : column.x - gap - width_of(face, text) * size / font->FontSize;
    list->AddText(face, size, {std::floor(x), std::floor(column.y(i) - 0.5f * size)},
                  im_color(!chosen || i == chosen ? context.palette.text : context.palette.text_dim),
                  text.c_str());
    ui_probe(column.right ? "label/key" : "label/query", static_cast<int>(i),
             {std::floor(x), std::floor(column.y(i) - 0.5f * size)},
             {x + width_of(face, text, size), std::floor(column.y(i) + 0.5f * size)});
    if (!unknown_word(name).empty())
      draw_dotted_line(list, {std::floor(x), std::floor(column.y(i) + 0.5f * size)},
                       x + width_of(face, text, size), im_color(context.palette.warning), context.scale);
  }
}

TokenFocus token_looked_at(const PanelContext& context, const TokenColumns& columns) {
  const auto reached = [&](const char* name, const TokenColumn& column) {
    const float x = column.right ? column.x : column.x - columns.label_room;
    const RectF labels{x, column.top, columns.label_room, column.bottom() - column.top};
    return line_reached(context, name, labels, column.count);
  };
  // Both are tab stops, even while the mouse decides.
  const TokenFocus by_keys{reached("queries", columns.queries), reached("keys", columns.keys)};
  if (keys_decide(context) || !ImGui::IsWindowHovered()) return by_keys;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return {columns.queries.token_at(mouse, columns.label_room),
          columns.keys.token_at(mouse, columns.label_room)};
}

}  // namespace headwise
