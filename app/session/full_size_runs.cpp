#include "app/session/full_size_runs.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/platform/driver.h"
#include "app/platform/offscreen_context.h"
#include "app/session/computation.h"
#include "core/fused/attention_work.h"
#include "core/fused/interleaved_runs.h"
#include "core/fused/machine_speed.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_speed.h"
#include "core/scenario/embeddings.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// A frame for every piece would take processor time away from the next pieces.
constexpr auto between_results = std::chrono::milliseconds(50);

// Cells per side of a piece.
Index piece_side(Index block) {
  return std::max(block, std::min(FinerMaps::piece_blocks * block, FinerMaps::piece_cells));
}

CellRange piece_range(Index piece, Index side, Index count) {
  return {piece * side, std::min((piece + 1) * side, count)};
}

// Of pieces.
CellRange pieces_of(const CellRange& cells, Index side) {
  return {cells.first / side, whole_parts(cells.last, side)};
}

Index bytes_of(const PyramidLevel& level) {
  return static_cast<Index>((level.min.size() + level.max.size() + level.mean.size()) * sizeof(float));
}

}  // namespace

FinerMaps::FinerMaps(std::function<void()> wake) : wake_(std::move(wake)) {}

FinerMaps::~FinerMaps() {
  end();
}

void FinerMaps::begin(std::shared_ptr<const WeightTiles> tiles) {
  end();
  const std::lock_guard lock(mutex_);
  tiles_ = std::move(tiles);
}

void FinerMaps::end() {
  suspend();
  worker_.stop();
  const std::lock_guard lock(mutex_);
  tiles_.reset();
  kept_.clear();
  bytes_ = 0;
}

bool FinerMaps::fits(const FinerView& view) {
  const Index side = piece_side(view.block);
  const Index pieces = pieces_of(view.rows, side).size() * pieces_of(view.cols, side).size();
  return pieces * level_bytes(view.block, side, side) <= most_bytes;
}

std::vector<FinerPiece> FinerMaps::look(const FinerView& view) {
  std::unique_lock lock(mutex_);
  wanted_.clear();
  std::vector<FinerPiece> pieces;
  if (!tiles_ || !fits(view)) return pieces;
  ++uses_;
  const AttentionSizes& s = tiles_->sizes();
  const Index side = piece_side(view.block);
  const Index longest = 2 * std::max(s.queries, s.all_keys);
  const CellRange down = pieces_of(view.rows, side), right = pieces_of(view.cols, side);
  for (Index r = down.first; r < down.last; ++r)
    for (Index c = right.first; c < right.last; ++c) {
      FinerPiece& piece = pieces.emplace_back(
          FinerPiece{piece_range(r, side, s.queries), piece_range(c, side, s.all_keys), nullptr});
      const Place place{view.head, view.block, piece.rows.first, piece.cols.first};
      if (!kept_.contains(place) && std::ranges::find(under_way_, place) == under_way_.end())
        wanted_.push_back(place);
      for (Index block = view.block; !piece.blocks && piece_side(block) <= longest; block *= 2) {
        // Sides are powers of two: a larger piece covers all of a smaller one.
        piece.first_row = piece.rows.first / piece_side(block) * piece_side(block);
        piece.first_col = piece.cols.first / piece_side(block) * piece_side(block);
        piece.blocks = touch({view.head, block, piece.first_row, piece.first_col});
      }
    }
  // Farthest from the middle first: the last is computed first.
  const auto distance = [&](const Place& place) {
    const Index row = 2 * std::get<2>(place) + side - view.rows.first - view.rows.last;
    const Index col = 2 * std::get<3>(place) + side - view.cols.first - view.cols.last;
    return row * row + col * col;
  };
  std::ranges::stable_sort(wanted_, std::ranges::greater{}, distance);
  const bool begins = !wanted_.empty() && !busy_;
  busy_ = busy_ || begins;
  lock.unlock();
  if (begins) worker_.start([this] { run(); });
  return pieces;
}

void FinerMaps::suspend() {
  const std::lock_guard lock(mutex_);
  wanted_.clear();
}

bool FinerMaps::working() const {
  const std::lock_guard lock(mutex_);
  return busy_ || !wanted_.empty();
}

Index FinerMaps::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void FinerMaps::run() {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<const WeightTiles> tiles = tiles_;
  bool failed = false;
  while (!wanted_.empty()) {
    lock.unlock();
    // Cancelled, or no memory: the coarse blocks stay.
    failed = !error_of([&] { make_pieces(*tiles); }).empty();
    lock.lock();
    under_way_.clear();
    if (failed) wanted_.clear();
  }
  busy_ = false;
  lock.unlock();
  if (!failed && wake_) wake_();
}

