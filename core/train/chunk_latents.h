// Keys and values of multi-head latent attention, forward and back. Part of core/train/chunk_kernels.cpp.
#pragma once

#include "core/train/chunk_attention.h"

namespace headwise {
namespace {

constexpr Real latent_norm_epsilon = static_cast<Real>(1e-6);

// Of one head, the columns of k and v in `in`, and those that kv_b has of both: no R shared ones of k.
struct LatentHead {
  Index key, value, of_key, of_value, own, width;
};
LatentHead latent_head(const Work& work, Index head) {
  const Index width = work.head_width, own = width - work.shared_key, first = head * (own + width);
  return {(work.heads + head) * width, (2 * work.heads + head) * width, first, first + own, own, width};
}

// compressed.out = x/√(mean x² + ε)·weight of the first C columns of kv_a
void normalise_latents(const Work& work, const MatrixPlace& weight, const LayerRows<Real>& layer, Index rows) {
  const ConstRow w(work.weights + weight.at, work.latent);
  for (Index r = 0; r < rows; ++r) {
    const ConstRow latent(layer.kv_a + r * work.kv_a_step, work.latent);
    const Index at = r * work.latent_step;
    Row normalised(layer.compressed.normalised + at, work.latent);
    layer.compressed.inverse[r] = 1 / Eigen::numext::sqrt(latent.square().mean() + latent_norm_epsilon);
    normalised = latent * layer.compressed.inverse[r];
    Row(layer.compressed.out + at, work.latent) = normalised * w;
  }
}

// And back, into the first C columns of grad_kv_a.
void normalise_latents_backward(const Work& work, const MatrixPlace& weight, const LayerRows<Real>& layer,
                                const GivenRows& grad_out, Rows grad_kv_a) {
  const Rows normalised = rows_at(layer.compressed.normalised, grad_out.rows(), work.latent, work.latent_step);
  keep_shares(work, weight, grad_out.rows(), nullptr,
              [&](Index i, Index, Index column) { return grad_out(i, column) * normalised(i, column); });
  const ConstRow w(work.weights + weight.at, work.latent);
  Row grad_weight(work.gradients + weight.at, work.latent);
  for (Index r = 0; r < grad_out.rows(); ++r) {
    const Index at = r * work.latent_step;
    const ConstRow g(grad_out.data() + at, work.latent), x(layer.compressed.normalised + at, work.latent);
    grad_weight += g * x;
    const Real along = (g * w * x).mean();
    Row(grad_kv_a.data() + r * work.kv_a_step, work.latent) = (g * w - x * along) * layer.compressed.inverse[r];
  }
}

// q, k and v in layer.in of the rows of x, before they are rotated.
void project_latents(const Work& work, const LayerPlaces& places, const GivenRows& x,
                     const LayerRows<Real>& layer) {
  const Index rows = x.rows();
  linear(work, places.q_weight, {}, x, rows_at(layer.in, rows, work.heads_step, work.in_step));
  const Rows kv_a = rows_at(layer.kv_a, rows, work.kv_a_step, work.kv_a_step),
             kv_b = rows_at(work.scratch.kv_b, rows, work.kv_b_step, work.kv_b_step);
  linear(work, places.kv_a_weight, {}, x, kv_a);
  normalise_latents(work, places.latent_norm, layer, rows);
  linear(work, places.kv_b_weight, {},
         rows_at(layer.compressed.out, rows, work.latent_step, work.latent_step), kv_b);
  Rows in = rows_at(layer.in, rows, work.in_step, work.in_step);
  for (Index head = 0; head < work.heads; ++head) {
    const LatentHead at = latent_head(work, head);
    in.middleCols(at.key, at.own) = kv_b.middleCols(at.of_key, at.own);
    in.middleCols(at.key + at.own, work.shared_key) = kv_a.middleCols(work.latent, work.shared_key);
    in.middleCols(at.value, at.width) = kv_b.middleCols(at.of_value, at.width);
  }
}

// grad_x from the gradients of q, k and v (rows,H·D+2·H·D) and the input x of project_latents.
void project_latents_backward(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer,
                              const GivenRows& grad_in, const GivenRows& x, Rows grad_x) {
  const Index rows = x.rows();
  Rows grad_kv_b = rows_at(work.scratch.kv_b, rows, work.kv_b_step, work.kv_b_step),
       grad_kv_a = rows_at(work.scratch.grad_kv_a, rows, work.kv_a_step, work.kv_a_step);
  grad_kv_a.setZero();
  for (Index head = 0; head < work.heads; ++head) {
    const LatentHead at = latent_head(work, head);
    grad_kv_b.middleCols(at.of_key, at.own) = grad_in.middleCols(at.key, at.own);
    grad_kv_a.middleCols(work.latent, work.shared_key) += grad_in.middleCols(at.key + at.own, work.shared_key);
    grad_kv_b.middleCols(at.of_value, at.width) = grad_in.middleCols(at.value, at.width);
  }
  const Rows grad_compressed = rows_at(work.scratch.grad_latents, rows, work.latent_step, work.latent_step);
  linear_backward(work, places.kv_b_weight, {}, grad_kv_b,
                  rows_at(layer.compressed.out, rows, work.latent_step, work.latent_step), grad_compressed);
  normalise_latents_backward(work, places.latent_norm, layer, grad_compressed, grad_kv_a);
  linear_backward(work, places.kv_a_weight, {}, grad_kv_a, x, grad_x);
  linear_backward(work, places.q_weight, {}, rows_at(grad_in.data(), rows, work.heads_step, work.in_step), x,
                  grad_x, nullptr, true);
}

}  // namespace
}  // namespace headwise
