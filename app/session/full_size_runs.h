// Attention at the size that models have it, computed in a thread of its own: the run itself, timed, and what is needed to
// look at its weights, which are not kept.
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
#include "core/full_size/weight_pyramid.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct FullSizeRequest {
  std::size_t model = 0;  // of model_sizes()
  Index length = 0;
  bool is_causal = false;
  bool hand_made = true;  // a sentence over and over and hand-made heads; else random numbers
  BackendId backend = BackendId::fused;
  friend bool operator==(const FullSizeRequest&, const FullSizeRequest&) = default;
};

// What a run takes over from the one before it.
struct FullSizeBefore {
  std::optional<ScenarioInputs> inputs;  // where the same tokens went through the same parameters
  TracePtr trace;                        // where nothing but the mask is another
};

struct FullSizeResult {
  std::uint64_t number = 0;  // another one for every result: its address may be that of one that is gone
  FullSizeRequest request;
  std::string error;  // why there is none: a sentence
  ScenarioInputs inputs;
  FullSizePasses forward;
  std::unique_ptr<WeightTiles> tiles;
  std::unique_ptr<WeightPyramid> pyramid;
  SampledAgreement agreement;
  double map_seconds = 0.0;  // of making every weight once more
  double multiply_adds =
      0.0;  // of one pass, those that the mask rules out and those of kept projections not counted
};
using FullSizeResultPtr = std::shared_ptr<const FullSizeResult>;

// The scenario of a request.
Scenario full_size_scenario(const FullSizeRequest& request);
// All of it, here and now. Never throws Error: `error` tells it.
FullSizeResultPtr full_size_run(const FullSizeRequest& request, const FullSizeBefore& before = {});

class FullSizeRuns {
 public:
  // `wake` is called from another thread when a result can be taken; it may be empty.
  explicit FullSizeRuns(std::function<void()> wake = {}) : finer_(wake), worker_(std::move(wake)) {}

  // What is under way is given up first. The last result is let go before the next is begun, for two may not fit in memory, but for
  // what the next takes over.
  void start(const FullSizeRequest& request);
  // Gives up what is under way and waits until it has noticed.
  void cancel();
  bool running();
  Waiting waiting() const { return worker_.waiting(); }
  // The last one that came to its end; null: none.
  const FullSizeResultPtr& result();
  // Of the last result.
  FinerMaps& finer() { return finer_; }
  // Lets go of it.
  void forget();

 private:
  void take_in();

  FullSizeResultPtr result_;
  FullSizeResultPtr arrived_;  // written by the worker
  FinerMaps finer_;
  Worker worker_;
};

}  // namespace headwise
