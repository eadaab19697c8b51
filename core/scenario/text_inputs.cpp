#include "core/scenario/text_inputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/files/file_paths.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/layer_rows.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

void refuse_text(const std::string& key, const std::string& got, const std::string& remedy) {
  throw Error(ExitStatus::usage,
              {key, "a model's layer takes the model's own text as query, key and value", got, "", remedy});
}

// What the model read; for a word that it does not know, that word in front: "gryphon → [UNK]".
std::string shown_token(const ModelText& text, std::size_t i, const std::string& whole) {
  constexpr std::size_t longest = 40;  // bytes of the word
  const EncodedToken& token = text.tokens[i];
  if (!token.unknown || token.begin >= token.end || token.end > whole.size()) return text.labels[i];
  const std::string word = one_line(whole.substr(token.begin, token.end - token.begin), longest);
  return unknown_token_label(word, text.labels[i]);
}

[[noreturn]] void refuse_picture(const std::string& what, const std::string& remedy) {
  throw Error(ExitStatus::usage, {"inputs.source", what, "", "", remedy});
}

// What a picture needs, and the layer that it has to reach.
std::shared_ptr<ModelInput> read_model_picture(const Scenario& scenario, std::vector<std::string>& notes) {
  if (!projects(scenario.op) || !is_of_model(scenario))
    refuse_picture("a picture needs a model that reads pictures",
                   "set parameters.source to model, and parameters.file to a folder with a ViT");
  if (!scenario.inputs.picture)
    refuse_picture("it is \"picture\", but inputs.picture is null", "set inputs.picture to a PNG");
  auto input = std::make_shared<ModelInput>();
  input->model = TextModel::open(path_from(scenario.origin.folder, *scenario.parameters.file));
  if (const std::string& why = input->model->no_picture(); !why.empty())
    throw Error(ExitStatus::usage,
                {input->model->files().path(), "this model cannot read a picture: " + why, "", "", ""});
  if (!scenario.inputs.self_attention)
    refuse_picture("a picture is query, key and value at once", "set inputs.self_attention to true");
  const Transformer& transformer = *input->model->transformer();
  if (scenario.parameters.layer >= transformer.config().num_layers)
    throw Error(ExitStatus::input, {input->model->files().path(), "the picture does not reach this layer",
                                    transformer.no_words(), "", ""});
  input->text = input->model->read_picture(path_from(scenario.origin.folder, *scenario.inputs.picture));
  input->layer = scenario.parameters.layer;
  notes.insert(notes.end(), input->text.notices.begin(), input->text.notices.end());
  return input;
}

}  // namespace

std::shared_ptr<ModelInput> read_model_input(const Scenario& scenario, std::vector<std::string>& notes) {
  if (scenario.inputs.source == InputSource::picture) return read_model_picture(scenario, notes);
  if (!projects(scenario.op) || scenario.inputs.source != InputSource::text || !is_of_model(scenario))
    return nullptr;
  auto input = std::make_shared<ModelInput>();
  input->model = TextModel::open(path_from(scenario.origin.folder, *scenario.parameters.file));
  if (const std::string& why = input->model->no_text(); !why.empty()) {
    notes.push_back(fmt::format(
        "the text does not go through this model, so its tokens are embedded as in any other scenario: {}",
        why));
    return nullptr;
  }
  const Transformer& transformer = *input->model->transformer();
  const Index layer = scenario.parameters.layer - transformer.first_layer();
  if (layer < 0) {
    notes.push_back(fmt::format(
        "the text does not reach this layer, which is its decoder's, so its tokens are embedded as in any "
        "other scenario: it goes through the encoder, layers {} to {}",
        transformer.first_layer(), transformer.first_layer() + transformer.config().num_layers - 1));
    return nullptr;
  }
  if (layer >= transformer.config().num_layers) {
    const std::optional<Index>& said = input->model->layers().config->num_layers;
    const bool beyond = said && layer >= *said;
    notes.push_back(fmt::format(
        "the text does not reach this layer, so its tokens are embedded as in any other scenario: {}",
        beyond ? layer_count_note(input->model->files(), input->model->layers()) : transformer.no_words()));
    return nullptr;
  }
  if (scenario.inputs.key_text)
    refuse_text("inputs.key_text", one_line(*scenario.inputs.key_text, 40), "set inputs.key_text to null");
  if (!scenario.inputs.self_attention)
    refuse_text("inputs.self_attention", "false", "set inputs.self_attention to true");
  input->text = input->model->read(scenario.inputs.text);
  input->layer = layer;
  notes.insert(notes.end(), input->text.notices.begin(), input->text.notices.end());
  if (!scenario.inputs.positions)
    notes.push_back("inputs.positions is not used: the model adds its own positions to the text");
  return input;
}

