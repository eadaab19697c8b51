// Splits into heads and merges again: only the order of the cells changes, with no arithmetic except the gains.
#pragma once

#include <span>

#include "core/tensor/tensor.h"

namespace headwise {

// (N,T,H·W) → (N,H,T,W): out[n,h,t,w] = x[n,t,h·W+w]. Head h owns W adjacent columns. `head_axis` is "H" or
// "G", `width_axis` "D" or "Dv"; T keeps its name from x. f32 or f64.
Tensor split_heads(const Tensor& x, Index heads, const char* head_axis, const char* width_axis);

// (N,H,T,W) → (N,T,H·W), the inverse of split_heads; with `gain` (H) each head is multiplied by its own gain:
// out[n,t,h·W+w] = gain[h]·x[n,h,t,w]. The merged axis is named `joined_axis`. f32 or f64.
Tensor merge_heads(const Tensor& x, const Tensor* gain, const char* joined_axis);

// (N,G,S,W) → (N,H,S,W): each key/value head serves H/G adjacent query heads, out[n,h] = x[n, h/(H/G)]
// (repeat-interleave, not tiling). The attention itself reads the shared head in place; this makes the copies
// visible.
Tensor repeat_kv(const Tensor& x, Index heads);

// The same for programs that tile: out[n,h] = x[n, h % G].
Tensor tile_kv(const Tensor& x, Index heads);

// The key/value head that query head h reads.
inline Index kv_head_of(Index h, Index heads, Index kv_heads) {
  return h / (heads / kv_heads);
}

}  // namespace headwise
