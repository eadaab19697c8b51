#include "core/attention/softmax.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/attention/cell_provenance.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/reference_backend.h"
#include "core/fused/fused_backend.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/attention/refused_inputs.h"
#include "tests/core/fused/agreement.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// The inputs with these heads held at the weights that they have there.
AttentionInputs frozen_where_they_are(AttentionInputs inputs, const std::vector<Index>& heads) {
  const TracePtr trace = reference_forward(inputs);
  const TensorPtr weights = (trace->exact ? *trace->exact : *trace).tensors.dropped_weights;
  std::vector<Axis> axes = weights->shape().axes();
  axes[1] = {"F", static_cast<Index>(heads.size())};
  Tensor held(Shape(axes), weights->dtype());
  for (Index i = 0; i < held.size(); ++i) {
    std::vector<Index> index = held.shape().index_of(i);
    index[1] = heads[static_cast<std::size_t>(index[1])];
    held.set_flat(i, weights->at(index));
  }
  inputs.options.frozen_heads = heads;
  inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
  return inputs;
}

bool same_head(const Tensor& a, const Tensor& b, Index head) {
  for (Index i = 0; i < a.size(); ++i)
    if (a.shape().index_of(i)[1] == head && a.flat(i) != b.flat(i)) return false;
  return true;
}

std::string refusal_of_heads(const std::function<void(AttentionInputs&)>& change) {
  AttentionInputs inputs = frozen_where_they_are(random_inputs(small_options()), {2, 0});
  change(inputs);
  return refusal_of(inputs);
}

}  // namespace

TEST_CASE("heads frozen at the weights that they have change no number of the trace") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const AttentionInputs inputs = random_inputs(small_options(), {}, dtype);
    const TracePtr free = reference_forward(inputs);
    for (const std::vector<Index>& heads :
         {std::vector<Index>{2}, std::vector<Index>{3, 0}, std::vector<Index>{1, 0, 3, 2}}) {
      const TracePtr frozen = reference_forward(frozen_where_they_are(inputs, heads));
      for (const TensorEntry& entry : tensor_entries()) {
        if (entry.role != TensorRole::intermediate || !free->tensor(entry.id)) continue;
        CHECK_MESSAGE(identical(*frozen->tensor(entry.id), *free->tensor(entry.id)), entry.name);
      }
    }
  }
}

TEST_CASE(
    "whatever else changes, a frozen head keeps its weights bit by bit, and the others do as they did") {
  const AttentionInputs before = frozen_where_they_are(random_inputs(small_options()), {2, 0});
  const TensorPtr weights = reference_forward(before)->tensors.dropped_weights;
  const std::function<void(AttentionInputs&)> changes[] = {
      [](AttentionInputs& i) { i.tensors.query = random_tensor(i.tensors.query->shape(), "other"); },
      [](AttentionInputs& i) { i.tensors.key = random_tensor(i.tensors.key->shape(), "other"); },
      [](AttentionInputs& i) {
        i.tensors.in_proj_weight = random_tensor(i.tensors.in_proj_weight->shape(), "other");
      },
      [](AttentionInputs& i) { i.options.scale = 3.0; },
      [](AttentionInputs& i) { i.options.softcap = 0.5; },
      [](AttentionInputs& i) { i.options.temperature = 0.1; },
      [](AttentionInputs& i) { i.options.is_causal = true; },
      [](AttentionInputs& i) { i.options.alibi = true; },
      [](AttentionInputs& i) { i.options.dropout = 0.5; },
      [](AttentionInputs& i) {
        i.options.is_causal = true;
        i.options.mask_value = -1e4;
      },
  };
  for (const auto& change : changes) {
    AttentionInputs after = before;
    change(after);
    const TraceTensors t = reference_forward(after)->tensors;
    for (const Index head : {0, 2}) {
      CHECK(same_head(*t.attn_weights, *weights, head));
      CHECK(same_head(*t.dropped_weights, *weights, head));
    }
    AttentionInputs free = after;
    free.options.frozen_heads.clear();
    free.tensors.frozen_weights = nullptr;
    const TraceTensors u = reference_forward(free)->tensors;
    for (const Index head : {1, 3}) CHECK(same_head(*t.dropped_weights, *u.dropped_weights, head));
    CHECK(identical(*t.scores, *u.scores));  // still computed, for every head
    CHECK(identical(*t.masked_scores, *u.masked_scores));
  }
}

