// A few sequences of a batch on their way through the model and back: what the loops compiled for each
// instruction set are given. Includes nothing that could be instantiated elsewhere with another instruction
// set's flags; pointers only, the memory is the caller's.
//
// A row is a token: row n·T + t is token t of sequence n. Rows are padded with zeros to a multiple of
// `train_padding` numbers, so that no loop over columns has a remainder;
// a pad is computed along and read by nobody.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

inline constexpr Index train_padding = 16;
inline constexpr Index most_train_layers = 4;

// Where a parameter stands in the padded arrays: of the weights and of their gradients, [rows][step], and of
// the transposed weights, [columns][transposed_step]. Absent: 0 rows.
struct MatrixPlace {
  Index rows = 0, columns = 0;
  Index at = 0, step = 0;
  Index transposed_at = 0, transposed_step = 0;  // 0: not transposed
};

struct LayerPlaces {
  MatrixPlace norm1_weight, norm1_bias, in_weight, in_bias;
  MatrixPlace q_weight, kv_a_weight, latent_norm, kv_b_weight;  // instead of in_weight and in_bias
  MatrixPlace relative_bias;  // of every layer the same place, that of the table that they share
  MatrixPlace sinks, gate_weight, out_weight, out_bias;
  MatrixPlace norm2_weight, norm2_bias, linear1_weight, linear1_bias, linear2_weight, linear2_bias;
};

struct ModelPlaces {
  MatrixPlace embedding, positions, norm_weight, norm_bias;
  MatrixPlace unembedding;  // the place of the embedding if it is tied
  LayerPlaces layers[most_train_layers];
};

// Rows that a LayerNorm has made. x̂ = (x − mean)/√(var + ε).
template <class T>
struct NormRows {
  T* normalised;  // x̂ (rows,E)
  T* inverse;     // 1/√(var + ε) (rows)
  T* out;         // x̂·weight + bias (rows,E); without norms: x
};

// What the way back reads of a layer.
template <class T>
struct LayerRows {
  NormRows<T> attention_input, feed_forward_input;
  T* in;    // q, k and v (rows,H·D+2·G·D), after rotation and norm
  T* kv_a;  // what latents are before their norm, and the R columns that all keys share (rows,C+R)
  NormRows<T> compressed;  // the latents after their RMS norm (rows,C), or null as kv_a
  T* inverse;              // 1 over the root of the mean square that q and k had (rows,H+G), or null
  T* weights;      // (sequences,H,S,T): transposed maps, so that the softmax runs across neighbouring numbers
  T* sink_shares;  // what the sink takes of each row (sequences,H,T), or null
  T* heads;        // concatenated head outputs (rows,H·D)
  T* gate;         // σ of the output gate (rows,H·D), or null
  T* gated;        // the heads times it (rows,H·D), or null
  T* before;       // of the activation (rows,F)
  T* hidden;       // after it (rows,F)
};

// Scratch that holds nothing between two calls.
template <class T>
struct ChunkScratch {
  T* stream;                    // x (rows,E)
  T* counted_input;             // rows of x whose prediction counts (rows,E)
  NormRows<T> counted;          // the last norm of them
  T* logits;                    // (rows,V), and their gradients
  T* grad_stream;               // (rows,E)
  T* grad_narrow;               // (rows,E)
  T* grad_heads;                // (rows,H·D)
  T* grad_gate;                 // (rows,H·D), or null
  T* grad_wide;                 // (rows,max(F,H·D+2·G·D))
  T* kv_b;                      // k and v of the latents (rows,H·(2·D−R)), or their gradients
  T *grad_kv_a, *grad_latents;  // (rows,C+R), (rows,C)
  T* transposed;                // (D,T): q of one head, or the gradient of its output
  T* map;                       // (S,T)
  T* grad_map;                  // (S,T)
  T* grad_sinks;                // what each query of one head adds to d sink (T), or null
  // What each head adds to the score of a query and the key `distance` places before it, at
  // distance + T − 1; without such biases null (H,bias_step). The gradients: of learned biases only.
  T *biases, *grad_biases;
  Index* counted_rows;  // (rows)
};

template <class T>
struct ChunkWork {
  const ModelPlaces* places;
  const T* weights;
  const T* transposed_weights;
  T* gradients;  // added to; null: forward only

  Index layers, width, heads, kv_heads, head_width, hidden, vocabulary;
  Index latent, shared_key;  // C and R: keys and values are made of latents; or 0
  Index rotated;             // the last columns of a head that positions rotate: D, or R
  Index width_step, in_step, heads_step, hidden_step, wide_step, vocabulary_step, token_step, bias_step;
  Index latent_step, kv_a_step, kv_b_step;
  Index seen_behind, seen_ahead;  // how many places before and behind it a token sees
  bool norms, relu, qk_norm, sink, output_gate;
  T scale;
  const T* sinusoids;        // (T,E), or null
  const T *cosines, *sines;  // (T,rotated/2), or null: nothing is rotated
  const Index* buckets;  // the row of the table of relative biases by distance; [0] is distance 0; or null

  Index sequences, tokens;              // of this chunk, and T of each
  const std::int32_t* token;            // (sequences,T)
  const std::int32_t* target;           // (sequences,T); −1: its prediction does not count
  T grad_of_loss;                       // d(mean loss)/d(loss of a counted row)
  const T* dropout[most_train_layers];  // factors of the weights (sequences,H,S,T), or null

  LayerRows<T> layer[most_train_layers];
  ChunkScratch<T> scratch;

  // The share of each row in one value of the gradients, that at `watched` in their array: (sequences,T),
  // added to; null: not kept.
  T* shares;
  Index watched;

  double loss;  // sum over counted rows, added to
  Index counted, correct;
};

// Every sum has a fixed order, which depends on the instruction set: on how wide its vectors are, and whether
// it fuses multiply-adds.
template <class T>
struct ChunkKernels {
  void (*run)(ChunkWork<T>& work);
};

}  // namespace headwise
