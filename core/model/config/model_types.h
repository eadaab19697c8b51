// What is known about the attention of each `model_type`, the family's name in config.json: which tokens a
// layer sees, where positions enter attention,
// and which settings change its numbers: assets/models/types.txt.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_options.h"

namespace headwise {

enum class Sees {
  all_tokens,
  past,                // causal
  past_in_decoder,     // encoder-decoder model: the decoder's self-attention is causal
  past_if_is_decoder,  // depends on is_decoder in config.json
  past_if_is_causal,   // unless is_causal in config.json is false
};

enum class InnerPositions {
  none,               // added to the embeddings, or none at all
  rotary,             // pairs (j, j + D/2)
  rotary_neighbours,  // pairs (2j, 2j+1)
  alibi,
  alibi_or_rotary,   // Falcon: depends on `alibi` in config.json
  as_position_type,  // rotary, if position_embedding_type is the rotary_word below
  as_trained,  // core/train: position_embedding_type is "none", "learned", "sinusoidal", "rotary" or "alibi"
  relative,    // T5: a learned bias for each distance
  relative_in_decoder,  // UDOP: T5's there; its encoder's biases know the places on a page
};

enum class OutputGate { none, own_array, in_queries };

// Groups of settings that a type reads; partial_rope: rotary positions may rotate a share of each head.
// assets/models/attention_settings.txt has their keys.
namespace reads {
using Groups = std::uint64_t;  // a bit for each
constexpr Groups group(int bit) {
  return Groups{1} << bit;
}
inline constexpr Groups rope = group(0), window = group(1), multiplier = group(2), query_scalar = group(3),
                        softcap = group(4), clip = group(5), gpt2_scale = group(6), no_rope = group(7),
                        is_decoder = group(8), position_type = group(9), falcon = group(10),
                        multi_query = group(11), window_switch = group(12), both_ways_switch = group(13),
                        partial_rope = group(14),
                        rope_sections = group(15),  // mrope_section: positions in time, height and width, which
                                                    // are equal for each token of a text
    block_sparse = group(16), rotary_dim = group(17), rope_in_windows = group(18), local_windows = group(19),
                        written_multiplier = group(20),  // multiplier, if it is given; else 1/√D is used
    causal_switch = group(21), head_dim = group(22), pruned_heads = group(23),
                        norm_switch = group(24),  // whether q and k are normalised; the arrays say it
    rope_without_window = group(25),  // rope_in_windows, but everywhere in a model without windows
    trained_norm = group(26),         // core/train's qk_norm
    linear_layers = group(27),        // layers without a softmax, which are none of ours, between the others
    half_windows = group(28),     // local_attention: half of it on either side, in layers between global ones
    base_by_kind = group(29),     // layers with a window are rotated by a base of their own
    window_pattern = group(30),   // every so many layers, one without a window
    latents = group(31),          // multi_head_latent_attention: its sizes, which the arrays say too
    rope_interleave = group(32),  // rotary_neighbours, unless the setting is false
    indexer = group(33),          // how many keys it keeps, and its sizes, which its arrays say too
    chunks = group(34),           // Llama 4: chunks of a long text, and warmer queries in it
    layer_bases = group(36),      // layer_rope_theta: a base for each layer, 0 for one that is not rotated
    written_scalar = group(35);   // query_scalar, if it is given; else 1/√D is used
}  // namespace reads

struct ModelType {
  std::string_view name;  // as in config.json
  std::string_view rotary_word = "rotary";  // what position_embedding_type says of them, if it is read
  Sees sees = Sees::past;
  InnerPositions positions = InnerPositions::none;
  reads::Groups reads = 0;  // of reads::
  // If a config.json nested in another omits them; 0: not known, and num_kv_heads equals num_heads.
  int usual_heads = 0, usual_kv_heads = 0;
  // For rotary positions, if config.json omits them: rope_theta, partial_rotary_factor.
  double usual_base = 10000.0, usual_share = 1.0;
  double usual_local_base = 10000.0;  // of layers with a window, for types that read base_by_kind
  std::string_view usual_rope = {};   // rope_parameters, as JSON without blanks; empty: base and share alone
  double usual_multiplier = 1.0;      // attention_multiplier, which is read
  // sliding_window, and which layers have one where layer_types does not say: of every so many all but the
  // last, or all but the first; 0: all of them from first_windowed on.
  int usual_window = 0, usual_window_every = 0;
  bool first_sees_all = false, windows_are_listed = false;  // listed: by layer_types alone
  int first_windowed = 0;  // max_window_layers; −1: all, whatever it says
  int usual_head_dim = 0;  // if config.json omits head_dim, which is read; 0: hidden_size / num_heads
  // Norms of q and k, where the layer's file has their weights (qk_norm of
  // core/attention/attention_options.h), and their ε if config.json omits rms_norm_eps, or layer_norm_eps
  // of a layer norm. usual_norm_epsilon: 1e-5, or 1e-6.
  std::optional<QkNorm> qk_norm;
  NormKind qk_norm_kind = NormKind::rms;
  double qk_norm_offset = 0.0, usual_norm_epsilon = 1e-5;
  bool norms_have_weights = true;  // false: q and k are normalised in each layer that rotates them
  bool rotates_backwards = false;  // nanochat: by the angles times −1
  // The output gate: an array of its own, or the last D of the 2·D rows that each head has in q's.
  OutputGate output_gate = OutputGate::none;
  RotaryPairs indexer_pairs = RotaryPairs::halves;  // of an indexer, whose columns are rotated in their own way
  bool has_sinks = false;   // one logit a head, `sinks`, where the layer's file has it (sinks of a trace)
  // Settings of this type that do not change its attention, separated by spaces.
  std::string_view own_settings = {};
};

// The types of a table that is written as assets/models/types.txt is; they refer to its bytes. Throws
// Error(input) at a word that says nothing.
std::vector<ModelType> model_types_in(std::string_view table);

std::span<const ModelType> model_types();

// Null if the type is not known.
const ModelType* find_model_type(std::string_view name);

// Whether models of this type only combine others (text_config, vision_config …),
// each with the attention of its own type.
bool is_composite_type(std::string_view name);

// The group of reads:: that has this name; 0 if none has.
reads::Groups settings_group(std::string_view word);

// The settings of config.json that change attention, in one list: which of them a family reads,
// and which values have no effect.

// The settings of one model, or of one part of it, that its type is not known to read, as sentences:
// attention settings with a value that would change it, or keys that are in none of the lists here. `type`
// null: attention settings only, except the groups of reads:: in `computed`, as the rest cannot be known.
std::vector<std::string> settings_not_computed(const nlohmann::json& config, const ModelType* type,
                                               reads::Groups computed = 0);

}  // namespace headwise
