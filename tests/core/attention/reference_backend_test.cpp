#include "core/attention/reference_backend.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "core/attention/reference_parts.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"
#include "tests/core/attention/golden_cases.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

TensorPtr bools(Shape shape, std::vector<std::uint8_t> values) {
  return std::make_shared<const Tensor>(std::move(shape), std::move(values));
}

bool mentions(const std::vector<std::string>& warnings, const std::string& text) {
  for (const std::string& warning : warnings)
    if (warning.find(text) != std::string::npos) return true;
  return false;
}

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

// Large enough that every stage is shared between threads, and of sizes that fill no tile.
AttentionInputs large_inputs(DType dtype) {
  AttentionInputs inputs = random_inputs(small_options(6, 3, 35), {2, 131, 275}, dtype);
  inputs.options.is_causal = true;
  inputs.options.dropout = 0.1;
  return inputs;
}

// alike(one, other) holds for every pair of tensors, and both traces have the same ones.
template <class Alike>
void check_tensors(const Trace& a, const Trace& b, Alike&& alike) {
  for (const bool gradient : {false, true})
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorPtr one = a.tensor({entry.id, gradient}), other = b.tensor({entry.id, gradient});
      REQUIRE(!one == !other);
      CAPTURE(entry.name);
      CAPTURE(gradient);
      if (one) CHECK(alike(*one, *other));
    }
}

void check_same_bits(const Trace& a, const Trace& b) {
  check_tensors(a, b, identical);
}

// NaN and infinities equal themselves.
Index cells_apart(const Tensor& a, const Tensor& b) {
  double largest = 0.0;
  for (Index i = 0; i < a.size(); ++i)
    if (std::isfinite(a.flat(i))) largest = std::max(largest, std::abs(a.flat(i)));
  Index count = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.flat(i), y = b.flat(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    double allowed = 1e-12 * largest;
    if (a.dtype() == DType::f32) {
      const auto narrow = static_cast<float>(std::max(std::abs(x), std::abs(y)));
      allowed += static_cast<double>(std::nextafter(narrow, INFINITY)) - static_cast<double>(narrow);
    }
    count += !(std::abs(x - y) <= allowed);
  }
  return count;
}

void check_close(const Trace& a, const Trace& b) {
  check_tensors(a, b, [](const Tensor& one, const Tensor& other) { return cells_apart(one, other) == 0; });
}

// The loss is no sum: that of a LayerNorm's numbers has no gradient but rounding.
TracePtr both_passes(const AttentionInputs& inputs) {
  const TracePtr forward = reference_forward(inputs);
  const Tensor& output = *forward->tensors.output;
  return reference_backward(*forward, random_tensor(output.shape(), "grad_output", output.dtype()));
}

}  // namespace

TEST_CASE("every tensor of a trace has the axes that its name declares") {
  AttentionInputs inputs = random_inputs(small_options(4, 2));
  inputs.options.is_causal = inputs.options.residual = inputs.options.layer_norm = true;
  inputs.options.add_zero_attn = true;
  const TracePtr trace = reference_forward(inputs);
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace->tensor(entry.id);
    if (tensor) CHECK_MESSAGE(tensor->shape().letters() == entry.shape, entry.name);
  }
}

TEST_CASE("the key axis is S′ only where columns are appended") {
  AttentionInputs inputs = random_inputs(small_options());
  CHECK(reference_forward(inputs)->tensors.scores->shape() == Shape{{"N", 2}, {"H", 4}, {"L", 4}, {"S", 6}});
  CHECK(reference_forward(inputs)->tensors.k->shape() == Shape{{"N", 2}, {"S", 6}, {"G·D", 12}});
  inputs.options.add_zero_attn = true;
  CHECK(reference_forward(inputs)->tensors.scores->shape() == Shape{{"N", 2}, {"H", 4}, {"L", 4}, {"S′", 7}});
  CHECK(reference_forward(inputs)->tensors.v->shape() == Shape{{"N", 2}, {"S′", 7}, {"G·Dv", 12}});
}

TEST_CASE("scaled dot-product attention keeps its arrays as heads, and takes its sizes from them") {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.dtype = DType::f64;
  inputs.tensors.query = random_tensor({{"N", 1}, {"H", 6}, {"L", 2}, {"D", 3}}, "query");
  inputs.tensors.key = random_tensor({{"N", 1}, {"G", 2}, {"S", 4}, {"D", 3}}, "key");
  inputs.tensors.value = random_tensor({{"N", 1}, {"G", 2}, {"S", 4}, {"Dv", 5}}, "value");
  const TracePtr trace = reference_forward(inputs);
  CHECK(trace->tensors.q_heads == inputs.tensors.query);
  CHECK(trace->tensors.v_heads == inputs.tensors.value);
  for (const TensorPtr& absent : {trace->tensors.query, trace->tensors.key, trace->tensors.q,
                                  trace->tensors.concat, trace->tensors.attn_output_weights})
    CHECK_FALSE(absent);
  CHECK(trace->tensors.output->shape() == Shape{{"N", 1}, {"H", 6}, {"L", 2}, {"Dv", 5}});
  CHECK(trace->options.num_heads == 6);
  CHECK(trace->options.num_kv_heads == 2);
  CHECK(trace->options.head_dim == 3);
  CHECK(trace->options.v_head_dim == 5);
}

