// Arrays that no mistake explains: noise, NaN, one number in every cell, copies of an input.
#include <cmath>
#include <functional>
#include <limits>

#include "core/compare/likely_causes.h"
#include "core/compare/tensor_fill.h"
#include "core/reference/reference_backend.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

AttentionInputs bare_inputs() {
  AttentionInputs inputs = random_inputs(small_options(4, 4, 4), {2, 5, 5});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  return inputs;
}

AttentionInputs bare_causal() {
  AttentionInputs inputs = bare_inputs();
  inputs.options.is_causal = true;
  return inputs;
}

AttentionInputs bare_padded() {
  AttentionInputs inputs = bare_inputs();
  auto padding = std::make_shared<Tensor>(Shape{{"N", 2}, {"S", 5}}, DType::boolean);
  for (const Index cell : {4, 8, 9}) padding->set_flat(cell, 1);
  inputs.tensors.key_padding_mask = padding;
  return inputs;
}

AttentionInputs bare_rotary() {
  AttentionInputs inputs = bare_inputs();
  inputs.options.rotary_base = 100.0;
  return inputs;
}

// Causes and facts, a line each.
std::string said_of(const AttentionInputs& inputs, const std::vector<StoredTensor>& theirs) {
  const TracePtr ours = reference_forward(inputs);
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  REQUIRE(comparison.first_difference() != nullptr);
  VariantSearch search{inputs, *ours, nullptr, theirs, {}};
  search.pair_work = usual_pair_work / 64;  // noise has all pairs tried
  const Findings findings = likely_causes(search, comparison);
  std::string all;
  for (const LikelyCause& cause : findings.causes) all += cause.text + "\n";
  for (const std::string& fact : findings.facts) all += "fact: " + fact + "\n";
  return all;
}

}  // namespace

TEST_CASE("arrays that show nothing have no cause, whatever they are called, and it is said what they hold") {
  AttentionInputs with_residual = bare_padded();
  with_residual.options.residual = with_residual.options.layer_norm = true;
  std::size_t tried = 0;
  for (const AttentionInputs& inputs :
       {bare_inputs(), bare_causal(), bare_padded(), bare_rotary(), with_residual}) {
    const TracePtr ours = reference_forward(inputs);
    for (const Id id : {Id::q, Id::k_heads, Id::scores, Id::masked_scores, Id::attn_weights, Id::head_output,
                        Id::concat, Id::output, Id::residual_output, Id::layer_norm_output}) {
      const TensorPtr own = ours->tensor(id);
      if (!own) continue;
      const auto filled_with = [&](const std::function<double(Index)>& value) {
        Tensor theirs(own->shape(), DType::f64);
        for (Index i = 0; i < theirs.size(); ++i) theirs.set_flat(i, value(i));
        return shared_tensor(std::move(theirs));
      };
      const CounterRandom random(17, "nothing");
      const double nan = std::numeric_limits<double>::quiet_NaN();
      std::vector<std::pair<std::string, TensorPtr>> arrays{
          {"is NaN in every cell", filled_with([&](Index) { return nan; })},
          {"is infinite in every cell", filled_with([](Index i) { return i % 3 ? HUGE_VAL : -HUGE_VAL; })},
          {"is NaN or infinite in every cell", filled_with([&](Index i) { return i % 3 ? HUGE_VAL : nan; })},
          {"is -inf in every cell", filled_with([](Index) { return -HUGE_VAL; })},
          {"is 0 in every cell", filled_with([](Index) { return 0.0; })},
          {"is 0.2 in every cell", filled_with([](Index) { return 0.2; })},
          {"", filled_with([&](Index i) { return random.normal(static_cast<std::uint64_t>(i)); })}};
      if (own->shape().same_sizes(inputs.tensors.query->shape()))
        arrays.emplace_back("is a copy of query, which was given", inputs.tensors.query);
      for (const auto& [holds, array] : arrays) {
        CAPTURE(to_string(TensorName{id}));
        CAPTURE(holds);
        const std::string said = said_of(inputs, {{to_string(TensorName{id}), array, "f64"}});
        CAPTURE(said);
        CHECK(said.starts_with(holds.empty() ? ""
                                             : "fact: " + to_string(TensorName{id}) + " of theirs " + holds));
        CHECK((holds.empty() ? said.empty() : said.find("agrees") == std::string::npos));
        ++tried;
      }
    }
  }
  CHECK(tried > 250);
}

TEST_CASE("a mask that their scores lack is no fault of the search where a later array differs, too") {
  const AttentionInputs inputs = bare_causal();
  const TracePtr ours = reference_forward(inputs);
  Tensor noise = *ours->tensors.output;
  for (Index i = 0; i < noise.size(); ++i) noise.set_flat(i, std::sin(7.0 * static_cast<double>(i)));
  CHECK(said_of(inputs, {{"masked_scores", ours->tensors.scaled_scores, "f64"},
                         {"output", shared_tensor(noise), "f64"}}) == "");
}

TEST_CASE("single cells that are NaN or infinite are told from a formula that differs") {
  const AttentionInputs inputs = bare_causal();
  const TracePtr ours = reference_forward(inputs);
  for (const double stray : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    Tensor theirs = *ours->tensor(Id::output);
    theirs.set_flat(7, stray);
    theirs.set_flat(9, stray);
    const std::string said = said_of(inputs, {{"output", shared_tensor(std::move(theirs)), "f64"}});
    CHECK_MESSAGE(
        said.starts_with("fact: output of theirs agrees wherever both numbers are finite; 2 of its "), said);
    CHECK_CONTAINS(said, "the first at [0,0,7]");
  }
}
