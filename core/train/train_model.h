// The model that is trained: a small transformer with pre-norm blocks, as
// torch.nn.TransformerEncoder(norm_first=True) has them,
// with an embedding before it and an unembedding behind it.
//
//   x = embedding[token] + positions[t]
//   in each layer:  x += self_attn(norm1(x));  x += linear2(activation(linear1(norm2(x))))
//   logits = norm(x)·unembeddingᵀ
//
// What a configuration leaves out (norms, feed-forward, W_O) is skipped, and has no parameters.
// Letters: V vocabulary, T longest sequence, E model width, H heads, G key/value heads, D head width,
// F feed-forward width, C latent width, R the columns of keys that all heads share beside latents.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/shape.h"

namespace headwise {

// relative_bias: learned numbers by distance, a table that all layers share (core/attention/relative_bias.h).
enum class TrainPositions { none, learned, sinusoidal, rotary, alibi, relative_bias };
enum class TrainActivation { relu, gelu };  // gelu: its approximation by tanh (approximate="tanh" in PyTorch)

// A head whose parameters stay as they began.
struct FrozenHead {
  Index layer = 0;
  Index head = 0;
  friend bool operator==(const FrozenHead&, const FrozenHead&) = default;
};

struct TrainModelConfig {
  Index vocabulary = 16;            // V, 2 … 65,536
  Index longest_sequence = 32;      // T, 1 … 1,024
  Index layers = 2;                 // 1 … 4
  Index width = 64;                 // E, 16 … 128
  Index heads = 8;                  // H, 1 … 16
  Index kv_heads = 8;               // G, divides H; each serves H/G adjacent heads
  std::optional<Index> head_width;  // D, 1 … 128; null: E/H, which H must divide
  // C, 1 … 128: keys and values of all heads are made of C numbers a token, as in core/attention's
  // multi_head_latent_attention without q_lora_rank; with G = H, D of 3 or more and no QK-norm.
  std::optional<Index> latent_width;
  bool feed_forward = true;
  std::optional<Index> feed_forward_width;  // F, 1 … 1,024; null: 4·E
  TrainActivation activation = TrainActivation::gelu;
  bool norms = true;  // LayerNorm, ε = 1e-5
  TrainPositions positions = TrainPositions::learned;
  bool causal = true;
  std::optional<Index> sliding_window;  // 1 … T: a token sees fewer places before and behind it; null: all
  bool scaled = true;                   // scores · 1/√D; false: · 1
  bool qk_norm =
      false;  // each head's rows of q and k over the root of their mean square, without weights, ε = 1e-6
  bool sink = false;         // a learned logit a head, a score of each query whose weight is dropped
  bool output_gate = false;  // the concatenated heads ∘ σ(x·W_gᵀ), before W_O; x is the input of attention
  bool out_projection =
      true;              // W_O and its bias; false: the concatenated heads are the output, and H·D must be E
  bool tied = false;     // the unembedding is the embedding
  double dropout = 0.0;  // of attention weights while training, 0 ≤ p < 1
  std::vector<FrozenHead> frozen_heads;
  // Every head begins as head 0: in the rows of W_Q, W_K, W_V and, with equal_out_projection,
  // in the columns of W_O.
  bool heads_begin_equal = false;
  bool equal_out_projection = true;

