#include "core/attention/steps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace headwise;
using Id = TensorId;

namespace {

TensorPtr some_tensor() {
  return std::make_shared<Tensor>(Shape{{"L", 2}, {"E", 2}}, DType::f32);
}

// A trace with every tensor of packed self-attention; only which of them exist matters here.
Trace self_attention_trace() {
  Trace trace;
  trace.options.num_heads = 4;
  trace.options.num_kv_heads = 2;
  trace.options.head_dim = 3;
  trace.options.v_head_dim = 5;
  TraceTensors& t = trace.tensors;
  t.query = t.key = t.value = some_tensor();
  for (const Id id :
       {Id::in_proj_weight, Id::in_proj_bias, Id::out_proj_weight, Id::out_proj_bias, Id::q, Id::k, Id::v,
        Id::q_heads, Id::k_heads, Id::v_heads, Id::scores, Id::scaled_scores, Id::masked_scores,
        Id::attn_weights, Id::dropped_weights, Id::head_output, Id::concat, Id::output})
    t.*(tensor_entry(id).member) = some_tensor();
  return trace;
}

}  // namespace

TEST_CASE("every step has a name, a question, a formula and a sentence") {
  REQUIRE(step_entries().size() == step_count);
  std::set<std::string_view> names;
  for (const StepEntry& entry : step_entries()) {
    names.insert(entry.name);
    CHECK_FALSE(entry.question.empty());
    CHECK_FALSE(entry.formula.empty());
    CHECK_FALSE(entry.sentence.empty());
    CHECK(entry.question.find('\n') == std::string_view::npos);
  }
  CHECK(names.size() == step_count);
}

TEST_CASE("every step of self-attention has a picture, and every picture's operands exist") {
  const Trace trace = self_attention_trace();
  for (const Step step : shown_steps(trace.options)) {
    CAPTURE(static_cast<int>(step));
    const auto pictures = step_pictures(step, trace);
    REQUIRE_FALSE(pictures.empty());
    for (const StepPicture& picture : pictures) {
      CHECK(trace.tensor(picture.result));
      if (picture.left) CHECK(trace.tensor(*picture.left));
      if (picture.above) CHECK(trace.tensor(*picture.above));
    }
  }
}

TEST_CASE("a step shows what it makes: the first step that makes the result of its main picture is itself") {
  const Trace trace = self_attention_trace();
  for (const Step step : shown_steps(trace.options))
    CHECK(step_of(step_pictures(step, trace).front().result) == step);
}

TEST_CASE(
    "the norm of q and k is a step only where there is one, and stands before the split if it is of whole "
    "rows") {
  AttentionOptions options;
  CHECK(std::ranges::count(shown_steps(options), Step::normalise) == 0);
  CHECK(std::ranges::count(shown_steps(options), Step::gate) == 0);
  CHECK(std::ranges::count(shown_steps(options), Step::past) == 0);
  CHECK(std::ranges::count(shown_steps(options), Step::choose) == 0);
  CHECK(shown_steps(options).size() + 4 == step_entries().size());
  options.qk_norm = QkNorm::per_head;
  const auto place = [&](Step step) { return place_of_step(shown_steps(options), step); };
  CHECK(place(Step::normalise) == place(Step::split_heads) + 1);
  CHECK(step_of(Id::q_rotary, options) == Step::normalise);  // rotated once it is normalised
  options.qk_norm = QkNorm::whole;
  CHECK(place(Step::normalise) + 1 == place(Step::split_heads));
  CHECK(step_of(Id::q_rotary, options) == Step::split_heads);
  CHECK(place(Step::output) == 10);
}

TEST_CASE(
    "the output gate is a step only where there is one, between the heads side by side and the output") {
  AttentionOptions options;
  options.output_gate = true;
  const auto place = [&](Step step) { return place_of_step(shown_steps(options), step); };
  CHECK(place(Step::gate) == place(Step::concat) + 1);
  CHECK(place(Step::output) == place(Step::gate) + 1);
}

TEST_CASE("a past is a step only where there is one, right before the scores") {
  AttentionOptions options;
  options.past_length = 4;
  options.qk_norm = QkNorm::per_head;
  const auto place = [&](Step step) { return place_of_step(shown_steps(options), step); };
  CHECK(place(Step::past) == place(Step::normalise) + 1);
  CHECK(place(Step::scores) == place(Step::past) + 1);
  CHECK(step_of(Id::present_value, options) == Step::past);
}