void FinerMaps::make_pieces(const WeightTiles& tiles) {
  const AttentionSizes& s = tiles.sizes();
  const int threads = available_threads();
  auto shown = std::chrono::steady_clock::now();  // of worker 0
  run_tasks(threads, threads, [&](Index, int worker) {
    while (true) {
      Place place;
      {
        const std::lock_guard lock(mutex_);
        if (wanted_.empty()) return;
        place = wanted_.back();
        wanted_.pop_back();
        under_way_.push_back(place);
      }
      const auto [head, block, row, col] = place;
      const Index side = piece_side(block);
      keep(place, weight_blocks(tiles, 0, head, block, piece_range(row / side, side, s.queries),
                                piece_range(col / side, side, s.all_keys)));
      const auto now = std::chrono::steady_clock::now();
      if (worker != 0 || now - shown < between_results || !wake_) continue;
      shown = now;
      wake_();
    }
  });
}

std::shared_ptr<const PyramidLevel> FinerMaps::touch(const Place& place) {
  const auto found = kept_.find(place);
  if (found == kept_.end()) return nullptr;
  found->second.last_use = uses_;
  return found->second.blocks;
}

void FinerMaps::keep(const Place& place, PyramidLevel blocks) {
  const Index bytes = bytes_of(blocks);
  auto level = std::make_shared<const PyramidLevel>(std::move(blocks));
  const std::lock_guard lock(mutex_);
  std::erase(under_way_, place);
  while (!kept_.empty() && bytes_ + bytes > most_bytes) {
    const auto oldest =
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.last_use; });
    bytes_ -= bytes_of(*oldest->second.blocks);
    kept_.erase(oldest);
  }
  kept_.emplace(place, Kept{std::move(level), uses_});
  bytes_ += bytes;
  ++arrived_;
}

namespace {

// A short pass is repeated, so that a single interruption does not distort its time.
constexpr int most_runs = 5;
constexpr double seconds_of_runs = 1.0;

// Before each pass, as in `headwise bench`: a core's clock rises in longer loops of nothing else.
constexpr double seconds_of_peak = 0.002;
constexpr double bytes_of_mib = 1024.0 * 1024.0;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// `pass` adds the seconds of one more.
void repeat(std::vector<double>& seconds, Clock::time_point started, const std::function<void()>& pass) {
  // The first pass also gets its memory from the system, or compiles: it counts only if it is the only one.
  if (seconds.front() < seconds_of_runs) seconds.clear();
  while (seconds.empty() ||
         (static_cast<int>(seconds.size()) < most_runs && seconds_since(started) < seconds_of_runs))
    pass();
}

FullSizePasses timed_passes(const Backend& backend, const AttentionInputs& inputs, const TracePtr& before) {
  const bool gl = backend.id == BackendId::gl;
  FullSizePasses made;
  made.backend = backend.id;
  PassOptions options{
      .needed = std::vector<TensorName>{{TensorId::q}, {TensorId::k}, {TensorId::v}, {TensorId::output}},
      // Software computes on the processors, which the window gets its share of,
      // whatever is submitted at once.
      .beside_window = gl && !is_software_renderer(gl::renderer_name()),
      .before = before};
  if (backend.keeps_every_tensor) options.needed.reset();  // as on the stage
  const std::unique_ptr<BackendPass> pass = backend.start(inputs, options);
  std::vector<double> seconds, peaks;
  std::optional<GpuSpeed> gpu;
  if (gl) gpu.emplace();
  const auto timed_pass = [&] {
    peaks.push_back(gpu ? gpu->fma_peak_gflops(1e3 * seconds_of_peak)
                        : fma_peak_gflops(available_threads(), seconds_of_peak));
    const auto begun = Clock::now();
    pass->compute();
    seconds.push_back(seconds_since(begun));
  };
  const auto started = Clock::now();
  if (gl) {
    made.gpu = gl::renderer_name();
    timed_pass();
  } else {
    made.extra_mib = extra_mib(timed_pass);
  }
  repeat(seconds, started, timed_pass);
  made.seconds = median(seconds);
  made.runs = static_cast<int>(seconds.size());
  made.gpu_mib = static_cast<double>(pass->gpu_bytes()) / bytes_of_mib;
  made.longest_slice = pass->longest_slice();
  const auto begun = Clock::now();
  made.trace = pass->trace();
  if (gl) made.read_seconds = seconds_since(begun);
  made.peak_gflops = median(peaks);
  made.kept_projections = before && made.trace->tensors.q == before->tensors.q;
  return made;
}

}  // namespace

FullSizePasses full_size_passes(const AttentionInputs& inputs, BackendId backend, const TracePtr& before) {
  FullSizePasses made;
  std::string notice;
  compute_with_fallback(
      backend, inputs, computing_context,
      [&](const Backend& used) { made = timed_passes(used, inputs, before); },
      [&](const std::string& reason, const Backend& next) {
        notice = reason + ". The " + std::string(next.name) + " backend computed this.";
      });
  made.notice = notice;
  return made;
}

