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

// What the rows and columns of a picture are called.
struct TokenLabels {
  std::vector<std::string> query;  // one per query position; "q 3" where there is no text
  std::vector<std::string> key;  // one per key position of S′, "k 3" without text; appended columns: "bias_k", "zero"
};

struct ModelInput;

struct ScenarioInputs {
  AttentionInputs attention;
  TensorPtr grad_output;  // null: all ones
  TokenLabels labels;
  std::vector<HeadDescription> heads;  // what each head was made for; empty where the parameters are not hand-made
  std::shared_ptr<ModelInput> model_input;  // where the query is a model's text (core/scenario/text_inputs.h); else null
  std::shared_ptr<const AttentionLayer> layer;  // whose parameters these are, as the model's files have it; else null
  bool unbatched = false;                       // the given arrays had no batch axis; the trace has N = 1
  std::vector<std::string> notes;  // what a person should know: arrays that are not used, numbers beyond f32 …
  std::string told_of_heads;  // of them, what is said of the number of heads (core/scenario/layer_scenario.h)
  std::vector<std::string> not_computed;  // of them, what the model's layer has beyond the numbers here
  MadeTensors made;  // what the tensors were made from: lets the next call share those that stay
  ArrayFiles files;  // the array files that were read, so that an edit does not read them again
};

// What is known beforehand of the trace that the inputs are for.
struct InputsNeed {
  // How many tensors of the shape of the scores, (N,H,L,S′), the trace holds at least; 0 where it keeps none. Error(memory) is
  // thrown before anything is made where they do not fit beside the inputs. They are not asked for where `previous` has maps of the
  // same size: its trace lends most of its own.
  Index maps = 0;
  // False: parameters are neither read nor made where query, key, value and masks do not follow from them, as for the first
  // layer's input of a model larger than the memory.
  bool parameters = true;
};

// How many such tensors every trace of the reference holds: scores, scaled_scores and attn_weights.
inline constexpr Index least_reference_maps = 3;

// Throws Error(usage) for a scenario that contradicts itself, Error(input) for arrays that disagree with it
// or with each other, Error(memory) before taking memory that is not there. Tensors that do not change
// between `previous` and this scenario are shared with it (same pointer), so that the stages that read them
// are shared too; `previous` may be null.
ScenarioInputs make_scenario_inputs(const Scenario& scenario, DType dtype, const GivenArrays& given = {},
                                    const ScenarioInputs* previous = nullptr, const InputsNeed& need = {});

}  // namespace headwise
