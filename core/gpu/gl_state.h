// The state of one run on the GPU: private to the gl backend.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/changed_tokens.h"
#include "core/attention/in_projection.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gl_queue.h"
#include "core/gpu/gpu_attention.h"

namespace headwise {

enum class GlStage { projections, attention, output, none };

// Tokens of query, key and value that have changed; nullopt: all.
struct ChangedInputs {
  std::optional<std::vector<TokenRange>> query, key, value;
};

struct GlForward::State {
  State(const AttentionInputs& inputs, const GlRun& asked);

  bool is_module() const { return projects(trace->options.op); }
  // Switches to these inputs. Arrays that are no longer among them are released from the GPU.
  void take_over(const AttentionInputs& inputs);
  // Allocates GPU memory for results, and the masks.
  void allocate_buffers();
  // Only the masks and frozen heads.
  void take_masks();
  void take_gains();
  // Before the masks: the last of q, normed_q and rotated_q is what attention reads, and likewise of k.
  void take_rotary();
  void take_norms();
  void take_past();
  // The last of k, normed_k and rotated_k, or of q: a factor of the scores, or what a past precedes.
  const StorageBuffer& last_of(const StorageBuffer& rows, const StorageBuffer& normed,
                               const StorageBuffer& rotated) const;
  // Plans the jobs of a run; what comes before `from` is already there, and so are the rows of q, k and v
  // that are not in `changed`.
  void plan(GlStage from, const ChangedInputs& changed = {});
  std::vector<const StorageBuffer*> buffers() const;  // all existing ones

  GlRun run;
  AttentionSizes sizes;
  std::shared_ptr<Trace> trace;
  GpuPrograms programs;
  GlQueue queue;
  GpuWork work;
  std::map<const Tensor*, StorageBuffer> given;  // inputs and parameters; one buffer per array
  StorageBuffer q, k, v, statistics, heads, output;
  StorageBuffer present_k, present_v;  // (N,G,S′,width): the past, and k and v after it; null without a past
  StorageBuffer rotated_q,
      rotated_k;  // (N,H,L,D) (N,G,S,D), for rotary position embedding; null: q and k as they are
  StorageBuffer normed_q, normed_k;      // the same for qk_norm
  StorageBuffer gains_of_q, gains_of_k;  // its weights and offset; null: all 1
  StorageBuffer rotation_q, rotation_k;  // their angles
  std::optional<GpuMasks> masks;
  // Gains per head, and the output gate; null: all 1, and `heads` is what is projected
  StorageBuffer gains, gate, concat;
  GpuFrozenWeights held;
  GpuAttention attention;

 private:
  const StorageBuffer& put(const char* name, const TensorPtr& tensor);
  void add_key_rows(Projection which, Index width, const std::optional<std::vector<TokenRange>>& changed,
                    StorageBuffer& rows);
  void add_projections(const ChangedInputs& changed);
  void put_heads();
  void put_frozen();
  void add_row_path();
  void add_norms();
  void add_to_past(const StorageBuffer& present, const StorageBuffer& rows, Index width);
  void add_rotary();
  void add_output();
};

}  // namespace headwise
