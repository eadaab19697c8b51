#include "core/scenario/frozen_heads_fit.h"

#include <algorithm>

#include "core/scenario/given_arrays.h"
#include "core/scenario/scenario_plan.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {

bool frozen_heads_fit(const Scenario& scenario, const ScenarioInputs* previous) {
  if (!scenario.frozen_heads || scenario.frozen_heads->heads.empty()) return true;
  try {
    ArrayFiles files;
    GivenArrays arrays = gather_arrays(scenario, {}, previous ? &previous->files : nullptr, files);
    const auto held = arrays.find("frozen_weights");
    if (held == arrays.end()) return true;
    erase_repeated_query(scenario, {}, arrays);
    const InputsSpec& inputs = scenario.inputs;
    std::vector<std::string> notes;
    const std::shared_ptr<ModelInput> model =
        arrays.contains("query") ? nullptr : read_model_text(scenario, notes);
    const TextLengths text = text_lengths(inputs, model.get());
    Scenario free = scenario;
    free.frozen_heads.reset();
    const ScenarioPlan plan = plan_scenario(free, arrays, given_sizes(arrays, free), text);
    const std::vector<std::int64_t>& heads = scenario.frozen_heads->heads;
    const std::vector<Index> sizes{plan.batch, static_cast<Index>(heads.size()), plan.query_length,
                                   plan.all_keys};
    return *std::ranges::max_element(heads) < plan.options.num_heads &&
           held->second.outline().shape().sizes() == sizes;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace headwise
