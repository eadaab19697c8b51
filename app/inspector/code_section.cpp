#include "app/inspector/code_section.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "app/panels/named_text.h"
#include "app/session/commands.h"
#include "app/stage/mask_convention.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/answers/memory_order.h"
#include "core/code/code_lines.h"

namespace headwise {
namespace {

void draw_styles(const PanelContext& context, CodeSectionState& state) {
  std::array<std::string_view, code_styles.size()> names;
  std::ranges::transform(code_styles, names.begin(), code_style_name);
  int chosen = static_cast<int>(state.style);
  if (segmented_control(context, "code style", names, chosen))
    state.style = code_styles[static_cast<std::size_t>(chosen)];
  tooltip(context, "code style: PyTorch functions, a single einsum, plain NumPy, or d2l");
  const ImVec2 min = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  const float part = size.x / float(names.size());
  for (std::size_t i = 0; i < names.size() && ui_probes_wanted(); ++i) {
    const float x = min.x + part * float(i);
    ui_probe(fmt::format("inspector/code/{}", names[i]), ImVec2(x, min.y), ImVec2(x + part, min.y + size.y));
  }
}

// All steps with the arrays, ready to be pasted and run: the command of the Edit menu.
void draw_program_link(const PanelContext& context, TextColumn& column, PanelAction& action) {
  const auto link = column.link("program", "copy the whole program", context.palette.text_dim);
  ui_probe("inspector/program", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  tooltip(
      context,
      "every step, with its arrays, gains and dropout, as one Python program that prints the same numbers");
  if (link.clicked) action.command = CommandId::copy_program;
}

// For a projection in the layout 3·H: how the small matrices give the same columns.
std::string small_matrices_line(const PanelContext& context, TensorId result) {
  const AttentionOptions& o = context.trace.options;
  const bool per_head = context.scenario.parameters.layout == ProjectionLayout::per_head;
  if (!per_head || o.op != Op::multi_head_attention) return "";
  switch (result) {
    case TensorId::q:
      return fmt::format("head h: q[:, :, {0}*h:{0}*(h+1)] = query @ q_proj_weight[{0}*h:{0}*(h+1)].T",
                         o.head_dim);
    case TensorId::k:
      return fmt::format("head g: k[:, :, {0}*g:{0}*(g+1)] = key @ k_proj_weight[{0}*g:{0}*(g+1)].T",
                         o.head_dim);
    case TensorId::v:
      return fmt::format("head g: v[:, :, {0}*g:{0}*(g+1)] = value @ v_proj_weight[{0}*g:{0}*(g+1)].T",
                         o.v_head_dim);
    default:
      return "";
  }
}

// For a split or a concatenation of arrays stored as (L,N,E): what nn.MultiheadAttention does with them,
// whose strides the memory order view shows.
std::string sequence_first_line(const PanelContext& context, TensorId result) {
  if (context.scenario.inputs.batch_first) return "";
  const MemoryOrder order = memory_order(context.trace, context.selection.step, result, false);
  if (order.states.size() == 1) return "";
  std::string code;
  for (const MemoryState& state : order.states) code += state.code;
  return fmt::format("batch_first=False: {}, strides {}", code, order.states.back().layout.strides_text());
}

}  // namespace

void draw_code_section(const PanelContext& context, CodeSectionState& state, TextColumn& column,
                       const std::optional<StepPicture>& picture, PanelAction& action) {
  // The lines that make a mask say which pairs it blocks.
  if (!picture || (context.veil && context.veil->mask)) return;
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
  if (const std::string small = small_matrices_line(context, picture->result); !small.empty())
    lines.push_back({"# " + small, true});
  if (const std::string other = sequence_first_line(context, picture->result); !other.empty())
    lines.push_back({"# " + other, true});
  const auto booleans = mask_code(state.style, context.selection.mask_convention);
  const auto mask =
      stage_matrix(context.trace, {TensorId::mask_bias}, {context.selection.batch, context.selection.head});
  if (booleans && context.selection.step == Step::mask && mask) {
    const bool boolean = is_boolean(mask->view);
    if (boolean) lines.push_back({booleans->code, false});
    lines.push_back(
        {boolean ? "# " + booleans->comment : "# floats are added: both conventions treat them alike", true});
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
