// The compute shaders of one context, compiled on demand for the sizes needed, and cached.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/gpu/compute_program.h"
#include "core/gpu/gpu_limits.h"

namespace headwise {

struct MatrixProductTile {
  Index rows = 1, columns = 1;  // vec4s per thread
  bool ragged = false;
};

struct AttentionTile {
  Index rows = 1;     // vec4s of query rows per thread: 64·rows queries per work group
  Index columns = 1;  // vec4s of value columns per thread
  bool ragged = false, masked = false;
};

class GpuPrograms {
 public:
  explicit GpuPrograms(const GpuLimits& limits) : limits_(limits) {}
  const GpuLimits& limits() const { return limits_; }

  // shaders/NAME.comp
  const ComputeProgram& matrix_product(const MatrixProductTile& tile);
  const ComputeProgram& scaled_dot_product_attention(const AttentionTile& tile);
  const ComputeProgram& attention_weights();
  const ComputeProgram& frozen_weights();
  const ComputeProgram& head_gains();
  const ComputeProgram& rotary_embedding();
  const ComputeProgram& all_finite();
  const ComputeProgram& subgroup_check();

  // The largest tile that is worthwhile for this many queries and fits in the shared memory. v_head_dim ≤ 256.
  AttentionTile attention_tile(Index queries, Index head_dim, Index v_head_dim, bool masked) const;

 private:
  void add_subgroups(std::vector<ComputeProgram::Define>& defines) const;

  GpuLimits limits_;
  std::map<std::string, ComputeProgram> made_;
};

}  // namespace headwise