TEST_CASE("an indexer is a step only where there is one, between the scale and the mask") {
  AttentionOptions options;
  options.indexer = Indexer{2, 4, 3};
  const auto place = [&](Step step) { return place_of_step(shown_steps(options), step); };
  CHECK(place(Step::choose) == place(Step::scale) + 1);
  CHECK(place(Step::mask) == place(Step::choose) + 1);
  CHECK(step_of(Id::indexer_scores, options) == Step::choose);
  CHECK(step_of(Id::full_weights, options) == Step::softmax);
}

TEST_CASE("a sink has two pictures at the softmax, unless no score is read") {
  Trace trace = self_attention_trace();
  trace.tensors.lse = some_tensor();
  CHECK(step_pictures(Step::softmax, trace).size() == 1);
  trace.tensors.sinks = trace.tensors.sink_weights = some_tensor();
  const auto pictures = step_pictures(Step::softmax, trace);
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[1].result == Id::sink_weights);
  CHECK(pictures[1].left == Id::lse);
  CHECK(pictures[2].result == Id::lse);
  CHECK_FALSE(pictures[2].left);
  trace.options.frozen_heads = {0, 1, 2, 3};
  trace.tensors.frozen_weights = some_tensor();
  CHECK(step_pictures(Step::softmax, trace).size() == 1);
}

TEST_CASE("inputs that are the same tensor are shown once") {
  Trace trace = self_attention_trace();
  CHECK(step_pictures(Step::inputs, trace).size() == 1);
  trace.tensors.key = trace.tensors.value = some_tensor();
  CHECK(step_pictures(Step::inputs, trace).size() == 2);
  trace.tensors.value = some_tensor();
  CHECK(step_pictures(Step::inputs, trace).size() == 3);
}

TEST_CASE("the projections take their own rows of in_proj_weight: H·D for q, G·D for k, G·Dv for v") {
  const auto pictures = step_pictures(Step::project, self_attention_trace());
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[0].above == Id::in_proj_weight);
  CHECK(pictures[0].above_transposed);
  CHECK(pictures[0].above_row_begin == 0);
  CHECK(pictures[0].above_row_end == 12);
  CHECK(pictures[1].above_row_begin == 12);
  CHECK(pictures[1].above_row_end == 18);
  CHECK(pictures[2].above_row_begin == 18);
  CHECK(pictures[2].above_row_end == 28);
}

TEST_CASE("separate projections and static keys are shown with what they are made from") {
  Trace trace = self_attention_trace();
  trace.tensors.in_proj_weight = nullptr;
  trace.tensors.q_proj_weight = trace.tensors.v_proj_weight = trace.tensors.static_k = some_tensor();
  const auto pictures = step_pictures(Step::project, trace);
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[0].above == Id::q_proj_weight);
  CHECK(pictures[0].above_row_end == 0);
  CHECK(pictures[1].left == Id::static_k);
  CHECK_FALSE(pictures[1].above);
  CHECK_FALSE(pictures[1].above_transposed);
  CHECK(pictures[2].above == Id::v_proj_weight);
}

TEST_CASE(
    "the scores stand between q_heads and the transposed k_heads, the weighted sum between weights and "
    "values") {
  const Trace trace = self_attention_trace();
  const StepPicture scores = step_pictures(Step::scores, trace).front();
  CHECK(scores.left == Id::q_heads);
  CHECK(scores.above == Id::k_heads);
  CHECK(scores.above_transposed);
  const StepPicture sum = step_pictures(Step::weighted_sum, trace).front();
  CHECK(sum.left == Id::attn_weights);  // one array with dropped_weights, without dropout
  CHECK(sum.above == Id::v_heads);
  CHECK_FALSE(sum.above_transposed);
}

TEST_CASE(
    "scaled_dot_product_attention by itself has no projection, split or concat, and starts from the heads") {
  Trace trace = self_attention_trace();
  trace.options.op = Op::scaled_dot_product_attention;
  for (const Id id : {Id::query, Id::key, Id::value, Id::q, Id::k, Id::v, Id::concat, Id::out_proj_weight,
                      Id::out_proj_bias, Id::in_proj_weight, Id::in_proj_bias})
    trace.tensors.*(tensor_entry(id).member) = nullptr;
  CHECK(step_pictures(Step::inputs, trace).size() == 3);
  CHECK(step_pictures(Step::project, trace).empty());
  CHECK(step_pictures(Step::split_heads, trace).empty());
  CHECK(step_pictures(Step::concat, trace).empty());
  CHECK(step_pictures(Step::output, trace).front().left == Id::head_output);
}
