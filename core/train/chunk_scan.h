// Finds where numbers stop being finite on the way through the model.
#pragma once

#include <string>

#include "core/train/chunk_work.h"

namespace headwise {

struct FoundTensor {
  Index place = 0;   // in the order of the forward pass
  std::string name;  // "layers.1.attn_weights"; empty: all are finite
};

// The first tensor of the chunk, just run forward, that has a number which is not finite.
template <class T>
FoundTensor first_not_finite(const ChunkWork<T>& work);

}  // namespace headwise
