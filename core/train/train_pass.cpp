#include "core/train/train_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/attention/softmax.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"
#include "core/train/chunk_memory.h"

namespace headwise {

HEADWISE_KERNELS(ChunkKernels<float>, chunk_kernels_float)
HEADWISE_KERNELS(ChunkKernels<double>, chunk_kernels_double)

namespace {

template <class T>
const ChunkKernels<T>& chunk_kernels() {
  if constexpr (std::is_same_v<T, float>)
    return chunk_kernels_float(chosen_instruction_set());
  else
    return chunk_kernels_double(chosen_instruction_set());
}

// Chunks are divided among this many arrays of gradients, which are then added in their order,
// whatever the number of threads.
constexpr Index most_lanes = 8;

// Values of a parameter that are gathered by one task.
constexpr Index gathered_values = 8192;

void check_batch(const TrainModelConfig& config, const TrainBatch& batch) {
  const auto refuse = [](const std::string& what, const std::string& got, const std::string& expected) {
    throw Error(ExitStatus::usage, {"training batch", what, got, expected, ""});
  };
  if (batch.length < 1 || batch.length > config.longest_sequence)
    refuse("the sequences do not fit the model", fmt::format("{} tokens", batch.length),
           fmt::format("1 to {}", config.longest_sequence));
  const Index count = batch.sequences * batch.length;
  if (batch.sequences < 1 || std::ssize(batch.tokens) != count || std::ssize(batch.targets) != count)
    refuse("the numbers of tokens and targets disagree with its size",
           fmt::format("{} tokens and {} targets", batch.tokens.size(), batch.targets.size()),
           fmt::format("{}·{} of each", batch.sequences, batch.length));
  for (const std::int32_t token : batch.tokens)
    if (token < 0 || token >= config.vocabulary)
      refuse("there is no such token", fmt::format("{}", token), fmt::format("0 to {}", config.vocabulary - 1));
  for (const std::int32_t target : batch.targets)
    if (target < -1 || target >= config.vocabulary)
      refuse("there is no such target", fmt::format("{}", target),
             fmt::format("−1 to {}", config.vocabulary - 1));
}

// Copies a layer's transposed maps of a chunk to those of the batch, (N,H,L,S).
template <class T>
void unturn_maps(const ChunkWork<T>& work, Index layer, Index first_sequence, T* maps) {
  const Index tokens = work.tokens;
  T* const to = maps + first_sequence * work.heads * tokens * tokens;
  for (Index map = 0; map < work.sequences * work.heads; ++map)
    for (Index t = 0; t < tokens; ++t)
      for (Index s = 0; s < tokens; ++s)
        to[(map * tokens + t) * tokens + s] =
            work.layer[layer].weights[(map * tokens + s) * work.token_step + t];
}

}  // namespace

template <class T>
struct TrainPass<T>::State {
  explicit State(const TrainModelConfig& given)
      : config(given),
        parameters(train_parameters(config)),
        size(train_parameter_count(parameters)),
        layout(padded_layout(config, parameters)),
        tables(config),
        frozen(frozen_values(config, parameters)),
        kernels(chunk_kernels<T>()) {
    weights.assign(static_cast<std::size_t>(layout.size), T(0));
    turned.assign(static_cast<std::size_t>(layout.transposed_size), T(0));
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const Index rows = parameters[p].rows();
      const Index together = std::max<Index>(1, gathered_values / parameters[p].columns());
      for (Index first = 0; first < rows; first += together)
        gather_tasks.push_back({p, first, std::min(rows, first + together)});
    }
    phases[0] = {std::ssize(parameters), [this](Index task, int) { spread(task); }};
    phases[1].body = [this](Index lane, int worker) { run_lane(lane, worker); };
    phases[2] = {std::ssize(gather_tasks), [this](Index task, int) { gather(task); }};
  }

