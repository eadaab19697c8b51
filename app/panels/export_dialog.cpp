#include "app/panels/export_dialog.h"

#include <array>
#include <filesystem>
#include <utility>

#include "app/panels/panel_frame.h"
#include "app/session/folder_listing.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 3> ranges{"own", "shared", "fixed"};  // in the order of ExportRange
constexpr std::array<std::string_view, 2> heads{"this one", "all"};
constexpr std::array<std::string_view, 2> subjects{"the stage", "this map"};
constexpr std::array<std::string_view, 2> titles{"shown", "none"};
constexpr std::array<std::string_view, 3> bars{"labelled", "no label", "none"};

bool is_numbers(const ExportDialogState& state) {
  return find_path_format(state.path) >= ExportFormat::csv;
}

bool is_upside_down(const TensorExport& what) {
  return what.range_kind == ExportRange::fixed && what.range.lo > what.range.hi;
}

std::string sentence(const PictureChoice& choice) {
  return std::string(choice.what) + ".";
}

void draw_format(const WidgetContext& context, ExportDialogState& state) {
  const auto words =
      export_format_words().first(state.has_map ? export_format_words().size() : picture_format_count);
  const std::optional<ExportFormat> format = find_path_format(state.path);
  int chosen = format ? static_cast<int>(*format) : -1;
  if (choice_row(
          context,
          {"export/format", "format", "",
           state.has_map
               ? "Sets the extension: png, svg or pdf for a picture (svg and pdf are vectors), csv for "
                 "a table, npy for the numbers."
               : "Sets the extension: png, svg or pdf. svg and pdf are vectors."},
          words, chosen)) {
    state.path = path_with_format(state.path, static_cast<ExportFormat>(chosen));
    state.error.clear();
  }
}

void draw_theme(const WidgetContext& context, TensorExport& what) {
  choice_row(
      context,
      {"export/theme", "background", "", "Light suits paper and slides; the window's theme is not changed."},
      theme_names, what.theme);
}

// A number that is required and of any size.
void draw_end(const WidgetContext& context, const RowLabel& label, double& end) {
  std::optional<double> number = end;
  const FieldResult field = number_row(
      context, label, number, {.required = true, .drag_step = 0.05, .drag_least = -1e6, .drag_most = 1e6});
  if (number) end = *number;
  if (!field.error.empty()) error_line(context, field.error);
}

void draw_colors(const WidgetContext& context, TensorExport& what) {
  std::vector<std::string_view> maps{"automatic"};
  for (const ColorMapEntry& entry : color_map_entries()) maps.push_back(entry.name);
  int map = what.color_map ? static_cast<int>(*what.color_map) + 1 : 0;
  if (choice_row(context,
                 {"export/color_map", "colour map", "",
                  "Automatic: viridis for probabilities, a diverging map centred at 0 for signed values."},
                 maps, map)) {
    what.color_map =
        map == 0 ? std::nullopt : std::optional(color_map_entries()[static_cast<std::size_t>(map - 1)].map);
  }
  choice_row(
      context,
      {"export/range", "range", "",
       "Own: range of this matrix alone. Shared: one range for all heads, so that their pictures can be "
       "compared. Fixed: between two numbers of your own."},
      ranges, what.range_kind);
  if (what.range_kind == ExportRange::fixed) {
    draw_end(context, {"export/range/lo", "from", "", "The value at the lower end of the colours."},
             what.range.lo);
    draw_end(context, {"export/range/hi", "to", "", "The value at the upper end of the colours."},
             what.range.hi);
    if (is_upside_down(what)) error_line(context, "The range is upside down: “from” is above “to”.");
  }
}

// Replaces what stands in the picture otherwise, which is shown dim. True if Enter was pressed.
bool draw_own_words(const WidgetContext& context, const char* id, const PictureChoice& choice,
                    std::string_view otherwise, std::optional<std::string>& words) {
  std::string text = words.value_or("");
  const TextFieldResult field = text_field(context, id, text, {.small = true, .placeholder = otherwise});
  named_item(context, id, sentence(choice));
  if (field.changed) words = text.empty() ? std::nullopt : std::optional(text);
  return field.entered;
}

