// A Scenario is a value: everything that a result depends on. It can be compared, copied, and read and
// written as JSON (core/scenario/scenario_json.h). Undo is a list of Scenarios. Defaults here are those of
// the file format; an empty optional is null there: "derived from the rest".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/in_projection.h"
#include "core/attention/rotary_scaling.h"
#include "core/tensor/tensor.h"

namespace headwise {

enum class InputSource { random, ones, uniform01, text, file, picture };
enum class ParameterSource { random, hand_made, file, model };
enum class Initialisation { xavier_uniform, xavier_normal, normal_dk, uniform01, identity };

struct AttentionSpec : LayerOptions {
  std::int64_t embed_dim = 128;
  std::int64_t num_heads = 8;
  std::optional<std::int64_t> num_kv_heads, kdim, vdim, head_dim, v_head_dim;
  bool bias = true;
  bool add_bias_kv = false;
  // Up to D/2 numbers instead of those derived from a base: for a model that stretches them,
  // or rotates part of each head
  std::optional<std::vector<double>> rotary_inverse_frequencies;
  std::optional<RotaryScaling> rotary_scaling;  // of rotary_base's frequencies
  friend bool operator==(const AttentionSpec&, const AttentionSpec&) = default;
};

struct InputsSpec {
  InputSource source = InputSource::random;
  std::uint64_t seed = 0;
  std::string text;                     // UTF-8; bytes that are not edited stay as they are
  std::optional<std::string> key_text;  // cross-attention: the second sentence
  bool positions = true;
  std::optional<std::string> file;
  std::optional<std::string> picture;  // a PNG that goes through the model
  std::int64_t batch = 1;
  std::int64_t query_length = 10;
  std::optional<std::int64_t> key_length;
  std::int64_t past_length = 0;  // P: keys and values of a cache, which are drawn
  bool self_attention = true;
  bool batch_first = true;
  friend bool operator==(const InputsSpec&, const InputsSpec&) = default;
};

struct ParametersSpec {
  ParameterSource source = ParameterSource::random;
  ProjectionLayout layout = ProjectionLayout::packed;
  Initialisation init = Initialisation::xavier_uniform;
  std::uint64_t seed = 0;
  std::optional<std::string> file;
  std::int64_t layer = 0;
  friend bool operator==(const ParametersSpec&, const ParametersSpec&) = default;
};

struct MaskSpec : PositionOptions {
  // (N), or (N,L) as a list of lists: key j takes part if j < len
  // one inner list of 1 entry per batch for (N)
  std::optional<std::vector<std::vector<std::int64_t>>> valid_lens;
  bool valid_lens_per_query = false;  // true: (N,L)
  std::optional<std::string> preset;
  std::optional<std::string> file;
  std::optional<double> value;  // null is "-inf"
  std::optional<FullyMaskedRows> fully_masked_rows;
  friend bool operator==(const MaskSpec&, const MaskSpec&) = default;
};

struct CellEdit {
  std::string tensor;
  std::vector<std::int64_t> index;
  double value = 0.0;
  friend bool operator==(const CellEdit&, const CellEdit&) = default;
};

// heads.frozen: heads whose attention weights are frozen (core/attention/softmax.h).
struct FrozenHeads {
  std::vector<std::int64_t> heads;  // slice f of the weights belongs to heads[f]; no duplicates
  TensorPtr attn_weights;  // (N,F,L,S′) f64, never edited in place; null: in `file`, or given from outside
  std::optional<std::string> file;  // an array file that has them as frozen_weights
  friend bool operator==(const FrozenHeads& a, const FrozenHeads& b) {
    const bool same = a.attn_weights == b.attn_weights ||
                      (a.attn_weights && b.attn_weights && a.attn_weights->bytes() == b.attn_weights->bytes() &&
                       identical(*a.attn_weights, *b.attn_weights));
    return same && a.heads == b.heads && a.file == b.file;
  }
};

struct Scenario;

// Where a Scenario came from. Not part of its value: scenarios that differ only in this are equal.
struct ScenarioOrigin {
  std::string folder;  // the files that it names are relative to this folder; empty: to the working directory
  std::string file;    // that it was read from; empty: from none
  std::set<std::string> written;  // the keys set by the user, even to their defaults: "attention.embed_dim"
  std::set<std::string> changed;  // those of them that with_setting has set since
  // What the layer of a model determined (core/scenario/layer_scenario.h), with the layer's values;
  // null: nothing yet.
  std::shared_ptr<const Scenario> layer = {};
  friend bool operator==(const ScenarioOrigin&, const ScenarioOrigin&) { return true; }
};

struct Scenario {
  Op op = Op::multi_head_attention;
  AttentionSpec attention;
  InputsSpec inputs;
  ParametersSpec parameters;
  MaskSpec mask;
  std::optional<std::vector<double>> head_gain;  // heads.gain, one per head
  std::optional<FrozenHeads> frozen_heads;       // heads.frozen
  std::vector<CellEdit> edits;
  ScenarioOrigin origin;

  // Defined in scenario.cpp, so that not every file compiles them.
  Scenario();
  Scenario(const Scenario&);
  Scenario(Scenario&&) noexcept;
  Scenario& operator=(const Scenario&);
  Scenario& operator=(Scenario&&) noexcept;
  ~Scenario();
  bool operator==(const Scenario&) const;
};

}  // namespace headwise
