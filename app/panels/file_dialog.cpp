#include "app/panels/file_dialog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

#include "app/panels/panel_frame.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_field.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

struct Words {
  const char* title;
  const char* accept;
  const char* placeholder;
  std::span<const std::string_view> extensions;  // of the files listed; the first is the usual one
};

constexpr std::string_view json_files[] = {".json"}, opened_files[] = {".json", ".png"},
                           python_files[] = {".py"}, slide_files[] = {".png", ".pdf"},
                           picture_files[] = {".png", ".svg", ".pdf"}, animated_files[] = {".png", ".apng"},
                           any_files[] = {""};
// In the order of FileDialogPurpose.
constexpr Words all_words[] = {
    {"Open a scenario, a playlist or a model's picture", "Open", "a file name, .json or .png", opened_files},
    {"Save scenario", "Save", "a file name, .json", json_files},
    {"Save program", "Save", "a file name, .py", python_files},
    {"Save playlist", "Save", "a file name, .json", json_files},
    {"Save the stage as picture", "Save", "a file name, .png, .svg or .pdf", picture_files},
    {"Save this step's animation", "Save", "a file name, .png", animated_files},
    {"Save the slides", "Save", "a file name: .png (a file for each page) or .pdf (one file)", slide_files},
    {"Train on a text, or on examples (.json)", "Train", "a text file, or .json", any_files},
    {"Save the training as a folder of checkpoints", "Save", "the name of a new folder", any_files},
    {"Save the training as an animated picture", "Save", "a file name, .png", animated_files},
    {"Save a PyTorch program that does the same training", "Save", "a file name, .py", python_files},
    {"Save the training as pages of a lesson", "Save", "a file name, .json", json_files},
};
static_assert(std::size(all_words) == static_cast<std::size_t>(FileDialogPurpose::save_training_pages) + 1);

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool has_extension(const Words& words, const std::string& path) {
  return std::ranges::any_of(words.extensions, [&](std::string_view end) { return path.ends_with(end); });
}

// Whether a file of this kind will be found again by this name; if not, the error says so.
bool check_name(FileDialogState& state, const Words& words, const std::string& target) {
  if (has_extension(words, target)) return true;
  std::string expected(words.extensions.front());
  for (std::size_t i = 1; i < words.extensions.size(); ++i)
    expected += fmt::format("{}{}", i + 1 < words.extensions.size() ? ", " : " or ", words.extensions[i]);
  state.error = fmt::format("The name must end in {}.", expected);
  return false;
}

// What will be written, or already exists.
void draw_consequences(const WidgetContext& context, const FileDialogState& state, const std::string& target) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (exists(target)) {
    dim_text(context, state.replaces == target
                          ? "This file exists. “Replace” overwrites it; or choose another name."
                      : state.own == target ? "This is the open file; it will be replaced."
                                            : "This file exists.");
  }
  if (!state.arrays_beside) return;
  const fs::path arrays = fs::path(target).replace_extension(".npz");
  dim_text(context, fmt::format("Its arrays are saved next to it in {}{}.", arrays.filename().string(),
                                fs::exists(arrays, ignored) ? ", replacing the existing file" : ""));
}

std::string parent_of(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  const fs::path here = absolute.has_filename() ? absolute : absolute.parent_path();
  const std::string parent = here.parent_path().string();
  return parent.ends_with('/') ? parent : parent + "/";
}

// One line of the listing; true if it was pressed.
bool entry_line(const WidgetContext& context, const std::string& text, int number, bool is_folder,
                bool reached) {
  ImGui::PushID(number);
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(1.0f, ImGui::GetContentRegionAvail().x), std::round(context.px(22))};
  const bool pressed = ImGui::InvisibleButton("entry", size);
  const Painter paint = context.painter();
  if (ImGui::IsItemHovered() || reached)
    paint.fill(min, {min.x + size.x, min.y + size.y}, context.palette.control_hover, context.px(4));
  ImFont* font = context.fonts.small;
  need_characters(text, *font);
  paint.text(font, {min.x + context.px(8), std::round(min.y + 0.5f * (size.y - font->FontSize))},
             is_folder ? context.palette.text_dim : context.palette.text, text);
  ui_probe_item("file_dialog/entry", number);
  ImGui::PopID();
  return pressed;
}

// The arrow keys go through the lines, Enter or Space presses one: true.
bool reach_entry_by_keys(FileDialogState& state) {
  const int last = static_cast<int>(state.listing.entries.size()) - 1, before = state.reached;
  constexpr int page = 8;
  if (key_pressed(Key::down)) ++state.reached;
  if (key_pressed(Key::up)) --state.reached;
  if (key_pressed(Key::page_down)) state.reached += page;
  if (key_pressed(Key::page_up)) state.reached -= page;
  if (key_pressed(Key::home)) state.reached = -1;
  if (key_pressed(Key::end)) state.reached = last;
  state.reached = std::clamp(state.reached, -1, last);
  state.scroll_to_reached = state.reached != before;
  return press_key_pressed();
}

