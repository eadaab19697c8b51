// What treats each token by itself, forward and back: linear layers, LayerNorm, the activation. Part of
// core/train/chunk_kernels.cpp.
#pragma once

#include "core/train/chunk_product.h"

namespace headwise {
namespace {

using Work = ChunkWork<Real>;
using Norm = NormRows<Real>;

constexpr Real norm_epsilon = static_cast<Real>(1e-5);

// out (rows,out) = x·Wᵀ + b, or added to what it holds.
void linear(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, Index rows, const Real* x,
            Index x_step, Real* out, bool add = false) {
  multiply(rows, weight.columns, weight.transposed_step, {x, x_step, 1},
           {work.transposed_weights + weight.transposed_at, weight.transposed_step},
           {out, weight.transposed_step, add, bias.rows > 0 ? work.weights + bias.at : nullptr});
}

// Adds to work.shares what each of `rows` rows adds to the watched value, if that is one of `place`: share(i,
// row, column) of its row and column there. Row i of them is row of[i] of the chunk; null: i.
template <class Share>
inline void keep_shares(const Work& work, const MatrixPlace& place, Index rows, const Index* of, Share&& share) {
  if (!work.shares) return;
  const Index at = work.watched - place.at;
  if (at < 0 || at >= place.rows * place.step) return;
  for (Index i = 0; i < rows; ++i) work.shares[of ? of[i] : i] += share(i, at / place.step, at % place.step);
}

// grad_x (rows,in) = grad_y·W; the gradients of W and b are added to. `of` as above.
void linear_backward(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, Index rows,
                     const Real* grad_y, Index y_step, const Real* x, Real* grad_x, const Index* of = nullptr) {
  keep_shares(work, weight, rows, of, [&](Index i, Index row, Index column) {
    return grad_y[i * y_step + row] * x[i * weight.step + column];
  });
  keep_shares(work, bias, rows, of, [&](Index i, Index, Index column) { return grad_y[i * y_step + column]; });
  multiply(rows, weight.rows, weight.step, {grad_y, y_step, 1}, {work.weights + weight.at, weight.step},
           {grad_x, weight.step});
  multiply(weight.rows, rows, weight.step, {grad_y, 1, y_step}, {x, weight.step},
           {work.gradients + weight.at, weight.step, true});
  if (bias.rows == 0) return;
  Real* const grad_bias = work.gradients + bias.at;
  for (Index c = 0; c < bias.step; c += vector) {
    Vector sum = load(grad_bias + c);
    for (Index r = 0; r < rows; ++r) sum += load(grad_y + r * y_step + c);
    store(grad_bias + c, sum);
  }
}

// norm.out = LayerNorm(x); without norms, x.
void layer_norm(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, Index rows,
                const Real* x, const Norm& norm) {
  const Index width = work.width, step = work.width_step;
  const Real per_column = 1 / static_cast<Real>(width);
  const Real* const w = work.weights + weight.at;
  const Real* const b = work.weights + bias.at;
  for (Index r = 0; r < rows; ++r) {
    const Real* const from = x + r * step;
    Real* const out = norm.out + r * step;
    if (!work.norms) {
      for (Index c = 0; c < step; c += vector) store(out + c, load(from + c));
      continue;
    }
    Real* const normalised = norm.normalised + r * step;
    const Vector mean = all(row_sum(step, [&](Index c) { return load(from + c); }) * per_column);
    for (Index c = 0; c < step; c += vector) store(normalised + c, load(from + c) - mean);
    for (Index c = width; c < step; ++c) normalised[c] = 0;
    const Real variance =
        row_sum(step, [&](Index c) { return load(normalised + c) * load(normalised + c); }) * per_column;
    const Real inverse =
        1 / static_cast<Real>(wide_numbers ? __builtin_sqrt(variance + norm_epsilon)
                                           : __builtin_sqrtf(static_cast<float>(variance + norm_epsilon)));
    norm.inverse[r] = inverse;
    for (Index c = 0; c < step; c += vector) {
      const Vector scaled = load(normalised + c) * all(inverse);
      store(normalised + c, scaled);
      store(out + c, scaled * load(w + c) + load(b + c));
    }
  }
}

// grad_x += d(loss)/d(x) from grad_out; the gradients of weight and bias are added to. `of` as above.
void layer_norm_backward(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, Index rows,
                         const Real* grad_out, const Norm& norm, Real* grad_x, const Index* of = nullptr) {
  const Index step = work.width_step;
  keep_shares(work, weight, rows, of, [&](Index i, Index, Index column) {
    return grad_out[i * step + column] * norm.normalised[i * step + column];
  });
  keep_shares(work, bias, rows, of, [&](Index i, Index, Index column) { return grad_out[i * step + column]; });
  const Real per_column = 1 / static_cast<Real>(work.width);
  const Real* const w = work.weights + weight.at;
  Real* const grad_weight = work.gradients + weight.at;
  Real* const grad_bias = work.gradients + bias.at;
  for (Index r = 0; r < rows; ++r) {
    const Real* const g = grad_out + r * step;
    Real* const to = grad_x + r * step;
    if (!work.norms) {
      for (Index c = 0; c < step; c += vector) store(to + c, load(to + c) + load(g + c));
      continue;
    }
    const Real* const normalised = norm.normalised + r * step;
    const Vector mean = all(row_sum(step, [&](Index c) { return load(g + c) * load(w + c); }) * per_column);
    const Vector along = all(
        row_sum(step, [&](Index c) { return load(g + c) * load(w + c) * load(normalised + c); }) * per_column);
    const Vector inverse = all(norm.inverse[r]);
    for (Index c = 0; c < step; c += vector) {
      const Vector grad = load(g + c), x = load(normalised + c);
      store(grad_weight + c, load(grad_weight + c) + grad * x);
      store(grad_bias + c, load(grad_bias + c) + grad);
      store(to + c, load(to + c) + inverse * (grad * load(w + c) - mean - x * along));
    }
  }
}

constexpr Real gelu_slope = static_cast<Real>(0.79788456080286535588);  // √(2/π)
constexpr Real gelu_cubic = static_cast<Real>(0.044715);

// tanh of the inner function of gelu's approximation, by e^(−2|u|).
inline Vector gelu_tanh(Vector x) {
  const Vector u = (x + x * x * x * gelu_cubic) * gelu_slope;
  const Integers negative = u < Vector{};
  const Vector e = exponential((negative ? u : -u) * 2);
  const Vector size = (1 - e) / (1 + e);
  return negative ? -size : size;
}

void activate(const Work& work, Index rows, const Real* before, Real* hidden) {
  const Vector zero{};
  for (Index i = 0; i < rows * work.hidden_step; i += vector) {
    const Vector x = load(before + i);
    const Integers dropped = x <= zero;
    store(hidden + i, work.relu ? (dropped ? zero : x) : x * (gelu_tanh(x) + 1) * static_cast<Real>(0.5));
  }
}

// grad_hidden becomes the gradient before the activation.
void activate_backward(const Work& work, Index rows, const Real* before, Real* grad_hidden) {
  const Vector zero{};
  for (Index i = 0; i < rows * work.hidden_step; i += vector) {
    const Vector x = load(before + i), grad = load(grad_hidden + i);
    if (work.relu) {
      const Integers dropped = x <= zero;
      store(grad_hidden + i, dropped ? zero : grad);
      continue;
    }
    const Vector t = gelu_tanh(x);
    const Vector slope = (x * x * (3 * gelu_cubic) + 1) * gelu_slope;
    store(grad_hidden + i,
          grad * ((t + 1) * static_cast<Real>(0.5) + x * static_cast<Real>(0.5) * (1 - t * t) * slope));
  }
}

}  // namespace
}  // namespace headwise
