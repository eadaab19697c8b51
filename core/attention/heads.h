// Splits into heads and merges again: only the order of the cells changes,
// with no arithmetic except the clipping and the gains.
#pragma once

#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// (N,T,H·W) → (N,H,T,W): out[n,h,t,w] = x[n,t,h·W+w]. Head h owns W adjacent columns. `head_axis` is "H" or
// "G", `width_axis` "D" or "Dv"; T keeps its name from x. f32 or f64.
Tensor split_heads(const Tensor& x, Index heads, const char* head_axis, const char* width_axis);

// Clipping at the split (OLMo, "Accelerating the Science of Language Models", 2024: clip_qkv): clamps every
// number to [−bound, bound], like torch.clamp; NaN stays. `bound` > 0; f32 or f64.
Tensor clip(const Tensor& x, double bound);
// d(loss)/dx from d(loss)/d(clip(x)): 0 where |x| > bound, as in autograd. Both have the same shape and type.
Tensor clip_gradient(const Tensor& gradient, const Tensor& x, double bound);

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

// d(loss) of the merge with its gains. Without gains the merge and the split are each other's inverse:
// split_heads, merge_heads.

// d head_output[n,h,l,w] = gain[h]·d concat[n,l,h·Dv+w]; `gain` (H) may be null: all 1. `head_output` is the
// shape of the result.
Tensor merge_heads_gradient(const Tensor& grad_concat, const Tensor* gain, const Shape& head_output);

// d gain[h] = Σ_{n,l,w} d concat[n,l,h·Dv+w]·head_output[n,h,l,w]; `gain` is the shape (H).
Tensor head_gain_gradient(const Tensor& grad_concat, const Tensor& head_output, const Shape& gain);

// A cache (transformers' past_key_values; ONNX Attention 23): the rows of earlier tokens before those of this
// pass. (N,G,P,W), (N,G,T,W) → (N,G,P+T,W), or of latents (N,P,W), (N,T,W) → (N,P+T,W); the last axis but one
// is named `axis`. f32 or f64.
Tensor with_past(const Tensor& past, const Tensor& rows, const char* axis);
// Back: rows [first, first + the length of `shape`) of each head or batch entry, in that shape.
Tensor rows_of_present(const Tensor& present, Index first, const Shape& shape);

// The output projection as a sum over heads. Head h owns Dv adjacent columns of concat and of W_O, so that
//     output[n,l,e] = Σ_h ( Σ_w concat[n,l,h·Dv+w] · W_O[e,h·Dv+w] ) + b[e],
// and each head's contribution to each output cell is a number of its own.

// One cell of the output, decomposed; sums in double.
struct OutputCellByHeads {
  std::vector<double> heads;  // H addends
  double bias = 0.0;          // 0 where there is none
  double output = 0.0;        // Σ heads + bias
  double magnitude = 0.0;     // Σ |heads| + |bias|: the total that shares refer to

  // |addend| / magnitude, 0 if the magnitude is 0; all shares add up to 1.
  double share_of_head(Index head) const { return share(heads[static_cast<std::size_t>(head)]); }
  double share_of_bias() const { return share(bias); }

 private:
  double share(double addend) const;
};
// `out_proj_bias` may be null.
OutputCellByHeads output_cell_by_heads(const Tensor& concat, const Tensor& out_proj_weight,
                                       const Tensor* out_proj_bias, Index heads, Index n, Index l, Index e);

// For the whole output: Σ |contribution| of each head over all cells, followed by that of the bias;
// (H+1) numbers.
std::vector<double> output_magnitudes_by_heads(const Tensor& concat, const Tensor& out_proj_weight,
                                               const Tensor* out_proj_bias, Index heads);

}  // namespace headwise
