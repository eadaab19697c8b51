#include "app/window/menu_bar.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "app/panels/named_text.h"
#include "app/session/commands.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/ui_probe.h"
#include "app/window/first_steps.h"
#include "core/files/file_paths.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

constexpr struct {
  Menu menu;
  const char* name;
} menus[] = {{Menu::file, "File"},
             {Menu::edit, "Edit"},
             {Menu::view, "View"},
             {Menu::teach, "Teach"},
             {Menu::help, "Help"}};

std::string item_name(const CommandEntry& entry, const MenuBarInfo& info) {
  switch (entry.id) {
    case CommandId::undo:
      return info.undo_label.empty() ? "Undo" : "Undo " + info.undo_label;
    case CommandId::redo:
      return info.redo_label.empty() ? "Redo" : "Redo " + info.redo_label;
    case CommandId::play:
      return info.playing ? "Pause" : "Play";
    case CommandId::leave_playlist:
      return info.in_lesson ? "Leave lesson" : std::string(entry.name);
    default:
      return std::string(entry.name);
  }
}

bool is_enabled(const PanelContext& context, CommandId id, const MenuBarInfo& info) {
  switch (id) {
    case CommandId::undo:
      return !info.undo_label.empty();
    case CommandId::redo:
      return !info.redo_label.empty();
    case CommandId::walk_playlist:
    case CommandId::save_playlist:
    case CommandId::start_over:
      return info.has_playlist;
    case CommandId::put_back_page:
      return info.has_retired_page;
    case CommandId::take_back_answer:
      return info.has_answer;
    case CommandId::leave_playlist:
    case CommandId::filmstrip:
    case CommandId::restore_page:
    case CommandId::duplicate_page:
    case CommandId::update_page:
    case CommandId::remove_page:
    case CommandId::page_earlier:
    case CommandId::page_later:
      return info.walking;
    case CommandId::go_back:
      return context.trail && !context.trail->empty();
    case CommandId::copy_value:
      return context.selection.pinned.has_value();
    default:
      return true;
  }
}

bool is_checked(const PanelContext& context, CommandId id, const MenuBarInfo& info) {
  return (id == CommandId::toggle_causal && context.scenario.mask.is_causal) ||
         (id == CommandId::reduce_motion && context.reduce_motion) ||
         (id == CommandId::all_the_way && context.selection.all_the_way) ||
         (id == CommandId::colors_by_head && context.selection.colors_by_head) ||
         (id == CommandId::full_screen && info.full_screen) ||
         (id == CommandId::presenter_notes && info.notes) || (id == CommandId::filmstrip && info.filmstrip) ||
         (id == CommandId::spotlight && context.selection.spotlight);
}

// Whether the menu being filled has no open submenu.
bool is_innermost_menu() {
  return GImGui->OpenPopupStack.Size == GImGui->BeginPopupStack.Size;
}

// For a menu opened by keyboard: where the arrow keys start.
void show_reached_item() {
  GImGui->NavDisableHighlight = false;
  GImGui->NavDisableMouseHover = true;
}

void draw_command(const PanelContext& context, const CommandEntry& entry, const MenuBarInfo& info,
                  PanelAction& action) {
  // ImGui places the keys close to the longest name.
  const std::string name = item_name(entry, info) + "    ";
  if (ImGui::MenuItem(name.c_str(), first_key_text(entry.id).c_str(), is_checked(context, entry.id, info),
                      is_enabled(context, entry.id, info)))
    action.command = entry.id;
  ui_probe_item(fmt::format("menu/{}", entry.name));
}

