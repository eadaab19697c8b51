#include "app/panels/heads_sheet.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Design units
constexpr float head_row_height = 31.0f, picture_side = 26.0f, padding = 6.0f;  // left of a column's contents
constexpr float bar_height = 3.0f, enlarged_side = 220.0f, scroll_step = 120.0f;

// The columns: their positions, headers and tooltips.
struct PlacedHeadColumn {
  HeadColumn id;
  float left = 0.0f, width = 0.0f;  // pixels, from the table's left edge
};

// Design units
constexpr float header_height = 52.0f;
constexpr float head_width = 84.0f, narrowest_score = 58.0f, widest_score = 90.0f;
constexpr float scrolled_score = 82.0f;  // used when they do not fit anyway: the notes below their names fit
constexpr float effect_width = 74.0f, words_width = 72.0f, least_change = 150.0f;
// A mean over this few queries is marked as such.
constexpr Index few_queries = 2;

struct Names {
  const char* first;
  const char* second;  // line of the column header; "" if one line is enough
  const char* what;
};

constexpr Names names_behind_scores[] = {
    {"effect", "in bits",
     "How much muting this head changes the prediction: the mean over positions of Σ p log₂(p / q), where p "
     "is the prediction without muting and q with the head muted. 0: without it the model predicts the same "
     "here."},
    {"words", "changed",
     "The number of positions where muting this head makes another word the most probable."},
    {"biggest change", "",
     "Where muting this head changes the prediction most: the word before and after, and the token."},
};

std::array<std::string, 2> lines_of(std::string_view name) {
  const std::size_t space = name.find(' ');
  if (space == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, space)), std::string(name.substr(space + 1))};
}

Names names_of(HeadColumn column) {
  return names_behind_scores[static_cast<int>(column) - static_cast<int>(HeadColumn::effect)];
}

std::string column_tooltip(const HeadsTable& table, HeadColumn column) {
  const std::string sorts = " Click to sort, largest first; click again for smallest first.";
  if (column == HeadColumn::head)
    return "Layer and head, counted from 0, with a thumbnail of the map: rows are queries, columns are keys. "
           "Click to sort in this order.";
  const std::optional<HeadScore> score = score_of(column);
  if (!score)
    return names_of(column).what + (table.muting ? sorts : " Mute each head in turn to measure it.");
  const std::string what(head_score_words(*score).what);
  const MeasuredScore* const one = measured_score(*table.survey, *score);
  if (!one) return what + " This text has nothing of the kind.";
  const std::string over = fmt::format(" Measured over {} of {} tokens.", one->queries, table.survey->length);
  if (*score == HeadScore::entropy) return what + over + sorts;
  return fmt::format(
      "{} “uniform = {:.2f}” and the small mark in each bar show the score of uniform attention: only a head "
      "well above it has a pattern.{}{}",
      what, one->uniform, over, sorts);
}

// The note below the name of a score.
std::string note_of(const HeadSurvey& survey, HeadScore score) {
  const MeasuredScore* const one = measured_score(survey, score);
  if (!one) return "none here";
  if (one->queries <= few_queries)
    return fmt::format("based on {} {}", one->queries, one->queries == 1 ? "query" : "queries");
  return score == HeadScore::entropy ? "" : fmt::format("uniform = {:.2f}", one->uniform);
}

void draw_sort_mark(const Painter& paint, ImVec2 at, bool descending) {
  const float r = std::round(paint.px(3.5f)), d = descending ? r : -r;
  paint.list->AddTriangleFilled({at.x - r, at.y - 0.5f * d}, {at.x + r, at.y - 0.5f * d},
                                {at.x, at.y + 0.5f * d}, im_color(paint.palette.text));
}

float head_columns_height(const WidgetContext& widgets) {
  return std::round(widgets.px(header_height));
}

