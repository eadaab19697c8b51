#include "core/gpu/gpu_linear.h"

#include <algorithm>
#include <array>

#include "core/gpu/linear_plan.h"

namespace headwise {
namespace {

void dispatch_linear(const GpuLinear& l, const ComputeProgram& program, const GpuLimits& limits,
                     const LinearPiece& piece, Index first_block, Index blocks, const GpuRange& range) {
  const Index alignment = limits.offset_alignment;
  const Index part = piece.first_column / l.out_part;
  program.use();
  program.set("rows", static_cast<std::uint32_t>(piece.rows));
  program.set_size("columns", piece.columns);
  program.set_size("depth", l.depth);
  const Index first_column = range.first_step * depth_of_step;
  program.set(
      "depth_range",
      std::array{static_cast<std::uint32_t>(first_column),
                 static_cast<std::uint32_t>(std::min(first_column + range.steps * depth_of_step, l.depth))});
  program.set("a_offset",
              l.x->bind(0, (piece.n * l.rows + piece.first_row) * l.depth, piece.rows * l.depth, alignment));
  program.set("w_offset", l.weight->bind(1, (l.first_weight_row + piece.first_column) * l.depth,
                                         piece.columns * l.depth, alignment));
  program.set("has_bias", l.bias != nullptr);
  if (l.bias)
    program.set("bias_offset",
                l.bias->bind(2, l.first_bias_entry + piece.first_column, piece.columns, alignment));
  Index first = piece.n * l.out_batch_stride, count = 0, inside = 0;
  if (piece.columns > l.out_part) {  // whole parts, all of their rows
    first += part * l.out_part_stride;
    count = piece.columns / l.out_part * l.out_part_stride;
    inside = piece.first_row * l.out_row_stride;
  } else {  // some rows of one part
    first += part * l.out_part_stride + piece.first_row * l.out_row_stride;
    count = piece.rows * l.out_row_stride;
    inside = piece.first_column % l.out_part;
  }
  const std::uint32_t out = l.out->bind(3, first, std::min(count, l.out->count() - first), alignment);
  program.set("c_offset", out + static_cast<std::uint32_t>(inside));
  program.set_size("c_stride", l.out_row_stride);
  program.set_size("c_part", l.out_part);
  program.set_size("c_part_stride", l.out_part_stride);
  program.set_size("first_block", first_block);
  glDispatchCompute(static_cast<GLuint>(blocks), 1, 1);
}

}  // namespace

void add_linear(GpuWork& work, GpuPrograms& programs, const GpuLinear& l) {
  const GpuLimits& limits = programs.limits();
  const LinearSizes sizes{.batch = l.batch,
                          .rows = l.rows,
                          .depth = l.depth,
                          .columns = l.columns,
                          .out_part = l.out_part,
                          .out_row_stride = l.out_row_stride,
                          .out_part_stride = l.out_part_stride};
  const MatrixProductTile tile = matrix_product_tile(sizes, limits, work.processors("matrix_product"));
  const ComputeProgram& program = programs.matrix_product(tile);
  std::vector<TokenRange> rows;
  if (l.only) rows = *l.only;
  for (Index n = 0; !l.only && n < l.batch; ++n) rows.push_back({n, 0, l.rows});
  for (const LinearPiece& piece : plan_linear(sizes, rows, limits)) {
    GpuJob job = linear_job(sizes, tile, piece);
    job.dispatch = [l, &program, &limits, piece](const GpuRange& range) {
      for (Index done = 0; done < range.units; done += limits.groups_x)
        dispatch_linear(l, program, limits, piece, range.first_unit + done,
                        std::min(limits.groups_x, range.units - done), range);
    };
    work.add(std::move(job));
  }
}

}  // namespace headwise
