// Parameters as the loops over columns want them: each row padded with zeros to a multiple of `train_padding`
// numbers, and the matrices of linear layers once more transposed.
#pragma once

#include <vector>

#include "core/train/chunk_work.h"
#include "core/train/train_model.h"

namespace headwise {

inline Index padded(Index columns) {
  return (columns + train_padding - 1) / train_padding * train_padding;
}

struct PaddedLayout {
  ModelPlaces places;
  std::vector<MatrixPlace> of_parameter;  // of each parameter, in their order
  Index size = 0;                         // of the padded array
  Index turned_size = 0;                  // of the array of transposed matrices
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
