// As many multiplications and additions as a core can do: the reference for the speed of a backend. Compiled
// once for each instruction set.
#pragma once

#include <cstdint>

namespace headwise {

struct PeakKernel {
  std::int64_t round_flops;  // of one round, a multiply-add counted as two
  // Runs rounds over numbers that stay in registers; the result only prevents them from being optimised away.
  float (*run)(std::int64_t rounds);
};

}  // namespace headwise