TEST_CASE("where a stage changes nothing, both names hold the same tensor") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.average_attn_weights = false;
  const TracePtr trace = reference_forward(inputs);
  CHECK_FALSE(trace->tensors.mask_bias);
  CHECK(trace->tensors.masked_scores == trace->tensors.scaled_scores);
  CHECK(trace->tensors.dropped_weights == trace->tensors.attn_weights);
  CHECK(trace->tensors.attn_output_weights == trace->tensors.attn_weights);
}

TEST_CASE("the bytes of a trace are those of the tensors that it made") {
  for (const GoldenCase& golden : golden_cases()) {
    const TracePtr trace = reference_forward(golden.inputs);
    Index bytes = 0;
    for (const TensorId id : trace->computed) bytes += static_cast<Index>(trace->tensor(id)->bytes());
    CHECK_MESSAGE(bytes == reference_trace_bytes(golden.inputs), golden.name);
  }
}

TEST_CASE("a trace that would not fit is refused before it is begun") {
  AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  const Index length = 1000000;  // 16 TB of scores
  inputs.tensors.query = inputs.tensors.key = inputs.tensors.value =
      zeros({{"N", 1}, {"L", length}, {"E", 12}}, DType::f32);
  refused_with([&] { reference_forward(inputs); }, {}, ExitStatus::memory);
}

TEST_CASE("every fully masked row is named by batch, head and query") {
  AttentionInputs inputs = random_inputs(small_options(), {2, 5, 2});
  std::vector<std::uint8_t> mask(8 * 5 * 2, 0);
  const auto block = [&](Index n, Index h, Index l) {
    for (Index s = 0; s < 2; ++s) mask[static_cast<std::size_t>(((n * 4 + h) * 5 + l) * 2 + s)] = 1;
  };
  for (Index h = 0; h < 4; ++h) block(0, h, 3);
  block(1, 2, 0);
  block(1, 2, 2);
  block(1, 2, 3);
  inputs.tensors.attn_mask = bools({{"N·H", 8}, {"L", 5}, {"S", 2}}, mask);
  const TracePtr trace = reference_forward(inputs);
  REQUIRE(trace->warnings.size() == 2);
  CHECK(mentions(trace->warnings, "batch 0, every head, query 3: every key is blocked; the row becomes NaN"));
  CHECK(mentions(trace->warnings, "batch 1, head 2, queries 0, 2–3:"));
  CHECK(reference_forward(inputs, trace.get())->warnings == trace->warnings);
  inputs.options.fully_masked_rows = FullyMaskedRows::zero;
  CHECK(mentions(reference_forward(inputs)->warnings, "the row becomes 0"));
  inputs.options.mask_value = -1e9;
  CHECK(reference_forward(inputs)->warnings.empty());
}

TEST_CASE("batches that agree are named together, and a flood of fully masked rows is counted") {
  AttentionInputs inputs = random_inputs(small_options(), {200, 2, 2});
  std::vector<std::uint8_t> mask(200 * 4 * 2 * 2, 0);
  const auto block = [&](Index n, Index h, Index l) {
    for (Index s = 0; s < 2; ++s) mask[static_cast<std::size_t>(((n * 4 + h) * 2 + l) * 2 + s)] = 1;
  };
  for (Index n = 10; n < 20; ++n) block(n, 1, 0);
  inputs.tensors.attn_mask = bools({{"N·H", 800}, {"L", 2}, {"S", 2}}, mask);
  const TracePtr alike = reference_forward(inputs);
  REQUIRE(alike->warnings.size() == 1);
  CHECK(mentions(alike->warnings, "batches 10–19, head 1, query 0:"));
  for (Index n = 0; n < 200; ++n) {
    for (Index h = 0; h < 4; ++h)
      if ((n * 7 + h * h + n * n / 3) % 3 != 0) block(n, h, (n * h / 5) % 2);
  }
  inputs.tensors.attn_mask = bools({{"N·H", 800}, {"L", 2}, {"S", 2}}, mask);
  const TracePtr trace = reference_forward(inputs);
  CHECK(trace->warnings.size() <= 33);
  std::size_t bytes = 0;
  for (const std::string& warning : trace->warnings) bytes += warning.size();
  CHECK(bytes < 20000);
}

