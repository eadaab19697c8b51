#include "core/attention/projection_layouts.h"

#include <doctest/doctest.h>

#include "core/tensor/error.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using test::first_difference;

namespace {

constexpr ProjectionLayout all_layouts[] = {ProjectionLayout::packed, ProjectionLayout::separate,
                                            ProjectionLayout::per_head};

// Grouped heads with a value width of their own.
AttentionInputs grouped_inputs(bool bias = true) {
  AttentionOptions o = test::small_options(4, 2, 3);
  o.v_head_dim = 5;
  AttentionInputs inputs = test::random_inputs(o);
  if (!bias) inputs.tensors.in_proj_bias = nullptr;
  return inputs;
}

ProjectionParameters parameters_of(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  return {t.in_proj_weight, t.q_proj_weight, t.k_proj_weight, t.v_proj_weight, t.in_proj_bias};
}

// The rows of a packed weight as a matrix of their own.
TensorPtr own_rows(const Tensor& packed, Index first, Index count) {
  const Index width = packed.shape().size(1);
  Tensor own(Shape{{"rows", count}, {"E", width}}, DType::f64);
  for (Index i = 0; i < own.size(); ++i) own.set_flat(i, packed.flat(first * width + i));
  return std::make_shared<const Tensor>(std::move(own));
}

// Every row with its bias, in the order of the matrices.
std::vector<double> stacked(const std::vector<ProjectionMatrix>& matrices) {
  std::vector<double> numbers;
  for (const ProjectionMatrix& matrix : matrices) {
    for (Index f = 0; f < matrix.out_features; ++f) {
      for (Index e = 0; e < matrix.in_features; ++e)
        numbers.push_back(matrix.weight->at({matrix.rows.first_weight_row + f, e}));
      if (matrix.bias) numbers.push_back(matrix.bias->flat(matrix.rows.first_bias_entry + f));
    }
  }
  return numbers;
}

// y = x·Wᵀ + b in a plain loop over one matrix, counting its multiply-adds.
Tensor plain_product(const Tensor& x, const ProjectionMatrix& matrix, Index& multiply_adds) {
  Tensor y(Shape{x.shape().axes()[0], x.shape().axes()[1], {"rows", matrix.out_features}}, DType::f64);
  for (Index row = 0; row < x.shape().size(0) * x.shape().size(1); ++row) {
    for (Index f = 0; f < matrix.out_features; ++f) {
      double sum = matrix.bias ? matrix.bias->flat(matrix.rows.first_bias_entry + f) : 0.0;
      for (Index e = 0; e < matrix.in_features; ++e, ++multiply_adds)
        sum += x.flat(row * matrix.in_features + e) * matrix.weight->at({matrix.rows.first_weight_row + f, e});
      y.set_flat(row * matrix.out_features + f, sum);
    }
  }
  return y;
}

}  // namespace

TEST_CASE("a layout is a view: its matrices point into the parameters that are there") {
  const AttentionInputs inputs = grouped_inputs();
  for (const ProjectionLayout layout : all_layouts) {
    for (const ProjectionMatrix& matrix : projection_matrices(layout, inputs.options, parameters_of(inputs))) {
      CHECK(matrix.rows.weight == inputs.tensors.in_proj_weight.get());
      CHECK(matrix.rows.bias == inputs.tensors.in_proj_bias.get());
    }
  }
}

TEST_CASE("every layout of packed and of separate parameters has the same rows, bit for bit") {
  for (const bool bias : {true, false}) {
    const AttentionInputs inputs = grouped_inputs(bias);
    const ProjectionParameters packed = parameters_of(inputs);
    const Tensor& weight = *packed.in_proj_weight;
    const ProjectionParameters separate{nullptr, own_rows(weight, 0, 12), own_rows(weight, 12, 6),
                                        own_rows(weight, 18, 10), packed.in_proj_bias};
    const std::vector<double> rows =
        stacked(projection_matrices(ProjectionLayout::packed, inputs.options, packed));
    CHECK(rows.size() == 28 * (bias ? 13 : 12));
    for (const ProjectionLayout layout : all_layouts)
      for (const ProjectionParameters& from : {packed, separate})
        CHECK(stacked(projection_matrices(layout, inputs.options, from)) == rows);
  }
}

