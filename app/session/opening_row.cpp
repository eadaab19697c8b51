#include "app/session/opening_row.h"

#include <algorithm>

#include "app/session/head_gains.h"
#include "app/session/token_predictions.h"
#include "core/files/file_paths.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

// The text with the first occurrence of a word, between spaces or ends, replaced;
// nullopt if it does not occur.
std::optional<std::string> with_word_replaced(const std::string& text, const std::string& word,
                                              const std::string& other) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ');
    if (whole) return text.substr(0, at) + other + text.substr(end);
  }
  return std::nullopt;
}

std::array<std::string, 2> versions(const OpeningSubject& subject) {
  const std::string& first = subject.scenario.inputs.text;
  return {first, with_word_replaced(first, subject.swap[0], subject.swap[1]).value_or(first)};
}

// What a computation predicts at a position.
std::optional<WordChange> prediction_at(const ComputationPtr& computation, Index position) {
  PredictionRuns runs;
  WordPredictionsPtr predictions = runs.of(computation, 0);
  if (!predictions) {
    runs.finish();
    predictions = runs.of(computation, 0);
  }
  const auto at = static_cast<std::size_t>(position);
  if (!predictions || at >= predictions->positions.size() || predictions->positions[at].now.empty())
    return std::nullopt;
  return predictions->positions[at].now.front();
}

void add_predictions(const ComputationPtr& computation, const SwitchingHead& head, OpeningRow& row) {
  const TextModel& model = *computation->inputs.model_input->model;
  const auto predicted = prediction_at(computation, head.query);
  if (!predicted) return;
  row.predicted = model.label(predicted->id);
  row.probability = predicted->now;
  if (head_gain_of(computation->scenario, head.head) == 0.0) return;
  const HeadEdit muted = toggle_mute(computation->scenario, head.head);
  const auto without = prediction_at(compute(muted.scenario, computation.get()), head.query);
  if (!without) return;
  row.without_head = model.label(without->id);
  row.probability_without_head = without->now;
}

}  // namespace

std::optional<OpeningSubject> opening_subject() {
  const Preset& preset = presets().front();
  OpeningSubject subject{preset_scenario(preset.name),
                         {std::string(preset.swap[0]), std::string(preset.swap[1])}};
  const auto model =
      TextModel::open(path_from(subject.scenario.origin.folder, subject.scenario.parameters.file.value_or("")));
  if (!model->transformer()) return std::nullopt;
  const std::array texts = versions(subject);
  const auto found =
      find_switching_head(*model->transformer(), model->read(texts[0]).ids, model->read(texts[1]).ids);
  if (!found) return std::nullopt;
  subject.found = *found;
  subject.scenario.parameters.layer = found->layer;
  const TransformerConfig& config = model->transformer()->config();
  subject.model_heads = config.num_layers * config.num_heads;
  return subject;
}

std::optional<std::size_t> opening_version(const OpeningSubject& subject, const Scenario& scenario) {
  const Scenario& own = subject.scenario;
  const bool same_layer = scenario.parameters.source == own.parameters.source &&
                          scenario.parameters.file == own.parameters.file &&
                          scenario.parameters.layer == own.parameters.layer &&
                          scenario.inputs.source == own.inputs.source && !scenario.inputs.key_text;
  if (!same_layer) return std::nullopt;
  const std::array texts = versions(subject);
  const auto version = std::ranges::find(texts, scenario.inputs.text);
  if (version == texts.end()) return std::nullopt;
  return static_cast<std::size_t>(version - texts.begin());
}

Scenario with_other_version(const OpeningSubject& subject, const Scenario& scenario) {
  Scenario other = scenario;
  if (const auto version = opening_version(subject, scenario))
    other.inputs.text = versions(subject)[1 - *version];
  return other;
}

std::optional<OpeningRow> opening_row(const OpeningSubject& subject, const ComputationPtr& computation) {
  const auto version = opening_version(subject, computation->scenario);
  const TensorPtr& weights = computation->trace->tensors.attn_weights;
  if (!version || !computation->inputs.model_input || !weights) return std::nullopt;
  const ModelText& text = computation->inputs.model_input->text;
  const SwitchingHead& head = subject.found;
  OpeningRow row;
  row.other_word = subject.swap[1 - *version];
  for (std::size_t i = 0; i < text.labels.size(); ++i) {
    if (text.special[i]) continue;
    const auto position = static_cast<Index>(i);
    if (position >= weights->shape().size(3)) break;
    if (position == head.query) row.query = row.words.size();
    if (text.labels[i] == subject.swap[*version]) row.swapped = row.words.size();
    row.words.push_back({text.labels[i], position, weights->at({0, head.head, head.query, position})});
  }
  if (row.words.empty()) return std::nullopt;
  const auto strongest = std::ranges::max_element(row.words, {}, &OpeningWord::weight);
  row.strongest = static_cast<std::size_t>(strongest - row.words.begin());
  add_predictions(computation, head, row);
  return row;
}

}  // namespace headwise
