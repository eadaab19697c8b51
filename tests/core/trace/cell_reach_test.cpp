#include "core/trace/cell_reach.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/trace/grad_output.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/trace/option_combinations.h"
#include "tests/core/trace/provenance_checks.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

const BoxRef* box_of_tensor(const std::vector<BoxRef>& boxes, Id id) {
  const auto box = std::ranges::find(boxes, TensorName{id}, &BoxRef::tensor);
  return box == boxes.end() ? nullptr : &*box;
}

}  // namespace

TEST_CASE("the reach of a cell is exactly what following its sources and consumers cell by cell finds") {
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    const TracePtr trace = reference_forward(named.inputs);
    CHECK(first_wrong_reach(*trace, pairs_from_sources(*trace), 7) == "");
  }
}

TEST_CASE("the reach of a cell is exact with options drawn together") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(seed);
    const TracePtr trace = reference_forward(named.inputs);
    CHECK(first_wrong_reach(*trace, pairs_from_sources(*trace), 11) == "");
  }
}

TEST_CASE("the reach of a gradient is exact, back into the values and on to the inputs' gradients") {
  for (std::uint64_t seed = 200; seed < 206; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(seed);
    const TracePtr forward = reference_forward(named.inputs);
    const TensorPtr last = forward->tensor(last_output(forward->tensors));
    const TracePtr trace = reference_backward(*forward, random_tensor(last->shape(), "grad_output"));
    CHECK(first_wrong_reach(*trace, pairs_from_sources(*trace), 53) == "");
  }
}

TEST_CASE("a score reaches back to two rows of the input and forward to one row of the output") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  const CellReach reach = cell_reach(*trace, {Id::scores}, {0, 1, 2, 1});
  const BoxRef* output = box_of_tensor(reach.forward, Id::output);
  REQUIRE(output);
  CHECK(output->begin == std::vector<Index>{0, 2, 0});
  CHECK(output->end == std::vector<Index>{1, 3, trace->tensors.output->shape().size(2)});
  CHECK(box_of_tensor(reach.back, Id::output) == nullptr);
  CHECK(box_of_tensor(reach.back, Id::v) == nullptr);
  const Index width = trace->tensors.query->shape().size(2);
  const TensorName key = first_name(*trace, {Id::key});
  CHECK(cells_covered(reach.back, {Id::query}) + (key.id == Id::query ? 0 : cells_covered(reach.back, key)) ==
        2 * width);
}

TEST_CASE("boxes that touch become one, and what lies inside of another is no more") {
  std::vector<BoxRef> boxes;
  CHECK(add_box(boxes, {{Id::q}, {0, 0}, {2, 3}}));
  CHECK_FALSE(add_box(boxes, {{Id::q}, {1, 1}, {2, 2}}));
  CHECK(add_box(boxes, {{Id::q}, {0, 3}, {2, 5}}));
  CHECK(boxes == std::vector<BoxRef>{{{Id::q}, {0, 0}, {2, 5}}});
  CHECK(add_box(boxes, {{Id::q}, {1, 4}, {3, 6}}));
  CHECK(boxes.size() == 2);
  CHECK(cells_covered(boxes, {Id::q}) == 10 + 4 - 1);
  CHECK(cells_covered(boxes, {Id::k}) == 0);
}

TEST_CASE("the reach is boxes, however large the tensors are") {
  AttentionInputs inputs = single_option_inputs().front().inputs;
  const TracePtr trace = reference_forward(inputs);
  for (const Id id : {Id::q, Id::k, Id::v, Id::in_proj_weight, Id::output, Id::attn_weights}) {
    const TensorPtr tensor = trace->tensor(id);
    if (!tensor) continue;
    const CellReach reach =
        cell_reach(*trace, {id}, std::vector<Index>(static_cast<std::size_t>(tensor->shape().rank()), 0));
    CHECK(reach.back.size() + reach.forward.size() < 80);
  }
}

TEST_CASE("a cell that is not there has no reach, and says so") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  CHECK_THROWS_AS(cell_reach(*trace, {Id::scores}, {0, 99, 0, 0}), Error);
  CHECK_THROWS_AS(cell_reach(*trace, {Id::scores, true}, {0, 0, 0, 0}), Error);
}