// The title and the colour bar. Text that is none (core/export/picture.h) is a choice of its own: an emptied
// field is the usual text again. True if Enter was pressed.
bool draw_words(const WidgetContext& context, ExportDialogState& state) {
  TensorExport& what = state.what;
  bool entered = false;
  int title = what.title == "" ? 1 : 0;
  if (choice_row(context, {"export/title", "title", "", sentence(title_choice)}, titles, title))
    what.title = title == 1 ? std::optional<std::string>("") : std::nullopt;
  if (title == 0)
    entered |= draw_own_words(context, "export/title/text", title_choice,
                              what.head ? state.title : state.title_of_all, what.title);
  PictureOptions& picture = what.picture;
  int bar = !picture.color_bar ? 2 : picture.bar_label == "" ? 1 : 0;
  if (choice_row(
          context,
          {"export/bar", "colour bar", "",
           "Shows which colour stands for which value. Blocked cells, NaN and infinities are explained "
           "without it too."},
          bars, bar)) {
    picture.color_bar = bar != 2;
    picture.bar_label = bar == 1 ? std::optional<std::string>("") : std::nullopt;
  }
  if (bar == 0) {
    const std::string_view note = range_note(what, state.has_heads);
    entered |= draw_own_words(context, "export/bar/text", bar_label_choice, note.empty() ? "label" : note,
                              picture.bar_label);
  }
  return entered;
}

void draw_sizes(const WidgetContext& context, TensorExport& what) {
  std::optional<std::int64_t> pixels = static_cast<std::int64_t>(what.cell_pixels);
  const FieldResult side = integer_row(
      context, {"export/cell_pixels", "pixels per cell", "", "The side length of a cell in the picture."},
      pixels, {.required = true, .least = 1});
  if (side.changed && pixels) what.cell_pixels = static_cast<double>(*pixels);
  if (!side.error.empty()) error_line(context, side.error);
  std::optional<double> size =
      what.picture.font_size > 0.0 ? std::optional(what.picture.font_size) : std::nullopt;
  const FieldResult font =
      number_row(context, {"export/font_size", "font size", "", sentence(font_size_choice)}, size,
                 {.derived = "auto", .least = font_size_choice.least, .most = font_size_choice.most});
  what.picture.font_size = size.value_or(0.0);
  if (!font.error.empty()) error_line(context, font.error);
  std::optional<double> dpi = what.dpi;
  const FieldResult paper = number_row(context, {"export/dpi", "dpi", "", sentence(dpi_choice)}, dpi,
                                       {.required = true, .least = dpi_choice.least, .most = dpi_choice.most});
  if (dpi) what.dpi = *dpi;
  if (!paper.error.empty()) error_line(context, paper.error);
}

// True if Enter was pressed in a text.
bool draw_options(const WidgetContext& context, ExportDialogState& state) {
  TensorExport& what = state.what;
  draw_format(context, state);
  if (state.has_map && !is_numbers(state)) {
    int subject = state.stage ? 0 : 1;
    if (choice_row(context,
                   {"export/subject", "picture of", "",
                    "The stage: what you see, with its labels, at slide size. This map: the map of one "
                    "tensor alone, cell by cell."},
                   subjects, subject)) {
      state.stage = subject == 0;
    }
  }
  if (exports_stage(state)) {
    draw_theme(context, what);
    return false;
  }
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
  if (is_numbers(state)) return false;
  draw_colors(context, what);
  draw_theme(context, what);
  const bool entered = draw_words(context, state);
  draw_sizes(context, what);
  return entered;
}

}  // namespace

bool exports_stage(const ExportDialogState& state) {
  return !state.has_map || (state.stage && !is_numbers(state));
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
  if (std::exchange(state.appearing, false) && context.focus)
    take_focus(*context.focus, ImGui::GetID("path"), state.path.size());
  const TextFieldResult field = text_field(
      context, "path", state.path,
      {.wrong = !state.error.empty(), .placeholder = "a file name: .png, .svg, .pdf, .csv or .npy"});
  ui_probe_item("export/path");
  if (field.changed) state.error.clear();
  if (!state.error.empty()) error_line(context, state.error);
  std::error_code ignored;
  const std::string target = expanded_path(state.path);
  const bool exists = std::filesystem::is_regular_file(target, ignored);
  const bool asked = state.replaces == target;
  if (state.error.empty() && exists)
    dim_text(context, asked ? "This file exists. “Replace” overwrites it; or choose another name."
                            : "This file exists.");
  ImGui::Dummy({1, context.px(4)});
  const bool entered = draw_options(context, state) || field.entered;
  ImGui::Dummy({1, context.px(6)});
  const bool complete = !state.path.empty() && !state.path.ends_with('/') &&
                        (exports_stage(state) || is_numbers(state) || !is_upside_down(state.what));
  bool accepted = entered && complete;
  accepted |=
      text_button(context, "accept", asked && exists ? "Replace" : "Export", ButtonLook::filled, complete);
  ui_probe_item("export/accept");
  ImGui::SameLine();
  if (text_button(context, "cancel", "Cancel", ButtonLook::plain)) state.open = false;
  ui_probe_item("export/cancel");
  end_overlay();
  return accepted && (!exists || std::exchange(state.replaces, target) == target);
}

}  // namespace headwise
