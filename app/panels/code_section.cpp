#include "app/panels/code_section.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "app/panels/named_text.h"
#include "app/platform/fonts.h"
#include "app/session/commands.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/code/code_lines.h"

namespace headwise {
namespace {

void draw_styles(const PanelContext& context, CodeSectionState& state) {
  std::array<std::string_view, code_styles.size()> names;
  std::ranges::transform(code_styles, names.begin(), code_style_name);
  int chosen = static_cast<int>(state.style);
  if (segmented_control(context.widgets(), "code style", names, chosen))
    state.style = code_styles[static_cast<std::size_t>(chosen)];
  const ImVec2 min = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  const float part = size.x / static_cast<float>(names.size());
  for (std::size_t i = 0; i < names.size() && ui_probes_wanted(); ++i) {
    const float x = min.x + part * static_cast<float>(i);
    ui_probe(fmt::format("inspector/code/{}", names[i]), ImVec2(x, min.y), ImVec2(x + part, min.y + size.y));
  }
}

// All steps with the arrays, ready to be pasted and run: the command of the Edit menu.
void draw_program_link(const PanelContext& context, TextColumn& column, PanelAction& action) {
  const auto link = column.link("program", "copy the whole program", context.palette.text_dim);
  ui_probe("inspector/program", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  tooltip(
      context.widgets(),
      "every step with its arrays, gains and dropout, as one Python program that prints the same numbers");
  if (link.clicked) action.command = CommandId::copy_program;
}

}  // namespace

void draw_code_section(const PanelContext& context, CodeSectionState& state, TextColumn& column,
                       const std::optional<StepPicture>& picture, PanelAction& action) {
  if (!picture) return;
  const std::vector<CodeLine> code =
      code_lines(state.style, context.selection.step, picture->result, context.trace);
  if (code.empty()) return;
  column.heading("THE SAME IN CODE");
  draw_styles(context, state);
  column.space(4);
  std::vector<TextColumn::Line> lines;
  for (const CodeLine& line : code) {
    lines.push_back({line.code, false});
    if (!line.comment.empty()) lines.push_back({"# " + line.comment, true});
  }
  std::string word;
  column.code("code", lines, &word);
  if (const auto tensor = find_tensor_name(word)) point_at_tensor(context, *tensor);
  ui_probe("inspector/code/lines", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  column.space(4);
  draw_program_link(context, column, action);
  column.space(14);
}

}  // namespace headwise
