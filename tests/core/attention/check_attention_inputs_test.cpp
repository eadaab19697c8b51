#include <functional>
#include <limits>

#include "core/attention/check_attention_inputs.h"
#include "core/attention/reference_backend.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/attention/refused_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The error line of inputs with one thing wrong; N=2, L=4, S=6, E=12, H=4, D=3.
std::string refusal(const std::function<void(AttentionInputs&)>& spoil) {
  AttentionInputs inputs = random_inputs(small_options());
  spoil(inputs);
  return refusal_of(inputs);
}

TensorPtr array(Shape shape, DType dtype = DType::f64) {
  return zeros(std::move(shape), dtype);
}

// One array of the inputs is this one, of zeros.
struct Replaced {
  TensorPtr TraceTensors::*member;
  Shape shape;
  DType dtype = DType::f64;
};

std::function<void(AttentionInputs&)> replacing(const Replaced& by) {
  return [by](AttentionInputs& inputs) { inputs.tensors.*by.member = array(by.shape, by.dtype); };
}

AttentionInputs heads_inputs() {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.dtype = DType::f64;
  inputs.tensors.query = array({{"N", 2}, {"H", 4}, {"L", 3}, {"D", 5}});
  inputs.tensors.key = array({{"N", 2}, {"G", 2}, {"S", 6}, {"D", 5}});
  inputs.tensors.value = array({{"N", 2}, {"G", 2}, {"S", 6}, {"Dv", 7}});
  return inputs;
}

std::string heads_refusal(const std::function<void(AttentionInputs&)>& spoil) {
  AttentionInputs inputs = heads_inputs();
  spoil(inputs);
  return refusal_of(inputs);
}

}  // namespace

TEST_CASE("inputs that agree are accepted") {
  CHECK(refusal([](AttentionInputs&) {}) == "accepted");
  CHECK(heads_refusal([](AttentionInputs&) {}) == "accepted");
}

TEST_CASE("a wrong shape is told with both shapes and the likely cause") {
  const auto line = [](const Replaced& wrong) { return refusal(replacing(wrong)); };
  using T = TraceTensors;
  CHECK(line({&T::key_padding_mask, {{"S", 6}, {"N", 2}}, DType::boolean}) ==
        "key_padding_mask: the shape disagrees: got (6,2); expected (N,S) = (2,6); transposed?");
  CHECK(line({&T::key, {{"S", 6}, {"N", 2}, {"kdim", 12}}}) ==
        "key: key and query have different batch sizes: got (6,2,12); expected (N,S,kdim) = (2,S,12); "
        "is the batch axis the second one? the trace wants it first");
  CHECK(line({&T::value, {{"N", 2}, {"S", 5}, {"vdim", 12}}}) ==
        "value: the shape disagrees: got (2,5,12); expected (N,S,vdim) = (2,6,12); key and value have the "
        "same length");
  CHECK(
      line({&T::query, {{"L", 4}, {"E", 12}}}) ==
      "query: the number of axes disagrees: got (4,12); expected (N,L,E); an unbatched input has N = 1 here");
  CHECK(line({&T::attn_mask, {{"S", 6}, {"L", 4}}, DType::boolean}) ==
        "attn_mask: the shape disagrees: got (6,4); expected (L,S) = (4,6) or (N·H,L,S) = (8,4,6); "
        "transposed?");
  CHECK(line({&T::in_proj_weight, {{"a", 12}, {"b", 36}}}) ==
        "in_proj_weight: the shape disagrees: got (12,36); expected (H·D+G·D+G·Dv,E) = (36,12); transposed?");
}

TEST_CASE("every array is held against the sizes") {
  for (const TensorEntry& entry : tensor_entries()) {
    if (entry.role == TensorRole::intermediate) continue;
    const std::string line = refusal(replacing({entry.member, {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}}));
    CHECK_MESSAGE(line != "accepted", entry.name);
  }
}

TEST_CASE("types are checked") {
  using T = TraceTensors;
  CHECK(refusal(replacing({&T::query, {{"N", 2}, {"L", 4}, {"E", 12}}, DType::f32})) ==
        "query: the type is not that of the trace: got f32; expected f64; convert it first");
  CHECK_CONTAINS(refusal(replacing({&T::attn_mask, {{"L", 4}, {"S", 6}}, DType::i64})), "bool, f32 or f64");
  CHECK_CONTAINS(refusal(replacing({&T::valid_lens, {{"N", 2}}})), "i64");
  CHECK_CONTAINS(refusal(replacing({&T::scores, {{"N", 2}}})), "computed");
  CHECK_CONTAINS(refusal([](AttentionInputs& i) { i.dtype = DType::boolean; }), "f32 or f64");
}

