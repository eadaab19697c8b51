#include "app/stage/views.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/content/cell_terms.h"
#include "app/panels/named_text.h"
#include "app/session/token_predictions.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr double heads_units = 92.0, side_units = 56.0;    // strip of thumbnails; side of one
constexpr double low_heads_units = 62.0, low_side = 30.0;  // if there is little height
constexpr double least_details = 120.0;                    // below the list, if they do not fit next to it
constexpr float row_units = 24.0f, least_prediction_row_units = 19.0f, row_units_of_picture = 34.0f;
constexpr double least_shown_probability = 5e-4;  // a less probable token would be shown as 0.000
constexpr double least_shown_bits = 5e-4;         // changes below the displayed precision are no change
constexpr std::size_t longest_task = 300;         // bytes of the sentence

bool predicts_another_word(const PredictionChange& change) {
  return !change.before.empty() && !change.now.empty() && change.before[0].id != change.now[0].id;
}

// The position of the query whose weight, score … is focused, or of a row of the output.
std::optional<Index> pointed_position(const PanelContext& context) {
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  if (!cell || cell->tensor.gradient) return std::nullopt;
  const TensorPtr tensor = context.trace.tensor(cell->tensor);
  for (Index axis = 0; tensor && axis < tensor->shape().rank(); ++axis) {
    const Index position = cell->index[static_cast<std::size_t>(axis)];
    if (tensor->shape().axes()[static_cast<std::size_t>(axis)].name == "L" &&
        position < std::ssize(context.predictions->positions))
      return position;
  }
  return std::nullopt;
}

class PredictionView {
 public:
  // `weights` is needed by draw() alone.
  PredictionView(const PanelContext& context, const StageContent* weights, const TokenPredictions& predictions)
      : context_(context),
        weights_(weights),
        predictions_(predictions),
        input_(*predictions.of->inputs.model_input),
        kind_(predicted_token(input_.model->transformer()->config())),
        changed_(std::ranges::any_of(predictions.positions, has_changed)),
        paint_(context.painter()) {}

  PanelAction draw(PredictionState& state, RectF area, std::optional<CellRef>& under_mouse);
  void details(Index position, RectF area) const;

 private:
  float u() const { return context_.scale; }
  // For the back row of a hall, larger.
  ImFont* words_font() const { return context_.presentation ? context_.fonts.caption : context_.fonts.sans; }
  ImFont* bold_font() const { return context_.presentation ? context_.fonts.title : context_.fonts.bold; }
  ImFont* number_font() const {
    return context_.presentation ? context_.fonts.sans : context_.fonts.mono_small;
  }
  ImFont* small_font() const { return context_.presentation ? context_.fonts.sans : context_.fonts.small; }
  Index length() const { return static_cast<Index>(predictions_.positions.size()); }
  const PredictionChange& at(Index position) const {
    return predictions_.positions[static_cast<std::size_t>(position)];
  }
  std::string word(TokenId id, ImFont* font) const { return drawable_text(input_.model->label(id), font); }
  std::string token(Index position, ImFont* font) const {
    return drawable_text(token_at(context_.inputs.labels.query, position, "position"), font);
  }
  const char* place() const { return kind_ == PredictedToken::next ? "after" : "at"; }
  double summary(RectF area) const;
  void token_and_probability(float x, float y, float room, const WordChange& word, double probability,
                             Rgba8 color) const;
  void row(Index position, const RectF& line, bool chosen) const;

  const PanelContext& context_;
  const StageContent* weights_;
  const TokenPredictions& predictions_;
  const ModelInput& input_;
  PredictedToken kind_;
  bool changed_;  // at any position: else there is one column, not two that are equal
  Painter paint_;
};