  // Sees a chunk after its forward pass; called from several threads.
  using ChunkVisitor = std::function<void(Index first_sequence, const ChunkWork<T>& work)>;

  BatchResult run(std::span<const T> given, const TrainBatch& of, std::span<T> wanted, DropoutSeeds dropout,
                  const ChunkVisitor& visitor = {}) {
    check_batch(config, of);
    if (std::ssize(given) != size || (!wanted.empty() && std::ssize(wanted) != size))
      throw Error(ExitStatus::usage, {"training pass", "the number of parameters is wrong",
                                      fmt::format("{}", given.size()), fmt::format("{}", size), ""});
    values = given.data();
    gradient = wanted.empty() ? nullptr : wanted.data();
    batch = &of;
    dropout_seeds = config.dropout > 0.0 ? dropout : DropoutSeeds{};
    chunk_visitor = visitor ? &visitor : nullptr;
    const auto counted =
        static_cast<Index>(std::ranges::count_if(of.targets, [](std::int32_t t) { return t >= 0; }));
    grad_of_loss = counted == 0 ? T(0) : static_cast<T>(1.0 / static_cast<double>(counted));
    const Index together = chunk_sequences(of.length);
    chunks = (of.sequences + together - 1) / together;
    lanes = std::min(chunks, most_lanes);
    results.assign(static_cast<std::size_t>(chunks), {});
    const int threads = static_cast<int>(std::min<Index>(available_threads(), lanes));
    while (std::ssize(memory) < threads) memory.push_back(std::make_unique<ChunkMemory<T>>());
    if (gradient) {
      lane_gradients.resize(static_cast<std::size_t>(std::max(lanes, std::ssize(lane_gradients))));
      gathered.clear();
      for (Index lane = 0; lane < lanes; ++lane) {
        AlignedValues<T>& of_lane = lane_gradients[static_cast<std::size_t>(lane)];
        of_lane.resize(static_cast<std::size_t>(layout.size));
        gathered.push_back(of_lane.data());
      }
    }
    phases[1].count = lanes;
    run_phases(std::span(phases).first(gradient ? 3 : 2), threads);

    BatchResult result{.counted = counted};
    for (const ChunkResult& chunk : results) {
      result.loss += chunk.loss;
      result.correct += chunk.correct;
    }
    if (counted > 0) result.loss /= static_cast<double>(counted);
    return result;
  }

  void spread(Index parameter) {
    const auto p = static_cast<std::size_t>(parameter);
    spread_parameter(layout.of_parameter[p], values + parameters[p].offset, weights.data(), turned.data());
  }

  void run_lane(Index lane, int worker) {
    ChunkMemory<T>& own = *memory[static_cast<std::size_t>(worker)];
    ChunkWork<T> work;
    own.prepare(config, tables, batch->length, work);
    work.places = &layout.places;
    work.weights = weights.data();
    work.transposed_weights = turned.data();
    work.grad_of_loss = grad_of_loss;
    if (gradient) {
      AlignedValues<T>& of_lane = lane_gradients[static_cast<std::size_t>(lane)];
      std::ranges::fill(of_lane, T(0));
      work.gradients = of_lane.data();
    }
    for (Index chunk = lane * chunks / lanes; chunk < (lane + 1) * chunks / lanes; ++chunk)
      run_chunk(chunk, own, work);
  }

  void run_chunk(Index chunk, ChunkMemory<T>& own, ChunkWork<T>& work) {
    const Index together = chunk_sequences(batch->length), first = chunk * together;
    work.sequences = std::min(together, batch->sequences - first);
    work.token = batch->tokens.data() + first * batch->length;
    work.target = batch->targets.data() + first * batch->length;
    work.watched = watched;
    work.shares = shares ? shares + first * batch->length : nullptr;
    work.loss = 0.0;
    work.counted = work.correct = 0;
    if (!dropout_seeds.empty()) fill_dropout(first, own, work);
    kernels.run(work);
    results[static_cast<std::size_t>(chunk)] = {work.loss, work.correct};
    if (chunk_visitor) (*chunk_visitor)(first, work);
  }