// Files that no longer exist stay in the list, marked as such.
void draw_recent_files(const MenuBarInfo& info, PanelAction& action, bool& on_submenu) {
  if (info.recent_files.empty()) return;
  const bool open = ImGui::BeginMenu("Open recent");
  on_submenu = on_submenu || ImGui::IsItemFocused();
  ui_probe_item("menu/Open recent");
  if (!open) return;
  for (std::size_t i = 0; i < info.recent_files.size(); ++i) {
    namespace fs = std::filesystem;
    const fs::path path = info.recent_files[i];
    const bool there = is_there(path);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::MenuItem(path.filename().c_str(), there ? path.parent_path().c_str() : "is no longer there",
                        false, there))
      action.file = path.string();
    ui_probe_item("menu/recent", static_cast<int>(i));
    ImGui::PopID();
  }
  ImGui::EndMenu();
}

// The built-in scenarios.
void draw_presets(const PanelContext& context, PanelAction& action) {
  ImGui::Separator();
  ImGui::TextDisabled("Presets");
  for (const Preset& preset : presets()) {
    if (ImGui::MenuItem(std::string(preset.title).c_str())) {
      action.scenario = preset_scenario(preset.name);
      action.edit_label = "open " + std::string(preset.name);
      action.opens = true;
      action.selection = look_at(preset, context.selection);
    }
    ui_probe_item(fmt::format("menu/preset/{}", preset.name));
  }
}

// The built-in lessons; one of questions is a submenu of them.
void draw_lessons(PanelAction& action, bool& on_submenu) {
  ImGui::TextDisabled("Lessons");
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    const std::string name(lesson.name);
    if (!lesson.by_page) {
      if (ImGui::MenuItem(playlist.title.c_str())) action.lesson = LessonPage{name, 0};
      ui_probe_item(fmt::format("menu/lesson/{}", name));
      continue;
    }
    const bool open = ImGui::BeginMenu(playlist.title.c_str());
    on_submenu = on_submenu || ImGui::IsItemFocused();
    ui_probe_item(fmt::format("menu/lesson/{}", name));
    if (!open) continue;
    for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
      if (ImGui::MenuItem(playlist.pages[page].title.c_str())) action.lesson = LessonPage{name, page};
      ui_probe_item(fmt::format("menu/lesson/{}/{}", name, page));
    }
    ImGui::EndMenu();
  }
}

void draw_sizes(const PanelContext& context, const MenuBarInfo& info) {
  const FirstSteps* first_steps = info.first_steps;
  const Op op = context.trace.options.op;
  const char* name = op == Op::multi_head_attention ? "multi_head_attention" : "scaled_dot_product_attention";
  const std::string sizes = sizes_text(context.trace);
  ImFont* sans = context.fonts.sans;
  ImFont* mono = context.fonts.mono;
  const float name_width = sans->CalcTextSizeA(sans->FontSize, FLT_MAX, 0.0f, name).x;
  const float sizes_width = mono->CalcTextSizeA(mono->FontSize, FLT_MAX, 0.0f, sizes.c_str()).x;
  const float gap = context.widgets().px(8), margin = context.widgets().px(28);
  const ImVec2 origin = ImGui::GetWindowPos();
  const float height = ImGui::GetFrameHeight();
  const float right = origin.x + ImGui::GetWindowWidth() - margin;
  const float menus_end = ImGui::GetCursorScreenPos().x + gap;
  // A narrow window keeps the sizes and drops the name, then both.
  if (right - sizes_width < menus_end) return;
  draw_shape_text(context, mono,
                  {std::round(right - sizes_width), std::round(origin.y + 0.5f * (height - mono->FontSize))},
                  context.palette.text, sizes, true);
  float free_end = right - sizes_width - gap;
  // The first steps are worth more than the name.
  const float wanted = first_steps ? first_steps_width(context) + 4 * gap : 0.0f;
  if (free_end - name_width - wanted >= menus_end ||
      (free_end - wanted < menus_end && free_end - name_width >= menus_end)) {
    free_end -= name_width;
    context.painter().text(sans,
                           {std::round(free_end), std::round(origin.y + 0.5f * (height - sans->FontSize))},
                           context.palette.text_dim, name);
  }
  if (first_steps)
    draw_first_steps(context, *first_steps, menus_end + gap, free_end - 3 * gap, origin.y + 0.5f * height);
  else if (info.suggestion)
    draw_suggestion(context, *info.suggestion, menus_end + gap, free_end - 3 * gap, origin.y + 0.5f * height);
}

}  // namespace

