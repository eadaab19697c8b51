#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/attention/add_and_norm.h"
#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/linear.h"
#include "core/attention/output_gate.h"
#include "core/attention/reference_backend.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"
#include "core/tensor/error.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor scores_row(std::vector<double> values) {
  const auto count = static_cast<Index>(values.size());
  return Tensor(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", count}}, std::move(values));
}

std::string visible(const Tensor& mask_bias, Index h = 0) {
  std::string text;
  for (Index l = 0; l < mask_bias.shape().size(2); ++l) {
    for (Index s = 0; s < mask_bias.shape().size(3); ++s)
      text += mask_bias.at({0, h, l, s}) == -inf ? '.' : 'x';
    text += ' ';
  }
  return text;
}

Tensor positions_mask(AttentionOptions options, Index queries, Index keys) {
  return merge_masks(options, {}, Shape{{"N", 1}, {"H", 1}, {"L", queries}, {"S", keys}}, keys, DType::f64);
}

const Tensor& joined_heads(const Trace& trace) {
  return *trace.tensor(rows_of_output(trace.tensors));
}

OutputCellByHeads cell_of_output(const Trace& trace, Index n, Index l, Index e) {
  const TraceTensors& t = trace.tensors;
  return output_cell_by_heads(joined_heads(trace), *t.out_proj_weight, t.out_proj_bias.get(),
                              trace.options.num_heads, n, l, e);
}

// Σ_w gain · gate · head_output · W_O: from the heads themselves, not from concat.
double part_of_head(const Trace& trace, Index n, Index l, Index e, Index h) {
  const TraceTensors& t = trace.tensors;
  double part = 0.0;
  const Index width = trace.options.v_head_dim;
  for (Index w = 0; w < width; ++w) {
    const double own = t.head_output->at({n, h, l, w}) * t.out_proj_weight->at({e, h * width + w});
    const bool by_head = t.output_gate && t.output_gate->shape().size(2) == trace.options.num_heads;
    part +=
        t.output_gate ? own / (1.0 + std::exp(-t.output_gate->at({n, l, by_head ? h : h * width + w}))) : own;
  }
  return part * (t.head_gain ? t.head_gain->at({h}) : 1.0);
}

}  // namespace

TEST_CASE("head h owns D neighbouring columns, and merging undoes the split") {
  const TensorPtr x = random_tensor({{"N", 2}, {"L", 3}, {"H·D", 8}}, "x");
  const Tensor heads = split_heads(*x, 4, "H", "D");
  CHECK(heads.shape() == Shape{{"N", 2}, {"H", 4}, {"L", 3}, {"D", 2}});
  CHECK(heads.at({1, 3, 2, 1}) == x->at({1, 2, 7}));
  CHECK(identical(merge_heads(heads, nullptr, "H·D"), *x));
}

TEST_CASE("a head's gain scales its columns and no other") {
  const TensorPtr x = random_tensor({{"N", 1}, {"H", 2}, {"L", 2}, {"Dv", 2}}, "x");
  const Tensor gain(Shape{{"H", 2}}, std::vector<double>{1.0, -3.0});
  const Tensor concat = merge_heads(*x, &gain, "H·Dv");
  CHECK(concat.at({0, 1, 1}) == x->at({0, 0, 1, 1}));
  CHECK(concat.at({0, 1, 3}) == -3.0 * x->at({0, 1, 1, 1}));
}

TEST_CASE("key/value heads are repeated one by one, not tiled") {
  const TensorPtr x = random_tensor({{"N", 1}, {"G", 2}, {"S", 1}, {"D", 1}}, "x");
  const Tensor repeated = repeat_kv(*x, 4);
  CHECK(repeated.flat(0) == x->flat(0));
  CHECK(repeated.flat(1) == x->flat(0));
  CHECK(repeated.flat(2) == x->flat(1));
  CHECK(repeated.flat(3) == x->flat(1));
}

TEST_CASE("softmax gives exact zeros for blocked keys and survives scores of any size") {
  const Tensor weights = softmax(scores_row({1e308, -inf, 1e308, -1e308}), FullyMaskedRows::nan);
  CHECK(weights.flat(0) == 0.5);
  CHECK(weights.flat(1) == 0.0);
  CHECK(weights.flat(2) == 0.5);
  CHECK(weights.flat(3) == 0.0);
}

TEST_CASE("one NaN or one plus infinity makes the whole row NaN, wherever it stands") {
  for (const double bad : {std::nan(""), inf}) {
    for (std::size_t place = 0; place < 9; ++place) {
      std::vector<double> row(9, 0.25);
      row[place] = bad;
      const Tensor weights = softmax(scores_row(row), FullyMaskedRows::zero);
      for (Index s = 0; s < 9; ++s) CHECK(std::isnan(weights.flat(s)));
    }
  }
}

