// Numbers on their way back from the GPU, without anybody standing in the driver for them: they are copied to memory that
// both can see, behind a fence, while the piece before is taken.
#pragma once

#include <functional>
#include <span>

#include "core/gpu/storage_buffer.h"

namespace headwise {

// Calls take(i, numbers) for the pieces [i·size, (i+1)·size) of `from`, in order; the last one may be shorter. `numbers` are gone
// when it returns. Throws Error(cancelled), what check_gpu() throws (core/gpu/gpu_faults.h), and what `take` throws.
void read_back(const StorageBuffer& from, Index size,
               const std::function<void(Index piece, std::span<const float> numbers)>& take);

// All of it; `to` has from.count() numbers.
void read_back(const StorageBuffer& from, std::span<float> to);

}  // namespace headwise
