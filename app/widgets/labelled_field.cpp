#include "app/widgets/labelled_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "app/widgets/focus_order.h"
#include "app/widgets/text_edit.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr float field_width = 54.0f;  // design units
constexpr float row_height = 22.0f;
constexpr float row_gap = 2.0f;
constexpr float drag_pixels = 6.0f;  // design units of mouse movement for one step of a number

const RowLetters* row_letters = nullptr;  // of RowLettersInUse
const RowKeys* row_keys = nullptr;

// What was wrong in the field that had the focus. It stays until the mouse press that took the focus ends:
// the line that shows it would go, and what was pressed would move away from under the mouse.
struct {
  ImGuiID field = 0;
  std::string error;
} kept_error;

void draw_text(ImFont* font, ImVec2 at, Rgba8 color, std::string_view text) {
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, {std::round(at.x), std::round(at.y)},
                                      im_color(color), text.data(), text.data() + text.size());
}

std::string_view key_of(const RowLabel& label) {
  return row_keys && *row_keys ? (*row_keys)(label.id) : std::string_view();
}

// "query length" is inputs.query_length.
bool is_named_by_key(std::string_view name, std::string_view key) {
  const std::string_view last = key.substr(key.rfind('.') + 1);
  return std::ranges::equal(name, last, [](char a, char b) {
    return (a == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(a)))) == b;
  });
}

void row_tooltip(const WidgetContext& context, const RowLabel& label) {
  const std::string_view key = key_of(label);
  tooltip(context, key.empty() ? std::string(label.tooltip)
                               : fmt::format("{} In a scenario file: {}.", label.tooltip, key));
}

// Draws the name and leaves ImGui's cursor where a control of this width goes at the right edge. If both do
// not fit side by side, the control goes below the name.
void begin_row(const WidgetContext& context, const RowLabel& label, float control_width) {
  ImFont* font = context.fonts.sans;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float available = ImGui::GetContentRegionAvail().x;
  const float height = std::round(context.px(row_height));
  const float name_width = width_of(font, label.name);
  const float letters_width = label.letters.empty() ? 0.0f : width_of(font, label.letters) + context.px(5);
  const bool beside = name_width + letters_width + control_width + context.px(6) <= available;
  const float y = at.y + 0.5f * (height - font->FontSize);
  draw_text(font, {at.x, y}, context.palette.text, label.name);
  const ImVec2 letters_at(std::round(at.x + name_width + context.px(5)), std::round(y));
  const bool can_be_pointed_at = row_letters && !label.letters.empty();
  const bool on_letter = can_be_pointed_at && (*row_letters)(letters_at, label.letters);
  if (!can_be_pointed_at && !label.letters.empty())
    draw_text(font, letters_at, context.palette.text_dim, label.letters);
  const std::string_view key = key_of(label);
  ImFont* mono = context.fonts.mono_small;
  const ImVec2 key_at(std::round(at.x + name_width + letters_width + context.px(7)),
                      std::round(at.y + 0.5f * (height - mono->FontSize)));
  const float key_room = at.x + available - (beside ? control_width : 0.0f) - key_at.x - context.px(6);
  // The whole key, or its last part: "valid_lens".
  if (!key.empty() && !is_named_by_key(label.name, key)) {
    const std::string_view last = key.substr(key.rfind('.') + 1);
    for (const std::string_view shown : {key, last}) {
      if (width_of(mono, shown) > key_room) continue;
      draw_text(mono, key_at, context.palette.text_dim, shown);
      ui_text_probe(shown, key_at);
      break;
    }
  }
  ImGui::PushID(label.id);
  const float hover_width = beside ? std::max(1.0f, available - control_width) : std::max(1.0f, available);
  ImGui::Dummy({hover_width, height});
  if (!on_letter) row_tooltip(context, label);
  ImGui::SetCursorScreenPos({std::max(at.x, at.x + available - control_width), beside ? at.y : at.y + height});
}

void end_row(const WidgetContext& context, const RowLabel& label, float top_of_next) {
  row_tooltip(context, label);
  ui_probe_item(label.id);
  ImGui::PopID();
  // If the control is below its name, the row is higher.
  const float bottom = ImGui::GetItemRectMax().y + context.px(row_gap);
  ImGui::SetCursorScreenPos({ImGui::GetCursorScreenPos().x, std::max(bottom, top_of_next)});
}

std::string text_of(std::int64_t value) {
  return std::to_string(value);
}
// The shortest text that parses back to the same number: viewing a value must never change it.
std::string text_of(double value) {
  return fmt::format("{}", value);
}

