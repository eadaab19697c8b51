#include "app/inspector/inspector_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/content/cell_terms.h"
#include "app/content/stage_marks.h"
#include "app/panels/named_text.h"
#include "app/session/token_predictions.h"
#include "app/stage/prediction_view.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/text_inputs.h"
#include "core/trace/blocked_cells.h"

namespace headwise {
namespace {

constexpr std::size_t most_others = 4;
constexpr double least_told = 5e-3;

std::string probability_text(double probability) {
  return std::isnan(probability) ? "NaN" : fmt::format("{:.3f}", probability);
}

// Where the selected head attends from this position.
void draw_strongest_weight(const PanelContext& context, TextColumn& column, Index position) {
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Selection& selection = context.selection;
  if (!weights || weights->shape().rank() != 4 || position >= weights->shape().size(2)) return;
  Index strongest = -1;
  double most = -1.0;
  for (Index key = 0; key < weights->shape().size(3); ++key) {
    const double weight = weights->at({selection.batch, selection.head, position, key});
    if (weight > most) {
      most = weight;
      strongest = key;
    }
  }
  if (strongest < 0) return;
  column.paragraph(fmt::format(
      "Head {} attends most to “{}”: {}.", selection.head,
      drawable_text(token_at(context.inputs.labels.key, strongest, "position"), context.fonts.sans),
      probability_text(most)));
}

// How many keys the mask hides from this query of the selected head.
Index blocked_keys(const PanelContext& context, Index query) {
  const TensorPtr mask = blocked_cells(context.trace, {TensorId::attn_weights});
  if (!mask || query >= mask->shape().size(2)) return 0;
  Index blocked = 0;
  for (Index key = 0; key < mask->shape().size(3); ++key) {
    const std::vector<Index> cell{context.selection.batch, context.selection.head, query, key};
    blocked += is_blocked(context.trace, {TensorId::attn_weights}, cell) ? 1 : 0;
  }
  return blocked;
}

}  // namespace

std::string prediction_place(const std::string& token, Index position, const TransformerConfig& config) {
  const PredictedToken kind = predicted_token(config);
  return fmt::format(
      "{} “{}” (position {}): {}. {}", kind == PredictedToken::next ? "After" : "At", token, position,
      kind == PredictedToken::next       ? "the next word"
      : kind == PredictedToken::in_place ? "the word in this place"
                                         : "the answer to its task",
      config.is_causal ? "The model has read this word and the ones before it, and no later one."
                       : "The model has read the whole sentence, before and after it.");
}

bool draw_inspected_prediction(const PanelContext& context, TextColumn& column) {
  if (context.selection.view != StageView::prediction || !context.predictions ||
      context.predictions->positions.empty() || context.veil)  // what is predicted follows from what is hidden
    return false;
  const ModelInput& input = *context.predictions->of->inputs.model_input;
  const TransformerConfig& config = input.model->transformer()->config();
  const Index position = predicted_position(context);
  const PredictionChange& change = context.predictions->positions[static_cast<std::size_t>(position)];
  ImFont* font = context.fonts.sans;
  const auto word = [&](TokenId id) { return drawable_text(input.model->label(id), font); };

  column.heading("THIS VIEW");
  column.paragraph(
      fmt::format(
          "Original: what the model predicts as it was trained. With your changes: what it predicts when the "
          "output of layer {} is the one shown here.",
          input.layer),
      context.palette.text_dim);
  column.space(16);
  const ImVec2 top = column.cursor();
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  column.heading(!cell ? "THIS PREDICTION"
                       : fmt::format("THIS PREDICTION: {}",
                                     context.selection.hovered ? "UNDER THE MOUSE" : context.pinned_words()));
  column.paragraph(prediction_place(
      drawable_text(token_at(context.inputs.labels.query, position, "position"), font), position, config));
  if (const Index hidden = config.is_causal ? 0 : blocked_keys(context, position); hidden > 0)
    column.paragraph(fmt::format("With your changes, layer {} hides {} of {} keys from it in this head.",
                                 input.layer, hidden, context.trace.tensors.attn_weights->shape().size(3)));
  column.space(4);
  if (change.before.empty() || change.now.empty()) return true;
  const WordChange &before = change.before.front(), &now = change.now.front();
  if (std::isnan(change.bits)) {
    column.paragraph("The prediction is NaN: no word is more probable than another.", context.palette.warning);
    return true;
  }
  column.row(fmt::format("original “{}”", word(before.id)), probability_text(before.before));
  column.row(fmt::format("with your changes “{}”", word(now.id)), probability_text(now.now));
  column.space(4);
  if (!has_changed(change)) {
    column.paragraph("Your changes don't affect this word.", context.palette.text_dim);
  } else if (before.id != now.id) {
    column.paragraph(fmt::format("Another word: “{}” fell to {}, and “{}” rose from {}.", word(before.id),
                                 probability_text(before.now), word(now.id), probability_text(now.before)));
  } else {
    column.paragraph(now.now < now.before ? "The same word, less certain."
                                          : "The same word, at least as certain.");
  }
  if (has_changed(change)) {
    column.row("changed by Σ p log₂(p/q)", fmt::format("{:.3f}", change.bits), "bits");
  }
  column.space(4);
  std::size_t told = 0;
  for (const WordChange& other : change.now) {
    if (other.id == now.id || other.id == before.id) continue;
    if (std::max(other.before, other.now) < least_told || told == most_others) continue;
    if (told++ == 0) column.heading("OTHER WORDS: ORIGINAL → CHANGED");
    column.row(word(other.id),
               fmt::format("{} → {}", probability_text(other.before), probability_text(other.now)));
  }
  column.space(8);
  draw_strongest_weight(context, column, position);
  ui_probe("inspector/prediction", top, {top.x + column.width(), column.cursor().y});
  return true;
}

}  // namespace headwise
