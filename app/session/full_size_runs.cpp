#include "app/session/full_size_runs.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "app/session/computation.h"
#include "core/bench/attention_work.h"
#include "core/scenario/tokens.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

constexpr std::string_view sentence = "The animal didn't cross the street because it was too tired . ";

std::string repeated_sentence(Index length) {
  const Index words = token_count(sentence);
  std::string text;
  for (Index made = 0; made < length; made += words) text += sentence;
  text.resize(first_tokens(text, length).size());
  return text;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

void FullSizeRuns::take_in() {
  if (!worker_.ended()) return;
  result_ = std::exchange(arrived_, nullptr);
  if (result_->error.empty()) finer_.begin({result_, result_->tiles.get()});
}

void FullSizeRuns::forget() {
  finer_.end();
  result_.reset();
}

bool FullSizeRuns::running() {
  take_in();
  return worker_.busy();
}

const FullSizeResultPtr& FullSizeRuns::result() {
  take_in();
  return result_;
}

}  // namespace headwise
