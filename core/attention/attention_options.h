// Everything other than arrays that multi-head attention depends on. Names are PyTorch's where it has one.
// Sources: torch.nn.MultiheadAttention, F.multi_head_attention_forward, F.scaled_dot_product_attention;
// "Attention Is All You Need", section 3.2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

enum class Op { multi_head_attention, scaled_dot_product_attention, multi_head_latent_attention };
// Whether the operator is a module: it projects its inputs to heads, and joins them at the end.
constexpr bool projects(Op op) {
  return op != Op::scaled_dot_product_attention;
}
constexpr bool is_latent(Op op) {
  return op == Op::multi_head_latent_attention;
}
// Where multi_head_latent_attention multiplies with W_UK and W_UV (core/attention/latent_attention.h).
enum class LatentLayout { expanded, absorbed };
enum class CausalAlignment { top_left, bottom_right };
// What the softmax makes of a row whose masked scores are all -inf.
enum class FullyMaskedRows { nan, zero };
// Where q and k are normalised (core/attention/norm.h): each head's row before RoPE (Qwen3, Gemma 3), the
// whole row of H·D numbers before the split (OLMo 2), each head's row after RoPE (Llama 4, Hunyuan).
enum class QkNorm { per_head, whole, per_head_after_rotary };
enum class NormKind { rms, layer, l2 };
// Which two of a head's R rotated columns are a pair: j and j + R/2 (Llama), or 2j and 2j + 1 (GPT-J).
enum class RotaryPairs { halves, neighbours };

// T5's learned biases by distance (core/attention/relative_bias.h).
struct RelativeBias {
  Index buckets = 32;         // ≥ 2; bidirectional: ≥ 4, half of them for keys ahead of the query
  Index max_distance = 128;   // from here on all distances are in the last bucket; > those with a bucket each
  bool bidirectional = true;  // false: keys ahead are in bucket 0, as in a causal decoder
  friend bool operator==(const RelativeBias&, const RelativeBias&) = default;
};

// The indexer of DeepSeek sparse attention, which chooses the keys of each query (core/attention/indexer.h).
struct Indexer {
  Index heads = 1;  // Hi
  Index width = 2;  // W, of each of its heads; at least the columns that the layer rotates
  Index k = 1;      // how many keys take part; all of them if there are not more
  RotaryPairs rotary_pairs = RotaryPairs::halves;
  friend bool operator==(const Indexer&, const Indexer&) = default;
};

struct IntegerRange {
  std::int64_t least = 0;
  bool contains(std::int64_t value) const { return value >= least; }
  std::string text() const { return "an integer of at least " + std::to_string(least); }
};

struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open = false;  // `least` itself is excluded
  const char* words = "a finite number";
  bool whole = false;  // integers alone
  bool contains(double value) const {
    return std::isfinite(value) && (open ? value > least : value >= least) && value <= most &&
           (!whole || value == std::floor(value));
  }
  std::string text() const { return words; }
};

inline constexpr IntegerRange positive_integer{1}, zero_or_more{0};
inline constexpr NumberRange any_number{}, not_negative{0, HUGE_VAL, false, "a finite number ≥ 0"},
    above_zero{0, HUGE_VAL, true, "a finite number > 0"}, unit_interval{0, 1, false, "a number from 0 to 1"},
    zero_or_one{0, 1, false, "0 or 1", true};

// The operator and its sizes, which a scenario may leave open, and what it has in another form.
struct OperatorOptions {
  Op op = Op::multi_head_attention;
  Index embed_dim = 128;   // E
  Index num_heads = 8;     // H
  Index num_kv_heads = 8;  // G, divides H; each key/value head serves H/G adjacent query heads
  Index kdim = 128;        // width of key
  Index vdim = 128;        // width of value
  Index head_dim = 16;     // D; Dn + R in multi_head_latent_attention, whatever its layout
  Index v_head_dim = 16;   // Dv
  // P: how many keys of a cache come before those of key; null: there is no past. It follows from the arrays,
  // as everything behind it: positions of queries and of new keys begin at P.
  std::optional<Index> past_length;
  // Instead of those of rotary_base: at most D/2 frequencies, radians per position. Not both.
  std::vector<double> rotary_inverse_frequencies;
  std::optional<double> mask_value;  // finite: FILLS blocked cells; null: -inf is added
  FullyMaskedRows fully_masked_rows = FullyMaskedRows::nan;
  std::vector<double> head_gain;  // one per head; empty: all 1
  // Heads with frozen weights: slice f of frozen_weights (N,F,L,S′) replaces the weights of head
  // frozen_heads[f]. Each in [0,H), no duplicates. Neither masks nor dropout apply to them.
  std::vector<Index> frozen_heads;