// The sentences above the list; returns their height.
double PredictionView::summary(RectF area) const {
  ImFont* font = words_font();
  const auto width = float(area.width);
  float y = float(area.y);
  const auto sentence = [&](const std::string& text, Rgba8 color, std::string_view probe) {
    const ImVec2 from(float(area.x), y);
    float wide = 0.0f;
    for (const TextLine& line : text_layouts().of(text, *font, width)) {
      const std::string_view words = std::string_view(text).substr(line.begin, line.end - line.begin);
      wide = std::max(wide, paint_.text(font, {from.x, y}, color, words).width());
      y += 1.2f * font->FontSize;
    }
    ui_probe(probe, from, {from.x + wide, y});
    y += 0.2f * font->FontSize;
  };
  const char* const what =
      kind_ == PredictedToken::next
          ? "Causal model: each row is the word it predicts next, after the word at the left."
      : kind_ == PredictedToken::in_place
          ? "Masked-word model: each row is the word it predicts in place of the word at the left, which it "
            "sees too."
      : kind_ == PredictedToken::picture_class
          ? "Classifier: what the picture shows, read from its first token after the last layer."
          : "Each row is the model's answer to its task at the word at the left. A task may ask at some "
            "only.";
  sentence(what, context_.palette.text, "prediction/what");
  if (const std::string& task = input_.model->task().what; !task.empty())
    sentence("Its task: " + one_line(task, longest_task), context_.palette.text_dim, "prediction/task");
  Index changed = 0, other_word = 0, most = 0, no_number = 0;
  for (Index i = 0; i < length(); ++i) {
    no_number += std::isnan(at(i).bits) ? 1 : 0;
    changed += has_changed(at(i)) ? 1 : 0;
    other_word += predicts_another_word(at(i)) ? 1 : 0;
    if (at(i).bits > at(most).bits) most = i;
  }
  const std::string text =
      kind_ == PredictedToken::picture_class && no_number == 0 && changed > 0
          ? fmt::format("Changed by {:.2f} bits; {}.", at(most).bits,
                        other_word > 0 ? "another class is the most probable"
                                       : "the same class stays the most probable")
      : no_number > 0 ? fmt::format("At {} of {} positions the prediction is NaN, so no word can be chosen.",
                                    no_number, length())
      : changed == 0
          ? fmt::format("Nothing in layer {} is changed{}.", input_.layer,
                        context_.picture ? "" : ": mute a head, or change its mask, to see the effect")
          : fmt::format("Changed at {} of {} positions, another word at {}; most {} “{}”, by {:.2f} bits.",
                        changed, length(), other_word, place(), token(most, font), at(most).bits);
  sentence(text, changed == 0 ? context_.palette.text_dim : context_.palette.text, "prediction/told");
  return static_cast<double>(y) - area.y + 0.5 * static_cast<double>(font->FontSize);
}

void PredictionView::token_and_probability(float x, float y, float room, const WordChange& of,
                                           double probability, Rgba8 color) const {
  ImFont* font = words_font();
  ImFont* mono = number_font();
  const bool is_number = !std::isnan(probability);  // else all tokens are alike, and there is no first one
  const std::string number = is_number ? fmt::format("{:.3f}", probability) : "NaN";
  const float number_room = width_of(mono, "0.000") + 8 * u();
  const std::string text = is_number ? fitted_text(word(of.id, font), font, room - number_room) : "–";
  paint_.text_beside(font, {x, y}, color, text);
  paint_.text_beside(mono, {x + room, y}, context_.palette.text_dim, number, Align::right);
}

void PredictionView::row(Index position, const RectF& line, bool chosen) const {
  const PredictionChange& change = at(position);
  const Palette& palette = context_.palette;
  const ImVec2 min = corner(line), max = far_corner(line);
  if (chosen) paint_.fill({min.x - 4 * u(), min.y + 1}, {max.x, max.y - 1}, palette.control, 4 * u());
  const float y = 0.5f * (min.y + max.y), width = max.x - min.x, gap = 14 * u();
  const float token_room = 0.24f * width, both = width - token_room - 2 * gap;
  const float side = changed_ ? 0.5f * both : both;
  ImFont* font = words_font();
  paint_.text(font, {min.x, y - 0.5f * font->FontSize}, chosen ? palette.focus : palette.text_dim,
              fitted_text(token(position, font), font, token_room));
  ui_probe("prediction/row", static_cast<int>(position), min, max);
  if (change.before.empty() || change.now.empty()) return;
  token_and_probability(min.x + token_room + gap, y, side, change.before[0], change.before[0].before,
                        changed_ ? palette.text_dim : palette.text);
  if (!changed_) return;
  const bool other = predicts_another_word(change);
  token_and_probability(min.x + token_room + 2 * gap + side, y, side - 6 * u(), change.now[0],
                        change.now[0].now,
                        other                 ? palette.focus
                        : has_changed(change) ? palette.text
                                              : palette.text_dim);
}

