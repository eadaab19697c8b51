#include "app/stage/inspector_panel.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/content/followed_token.h"
#include "app/content/stage_content.h"
#include "app/content/stage_matrix.h"
#include "app/content/stage_views.h"
#include "app/content/step_words.h"
#include "app/panels/named_text.h"
#include "app/session/cell_editing.h"
#include "app/session/explained_cell.h"
#include "app/session/tensor_export.h"
#include "app/stage/stage_drawing.h"
#include "app/stage/views.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_column.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/cell_reach.h"
#include "core/export/number_text.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// A number set by hand: below the pinned cell of an input, a parameter or a mask.

// The fewest digits that distinguish the stored number from its neighbours of the same type.
double shown(const Tensor& tensor, double value) {
  if (tensor.dtype() != DType::f32 || !std::isfinite(value)) return value;
  return std::stod(fmt::format("{}", float(value)));
}

// A field with the cell's number, if the cell can be edited; what is typed becomes an edit of the Scenario.
void draw_cell_editor(const PanelContext& context, const CellRef& cell, PanelAction& action) {
  if (!is_editable(context.trace, cell)) return;
  const TensorPtr tensor = context.trace.tensor(cell.tensor);
  std::optional<double> value = shown(*tensor, tensor->at(cell.index));
  const FieldResult field =
      number_row(context,
                 {"inspector/set", "set to", "",
                  "Set this number by hand: everything that depends on it is recomputed. Undo restores it."},
                 value, {.width = 108.0f, .required = true});
  if (!field.error.empty()) error_line(context, field.error);
  if (!field.changed || !value) return;
  action.scenario = with_cell(context.scenario, cell, *value);
  action.edit_label = fmt::format("set {}[{}]", to_string(cell.tensor), join(cell.index, ","));
  action.edit_continues = true;
}

// How the next step of the watched training changes a parameter's number, in the inspector.

constexpr double explanation_poll_seconds = 0.05;  // seconds to the next look

void draw_update_lines(const PanelContext& context, TextColumn& column, const ExplainedCell& explained) {
  ImFont* mono = context.fonts.mono_small;
  const auto columns = static_cast<std::size_t>(std::max(8.0f, column.width() / width_of(mono, "0")));
  for (const UpdateLine& line : update_lines(explained)) {
    if (!line.computed) {
      column.paragraph(line.text, context.palette.text_dim);
      continue;
    }
    need_characters(line.text, *mono);
    const Rgba8 color = line.result ? context.palette.text : context.palette.text_dim;
    for (const std::string& part : wrapped_code(line.text, columns)) {
      context.painter().say(mono, column.cursor(), color, part);
      column.skip(std::round(mono->FontSize * 1.45f));
    }
    column.space(2);
  }
  column.paragraph("The batch is that of the training step, not the text that is shown here.",
                   context.palette.text_dim);
}

// The gradient that the step uses, the optimiser's state and the formula of the update, as the training view
// shows them. Draws nothing for a cell that no watched training changes;
// a sentence where the model was edited.
void draw_training_update(const PanelContext& context, TextColumn& column, const CellRef& cell) {
  if (!context.watched) return;
  const WatchedModel& model = *context.watched;
  const std::optional<CellQuestion> question = question_of(model, cell);
  if (!question) return;
  column.space(8);
  const ImVec2 from = column.cursor();
  column.heading("THE NEXT STEP OF ITS TRAINING");
  if (model.edited) {
    column.paragraph(
        "This model was edited and is no longer the training's. Undo the edits to see how the training "
        "changes this number.",
        context.palette.text_dim);
    ui_probe("inspector/edited", from, {from.x + column.width(), column.cursor().y});
    column.space(4);
    return;
  }
  const ExplainedCells::OutcomePtr outcome = model.cells->of(*question);
  if (!outcome) {
    column.paragraph("Computing …", context.palette.text_dim);
    if (context.wake_after) *context.wake_after = std::min(*context.wake_after, explanation_poll_seconds);
  } else if (!outcome->answer) {
    column.paragraph(outcome->error, context.palette.error);
  } else if (const TensorPtr shown = context.trace.tensor(cell.tensor);
             shown && shown->at(cell.index) == outcome->answer->update.value) {
    draw_update_lines(context, column, *outcome->answer);
    ui_probe("inspector/update", from, {from.x + column.width(), column.cursor().y});
  } else {
    column.paragraph("The training has another number here.", context.palette.text_dim);
  }
  column.space(4);
}