  void fill_dropout(Index first_sequence, ChunkMemory<T>& own, ChunkWork<T>& work) const {
    const Index tokens = work.tokens, maps_before = first_sequence * work.heads;
    for (Index layer = 0; layer < work.layers; ++layer) {
      const CounterRandom random(dropout_seeds[static_cast<std::size_t>(layer)], "dropout");
      T* const factors = own.dropout(layer);
      work.dropout[layer] = factors;
      for (Index map = 0; map < work.sequences * work.heads; ++map)
        for (Index t = 0; t < tokens; ++t)
          for (Index s = 0; s < tokens; ++s) {
            const Index cell = ((maps_before + map) * tokens + t) * tokens + s;
            factors[(map * tokens + s) * work.token_step + t] =
                static_cast<T>(dropout_factor(config.dropout, random, cell));
          }
    }
  }

  void gather(Index task) {
    const GatherTask& rows = gather_tasks[static_cast<std::size_t>(task)];
    const MatrixPlace& place = layout.of_parameter[rows.parameter];
    const Index offset = parameters[rows.parameter].offset;
    gather_rows(place, gathered, rows.first, rows.last, gradient + offset);
    if (frozen.empty()) return;
    for (Index i = offset + rows.first * place.columns; i < offset + rows.last * place.columns; ++i)
      if (frozen[static_cast<std::size_t>(i)]) gradient[i] = T(0);
  }

  struct ChunkResult {
    double loss = 0.0;
    Index correct = 0;
  };
  struct GatherTask {  // rows of a parameter
    std::size_t parameter;
    Index first, last;
  };

  const TrainModelConfig config;
  const std::vector<TrainParameter> parameters;
  const Index size;
  const PaddedLayout layout;
  const ChunkTables<T> tables;
  const std::vector<std::uint8_t> frozen;
  const ChunkKernels<T>& kernels;
  AlignedValues<T> weights, turned;
  std::vector<GatherTask> gather_tasks;
  std::array<TaskPhase, 3> phases;
  std::vector<std::unique_ptr<ChunkMemory<T>>> memory;  // of each thread
  std::vector<AlignedValues<T>> lane_gradients;

  // Of the call that is being served.
  const T* values = nullptr;
  T* gradient = nullptr;  // null: forward only
  const TrainBatch* batch = nullptr;
  DropoutSeeds dropout_seeds;
  const ChunkVisitor* chunk_visitor = nullptr;
  Index watched = 0;    // in the padded gradients
  T* shares = nullptr;  // (sequences,length) of that value; null: not wanted
  Index chunks = 0, lanes = 0;
  T grad_of_loss = 0;
  std::vector<T*> gathered;  // the gradients of the lanes
  std::vector<ChunkResult> results;
};

template <class T>
TrainPass<T>::TrainPass(const TrainModelConfig& config) : state_(std::make_unique<State>(config)) {}

template <class T>
TrainPass<T>::~TrainPass() = default;

template <class T>
const TrainModelConfig& TrainPass<T>::config() const {
  return state_->config;
}

template <class T>
const std::vector<TrainParameter>& TrainPass<T>::parameters() const {
  return state_->parameters;
}

template <class T>
Index TrainPass<T>::size() const {
  return state_->size;
}

template <class T>
BatchResult TrainPass<T>::gradient(std::span<const T> values, const TrainBatch& batch, std::span<T> gradient,
                                   DropoutSeeds dropout) {
  if (!dropout.empty() && std::ssize(dropout) != state_->config.layers)
    throw Error(ExitStatus::usage, {"training pass", "the number of dropout seeds is wrong",
                                    fmt::format("{}", dropout.size()), "one for each layer", ""});
  return state_->run(values, batch, gradient, dropout);
}

