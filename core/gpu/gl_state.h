// What one run on the GPU holds: seen by the files of the gl backend alone.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/attention/in_projection.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_attention.h"
#include "core/gpu/gpu_frozen_weights.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/changed_tokens.h"

namespace headwise {

enum class GlStage { projections, attention, output, none };

// Tokens of query, key and value that are others than before; none: all.
struct ChangedInputs {
  std::optional<std::vector<TokenRange>> query, key, value;
};

struct GlForward::State {
  State(const AttentionInputs& inputs, const GlRun& asked);

  bool is_module() const { return trace->options.op == Op::multi_head_attention; }
  // These inputs from now on. Of those before, arrays that are not among them leave the GPU.
  void take_over(const AttentionInputs& inputs);
  // The GPU's memory for what is computed, and the masks.
  void take_room();
  // The masks and frozen heads alone.
  void take_masks();
  void take_gains();
  // Before the masks: what is rotated is what is attended to.
  void take_rotary();
  // The jobs of a run; what comes before `from` is there already, and of q, k and v what is not of `changed`.
  void plan(GlStage from, const ChangedInputs& changed = {});
  std::vector<const StorageBuffer*> buffers() const;  // that there are

  GlRun run;
  AttentionSizes sizes;
  std::shared_ptr<Trace> trace;
  GpuPrograms programs;
  GpuWork work;
  std::map<const Tensor*, StorageBuffer> given;  // inputs and parameters; one array, one buffer
  StorageBuffer q, k, v, statistics, heads, output;
  StorageBuffer rotated_q,
      rotated_k;  // (N,H,L,D) (N,G,S,D), of rotary position embedding; none: q and k as they are
  StorageBuffer rotation_q, rotation_k;  // their angles
  std::optional<GpuMasks> masks;
  StorageBuffer gains, concat;  // of the heads; none: all 1, and `heads` is concat
  GpuFrozenWeights held;
  GpuAttention attention;

 private:
  const StorageBuffer& put(const char* name, const TensorPtr& tensor);
  void add_key_rows(Projection which, Index width, const std::optional<std::vector<TokenRange>>& changed,
                    StorageBuffer& rows);
  void add_projections(const ChangedInputs& changed);
  void put_heads();
  void put_frozen();
  void add_rotary();
  void add_output();
};

}  // namespace headwise
