// What attention does whatever its numbers are, and the textbook's loops beside it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/golden_cases.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr double rounding = 1e-13;

// x with its rows along axis 1 in another order: out[n,i,…] = x[n,order[i],…].
TensorPtr permuted_rows(const TensorPtr& x, const std::vector<Index>& order) {
  Tensor out = *x;
  for (Index i = 0; i < out.size(); ++i) {
    auto index = out.shape().index_of(i);
    index[1] = order[static_cast<std::size_t>(index[1])];
    out.set_flat(i, x->at(index));
  }
  return std::make_shared<const Tensor>(std::move(out));
}

TensorPtr with_cell(const TensorPtr& x, std::initializer_list<Index> index, double value) {
  Tensor out = *x;
  out.set_flat(out.shape().offset(std::span(index.begin(), index.size())), value);
  return std::make_shared<const Tensor>(std::move(out));
}

TensorPtr rows_of(const TensorPtr& x, Index first, Index count) {
  auto axes = x->shape().axes();
  const Index width = x->shape().rank() == 2 ? x->shape().size(1) : 1;
  axes[0].size = count;
  const auto values = x->values<double>().subspan(static_cast<std::size_t>(first * width),
                                                  static_cast<std::size_t>(count * width));
  return std::make_shared<const Tensor>(Shape(axes), std::vector<double>(values.begin(), values.end()));
}

void check_equal(const Tensor& got, const Tensor& expected, double tolerance = rounding) {
  const auto difference = first_difference("output", got, expected, tolerance);
  CHECK_MESSAGE(!difference, difference.value_or(""));
}

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
      for (Index d = h * o.head_dim; d < (h + 1) * o.head_dim; ++d)
        score += projected(t.query, l, 0, d) * projected(t.key, s, width, d);
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

TEST_CASE(
    "rows of attn_weights sum to 1, with what a sink takes, or are NaN, or zero where every key is blocked") {
  for (const GoldenCase& golden : golden_cases()) {
    const TracePtr trace = reference_forward(golden.inputs);
    const Tensor& weights = *trace->tensors.attn_weights;
    const Index keys = weights.shape().size(3);
    for (Index first = 0; first < weights.size(); first += keys) {
      const auto row =
          weights.values<double>().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(keys));
      double sum = std::accumulate(row.begin(), row.end(), 0.0);
      if (trace->tensors.sink_weights) sum += trace->tensors.sink_weights->flat(first / keys);
      const bool empty = sum == 0.0 && golden.inputs.options.fully_masked_rows == FullyMaskedRows::zero;
      CHECK_MESSAGE((std::isnan(sum) || empty || std::abs(sum - 1.0) < 1e-14), golden.name);
    }
  }
}

TEST_CASE("permuting the keys together with their values changes nothing") {
  AttentionInputs inputs = random_inputs(small_options());
  const TracePtr before = reference_forward(inputs);
  const std::vector<Index> order{3, 0, 5, 1, 4, 2};
  inputs.tensors.key = permuted_rows(inputs.tensors.key, order);
  inputs.tensors.value = permuted_rows(inputs.tensors.value, order);
  check_equal(*reference_forward(inputs)->tensors.output, *before->tensors.output);
  inputs.tensors.value = random_inputs(small_options()).tensors.value;  // the keys alone: that does change it
  CHECK(first_difference("output", *reference_forward(inputs)->tensors.output, *before->tensors.output, 1e-3));
}

TEST_CASE("permuting the queries permutes the output") {
  AttentionInputs inputs = random_inputs(small_options());
  const TracePtr before = reference_forward(inputs);
  const std::vector<Index> order{2, 0, 3, 1};
  inputs.tensors.query = permuted_rows(inputs.tensors.query, order);
  check_equal(*reference_forward(inputs)->tensors.output, *permuted_rows(before->tensors.output, order));
}

TEST_CASE("a causal mask hides the future: a later token changes no earlier output") {
  AttentionInputs inputs = random_inputs(small_options(), {2, 5, 5});
  inputs.options.is_causal = true;
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  const TracePtr before = reference_forward(inputs);
  inputs.tensors.query = with_cell(inputs.tensors.query, {0, 3, 1}, 9.0);
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  const TracePtr after = reference_forward(inputs);
  const auto changed = [&](Index l) {
    bool any = false;
    for (Index e = 0; e < 12; ++e)
      any = any || after->tensors.output->at({0, l, e}) != before->tensors.output->at({0, l, e});
    return any;
  };
  CHECK_FALSE(changed(0));
  CHECK_FALSE(changed(1));
  CHECK_FALSE(changed(2));
  CHECK(changed(3));
  CHECK(changed(4));
}