TEST_CASE("options that exclude each other are named together") {
  const Shape rows{{"G·D", 12}};
  const Shape heads{{"N", 2}, {"G", 4}, {"S", 6}, {"D", 3}};
  CHECK(
      refusal([&](AttentionInputs& i) { i.tensors.bias_k = array(rows); }) ==
      "bias_k: bias_k and bias_v come together: got bias_k alone; expected both or neither; give bias_v too");
  CHECK_CONTAINS(refusal([&](AttentionInputs& i) {
                   i.tensors.bias_k = i.tensors.bias_v = array(rows);
                   i.tensors.static_k = array(heads);
                 }),
                 "bias_k, bias_v and static_k");
  CHECK_CONTAINS(refusal(replacing({&TraceTensors::q_proj_weight, {{"H·D", 12}, {"E", 12}}})),
                 "in_proj_weight beside q_proj_weight");
  CHECK(refusal([](AttentionInputs& i) { i.options.num_kv_heads = 3; }) ==
        "num_heads: key/value heads must serve equal numbers of query heads: got num_heads = 4, num_kv_heads "
        "= 3; expected num_kv_heads a divisor of 4");
  CHECK_CONTAINS(refusal([](AttentionInputs& i) {
                   i.options.kdim = 7;
                   i.tensors.key = array({{"N", 2}, {"S", 6}, {"kdim", 7}});
                 }),
                 "kdim = 7");
  CHECK_CONTAINS(refusal([](AttentionInputs& i) { i.tensors.in_proj_weight = nullptr; }), "q_proj_weight");
  CHECK_CONTAINS(refusal([](AttentionInputs& i) { i.tensors.out_proj_weight = nullptr; }), "out_proj.weight");
}

TEST_CASE("numbers out of range are refused") {
  const auto option = [](const std::function<void(AttentionOptions&)>& set) {
    return refusal([&](AttentionInputs& i) { set(i.options); });
  };
  using Options = AttentionOptions;
  struct OutOfRange {
    const char* name;
    std::function<void(Options&)> set;
  };
  for (const auto& [name, set] : std::vector<OutOfRange>{
           {"dropout", [](Options& o) { o.dropout = not_a_number; }},
           {"scale", [](Options& o) { o.scale = not_a_number; }},
           {"temperature", [](Options& o) { o.temperature = 0.0; }},
           {"temperature", [](Options& o) { o.temperature = not_a_number; }},
           {"softcap", [](Options& o) { o.softcap = -1.0; }},
           {"mask.value", [](Options& o) { o.mask_value = -std::numeric_limits<double>::infinity(); }},
           {"sliding_window", [](Options& o) { o.sliding_window = 0; }},
           {"head_dim", [](Options& o) { o.head_dim = 0; }},
           {"num_heads", [](Options& o) { o.num_heads = -4; }},
           {"heads.gain", [](Options& o) { o.head_gain = {1.0}; }}})
    CHECK_MESSAGE(option(set).starts_with(name), name);
  CHECK(option([](Options& o) { o.dropout = 1.5; }) ==
        "dropout: the number is out of range: got 1.5; expected a number from 0 to 1");
  CHECK(option([](Options& o) { o.scale = -1.0; }) == "accepted");
  CHECK(refusal([](AttentionInputs& i) {
          i.tensors.valid_lens =
              std::make_shared<const Tensor>(Shape{{"N", 2}}, std::vector<std::int64_t>{3, 7});
        }) == "valid_lens: a length is out of range: got 7 at cell 1; expected 0 to S = 6");
}

TEST_CASE("a mask value that f32 cannot hold is refused there: it would block instead of fill") {
  AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  inputs.options.mask_value = -1e39;
  CHECK_THROWS_AS(check_attention_inputs(inputs), Error);
  inputs.options.mask_value = -1e38;
  check_attention_inputs(inputs);
  CHECK(refusal([](AttentionInputs& i) { i.options.mask_value = -1e39; }) == "accepted");
}

TEST_CASE("scaled dot-product attention takes arrays of heads and masks that broadcast, and nothing else") {
  using T = TraceTensors;
  const auto line = [](const Replaced& array) { return heads_refusal(replacing(array)); };
  CHECK_CONTAINS(line({&T::key, {{"N", 2}, {"G", 3}, {"S", 6}, {"D", 5}}}), "num_kv_heads = 3");
  CHECK(line({&T::key, {{"N", 2}, {"G", 2}, {"S", 6}, {"D", 4}}}).starts_with("key"));
  CHECK(line({&T::out_proj_weight, {{"E", 1}, {"E", 1}}}).starts_with("out_proj.weight"));
  CHECK(
      heads_refusal([](AttentionInputs& i) { i.options.add_zero_attn = true; }).starts_with("add_zero_attn"));
  CHECK(line({&T::attn_mask, {{"H", 4}, {"L", 1}, {"S", 5}}}) == "accepted");
  CHECK(line({&T::attn_mask, {{"H", 3}, {"L", 3}, {"S", 6}}}) ==
        "attn_mask: the shape does not broadcast: got (3,3,6); expected what broadcasts to (N,H,L,S) = "
        "(2,4,3,6)");
  CHECK(line({&T::attn_mask, {{"L", 3}, {"S", 7}}}) != "accepted");
}

TEST_CASE("sizes whose product overflows are refused, not multiplied") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.head_dim = Index{1} << 61;
  CHECK_THROWS_AS(check_attention_inputs(inputs), Error);
}