  friend bool operator==(const TrainModelConfig&, const TrainModelConfig&) = default;
};

// Throws Error(usage) for a configuration outside the ranges above: one sentence, naming the setting.
void check_train_model(const TrainModelConfig& config);

// The widths that the configuration implies; it must be a checked one.
Index head_width_of(const TrainModelConfig& config);            // D
Index shared_key_width_of(const TrainModelConfig& config);      // R, D/4 rounded up to an even number; or 0
Index rotated_width_of(const TrainModelConfig& config);         // of a head's columns, its last: D, or R
Index kv_b_rows_of(const TrainModelConfig& config);             // H·(2·D − R); 0 without latents
Index feed_forward_width_of(const TrainModelConfig& config);    // F; 0 without feed-forward
Index in_rows_of(const TrainModelConfig& config);               // H·D + 2·G·D, the rows of in_proj_weight
PositionWindow seen_by_token(const TrainModelConfig& config);   // in every layer
RelativeBias relative_bias_of(const TrainModelConfig& config);  // 32 buckets up to a distance of 128, as T5's

// What a parameter is, for those who look for one without its name.
enum class TrainRole {
  embedding,       // (V,E)
  positions,       // (T,E), if they are learned
  norm1_weight,    // (E)
  norm1_bias,      // (E)
  in_weight,       // (H·D+2·G·D,E): W_Q, W_K, W_V one below the other
  in_bias,         // (H·D+2·G·D)
  q_weight,        // (H·D,E), and the next three: with latents, instead of in_weight and in_bias
  kv_a_weight,     // (C+R,E): W_DKV, and below it W_KR of what all keys share
  latent_norm,     // (C), of an RMS norm, ε = 1e-6
  kv_b_weight,     // (H·(2·D−R),C): of each head D − R rows of W_UK, then D rows of W_UV
  relative_bias,   // (buckets,H), in layer 0 for all layers
  sinks,           // (H)
  gate_weight,     // (H·D,E)
  out_weight,      // (E,H·D)
  out_bias,        // (E)
  norm2_weight,    // (E)
  norm2_bias,      // (E)
  linear1_weight,  // (F,E)
  linear1_bias,    // (F)
  linear2_weight,  // (E,F)
  linear2_bias,    // (E)
  norm_weight,     // (E), the last norm
  norm_bias,       // (E)
  unembedding,     // (V,E), unless it is tied
};

// One of the tensors that training changes. All of them stand in one array, one behind the other.
struct TrainParameter {
  std::string name;  // as in PyTorch's state_dict: "layers.0.self_attn.in_proj_weight"
  TrainRole role = TrainRole::embedding;
  Index layer = -1;  // −1: of no layer
  Shape shape;       // rank 1 or 2
  Index offset = 0;  // of its first value in the array

  Index rows() const { return shape.rank() < 2 ? 1 : shape.size(0); }
  Index columns() const { return shape.size(shape.rank() - 1); }
  Index size() const { return shape.element_count(); }
};

// The parameters in the order of the forward pass.
std::vector<TrainParameter> train_parameters(const TrainModelConfig& config);
// Of all parameters together: the length of their array.
Index train_parameter_count(const std::vector<TrainParameter>& parameters);

// The head that a value of a parameter belongs to, or the heads that share it.
struct ValueOwner {
  Index first = 0, heads = 1;
  Index in_first = 0;  // the value at the same place of the first head or group of heads
};
// Of value i: rows of W_Q, W_K, W_V, their biases and W_g, columns of W_O and of the relative biases, sinks;
// what latents are made by belongs to all heads. Null: of no head.
std::optional<ValueOwner> owner_of(const TrainModelConfig& config, const TrainParameter& parameter, Index i);

// For each value 1 if it belongs to a frozen head, which training must not change: what heads share only if
// all of them are frozen, those of a group, or of all layers. Empty if no head is frozen.
std::vector<std::uint8_t> frozen_values(const TrainModelConfig& config,
                                        const std::vector<TrainParameter>& parameters);

// The values that parameters begin with, as PyTorch's modules would draw them, but by counter-based random
// numbers: the same for any number of threads, and on every machine.
//
//   embedding, positions       N(0, 1)                          torch.nn.Embedding; if the unembedding is
//                                                               tied to the embedding, N(0, 1/E) for both, so
//                                                               that logits begin near ±1
//   in_proj_weight             U(±√(6/(rows + E)))              torch.nn.MultiheadAttention (Xavier)
//   out_proj.weight            U(±1/√(H·D))                     torch.nn.Linear (Kaiming with a = √5)
//   in_proj_bias, out_proj.bias  0                              torch.nn.MultiheadAttention
//   q_proj, kv_a_proj_with_mqa, kv_b_proj  U(±1/√inputs)        torch.nn.Linear
//   kv_a_layernorm             1                                torch.nn.RMSNorm
//   relative_attention_bias    N(0, 1/E)                        transformers' T5
//   sinks                      0: as one more key whose score is 0
//   output_gate                U(±1/√E)                         torch.nn.Linear
//   linear1, linear2           U(±1/√inputs), biases too        torch.nn.Linear
//   unembedding                U(±1/√E)                         torch.nn.Linear
//   norms                      weight 1, bias 0                 torch.nn.LayerNorm
enum class Draw { constant, uniform, normal };
struct Beginning {
  Draw draw = Draw::constant;
  double size = 0.0;           // the constant, the bound of uniform numbers, or the deviation of normal ones
  std::string python = "0.0";  // the same as an expression; WIDTH and HIDDEN are E and F
};
Beginning beginning_of(const TrainParameter& parameter, const TrainModelConfig& config);

// Fills `values`, the array of all parameters. Value i of a parameter depends on the seed, the parameter's
// name and i alone. All are rounded to f32, so that a run in f64 begins with the same model.
void initialise_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                           std::uint64_t seed, std::span<float> values);
void initialise_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                           std::uint64_t seed, std::span<double> values);

}  // namespace headwise
