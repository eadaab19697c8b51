#include "app/session/head_gains.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "core/attention/reference_backend.h"
#include "core/lessons/traced_inputs.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

std::vector<double> gains_of(const Scenario& scenario) {
  const auto heads = static_cast<std::size_t>(std::max<std::int64_t>(scenario.attention.num_heads, 0));
  std::vector<double> gains = scenario.head_gain.value_or(std::vector<double>{});
  gains.resize(heads, 1.0);
  return gains;
}

HeadEdit edited(Scenario scenario, std::vector<double> gains, std::string label) {
  const bool plain = std::ranges::all_of(gains, [](double gain) { return gain == 1.0; });
  scenario.head_gain.reset();
  if (!plain) scenario.head_gain = std::move(gains);
  return {std::move(scenario), std::move(label)};
}

}  // namespace

double head_gain_of(const Scenario& scenario, std::int64_t head) {
  const auto at = static_cast<std::size_t>(head);
  return scenario.head_gain && head >= 0 && at < scenario.head_gain->size() ? (*scenario.head_gain)[at] : 1.0;
}

HeadEdit set_head_gain(const Scenario& scenario, std::int64_t head, double gain) {
  std::vector<double> gains = gains_of(scenario);
  if (head < 0 || static_cast<std::size_t>(head) >= gains.size()) return {scenario, {}};
  gains[static_cast<std::size_t>(head)] = gain;
  return edited(scenario, std::move(gains), fmt::format("gain of head {}", head));
}

HeadEdit toggle_mute(const Scenario& scenario, std::int64_t head) {
  std::vector<double> gains = gains_of(scenario);
  if (head < 0 || static_cast<std::size_t>(head) >= gains.size()) return {scenario, {}};
  double& gain = gains[static_cast<std::size_t>(head)];
  const bool muted = gain == 0.0;
  gain = muted ? 1.0 : 0.0;
  return edited(scenario, std::move(gains), fmt::format("{} head {}", muted ? "unmute" : "mute", head));
}

HeadEdit toggle_solo(const Scenario& scenario, std::int64_t head) {
  std::vector<double> gains = gains_of(scenario);
  if (head < 0 || static_cast<std::size_t>(head) >= gains.size()) return {scenario, {}};
  const auto at = static_cast<std::size_t>(head);
  bool alone = gains[at] != 0.0 && gains.size() > 1;
  for (std::size_t h = 0; h < gains.size(); ++h) alone = alone && (h == at || gains[h] == 0.0);
  if (alone) {
    std::ranges::fill(gains, 1.0);
    return edited(scenario, std::move(gains), fmt::format("unsolo head {}", head));
  }
  for (std::size_t h = 0; h < gains.size(); ++h) gains[h] = h == at ? 1.0 : 0.0;
  return edited(scenario, std::move(gains), fmt::format("solo head {}", head));
}

namespace {

bool is_of_frozen_weights(const CellEdit& edit) {
  return edit.tensor == tensor_entry(TensorId::frozen_weights).name;
}

// The maps of these heads from (N,H,L,S′), in f64.
TensorPtr maps_of(const Tensor& weights, const std::vector<std::int64_t>& heads) {
  std::vector<Axis> axes = weights.shape().axes();
  const Index batch = axes[0].size, all = axes[1].size, slice = axes[2].size * axes[3].size;
  axes[1] = {"F", static_cast<Index>(heads.size())};
  Tensor maps(Shape(std::move(axes)), DType::f64);
  const auto to = maps.values<double>();
  std::size_t next = 0;
  for (Index n = 0; n < batch; ++n)
    for (const std::int64_t head : heads)
      for (Index i = 0; i < slice; ++i) to[next++] = weights.flat((n * all + head) * slice + i);
  return std::make_shared<const Tensor>(std::move(maps));
}

}  // namespace

bool is_frozen(const Scenario& scenario, std::int64_t head) {
  if (!scenario.frozen_heads) return false;
  const std::vector<std::int64_t>& heads = scenario.frozen_heads->heads;
  return std::ranges::find(heads, head) != heads.end();
}

HeadEdit toggle_freeze(const Scenario& scenario, const Trace& trace, std::int64_t head) {
  // An f32 trace is rounded from an f64 one: the latter has the head's true weights.
  const TensorPtr weights = (trace.exact ? *trace.exact : trace).tensors.dropped_weights;
  if (!weights || head < 0 || head >= weights->shape().size(1)) return {scenario, ""};
  const bool unfreezes = is_frozen(scenario, head);
  std::vector<std::int64_t> heads;
  if (scenario.frozen_heads) heads = scenario.frozen_heads->heads;
  std::erase(heads, head);
  if (!unfreezes) heads.push_back(head);
  HeadEdit edit{without_frozen_heads(scenario),
                fmt::format("{} head {}", unfreezes ? "unfreeze" : "freeze", head)};
  if (heads.empty()) return edit;
  const bool all_there =
      std::ranges::all_of(heads, [&](std::int64_t h) { return h < weights->shape().size(1); });
  if (!all_there) return {scenario, ""};
  edit.scenario.frozen_heads = FrozenHeads{heads, maps_of(*weights, heads), std::nullopt};
  // The trace may still have other sizes, while the new one is computed.
  if (!frozen_heads_fit(edit.scenario, nullptr)) return {scenario, ""};
  return edit;
}

Scenario without_frozen_heads(const Scenario& scenario) {
  Scenario free = scenario;
  free.frozen_heads.reset();
  std::erase_if(free.edits, is_of_frozen_weights);
  return free;
}

Scenario with_frozen_heads_of(const Scenario& scenario, const Scenario& other) {
  Scenario frozen = without_frozen_heads(scenario);
  frozen.frozen_heads = other.frozen_heads;
  std::ranges::copy_if(other.edits, std::back_inserter(frozen.edits), is_of_frozen_weights);
  return frozen;
}

std::optional<TensorChange> UnmutedOutput::change(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  if (!t.head_gain || !t.output || !t.concat) return std::nullopt;
  bool plain = true;
  for (Index head = 0; head < t.head_gain->size(); ++head) plain = plain && t.head_gain->flat(head) == 1.0;
  if (plain) return std::nullopt;
  if (!output_ || head_output_ != t.head_output || weight_ != t.out_proj_weight || bias_ != t.out_proj_bias ||
      gate_ != t.output_gate) {
    AttentionInputs inputs = traced_inputs(trace);
    inputs.tensors.head_gain = nullptr;
    inputs.options.head_gain.clear();
    output_ = reference_forward(inputs, &trace)->tensors.output;
    head_output_ = t.head_output;
    weight_ = t.out_proj_weight;
    bias_ = t.out_proj_bias;
    gate_ = t.output_gate;
    changed_to_.reset();
    ++computed_;
  }
  if (changed_to_ != t.output) {
    change_ = tensor_change(output_, t.output);
    changed_to_ = t.output;
  }
  return change_;
}

std::string no_wide_head(const Scenario& scenario, const ScenarioInputs& inputs) {
  const AttentionSpec& attention = scenario.attention;
  const bool of_model = inputs.layer && is_of_model(scenario);
  if (!projects(scenario.op))
    return "scaled_dot_product_attention takes arrays that are already split into heads; the view Compare "
           "shows one wide head";
  if (is_latent(scenario.op))
    return "each head makes its keys and values of one latent: one wide head would make other ones of it";
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
