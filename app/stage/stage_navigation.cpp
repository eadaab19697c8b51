#include "app/stage/stage_navigation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/content/graph_layout.h"
#include "app/content/motion.h"
#include "app/content/stage_content.h"
#include "app/panels/named_text.h"
#include "app/session/commands.h"
#include "app/session/settings.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Space that each step takes in addition to its name, in design units: as much as is available, between
// these. 6/10 of it surrounds the name, the rest separates two steps.
constexpr float most_room = 34.0f, least_room = 10.0f, share_around = 0.6f;
constexpr std::string_view between_steps = "›";
// Of the speed at the right end, in design units; its label gives way first where the steps need the room.
constexpr float slider_width = 84.0f, room_before_speed = 18.0f;

constexpr float button_side = 26.0f, room_after_buttons = 14.0f;

void draw_buttons(const PanelContext& context, const StepBarState& state, float height, bool labelled,
                  PanelAction& action) {
  const float side = std::round(context.px(button_side));
  const float y = ImGui::GetCursorPosY() + std::round(0.5f * (height - side));
  const struct {
    const char* id;
    ButtonSign sign;
    const char* label;
    CommandId command;
    bool enabled;
  } buttons[] = {
      {"step_bar/back", ButtonSign::back, "", CommandId::previous_step, context.selection.step != Step::inputs},
      {"step_bar/play", state.playing ? ButtonSign::pause : ButtonSign::play,
       !labelled       ? ""
       : state.playing ? "pause"
                       : "play",
       CommandId::play, true},
      {"step_bar/forward", ButtonSign::forward, "", CommandId::next_step,
       context.selection.step != Step::output},
  };
  for (const auto& button : buttons) {
    ImGui::SetCursorPosY(y);
    if (sign_button(context, button.id, button.sign, side, button.label, button.enabled))
      action.command = button.command;
    named_item(context, button.id, label_with_keys(button.command));
    // "play" is the shorter word: the steps beside it stay where they are.
    const bool plays = button.command == CommandId::play && labelled && !state.playing;
    const float shorter = width_of(context.fonts.sans, "pause") - width_of(context.fonts.sans, "play");
    ImGui::SameLine(0, context.px(2) + (plays ? std::ceil(shorter) : 0.0f));
  }
}

std::string speed_text(float speed) {
  return fmt::format("{:.2g}×", static_cast<double>(speed));
}

// Pixels that the speed takes at the right end: with its label, or without it.
float speed_width(const WidgetContext& widgets, bool labelled) {
  ImFont* small = widgets.fonts.small;
  const float value = width_of(small, "0.12×") + widgets.px(6);
  const float label = labelled ? width_of(small, "speed") + widgets.px(8) : 0.0f;
  return std::ceil(widgets.px(room_before_speed) + label + widgets.px(slider_width) + value);
}

// How fast play and each step run: even steps on a logarithmic scale,
// so that half and double are equally far.
void draw_speed(const PanelContext& context, StepBarState& state, float right, float top, float height,
                bool labelled) {
  const Painter paint = context.painter();
  ImFont* small = context.fonts.small;
  const ImU32 ink = im_color(context.palette.text_dim);
  const float text_y = std::round(top + 0.5f * (height - small->FontSize));
  const std::string value = speed_text(state.speed);
  const float value_x = right - width_of(small, "0.12×");
  float x = right - speed_width(paint, labelled) + paint.px(room_before_speed);
  if (labelled) x = paint.text(small, {x, text_y}, ink, "speed").max.x + paint.px(8);
  paint.text(small, {value_x, text_y}, ink, value);
  double octave = std::log2(static_cast<double>(state.speed));
  ImGui::SetCursorScreenPos({std::floor(x), std::round(top + 0.5f * (height - paint.px(22)))});
  const SliderResult moved = slider(paint, "speed", octave,
                                    {.least = std::log2(static_cast<double>(Settings::slowest_motion)),
                                     .most = std::log2(static_cast<double>(Settings::fastest_motion)),
                                     .step = 0.25,
                                     .normal = 0.0,
                                     .width = paint.px(slider_width)});
  named_item(paint, "step_bar/speed",
             fmt::format("speed of the animation: {} normal speed. Double-click for normal; {} halves it, {} "
                         "doubles it",
                         speed_text(state.speed), first_key_text(CommandId::slower_motion),
                         first_key_text(CommandId::faster_motion)));
  if (moved.changed) state.speed = float(std::exp2(octave));
}

