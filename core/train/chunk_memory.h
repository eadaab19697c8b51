// The memory of one thread for its chunks, and the tables that all chunks read.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/train/chunk_work.h"
#include "core/train/train_model.h"

namespace headwise {

template <class T>
using AlignedValues = std::vector<T, UnwrittenValues<T>>;

// Sequences of this many tokens altogether are taken at a time: their activations stay in the L2 cache
// (measured with 2 layers of E = 64).
inline constexpr Index chunk_tokens = 128;

inline Index chunk_sequences(Index length) {
  return std::max<Index>(1, chunk_tokens / length);
}

// What depends on positions or heads, and not on parameters.
template <class T>
struct ChunkTables {
  AlignedValues<T> sinusoids, cosines, sines, slopes;
  std::vector<Index> buckets;
  // For sequences of up to `longest` tokens: sinusoids (T,E padded) as in "Attention Is All You Need", angles
  // of rotary_embedding.h, slopes of alibi.h, buckets of relative_bias.h by distance from −(longest − 1) on.
  // Those that the configuration does not need are empty.
  explicit ChunkTables(const TrainModelConfig& config);
};

// Buffers for a chunk of sequences of one length. All zero in the beginning; pads stay so.
template <class T>
class ChunkMemory {
 public:
  // Prepares `work`: sizes, tables and buffers, for chunks of up to chunk_sequences(length) sequences. The
  // memory is allocated anew only if the length is another one.
  void prepare(const TrainModelConfig& config, const ChunkTables<T>& tables, Index length, ChunkWork<T>& work);
  // Factors of dropout for each layer (sequences,H,S,T padded), to be filled by the caller;
  // null without dropout.
  T* dropout(Index layer) { return dropout_[static_cast<std::size_t>(layer)]; }

 private:
  AlignedValues<T> values_;
  std::vector<Index> rows_;
  std::vector<T*> dropout_;
  Index length_ = 0;
  ChunkWork<T> divided_{};
};

// Finds where numbers stop being finite on the way through the model.

struct FoundTensor {
  Index place = 0;   // in the order of the forward pass
  std::string name;  // "layers.1.attn_weights"; empty: all are finite
};

// The first tensor of the chunk, just run forward, that has a number which is not finite.
template <class T>
FoundTensor first_not_finite(const ChunkWork<T>& work);

// Parameters as the loops over columns want them: each row padded with zeros to a multiple of `train_padding`
// numbers, and the matrices of linear layers once more transposed.

inline Index padded(Index columns) {
  return (columns + train_padding - 1) / train_padding * train_padding;
}

struct PaddedLayout {
  ModelPlaces places;
  std::vector<MatrixPlace> of_parameter;  // of each parameter, in their order
  Index size = 0;                         // of the padded array
  Index transposed_size = 0;              // of the array of transposed matrices
};

PaddedLayout padded_layout(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters);

// Copies the values of one parameter to its place in `padded` and, if it is a matrix of a linear layer,
// transposed to `turned`. Pads are not written.
template <class T>
void spread_parameter(const MatrixPlace& place, const T* values, T* padded, T* turned);

// values[i] = Σ over the arrays of `padded` of its rows [first, last), in their order: unpads gradients.
template <class T>
void gather_rows(const MatrixPlace& place, const std::vector<T*>& padded, Index first, Index last, T* values);

}  // namespace headwise
