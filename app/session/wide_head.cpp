#include "app/session/wide_head.h"

#include "core/scenario/layer_scenario.h"

namespace headwise {

std::string no_wide_head(const Scenario& scenario, const ScenarioInputs& inputs) {
  const AttentionSpec& attention = scenario.attention;
  const bool of_model = inputs.layer && is_of_model(scenario);
  if (scenario.op != Op::multi_head_attention)
    return "scaled_dot_product_attention takes arrays that are already split into heads; the view Compare "
           "shows one "
           "wide head";
  if (attention.num_heads <= 1) return "there is only one head";
  if (attention.num_kv_heads && *attention.num_kv_heads != attention.num_heads)
    return "key/value heads are shared: one wide head would need each of them several times";
  if (attention.rotary_base || attention.rotary_inverse_frequencies)
    return "rotary position embedding pairs columns within each head: one wide head would pair others";
  if (of_model && !choice_of_heads(*inputs.layer, 1)) return "the arrays of this layer do not fit one head";
  if (!of_model && scenario.parameters.source == ParameterSource::hand_made)
    return "hand-made heads are rebuilt for each number of heads; the view Compare shows one wide head";
  if (!of_model && scenario.parameters.source == ParameterSource::random &&
      scenario.parameters.init == Initialisation::normal_dk)
    return "with normal_dk the parameters depend on the width of a head";
  return "";
}

HeadEdit with_one_wide_head(const Scenario& scenario, const ScenarioInputs& inputs) {
  HeadEdit edit{scenario, "read as one wide head"};
  AttentionSpec& attention = edit.scenario.attention;
  const std::int64_t heads = attention.num_heads;
  if (inputs.layer && is_of_model(scenario)) {
    if (!inputs.layer->num_heads) edit.scenario.origin.written.insert(num_heads_path);
    if (const auto one = choice_of_heads(*inputs.layer, 1)) set_heads(attention, *one);
  } else {
    if (attention.head_dim) *attention.head_dim *= heads;
    if (attention.v_head_dim) *attention.v_head_dim *= heads;
    attention.num_kv_heads.reset();
  }
  attention.num_heads = 1;
  edit.scenario.head_gain.reset();
  edit.scenario.frozen_heads.reset();
  return edit;
}

}  // namespace headwise