TEST_CASE("head h of W_k is rows h·D to (h+1)·D of it, with the entries of the bias at the same place") {
  const AttentionInputs inputs = grouped_inputs();
  const std::vector<ProjectionMatrix> matrices =
      projection_matrices(ProjectionLayout::per_head, inputs.options, parameters_of(inputs));
  REQUIRE(matrices.size() == 4 + 2 + 2);
  const ProjectionMatrix& k1 = matrices[5];
  CHECK(k1.of == Projection::k);
  CHECK(k1.head == 1);
  CHECK(k1.out_features == 3);
  CHECK(k1.rows.first_weight_row == 12 + 3);
  CHECK(k1.rows.first_bias_entry == 12 + 3);
  const ProjectionMatrix& v1 = matrices[7];
  CHECK(v1.out_features == 5);
  CHECK(v1.rows.first_weight_row == 12 + 6 + 5);
}

TEST_CASE(
    "every layout projects to what a plain loop over each of its matrices makes, with as many "
    "multiply-adds") {
  const AttentionInputs inputs = grouped_inputs();
  const TraceTensors& t = inputs.tensors;
  for (const ProjectionLayout layout : {ProjectionLayout::separate, ProjectionLayout::per_head}) {
    const std::vector<ProjectionMatrix> matrices =
        projection_matrices(layout, inputs.options, parameters_of(inputs));
    const ProjectedInputs projected = project_with(inputs.options, matrices, {t.query, t.key, t.value});
    Index multiply_adds = 0;
    for (const ProjectionMatrix& matrix : matrices) {
      const Tensor& x = *(matrix.of == Projection::q   ? t.query
                          : matrix.of == Projection::k ? t.key
                                                       : t.value);
      const Tensor& whole = *(matrix.of == Projection::q   ? projected.q
                              : matrix.of == Projection::k ? projected.k
                                                           : projected.v);
      const Tensor expected = plain_product(x, matrix, multiply_adds);
      const Index first = matrix.head < 0 ? 0 : matrix.head * matrix.out_features;
      for (Index row = 0; row < expected.size() / matrix.out_features; ++row) {
        for (Index f = 0; f < matrix.out_features; ++f) {
          CHECK(whole.flat(row * whole.shape().size(2) + first + f) ==
                doctest::Approx(expected.flat(row * matrix.out_features + f)));
        }
      }
    }
    CHECK(multiply_adds == 2 * 4 * 12 * 12 + 2 * 6 * 12 * (6 + 10));
    CHECK(projected.products == static_cast<Index>(matrices.size()));
  }
}

TEST_CASE("packed products land in the columns of q, k and v whether their inputs are one array or three") {
  AttentionInputs inputs = grouped_inputs();
  TraceTensors& t = inputs.tensors;
  const ProjectionParameters parameters = parameters_of(inputs);
  for (const Index expected_products : {3, 2, 1}) {
    if (expected_products == 2) t.value = t.key;
    if (expected_products == 1) t.key = t.value = t.query;
    const auto project = [&](ProjectionLayout layout) {
      return project_with(inputs.options, projection_matrices(layout, inputs.options, parameters),
                          {t.query, t.key, t.value});
    };
    const ProjectedInputs packed = project(ProjectionLayout::packed);
    const ProjectedInputs separate = project(ProjectionLayout::separate);
    CHECK(packed.products == expected_products);
    CHECK(first_difference("q", *packed.q, *separate.q, 1e-14) == std::nullopt);
    CHECK(first_difference("k", *packed.k, *separate.k, 1e-14) == std::nullopt);
    CHECK(first_difference("v", *packed.v, *separate.v, 1e-14) == std::nullopt);
  }
}

TEST_CASE("a matrix that looks at the wrong rows makes another projection") {
  const AttentionInputs inputs = grouped_inputs();
  const TraceTensors& t = inputs.tensors;
  std::vector<ProjectionMatrix> matrices =
      projection_matrices(ProjectionLayout::per_head, inputs.options, parameters_of(inputs));
  const ProjectedInputs right = project_with(inputs.options, matrices, {t.query, t.key, t.value});
  std::swap(matrices[0].rows, matrices[1].rows);
  const ProjectedInputs wrong = project_with(inputs.options, matrices, {t.query, t.key, t.value});
  CHECK(first_difference("q", *wrong.q, *right.q, 1e-3).has_value());
  CHECK(first_difference("k", *wrong.k, *right.k, 1e-14) == std::nullopt);
}
