// The rule that each tensor of a trace declares: which tensors it is computed from, by which maps between
// their axes, and how the numbers are combined. One declaration per tensor; the explanation of a cell, its
// highlights, its formula and what it feeds (cell_provenance.h) all follow from it. A rule never
// lists cells: its size does not depend on the tensors' sizes.
//
// Read it as an einsum with functions on top. scores: one product, summed over d,
//     scores[n,h,l,s] = Σ_d q_heads[n, h, l, d] · k_heads[n, h/(H/G), s, d]
// k with bias: two products for rows s < S, and a third for the row that bias_k appends,
//     s in [0,S):    k[n,s,c] = Σ_e key[n, s, e] · in_proj_weight[H·D + c, e]  +  in_proj_bias[H·D + c]
//     s in [S,S+1):  k[n,s,c] = bias_k[c]
// and nothing at all for the row of zeros after it.
//
// A gradient has a rule too (gradient_rules.cpp): it follows from the rules of the tensors that read
//     its tensor, grad.q_heads[n,h,l,d] = Σ_s grad.scores[n, h, l, s] · k_heads[n, h/(H/G), s, d]
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/attention/rotary_embedding.h"
#include "core/attention/trace.h"
#include "core/tensor/shape.h"

namespace headwise {

// How one axis of an operand is indexed by a rule: a small function that runs forwards,
// from a cell of the result to the cells it was made from, and backwards, from a cell of the operand to the
// cells it feeds.
//
// The variables of a rule are the axes of its result, in order,
// followed by the axes that its product is summed over.

// [begin, end)
struct Interval {
  Index begin = 0, end = 0;
  bool empty() const { return end <= begin; }
  bool contains(Index i) const { return begin <= i && i < end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// times · ((x / divide) % modulus), where x is the variable; modulus 0 means no remainder is taken. Mirrored:
// modulus − 1 minus that remainder.
struct AxisTerm {
  int variable = 0;
  Index divide = 1;   // >= 1
  Index modulus = 0;  // >= 0
  Index times = 1;    // >= 1
  bool mirrored = false;
  friend bool operator==(const AxisTerm&, const AxisTerm&) = default;
};

// offset + the sum of the terms. No terms: always `offset` (a broadcast axis, or an appended row). The offset
// is negative where a rule is inverted: row i of in_proj_weight is column i − H·D of k. Several terms join
// axes, as in n·H + h: with the larger `times` first, each must exceed what the terms after it can reach, so
// that the parts can be recovered, like the digits of a number.
struct AxisMap {
  Index offset = 0;
  std::vector<AxisTerm> terms;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

AxisMap axis_fixed(Index index);                  // always that index
AxisMap axis_of(int variable, Index offset = 0);  // x + offset
// x / group: the head of a column, the key/value head of a head
AxisMap axis_group(int variable, Index group);
AxisMap axis_within(int variable, Index group);  // x % group: the column inside its head
AxisMap axis_neighbour(int variable);            // 2·(x / 2) + 1 − x % 2: 1, 0, 3, 2, … its own inverse
AxisMap axis_joined(int outer, Index inner_size, int inner,
                    Index offset = 0);  // x_outer·inner_size + x_inner + offset

Index mapped_index(const AxisMap& map, std::span<const Index> variables);

// All indices that the map takes on while each variable runs over its interval, none of which is empty.
Interval mapped_interval(const AxisMap& map, std::span<const Interval> ranges);

// The same index when variable v is itself values[v], a map of other variables that run over `ranges`, none
// of them empty; used to invert a rule (gradient_rules.cpp). nullopt if the digits can no longer be
// separated: (8·x + y) / 3, say; (8·x + y) / 8 is x if y stays below 8.
std::optional<AxisMap> substituted(const AxisMap& map, std::span<const AxisMap> values,
                                   std::span<const Interval> ranges);

// Backwards, for all axes of an operand together: which values of each variable, inside its range, lead to
// `index`. One list of intervals per variable; variables are independent, so the cells are all combinations.
// If nothing leads there, all lists are empty.
std::vector<std::vector<Interval>> variables_leading_to(std::span<const Index> index,
                                                        std::span<const AxisMap> maps,
                                                        std::span<const Interval> ranges);

// How the products of a rule are combined into one number. Only the products that apply to a cell count.
enum class Combine {
  given,        // an input or a parameter: no products
  copy,         // one source cell as it is (split, repeat, append)
  product_sum,  // Σ of products, each of one or more factors (projections, scores, head_output, concat with
                // its gain)
  rotation,     // own · cos θ ∓ partner · sin θ: two columns of a row, rotated by its position
  clip,         // a source cell, clamped to [−c, c] (the split with clip_qkv)
  scale,        // a source cell times a constant (core/attention/score_scale.h)
  merge_masks,  // the masks' contributions added
  add_mask,     // scaled score + mask_bias, or the fill value where mask_bias is −inf
  softmax,  // exp(x − max) / Σ exp(x − max) along the row; with a sink, Σ includes exp(sink − max)
  log_sum_exp,  // max + ln Σ exp(x − max) along the row
  sink_share,   // exp(sink) / (exp(sink) + exp(lse))
  dropout,      // the source times 0 or 1/(1−p)
  mean,         // mean over the summed axis
  gate,         // concat · σ(gate), or the same of a gradient
  // The indexer's tensors, and the softmax without its choice (core/attention/indexer.h)
  indexer_query,   // rotation of two products of a row with a row of W
  indexer_key,     // rotation of two numbers of a normalised product of a row with W
  indexer_weight,  // a product divided by √Hi
  indexer_score,   // Σ_m w·ReLU(Σ_d q·k/√W)
  full_softmax,    // the softmax of scaled scores + the masks without the indexer
  norm,            // (offset + weight) · (x − mean) / deviation along the row (core/attention/norm.h)
  // Gradients only; dP, P and dy, y are the gradient and the result of what the gradient passes through
  clip_gradient,      // a gradient, or 0 where the number of the forward pass was clipped
  scale_gradient,     // the same backwards
  add_mask_gradient,  // a gradient, or 0 where mask_bias is −inf and the score was filled
  softmax_gradient,   // P·(dP − Σ dP·P) along the row
  sink_gradient,      // −Σ w·dP·P over the rows of a head, w being the share of its sink
  norm_gradient,      // (dn − mean of dn − n·mean of dn·n) / deviation along the row
  gate_gradient,  // Σ dy·x·σ(gate)·(1 − σ(gate)) over the columns that the gate's number multiplies
  norm_weight_gradient,  // Σ dy·(x − mean)/deviation over the rows that have the weight
};

// What a product of merge_masks adds to a score: the number in its factor, or 0 / −inf depending on its
// factor or the position of the cell.
enum class MaskReading {
  added,             // a float mask: its number
  blocked_if_true,   // key_padding_mask, and attn_mask of multi_head_attention
  blocked_if_false,  // attn_mask of scaled_dot_product_attention
  blocked_from,      // valid_lens, nonpad_kv_seqlen: every key at or after the number
  blocked,           // no factor: keys beyond a short mask
  causal,            // no factor: keys after the query
  sliding_window,    // no factor: keys too far from the query
  alibi,             // no factor: −m_h · distance
  not_chosen,        // the indexer: keys whose score is not among the k largest of the row
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
struct IndexCondition {
  int axis = 0;
  Interval range;
};

// The diagonals that a product applies to: cells whose column − row is in `ahead`. Both maps are one variable
// + offset, or fixed.
struct Band {
  AxisMap row, column;
  Interval ahead;
};

// Σ over `sums` of the product of `factors`. Variables 0 … rank−1 are the result's axes, those from rank on
// are `sums`.
struct Product {
  std::vector<Operand> factors;
  std::vector<SummedAxis> sums;
  std::vector<IndexCondition> where;         // empty: everywhere
  MaskReading reading = MaskReading::added;  // in merge_masks only
  std::string label;                         // in merge_masks only: "attn_mask", "causal" …
  // Overrides the rule's Combine for the cells of this product: a frozen head's weights are a copy, while
  // those of the other heads are a softmax.
  std::optional<Combine> combine_override = std::nullopt;
  std::optional<Band> band = std::nullopt;  // nullopt: everywhere
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

// In self-attention query, key and value are one array: rules use its first name.
// Other names are returned unchanged.
TensorName first_name(const Trace& trace, TensorName tensor);

// Does the product apply to this cell of the result, or to some of what it sums there?
bool holds_at(const Product& product, std::span<const Index> index);

// The range of each variable of a product: the result's axes inside `where`, then the summed axes.
std::vector<Interval> variable_ranges(const Rule& rule, const Product& product);

// The same ranges, or their parts inside the product's band: one for each row, none of them with an empty
// column.
std::vector<std::vector<Interval>> ranges_in_band(const Product& product, const std::vector<Interval>& ranges);

// The columns of a result that is rotated, as pieces: which cell of the source a column is made of beside its
// partner. The source's column is that of the result + `shift`; `column` is the variable of the last axis.
struct RotaryPiece {
  Interval columns;
  AxisMap own, partner;
};
std::vector<RotaryPiece> rotary_pieces(const Rotation& rotation, Index shift, int column);

// Fills in how `rule` combines and which products it has; its result and sizes are already set. A source is
// named by its role: v reads `value`, even if that is the same array as `key` (declared_rule maps it to
// first_name). The sizes of summed axes come from the inputs and the options, never from a tensor that the
// rule reads: a backend need not have kept that.
void declare_forward_rule(const Trace& trace, Rule& rule);

// The declarations of the backward pass. None is written by hand where the forward pass is linear: the rule
// of grad.X follows from the rules of the tensors that read X, with each product transposed
// (core/attention/transposed_product.h). Only the functions on top (the scale, softmax, layer norm,
// dropout, a filled mask) have a rule of their own, named by Combine.

// Whether this trace has gradients.
bool has_backward_pass(const Trace& trace);

// The rule of grad.`id`, which the trace has. The gradient of the last output is `given`; that of a tensor
// that nothing with a gradient reads (W_k with static_k) has no products: zeros. If query, key and value are
// one array, grad.query has the products of all three.
Rule gradient_rule(const Trace& trace, TensorId id);

// The rules of all gradients of this trace, in the order of their tensors: much cheaper than one by one.
// Those for which gradient_rule would throw are left out.
std::vector<Rule> gradient_rules(const Trace& trace);

// How mask_bias is computed: one product per mask given or requested. What each adds is
// the same as in core/attention/attention_mask.h, one cell at a time.

// One product per mask, in the order attn_mask, key_padding_mask, valid_lens, nonpad_kv_seqlen, causal mask,
// window, ALiBi, position_bias, indexer.
// They apply to the columns [0,S): the columns of bias_k and the zero row are never blocked. The trace must
// have a mask_bias.
std::vector<Product> mask_products(const Trace& trace);

// What a product adds at the cell `index` (n,h,l,s) of mask_bias: 0, −inf or a number. `cell` is the number
// in the mask's own cell; products without a factor do not read it.
double mask_contribution(const Trace& trace, const Product& product, std::span<const Index> index, double cell);

// The same, with the number in the mask's own cell read from the trace; 0 in readings of several cells.
double mask_addend(const Trace& trace, const Product& product, std::span<const Index> index);

// The same as text for a formula, "−∞ if key_padding_mask[0,3]"; `factor` is the mask's cell as text.
std::string mask_contribution_text(const Trace& trace, const Product& product, std::span<const Index> index,
                                   const std::string& factor);

}  // namespace headwise