struct Chips {
  std::vector<float> left;  // left edges, and last the right edge of all
  float padding, separator;
};

// In brief, and smaller, where the names in full do not fit, as with large type: the whole row stays in
// sight, and the line below it.
std::string_view step_name(const StepEntry& entry, bool brief) {
  if (brief && entry.step == Step::split_heads) return "Split";
  if (brief && entry.step == Step::weighted_sum) return "Sum";
  return entry.name;
}

float name_size(const WidgetContext& widgets, bool brief) {
  return (brief ? widgets.fonts.small : widgets.fonts.sans)->FontSize;
}

// The chosen name is bold, which is wider; the steps keep their positions all the same.
Chips place_chips(const WidgetContext& widgets, std::span<const Step> shown, float available, bool brief) {
  const auto count = float(shown.size());
  const auto width = [&](Step step) {
    const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
    return std::ceil(width_of(widgets.fonts.bold, step_name(entry, brief), name_size(widgets, brief)));
  };
  float names = 0.0f;
  for (const Step step : shown) names += width(step);
  const float room = std::clamp((available - names) / count, widgets.px(least_room), widgets.px(most_room));
  // The ground of the chosen name ends beside the sign, not on it.
  const float sign =
      std::ceil(width_of(widgets.fonts.sans, between_steps, name_size(widgets, brief)) + widgets.px(2));
  const float separator = std::max(std::floor((1.0f - share_around) * room), sign);
  Chips chips{{0.0f}, std::floor(std::max(0.0f, 0.5f * (room - separator))), separator};
  for (const Step step : shown)
    chips.left.push_back(chips.left.back() + width(step) + 2 * chips.padding + chips.separator);
  return chips;
}

// The arrow keys move by a twentieth of a step, Page Up and Page Down to where the next step is complete.
void slide_by_keys(double now, double last, PanelAction& action) {
  constexpr double little = 0.05;
  std::optional<double> to;
  if (key_pressed(Key::left)) to = now - little;
  if (key_pressed(Key::right)) to = now + little;
  if (key_pressed(Key::page_up)) to = std::ceil(now) - 1.0;
  if (key_pressed(Key::page_down)) to = std::floor(now) + 1.0;
  if (key_pressed(Key::home)) to = 0.0;
  if (key_pressed(Key::end)) to = last;
  if (to) action.timeline = std::clamp(*to, 0.0, last);
}

// Below the names, from the middle of the first to that of the last: how far playback has come. Dragging
// pauses it at the position held.
void draw_timeline(const PanelContext& context, const Chips& chips, ImVec2 origin, float height,
                   PanelAction& action) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  std::vector<float> middle;
  for (std::size_t i = 0; i + 1 < chips.left.size(); ++i)
    middle.push_back(origin.x + 0.5f * (chips.left[i] + chips.left[i + 1] - chips.separator));
  const float y = std::round(origin.y + height - paint.px(4)), reach = paint.px(6);
  const auto x_at = [&](double position) {
    const auto i = std::min(static_cast<std::size_t>(position), middle.size() - 2);
    return middle[i] + (middle[i + 1] - middle[i]) * float(position - static_cast<double>(i));
  };
  const auto position_at = [&](float x) {
    const auto next = std::ranges::upper_bound(middle, x);
    if (next == middle.begin()) return 0.0;
    if (next == middle.end()) return static_cast<double>(middle.size() - 1);
    const auto i = static_cast<std::size_t>(next - middle.begin() - 1);
    return static_cast<double>(i) + static_cast<double>((x - middle[i]) / (middle[i + 1] - middle[i]));
  };
  ImGui::SetCursorScreenPos({middle.front() - reach, y - reach});
  ImGui::InvisibleButton("timeline", {middle.back() - middle.front() + 2 * reach, reach + paint.px(4)});
  const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  named_item(paint, "step_bar/timeline",
             "drag, or use the arrows, to move back and forth through the animation at any speed");
  const bool focused = focus_stop(context.focus, ImGui::GetID("timeline"), FocusKeys::slide);
  if (held) action.timeline = position_at(ImGui::GetIO().MousePos.x);
  const double now =
      timeline_position(shown_steps(context.trace.options), context.selection.step, context.motion);
  if (focused) slide_by_keys(now, static_cast<double>(middle.size() - 1), action);
  const float thick = paint.px(2);
  paint.line({middle.front(), y}, {middle.back(), y}, palette.text_faint, thick);
  paint.line({middle.front(), y}, {x_at(now), y}, palette.text_dim, thick);
  // Where each step is complete: the handle can be dropped there, and anywhere between.
  for (const float at : middle)
    paint.line({at, y - paint.px(3)}, {at, y + paint.px(2)}, palette.text_faint, paint.px(1));
  // A handle with a grip, like that of a tape: it is there to be taken hold of.
  const bool bright = held || hovered || focused;
  if (held || hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const ImVec2 half{paint.px(8), paint.px(4)}, at{std::round(x_at(now)), y};
  const Rgba8 body = bright ? palette.focus : palette.text;
  paint.fill({at.x - half.x, at.y - half.y}, {at.x + half.x, at.y + half.y}, body, paint.px(3));
  for (const float line : {-2.5f, 0.0f, 2.5f}) {
    const float grip = at.x + paint.px(line);
    paint.line({grip, at.y - paint.px(2)}, {grip, at.y + paint.px(2)}, palette.panel, paint.px(1));
  }
}

