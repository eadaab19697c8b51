#include "app/stage/compare_view.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/session/commands.h"
#include "app/session/other_side.h"
#include "app/stage/compare_maps.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/button.h"
#include "app/widgets/measure.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/trace/why_absent.h"

namespace headwise {
namespace {

// "compare with | pinned | one wide head | … pin this": draws the line above the maps, returns its height.
float draw_choice(const PanelContext& context, PanelAction& action, const RectF& area) {
  if (context.picture) return 0.0f;  // the titles of the maps say what is beside what
  // Each describes the other side, as app/session/other_side.cpp computes it.
  const bool scaled = score_scale(context.trace.options).scale != 1.0,
             masked = context.trace.tensors.mask_bias != nullptr;
  const std::array<std::string_view, compare_with_count> names{"pinned",
                                                               "one wide head",
                                                               "packed",
                                                               "as 3",
                                                               "as 3·H",
                                                               scaled ? "no scale" : "with scale",
                                                               masked ? "no mask" : "causal mask"};
  const std::array<std::string_view, compare_with_count> short_names{
      "pin", "1 head", "W", "3", "3·H", scaled ? "no √D" : "√D", masked ? "no mask" : "causal"};
  ImVec2 at = corner(area);
  const float end = at.x + static_cast<float>(area.width), u = context.scale;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* sans = context.fonts.sans;
  const ImVec2 size = segmented_control_size(context.widgets(), names);
  const float y = std::round(at.y + 0.5f * (size.y - sans->FontSize));
  const std::string pin = fmt::format("pin this ({})", first_key_text(CommandId::pin_scenario));
  const float before = width_of(sans, "compare with") + 8 * u, behind = width_of(sans, pin) + 36 * u;
  const bool all = before + size.x + behind <= end - at.x;
  if (all) {
    list->AddText(sans, sans->FontSize, {at.x, y}, im_color(context.palette.text_dim), "compare with");
    at.x += before;
  }
  ImGui::SetCursorScreenPos(at);
  int chosen = static_cast<int>(context.selection.compare_with);
  const bool fits = size.x <= end - at.x;
  if (stage_choice(context, "beside", fits ? names : short_names, chosen, end - at.x)) {
    action.selection = context.selection;
    action.selection->compare_with = static_cast<CompareWith>(chosen);
  }
  tooltip(context.widgets(),
          "what to compare this scenario with: the pinned one; the same parameters read as one wide head; "
          "in_proj stored as one, 3 or 3·H matrices; without the scale 1/√D; without the mask (or with a "
          "causal one if there is none)");
  const float right = ImGui::GetItemRectMax().x;
  if (right + behind <= end) {
    ImGui::SetCursorScreenPos({right + 14 * u, at.y + std::round(0.5f * (size.y - 26 * u))});
    if (text_button(context.widgets(), "pin", pin)) action.command = CommandId::pin_scenario;
    ui_probe_item("stage/pin");
    tooltip(context.widgets(), "keep this result, to compare it with later ones");
  }
  return size.y;
}

// Why there is no other side to draw; else empty.
std::string no_other_side(const PanelContext& context, TensorName name) {
  const OtherSide* side = context.other_side;
  if (!side) return "computing the other side …";
  if (!side->computation) {
    if (context.selection.compare_with != CompareWith::pinned || context.picture) return side->why;
    return fmt::format(
        "{}: press {} to keep this result, then change something, or choose above what to "
        "compare it with",
        side->why, first_key_text(CommandId::pin_scenario));
  }
  const Trace& trace = *side->computation->trace;
  if (trace.tensor(name)) return "";
  return fmt::format("{} has no {}: {}", side->name, to_string(name), why_absent(trace, name));
}

}  // namespace

PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  area = without_top(area, draw_choice(context, action, area) + 8 * context.scale);
  const StagePart& present = *content.result;
  const auto say = [&](const std::string& sentence) {
    draw_stage_sentence(context, sentence, area);
    state.cell.reset();
    return action;
  };
  if (const std::string why = no_other_side(context, present.matrix.name); !why.empty()) return say(why);
  const OtherSide& side = *context.other_side;
  const Trace& trace = *side.computation->trace;
  Selection there = selection_within(context.selection, trace);
  there.tensor = present.matrix.name.id;
  const StageContent other =
      stage_content(trace, side.computation->inputs.labels, there, context.theme, ranges);
  if (!other.nothing.empty()) return say(side.name + ": " + other.nothing);

  CompareMaps maps(context, state, present, *other.result, ranges);
  area = maps.draw_words(area);
  if (!maps.place(area)) return say("make the window larger to see both sides");
  if (const auto head = maps.draw(under_mouse)) action.selection = looking_at_head(context, *head);
  return action;
}

}  // namespace headwise
