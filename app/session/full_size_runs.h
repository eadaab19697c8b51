// Attention at the size used in real models, computed in a thread of its own: the timed run itself, and what is needed to
// inspect its weights, which are not stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/finer_maps.h"
#include "app/session/full_size_passes.h"
#include "app/session/worker.h"
#include "core/full_size/model_sizes.h"
#include "core/full_size/sampled_agreement.h"
#include "core/full_size/weight_blocks.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct FullSizeRequest {
  std::size_t model = 0;  // of model_sizes()
  Index length = 0;
  bool is_causal = false;
  bool hand_made = true;  // a repeated sentence and hand-made heads; else random numbers
  BackendId backend = BackendId::fused;
  friend bool operator==(const FullSizeRequest&, const FullSizeRequest&) = default;
};

// What a run reuses from the previous one.
struct FullSizeBefore {
  std::optional<ScenarioInputs> inputs;  // if the same tokens go through the same parameters
  TracePtr trace;                        // if nothing but the mask differs
};

struct FullSizeResult {
  std::uint64_t number = 0;  // unique for every result: its address may be that of a destroyed one
  FullSizeRequest request;
  std::string error;  // why there is no result: a sentence
  ScenarioInputs inputs;
  FullSizePasses forward;
  std::unique_ptr<WeightTiles> tiles;
  std::unique_ptr<WeightPyramid> pyramid;
  SampledAgreement agreement;
  double map_seconds = 0.0;    // to recompute every weight once
  double multiply_adds = 0.0;  // of one pass, not counting those masked out or those of reused projections
};
using FullSizeResultPtr = std::shared_ptr<const FullSizeResult>;

// The scenario of a request.
Scenario full_size_scenario(const FullSizeRequest& request);
// All of it, synchronously. Never throws Error: `error` reports it.
FullSizeResultPtr full_size_run(const FullSizeRequest& request, const FullSizeBefore& before = {});

class FullSizeRuns {
 public:
  // `wake` is called from another thread when a result can be taken; it may be empty.
  explicit FullSizeRuns(std::function<void()> wake = {}) : finer_(wake), worker_(std::move(wake)) {}

  // Cancels the work under way first. The last result is released before the next run starts, because two may not fit in
  // memory, except for what the next run reuses.
  void start(const FullSizeRequest& request);
  // Cancels the work under way and waits until it has ended.
  void cancel();
  bool running();
  Waiting waiting() const { return worker_.waiting(); }
  // The last run completed; null: none.
  const FullSizeResultPtr& result();
  // For the last result.
  FinerMaps& finer() { return finer_; }
  // Releases the result.
  void forget();

 private:
  void take_in();

  FullSizeResultPtr result_;
  FullSizeResultPtr arrived_;  // written by the worker
  FinerMaps finer_;
  Worker worker_;
};

}  // namespace headwise
