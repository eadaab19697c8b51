#include "app/widgets/tooltip.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <iterator>
#include <string>

#include "app/widgets/focus_order.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double delay_seconds = 0.45;
// Reading time: at least this long, plus this much per letter.
constexpr double least_seconds = 4.0, seconds_a_letter = 0.06;
// Between a click that closes a sheet and the first frame without it.
constexpr double uncovered_seconds = 0.5;
constexpr float width = 300.0f;  // design units, where the text wraps
constexpr float gap = 6.0f;      // between the control and its tooltip
// A window of at most this fraction of the screen's width is a column of controls:
// its tooltips go next to it.
constexpr float widest_column = 0.4f;
constexpr float tallest_control = 48.0f;  // design units; for taller items the mouse position counts

ImGuiStorage& memory() {
  return *ImGui::GetStateStorage();
}

// How long the mouse has been on the item. ImGui counts that for items with an ID; over plain text it is the
// time since the mouse moved.
double hover_seconds() {
  if (GImGui->HoveredId != 0) return static_cast<double>(GImGui->HoveredIdTimer);
  const ImGuiID x = ImGui::GetID("tooltip/x"), y = ImGui::GetID("tooltip/y"),
                since = ImGui::GetID("tooltip/since");
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto now = float(ImGui::GetTime());
  if (memory().GetFloat(x, -1.0f) != mouse.x || memory().GetFloat(y, -1.0f) != mouse.y) {
    memory().SetFloat(x, mouse.x);
    memory().SetFloat(y, mouse.y);
    memory().SetFloat(since, now);
  }
  return static_cast<double>(now - memory().GetFloat(since, now));
}

bool any_key_down() {
  return std::ranges::find(ImGui::GetIO().KeysDown, true) != std::end(ImGui::GetIO().KeysDown);
}

// Whether a click or a key has dismissed it since the mouse arrived here.
bool is_dismissed(double rested) {
  const double now = ImGui::GetTime(),
               came = now - rested - 0.5 * static_cast<double>(ImGui::GetIO().DeltaTime);
  const ImGuiID key = ImGui::GetID("tooltip/key");
  if (any_key_down()) memory().SetFloat(key, float(now));
  if (static_cast<double>(memory().GetFloat(key, -1.0f)) >= came) return true;
  const ImGuiIO& io = ImGui::GetIO();
  for (int button = 0; button < ImGuiMouseButton_COUNT; ++button) {
    const double clicked = io.MouseClickedTime[button];
    if (clicked <= 0.0) continue;
    // What the click closed was on top of this, and the mouse has not moved.
    const ImVec2 at = io.MouseClickedPos[button];
    const bool uncovered =
        clicked >= came - uncovered_seconds && at.x == io.MousePos.x && at.y == io.MousePos.y;
    if (clicked >= came || uncovered) return true;
  }
  return false;
}

// Where it covers neither the control nor its neighbours: next to the column that contains the control, else
// above or below its line.
ImVec2 place_of(const WidgetContext& context, ImVec2 size, bool by_keyboard) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  const ImVec2 mouse = by_keyboard ? ImVec2{min.x, max.y} : ImGui::GetIO().MousePos;
  const float space = context.px(gap);
  const auto within = [](float at, float length, float room) {
    return std::round(std::max(0.0f, std::min(at, room - length - 1.0f)));  // of its frame
  };
  const ImRect column = ImGui::GetCurrentWindow()->Rect();
  const float top = within(std::min(min.y, mouse.y), size.y, screen.y);
  if (column.GetWidth() <= widest_column * screen.x) {
    if (column.Max.x + space + size.x <= screen.x) return {std::round(column.Max.x + space), top};
    if (column.Min.x - space - size.x >= 0.0f) return {std::round(column.Min.x - space - size.x), top};
  }
  const bool tall = max.y - min.y > context.px(tallest_control);
  const float above = tall ? mouse.y - 3 * space : min.y, below = tall ? mouse.y + 4 * space : max.y;
  const float left = within(std::max(min.x, std::min(mouse.x, max.x) - 0.5f * size.x), size.x, screen.x);
  if (below + space + size.y <= screen.y && (tall || above - space - size.y < 0.0f))
    return {left, std::round(below + space)};
  return {left, std::max(0.0f, std::round(above - space - size.y))};
}

void wake_after(const WidgetContext& context, double seconds) {
  if (context.wake_after) *context.wake_after = std::min(*context.wake_after, seconds);
}

// ImGui would write a second one of the same frame into the first.
bool is_drawn_already() {
  const ImGuiWindow* const drawn = ImGui::FindWindowByName("##Tooltip_00");
  return drawn && drawn->LastFrameActive == ImGui::GetFrameCount();
}

void draw_tooltip(const WidgetContext& context, std::string_view text, bool by_keyboard) {
  if (is_drawn_already()) return;
  const ImVec2 padding{context.px(10), context.px(8)};
  ImFont* font = context.fonts.small;
  const std::string lines = with_line_breaks(text, font, context.px(width) - padding.x);
  const ImVec2 extent =
      font->CalcTextSizeA(font->FontSize, FLT_MAX, context.px(width) - padding.x, lines.c_str());
  const ImVec2 place =
      place_of(context, {std::ceil(extent.x) + 2 * padding.x, extent.y + 2 * padding.y}, by_keyboard);
  ui_probe("tooltip", place, {place.x + extent.x + 2 * padding.x, place.y + extent.y + 2 * padding.y});
  ImGui::SetNextWindowPos(place);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::BeginTooltip();
  // ImGui hides a window until it has measured it: without another frame it would stay hidden.
  const ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (window->Hidden || window->Appearing) wake_after(context, 0.0);
  ImGui::PushFont(font);
  ImGui::PushTextWrapPos(context.px(width));
  ImGui::TextUnformatted(lines.data(), lines.data() + lines.size());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

}  // namespace

void tooltip(const WidgetContext& context, std::string_view text) {
  if (text.empty()) return;
  const ImGuiLastItemData& item = GImGui->LastItemData;
  const bool asked = context.focus && item.ID != 0 && context.focus->focused == item.ID &&
                     context.focus->explained == item.ID;
  if (!asked) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsAnyMouseDown()) return;
    const double rested = hover_seconds();
    if (is_dismissed(rested)) return;
    if (rested < delay_seconds) return wake_after(context, delay_seconds - rested);
    const double left =
        delay_seconds + least_seconds + seconds_a_letter * static_cast<double>(text.size()) - rested;
    if (left <= 0.0) return;
    wake_after(context, left);
  }
  draw_tooltip(context, text, asked);
}

void named_item(const WidgetContext& context, std::string_view name, std::string_view text) {
  ui_probe_item(name);
  tooltip(context, text);
}

void tooltip_at_once(const WidgetContext& context, std::string_view text) {
  if (!text.empty() && ImGui::IsItemHovered() && !ImGui::IsAnyMouseDown()) draw_tooltip(context, text, false);
}

}  // namespace headwise