std::string no_text_for_model(const Scenario& scenario) {
  if (!is_of_model(scenario)) return "";
  try {
    return TextModel::open(path_from(scenario.origin.folder, *scenario.parameters.file))->no_text();
  } catch (const Error& error) {
    return error.what();
  }
}

bool reads_pictures(const Scenario& scenario) {
  if (!is_of_model(scenario)) return false;
  try {
    const auto model = TextModel::open(path_from(scenario.origin.folder, *scenario.parameters.file));
    return model->transformer() && model->transformer()->config().patches;
  } catch (const Error&) {
    return false;
  }
}

Scenario with_picture(const Scenario& scenario, const std::string& path) {
  Scenario given = scenario;
  given.inputs.source = InputSource::picture;
  // What a scenario names is relative to its own folder, what a user names is not.
  given.inputs.picture = scenario.origin.folder.empty() ? path : std::filesystem::absolute(path).string();
  given.origin.written.insert({"inputs.source", "inputs.picture"});
  if (!reads_pictures(scenario))
    throw Error(ExitStatus::usage, {path, "a picture needs a model that reads pictures", "", "",
                                    "open the folder of a ViT first, then the picture"});
  std::vector<std::string> notes;
  read_model_input(given, notes);
  return given;
}

TextLengths text_lengths(const InputsSpec& inputs, const ModelInput* model) {
  TextLengths lengths;
  if (model) {
    lengths.query = lengths.key = model->text.length();
    return lengths;
  }
  if (inputs.source != InputSource::text) return lengths;
  lengths.query = token_count(inputs.text);
  lengths.key = inputs.key_text ? token_count(*inputs.key_text) : *lengths.query;
  return lengths;
}

TensorPtr make_layer_input(ModelInput& input, Index batch, DType dtype, TensorMaker& maker) {
  const TextModel& model = *input.model;
  const std::string& path = model.files().path();
  const FileState state = model_state(path);
  const std::string recipe =
      fmt::format("{}\n{} {} {}\n{}", path, state.modified, state.bytes, input.layer,
                  input.text.picture ? input.text.picture->identity : join(input.text.ids, " "));
  input.hidden_state = maker.get("hidden state of the model", recipe, {}, [&] {
    if (input.hidden_state) return Tensor(*input.hidden_state);  // the caller already has it
    return Tensor(*model.run(input.text, {.layers = input.layer}).hidden_states.back());
  });
  return maker.get("query", fmt::format("{} {} of the model", dtype_name(dtype), batch), {input.hidden_state},
                   [&] {
                     const TensorPtr one = model.transformer()->layer_input(input.layer, *input.hidden_state);
                     const Index length = one->shape().size(1), width = one->shape().size(2);
                     Tensor all = Tensor::unwritten(Shape{{"N", batch}, {"L", length}, {"E", width}}, dtype);
                     for (Index i = 0; i < all.size(); ++i) all.set_flat(i, one->flat(i % one->size()));
                     return all;
                   });
}

Texts cut_texts(const InputsSpec& inputs, const ModelInput* model) {
  Texts texts;
  if (model) {
    texts.query.emplace();
    for (std::size_t i = 0; i < model->text.labels.size(); ++i) {
      const std::string label = shown_token(model->text, i, inputs.text);
      texts.query->push_back({label, label});
    }
    texts.key = texts.query;
    return texts;
  }
  if (inputs.source != InputSource::text) return texts;
  texts.query = tokenise(inputs.text);
  texts.key = inputs.key_text ? tokenise(*inputs.key_text) : *texts.query;
  return texts;
}

}  // namespace headwise