// The likely tokens of one position, currently most probable first, with a bar for each side.
void PredictionView::details(Index position, RectF area) const {
  const PredictionChange& change = at(position);
  const Palette& palette = context_.palette;
  ImFont* font = words_font();
  ImFont* small = small_font();
  ImFont* mono = number_font();
  const auto x = float(area.x), width = float(area.width);
  auto y = float(area.y);
  const std::string title =
      fitted_text(fmt::format("{} “{}”", place(), token(position, bold_font())), bold_font(), width);
  paint_.text({bold_font(), font->FontSize}, {x, y}, palette.focus, title);
  ui_probe("prediction/position", {x, y}, {x + width, y + font->FontSize});
  y += font->FontSize * 1.5f;
  const float number_room = width_of(mono, "0.000"), word_room = 0.36f * width;
  const float bar = x + word_room + 8 * u(), bar_room = width - word_room - number_room - 16 * u();
  const bool both = has_changed(change);
  float key_x = x;
  const auto key = [&](const char* text, Rgba8 color) {
    if (key_x > x && key_x + 15 * u() + width_of(small, text) > x + width) {
      key_x = x;
      y += small->FontSize * 1.2f;
    }
    paint_.fill({key_x, y + 0.2f * small->FontSize}, {key_x + 10 * u(), y + 0.8f * small->FontSize}, color);
    key_x += 15 * u();
    const Box drawn = paint_.text(small, {key_x, y}, palette.text_dim, text);
    key_x = drawn.max.x + 14 * u();
    ui_probe(std::string("prediction/side/") + text, drawn);
  };
  key("original", palette.text_faint);
  if (both) key("with your changes", palette.bar);
  y += small->FontSize * 1.8f;

  std::vector<WordChange> words = change.now;
  for (const WordChange& word : change.before)
    if (std::ranges::find(words, word.id, &WordChange::id) == words.end()) words.push_back(word);
  const auto is_listed = [](const WordChange& word) {
    return word.before >= least_shown_probability || word.now >= least_shown_probability;
  };
  std::erase_if(words, [&](const WordChange& word) { return !is_listed(word); });  // NaN is not
  // A token that has become unlikely is listed where it was likely.
  std::ranges::stable_sort(words, std::greater{},
                           [](const WordChange& word) { return std::max(word.before, word.now); });
  const float pitch = (both ? 2.1f : 1.55f) * font->FontSize;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (y + pitch > float(area.y + area.height)) break;
    const WordChange& word = words[i];
    const float middle = y + 0.5f * pitch;
    paint_.text_beside(font, {x, middle}, palette.text,
                       fitted_text(this->word(word.id, font), font, word_room));
    const auto side = [&](float bar_y, float height, double probability, Rgba8 color, Rgba8 ink) {
      if (probability > 0.0)
        paint_.fill({bar, bar_y}, {bar + std::max(1.0f, bar_room * float(probability)), bar_y + height}, color);
      paint_.text_beside(mono, {x + width, bar_y + 0.5f * height}, ink, fmt::format("{:.3f}", probability),
                         Align::right);
    };
    const float height = 0.42f * font->FontSize;
    if (both) {
      side(middle - 0.5f * mono->FontSize - 0.5f * height, height, word.before, palette.text_faint,
           palette.text_dim);
      side(middle + 0.5f * mono->FontSize - 0.5f * height, height, word.now, palette.bar, palette.text);
    } else {
      side(middle - 0.5f * height, height, word.before, palette.text_faint, palette.text_dim);
    }
    ui_probe("prediction/word", static_cast<int>(i), {x, y}, {x + width, y + pitch});
    y += pitch;
  }
}

