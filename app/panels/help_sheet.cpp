#include "app/panels/help_sheet.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <initializer_list>

#include "app/panels/panel_frame.h"
#include "app/session/commands.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/version.h"

namespace headwise {
namespace {

constexpr struct {
  const char* letter;
  const char* what;
} letters[] = {
    {"N", "batch: sequences computed at once"},
    {"L", "query length"},
    {"P", "past length, keys of a cache"},
    {"S", "key length; S′ counts appended columns, too"},
    {"E", "embed_dim, the model's width (d_model)"},
    {"H", "heads"},
    {"G", "key/value heads (num_kv_heads)"},
    {"D", "head_dim, the width of one head's q and k (d_k)"},
    {"Dv", "the width of one head's v"},
};

constexpr float key_column = 190.0f;  // design units, the width of the keys' names

// Keys not in the table, because they belong to what is under the mouse or to the focused control.
struct KeyLine {
  const char* keys;
  const char* what;
};
constexpr KeyLine of_the_mouse[] = {
    {"click a number", "pin it: see where it came from and what it feeds"},
    {"click a head, its dot", "show it, mute it"},
    {"double-click a head", "mute all others, or unmute them"},
    {"click a tensor in the graph", "show that tensor"},
};
constexpr KeyLine of_presented_pages[] = {
    {"→ or Space", "next page, as Page Down; a page that asks first shows its answer"},
    {"←", "previous page, as Page Up"},
    {"Home or End", "first or last page"},
};

constexpr KeyLine of_controls[] = {
    {"Tab or Shift+Tab", "next or previous control; after the last one, back to the steps"},
    {"Enter in a field", "confirm; in a sentence, Shift+Enter starts a new line"},
    {"Enter or Space", "press the control; ← → choose within a row of choices"},
    {"arrows on a map", "move between numbers, with Ctrl to the edge; Enter pins, or Space paints"},
    {"arrows on the heads", "show a head; Space mutes it"},
    {"Ctrl+↑ ↓", "scroll the control's panel"},
};

void row(const WidgetContext& context, const std::string& keys, std::string_view what, float key_width) {
  const float left = ImGui::GetCursorPosX();
  ImGui::PushStyleColor(ImGuiCol_Text, im_color(context.palette.text));
  ImGui::TextUnformatted(keys.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine();
  ImGui::SetCursorPosX(left + key_width);
  ImGui::PushTextWrapPos(0.0f);
  ImGui::PushStyleColor(ImGuiCol_Text, im_color(context.palette.text_dim));
  ImGui::TextUnformatted(what.data(), what.data() + what.size());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
}

void caption(const WidgetContext& context, const char* text) {
  ImGui::Dummy({1, context.px(4)});
  ImGui::PushStyleColor(ImGuiCol_Text, im_color(context.palette.text_dim));
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

void draw_letters(const WidgetContext& context) {
  caption(context, "LETTERS");
  for (const auto& letter : letters) row(context, letter.letter, letter.what, context.px(36));
}

struct Group {
  const char* name;
  std::initializer_list<Menu> menus;
};

void draw_key_groups(const WidgetContext& context, std::initializer_list<Group> groups) {
  for (const Group& group : groups) {
    caption(context, group.name);
    for (const Menu menu : group.menus) {
      for (const CommandEntry& entry : command_entries()) {
        if (entry.menu != menu || entry.keys.front().key == Key::none) continue;
        row(context, all_keys_text(entry.id), entry.what, context.px(key_column));
      }
    }
  }
}

template <std::size_t n>
void draw_lines(const WidgetContext& context, const KeyLine (&lines)[n]) {
  for (const KeyLine& line : lines) row(context, line.keys, line.what, context.px(key_column));
}

template <std::size_t n>
void draw_others(const WidgetContext& context, const char* name, const KeyLine (&lines)[n]) {
  caption(context, name);
  draw_lines(context, lines);
}

void draw_keys(const WidgetContext& context) {
  // Side by side if there is room, so that all of it is visible at once.
  const float width = ImGui::GetContentRegionAvail().x;
  const bool side_by_side = width > context.px(780);
  if (side_by_side) ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingStretchSame);
  if (side_by_side) ImGui::TableNextColumn();
  draw_key_groups(context,
                  {{"VIEW", {Menu::view, Menu::none}}, {"TEACH", {Menu::teach}}, {"HELP", {Menu::help}}});
  if (side_by_side) ImGui::TableNextColumn();
  draw_key_groups(context, {{"EDIT", {Menu::edit}}, {"FILES", {Menu::file}}});
  draw_others(context, "MOUSE", of_the_mouse);
  draw_key_groups(context, {{"CONTROLS", {Menu::keyboard}}});
  draw_lines(context, of_controls);
  if (side_by_side) ImGui::EndTable();
}

}  // namespace

void draw_help_sheet(const WidgetContext& context, HelpSheetState& state, bool presents) {
  if (begin_overlay(context, "overlay/keys", "Keys", state.keys, {.width = 960})) {
    ImGui::PushFont(context.fonts.small);
    if (presents) {
      caption(context, "PAGES IN FULL SCREEN");
      draw_lines(context, of_presented_pages);
    }
    draw_keys(context);
    ImGui::PopFont();
    end_overlay();
  }
  const std::string title = fmt::format("Headwise {}", version());
  if (begin_overlay(context, "overlay/about", title.c_str(), state.about, {.width = 440})) {
    ImGui::PushFont(context.fonts.small);
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(
        "See multi-head attention happen, number by number. Every number in this window is computed from the "
        "scenario at the left; every cell can show where it came from.");
    ImGui::PopTextWrapPos();
    draw_letters(context);
    ImGui::PopFont();
    end_overlay();
  }
}

bool draw_log_sheet(const WidgetContext& context, LogSheetState& state) {
  if (!begin_overlay(context, "overlay/log", "Error log", state.open, {.width = 760})) return false;
  ImGui::PushFont(context.fonts.small);
  ImGui::PushStyleColor(ImGuiCol_Text, im_vec4(context.palette.text_dim));
  ImGui::TextUnformatted(state.path.c_str());
  ImGui::PopStyleColor();
  ImGui::Dummy({1, context.px(6)});
  const float most = 0.6f * ImGui::GetIO().DisplaySize.y;
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float wanted = line * float(std::max<std::size_t>(state.lines.size(), 1)) * 2.0f;
  ImGui::BeginChild("log", {0, std::min(wanted, most)});
  scroll_by_keys(context);
  ImGui::PushTextWrapPos(0.0f);
  if (state.lines.empty()) ImGui::TextUnformatted("No errors have been logged.");
  for (const std::string& each : state.lines) ImGui::TextUnformatted(each.c_str());
  ImGui::PopTextWrapPos();
  if (ImGui::IsWindowAppearing()) ImGui::SetScrollHereY(1.0f);
  ui_probe(
      "log/lines", ImGui::GetWindowPos(),
      {ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), ImGui::GetWindowPos().y + ImGui::GetWindowHeight()});
  ImGui::EndChild();
  ImGui::PopFont();
  ImGui::Dummy({1, context.px(6)});
  const bool copy = text_button(context, "log/copy", "Copy the path");
  ui_probe_item("log/copy");
  end_overlay();
  return copy;
}

}  // namespace headwise
