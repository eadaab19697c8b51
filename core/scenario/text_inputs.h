// The texts of a scenario, cut into what stands at each position: words, as a learner would cut them, or the tokens of the model
// whose layer is looked at.
//
// inputs.source "text" with parameters.source "model" is the layer's true input: text → the model's tokenizer → its embeddings
// and blocks up to parameters.layer. Where a model's text cannot be read (another family, no tokenizer), words are embedded
// as for any other scenario, and a note says why.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/transformer/text_model.h"
#include "core/scenario/made_tensors.h"
#include "core/scenario/scenario_plan.h"
#include "core/scenario/tokens.h"

namespace headwise {

// A layer's true input, and what carries the layer's output on through the rest of the model:
//   model->transformer()->continue_from(*hidden_state, layer, *trace.tensors.output)
struct ModelInput {
  std::shared_ptr<const TextModel> model;  // with an transformer and a tokenizer
  ModelText text;
  Index layer = 0;
  TensorPtr hidden_state;  // (1,L,E) in f32, what block `layer` is given; null until it was made
};

// The text as the model reads it; null where the scenario has no text or no model, or the model takes none. `notes` gets what a person
// should know: why it takes none, words that it does not know, what was cut.
// Throws Error(usage): a key_text beside it, or no self-attention; Error(input) where the model cannot be opened.
std::shared_ptr<ModelInput> read_model_text(const Scenario& scenario, std::vector<std::string>& notes);

// Why no text can go into the model that the scenario names; empty where it can, or where there is no model.
std::string no_text_for_model(const Scenario& scenario);

// How many positions the texts have; nothing where the inputs are not text. `model` as read_model_text gives it.
TextLengths text_lengths(const InputsSpec& inputs, const ModelInput* model);

// Makes hidden_state, and from it what the attention of the layer is given: (N,L,E), the same in each batch entry. Both are
// shared with the scenario before where model, text and layer are the same.
TensorPtr make_layer_input(ModelInput& input, Index batch, DType dtype, TensorMaker& maker);

}  // namespace headwise
