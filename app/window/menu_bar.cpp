#include "app/window/menu_bar.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "app/content/cell_terms.h"
#include "app/content/stage_matrix.h"
#include "app/lesson/page_text.h"
#include "app/lesson/playlist_walk.h"
#include "app/panels/named_text.h"
#include "app/session/commands.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/filmstrip.h"
#include "app/window/page_edits.h"
#include "app/window/slides.h"
#include "app/window/window_state.h"
#include "core/attention/score_path.h"
#include "core/export/number_text.h"
#include "core/files/file_paths.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_schema.h"

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

std::string item_name(const CommandEntry& entry, const WindowState& window) {
  const auto with = [&](const std::string& label) {
    return label.empty() ? std::string(entry.name) : fmt::format("{} {}", entry.name, label);
  };
  if (entry.id == CommandId::undo) return with(undo_label(window.document));
  if (entry.id == CommandId::redo) return with(window.document.session.redo_label());
  if (entry.id == CommandId::play) return window.view.steps.playing ? "Pause" : "Play";
  if (entry.id == CommandId::leave_playlist && window.document.walk.from_program) return "Leave lesson";
  return std::string(entry.name);
}

bool is_enabled(const PanelContext& context, CommandId id, const WindowState& window) {
  const PlaylistWalk& walk = window.document.walk;
  switch (id) {
    case CommandId::undo:
      return !undo_label(window.document).empty();
    case CommandId::redo:
      return !window.document.session.redo_label().empty();
    case CommandId::walk_playlist:
    case CommandId::save_playlist:
    case CommandId::start_over:
      return !walk.playlist.pages.empty();
    case CommandId::put_back_page:
      return !walk.retired.empty();
    case CommandId::take_back_answer:
      return walk.page && walk.answered && !walk.shown()->ask.empty();
    case CommandId::leave_playlist:
    case CommandId::filmstrip:
    case CommandId::restore_page:
    case CommandId::duplicate_page:
    case CommandId::update_page:
    case CommandId::remove_page:
    case CommandId::page_earlier:
    case CommandId::page_later:
      return walk.page.has_value();
    case CommandId::go_back:
      return context.trail && !context.trail->empty();
    case CommandId::copy_value:
      return context.selection.pinned.has_value();
    default:
      return true;
  }
}

bool is_checked(const PanelContext& context, CommandId id, const WindowState& window) {
  return (id == CommandId::toggle_causal && context.scenario.mask.is_causal) ||
         (id == CommandId::reduce_motion && context.reduce_motion) ||
         (id == CommandId::all_the_way && context.selection.all_the_way) ||
         (id == CommandId::colors_by_head && context.selection.colors_by_head) ||
         (id == CommandId::full_screen && window.view.full_screen) ||
         (id == CommandId::presenter_notes && window.view.notes) ||
         (id == CommandId::filmstrip && shows_filmstrip(window.view.settings, window.document.walk)) ||
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

void draw_command(const PanelContext& context, const CommandEntry& entry, const WindowState& window,
                  PanelAction& action) {
  // ImGui places the keys close to the longest name.
  const std::string name = item_name(entry, window) + "    ";
  if (ImGui::MenuItem(name.c_str(), first_key_text(entry.id).c_str(), is_checked(context, entry.id, window),
                      is_enabled(context, entry.id, window)))
    action.command = entry.id;
  ui_probe_item(fmt::format("menu/{}", entry.name));
}

// Files that no longer exist stay in the list, marked as such.
void draw_recent_files(const std::vector<std::string>& recent_files, PanelAction& action, bool& on_submenu) {
  if (recent_files.empty()) return;
  const bool open = ImGui::BeginMenu("Open recent");
  on_submenu = on_submenu || ImGui::IsItemFocused();
  ui_probe_item("menu/Open recent");
  if (!open) return;
  for (std::size_t i = 0; i < recent_files.size(); ++i) {
    namespace fs = std::filesystem;
    const fs::path path = recent_files[i];
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
      action.selection = place_of_preset(preset, context.selection);
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

void draw_sizes(const PanelContext& context, WindowView& view) {
  const bool first_steps = view.settings.first_steps;
  const Op op = context.trace.options.op;
  const std::string op_name(choice_name(op));
  const char* const name = op_name.c_str();
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
    draw_first_steps(context, view.first_steps, menus_end + gap, free_end - 3 * gap, origin.y + 0.5f * height);
  else
    draw_suggestion(context, view.suggestion, menus_end + gap, free_end - 3 * gap, origin.y + 0.5f * height);
}

}  // namespace

std::string sizes_text(const Trace& trace) {
  const AttentionOptions& o = trace.options;
  std::string text;
  const auto add = [&text](const char* letter, Index size) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", letter, size);
  };
  const TensorPtr& keys = keys_of_scores(trace.tensors, o);
  if (!trace.tensors.q_heads || !keys) return text;
  const Shape &q = trace.tensors.q_heads->shape(), &k = keys->shape();  // (N,H,L,D), (N,G,P+S′,D)
  const Index own_keys = k.size(2) - o.past_length.value_or(0);
  if (q.size(0) != 1) add("N", q.size(0));
  if (projects(o.op)) add("E", o.embed_dim);
  add("H", q.size(1));
  if (k.size(1) != q.size(1)) add("G", k.size(1));
  add("D", q.size(3));
  if (is_latent(o)) add("C", o.kv_lora_rank.value_or(0));
  add("L", q.size(2));
  if (own_keys != q.size(2)) add("S", own_keys);
  return text;
}

PanelAction draw_menu_bar(const PanelContext& context, WindowState& window) {
  work_probe("menu");
  PanelAction action;
  const WidgetContext widgets = context.widgets();
  if (!ImGui::BeginMenuBar()) return action;
  ImGui::SetCursorPosX(widgets.px(18));
  ImGui::PushFont(context.fonts.bold);
  ImGui::TextUnformatted("headwise");
  ImGui::PopFont();
  ImGui::PushFont(context.fonts.sans);
  const int to_open = std::exchange(window.view.menu_to_open, -1);
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
      draw_command(context, command_entry(CommandId::train), window, action);  // the View menu has it as well
      ImGui::Separator();
      ImGui::TextDisabled("Present");
    }
    for (const CommandEntry& entry : command_entries()) {
      if (entry.menu != menu.menu) continue;
      if (entry.separated && !first) ImGui::Separator();
      first = false;
      draw_command(context, entry, window, action);
      if (entry.id == CommandId::open_scenario)
        draw_recent_files(window.document.recent_files, action, on_submenu);
    }
    if (menu.menu == Menu::file) draw_presets(context, action);
    // ImGui's own keys go up and down, and right into a submenu.
    if (to_open == place) show_reached_item();
    if (innermost && to_open < 0) {
      constexpr int count = static_cast<int>(std::size(menus));
      const int by = key_pressed(Key::right, false) && !on_submenu ? 1
                     : key_pressed(Key::left, false)               ? -1
                                                                   : 0;
      if (by != 0) {
        window.view.menu_to_open = (place + by + count) % count;
        ImGui::CloseCurrentPopup();
        // ImGui would also move on to the next menu, and close what is open there
        ImGui::NavMoveRequestCancel();
      }
    }
    ImGui::PopStyleVar();
    ImGui::EndMenu();
  }
  draw_sizes(context, window.view);
  ImGui::PopFont();
  ImGui::EndMenuBar();
  return action;
}

