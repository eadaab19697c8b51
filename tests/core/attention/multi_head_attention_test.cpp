#include <doctest/doctest.h>

#include <cmath>

#include "core/reference/reference_backend.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// The textbook definition in plain loops, from query, key and value to one cell of output.
double plain_output(const AttentionInputs& inputs, Index n, Index l, Index e) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const Index keys = t.key->shape().size(1);
  const Index width = o.num_heads * o.head_dim;
  const auto projected = [&](const TensorPtr& x, Index row, Index first, Index i) {
    double sum = t.in_proj_bias->at({first + i});
    for (Index c = 0; c < o.embed_dim; ++c) sum += x->at({n, row, c}) * t.in_proj_weight->at({first + i, c});
    return sum;
  };
  double output = t.out_proj_bias->at({e});
  for (Index h = 0; h < o.num_heads; ++h) {
    std::vector<double> weights;
    double sum = 0.0;
    for (Index s = 0; s < keys; ++s) {
      double score = 0.0;
      for (Index d = h * o.head_dim; d < (h + 1) * o.head_dim; ++d) {
        score += projected(t.query, l, 0, d) * projected(t.key, s, width, d);
      }
      const bool hidden =
          (o.is_causal && s > l) || (t.key_padding_mask && t.key_padding_mask->at({n, s}) != 0.0);
      weights.push_back(hidden ? 0.0 : std::exp(score / std::sqrt(static_cast<double>(o.head_dim))));
      sum += weights.back();
    }
    for (Index i = h * o.head_dim; i < (h + 1) * o.head_dim; ++i) {
      double mixed = 0.0;
      for (Index s = 0; s < keys; ++s)
        mixed += weights[static_cast<std::size_t>(s)] / sum * projected(t.value, s, 2 * width, i);
      output += mixed * t.out_proj_weight->at({e, i}) *
                (o.head_gain.empty() ? 1.0 : o.head_gain[static_cast<std::size_t>(h)]);
    }
  }
  return output;
}

}  // namespace

TEST_CASE("output is what the textbook's loops compute, with masks and head gains") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.is_causal = true;
  inputs.options.head_gain = {1.0, 0.0, -0.5, 2.0};
  Tensor padding(Shape{{"N", 2}, {"S", 6}}, DType::boolean);
  padding.set_flat(1, 1.0);
  padding.set_flat(6 + 5, 1.0);
  inputs.tensors.key_padding_mask = std::make_shared<const Tensor>(padding);
  const TracePtr trace = reference_forward(inputs);
  const Tensor& output = *trace->tensors.output;
  CHECK(output.shape() == Shape{{"N", 2}, {"L", 4}, {"E", 12}});
  for (Index i = 0; i < output.size(); ++i) {
    const auto at = output.shape().index_of(i);
    CHECK(output.flat(i) == doctest::Approx(plain_output(inputs, at[0], at[1], at[2])).epsilon(1e-12));
  }
}
