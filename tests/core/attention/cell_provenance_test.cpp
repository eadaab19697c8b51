#include "core/attention/cell_provenance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "core/attention/cell_reach.h"
#include "core/attention/grad_output.h"
#include "core/attention/reference_backend.h"
#include "core/attention/steps.h"
#include "core/tensor/error.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/provenance_checks.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

const BoxRef* box_of_tensor(const std::vector<BoxRef>& boxes, Id id) {
  const auto box = std::ranges::find(boxes, TensorName{id}, &BoxRef::tensor);
  return box == boxes.end() ? nullptr : &*box;
}

}  // namespace

TEST_CASE("every cell of every tensor is the number that its provenance makes, option by option") {
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    CHECK(first_unexplained(*reference_forward(named.inputs)) == "");
  }
}

TEST_CASE("every cell of every tensor is the number that its provenance makes, options drawn together") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(seed);
    CAPTURE(named.name);
    CHECK(first_unexplained(*reference_forward(named.inputs)) == "");
  }
}

TEST_CASE("sources are boxes that hold the cells of the terms, all of them and no others") {
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    CHECK(first_wrong_box(*reference_forward(named.inputs)) == "");
  }
}

TEST_CASE("the consumers of a cell are exactly the cells that name it as a source") {
  std::vector<NamedInputs> all = single_option_inputs();
  for (std::uint64_t seed = 100; seed < 110; ++seed) all.push_back(random_combination(seed));
  for (const NamedInputs& named : all) {
    CAPTURE(named.name);
    const TracePtr trace = reference_forward(named.inputs);
    const Pairs forwards = pairs_from_sources(*trace);
    const Pairs backwards = pairs_from_consumers(*trace);
    CHECK(forwards.size() > 100);
    CHECK((forwards == backwards));
  }
}

TEST_CASE("a rule with two axes swapped is caught") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  int tried = 0;
  for (const TensorName tensor : tensors_of(*trace)) {
    const Rule right = declared_rule(*trace, tensor);
    for (std::size_t p = 0; p < right.products.size(); ++p) {
      for (std::size_t f = 0; f < right.products[p].factors.size(); ++f) {
        const std::size_t rank = right.products[p].factors[f].axes.size();
        for (std::size_t axis = 1; axis < rank; ++axis) {
          Rule wrong = right;
          auto& axes = wrong.products[p].factors[f].axes;
          std::swap(axes[axis - 1], axes[axis]);
          CAPTURE(to_string(right.result));
          CAPTURE(axis);
          CHECK(is_caught(*trace, wrong));
          ++tried;
        }
      }
    }
  }
  CHECK(tried > 30);
}

TEST_CASE("a rule that forgets a product, or sums one index too few, is caught") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  for (const TensorName tensor : tensors_of(*trace)) {
    const Rule right = declared_rule(*trace, tensor);
    for (std::size_t p = 0; p < right.products.size(); ++p) {
      CAPTURE(to_string(right.result));
      for (std::size_t sum = 0; sum < right.products[p].sums.size(); ++sum) {
        Rule wrong = right;
        --wrong.products[p].sums[sum].size;
        CHECK(is_caught(*trace, wrong));
      }
      if (right.products.size() == 1) continue;
      Rule wrong = right;
      wrong.products.erase(wrong.products.begin() + static_cast<std::ptrdiff_t>(p));
      CHECK(is_caught(*trace, wrong));
    }
  }
}

TEST_CASE("tiling the key/value heads instead of repeating each of them is caught") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  Rule wrong = declared_rule(*trace, {Id::scores});
  REQUIRE(wrong.products[0].factors[1].axes[1] == axis_group(1, 2));
  wrong.products[0].factors[1].axes[1] = axis_within(1, 2);  // h % 2 for h // 2
  CHECK(is_caught(*trace, wrong));
}

TEST_CASE("a softmax over queries instead of keys is caught") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  Rule wrong = declared_rule(*trace, {Id::attn_weights});
  wrong.products[0].factors[0].axes[2] = axis_of(4);
  wrong.products[0].factors[0].axes[3] = axis_of(3);
  wrong.products[0].sums[0].size = wrong.sizes[2];
  CHECK(is_caught(*trace, wrong));
}

