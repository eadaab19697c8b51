#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/attention/reference_backend.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

using Ids = std::vector<TensorId>;
using Id = TensorId;

AttentionInputs causal_inputs() {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.options.is_causal = true;
  return inputs;
}

void check_equal_stages(const Trace& trace, const Trace& fresh, bool gradient) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr got = trace.tensor({entry.id, gradient});
    const TensorPtr expected = fresh.tensor({entry.id, gradient});
    REQUIRE_MESSAGE(!got == !expected, entry.name);
    if (got) CHECK_MESSAGE(identical(*got, *expected), entry.name);
  }
}

// Every tensor that is shared is the very tensor of before, every other one is what a fresh run computes.
void check_against_fresh_run(const AttentionInputs& inputs, const Trace& trace) {
  check_equal_stages(trace, *reference_forward(inputs), false);
}

// Both passes after an edit, beside those before it.
TracePtr incremental_backward(const AttentionInputs& inputs, const Trace* previous) {
  return reference_backward(*reference_forward(inputs, previous), nullptr, previous);
}

// Beside the trace of `before`: what a small edit of an array computes.
void check_small_edits(const AttentionInputs& before) {
  const TracePtr first = reference_forward(before);
  const auto with = [](const TensorPtr& tensor, Index flat, double value) {
    Tensor changed = *tensor;
    changed.set_flat(flat, value);
    return std::make_shared<const Tensor>(std::move(changed));
  };
  const Ids behind_scores{Id::scores,      Id::scaled_scores, Id::lse,    Id::attn_weights,
                          Id::head_output, Id::concat,        Id::output, Id::attn_output_weights};
  const auto after_q = [&](Ids ids) {
    ids.insert(ids.end(), behind_scores.begin(), behind_scores.end());
    return ids;
  };
  const Index width = 12, first_of_v = 12 + before.options.num_kv_heads * 3;
  struct Edit {
    const char* what;
    std::function<void(TraceTensors&)> apply;
    Ids computed;
  };
  const Edit edits[] = {
      {"a number of one token", [&](TraceTensors& t) { t.query = with(t.query, 5 * width + 3, 2.0); },
       after_q({Id::q, Id::q_heads})},
      {"a parameter of W_q",
       [&](TraceTensors& t) { t.in_proj_weight = with(t.in_proj_weight, 7 * width, 2.0); },
       after_q({Id::q, Id::q_heads})},
      {"a parameter of W_k",
       [&](TraceTensors& t) { t.in_proj_weight = with(t.in_proj_weight, 14 * width, 2.0); },
       after_q({Id::k, Id::k_heads})},
      {"a bias of v",
       [&](TraceTensors& t) { t.in_proj_bias = with(t.in_proj_bias, first_of_v + 1, NAN); },
       {Id::v, Id::v_heads, Id::head_output, Id::concat, Id::output}},
      {"a parameter of W_o",
       [&](TraceTensors& t) { t.out_proj_weight = with(t.out_proj_weight, 17, 2.0); },
       {Id::output}},
      {"the same numbers in another array",
       [&](TraceTensors& t) {
         t.in_proj_weight = std::make_shared<const Tensor>(*t.in_proj_weight);
         t.query = std::make_shared<const Tensor>(*t.query);
         t.out_proj_bias = std::make_shared<const Tensor>(*t.out_proj_bias);
       },
       {}},
  };
  for (const Edit& edit : edits) {
    CAPTURE(edit.what);
    AttentionInputs after = before;
    edit.apply(after.tensors);
    const TracePtr second = reference_forward(after, first.get());
    CHECK(second->computed == edit.computed);
    check_against_fresh_run(after, *second);
  }
}

}  // namespace

TEST_CASE("nothing is computed again when nothing changed") {
  const AttentionInputs inputs = causal_inputs();
  const TracePtr first = reference_forward(inputs);
  const TracePtr second = reference_forward(inputs, first.get());
  CHECK(second->computed.empty());
  for (const TensorEntry& entry : tensor_entries())
    CHECK(second->tensor(entry.id) == first->tensor(entry.id));
}

TEST_CASE("the first run computes every stage") {
  const TracePtr trace = reference_forward(causal_inputs());
  CHECK(trace->computed == Ids{Id::q, Id::k, Id::v, Id::q_heads, Id::k_heads, Id::v_heads, Id::scores,
                               Id::scaled_scores, Id::mask_bias, Id::masked_scores, Id::lse, Id::attn_weights,
                               Id::head_output, Id::concat, Id::output, Id::attn_output_weights});
}