using Id = TensorId;

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
  const auto sign = [&](const std::string& text) { words.push_back({text, text, palette.text_dim}); };
  add(picture.result, "");
  if (!picture.left) return words;
  const bool product = sign_of_above(picture) == "·";
  sign(product ? " = " : " ← ");
  add(*picture.left, "");
  if (!picture.above) return words;
  sign(fmt::format(" {} ", sign_of_above(picture)));
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
      draw_shape_text(context, font, at, sizes ? context.palette.text_dim : word.color, text);
      at.x += width;
    }
    column.skip(height);
  };
  line(false);
  line(true);
}

// The tensor named by a run of a formula: a W is identified by the hue of its index.
std::optional<TensorName> tensor_of_run(const PanelContext& context, const FormulaRun& run) {
  if (run.text != "W") return tensor_of_symbol(context.trace, run.text);
  if (context.selection.step == Step::output) return TensorName{Id::out_proj_weight};
  const bool packed = context.trace.tensor({Id::in_proj_weight}) != nullptr;
  if (packed) return TensorName{Id::in_proj_weight};
  return TensorName{run.hue == FormulaHue::q   ? Id::q_proj_weight
                    : run.hue == FormulaHue::k ? Id::k_proj_weight
                                               : Id::v_proj_weight};
}

// Shown where the scores of a frozen head are computed, and where its weights are not computed from them.
void draw_frozen_note(const PanelContext& context, TextColumn& column) {
  const std::vector<Index>& frozen = context.trace.options.frozen_heads;
  const Selection& selection = context.selection;
  if (selection.step < Step::scores || selection.step > Step::softmax) return;
  if (std::ranges::find(frozen, selection.head) == frozen.end()) return;
  const bool weights = selection.step == Step::softmax;
  column.paragraph(
      weights ? fmt::format("Head {} is frozen: these are its frozen weights, not the softmax of its scores.",
                            selection.head)
              : fmt::format("Head {} is frozen: its frozen weights are used instead of these numbers.",
                            selection.head),
      context.palette.warning);
}

void draw_step(const PanelContext& context, TextColumn& column, const std::optional<StepPicture>& picture) {
  column.heading("THIS STEP");
  const StepPicture shown = picture.value_or(StepPicture{});
  const bool backward = context.selection.view == StageView::gradients;
  // What a row without a key gives may be what a page asks.
  const bool veiled = context.veil && context.selection.step >= context.veil->from;
  StepFacts facts =
      step_facts(context.trace, context.selection.step, context.selection.batch, context.selection.head);
  if (veiled) facts.nan_rows = facts.zero_rows = 0;
  const std::optional<StepWords> way_back =
      backward ? backward_words(context.selection.step, shown, facts) : std::nullopt;
  const StepWords words = way_back ? *way_back : step_words(context.selection.step, shown, facts);
  const auto name_symbol = [&](const FormulaRun& run, ImVec2 min, ImVec2 max) {
    if (const auto tensor = tensor_of_run(context, run)) name_tensor(context, *tensor, min, max);
  };
  for (const std::string& formula : words.formulas)
    column.formula(formula, words.formulas.size() == 1, name_symbol);
  column.space(2);
  if (picture) draw_shapes(context, column, *picture);
  column.space(8);
  column.paragraph(words.sentence);
  const AttentionOptions& o = context.trace.options;
  if (picture && context.selection.step == Step::project &&
      context.scenario.parameters.layout == ProjectionLayout::per_head && o.op == Op::multi_head_attention) {
    column.paragraph(fmt::format("Stored as {} small matrices, one for each head of q, k and v: ({},{}) each "
                                 "for q. Placed side by side they form the three large ones.",
                                 o.num_heads + 2 * o.num_kv_heads, o.head_dim, o.embed_dim),
                     context.palette.text_dim);
  }
  if (picture && context.selection.queries_as_columns && stage_view_entry(context.selection.view).turns) {
    const TensorPtr made = context.trace.tensor(picture->result);
    if (made && is_pair_map(*made))
      column.paragraph(
          "Transposed: each query is a column here. What the text says of rows holds for columns.",
          context.palette.text_dim);
  }
  if (picture) draw_frozen_note(context, column);
  const InputsSpec& inputs = context.scenario.inputs;
  if (context.selection.step != Step::inputs) return;
  if (context.inputs.model_input) {
    column.space(6);
    column.paragraph(
        fmt::format("Each row is this layer's input for one {}: its embedding, plus what earlier layers have "
                    "added to it.",
                    picture_of(context.inputs) ? "patch of the picture" : "token of the text"),
        context.palette.text_dim);
    return;
  }
  if (inputs.source != InputSource::text) return;
  column.space(6);
  column.paragraph(
      inputs.positions
          ? "The left columns encode the token, whatever its position. The right columns are the sine and "
            "cosine of its position: fast-rotating pairs come first; the slow ones near the edge hardly "
            "change from token to token, so they look like stripes. The last pair is 0 and 1 in every row."
          : "The left columns encode the token, whatever its position. Positions are off, so the right "
            "columns are 0 and no row encodes its position. The last pair is 0 and 1 in every row.",
      context.palette.text_dim);
}

