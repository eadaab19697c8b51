#include "app/inspector/inspector_terms.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/content/reach_words.h"
#include "app/content/stage_matrix.h"
#include "app/inspector/term_list.h"
#include "app/platform/fonts.h"
#include "app/session/commands.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

using Id = TensorId;

constexpr std::size_t few_terms = 6, few_terms_compact = 4;
constexpr std::size_t most_lines = 12;  // for all terms, before they scroll

void point_at(const PanelContext& context, const BoxRef& box) {
  if (context.pointing) context.pointing->boxes.push_back(box);
}

void follow(const PanelContext& context, const BoxRef& box, PanelAction& action) {
  action.selection = selection_at(context, box);
  action.follows_link = true;
}

}  // namespace

namespace {

// The line of the list with keyboard focus; −1: none.
int line_in_focus(const PanelContext& context, int count) {
  if (!context.focus || context.focus->focused == 0) return -1;
  for (int i = 0; i < count; ++i) {
    if (context.focus->focused == ImGui::GetID(term_line_id(i).c_str())) return i;
  }
  return -1;
}

}  // namespace

std::size_t shown_terms(TermsState& state, const CellRef& cell, bool compact) {
  if (state.cell != cell) state.all = false;
  state.cell = cell;
  if (state.all) return std::numeric_limits<std::size_t>::max();
  return compact ? few_terms_compact : few_terms;
}

void draw_terms(const PanelContext& context, TextColumn& column, TermsState& state, const CellTerms& terms,
                Combine combine, PanelAction& action) {
  const float line = std::round(context.fonts.mono_small->FontSize * 1.55f);
  const std::size_t count = terms.largest.size();
  const bool scrolls = count > most_lines;
  const float height = line * static_cast<float>(std::min(count, most_lines));
  const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0.0f));
  const ImVec2 begin = column.cursor();
  if (scrolls) {
    ImGui::BeginChild("terms", {column.width(), height}, false, ImGuiWindowFlags_NoBackground);
    ui_probe("inspector/terms", begin, {begin.x + column.width(), begin.y + height});
  }
  const float width = column.width() - (scrolls ? ImGui::GetStyle().ScrollbarSize : 0.0f);
  const TermList list(context, terms, combine, width, line);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count), line);
  // The focused line and its neighbours exist even if scrolled out of sight: Tab can reach them.
  if (const int focused = line_in_focus(context, static_cast<int>(count)); focused >= 0)
    clipper.ForceDisplayRangeByIndices(std::max(focused - 1, 0),
                                       std::min(focused + 2, static_cast<int>(count)));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      if (const CellRef* cell = list.draw_line(i, at)) follow(context, box_of(*cell), action);
      ImGui::SetCursorScreenPos({at.x, at.y + line});
    }
  }
  clipper.End();
  if (scrolls) ImGui::EndChild();
  ImGui::PopStyleVar();
  if (terms.more == 0 && !state.all) return;
  // The two kinds of terms of a layer norm's gradient have no common sum.
  const std::string sum = combine == Combine::layer_norm_gradient ? "" : " = " + decimal_text(terms.more_value);
  const std::string text =
      state.all ? "only the largest terms" : fmt::format("+ {} more terms{}", terms.more, sum);
  if (column
          .link("more", text, context.palette.text_dim,
                "show all terms of this number, or only the largest few")
          .clicked)
    state.all = !state.all;
  ui_probe_item("inspector/more_terms");
}

Selection selection_at(const PanelContext& context, const BoxRef& box) {
  Selection selection = context.selection;
  selection.step = step_of(box.tensor.id);
  selection.tensor = box.tensor.id;
  selection.hovered.reset();
  const TensorPtr tensor = context.trace.tensor(box.tensor);
  bool one_cell = true;
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
    one_cell = one_cell && box.end[axis] == box.begin[axis] + 1;
    if (!tensor || box.end[axis] != box.begin[axis] + 1) continue;
    const std::string& name = tensor->shape().name(static_cast<Index>(axis));
    if (name == "H") selection.head = box.begin[axis];
    if (name == "N") selection.batch = box.begin[axis];
    if (name == "G") selection.head = head_of_map(context.trace, box.tensor, box.begin[axis]);
  }
  if (one_cell) selection.pinned = CellRef{box.tensor, box.begin};
  return selection;
}