bool parse(std::string_view text, std::int64_t& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse(std::string_view text, double& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

constexpr const char* kind_of(std::int64_t) {
  return "a whole number";
}
constexpr const char* kind_of(double) {
  return "a number";
}

// The result of a drag by this many steps.
double dragged_value(double from, int steps, const FieldOptions& options) {
  if (!options.drag_stops.empty()) {
    const auto& stops = options.drag_stops;
    const auto at = std::ranges::lower_bound(stops, static_cast<std::int64_t>(from)) - stops.begin();
    const std::ptrdiff_t last = std::ssize(stops) - 1;
    return static_cast<double>(stops[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + steps, 0, last))]);
  }
  // Multiples of the step: 0.15 and not 0.15000000000000002.
  const double per_unit = 1.0 / options.drag_step;
  const double to = options.drag_step >= 1.0
                        ? from + steps * options.drag_step
                        : std::round((from + steps * options.drag_step) * per_unit) / per_unit;
  const double least = std::max(options.drag_least, options.least.value_or(options.drag_least));
  return std::clamp(to, least,
                    std::max(least, std::min(options.drag_most, options.most.value_or(options.drag_most))));
}

// The number that the mouse has dragged to in this frame; the item drawn last is the field. `value`:
// NaN if it is empty.
std::optional<double> dragged_number(const WidgetContext& context, ImGuiID id, double value,
                                     const FieldOptions& options) {
  FocusOrder& focus = *context.focus;
  if (ImGui::IsItemActivated() && focus.before_press != id) {
    double derived = 0.0;
    const std::string_view text = trimmed(options.derived);
    if (!parse(text, derived)) derived = 0.0;
    focus.dragged = id;
    focus.drag_from = std::isnan(value) ? derived : value;
  }
  if (focus.dragged != id || !ImGui::IsItemActive()) return std::nullopt;
  const float moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0.0f).x / context.px(drag_pixels);
  const int steps = static_cast<int>(std::clamp(std::trunc(moved), -1e6f, 1e6f));
  if (steps == 0 && (std::isnan(value) || value == focus.drag_from)) return std::nullopt;
  return dragged_value(focus.drag_from, steps, options);
}

template <class T>
FieldResult value_row(const WidgetContext& context, const RowLabel& label, std::optional<T>& value,
                      const FieldOptions& options) {
  FieldResult result;
  const std::string stored = value ? text_of(*value) : "";
  const float width = std::round(context.px(options.width > 0.0f ? options.width : field_width));
  const float next = ImGui::GetCursorScreenPos().y + std::round(context.px(row_height + row_gap));
  begin_row(context, label, width);
  if (options.read_only) {
    WidgetContext unreachable = context;
    unreachable.focus = nullptr;
    std::string nothing;
    text_field(
        unreachable, "field", nothing,
        {.width = width, .mono = true, .align_right = true, .small = true, .placeholder = options.derived});
    end_row(context, label, next);
    return result;
  }

  FocusOrder* focus = context.focus;
  const ImGuiID id = ImGui::GetID("field");
  const bool focused = focus && focus->focused == id;
  std::optional<T> typed = value;
  const auto read = [&](const std::string& text) {
    T number{};
    const std::string_view bare = trimmed(text);
    typed.reset();
    result.error.clear();
    if (bare.empty() && !options.required) return;
    const bool parsed = parse(bare, number);
    const auto exact = static_cast<double>(number);
    if (parsed && exact >= options.least.value_or(exact) && exact <= options.most.value_or(exact)) {
      typed = number;
      return;
    }
    if (!parsed && !options.required && bare == trimmed(options.derived))
      return;  // "none", as the field shows it
    typed = value;
    std::string within;
    if (options.least)
      within = options.most ? fmt::format(" from {} to {}", *options.least, *options.most)
                            : fmt::format(" of at least {}", *options.least);
    result.error = fmt::format("{} is {}{}: got {}", label.name, kind_of(T{}), within,
                               bare.empty() ? "nothing" : one_line(std::string(bare), 40));
  };
  // The typed text is kept in the focus order, so that "1." is not rewritten to "1" while typing; it is
  // reloaded if something else (undo) changed the value.
  if (focused) {
    read(focus->draft);
    if (focus->draft_of != id || (result.error.empty() && typed != value)) focus->draft = stored;
    focus->draft_of = id;
  }
  std::string shown = focused ? focus->draft : stored;
  read(shown);
  const TextFieldResult field = text_field(context, "field", shown,
                                           {.width = width,
                                            .mono = true,
                                            .align_right = true,
                                            .small = true,
                                            .wrong = options.wrong || !result.error.empty(),
                                            .draggable = true,
                                            .placeholder = options.derived});
  result.focused = field.focused;
  if (field.focused) {
    focus->draft = shown;
    focus->draft_of = id;
    read(shown);
    const double number = typed ? static_cast<double>(*typed) : std::numeric_limits<double>::quiet_NaN();
    if (const auto dragged = dragged_number(context, id, number, options)) {
      typed = static_cast<T>(*dragged);
      focus->draft = text_of(*typed);
      result.error.clear();
    }
    result.changed = typed != value;
    value = typed;
    if (field.entered && result.error.empty()) release_focus(*focus);
  }
  const bool pressing =
      ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  if (field.focused && !pressing) {
    kept_error = {id, result.error};
  } else if (!field.focused && kept_error.field == id) {
    if (pressing)
      result.error = kept_error.error;
    else
      kept_error = {};
  }
  end_row(context, label, next);
  return result;
}

