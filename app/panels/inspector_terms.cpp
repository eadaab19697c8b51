#include "app/panels/inspector_terms.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/panels/reach_words.h"
#include "app/panels/stage_drawing.h"
#include "app/panels/stage_matrix.h"
#include "app/platform/fonts.h"
#include "app/session/commands.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/number_text.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

using Id = TensorId;

constexpr std::size_t few_terms = 6, few_terms_compact = 4;
constexpr std::size_t most_lines = 12;  // of all terms, before they scroll

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

// The rows of in_proj_weight belong to q, k or v, as the other tensors do by their names.
Rgba8 cell_hue(const PanelContext& context, const CellRef& cell) {
  if (cell.tensor.id != Id::in_proj_weight && cell.tensor.id != Id::in_proj_bias) {
    return tensor_hue(context.palette, cell.tensor.id);
  }
  const AttentionOptions& o = context.trace.options;
  const Index row = cell.index.empty() ? 0 : cell.index.front();
  const Index q_rows = o.num_heads * o.head_dim, k_rows = o.num_kv_heads * o.head_dim;
  return tensor_hue(context.palette, row < q_rows ? Id::q : row < q_rows + k_rows ? Id::k : Id::v);
}

void point_at(const PanelContext& context, const BoxRef& box) {
  if (context.pointing) context.pointing->boxes.push_back(box);
}

// The columns of the list: where names end, how far factors stand apart, where values end and bars begin.
struct TermColumns {
  float name = 0, pitch = 0, value_end = 0, bar_begin = 0, bar = 0, number = 0, letter = 0;
  double largest = 0.0;  // of the finite terms: its bar is full

  TermColumns(const PanelContext& context, float width, const CellTerms& terms) {
    letter = width_of(context.fonts.mono_small, "0");
    number = 8.0f * letter;
    bar = std::max(24.0f * context.scale, width * 0.13f);
    bar_begin = width - bar;
    value_end = bar_begin - 8.0f * context.scale;
    std::size_t factors = 0;
    for (const NamedTerm& term : terms.largest) {
      factors = std::max(factors, term.values.size());
      name = std::max(name, width_of(context.fonts.small, term.name));
      if (std::isfinite(term.value)) largest = std::max(largest, std::abs(term.value));
    }
    // Of equal pitch, right-aligned, with the signs between them.
    const auto columns = static_cast<float>(factors + 1);
    const float least = 3.0f * letter;
    name = std::clamp(name, least, std::max(least, value_end - columns * (number + 1.6f * letter)));
    pitch = std::clamp((value_end - name) / columns, number, number * 1.7f);
  }
};

class TermLine {
 public:
  TermLine(const PanelContext& context, const TermColumns& columns, ImVec2 at, float width, float height)
      : context_(context), columns_(columns), at_(at), width_(width), height_(height) {}

