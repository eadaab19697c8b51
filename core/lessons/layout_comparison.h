// "One packed matrix, three linear layers, or three small ones for each head: are they the same?" Answered by
// computing the projection each way from the same parameters, followed by the rest of the operator.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/attention/projection_layouts.h"
#include "core/attention/trace.h"

namespace headwise {

// The rest of the operator: the output for a different q, k and v.

// The trace in which stages are computed one by one: for an f32 trace rounded from f64,
// the f64 one (Trace::exact).
TracePtr staged_trace(const Trace& trace);

// The output of multi_head_attention for these q, k and v (N,L,H·D) (N,S,G·D) (N,S,G·Dv), with bias_k, bias_v
// and the zero row appended here; k and v may be null if static_k and static_v are given. `staged` is a
// staged_trace(), and the tensors have its type. Computed by the reference;
// stages that only read identical bits are shared.
TensorPtr output_behind_projection(const Trace& staged, const ProjectedInputs& projected);

// A number of matrices of the same shape.
struct MatrixGroup {
  Index count = 0;
  std::string name;     // "W_q"
  std::string letters;  // "(D,E)"
  Index rows = 0, cols = 0;
};

struct LayoutAnswer {
  ProjectionLayout layout{};
  std::string impossible_reason;  // why this layout is impossible here; then nothing below is filled in
  std::vector<MatrixGroup> matrices;
  Index matrix_count = 0;
  Index weights = 0, biases = 0;  // numbers in the matrices, and in their biases
  Index products = 0;             // number of matrix products computed
  Index multiply_adds = 0;        // in all of them
  std::string einsum;             // 'nle,fe->nlf' with the meaning of f
  // Compared with the first possible layout: over q, k and v, and over the operator's output.
  double projection_difference = 0.0;
  double output_difference = 0.0;

  bool possible() const { return impossible_reason.empty(); }
  Index parameters() const { return weights + biases; }
};

struct LayoutComparison {
  std::string not_asked;                // why there is nothing to compare; empty if there is
  std::array<LayoutAnswer, 3> layouts;  // packed, separate, per_head
  double output_magnitude = 0.0;        // the largest |output|: the reference for differences
  std::vector<std::string> sentences;   // the answer in plain words, with these numbers
};

// The reference computes the operator after each layout, in f64 if the trace is rounded from f64
// (Trace::exact); stages with identical bits are shared,
// so that layouts which agree exactly cost only three projections.
LayoutComparison compare_layouts(const Trace& trace);

// The largest difference of the output between the expanded and the absorbed layout of
// multi_head_latent_attention, computed by the reference; 0 for another operator.
double latent_layout_difference(const Trace& trace);

// "24 × (16,128)": matrices of one shape counted together.
std::string matrices_text(const LayoutAnswer& answer);
// "packed", "three matrices", "one for each head"
std::string layout_words(ProjectionLayout layout);

}  // namespace headwise
