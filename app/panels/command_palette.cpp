#include "app/panels/command_palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "app/panels/panel_frame.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_edit.h"
#include "app/widgets/text_field.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Design units
constexpr float overlay_width = 720.0f;
constexpr float match_height = 28.0f, answer_height = 48.0f;
constexpr int most_rows = 14, most_answer_rows = 8;  // at once; the rest is scrolled to
constexpr float verdict_height = 24.0f;              // the line above the answers
constexpr float outside_list = 190.0f;               // title, field, footer and margins, in a low window
constexpr float name_width = 190.0f;                 // the descriptions are aligned in a column

constexpr std::size_t most_answers = 5;  // below the entries found by name

// The name with the matched letters in bold; returns where it ends.
float draw_name(const WidgetContext& context, ImVec2 at, const std::string& name,
                const std::vector<std::size_t>& places) {
  const Painter paint = context.painter();
  const auto is_matched = [&](std::size_t byte) { return std::ranges::binary_search(places, byte); };
  for (std::size_t begin = 0; begin < name.size();) {
    const bool bold = is_matched(begin);
    std::size_t end = next_character(name, begin);
    while (end < name.size() && is_matched(end) == bold) end = next_character(name, end);
    ImFont* font = bold ? context.fonts.bold : context.fonts.sans;
    const std::string_view run = std::string_view(name).substr(begin, end - begin);
    at.x = paint.text(font, at, context.palette.text, run).max.x;
    begin = end;
  }
  return at.x;
}

// The line of one entry: its name, what it does as far as there is room, its keys on the right.
void draw_entry(const WidgetContext& context, ImVec2 min, ImVec2 max, const PaletteEntry& entry,
                const PaletteMatch& match, bool chosen) {
  const Painter paint = context.painter();
  if (chosen) paint.fill(min, max, context.palette.control, context.px(4));
  const float padding = context.px(10), gap = context.px(14);
  const auto top = [&](ImFont* font) { return std::round(0.5f * (min.y + max.y - font->FontSize)); };
  const float name_end =
      draw_name(context, {min.x + padding, top(context.fonts.sans)}, entry.name, match.places);
  ImFont* small = context.fonts.small;
  float right = max.x - padding;
  const float keys_width = width_of(small, entry.keys);
  if (!entry.keys.empty() && right - keys_width > name_end + gap) {
    paint.text(small, {std::round(right - keys_width), top(small)}, context.palette.text, entry.keys);
    right -= keys_width + gap;
  }
  const float left = std::max(name_end + gap, min.x + padding + context.px(name_width));
  if (right - left < context.px(40)) return;
  paint.text(small, {std::round(left), top(small)}, context.palette.text_dim,
             fitted_text(entry.what, small, right - left));
}

// Two lines: the title and where it is from, and the passage.
void draw_answer(const WidgetContext& context, ImVec2 min, ImVec2 max, const PaletteEntry& entry, bool chosen) {
  const Painter paint = context.painter();
  if (chosen) paint.fill(min, max, context.palette.control, context.px(4));
  ImFont *font = context.fonts.sans, *small = context.fonts.small;
  const float left = std::round(min.x + context.px(10)), right = max.x - context.px(10), gap = context.px(14);
  const float first = std::round(min.y + context.px(5)),
              second = std::round(max.y - context.px(6) - small->FontSize);
  const std::string from = fitted_text(entry.from, small, 0.45f * (right - left));
  const float from_left = std::round(right - width_of(small, from));
  const std::string name = fitted_text(entry.name, font, from_left - gap - left);
  paint.text(font, {left, first}, context.palette.text, name);
  const float baseline = first + std::round(0.5f * (font->FontSize - small->FontSize));
  paint.text(small, {from_left, baseline}, context.palette.text_dim, from);
  paint.text(small, {left, second}, context.palette.text_dim, fitted_text(entry.what, small, right - left));
}

bool is_blank(std::string_view query) {
  return query.find_first_not_of(" \t") == std::string_view::npos;
}

