// What was timed on a GPU (core/gpu/gpu_tuning.h), kept from one run of the program to the next: gpu_tuning.txt in $XDG_CACHE_HOME/headwise or
// ~/.cache/headwise. It may be deleted at any time; nothing but speed depends on it.
#pragma once

#include <string>
#include <string_view>

#include "core/gpu/gpu_tuning.h"

namespace headwise {

// Of one key (tuning_key()) in the text of such a file; empty if it has none.
TileSpeeds kept_tile_speeds(std::string_view text, std::string_view key);

// The text with those of this key replaced, as the last of at most 32 keys: those kept earliest are dropped.
std::string with_tile_speeds(std::string_view text, std::string_view key, const TileSpeeds& speeds);

// Empty if neither XDG_CACHE_HOME nor HOME is an absolute path.
std::string tuning_file();

// The limits of the current context, with the fastest tiles for attention of these sizes. They are looked for, for at most a second, only
// on a GPU on which they are not known yet, and not where HEADWISE_GPU_LIMITS says how to compute. Throws Error(cancelled), and
// Error(no_display) if the context is lost.
GpuLimits tuned_limits(const AttentionSizes& sizes, const SliceLimits& slices);

// The same for limits like these, timed like this and kept in this file (empty: in none). The file is read once in a process.
GpuLimits tuned_limits(const GpuLimits& limits, const AttentionSizes& sizes, const TileTimer& timer,
                       const std::string& path);

}  // namespace headwise
