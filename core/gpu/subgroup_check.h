// Whether a driver's subgroups do what the shaders want of them: a size that it reports need not be the one that it dispatches.
#pragma once

#include <span>

#include "core/gpu/compute_program.h"
#include "core/gpu/gpu_limits.h"

namespace headwise {

// Runs one work group in the current context (shaders/subgroup_check.comp). False too where the shader does not compile. `limits` with
// clustered_subgroups.
bool subgroups_work(const GpuLimits& limits);

// `found`: for each of 256 threads the largest and the sum of the 16 thread numbers of its cluster.
bool clusters_are_neighbours(std::span<const float> found);

}  // namespace headwise