// From the right side of one node to the left side of the next: level, down or up in the gap before it,
// level.
void draw_edge(const PanelContext& context, const GraphNode& from, const GraphNode& to, bool below,
               float bottom, float shift) {
  const Painter paint = context.painter();
  const float u = context.scale;
  const ImU32 color = im_color(context.palette.text_faint);
  const ImVec2 begin(float(from.rect.x + from.rect.width) + shift,
                     std::floor(float(from.rect.y + from.rect.height / 2)) + 0.5f);
  const ImVec2 end(float(to.rect.x) + shift, std::floor(float(to.rect.y + to.rect.height / 2)) + 0.5f);
  if (below) {
    const float left = float(from.rect.x) + shift;
    const ImVec2 up(end.x + float(to.rect.width) / 2, float(to.rect.y + to.rect.height));
    const ImVec2 path[] = {ImVec2(left, begin.y), ImVec2(left - 6 * u, begin.y), ImVec2(left - 6 * u, bottom),
                           ImVec2(up.x, bottom), up};
    paint.list->AddPolyline(path, 5, color, ImDrawFlags_None, u);
    return;
  }
  const float turn = std::min(11.0f * u, (end.x - begin.x));
  const ImVec2 path[] = {begin, ImVec2(end.x - turn, begin.y), end};
  paint.list->AddPolyline(path, 3, color, ImDrawFlags_None, u);
}

// How much of the node's tensor the reach of the cell covers; empty if there is no reach, or none of it.
std::string reach_of_node(const PanelContext& context, TensorId id) {
  if (!context.reach) return "";
  const bool gradient = context.reach->cell.tensor.gradient;
  const TensorName name = first_name(context.trace, {id});
  if (first_name(context.trace, context.reach->cell.tensor) == name) return "1 cell";
  for (const std::vector<BoxRef>* boxes : {&context.reach->back, &context.reach->forward}) {
    std::string words = reach_words(context.trace, *boxes, name, true);
    if (words.empty() && gradient) words = reach_words(context.trace, *boxes, {id, true}, true);
    if (!words.empty()) return words;
  }
  return "";
}

bool is_pointed_at(const PanelContext& context, TensorId id) {
  const TensorName name = first_name(context.trace, {id});
  if (!context.pointed) return false;
  for (const Axis& axis : context.trace.tensor(id)->shape().axes())
    if (!context.pointed->axis.empty() && axis_has_letter(axis.name, context.pointed->axis)) return true;
  return std::ranges::any_of(context.pointed->boxes, [&](const BoxRef& box) {
    return first_name(context.trace, {box.tensor.id}) == name;
  });
}

