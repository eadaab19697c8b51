#include "app/panels/inspector_panel.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/panels/cell_editor.h"
#include "app/panels/cell_terms.h"
#include "app/panels/code_section.h"
#include "app/panels/output_shares.h"
#include "app/panels/row_statistics.h"
#include "app/panels/stage_content.h"
#include "app/panels/stage_drawing.h"
#include "app/panels/stage_marks.h"
#include "app/panels/step_words.h"
#include "app/platform/fonts.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/number_text.h"
#include "app/widgets/text_column.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

using Id = TensorId;

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

struct ShapeWord {
  std::string letters, sizes;
  Rgba8 color;
};

// "(N,H,L,S) = (N,H,L,D) · (N,G,S,D)ᵀ" and the same in sizes.
std::vector<ShapeWord> shape_words(const PanelContext& context, const StepPicture& picture) {
  const Palette& palette = context.palette;
  std::vector<ShapeWord> words;
  const auto add = [&](Id id, const char* behind) {
    const TensorPtr tensor = context.trace.tensor(id);
    if (!tensor) return;
    words.push_back(
        {tensor->shape().letters() + behind, tensor->shape().sizes_text() + behind, tensor_hue(palette, id)});
  };
  const auto sign = [&](const char* text) { words.push_back({text, text, palette.text_dim}); };
  add(picture.result, "");
  if (!picture.left) return words;
  const bool product = picture.above_transposed || picture.result == Id::head_output;
  sign(product ? " = " : " ← ");
  add(*picture.left, "");
  if (!picture.above) return words;
  sign(product ? " · " : " + ");
  add(*picture.above, picture.above_transposed ? "ᵀ" : "");
  if (picture.above_row_end > picture.above_row_begin) {
    // Only the rows that take part: those of W_q in in_proj_weight.
    const Shape& weight = context.trace.tensor(*picture.above)->shape();
    const Shape& result = context.trace.tensor(picture.result)->shape();
    words.back().letters = fmt::format("({},{})ᵀ", result.name(result.rank() - 1), weight.name(1));
    words.back().sizes =
        fmt::format("({},{})ᵀ", picture.above_row_end - picture.above_row_begin, weight.size(1));
    words.back().color = tensor_hue(palette, picture.result);
  }
  return words;
}

void draw_shapes(const PanelContext& context, TextColumn& column, const StepPicture& picture) {
  const std::vector<ShapeWord> words = shape_words(context, picture);
  ImFont* font = context.fonts.mono_small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto line = [&](bool sizes) {
    ImVec2 at = column.cursor();
    const float begin = at.x, height = std::round(font->FontSize * 1.45f);
    for (const ShapeWord& word : words) {
      const std::string& text = sizes ? word.sizes : word.letters;
      const float width = width_of(font, text);
      if (at.x > begin && at.x + width > begin + column.width() && text.size() > 4) {
        at = ImVec2(begin + 2 * width_of(font, "0"), at.y + height);
        column.skip(height);
      }
      list->AddText(font, font->FontSize, at, im_color(sizes ? context.palette.text_dim : word.color),
                    text.c_str());
      at.x += width;
    }
    column.skip(height);
  };
  line(false);
  line(true);
}

void draw_step(const PanelContext& context, TextColumn& column, const std::optional<StepPicture>& picture) {
  column.heading("THIS STEP");
  const StepWords words = step_words(context.selection.step, picture.value_or(StepPicture{}));
  for (const std::string_view formula : words.formulas) column.formula(formula, words.formulas.size() == 1);
  column.space(2);
  if (picture) draw_shapes(context, column, *picture);
  column.space(8);
  column.paragraph(words.sentence);
}

// What a click on a tensor's box leads to: the step that makes it, at its head, pinned where it is one cell.
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
  }
  if (one_cell) selection.pinned = CellRef{box.tensor, box.begin};
  return selection;
}

