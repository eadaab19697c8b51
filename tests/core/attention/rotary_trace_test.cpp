#include <algorithm>
#include <cmath>
#include <functional>

#include "core/attention/cell_provenance.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/steps.h"
#include "core/attention/trace_warnings.h"
#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// N=2, H=4, G=2, D=6, L=4, S=6.
AttentionInputs rotary_inputs(double base = 100.0) {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 6));
  inputs.options.rotary_base = base;
  return inputs;
}

std::string rotary_refusal(const std::function<void(AttentionInputs&)>& change) {
  AttentionInputs inputs = rotary_inputs();
  change(inputs);
  return test::refusal_line([&] { reference_forward(inputs); });
}

}  // namespace

TEST_CASE("q and k are rotated between the split and the scores, keys from position 0 on") {
  const TracePtr trace = reference_forward(rotary_inputs());
  const TraceTensors& t = trace->tensors;
  const Rotation rotation{rotary_inverse_frequencies(6, 100.0)};
  CHECK(identical(*t.q_rotary, rotary_embedding(*t.q_heads, rotation)));
  CHECK(identical(*t.k_rotary, rotary_embedding(*t.k_heads, rotation)));
  CHECK(t.q_rotary->shape().letters() == "(N,H,L,D)");
  CHECK(t.k_rotary->shape().letters() == "(N,G,S,D)");
  AttentionInputs bottom_right = rotary_inputs();
  bottom_right.options.causal_alignment = CausalAlignment::bottom_right;
  const TracePtr aligned = reference_forward(bottom_right);
  CHECK(identical(*aligned->tensors.q_rotary, rotary_embedding(*t.q_heads, rotation, 2)));
  CHECK(identical(*aligned->tensors.k_rotary, *t.k_rotary));
}

TEST_CASE("frequencies that are given stand in the place of a base") {
  AttentionInputs given = rotary_inputs();
  given.options.rotary_base.reset();
  given.options.rotary_inverse_frequencies = rotary_inverse_frequencies(6, 100.0);
  CHECK(identical(*reference_forward(given)->tensors.output,
                  *reference_forward(rotary_inputs())->tensors.output));
}

TEST_CASE("a rotated number says its two columns, its position and its angle") {
  const TracePtr trace = reference_backward(*reference_forward(rotary_inputs()), nullptr);
  const CellProvenance first = cell_provenance(*trace, {Id::q_rotary}, {1, 2, 3, 1});
  CHECK(first.formula ==
        "q_rotary[1,2,3,1] = q_heads[1,2,3,1] · cos θ − q_heads[1,2,3,4] · sin θ, θ = 3 · 0.215443");
  CHECK(first.note == "Position 3: columns 1 and 4 are rotated together, by 0.6463 radians.");
  REQUIRE(first.terms.size() == 2);
  CHECK(first.terms[0].value + first.terms[1].value == doctest::Approx(first.value).epsilon(1e-14));
  const CellProvenance second = cell_provenance(*trace, {Id::k_rotary}, {0, 1, 5, 4});
  CHECK(second.formula ==
        "k_rotary[0,1,5,4] = k_heads[0,1,5,4] · cos θ + k_heads[0,1,5,1] · sin θ, θ = 5 · 0.215443");
  CHECK(cell_provenance(*trace, {Id::k_rotary}, {0, 1, 0, 4}).note ==
        "Position 0 is not rotated: its angle is 0.");
  const CellProvenance back = cell_provenance(*trace, {Id::q_heads, true}, {1, 2, 3, 1});
  CHECK(back.formula ==
        "grad.q_heads[1,2,3,1] = grad.q_rotary[1,2,3,1] · cos θ + grad.q_rotary[1,2,3,4] · sin θ, "
        "θ = 3 · 0.215443");
  CHECK(cell_provenance(*trace, {Id::scores}, {1, 2, 3, 1}).formula ==
        "scores[1,2,3,1] = Σ_d q_rotary[1,2,3,d] · k_rotary[1,1,1,d]");
}

TEST_CASE("an edit of the base computes from the turn on, and one of the scale shares the turn") {
  AttentionInputs inputs = rotary_inputs();
  const TracePtr before = reference_forward(inputs);
  inputs.options.rotary_base = 50.0;
  const TracePtr other_base = reference_forward(inputs, before.get());
  CHECK(std::ranges::find(other_base->computed, Id::q_heads) == other_base->computed.end());
  CHECK(std::ranges::find(other_base->computed, Id::q_rotary) != other_base->computed.end());
  CHECK(std::ranges::find(other_base->computed, Id::scores) != other_base->computed.end());
  CHECK(identical(*other_base->tensors.output, *reference_forward(rotary_inputs(50.0))->tensors.output));
  AttentionInputs shared = rotary_inputs();
  const TracePtr first = reference_forward(shared);
  shared.options.scale = 0.5;
  const TracePtr second = reference_forward(shared, first.get());
  CHECK(second->tensors.q_rotary == first->tensors.q_rotary);
  CHECK(second->tensors.scores == first->tensors.scores);
}

TEST_CASE("the turn stands at the split of the heads, and is absent in words where nothing is rotated") {
  const TracePtr trace = reference_forward(rotary_inputs());
  const std::vector<StepPicture> pictures = step_pictures(Step::split_heads, *trace);
  REQUIRE(pictures.size() == 5);
  CHECK(pictures[3].result == Id::q_rotary);
  CHECK(pictures[3].left == Id::q_heads);
  CHECK(step_pictures(Step::scores, *trace)[0].above == Id::k_rotary);
  const TracePtr plain = reference_forward(random_inputs(small_options()));
  CHECK(step_pictures(Step::split_heads, *plain).size() == 3);
  CHECK_CONTAINS(why_absent(*plain, {Id::k_rotary}), "attention.rotary_base is null");
}

