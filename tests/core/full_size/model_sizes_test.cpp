#include "core/full_size/model_sizes.h"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

#include "core/scenario/scenario_inputs.h"

using namespace headwise;

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
