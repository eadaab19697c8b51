#include "app/stage/inspector_sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/stage_matrix.h"
#include "app/session/commands.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

// The lines of the inspector's list of terms: name, factors with × between, = value, and a bar proportional
// to its magnitude.

using Id = TensorId;

// Widths are measured for this many terms; the rest are smaller.
constexpr std::size_t most_measured = 400;
constexpr float sign_letters = 2.2f;  // the width of a sign with its padding, in digits

// A softmax's term is a function of its one factor.
bool is_exponential(const NamedTerm& term, Combine combine) {
  return (combine == Combine::softmax || combine == Combine::log_sum_exp) && term.values.size() == 1;
}

// The rows of in_proj_weight belong to q, k or v, as other tensors do by name.
Rgba8 cell_hue(const PanelContext& context, const CellRef& cell) {
  if (cell.tensor.id != Id::in_proj_weight && cell.tensor.id != Id::in_proj_bias)
    return tensor_hue(context.palette, cell.tensor.id);
  const AttentionOptions& o = context.trace.options;
  const Index row = cell.index.empty() ? 0 : cell.index.front();
  const Index q_rows = o.num_heads * o.head_dim, k_rows = o.num_kv_heads * o.head_dim;
  return tensor_hue(context.palette, row < q_rows ? Id::q : row < q_rows + k_rows ? Id::k : Id::v);
}

// A number of a term as written: its factors from the left; a single factor is the number itself.
struct Written {
  std::string text;
  std::optional<std::size_t> factor;  // none: a function of the factor, which has no number of its own
};

std::vector<Written> written_factors(const NamedTerm& term, Combine combine, int decimals) {
  if (is_exponential(term, combine))
    return {{fmt::format("exp({} − max)", decimal_text(term.values[0], decimals)), std::nullopt}};
  std::vector<Written> all;
  for (std::size_t i = 0; term.values.size() > 1 && i < term.values.size(); ++i)
    all.push_back({decimal_text(term.values[i], decimals), i});
  // What the indexer makes of a product: divided by a root, rotated, or 0 by ReLU.
  const double product = std::accumulate(term.values.begin(), term.values.end(), 1.0, std::multiplies<>());
  if (is_function_of_products(combine) && product != 0.0 && all.size() > 1)
    all.push_back({decimal_text(term.value / product, decimals), std::nullopt});
  return all;
}

TermWidths widths_of(const PanelContext& context, const CellTerms& terms, Combine combine, int decimals) {
  ImFont* mono = context.fonts.mono_small;
  TermWidths widths{decimals, 0.0f, 0.0f, {}};
  const std::size_t measured = std::min(terms.largest.size(), most_measured);
  for (std::size_t t = 0; t < measured; ++t) {
    const NamedTerm& term = terms.largest[t];
    widths.name = std::max(widths.name, width_of(context.fonts.small, term.name) + context.scale);
    widths.value = std::max(widths.value, width_of(mono, decimal_text(term.value, decimals)));
    const std::vector<Written> factors = written_factors(term, combine, decimals);
    widths.factors.resize(std::max(widths.factors.size(), factors.size()));
    // Right-aligned: with fewer factors than the others, the last ones line up below theirs.
    for (std::size_t i = 0; i < factors.size(); ++i) {
      float& width = widths.factors[widths.factors.size() - factors.size() + i];
      width = std::max(width, width_of(mono, factors[i].text));
    }
  }
  return widths;
}

std::string term_tooltip(const PanelContext& context, const NamedTerm& term, std::size_t chosen) {
  std::string text;
  for (std::size_t i = 0; i < term.factors.size(); ++i)
    text += fmt::format("{}{} = {}", i > 0 ? "\n× " : "", box_text(context.trace, box_of(term.factors[i])),
                        decimal_text(term.values[i]));
  const std::string name = to_string(term.factors[chosen].tensor);
  return text + fmt::format("\nclick to go to this number in {}; {} goes back", name,
                            first_key_text(CommandId::go_back));
}

// The factor reached with the arrow keys on the focused line.
std::size_t factor_by_keys(FocusOrder& focus, std::size_t count) {
  if (focus.moved) focus.column = 0;
  if (key_pressed(Key::left)) --focus.column;
  if (key_pressed(Key::right)) ++focus.column;
  focus.column = std::clamp(focus.column, 0, static_cast<int>(count) - 1);
  return static_cast<std::size_t>(focus.column);
}

// The name of a line's ImGui item.
std::string term_line_id(int line) {
  return fmt::format("term{}", line);
}