// The node as a control: its mouse and keyboard handling. Nodes scrolled out of sight come into view when
// they get keyboard focus.
PressItem use_node(const PanelContext& context, TensorId id, const std::string& reach, const Box& rect,
                   ImVec2 sides, GraphState& state) {
  ImGui::SetCursorScreenPos(rect.min);
  PressItem use = press_item(context, "node", {rect.width(), rect.height()});
  use.hovered = use.hovered || use.focused;
  if (use.focused && context.focus->moved) {
    const float left = sides.x - rect.min.x, right = rect.max.x - sides.y;
    state.scroll += left > 0.0f ? -left : std::max(0.0f, right);
  }
  tooltip(context, std::string(tensor_entry(id).what) + "  " + context.trace.tensor(id)->shape().to_string() +
                       (reach.empty() ? "" : "\non this number's path: " + reach));
  if (use.hovered) point_at_tensor(context, {id});
  return use;
}

// When a number is traced, `reach`, how much of the tensor is on its way, replaces the sizes;
// the rest is dimmed.
void draw_node(const PanelContext& context, const GraphNode& node, const std::string& reach, const Box& rect,
               bool present, bool hovered) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const float rounding = 3.0f * context.scale;
  paint.fill(rect, present ? palette.control : palette.field, rounding);
  paint.outline(rect,
                present                           ? palette.focus
                : is_pointed_at(context, node.id) ? palette.text
                : hovered                         ? palette.text_faint
                                                  : palette.border,
                std::max(1.0f, std::round((present ? 1.5f : 1.0f) * context.scale)), rounding);
  const Rgba8 hue = tensor_hue(palette, node.id);
  if (!reach.empty()) paint.fill({rect.min.x, rect.max.y - 2.0f * context.scale}, rect.max, hue, rounding);
}

// The name, and the sizes below or after it.
void draw_node_text(const PanelContext& context, const GraphNode& node, const std::string& reach,
                    const Box& rect, const GraphLayout& layout) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  ImFont* mono = context.fonts.mono_small;
  const float ink = context.reach && reach.empty() ? 0.4f : 1.0f;
  const ImU32 name_color = im_color(tensor_hue(context.palette, node.id), ink);
  const ImU32 sizes_color = im_color(reach.empty() ? context.palette.text_dim : context.palette.focus, ink);
  const bool two_lines = layout.two_lines && !node.sizes.empty();
  const float middle = (rect.min.y + rect.max.y) / 2;
  const ImVec2 at(rect.min.x + float(layout.padding),
                  std::floor(two_lines ? middle - font->FontSize - 1.0f : middle - font->FontSize / 2));
  paint.text(font, at, name_color, node.name);
  const float beside = two_lines ? 0.0f : width_of(font, node.name) + 5.0f * context.scale;
  const std::string sizes = fitted_text(reach.empty() ? node.sizes : reach, mono, rect.max.x - at.x - beside);
  paint.text(mono, {at.x + beside, two_lines ? middle + 1.0f : middle - mono->FontSize / 2}, sizes_color,
             sizes);
}

}  // namespace

