#include "app/sheets/export_dialog.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "app/panels/overlay.h"
#include "app/session/folder_listing.h"
#include "app/widgets/button.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_field.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> ranges{"own", "shared"};
constexpr std::array<std::string_view, 2> heads{"this one", "all"};
constexpr std::array<std::string_view, 2> subjects{"the stage", "this map"};

bool ends_as_numbers(const std::string& path) {
  std::string lower = path;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower.ends_with(".csv") || lower.ends_with(".npy");
}

void draw_options(const WidgetContext& context, ExportDialogState& state) {
  TensorExport& what = state.what;
  int theme = static_cast<int>(what.theme);
  const auto choose_theme = [&] {
    if (choice_row(context,
                   {"export/theme", "background", "",
                    "Light suits paper and slides; the window's theme is not changed."},
                   theme_names, theme)) {
      what.theme = static_cast<Theme>(theme);
    }
  };
  if (state.has_map && !ends_as_numbers(state.path)) {
    int subject = state.stage ? 0 : 1;
    if (choice_row(context,
                   {"export/subject", "picture of", "",
                    "The stage: what you see, with its labels, at slide size. This map: the map of one "
                    "tensor alone, cell by cell."},
                   subjects, subject)) {
      state.stage = subject == 0;
    }
  }
  if (exports_stage(state)) return choose_theme();
  if (state.has_heads) {
    int all = what.head ? 0 : 1;
    if (choice_row(context,
                   {"export/heads", "heads", "",
                    "The selected head, or all heads as a grid (in a table, each row starts with the head's "
                    "number)."},
                   heads, all)) {
      what.head = all == 1 ? std::nullopt : std::optional(state.head);
    }
  }
  std::vector<std::string_view> maps{"automatic"};
  for (const ColorMapEntry& entry : color_map_entries()) maps.push_back(entry.name);
  int map = what.color_map ? static_cast<int>(*what.color_map) + 1 : 0;
  if (choice_row(context,
                 {"export/color_map", "colour map", "",
                  "Automatic: viridis for probabilities, a diverging map centred at 0 "
                  "for signed values."},
                 maps, map)) {
    what.color_map =
        map == 0 ? std::nullopt : std::optional(color_map_entries()[static_cast<std::size_t>(map - 1)].map);
  }
  int range = what.range_kind == ExportRange::own ? 0 : 1;
  if (choice_row(context,
                 {"export/range", "range", "",
                  "Own: range of this matrix alone. Shared: one range for all heads, so that their pictures "
                  "can be compared."},
                 ranges, range)) {
    what.range_kind = range == 0 ? ExportRange::own : ExportRange::shared;
  }
  choose_theme();
  std::optional<std::int64_t> pixels = static_cast<std::int64_t>(what.cell_pixels);
  const FieldResult field = integer_row(
      context, {"export/cell_pixels", "pixels per cell", "", "The side length of a cell in the picture."},
      pixels, {.required = true, .least = 1});
  if (field.changed && pixels) what.cell_pixels = static_cast<double>(*pixels);
  if (!field.error.empty()) error_line(context, field.error);
}

}  // namespace

bool exports_stage(const ExportDialogState& state) {
  return !state.has_map || (state.stage && !ends_as_numbers(state.path));
}

bool draw_export_dialog(const WidgetContext& context, ExportDialogState& state) {
  if (!begin_overlay(context, "overlay/export", "Export picture", state.open,
                     {.width = 520, .closes_outside = false})) {
    return false;
  }
  dim_text(context, exports_stage(state) ? state.stage_title
                    : state.what.head    ? state.title
                                         : state.title_of_all);
  ImGui::Dummy({1, context.px(2)});
  if (std::exchange(state.appearing, false) && context.focus) {
    take_focus(*context.focus, ImGui::GetID("path"), state.path.size());
  }
  const TextFieldResult field = text_field(
      context, "path", state.path,
      {.wrong = !state.error.empty(), .placeholder = "a file name: .png, .svg, .pdf, .csv or .npy"});
  ui_probe_item("export/path");
  if (field.changed) state.error.clear();
  dim_text(
      context,
      state.has_map
          ? "The extension sets the format: .png, .svg or .pdf a picture, .csv a table, .npy the numbers."
          : "The extension sets the format: .png, .svg or .pdf.");
  if (!state.error.empty()) error_line(context, state.error);
  std::error_code ignored;
  const std::string target = expanded_path(state.path);
  const bool exists = std::filesystem::is_regular_file(target, ignored);
  const bool asked = state.replaces == target;
  if (state.error.empty() && exists)
    dim_text(context, asked ? "This file exists. “Replace” overwrites it; or choose another name."
                            : "This file exists.");
  ImGui::Dummy({1, context.px(4)});
  draw_options(context, state);
  ImGui::Dummy({1, context.px(6)});
  const bool named = !state.path.empty() && !state.path.ends_with('/');
  bool accepted = field.entered && named;
  accepted |= text_button(context, "accept", asked && exists ? "Replace" : "Export", ButtonLook::filled, named);
  ui_probe_item("export/accept");
  ImGui::SameLine();
  if (text_button(context, "cancel", "Cancel", ButtonLook::plain)) state.open = false;
  ui_probe_item("export/cancel");
  end_overlay();
  return accepted && (!exists || std::exchange(state.replaces, target) == target);
}

}  // namespace headwise
