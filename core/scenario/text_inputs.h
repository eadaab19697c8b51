// The texts of a scenario, split into tokens: words, as a learner would split them, or the tokens of the
// model whose layer is shown. Or a picture, whose patches are the tokens.
//
// inputs.source "text" with parameters.source "model" is the layer's true input: text → the model's tokenizer
// → its embeddings and blocks up to parameters.layer. If the model cannot read text (another family, no
// tokenizer), words are embedded as in any other scenario, and a note says why. inputs.source "picture" is
// the same of a model of pictures: PNG → preprocessing → patches → blocks. Pictures go no other way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/transformer/text_model.h"
#include "core/scenario/embeddings.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_plan.h"

namespace headwise {

// The label of a token that stands for a word missing from the model's vocabulary: the word,
// and what the model reads.

// No token of a text contains it, because no token contains a space inside.
inline constexpr std::string_view read_as = " → ";

// "gryphon → [UNK]"
inline std::string unknown_token_label(std::string_view word, std::string_view token) {
  return std::string(word).append(read_as).append(token);
}

// The word of such a label; empty for any other label.
inline std::string_view unknown_word(std::string_view label) {
  const std::size_t at = label.find(read_as);
  return at == std::string_view::npos ? std::string_view() : label.substr(0, at);
}

// A layer's true input, and what carries the layer's output through the rest of the model:
//   model->transformer()->continue_from(*hidden_state, layer, *trace.tensors.output)
struct ModelInput {
  std::shared_ptr<const TextModel> model;  // with a transformer and a tokenizer
  ModelText text;
  Index layer = 0;
  TensorPtr hidden_state;  // (1,L,E) in f32, the input of block `layer`; null until computed
};

// The text or picture as the model reads it; null if the scenario has neither or no model, or the model
// cannot read text. `notes` gets what the user should know: why it cannot, unknown words, what was truncated.
// Throws Error(usage): a key_text as well, or no self-attention, or a picture without a model or for one that
// cannot read it; Error(input) if the model or the picture cannot be opened.
std::shared_ptr<ModelInput> read_model_input(const Scenario& scenario, std::vector<std::string>& notes);

// Why the model that the scenario names cannot read text; empty if it can, or if there is no model.
std::string no_text_for_model(const Scenario& scenario);
// Whether the scenario names a model that reads pictures. False for one that cannot be opened.
bool reads_pictures(const Scenario& scenario);

// The scenario with the PNG at `path` as its input. Throws Error(usage) unless it is of a model that reads
// pictures, Error(input) for a PNG that cannot be read.
Scenario with_picture(const Scenario& scenario, const std::string& path);

// How many positions the texts have; empty if the inputs are not text.
// `model` as returned by read_model_input.
TextLengths text_lengths(const InputsSpec& inputs, const ModelInput* model);

// Computes hidden_state, and from it the input of the layer's attention: (N,L,E), the same in each batch
// entry. Both are shared with the previous scenario if model, text and layer are the same.
TensorPtr make_layer_input(ModelInput& input, Index batch, DType dtype, TensorMaker& maker);

// The texts of the scenario, as tokens; empty if the inputs are not text.
struct Texts {
  std::optional<std::vector<Token>> query, key;
};
// `model` as returned by read_model_input.
Texts cut_texts(const InputsSpec& inputs, const ModelInput* model);

}  // namespace headwise
