#include "app/stage/head_thumbnails.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/platform/fonts.h"
#include "app/session/frozen_heads.h"
#include "app/session/head_gains.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/lock_mark.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/widgets/work_probe.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/trained_heads.h"

namespace headwise {
namespace {

constexpr std::size_t fewest_letters = 4;  // of a name that is cut

ImVec2 corner(const RectF& r) {
  return {static_cast<float>(r.x), static_cast<float>(r.y)};
}
ImVec2 far_corner(const RectF& r) {
  return {static_cast<float>(r.x + r.width), static_cast<float>(r.y + r.height)};
}

bool fits(ImFont* font, const std::string& text, float width) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x <= width;
}

// An ImGui item over a rectangle.
struct Item {
  bool hovered = false, clicked = false, double_clicked = false;
};

Item item_over(const char* id, Index number, const RectF& rect) {
  ImGui::PushID(static_cast<int>(number));
  ImGui::SetCursorScreenPos(corner(rect));
  ImGui::InvisibleButton(id, ImVec2(std::max(1.0f, static_cast<float>(rect.width)),
                                    std::max(1.0f, static_cast<float>(rect.height))));
  ui_probe_item(id, static_cast<int>(number));
  const Item item{ImGui::IsItemHovered(), ImGui::IsItemClicked(),
                  ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)};
  ImGui::PopID();
  return item;
}

PanelAction edit(HeadEdit gain) {
  PanelAction action;
  action.scenario = std::move(gain.scenario);
  action.edit_label = std::move(gain.label);
  return action;
}

// Only the module joins heads with a gain.
bool has_gains(const PanelContext& context) {
  return context.scenario.op == Op::multi_head_attention;
}

// All thumbnails are one stop of the keyboard: the arrows look at a head, Enter or Space mutes the one looked at.
void work_by_keys(const PanelContext& context, const HeadGrid& grid, PanelAction& action) {
  const Index heads = context.trace.options.num_heads, now = context.selection.head;
  const RectF first = grid.thumbnail(0), last = grid.thumbnail(std::min(heads, grid.columns) - 1),
              lowest = grid.number_line(heads - 1);
  const ImVec2 max(far_corner(last).x, far_corner(lowest).y);
  if (heads <= 0 || !focus_area(context.focus, ImGui::GetID("heads"), corner(first), max, FocusKeys::choose))
    return;
  Index head = now;
  if (key_pressed(Key::left)) --head;
  if (key_pressed(Key::right)) ++head;
  if (key_pressed(Key::up)) head -= grid.columns;
  if (key_pressed(Key::down)) head += grid.columns;
  if (key_pressed(Key::home)) head = 0;
  if (key_pressed(Key::end)) head = heads - 1;
  if (head != now && head >= 0 && head < heads) action.selection = looking_at_head(context, head);
  if (press_key_pressed() && has_gains(context)) action = edit(toggle_mute(context.scenario, now));
}

}  // namespace

std::vector<StagePart> thumbnail_parts(const PanelContext& context, const StageContent& content,
                                       HeadRanges& ranges) {
  std::vector<StagePart> parts;
  if (!content.head_map) return parts;
  work_probe("head thumbnails");
  parts.reserve(static_cast<std::size_t>(content.head_total));
  for (Index head = 0; head < content.head_total; ++head) {
    parts.push_back(part_at_head(*content.head_map, context.trace, context.selection.batch, head));
  }
  if (context.selection.colors_by_head) {
    std::vector<StagePart*> maps;
    for (StagePart& part : parts) maps.push_back(&part);
    ranges.give(maps, context.selection.batch);
  }
  return parts;
}

void add_thumbnail_planes(const HeadGrid& grid, const std::vector<StagePart>& parts,
                          std::vector<HeatmapPlane>& planes) {
  for (std::size_t head = 0; head < parts.size(); ++head) {
    const RectF rect = grid.thumbnail(static_cast<Index>(head));
    planes.push_back({&parts[head].spec, corner(rect), far_corner(rect)});
  }
}