PanelAction draw_step_bar(const PanelContext& context, StepBarState& state) {
  PanelAction action;
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const std::vector<Step> shown = shown_steps(context.trace.options);
  const float height = ImGui::GetContentRegionAvail().y;
  const float buttons = 3 * std::round(paint.px(button_side)) + paint.px(2 + 2 + room_after_buttons) +
                        std::ceil(width_of(context.fonts.sans, "pause") + paint.px(6));
  const bool brief =
      buttons + place_chips(paint, shown, 0.0f, false).left.back() > ImGui::GetContentRegionAvail().x;
  draw_buttons(context, state, height, !brief, action);

  ImGui::SameLine(0, paint.px(room_after_buttons));
  const ImVec2 origin{ImGui::GetCursorScreenPos().x,
                      ImGui::GetWindowPos().y + ImGui::GetWindowContentRegionMin().y};
  const float whole = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  // The steps come first: the speed takes room only where all their names fit beside it.
  const float names = place_chips(paint, shown, 0.0f, brief).left.back();
  const bool labelled = names + speed_width(paint, true) <= whole;
  const bool has_speed = names + speed_width(paint, false) <= whole;
  const float available = has_speed ? whole - speed_width(paint, labelled) : whole;
  const Chips chips = place_chips(paint, shown, available, brief);
  const std::vector<float>& left = chips.left;
  const std::size_t current = place_of_step(shown, context.selection.step);
  // If they do not all fit, the current one stays in the middle.
  float shift = 0.0f;
  if (left.back() > available)
    shift = std::clamp(0.5f * (left[current] + left[current + 1]) - 0.5f * available, 0.0f,
                       left.back() - available);

  paint.list->PushClipRect({origin.x, origin.y}, {origin.x + available, origin.y + height}, true);
  const float chip_height = std::round(paint.px(26));
  const float top = origin.y + std::round(0.5f * (height - chip_height));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const StepEntry& entry = step_entries()[static_cast<std::size_t>(shown[i])];
    const ImVec2 min{std::round(origin.x + left[i] - shift), top};
    const ImVec2 max{std::round(origin.x + left[i + 1] - chips.separator - shift), top + chip_height};
    if (max.x < origin.x || min.x > origin.x + available) continue;
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos(min);
    const PressItem item = press_item(paint, "step", {std::max(1.0f, max.x - min.x), chip_height});
    if (item.pressed) {
      Selection selection = context.selection;
      selection.step = entry.step;
      selection.tensor.reset();
      action.selection = selection;
    }
    ui_probe_item("step_bar/step", static_cast<int>(entry.step));
    tooltip(paint, brief ? fmt::format("{}: {}", entry.name, entry.question) : std::string(entry.question));
    ImGui::PopID();

    const bool on = i == current;
    const std::string_view name = step_name(entry, brief);
    if (on || item.hovered) paint.fill(min, max, on ? palette.control : palette.control_hover, paint.px(6));
    ImFont* font = on ? context.fonts.bold : context.fonts.sans;
    const float size = name_size(paint, brief);
    const float width = width_of(font, name, size);
    const Rgba8 ink = on ? palette.focus : i < current ? palette.text : palette.text_dim;
    paint.text({font, size},
               {std::round(0.5f * (min.x + max.x - width)), std::round(0.5f * (min.y + max.y - size))}, ink,
               name);
    if (i + 1 < shown.size()) {
      const float sign_width = width_of(context.fonts.sans, between_steps, size);
      paint.text({context.fonts.sans, size},
                 {std::round(max.x + 0.5f * (chips.separator - sign_width)),
                  std::round(0.5f * (min.y + max.y - size))},
                 palette.text_faint, between_steps);
    }
  }
  paint.list->PopClipRect();
  // Only where every name stands over its place on the line.
  if (left.back() <= available) draw_timeline(context, chips, origin, height, action);
  if (has_speed) draw_speed(context, state, origin.x + whole, origin.y, height, labelled);
  return action;
}

PanelAction draw_graph(const PanelContext& context, GraphState& state) {
  work_probe("graph");
  PanelAction action;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  const GraphLayout layout =
      graph_layout(context.trace, {origin.x, origin.y, size.x, size.y}, context.scale,
                   [&](std::string_view text, bool sizes) {
                     return width_of(sizes ? context.fonts.mono_small : context.fonts.small, text);
                   });

  const float overflow = std::max(0.0f, float(layout.width) - size.x);
  if (ImGui::IsWindowHovered() && overflow > 0.0f)
    state.scroll -= ImGui::GetIO().MouseWheel * 60.0f * context.scale;
  state.scroll = std::clamp(state.scroll, 0.0f, overflow);
  const float shift = -state.scroll;

  const float bottom = std::floor(origin.y + size.y) - 1.5f;
  for (const GraphEdge& edge : layout.edges)
    draw_edge(context, layout.nodes[edge.from], layout.nodes[edge.to], edge.below, bottom, shift);
  const std::optional<StepPicture> shown = shown_picture(context.trace, context.selection);
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const GraphNode& node = layout.nodes[i];
    const ImVec2 min(float(node.rect.x) + shift, float(node.rect.y));
    const Box rect{min, {min.x + float(node.rect.width), min.y + float(node.rect.height)}};
    const std::string reach = reach_of_node(context, node.id);
    ImGui::PushID(static_cast<int>(i));
    const PressItem use = use_node(context, node.id, reach, rect, {origin.x, origin.x + size.x}, state);
    ImGui::PopID();
    ui_probe("graph/" + std::string(tensor_entry(node.id).name), rect);
    const bool present =
        shown && first_name(context.trace, {shown->result}) == first_name(context.trace, {node.id});
    draw_node(context, node, reach, rect, present, use.hovered);
    draw_node_text(context, node, reach, rect, layout);
    if (use.pressed) {
      action.selection = context.selection;
      action.selection->step = step_of(node.id, context.trace.options);
      action.selection->tensor = node.id;
    }
  }
  return action;
}

}  // namespace headwise
