#include "core/attention/heads.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/reference/reference_backend.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;

namespace {

OutputCellByHeads cell_of(const Trace& trace, Index n, Index l, Index e) {
  const TraceTensors& t = trace.tensors;
  return output_cell_by_heads(*t.concat, *t.out_proj_weight, t.out_proj_bias.get(), trace.options.num_heads,
                              n, l, e);
}

// Σ_w gain · head_output · W_O: from the heads themselves, not from concat.
double part_of_head(const Trace& trace, Index n, Index l, Index e, Index h) {
  const TraceTensors& t = trace.tensors;
  double part = 0.0;
  for (Index w = 0; w < trace.options.v_head_dim; ++w)
    part += t.head_output->at({n, h, l, w}) * t.out_proj_weight->at({e, h * trace.options.v_head_dim + w});
  return part * (t.head_gain ? t.head_gain->at({h}) : 1.0);
}

}  // namespace

TEST_CASE("the parts of all heads and the bias add up to every cell of the output, with every option") {
  for (const test::NamedInputs& named : test::single_option_inputs()) {
    if (named.inputs.options.op == Op::scaled_dot_product_attention) continue;
    CAPTURE(named.name);
    const TracePtr trace = reference_forward(named.inputs);
    const TraceTensors& t = trace->tensors;
    const Index heads = trace->options.num_heads;
    std::vector<double> magnitudes(static_cast<std::size_t>(heads) + 1, 0.0);
    bool poisoned = false;
    for (Index i = 0; i < t.output->size(); ++i) {
      const std::vector<Index> at = t.output->shape().index_of(i);
      const OutputCellByHeads cell = cell_of(*trace, at[0], at[1], at[2]);
      double sum = t.out_proj_bias ? t.out_proj_bias->at({at[2]}) : 0.0;
      magnitudes.back() += std::abs(sum);
      CHECK(cell.bias == sum);
      double shares = cell.share_of_bias();
      if (std::isnan(t.output->flat(i))) {
        CHECK(std::isnan(cell.output));
        poisoned = true;
        continue;
      }
      for (Index h = 0; h < heads; ++h) {
        const double part = cell.heads[static_cast<std::size_t>(h)];
        CHECK(part == doctest::Approx(part_of_head(*trace, at[0], at[1], at[2], h)));
        sum += part;
        shares += cell.share_of_head(h);
        magnitudes[static_cast<std::size_t>(h)] += std::abs(part);
      }
      CHECK(sum == doctest::Approx(t.output->flat(i)));
      CHECK(cell.output == doctest::Approx(t.output->flat(i)));
      CHECK(shares == doctest::Approx(1.0));
    }
    if (poisoned) continue;
    const std::vector<double> got =
        output_magnitudes_by_heads(*t.concat, *t.out_proj_weight, t.out_proj_bias.get(), heads);
    REQUIRE(got.size() == magnitudes.size());
    for (std::size_t h = 0; h < got.size(); ++h) CHECK(got[h] == doctest::Approx(magnitudes[h]));
  }
}

TEST_CASE("a muted head has no part in the output") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.options.head_gain = {1.0, 0.0, 1.0, 1.0};
  const TracePtr trace = reference_forward(inputs);
  const OutputCellByHeads cell = cell_of(*trace, 1, 2, 3);
  CHECK(cell.heads[1] == 0.0);
  CHECK(cell.share_of_head(1) == 0.0);
  CHECK(cell.share_of_head(0) > 0.0);
}

TEST_CASE("where nothing is added nothing is shared") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.options.head_gain = {0.0, 0.0, 0.0, 0.0};
  inputs.tensors.out_proj_bias = nullptr;
  const OutputCellByHeads cell = cell_of(*reference_forward(inputs), 0, 0, 0);
  CHECK(cell.output == 0.0);
  CHECK(cell.share_of_head(2) == 0.0);
  CHECK(cell.share_of_bias() == 0.0);
}

TEST_CASE("an output without cells is a sum without parts") {
  const TracePtr trace = reference_forward(test::random_inputs(test::small_options(), {2, 0, 6}));
  const TraceTensors& t = trace->tensors;
  for (const double magnitude :
       output_magnitudes_by_heads(*t.concat, *t.out_proj_weight, t.out_proj_bias.get(), 4)) {
    CHECK(magnitude == 0.0);
  }
}
