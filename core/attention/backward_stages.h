// The way back through attention, stage by stage (core/attention/reference_backward.cpp), and that of
// multi_head_latent_attention from its heads to query, key and every parameter.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/stage_cache.h"
#include "core/attention/trace.h"

namespace headwise {

class BackwardStages {
 public:
  BackwardStages(Trace& trace, const Trace* previous)
      : t_(trace.tensors),
        o_(trace.options),
        sizes_(attention_sizes(o_, t_)),
        dtype_(trace.dtype),
        g_(trace.grad),
        cache_(trace, previous, StageCache::Pass::backward) {}

  void project_latents();

 protected:
  using Id = TensorId;

  const TensorPtr& t(TensorId id) const { return t_.*(tensor_entry(id).member); }
  const TensorPtr& g(TensorId id) const { return g_.*(tensor_entry(id).member); }

  // A gradient has the shape of its tensor; together with S and the sources' shapes that determines every
  // other size. `choices` are what else it depends on.
  void stage(TensorId id, std::vector<TensorPtr> sources, const std::function<Tensor()>& make,
             std::vector<double> choices = {});
  // Of y = x·Wᵀ + b to W and b.
  void linear_parameters(TensorId weight, std::optional<TensorId> bias, const TensorPtr& grad_y,
                         const TensorPtr& x);
  // From one of the present to the cache, and to this pass's own rows behind it.
  void back_through_present(TensorId id);
  // Of y = x·Wᵀ to x, if nothing else reads x.
  void linear_input(TensorId x, const TensorPtr& grad_y, TensorId weight);

  const TraceTensors& t_;
  const AttentionOptions& o_;
  const AttentionSizes sizes_;
  const DType dtype_;
  TraceTensors& g_;
  StageCache cache_;

 private:
  // From kv_b to the latents and to k_rot, which all heads read.
  void expanded_latents();
  // The latents are keys and values of all heads.
  void absorbed_latents();
  // From a normalised latent to what it is made of, whose other columns, if there are any, are rotated.
  void latent_norm(TensorId normed, TensorId source, TensorId weight, const TensorPtr& grad_rotated);
};

}  // namespace headwise