// Where a press on the listing leads; the unchanged path if nothing was pressed.
std::string draw_listing(const WidgetContext& context, FileDialogState& state) {
  std::string path = state.path;
  const ImGuiID id = ImGui::GetID("lines");
  const bool focused = context.focus && context.focus->focused == id;
  const bool entered = focused && reach_entry_by_keys(state);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, im_color(context.palette.field));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {context.px(4), context.px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::BeginChild("listing", {0, std::round(context.px(220))}, true);
  const std::string folder = state.listing.folder == "." ? "" : state.listing.folder;
  const auto line = [&](const std::string& text, int number, bool is_folder) {
    const bool reached = focused && state.reached == number;
    const bool pressed = entry_line(context, text, number, is_folder, reached);
    if (reached && std::exchange(state.scroll_to_reached, false)) ImGui::SetScrollHereY(0.5f);
    return pressed || (reached && entered);
  };
  if (line("..", -1, true)) path = parent_of(state.listing.folder);
  for (std::size_t i = 0; i < state.listing.entries.size(); ++i) {
    const FolderEntry& entry = state.listing.entries[i];
    const std::string text = entry.is_folder ? entry.name + "/" : entry.name;
    if (line(text, static_cast<int>(i), entry.is_folder)) path = folder + text;
  }
  if (!state.listing.note.empty()) dim_text(context, state.listing.note);
  ImGui::EndChild();
  focus_stop(context.focus, id, FocusKeys::slide);
  ui_probe_item("file_dialog/listing");
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  return path;
}

}  // namespace

void open_file_dialog(FileDialogState& state, FileDialogPurpose purpose, const std::string& path) {
  state = {};
  state.open = true;
  state.appearing = true;
  state.purpose = purpose;
  state.path = path;
}

std::optional<std::string> draw_file_dialog(const WidgetContext& context, FileDialogState& state) {
  const bool saves = state.purpose != FileDialogPurpose::open_scenario &&
                     state.purpose != FileDialogPurpose::open_training_task;
  const Words& words = all_words[static_cast<std::size_t>(state.purpose)];
  if (!begin_overlay(context, "overlay/file", words.title, state.open, {.width = 560, .closes_outside = false}))
    return {};
  const std::string folder = folder_of(expanded_path(state.path));
  if (state.listing.folder != folder) {
    state.listing = list_folder(folder, words.extensions);
    state.reached = -1;
  }

  // The Enter that opened the dialog is not one that accepts what it suggests.
  const bool appears = std::exchange(state.appearing, false);
  if (appears && context.focus) take_focus(*context.focus, ImGui::GetID("path"), state.path.size());
  const TextFieldResult field = text_field(context, "path", state.path,
                                           {.wrong = !state.error.empty(), .placeholder = words.placeholder});
  ui_probe_item("file_dialog/path");
  if (field.changed) state.error.clear();
  ImGui::Dummy({1, context.px(2)});
  const std::string chosen = draw_listing(context, state);
  if (chosen != state.path) {
    state.path = chosen;
    state.error.clear();
    // The arrow keys stay in the list while they go through folders.
    const bool by_keys =
        context.focus && context.focus->focused == ImGui::GetID("lines") && state.path.ends_with('/');
    if (context.focus && !by_keys) take_focus(*context.focus, ImGui::GetID("path"), state.path.size());
  }
  if (!state.error.empty()) error_line(context, state.error);
  const std::string target = saves && !has_extension(words, state.path)
                                 ? with_extension(expanded_path(state.path), words.extensions.front())
                                 : expanded_path(state.path);
  if (saves) draw_consequences(context, state, target);

  ImGui::Dummy({1, context.px(4)});
  const bool names_a_file = !state.path.empty() && !state.path.ends_with('/');
  bool accepted = field.entered && names_a_file && !appears;
  const bool asked = saves && state.replaces == target;
  accepted |=
      text_button(context, "accept", asked ? "Replace" : words.accept, ButtonLook::filled, names_a_file);
  ui_probe_item("file_dialog/accept");
  ImGui::SameLine();
  if (text_button(context, "cancel", "Cancel", ButtonLook::plain)) state.open = false;
  ui_probe_item("file_dialog/cancel");
  end_overlay();
  if (!accepted || (saves && !check_name(state, words, target))) return std::nullopt;
  if (saves && exists(target) && target != state.own && std::exchange(state.replaces, target) != target)
    return std::nullopt;
  return target;
}

}  // namespace headwise
