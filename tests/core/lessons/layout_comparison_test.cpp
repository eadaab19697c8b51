#include "core/lessons/layout_comparison.h"

#include <algorithm>
#include <limits>

#include "core/attention/reference_backend.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/traced_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using test::first_difference;

namespace {

LayoutComparison compared_layouts(const AttentionInputs& inputs) {
  return compare_layouts(*reference_forward(inputs));
}

AttentionInputs self_attention(AttentionInputs inputs) {
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  return inputs;
}

AttentionInputs unequal_widths() {
  AttentionOptions o = test::small_options(4, 2, 3);
  AttentionInputs inputs = test::random_inputs(o);
  inputs.options.kdim = 5;
  inputs.options.vdim = 7;
  TraceTensors& t = inputs.tensors;
  t.key = test::random_tensor({{"N", 2}, {"S", 6}, {"kdim", 5}}, "key");
  t.value = test::random_tensor({{"N", 2}, {"S", 6}, {"vdim", 7}}, "value");
  t.in_proj_weight = nullptr;
  t.q_proj_weight = test::random_tensor({{"H·D", 12}, {"E", 12}}, "q");
  t.k_proj_weight = test::random_tensor({{"G·D", 6}, {"kdim", 5}}, "k");
  t.v_proj_weight = test::random_tensor({{"G·Dv", 6}, {"vdim", 7}}, "v");
  return inputs;
}

}  // namespace

TEST_CASE("the three layouts give the same output, parameters and multiply-adds, with every option") {
  std::vector<test::NamedInputs> all = test::single_option_inputs();
  for (std::uint64_t seed = 0; seed < 60; ++seed) all.push_back(test::random_combination(seed));
  for (const test::NamedInputs& named : all) {
    CAPTURE(named.name);
    const LayoutComparison comparison = compared_layouts(named.inputs);
    CHECK(!comparison.sentences.empty());
    if (named.inputs.options.op == Op::scaled_dot_product_attention) {
      CHECK_CONTAINS(comparison.not_asked, "no projection");
      continue;
    }
    if (is_latent(named.inputs.options)) {
      CHECK(latent_layout_difference(*reference_forward(named.inputs)) < 1e-4);
      CHECK_CONTAINS(comparison.not_asked, "latent");
      continue;
    }
    Index projections = 0;
    for (const ProductCount& product : operation_counts(named.inputs).products)
      if (product.result == TensorId::q || product.result == TensorId::k || product.result == TensorId::v)
        projections += product.multiply_adds;
    const LayoutAnswer& separate = comparison.layouts[1];
    for (const LayoutAnswer& answer : comparison.layouts) {
      if (!answer.possible()) continue;
      CHECK(answer.projection_difference <= 1e-12);
      CHECK(answer.output_difference <= 1e-12 * std::max(1.0, comparison.output_magnitude));
      CHECK(answer.parameters() == separate.parameters());
      CHECK(answer.multiply_adds == projections);
    }
    CHECK(comparison.layouts[0].possible() == (named.inputs.tensors.in_proj_weight != nullptr));
  }
}

TEST_CASE("packed is one matrix, separate are three, per head are H and two times G small ones") {
  const LayoutComparison comparison = compared_layouts(test::random_inputs(test::small_options(4, 2, 3)));
  const auto& [packed, separate, per_head] = comparison.layouts;
  CHECK(packed.matrix_count == 1);
  CHECK(packed.matrices.at(0).rows == 12 + 6 + 6);
  CHECK(separate.matrix_count == 3);
  CHECK(per_head.matrix_count == 4 + 2 + 2);
  REQUIRE(per_head.matrices.size() == 3);
  CHECK(per_head.matrices[1].name == "W_k");
  CHECK(per_head.matrices[1].count == 2);
  CHECK(per_head.matrices[1].letters == "(D,kdim)");
  CHECK(per_head.matrices[1].rows == 3);
  CHECK(per_head.matrices[1].cols == 12);
  CHECK(packed.weights == 24 * 12);
  CHECK(packed.biases == 24);
}

TEST_CASE(
    "self-attention needs one product when packed, key as value two, three arrays three, small matrices one "
    "each") {
  const AttentionInputs cross = test::random_inputs(test::small_options());
  const auto products = [](const AttentionInputs& inputs) {
    std::vector<Index> made;
    for (const LayoutAnswer& answer : compared_layouts(inputs).layouts) made.push_back(answer.products);
    return made;
  };
  CHECK(products(self_attention(cross)) == std::vector<Index>{1, 3, 12});
  AttentionInputs memory = cross;
  memory.tensors.value = memory.tensors.key;
  CHECK(products(memory) == std::vector<Index>{2, 3, 12});
  CHECK(products(cross) == std::vector<Index>{3, 3, 12});
}

TEST_CASE("what static_k or static_v replaces is not projected in any layout") {
  AttentionInputs inputs = self_attention(test::random_inputs(test::small_options(), {2, 6, 6}));
  inputs.tensors.static_k = test::random_tensor({{"N", 2}, {"G", 4}, {"S", 6}, {"D", 3}}, "static_k");
  LayoutComparison comparison = compared_layouts(inputs);
  CHECK(comparison.layouts[0].products == 2);  // the rows of q and v are no neighbours
  CHECK(comparison.layouts[1].products == 2);
  CHECK(comparison.layouts[2].products == 8);
  CHECK(comparison.layouts[0].multiply_adds == 2 * (2 * 6 * 12 * 12));
  CHECK_CONTAINS(comparison.sentences.back(), "static_k");
  inputs.tensors.static_v = test::random_tensor({{"N", 2}, {"G", 4}, {"S", 6}, {"Dv", 3}}, "static_v");
  CHECK(compared_layouts(inputs).layouts[0].products == 1);
}