class TermList {
 public:
  // `width` and `height` of a line, in pixels.
  TermList(const PanelContext& context, const CellTerms& terms, Combine combine, float width, float height)
      : context_(context), terms_(terms), combine_(combine), width_(width), height_(height) {
    const TermWidths choices[] = {widths_of(context, terms, combine, 3), widths_of(context, terms, combine, 2),
                                  widths_of(context, terms, combine, 1)};
    const float sign = sign_letters * width_of(context.fonts.mono_small, "0");
    columns_ = term_columns(choices, width, sign, context.scale);
    for (const NamedTerm& term : terms.largest)
      if (std::isfinite(term.value)) largest_ = std::max(largest_, std::abs(term.value));
  }

  // Draws a line; returns the factor clicked, or chosen with Enter or Space: the first one for a click next
  // to all of them. ← and → move through the factors of the focused line.
  const CellRef* draw_line(int line, ImVec2 at) const {
    const NamedTerm& term = terms_.largest[static_cast<std::size_t>(line)];
    ImFont* font = context_.fonts.mono_small;
    ImFont* small = context_.fonts.small;
    const Painter paint = context_.painter();
    const Palette& palette = context_.palette;
    const float u = context_.scale;
    struct Placed {
      Written written;
      float begin, end;  // on the screen
    };
    std::vector<Placed> placed;
    const std::vector<Written> factors = written_factors(term, combine_, columns_.decimals);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const float* end = columns_.end_of(i, factors.size());
      if (end) placed.push_back({factors[i], at.x + *end - width_of(font, factors[i].text), at.x + *end});
    }

    const CellRef* clicked = nullptr;
    std::optional<std::size_t> lit;  // the factor that a click would lead to
    if (!term.factors.empty()) {
      ImGui::SetCursorScreenPos(at);
      const std::string id = term_line_id(line);
      const bool pressed = ImGui::InvisibleButton(id.c_str(), {width_, height_});
      const bool hovered = ImGui::IsItemHovered();
      const bool focused = focus_stop(context_.focus, ImGui::GetID(id.c_str()), FocusKeys::choose);
      ui_probe_item("inspector/term", line);
      std::size_t chosen = focused ? factor_by_keys(*context_.focus, term.factors.size()) : 0;
      if (hovered) {
        const float x = ImGui::GetIO().MousePos.x;
        chosen = 0;
        for (const Placed& each : placed) {
          const bool here = x >= each.begin - 4.0f * u && x < each.end + 4.0f * u;
          if (here && each.written.factor) chosen = *each.written.factor;
        }
      }
      if (hovered || focused) {
        paint.fill(at, {at.x + width_, at.y + height_}, palette.control_hover, 3.0f * u);
        for (const CellRef& factor : term.factors)
          if (context_.pointing) context_.pointing->boxes.push_back(box_of(factor));
        lit = chosen;
      }
      if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      tooltip(context_, term_tooltip(context_, term, chosen));
      if (pressed || (focused && press_key_pressed())) clicked = &term.factors[chosen];
    }

    const float y = at.y + (height_ - font->FontSize) / 2;
    paint.text(small, {at.x, at.y + (height_ - small->FontSize) / 2}, palette.text_dim,
               fitted_text(drawable_text(term.name, small), small, columns_.name));
    paint.text(font, {at.x + columns_.value_end, y}, palette.text,
               decimal_text(term.value, columns_.decimals), Align::right);
    const float letter = width_of(font, "0");
    for (const Placed& each : placed) {
      const bool last = &each == &placed.back();
      paint.text(font, {each.end + 1.6f * letter, y}, palette.text_dim, last ? "=" : "×", Align::right);
      const Rgba8 hue =
          each.written.factor ? cell_hue(context_, term.factors[*each.written.factor]) : palette.text_dim;
      paint.text(font, {each.end, y}, hue, each.written.text, Align::right);
      if (lit && lit == each.written.factor) {
        const float under = std::floor(y + font->FontSize + 1.0f * u);
        paint.line({each.begin, under}, {each.end, under}, hue, u);
      }
    }
    if (largest_ > 0.0 && columns_.bar > 0.0f && std::isfinite(term.value)) {
      const float length = float(std::abs(term.value) / largest_) * columns_.bar;
      const ImVec2 from(at.x + columns_.bar_begin, at.y + height_ * 0.26f);
      const ImVec2 to(from.x + std::max(1.0f, length), at.y + height_ * 0.74f);
      const ColorTable& table = color_table(ColorMap::blue_orange, context_.theme);
      paint.fill(from, to, term.value < 0 ? table[64] : palette.bar);
    }
    return clicked;
  }

 private:
  const PanelContext& context_;
  const CellTerms& terms_;
  Combine combine_;
  float width_, height_;
  TermColumns columns_;
  double largest_ = 0.0;  // of the finite terms: its bar has full length
};

constexpr std::size_t few_terms = 6, few_terms_compact = 4;
constexpr std::size_t most_term_lines = 12;  // for all terms, before they scroll

void point_at(const PanelContext& context, const BoxRef& box) {
  if (context.pointing) context.pointing->boxes.push_back(box);
}