TEST_CASE("a row of nothing but -inf becomes NaN or zero, and is found") {
  const Tensor row = scores_row({-inf, -inf});
  CHECK(std::isnan(softmax(row, FullyMaskedRows::nan).flat(1)));
  CHECK(softmax(row, FullyMaskedRows::zero).flat(1) == 0.0);
  CHECK(fully_masked_rows(row) == std::vector<Index>{0});
  CHECK(fully_masked_rows(scores_row({-inf, std::nan("")})).empty());
  CHECK(fully_masked_rows(scores_row({})).empty());
}

TEST_CASE("causal masks, windows and alignments show which keys") {
  AttentionOptions options;
  options.is_causal = true;
  CHECK(visible(positions_mask(options, 3, 4)) == "x... xx.. xxx. ");
  options.sliding_window = 2;
  CHECK(visible(positions_mask(options, 3, 4)) == "x... xx.. .xx. ");
  options.causal_alignment = CausalAlignment::bottom_right;
  CHECK(visible(positions_mask(options, 3, 4)) == "xx.. .xx. ..xx ");
  options.is_causal = false;
  CHECK(visible(positions_mask(options, 3, 4)) == "xxx. .xxx ..xx ");
  options.sliding_window = 1;
  CHECK(visible(positions_mask(options, 3, 3)) == "x.. .x. ..x ");
  options.sliding_window = std::numeric_limits<Index>::max();
  CHECK(visible(positions_mask(options, 2, 2)) == "xx xx ");
}

TEST_CASE("no mask blocks an appended column") {
  AttentionOptions options;
  options.is_causal = options.alibi = true;
  const Tensor padding(Shape{{"N", 1}, {"S", 2}}, std::vector<std::uint8_t>{1, 1});
  GivenMasks given;
  given.key_padding_mask = &padding;
  const Tensor bias =
      merge_masks(options, given, Shape{{"N", 1}, {"H", 1}, {"L", 2}, {"S′", 4}}, 2, DType::f32);
  CHECK(visible(bias) == "..xx ..xx ");
  CHECK(bias.at({0, 0, 1, 3}) == 0.0);
}

TEST_CASE(
    "a boolean attn_mask blocks in multi-head attention and lets through in scaled dot-product attention") {
  const Tensor mask(Shape{{"L", 1}, {"S", 3}}, std::vector<std::uint8_t>{1, 0, 1});
  GivenMasks given;
  given.attn_mask = &mask;
  AttentionOptions options;
  const Shape shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", 3}};
  CHECK(visible(merge_masks(options, given, shape, 3, DType::f64)) == ".x. ");
  options.op = Op::scaled_dot_product_attention;
  CHECK(visible(merge_masks(options, given, shape, 3, DType::f64)) == "x.x ");
}