// In this many pixels; if these are too few, the columns are wider all the same, and their table scrolls
// sideways under the first, which stays.
std::vector<PlacedHeadColumn> placed_head_columns(const WidgetContext& widgets, float width) {
  const auto px = [&](float units) { return std::round(widgets.px(units)); };
  const float behind = px(effect_width) + px(words_width) + px(least_change);
  const auto scores = float(head_score_count);
  const float room = std::floor((width - px(head_width) - behind) / scores);
  const float score = room < px(narrowest_score) ? px(scrolled_score) : std::min(room, px(widest_score));
  std::vector<PlacedHeadColumn> columns{{HeadColumn::head, 0.0f, px(head_width)}};
  const auto add = [&](HeadColumn id, float wide) {
    columns.push_back({id, columns.back().left + columns.back().width, wide});
  };
  for (std::size_t i = 0; i < head_score_count; ++i) add(column_of(static_cast<HeadScore>(i)), score);
  add(HeadColumn::effect, px(effect_width));
  add(HeadColumn::words_changed, px(words_width));
  add(HeadColumn::largest_change, 0.0f);
  columns.back().width = std::max(px(least_change), width - columns.back().left);
  return columns;
}

// At `at`, in this many pixels, scrolled sideways by `scrolled`. A click sorts. Returns the column that the
// keyboard has just reached.
std::optional<HeadColumn> draw_head_columns(const PanelContext& context, const HeadsTable& table,
                                            const std::vector<PlacedHeadColumn>& columns, ImVec2 at,
                                            float width, float scrolled, HeadOrder& order) {
  std::optional<HeadColumn> come_to;
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const float height = head_columns_height(paint), line = std::round(font->FontSize * 1.15f);
  for (const PlacedHeadColumn& column : columns) {
    const auto index = static_cast<int>(column.id);
    const bool stays = column.id == HeadColumn::head;
    const ImVec2 min{at.x + column.left - (stays ? 0.0f : scrolled), at.y};
    const ImVec2 max{min.x + column.width, at.y + height};
    const float seen_from = stays ? min.x : at.x + columns.front().width;
    ImGui::PushClipRect({seen_from, at.y}, {at.x + width, at.y + height}, true);
    ImGui::SetCursorScreenPos(min);
    ImGui::PushID(index);
    const PressItem item = press_item(paint, "column", {column.width, height});
    ImGui::PopID();
    if (item.focused && context.focus->moved) come_to = column.id;
    ui_probe_item("heads/column", index);
    tooltip(paint, column_tooltip(table, column.id));
    const bool known = table.muting || column.id < HeadColumn::effect;
    if (known && item.pressed) order = clicked(order, column.id);
    const std::optional<HeadScore> score = score_of(column.id);
    std::array<std::string, 2> lines{"head", ""};
    std::string below;
    if (score) {
      lines = lines_of(head_score_words(*score).name);
      below = note_of(*table.survey, *score);
    } else if (column.id != HeadColumn::head) {
      lines = {names_of(column.id).first, names_of(column.id).second};
    }
    const bool sorts = order.column == column.id;
    const ImU32 ink = im_color(sorts || item.hovered ? context.palette.text : context.palette.text_dim);
    const float left = min.x + paint.px(padding), room = column.width - paint.px(padding);
    paint.list->PushClipRect(min, max, true);
    float y = min.y;
    for (const std::string& text : lines) {
      paint.text(font, {left, y}, ink, fitted_text(text, font, room));
      y += line;
    }
    // In a narrow column in fewer words; what does not fit then is in the tooltip.
    for (const auto& [words, fewer] : {std::pair{std::string_view(" = "), " "}, {"based on ", ""}}) {
      if (const std::size_t found = below.find(words);
          found != std::string::npos && width_of(font, below) > room)
        below.replace(found, words.size(), fewer);
    }
    if (fitted_text(below, font, room) == below) paint.text(font, {left, y}, context.palette.text_dim, below);
    if (sorts) {
      const float end = width_of(font, lines[0]);
      draw_sort_mark(paint, {std::min(left + end + paint.px(8), max.x - paint.px(5)), min.y + 0.5f * line},
                     order.descending);
    }
    paint.list->PopClipRect();
    ImGui::PopClipRect();
  }
  paint.line({at.x, at.y + height - 1}, {at.x + width, at.y + height - 1}, context.palette.border);
  return come_to;
}

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
  const Painter paint = context.painter();
  ImFont* font = context.fonts.mono_small;
  const Palette& palette = context.palette;
  const float left = min.x + paint.px(padding), right = max.x - paint.px(2 * padding);
  const float top = std::round(min.y + paint.px(6));
  const float text_width = width_of(font, cell.text);
  if (is_largest) {
    const float out = std::round(paint.px(3));
    paint.fill({left - out, top - out * 0.5f}, {left + text_width + out, top + font->FontSize + out * 0.5f},
               palette.control, paint.px(3));
  }
  paint.text(font, {left, top}, is_largest ? palette.text : palette.text_dim, cell.text);
  if (cell.share <= 0.0 && !cell.mark) return;
  const float y = std::round(max.y - paint.px(bar_height + 4)),
              thick = std::max(2.0f, std::round(paint.px(bar_height)));
  const auto x = [&](double share) { return left + (right - left) * float(std::clamp(share, 0.0, 1.0)); };
  paint.fill({left, y}, {right, y + thick}, {palette.border, 0.6f});
  if (cell.share > 0.0)
    paint.fill({left, y}, {std::max(x(cell.share), left + 1), y + thick},
               is_largest ? palette.focus : palette.bar);
  if (cell.mark) {
    const float at = std::round(x(*cell.mark));
    paint.fill({at, y - 2}, {at + context.hairline(), y + thick + 2}, palette.text);
  }
}