// Behind the entries; their matches are returned.
std::vector<PaletteMatch> add_answers(CommandPaletteState& state, std::vector<PaletteEntry> answers) {
  std::vector<PaletteMatch> matches;
  for (PaletteEntry& answer : answers) {
    matches.push_back({state.entries.size(), {}});
    state.entries.push_back(std::move(answer));
  }
  return matches;
}

void find_answers(CommandPaletteState& state) {
  AskFound found = state.pages->find(state.query);
  state.answered = found.answers;
  state.matches = add_answers(state, std::move(found.pages));
}

// Entries with all words of the query, then the answers if it is a question,
// then entries with some of the words.
void find_by_name(CommandPaletteState& state) {
  state.matches = find_entries(state.entries, state.query);
  AskFound found =
      state.query.find(' ') == std::string::npos ? AskFound{} : state.pages->find(state.query, most_answers);
  state.answered = found.answers;
  if (!found.answers) return;
  const auto is_listed = [&](const PaletteMatch& match, const PaletteEntry& answer) {
    return state.entries[match.entry].target == answer.target;
  };
  const auto behind_whole = std::ranges::find_if(state.matches, &PaletteMatch::partly);
  std::erase_if(found.pages, [&](const PaletteEntry& answer) {
    return std::any_of(state.matches.begin(), behind_whole,
                       [&](const PaletteMatch& match) { return is_listed(match, answer); });
  });
  std::erase_if(state.matches, [&](const PaletteMatch& match) {
    return match.partly && std::ranges::any_of(found.pages, [&](const PaletteEntry& answer) {
             return is_listed(match, answer);
           });
  });
  for (PaletteEntry& answer : found.pages)
    answer.what = answer.what.empty() ? answer.from : fmt::format("{}: {}", answer.from, answer.what);
  const std::vector<PaletteMatch> answers = add_answers(state, std::move(found.pages));
  state.matches.insert(std::ranges::find_if(state.matches, &PaletteMatch::partly), answers.begin(),
                       answers.end());
}

void find_matches(CommandPaletteState& state) {
  state.entries.resize(state.own_entries);
  if (state.questions && !is_blank(state.query))
    find_answers(state);
  else
    find_by_name(state);
  state.chosen = 0;
  state.scroll_to_chosen = true;
}

// What was found, in words; above the answers.
void draw_verdict(const WidgetContext& context, const CommandPaletteState& state) {
  if (is_blank(state.query)) {
    dim_text(context, "Searches lessons, documentation, glossary, commands and settings. For example:");
    ui_probe_item("palette/suggested");
  } else if (state.answered) {
    dim_text(context, "Best first:");
    ui_probe_item("palette/answered");
  } else {
    dim_text(context, state.matches.empty() ? "Nothing here answers that."
                                            : "Nothing answers that directly. Closest matches:");
    ui_probe_item("palette/nearest");
  }
}

// The arrow keys wrap around; a page stops at the ends.
void choose_match_by_keys(CommandPaletteState& state, std::size_t page) {
  if (state.matches.empty()) return;
  const std::size_t count = state.matches.size(), last = count - 1, before = state.chosen;
  if (key_pressed(Key::down)) state.chosen = (state.chosen + 1) % count;
  if (key_pressed(Key::up)) state.chosen = (state.chosen + last) % count;
  if (key_pressed(Key::page_down)) state.chosen = std::min(last, state.chosen + page);
  if (key_pressed(Key::page_up)) state.chosen -= std::min(state.chosen, page);
  if (state.chosen != before) state.scroll_to_chosen = true;
}

