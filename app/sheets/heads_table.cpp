#include "app/sheets/heads_table.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/sheets/heads_columns.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Design units
constexpr float row_height = 31.0f, picture_side = 26.0f, padding = heads_cell_padding;
constexpr float bar_height = 3.0f, enlarged_side = 220.0f, scroll_step = 120.0f;

struct CellText {
  std::string text;
  double share = 0.0;               // of the bar
  std::optional<double> mark = {};  // where the score of uniform weights would end
};

CellText cell_of(const HeadsTable& table, HeadColumn column, std::size_t i, double most) {
  const std::optional<double> number = number_in(*table.survey, table.muting.get(), i, column);
  if (!number) return {"–", 0.0, {}};
  if (const std::optional<HeadScore> score = score_of(column)) {
    const bool is_entropy = *score == HeadScore::entropy;
    return {fmt::format("{:.2f}", *number), *number,
            is_entropy ? std::nullopt : std::optional(table.survey->heads[i].scores[*score].uniform)};
  }
  const double share = most > 0.0 ? *number / most : 0.0;
  if (column == HeadColumn::words_changed)
    return {fmt::format("{} of {}", *number, table.muting->heads[i].positions), share, {}};
  return {fmt::format("{:.3f}", *number), share, {}};
}

void draw_number(const PanelContext& context, ImVec2 min, ImVec2 max, const CellText& cell, bool is_largest) {
  const WidgetContext widgets = context.widgets();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = context.fonts.mono_small;
  const Palette& palette = context.palette;
  const float left = min.x + widgets.px(padding), right = max.x - widgets.px(2 * padding);
  const float top = std::round(min.y + widgets.px(6));
  const float text_width = width_of(font, cell.text);
  if (is_largest) {
    const float out = std::round(widgets.px(3));
    list->AddRectFilled({left - out, top - out * 0.5f},
                        {left + text_width + out, top + font->FontSize + out * 0.5f},
                        im_color(palette.control), widgets.px(3));
  }
  list->AddText(font, font->FontSize, {left, top}, im_color(is_largest ? palette.text : palette.text_dim),
                cell.text.c_str());
  if (cell.share <= 0.0 && !cell.mark) return;
  const float y = std::round(max.y - widgets.px(bar_height + 4)),
              thick = std::max(2.0f, std::round(widgets.px(bar_height)));
  const auto x = [&](double share) {
    return left + (right - left) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  };
  list->AddRectFilled({left, y}, {right, y + thick}, im_color(palette.border, 0.6f));
  if (cell.share > 0.0)
    list->AddRectFilled({left, y}, {std::max(x(cell.share), left + 1), y + thick},
                        im_color(is_largest ? palette.focus : palette.bar));
  if (cell.mark) {
    const float at = std::round(x(*cell.mark));
    list->AddRectFilled({at, y - 2}, {at + std::max(1.0f, std::round(context.scale)), y + thick + 2},
                        im_color(palette.text));
  }
}

HeatmapSpec picture_of(const PanelContext& context, const HeadSurvey& survey, const SurveyedHead& head) {
  HeatmapSpec spec;
  const std::array<Index, 1> leading{head.head};
  spec.values = matrix_view(survey.pictures[static_cast<std::size_t>(head.layer)], leading);
  spec.color_map = ColorMap::viridis;
  spec.range = {0.0, 1.0};
  spec.theme = context.theme;
  return spec;
}

// An enlarged map of the head under the mouse.
void draw_enlarged(const PanelContext& context, const HeadSurvey& survey, const SurveyedHead& head) {
  const WidgetContext widgets = context.widgets();
  const float side = std::round(widgets.px(enlarged_side));
  const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  const float all = side + widgets.px(40);
  ImGui::SetNextWindowPos({std::round(mouse.x + widgets.px(24)),
                           std::round(std::clamp(mouse.y - 0.5f * all, 0.0f, std::max(0.0f, screen.y - all)))});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {widgets.px(10), widgets.px(8)});
  ImGui::BeginTooltip();
  ImGui::PushFont(context.fonts.small);
  ImGui::TextUnformatted(
      fmt::format("head {}: {} × {} tokens", head_name(head), survey.length, survey.length).c_str());
  const ImVec2 at = ImGui::GetCursorScreenPos(), max{at.x + side, at.y + side};
  const HeatmapSpec spec = picture_of(context, survey, head);
  draw_heatmap_plane(ImGui::GetWindowDrawList(), context.heatmaps, spec, at, max);
  ui_probe("heads/enlarged", at, max);
  ImGui::Dummy({side, side});
  ImGui::PopFont();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

void sort(const HeadsTable& table, HeadsTableState& state) {
  if (state.sorted_survey == table.survey && state.sorted_muting == table.muting &&
      state.sorted_order == state.order)
    return;
  // The muting results that it was sorted by are gone.
  if (!table.muting && state.order.column >= HeadColumn::effect) state.order = {};
  if (state.at) state.scroll_to = state.at;
  state.sorted_survey = table.survey;
  state.sorted_muting = table.muting;
  state.sorted_order = state.order;
  state.sorted = ordered_heads(*table.survey, table.muting.get(), state.order);
  if (state.at && *state.at >= state.sorted.size()) state.at.reset();
}

