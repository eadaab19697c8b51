#include "app/stage/all_heads_view.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/content/stage_layout.h"
#include "app/platform/fonts.h"
#include "app/session/frozen_heads.h"
#include "app/session/head_gains.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/color_bar.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/lock_mark.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

struct HeadMap {
  StagePart part;
  PlaneGeometry plane;
  Index head = 0;     // the first query head that reads this map
  std::string title;  // its number and what it does, or "4–7" where several query heads share a key/value head
};

std::vector<HeadMap> maps_of(const PanelContext& context, const StagePart& result, const MapGrid& grid,
                             Index count) {
  std::vector<HeadMap> maps;
  maps.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    HeadMap map;
    map.head = head_of_map(context.trace, result.matrix.name, i);
    const Index next = i + 1 < count ? head_of_map(context.trace, result.matrix.name, i + 1)
                                     : context.trace.options.num_heads;
    const auto description = head_description(context, map.head);
    map.title = next - map.head > 1 ? fmt::format("{}–{}", map.head, next - 1) : fmt::format("{}", map.head);
    if (description && next - map.head == 1) map.title += " " + description->name;
    map.part = part_at_head(result, context.trace, context.selection.batch, map.head);
    map.plane = plane_geometry(grid.map(i), map.part.matrix.view.rows, map.part.matrix.view.cols);
    maps.push_back(std::move(map));
  }
  return maps;
}

ImVec2 corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y)};
}
ImVec2 far_corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x + p.width), static_cast<float>(p.y + p.height)};
}

// As many lines of words as cost the maps little and as are not cut, below `least` lines that stand in any case.
MapGrid grid_with_notes(const PanelContext& context, StageShape& shape,
                        const std::vector<HeadStatistics>& statistics, Index count, const RectF& area,
                        int least) {
  shape.note_lines = least;
  const MapGrid plain = map_grid(count, shape, area, context.scale);
  if (static_cast<Index>(statistics.size()) != count || count == 0) return plain;
  for (const HeadStatistics& head : statistics)
    shape.note_lines = std::max(shape.note_lines, least + static_cast<int>(head_words(context, head).size()));
  const MapGrid grid = map_grid(count, shape, area, context.scale);
  ImFont* font = context.fonts.small;
  const float widest = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, "entropy 0.00 of 0.00").x;
  // On a slide every row has its label before there are words.
  const auto labels_all = [&](const MapGrid& maps) {
    return maps.map_height >= closest_rows * context.scale * static_cast<double>(shape.rows);
  };
  const bool crowded = context.picture && labels_all(plain) && !labels_all(grid);
  const bool fits = !crowded && grid.pitch_x >= widest &&
                    grid.map_width * grid.map_height >= 0.6 * plain.map_width * plain.map_height;
  if (fits) return grid;
  shape.note_lines = least;
  return plain;
}

// "colours end at the numbers of | all heads | each head |", beside the bar, where there is room.
void draw_range_choice(const PanelContext& context, const RectF& bar, const std::string& caption, float end,
                       PanelAction& action) {
  ImFont* small = context.fonts.small;
  const auto width_of = [&](const std::string& text) {
    return small->CalcTextSizeA(small->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
  };
  const float u = context.scale;
  const ImVec2 size = color_choice_size(context);
  float x = static_cast<float>(bar.x) + std::max(static_cast<float>(bar.width), width_of(caption)) + 24.0f * u;
  const float y = std::round(static_cast<float>(bar.y) - small->FontSize - 3.0f * u);
  const std::string words = "colours of the numbers of";
  if (context.picture || x + size.x > end) return;
  if (const float room = width_of(words) + 8.0f * u; x + room + size.x <= end) {
    ImGui::GetWindowDrawList()->AddText(small, small->FontSize,
                                        {x, std::round(y + 0.5f * (size.y - small->FontSize))},
                                        im_color(context.palette.text_dim), words.c_str());
    x += room;
  }
  ImGui::SetCursorScreenPos({std::floor(x), y});
  draw_color_choice(context, action);
}

void draw_notes(const PanelContext& context, const std::vector<std::string>& words, float x, float y,
                float width) {
  ImFont* font = context.fonts.small;
  for (const std::string& line : words) {
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, {std::floor(x), std::floor(y)},
                                        im_color(context.palette.text_dim),
                                        fitted_text(line, font, width).c_str());
    y += static_cast<float>(note_line_units) * context.scale;
  }
}

// Of a head that is frozen first that it is.
std::vector<std::string> words_of(const PanelContext& context, const HeadMap& map, const HeadStatistics& head) {
  std::vector<std::string> words = head_words(context, head);
  if (is_frozen(context.scenario, map.head)) words.front() = "frozen weights";
  return words;
}

}  // namespace

