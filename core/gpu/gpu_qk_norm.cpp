#include "core/gpu/gpu_qk_norm.h"

#include <algorithm>
#include <string>

namespace headwise {
namespace {

constexpr double work_of_number = 32.0;  // in multiply-adds: reading and writing it is what takes time

// Numbers that a shader can bind at once.
Index bound_numbers(const GpuLimits& limits) {
  return (limits.storage_block_bytes - limits.offset_alignment) / 4;
}

// `heads` neighbouring heads, and of them the tokens of one head where there is one only.
struct NormPiece {
  Index first_head, heads, first_token, tokens;
};

void dispatch_norm(const GpuQkNorm& n, const ComputeProgram& program, Index alignment, const NormPiece& piece,
                   const GpuRange& range) {
  const Index first = (piece.first_head * n.tokens + piece.first_token) * n.width;
  const Index count = piece.heads * piece.tokens * n.width;
  program.use();
  program.set("rows_offset", n.rows->bind(0, first, count, alignment));
  const Index weights = n.gains ? n.gains->count() : 0;
  const StorageBuffer& bound = n.gains ? *n.gains : *n.rows;
  program.set("weights_offset", bound.bind(1, 0, n.gains ? weights : 1, alignment));
  program.set("normed_offset", n.normed->bind(3, first, count, alignment));
  program.set_size("first_row", range.first_unit);
  program.set_size("first_head", piece.first_head);
  program.set_size("heads", n.heads);
  program.set_size("parts", n.whole ? n.heads : 1);
  program.set_size("tokens", piece.tokens);
  program.set_size("width", n.width);
  program.set_size("weight_count", weights);
  program.set_size("kind", static_cast<Index>(n.norm.kind));
  program.set("epsilon", static_cast<float>(n.norm.epsilon));
  glDispatchCompute(static_cast<GLuint>(range.units), 1, 1);
}

}  // namespace

std::string gpu_qk_norm_refusal(bool whole, Index numbers_of_batch, const GpuLimits& limits) {
  if (!whole || numbers_of_batch <= bound_numbers(limits)) return "";
  return "the gl backend cannot see all heads of so many tokens at once (qk_norm whole)";
}

void add_qk_norm(GpuWork& work, GpuPrograms& programs, const GpuQkNorm& n) {
  const GpuLimits& limits = programs.limits();
  const ComputeProgram& program = programs.qk_norm();
  const Index most = bound_numbers(limits), slab = n.tokens * n.width;
  const Index heads_each = n.whole ? n.heads : std::max<Index>(1, most / slab);
  const Index tokens_each = slab <= most ? n.tokens : most / n.width;
  for (Index head = 0; head < n.batch * n.heads; head += heads_each) {
    for (Index token = 0; token < n.tokens; token += tokens_each) {
      const NormPiece piece{head, std::min(heads_each, n.batch * n.heads - head), token,
                            std::min(tokens_each, n.tokens - token)};
      const Index rows = piece.heads * piece.tokens / (n.whole ? n.heads : 1);
      for (Index first = 0; first < rows; first += limits.groups_x) {
        GpuJob job{.kind = "qk_norm",
                   .units = std::min(limits.groups_x, rows - first),
                   .work = work_of_number * static_cast<double>(n.width * (n.whole ? n.heads : 1))};
        job.dispatch = [n, &program, alignment = limits.offset_alignment, piece, first](const GpuRange& range) {
          GpuRange shifted = range;
          shifted.first_unit += first;
          dispatch_norm(n, program, alignment, piece, shifted);
        };
        work.add(std::move(job));
      }
    }
  }
}

}  // namespace headwise
