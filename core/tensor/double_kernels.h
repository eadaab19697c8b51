// Loops over doubles that the reference backend spends its time in, compiled once for each instruction set that this
// program may meet. Every operation is rounded by itself and every sum has one order, whatever the instruction set: the
// bits are the same on every machine. (A fused multiply-add would round once where others round twice.)
//
// Includes nothing that could be instantiated elsewhere with another instruction set's flags. Pointers need no alignment.
#pragma once

#include <cstdint>

namespace headwise {

using Index = std::int64_t;

struct DoubleKernels {
  static constexpr Index columns = 8;  // of the right side of a product, side by side

  const char* name;
  Index rows;  // of the left side, side by side

  // out[r][c] (+)= Σ_k left[k][r]·right[k][c], in the order of k, for r < made_rows ≤ rows, c < made_columns ≤ columns.
  // left [depth][rows] and right [depth][columns] are whole; a row of out is out_step behind the one before.
  void (*multiply)(const double* left, const double* right, Index depth, double* out, Index out_step,
                   Index made_rows, Index made_columns, bool add);

  // The largest of x; NaN does not count, −∞ where there is nothing else.
  double (*largest)(const double* x, Index count);

  // to[i] = e^(x[i] − minus), for x[i] ≤ minus, to one unit in the last place; 0 for −∞, NaN for NaN. Returns their sum:
  // of each eighth number one sum, and those added by halves. `to` may be x.
  double (*exponentials)(const double* x, double minus, Index count, double* to);

  // to = from, rounded. False where a finite number becomes infinite.
  bool (*narrow)(const double* from, Index count, float* to);
};

enum class InstructionSet;  // core/tensor/instruction_set.h
// Those for a machine that has it.
const DoubleKernels& double_kernels(InstructionSet set);
// Those of chosen_instruction_set(), asked once, unless a DoubleKernelsScope says otherwise.
const DoubleKernels& chosen_double_kernels();

// While it lives, chosen_double_kernels() are those, in every thread. For comparing instruction sets; not for two threads.
class DoubleKernelsScope {
 public:
  explicit DoubleKernelsScope(InstructionSet set);
  ~DoubleKernelsScope();
  DoubleKernelsScope(const DoubleKernelsScope&) = delete;
  DoubleKernelsScope& operator=(const DoubleKernelsScope&) = delete;
};

}  // namespace headwise
