// Vectors of one instruction set, for the files that are compiled once for each (headwise_kernels in
// core/CMakeLists.txt): HEADWISE_ISA is the set, HEADWISE_REAL the type of numbers, HEADWISE_VECTOR_BYTES
// how wide a vector is. In an unnamed namespace, so that the linker never merges functions of two builds;
// includes nothing that could be instantiated elsewhere with other flags.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/tensor/kernel_table.h"

namespace headwise {
namespace {

using Real = HEADWISE_REAL;
constexpr int vector = HEADWISE_VECTOR_BYTES / sizeof(Real);
constexpr bool wide_numbers = sizeof(Real) == 8;

using Vector = Real __attribute__((vector_size(vector * sizeof(Real)), aligned(sizeof(Real)), may_alias));
using Integers = std::conditional_t<wide_numbers, std::int64_t, std::int32_t> __attribute__((
    vector_size(vector * sizeof(Real)), aligned(sizeof(Real)), may_alias));
using Bits = std::conditional_t<wide_numbers, std::uint64_t, std::uint32_t> __attribute__((
    vector_size(vector * sizeof(Real)), aligned(sizeof(Real)), may_alias));

inline Vector load(const Real* at) {
  return *reinterpret_cast<const Vector*>(at);
}
inline void store(Real* at, Vector value) {
  *reinterpret_cast<Vector*>(at) = value;
}
inline Vector all(Real value) {
  return value - Vector{};
}  // x − 0 is x, and costs nothing

constexpr Real infinity = static_cast<Real>(__builtin_inf());

// The sums of a tile of a product in registers.
template <int Rows, int Vectors>
using Sums = Vector[Rows][Vectors];

// sum += l·x. Where the sums fill the registers, in one instruction that the compiler cannot rearrange: it
// would add into the register of a factor, then copy, and put sums into memory (three reads a step more).
inline void multiply_add(Vector l, Vector x, Vector& sum) {
#if defined(__FMA__) && !defined(__AVX512F__)
  if constexpr (wide_numbers)
    asm volatile("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(l), "x"(x));
  else
    asm volatile("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(l), "x"(x));
#else
  sum += l * x;
#endif
}

// One step of the depth: sum[r] += left[r][at]·right.
template <int Rows, int Vectors>
inline void step(const Real* const* left, std::int64_t at, const Real* right, Sums<Rows, Vectors>& sum) {
  Vector x[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) x[v] = load(right + v * vector);
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) {
    const Vector l = all(left[r][at]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) multiply_add(l, x[v], sum[r][v]);
  }
}

// e^x = p·2^n for x ≤ 0 in double: |r| ≤ ln 2/2 (ln 2 in two parts, the first with 33 bits, so that n times
// it is exact: fdlibm), and p = e^r by its Taylor polynomial of degree 13, whose remainder there is below
// 5e-18. `power` has n in the place of the exponent.
struct WideExponential {
  Vector p;
  Bits power;
};
inline WideExponential wide_exponential(Vector x) {
  const Vector shifter = all(static_cast<Real>(6755399441055744.0));  // 1.5·2^52: adding it rounds to an integer
  const Vector shifted = x * static_cast<Real>(1.44269504088896338700) + shifter, n = shifted - shifter;
  const Vector r = (x - n * static_cast<Real>(6.93147180369123816490e-01)) -
                   n * static_cast<Real>(1.90821492927058770002e-10);
  constexpr double terms[] = {2.0876756987868099e-09,
                              2.5052108385441719e-08,
                              2.7557319223985891e-07,
                              2.7557319223985893e-06,
                              2.4801587301587302e-05,
                              1.9841269841269841e-04,
                              1.3888888888888889e-03,
                              8.3333333333333333e-03,
                              4.1666666666666667e-02,
                              1.6666666666666667e-01,
                              0.5};
  Vector p = all(static_cast<Real>(1.6059043836821613e-10));
#pragma GCC unroll 11
  for (const double term : terms) p = p * r + static_cast<Real>(term);
  return {(r * r * p + r) + static_cast<Real>(1.0), reinterpret_cast<const Bits&>(shifted)
                                                        << (wide_numbers ? 52 : 0)};
}

}  // namespace
}  // namespace headwise