std::string sizes_text(const Trace& trace) {
  const AttentionOptions& o = trace.options;
  std::string text;
  const auto add = [&text](const char* letter, Index size) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", letter, size);
  };
  if (!trace.tensors.q_heads || !trace.tensors.k_heads) return text;
  const Shape& q = trace.tensors.q_heads->shape();  // (N,H,L,D)
  const Shape& k = trace.tensors.k_heads->shape();  // (N,G,S′,D)
  if (q.size(0) != 1) add("N", q.size(0));
  if (o.op == Op::multi_head_attention) add("E", o.embed_dim);
  add("H", q.size(1));
  if (k.size(1) != q.size(1)) add("G", k.size(1));
  add("D", q.size(3));
  add("L", q.size(2));
  if (k.size(2) != q.size(2)) add("S", k.size(2));
  return text;
}

PanelAction draw_menu_bar(const PanelContext& context, const MenuBarInfo& info) {
  work_probe("menu");
  PanelAction action;
  const WidgetContext widgets = context.widgets();
  if (!ImGui::BeginMenuBar()) return action;
  ImGui::SetCursorPosX(widgets.px(18));
  ImGui::PushFont(context.fonts.bold);
  ImGui::TextUnformatted("headwise");
  ImGui::PopFont();
  ImGui::PushFont(context.fonts.sans);
  const int to_open = info.to_open ? std::exchange(*info.to_open, -1) : -1;
  for (const auto& menu : menus) {
    const int place = static_cast<int>(&menu - menus);
    if (to_open == place) ImGui::OpenPopup(menu.name);
    ImGui::PushStyleColor(ImGuiCol_Text, im_color(context.palette.text_dim));
    const bool open = ImGui::BeginMenu(menu.name);
    ImGui::PopStyleColor();
    ui_probe_item(fmt::format("menu/{}", menu.name));
    if (!open) continue;
    const bool innermost = is_innermost_menu();
    bool on_submenu = false;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {widgets.px(10), widgets.px(7)});
    bool first = true;
    if (menu.menu == Menu::teach) {  // what most people open it for comes first
      draw_lessons(action, on_submenu);
      ImGui::Separator();
      draw_command(context, command_entry(CommandId::train), info, action);  // the View menu has it as well
      ImGui::Separator();
      ImGui::TextDisabled("Present");
    }
    for (const CommandEntry& entry : command_entries()) {
      if (entry.menu != menu.menu) continue;
      if (entry.separated && !first) ImGui::Separator();
      first = false;
      draw_command(context, entry, info, action);
      if (entry.id == CommandId::open_scenario) draw_recent_files(info, action, on_submenu);
    }
    if (menu.menu == Menu::file) draw_presets(context, action);
    // ImGui's own keys go up and down, and right into a submenu.
    if (to_open == place) show_reached_item();
    if (info.to_open && innermost && to_open < 0) {
      constexpr int count = static_cast<int>(std::size(menus));
      const int by = key_pressed(Key::right, false) && !on_submenu ? 1
                     : key_pressed(Key::left, false)               ? -1
                                                                   : 0;
      if (by != 0) {
        *info.to_open = (place + by + count) % count;
        ImGui::CloseCurrentPopup();
        // ImGui would also move on to the next menu, and close what is open there
        ImGui::NavMoveRequestCancel();
      }
    }
    ImGui::PopStyleVar();
    ImGui::EndMenu();
  }
  draw_sizes(context, info);
  ImGui::PopFont();
  ImGui::EndMenuBar();
  return action;
}

}  // namespace headwise
