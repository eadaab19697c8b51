#include "core/gpu/subgroup_check.h"

#include <vector>

#include "core/gpu/gpu_programs.h"
#include "core/gpu/storage_buffer.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr Index threads = 256, cluster = 16;

}  // namespace

bool clusters_are_neighbours(std::span<const float> found) {
  if (found.size() != 2 * threads) return false;
  for (Index thread = 0; thread < threads; ++thread) {
    const Index first = thread / cluster * cluster, last = first + cluster - 1;
    const auto at = static_cast<std::size_t>(2 * thread);
    if (found[at] != static_cast<float>(last)) return false;
    if (found[at + 1] != static_cast<float>(cluster * (first + last) / 2)) return false;
  }
  return true;
}

bool subgroups_work(const GpuLimits& limits) {
  try {
    GpuPrograms programs(limits);
    const ComputeProgram& program = programs.subgroup_check();
    const StorageBuffer buffer("what subgroups find", 2 * threads);
    program.use();
    program.set("found_offset", buffer.bind(3, 0, buffer.count(), limits.offset_alignment) / 2);
    glDispatchCompute(1, 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    std::vector<float> found(static_cast<std::size_t>(buffer.count()));
    buffer.read(0, found);
    return clusters_are_neighbours(found);
  } catch (const Error&) {
    return false;  // what needs no subgroups may compute all the same
  }
}

}  // namespace headwise
