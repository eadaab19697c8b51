#include "core/fused/fused_projection.h"

#include <algorithm>

namespace headwise {
namespace {

// Features of a task: whole tiles of 6 rows; 96 rows of 512 weights stay in half of the smallest second cache.
constexpr Index features_at_once = 96;
// The depth that is gone through at once: a panel of it is 128 KiB.
constexpr Index depth_at_once = 512;

}  // namespace

Index fused_projection_tasks(const FusedProjection& projection) {
  return whole_parts(projection.features, features_at_once) * projection.x.batch * projection.x.count;
}

Index fused_projection_scratch() {
  return features_at_once * panel_lanes;
}

bool fused_projection_task(const FusedProjection& projection, Index task, float* scratch) {
  const FusedKernels& kernels = projection.kernels;
  const Panels& x = projection.x;
  const LinearRows& weight = projection.weight;
  const Index groups = whole_parts(projection.features, features_at_once), depth = x.width;
  const Index p = task / groups % x.count, n = task / groups / x.count,
              first = task % groups * features_at_once;
  const Index features = std::min(features_at_once, projection.features - first);
  const float* const left = weight.weight->values<float>().data() + (weight.first_weight_row + first) * depth;
  const float* const bias =
      weight.bias ? weight.bias->values<float>().data() + weight.first_bias_entry + first : nullptr;
  const Index tokens = x.tokens_of(p);
  // Straight into a panel of its own, unless that has tokens of somebody else behind x's.
  const bool straight = projection.panels && projection.panels->tokens_of(p) == tokens;
  float* const out = straight ? projection.panels->panel(n, p) + first * panel_lanes : scratch;
  for (Index k = 0; k < depth; k += depth_at_once) {
    kernels.multiply({.left = left + k,
                      .left_row = depth,
                      .left_depth = 1,
                      .right = x.panel(n, p) + k * panel_lanes,
                      .right_panel = panel_lanes,
                      .right_depth = panel_lanes,
                      .out = out,
                      .out_row = panel_lanes,
                      .rows = features,
                      .columns = panel_lanes,
                      .depth = std::min(depth_at_once, depth - k),
                      .begin = k > 0  ? Begin::add
                               : bias ? Begin::bias
                                      : Begin::zero,
                      .by_row = bias});
  }
  if (projection.rows) {
    kernels.transpose(out, panel_lanes, features, tokens, nullptr,
                      projection.rows + (n * x.tokens + p * panel_lanes) * projection.features + first,
                      projection.features);
    return true;
  }
  if (projection.panels && !straight) {
    for (Index f = 0; f < features; ++f)
      std::copy_n(out + f * panel_lanes, tokens, projection.panels->panel(n, p) + (first + f) * panel_lanes);
  }
  if (HeadRows* const heads = projection.heads) {
    for (Index f = 0; f < features;) {
      const Index g = (first + f) / heads->width, d = (first + f) % heads->width;
      const Index of_head = std::min(features - f, heads->width - d);
      kernels.transpose(out + f * panel_lanes, panel_lanes, of_head, tokens, nullptr,
                        heads->row(n, g, p * panel_lanes) + d, heads->step);
      f += of_head;
    }
  }
  return kernels.finite(out, features * panel_lanes);
}

}  // namespace headwise
