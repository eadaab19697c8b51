#include "app/session/frozen_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/scenario/frozen_heads_fit.h"

namespace headwise {
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
  for (Index n = 0; n < batch; ++n) {
    for (const std::int64_t head : heads) {
      for (Index i = 0; i < slice; ++i) to[next++] = weights.flat((n * all + head) * slice + i);
    }
  }
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
  const bool lets_go = is_frozen(scenario, head);
  std::vector<std::int64_t> heads;
  if (scenario.frozen_heads) heads = scenario.frozen_heads->heads;
  std::erase(heads, head);
  if (!lets_go) heads.push_back(head);
  HeadEdit edit{without_frozen_heads(scenario),
                fmt::format("{} head {}", lets_go ? "unfreeze" : "freeze", head)};
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

}  // namespace headwise
