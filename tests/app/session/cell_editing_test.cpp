// Numbers set by hand and masks painted: which edits they become, and what the trace makes of them.
#include <doctest/doctest.h>

#include <cmath>

#include "app/session/cell_editing.h"
#include "tests/app/stage/stage_trace.h"

using namespace headwise;

namespace {

TracedScenario traced_again(const Scenario& scenario) {
  TracedScenario result;
  result.scenario = scenario;
  result.inputs = make_scenario_inputs(scenario, DType::f32);
  result.trace = reference_forward(result.inputs.attention);
  return result;
}

bool blocked(const Trace& trace, Index head, Index query, Index key) {
  return trace.tensors.mask_bias && trace.tensors.mask_bias->at({0, head, query, key}) == -INFINITY;
}

}  // namespace

TEST_CASE("inputs, parameters and masks can be set by hand, what is computed cannot") {
  const TracedScenario given = traced();
  CHECK(is_editable(*given.trace, {{TensorId::query}, {0, 1, 2}}));
  CHECK(is_editable(*given.trace, {{TensorId::in_proj_weight}, {3, 2}}));
  CHECK_FALSE(is_editable(*given.trace, {{TensorId::scores}, {0, 1, 2, 3}}));
  CHECK_FALSE(is_editable(*given.trace, {{TensorId::query, true}, {0, 1, 2}}));
  CHECK_FALSE(is_editable(*given.trace, {{TensorId::attn_mask}, {0, 1}}));  // there is none
  const TracedScenario sdpa = traced({"op=scaled_dot_product_attention"});
  CHECK(is_editable(*sdpa.trace, {{TensorId::q_heads}, {0, 0, 0, 0}}));
}

TEST_CASE("a cell that is set is that number in the next trace, and is set again by the same edit") {
  const TracedScenario given = traced();
  Scenario edited = with_cell(given.scenario, {{TensorId::in_proj_weight}, {3, 2}}, 7.5);
  edited = with_cell(edited, {{TensorId::in_proj_weight}, {3, 2}}, -2.25);
  CHECK(edited.edits.size() == 1);
  CHECK(traced_again(edited).trace->tensors.in_proj_weight->at({3, 2}) == -2.25);
}

TEST_CASE("painting begins a mask that blocks the painted pair, in either sense of True") {
  for (const char* op : {"op=multi_head_attention", "op=scaled_dot_product_attention"}) {
    const TracedScenario given = traced({op});
    CHECK_FALSE(is_painted(*given.trace, 0, 1, 2, 3));
    const Scenario painted = with_painted(given.scenario, *given.trace, 0, 1, 2, 3, BrushShape::pair, true);
    const TracedScenario after = traced_again(painted);
    CHECK(blocked(*after.trace, 1, 2, 3));
    CHECK_FALSE(blocked(*after.trace, 1, 2, 2));
    CHECK(is_painted(*after.trace, 0, 1, 2, 3));
    const TracedScenario freed =
        traced_again(with_painted(painted, *after.trace, 0, 1, 2, 3, BrushShape::pair, false));
    CHECK_FALSE(blocked(*freed.trace, 1, 2, 3));
  }
}

TEST_CASE("a brush can be a whole row or a whole column, and appended columns stay free") {
  const TracedScenario given = traced({"attention.add_zero_attn=true"});
  const TracedScenario row =
      traced_again(with_painted(given.scenario, *given.trace, 0, 0, 1, 2, BrushShape::row, true));
  const TracedScenario column =
      traced_again(with_painted(given.scenario, *given.trace, 0, 0, 1, 2, BrushShape::column, true));
  for (Index i = 0; i < 4; ++i) {
    CHECK(blocked(*row.trace, 0, 1, i));
    CHECK(blocked(*column.trace, 0, i, 2));
  }
  CHECK_FALSE(blocked(*row.trace, 0, 0, 2));
  CHECK_FALSE(blocked(*row.trace, 0, 1, 4));
  const Scenario beyond = with_painted(given.scenario, *given.trace, 0, 0, 1, 4, BrushShape::pair, true);
  CHECK(beyond == given.scenario);
}