PanelAction draw_all_heads(const PanelContext& context, AllHeadsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const WidgetContext widgets = context.widgets();
  const StagePart& result = *content.result;
  // A mask of nothing but 0 and −inf has no colours to explain.
  const StageBar* bar = result.bar < content.bars.size() ? &content.bars[result.bar] : nullptr;
  StageShape shape;
  shape.rows = result.matrix.view.rows;
  shape.cols = result.matrix.view.cols;
  shape.row_label_width = row_label_width(context, result, shape.rows);
  if (result.col_labels) shape.col_label_width = label_width(widgets, *result.col_labels, shape.cols);
  if (bar) shape.bar_captions = {static_cast<double>(bar->caption.size())};
  const Index count = head_count(context.trace, result.matrix.name);
  // What the heads do, said over maps that a head is known by.
  static const std::vector<HeadStatistics> nothing;
  const bool pairs = count == context.trace.options.num_heads && is_pair_map(result.matrix);
  const std::vector<HeadStatistics>& statistics =
      pairs ? state.figures.of(context.trace, context.selection.batch) : nothing;
  const bool own = context.selection.colors_by_head && bar;
  const int range_lines = own ? 1 : 0;
  const MapGrid grid = grid_with_notes(context, shape, statistics, count, area, range_lines);
  std::vector<HeadMap> maps = maps_of(context, result, grid, count);
  if (own) {
    std::vector<StagePart*> parts;
    for (HeadMap& map : maps) parts.push_back(&map.part);
    state.ranges.give(parts, context.selection.batch);
  }

  ImDrawList* list = ImGui::GetWindowDrawList();
  std::vector<HeatmapPlane> planes;
  for (const HeadMap& map : maps)
    planes.push_back({&map.part.spec, corner(map.plane), far_corner(map.plane)});
  draw_heatmap_planes(list, context.heatmaps, planes);

  const std::vector<StageMark> marks =
      stage_marks(context.trace, context.selection, context.pointed, context.reach);
  const double title = title_height_units * context.scale;
  const HeadMap* looked_at = nullptr;  // the map with the cell under the mouse
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const HeadMap& map = maps[i];
    draw_part_overlay(context, map.part, map.plane, marks);
    const RectF rect{static_cast<double>(map.plane.x), static_cast<double>(map.plane.y),
                     static_cast<double>(map.plane.width), static_cast<double>(map.plane.height)};
    if (head_gain_of(context.scenario, map.head) == 0.0) draw_muted(widgets, list, rect);
    if (is_frozen(context.scenario, map.head)) draw_lock(widgets, list, rect);
    const Index sharing = context.trace.options.num_heads / std::max<Index>(count, 1);
    const bool chosen = context.selection.head >= map.head && context.selection.head < map.head + sharing;
    if (chosen) {
      const float out = std::round(2.0f * context.scale);
      list->AddRect(ImVec2(corner(map.plane).x - out, corner(map.plane).y - out),
                    ImVec2(far_corner(map.plane).x + out, far_corner(map.plane).y + out),
                    im_color(context.palette.focus), 2.0f * context.scale, 0, std::round(1.5f * context.scale));
    }
    if (const auto cell = cell_looked_at(context, fmt::format("map{}", i), map.part, map.plane)) {
      under_mouse = cell;
      looked_at = &map;
    }
    ui_probe("stage/map", static_cast<int>(i), corner(map.plane), far_corner(map.plane));
    const auto index = static_cast<Index>(i);
    if (grid.row_labels && index % grid.columns == 0)
      draw_part_row_labels(context, map.part, map.plane, marked_row(map.part.matrix, marks));
    if (grid.col_labels && index + grid.columns >= count) {
      draw_part_column_labels(context, map.part, map.plane, marks, true);
    }
    const double notes = note_line_units * context.scale * shape.note_lines;
    PanelAction number = draw_head_number(context, {rect.x, rect.y - title - notes, rect.width, title},
                                          map.head, map.title, count < context.trace.options.num_heads);
    std::vector<std::string> words;
    if (own) words.push_back(range_text(map.part.spec.range));
    if (i < statistics.size() && shape.note_lines > range_lines) {
      for (std::string& line : words_of(context, map, statistics[i])) words.push_back(std::move(line));
    }
    draw_notes(context, words, corner(map.plane).x,
               corner(map.plane).y - static_cast<float>(notes) - 3.0f * context.scale,
               static_cast<float>(grid.pitch_x) - 6.0f * context.scale);
    if (i < statistics.size()) {
      const HeadStatistics& head = statistics[i];
      ImGui::PushID(static_cast<int>(i));
      ImGui::SetCursorScreenPos({corner(map.plane).x, corner(map.plane).y - static_cast<float>(title + notes)});
      ImGui::Dummy({std::max(1.0f, static_cast<float>(rect.width) * 0.7f), static_cast<float>(title + notes)});
      tooltip(widgets, fmt::format("head {}: {}{}", map.head,
                                   is_frozen(context.scenario, map.head) ? "frozen weights; " : "",
                                   head_sentence(context, head)));
      ui_probe_item("stage/head_words", static_cast<int>(i));
      ImGui::PopID();
    }
    if (number.scenario || number.selection) action = std::move(number);
  }
  for (const RectF& strip : grid.bars) {
    if (!bar) break;
    const std::string caption = own ? own_colors_caption(result) : bar->caption;
    const RangeTicks ends = own_colors_ticks(*bar);
    draw_color_bar(widgets, list, strip, bar->color_map, context.theme, bar->range, caption,
                   static_cast<float>(area.width), own ? &ends : nullptr);
    draw_range_choice(context, strip, caption, static_cast<float>(area.x + area.width), action);
  }
  // A cell of another head looks at that head too when it is pinned.
  if (looked_at && cell_pressed(context) && count == context.trace.options.num_heads) {
    action.selection = context.selection;
    action.selection->head = looked_at->head;
  }
  return action;
}

}  // namespace headwise