// "from" and "to": names in lines, each leading to its tensor.
void draw_links(const PanelContext& context, TextColumn& column, const char* name,
                const std::vector<BoxRef>& boxes, PanelAction& action) {
  if (boxes.empty()) return;
  constexpr std::size_t most = 6;
  ImFont* sans = context.fonts.sans;
  ImFont* mono = context.fonts.mono_small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 begin = column.cursor();
  list->AddText(sans, sans->FontSize, begin, im_color(context.palette.text_dim), name);
  const float indent = width_of(sans, "from") + 14.0f * context.scale;
  const float line = std::round(mono->FontSize * 1.5f);
  float x = indent, y = 0.0f;
  for (std::size_t i = 0; i < boxes.size() && i < most; ++i) {
    const std::string text = box_text(context.trace, boxes[i]);
    const float width = width_of(mono, text);
    if (x > indent && x + width > column.width()) {
      x = indent;
      y += line;
    }
    ImGui::SetCursorScreenPos(ImVec2(begin.x + x, begin.y + y + (sans->FontSize - mono->FontSize)));
    const std::string id = fmt::format("{}{}", name, i);
    if (column.link(id.c_str(), text, tensor_hue(context.palette, boxes[i].tensor.id)).clicked) {
      action.selection = selection_at(context, boxes[i]);
    }
    ui_probe(fmt::format("inspector/{}/{}", name, i), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
    x += width + width_of(mono, "  ");
  }
  if (boxes.size() > most) {
    list->AddText(mono, mono->FontSize, ImVec2(begin.x + x, begin.y + y), im_color(context.palette.text_dim),
                  fmt::format("+ {} more", boxes.size() - most).c_str());
  }
  ImGui::SetCursorScreenPos(begin);
  column.skip(y + line);
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

// One line a term: name, factors with × between, = value, and a bar as long as it is large.
void draw_terms(const PanelContext& context, TextColumn& column, const CellTerms& terms, Combine combine) {
  ImFont* font = context.fonts.mono_small;
  ImFont* small = context.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& palette = context.palette;
  const float letter = width_of(font, "0"), line = std::round(font->FontSize * 1.55f);
  const float bar_width = std::max(24.0f * context.scale, column.width() * 0.13f);
  std::size_t factors = 0;
  float name_width = 0.0f;
  double largest = 0.0;
  for (const NamedTerm& term : terms.largest) {
    factors = std::max(factors, term.values.size());
    name_width = std::max(name_width, width_of(small, term.name));
    if (std::isfinite(term.value)) largest = std::max(largest, std::abs(term.value));
  }
  const float columns_width = column.width() - bar_width - 8.0f * context.scale;
  const float value_end = columns_width;
  const float number_width = 8.0f * letter;
  // Columns of equal pitch, right-aligned, with the signs between them.
  const auto columns = static_cast<float>(factors + 1);
  name_width = std::clamp(name_width, 3.0f * letter,
                          std::max(3.0f * letter, columns_width - columns * (number_width + 1.6f * letter)));
  const float pitch = std::clamp((columns_width - name_width) / columns, number_width, number_width * 1.7f);
  for (const NamedTerm& term : terms.largest) {
    const ImVec2 at = column.cursor();
    const float y = at.y + (line - font->FontSize) / 2;
    list->AddText(small, small->FontSize, ImVec2(at.x, at.y + (line - small->FontSize) / 2),
                  im_color(palette.text_dim), fitted_text(term.name, small, name_width).c_str());
    const auto right_aligned = [&](const std::string& text, float end, Rgba8 color) {
      list->AddText(font, font->FontSize, ImVec2(std::floor(at.x + end - width_of(font, text)), y),
                    im_color(color), text.c_str());
    };
    right_aligned(decimal_text(term.value), value_end, palette.text);
    float end = value_end;
    if (combine == Combine::softmax && term.values.size() == 1) {
      right_aligned(fmt::format("exp({} − max) =", decimal_text(term.values[0])), value_end - number_width,
                    palette.text_dim);
      end = 0.0f;
    }
    if (term.values.size() == 1) end = 0.0f;  // the number itself
    for (std::size_t i = end > 0.0f ? term.values.size() : 0; i-- > 0;) {
      right_aligned(i + 1 == term.values.size() ? "=" : "×", end - pitch + 1.6f * letter, palette.text_dim);
      end -= pitch;
      if (end - number_width < name_width * 0.8f) break;  // a third factor has no room in a narrow window
      right_aligned(decimal_text(term.values[i]), end, cell_hue(context, term.factors[i]));
    }
    if (largest > 0.0 && std::isfinite(term.value)) {
      const float length = static_cast<float>(std::abs(term.value) / largest) * bar_width;
      const ImVec2 from(at.x + column.width() - bar_width, at.y + line * 0.26f);
      const ImVec2 to(from.x + std::max(1.0f, length), at.y + line * 0.74f);
      const ColorTable& table = color_table(ColorMap::blue_orange, context.theme);
      list->AddRectFilled(from, to, im_color(term.value < 0 ? table[64] : palette.bar));
    }
    column.skip(line);
  }
  if (terms.more > 0) {
    // The two kinds of terms of a layer norm's gradient have no common sum.
    const std::string sum =
        combine == Combine::layer_norm_gradient ? "" : " = " + decimal_text(terms.more_value);
    column.paragraph(fmt::format("+ {} more terms{}", terms.more, sum), palette.text_dim);
  }
}

void draw_cell(const PanelContext& context, TextColumn& column, bool compact, PanelAction& action) {
  const Selection& selection = context.selection;
  const std::optional<CellRef> cell = focused_cell(context.trace, selection);
  if (!cell) {
    column.heading("THIS CELL");
    column.paragraph("Move the mouse over a number to see what it was made from; click to pin it.",
                     context.palette.text_dim);
    return;
  }
  const bool pinned = cell == selection.pinned;
  column.heading(pinned ? "THIS CELL: PINNED, ESC LETS GO" : "THIS CELL: UNDER THE MOUSE");
  const CellProvenance provenance = cell_provenance(context.trace, cell->tensor, cell->index);

  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* bold = context.fonts.bold;
  ImFont* mono = context.fonts.mono_small;
  ImFont* sans = context.fonts.sans;
  const ImVec2 at = column.cursor();
  const std::string value = decimal_text(provenance.value);
  const std::string name = box_text(context.trace, box_of(*cell));
  const std::string tokens = cell_tokens(context.trace, context.inputs.labels, *cell);
  list->AddText(bold, bold->FontSize, at, im_color(context.palette.text), value.c_str());
  float x = width_of(bold, value) + 8.0f * context.scale;
  list->AddText(mono, mono->FontSize, ImVec2(at.x + x, at.y + bold->FontSize - mono->FontSize),
                im_color(context.palette.text_dim), name.c_str());
  x += width_of(mono, name) + 10.0f * context.scale;
  float height = std::round(bold->FontSize * 1.5f);
  ImVec2 tokens_at(at.x + x, at.y);
  if (x + width_of(sans, tokens) > column.width()) {
    tokens_at = ImVec2(at.x, at.y + height);
    if (!tokens.empty()) height *= 2.0f;
  }
  list->AddText(sans, sans->FontSize, tokens_at, im_color(context.palette.text),
                fitted_text(tokens, sans, column.width()).c_str());
  column.skip(height);

  if (pinned) draw_cell_editor(context, *cell, action);
  draw_output_shares(context, column);
  const CellTerms terms = cell_terms(context.trace, context.inputs.labels, provenance, compact ? 4 : 6);
  const bool many = terms.largest.size() > 1;
  // Behind a function of its terms a list of them alone does not say how the number is made.
  const bool with_formula = cell->tensor.gradient && provenance.combine != Combine::product_sum;
  if (many) draw_terms(context, column, terms, provenance.combine);
  if (many && with_formula) column.space(4);
  if (provenance.combine != Combine::given && (!many || with_formula)) {
    ImFont* small = context.fonts.mono_small;
    const auto columns = static_cast<std::size_t>(std::max(8.0f, column.width() / width_of(small, "0")));
    for (const std::string& line : wrapped_code(provenance.formula, columns)) {
      list->AddText(small, small->FontSize, column.cursor(), im_color(context.palette.text), line.c_str());
      column.skip(std::round(small->FontSize * 1.45f));
    }
  }
  if (provenance.combine == Combine::product_sum && many) column.row("sum", decimal_text(terms.sum));
  for (const auto& [what, amount] : provenance.quantities) column.row(what, decimal_text(amount, 4));
  if (!provenance.note.empty()) column.paragraph(provenance.note, context.palette.text_dim);
  column.space(4);
  draw_links(context, column, "from", provenance.sources, action);
  draw_links(context, column, "to", cell_consumers(context.trace, cell->tensor, cell->index), action);
}

void draw_row(const PanelContext& context, TextColumn& column) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell) return;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  if (!tensor || tensor->shape().rank() < 2) return;
  const RowStatistics row = row_statistics(*tensor, cell->index);
  BoxRef box = box_of(*cell);
  box.begin.back() = 0;
  box.end.back() = tensor->shape().size(tensor->shape().rank() - 1);
  column.heading("THIS ROW: " + box_text(context.trace, box));
  column.row(
      "range",
      row.finite > 0 ? fmt::format("{} … {}", decimal_text(row.min, 2), decimal_text(row.max, 2)) : "none",
      row.not_finite > 0 ? fmt::format("{} not finite", row.not_finite) : "");
  const Id id = cell->tensor.id;
  const double root = std::sqrt(static_cast<double>(context.trace.options.head_dim));
  if (cell->tensor.gradient) {  // no logits and no probabilities, whatever their tensor is
    column.row("standard deviation", decimal_text(row.deviation, 2));
    return column.row("sum", decimal_text(row.mean * static_cast<double>(row.finite), 4));
  }
  const bool logits = id == Id::scores || id == Id::scaled_scores || id == Id::masked_scores;
  column.row("standard deviation", decimal_text(row.deviation, 2),
             id == Id::scores ? fmt::format("√D = {:.4g}", root) : std::string());
  const bool weights = id == Id::attn_weights || id == Id::dropped_weights;
  const TensorPtr probabilities = context.trace.tensor(id == Id::dropped_weights ? id : Id::attn_weights);
  if ((logits || weights) && probabilities && probabilities->shape().same_sizes(tensor->shape())) {
    const double most = std::log(static_cast<double>(tensor->shape().size(tensor->shape().rank() - 1)));
    if (const auto entropy = row_entropy(*probabilities, cell->index)) {
      column.row(weights ? "entropy" : "entropy after softmax", decimal_text(*entropy, 2),
                 fmt::format("of {:.2f}", most));
    }
  }
  if (weights) column.row("sum", decimal_text(row.mean * static_cast<double>(row.finite), 4));
}

}  // namespace

PanelAction draw_inspector(const PanelContext& context, InspectorState& state) {
  PanelAction action;
  if (state.step != context.selection.step) ImGui::SetScrollY(0.0f);
  state.step = context.selection.step;
  const WidgetContext widgets = context.widgets();
  TextColumn column(widgets);
  const std::optional<StepPicture> picture = shown_picture(context.trace, context.selection);
  const bool compact = ImGui::GetWindowHeight() < 620.0f * context.scale;
  draw_step(context, column, picture);
  column.space(compact ? 12.0f : 20.0f);
  draw_cell(context, column, compact, action);
  column.space(compact ? 10.0f : 16.0f);
  draw_code_section(context, state.code, column, picture, action);
  draw_row(context, column);
  return action;
}

}  // namespace headwise
