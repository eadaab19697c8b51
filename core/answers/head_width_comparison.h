// "Is one head of 512 not the same as eight of 64?" Answered by computing both on the same parameters: outputs,
// attention maps and gradients. The matrices are the same; what differs is how many softmaxes stand between them.
#pragma once

#include <string>
#include <vector>

#include "core/answers/operation_counts.h"

namespace headwise {

struct TensorDistance {
  TensorId tensor{};
  double difference = 0.0;  // max |Δ|
  double magnitude = 0.0;   // the largest |number| with many heads: what the difference is held against
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
  std::string not_possible;  // why one head cannot do what the many do; then only `many` has its sizes
  std::vector<std::string> left_out;  // what both were computed without: "dropout", "the head gains" …
  std::vector<std::string> notes;     // what one head cannot share: repeated key/value heads, ALiBi's slope
  HeadsCase many, wide;
  TensorDistance output;
  std::vector<double> map_differences;  // of each head's attn_weights to the wide head's, max |Δ|; H numbers
  // max |Σ_h scores_h − scores of the wide head|: 0 to rounding. One head adds the heads' scores up BEFORE its
  // softmax; many heads take a softmax each.
  double score_sum_difference = 0.0;
  std::vector<TensorDistance> gradients;  // of inputs and parameters
  bool coincide = false;                  // the outputs agree to rounding
  std::vector<std::string> sentences;

  bool possible() const { return not_possible.empty(); }
};

// Both are computed by the reference, forward and backward (loss = Σ output), without what acts on each head apart or
// behind the operator: dropout, head gains, residual and layer norm. Grouped key/value heads are repeated, so that one
// head finds a key column for each query column; their gradients are summed over the copies. A mask of its own for each
// head is possible only where all heads have the same. Throws Error(memory) before work that would not fit.
HeadWidthComparison compare_head_width(const Trace& trace);

// About how many bytes the two runs with their gradients take. Throws Error(memory) where that is out of range.
Index head_width_bytes(const Trace& trace);

}  // namespace headwise
