// Sinks and the log-sum-exp of rows: beside other ways to write the same, and what they leave alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"
#include "core/attention/softmax.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/attention/refused_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

AttentionInputs inputs_of_sinks(DType dtype = DType::f64) {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 4), {2, 5, 5}, dtype);
  inputs.options.is_causal = true;
  return inputs;
}

AttentionInputs with_sink(AttentionInputs inputs, std::vector<double> sink) {
  inputs.options.sink = std::move(sink);
  return inputs;
}

// f(n, h, l) for every row of (N,H,L).
template <class F>
void each_row(const Tensor& rows, F&& f) {
  for (Index i = 0; i < rows.size(); ++i) {
    const std::vector<Index> at = rows.shape().index_of(i);
    f(at[0], at[1], at[2]);
  }
}

AttentionInputs with_blocked_row(AttentionInputs inputs) {
  Tensor mask(Shape{{"L", 5}, {"S", 5}}, DType::f64);
  for (Index s = 0; s < 5; ++s) mask.set_flat(10 + s, -infinity);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
  return inputs;
}

}  // namespace

TEST_CASE("lse is the logarithm of the sum of a row's exponentials, and is in every trace") {
  const TracePtr trace = reference_forward(inputs_of_sinks());
  REQUIRE(trace->tensors.lse);
  CHECK_FALSE(trace->tensors.sink_weights);
  each_row(*trace->tensors.lse, [&](Index n, Index h, Index l) {
    double sum = 0.0;
    for (Index s = 0; s < 5; ++s) sum += std::exp(trace->tensors.masked_scores->at({n, h, l, s}));
    CHECK(trace->tensors.lse->at({n, h, l}) == doctest::Approx(std::log(sum)).epsilon(1e-14));
  });
}

