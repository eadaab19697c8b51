#include "core/bench/attention_work.h"

#include <doctest/doctest.h>

#include "core/fused/fused_backend.h"
#include "core/reference/reference_backend.h"
#include "tests/core/fused/agreement.h"

using namespace headwise;
using namespace headwise::test;

TEST_CASE("the work of a module is that of its projections and of the pairs that see each other") {
  AttentionInputs inputs = sized_inputs(2, 5, 5, 4, 2, 3, 3);
  // q and out 12 × 12, k and v 12 × 6; 4 heads of 3 numbers in q·k and in the weighted sum.
  const double projections = 2.0 * 2 * 5 * 12 * (12 + 6 + 6 + 12);
  CHECK(attention_flops(inputs) == projections + 2.0 * 2 * 25 * 4 * 6);
  inputs.options.is_causal = true;
  CHECK(attention_flops(inputs) == projections + 2.0 * 2 * 15 * 4 * 6);
}

TEST_CASE("an output is compared whole where it is small, and in its last queries where it is large") {
  for (const Index length : {20, 700}) {
    CAPTURE(length);
    AttentionInputs inputs = sized_inputs(1, length, length, 5, 5, 4, 4);
    inputs.options.is_causal = true;
    Tensor output = *fused_forward(inputs)->tensors.output;
    CHECK(difference_from_reference(inputs, output) < 1e-5);
    output.set_flat(output.size() - 1, output.flat(output.size() - 1) + 1.0);
    CHECK(difference_from_reference(inputs, output) == doctest::Approx(1.0).epsilon(1e-3));
  }
}

TEST_CASE("the reference differs from itself by nothing") {
  const AttentionInputs inputs = sized_inputs(1, 9, 9, 2, 2, 4, 4);
  CHECK(difference_from_reference(inputs, *reference_forward(inputs)->tensors.output) == 0.0);
}