Selection looking_at_head(const PanelContext& context, Index head) {
  Selection selection = context.selection;
  selection.head = head;
  if (!selection.pinned) return selection;
  const TensorPtr tensor = context.trace.tensor(selection.pinned->tensor);
  const auto moved = stage_matrix(context.trace, selection.pinned->tensor, {selection.batch, head});
  if (tensor && moved && tensor->shape().rank() == 4) {
    std::copy(moved->leading.begin(), moved->leading.end(), selection.pinned->index.begin());
  }
  return selection;
}

std::optional<HeadPurpose> head_description(const PanelContext& context, Index head) {
  const ParametersSpec& parameters = context.scenario.parameters;
  if (is_of_model(context.scenario) && context.inputs.model_input) {
    // Columns that are cut anew are other heads.
    if (!context.inputs.told_of_heads.empty()) return std::nullopt;
    const auto trained = trained_head(*parameters.file, parameters.layer, head);
    if (!trained) return std::nullopt;
    return HeadPurpose{std::string(trained->name), std::string(trained->reason)};
  }
  if (context.scenario.parameters.source != ParameterSource::hand_made || !has_gains(context))
    return std::nullopt;
  const Index heads = context.trace.options.num_heads;
  if (head < 0 || head >= heads) return std::nullopt;
  const HeadDescription made = describe_hand_made_heads(heads)[static_cast<std::size_t>(head)];
  return HeadPurpose{made.name, made.reason};
}

PanelAction draw_head_number(const PanelContext& context, const RectF& line, Index head,
                             const std::string& number, bool several) {
  PanelAction action;
  const Palette& palette = context.palette;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool chosen = head == context.selection.head;
  const bool dotted = has_gains(context) && !several && !context.picture;
  const double gain = head_gain_of(context.scenario, head);
  const float u = context.scale;

  const float radius = std::clamp(static_cast<float>(line.width) * 0.08f, 2.5f * u, 4.5f * u);
  const ImVec2 dot(far_corner(line).x - radius - 1.0f,
                   corner(line).y + static_cast<float>(line.height) * 0.55f);
  const double reach =
      dotted ? std::min(line.width * 0.5, std::max(9.0 * u, 2.0 * radius) + radius + 2.0) : 0.0;
  if (item_over("heads/number", head, {line.x, line.y, line.width - reach, line.height}).clicked) {
    action.selection = looking_at_head(context, head);
  }
  const std::size_t name_at = number.find(' ');  // what the head does, behind its number
  const bool named = name_at != std::string::npos;
  tooltip(context.widgets(), named ? fmt::format("show head {}", number) : "show this head");
  ImFont* font = chosen ? context.fonts.bold : context.fonts.small;
  // What a head does gives way to the dot, its number never.
  const float room = static_cast<float>(line.width - reach);
  const float needed = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, number.c_str()).x;
  // A little smaller before it is cut.
  const float shrink = named ? std::clamp(room / std::max(needed, 1.0f), 0.82f, 1.0f) : 1.0f;
  std::string shown = !named ? number : fitted_text(number, font, room / shrink);
  // Of a few letters nobody knows the word.
  if (named && shown != number && shown.size() < name_at + 1 + fewest_letters + std::string_view("…").size())
    shown = number.substr(0, name_at);
  const float size = std::floor(font->FontSize * shrink);
  list->AddText(font, size, ImVec2(corner(line).x, std::floor(dot.y - size / 2)),
                im_color(chosen ? palette.text : palette.text_dim), shown.c_str());
  if (!dotted) return action;

  const Item mute = item_over("heads/dot", head, {line.x + line.width - reach, line.y, reach, line.height});
  tooltip(context.widgets(), fmt::format("{} head {}", gain == 0.0 ? "hear" : "mute", head));
  if (mute.clicked) action = edit(toggle_mute(context.scenario, head));
  const Rgba8 color = mute.hovered ? palette.text : palette.text_dim;
  if (gain == 0.0) {
    list->AddCircle(dot, radius - 0.5f, im_color(color), 0, u);
  } else {
    const double loudness = std::clamp(std::abs(gain), 0.35, 1.0);
    list->AddCircleFilled(dot, radius, im_color(color, static_cast<float>(loudness)));
  }
  return action;
}