  friend bool operator==(const OperatorOptions&, const OperatorOptions&) = default;
};

// What the layer computes besides: section "attention" of a scenario. Ranges: visit_layer_options.
struct LayerOptions {
  bool add_zero_attn = false;
  // Rotary position embedding (core/attention/rotary_embedding.h): q and k are rotated by their positions,
  // pair j of D/2 by base^(−2j/D) per position; null: none, unless frequencies are given. Not together with
  // appended rows or static_k.
  std::optional<double> rotary_base;
  RotaryPairs rotary_pairs = RotaryPairs::halves;
  // Multiplies cos and sin: YaRN's and longrope's attention_factor, by whose square the scores grow
  double rotary_factor = 1.0;
  std::optional<double> scale;  // null: 1/√D
  double softcap = 0.0;         // c > 0: c·tanh(x/c) after scale and temperature, before the masks
  // every number of q, k and v is clamped to [−clip, clip] at the split into heads (OLMo)
  std::optional<double> clip_qkv;
  // q_normed and k_normed; null: neither. Not together with appended rows or static_k.
  std::optional<QkNorm> qk_norm;
  NormKind qk_norm_kind = NormKind::rms;
  // 0 or 1, added to the weights: 1 in Gemma and Qwen3-Next, whose weights start at 0
  double qk_norm_offset = 0.0;
  double qk_norm_epsilon = 1e-6;
  // Of multi_head_latent_attention, which needs the first, third and fourth: C, Cq, Dn and R. Null elsewhere.
  std::optional<Index> kv_lora_rank, q_lora_rank, qk_nope_head_dim, qk_rope_head_dim;
  LatentLayout layout = LatentLayout::expanded;
  double latent_norm_epsilon = 1e-6;
  double temperature = 1.0;  // divides the scaled scores
  // A learned logit beside each row of masked scores, whose weight is dropped (gpt-oss): one for every head,
  // or one each; empty: none. In a trace it is the tensor `sinks`.
  std::vector<double> sink;
  // position_bias is added to the scaled scores; its numbers are those of relative_attention_bias.weight.
  std::optional<RelativeBias> relative_bias;
  double dropout = 0.0;  // survivors are divided by 1-p
  std::uint64_t dropout_seed = 0;
  bool need_weights = true;
  bool average_attn_weights = true;
  // output_gate and gated_concat: concat ⊙ σ(gate) goes into the output projection, with the gate from query
  // (core/attention/output_gate.h)
  bool output_gate = false;
  bool residual = false;  // residual_output = query + output
  // layer_norm_output = LayerNorm over E of residual_output (or of output), eps 1e-5
  bool layer_norm = false;

  friend bool operator==(const LayerOptions&, const LayerOptions&) = default;
};

// Which keys a query sees by their positions: section "mask" of a scenario.
struct PositionOptions {
  bool is_causal = false;
  CausalAlignment causal_alignment = CausalAlignment::top_left;
  std::optional<Index> sliding_window;  // w: as left = right = w − 1
  // How many keys before and behind a query's own position it sees; null: all. Not with sliding_window.
  std::optional<Index> window_left, window_right;
  bool alibi = false;
  double alibi_scale = 1.0;  // multiplies ALiBi's slopes (Falcon's bias is divided by √D)
  // Of the keys that all other masks leave, those with the largest indexer_scores. Not with a past, static_k
  // or appended rows.
  std::optional<Indexer> indexer;

  friend bool operator==(const PositionOptions&, const PositionOptions&) = default;
};

