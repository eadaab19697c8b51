#include "core/fused/fused_latent.h"

#include <memory>
#include <vector>

#include "core/attention/indexer.h"
#include "core/attention/latent_attention.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/fused/fused_projection.h"
#include "core/fused/kernels.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Every stage is computed, and its tensor is put where the pass looks for it.
class MadeStages final : public Stages {
 public:
  explicit MadeStages(TraceTensors& tensors) : tensors_(tensors) {}

 private:
  void take(Stage stage) override {
    name(stage.id, nullptr, std::make_shared<const Tensor>(stage.compute()));
  }
  void name(TensorId id, const TensorPtr&, const TensorPtr& tensor) override {
    tensors_.*(tensor_entry(id).member) = tensor;
  }
  TraceTensors& tensors_;
};

}  // namespace

Tensor fused_linear(const Tensor& x, const LinearRows& rows, Shape out) {
  const FusedKernels& kernels = fused_kernels();
  const Index batch = x.shape().size(0), tokens = x.shape().size(1), width = x.shape().size(2);
  Tensor y = Tensor::unwritten(std::move(out), DType::f32);
  Panels panels(batch, tokens, width);
  const float* const from = x.values<float>().data();
  const FusedProjection projection{.kernels = kernels,
                                   .x = panels,
                                   .weight = rows,
                                   .features = y.shape().size(2),
                                   .to = {.rows = y.values<float>().data(), .row_tokens = tokens}};
  const int threads = available_threads();
  std::vector<FusedBuffer> scratch(static_cast<std::size_t>(threads));
  const TaskPhase fill{batch * panels.count, [&](Index task, int) {
                         const Index n = task / panels.count, p = task % panels.count;
                         fill_panel(kernels, from + (n * tokens + p * panel_lanes) * width,
                                    panels.tokens_of(p), width, width, panels.panel(n, p));
                       }};
  const TaskPhase multiply{fused_projection_tasks(projection), [&](Index task, int worker) {
                             FusedBuffer& own = scratch[static_cast<std::size_t>(worker)];
                             if (own.size() == 0) own = FusedBuffer(fused_projection_scratch());
                             run_fused_projection_task(projection, task, own.at(0));
                           }};
  run_phases(std::vector<TaskPhase>{fill, multiply}, threads);
  return y;
}

void make_latent_heads(TraceTensors& tensors, const AttentionOptions& options, const AttentionSizes& sizes) {
  MadeStages stages(tensors);
  ForwardPass pass{tensors, options, sizes, DType::f32, stages, fused_linear};
  make_heads(pass);
}

void make_latent_output(TraceTensors& tensors, const AttentionOptions& options, const AttentionSizes& sizes) {
  MadeStages stages(tensors);
  ForwardPass pass{tensors, options, sizes, DType::f32, stages, fused_linear};
  expand_latent_output(pass);
  merge_and_project(pass);
}

LatentHeads latent_heads(const TraceTensors& tensors, const AttentionOptions& options,
                         const AttentionSizes& sizes) {
  LatentHeads heads{options, sizes, tensors};
  heads.options.scale = attention_scale(options);  // by Dn + R in both layouts
  heads.options.rotary_base.reset();               // rotated already
  heads.options.rotary_inverse_frequencies.clear();
  heads.options.head_gain.clear();
  heads.sizes.head_dim = sizes.score_width();
  heads.sizes.v_head_dim = sizes.value_width();
  TraceTensors& t = heads.tensors;
  const TensorPtr values = values_of_sum(tensors);
  t.q_heads = queries_of_scores(tensors, options);
  t.k_heads = keys_of_scores(tensors, options);
  t.v_heads = values->shape().rank() == 4 ? values : std::make_shared<const Tensor>(as_one_head(*values));
  t.head_gain = nullptr;
  t.indexer_scores = exact_indexer_scores(options, tensors);  // by the layer's rotation
  return heads;
}

}  // namespace headwise