namespace {

// "scores[0,3,8,1] = 1.234   it → animal": under the mouse, else pinned.
std::string cell_text(const PanelContext& context) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell) return "";
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  const std::string tokens =
      drawable_text(cell_tokens(context.trace, context.inputs.labels, *cell), context.fonts.small);
  return fmt::format("{} = {}{}{}", box_text(context.trace, box_of(*cell)),
                     decimal_text(tensor->at(cell->index)), tokens.empty() ? "" : "   ", tokens);
}

void wake_again(const WidgetContext& widgets, double seconds) {
  if (widgets.wake_after) *widgets.wake_after = std::min(*widgets.wake_after, std::max(seconds, 0.01));
}

// Along the upper edge of the text about it.
void draw_bar(const PanelContext& context, ImVec2 from, float to, float fraction) {
  if (from.x >= to) return;
  const Painter paint = context.painter();
  const float height = std::max(2.0f, std::round(2.0f * context.scale));
  const float reached = from.x + (to - from.x) * std::clamp(fraction, 0.0f, 1.0f);
  paint.fill(from, {to, from.y + height}, paint.palette.border);
  paint.fill(from, {reached, from.y + height}, paint.palette.bar);
  ui_probe("status/progress", from, {reached, from.y + height});
}

}  // namespace

std::string compute_text(const Trace& trace, double seconds) {
  const std::string time = seconds < 0.01 ? fmt::format("{:.1f} ms", 1e3 * seconds)
                           : seconds < 1  ? fmt::format("{:.0f} ms", 1e3 * seconds)
                                          : fmt::format("{:.1f} s", seconds);
  const std::size_t all = (trace.exact ? trace.exact->stages : trace.stages).size();
  return fmt::format("computed {} of {} tensors in {}", trace.computed.size(), all, time);
}

