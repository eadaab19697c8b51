// Scenario → AttentionInputs: inputs, parameters, masks and gains as tensors, all options resolved.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/trace.h"
#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/hand_made_heads.h"
#include "core/scenario/scenario.h"
#include "core/tensor/given_array.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Which tensors a scenario generated and from what,
// so that the next scenario can share those that have not changed.

// A tensor with everything it depends on: two with the same recipe and the same sources hold the same
// numbers.
struct MadeTensor {
  std::string recipe;
  std::vector<TensorPtr> sources;  // compared as addresses; kept alive, so that an address is not reused
  TensorPtr tensor;
  std::vector<std::string> notes;  // notes from when it was generated, valid as long as it is used
};

using MadeTensors = std::map<std::string, MadeTensor>;  // by name; "query edited" is separate from "query"

// Reuses a tensor of `previous` if recipe and sources are the same, else generates it; records it in `now`
// either way.
class TensorMaker {
 public:
  TensorMaker(const MadeTensors* previous, MadeTensors& now) : previous_(previous), now_(now) {}

  TensorPtr get(const std::string& name, const std::string& recipe, const std::vector<TensorPtr>& sources,
                const std::function<Tensor()>& make) {
    MadeTensor& made = now_[name] = {recipe, sources, nullptr, {}};
    if (previous_ != nullptr) {
      const auto earlier = previous_->find(name);
      if (earlier != previous_->end() && earlier->second.recipe == recipe &&
          earlier->second.sources == sources) {
        made = earlier->second;
        return made.tensor;
      }
    }
    return made.tensor = std::make_shared<const Tensor>(make());
  }

  // Adds to the notes of the tensor last requested under this name; returns all of them.
  const std::vector<std::string>& notes(const std::string& name, const std::vector<std::string>& fresh) {
    std::vector<std::string>& all = now_[name].notes;
    all.insert(all.end(), fresh.begin(), fresh.end());
    return all;
  }

 private:
  const MadeTensors* previous_;
  MadeTensors& now_;
};

// The arrays given to a scenario: by --input, and by the files that it names.

// Arrays given from outside (--input), under PyTorch's names and in PyTorch's layouts; f32, f64, bool or i64
// (f16 and bf16 are widened by the reader). They override those that the scenario would generate.
using GivenArrays = std::map<std::string, GivenArray>;

// A file that was opened, and its state, for detecting changes.
struct ArrayFile {
  FileState state;
  GivenArrays arrays;
  std::vector<UnreadEntry> unread;              // what it holds beside them
  std::shared_ptr<const AttentionLayer> layer;  // for a model: as in its files; else null
};
using ArrayFiles = std::map<std::string, ArrayFile>;  // by path

// Opens a file of arrays; their values are read when they are needed. Throws Error(input) if it is invalid or
// nothing in it can be read.
ArrayFile open_array_file(const std::string& path);

// `given` and, with lower priority, the arrays of inputs.file (if inputs.source is "file"), parameters.file
// (likewise; if parameters.source is "model", those of the layer parameters.layer of that model), mask.file
// and heads.frozen, relative to the scenario's folder; weights stored in heads.frozen itself are returned as
// frozen_weights. Files in `earlier` that have not changed are not opened again; `files` receives those in
// use. Throws Error(input) for a file that is invalid or lacks the arrays it is used for.
GivenArrays gather_arrays(const Scenario& scenario, const GivenArrays& given, const ArrayFiles* earlier,
                          ArrayFiles& files);

// Erases key and value from the arrays that were gathered if inputs.file holds the query three times, as in a
// trace of self-attention. Compares their values, so call it once the shapes are known to be right. Returns
// whether it has erased them.
bool erase_repeated_query(const Scenario& scenario, const GivenArrays& given, GivenArrays& gathered);

// The labels of the rows and columns of a picture.
struct TokenLabels {
  // Along an axis of a tensor; null where it counts neither queries nor keys.
  const std::vector<std::string>* along(std::string_view axis) const {
    if (axis == "L") return &query;
    if (!is_key_axis(axis)) return nullptr;
    return has_past_keys(axis) || own_key.empty() ? &key : &own_key;
  }

  std::vector<std::string> query;  // one per query position; "q 3" if there is no text
  // one per key position of S′, "k 3" without text; of a cache: "past 3"; appended columns: "bias_k", "zero"
  std::vector<std::string> key;
  std::vector<std::string> own_key;  // those after the past; empty without one
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

// Whether heads.frozen of this scenario names existing heads, and weights of the shape (N,F,L,S′) that the
// scenario leads to. Reads sizes only and creates no tensor; array files already read by `previous` (may be
// null) are not read again. Also true if there is nothing to fit, or if something else is wrong,
// which computing will report.
bool frozen_heads_fit(const Scenario& scenario, const ScenarioInputs* previous);

}  // namespace headwise