// The keys that a query at position p sees: those from p − behind to p + ahead.
struct PositionWindow {
  static constexpr Index unbounded = std::numeric_limits<Index>::max() / 4;
  Index behind = unbounded, ahead = unbounded;
  bool bounds() const { return behind < unbounded || ahead < unbounded; }
  friend bool operator==(const PositionWindow&, const PositionWindow&) = default;
};

// By the window alone, and together with the causal mask.
inline PositionWindow window_of(const PositionOptions& o) {
  const auto reach = [&](const std::optional<Index>& side) {
    const Index most = o.sliding_window ? *o.sliding_window - 1 : PositionWindow::unbounded;
    return std::min(side.value_or(most), PositionWindow::unbounded);
  };
  return {reach(o.window_left), reach(o.window_right)};
}
inline void drop_window(PositionOptions& o) {
  o.sliding_window.reset();
  o.window_left.reset();
  o.window_right.reset();
}
inline PositionWindow seen_by_position(const PositionOptions& o) {
  PositionWindow window = window_of(o);
  if (o.is_causal) window.ahead = 0;
  return window;
}

struct AttentionOptions : OperatorOptions, LayerOptions, PositionOptions {
  friend bool operator==(const AttentionOptions&, const AttentionOptions&) = default;
};

inline bool is_latent(const AttentionOptions& o) {
  return is_latent(o.op);
}
// Whether all heads read one key, and W_UK and W_UV are multiplied elsewhere.
inline bool is_absorbed(const AttentionOptions& o) {
  return is_latent(o) && o.layout == LatentLayout::absorbed;
}

// Whether what is added to a score depends on how far its query and key are apart.
inline bool depends_on_distance(const AttentionOptions& o) {
  return seen_by_position(o).bounds() || o.alibi || o.relative_bias;
}

// What else holds for an option: whoever treats some options differently asks for it here, and lists none.
enum OptionTrait : unsigned {
  set_by_layer = 1,        // a model's layer sets it
  module_only = 2,         // scaled_dot_product_attention has none
  not_in_pytorch = 4,      // PyTorch's function has no argument for it
  read_last = 8,           // nothing up to head_output depends on it
  read_behind_split = 16,  // nothing up to the split into heads depends on it, nor do the masks
  latent_only = 32,        // only multi_head_latent_attention has it
  not_latent = 64,         // that operator has it in no layout
};

// Without which an option changes no number; whoever writes one all the same is told (overridden_settings.h).
enum class OptionNeed { nothing, rotary_embedding, qk_norm, qk_norm_weights, alibi };

struct OptionRow {
  const char* key;
  unsigned traits = 0;
  const char* only_reference = nullptr;  // what only that backend computes: "clip q, k and v"
  OptionNeed needs = OptionNeed::nothing;
};