  // The factor that was clicked: the first one for a click anywhere else on the line.
  const CellRef* draw(const NamedTerm& term, int index, Combine combine) {
    const CellRef* clicked = nullptr;
    place_factors(term, combine);
    if (!term.factors.empty()) {
      ImGui::SetCursorScreenPos(at_);
      const std::string id = fmt::format("term{}", index);
      const bool pressed = ImGui::InvisibleButton(id.c_str(), {width_, height_});
      const bool focused = focus_stop(context_.focus, ImGui::GetID(id.c_str()), FocusKeys::press);
      const bool entered = focused && (key_pressed(Key::enter, false) || key_pressed(Key::space, false));
      const bool hovered = ImGui::IsItemHovered();
      ui_probe_item("inspector/term", index);
      const std::size_t under_mouse = hovered ? factor_under_mouse() : 0;
      if (hovered || focused) {
        ImGui::GetWindowDrawList()->AddRectFilled(at_, {at_.x + width_, at_.y + height_},
                                                  im_color(context_.palette.control_hover),
                                                  3.0f * context_.scale);
        for (const CellRef& factor : term.factors) point_at(context_, box_of(factor));
      }
      if (hovered) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        tooltip(context_.widgets(), told(term, under_mouse));
        lit_ = under_mouse;
      }
      if (pressed || entered) clicked = &term.factors[under_mouse];
    }
    write(term, combine);
    return clicked;
  }

 private:
  struct Placed {
    std::size_t factor;
    float begin, end;  // on the screen
  };

  void place_factors(const NamedTerm& term, Combine combine) {
    // A single factor is the number itself, or stands inside of its exp.
    if (combine == Combine::softmax || term.values.size() < 2) return;
    float end = columns_.value_end;
    for (std::size_t i = term.values.size(); i-- > 0;) {
      end -= columns_.pitch;
      if (end - columns_.number < columns_.name * 0.8f) break;  // a third has no room in a narrow window
      const float width = width_of(context_.fonts.mono_small, decimal_text(term.values[i]));
      placed_.push_back({i, at_.x + end - width, at_.x + end});
    }
  }

  std::size_t factor_under_mouse() const {
    const float x = ImGui::GetIO().MousePos.x;
    for (const Placed& each : placed_) {
      if (x >= each.begin - 4.0f * context_.scale && x < each.end + 4.0f * context_.scale) return each.factor;
    }
    return 0;
  }

  std::string told(const NamedTerm& term, std::size_t chosen) const {
    std::string text;
    for (std::size_t i = 0; i < term.factors.size(); ++i) {
      text += fmt::format("{}{} = {}", i > 0 ? "\n× " : "", box_text(context_.trace, box_of(term.factors[i])),
                          decimal_text(term.values[i]));
    }
    const std::string name = to_string(term.factors[chosen].tensor);
    return text + fmt::format("\nclick: go to the number of {}; {} leads back", name,
                              first_key_text(CommandId::go_back));
  }

  void write(const NamedTerm& term, Combine combine) const {
    ImFont* font = context_.fonts.mono_small;
    ImFont* small = context_.fonts.small;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& palette = context_.palette;
    const float y = at_.y + (height_ - font->FontSize) / 2;
    list->AddText(small, small->FontSize, ImVec2(at_.x, at_.y + (height_ - small->FontSize) / 2),
                  im_color(palette.text_dim),
                  fitted_text(drawable_text(term.name, small), small, columns_.name).c_str());
    const auto right_aligned = [&](const std::string& text, float end, Rgba8 color) {
      list->AddText(font, font->FontSize, ImVec2(std::floor(end - width_of(font, text)), y), im_color(color),
                    text.c_str());
    };
    right_aligned(decimal_text(term.value), at_.x + columns_.value_end, palette.text);
    if (combine == Combine::softmax && term.values.size() == 1) {
      right_aligned(fmt::format("exp({} − max) =", decimal_text(term.values[0])),
                    at_.x + columns_.value_end - columns_.number, palette.text_dim);
    }
    for (const Placed& each : placed_) {
      right_aligned(each.factor + 1 == term.values.size() ? "=" : "×", each.end + 1.6f * columns_.letter,
                    palette.text_dim);
      const Rgba8 hue = cell_hue(context_, term.factors[each.factor]);
      right_aligned(decimal_text(term.values[each.factor]), each.end, hue);
      if (lit_ == each.factor) {
        const float line = std::floor(y + font->FontSize + 1.0f * context_.scale);
        list->AddLine({each.begin, line}, {each.end, line}, im_color(hue), context_.scale);
      }
    }
    if (columns_.largest > 0.0 && std::isfinite(term.value)) {
      const float length = static_cast<float>(std::abs(term.value) / columns_.largest) * columns_.bar;
      const ImVec2 from(at_.x + columns_.bar_begin, at_.y + height_ * 0.26f);
      const ImVec2 to(from.x + std::max(1.0f, length), at_.y + height_ * 0.74f);
      const ColorTable& table = color_table(ColorMap::blue_orange, context_.theme);
      list->AddRectFilled(from, to, im_color(term.value < 0 ? table[64] : palette.bar));
    }
  }

  const PanelContext& context_;
  const TermColumns& columns_;
  ImVec2 at_;
  float width_, height_;
  std::vector<Placed> placed_;
  std::optional<std::size_t> lit_;  // the factor that a click would lead to
};

void follow(const PanelContext& context, const BoxRef& box, PanelAction& action) {
  action.selection = selection_at(context, box);
  action.follows_link = true;
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
  const TermColumns columns(context, width, terms);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count), line);
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      TermLine each(context, columns, at, width, line);
      if (const CellRef* cell = each.draw(terms.largest[static_cast<std::size_t>(i)], i, combine))
        follow(context, box_of(*cell), action);
      ImGui::SetCursorScreenPos({at.x, at.y + line});
    }
  }
  clipper.End();
  if (scrolls) ImGui::EndChild();
  ImGui::PopStyleVar();
  if (terms.more == 0 && !state.all) return;
  // The two kinds of terms of a layer norm's gradient have no common sum.
  const std::string sum =
      combine == Combine::layer_norm_gradient ? "" : " = " + decimal_text(terms.more_value);
  const std::string text =
      state.all ? "only the largest terms" : fmt::format("+ {} more terms{}", terms.more, sum);
  if (column.link("more", text, context.palette.text_dim, "all terms of this number, or only the largest few")
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

// A name in the lists, and all that it stands for.
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
  return fmt::format("{}: {} {}\nclick: look at it; {} leads back", text, tensor_entry(tensor.id).what,
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
          fmt::format("what this number was made from and what it feeds: the next tensors only, or "
                      "back to the inputs and parameters and on to the output ({})",
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
  const std::string told = fmt::format("{} ({}); {} on the way back", command_entry(CommandId::go_back).what,
                                       all_keys_text(CommandId::go_back), context.trail->size());
  const TextColumn::Link link = column.link("back", text, context.palette.text_dim, told);
  ui_probe_item("inspector/back");
  if (link.hovered) point_at(context, box_of(cell));
  if (link.clicked) action.command = CommandId::go_back;
  column.space(2);
}

}  // namespace headwise