TEST_CASE("inputs that are not finite are named by index; a mask's -inf is no surprise") {
  AttentionInputs inputs = random_inputs(small_options());
  Tensor value = *inputs.tensors.value;
  value.set_flat(value.shape().offset(std::vector<Index>{1, 5, 3}), -std::numeric_limits<double>::infinity());
  inputs.tensors.value = std::make_shared<const Tensor>(value);
  Tensor mask(Shape{{"L", 4}, {"S", 6}}, DType::f64);
  mask.set_flat(0, -std::numeric_limits<double>::infinity());
  mask.set_flat(9, std::nan(""));
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(mask);
  const TracePtr trace = reference_forward(inputs);
  REQUIRE(trace->warnings.size() == 2);
  CHECK(mentions(trace->warnings, "value[1,5,3] is -inf"));
  CHECK(mentions(trace->warnings, "attn_mask[1,3] is nan"));
  CHECK(reference_forward(random_inputs(small_options()))->warnings.empty());
}

TEST_CASE(
    "numbers that become infinite, or 0 / 0, are told by the first tensor that has them, with a remedy") {
  const auto warnings_of = [](DType dtype, auto&& change) {
    AttentionOptions options = small_options(4, 4, 2);
    change(options);
    return reference_forward(random_inputs(options, {}, dtype))->warnings;
  };
  const auto told = [&](const std::string& begin, const std::string& end, DType dtype, auto&& change) {
    const std::vector<std::string> warnings = warnings_of(dtype, change);
    REQUIRE(warnings.size() == 1);
    CHECK_CONTAINS(warnings[0], begin);
    CHECK_CONTAINS(warnings[0], ", although all that is given is finite: " + end);
  };
  const auto rotated = [](AttentionOptions& o) {
    o.rotary_base = 100.0;
    o.rotary_factor = 1e308;
  };
  told("q_rotary[0,",
       "a number is beyond f32: compute in f64 (--dtype f64), or choose a smaller attention.rot", DType::f32,
       rotated);
  told("_rotary[0,", "a number is beyond f64: choose a smaller attention.rotary_factor", DType::f64, rotated);
  told("scaled_scores[0,", "a number is beyond f64: choose a smaller attention.scale", DType::f64,
       [](AttentionOptions& o) { o.scale = 1.7e308; });
  const auto of_one_column = [](AttentionOptions& o) {
    o.head_dim = 1;
    o.qk_norm = QkNorm::per_head;
    o.qk_norm_kind = NormKind::layer;
    o.qk_norm_epsilon = 0.0;
  };
  for (const DType dtype : {DType::f32, DType::f64})
    told("q_normed[0,0,0,0] is nan", "a row is divided by 0: set attention.qk_norm_epsilon above 0", dtype,
         of_one_column);
  CHECK(warnings_of(DType::f32, [&](AttentionOptions& o) {
          of_one_column(o);
          o.qk_norm_epsilon = 1e-6;
        }).empty());
}

TEST_CASE("a row whose scores all became -inf is not said to be blocked") {
  AttentionInputs inputs = random_inputs(small_options(1, 1, 3), {1, 1, 1}, DType::f64);
  const double score = reference_forward(inputs)->tensors.scores->flat(0);
  inputs.options.scale = std::copysign(1.7e308, -score);
  if (std::abs(score) < 1.0) inputs.options.temperature = 1e-10;
  const std::vector<std::string> warnings = reference_forward(inputs)->warnings;
  REQUIRE(warnings.size() == 1);
  CHECK_CONTAINS(warnings[0], "scaled_scores[0,0,0,0] is -inf, although all that is given is finite");
}

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

TEST_CASE("the reference gives equal bits for one, two and five threads") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const AttentionInputs inputs = large_inputs(dtype);
    const auto on_threads = [&](int threads) {
      const ThreadLimit limit(threads);
      return both_passes(inputs);
    };
    const TracePtr one = on_threads(1);
    for (const int threads : {2, 5}) check_same_bits(*one, *on_threads(threads));
  }
}

TEST_CASE(
    "instruction sets differ by 1e-12 of the largest number in f64, by one unit in the last place in f32") {
  std::vector<NamedInputs> cases = single_option_inputs();
  cases.push_back({"large, f32", large_inputs(DType::f32)});
  cases.push_back({"large, f64", large_inputs(DType::f64)});
  for (const auto& [name, inputs] : cases) {
    CAPTURE(name);
    const auto on = [&](InstructionSet set) {
      const InstructionSetScope scope(set);
      return both_passes(inputs);
    };
    const TracePtr plain = on(InstructionSet::plain);
    for (const InstructionSet set : instruction_sets())
      if (machine_runs(set)) check_close(*plain, *on(set));
  }
}

TEST_CASE("a product under way notices that it is not wanted any more") {
  const AttentionInputs inputs = large_inputs(DType::f64);
  std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    CHECK_THROWS_AS(reference_forward(inputs), Error);
  }
}