// Up and down through the rows, unless a column header has keyboard focus. True if Enter chooses the head reached.
bool move_by_keys(const PanelContext& context, HeadsTableState& state, int page) {
  if (context.focus && context.focus->focused != 0) return false;
  const auto last = static_cast<int>(state.sorted.size()) - 1;
  const auto place =
      state.at ? static_cast<int>(std::ranges::find(state.sorted, *state.at) - state.sorted.begin()) : -1;
  int to = place;
  if (key_pressed(Key::down)) to = place + 1;
  if (key_pressed(Key::up)) to = place - 1;
  if (key_pressed(Key::page_down)) to = place + page;
  if (key_pressed(Key::page_up)) to = place - page;
  if (key_pressed(Key::home)) to = 0;
  if (key_pressed(Key::end)) to = last;
  if (to != place) {
    state.at = state.sorted[static_cast<std::size_t>(std::clamp(to, 0, last))];
    state.scroll_to = state.at;
  }
  return state.at && press_key_pressed();
}

// With the arrow keys while no column header has keyboard focus; also brings a newly focused column into view.
void scroll_sideways(const PanelContext& context, const std::vector<PlacedHeadColumn>& columns, float width,
                     const std::optional<HeadColumn>& wanted) {
  float to = ImGui::GetScrollX();
  const float step = context.widgets().px(scroll_step);
  if (!context.focus || context.focus->focused == 0) {
    if (key_pressed(Key::right)) to += step;
    if (key_pressed(Key::left)) to -= step;
  }
  const auto column = std::ranges::find(columns, wanted, &PlacedHeadColumn::id);
  if (column != columns.end() && column->id != HeadColumn::head)
    to = std::clamp(to, column->left + column->width - width, column->left - columns.front().width);
  to = std::clamp(to, 0.0f, columns.back().left + columns.back().width - width);
  if (to != ImGui::GetScrollX()) {
    ImGui::SetScrollX(to);
    if (context.wake_after) *context.wake_after = 0.0;
  }
}

// Results of drawing the rows.
struct RowsDrawn {
  float scrolled = 0.0f;  // sideways, all but the first column
  std::vector<HeatmapSpec> specs;
  std::vector<HeatmapPlane> planes;  // of the specs
  std::optional<std::size_t> pressed, enlarged;
};

void draw_row(const PanelContext& context, const HeadsTable& table, const HeadsTableState& state,
              const std::vector<PlacedHeadColumn>& columns, const LargestHeads& largest, std::size_t r,
              ImVec2 min, ImVec2 max, RowsDrawn& drawn) {
  const WidgetContext widgets = context.widgets();
  const std::size_t i = state.sorted[r];
  const SurveyedHead& head = table.survey->heads[i];
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(min);
  ImGui::PushID(static_cast<int>(i));
  if (ImGui::InvisibleButton("row", {max.x - min.x, max.y - min.y})) drawn.pressed = i;
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered(), reached = state.at == i;
  ui_probe_item("heads/row", static_cast<int>(r));
  ui_probe_item("heads/head", static_cast<int>(i));
  if (hovered || reached)
    list->AddRectFilled(min, max, im_color(context.palette.control_hover), widgets.px(3));
  if (reached) list->AddRect(min, max, im_color(context.palette.focus), widgets.px(3));
  if (hovered && ImGui::GetIO().MousePos.x < min.x + columns[0].width) drawn.enlarged = i;

  const float side = std::round(widgets.px(picture_side)), gap = std::round(0.5f * (max.y - min.y - side));
  const ImVec2 picture{min.x + widgets.px(padding), min.y + gap};
  drawn.specs.push_back(picture_of(context, *table.survey, head));
  drawn.planes.push_back({&drawn.specs.back(), picture, {picture.x + side, picture.y + side}});
  const bool looked_at = table.looked_at == i;
  const auto text_at = [&](ImFont* font, float x, const std::string& text, Rgba8 color) {
    list->AddText(font, font->FontSize, {x, std::round(0.5f * (min.y + max.y - font->FontSize))},
                  im_color(color), text.c_str());
  };
  // A strip in the head's hue, as everywhere.
  list->AddRectFilled({picture.x - widgets.px(6), picture.y}, {picture.x - widgets.px(3), picture.y + side},
                      im_color(head_hue(context.palette, head.head)));
  text_at(looked_at ? context.fonts.bold : context.fonts.small, picture.x + side + widgets.px(8),
          head_name(head), context.palette.text);
  if (looked_at) {
    list->AddRect({picture.x - 2, picture.y - 2}, {picture.x + side + 2, picture.y + side + 2},
                  im_color(context.palette.focus), widgets.px(2));
  }
  const HeadMuting* const muting = table.muting.get();
  list->PushClipRect({min.x + columns.front().width, min.y}, max, true);
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const PlacedHeadColumn& column = columns[c];
    const std::optional<std::size_t>& most = largest[static_cast<std::size_t>(column.id)];
    const float left = min.x + column.left - drawn.scrolled;
    if (column.id == HeadColumn::largest_change) {
      if (!table.changes) {
        draw_number(context, {left, min.y}, {left + column.width, max.y}, {"–", 0.0, {}}, false);
        continue;
      }
      const std::string& change = (*table.changes)[i];
      text_at(context.fonts.small, left + widgets.px(padding),
              fitted_text(change, context.fonts.small, column.width - widgets.px(padding)),
              most == i ? context.palette.text : context.palette.text_dim);
      continue;
    }
    const double greatest = most ? number_in(*table.survey, muting, *most, column.id).value_or(0.0) : 0.0;
    draw_number(context, {left, min.y}, {left + column.width, max.y}, cell_of(table, column.id, i, greatest),
                most == i);
  }
  list->PopClipRect();
}

}  // namespace

