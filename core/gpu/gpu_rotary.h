// Rotary position embedding on the GPU (core/attention/rotary_embedding.h).
#pragma once

#include "core/attention/rotary_embedding.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/gpu_work.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// rotated[row,·] = rows[row,·] rotated by the position of token row % tokens.
// Buffers must live until the work is done.
struct GpuRotary {
  Index row_count = 0, tokens = 0, width = 0;
  Index pairs = 0, step = 1, apart = 0;      // as in Rotation
  const StorageBuffer* rows = nullptr;       // (row_count, width)
  const StorageBuffer* rotations = nullptr;  // (tokens, pairs, 2)
  const StorageBuffer* rotated = nullptr;    // (row_count, width)
};

// A sentence saying why another backend must compute tables of this many tokens and pairs;
// empty if this one can.
std::string gpu_rotary_refusal(Index tokens, Index pairs, const GpuLimits& limits);

// cos and sin of positions [first_position, first_position + tokens), in the layout of `rotations`.
StorageBuffer rotary_cos_sin(const Rotation& rotation, Index first_position, Index tokens);

// Adds the jobs that compute it, split so that none binds more of a buffer than the context allows.
void add_rotary_embedding(GpuWork& work, GpuPrograms& programs, const GpuRotary& rotary);

}  // namespace headwise
