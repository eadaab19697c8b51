// "Is one head of 512 not the same as eight of 64?" Answered by computing both with the same parameters:
// outputs, attention maps and gradients. The matrices are the same;
// what differs is how many softmaxes are between them.
#pragma once

#include <string>
#include <vector>

#include "core/attention/trace.h"
#include "core/lessons/operation_counts.h"

namespace headwise {

// The same parameters read as one head: the inputs of an operator with H = G = 1, D′ = H·D and Dv′ = H·Dv.

struct WideHead {
  std::string impossible_reason;   // a reason; then there are no inputs
  std::vector<std::string> notes;  // plain sentences on what could not be kept identical
  AttentionInputs inputs;
};

// `inputs` without dropout and gains. With G = H all parameters are the same tensors. With G < H the rows of
// W_k and W_v, their biases, bias_k, bias_v, static_k and static_v (for scaled_dot_product_attention: key and
// value) are repeated for each query head.
WideHead one_wide_head(const AttentionInputs& inputs);

// Converts a gradient of the wide head's array back to the array it was made from: copies are summed, heads
// separated again. `many` gives the shape.
TensorPtr gradient_of_many(TensorId id, const TensorPtr& wide_gradient, const AttentionInputs& many);

struct TensorDistance {
  TensorId tensor{};
  double difference = 0.0;  // max |Δ|
  double magnitude = 0.0;   // the largest |number| with many heads: the reference for the difference
};

// One side of the comparison.
struct HeadsCase {
  Index heads = 0;       // H, or 1
  Index head_dim = 0;    // D, or H·D
  Index v_head_dim = 0;  // Dv, or H·Dv
  double scale = 1.0;    // 1/√D, or 1/√(H·D), unless given
  Index parameters = 0;
  OperationCounts counts;
  std::string scores_einsum;  // "nhld,nhsd->nhls"
  TracePtr trace;             // with gradients
};

struct HeadWidthComparison {
  std::string impossible_reason;  // why one head cannot do what the many do; then only `many` has its sizes
  std::vector<std::string> left_out;  // what was disabled in both: "dropout", "the head gains" …
  std::vector<std::string> notes;     // what one head cannot share: repeated key/value heads, ALiBi's slope
  HeadsCase many, wide;
  TensorDistance output;
  std::vector<double> map_differences;  // max |Δ| between each head's attn_weights and the wide head's; H numbers
  // max |Σ_h scores_h − scores of the wide head|: 0 up to rounding. One head adds up the heads' scores BEFORE
  // its softmax; many heads have a softmax each.
  double score_sum_difference = 0.0;
  std::vector<TensorDistance> gradients;  // of inputs and parameters
  bool coincide = false;                  // the outputs agree up to rounding
  std::vector<std::string> sentences;

  bool possible() const { return impossible_reason.empty(); }
};

// Both are computed by the reference, forward and backward (loss = Σ output), without anything that acts on
// each head separately or after the operator: dropout, head gains, residual and layer norm. Grouped key/value
// heads are repeated, so that one head finds a key column for each query column; their gradients are summed
// over the copies. A separate mask per head is possible only if all heads have the same one. Throws
// Error(memory) before work that would not fit.
HeadWidthComparison compare_head_width(const Trace& trace);

// Approximate number of bytes of the two runs with their gradients. Throws Error(memory) on overflow.
Index head_width_bytes(const Trace& trace);

}  // namespace headwise