TEST_CASE("an edit computes what depends on it and nothing else") {
  const AttentionInputs before = causal_inputs();
  const TracePtr first = reference_forward(before);
  struct Edit {
    const char* what;
    void (*apply)(AttentionInputs&);
    Ids computed;
  };
  const Edit edits[] = {
      {"a head gain",
       [](AttentionInputs& i) {
         i.options.head_gain = {1, 0, 1, 1};
       },
       {Id::concat, Id::output}},
      {"temperature",
       [](AttentionInputs& i) { i.options.temperature = 2.0; },
       {Id::scaled_scores, Id::masked_scores, Id::lse, Id::attn_weights, Id::head_output, Id::concat,
        Id::output, Id::attn_output_weights}},
      {"a window",
       [](AttentionInputs& i) { i.options.sliding_window = 1; },
       {Id::mask_bias, Id::masked_scores, Id::lse, Id::attn_weights, Id::head_output, Id::concat, Id::output,
        Id::attn_output_weights}},
      {"no mask at all",
       [](AttentionInputs& i) { i.options.is_causal = false; },
       {Id::lse, Id::attn_weights, Id::head_output, Id::concat, Id::output, Id::attn_output_weights}},
      {"dropout",
       [](AttentionInputs& i) { i.options.dropout = 0.5; },
       {Id::dropped_weights, Id::head_output, Id::concat, Id::output, Id::attn_output_weights}},
      {"values",
       [](AttentionInputs& i) { i.tensors.value = random_tensor(i.tensors.value->shape(), "other"); },
       {Id::v, Id::v_heads, Id::head_output, Id::concat, Id::output}},
      {"the output bias", [](AttentionInputs& i) { i.tensors.out_proj_bias = nullptr; }, {Id::output}},
      {"no weights wanted", [](AttentionInputs& i) { i.options.need_weights = false; }, {}},
      {"a residual", [](AttentionInputs& i) { i.options.residual = true; }, {Id::residual_output}},
  };
  for (const Edit& edit : edits) {
    AttentionInputs after = before;
    edit.apply(after);
    const TracePtr second = reference_forward(after, first.get());
    CHECK_MESSAGE(second->computed == edit.computed, edit.what);
    check_against_fresh_run(after, *second);
  }
}

TEST_CASE("of an array that changed only what reads the change is computed, to the bits of a fresh run") {
  for (const Index kv_heads : {4, 2}) {
    CAPTURE(kv_heads);
    check_small_edits(random_inputs(small_options(4, kv_heads, 3), {2, 9, 11}));
  }
}

TEST_CASE("equal gains are an equal source, another gain is not") {
  AttentionInputs inputs = causal_inputs();
  inputs.options.head_gain = {1, 0, 1, 1};
  const TracePtr first = reference_forward(inputs);
  CHECK(reference_forward(inputs, first.get())->computed.empty());
  inputs.options.head_gain = {1, 1, 0, 1};
  CHECK(reference_forward(inputs, first.get())->computed == Ids{Id::concat, Id::output});
}

TEST_CASE("sizes that change leave nothing of the old sizes behind") {
  const TracePtr first = reference_forward(causal_inputs());
  for (const AttentionOptions& options :
       {small_options(2, 2, 6), small_options(4, 2, 3), small_options(6, 6, 2)}) {
    AttentionInputs inputs = random_inputs(options, {3, 2, 5});
    check_against_fresh_run(inputs, *reference_forward(inputs, first.get()));
  }
  AttentionInputs regrouped = causal_inputs();  // the same arrays under another number of heads
  regrouped.options.num_heads = regrouped.options.num_kv_heads = 2;
  regrouped.options.head_dim = regrouped.options.v_head_dim = 6;
  check_against_fresh_run(regrouped, *reference_forward(regrouped, first.get()));
}

TEST_CASE("rows that were appended to the keys go when they are no longer wanted, and come back") {
  const AttentionInputs plain = random_inputs(small_options());
  AttentionInputs biased = plain;
  biased.tensors.bias_k = random_tensor(Shape{{"G·D", 12}}, "bias_k");
  biased.tensors.bias_v = random_tensor(Shape{{"G·Dv", 12}}, "bias_v");
  AttentionInputs zeros = plain;
  zeros.options.add_zero_attn = true;
  const AttentionInputs ways[] = {plain, biased, zeros};
  for (const AttentionInputs& before : ways) {
    const TracePtr first = reference_forward(before);
    for (const AttentionInputs& after : ways)
      check_against_fresh_run(after, *reference_forward(after, first.get()));
  }
}

