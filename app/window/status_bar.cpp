#include "app/window/status_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/cell_terms.h"
#include "app/content/stage_matrix.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/painter.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
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

void draw_status_bar(const PanelContext& context, const StatusInfo& info) {
  work_probe("status");
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
  if (!info.waiting) put_right(cell_text(context), context.palette.text, "status/cell");
  if (!info.waiting && context.page_refused) {
    // What was computed is of another page.
  } else if (!info.waiting) {
    put_right(compute_text(context.trace, info.compute_seconds), context.palette.text_dim, "status/time");
  } else if (!info.waiting->told()) {
    put_right(std::string(info.what) + " …", context.palette.text_dim, "status/time");
    wake_again(widgets, seconds_before_told - info.waiting->seconds);
  } else {
    const float end = right;
    put_right(info.what + info.waiting->text() + " · Escape cancels", context.palette.text, "status/time");
    draw_bar(context, {right + gap, origin.y}, end, static_cast<float>(info.waiting->fraction));
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

}  // namespace headwise
