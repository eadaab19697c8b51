#include "app/panels/status_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/cell_terms.h"
#include "app/panels/stage_marks.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/number_text.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/widgets/work_probe.h"

namespace headwise {
namespace {

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

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
  const WidgetContext widgets = context.widgets();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  ImFont* font = context.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = std::round(origin.y + 0.5f * (room.y - font->FontSize));
  const float gap = widgets.px(24);
  float right = origin.x + room.x;
  // From the right: the cell, then the time; what is left belongs to the sentence. A line too narrow for all of them
  // keeps the sentence.
  const auto put_right = [&](const std::string& text, Rgba8 color, const char* probe) {
    const float width = width_of(font, text);
    if (text.empty() || right - width - gap < origin.x + 0.4f * room.x) return;
    right -= width;
    list->AddText(font, font->FontSize, {std::round(right), y}, im_color(color), text.c_str());
    ui_probe(probe, {right, origin.y}, {right + width, origin.y + room.y});
    right -= gap;
  };
  put_right(cell_text(context), context.palette.text, "status/cell");
  put_right(info.computing ? "computing …" : compute_text(context.trace, info.compute_seconds),
            context.palette.text_dim, "status/time");
  const std::string sentence = context.last_edit.empty()
                                   ? "Change something: this line says what it did to the output."
                                   : context.last_edit;
  const std::string shown = fitted_text(sentence, font, std::max(0.0f, right - origin.x));
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({std::max(1.0f, std::min(right - origin.x, width_of(font, shown))), std::max(1.0f, room.y)});
  list->AddText(font, font->FontSize, {origin.x, y},
                im_color(context.last_edit.empty() ? context.palette.text_dim : context.palette.text),
                shown.c_str());
  ui_probe_item("status/last_edit");
  if (shown != sentence) tooltip(widgets, sentence);
}

}  // namespace headwise
