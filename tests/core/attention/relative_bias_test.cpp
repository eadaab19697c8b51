// T5's relative bias: its buckets beside those of transformers 5.24, and its part in the operator.
#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/attention/relative_bias.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/attention/refused_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// "31 from −3000, 30 from −112 …": each bucket with the first place that is in it.
std::string first_places(const RelativeBias& bias) {
  std::string text;
  for (const RelativeBucket& run : relative_buckets(bias, -3000, 3001))
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", run.bucket, run.begin);
  return text;
}

AttentionInputs with_bias(AttentionInputs inputs, RelativeBias bias) {
  inputs.options.relative_bias = bias;
  inputs.tensors.relative_bias_weight = random_tensor(
      {{"buckets", bias.buckets}, {"H", inputs.options.num_heads}}, "relative_attention_bias.weight");
  return inputs;
}

AttentionInputs inputs_of_bias(RelativeBias bias = {8, 6, true}) {
  return with_bias(random_inputs(small_options(4, 2, 4), {2, 5, 5}), bias);
}

}  // namespace

TEST_CASE("the buckets of distances begin where those of transformers begin") {
  CHECK(first_places({32, 128, true}) ==
        "15:-3000 14:-90 13:-63 12:-45 11:-31 10:-22 9:-15 8:-11 7:-7 6:-6 5:-5 4:-4 3:-3 2:-2 1:-1 0:0 17:1 "
        "18:2 "
        "19:3 20:4 21:5 22:6 23:7 24:8 25:12 26:16 27:23 28:32 29:46 30:64 31:91");
  CHECK(first_places({32, 128, false}) ==
        "31:-3000 30:-112 29:-98 28:-86 27:-76 26:-66 25:-58 24:-51 23:-45 22:-39 21:-34 20:-30 19:-26 "
        "18:-23 17:-20 "
        "16:-18 15:-15 14:-14 13:-13 12:-12 11:-11 10:-10 9:-9 8:-8 7:-7 6:-6 5:-5 4:-4 3:-3 2:-2 1:-1 0:0");
  CHECK(first_places({33, 2000, true}) ==
        "15:-3000 14:-1002 13:-502 12:-252 11:-126 10:-63 9:-31 8:-15 7:-7 6:-6 5:-5 4:-4 3:-3 2:-2 1:-1 0:0 "
        "17:1 "
        "18:2 19:3 20:4 21:5 22:6 23:7 24:8 25:16 26:32 27:64 28:127 29:253 30:503 31:1003");
  CHECK(first_places({4, 3, true}) == "1:-3000 0:0 3:1");
  CHECK(first_places({9, 6, false}) == "8:-3000 6:-5 4:-4 3:-3 2:-2 1:-1 0:0");
  CHECK(first_places({12, 20, true}) == "5:-3000 4:-10 3:-5 2:-2 1:-1 0:0 7:1 8:2 9:3 10:6 11:11");
}

TEST_CASE("a relative bias is the float mask that it makes, for every batch") {
  for (const Op op : {Op::multi_head_attention, Op::scaled_dot_product_attention}) {
    AttentionInputs inputs = inputs_of_bias();
    if (op == Op::scaled_dot_product_attention) {
      AttentionInputs heads;
      heads.options.op = op;
      heads.dtype = DType::f64;
      for (auto* tensor : {&heads.tensors.query, &heads.tensors.key, &heads.tensors.value})
        *tensor = random_tensor({{"N", 2}, {"H", 4}, {"L", 5}, {"D", 4}}, "heads");
      heads.options.num_heads = 4;
      inputs = with_bias(heads, {8, 6, true});
    }
    const TracePtr trace = reference_forward(inputs);
    REQUIRE(trace->tensors.position_bias);
    CHECK(trace->tensors.position_bias->shape().sizes() == std::vector<Index>{1, 4, 5, 5});
    AttentionInputs masked = inputs;
    masked.options.relative_bias.reset();
    masked.tensors.relative_bias_weight = nullptr;
    Tensor mask = op == Op::scaled_dot_product_attention
                      ? *trace->tensors.position_bias
                      : Tensor(Shape{{"N·H", 8}, {"L", 5}, {"S", 5}}, DType::f64);
    for (Index i = 0; i < mask.size(); ++i) mask.set_flat(i, trace->tensors.position_bias->flat(i % 100));
    masked.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
    const TracePtr other = reference_forward(masked);
    for (Index i = 0; i < trace->tensors.output->size(); ++i)
      CHECK(trace->tensors.output->flat(i) == other->tensors.output->flat(i));
  }
}

TEST_CASE("a cell of position_bias names its bucket, and a number of the table the diagonals that it feeds") {
  const TracePtr forward = reference_forward(inputs_of_bias());
  const TracePtr trace =
      reference_backward(*forward, random_tensor(forward->tensors.output->shape(), "grad_output"));
  const CellProvenance cell = cell_provenance(*trace, {Id::position_bias}, {0, 2, 1, 3});
  CHECK(cell.formula == "position_bias[0,2,1,3] = relative_attention_bias.weight[6,2]");
  REQUIRE(cell.sources.size() == 1);
  CHECK(cell.sources[0].begin == std::vector<Index>{6, 2});

  // Bucket 6 is what lies two or three places ahead: 7 begins four places on.
  Index cells = 0;
  for (const BoxRef& box : cell_consumers(*trace, {Id::relative_bias_weight}, {6, 2})) {
    CHECK(box.tensor == TensorName{Id::position_bias});
    for (Index l = box.begin[2]; l < box.end[2]; ++l)
      for (Index s = box.begin[3]; s < box.end[3]; ++s, ++cells)
        CHECK(relative_bucket({8, 6, true}, s - l) == 6);
  }
  Index expected = 0;
  for (Index l = 0; l < 5; ++l)
    for (Index s = 0; s < 5; ++s) expected += relative_bucket({8, 6, true}, s - l) == 6 ? 1 : 0;
  CHECK(cells == expected);

  const CellProvenance gradient = cell_provenance(*trace, {Id::relative_bias_weight, true}, {6, 2});
  CHECK(static_cast<Index>(gradient.terms.size()) == expected);
  CHECK_CONTAINS(gradient.formula, "Σ_{l,s: 2 ≤ s − l ≤");
}

TEST_CASE("rows computed a block at a time have the biases of their own places") {
  const AttentionInputs inputs = inputs_of_bias({4, 3, false});
  const TracePtr whole = reference_forward(inputs);
  const TracePtr parts = reference_forward_of(inputs, {{Id::output}, {Id::position_bias}}, 0, 1);
  REQUIRE(parts->tensors.position_bias);
  for (Index i = 0; i < whole->tensors.output->size(); ++i)
    CHECK(parts->tensors.output->flat(i) == whole->tensors.output->flat(i));
}

TEST_CASE("sizes that make no buckets, and a table without its option, are refused with what is wrong") {
  CHECK(relative_bias_problem({3, 128, true}).find("buckets = 3") == 0);
  CHECK(relative_bias_problem({32, 8, true}).find("max_distance = 8") == 0);
  CHECK(relative_bias_problem({2, 2, false}).empty());
  AttentionInputs inputs = inputs_of_bias();
  inputs.options.relative_bias.reset();
  CHECK_CONTAINS(refusal_of(inputs), "nothing is computed from it");
  inputs = inputs_of_bias();
  inputs.options.relative_bias->buckets = 10;
  CHECK_CONTAINS(refusal_of(inputs), "one row for each bucket");
  inputs.tensors.relative_bias_weight = nullptr;
  CHECK_CONTAINS(refusal_of(inputs), "the parameter is missing");
}
