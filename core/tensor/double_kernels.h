// Loops over doubles that the reference backend spends its time in, compiled once for each instruction set
// that this program may run on. Every operation is rounded separately and every sum has a fixed order,
// whatever the instruction set: the bits are the same on every machine. (A fused multiply-add would round
// once where others round twice.)
//
// Includes nothing that could be instantiated elsewhere with another instruction set's flags.
// Pointers need no alignment.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

struct DoubleKernels {
  static constexpr Index columns = 8;  // of the right side of a product, side by side

  Index rows;  // of the left side, side by side

  // out[r][c] (+)= Σ_k left[k][r]·right[k][c], in the order of k, for r < made_rows ≤ rows, c < made_columns
  // ≤ columns. left [depth][rows] and right [depth][columns] are complete; rows of out are out_step apart.
  void (*multiply)(const double* left, const double* right, Index depth, double* out, Index out_step,
                   Index made_rows, Index made_columns, bool add);

  // The largest of x; NaN does not count, −∞ if there is nothing else.
  double (*largest)(const double* x, Index count);

  // to[i] = e^(x[i] − minus), for x[i] ≤ minus, to one unit in the last place; 0 for −∞, NaN for NaN. Returns
  // their sum: one sum over every eighth number, and these added pairwise. `to` may be x.
  double (*exponentials)(const double* x, double minus, Index count, double* to);

  // to = from, rounded. False if a finite number becomes infinite.
  bool (*narrow)(const double* from, Index count, float* to);
};

enum class InstructionSet;                // core/tensor/instruction_set.h
InstructionSet chosen_instruction_set();  // there, too
const DoubleKernels& double_kernels(InstructionSet set = chosen_instruction_set());

}  // namespace headwise
