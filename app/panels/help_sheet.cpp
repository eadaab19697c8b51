#include "app/panels/help_sheet.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/overlay.h"
#include "app/session/commands.h"
#include "app/widgets/focus_order.h"

namespace headwise {
namespace {

constexpr struct {
  const char* letter;
  const char* what;
} letters[] = {
    {"N", "batch: sequences computed at once"},
    {"L", "query length"},
    {"S", "key length; S′ with appended columns"},
    {"E", "embed_dim, the model's width (d_model)"},
    {"H", "heads"},
    {"G", "key/value heads (num_kv_heads)"},
    {"D", "head_dim, the width of one head's q and k (d_k)"},
    {"Dv", "the width of one head's v"},
};

// What the table does not hold, because it belongs to the control that has the focus.
constexpr struct {
  const char* keys;
  const char* what;
} of_controls[] = {
    {"Tab or Shift+Tab", "to the next or previous control; past the last one back to the stage"},
    {"Enter or Space", "press the control that has the focus; ← → choose in a row of choices"},
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

}  // namespace

void draw_help_sheet(const WidgetContext& context, HelpSheetState& state) {
  if (begin_overlay(context, "overlay/keys", "Keys", state.keys, {.width = 640})) {
    ImGui::PushFont(context.fonts.small);
    constexpr struct {
      Menu menu;
      const char* name;
    } groups[] = {{Menu::view, "LOOK"}, {Menu::edit, "EDIT"}, {Menu::file, "FILES"}, {Menu::help, "HELP"}};
    for (const auto& group : groups) {
      caption(context, group.name);
      for (const CommandEntry& entry : command_entries()) {
        const bool here = entry.menu == group.menu || (entry.menu == Menu::none && group.menu == Menu::view);
        if (here && entry.keys.front().key != Key::none) {
          row(context, all_keys_text(entry.id), entry.what, context.px(230));
        }
      }
    }
    caption(context, "CONTROLS");
    for (const auto& control : of_controls) row(context, control.keys, control.what, context.px(230));
    ImGui::PopFont();
    end_overlay();
  }
  if (begin_overlay(context, "overlay/about", "Headwise " HEADWISE_VERSION, state.about, {.width = 440})) {
    ImGui::PushFont(context.fonts.small);
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted("See multi-head attention happen, number by number. Every number in this window is computed from the "
                           "scenario at the left; every cell can say where it came from.");
    ImGui::PopTextWrapPos();
    draw_letters(context);
    ImGui::PopFont();
    end_overlay();
  }
}

}  // namespace headwise
