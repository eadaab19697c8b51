// The reference where only some tensors are wanted: the same bits, in blocks.
#include "core/reference/reference_parts.h"

#include <doctest/doctest.h>

#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;

namespace {

constexpr Index every_trace = -1, small_block = 100;
constexpr const char* small = R"({"headwise":1,"attention":{"embed_dim":16,"num_heads":4},
  "inputs":{"batch":2,"query_length":9},"mask":{"is_causal":true}})";

AttentionInputs inputs_of(const std::string& json, DType dtype) {
  return make_scenario_inputs(scenario_from_json(json, "test"), dtype).attention;
}

// Each tensor of the whole trace, asked for alone.
void check_each_alone(const AttentionInputs& inputs, Index whole_bytes, Index block_cells) {
  const TracePtr whole = reference_forward(inputs);
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr expected = whole->tensor(entry.id);
    if (entry.role != TensorRole::intermediate) continue;
    CAPTURE(entry.name);
    const TracePtr part = reference_forward_of(inputs, {TensorName{entry.id}}, whole_bytes, block_cells);
    const TensorPtr got = part->tensor(entry.id);
    REQUIRE((got != nullptr) == (expected != nullptr));
    if (expected) CHECK(identical(*got, *expected));
  }
}

}  // namespace

TEST_CASE("each tensor alone, made in blocks, has the bits of the whole trace, whatever the options are") {
  std::vector<test::NamedInputs> all = test::single_option_inputs();
  for (std::uint64_t seed = 0; seed < 40; ++seed) all.push_back(test::random_combination(seed));
  for (const test::NamedInputs& one : all) {
    CAPTURE(one.name);
    for (const Index cells : {Index{1}, small_block}) check_each_alone(one.inputs, every_trace, cells);
  }
}

TEST_CASE("frozen heads keep their weights in blocks too") {
  AttentionInputs frozen = inputs_of(small, DType::f64);
  for (const std::vector<Index>& heads : {std::vector<Index>{2, 0}, {0, 1, 2, 3}}) {
    frozen.options.frozen_heads = heads;
    frozen.options.dropout = 0.5;
    Tensor weights(Shape{{"N", 2}, {"F", static_cast<Index>(heads.size())}, {"L", 9}, {"S", 9}}, DType::f64);
    for (Index i = 0; i < weights.size(); ++i) weights.set_flat(i, static_cast<double>(i % 5) / 8.0);
    frozen.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(weights));
    check_each_alone(frozen, every_trace, small_block);
  }
}

TEST_CASE("a large f32 trace has the bits of the whole one, and the same warnings") {
  const AttentionInputs inputs = inputs_of(
      R"({"headwise":1,"attention":{"embed_dim":32,"num_heads":4},"inputs":{"query_length":1501},"mask":{"is_causal":true,"valid_lens":[0]}})",
      DType::f32);
  REQUIRE(reference_trace_bytes(inputs) > Index{128} << 20);
  const TracePtr whole = reference_forward(inputs);
  for (const TensorId id :
       {TensorId::scores, TensorId::attn_weights, TensorId::output, TensorId::attn_output_weights}) {
    const TracePtr part = reference_forward_of(inputs, {TensorName{id}});
    CAPTURE(tensor_entry(id).name);
    CHECK(identical(*part->tensor(id), *whole->tensor(id)));
    CHECK(part->tensor(TensorId::masked_scores) == nullptr);
    if (id != TensorId::scores) CHECK(part->warnings == whole->warnings);
  }
}

TEST_CASE("what nobody asked for is not there") {
  const AttentionInputs inputs = inputs_of(small, DType::f64);
  const TracePtr part =
      reference_forward_of(inputs, {TensorName{TensorId::head_output}}, every_trace, small_block);
  for (const TensorId id : {TensorId::scores, TensorId::scaled_scores, TensorId::mask_bias,
                            TensorId::masked_scores, TensorId::attn_weights, TensorId::dropped_weights}) {
    CAPTURE(tensor_entry(id).name);
    CHECK(part->tensor(id) == nullptr);
  }
  CHECK(reference_forward_of(inputs, {TensorName{TensorId::q}}, every_trace, small_block)
            ->tensor(TensorId::head_output) == nullptr);
}
