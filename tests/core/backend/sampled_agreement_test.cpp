#include "core/backend/sampled_agreement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "core/attention/reference_backend.h"
#include "core/backend/model_sizes.h"
#include "core/fused/fused_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/core/backend/made_again.h"

using namespace headwise;

TEST_CASE("the rows that are computed again are those of the trace, whatever the options") {
  for (const test::WeightCase& one : test::weight_cases()) {
    CAPTURE(one.name);
    for (const TracePtr& trace :
         {reference_forward(one.inputs), fused_forward(one.inputs, {.keep_projections = true})}) {
      const SampledAgreement found = sampled_agreement(*trace, 40);
      CHECK(found.rows == 40);
      CHECK(found.largest > 0.1);
      CHECK(found.max_abs_diff <= 1e-5 * std::max(1.0, found.largest));
    }
  }
}

TEST_CASE("a wrong number in a row that is looked at is found, in q, k, v and output") {
  const TracePtr right =
      fused_forward(test::as_f32(test::sized_inputs(1, 5, 5, 2, 2, 4, 4)), {.keep_projections = true});
  CHECK(sampled_agreement(*right, 5).max_abs_diff < 1e-5);
  for (TensorPtr TraceTensors::*member :
       {&TraceTensors::q, &TraceTensors::k, &TraceTensors::v, &TraceTensors::output}) {
    for (const float wrong : {0.5f, std::numeric_limits<float>::quiet_NaN()}) {
      Trace trace = *right;
      Tensor changed = *(trace.tensors.*member);
      changed.values<float>()[7] += wrong;
      trace.tensors.*member = std::make_shared<const Tensor>(std::move(changed));
      const double found = sampled_agreement(trace, 5).max_abs_diff;
      CHECK((std::isnan(wrong) ? std::isnan(found) : found > 0.1));
    }
  }
}

TEST_CASE("of a trace with dropout no agreement is told") {
  AttentionInputs inputs = test::as_f32(test::sized_inputs(1, 5, 5, 2, 2, 4, 4));
  inputs.options.dropout = 0.5;
  CHECK_THROWS_AS(sampled_agreement(*fused_forward(inputs, {.keep_projections = true})), Error);
}

TEST_CASE("every model's attention is one that the operator takes, at its width") {
  std::set<std::string_view> names;
  for (const ModelSizes& model : model_sizes()) {
    CAPTURE(model.name);
    CHECK(names.insert(model.name).second);
    CHECK(model.num_heads * model.head_dim == model.embed_dim);
    CHECK(model.num_heads % model.num_kv_heads == 0);
    CHECK_FALSE(model.source.empty());
    const Scenario scenario = model_scenario(model, 3, model.is_causal);
    const AttentionInputs inputs = make_scenario_inputs(scenario, DType::f32).attention;
    CHECK(inputs.tensors.query->shape().sizes() == std::vector<Index>{1, 3, model.embed_dim});
    CHECK(inputs.options.num_kv_heads == model.num_kv_heads);
    CHECK(inputs.options.is_causal == model.is_causal);
  }
}
