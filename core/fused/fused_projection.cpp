#include "core/fused/fused_projection.h"

#include <algorithm>

#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Features of a task: their weights, a strip of the depth at a time, stay in the second cache.
constexpr Index features_at_once = 128;

}  // namespace

Panels panels_of(const FusedKernels& kernels, const float* rows, Index batch, Index tokens, Index width,
                 int threads) {
  Panels panels(kernels, batch, tokens, width);
  run_tasks(batch * panels.count, threads, [&](Index task, int) {
    const Index n = task / panels.count, p = task % panels.count, first = p * panels.lanes;
    fill_panel(rows + (n * tokens + first) * width, std::min(panels.lanes, tokens - first), width, width,
               panels.lanes, panels.panel(n, p));
  });
  return panels;
}

void project(const FusedKernels& kernels, const Panels& x, Index depth, const LinearRows& rows,
             Index features, const ProjectionTarget& to, int threads) {
  const Index block = kernels.block, lanes = kernels.lanes;
  Blocks weight(kernels, features, depth);
  const float* const first_row = rows.weight->values<float>().data() + rows.first_weight_row * depth;
  const float* const bias = rows.bias ? rows.bias->values<float>().data() + rows.first_bias_entry : nullptr;
  constexpr Index blocks_at_once = 16;
  run_tasks((weight.count + blocks_at_once - 1) / blocks_at_once, threads, [&](Index task, int) {
    const Index end = std::min((task + 1) * blocks_at_once, weight.count);
    for (Index b = task * blocks_at_once; b < end; ++b)
      fill_block(first_row + b * block * depth, std::min(block, features - b * block), depth, depth, block,
                 weight.block(b));
  });

  const Index group = features_at_once / block;  // blocks of a task
  const Index groups = (weight.count + group - 1) / group;
  std::vector<FusedBuffer> scratch(static_cast<std::size_t>(threads));
  run_tasks(groups * x.batch * x.count, threads, [&](Index task, int worker) {
    const Index p = task % x.count, n = task / x.count % x.batch, b = task / x.count / x.batch * group;
    const Index count = std::min(group, weight.count - b), first_feature = b * block;
    const Index made = std::min(count * block, features - first_feature);
    FusedBuffer& own = scratch[static_cast<std::size_t>(worker)];
    if (!to.panels && own.size() == 0) own = FusedBuffer(group * block * lanes);
    float* const out = to.panels ? to.panels->panel(n, p) + first_feature * lanes : own.at(0);
    for (Index f = 0; f < count * block; ++f)
      std::fill_n(out + f * lanes, lanes, bias && f < made ? bias[first_feature + f] : 0.0f);
    multiply_deep(kernels, weight.block(b), weight.stride(), count, depth, x.panel(n, p), out);
    if (!to.rows) return;
    const Index first = p * lanes;
    read_panel(out, std::min(lanes, x.tokens - first), made, lanes,
               to.rows + n * to.batch_stride + first * features + first_feature, features);
  });
}

}  // namespace headwise
