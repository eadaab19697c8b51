#include "core/gpu/gpu_head_gains.h"

#include <algorithm>

namespace headwise {
namespace {

constexpr Index block = 256;           // numbers of a work group
constexpr double work_of_gain = 16.0;  // in multiply-adds: reading and writing it is what takes time

void dispatch(const GpuHeadGains& g, const ComputeProgram& program, Index alignment, Index first_number,
              Index count, Index first_block, Index blocks) {
  program.use();
  program.set_size("count", count);
  program.set("head_output_offset", g.head_output->bind(0, first_number, count, alignment));
  program.set("gains_offset", g.gains->bind(1, 0, g.heads, alignment));
  program.set("concat_offset", g.concat->bind(3, first_number, count, alignment));
  program.set_size("heads", g.heads);
  program.set_size("v_head_dim", g.v_head_dim);
  program.set_size("first_block", first_block);
  glDispatchCompute(static_cast<GLuint>(blocks), 1, 1);
}

}  // namespace

void add_head_gains(GpuWork& work, GpuPrograms& programs, const GpuHeadGains& g) {
  const GpuLimits& limits = programs.limits();
  const ComputeProgram& program = programs.head_gains();
  const Index width = g.heads * g.v_head_dim;
  const Index seen = (limits.storage_block_bytes - limits.offset_alignment) / (4 * width);
  const Index tokens_each = std::max<Index>(1, std::min(seen, limits.groups_x * block / width));
  for (Index token = 0; token < g.tokens; token += tokens_each) {
    const Index first_number = token * width, count = std::min(tokens_each, g.tokens - token) * width;
    GpuJob job{.kind = "head_gains",
               .units = (count + block - 1) / block,
               .work = work_of_gain * static_cast<double>(block)};
    job.dispatch = [g, &program, alignment = limits.offset_alignment, first_number,
                    count](const GpuRange& range) {
      dispatch(g, program, alignment, first_number, count, range.first_unit, range.units);
    };
    work.add(std::move(job));
  }
}

}  // namespace headwise