TEST_CASE("widths that differ cannot be packed, and the answer says so") {
  const AttentionInputs inputs = unequal_widths();
  const LayoutComparison comparison = compared_layouts(inputs);
  CHECK(!comparison.layouts[0].possible());
  CHECK_CONTAINS(comparison.layouts[0].impossible_reason, "5 and 7 wide, query 12");
  CHECK(comparison.layouts[1].weights == 12 * 12 + 6 * 5 + 6 * 7);
  // Not those of W_O, which the other questions of the sheet count too.
  CHECK_CONTAINS(comparison.sentences.front(), "parameters of the input projection");
  CHECK(comparison.layouts[2].output_difference <= 1e-12);
  CHECK(std::ranges::any_of(comparison.sentences, [](const std::string& sentence) {
    return sentence.starts_with("Packed is not possible here");
  }));
  const TraceTensors& t = inputs.tensors;
  const ProjectionParameters parameters{nullptr, t.q_proj_weight, t.k_proj_weight, t.v_proj_weight,
                                        t.in_proj_bias};
  CHECK(!can_be_packed(inputs.options, parameters));
  CHECK_THROWS_AS(projection_matrices(ProjectionLayout::packed, inputs.options, parameters), Error);
}

TEST_CASE("a matrix that static_k makes needless may be missing: then nothing can be packed") {
  AttentionInputs inputs = unequal_widths();
  inputs.options.kdim = inputs.options.vdim = 12;
  TraceTensors& t = inputs.tensors;
  t.key = test::random_tensor({{"N", 2}, {"S", 6}, {"kdim", 12}}, "key");
  t.value = test::random_tensor({{"N", 2}, {"S", 6}, {"vdim", 12}}, "value");
  t.k_proj_weight = nullptr;
  t.v_proj_weight = test::random_tensor({{"G·Dv", 6}, {"vdim", 12}}, "v");
  t.static_k = test::random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"D", 3}}, "static_k");
  const LayoutComparison comparison = compared_layouts(inputs);
  CHECK_CONTAINS(comparison.layouts[0].impossible_reason, "static_k");
  CHECK(comparison.layouts[1].matrix_count == 2);
  CHECK(comparison.layouts[2].matrix_count == 4 + 2);
  CHECK(comparison.layouts[2].output_difference <= 1e-12);
}

TEST_CASE("layouts of empty inputs are compared without a cell") {
  for (const test::Lengths lengths : {test::Lengths{0, 4, 6}, test::Lengths{2, 0, 6}, test::Lengths{2, 4, 0}}) {
    const LayoutComparison comparison = compared_layouts(test::random_inputs(test::small_options(), lengths));
    for (const LayoutAnswer& answer : comparison.layouts) {
      CHECK(answer.possible());
      CHECK(answer.output_difference == 0.0);
    }
  }
}

TEST_CASE("NaN in one layout is NaN in all, and no difference") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  Tensor weight = *inputs.tensors.in_proj_weight;
  weight.set_flat(5, std::numeric_limits<double>::quiet_NaN());
  inputs.tensors.in_proj_weight = std::make_shared<const Tensor>(std::move(weight));
  for (const LayoutAnswer& answer : compared_layouts(inputs).layouts) CHECK(answer.output_difference == 0.0);
}

TEST_CASE("another q leads to another output, that of an operator whose matrices make it, in f32 as in f64") {
  for (const DType dtype : {DType::f64, DType::f32}) {
    AttentionOptions options = test::small_options(4, 2, 3);
    options.add_zero_attn = true;
    AttentionInputs inputs = test::random_inputs(options, {}, dtype);
    const TracePtr staged = staged_trace(*reference_forward(inputs));
    REQUIRE(staged->stages.contains(TensorId::q));
    const TraceTensors& t = staged->tensors;
    const ProjectionParameters parameters{t.in_proj_weight, nullptr, nullptr, nullptr, t.in_proj_bias};
    std::vector<ProjectionMatrix> matrices =
        projection_matrices(ProjectionLayout::per_head, staged->options, parameters);
    const auto project = [&] { return project_with(staged->options, matrices, {t.query, t.key, t.value}); };
    CHECK(first_difference("output", *output_behind_projection(*staged, project()), *t.output, 1e-13) ==
          std::nullopt);

    // Two query heads change places, and the same with the rows of the packed matrix.
    std::swap(matrices[0].rows, matrices[1].rows);
    const TensorPtr output = output_behind_projection(*staged, project());
    CHECK(first_difference("output", *output, *t.output, 1e-3).has_value());
    AttentionInputs swapped = traced_inputs(*staged);
    Tensor weight = *t.in_proj_weight, bias = *t.in_proj_bias;
    for (Index row = 0; row < 3; ++row) {
      for (Index e = 0; e < 12; ++e) {
        weight.set_flat(row * 12 + e, t.in_proj_weight->at({row + 3, e}));
        weight.set_flat((row + 3) * 12 + e, t.in_proj_weight->at({row, e}));
      }
      bias.set_flat(row, t.in_proj_bias->at({row + 3}));
      bias.set_flat(row + 3, t.in_proj_bias->at({row}));
    }
    swapped.tensors.in_proj_weight = std::make_shared<const Tensor>(std::move(weight));
    swapped.tensors.in_proj_bias = std::make_shared<const Tensor>(std::move(bias));
    CHECK(first_difference("output", *output, *reference_forward(swapped)->tensors.output, 1e-13) ==
          std::nullopt);
  }
}
