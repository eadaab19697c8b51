// As many multiplications and additions as a core can do: what the speed of a backend is held against. Compiled once for
// each instruction set.
#pragma once

#include <cstdint>

namespace headwise {

struct PeakKernel {
  std::int64_t round_flops;  // of one round, a multiply-add counted as two
  // Rounds over numbers that stay in registers; the result is of no use but to be asked for.
  float (*run)(std::int64_t rounds);
};

}  // namespace headwise
