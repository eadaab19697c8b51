#include "core/model/transformer/transformer_block.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/model/transformer/activation.h"
#include "core/tensor/random.h"
#include "tests/core/model/transformer/transformer_golden.h"

using namespace headwise;
using namespace headwise::test;

namespace {

Tensor random_rows(Index rows, Index columns, const char* name) {
  Tensor tensor(Shape{{"N", 1}, {"L", rows}, {"E", columns}}, DType::f32);
  const CounterRandom random(3, name);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, random.normal(static_cast<std::uint64_t>(i)));
  return tensor;
}

TensorPtr vector_of(const std::vector<float>& values) {
  return std::make_shared<const Tensor>(Shape{{"E", static_cast<Index>(values.size())}}, values);
}

}  // namespace

TEST_CASE("attention row by row is what the stages of the operator compute, with every kind of mask") {
  constexpr Index L = 70, H = 4, G = 2, D = 6, Dv = 3;  // more rows than one task has
  const Tensor q = random_rows(L, H * D, "q"), k = random_rows(L, G * D, "k"), v = random_rows(L, G * Dv, "v");
  const Tensor q_heads = split_heads(q, H, "H", "D"), k_heads = split_heads(k, G, "G", "D"),
               v_heads = split_heads(v, G, "G", "Dv");
  const std::array gains{1.0, 0.0, -0.5, 2.0};
  const Shape maps{{"N", 1}, {"H", H}, {"L", L}, {"S", L}};
  for (const auto& [is_causal, alibi] : {std::pair{false, false}, {true, false}, {true, true}, {false, true}}) {
    for (const std::optional<Index> window : {std::optional<Index>(), std::optional<Index>(1),
                                              std::optional<Index>(9), std::optional<Index>(500)}) {
      CAPTURE(is_causal);
      CAPTURE(alibi);
      CAPTURE(window.value_or(0));
      const bool of_today = window != std::optional<Index>(9);  // with a softcap and sinks
      AttentionOptions options;
      options.num_heads = H;
      options.head_dim = D;
      options.is_causal = is_causal;
      options.alibi = alibi;
      options.sliding_window = window;
      if (of_today) options.softcap = 1.5;
      const Tensor bias = merge_masks(options, {}, maps, L, DType::f32);
      const Tensor scaled = scale_scores(attention_scores(q_heads, k_heads, maps), score_scale(options));
      const Tensor sinks(Shape{{"H", H}}, std::vector<float>{-1.0F, 0.0F, 3.0F, -INFINITY});
      const Tensor* const beside = of_today ? &sinks : nullptr;
      const Tensor weights = softmax(mask_scores(scaled, bias, std::nullopt), FullyMaskedRows::nan, beside);
      const Tensor gain(Shape{{"H", H}}, std::vector<float>(gains.begin(), gains.end()));
      const Tensor concat = merge_heads(weighted_sum(weights, v_heads), &gain, "H·Dv");

      Tensor made(maps, DType::f32);
      const Rows rows = attend(
          {H, G, D, Dv, is_causal, window, alibi ? alibi_slopes(H) : std::vector<double>{}, std::nullopt,
           options.softcap},
          matrix<float>(q), matrix<float>(k), matrix<float>(v), gains, made.values<float>().data(), beside);
      CHECK(relative_difference(made, weights) < 1e-6);
      Tensor joined(concat.shape(), DType::f32);
      matrix<float>(joined) = rows;
      CHECK(relative_difference(joined, concat) < 1e-6);
    }
  }
}

TEST_CASE("sums over a long depth are nearly those of f64") {
  const Tensor a = random_rows(5, 3000, "a"), b = random_rows(7, 3000, "b");
  const auto left = matrix<float>(a), right = matrix<float>(b);
  const RowMatrix<double> exact = left.cast<double>() * right.cast<double>().transpose();
  const RowMatrix<double> made = blockwise_product(left, right.transpose());
  CHECK((made - exact).cwiseAbs().maxCoeff() < 3e-7 * exact.cwiseAbs().maxCoeff());
}

TEST_CASE("activations have the values of their formulas") {
  constexpr double x = 0.75;
  const double sigmoid = 1.0 / (1.0 + std::exp(-x));
  const double tanh_gelu = 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
  const std::vector<std::pair<Activation, std::array<double, 2>>> expected{
      {Activation::gelu, {0.5 * x * std::erfc(-x / std::sqrt(2.0)), -0.5 * x * std::erfc(x / std::sqrt(2.0))}},
      {Activation::gelu_tanh, {tanh_gelu, tanh_gelu - x}},
      {Activation::quick_gelu, {x / (1.0 + std::exp(-1.702 * x)), -x / (1.0 + std::exp(1.702 * x))}},
      {Activation::relu, {x, 0.0}},
      {Activation::relu_squared, {x * x, 0.0}},
      {Activation::silu, {x * sigmoid, -x * (1.0 - sigmoid)}}};
  for (const auto& [activation, values] : expected) {
    CAPTURE(activation_name(activation));
    Rows row(1, 2);
    row << 0.75F, -0.75F;
    activate(activation, row);
    CHECK(row(0, 0) == doctest::Approx(values[0]).epsilon(1e-6));
    CHECK(row(0, 1) == doctest::Approx(values[1]).epsilon(1e-6));
  }
}

TEST_CASE("LayerNorm takes the mean away, RMSNorm does not") {
  Rows x(1, 4);
  x << 1.0F, 2.0F, 3.0F, 6.0F;  // mean 3, variance 3.5, mean of the squares 12.5
  const TensorPtr gain = vector_of({1, 1, 2, 1}), bias = vector_of({0, 0, 0, 10});
  const Rows layer_norm = normalised({gain, bias, 0.5, true}, x);
  CHECK(layer_norm(0, 0) == doctest::Approx(-1.0));
  CHECK(layer_norm(0, 2) == doctest::Approx(0.0));
  CHECK(layer_norm(0, 3) == doctest::Approx(11.5));
  const Rows rms_norm = normalised({gain, nullptr, 3.5, false}, x);
  CHECK(rms_norm(0, 0) == doctest::Approx(0.25));
  CHECK(rms_norm(0, 2) == doctest::Approx(1.5));
  CHECK(normalised({gain, nullptr, 3.5, false, 1.0}, x)(0, 2) == doctest::Approx(2.25));  // a gain of 2 + 1
  CHECK(normalised({}, x) == x);
}
