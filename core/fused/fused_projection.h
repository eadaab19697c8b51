// The linear layers before and after attention.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/attention/linear.h"
#include "core/attention/trace.h"
#include "core/fused/fused_layout.h"

namespace headwise {

// Where the y of a linear layer goes: one of these. They may have more tokens than x; lanes beyond it are
// written before the tokens that belong there, rows beyond it not at all.
struct ProjectionTarget {
  Panels* panels = nullptr;           // width: features
  HeadPanels* head_panels = nullptr;  // heads·width: features
  HeadRows* head_rows = nullptr;      // heads·width: features
  float* rows = nullptr;              // row-major (N, row_tokens, features)
  Index row_tokens = 0;
};

// One panel of tokens, of batch n.
struct PanelPlace {
  Index n, panel;
};

// One linear layer over tokens in panels, as tasks that can be done in any order and in parallel.
struct FusedProjection {
  const FusedKernels& kernels;
  const Panels& x;  // (N, tokens, depth)
  LinearRows weight;
  Index features;
  ProjectionTarget to;
  bool asks_finite = false;
  // The panels whose tokens are projected, one per task; null: all.
  const std::vector<PanelPlace>* only = nullptr;
};

Index fused_projection_tasks(const FusedProjection& projection);
// How many leading tasks compute the features before `feature` of batch n, for all tokens. All panels only.
Index fused_projection_tasks_until(const FusedProjection& projection, Index n, Index feature);
// The first panel that a task reads; with all panels, later tasks read earlier ones.
PanelPlace fused_projection_reads_from(const FusedProjection& projection, Index task);
Index fused_projection_scratch();  // floats per worker

// y[n,token,o] = Σ_k x[n,token,k]·weight[o,k] + bias[o] for some o and tokens. False if one of them is NaN or
// infinite and the projection checks for that.
bool run_fused_projection_task(const FusedProjection& projection, Index task, float* scratch);

// Inputs of linear layers in panels: of what several layers read, each panel is filled once.
class FusedInputs {
 public:
  FusedInputs(const FusedKernels& kernels, Index batch) : kernels_(kernels), batch_(batch) {}

  // The panels of x (N, tokens, depth), and tasks that fill all of them, or `only` some, without those that
  // earlier tasks fill.
  std::pair<const Panels&, TaskPhase> panels(const Tensor& x, const std::vector<PanelPlace>* only);

 private:
  struct Input {
    Panels panels;
    std::vector<bool> begun;  // those that some task fills
  };
  const FusedKernels& kernels_;
  Index batch_;
  std::map<const Tensor*, Input> inputs_;
};

// What a run of the fused backend reuses from the previous one.

// q, k or v of the previous run, and the panels containing a token whose input has changed.
struct FusedRows {
  TensorPtr before;
  std::vector<PanelPlace> changed;
};

struct FusedTakeover {
  FusedRows q, k, v;      // null if everything is projected
  TensorPtr head_output;  // null if it has changed, or was not kept
  TensorPtr output;       // likewise
};

// For a module. `before` may be null; with `wants_weights`, head_output is reused only if attn_weights can
// be, too. Inputs in different arrays are compared token by token.
FusedTakeover fused_takeover(const Trace* before, const AttentionInputs& inputs, bool wants_weights);

}  // namespace headwise
