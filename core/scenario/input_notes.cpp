#include "core/scenario/input_notes.h"

#include <fmt/format.h>
#include <array>
#include <memory>
#include <utility>

#include "core/attention/attention_mask.h"
#include "core/model/layers/layer_rows.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/overridden_settings.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

std::vector<std::string> positions_or_words(const std::optional<std::vector<Token>>& text, Index length,
                                            const char* letter) {
  std::vector<std::string> labels;
  labels.reserve(static_cast<std::size_t>(length) + 2);
  const bool words = text && static_cast<Index>(text->size()) == length;
  for (Index i = 0; i < length; ++i)
    labels.push_back(words ? (*text)[static_cast<std::size_t>(i)].text : fmt::format("{} {}", letter, i));
  return labels;
}

}  // namespace

void note_unused(const GivenArrays& given, std::vector<std::string>& notes) {
  std::vector<std::pair<std::string, std::string>> foreign;  // each with the name that it stands for
  for (const auto& [name, unused] : given)
    if (is_foreign_name(name))
      foreign.emplace_back(fmt::format("\"{}\"", one_line(name, 60)), nearest_given_name(name));
  const std::string names = join(given_array_names(), ", ");
  if (foreign.size() == 1) {
    const auto& [name, meant] = foreign.front();
    notes.push_back(fmt::format("the array {} is not used: {}the names are {}", name,
                                meant.empty() ? "" : fmt::format("did you mean {}? ", meant), names));
  } else if (!foreign.empty()) {
    std::vector<std::string> unused;
    for (const auto& [name, meant] : foreign)
      unused.push_back(meant.empty() ? name : fmt::format("{} ({}?)", name, meant));
    notes.push_back(fmt::format("the arrays {} are not used: the names are {}", join(unused, ", "), names));
  }
}

void note_masks_like_booleans(const GivenArrays& given, const TraceTensors& tensors,
                              std::vector<std::string>& notes) {
  for (const auto& [name, mask] :
       {std::pair("attn_mask", tensors.attn_mask), {"key_padding_mask", tensors.key_padding_mask}})
    if (mask && given.contains(name) && only_zeros_and_ones(*mask))
      notes.push_back(fmt::format(
          "{} has numbers that are all 0 or 1, and they are added to the scores: store it as bool if "
          "it was meant to block",
          name));
}

void note_missing_halves(const TraceTensors& tensors, std::vector<std::string>& notes) {
  using Id = TensorId;
  struct Half {
    Id given, missing;
    int all;
    Id belongs_to;  // without which neither has anything to do
  };
  constexpr std::array halves{
      Half{Id::q_norm_weight, Id::k_norm_weight, 1, Id::query},
      Half{Id::k_norm_weight, Id::q_norm_weight, 1, Id::query},
      Half{Id::q_a_norm_weight, Id::kv_a_norm_weight, 1, Id::kv_a_weight},
      Half{Id::kv_a_norm_weight, Id::q_a_norm_weight, 1, Id::q_a_weight},
      Half{Id::indexer_k_norm_weight, Id::indexer_k_norm_bias, 0, Id::indexer_wk},
      Half{Id::indexer_k_norm_bias, Id::indexer_k_norm_weight, 1, Id::indexer_wk},
  };
  const auto has = [&](Id id) { return tensors.*(tensor_entry(id).member) != nullptr; };
  for (const Half& half : halves)
    if (has(half.given) && !has(half.missing) && has(half.belongs_to))
      notes.push_back(
          fmt::format("{} is given without {}: all numbers of the latter are {}; give both, or neither",
                      tensor_entry(half.given).name, tensor_entry(half.missing).name, half.all));
}

void note_layer(const Scenario& scenario, Index tokens, ScenarioInputs& inputs) {
  const std::shared_ptr<const TextModel> model =
      TextModel::open(path_from(scenario.origin.folder, *scenario.parameters.file));
  const std::string note = layer_count_note(model->files(), model->layers());
  if (!note.empty()) inputs.notes.push_back(note);
  for (const std::string& warning : model->files().warnings()) inputs.notes.push_back(warning);
  const AttentionLayers& layers = model->layers();
  const std::int64_t number = scenario.parameters.layer;
  if (number > 0 && number == first_usable_layer(layers) &&
      !scenario.origin.written.contains("parameters.layer"))
    inputs.notes.push_back(
        fmt::format("layer 0 cannot be computed: {}: this is layer {}, the first that can be",
                    layer_problem(layers.layers[0]), number));
  LayerNotes layer = notes_on_layer(scenario, tokens);
  inputs.notes.insert(inputs.notes.end(), layer.not_computed.begin(), layer.not_computed.end());
  inputs.not_computed = std::move(layer.not_computed);
  if (!layer.differences.empty()) inputs.notes.push_back(std::move(layer.differences));
}

TokenLabels token_labels(const ScenarioPlan& plan, const Texts& texts, const TraceTensors& t) {
  TokenLabels labels;
  labels.query = positions_or_words(texts.query, plan.query_length, "q");
  labels.key = positions_or_words({}, plan.past, "past");
  const std::vector<std::string> own =
      positions_or_words(plan.self_attention ? texts.query : texts.key, plan.masked_keys - plan.past, "k");
  labels.key.insert(labels.key.end(), own.begin(), own.end());
  if (t.bias_k) labels.key.push_back("bias_k");
  if (plan.options.add_zero_attn) labels.key.push_back("zero");
  if (plan.past > 0) labels.own_key.assign(labels.key.begin() + plan.past, labels.key.end());
  return labels;
}

}  // namespace headwise
