// The compute shaders of one context, compiled on demand for the sizes needed, and cached.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/gpu/attention_plan.h"
#include "core/gpu/compute_program.h"
#include "core/gpu/linear_plan.h"

namespace headwise {

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
  const ComputeProgram& qk_norm();
  const ComputeProgram& all_finite();
  const ComputeProgram& subgroup_check();

 private:
  void add_subgroups(std::vector<ComputeProgram::Define>& defines) const;

  GpuLimits limits_;
  std::map<std::string, ComputeProgram> made_;
};

}  // namespace headwise