// What this step does to the token whose cell is pinned. Not told from the step on at which a page asks.
void tell_followed(const PanelContext& context, TextColumn& column) {
  const Selection& selection = context.selection;
  const auto row = followed_row(context.trace, selection);
  if (!row || selection.view == StageView::gradients) return;
  if (context.veil && selection.step >= context.veil->from) return;
  const std::string sentence = followed_sentence(context.trace, context.inputs.labels, selection, *row);
  if (sentence.empty()) return;
  const ImVec2 from = column.cursor();
  column.heading(drawable_text("FOLLOWING " + followed_name(context.inputs.labels, *row), context.fonts.small));
  column.paragraph(drawable_text(sentence, context.fonts.sans));
  const float left = from.x - std::round(7.0f * context.scale), bar = std::round(3.0f * context.scale);
  const ImVec2 end(left + bar, column.cursor().y);
  context.painter().fill({left, from.y}, end, context.palette.followed);
  ui_probe("inspector/following", {left, from.y}, {from.x + column.width(), end.y});
  column.space(12);
}

std::string step_in_capitals(Step step) {
  std::string name(step_entries()[static_cast<std::size_t>(step)].name);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// A pin stays while the stage moves on to other steps, heads and sequences: then it says where it is.
std::string pinned_heading(const PanelContext& context, const CellRef& cell) {
  const Selection& selection = context.selection;
  const TensorPtr tensor = context.trace.tensor(cell.tensor);
  const auto elsewhere = [&](Index axis, std::string_view letter, Index shown) {
    return tensor && tensor->shape().rank() > axis && tensor->shape().name(axis) == letter &&
           cell.index[static_cast<std::size_t>(axis)] != shown;
  };
  std::vector<std::string> places;
  const Step made_in = step_of(cell.tensor.id, context.trace.options);
  if (made_in != selection.step) places.push_back("AT " + step_in_capitals(made_in));
  if (elsewhere(1, "H", selection.head)) places.push_back(fmt::format("IN HEAD {}", cell.index[1]));
  if (elsewhere(0, "N", selection.batch)) places.push_back(fmt::format("IN SEQUENCE {}", cell.index[0]));
  if (places.empty()) return fmt::format("THIS CELL: {}", context.pinned_words());
  return fmt::format("THIS CELL: PINNED {}", join(places, ", "));
}

void draw_cell(const PanelContext& context, TextColumn& column, TermsState& state, bool compact,
               PanelAction& action) {
  const Selection& selection = context.selection;
  const std::optional<CellRef> cell = focused_cell(context.trace, selection);
  if (!cell) {
    column.heading("THIS CELL");
    column.paragraph("Move the mouse over a number to see what it was made from; click to pin it.",
                     context.palette.text_dim);
    return;
  }
  const bool pinned = cell == selection.pinned;
  const bool pair_here = !selection.hovered && cell == pinned_pair_at_step(context.trace, selection);
  const bool by_keys = context.focus && context.focus->focused != 0 && context.focus->by_keys;
  column.heading(pinned || pair_here ? pinned_heading(context, *cell)
                 : by_keys           ? "THIS CELL: SELECTED · ENTER PINS"
                                     : "THIS CELL: UNDER THE MOUSE");
  if (pinned) draw_way_back(context, column, action);
  const CellProvenance provenance = shown_provenance(context.trace, *cell);

  const Painter paint = context.painter();
  ImFont* bold = context.fonts.bold;
  ImFont* mono = context.fonts.mono_small;
  ImFont* sans = context.fonts.sans;
  const ImVec2 at = column.cursor();
  const std::string value = decimal_text(provenance.value);
  const std::string name = box_text(context.trace, box_of(*cell));
  const std::string tokens = drawable_text(cell_tokens(context.trace, context.inputs.labels, *cell), sans);
  paint.text(bold, at, context.palette.text, value);
  float x = width_of(bold, value) + 8.0f * context.scale;
  paint.text(mono, {at.x + x, at.y + bold->FontSize - mono->FontSize}, context.palette.text_dim, name);
  x += width_of(mono, name) + 10.0f * context.scale;
  float height = std::round(bold->FontSize * 1.5f);
  ImVec2 tokens_at(at.x + x, at.y);
  if (x + width_of(sans, tokens) > column.width()) {
    tokens_at = ImVec2(at.x, at.y + height);
    if (!tokens.empty()) height *= 2.0f;
  }
  paint.text(sans, tokens_at, context.palette.text, fitted_text(tokens, sans, column.width()));
  column.skip(height);
  if (const std::string meaning = cell_meaning(context.trace, context.inputs.labels, *cell); !meaning.empty()) {
    column.paragraph(drawable_text(meaning, sans));
    column.space(4);
  }

  if (pinned) draw_cell_editor(context, *cell, action);
  draw_output_shares(context, column);
  const CellTerms terms =
      cell_terms(context.trace, context.inputs.labels, provenance, shown_terms(state, *cell, compact));
  const bool many = terms.largest.size() > 1;
  // After a function of its terms, a list of them alone does not explain the number.
  const bool with_formula = provenance.combine == Combine::rotation ||
                            is_function_of_products(provenance.combine) ||
                            (cell->tensor.gradient && provenance.combine != Combine::product_sum);
  if (many) draw_terms(context, column, state, terms, provenance.combine, action);
  if (many && with_formula) column.space(4);
  if (provenance.combine != Combine::given && (!many || with_formula)) {
    ImFont* small = context.fonts.mono_small;
    const auto columns = static_cast<std::size_t>(std::max(8.0f, column.width() / width_of(small, "0")));
    for (const std::string& line : wrapped_code(provenance.formula, columns)) {
      paint.text(small, column.cursor(), context.palette.text, line);
      column.skip(std::round(small->FontSize * 1.45f));
    }
  }
  if (provenance.combine == Combine::product_sum && many) column.row("sum", decimal_text(terms.sum));
  for (const auto& [what, amount] : provenance.quantities) column.row(what, decimal_text(amount, 4));
  if (!provenance.note.empty()) column.paragraph(provenance.note, context.palette.text_dim);
  draw_training_update(context, column, *cell);
  column.space(4);
  draw_way_switch(context, column, action);
  if (selection.all_the_way) {
    // The stage lights up the reach of the pinned cell; the text here is about the focused cell.
    const bool lit = context.reach && context.reach->cell == *cell;
    const CellReach reach = lit ? *context.reach : cell_reach(context.trace, cell->tensor, cell->index);
    draw_way(context, column, "from", reach.back, action);
    draw_way(context, column, "to", reach.forward, action);
  } else {
    draw_links(context, column, "from", provenance.sources, action);
    draw_links(context, column, "to", shown_consumers(context.trace, *cell), action);
  }
}

}  // namespace