TEST_CASE("what has no position or no pair is refused in one sentence") {
  CHECK_CONTAINS(rotary_refusal([](AttentionInputs& i) { i.options.add_zero_attn = true; }), "add_zero_attn");
  CHECK_CONTAINS(rotary_refusal([](AttentionInputs& i) {
                   i.tensors.bias_k = random_tensor({{"G·D", 12}}, "bias_k");
                   i.tensors.bias_v = random_tensor({{"G·Dv", 12}}, "bias_v");
                 }),
                 "bias_k");
  CHECK(rotary_refusal([](AttentionInputs& i) { i.options.rotary_base = 0.0; }).starts_with("rotary_base"));
  CHECK_CONTAINS(rotary_refusal([](AttentionInputs& i) { i.options.rotary_inverse_frequencies = {1.0}; }),
                 "one or the other");
  CHECK_CONTAINS(rotary_refusal([](AttentionInputs& i) {
                   i.options.rotary_base.reset();
                   i.options.rotary_inverse_frequencies = {1.0, 1.0, 1.0, 1.0};
                 }),
                 "more frequencies than pairs");
  AttentionInputs odd = random_inputs(small_options(4, 2, 3));
  odd.options.rotary_base = 1e4;
  CHECK_THROWS_WITH_AS(reference_forward(odd), doctest::Contains("rotated in pairs"), Error);
}

TEST_CASE("a program with another rotary convention is named by what it does") {
  const auto causes = [](const AttentionInputs& inputs, const AttentionInputs& theirs_from) {
    const TracePtr ours = reference_forward(inputs), other = reference_forward(theirs_from);
    const std::vector<StoredTensor> theirs{{"output", other->tensors.output, "f64"}};
    const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
    REQUIRE(comparison.first_difference() != nullptr);
    std::string all;
    for (const LikelyCause& cause : causes_in_variants({inputs, *ours, nullptr, theirs, {}}, comparison))
      all += cause.text + " " + cause.remedy + "\n";
    return all;
  };
  const AttentionInputs rotary = rotary_inputs(1e4);
  AttentionInputs none = rotary;
  none.options.rotary_base.reset();
  CHECK_CONTAINS(causes(none, rotary), "--set attention.rotary_base=10000");
  CHECK_CONTAINS(causes(rotary, none), "q and k are not rotated by their positions");

  // Neighbouring columns rotated together, by hand:
  // q and k of each head as complex numbers of columns 2j and 2j + 1.
  AttentionInputs heads;
  heads.dtype = DType::f64;
  heads.options = small_options(2, 2, 4);
  heads.options.op = Op::scaled_dot_product_attention;
  heads.options.rotary_base = 1e4;
  const auto shape = [](const char* head, const char* length) {
    return Shape{{"N", 1}, {head, 2}, {length, 3}, {"D", 4}};
  };
  heads.tensors.query = random_tensor(shape("H", "L"), "query");
  heads.tensors.key = random_tensor(shape("G", "S"), "key");
  heads.tensors.value = random_tensor({{"N", 1}, {"G", 2}, {"S", 3}, {"Dv", 4}}, "value");
  const auto reordered = [](const Tensor& x) {
    Tensor out = x;
    const Rotation rotation{rotary_inverse_frequencies(4, 1e4)};
    for (Index row = 0; row < x.size() / 4; ++row) {
      for (Index j = 0; j < 2; ++j) {
        const double angle = rotation.angle(row % 3, j);
        const double a = x.flat(row * 4 + 2 * j), b = x.flat(row * 4 + 2 * j + 1);
        out.set_flat(row * 4 + 2 * j, a * std::cos(angle) - b * std::sin(angle));
        out.set_flat(row * 4 + 2 * j + 1, b * std::cos(angle) + a * std::sin(angle));
      }
    }
    return std::make_shared<const Tensor>(std::move(out));
  };
  AttentionInputs neighbours = heads;
  neighbours.options.rotary_base.reset();
  neighbours.tensors.query = reordered(*heads.tensors.query);
  neighbours.tensors.key = reordered(*heads.tensors.key);
  const TracePtr ours = reference_forward(heads);
  const auto told = [&](const Tensor& theirs) {
    const StoredTensor stored{"q_rotary", std::make_shared<const Tensor>(theirs), "f64"};
    const ArrayComparison comparison = compare_arrays(*ours, {stored}, {});
    REQUIRE(comparison.first_difference() != nullptr);
    std::string all;
    for (const LikelyCause& cause : causes_in_numbers(*ours, *comparison.first_difference()))
      all += cause.text;
    return all;
  };
  const Rotation rotation{rotary_inverse_frequencies(4, 1e4)};
  CHECK(told(*neighbours.tensors.query).starts_with("theirs rotates neighbouring columns"));
  CHECK_CONTAINS(told(rotary_embedding_gradient(*heads.tensors.query, rotation)), "rotates the other way");
  CHECK_CONTAINS(told(rotary_embedding(*heads.tensors.query, rotation, 1)), "counts positions from 1");
  CHECK_CONTAINS(causes(heads, neighbours), "rotates neighbouring columns (2j, 2j + 1) together");
}
