#include "core/fused/fused_projection.h"

#include <algorithm>

#include "core/attention/changed_tokens.h"
#include "core/attention/stage_cache.h"
#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

// Features of a task: two heads of the usual width; 128 rows of 512 weights are 256 KiB.
constexpr Index features_at_once = 128;

// Panels of a task: the weights of its features are fetched from memory once, a panel's tokens while the
// previous one is computed.
constexpr Index panels_at_once = 8;

// If there are few panels, they are split into at least this many tasks.
constexpr Index parts_of_panels = 4;

// The depth processed at once: a panel of it is 128 KiB.
constexpr Index depth_at_once = 512;

Index panels_of_task(const FusedProjection& projection) {
  if (projection.only) return 1;
  return std::clamp<Index>(projection.x.count / parts_of_panels, 1, panels_at_once);
}

// Tasks for the same features of a batch; with selected panels, of all batches.
Index runs_of(const FusedProjection& projection) {
  if (projection.only) return static_cast<Index>(projection.only->size());
  return whole_parts(projection.x.count, panels_of_task(projection));
}

Index tasks_of_features(const FusedProjection& projection) {
  return runs_of(projection) * (projection.only ? 1 : projection.x.batch);
}

// Features [first, first + features) of the tokens of one panel.
bool make_panel(const FusedProjection& projection, Index n, Index p, Index first, Index features,
                float* scratch) {
  const FusedKernels& kernels = projection.kernels;
  const Panels& x = projection.x;
  const LinearRows& weight = projection.weight;
  const Index depth = x.width;
  const float* const weights = weight.weight->values<float>().data() + weight.first_weight_row * depth;
  const float* const bias =
      weight.bias ? weight.bias->values<float>().data() + weight.first_bias_entry : nullptr;
  // Computes features from `from` on into `out`, a row of 64 lanes each.
  const auto make = [&](Index from, Index count, float* out) {
    for (Index k = 0; k < depth; k += depth_at_once) {
      kernels.multiply({.left = weights + from * depth + k,
                        .left_row = depth,
                        .left_depth = 1,
                        .right = x.panel(n, p) + k * panel_lanes,
                        .right_panel = panel_lanes,
                        .right_depth = panel_lanes,
                        .out = out,
                        .out_row = panel_lanes,
                        .rows = count,
                        .columns = panel_lanes,
                        .depth = std::min(depth_at_once, depth - k),
                        .begin = k > 0  ? Begin::add
                                 : bias ? Begin::bias
                                        : Begin::zero,
                        .by_row = bias ? bias + from : nullptr,
                        .prefetch = p + 1 < x.count ? x.panel(n, p + 1) : nullptr,
                        .prefetch_count = depth * panel_lanes});
    }
    return !projection.asks_finite || kernels.finite(out, count * panel_lanes);
  };
  if (projection.to.panels)
    return make(first, features, projection.to.panels->panel(n, p) + first * panel_lanes);
  if (HeadPanels* const heads = projection.to.head_panels) {
    bool finite = true;
    for (Index f = first; f < first + features;) {
      const Index g = f / heads->width, d = f % heads->width;
      const Index of_head = std::min(first + features - f, heads->width - d);
      finite = make(f, of_head, heads->panel(n, g, p) + d * panel_lanes) && finite;
      f += of_head;
    }
    return finite;
  }
  const bool finite = make(first, features, scratch);
  const Index tokens = x.tokens_of(p);
  if (projection.to.rows) {
    kernels.transpose(
        scratch, panel_lanes, features, tokens, nullptr,
        projection.to.rows + (n * projection.to.row_tokens + p * panel_lanes) * projection.features + first,
        projection.features);
  }
  if (HeadRows* const heads = projection.to.head_rows) {
    for (Index f = first; f < first + features;) {
      const Index g = f / heads->width, d = f % heads->width;
      const Index of_head = std::min(first + features - f, heads->width - d);
      kernels.transpose(scratch + (f - first) * panel_lanes, panel_lanes, of_head, tokens, nullptr,
                        heads->row(n, g, p * panel_lanes) + d, heads->step);
      f += of_head;
    }
  }
  return finite;
}

}  // namespace

Index fused_projection_tasks(const FusedProjection& projection) {
  return whole_parts(projection.features, features_at_once) * tasks_of_features(projection);
}

Index fused_projection_tasks_until(const FusedProjection& projection, Index n, Index feature) {
  const Index parts = whole_parts(feature, features_at_once);
  return parts == 0 ? 0 : ((parts - 1) * projection.x.batch + n + 1) * runs_of(projection);
}

PanelPlace fused_projection_reads_from(const FusedProjection& projection, Index task) {
  const Index runs = runs_of(projection);
  if (projection.only) return (*projection.only)[static_cast<std::size_t>(task % runs)];
  return {task / runs % projection.x.batch, (runs - 1 - task % runs) * panels_of_task(projection)};
}

Index fused_projection_scratch() {
  return features_at_once * panel_lanes;
}

bool run_fused_projection_task(const FusedProjection& projection, Index task, float* scratch) {
  const auto [n, first_panel] = fused_projection_reads_from(projection, task);
  const Index end = std::min(projection.x.count, first_panel + panels_of_task(projection));
  const Index first = task / tasks_of_features(projection) * features_at_once;
  const Index features = std::min(features_at_once, projection.features - first);
  bool finite = true;
  for (Index p = first_panel; p < end; ++p) {
    check_cancelled();
    finite = make_panel(projection, n, p, first, features, scratch) && finite;
  }
  return finite;
}

std::pair<const Panels&, TaskPhase> FusedInputs::panels(const Tensor& x, const std::vector<PanelPlace>* only) {
  const auto [at, is_new] = inputs_.try_emplace(&x);
  auto& [made, begun] = at->second;
  if (is_new) {
    made = Panels(batch_, x.shape().size(1), x.shape().size(2));
    begun.resize(static_cast<std::size_t>(made.batch * made.count));
  }
  std::vector<PanelPlace> fresh;
  const auto take = [&, count = made.count, &of_input = begun](PanelPlace place) {
    const auto i = static_cast<std::size_t>(place.n * count + place.panel);
    if (!of_input[i]) fresh.push_back(place);
    of_input[i] = true;
  };
  for (Index i = 0; !only && i < made.batch * made.count; ++i) take({i / made.count, i % made.count});
  if (only) std::ranges::for_each(*only, take);
  const auto count = static_cast<Index>(fresh.size());
  return {made,
          {count,
           [&panels = made, fresh = std::move(fresh), rows = x.values<float>().data(), this](Index task, int) {
             const auto [n, p] = fresh[static_cast<std::size_t>(task)];
             fill_panel(kernels_, rows + (n * panels.tokens + p * panel_lanes) * panels.width,
                        panels.tokens_of(p), panels.width, panels.width, panels.panel(n, p));
           }}};
}

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