template <class T>
std::vector<T> TrainPass<T>::gradient_shares(std::span<const T> values, const TrainBatch& batch, Index which,
                                             DropoutSeeds dropout) {
  State& state = *state_;
  if (which < 0 || which >= state.size)
    throw Error(ExitStatus::usage, {"training pass", "there is no such parameter value",
                                    fmt::format("{}", which), fmt::format("0 to {}", state.size - 1), ""});
  std::vector<T> shares(batch.tokens.size(), T(0)), whole(static_cast<std::size_t>(state.size));
  const auto after = std::ranges::upper_bound(state.parameters, which, {}, &TrainParameter::offset);
  const auto p = static_cast<std::size_t>(after - state.parameters.begin() - 1);
  const TrainParameter& parameter = state.parameters[p];
  const Index at = which - parameter.offset;
  if (!state.frozen.empty() && state.frozen[static_cast<std::size_t>(which)]) return shares;
  const MatrixPlace& place = state.layout.of_parameter[p];
  state.watched = place.at + at / parameter.columns() * place.step + at % parameter.columns();
  state.shares = shares.data();
  struct Unwatch {
    State& state;
    ~Unwatch() { state.shares = nullptr; }
  } const unwatch{state};
  gradient(values, batch, whole, dropout);
  return shares;
}

template <class T>
BatchResult TrainPass<T>::evaluate(std::span<const T> values, const TrainBatch& batch) {
  return state_->run(values, batch, {}, {});
}

template <class T>
std::vector<Tensor> TrainPass<T>::attention_weights(std::span<const T> values, const TrainBatch& batch) {
  std::vector<Tensor> maps;
  const DType dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;
  for (Index layer = 0; layer < state_->config.layers; ++layer)
    maps.emplace_back(
        Shape{{"N", batch.sequences}, {"H", state_->config.heads}, {"L", batch.length}, {"S", batch.length}},
        dtype);
  state_->run(values, batch, {}, {}, [&](Index first_sequence, const ChunkWork<T>& work) {
    for (Index layer = 0; layer < work.layers; ++layer)
      unturn_maps(work, layer, first_sequence,
                  maps[static_cast<std::size_t>(layer)].template values<T>().data());
  });
  return maps;
}

template <class T>
std::vector<Tensor> TrainPass<T>::output_gates(std::span<const T> values, const TrainBatch& batch) {
  const TrainModelConfig& config = state_->config;
  if (!config.output_gate) return {};
  const Index columns = config.heads * head_width_of(config);
  const Shape shape{{"N", batch.sequences}, {"L", batch.length}, {"H·D", columns}};
  std::vector<Tensor> gates(static_cast<std::size_t>(config.layers),
                            Tensor(shape, std::is_same_v<T, float> ? DType::f32 : DType::f64));
  state_->run(values, batch, {}, {}, [&](Index first_sequence, const ChunkWork<T>& work) {
    for (Index layer = 0; layer < work.layers; ++layer) {
      T* const to = gates[static_cast<std::size_t>(layer)].template values<T>().data() +
                    first_sequence * work.tokens * columns;
      for (Index row = 0; row < work.sequences * work.tokens; ++row)
        std::copy_n(work.layer[layer].gate + row * work.heads_step, columns, to + row * columns);
    }
  });
  return gates;
}

template <class T>
std::string TrainPass<T>::first_not_finite(std::span<const T> values, const TrainBatch& batch) {
  std::mutex mutex;
  FoundTensor first;
  state_->run(values, batch, {}, {}, [&](Index, const ChunkWork<T>& work) {
    FoundTensor found = headwise::first_not_finite(work);
    const std::lock_guard lock(mutex);
    if (!found.name.empty() && (first.name.empty() || found.place < first.place)) first = std::move(found);
  });
  return first.name;
}

template class TrainPass<float>;
template class TrainPass<double>;

}  // namespace headwise
