#include "core/fused/fused_takeover.h"

#include "core/reference/stage_cache.h"
#include "core/trace/changed_tokens.h"

namespace headwise {
namespace {

// Panels of x (N, tokens, width) with a token that differs from `before`, which has the same shape.
std::vector<PanelPlace> changed_panels(const TensorPtr& before, const TensorPtr& x) {
  std::vector<PanelPlace> changed;
  for (const TokenRange& range : changed_tokens(*before, *x)) {
    for (Index p = range.first / panel_lanes; p <= (range.first + range.count - 1) / panel_lanes; ++p)
      if (changed.empty() || changed.back().n != range.n || changed.back().panel != p)
        changed.push_back({range.n, p});
  }
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
  // An array that self-attention reads three times is compared once.
  const auto changed_beside = [&](const TensorPtr& x_before, const TensorPtr& x) {
    return x_before == a.query && x == b.query ? kept.q.changed : changed_panels(x_before, x);
  };
  if (!b.static_k) kept.k.changed = changed_beside(a.key, b.key);
  if (!b.static_v) kept.v.changed = changed_beside(a.value, b.value);

  double all = 0.0, left = 0.0;
  const auto add = [&](const FusedRows& rows, const TensorPtr& x) {
    const auto panels = static_cast<double>(x->shape().size(0) * whole_parts(x->shape().size(1), panel_lanes));
    const double work = token_work(*rows.before, *x);
    all += panels * work;
    left += static_cast<double>(rows.changed.size()) * work;
  };
  add(kept.q, b.query);
  if (!b.static_k) add(kept.k, b.key);
  if (!b.static_v) add(kept.v, b.value);
  // Rows are copied and put into panels again: from half of the work on, a full run is faster.
  if (2.0 * left > all) return {};
  if (left > 0.0 || !a.head_output || (wants_weights && !a.attn_weights) ||
      !have_same_attention(*before, inputs))
    return kept;
  kept.head_output = a.head_output;
  if (have_same_output(*before, inputs)) kept.output = a.output;
  return kept;
}

}  // namespace headwise