void draw_status_bar(const PanelContext& context, const WindowState& window, double compute_seconds) {
  work_probe("status");
  const PictureRecording* recording = window.view.recording.get();
  const Session& session = window.document.session;
  std::optional<Waiting> waiting;
  if (recording || session.computing()) waiting = recording ? recording->waiting() : session.waiting();
  const std::string what = recording ? recording->doing() : "computing";
  const Painter widgets = context.painter();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  ImFont* font = context.fonts.small;
  const float y = std::round(origin.y + 0.5f * (room.y - font->FontSize));
  const float gap = widgets.px(24);
  float right = origin.x + room.x;
  // From the right: the cell, then the time; the sentence gets the rest. A line too narrow for all of them
  // keeps the sentence.
  const auto put_right = [&](const std::string& text, Rgba8 color, const char* probe) {
    const float width = width_of(font, text);
    if (text.empty() || right - width - gap < origin.x + 0.4f * room.x) return;
    right -= width;
    widgets.text(font, {std::round(right), y}, color, text);
    ui_probe(probe, {right, origin.y}, {right + width, origin.y + room.y});
    right -= gap;
  };
  if (!waiting) put_right(cell_text(context), context.palette.text, "status/cell");
  if (!waiting && context.page_refused) {
    // What was computed is of another page.
  } else if (!waiting) {
    put_right(compute_text(context.trace, compute_seconds), context.palette.text_dim, "status/time");
  } else if (!waiting->is_long()) {
    put_right(what + " …", context.palette.text_dim, "status/time");
    wake_again(widgets, long_wait_seconds - waiting->seconds);
  } else {
    const float end = right;
    put_right(what + waiting->text() + " · Escape cancels", context.palette.text, "status/time");
    draw_bar(context, {right + gap, origin.y}, end, static_cast<float>(waiting->fraction));
    wake_again(widgets, seconds_between_words);
  }
  const std::string sentence = context.last_edit.empty()
                                   ? "Change something: this line shows the effect on the output."
                                   : context.last_edit;
  const std::string shown = fitted_text(sentence, font, std::max(0.0f, right - origin.x));
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({std::max(1.0f, std::min(right - origin.x, width_of(font, shown))), std::max(1.0f, room.y)});
  widgets.text(font, {origin.x, y},
               context.last_edit.empty() ? context.palette.text_dim : context.palette.text, shown);
  ui_probe_item("status/last_edit");
  if (shown != sentence) tooltip(widgets, sentence);
}

namespace {

// Design units
constexpr float clock_width = 176, next_width = 220, column_gap_of_notes = 20, row_gap_of_notes = 4;
constexpr float next_from_width = 700;  // of the strip; a narrower one leaves out what comes next

// "14:05", of the machine's own time.
std::string time_of_day() {
  const time_t now = ::time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}", local.tm_hour, local.tm_min);
}

// Writes a text below the last one, and tells tests where. Returns the y below it.
float write_below(const Type& type, Rgba8 ink, ImVec2 at, float wrap, const std::string& text,
                  const char* name) {
  draw_text_in(ImGui::GetWindowDrawList(), type, at, im_color(ink), wrap, text);
  const float height = size_in(type, wrap, text).y;
  ui_probe(name, at, {at.x + wrap, at.y + height});
  ui_text_probe(text, at);
  return at.y + height;
}

}  // namespace

std::string elapsed_text(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

void draw_presenter_notes(const PanelContext& context, const PlaylistWalk& walk, double seconds) {
  const WidgetContext widgets = context.widgets();
  const Fonts& fonts = context.fonts;
  const Palette& palette = context.palette;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gap = widgets.px(column_gap_of_notes), row = widgets.px(row_gap_of_notes);
  const float clock = widgets.px(clock_width);
  const auto& pages = walk.playlist.pages;

  float y = write_below(own_size(fonts.title), palette.text, origin, clock, time_of_day(), "notes/time");
  y = write_below(own_size(fonts.bold), palette.text, {origin.x, y + row}, clock,
                  elapsed_text(seconds) + " since it began", "notes/elapsed");
  write_below(own_size(fonts.small), palette.text_dim, {origin.x, y + row}, clock,
              fmt::format("page {} of {}", *walk.page + 1, pages.size()), "notes/page");

  const bool shows_next = room.x >= widgets.px(next_from_width);
  const float next = shows_next ? widgets.px(next_width) : 0.0f;
  if (shows_next) {
    const float x = origin.x + room.x - next;
    const std::size_t to = *walk.page + 1;
    const bool asks = walk.asking();
    const std::string words = asks                ? "the answer to this question"
                              : to < pages.size() ? page_name(pages[to], to + 1)
                                                  : "This is the last page.";
    y = write_below(own_size(fonts.small), palette.text_dim, {x, origin.y}, next, "NEXT", "notes/next");
    write_below(own_size(fonts.sans), palette.text, {x, y + row}, next, words, "notes/next_page");
  }

  const float left = origin.x + clock + gap, width = room.x - clock - gap - (next > 0.0f ? next + gap : 0.0f);
  if (width < widgets.px(60)) return;
  ImGui::SetCursorScreenPos({left, origin.y});
  ImGui::BeginChild("notes", {width, room.y});
  const std::string& notes = walk.words.notes;
  const std::string text =
      notes.empty() ? "This page has no notes. “edit” beside its caption has a field for them." : notes;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float wrap = ImGui::GetContentRegionAvail().x - widgets.px(8);
  const Type type = own_size(notes.empty() ? fonts.sans : fonts.caption);
  write_below(type, notes.empty() ? palette.text_dim : palette.text, at, wrap, text, "notes/words");
  ImGui::Dummy({wrap, size_in(type, wrap, text).y});
  ImGui::EndChild();
  // The clock goes on without any event.
  if (context.wake_after)
    *context.wake_after = std::min(*context.wake_after, 1.0 - (seconds - std::floor(seconds)) + 0.01);
}

}  // namespace headwise
