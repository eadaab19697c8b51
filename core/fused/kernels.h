// The loops that the fused backend spends its time in, compiled once for each instruction set that this program may
// meet. One build of them is a table of functions over raw pointers: nothing of Eigen or the standard library is
// instantiated with another instruction set's flags, so that the linker cannot mix them up.
//
// Two layouts, chosen so that no product has to reorder what another made:
//   a panel   [rows][lanes]                 `lanes` tokens (queries) side by side, a feature or key a row
//   blocks    [rows/block][depth][block]    the left side of a product, `block` of its rows side by side
// Both are padded with zeros to whole panels and blocks. Numbers are f32; pointers need no alignment.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

struct FusedKernels {
  const char* name;  // "avx2"
  Index block;       // rows of a block
  Index lanes;       // of a panel

  // panel[r][lane] (+)= Σ_k blocks[r][k] · right[k][lane] for r < count·block: a product of depth `depth` with a panel
  // as its right side. `block_stride` is the distance of two blocks, so that a part of their depth can be taken.
  void (*multiply)(const float* blocks, Index block_stride, Index count, Index depth, const float* right,
                   float* panel, bool add);

  // The softmax of a panel of scores [keys][lanes], where some keys may have been seen before: scores become
  // exp(scale·score − maximum), `maximum` and `sum` [lanes] follow, and `shrink` [lanes] is what earlier weighted sums must
  // be multiplied with. `bias` [keys][lanes] is added after the scale; null: none. A row of nothing but −∞ keeps the
  // maximum −∞ and the sum 0. NaN anywhere in a lane makes its sum NaN.
  void (*exponentials)(float* scores, const float* bias, Index keys, float scale, float* maximum, float* sum,
                       float* shrink);

  // panel[r][lane] *= factor[lane]
  void (*multiply_lanes)(float* panel, Index rows, const float* factor);
};

enum class InstructionSet;  // core/tensor/instruction_set.h
// Those for a machine that has it.
const FusedKernels& fused_kernels(InstructionSet set);
// Those of chosen_instruction_set().
const FusedKernels& chosen_fused_kernels();

}  // namespace headwise