// Breaks at blanks only: ImGui would break between a quotation mark and the comma after it.
void wrapped_text(ImFont* font, Rgba8 color, std::string_view text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  const std::vector<TextLine> lines =
      wrap_lines(text, room, [&](char32_t character) { return shown_advance(*font, character); });
  float y = at.y, width = 0.0f;
  for (const TextLine& line : lines) {
    const char* const begin = text.data() + line.begin;
    const char* const end = text.data() + line.end;
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, {at.x, y}, im_color(color), begin, end);
    width = std::max(width, width_of(font, {begin, end}));
    y += font->FontSize;
  }
  ImGui::Dummy({std::min(width, room), y - at.y});
}

}  // namespace

RowLettersInUse::RowLettersInUse(RowLetters letters, RowKeys keys)
    : letters_(std::move(letters)), keys_(std::move(keys)), before_(row_letters), keys_before_(row_keys) {
  row_letters = &letters_;
  row_keys = &keys_;
}

RowLettersInUse::~RowLettersInUse() {
  row_letters = before_;
  row_keys = keys_before_;
}

void section_caption(const WidgetContext& context, std::string_view caption) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool first = ImGui::GetCursorPosY() <= ImGui::GetStyle().WindowPadding.y + 1.0f;
  const float above = first ? 0.0f : context.px(8);
  draw_text(context.fonts.small, {at.x, at.y + above}, context.palette.text_dim, caption);
  ImGui::Dummy({1, std::round(above + context.px(17))});
}

FieldResult integer_row(const WidgetContext& context, const RowLabel& label,
                        std::optional<std::int64_t>& value, const FieldOptions& options) {
  return value_row(context, label, value, options);
}

FieldResult number_row(const WidgetContext& context, const RowLabel& label, std::optional<double>& value,
                       const FieldOptions& options) {
  return value_row(context, label, value, options);
}

bool choice_row(const WidgetContext& context, const RowLabel& label, std::span<const std::string_view> labels,
                int& chosen, bool enabled, float least_width) {
  const float natural = segmented_control_size(context, labels).x;
  const float wanted = std::max(natural, std::round(context.px(least_width)));
  const float room = std::floor(ImGui::GetContentRegionAvail().x);
  // Tighter where that keeps it beside the name.
  const float letters =
      label.letters.empty() ? 0.0f : width_of(context.fonts.sans, label.letters) + context.px(5);
  const float beside = std::floor(room - width_of(context.fonts.sans, label.name) - letters - context.px(6));
  const bool tighter = wanted > beside && segmented_control_least_width(context, labels) <= beside;
  const float width = tighter ? beside : std::min(wanted, room);
  const float next = ImGui::GetCursorScreenPos().y + std::round(context.px(row_height + row_gap));
  begin_row(context, label, width);
  const bool changed = segmented_control(context, "field", labels, chosen,
                                         {.width = width != natural ? width : 0.0f, .enabled = enabled});
  for (std::size_t i = 0; i < labels.size() && ui_probes_wanted(); ++i) {
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    const float part = (max.x - min.x) / float(labels.size());
    ui_probe(fmt::format("{}/{}", label.id, labels[i]), {min.x + part * float(i), min.y},
             {min.x + part * float(i + 1), max.y});
  }
  end_row(context, label, next);
  return changed;
}

SliderResult slider_row(const WidgetContext& context, const RowLabel& label, double& value,
                        std::string_view text, SliderOptions options) {
  constexpr float track_width = 68.0f, text_room = 32.0f;
  options.width = context.px(track_width);
  const float y = ImGui::GetCursorScreenPos().y + std::round(context.px(row_height)) + context.px(row_gap);
  begin_row(context, label, options.width + context.px(text_room));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const SliderResult result = slider(context, label.id, value, options);
  end_row(context, label, y);
  ImFont* font = context.fonts.mono_small;
  draw_text(font,
            {at.x + options.width + context.px(text_room) - width_of(font, text),
             at.y + 0.5f * (std::round(context.px(row_height)) - font->FontSize)},
            context.palette.text, text);
  return result;
}

void error_line(const WidgetContext& context, std::string_view sentence) {
  wrapped_text(context.fonts.small, context.palette.error, sentence);
  ui_probe_item("error");
}

void warning_line(const WidgetContext& context, std::string_view sentence) {
  wrapped_text(context.fonts.small, context.palette.warning, sentence);
}

void dim_text(const WidgetContext& context, std::string_view text) {
  wrapped_text(context.fonts.small, context.palette.text_dim, text);
}

void dim_sentence(const WidgetContext& context, std::string_view sentence) {
  wrapped_text(context.fonts.sans, context.palette.text_dim, sentence);
}

}  // namespace headwise