PanelAction draw_inspector(const PanelContext& context, InspectorState& state) {
  work_probe("inspector");
  PanelAction action;
  if (state.step != context.selection.step) ImGui::SetScrollY(0.0f);
  state.step = context.selection.step;
  TextColumn column(context);
  if (draw_inspected_prediction(context, column)) return action;
  const std::optional<StepPicture> picture = shown_picture(context.trace, context.selection);
  const bool compact = ImGui::GetWindowHeight() < 620.0f * context.scale;
  draw_step(context, column, picture);
  column.space(compact ? 12.0f : 20.0f);
  draw_inspected_picture(context, column, compact);
  // At the step of the pinned number THIS CELL says most of its row already, and needs the room.
  const std::optional<CellRef>& pinned = context.selection.pinned;
  const bool cell_first = pinned && step_of(pinned->tensor.id, context.trace.options) == context.selection.step;
  if (!cell_first) tell_followed(context, column);
  draw_cell(context, column, state.terms, compact, action);
  if (cell_first) {
    column.space(compact ? 10.0f : 16.0f);
    tell_followed(context, column);
  }
  column.space(compact ? 10.0f : 16.0f);
  draw_code_section(context, state.code, column, picture, action);
  draw_row_statistics(context, column);
  draw_map_statistics(context, state.map, column, picture);
  return action;
}

}  // namespace headwise
