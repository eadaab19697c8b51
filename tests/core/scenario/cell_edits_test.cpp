#include <cmath>

#include "core/attention/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Scenario small(std::vector<CellEdit> edits) {
  Scenario scenario;
  scenario.attention.embed_dim = 8;
  scenario.attention.num_heads = 2;
  scenario.inputs.query_length = 3;
  scenario.edits = std::move(edits);
  return scenario;
}

TraceTensors tensors(const Scenario& scenario) {
  return make_scenario_inputs(scenario, DType::f64).attention.tensors;
}

void check_refused(const Scenario& scenario, const char* word) {
  const std::string line =
      test::refused_with([&] { make_scenario_inputs(scenario, DType::f32); }, {word}, ExitStatus::usage);
  CHECK(line.starts_with("edits[0]"));
}

}  // namespace

TEST_CASE("an edit changes its cell, the last one of a cell counts, and nothing else moves") {
  const TraceTensors plain = tensors(small({}));
  const TraceTensors edited =
      tensors(small({{"query", {0, 1, 2}, 5.0}, {"out_proj.weight", {7, 7}, -1.0}, {"query", {0, 1, 2}, 6.0}}));
  CHECK(edited.query->at({0, 1, 2}) == 6.0);
  CHECK(edited.out_proj_weight->at({7, 7}) == -1.0);
  Index changed = 0;
  for (Index i = 0; i < plain.query->size(); ++i) changed += plain.query->flat(i) != edited.query->flat(i);
  CHECK(changed == 1);
  CHECK(edited.key == edited.query);  // self-attention stays self-attention
}

TEST_CASE("an edited tensor is shared while its edits stay, and the unedited one is not made again") {
  const Scenario one = small({{"query", {0, 1, 2}, 5.0}});
  const ScenarioInputs first = make_scenario_inputs(one, DType::f32);
  const ScenarioInputs same = make_scenario_inputs(one, DType::f32, {}, &first);
  CHECK(same.attention.tensors.query == first.attention.tensors.query);
  Scenario two = one;
  two.edits.push_back({"query", {0, 0, 0}, 1.0});
  const ScenarioInputs next = make_scenario_inputs(two, DType::f32, {}, &first);
  CHECK(next.attention.tensors.query != first.attention.tensors.query);
  CHECK(next.made.at("query").tensor == first.made.at("query").tensor);
  CHECK(next.attention.tensors.in_proj_weight == first.attention.tensors.in_proj_weight);
}

TEST_CASE("an edit of the packed matrix and of one of the three outlives a change of layout") {
  Scenario scenario = small({{"in_proj_weight", {8 + 3, 5}, 9.0}, {"v_proj_weight", {1, 2}, 4.0}});
  CHECK(tensors(scenario).in_proj_weight->at({11, 5}) == 9.0);
  CHECK(tensors(scenario).in_proj_weight->at({17, 2}) == 4.0);
  scenario.parameters.layout = ProjectionLayout::separate;
  CHECK(tensors(scenario).k_proj_weight->at({3, 5}) == 9.0);
  CHECK(tensors(scenario).v_proj_weight->at({1, 2}) == 4.0);
}

TEST_CASE("painting begins a mask that blocks nothing else, in the convention of the operator") {
  const TraceTensors painted = tensors(small({{"attn_mask", {0, 2}, 1.0}, {"key_padding_mask", {0, 1}, 1.0}}));
  REQUIRE(painted.attn_mask != nullptr);
  CHECK(painted.attn_mask->dtype() == DType::boolean);
  CHECK(painted.attn_mask->shape().sizes_text() == "(3,3)");
  CHECK(painted.attn_mask->at({0, 2}) == 1.0);
  CHECK(painted.attn_mask->at({0, 1}) == 0.0);
  CHECK(painted.key_padding_mask->shape().sizes_text() == "(1,3)");
  CHECK(tensors(small({{"attn_mask", {1, 0, 2}, 1.0}})).attn_mask->shape().sizes_text() == "(2,3,3)");

  Scenario sdpa = small({{"attn_mask", {0, 2}, 0.0}});
  sdpa.op = Op::scaled_dot_product_attention;
  CHECK(tensors(sdpa).attn_mask->at({0, 1}) == 1.0);  // True takes part
  sdpa.edits = {{"attn_mask", {0, 1, 0, 2}, 0.0}};
  CHECK(tensors(sdpa).attn_mask->shape().sizes_text() == "(1,2,3,3)");
  const TracePtr trace = reference_forward(make_scenario_inputs(sdpa, DType::f64).attention);
  CHECK(trace->tensors.attn_weights->at({0, 1, 0, 2}) == 0.0);
  CHECK(trace->tensors.attn_weights->at({0, 0, 0, 2}) > 0.0);
}

TEST_CASE("in scaled_dot_product_attention the inputs go by the names of the trace too") {
  Scenario sdpa = small({{"q_heads", {0, 1, 2, 3}, 7.0}, {"value", {0, 0, 0, 0}, 8.0}});
  sdpa.op = Op::scaled_dot_product_attention;
  CHECK(tensors(sdpa).query->at({0, 1, 2, 3}) == 7.0);
  CHECK(tensors(sdpa).value->at({0, 0, 0, 0}) == 8.0);
}

TEST_CASE("numbers that JSON has no literal for can be painted") {
  const TraceTensors edited =
      tensors(small({{"query", {0, 0, 0}, -infinity}, {"query", {0, 0, 1}, std::nan("")}}));
  CHECK(edited.query->at({0, 0, 0}) == -infinity);
  CHECK(std::isnan(edited.query->at({0, 0, 1})));
}

TEST_CASE("edits that cannot be are refused, the edit named") {
  check_refused(small({{"scores", {0, 0, 0, 0}, 1.0}}), "computed");
  check_refused(small({{"grad.query", {0, 0, 0}, 1.0}}), "computed");
  check_refused(small({{"q_heads", {0, 0, 0, 0}, 1.0}}), "computed");
  check_refused(small({{"qeury", {0, 0, 0}, 1.0}}), "did you mean \"query\"?");
  check_refused(small({{"query", {0, 3, 0}, 1.0}}), "(N=1, L=3, E=8)");
  check_refused(small({{"query", {0, 0}, 1.0}}), "out of range");
  check_refused(small({{"query", {-1, 0, 0}, 1.0}}), "out of range");
  check_refused(small({{"query", {}, 1.0}}), "out of range");
  check_refused(small({{"query", {0, 0, 0}, 1e300}}), "beyond f32");
  check_refused(small({{"key", {0, 0, 0}, 1.0}}), "edit query");
  check_refused(small({{"bias_k", {0}, 1.0}}), "no such tensor");
  check_refused(small({{"valid_lens", {0}, 1.0}}), "no such tensor");
  check_refused(small({{"heads.gain", {0}, 1.0}}), "set heads.gain");
  check_refused(small({{"attn_mask", {0, 0}, 0.5}}), "boolean");
  check_refused(small({{"attn_mask", {0}, 1.0}}), "out of range");
  check_refused(small({{"attn_mask", {0, 0, 0, 0}, 1.0}}), "out of range");
  check_refused(small({{"in_proj_weight", {24, 0}, 1.0}}), "out of range");
  Scenario lens = small({{"valid_lens", {0}, 1.5}});
  lens.mask.valid_lens = std::vector<std::vector<std::int64_t>>{{3}};
  check_refused(lens, "lengths");
  Scenario cross = small({{"value", {0, 0, 0}, 1.0}});
  cross.inputs.self_attention = false;
  check_refused(cross, "edit key");
}