// Every option that a scenario and the operator have alike: visit(row, member) or visit(row, member, range)
// with a pointer to the member, whose default is that of its struct.
template <class Visit>
void visit_layer_options(Visit&& visit) {
  using O = LayerOptions;
  visit(OptionRow{"add_zero_attn", module_only | not_latent}, &O::add_zero_attn);
  visit(OptionRow{"rotary_base", set_by_layer | read_behind_split}, &O::rotary_base, above_zero);
  visit(OptionRow{"rotary_pairs", set_by_layer | read_behind_split, nullptr, OptionNeed::rotary_embedding},
        &O::rotary_pairs);
  visit(OptionRow{"rotary_factor", set_by_layer | read_behind_split, nullptr, OptionNeed::rotary_embedding},
        &O::rotary_factor, above_zero);
  visit(OptionRow{"scale", set_by_layer | read_behind_split}, &O::scale, any_number);
  visit(OptionRow{"softcap", set_by_layer | read_behind_split | not_in_pytorch}, &O::softcap, not_negative);
  visit(OptionRow{"clip_qkv", set_by_layer | module_only | not_in_pytorch | not_latent, "clip q, k and v"},
        &O::clip_qkv, above_zero);
  visit(OptionRow{"qk_norm", set_by_layer | module_only | not_in_pytorch | not_latent}, &O::qk_norm);
  visit(OptionRow{"qk_norm_kind", set_by_layer | module_only, nullptr, OptionNeed::qk_norm}, &O::qk_norm_kind);
  visit(OptionRow{"qk_norm_offset", set_by_layer | module_only, nullptr, OptionNeed::qk_norm_weights},
        &O::qk_norm_offset, zero_or_one);
  visit(OptionRow{"qk_norm_epsilon", set_by_layer | module_only, nullptr, OptionNeed::qk_norm},
        &O::qk_norm_epsilon, not_negative);
  constexpr unsigned latent = module_only | latent_only | not_in_pytorch | set_by_layer;
  visit(OptionRow{"kv_lora_rank", latent}, &O::kv_lora_rank, positive_integer);
  visit(OptionRow{"q_lora_rank", latent}, &O::q_lora_rank, positive_integer);
  visit(OptionRow{"qk_nope_head_dim", latent}, &O::qk_nope_head_dim, positive_integer);
  visit(OptionRow{"qk_rope_head_dim", latent}, &O::qk_rope_head_dim, positive_integer);
  visit(OptionRow{"layout", latent}, &O::layout);
  visit(OptionRow{"latent_norm_epsilon", latent}, &O::latent_norm_epsilon, not_negative);
  visit(OptionRow{"temperature", read_behind_split | not_in_pytorch}, &O::temperature, above_zero);
  visit(OptionRow{"sink", set_by_layer | not_in_pytorch}, &O::sink, any_number);
  visit(OptionRow{"relative_bias", set_by_layer | not_in_pytorch}, &O::relative_bias);
  visit(OptionRow{"dropout"}, &O::dropout, unit_interval);
  visit(OptionRow{"dropout_seed"}, &O::dropout_seed);
  visit(OptionRow{"need_weights", read_last}, &O::need_weights);
  visit(OptionRow{"average_attn_weights", read_last}, &O::average_attn_weights);
  visit(OptionRow{"output_gate", set_by_layer | module_only | not_in_pytorch | read_last}, &O::output_gate);
  visit(OptionRow{"residual", module_only | read_last}, &O::residual);
  visit(OptionRow{"layer_norm", module_only | read_last}, &O::layer_norm);
}

template <class Visit>
void visit_position_options(Visit&& visit) {
  using O = PositionOptions;
  visit(OptionRow{"is_causal", set_by_layer}, &O::is_causal);
  visit(OptionRow{"causal_alignment"}, &O::causal_alignment);
  visit(OptionRow{"sliding_window", set_by_layer}, &O::sliding_window, positive_integer);
  visit(OptionRow{"window_left", set_by_layer}, &O::window_left, zero_or_more);
  visit(OptionRow{"window_right", set_by_layer}, &O::window_right, zero_or_more);
  visit(OptionRow{"alibi", set_by_layer}, &O::alibi);
  visit(OptionRow{"alibi_scale", set_by_layer, nullptr, OptionNeed::alibi}, &O::alibi_scale, any_number);
  visit(OptionRow{"indexer", set_by_layer | not_in_pytorch}, &O::indexer);
}

// f(row, member) for each option of the struct that has the trait.
template <class Options, class F>
void for_options_with(OptionTrait trait, F&& f) {
  const auto each = [&](const OptionRow& row, auto member, const auto&...) {
    if constexpr (requires(Options o) { o.*member; })
      if ((row.traits & trait) != 0) f(row, member);
  };
  visit_layer_options(each);
  visit_position_options(each);
}

// Whether the option has another value than its default.
template <class Options, class Struct, class T>
bool is_set(const Options& o, T Struct::*member) {
  return o.*member != Struct{}.*member;
}

// The keys of those that have the trait and are set.
template <class Options>
std::vector<const char*> set_options(const Options& o, OptionTrait trait) {
  std::vector<const char*> keys;
  for_options_with<Options>(trait, [&](const OptionRow& row, auto member) {
    if (is_set(o, member)) keys.push_back(row.key);
  });
  return keys;
}

}  // namespace headwise