TEST_CASE("ALiBi's slopes are the published ones") {
  CHECK(alibi_slopes(1) == std::vector<double>{std::exp2(-8)});
  CHECK(alibi_slopes(8).front() == 0.5);
  CHECK(alibi_slopes(8).back() == std::exp2(-8));
  const std::vector<double> six = alibi_slopes(6);
  const double expected[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  REQUIRE(six.size() == 6);
  for (std::size_t h = 0; h < 6; ++h) CHECK(six[h] == expected[h]);
}

TEST_CASE("filling replaces what is blocked, even NaN; adding does not") {
  const Tensor scores = scores_row({std::nan(""), 2.0, std::nan("")});
  const Tensor bias = scores_row({-inf, 0.5, 0.0});
  const Tensor filled = mask_scores(scores, bias, -1e9);
  CHECK(filled.flat(0) == -1e9);
  CHECK(filled.flat(1) == 2.5);
  CHECK(std::isnan(filled.flat(2)));
  CHECK(std::isnan(mask_scores(scores, bias, std::nullopt).flat(0)));
}

TEST_CASE("dropout drops about its share, the same cells each time, and keeps the expectation") {
  const Index count = 20000;
  const Tensor ones(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", count}}, std::vector<double>(count, 1.0));
  const Tensor dropped = dropout(ones, 0.25, 3);
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) {
    CHECK(dropped.flat(i) == dropout_factor(0.25, 3, i));
    sum += dropped.flat(i);
  }
  CHECK(sum / count == doctest::Approx(1.0).epsilon(0.02));
  CHECK_FALSE(identical(dropped, dropout(ones, 0.25, 4)));
  CHECK(dropout_factor(1.0, 3, 0) == 0.0);
}

TEST_CASE("a layer norm row has mean 0 and deviation 1, and a constant row becomes 0") {
  const TensorPtr x = random_tensor({{"N", 1}, {"L", 1}, {"E", 64}}, "x", DType::f64, 10.0);
  const Tensor normed = layer_norm(*x);
  double mean = 0.0, square = 0.0;
  for (Index e = 0; e < 64; ++e) {
    mean += normed.flat(e) / 64;
    square += normed.flat(e) * normed.flat(e) / 64;
  }
  CHECK(std::abs(mean) < 1e-14);
  CHECK(square == doctest::Approx(1.0).epsilon(1e-6));
  const Tensor constant(Shape{{"L", 1}, {"E", 3}}, std::vector<double>{5, 5, 5});
  CHECK(layer_norm(constant).flat(1) == 0.0);
}

TEST_CASE("an f32 product is the exact one rounded once, however long the sum") {
  const Index width = 4096;
  const TensorPtr x = random_tensor({{"L", 1}, {"E", width}}, "x", DType::f32);
  const TensorPtr weight = random_tensor({{"E", 1}, {"E", width}}, "weight", DType::f32);
  long double exact = 0.0L;
  for (Index e = 0; e < width; ++e) exact += static_cast<long double>(x->flat(e)) * weight->flat(e);
  const Tensor y = linear(*x, {weight.get(), 0, nullptr, 0}, Shape{{"L", 1}, {"E", 1}});
  CHECK(y.flat(0) == static_cast<double>(static_cast<float>(exact)));
}

TEST_CASE("heads whose sizes do not fit are refused before a cell is read") {
  const auto heads = [](Index count, Index rows, Index width) {
    return Tensor(Shape{{"N", 1}, {"H", count}, {"L", rows}, {"D", width}}, DType::f64);
  };
  const Shape scores{{"N", 1}, {"H", 4}, {"L", 3}, {"S", 5}};
  CHECK_NOTHROW(attention_scores(heads(4, 3, 2), heads(2, 5, 2), scores));
  CHECK_THROWS_AS(attention_scores(heads(4, 3, 2), heads(2, 4, 2), scores), Error);  // a key is missing
  CHECK_THROWS_AS(attention_scores(heads(4, 3, 2), heads(2, 5, 3), scores), Error);  // wider heads
  // heads that cannot be shared
  CHECK_THROWS_AS(attention_scores(heads(4, 3, 2), heads(3, 5, 2), scores), Error);
  CHECK_THROWS_AS(weighted_sum(heads(4, 3, 5), heads(4, 4, 2)), Error);  // a value is missing
}

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
      const OutputCellByHeads cell = cell_of_output(*trace, at[0], at[1], at[2]);
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
        output_magnitudes_by_heads(joined_heads(*trace), *t.out_proj_weight, t.out_proj_bias.get(), heads);
    REQUIRE(got.size() == magnitudes.size());
    for (std::size_t h = 0; h < got.size(); ++h) CHECK(got[h] == doctest::Approx(magnitudes[h]));
  }
}

TEST_CASE("a muted head has no part in the output") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.options.head_gain = {1.0, 0.0, 1.0, 1.0};
  const TracePtr trace = reference_forward(inputs);
  const OutputCellByHeads cell = cell_of_output(*trace, 1, 2, 3);
  CHECK(cell.heads[1] == 0.0);
  CHECK(cell.share_of_head(1) == 0.0);
  CHECK(cell.share_of_head(0) > 0.0);
}

TEST_CASE("where nothing is added nothing is shared") {
  AttentionInputs inputs = test::random_inputs(test::small_options());
  inputs.options.head_gain = {0.0, 0.0, 0.0, 0.0};
  inputs.tensors.out_proj_bias = nullptr;
  const OutputCellByHeads cell = cell_of_output(*reference_forward(inputs), 0, 0, 0);
  CHECK(cell.output == 0.0);
  CHECK(cell.share_of_head(2) == 0.0);
  CHECK(cell.share_of_bias() == 0.0);
}

TEST_CASE("an output without cells is a sum without parts") {
  const TracePtr trace = reference_forward(test::random_inputs(test::small_options(), {2, 0, 6}));
  const TraceTensors& t = trace->tensors;
  for (const double magnitude :
       output_magnitudes_by_heads(*t.concat, *t.out_proj_weight, t.out_proj_bias.get(), 4))
    CHECK(magnitude == 0.0);
}
