// Attention at the size used in real models, computed in a thread of its own: the timed run itself, and what
// is needed to inspect its weights, which are not stored.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "app/session/worker.h"
#include "core/backend/backend.h"
#include "core/backend/model_sizes.h"
#include "core/backend/sampled_agreement.h"
#include "core/backend/weight_tiles.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Blocks of a large map that are smaller than those kept for all heads, recomputed where the user looks: in
// the background, a piece at a time, the middle of the view first.

// What is viewed: blocks of `block` × `block` cells of a head (of the first sequence), and the visible cells.
struct FinerView {
  Index head = 0, block = 1;
  CellRange rows, cols;
  friend bool operator==(const FinerView&, const FinerView&) = default;
};

// A part of the map that starts at a multiple of the block.
struct FinerPiece {
  CellRange rows, cols;  // cells
  // Of the view's block size once they have arrived; until then of the next larger size that is kept,
  // or null.
  std::shared_ptr<const PyramidLevel> blocks;
  Index first_row = 0, first_col = 0;  // cell where `blocks` begins
};

class FinerMaps {
 public:
  // For all pieces kept; the least recently viewed are dropped first.
  static constexpr Index most_bytes = Index{64} << 20;
  // A piece has at most this many blocks per side, and at most this many cells per side unless a single block
  // has more: some 10 to 20 ms of work, which is how long an unwanted piece may still run.
  static constexpr Index piece_blocks = 128, piece_cells = 1024;

  // `wake` is called from another thread when pieces have arrived; it may be empty.
  explicit FinerMaps(std::function<void()> wake = {});
  ~FinerMaps();
  FinerMaps(const FinerMaps&) = delete;
  FinerMaps& operator=(const FinerMaps&) = delete;

  // Uses these weights from now on; drops all pieces of others.
  void begin(std::shared_ptr<const WeightTiles> tiles);
  // Cancels the work under way, waits until it has ended, and drops weights and pieces.
  void end();

  // Whether all pieces of a view can be kept at once.
  static bool fits(const FinerView& view);
  // The pieces that cover the view, row by row. From now on exactly the missing ones are computed. A view
  // that does not fit has none.
  std::vector<FinerPiece> look(const FinerView& view);
  // Stops computing. Pieces that have arrived are kept.
  void suspend();

  // Changes when pieces have arrived.
  std::uint64_t arrived() const { return arrived_; }
  // Whether a wanted piece is still missing.
  bool working() const;
  Index bytes() const;

 private:
  using Place = std::tuple<Index, Index, Index, Index>;  // head, block, first row, first column
  struct Kept {
    std::shared_ptr<const PyramidLevel> blocks;
    std::uint64_t last_use = 0;
  };

  void run();
  void make_pieces(const WeightTiles& tiles);
  // The kept piece that covers `place`; null: none.
  std::shared_ptr<const PyramidLevel> touch(const Place& place);
  void keep(const Place& place, PyramidLevel blocks);

  std::function<void()> wake_;
  std::atomic<std::uint64_t> arrived_ = 0;
  mutable std::mutex mutex_;  // guards everything below
  std::shared_ptr<const WeightTiles> tiles_;
  std::map<Place, Kept> kept_;
  Index bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::vector<Place> wanted_;  // the last is computed first
  std::vector<Place> under_way_;
  bool busy_ = false;
  Worker worker_;
};

// Forward passes at full size by one of the backends, timed.

struct FullSizePasses {
  TracePtr trace;                 // q, k, v and output
  BackendId backend{};            // that computed it
  bool kept_projections = false;  // q, k and v are those of the previous run: only what follows them is timed
  std::string notice;             // why it is not the requested one: a sentence
  // of a pass, median over `runs`; with gl from the inputs on the GPU to the output there
  double seconds = 0.0;
  int runs = 0;
  double extra_mib = 0.0;      // peak memory of the first pass beyond inputs and parameters; with gl, 0
  double peak_gflops = 0.0;    // of this machine's processor or, with gl, its GPU, measured before each pass
  std::string gpu;             // name of the GPU, with gl
  double gpu_mib = 0.0;        // GPU memory used, inputs and parameters included
  double longest_slice = 0.0;  // longest time without drawing, in milliseconds
  double read_seconds = 0.0;   // time to read q, k, v and output back from the GPU
};

// gl computes in its own context, on the calling thread: a window's frames wait neither for its shaders to
// compile nor for its slices, except on a GPU for the slice under way. If it cannot, or fails part-way, the
// fused backend does all of it, and `notice` says why. fused reuses q, k and v of `before` where they are the
// same. Otherwise throws what the backends throw, and Error(cancelled).
FullSizePasses full_size_passes(const AttentionInputs& inputs, BackendId backend,
                                const TracePtr& before = nullptr);

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

  // Cancels the work under way first. The last result is released before the next run starts, because two may
  // not fit in memory, except for what the next run reuses.
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
  void collect_results();

  FullSizeResultPtr result_;
  FullSizeResultPtr arrived_;  // written by the worker
  FinerMaps finer_;
  Worker worker_;
};

}  // namespace headwise