TEST_CASE("f32 and f64 share nothing") {
  const TracePtr first = reference_forward(random_inputs(small_options(), {}, DType::f64));
  const AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  check_against_fresh_run(inputs, *reference_forward(inputs, first.get()));
}

TEST_CASE("the first backward pass computes every gradient that is not another one's tensor") {
  const TracePtr trace = incremental_backward(causal_inputs(), nullptr);
  CHECK(trace->computed_gradients == Ids{Id::concat, Id::out_proj_weight, Id::out_proj_bias, Id::head_output,
                                         Id::dropped_weights, Id::v_heads, Id::masked_scores, Id::scores,
                                         Id::q_heads, Id::k_heads, Id::q, Id::k, Id::v, Id::in_proj_weight,
                                         Id::in_proj_bias, Id::query, Id::key, Id::value});
  CHECK(trace->grad.scaled_scores == trace->grad.masked_scores);
  CHECK(trace->grad.mask_bias == trace->grad.scaled_scores);
}

TEST_CASE("no gradient is computed again when nothing changed") {
  const AttentionInputs inputs = causal_inputs();
  const TracePtr first = incremental_backward(inputs, nullptr);
  const TracePtr second = incremental_backward(inputs, first.get());
  CHECK(second->computed_gradients.empty());
  for (const TensorEntry& entry : tensor_entries())
    CHECK(second->tensor({entry.id, true}) == first->tensor({entry.id, true}));
}

TEST_CASE("after an edit the gradients whose sources changed are computed and no others") {
  const AttentionInputs before = causal_inputs();
  const TracePtr first = incremental_backward(before, nullptr);
  const Ids from_the_weights{
      Id::dropped_weights, Id::masked_scores, Id::scores, Id::q_heads, Id::k_heads, Id::q, Id::k,
      Id::in_proj_weight,  Id::in_proj_bias,  Id::query,  Id::key};
  const auto with = [](Ids first_ones, const Ids& others) {
    first_ones.insert(first_ones.end(), others.begin(), others.end());
    return first_ones;
  };
  struct Edit {
    const char* what;
    void (*apply)(AttentionInputs&);
    Ids computed;
  };
  const Edit edits[] = {
      {"the output bias", [](AttentionInputs& i) { i.tensors.out_proj_bias = nullptr; }, {}},
      {"no weights wanted", [](AttentionInputs& i) { i.options.need_weights = false; }, {}},
      {"a residual, which brings its own way to the query",
       [](AttentionInputs& i) { i.options.residual = true; },
       {Id::query}},
      {"values, which the gradient of the values does not read",
       [](AttentionInputs& i) { i.tensors.value = random_tensor(i.tensors.value->shape(), "other"); },
       with({Id::out_proj_weight}, from_the_weights)},
  };
  for (const Edit& edit : edits) {
    AttentionInputs after = before;
    edit.apply(after);
    const TracePtr second = incremental_backward(after, first.get());
    CHECK_MESSAGE(second->computed_gradients == edit.computed, edit.what);
  }
}

TEST_CASE("gradients that were shared are those of a fresh run, from any options to any others") {
  std::vector<NamedInputs> all = single_option_inputs();
  for (std::uint64_t seed = 0; seed < 30; ++seed) all.push_back(random_combination(seed));
  TracePtr previous;
  for (const NamedInputs& named : all) {
    CAPTURE(named.name);
    const TracePtr trace = incremental_backward(named.inputs, previous.get());
    check_equal_stages(*trace, *incremental_backward(named.inputs, nullptr), true);
    previous = trace;
  }
}

TEST_CASE("an equal grad_output is an equal source, another one is not") {
  const TracePtr forward = reference_forward(causal_inputs());
  const Shape& shape = forward->tensors.output->shape();
  const TracePtr first = reference_backward(*forward, random_tensor(shape, "grad_output"));
  const TracePtr same = reference_backward(*forward, random_tensor(shape, "grad_output"), first.get());
  CHECK(same->computed_gradients.empty());
  const TracePtr ones = reference_backward(*forward, nullptr, first.get());
  CHECK(ones->computed_gradients.size() == first->computed_gradients.size());
  check_equal_stages(*ones, *reference_backward(*forward), true);
}

TEST_CASE("a forward trace before it, without gradients, shares none with a backward pass") {
  const TracePtr forward = reference_forward(causal_inputs());
  check_equal_stages(*reference_backward(*forward, nullptr, forward.get()), *reference_backward(*forward),
                     true);
}