TEST_CASE("what is held multiplies the values as it is: nothing brings its rows to the sum 1") {
  AttentionInputs inputs = frozen_where_they_are(random_inputs(small_options()), {1});
  Tensor twice = *inputs.tensors.frozen_weights;
  for (Index i = 0; i < twice.size(); ++i) twice.set_flat(i, 2.0 * twice.flat(i));
  const TensorPtr once = reference_forward(inputs)->tensors.head_output;
  inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(twice));
  const TensorPtr doubled = reference_forward(inputs)->tensors.head_output;
  for (Index i = 0; i < once->size(); ++i) {
    const bool frozen = once->shape().index_of(i)[1] == 1;
    CHECK(doubled->flat(i) == doctest::Approx((frozen ? 2.0 : 1.0) * once->flat(i)).epsilon(1e-13));
  }
}

TEST_CASE("held weights are a constant: no gradient to the scores of their head, the values' as ever") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.is_causal = true;
  const TraceTensors free = reference_backward(*reference_forward(inputs))->grad;
  const TracePtr trace = reference_backward(*reference_forward(frozen_where_they_are(inputs, {3, 1})));
  const TraceTensors& held = trace->grad;
  CHECK(identical(*held.v_heads, *free.v_heads));
  CHECK(identical(*held.attn_weights, *free.attn_weights));
  CHECK_FALSE(held.frozen_weights);
  for (Index i = 0; i < held.masked_scores->size(); ++i) {
    const Index head = held.masked_scores->shape().index_of(i)[1];
    CHECK(held.masked_scores->flat(i) == (head % 2 == 1 ? 0.0 : free.masked_scores->flat(i)));
  }
  CHECK(same_head(*held.q_heads, *free.q_heads, 2));
  CHECK(cell_provenance(*trace, {Id::masked_scores, true}, {0, 3, 1, 0}).note ==
        "Head 3 is frozen: the weights it keeps are a constant, and no gradient reaches its scores.");
}

TEST_CASE(
    "a row without a key spoils neither a frozen head nor its gradients, and no warning names that head") {
  AttentionInputs inputs = frozen_where_they_are(random_inputs(small_options()), {0, 1, 3});
  Tensor mask(Shape{{"L", 4}, {"S", 6}}, DType::boolean);
  for (Index s = 0; s < 6; ++s) mask.set_flat(s, 1.0);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
  const TracePtr trace = reference_backward(*reference_forward(inputs));
  REQUIRE(trace->warnings.size() == 1);
  CHECK_CONTAINS(trace->warnings[0], "head 2,");
  CHECK(std::isnan(trace->tensors.attn_weights->at({0, 2, 0, 0})));
  CHECK(std::isfinite(trace->tensors.attn_weights->at({0, 3, 0, 0})));
  CHECK(std::isfinite(trace->grad.q_heads->at({0, 3, 0, 0})));
}

TEST_CASE("with every head frozen an edit of the scores computes the scores, and nothing behind them") {
  const AttentionInputs before = frozen_where_they_are(random_inputs(small_options()), {0, 1, 2, 3});
  const TracePtr first = reference_forward(before);
  AttentionInputs after = before;
  after.options.scale = 0.1;
  CHECK(reference_forward(after, first.get())->computed == std::vector{Id::scaled_scores, Id::lse});
  after = before;
  after.options.dropout = 0.5;
  CHECK(reference_forward(after, first.get())->computed.empty());
  after = before;
  after.options.is_causal = true;
  CHECK(reference_forward(after, first.get())->computed ==
        std::vector{Id::mask_bias, Id::masked_scores, Id::lse});
}

TEST_CASE("freezing one head computes the weights and what reads them, and letting go brings back what was") {
  const AttentionInputs free = random_inputs(small_options());
  const TracePtr first = reference_forward(free);
  const AttentionInputs frozen = frozen_where_they_are(free, {1});
  const TracePtr second = reference_forward(frozen, first.get());
  // No weight is another one than before: their products with the values have nothing to do.
  CHECK(second->computed == std::vector{Id::attn_weights, Id::attn_output_weights});
  CHECK(identical(*reference_forward(free, second.get())->tensors.output, *first->tensors.output));
}