namespace {

constexpr std::string_view sentence = "The animal didn't cross the street because it was too tired . ";

std::string repeated_sentence(Index length) {
  const Index words = token_count(sentence);
  std::string text;
  for (Index made = 0; made < length; made += words) text += sentence;
  text.resize(first_tokens(text, length).size());
  return text;
}

// Multiply-adds of q, k and v.
double projection_work(const FullSizeRequest& request) {
  const ModelSizes& model = model_sizes()[request.model];
  return static_cast<double>(request.length) * static_cast<double>(model.embed_dim) *
         static_cast<double>((model.num_heads + 2 * model.num_kv_heads) * model.head_dim);
}

// Shares of the whole, for the progress bar: roughly what they cost.
struct Shares {
  double inputs, forward, maps;
};

Shares shares_of(const FullSizeRequest& request) {
  const ModelSizes& model = model_sizes()[request.model];
  const double E = static_cast<double>(model.embed_dim), length = static_cast<double>(request.length);
  const double inputs = cost_of_random * (4.0 * E * E + length * E) * (request.hand_made ? 0.5 : 1.0);
  const double forward = estimated_work(full_size_scenario(request));
  const double maps = length * length * static_cast<double>(model.num_heads * model.head_dim) * 1.5;
  const double all = 1.1 * (inputs + forward + maps);  // the rest is the agreement
  return {inputs / all, forward / all, maps / all};
}

void compute(const FullSizeRequest& request, const FullSizeBefore& before, FullSizeResult& result) {
  const Shares shares = shares_of(request);
  double done = shares.inputs;
  std::optional<ProgressPart> part(std::in_place, 0.0, done, "inputs and parameters");
  result.inputs = make_scenario_inputs(full_size_scenario(request), DType::f32, {},
                                       before.inputs ? &*before.inputs : nullptr);
  result.multiply_adds = 0.5 * attention_flops(result.inputs.attention);

  part.emplace(done, done + shares.forward, "the forward pass");
  done += shares.forward;
  result.forward = full_size_passes(result.inputs.attention, request.backend, before.trace);
  if (result.forward.kept_projections) result.multiply_adds -= projection_work(request);

  part.emplace(done, done + shares.maps, "the maps of all heads");
  done += shares.maps;
  const auto begun = std::chrono::steady_clock::now();
  result.tiles = std::make_unique<WeightTiles>(result.forward.trace);
  result.pyramid = std::make_unique<WeightPyramid>(*result.tiles);
  result.map_seconds = seconds_since(begun);

  part.emplace(done, 1.0, "rows in float64");
  result.agreement = sampled_agreement(*result.forward.trace);
}

// Whether the tokens and parameters of both are the same.
bool same_arrays(FullSizeRequest before, const FullSizeRequest& now) {
  before.is_causal = now.is_causal;
  before.backend = now.backend;
  return before == now;
}

}  // namespace

Scenario full_size_scenario(const FullSizeRequest& request) {
  Scenario scenario = model_scenario(model_sizes()[request.model], request.length, request.is_causal);
  if (!request.hand_made) return scenario;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = repeated_sentence(request.length);
  scenario.parameters.source = ParameterSource::hand_made;
  return scenario;
}

FullSizeResultPtr full_size_run(const FullSizeRequest& request, const FullSizeBefore& before) {
  static std::atomic<std::uint64_t> results = 0;
  auto result = std::make_shared<FullSizeResult>();
  result->number = ++results;
  result->request = request;
  result->error = error_of([&] { compute(request, before, *result); },
                           "this does not fit in memory: choose a shorter length or a smaller model");
  return result;
}

void FullSizeRuns::start(const FullSizeRequest& request) {
  cancel();
  FullSizeBefore before;
  if (result_ && result_->error.empty() && same_arrays(result_->request, request)) {
    before.inputs = result_->inputs;
    const bool mask_alone =
        result_->request.is_causal != request.is_causal && result_->request.backend == request.backend;
    if (mask_alone) before.trace = result_->forward.trace;
  }
  forget();
  worker_.start([this, request, before = std::move(before)]() mutable {
    arrived_ = full_size_run(request, before);
    before = {};
  });
}

void FullSizeRuns::cancel() {
  worker_.stop();
  arrived_.reset();
}

void FullSizeRuns::collect_results() {
  if (!worker_.ended()) return;
  result_ = std::exchange(arrived_, nullptr);
  if (result_->error.empty()) finer_.begin({result_, result_->tiles.get()});
}

void FullSizeRuns::forget() {
  finer_.end();
  result_.reset();
}

bool FullSizeRuns::running() {
  collect_results();
  return worker_.busy();
}

const FullSizeResultPtr& FullSizeRuns::result() {
  collect_results();
  return result_;
}

}  // namespace headwise