PanelAction PredictionView::draw(PredictionState& state, RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const bool low = area.height < 3.6 * heads_units * u();
  const double strip = low ? low_heads_units : heads_units;
  if (weights_->head_map && area.height > 3.2 * strip * u()) {
    action = draw_heads_strip(context_, *weights_, {area.x, area.y, area.width, strip * u()},
                              (low ? low_side : side_units) * u(), state.head_ranges,
                              state.head_names.of(context_));
    const double used = (strip + 8.0) * u();
    area = {area.x, area.y + used, area.width, area.height - used};
  }
  const double head = summary(area);
  area = {area.x, area.y + head, area.width, area.height - head};

  const bool beside = area.width > 460.0 * u();
  const double list_width = beside ? std::floor(0.56 * area.width) : area.width;
  ImFont* small = small_font();
  const auto caption = [&](double x, const char* text) {
    paint_.text(small, {float(x), float(area.y)}, context_.palette.text_dim, text);
  };
  const double gap = 14 * u(), token_room = 0.24 * list_width, side = 0.5 * (list_width - token_room - 2 * gap);
  caption(area.x, place());
  caption(area.x + token_room + gap, "original");
  if (changed_) caption(area.x + token_room + 2 * gap + side, "with your changes");
  const double top = area.y + 1.7 * small->FontSize, height = area.y + area.height - top;

  const double pitch =
      std::clamp(height / static_cast<double>(length()), static_cast<double>(least_prediction_row_units * u()),
                 static_cast<double>((context_.picture ? row_units_of_picture : row_units) * u()));
  // If not all fit, a line below says which are shown, partly using the panel's free space at its edge.
  const bool all = static_cast<Index>(height / pitch) >= length();
  const double room = all ? height : height - 0.5 * static_cast<double>(small->FontSize);
  const Index rows = std::clamp<Index>(static_cast<Index>(room / pitch), 1, length());
  const RectF lines{area.x, top, list_width, pitch * static_cast<double>(rows)};
  std::optional<Index> looked_at = pointed_position(context_);
  // A task asks for what comes late in its text.
  if (!looked_at && !input_.model->task().what.empty()) looked_at = predicted_position(context_);
  if (looked_at && looked_at != state.wanted &&
      (*looked_at < state.first_row || *looked_at >= state.first_row + rows))
    state.first_row = *looked_at - rows / 2;
  state.wanted = looked_at;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool over = ImGui::IsWindowHovered() && mouse.x >= lines.x && mouse.x < lines.x + lines.width &&
                    mouse.y >= lines.y && mouse.y < lines.y + lines.height;
  if (over) state.first_row -= static_cast<Index>(std::lround(3.0f * ImGui::GetIO().MouseWheel));
  state.first_row = std::clamp<Index>(state.first_row, 0, length() - rows);

  std::optional<Index> reached = line_reached(context_, "positions", lines, rows);
  if (over && !keys_decide(context_)) reached = static_cast<Index>((mouse.y - lines.y) / pitch);
  const Index chosen = reached ? state.first_row + std::min(*reached, rows - 1) : predicted_position(context_);
  if (reached && weights_->result && chosen < weights_->result->matrix.view.rows) {
    const MatrixView& view = weights_->result->matrix.view;
    Index strongest = 0;
    for (Index j = 1; j < view.cols; ++j)
      if (view.value(chosen, j) > view.value(chosen, strongest)) strongest = j;
    if (view.cols > 0) under_mouse = cell_at(weights_->result->matrix, chosen, strongest);
  }
  for (Index i = 0; i < rows; ++i) {
    const Index position = state.first_row + i;
    row(position, {lines.x, lines.y + pitch * static_cast<double>(i), lines.width, pitch}, position == chosen);
  }
  if (rows < length()) {
    const std::string more =
        fmt::format("{} to {} of {} positions", state.first_row, state.first_row + rows - 1, length());
    paint_.text(small, {float(lines.x), float(lines.y + lines.height + 2.0 * u())}, context_.palette.text_dim,
                more);
  }
  if (beside)
    details(chosen, {area.x + list_width + 24 * u(), area.y, area.width - list_width - 24 * u(), area.height});
  const double under = lines.y + lines.height + 24.0 * u();
  if (!beside && area.y + area.height - under >= least_details * u())
    details(chosen, {area.x, under, area.width, area.y + area.height - under});
  return action;
}

}  // namespace

bool has_changed(const PredictionChange& change) {
  return !(change.bits < least_shown_bits);  // NaN has
}

Index salient_position(const PanelContext& context) {
  if (!context.predictions || context.predictions->positions.empty()) return 0;
  const ModelInput& input = *context.predictions->of->inputs.model_input;
  return salient_position(*context.predictions, predicted_token(input.model->transformer()->config()));
}

Index predicted_position(const PanelContext& context) {
  const std::optional<Index> looked_at = pointed_position(context);
  return looked_at ? *looked_at : salient_position(context);
}

Index salient_position(const TokenPredictions& predictions, PredictedToken kind) {
  const std::vector<PredictionChange>& all = predictions.positions;
  const auto most =
      std::ranges::max_element(all, {}, [](const PredictionChange& change) { return change.bits; });
  if (most != all.end() && most->bits >= least_shown_bits) return most - all.begin();
  const ModelText& text = predictions.of->inputs.model_input->text;
  const bool compares = kind == PredictedToken::in_place;
  for (std::size_t i = 0; compares && i < all.size() && i < text.ids.size(); ++i)
    if (!text.special[i] && !all[i].before.empty() && all[i].before[0].id != text.ids[i])
      return static_cast<Index>(i);
  return static_cast<Index>(all.size()) - 1;
}

PanelAction draw_prediction(const PanelContext& context, PredictionState& state, const StageContent& weights,
                            RectF area, std::optional<CellRef>& under_mouse) {
  const TokenPredictions* const predictions = context.predictions;
  if (!predictions || predictions->positions.empty()) {
    draw_stage_sentence(context, predictions ? predictions->why : std::string(context.predictions_refusal),
                        area);
    return {};
  }
  state.salient = salient_position(context);
  return PredictionView(context, &weights, *predictions).draw(state, area, under_mouse);
}

void draw_predicted_words(const PanelContext& context, Index position, RectF area) {
  PredictionView(context, nullptr, *context.predictions).details(position, area);
}

}  // namespace headwise
