// What treats each token by itself, forward and back: linear layers, LayerNorm, the activation. Part of
// core/train/chunk_kernels.cpp.
#pragma once

#include "core/train/chunk_product.h"

namespace headwise {
namespace {

using Work = ChunkWork<Real>;
using Norm = NormRows<Real>;

constexpr Real norm_epsilon = static_cast<Real>(1e-5);

// Buffers of a chunk, a row for each token.
Rows token_rows(const Work& work, Real* at, Index step) {
  return rows_at(at, work.sequences * work.tokens, step, step);
}

ConstRows weight_of(const Work& work, const MatrixPlace& place) {
  return rows_at(work.weights + place.at, place.rows, place.step, place.step);
}
Rows gradient_of(const Work& work, const MatrixPlace& place) {
  return rows_at(work.gradients + place.at, place.rows, place.step, place.step);
}
ConstRows transposed_weight(const Work& work, const MatrixPlace& place) {
  return rows_at(work.transposed_weights + place.transposed_at, place.columns, place.transposed_step,
                 place.transposed_step);
}

// y = x·Wᵀ + b
void linear(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, const GivenRows& x, Rows y) {
  const ConstRows b = rows_at(work.weights + bias.at, bias.rows > 0 ? y.rows() : 0, y.cols(), 0);
  add_product(b, x, transposed_weight(work, weight), y);
}

// y += x·Wᵀ + b
void add_linear(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, const GivenRows& x,
                Rows y) {
  y.rowwise() += weight_of(work, bias).row(0);
  multiply(x, transposed_weight(work, weight), y, true);
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

// dL/dx = dL/dy·W, or with `further` dL/dx += it; dL/dW += (dL/dy)ᵀ·x, dL/db += Σ dL/dy. `of` as above.
void linear_backward(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias,
                     const GivenRows& grad_y, const GivenRows& x, Rows grad_x, const Index* of = nullptr,
                     bool further = false) {
  keep_shares(work, weight, x.rows(), of,
              [&](Index i, Index row, Index column) { return grad_y(i, row) * x(i, column); });
  keep_shares(work, bias, x.rows(), of, [&](Index i, Index, Index column) { return grad_y(i, column); });
  multiply(grad_y, weight_of(work, weight), grad_x, further);
  multiply(grad_y.transpose(), x, gradient_of(work, weight), true);
  if (bias.rows > 0) gradient_of(work, bias) += grad_y.colwise().sum();
}

// norm.out = LayerNorm(x); without norms, x.
void layer_norm(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias, const GivenRows& x,
                const Norm& norm) {
  if (!work.norms) {
    rows_at(norm.out, x.rows(), x.cols(), x.cols()) = x;
    return;
  }
  const ConstRow w(work.weights + weight.at, work.width), b(work.weights + bias.at, work.width);
  for (Index r = 0; r < x.rows(); ++r) {
    const Index at = r * work.width_step;
    const ConstRow from(x.data() + at, work.width);
    Row normalised(norm.normalised + at, work.width);
    normalised = from - from.mean();
    norm.inverse[r] = 1 / Eigen::numext::sqrt(normalised.square().mean() + norm_epsilon);
    normalised *= norm.inverse[r];
    Row(norm.out + at, work.width) = normalised * w + b;
  }
}

// dL/dx += (g∘w − mean(g∘w) − x̂·mean(g∘w∘x̂))/√(var + ε) of each row, where g is dL/d(out); the gradients of
// weight and bias are added to. `of` as above.
void layer_norm_backward(const Work& work, const MatrixPlace& weight, const MatrixPlace& bias,
                         const GivenRows& grad_out, const Norm& norm, Rows grad_x, const Index* of = nullptr) {
  const Rows normalised = rows_at(norm.normalised, grad_out.rows(), grad_out.cols(), grad_out.cols());
  keep_shares(work, weight, grad_out.rows(), of,
              [&](Index i, Index, Index column) { return grad_out(i, column) * normalised(i, column); });
  keep_shares(work, bias, grad_out.rows(), of,
              [&](Index i, Index, Index column) { return grad_out(i, column); });
  if (!work.norms) {
    grad_x += grad_out;
    return;
  }
  const ConstRow w(work.weights + weight.at, work.width);
  Row grad_weight(work.gradients + weight.at, work.width), grad_bias(work.gradients + bias.at, work.width);
  for (Index r = 0; r < grad_out.rows(); ++r) {
    const Index at = r * work.width_step;
    const ConstRow g(grad_out.data() + at, work.width), x(norm.normalised + at, work.width);
    const Real mean = (g * w).mean(), along = (g * w * x).mean();
    grad_weight += g * x;
    grad_bias += g;
    Row(grad_x.data() + at, work.width) += (g * w - mean - x * along) * norm.inverse[r];
  }
}

// gate = σ(x·W_gᵀ), gated = heads∘gate
void open_gate(const Work& work, const MatrixPlace& weight, const GivenRows& x, const LayerRows<Real>& layer) {
  const Index count = x.rows() * work.heads_step;
  linear(work, weight, {}, x, rows_at(layer.gate, x.rows(), work.heads_step, work.heads_step));
  Row gate(layer.gate, count);
  gate = ((-gate).exp() + 1).inverse() + gate * Real(0);  // NaN for NaN, as in exponential()
  Row(layer.gated, count) = gate * ConstRow(layer.heads, count);
}

// Of g = dL/d(gated): dL/d(heads) = g∘σ, which may be in the place of g, and before σ
// dL/d(gate) = g∘heads∘σ·(1 − σ).
void open_gate_backward(const LayerRows<Real>& layer, Index count, const Real* grad_gated, Real* grad_heads,
                        Real* grad_gate) {
  const ConstRow gate(layer.gate, count), gated(layer.gated, count), g(grad_gated, count);
  Row(grad_gate, count) = g * gated * (1 - gate);
  Row(grad_heads, count) = g * gate;
}

constexpr Real gelu_slope = static_cast<Real>(1.59576912160573071176);  // 2·√(2/π)
constexpr Real gelu_cubic = static_cast<Real>(0.044715);

// gelu(x)/x = ½·(1 + tanh(u)) = 1/(1 + e^(−2u)), where u = √(2/π)·(x + 0.044715·x³).
template <class Array>
auto gelu_gate(const Array& x) {
  return (((x.square() * gelu_cubic + 1) * x * -gelu_slope).exp() + 1).inverse();
}

void activate(const Work& work, Index rows, const Real* before, Real* hidden) {
  const ConstRow x(before, rows * work.hidden_step);
  Row out(hidden, rows * work.hidden_step);
  if (work.relu)
    out = (x <= 0).select(Real(0), x);
  else
    out = x * gelu_gate(x);
}

// grad_hidden becomes the gradient before the activation.
void activate_backward(const Work& work, Index rows, const Real* before, Real* grad_hidden) {
  const Index count = rows * work.hidden_step;
  if (work.relu) {
    const ConstRow x(before, count);
    Row grad(grad_hidden, count);
    grad = (x <= 0).select(Real(0), grad);
    return;
  }
  for (Index i = 0; i < count; i += train_padding) {  // a few at a time, so that their gates stay in registers
    using Part = Eigen::Array<Real, 1, train_padding>;
    const Part x = ConstRow(before + i, train_padding), gate = gelu_gate(x);
    const auto slope = (x.square() * (3 * gelu_cubic) + 1) * gelu_slope;
    Row(grad_hidden + i, train_padding) *= gate + x * gate * (1 - gate) * slope;
  }
}

}  // namespace
}  // namespace headwise
