#include "core/gpu/gpu_rotary.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headwise {
namespace {

constexpr Index rotary_block = 256;        // numbers of a work group
constexpr double work_of_rotation = 32.0;  // in multiply-adds: reading and writing it is what takes time

void dispatch_rotary(const GpuRotary& r, const ComputeProgram& program, Index alignment, Index first_row,
                     Index count, Index first_block, Index blocks) {
  const Index first_number = first_row * r.width;
  program.use();
  program.set_size("count", count);
  program.set("rows_offset", r.rows->bind(0, first_number, count, alignment));
  program.set("rotations_offset", r.rotations->bind(1, 0, r.rotations->count(), alignment));
  program.set("rotated_offset", r.rotated->bind(3, first_number, count, alignment));
  program.set_size("first_row", first_row);
  program.set_size("tokens", r.tokens);
  program.set_size("width", r.width);
  program.set_size("pairs", r.pairs);
  program.set_size("step", r.step);
  program.set_size("apart", r.apart);
  program.set_size("first_block", first_block);
  glDispatchCompute(static_cast<GLuint>(blocks), 1, 1);
}

// Numbers that a shader can bind at once.
Index seen_numbers(const GpuLimits& limits) {
  return (limits.storage_block_bytes - limits.offset_alignment) / 4;
}

}  // namespace

std::string gpu_rotary_refusal(Index tokens, Index pairs, const GpuLimits& limits) {
  if (tokens <= seen_numbers(limits) / 2 / std::max<Index>(pairs, 1)) return "";
  return "the gl backend has no room for the angles of so many rotary positions";
}

StorageBuffer rotary_cos_sin(const Rotation& rotation, Index first_position, Index tokens) {
  std::vector<float> rotations;
  rotations.reserve(static_cast<std::size_t>(2 * tokens * rotation.count()));
  for (Index token = 0; token < tokens; ++token) {
    for (Index pair = 0; pair < rotation.count(); ++pair) {
      rotations.push_back(static_cast<float>(rotation.cosine(first_position + token, pair)));
      rotations.push_back(static_cast<float>(rotation.sine(first_position + token, pair)));
    }
  }
  StorageBuffer buffer("rotary turns", static_cast<Index>(rotations.size()));
  buffer.write(0, std::span<const float>(rotations));
  return buffer;
}

void add_rotary_embedding(GpuWork& work, GpuPrograms& programs, const GpuRotary& r) {
  const GpuLimits& limits = programs.limits();
  const ComputeProgram& program = programs.rotary_embedding();
  const Index rows_each =
      std::max<Index>(1, std::min(seen_numbers(limits) / r.width, limits.groups_x * rotary_block / r.width));
  for (Index row = 0; row < r.row_count; row += rows_each) {
    const Index count = std::min(rows_each, r.row_count - row) * r.width;
    GpuJob job{.kind = "rotary_embedding",
               .units = (count + rotary_block - 1) / rotary_block,
               .work = work_of_rotation * static_cast<double>(rotary_block)};
    job.dispatch = [r, &program, alignment = limits.offset_alignment, row, count](const GpuRange& range) {
      dispatch_rotary(r, program, alignment, row, count, range.first_unit, range.units);
    };
    work.add(std::move(job));
  }
}

}  // namespace headwise