TEST_CASE("the log-sum-exp of a blocked row is −∞, of a row with +∞ it is +∞, and a NaN stays") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor rows(Shape{{"N", 1}, {"H", 1}, {"L", 4}, {"S", 2}},
                    std::vector<double>{-infinity, -infinity, 1.0, infinity, infinity, nan, 900.0, 900.0});
  const Tensor lse = log_sum_exp(rows);
  CHECK(lse.flat(0) == -infinity);
  CHECK(lse.flat(1) == infinity);
  CHECK(std::isnan(lse.flat(2)));
  CHECK(lse.flat(3) == doctest::Approx(900.0 + std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("the weights of a row and its sink's add up to 1, whatever the scores are scaled by") {
  AttentionInputs inputs = with_sink(inputs_of_sinks(), {-2.0, 0.0, 0.7, 5.0});
  inputs.options.scale = 0.3;
  inputs.options.temperature = 0.5;
  inputs.options.softcap = 2.0;
  const TracePtr trace = reference_forward(inputs);
  const TraceTensors& t = trace->tensors;
  each_row(*t.sink_weights, [&](Index n, Index h, Index l) {
    double sum = t.sink_weights->at({n, h, l});
    const double sink = inputs.options.sink[static_cast<std::size_t>(h)];
    CHECK(sum == doctest::Approx(std::exp(sink - std::log(std::exp(sink) + std::exp(t.lse->at({n, h, l}))))));
    for (Index s = 0; s < 5; ++s) sum += t.attn_weights->at({n, h, l, s});
    CHECK(sum == doctest::Approx(1.0).epsilon(1e-14));
  });
}

TEST_CASE("add_zero_attn is a sink of 0 whose value is 0") {
  AttentionInputs inputs = inputs_of_sinks();
  const TracePtr sink = reference_forward(with_sink(inputs, {0.0}));
  inputs.options.add_zero_attn = true;
  const TracePtr row = reference_forward(inputs);
  for (Index i = 0; i < sink->tensors.output->size(); ++i)
    CHECK(sink->tensors.output->flat(i) == doctest::Approx(row->tensors.output->flat(i)).epsilon(1e-14));
  each_row(*sink->tensors.sink_weights, [&](Index n, Index h, Index l) {
    CHECK(sink->tensors.sink_weights->at({n, h, l}) ==
          doctest::Approx(row->tensors.attn_weights->at({n, h, l, 5})).epsilon(1e-14));
  });
}

TEST_CASE(
    "a sink is the same as a head's output times σ(lse − s), as Granite's layers with windows write it") {
  const std::vector<double> sinks{-2.0, 0.0, 0.7, 5.0};
  const TracePtr without = reference_forward(inputs_of_sinks());
  const TracePtr with = reference_forward(with_sink(inputs_of_sinks(), sinks));
  each_row(*without->tensors.lse, [&](Index n, Index h, Index l) {
    const double left =
        1.0 / (1.0 + std::exp(sinks[static_cast<std::size_t>(h)] - without->tensors.lse->at({n, h, l})));
    for (Index d = 0; d < 4; ++d)
      CHECK(with->tensors.head_output->at({n, h, l, d}) ==
            doctest::Approx(left * without->tensors.head_output->at({n, h, l, d})).epsilon(1e-13));
  });
}

TEST_CASE("with a sink a row whose keys are all blocked becomes 0, and the sink takes all of it") {
  AttentionInputs inputs = with_sink(with_blocked_row(inputs_of_sinks()), {0.5});
  inputs.options.fully_masked_rows = FullyMaskedRows::nan;
  const TracePtr trace = reference_forward(inputs);
  CHECK(trace->tensors.lse->at({1, 3, 2}) == -infinity);
  CHECK(trace->tensors.sink_weights->at({1, 3, 2}) == 1.0);
  for (Index s = 0; s < 5; ++s) CHECK(trace->tensors.attn_weights->at({1, 3, 2, s}) == 0.0);
  REQUIRE(trace->warnings.size() == 1);
  CHECK_CONTAINS(trace->warnings[0], "the sink takes all of it");
  const TracePtr backward = reference_backward(*trace);
  for (Index h = 0; h < 4; ++h) CHECK(std::isfinite(backward->grad.sinks->flat(h)));
}

TEST_CASE("one number for every head, one for each and an array are the same sinks") {
  const TracePtr one = reference_forward(with_sink(inputs_of_sinks(), {0.5}));
  const TracePtr each = reference_forward(with_sink(inputs_of_sinks(), {0.5, 0.5, 0.5, 0.5}));
  AttentionInputs inputs = inputs_of_sinks();
  inputs.tensors.sinks = std::make_shared<const Tensor>(Shape{{"H", 4}}, std::vector<double>(4, 0.5));
  const TracePtr given = reference_forward(inputs);
  CHECK(identical(*one->tensors.output, *each->tensors.output));
  CHECK(identical(*one->tensors.output, *given->tensors.output));
  REQUIRE(one->tensors.sinks);
  CHECK(identical(*one->tensors.sinks, *given->tensors.sinks));
}

TEST_CASE("a frozen head's sink has no gradient, and its lse is that of its scores") {
  AttentionInputs inputs = with_sink(inputs_of_sinks(), {0.5});
  const TracePtr free = reference_forward(inputs);
  std::vector<Axis> axes = free->tensors.attn_weights->shape().axes();
  axes[1] = {"F", 1};
  inputs.options.frozen_heads = {2};
  inputs.tensors.frozen_weights = random_tensor(Shape(axes), "frozen_weights");
  const TracePtr trace = reference_backward(*reference_forward(inputs));
  CHECK(identical(*trace->tensors.lse, *free->tensors.lse));
  CHECK(identical(*trace->tensors.sink_weights, *free->tensors.sink_weights));
  for (Index h = 0; h < 4; ++h) CHECK((trace->grad.sinks->flat(h) == 0.0) == (h == 2));
}

TEST_CASE("an edit behind the weights leaves them as they are, sinks or not") {
  AttentionInputs inputs = with_sink(inputs_of_sinks(), {0.5});
  const TracePtr before = reference_forward(inputs);
  inputs.tensors.out_proj_bias = nullptr;
  const TracePtr after = reference_forward(inputs, before.get());
  CHECK(after->tensors.attn_weights == before->tensors.attn_weights);
  CHECK(after->computed == std::vector<Id>{Id::output});
}

TEST_CASE("sinks of another number than the heads, or that are not finite, are refused") {
  CHECK_CONTAINS(refusal_of(with_sink(inputs_of_sinks(), {1.0, 2.0, 3.0})),
                 "got 3 numbers; expected 1, or num_heads = 4; give one number, or one per head");
  CHECK_CONTAINS(refusal_of(with_sink(inputs_of_sinks(), {infinity})),
                 "sink: the number is out of range: got inf");
  const AttentionInputs narrow = with_sink(random_inputs(small_options(), {}, DType::f32), {1e39});
  CHECK_CONTAINS(refusal_of(narrow),
                 "attention.sink: the number is infinite in f32: got 1e+39; expected at most 3.40282e+38");
  AttentionInputs inputs = inputs_of_sinks();
  inputs.tensors.sinks = random_tensor({{"H", 3}}, "sinks");
  CHECK_CONTAINS(refusal_of(inputs),
                 "sinks: the shape disagrees: got (3); expected (H) = (4); one number a head");
  inputs.tensors.sinks =
      std::make_shared<const Tensor>(Shape{{"H", 4}}, std::vector<double>{0.0, 0.0, -infinity, 0.0});
  CHECK_CONTAINS(refusal_of(inputs), "sinks: a number is not finite: got sinks[2] is -inf");
}
