#include "app/cli/chosen_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

#include "app/cli/subcommand.h"
#include "core/files/file_paths.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr const char* layer_path = "parameters.layer";

}  // namespace

LayerChoice chosen_layers(const TraceRequest& request, const Scenario& scenario, const std::string& words) {
  const auto sets_layer = [](const std::string& set) { return set.starts_with(std::string(layer_path) + "="); };
  if (std::ranges::any_of(request.settings, sets_layer)) {
    throw Error(ExitStatus::usage, {"--layers", "the layer is also set", std::string("--set ") + layer_path,
                                    "one of the two", ""});
  }
  if (!is_of_model(scenario)) {
    throw Error(ExitStatus::usage, {"--layers", "the scenario has no model to take layers from",
                                    request.scenario, "a model, or parameters.source \"model\"", ""});
  }
  const std::string path = path_from(scenario.origin.folder, *scenario.parameters.file);
  const auto count = static_cast<Index>(TextModel::open(path)->layers().layers.size());
  LayerChoice choice;
  if (words == "all") {
    choice.all = true;
    choice.layers.resize(static_cast<std::size_t>(count));
    std::iota(choice.layers.begin(), choice.layers.end(), Index{0});
    return choice;
  }
  std::set<Index> layers;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) {
    const Index layer = integer_of("--layers", word);
    if (layer < 0 || layer >= count) {
      throw Error(ExitStatus::input, {path, "the model has no such layer", word,
                                      count == 0 ? "no layers" : fmt::format("0 to {}", count - 1), ""});
    }
    layers.insert(layer);
  }
  choice.layers.assign(layers.begin(), layers.end());
  if (choice.layers.empty())
    throw Error(ExitStatus::usage, {"--layers", "no layer is named", words, "all, or numbers: 0,3", ""});
  return choice;
}

ModelPass ModelPass::to_last_of(const std::vector<Index>& layers, const Scenario& scenario) {
  ModelPass pass;
  if (layers.empty()) return pass;
  Scenario last = scenario;
  last.parameters.layer = layers.back();
  std::vector<std::string> notes;  // each layer repeats them
  try {
    pass.input_ = read_model_text(last, notes);
  } catch (const Error& error) {  // that layer reports it itself
    if (error.status() != ExitStatus::usage) throw;
  }
  if (!pass.input_) return pass;
  pass.hidden_states_ =
      pass.input_->model->transformer()->run(pass.input_->text.ids, {.layers = layers.back()}).hidden_states;
  return pass;
}

std::unique_ptr<ScenarioInputs> ModelPass::given_to(Index layer) const {
  if (!input_ || layer >= static_cast<Index>(hidden_states_.size())) return nullptr;
  auto inputs = std::make_unique<ScenarioInputs>();
  inputs->model_input = std::make_shared<ModelInput>(*input_);
  inputs->model_input->layer = layer;
  inputs->model_input->hidden_state = hidden_states_[static_cast<std::size_t>(layer)];
  return inputs;
}

TraceRequest layer_request(const TraceRequest& request, Index layer) {
  TraceRequest one = request;
  one.settings.insert(one.settings.begin(), fmt::format("{}={}", layer_path, layer));
  return one;
}

}  // namespace headwise
