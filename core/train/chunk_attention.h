// Attention of each sequence and head, forward and back. Part of core/train/chunk_kernels.cpp.
#pragma once

#include <algorithm>

#include "core/train/chunk_layers.h"

namespace headwise {
namespace {

// D columns of one sequence, (T,D).
Rows head_columns(const Work& work, Real* rows, Index step, Index sequence, Index which) {
  return rows_at(rows + sequence * work.tokens * step + which * work.head_width, work.tokens, work.head_width,
                 step);
}

// q, k and v of one sequence and head in `in`, or their gradients in its gradient.
struct HeadRows {
  Rows query, key, value;
};
HeadRows head_rows(const Work& work, Real* in, Index sequence, Index head) {
  const auto columns = [&](Index which) { return head_columns(work, in, work.in_step, sequence, which); };
  const Index group = head / (work.heads / work.kv_heads);
  return {columns(head), columns(work.heads + group), columns(work.heads + work.kv_heads + group)};
}

// The map (S,T) of one sequence and head.
template <class T>
auto map_of(const Work& work, T* maps, Index sequence, Index head) {
  return rows_at(maps + (sequence * work.heads + head) * work.tokens * work.token_step, work.tokens,
                 work.token_step, work.token_step);
}

// Rotates the pairs (j, j + R/2) of the last R columns of all queries and keys by their positions, or back;
// R is D, unless keys are made of latents.
void rotate(const Work& work, Real* in, bool back) {
  const Index half = work.rotated / 2;
  const auto cosine = rows_at(work.cosines, work.tokens, half, half).array();
  const auto sine = rows_at(work.sines, work.tokens, half, half).array() * Real(back ? -1 : 1);
  for (Index n = 0; n < work.sequences; ++n)
    for (Index head = 0; head < work.heads + work.kv_heads; ++head) {
      auto x = head_columns(work, in, work.in_step, n, head).rightCols(work.rotated);
      const Matrix first = x.leftCols(half), second = x.rightCols(half);
      x.leftCols(half) = first.array() * cosine - second.array() * sine;
      x.rightCols(half) = second.array() * cosine + first.array() * sine;
    }
}

constexpr Real qk_norm_epsilon = static_cast<Real>(1e-6);

// Not aligned: a head begins anywhere in its row.
using HeadRow = Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>>;

// f(x, row of `grad`, inverse) for each row of q and k of each head; all of `inverse` (rows,H+G) in turn.
template <class F>
void for_query_and_key_rows(const Work& work, Real* in, Real* grad, Real* inverse, F&& f) {
  const Index heads = work.heads + work.kv_heads;
  for (Index row = 0; row < work.sequences * work.tokens; ++row)
    for (Index head = 0; head < heads; ++head) {
      const Index at = row * work.in_step + head * work.head_width;
      f(HeadRow(in + at, work.head_width), HeadRow((grad ? grad : in) + at, work.head_width),
        inverse[row * heads + head]);
    }
}

// Each row x of q and k becomes x/√(mean x² + ε). Its length does not depend on the rotation before it.
void normalise(const Work& work, Real* in, Real* inverse) {
  for_query_and_key_rows(work, in, nullptr, inverse, [](HeadRow x, HeadRow, Real& own) {
    own = 1 / Eigen::numext::sqrt(x.square().mean() + qk_norm_epsilon);
    x *= own;
  });
}

// And its gradient g becomes (g − x·mean(g∘x))/√(…), where x is the row as it was normalised.
void normalise_backward(const Work& work, Real* in, Real* grad, Real* inverse) {
  for_query_and_key_rows(work, in, grad, inverse, [](HeadRow x, HeadRow g, Real own) {
    const Real along = (g * x).mean();
    g = (g - along * x) * own;
  });
}

// A number for each query, that is for each column of a map: as many as stay in registers while all keys are
// gone through, in a loop over the rows: Eigen 3.4 broadcasts a row (rowwise()) number by number.
using Queries = Eigen::Array<Real, 1, train_padding>;

// The numbers that a head adds to its scores, or the sums of their gradients: [distance] of a query and a
// key before it, from −(T − 1) on; null without them.
Real* of_distances(const Work& work, Real* biases, Index head) {
  return biases ? biases + head * work.bias_step + work.tokens - 1 : nullptr;
}

// map[s][t] becomes the softmax over s of map[s][t] + biases[t − s], of the keys s that query t sees.
// With a sink, each query has one more score, whose weight goes to sink_shares[t].
void softmax_over_keys(const Work& work, const Real* biases, const Real* sink, Real* sink_shares, Rows map) {
  for (Index t = 0; t < map.cols(); t += train_padding) {
    auto columns = map.middleCols<train_padding>(t).array();
    // The keys that any of these queries sees. A query of the padding sees all of them.
    const Index first = std::max<Index>(0, t - work.seen_behind),
                end = std::min(work.tokens, t + train_padding + work.seen_ahead), keys = end - first;
    columns.topRows(first) = 0;
    columns.bottomRows(work.tokens - end) = 0;
    auto scores = columns.middleRows(first, keys);
    const auto hide = [&](Index s, Real value) {
      const Index key = first + s, queries = std::min(train_padding, work.tokens - t);
      const Index ahead = std::clamp<Index>(key - work.seen_ahead - t, 0, queries),
                  behind = std::clamp<Index>(key + work.seen_behind + 1 - t, 0, queries);
      scores.row(s).head(ahead) = value;
      scores.row(s).segment(behind, queries - behind) = value;
    };
    for (Index s = 0; s < keys; ++s) {
      if (biases) scores.row(s) += Eigen::Map<const Queries>(biases + t - first - s);
      hide(s, -Eigen::NumTraits<Real>::infinity());
    }
    Queries most = scores.colwise().maxCoeff();
    if (sink) most = most.max(*sink);
    for (Index s = 0; s < keys; ++s) {
      scores.row(s) = exponential(scores.row(s) - most);
      hide(s, 0);  // which Eigen's e^−∞ is not
    }
    Queries sum = scores.colwise().sum();
    if (sink) {
      Eigen::Map<Queries> of_sink(sink_shares + t);
      of_sink = exponential(*sink - most);
      sum += of_sink;
      of_sink /= sum;
    }
    const Queries share = sum.inverse();
    for (Index s = 0; s < keys; ++s) scores.row(s) *= share;
  }
}

// grad_map becomes d(scores): scale·P∘(dP − Σ_s dP∘P). A sink is a score whose dP is 0: what a query adds to
// its gradient, −share·Σ_s dP∘P, goes to grad_sinks[t].
void softmax_over_keys_backward(const Work& work, const Rows& map, const Real* sink_shares, Real* grad_sinks,
                                Rows grad_map) {
  for (Index t = 0; t < map.cols(); t += train_padding) {
    const auto weights = map.middleCols<train_padding>(t).array();
    auto grad = grad_map.middleCols<train_padding>(t).array();
    const Queries along = (weights * grad).colwise().sum();
    if (sink_shares)
      Eigen::Map<Queries>(grad_sinks + t) = -Eigen::Map<const Queries>(sink_shares + t) * along;
    for (Index s = 0; s < work.tokens; ++s) grad.row(s) = weights.row(s) * (grad.row(s) - along) * work.scale;
  }
}

Real* sink_shares_of(const Work& work, const LayerRows<Real>& layer, Index sequence, Index head) {
  return work.sink ? layer.sink_shares + (sequence * work.heads + head) * work.token_step : nullptr;
}

// The weights that values are multiplied by: the map, or `to` with the dropped one.
Rows dropped_map(const Rows& map, const Real* factors, Rows to) {
  if (!factors) return map;
  to.array() = map.array() * rows_at(factors, map.rows(), map.cols(), map.cols()).array();
  return to;
}

// The learned biases of all heads by distance, from the table (buckets,H).
void spread_biases(const Work& work) {
  const ConstRows table = weight_of(work, work.places->layers[0].relative_bias);
  for (Index head = 0; head < work.heads; ++head)
    for (Index distance = 1 - work.tokens; distance < work.tokens; ++distance)
      of_distances(work, work.scratch.biases, head)[distance] = table(work.buckets[distance], head);
}

// The sums of their gradients over all layers go to their buckets. They are added to scaled scores.
void spread_biases_backward(const Work& work) {
  Rows table = gradient_of(work, work.places->layers[0].relative_bias);
  for (Index head = 0; head < work.heads; ++head)
    for (Index distance = 1 - work.tokens; distance < work.tokens; ++distance)
      table(work.buckets[distance], head) +=
          of_distances(work, work.scratch.grad_biases, head)[distance] / work.scale;
}

// One head's gradients of scores, by distance: row s of them belongs to distances −s, 1 − s, …
void add_by_distance(const Work& work, Index sequence, Index head, const Rows& grad_map) {
  Real* const sums = of_distances(work, work.scratch.grad_biases, head);
  for (Index s = 0; s < work.tokens; ++s) HeadRow(sums - s, work.token_step) += grad_map.row(s).array();
  const MatrixPlace& place = work.places->layers[0].relative_bias;
  const Index at = work.watched - place.at;
  if (!work.shares || at < 0 || at >= place.rows * place.step || at % place.step != head) return;
  for (Index s = 0; s < work.tokens; ++s)
    for (Index t = 0; t < work.tokens; ++t)
      if (work.buckets[t - s] == at / place.step)
        work.shares[sequence * work.tokens + t] += grad_map(s, t) / work.scale;
}

void sink_backward(const Work& work, const MatrixPlace& sinks, Index sequence, Index head) {
  const ConstRow of_queries(work.scratch.grad_sinks, work.tokens);
  gradient_of(work, sinks)(0, head) += of_queries.sum();
  if (!work.shares || work.watched != sinks.at + head) return;
  for (Index t = 0; t < work.tokens; ++t) work.shares[sequence * work.tokens + t] += of_queries[t];
}

// heads (rows,H·D) = attention of q, k and v in `in`; the maps are kept in layer.weights.
void attend(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer, const Real* dropout) {
  if (work.cosines) rotate(work, layer.in, false);
  if (work.qk_norm) normalise(work, layer.in, layer.inverse);
  Rows transposed = rows_at(work.scratch.transposed, work.head_width, work.token_step, work.token_step);
  for (Index n = 0; n < work.sequences; ++n)
    for (Index head = 0; head < work.heads; ++head) {
      const HeadRows in = head_rows(work, layer.in, n, head);
      const Rows map = map_of(work, layer.weights, n, head);
      transposed.leftCols(work.tokens) = work.scale * in.query.transpose();
      multiply(in.key, transposed, map);
      softmax_over_keys(work, of_distances(work, work.scratch.biases, head),
                        work.sink ? work.weights + places.sinks.at + head : nullptr,
                        sink_shares_of(work, layer, n, head), map);
      const Real* const factors = dropout ? map_of(work, dropout, n, head).data() : nullptr;
      const Rows dropped = dropped_map(map, factors, map_of(work, work.scratch.map, 0, 0));
      multiply(dropped.transpose(), in.value, head_columns(work, layer.heads, work.heads_step, n, head));
    }
}

// grad_in (rows,H·D+2·G·D) from grad_heads (rows,H·D): of each head, whose map is P and P̃ after dropout,
// dV = P̃ᵀ·dO, dP̃ = dO·Vᵀ, and from the gradient dS of the scores dQ = dS·K, dK = dSᵀ·Q.
void attend_backward(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer,
                     const Real* dropout, Real* grad_heads, Real* grad_in) {
  Rows transposed = rows_at(work.scratch.transposed, work.head_width, work.token_step, work.token_step);
  const Rows grad_map = map_of(work, work.scratch.grad_map, 0, 0);
  for (Index n = 0; n < work.sequences; ++n)
    for (Index head = 0; head < work.heads; ++head) {
      const HeadRows in = head_rows(work, layer.in, n, head), grad = head_rows(work, grad_in, n, head);
      const Rows grad_out = head_columns(work, grad_heads, work.heads_step, n, head),
                 map = map_of(work, layer.weights, n, head);
      const Real* const factors = dropout ? map_of(work, dropout, n, head).data() : nullptr;
      const Rows dropped = dropped_map(map, factors, map_of(work, work.scratch.map, 0, 0));
      const bool further = head % (work.heads / work.kv_heads) != 0;  // of its group: added to its k and v
      multiply(dropped, grad_out, grad.value, further);
      transposed.leftCols(work.tokens) = grad_out.transpose();
      multiply(in.value, transposed, grad_map);
      dropped_map(grad_map, factors, grad_map);
      softmax_over_keys_backward(work, map, sink_shares_of(work, layer, n, head), work.scratch.grad_sinks,
                                 grad_map);
      if (work.sink) sink_backward(work, places.sinks, n, head);
      if (work.buckets) add_by_distance(work, n, head, grad_map);
      multiply(grad_map.transpose(), in.key, grad.query);
      multiply(grad_map, in.query, grad.key, further);
    }
  if (work.qk_norm) normalise_backward(work, layer.in, grad_in, layer.inverse);
  if (work.cosines) rotate(work, grad_in, true);
}

}  // namespace
}  // namespace headwise
