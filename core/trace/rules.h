// The rule that each tensor of a trace declares: which tensors it is computed from, by which maps between their axes, and
// how the numbers are combined. One declaration per tensor; the explanation of a cell, its highlights, its formula and
// what it feeds (core/trace/cell_provenance.h) all follow from it. A rule never lists cells: its size does not depend on
// the tensors' sizes.
//
// Read it as an einsum with functions on top. scores: one product, summed over d,
//     scores[n,h,l,s] = Σ_d q_heads[n, h, l, d] · k_heads[n, h/(H/G), s, d]
// k with bias: two products for rows s < S, and a third for the row that bias_k appends,
//     s in [0,S):    k[n,s,c] = Σ_e key[n, s, e] · in_proj_weight[H·D + c, e]  +  in_proj_bias[H·D + c]
//     s in [S,S+1):  k[n,s,c] = bias_k[c]
// and nothing at all for the row of zeros after it.
//
// A gradient has a rule too (core/trace/gradient_rules.h): it follows from the rules of the tensors that read its tensor,
//     grad.q_heads[n,h,l,d] = Σ_s grad.scores[n, h, l, s] · k_heads[n, h/(H/G), s, d]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/axis_map.h"
#include "core/trace/trace.h"

namespace headwise {

// How the products of a rule are combined into one number. Only the products that apply to a cell count.
enum class Combine {
  given,        // an input or a parameter: no products
  copy,         // one source cell as it is (split, repeat, append)
  product_sum,  // Σ of products, each of one or more factors (projections, scores, head_output, concat with
                // its gain)
  rotation,     // own · cos θ ∓ partner · sin θ: two columns of a row, rotated by its position
  clip,         // a source cell, clamped to [−c, c] (the split with clip_qkv)
  scale,        // a source cell times a constant, temperature and softcap included
  merge_masks,  // the masks' contributions added
  add_mask,     // scaled score + mask_bias, or the fill value where mask_bias is −inf
  softmax,      // exp(x − max) / Σ exp(x − max) along the row
  dropout,      // the source times 0 or 1/(1−p)
  mean,         // mean over the summed axis
  layer_norm,   // (x − mean) / √(variance + ε) along the row
  // Gradients only; dP, P and dy, y are the gradient and the result of what the gradient passes through
  clip_gradient,      // a gradient, or 0 where the number of the forward pass was clipped
  scale_gradient,     // a gradient times scale / temperature, times 1 − tanh² of the score with a softcap
  add_mask_gradient,  // a gradient, or 0 where mask_bias is −inf and the score was filled
  softmax_gradient,   // P·(dP − Σ dP·P) along the row
  layer_norm_gradient,  // (dy − mean of dy − y·mean of dy·y) / √(variance + ε) along the row
};

// What a product of merge_masks adds to a score: the number in its factor, or 0 / −inf depending on its factor or the
// position of the cell.
enum class MaskReading {
  added,             // a float mask: its number
  blocked_if_true,   // key_padding_mask, and attn_mask of multi_head_attention
  blocked_if_false,  // attn_mask of scaled_dot_product_attention
  blocked_from,      // valid_lens: every key at or after the number
  blocked,           // no factor: keys beyond a short mask
  causal,            // no factor: keys after the query
  sliding_window,    // no factor: keys too far from the query
  alibi,             // no factor: −m_h · distance
};

// One factor: the cell of `tensor` whose index on axis a is axes[a] of the rule's variables.
struct Operand {
  TensorName tensor;
  std::vector<AxisMap> axes;
};

// A summed axis: the letter that formulas show, and its size.
struct SummedAxis {
  std::string letter;
  Index size = 0;
};

// The cells of the result that a product applies to: those with an index in `range` on `axis`.
struct Where {
  int axis = 0;
  Interval range;
};

// Σ over `sums` of the product of `factors`. Variables 0 … rank−1 are the result's axes, those from rank on
// are `sums`.
struct Product {
  std::vector<Operand> factors;
  std::vector<SummedAxis> sums;
  std::vector<Where> where;                  // empty: everywhere
  MaskReading reading = MaskReading::added;  // in merge_masks only
  std::string label;                         // in merge_masks only: "attn_mask", "causal" …
  // Overrides the rule's Combine for the cells of this product: a frozen head's weights are a copy, while those of the
  // other heads are a softmax.
  std::optional<Combine> instead = std::nullopt;
};

struct Rule {
  TensorName result;
  std::vector<Index> sizes;  // of the result
  Combine combine = Combine::given;
  std::vector<Product> products;
};

// The rule of a tensor of this trace, a gradient or not. Throws Error(usage) if the trace does not have it.
Rule declared_rule(const Trace& trace, TensorName tensor);

// The tensors that a rule reads, each once, in the order of its products: the edges of the graph of tensors.
std::vector<TensorName> rule_sources(const Rule& rule);

// In self-attention query, key and value are one array: rules use its first name. Other names are returned unchanged.
TensorName first_name(const Trace& trace, TensorName tensor);

// Does the product apply to this cell of the result?
bool holds_at(const Product& product, std::span<const Index> index);

// The range of each variable of a product: the result's axes inside `where`, then the summed axes.
std::vector<Interval> variable_ranges(const Rule& rule, const Product& product);

}  // namespace headwise