TEST_CASE("other weights for a frozen head are computed with, though nothing before them is another") {
  for (const std::vector<Index>& heads : {std::vector<Index>{1}, std::vector<Index>{0, 1, 2, 3}}) {
    CAPTURE(heads.size());
    AttentionInputs inputs = frozen_where_they_are(random_inputs(small_options()), heads);
    const TracePtr first = reference_forward(inputs);
    Tensor halves = *inputs.tensors.frozen_weights;
    for (Index i = 0; i < halves.size(); ++i) halves.set_flat(i, 0.5 * halves.flat(i));
    inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(halves));
    const TracePtr second = reference_forward(inputs, first.get());
    CHECK(std::ranges::count(second->computed, Id::attn_weights) == 1);
    CHECK(second->tensors.masked_scores == first->tensors.masked_scores);
    CHECK(identical(*second->tensors.attn_weights, *reference_forward(inputs)->tensors.attn_weights));
    CHECK_FALSE(identical(*second->tensors.attn_weights, *first->tensors.attn_weights));
  }
}

TEST_CASE("the formula and the note of a frozen head's weight say that it was held") {
  const TracePtr trace = reference_forward(frozen_where_they_are(random_inputs(small_options()), {3, 1}));
  const CellProvenance held = cell_provenance(*trace, {Id::attn_weights}, {1, 1, 2, 5});
  CHECK(held.combine == Combine::copy);
  CHECK(held.formula == "attn_weights[1,1,2,5] = frozen_weights[1,1,2,5]");
  CHECK(held.note == "Head 1 is frozen: it keeps the weights it had, whatever its scores are.");
  CHECK(cell_provenance(*trace, {Id::attn_weights}, {1, 3, 2, 5}).formula ==
        "attn_weights[1,3,2,5] = frozen_weights[1,0,2,5]");
  const CellProvenance made = cell_provenance(*trace, {Id::attn_weights}, {1, 2, 2, 5});
  CHECK(made.combine == Combine::softmax);
  CHECK(made.note.empty());
}

TEST_CASE("heads that are not there or named twice, and weights of another shape, are refused") {
  CHECK(refusal_of_heads([](AttentionInputs&) {}) == "accepted");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) { i.options.frozen_heads = {2, 4}; }), "0 to 3");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) {
                   i.options.frozen_heads = {-1, 0};
                 }),
                 "no such head");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) {
                   i.options.frozen_heads = {2, 2};
                 }),
                 "named twice");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) { i.options.frozen_heads = {2}; }), "(2,1,4,6)");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) { i.options.frozen_heads.clear(); }),
                 "no head is frozen");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) { i.tensors.frozen_weights = nullptr; }), "missing");
  CHECK_CONTAINS(refusal_of_heads([](AttentionInputs& i) { i.options.add_zero_attn = true; }), "(N,F,L,S′)");
}

TEST_CASE("the fused backend holds frozen heads too, past mask and dropout") {
  AttentionInputs inputs = frozen_where_they_are(random_inputs(small_options(), {}, DType::f32), {2});
  inputs.options.is_causal = true;
  inputs.options.dropout = 0.4;
  CHECK(fused_refusal(inputs).empty());
  const TracePtr fused = fused_forward(inputs, {.keep_attn_weights = true});
  check_agrees(*fused, *reference_forward(inputs));
  CHECK(fused->tensors.dropped_weights);
}

TEST_CASE("the heads that are not frozen come as ranges") {
  using Ranges = std::vector<HeadRange>;
  CHECK(unfrozen_heads(4, std::vector<Index>{}) == Ranges{{0, 4}});
  CHECK(unfrozen_heads(4, std::vector<Index>{2}) == Ranges{{0, 2}, {3, 4}});
  CHECK(unfrozen_heads(4, std::vector<Index>{3, 0}) == Ranges{{1, 3}});
  CHECK(unfrozen_heads(2, std::vector<Index>{1, 0}).empty());
  CHECK(unfrozen_heads(0, std::vector<Index>{}).empty());
}
