#include "core/train/train_initialisation.h"

#include <cmath>

#include "core/tensor/random.h"

namespace headwise {
namespace {

enum class Draw { constant, uniform, normal };

struct Beginning {
  Draw draw = Draw::constant;
  double size = 0.0;  // the constant, the bound of uniform numbers, or the deviation of normal ones
};

Beginning beginning_of(const TrainParameter& parameter, const TrainModelConfig& config) {
  const auto bound_of = [](Index inputs) { return 1.0 / std::sqrt(static_cast<double>(inputs)); };
  switch (parameter.role) {
    case TrainRole::embedding:
    case TrainRole::positions:
      return {Draw::normal, config.tied ? bound_of(config.width) : 1.0};
    case TrainRole::in_weight:
      return {Draw::uniform, std::sqrt(6.0 / static_cast<double>(parameter.rows() + parameter.columns()))};
    case TrainRole::out_weight:
    case TrainRole::linear1_weight:
    case TrainRole::linear2_weight:
    case TrainRole::unembedding:
      return {Draw::uniform, bound_of(parameter.columns())};
    case TrainRole::linear1_bias:
      return {Draw::uniform, bound_of(config.width)};
    case TrainRole::linear2_bias:
      return {Draw::uniform, bound_of(feed_forward_width_of(config))};
    case TrainRole::norm1_weight:
    case TrainRole::norm2_weight:
    case TrainRole::norm_weight:
      return {Draw::constant, 1.0};
    case TrainRole::in_bias:
    case TrainRole::out_bias:
    case TrainRole::norm1_bias:
    case TrainRole::norm2_bias:
    case TrainRole::norm_bias:
      return {};
  }
  return {};
}

// The value of head 0 that the i-th value equals if all heads begin equal.
Index same_in_first_head(const TrainParameter& parameter, const TrainModelConfig& config, Index i) {
  const Index head_width = head_width_of(config), columns = parameter.columns();
  const Index row = i / columns, column = i % columns;
  if (parameter.role == TrainRole::out_weight)
    return !config.equal_out_projection ? i : row * columns + column % head_width;
  if (parameter.role != TrainRole::in_weight) return i;
  const Index unit = row / head_width;  // query heads, then key heads, then value heads
  const Index first = unit < config.heads                     ? 0
                      : unit < config.heads + config.kv_heads ? config.heads
                                                              : config.heads + config.kv_heads;
  return (first * head_width + row % head_width) * columns + column;
}

template <class T>
void fill_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                     std::uint64_t seed, std::span<T> values) {
  for (const TrainParameter& parameter : parameters) {
    const Beginning beginning = beginning_of(parameter, config);
    const CounterRandom random(seed, parameter.name);
    for (Index i = 0; i < parameter.size(); ++i) {
      const Index drawn = config.heads_begin_equal ? same_in_first_head(parameter, config, i) : i;
      const auto index = static_cast<std::uint64_t>(drawn);
      double value = beginning.size;
      if (beginning.draw == Draw::uniform) value *= 2.0 * random.uniform(index) - 1.0;
      if (beginning.draw == Draw::normal) value *= random.normal(index);
      values[static_cast<std::size_t>(parameter.offset + i)] = static_cast<T>(static_cast<float>(value));
    }
  }
}

}  // namespace

void initialise_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                           std::uint64_t seed, std::span<float> values) {
  fill_parameters(config, parameters, seed, values);
}

void initialise_parameters(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters,
                           std::uint64_t seed, std::span<double> values) {
  fill_parameters(config, parameters, seed, values);
}

}  // namespace headwise