// True if an entry was clicked: it is then the chosen one.
bool draw_list(const WidgetContext& context, CommandPaletteState& state, float row, float height, bool answers) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::BeginChild("entries", {0, height}, false, ImGuiWindowFlags_NoNav);
  ui_probe("palette/list", ImGui::GetWindowPos(),
           {ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), ImGui::GetWindowPos().y + height});
  bool clicked = false;
  if (state.matches.empty()) {
    ImGui::Dummy({1, context.px(8)});
    dim_text(context, answers ? "Try other words, or fewer."
                              : "no match: try other letters, or ask a question in your own words");
    ui_probe_item("palette/nothing");
  }
  if (std::exchange(state.scroll_to_chosen, false)) {
    const float top = float(state.chosen) * row;
    ImGui::SetScrollY(std::clamp(ImGui::GetScrollY(), std::max(0.0f, top + row - height), top));
  }
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  for (std::size_t i = 0; i < state.matches.size(); ++i) {
    const PaletteMatch& match = state.matches[i];
    const ImVec2 min = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(i));
    const bool pressed = ImGui::InvisibleButton("entry", {width, row});
    ImGui::PopID();
    ui_probe_item("palette/entry", static_cast<int>(i));
    // A mouse at rest does not override the arrow keys.
    if (pressed || (ImGui::IsItemHovered() && (moved.x != 0.0f || moved.y != 0.0f))) state.chosen = i;
    clicked |= pressed;
    if (!ImGui::IsItemVisible()) continue;
    const ImVec2 max(min.x + width, min.y + row);
    if (answers)
      draw_answer(context, min, max, state.entries[match.entry], i == state.chosen);
    else
      draw_entry(context, min, max, state.entries[match.entry], match, i == state.chosen);
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  return clicked;
}

}  // namespace

void open_command_palette(CommandPaletteState& state, std::vector<PaletteEntry> entries,
                          std::shared_ptr<const AskPages> pages, bool questions) {
  state = {};
  state.open = true;
  state.questions = questions;
  state.entries = std::move(entries);
  state.own_entries = state.entries.size();
  state.pages = std::move(pages);
  state.matches = find_entries(state.entries, "");
}

std::optional<PaletteEntry> draw_command_palette(const WidgetContext& context, CommandPaletteState& state) {
  if (!begin_overlay(context, "overlay/palette", state.questions ? "Ask a question" : "Commands", state.open,
                     {.width = overlay_width}))
    return {};
  // A click on an entry, or next to the field, leaves the keyboard focus where it is.
  const ImGuiID field_id = ImGui::GetID("query");
  if (context.focus && context.focus->focused != field_id)
    take_focus(*context.focus, field_id, state.query.size());
  const bool answers = state.questions && !is_blank(state.query);
  const float row = std::round(context.px(answers ? answer_height : match_height));
  const float outside = outside_list + (state.questions ? verdict_height : 0.0f);
  const float room = ImGui::GetIO().DisplaySize.y - context.px(outside);
  const int rows = std::clamp(static_cast<int>(room / row), 1, answers ? most_answer_rows : most_rows);
  choose_match_by_keys(state, static_cast<std::size_t>(rows));

  const char* hint = state.questions ? "in your own words: why divide by sqrt, kv cache, what does CLS mean …"
                                     : "a few letters, or a question: undo, softmax, why divide by sqrt …";
  const TextFieldResult field = text_field(context, "query", state.query, {.placeholder = hint});
  ui_probe_item("palette/query");
  if (field.changed) find_matches(state);
  ImGui::Dummy({1, context.px(2)});
  if (state.questions) draw_verdict(context, state);
  const bool clicked = draw_list(context, state, row, row * float(rows), answers);
  ImGui::Dummy({1, context.px(2)});
  dim_text(context, answers ? "↑ ↓ choose  ·  Enter goes there  ·  Esc closes"
                            : "↑ ↓ choose  ·  Enter runs  ·  Esc closes");
  const bool accepted = state.open && (clicked || field.entered) && state.chosen < state.matches.size();
  std::optional<PaletteEntry> entry;
  if (accepted) {
    entry = state.entries[state.matches[state.chosen].entry];
    state.open = false;
  }
  end_overlay();
  return entry;
}

}  // namespace headwise