// What a click on a tensor's box leads to: the step that computes it, at its head, pinned if it is a single
// cell.
Selection selection_at(const PanelContext& context, const BoxRef& box) {
  Selection selection = context.selection;
  selection.step = step_of(box.tensor.id, context.trace.options);
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

void follow(const PanelContext& context, const BoxRef& box, PanelAction& action) {
  action.selection = selection_at(context, box);
  action.follows_link = true;
}

// The line of the list with keyboard focus; −1: none.
int line_in_focus(const PanelContext& context, int count) {
  if (!context.focus || context.focus->focused == 0) return -1;
  for (int i = 0; i < count; ++i)
    if (context.focus->focused == ImGui::GetID(term_line_id(i).c_str())) return i;
  return -1;
}

// A name in the lists, and everything it stands for.
struct Link {
  std::string text, tip;
  std::vector<BoxRef> boxes;  // a click goes to the first
};

void draw_link_list(const PanelContext& context, TextColumn& column, const char* name,
                    const std::vector<Link>& links, std::size_t most, PanelAction& action) {
  ImFont* sans = context.fonts.sans;
  ImFont* mono = context.fonts.mono_small;
  const Painter paint = context.painter();
  const ImVec2 begin = column.cursor();
  paint.text(sans, begin, context.palette.text_dim, name);
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
                    tensor_hue(context.palette, each.boxes.front().tensor.id), each.tip);
    ui_probe(fmt::format("inspector/{}/{}", name, i), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
    for (const BoxRef& box : each.boxes)
      if (link.hovered) point_at(context, box);
    if (link.clicked) follow(context, each.boxes.front(), action);
    x += width + width_of(mono, "  ");
  }
  if (links.size() > most)
    paint.text(mono, {begin.x + x, begin.y + y}, context.palette.text_dim,
               fmt::format("+ {} more", links.size() - most));
  ImGui::SetCursorScreenPos(begin);
  column.skip(y + line);
}

std::string link_tooltip(const PanelContext& context, const std::string& text, TensorName tensor) {
  const TensorPtr values = context.trace.tensor(tensor);
  return fmt::format("{}: {} {}\nclick to show it; {} goes back", text, tensor_entry(tensor.id).what,
                     values ? values->shape().to_string() : "", first_key_text(CommandId::go_back));
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
  const bool scrolls = count > most_term_lines;
  const float height = line * float(std::min(count, most_term_lines));
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
  // A norm is no sum of its row.
  const bool is_norm = combine == Combine::norm || combine == Combine::norm_gradient;
  const std::string sum = is_norm ? "" : " = " + decimal_text(terms.more_value);
  const std::string text =
      state.all ? "only the largest terms" : fmt::format("+ {} more terms{}", terms.more, sum);
  if (column
          .link("more", text, context.palette.text_dim,
                "show all terms of this number, or only the largest few")
          .clicked)
    state.all = !state.all;
  ui_probe_item("inspector/more_terms");
}

void draw_links(const PanelContext& context, TextColumn& column, const char* name,
                const std::vector<BoxRef>& boxes, PanelAction& action) {
  if (boxes.empty()) return;
  constexpr std::size_t most = 6;
  std::vector<Link> links;
  for (const BoxRef& box : boxes) {
    const std::string text = box_text(context.trace, box);
    links.push_back({text, link_tooltip(context, text, box.tensor), {box}});
  }
  draw_link_list(context, column, name, links, most, action);
}

void draw_way_switch(const PanelContext& context, TextColumn& column, PanelAction& action) {
  constexpr std::array<std::string_view, 2> ways{"next", "all the way"};
  int chosen = context.selection.all_the_way ? 1 : 0;
  column.space(4);
  if (segmented_control(context, "way", ways, chosen)) action.command = CommandId::all_the_way;
  named_item(
      context, "inspector/way",
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
    for (const BoxRef& box : boxes)
      if (box.tensor == tensor) link.boxes.push_back(box);
    link.text = fmt::format("{} {}", to_string(tensor), reach_words(context.trace, boxes, tensor));
    link.tip = link_tooltip(context, link.text, tensor);
    links.push_back(std::move(link));
  }
  draw_link_list(context, column, name, links, links.size(), action);
}

void draw_way_back(const PanelContext& context, TextColumn& column, PanelAction& action) {
  if (!context.trail || context.trail->empty()) return;
  const CellRef& cell = context.trail->cell();
  const std::string text = "← " + box_text(context.trace, box_of(cell));
  const std::string tip = fmt::format("{} ({}); trail of {}", command_entry(CommandId::go_back).what,
                                      all_keys_text(CommandId::go_back), context.trail->size());
  const TextColumn::Link link = column.link("back", text, context.palette.text_dim, tip);
  ui_probe_item("inspector/back");
  if (link.hovered) point_at(context, box_of(cell));
  if (link.clicked) action.command = CommandId::go_back;
  column.space(2);
}

}  // namespace headwise
