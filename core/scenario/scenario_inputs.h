// Scenario → AttentionInputs: inputs, parameters, masks and gains as tensors, all options resolved.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scenario/array_sources.h"
#include "core/scenario/hand_made_heads.h"
#include "core/scenario/made_tensors.h"
#include "core/scenario/scenario.h"
#include "core/trace/trace.h"

namespace headwise {

// The labels of the rows and columns of a picture.
struct TokenLabels {
  std::vector<std::string> query;  // one per query position; "q 3" if there is no text
  // one per key position of S′, "k 3" without text; appended columns: "bias_k", "zero"
  std::vector<std::string> key;
};

struct ModelInput;

struct ScenarioInputs {
  AttentionInputs attention;
  TensorPtr grad_output;  // null: all ones
  TokenLabels labels;
  std::vector<HeadDescription> heads;  // the role of each head; empty if the parameters are not hand-made
  // if the query is a model's text (core/scenario/text_inputs.h); else null
  std::shared_ptr<ModelInput> model_input;
  // the source of the parameters, as in the model's files; else null
  std::shared_ptr<const AttentionLayer> layer;
  bool unbatched = false;          // the given arrays had no batch axis; the trace has N = 1
  std::vector<std::string> notes;  // notes for the user: arrays that are not used, numbers beyond f32 …
  // one of them: the note on the number of heads (core/scenario/layer_scenario.h)
  std::string head_count_note;
  // some of them: what the model's layer has beyond what is computed here
  std::vector<std::string> not_computed;
  MadeTensors made;  // what the tensors were generated from: lets the next call share unchanged ones
  ArrayFiles files;  // the array files that were read, so that an edit does not reread them
};

// What is known in advance about the trace that the inputs are for.
struct InputsNeed {
  // The minimum number of tensors of the shape of the scores, (N,H,L,S′), in the trace; 0 if it keeps none.
  // Error(memory) is thrown before anything is allocated if they do not fit in addition to the inputs. Not
  // checked if `previous` has maps of the same size: its trace shares most of its own.
  Index maps = 0;
  // False: parameters are neither read nor generated if query, key, value and masks do not depend on them, as
  // for the first layer's input in a model larger than memory.
  bool parameters = true;
  bool backward = false;  // grad_output must fit
};

// How many such tensors every trace of the reference holds: scores, scaled_scores and attn_weights.
inline constexpr Index least_reference_maps = 3;

// Throws Error(usage) for a scenario that contradicts itself, Error(input) for arrays that disagree with it
// or with each other, Error(memory) before allocating memory that is not available. Tensors that do not
// change between `previous` and this scenario are shared with it (same pointer), so that the stages that read
// them are shared too; `previous` may be null.
ScenarioInputs make_scenario_inputs(const Scenario& scenario, DType dtype, const GivenArrays& given = {},
                                    const ScenarioInputs* previous = nullptr, const InputsNeed& need = {});

}  // namespace headwise
