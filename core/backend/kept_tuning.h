// What was timed on a GPU (core/gpu/gpu_tuning.h), kept from one run of the program to the next:
// gpu_tuning.txt in $XDG_CACHE_HOME/headwise or ~/.cache/headwise. It may be deleted at any time;
// nothing but speed depends on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/gpu_tuning.h"

namespace headwise {

// Of one key (tuning_key()) in the text of such a file; empty if it has none.
TileRatios kept_tile_ratios(std::string_view text, std::string_view key);

// The text with those of this key replaced, as the last of at most 32 keys: those kept earliest are dropped.
std::string with_tile_ratios(std::string_view text, std::string_view key, const TileRatios& ratios);

// Empty if neither XDG_CACHE_HOME nor HOME is an absolute path.
std::string tuning_file();

// The limits of the current context, with the fastest tiles for attention of these sizes. Once in a process,
// on a GPU on which they are not all known yet, they are looked for, for about a second; not on software, nor
// where HEADWISE_GPU_LIMITS says how to compute. Throws Error(cancelled), and Error(no_display)
// if the context is lost.
GpuLimits tuned_limits(Op op, const AttentionSizes& sizes, const SliceLimits& slices);

// The same for limits like these, timed like this and kept in this file (empty: in none), which is read once
// in a process. While another thread times, what is known has to do.
GpuLimits tuned_limits(const GpuLimits& limits, const std::vector<TileCandidate::Shader>& shaders,
                       const TileTimer& timer, const std::string& path);

}  // namespace headwise
