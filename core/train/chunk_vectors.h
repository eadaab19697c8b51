// Vectors of the instruction set that the including file is compiled for: HEADWISE_REAL is the type of
// numbers, HEADWISE_VECTOR how many of them one has. Part of core/train/chunk_kernels.cpp.
#pragma once

#include <type_traits>

#include "core/train/chunk_work.h"

namespace headwise {
namespace {

using Real = HEADWISE_REAL;
constexpr Index vector = HEADWISE_VECTOR;
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

// The sum of f(column) over the columns of a row: sixteen sums, added pairwise,
// in the same order whatever the vectors.
template <class F>
inline Real row_sum(Index step, F&& f) {
  constexpr Index parts = train_padding / vector;
  Vector part[parts];
  for (Vector& p : part) p = Vector{};
  for (Index c = 0; c < step; c += train_padding)
#pragma GCC unroll 8
    for (Index v = 0; v < parts; ++v) part[v] += f(c + v * vector);
  Real lanes[train_padding];
  for (Index v = 0; v < parts; ++v) store(lanes + v * vector, part[v]);
  for (Index half = train_padding / 2; half > 0; half /= 2)
    for (Index i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

// e^x for x ≤ 0: 2^n·e^r with |r| ≤ ln 2/2, ln 2 in two parts. 0 where the result would be denormal,
// NaN for NaN.
inline Vector exponential(Vector x) {
  Vector p;
  Bits bits;
  if constexpr (wide_numbers) {
    // e^r by its Taylor polynomial of degree 13, whose remainder there is below 5e-18.
    const Vector shifter =
        all(static_cast<Real>(6755399441055744.0));  // 1.5·2^52: adding it rounds to an integer
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
    p = all(static_cast<Real>(1.6059043836821613e-10));
#pragma GCC unroll 11
    for (const double term : terms) p = p * r + static_cast<Real>(term);
    p = (r * r * p + r) + static_cast<Real>(1.0);
    bits = reinterpret_cast<const Bits&>(shifted) << 52;
  } else {
    // e^r by the polynomial of degree 7 of Cephes (expf).
    const Vector shifter = all(static_cast<Real>(12582912.0));  // 1.5·2^23
    const Vector shifted = x * static_cast<Real>(1.44269504088896341) + shifter, n = shifted - shifter;
    const Vector r = (x - n * static_cast<Real>(0.693359375)) + n * static_cast<Real>(2.12194440e-4);
    constexpr double terms[] = {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
                                5.0000001201e-1};
    p = all(static_cast<Real>(1.9875691500e-4));
#pragma GCC unroll 5
    for (const double term : terms) p = p * r + static_cast<Real>(term);
    p = (r * r * p + r) + static_cast<Real>(1.0);
    bits = reinterpret_cast<const Bits&>(shifted) << 23;
  }
  const Bits result =
      reinterpret_cast<const Bits&>(p) + bits;  // lanes that vanish or are NaN wrap around, and are not used
  const Integers vanishes = x < all(static_cast<Real>(wide_numbers ? -708.0 : -87.0)), is_nan = x != x;
  const Vector zero{};
  return is_nan ? x : (vanishes ? zero : reinterpret_cast<const Vector&>(result));
}

}  // namespace
}  // namespace headwise
