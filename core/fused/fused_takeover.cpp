#include "core/fused/fused_takeover.h"

#include <algorithm>
#include <cstring>

#include "core/tensor/task_threads.h"
#include "core/trace/kept_stages.h"

namespace headwise {
namespace {

// Of a number's comparison, in multiply-adds: two are read from far.
constexpr double cost_of_number = 2.0;

// Panels of x (N, tokens, width) that differ from those of before, which has the same shape.
std::vector<PanelPlace> changed_panels(const TensorPtr& before, const TensorPtr& x) {
  if (before == x) return {};
  const Index tokens = x->shape().size(1), width = x->shape().size(2);
  const Index panels = whole_parts(tokens, panel_lanes), count = x->shape().size(0) * panels;
  const float* const a = before->values<float>().data();
  const float* const b = x->values<float>().data();
  std::vector<char> differs(static_cast<std::size_t>(count));
  for_ranges(count, cost_of_number * static_cast<double>(panel_lanes * width), [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index token = i % panels * panel_lanes;
      const Index from = (i / panels * tokens + token) * width;
      const Index numbers = std::min(panel_lanes, tokens - token) * width;
      differs[static_cast<std::size_t>(i)] =
          std::memcmp(a + from, b + from, static_cast<std::size_t>(numbers) * sizeof(float)) != 0;
    }
  });
  std::vector<PanelPlace> changed;
  for (Index i = 0; i < count; ++i)
    if (differs[static_cast<std::size_t>(i)]) changed.push_back({i / panels, i % panels});
  return changed;
}

// Multiply-adds of a token's projection.
double token_work(const Tensor& rows, const Tensor& x) {
  return static_cast<double>(rows.shape().size(2)) * static_cast<double>(x.shape().size(2));
}

}  // namespace

FusedTakeover fused_takeover(const Trace* before, const AttentionInputs& inputs, bool wants_weights) {
  if (!before || !before->tensors.q || !before->tensors.k || !before->tensors.v ||
      !have_same_projection_parameters(*before, inputs))
    return {};
  const TraceTensors &a = before->tensors, &b = inputs.tensors;
  FusedTakeover kept;
  kept.q = {a.q, changed_panels(a.query, b.query)};
  kept.k.before = a.k;
  kept.v.before = a.v;
  // What self-attention reads three times is compared once.
  const auto changed_beside = [&](const TensorPtr& x_before, const TensorPtr& x) {
    return x_before == a.query && x == b.query ? kept.q.changed : changed_panels(x_before, x);
  };
  if (!b.static_k) kept.k.changed = changed_beside(a.key, b.key);
  if (!b.static_v) kept.v.changed = changed_beside(a.value, b.value);

  double all = 0.0, left = 0.0;
  const auto add = [&](const FusedRows& rows, const TensorPtr& x) {
    const auto panels =
        static_cast<double>(x->shape().size(0) * whole_parts(x->shape().size(1), panel_lanes));
    const double work = token_work(*rows.before, *x);
    all += panels * work;
    left += static_cast<double>(rows.changed.size()) * work;
  };
  add(kept.q, b.query);
  if (!b.static_k) add(kept.k, b.key);
  if (!b.static_v) add(kept.v, b.value);
  // Rows are copied and put into panels anew: from half of the work on, a run of its own is the shorter way.
  if (2.0 * left > all) return {};
  if (left > 0.0 || !a.head_output || (wants_weights && !a.attn_weights) ||
      !have_same_attention(*before, inputs))
    return kept;
  kept.head_output = a.head_output;
  if (have_same_output(*before, inputs)) kept.output = a.output;
  return kept;
}

}  // namespace headwise
