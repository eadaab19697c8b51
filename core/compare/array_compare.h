// Compares the arrays of another program with a trace: each under its original name,
// in its original layout and type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/trace_warnings.h"
#include "core/compare/trace_compare.h"
#include "core/tensor/given_array.h"

namespace headwise {

// An array as found in a file: its name and stored type, "f16", "i32".
// Its values are read where its shape fits.
struct StoredTensor {
  std::string name;
  GivenArray array;
  std::string stored_dtype;
};

// Which query heads a key/value head is repeated for: H/G adjacent ones, h/(H/G), or every G-th, h % G.
enum class HeadCopy { neighbours, every_gth };
struct HeadCopies {
  HeadCopy keys = HeadCopy::neighbours, values = HeadCopy::neighbours;
};

struct ArrayComparisonOptions {
  bool batch_first = true;          // the layout of inputs and outputs in the arrays
  std::optional<double> tolerance;  // null: stored_tolerance
  HeadCopies copies;                // for arrays with a key/value head for each query head
};

// One of their arrays and the tensor that it represents.
struct ComparedArray {
  std::string stored_name;  // "attn_output"
  std::string stored_dtype;
  std::string stored_shape;  // as it is in the file: "(5,2,16)"
  TensorName tensor;         // output
  std::string reading;       // how it was reinterpreted: "read as (L,N,E)"; empty if it was not
  double tolerance = 0.0, least_unit = 0.0;
  TensorDifference difference;  // in our layout; its shapes differ if the array could not be read
  std::string refusal;     // why it could not be read: the likely cause of the shapes, a non-numeric type
  TensorPtr ours, theirs;  // as compared; null if the array could not be read

  bool agrees() const { return refusal.empty() && difference.agrees(); }
};

// An array that was not compared, and the reason in a few words, with the name of the nearest tensor.
struct SkippedArray {
  std::string stored_name, reason;
};

struct ArrayComparison {
  std::vector<ComparedArray> arrays;  // in the order of computation, gradients from the output back
  std::vector<SkippedArray> skipped;

  const ComparedArray* first_difference() const;  // null if all agree
};

// The tensor that an array's name refers to in this trace: a trace name, attn_output for output, NAME.grad
// for grad.NAME; for scaled_dot_product_attention query, key and value are q_heads, k_heads and v_heads.
std::optional<TensorName> stored_tensor_name(const std::string& name, Op op);

// The tolerance between two correct programs when one stores its numbers in this type: bf16 1.6e-2, f16 2e-3,
// else default_tolerance of the two types. Integers and bool do not increase it. Gradients: ten times that.
double stored_tolerance(DType ours, const std::string& stored_dtype, bool gradient = false);

// How much less exact f32 is for large scores: a score is a sum of products as large as |q|·|k|, a few units
// in the last place of which are more than 1e-5 once they exceed 20. Two correct programs may differ by this
// factor (≥ 1) more in `name`, from the scores on; 1 for what comes before them and for gradients.
double large_score_factor(const Trace& trace, TensorName name);

// The default tolerance for an array of this trace: stored_tolerance, times that factor in f32.
double tolerance_of(const Trace& ours, TensorName name, const std::string& stored_dtype);

// The least unit (core/compare/trace_compare.h) of this trace's gradients: a tenth of the largest number that
// the backward pass started from, because cancellation along the way leaves rounding errors in proportion to
// that. 0 for values.
double gradient_unit(const Trace& trace, TensorName name);

// Compares one array with the tensor of that name, which `ours` must have.
ComparedArray compare_array(const Trace& ours, TensorName name, const StoredTensor& stored,
                            const ArrayComparisonOptions& options);

// k_heads, k_rotary and v_heads may be repeated, one head per query head;
// boolean masks may be given as 0 and −inf.
ArrayComparison compare_arrays(const Trace& ours, const std::vector<StoredTensor>& theirs,
                               const ArrayComparisonOptions& options);

}  // namespace headwise
