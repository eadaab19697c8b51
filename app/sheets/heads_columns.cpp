#include "app/sheets/heads_columns.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

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

// From the first head that has it: the score of uniform weights and the number of queries are the same for all heads except
// for rows that are left out.
const MeasuredScore* measured(const HeadSurvey& survey, HeadScore score) {
  for (const SurveyedHead& head : survey.heads)
    if (head.scores[score].value) return &head.scores[score];
  return nullptr;
}

std::string column_tooltip(const HeadsTable& table, HeadColumn column) {
  const std::string sorts = " Click to sort, largest first; click again for smallest first.";
  if (column == HeadColumn::head) {
    return "Layer and head, counted from 0, with a thumbnail of the map: rows are queries, columns are keys. "
           "Click to sort in this order.";
  }
  const std::optional<HeadScore> score = score_of(column);
  if (!score)
    return names_of(column).what + (table.muting ? sorts : " Mute each head in turn to measure it.");
  const std::string what(head_score_words(*score).what);
  const MeasuredScore* const one = measured(*table.survey, *score);
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
  const MeasuredScore* const one = measured(survey, score);
  if (!one) return "none here";
  if (one->queries <= few_queries)
    return fmt::format("based on {} {}", one->queries, one->queries == 1 ? "query" : "queries");
  return score == HeadScore::entropy ? "" : fmt::format("uniform = {:.2f}", one->uniform);
}

void draw_sort_mark(const WidgetContext& widgets, ImDrawList* list, ImVec2 at, bool descending) {
  const float r = std::round(widgets.px(3.5f)), d = descending ? r : -r;
  list->AddTriangleFilled({at.x - r, at.y - 0.5f * d}, {at.x + r, at.y - 0.5f * d}, {at.x, at.y + 0.5f * d},
                          im_color(widgets.palette.text));
}

}  // namespace

float head_columns_height(const WidgetContext& widgets) {
  return std::round(widgets.px(header_height));
}

std::vector<PlacedHeadColumn> placed_head_columns(const WidgetContext& widgets, float width) {
  const auto px = [&](float units) { return std::round(widgets.px(units)); };
  const float behind = px(effect_width) + px(words_width) + px(least_change);
  const auto scores = static_cast<float>(head_score_count);
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

std::optional<HeadColumn> draw_head_columns(const PanelContext& context, const HeadsTable& table,
                                            const std::vector<PlacedHeadColumn>& columns, ImVec2 at,
                                            float width, float scrolled, HeadOrder& order) {
  std::optional<HeadColumn> come_to;
  const WidgetContext widgets = context.widgets();
  ImFont* font = context.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = head_columns_height(widgets), line = std::round(font->FontSize * 1.15f);
  for (const PlacedHeadColumn& column : columns) {
    const auto index = static_cast<int>(column.id);
    const bool stays = column.id == HeadColumn::head;
    const ImVec2 min{at.x + column.left - (stays ? 0.0f : scrolled), at.y};
    const ImVec2 max{min.x + column.width, at.y + height};
    const float seen_from = stays ? min.x : at.x + columns.front().width;
    ImGui::PushClipRect({seen_from, at.y}, {at.x + width, at.y + height}, true);
    ImGui::SetCursorScreenPos(min);
    ImGui::PushID(index);
    const bool pressed = ImGui::InvisibleButton("column", {column.width, height});
    const bool hovered = ImGui::IsItemHovered();
    const bool focused = focus_stop(context.focus, ImGui::GetID("column"), FocusKeys::press);
    ImGui::PopID();
    if (focused && context.focus->moved) come_to = column.id;
    ui_probe_item("heads/column", index);
    tooltip(widgets, column_tooltip(table, column.id));
    const bool known = table.muting || column.id < HeadColumn::effect;
    if (known && (pressed || (focused && press_key_pressed()))) {
      order = clicked(order, column.id);
    }
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
    const ImU32 ink = im_color(sorts || hovered ? context.palette.text : context.palette.text_dim);
    const float left = min.x + widgets.px(heads_cell_padding),
                room = column.width - widgets.px(heads_cell_padding);
    list->PushClipRect(min, max, true);
    float y = min.y;
    for (const std::string& text : lines) {
      list->AddText(font, font->FontSize, {left, y}, ink, fitted_text(text, font, room).c_str());
      y += line;
    }
    // In a narrow column in fewer words; what does not fit then is in the tooltip.
    for (const auto& [words, fewer] : {std::pair{std::string_view(" = "), " "}, {"based on ", ""}}) {
      if (const std::size_t found = below.find(words);
          found != std::string::npos && width_of(font, below) > room)
        below.replace(found, words.size(), fewer);
    }
    if (fitted_text(below, font, room) == below)
      list->AddText(font, font->FontSize, {left, y}, im_color(context.palette.text_dim), below.c_str());
    if (sorts) {
      const float end = width_of(font, lines[0]);
      draw_sort_mark(widgets, list,
                     {std::min(left + end + widgets.px(8), max.x - widgets.px(5)), min.y + 0.5f * line},
                     order.descending);
    }
    list->PopClipRect();
    ImGui::PopClipRect();
  }
  list->AddLine({at.x, at.y + height - 1}, {at.x + width, at.y + height - 1}, im_color(context.palette.border));
  return come_to;
}

}  // namespace headwise