std::string head_name(const SurveyedHead& head) {
  return fmt::format("{}.{}", head.layer, head.head);
}

std::optional<std::size_t> draw_heads_table(const PanelContext& context, const HeadsTable& table,
                                            HeadsTableState& state, float height) {
  const WidgetContext widgets = context.widgets();
  const HeadSurvey& survey = *table.survey;
  if (survey.heads.empty()) return std::nullopt;
  const float bar = ImGui::GetStyle().ScrollbarSize;
  const float width = ImGui::GetContentRegionAvail().x - bar;
  const std::vector<PlacedHeadColumn> columns = placed_head_columns(widgets, width);
  const float all_columns = columns.back().left + columns.back().width;
  const bool scrolls = all_columns > width;
  sort(table, state);
  const LargestHeads largest = largest_heads(survey, table.muting.get());

  const ImVec2 top_left = ImGui::GetCursorScreenPos();
  const float header = head_columns_height(widgets), row = std::round(widgets.px(row_height));
  const float total = row * static_cast<float>(survey.heads.size());
  const float rows_height = std::min(total + (scrolls ? bar : 0.0f), std::max(row, height - header));
  const float seen_height = rows_height - (scrolls ? bar : 0.0f);
  std::optional<std::size_t> chosen;
  if (move_by_keys(context, state, std::max(1, static_cast<int>(seen_height / row) - 1))) chosen = state.at;

  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::SetCursorScreenPos({top_left.x, top_left.y + header});
  ImGui::SetNextWindowContentSize({all_columns, total});
  ImGui::BeginChild("rows", {0, rows_height}, false,
                    ImGuiWindowFlags_NoNav | (scrolls ? ImGuiWindowFlags_HorizontalScrollbar : 0));
  const ImVec2 seen = ImGui::GetWindowPos();
  ui_probe("heads/rows", seen, {seen.x + ImGui::GetWindowWidth(), seen.y + rows_height});
  if (const auto head = std::ranges::find(state.sorted, state.scroll_to); head != state.sorted.end()) {
    const auto place = static_cast<float>(head - state.sorted.begin());
    ImGui::SetScrollY(
        std::clamp(ImGui::GetScrollY(), std::max(0.0f, (place + 1) * row - seen_height), place * row));
  }
  state.scroll_to.reset();
  if (scrolls) scroll_sideways(context, columns, width, std::exchange(state.column_wanted, std::nullopt));
  const float scrolled = ImGui::GetScrollX();
  const ImVec2 origin{seen.x, ImGui::GetCursorScreenPos().y};
  // Only the visible ones.
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::floor(ImGui::GetScrollY() / row)));
  const auto last = std::min(state.sorted.size(), first + static_cast<std::size_t>(seen_height / row) + 2);
  RowsDrawn drawn;
  drawn.scrolled = scrolled;
  if (first < last) drawn.specs.reserve(last - first);  // the planes point at them
  for (std::size_t r = first; r < last; ++r) {
    const float top = origin.y + row * static_cast<float>(r);
    draw_row(context, table, state, columns, largest, r, {origin.x, top}, {origin.x + width, top + row}, drawn);
  }
  draw_heatmap_planes(ImGui::GetWindowDrawList(), context.heatmaps, drawn.planes);
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  // After the rows: it is placed according to their scroll position.
  const HeadOrder before = state.order;
  const ImVec2 behind = ImGui::GetCursorScreenPos();
  state.column_wanted = draw_head_columns(context, table, columns, top_left, width, scrolled, state.order);
  ImGui::SetCursorScreenPos(behind);
  if ((state.column_wanted || !(before == state.order)) && context.wake_after) *context.wake_after = 0.0;
  if (drawn.enlarged) draw_enlarged(context, survey, survey.heads[*drawn.enlarged]);
  return drawn.pressed ? drawn.pressed : chosen;
}

}  // namespace headwise
