#include "core/trace/cell_provenance.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/tensor/error.h"
#include "core/trace/reference_backend.h"
#include "core/trace/steps.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// Equal to 1e-12, NaN to NaN, infinities to the same one.
bool agree(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
}

std::vector<Id> tensors_of(const Trace& trace) {
  std::vector<Id> ids;
  for (const TensorEntry& entry : tensor_entries()) {
    if (trace.tensor(entry.id)) ids.push_back(entry.id);
  }
  return ids;
}

template <class F>
void for_each_cell(const Trace& trace, Id id, F&& f) {
  const Shape& shape = trace.tensor(id)->shape();
  for (Index flat = 0; flat < shape.element_count(); ++flat) f(shape.index_of(flat));
}

std::string cell_name(TensorName tensor, const std::vector<Index>& index) {
  return fmt::format("{}[{}]", to_string(tensor), fmt::join(index, ","));
}

// The first cell that a rule does not explain, with both numbers; empty where it explains all.
std::string first_unexplained(const Trace& trace, const Rule& rule) {
  std::string found;
  for_each_cell(trace, rule.result.id, [&](const std::vector<Index>& index) {
    if (!found.empty()) return;
    const CellProvenance provenance = provenance_by_rule(trace, rule, index);
    const double again = recompute_from_provenance(trace, provenance);
    if (!agree(provenance.value, again)) {
      found = fmt::format("{} is {}, from its provenance {}", cell_name(rule.result, index), provenance.value,
                          again);
    }
  });
  return found;
}

std::string first_unexplained(const Trace& trace) {
  for (const Id id : tensors_of(trace)) {
    const std::string found = first_unexplained(trace, declared_rule(trace, {id}));
    if (!found.empty()) return found;
  }
  return {};
}

// A cell of any tensor as one number: sets of them are sorted vectors.
using Cell = std::uint64_t;
Cell cell_of(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  const Index flat = trace.tensor(tensor)->shape().offset(index);
  return static_cast<Cell>(tensor.id) << 32 | static_cast<Cell>(flat);
}

void append_box(const Trace& trace, const BoxRef& box, std::vector<Cell>& cells) {
  std::vector<Index> index = box.begin;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (box.begin[axis] >= box.end[axis]) FAIL("an empty box of ", to_string(box.tensor));
  }
  for (;;) {
    cells.push_back(cell_of(trace, box.tensor, index));
    std::size_t axis = index.size();
    while (axis-- > 0) {
      if (++index[axis] < box.end[axis]) break;
      index[axis] = box.begin[axis];
      if (axis == 0) return;
    }
    if (index.empty()) return;
  }
}

std::vector<Cell> cells_in(const Trace& trace, const std::vector<BoxRef>& boxes) {
  std::vector<Cell> cells;
  for (const BoxRef& box : boxes) append_box(trace, box, cells);
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

std::vector<Cell> term_cells(const Trace& trace, const CellProvenance& provenance) {
  std::vector<Cell> cells;
  for (const Term& term : provenance.terms) {
    for (const CellRef& factor : term.factors) cells.push_back(cell_of(trace, factor.tensor, factor.index));
  }
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

// The first cell whose `sources` are not exactly the cells of its terms.
std::string first_wrong_box(const Trace& trace) {
  std::string found;
  for (const Id id : tensors_of(trace)) {
    for_each_cell(trace, id, [&](const std::vector<Index>& index) {
      const CellProvenance provenance = cell_provenance(trace, TensorName{id}, index);
      if (found.empty() && cells_in(trace, provenance.sources) != term_cells(trace, provenance)) {
        found = cell_name({id}, index);
      }
    });
  }
  return found;
}

// All (source, result) pairs, once by asking every result for its sources and once by asking every cell for
// its consumers.
using Pairs = std::vector<std::pair<Cell, Cell>>;
Pairs pairs_from_sources(const Trace& trace) {
  Pairs pairs;
  for (const Id id : tensors_of(trace)) {
    for_each_cell(trace, id, [&](const std::vector<Index>& index) {
      const Cell result = cell_of(trace, {id}, index);
      for (const Cell source : term_cells(trace, cell_provenance(trace, TensorName{id}, index))) {
        pairs.emplace_back(source, result);
      }
    });
  }
  std::ranges::sort(pairs);
  return pairs;
}

Pairs pairs_from_consumers(const Trace& trace) {
  Pairs pairs;
  for (const Id id : tensors_of(trace)) {
    if (first_name(trace, {id}) != TensorName{id}) continue;  // in self-attention, key is query
    for_each_cell(trace, id, [&](const std::vector<Index>& index) {
      for (const Cell result : cells_in(trace, cell_consumers(trace, {id}, index))) {
        pairs.emplace_back(cell_of(trace, {id}, index), result);
      }
    });
  }
  std::ranges::sort(pairs);
  return pairs;
}

// Whether recomputing from a rule shows that it is wrong: another number somewhere, or a cell that does not
// exist.
bool is_caught(const Trace& trace, const Rule& rule) {
  try {
    return !first_unexplained(trace, rule).empty();
  } catch (const Error&) {
    return true;
  } catch (const std::out_of_range&) {
    return true;
  }
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
  for (const Id id : tensors_of(*trace)) {
    const Rule right = declared_rule(*trace, {id});
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
  for (const Id id : tensors_of(*trace)) {
    const Rule right = declared_rule(*trace, {id});
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
        const auto reads = [&](Id id) { return std::ranges::find(sources, TensorName{id}) != sources.end(); };
        CHECK((!picture.left || reads(*picture.left)));
        CHECK((!picture.above || reads(*picture.above)));
        CHECK((picture.left || sources.empty()));
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
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    AttentionInputs inputs = random_inputs(small_options(2, 2, 2));
    Tensor key = *inputs.tensors.key;
    key.set_flat(0, bad);
    inputs.tensors.key = std::make_shared<const Tensor>(std::move(key));
    CHECK(first_unexplained(*reference_forward(inputs)) == "");
  }
}