TEST_CASE("what a padded key holds changes nothing, unless it is not finite") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.tensors.key_padding_mask = std::make_shared<const Tensor>(
      Shape{{"N", 2}, {"S", 6}}, std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  const TracePtr before = reference_forward(inputs);
  inputs.tensors.key = with_cell(inputs.tensors.key, {0, 5, 2}, 77.0);
  inputs.tensors.value = with_cell(inputs.tensors.value, {0, 5, 2}, -77.0);
  CHECK(identical(*reference_forward(inputs)->tensors.output, *before->tensors.output));
  inputs.tensors.value = with_cell(inputs.tensors.value, {0, 5, 2}, std::nan(""));
  CHECK(std::isnan(reference_forward(inputs)->tensors.output->at({0, 0, 0})));
  CHECK(reference_forward(inputs)->tensors.output->at({1, 0, 0}) == before->tensors.output->at({1, 0, 0}));
}

TEST_CASE("grouped heads equal repeated key/value heads") {
  for (const Index kv_heads : {1, 2}) {
    AttentionInputs grouped = random_inputs(small_options(4, kv_heads));
    const TracePtr trace = reference_forward(grouped);
    AttentionInputs repeated;
    repeated.options = trace->options;
    repeated.options.op = Op::scaled_dot_product_attention;
    repeated.dtype = DType::f64;
    repeated.tensors.query = trace->tensors.q_heads;
    repeated.tensors.key = std::make_shared<const Tensor>(repeat_kv(*trace->tensors.k_heads, 4));
    repeated.tensors.value = std::make_shared<const Tensor>(repeat_kv(*trace->tensors.v_heads, 4));
    const TracePtr wide = reference_forward(repeated);
    CHECK(wide->options.num_kv_heads == 4);
    CHECK(identical(*wide->tensors.head_output, *trace->tensors.head_output));
  }
}

TEST_CASE("packed parameters equal separate ones") {
  for (const Index kv_heads : {4, 2}) {
    AttentionInputs packed = random_inputs(small_options(4, kv_heads));
    AttentionInputs separate = packed;
    TraceTensors& t = separate.tensors;
    t.q_proj_weight = rows_of(t.in_proj_weight, 0, 12);
    t.k_proj_weight = rows_of(t.in_proj_weight, 12, 3 * kv_heads);
    t.v_proj_weight = rows_of(t.in_proj_weight, 12 + 3 * kv_heads, 3 * kv_heads);
    t.in_proj_weight = nullptr;
    CHECK(identical(*reference_forward(separate)->tensors.output, *reference_forward(packed)->tensors.output));
  }
}

TEST_CASE("attention is linear in its values") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.tensors.in_proj_bias = inputs.tensors.out_proj_bias = nullptr;
  const TracePtr once = reference_forward(inputs);
  Tensor doubled = *inputs.tensors.value;
  for (Index i = 0; i < doubled.size(); ++i) doubled.set_flat(i, 2.0 * doubled.flat(i));
  inputs.tensors.value = std::make_shared<const Tensor>(doubled);
  const TracePtr twice = reference_forward(inputs);
  Tensor expected = *once->tensors.output;
  for (Index i = 0; i < expected.size(); ++i) expected.set_flat(i, 2.0 * expected.flat(i));
  check_equal(*twice->tensors.output, expected);
}

TEST_CASE("an unbatched run of each batch equals the batched run") {
  const AttentionInputs inputs = random_inputs(small_options());
  const TracePtr both = reference_forward(inputs);
  for (Index n = 0; n < 2; ++n) {
    AttentionInputs one = inputs;
    const auto cut = [n](TensorPtr& x) {
      auto axes = x->shape().axes();
      axes[0].size = 1;
      const auto count = static_cast<std::size_t>(x->size() / 2);
      const auto values = x->values<double>().subspan(static_cast<std::size_t>(n) * count, count);
      x = std::make_shared<const Tensor>(Shape(axes), std::vector<double>(values.begin(), values.end()));
    };
    cut(one.tensors.query);
    cut(one.tensors.key);
    cut(one.tensors.value);
    const TracePtr single = reference_forward(one);
    for (Index i = 0; i < single->tensors.output->size(); ++i) {
      CHECK(single->tensors.output->flat(i) ==
            doctest::Approx(both->tensors.output->flat(n * single->tensors.output->size() + i)).epsilon(1e-13));
    }
  }
}

TEST_CASE("muting every head leaves the output bias") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.head_gain = {0, 0, 0, 0};
  const TracePtr trace = reference_forward(inputs);
  for (Index e = 0; e < 12; ++e)
    CHECK(trace->tensors.output->at({1, 2, e}) == inputs.tensors.out_proj_bias->at({e}));
}

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
