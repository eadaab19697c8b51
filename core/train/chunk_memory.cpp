#include "core/train/chunk_memory.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/relative_bias.h"

namespace headwise {
namespace {

// The angle of pair j at a position: position·10000^(−2j/width), as of sinusoids and rotary_embedding.h.
// Powers, sines and cosines are computed in long double, where they are the same on every machine.
long double angle_of(Index position, Index pair, Index width) {
  const long double exponent = -2.0L * static_cast<long double>(pair) / static_cast<long double>(width);
  const auto frequency = static_cast<double>(std::pow(10000.0L, exponent));
  return static_cast<long double>(position) * static_cast<long double>(frequency);
}

// Hands out buffers one behind the other; without memory it only counts.
template <class T>
class Divider {
 public:
  explicit Divider(T* memory) : memory_(memory) {}
  T* take(Index count) {
    T* const at = memory_ ? memory_ + taken_ : nullptr;
    taken_ += padded(count);
    return at;
  }
  Index taken() const { return taken_; }

 private:
  T* memory_;
  Index taken_ = 0;
};

template <class T>
void set_sizes(const TrainModelConfig& config, Index length, ChunkWork<T>& work) {
  work.layers = config.layers;
  work.width = config.width;
  work.heads = config.heads;
  work.kv_heads = config.kv_heads;
  work.head_width = head_width_of(config);
  work.latent = config.latent_width.value_or(0);
  work.shared_key = shared_key_width_of(config);
  work.rotated = rotated_width_of(config);
  work.hidden = feed_forward_width_of(config);
  work.vocabulary = config.vocabulary;
  work.width_step = padded(work.width);
  work.in_step = padded(in_rows_of(config));
  work.heads_step = padded(work.heads * work.head_width);
  work.latent_step = padded(work.latent);
  work.kv_a_step = padded(work.latent + work.shared_key);
  work.kv_b_step = padded(kv_b_rows_of(config));
  work.hidden_step = padded(work.hidden);
  work.wide_step = std::max(work.in_step, work.hidden_step);
  work.vocabulary_step = padded(work.vocabulary);
  work.token_step = padded(length);
  work.bias_step = padded(length + work.token_step);
  work.tokens = length;
  work.norms = config.norms;
  work.relu = config.activation == TrainActivation::relu;
  const PositionWindow seen = seen_by_token(config);
  work.seen_behind = seen.behind;
  work.seen_ahead = seen.ahead;
  work.qk_norm = config.qk_norm;
  work.sink = config.sink;
  work.output_gate = config.output_gate;
  work.scale = config.scaled ? static_cast<T>(1.0 / std::sqrt(static_cast<double>(work.head_width))) : T(1);
}

template <class T>
NormRows<T> take_norm(Divider<T>& divider, Index rows, Index step) {
  return {divider.take(rows * step), divider.take(rows), divider.take(rows * step)};
}

template <class T>
void divide_memory(Divider<T>& divider, const TrainModelConfig& config, ChunkWork<T>& work,
                   std::vector<T*>& dropout) {
  const auto take_if = [&](bool needed, Index count) { return needed ? divider.take(count) : nullptr; };
  const bool learned_biases = config.positions == TrainPositions::relative_bias;
  const Index sequences = chunk_sequences(work.tokens), rows = sequences * work.tokens;
  const Index map = work.tokens * work.token_step, maps = sequences * work.heads * map;
  dropout.assign(static_cast<std::size_t>(work.layers), nullptr);
  for (Index i = 0; i < work.layers; ++i) {
    LayerRows<T>& layer = work.layer[i];
    layer.attention_input = take_norm(divider, rows, work.width_step);
    layer.in = divider.take(rows * work.in_step);
    if (work.latent > 0) {
      layer.kv_a = divider.take(rows * work.kv_a_step);
      layer.compressed = take_norm(divider, rows, work.latent_step);
    }
    layer.inverse = take_if(work.qk_norm, rows * (work.heads + work.kv_heads));
    layer.weights = divider.take(maps);
    layer.sink_shares = take_if(work.sink, sequences * work.heads * work.token_step);
    layer.heads = divider.take(rows * work.heads_step);
    layer.gate = take_if(work.output_gate, rows * work.heads_step);
    layer.gated = take_if(work.output_gate, rows * work.heads_step);
    layer.feed_forward_input = take_norm(divider, rows, work.hidden > 0 ? work.width_step : 0);
    layer.before = divider.take(rows * work.hidden_step);
    layer.hidden = divider.take(rows * work.hidden_step);
    dropout[static_cast<std::size_t>(i)] = take_if(config.dropout > 0.0, maps);
  }
  ChunkScratch<T>& scratch = work.scratch;
  scratch.stream = divider.take(rows * work.width_step);
  scratch.counted_input = divider.take(rows * work.width_step);
  scratch.counted = take_norm(divider, rows, work.width_step);
  scratch.logits = divider.take(rows * work.vocabulary_step);
  scratch.grad_stream = divider.take(rows * work.width_step);
  scratch.grad_narrow = divider.take(rows * work.width_step);
  scratch.grad_heads = divider.take(rows * work.heads_step);
  scratch.grad_gate = take_if(work.output_gate, rows * work.heads_step);
  scratch.grad_wide = divider.take(rows * work.wide_step);
  scratch.kv_b = take_if(work.latent > 0, rows * work.kv_b_step);
  scratch.grad_kv_a = take_if(work.latent > 0, rows * work.kv_a_step);
  scratch.grad_latents = take_if(work.latent > 0, rows * work.latent_step);
  scratch.transposed = divider.take(work.head_width * work.token_step);
  scratch.map = divider.take(map);
  scratch.grad_map = divider.take(map);
  scratch.grad_sinks = take_if(work.sink, work.token_step);
  scratch.biases =
      take_if(learned_biases || config.positions == TrainPositions::alibi, work.heads * work.bias_step);
  scratch.grad_biases = take_if(learned_biases, work.heads * work.bias_step);
}

}  // namespace

template <class T>
ChunkTables<T>::ChunkTables(const TrainModelConfig& config) {
  const Index length = config.longest_sequence, step = padded(config.width),
              half = rotated_width_of(config) / 2;
  if (config.positions == TrainPositions::sinusoidal) {
    sinusoids.assign(static_cast<std::size_t>(length * step), T(0));
    for (Index t = 0; t < length; ++t)
      for (Index pair = 0; pair < config.width / 2; ++pair) {
        const long double angle = angle_of(t, pair, config.width);
        T* const at = sinusoids.data() + t * step + 2 * pair;
        at[0] = static_cast<T>(std::sin(angle));
        at[1] = static_cast<T>(std::cos(angle));
      }
  }
  if (config.positions == TrainPositions::rotary)
    for (Index t = 0; t < length; ++t)
      for (Index pair = 0; pair < half; ++pair) {
        const long double angle = angle_of(t, pair, 2 * half);
        cosines.push_back(static_cast<T>(std::cos(angle)));
        sines.push_back(static_cast<T>(std::sin(angle)));
      }
  if (config.positions == TrainPositions::alibi)
    for (const double slope : alibi_slopes(config.heads)) slopes.push_back(static_cast<T>(slope));
  if (config.positions == TrainPositions::relative_bias)
    for (Index distance = 1 - length; distance < length; ++distance)
      buckets.push_back(relative_bucket(relative_bias_of(config), -distance));
}

template <class T>
void ChunkMemory<T>::prepare(const TrainModelConfig& config, const ChunkTables<T>& tables, Index length,
                             ChunkWork<T>& work) {
  if (length != length_) {
    divided_ = {};
    set_sizes(config, length, divided_);
    Divider<T> count(nullptr);
    divide_memory(count, config, divided_, dropout_);
    values_.assign(static_cast<std::size_t>(count.taken()), T(0));
    Divider<T> divider(values_.data());
    divide_memory(divider, config, divided_, dropout_);
    for (std::size_t head = 0; head < tables.slopes.size(); ++head)
      for (Index distance = 1 - length; distance < length; ++distance)
        divided_.scratch.biases[static_cast<Index>(head) * divided_.bias_step + distance + length - 1] =
            -tables.slopes[head] * static_cast<T>(std::abs(distance));
    rows_.assign(static_cast<std::size_t>(chunk_sequences(length) * length), 0);
    divided_.scratch.counted_rows = rows_.data();
    length_ = length;
  }
  work = divided_;
  work.sinusoids = tables.sinusoids.empty() ? nullptr : tables.sinusoids.data();
  work.cosines = tables.cosines.empty() ? nullptr : tables.cosines.data();
  work.sines = tables.sines.empty() ? nullptr : tables.sines.data();
  work.buckets = tables.buckets.empty() ? nullptr : tables.buckets.data() + config.longest_sequence - 1;
}

template struct ChunkTables<float>;
template struct ChunkTables<double>;
template class ChunkMemory<float>;
template class ChunkMemory<double>;

namespace {

// Whether the first `columns` of each row are finite.
template <class T>
bool rows_are_finite(const T* rows, Index count, Index columns, Index step) {
  for (Index r = 0; r < count; ++r)
    for (Index c = 0; c < columns; ++c)
      if (!std::isfinite(rows[r * step + c])) return false;
  return true;
}

}  // namespace

template <class T>
FoundTensor first_not_finite(const ChunkWork<T>& work) {
  const Index rows = work.sequences * work.tokens, in = (work.heads + 2 * work.kv_heads) * work.head_width;
  Index place = 0;
  FoundTensor found;
  const auto look = [&](const char* name, Index layer, const T* values, Index count, Index columns, Index step) {
    ++place;
    if (!found.name.empty() || rows_are_finite(values, count, columns, step)) return;
    found = {place, fmt::format("layers.{}.{}", layer, name)};
  };
  for (Index i = 0; i < work.layers; ++i) {
    const LayerRows<T>& layer = work.layer[i];
    look("attention_input", i, layer.attention_input.out, rows, work.width, work.width_step);
    if (work.latent > 0) look("compressed_kv", i, layer.compressed.out, rows, work.latent, work.latent_step);
    look("q_k_v", i, layer.in, rows, in, work.in_step);
    look("attn_weights", i, layer.weights, work.sequences * work.heads * work.tokens, work.tokens,
         work.token_step);
    look("concat", i, layer.heads, rows, work.heads * work.head_width, work.heads_step);
    if (work.output_gate)
      look("gated_concat", i, layer.gated, rows, work.heads * work.head_width, work.heads_step);
    if (work.hidden == 0) continue;
    look("feed_forward_input", i, layer.feed_forward_input.out, rows, work.width, work.width_step);
    look("hidden", i, layer.hidden, rows, work.hidden, work.hidden_step);
  }
  ++place;
  if (found.name.empty() && !rows_are_finite(work.scratch.stream, rows, work.width, work.width_step))
    found = {place, "the residual stream after the last layer"};
  return found;
}

template FoundTensor first_not_finite(const ChunkWork<float>&);
template FoundTensor first_not_finite(const ChunkWork<double>&);

namespace {

// Those of a layer, from norm1_weight on in the order of TrainRole.
constexpr MatrixPlace LayerPlaces::*places_of_layer[]{
    &LayerPlaces::norm1_weight,   &LayerPlaces::norm1_bias,   &LayerPlaces::in_weight,
    &LayerPlaces::in_bias,        &LayerPlaces::q_weight,     &LayerPlaces::kv_a_weight,
    &LayerPlaces::latent_norm,    &LayerPlaces::kv_b_weight,  &LayerPlaces::relative_bias,
    &LayerPlaces::sinks,          &LayerPlaces::gate_weight,  &LayerPlaces::out_weight,
    &LayerPlaces::out_bias,       &LayerPlaces::norm2_weight, &LayerPlaces::norm2_bias,
    &LayerPlaces::linear1_weight, &LayerPlaces::linear1_bias, &LayerPlaces::linear2_weight,
    &LayerPlaces::linear2_bias};
static_assert(std::size(places_of_layer) ==
              static_cast<int>(TrainRole::linear2_bias) - static_cast<int>(TrainRole::norm1_weight) + 1);

MatrixPlace& place_in(ModelPlaces& places, const TrainParameter& parameter) {
  switch (parameter.role) {
    case TrainRole::embedding:
      return places.embedding;
    case TrainRole::positions:
      return places.positions;
    case TrainRole::norm_weight:
      return places.norm_weight;
    case TrainRole::norm_bias:
      return places.norm_bias;
    case TrainRole::unembedding:
      return places.unembedding;
    default:
      return places.layers[parameter.layer].*
             places_of_layer[static_cast<int>(parameter.role) - static_cast<int>(TrainRole::norm1_weight)];
  }
}

bool is_multiplied(const TrainParameter& parameter, const TrainModelConfig& config) {
  switch (parameter.role) {
    case TrainRole::in_weight:
    case TrainRole::q_weight:
    case TrainRole::kv_a_weight:
    case TrainRole::kv_b_weight:
    case TrainRole::gate_weight:
    case TrainRole::out_weight:
    case TrainRole::linear1_weight:
    case TrainRole::linear2_weight:
    case TrainRole::unembedding:
      return true;
    case TrainRole::embedding:
      return config.tied;
    default:
      return false;
  }
}

}  // namespace

PaddedLayout padded_layout(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters) {
  PaddedLayout layout;
  for (const TrainParameter& parameter : parameters) {
    MatrixPlace place;
    place.rows = parameter.rows();
    place.columns = parameter.columns();
    place.at = layout.size;
    place.step = padded(place.columns);
    layout.size += place.rows * place.step;
    if (is_multiplied(parameter, config)) {
      place.transposed_at = layout.transposed_size;
      place.transposed_step = padded(place.rows);
      layout.transposed_size += place.columns * place.transposed_step;
    }
    layout.of_parameter.push_back(place);
    place_in(layout.places, parameter) = place;
  }
  if (config.tied) layout.places.unembedding = layout.places.embedding;
  for (LayerPlaces& layer : layout.places.layers) layer.relative_bias = layout.places.layers[0].relative_bias;
  return layout;
}

template <class T>
void spread_parameter(const MatrixPlace& place, const T* values, T* padded, T* turned) {
  for (Index row = 0; row < place.rows; ++row)
    std::copy_n(values + row * place.columns, place.columns, padded + place.at + row * place.step);
  if (place.transposed_step == 0) return;
  for (Index column = 0; column < place.columns; ++column) {
    T* const to = turned + place.transposed_at + column * place.transposed_step;
    for (Index row = 0; row < place.rows; ++row) to[row] = values[row * place.columns + column];
  }
}

template <class T>
void gather_rows(const MatrixPlace& place, const std::vector<T*>& padded, Index first, Index last, T* values) {
  for (Index row = first; row < last; ++row) {
    T* const to = values + row * place.columns;
    const Index from = place.at + row * place.step;
    std::copy_n(padded[0] + from, place.columns, to);
    for (std::size_t i = 1; i < padded.size(); ++i) {
      const T* const more = padded[i] + from;
      for (Index column = 0; column < place.columns; ++column) to[column] += more[column];
    }
  }
}

template void spread_parameter(const MatrixPlace&, const float*, float*, float*);
template void spread_parameter(const MatrixPlace&, const double*, double*, double*);
template void gather_rows(const MatrixPlace&, const std::vector<float*>&, Index, Index, float*);
template void gather_rows(const MatrixPlace&, const std::vector<double*>&, Index, Index, double*);

}  // namespace headwise