HeatmapSpec picture_of(const PanelContext& context, const HeadSurvey& survey, const SurveyedHead& head) {
  HeatmapSpec spec;
  const std::array<Index, 1> leading{head.head};
  spec.values =
      matrix_view(survey.pictures[static_cast<std::size_t>(head.layer - survey.first_layer)], leading);
  spec.color_map = ColorMap::viridis;
  spec.range = {0.0, 1.0};
  spec.theme = context.theme;
  return spec;
}

// An enlarged map of the head under the mouse.
void draw_enlarged(const PanelContext& context, const HeadSurvey& survey, const SurveyedHead& head) {
  const float side = std::round(context.px(enlarged_side));
  const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  const float all = side + context.px(40);
  ImGui::SetNextWindowPos({std::round(mouse.x + context.px(24)),
                           std::round(std::clamp(mouse.y - 0.5f * all, 0.0f, std::max(0.0f, screen.y - all)))});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {context.px(10), context.px(8)});
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

// Up and down through the rows, unless a column header has keyboard focus.
// True if Enter chooses the head reached.
bool reach_head_by_keys(const PanelContext& context, HeadsTableState& state, int page) {
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

// With the arrow keys while no column header has keyboard focus;
// also brings a newly focused column into view.
void scroll_sideways(const PanelContext& context, const std::vector<PlacedHeadColumn>& columns, float width,
                     const std::optional<HeadColumn>& wanted) {
  float to = ImGui::GetScrollX();
  const float step = context.px(scroll_step);
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
  const Painter paint = context.painter();
  const std::size_t i = state.sorted[r];
  const SurveyedHead& head = table.survey->heads[i];
  ImGui::SetCursorScreenPos(min);
  ImGui::PushID(static_cast<int>(i));
  if (ImGui::InvisibleButton("row", {max.x - min.x, max.y - min.y})) drawn.pressed = i;
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered(), reached = state.at == i;
  ui_probe_item("heads/row", static_cast<int>(r));
  ui_probe_item("heads/head", static_cast<int>(i));
  if (hovered || reached) paint.fill(min, max, context.palette.control_hover, paint.px(3));
  if (reached) paint.outline(min, max, context.palette.focus, 1.0f, paint.px(3));
  if (hovered && ImGui::GetIO().MousePos.x < min.x + columns[0].width) drawn.enlarged = i;

  const float side = std::round(paint.px(picture_side)), gap = std::round(0.5f * (max.y - min.y - side));
  const ImVec2 picture{min.x + paint.px(padding), min.y + gap};
  drawn.specs.push_back(picture_of(context, *table.survey, head));
  const Box map(picture, {picture.x + side, picture.y + side});
  drawn.planes.push_back({&drawn.specs.back(), map.min, map.max});
  const bool looked_at = table.looked_at == i;
  const auto text_at = [&](ImFont* font, float x, const std::string& text, Rgba8 color) {
    paint.text(font, {x, std::round(0.5f * (min.y + max.y - font->FontSize))}, color, text);
  };
  // A strip in the head's hue, as everywhere.
  paint.fill({picture.x - paint.px(6), picture.y}, {picture.x - paint.px(3), picture.y + side},
             head_hue(context.palette, head.head));
  text_at(looked_at ? context.fonts.bold : context.fonts.small, picture.x + side + paint.px(8),
          head_name(head), context.palette.text);
  if (looked_at) paint.outline(map.grown(2), context.palette.focus, 1.0f, paint.px(2));
  const HeadMuting* const muting = table.muting.get();
  paint.list->PushClipRect({min.x + columns.front().width, min.y}, max, true);
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
      text_at(context.fonts.small, left + paint.px(padding),
              fitted_text(change, context.fonts.small, column.width - paint.px(padding)),
              most == i ? context.palette.text : context.palette.text_dim);
      continue;
    }
    const double greatest = most ? number_in(*table.survey, muting, *most, column.id).value_or(0.0) : 0.0;
    draw_number(context, {left, min.y}, {left + column.width, max.y}, cell_of(table, column.id, i, greatest),
                most == i);
  }
  paint.list->PopClipRect();
}

}  // namespace

