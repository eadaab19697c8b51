// Reads numbers back from the GPU without blocking in the driver: they are copied to memory visible to both,
// behind a fence, while the previous piece is processed.
#pragma once

#include <functional>
#include <span>

#include "core/gpu/storage_buffer.h"

namespace headwise {

// Calls take(i, numbers) for the pieces [i·size, (i+1)·size) of `from`, in order; the last one may be
// shorter. `numbers` is invalid once it returns. Throws Error(cancelled), what check_gpu() throws
// (core/gpu/gpu_faults.h), and what `take` throws.
void read_back(const StorageBuffer& from, Index size,
               const std::function<void(Index piece, std::span<const float> numbers)>& take);

// Reads all of it; `to` has from.count() numbers.
void read_back(const StorageBuffer& from, std::span<float> to);

}  // namespace headwise
