#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/stage/query_key_drawing.h"
#include "app/stage/stage_cells.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

// Three columns of a row: the token, its score, the bar of its weight with the number.
struct RowColumns {
  float token = 0, token_end = 0, score_end = 0, bar = 0, bar_end = 0, number_end = 0;
};

RowColumns columns_of(const PanelContext& context, const RectF& rows) {
  const float u = context.scale, width = static_cast<float>(rows.width), x = static_cast<float>(rows.x);
  const float number = width_of(context.fonts.mono_small, "0.000") + 6.0f * u;
  RowColumns columns;
  columns.token = x + 4.0f * u;
  columns.token_end = x + 0.31f * width;
  columns.score_end = x + 0.54f * width;
  columns.bar = columns.score_end + 10.0f * u;
  columns.number_end = x + width - 2.0f * u;
  columns.bar_end = columns.number_end - number;
  return columns;
}

void write_right(const PanelContext& context, float end, float middle, const std::string& text, Rgba8 color) {
  ImFont* mono = context.fonts.mono_small;
  ImGui::GetWindowDrawList()->AddText(
      mono, mono->FontSize,
      {std::floor(end - width_of(mono, text)), std::floor(middle - 0.5f * mono->FontSize)}, im_color(color),
      text.c_str());
  ui_says(text, {end, middle});
}

// Three decimals, however small: the column is as wide.
std::string weight_text(double weight) {
  return std::isfinite(weight) ? fmt::format("{:.3f}", weight) : decimal_text(weight, 3);
}

// Filled to the weight as it is now; outlined to the weight before the arrow was moved.
void draw_weight_bar(const PanelContext& context, const RowColumns& columns, float top, float bottom,
                     double before, double now, bool moved) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float room = columns.bar_end - columns.bar;
  const auto end = [&](double weight) {
    return columns.bar + room * static_cast<float>(std::clamp(weight, 0.0, 1.0));
  };
  if (std::isfinite(now) && now > 0.0)
    list->AddRectFilled({columns.bar, top}, {std::max(end(now), columns.bar + 1.0f), bottom},
                        im_color(context.palette.bar));
  if (moved && std::isfinite(before)) {
    list->AddRect({columns.bar, top - 1}, {std::max(end(before), columns.bar + 2.0f), bottom + 1},
                  im_color(context.palette.text), 0.0f, 0,
                  std::max(1.0f, context.scale * context.palette.stroke));
  }
}

}  // namespace

std::optional<Index> draw_query_key_rows(const PanelContext& context, const ShownQuery& shown) {
  const QueryKeyLayout& layout = shown.layout;
  if (layout.row_count == 0) return std::nullopt;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& palette = context.palette;
  const RowColumns columns = columns_of(context, layout.rows);
  ImFont* small = context.fonts.small;
  const float caption_y = static_cast<float>(layout.rows.y) - small->FontSize - 5.0f * context.scale;
  const auto keys_count = std::ssize(shown.now.weights);
  const std::string key_caption =
      layout.row_count < keys_count ? fmt::format("{} of {}", layout.row_count, keys_count) : "key";
  const auto caption = [&](float x, const std::string& text) {
    list->AddText(small, small->FontSize, {std::floor(x), caption_y}, im_color(palette.text_dim), text.c_str());
  };
  caption(columns.token, key_caption);
  caption(columns.score_end - width_of(small, "score"), "score");
  caption(columns.bar, "weight");

  const std::vector<Index> keys = keys_with_rows(shown.now.weights, layout.row_count);
  const auto pitch = static_cast<float>(layout.pitch);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = static_cast<std::size_t>(keys[i]);
    const float top = static_cast<float>(layout.rows.y) + pitch * static_cast<float>(i),
                middle = top + 0.5f * pitch;
    const bool chosen = shown.key == keys[i], blocked = key < shown.blocked.size() && shown.blocked[key];
    if (chosen)
      list->AddRectFilled({static_cast<float>(layout.rows.x), top + 1},
                          {columns.number_end + 2, top + pitch - 1}, im_color(palette.control),
                          3 * context.scale);
    const std::string name = fitted_text(key_name(context, keys[i]), small, columns.token_end - columns.token);
    list->AddText(small, small->FontSize, {columns.token, std::floor(middle - 0.5f * small->FontSize)},
                  im_color(chosen    ? palette.focus
                           : blocked ? palette.text_dim
                                     : palette.text),
                  name.c_str());
    write_right(context, columns.score_end, middle, decimal_text(shown.now.scores[key], 2),
                blocked ? palette.text_dim : palette.text);
    const float half = 0.28f * pitch;
    draw_weight_bar(context, columns, middle - half, middle + half, shown.computed.weights[key],
                    shown.now.weights[key], shown.moved());
    write_right(context, columns.number_end, middle, blocked ? "masked" : weight_text(shown.now.weights[key]),
                blocked ? palette.text_dim : palette.text);
    ui_probe("qk/row", static_cast<int>(keys[i]), {static_cast<float>(layout.rows.x), top},
             {columns.number_end, top + pitch});
  }
  const PlaneGeometry cells = plane_geometry(layout.rows, layout.row_count, 1);
  const auto hit = plane_cell_looked_at(context, "plane rows", cells);
  if (!hit) return std::nullopt;
  return keys[static_cast<std::size_t>(std::clamp<Index>(hit->first, 0, std::ssize(keys) - 1))];
}

}  // namespace headwise