std::string head_name(const SurveyedHead& head) {
  return fmt::format("{}.{}", head.layer, head.head);
}

std::optional<std::size_t> draw_heads_table(const PanelContext& context, const HeadsTable& table,
                                            HeadsTableState& state, float height) {
  const HeadSurvey& survey = *table.survey;
  if (survey.heads.empty()) return std::nullopt;
  const float bar = ImGui::GetStyle().ScrollbarSize;
  const float width = ImGui::GetContentRegionAvail().x - bar;
  const std::vector<PlacedHeadColumn> columns = placed_head_columns(context, width);
  const float all_columns = columns.back().left + columns.back().width;
  const bool scrolls = all_columns > width;
  sort(table, state);
  const LargestHeads largest = largest_heads(survey, table.muting.get());

  const ImVec2 top_left = ImGui::GetCursorScreenPos();
  const float header = head_columns_height(context), row = std::round(context.px(head_row_height));
  const float total = row * float(survey.heads.size());
  const float rows_height = std::min(total + (scrolls ? bar : 0.0f), std::max(row, height - header));
  const float seen_height = rows_height - (scrolls ? bar : 0.0f);
  std::optional<std::size_t> chosen;
  if (reach_head_by_keys(context, state, std::max(1, static_cast<int>(seen_height / row) - 1)))
    chosen = state.at;

  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::SetCursorScreenPos({top_left.x, top_left.y + header});
  ImGui::SetNextWindowContentSize({all_columns, total});
  ImGui::BeginChild("rows", {0, rows_height}, false,
                    ImGuiWindowFlags_NoNav | (scrolls ? ImGuiWindowFlags_HorizontalScrollbar : 0));
  const ImVec2 seen = ImGui::GetWindowPos();
  ui_probe("heads/rows", seen, {seen.x + ImGui::GetWindowWidth(), seen.y + rows_height});
  if (const auto head = std::ranges::find(state.sorted, state.scroll_to); head != state.sorted.end()) {
    const auto place = float(head - state.sorted.begin());
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
    const float top = origin.y + row * float(r);
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