PanelAction draw_head_thumbnails(const PanelContext& context, const HeadGrid& grid,
                                 const std::vector<StagePart>& parts) {
  PanelAction action;
  const WidgetContext widgets = context.widgets();
  const Palette& palette = context.palette;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* small = context.fonts.small;
  const bool own_colors = context.selection.colors_by_head;
  // The choice of the colours stands at the end of the caption's line, where the line has room for both.
  const std::string shortest = "heads: click to show";
  const float choice = color_choice_size(context).x + 12.0f * context.scale;
  float width = static_cast<float>(grid.caption.width);
  const bool chooses =
      !context.picture && context.trace.options.num_heads > 1 && fits(small, shortest, width - choice);
  if (chooses) {
    width -= choice;
    const float middle = corner(grid.caption).y + 0.5f * small->FontSize;
    ImGui::SetCursorScreenPos({std::floor(corner(grid.caption).x + width + 12.0f * context.scale),
                               std::round(middle - 0.5f * color_choice_size(context).y)});
    draw_color_choice(context, action);
  }
  std::string caption = own_colors ? "heads, coloured per head" : "heads";
  if (!context.picture) {
    const std::string heads = caption;
    caption = shortest;
    for (const char* hint : {"", ": click to show", ": click to show, dot to mute",
                             ": click to show, dot to mute, double-click to solo"}) {
      const bool mutes = std::string_view(hint).find("mute") != std::string_view::npos;
      if ((!mutes || has_gains(context)) && fits(small, heads + hint, width)) caption = heads + hint;
    }
  }
  // Of a trained head it is said at once what it does, where the header may have no room for it.
  const auto purpose = context.scenario.parameters.source == ParameterSource::model
                           ? head_description(context, context.selection.head)
                           : std::nullopt;
  if (purpose) {
    const std::string told = fmt::format("head {}: {} · {}", context.selection.head, purpose->name, caption);
    if (fits(small, told, width)) caption = told;
  }
  list->AddText(small, small->FontSize, corner(grid.caption), im_color(palette.text_dim), caption.c_str());
  // What is chosen there, where the caption leaves room to say it.
  const std::string of_what = "colours of";
  if (chooses && fits(small, caption + "   " + of_what, width)) {
    const float left = corner(grid.caption).x + width -
                       small->CalcTextSizeA(small->FontSize, FLT_MAX, 0.0f, of_what.c_str()).x;
    list->AddText(small, small->FontSize, {std::floor(left), corner(grid.caption).y},
                  im_color(palette.text_dim), of_what.c_str());
  }

  const Index heads = context.trace.options.num_heads;
  for (Index head = 0; head < heads; ++head) {
    const RectF rect = grid.thumbnail(head);
    if (head_gain_of(context.scenario, head) == 0.0) draw_muted(widgets, list, rect);
    const bool frozen = is_frozen(context.scenario, head);
    if (frozen) draw_lock(widgets, list, rect);
    const Item item = item_over("heads/thumbnail", head, rect);
    const auto description = head_description(context, head);
    std::string words = description
                            ? fmt::format("head {}, {}: {}", head, description->name, description->reason)
                            : fmt::format("head {}", head);
    if (frozen) words += ". Frozen: its attention weights are fixed";
    if (own_colors && static_cast<std::size_t>(head) < parts.size())
      words += ". Colours: " + range_text(parts[static_cast<std::size_t>(head)].spec.range);
    tooltip(widgets, words);
    if (head == context.selection.head || item.hovered) {
      const float out = std::round(2.0f * context.scale);
      const Rgba8 color = head == context.selection.head ? palette.focus : palette.text_dim;
      list->AddRect(ImVec2(corner(rect).x - out, corner(rect).y - out),
                    ImVec2(far_corner(rect).x + out, far_corner(rect).y + out), im_color(color),
                    2.0f * context.scale, 0, std::max(1.0f, std::round(1.5f * context.scale)));
    }
    if (item.double_clicked && has_gains(context)) {
      action = edit(toggle_solo(context.scenario, head));
    } else if (item.clicked) {
      action.selection = looking_at_head(context, head);
    }
    PanelAction number = draw_head_number(context, grid.number_line(head), head, fmt::format("{}", head));
    if (number.scenario || number.selection) action = std::move(number);
  }
  work_by_keys(context, grid, action);
  return action;
}

}  // namespace headwise
