#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/heads.h"
#include "core/attention/linear.h"
#include "core/attention/reference_backend.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/golden_cases.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// The first value of the trace, or gradient, that is not what PyTorch computed; values in the order of
// computation, gradients from the output back.
std::optional<std::string> first_difference_of_case(const Trace& trace, const GoldenCase& golden,
                                                    bool gradients, double tolerance) {
  std::vector<TensorName> names;
  for (const TensorEntry& entry : tensor_entries()) names.push_back({entry.id, gradients});
  if (gradients) std::ranges::reverse(names);
  for (const TensorName name : names) {
    const auto expected = golden.expected.find(to_string(name));
    if (expected == golden.expected.end()) continue;
    const TensorPtr got = trace.tensor(name);
    if (!got) return to_string(name) + " is missing";
    const double least_scale = 0.1;  // a layer norm of one cell, a gradient that cancels: noise about 0
    if (auto difference =
            test::first_difference(expected->first, *got, expected->second, tolerance, least_scale))
      return difference;
  }
  return std::nullopt;
}

// f32 can be no nearer than its inputs allow: scores that saturate the softmax, and sums that cancel in the
// layer norm, multiply the rounding of what they are made from.
double f32_tolerance(const GoldenCase& golden) {
  return golden.expected.contains("layer_norm_output") || golden.name == "a softmax that saturates" ? 1e-4
                                                                                                    : 2e-6;
}

}  // namespace

TEST_CASE("the reference agrees with PyTorch in f64, in every configuration and tensor") {
  CHECK(golden_cases().size() >= 400);
  for (const GoldenCase& golden : golden_cases()) {
    const auto difference = first_difference_of_case(*reference_forward(golden.inputs), golden, false, 1e-12);
    CHECK_MESSAGE(!difference, golden.name, " (", golden.by, "): ", difference.value_or(""));
  }
}

TEST_CASE("the reference agrees with PyTorch's f64 when it computes in f32") {
  for (const GoldenCase& golden : golden_cases()) {
    const TracePtr trace = reference_forward(converted(golden.inputs, DType::f32));
    const auto difference = first_difference_of_case(*trace, golden, false, f32_tolerance(golden));
    CHECK_MESSAGE(!difference, golden.name, " (", golden.by, "): ", difference.value_or(""));
  }
}

TEST_CASE("every gradient agrees with PyTorch's autograd in f64, in every configuration") {
  for (const GoldenCase& golden : golden_cases()) {
    const TracePtr trace = reference_backward(*reference_forward(golden.inputs), golden.grad_output);
    const auto difference = first_difference_of_case(*trace, golden, true, 1e-11);
    CHECK_MESSAGE(!difference, golden.name, " (", golden.by, "): ", difference.value_or(""));
  }
}

TEST_CASE("gradients in f32 are those of f64, rounded") {
  for (const GoldenCase& golden : golden_cases()) {
    const AttentionInputs inputs = converted(golden.inputs, DType::f32);
    const TensorPtr grad_output =
        golden.grad_output ? std::make_shared<const Tensor>(golden.grad_output->converted(DType::f32))
                           : nullptr;
    const auto difference =
        first_difference_of_case(*reference_backward(*reference_forward(inputs), grad_output), golden, true,
                                 10.0 * f32_tolerance(golden));
    CHECK_MESSAGE(!difference, golden.name, " (", golden.by, "): ", difference.value_or(""));
  }
}

TEST_CASE("a second result is made exactly where it is asked for") {
  for (const GoldenCase& golden : golden_cases()) {
    const AttentionOptions& options = golden.inputs.options;
    const bool wanted = options.need_weights && projects(options.op);
    CHECK_MESSAGE((reference_forward(golden.inputs)->tensors.attn_output_weights != nullptr) == wanted,
                  golden.name);
  }
}

namespace {

// Multi-head attention put together from its parts, with one mistake at will.
enum class Mistake { none, wrong_scale, softmax_over_queries, merge_without_transpose };

Tensor swapped_last_axes(const Tensor& x) {
  auto axes = x.shape().axes();
  std::swap(axes[2], axes[3]);
  Tensor out(Shape(axes), x.dtype());
  for (Index i = 0; i < out.size(); ++i) {
    auto index = out.shape().index_of(i);
    std::swap(index[2], index[3]);
    out.set_flat(i, x.at(index));
  }
  return out;
}

Tensor output_with(Mistake mistake, const AttentionInputs& inputs) {
  const AttentionOptions& o = inputs.options;
  const TracePtr trace = reference_forward(inputs);
  const Tensor& scores = *trace->tensors.scores;
  const Index width = mistake == Mistake::wrong_scale ? o.embed_dim : o.head_dim;
  const Tensor scaled =
      scale_scores(scores, {{{ScoreStep::Kind::times, "scale", 1.0 / std::sqrt(static_cast<double>(width))}}});
  const Tensor weights = mistake == Mistake::softmax_over_queries
                             ? swapped_last_axes(softmax(swapped_last_axes(scaled), o.fully_masked_rows))
                             : softmax(scaled, o.fully_masked_rows);
  const Tensor heads = weighted_sum(weights, *trace->tensors.v_heads);
  const Shape concat_shape = trace->tensors.concat->shape();
  const Tensor concat = mistake == Mistake::merge_without_transpose ? heads.reshaped(concat_shape)
                                                                    : merge_heads(heads, nullptr, "H·Dv");
  return linear(concat, {inputs.tensors.out_proj_weight.get(), 0, inputs.tensors.out_proj_bias.get(), 0},
                trace->tensors.output->shape());
}

}  // namespace

TEST_CASE("a wrong scale, a softmax over the wrong axis and a merge without its transpose do not pass") {
  for (const char* name : {"cross-attention", "self-attention", "kdim and vdim of their own"}) {
    const GoldenCase& golden = golden_case(name);
    const Tensor& expected = golden.expected.at("output");
    const auto passes = [&](Mistake mistake, double tolerance) {
      return !test::first_difference("output", output_with(mistake, golden.inputs), expected, tolerance);
    };
    CHECK(passes(Mistake::none, 1e-12));
    for (const Mistake mistake :
         {Mistake::wrong_scale, Mistake::softmax_over_queries, Mistake::merge_without_transpose})
      CHECK_FALSE_MESSAGE(passes(mistake, 1e-2), name, ", mistake ", static_cast<int>(mistake));
  }
}

TEST_CASE("the comparison names the tensor, the cell and both values") {
  const Tensor expected(Shape{{"L", 2}, {"S", 2}}, std::vector<double>{1, 2, 3, 4});
  const Tensor got(Shape{{"L", 2}, {"S", 2}}, std::vector<double>{1, 2, 3.5, 4});
  CHECK(test::first_difference("scores", got, expected, 1e-12) == "scores[1,0] is 3.5, expected 3");
  CHECK_FALSE(test::first_difference("scores", got, expected, 0.2));
  const Tensor nan(Shape{{"L", 2}, {"S", 2}}, std::vector<double>{1, 2, std::nan(""), 4});
  CHECK(test::first_difference("scores", nan, expected, 1.0));
  CHECK(test::first_difference("scores", expected, nan, 1.0));
}