namespace {

// A name in the lists, and everything it stands for.
struct Link {
  std::string text, told;
  std::vector<BoxRef> boxes;  // a click goes to the first
};

void draw_link_list(const PanelContext& context, TextColumn& column, const char* name,
                    const std::vector<Link>& links, std::size_t most, PanelAction& action) {
  ImFont* sans = context.fonts.sans;
  ImFont* mono = context.fonts.mono_small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 begin = column.cursor();
  list->AddText(sans, sans->FontSize, begin, im_color(context.palette.text_dim), name);
  const float indent = width_of(sans, "from") + 14.0f * context.scale;
  const float line = std::round(mono->FontSize * 1.5f);
  float x = indent, y = 0.0f;
  for (std::size_t i = 0; i < links.size() && i < most; ++i) {
    const Link& each = links[i];
    const float width = width_of(mono, each.text);
    if (x > indent && x + width > column.width()) {
      x = indent;
      y += line;
    }
    ImGui::SetCursorScreenPos(ImVec2(begin.x + x, begin.y + y + (sans->FontSize - mono->FontSize)));
    const TextColumn::Link link =
        column.link(fmt::format("{}{}", name, i).c_str(), each.text,
                    tensor_hue(context.palette, each.boxes.front().tensor.id), each.told);
    ui_probe(fmt::format("inspector/{}/{}", name, i), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
    for (const BoxRef& box : each.boxes) {
      if (link.hovered) point_at(context, box);
    }
    if (link.clicked) follow(context, each.boxes.front(), action);
    x += width + width_of(mono, "  ");
  }
  if (links.size() > most) {
    list->AddText(mono, mono->FontSize, ImVec2(begin.x + x, begin.y + y), im_color(context.palette.text_dim),
                  fmt::format("+ {} more", links.size() - most).c_str());
  }
  ImGui::SetCursorScreenPos(begin);
  column.skip(y + line);
}

std::string told_of(const PanelContext& context, const std::string& text, TensorName tensor) {
  const TensorPtr values = context.trace.tensor(tensor);
  return fmt::format("{}: {} {}\nclick to show it; {} goes back", text, tensor_entry(tensor.id).what,
                     values ? values->shape().to_string() : "", first_key_text(CommandId::go_back));
}

}  // namespace

void draw_links(const PanelContext& context, TextColumn& column, const char* name,
                const std::vector<BoxRef>& boxes, PanelAction& action) {
  if (boxes.empty()) return;
  constexpr std::size_t most = 6;
  std::vector<Link> links;
  for (const BoxRef& box : boxes) {
    const std::string text = box_text(context.trace, box);
    links.push_back({text, told_of(context, text, box.tensor), {box}});
  }
  draw_link_list(context, column, name, links, most, action);
}

void draw_way_switch(const PanelContext& context, TextColumn& column, PanelAction& action) {
  constexpr std::array<std::string_view, 2> ways{"next", "all the way"};
  int chosen = context.selection.all_the_way ? 1 : 0;
  column.space(4);
  if (segmented_control(context.widgets(), "way", ways, chosen)) action.command = CommandId::all_the_way;
  ui_probe_item("inspector/way");
  tooltip(context.widgets(),
          fmt::format("what this number was computed from and what it feeds: only the adjacent tensors, or "
                      "all the way from the inputs and parameters to the output ({})",
                      first_key_text(CommandId::all_the_way)));
  column.space(2);
}

void draw_way(const PanelContext& context, TextColumn& column, const char* name,
              const std::vector<BoxRef>& boxes, PanelAction& action) {
  if (boxes.empty()) return;
  std::vector<Link> links;
  for (const TensorName tensor : tensors_reached(boxes)) {
    Link link;
    for (const BoxRef& box : boxes) {
      if (box.tensor == tensor) link.boxes.push_back(box);
    }
    link.text = fmt::format("{} {}", to_string(tensor), reach_words(context.trace, boxes, tensor));
    link.told = told_of(context, link.text, tensor);
    links.push_back(std::move(link));
  }
  draw_link_list(context, column, name, links, links.size(), action);
}

void draw_way_back(const PanelContext& context, TextColumn& column, PanelAction& action) {
  if (!context.trail || context.trail->empty()) return;
  const CellRef& cell = context.trail->cell();
  const std::string text = "← " + box_text(context.trace, box_of(cell));
  const std::string told = fmt::format("{} ({}); trail of {}", command_entry(CommandId::go_back).what,
                                       all_keys_text(CommandId::go_back), context.trail->size());
  const TextColumn::Link link = column.link("back", text, context.palette.text_dim, told);
  ui_probe_item("inspector/back");
  if (link.hovered) point_at(context, box_of(cell));
  if (link.clicked) action.command = CommandId::go_back;
  column.space(2);
}

}  // namespace headwise
