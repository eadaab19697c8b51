// When the window's backward pass is computed, of which loss, and what it shares.
#include "app/session/gradients.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/attention/grad_output.h"
#include "core/attention/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/stage/stage_trace.h"

using namespace headwise;

namespace {

ComputationPtr computed_after(const std::vector<std::string>& settings, const Computation* previous = nullptr) {
  Scenario scenario = preset_scenario("hand_made");
  for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
  return compute(scenario, previous);
}

}  // namespace

TEST_CASE("the loss is Σ output, random signs behind a layer norm, and before both the inputs' grad_output") {
  const TracePtr plain = traced().trace;
  const TracePtr normed = traced({"attention.layer_norm=true"}).trace;
  const TensorPtr given = loss_gradient(Loss::random, *plain, nullptr);
  CHECK(resolved_loss({}, *plain, nullptr) == Loss::sum);
  CHECK(resolved_loss({}, *normed, nullptr) == Loss::random);
  CHECK(resolved_loss({}, *normed, given) == Loss::given);
  CHECK(resolved_loss(Loss::first_cell, *normed, given) == Loss::first_cell);
  CHECK(resolved_loss(Loss::given, *plain, nullptr) == Loss::sum);  // chosen before an edit took it away
}

TEST_CASE("the weights of a loss are ones, one 1, or signs of both kinds that are always the same") {
  const TracePtr trace = traced({"attention.residual=true"}).trace;
  const TensorPtr ones = loss_gradient(Loss::sum, *trace, nullptr);
  const TensorPtr first = loss_gradient(Loss::first_cell, *trace, nullptr);
  const TensorPtr random = loss_gradient(Loss::random, *trace, nullptr);
  CHECK(ones->shape().same_sizes(trace->tensors.residual_output->shape()));
  double sum_of_first = 0.0;
  Index negative = 0;
  for (Index i = 0; i < ones->size(); ++i) {
    CHECK(ones->flat(i) == 1.0);
    CHECK(std::abs(random->flat(i)) == 1.0);
    sum_of_first += first->flat(i);
    negative += random->flat(i) < 0.0 ? 1 : 0;
  }
  CHECK(sum_of_first == 1.0);
  CHECK(first->flat(0) == 1.0);
  CHECK(negative > ones->size() / 4);
  CHECK(negative < ones->size() * 3 / 4);
  CHECK(identical(*random, *loss_gradient(Loss::random, *trace, nullptr)));
}

TEST_CASE("a loss is told by the name of the output that it is of") {
  CHECK(loss_text(Loss::sum, *traced().trace) == "loss = Σ output");
  CHECK(loss_text(Loss::first_cell, *traced({"attention.residual=true"}).trace) ==
        "loss = residual_output[0,0,0]");
  CHECK(loss_text(Loss::first_cell, *traced({"op=scaled_dot_product_attention"}).trace) ==
        "loss = output[0,0,0,0]");
}

TEST_CASE("a small pass is there at once, is the reference's, and is computed once") {
  const ComputationPtr welcome = computed_after({});
  Gradients gradients;
  CHECK(gradients.cached(welcome->trace) == welcome->trace);
  const TracePtr back = gradients.of(welcome, {});
  REQUIRE(back);
  CHECK(gradients.error().empty());
  CHECK(gradients.cached(welcome->trace) == back);
  const TracePtr reference = reference_backward(*welcome->trace);
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr gradient = back->tensor({entry.id, true});
    REQUIRE((gradient != nullptr) == (reference->tensor({entry.id, true}) != nullptr));
    if (gradient) CHECK(identical(*gradient, *reference->tensor({entry.id, true})));
  }
  CHECK(gradients.of(welcome, {}) == back);
  CHECK(gradients.of(welcome, Loss::sum) == back);
  CHECK(gradients.begun() == 1);
  CHECK(gradients.of(welcome, Loss::first_cell) != back);
  CHECK(gradients.begun() == 2);
}

TEST_CASE("after an edit the gradients that it leaves are those of the pass before") {
  const ComputationPtr before = computed_after({"parameters.source=random"});
  const ComputationPtr after =
      computed_after({"parameters.source=random", "heads.gain=[1,1,1,0,1,1,1,1]"}, before.get());
  Gradients gradients;
  const TracePtr first = gradients.of(before, {});
  const TracePtr second = gradients.of(after, {});
  REQUIRE(first);
  REQUIRE(second);
  CHECK(second->grad.concat == first->grad.concat);  // of the output projection alone
  CHECK(second->grad.head_output != first->grad.head_output);
}

TEST_CASE("a large pass is computed beside the window, the last that is wanted, and let go when none is") {
  const std::vector<std::string> large = {"inputs.source=random", "inputs.query_length=160",
                                          "parameters.source=random"};
  const ComputationPtr computation = computed_after(large);
  int woken = 0;
  {
    std::atomic<int> calls = 0;
    Gradients gradients([&] { ++calls; });
    CHECK_FALSE(gradients.of(computation, {}));
    CHECK(gradients.error().empty());
    gradients.finish();
    const TracePtr back = gradients.of(computation, {});
    REQUIRE(back);
    CHECK(identical(*back->grad.query, *reference_backward(*computation->trace)->grad.query));
    CHECK(gradients.begun() == 1);
    // Another loss is asked for, and a third before that is there.
    CHECK_FALSE(gradients.of(computation, Loss::random));
    CHECK_FALSE(gradients.of(computation, Loss::first_cell));
    for (int i = 0; i < 3; ++i) {
      gradients.finish();
      gradients.of(computation, Loss::first_cell);
    }
    const TracePtr last = gradients.of(computation, Loss::first_cell);
    REQUIRE(last);
    CHECK(last->grad.output->flat(1) == 0.0);
    gradients.suspend(computation->trace);
    CHECK(gradients.of(computation, Loss::first_cell) == last);
    gradients.suspend(computed_after({})->trace);
    CHECK(gradients.cached(computation->trace) == computation->trace);
    woken = calls;
  }
  CHECK(woken >= 2);
}

TEST_CASE("leaving while a large pass is under way ends it") {
  const ComputationPtr computation =
      computed_after({"inputs.source=random", "inputs.query_length=200", "parameters.source=random"});
  Gradients gradients;
  CHECK_FALSE(gradients.of(computation, {}));
  gradients.suspend(computation->trace);
  gradients.finish();
  CHECK_NOTHROW(gradients.suspend(computation->trace));
}