TEST_CASE("a changed number in the trace no longer agrees with its provenance") {
  Trace trace = *reference_forward(single_option_inputs().front().inputs);
  for (const Id id : {Id::q, Id::k_heads, Id::scores, Id::attn_weights, Id::concat, Id::output}) {
    Trace changed = trace;
    Tensor tensor = *trace.tensor(id);
    tensor.set_flat(tensor.size() - 1, tensor.flat(tensor.size() - 1) + 1e-9);
    changed.tensors.*(tensor_entry(id).member) = std::make_shared<const Tensor>(std::move(tensor));
    CHECK(first_unexplained(changed) != "");
  }
}

TEST_CASE("the operands that a step shows are those that the rule of its result reads") {
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    const TracePtr trace = reference_forward(named.inputs);
    for (const StepEntry& entry : step_entries()) {
      for (const StepPicture& picture : step_pictures(entry.step, *trace)) {
        CAPTURE(to_string({picture.result}));
        const std::vector<TensorName> sources = rule_sources(declared_rule(*trace, {picture.result}));
        // A tensor that another name holds too is shown under either: without dropout,
        // attn_weights is dropped_weights.
        const auto reads = [&](Id id) {
          return std::ranges::any_of(
              sources, [&](TensorName source) { return trace->tensor(source) == trace->tensor(id); });
        };
        CHECK((!picture.left || reads(*picture.left)));
        CHECK((!picture.above || reads(*picture.above)));
        // The numbers of all heads' rows in one map have no single map before them.
        const bool of_all_heads = picture.result == Id::lse;
        CHECK((picture.left || sources.empty() || of_all_heads));
      }
    }
  }
}

TEST_CASE("in self-attention the three projections read one array, under its first name") {
  AttentionInputs inputs = single_option_inputs().front().inputs;
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  const TracePtr trace = reference_forward(inputs);
  CHECK(cell_provenance(*trace, {Id::v}, {0, 1, 2}).sources[0].tensor == TensorName{Id::query});
  const auto consumers = cell_consumers(*trace, {Id::query}, {0, 1, 2});
  REQUIRE(consumers.size() == 3);
  CHECK(consumers[0].tensor == TensorName{Id::q});
  CHECK(consumers[1].tensor == TensorName{Id::k});
  CHECK(consumers[2].tensor == TensorName{Id::v});
  CHECK(cell_consumers(*trace, {Id::key}, {0, 1, 2}) == consumers);
  CHECK(cell_provenance(*trace, {Id::key}, {0, 1, 2}).note == "key is the same array as query.");
}

TEST_CASE("a cell outside its tensor and a tensor that is not there are refused") {
  const TracePtr trace = reference_forward(single_option_inputs().front().inputs);
  CHECK_THROWS_AS(cell_provenance(*trace, {Id::scores}, {0, 0, 0, 99}), Error);
  CHECK_THROWS_AS(cell_provenance(*trace, {Id::scores}, {0, 0}), Error);
  CHECK_THROWS_AS(cell_provenance(*trace, {Id::mask_bias}, {0, 0, 0, 0}), Error);
  CHECK_THROWS_AS(cell_provenance(*trace, {Id::scores, true}, {0, 0, 0, 0}), Error);
  CHECK_THROWS_AS(cell_consumers(*trace, {Id::scores}, {0, 0, 0, -1}), Error);
}

TEST_CASE("a source that a backend did not keep is an error that names it") {
  Trace trace = *reference_forward(single_option_inputs().front().inputs);
  trace.tensors.k_heads = nullptr;
  CHECK_THROWS_WITH_AS(cell_provenance(trace, {Id::scores}, {0, 0, 0, 0}), doctest::Contains("no k_heads"),
                       Error);
}

TEST_CASE("a trace without keys is explained: the sums are empty") {
  AttentionInputs inputs = random_inputs(small_options(2, 2, 2), {1, 2, 0});
  const TracePtr trace = reference_forward(inputs);
  CHECK(first_unexplained(*trace) == "");
  const CellProvenance provenance = cell_provenance(*trace, {Id::head_output}, {0, 1, 1, 0});
  CHECK(provenance.terms.empty());
  CHECK(provenance.sources.empty());
  CHECK(recompute_from_provenance(*trace, provenance) == 0.0);
}

TEST_CASE("non-finite keys and values reach the cells that PyTorch lets them reach, and are explained") {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    AttentionInputs inputs = random_inputs(small_options(2, 2, 2));
    Tensor key = *inputs.tensors.key;
    key.set_flat(0, bad);
    inputs.tensors.key = std::make_shared<const Tensor>(std::move(key));
    CHECK(first_unexplained(*reference_forward(inputs)) == "");
  }
}

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
