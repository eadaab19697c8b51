// Attention of each sequence and head, forward and back. Part of core/train/chunk_kernels.cpp.
#pragma once

#include "core/train/chunk_layers.h"

namespace headwise {
namespace {

// The rows of one sequence that one head reads, in `in` or its gradient: q, k and v are `D` columns of each.
struct HeadColumns {
  Index query, key, value;
};

HeadColumns head_columns(const Work& work, Index head) {
  const Index group = head / (work.heads / work.kv_heads), width = work.head_width;
  return {head * width, (work.heads + group) * width, (work.heads + work.kv_heads + group) * width};
}

// Rotates the pairs (j, j + D/2) of all queries and keys by their positions, or back.
void rotate(const Work& work, Real* in, bool back) {
  const Index half = work.head_width / 2, heads = work.heads + work.kv_heads;
  for (Index row = 0; row < work.sequences * work.tokens; ++row) {
    const Real* const cosine = work.cosines + row % work.tokens * half;
    const Real* const sine = work.sines + row % work.tokens * half;
    for (Index head = 0; head < heads; ++head) {
      Real* const x = in + row * work.in_step + head * work.head_width;
      for (Index j = 0; j < half; ++j) {
        const Real a = x[j], b = x[j + half], s = back ? -sine[j] : sine[j];
        x[j] = a * cosine[j] - b * s;
        x[j + half] = b * cosine[j] + a * s;
      }
    }
  }
}

// turned[d][t] = rows[t][d]
void transpose(const Real* rows, Index row_step, Index count, Index width, Real* turned, Index transposed_step) {
  for (Index t = 0; t < count; ++t)
    for (Index d = 0; d < width; ++d) turned[d * transposed_step + t] = rows[t * row_step + d];
}

void copy_columns(const Real* from, Index from_step, Index rows, Index columns, Real* to, Index to_step) {
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) to[r * to_step + c] = from[r * from_step + c];
}

// map[s][t] becomes the softmax over s of scale·map[s][t] − slope·|t − s|,
// without the keys s > t if it is causal.
void softmax_over_keys(const Work& work, Real slope, Real* map) {
  const Index tokens = work.tokens, step = work.token_step;
  for (Index s = 0; s < tokens; ++s) {
    Real* const row = map + s * step;
    for (Index t = 0; t < step; t += vector) store(row + t, load(row + t) * work.scale);
    if (slope != 0)
      for (Index t = 0; t < tokens; ++t) row[t] -= slope * static_cast<Real>(t < s ? s - t : t - s);
    if (work.causal)
      for (Index t = 0; t < s; ++t) row[t] = -infinity;
  }
  for (Index t = 0; t < step; t += vector) {
    Vector most = load(map + t), sum{};
    for (Index s = 1; s < tokens; ++s) {
      const Vector x = load(map + s * step + t);
      most = x > most ? x : most;
    }
    for (Index s = 0; s < tokens; ++s) {
      const Vector e = exponential(load(map + s * step + t) - most);
      store(map + s * step + t, e);
      sum += e;
    }
    const Vector share = 1 / sum;
    for (Index s = 0; s < tokens; ++s) store(map + s * step + t, load(map + s * step + t) * share);
  }
}

// The weights that values are multiplied by: the map, or `to` with the dropped one.
const Real* dropped_map(const Work& work, const Real* map, const Real* factors, Real* to) {
  if (!factors) return map;
  for (Index i = 0; i < work.tokens * work.token_step; i += vector)
    store(to + i, load(map + i) * load(factors + i));
  return to;
}

// heads (rows,H·D) = attention of q, k and v in `in`; the maps are kept in layer.weights.
void attend(const Work& work, const LayerRows<Real>& layer, const Real* dropout) {
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index tokens = work.tokens, step = work.token_step, width = work.head_width, map_size = tokens * step;
  if (work.cosines) rotate(work, layer.in, false);
  for (Index n = 0; n < work.sequences; ++n) {
    const Real* const in = layer.in + n * tokens * work.in_step;
    for (Index head = 0; head < work.heads; ++head) {
      const HeadColumns at = head_columns(work, head);
      const Index which = n * work.heads + head;
      Real* const map = layer.weights + which * map_size;
      transpose(in + at.query, work.in_step, tokens, width, scratch.transposed_query, step);
      multiply(tokens, width, step, {in + at.key, work.in_step, 1}, {scratch.transposed_query, step},
               {map, step});
      softmax_over_keys(work, work.slopes ? work.slopes[head] : 0, map);
      const Real* const dropped =
          dropped_map(work, map, dropout ? dropout + which * map_size : nullptr, scratch.map);
      multiply(tokens, tokens, work.head_step, {dropped, 1, step}, {in + at.value, work.in_step},
               {scratch.head_out, work.head_step});
      copy_columns(scratch.head_out, work.head_step, tokens, width,
                   layer.heads + n * tokens * work.heads_step + head * width, work.heads_step);
    }
  }
}

// grad_map becomes d(scores): scale·P∘(dP − Σ_s dP∘P).
void softmax_over_keys_backward(const Work& work, const Real* map, Real* grad_map) {
  const Index tokens = work.tokens, step = work.token_step;
  for (Index t = 0; t < step; t += vector) {
    Vector along{};
    for (Index s = 0; s < tokens; ++s) along += load(map + s * step + t) * load(grad_map + s * step + t);
    for (Index s = 0; s < tokens; ++s)
      store(grad_map + s * step + t,
            load(map + s * step + t) * (load(grad_map + s * step + t) - along) * work.scale);
  }
}

// One head of one sequence, from grad_heads to d q; d k and d v go to the scratch, and are added to what it
// holds for a further head of its group.
void attend_backward_head(const Work& work, const Real* in, const Real* grad_heads, const Real* map,
                          const Real* factors, const HeadColumns& at, bool further, Real* grad_in) {
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index tokens = work.tokens, step = work.token_step, width = work.head_width, narrow = work.head_step;
  transpose(grad_heads, work.heads_step, tokens, width, scratch.transposed_grad, step);
  multiply(tokens, width, step, {in + at.value, work.in_step, 1}, {scratch.transposed_grad, step},
           {scratch.grad_map, step});
  const Real* const dropped = dropped_map(work, map, factors, scratch.map);
  multiply(tokens, tokens, narrow, {dropped, step, 1}, {grad_heads, work.heads_step},
           {scratch.grad_value, narrow, further});
  dropped_map(work, scratch.grad_map, factors, scratch.grad_map);
  softmax_over_keys_backward(work, map, scratch.grad_map);
  multiply(tokens, tokens, narrow, {scratch.grad_map, 1, step}, {in + at.key, work.in_step},
           {scratch.head_out, narrow});
  copy_columns(scratch.head_out, narrow, tokens, width, grad_in + at.query, work.in_step);
  multiply(tokens, tokens, narrow, {scratch.grad_map, step, 1}, {in + at.query, work.in_step},
           {scratch.grad_key, narrow, further});
}

// grad_in (rows,H·D+2·G·D) from grad_heads (rows,H·D).
void attend_backward(const Work& work, const LayerRows<Real>& layer, const Real* dropout,
                     const Real* grad_heads, Real* grad_in) {
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index tokens = work.tokens, width = work.head_width, map_size = tokens * work.token_step,
              per_group = work.heads / work.kv_heads;
  for (Index n = 0; n < work.sequences; ++n) {
    const Index first = n * tokens;
    Real* const grad_rows = grad_in + first * work.in_step;
    for (Index head = 0; head < work.heads; ++head) {
      const HeadColumns at = head_columns(work, head);
      const Index which = n * work.heads + head, map_at = which * map_size;
      attend_backward_head(work, layer.in + first * work.in_step,
                           grad_heads + first * work.heads_step + head * width, layer.weights + map_at,
                           dropout ? dropout + map_at : nullptr, at, head % per_group != 0, grad_rows);
      if (head % per_group != per_group - 1) continue;
      copy_columns(scratch.grad_key, work.head_step, tokens, width, grad_rows + at.key, work.in_step);
      copy_columns(scratch.grad_value, work.head_step, tokens, width, grad_rows + at.value, work.in_step);
    }
  }
  if (work.cosines) rotate(work, grad_in, true);
}

}  // namespace
}  // namespace headwise
