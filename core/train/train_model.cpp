#include "core/train/train_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/tensor/error.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

[[noreturn]] void refuse_setting(const std::string& setting, const std::string& what, const std::string& got,
                                 const std::string& expected, const std::string& remedy = "") {
  throw Error(ExitStatus::usage, {setting, what, got, expected, remedy});
}

void check_between(const char* setting, Index value, Index least, Index most) {
  if (value < least || value > most)
    refuse_setting(setting, "the value is out of range", fmt::format("{}", value),
                   fmt::format("{} to {}", least, most));
}

void check_head_sizes(const TrainModelConfig& config) {
  check_between("heads", config.heads, 1, 16);
  check_between("kv_heads", config.kv_heads, 1, config.heads);
  if (config.heads % config.kv_heads != 0)
    refuse_setting("kv_heads", "the number of key/value heads must divide the number of heads",
                   fmt::format("kv_heads = {}, heads = {}", config.kv_heads, config.heads),
                   fmt::format("a divisor of {}", config.heads));
  if (config.head_width) check_between("head_width", *config.head_width, 1, 128);
  if (!config.head_width && config.width % config.heads != 0)
    refuse_setting("heads", "the number of heads must divide the model width",
                   fmt::format("heads = {}, width = {}", config.heads, config.width),
                   fmt::format("a divisor of {}", config.width),
                   "set head_width to choose the head width freely");
  const Index head_width = head_width_of(config);
  if (config.positions == TrainPositions::rotary && rotated_width_of(config) % 2 != 0)
    refuse_setting("positions", "rotary positions rotate pairs, so the head width must be even",
                   fmt::format("head width = {}", head_width), "an even head width",
                   "choose another number of heads");
  if (!config.out_projection && config.heads * head_width != config.width)
    refuse_setting("out_projection",
                   "without W_O the concatenated heads are the output, so they must be as wide as the model",
                   fmt::format("{}·{} = {}", config.heads, head_width, config.heads * head_width),
                   fmt::format("{}", config.width), "leave head_width unset, or use W_O");
}

void check_latents(const TrainModelConfig& config) {
  if (!config.latent_width) return;
  const std::string got = fmt::format("latent_width = {}", *config.latent_width);
  check_between("latent_width", *config.latent_width, 1, 128);
  if (config.kv_heads != config.heads)
    refuse_setting("latent_width", "with latents every head has keys and values of its own",
                   fmt::format("kv_heads = {}, heads = {}", config.kv_heads, config.heads),
                   fmt::format("kv_heads = {}", config.heads), "leave kv_heads or latent_width unset");
  if (head_width_of(config) < 3)
    refuse_setting("latent_width",
                   "with latents a key needs at least two columns that all heads share, and one of its own",
                   fmt::format("head width = {}", head_width_of(config)), "a head width of 3 or more",
                   "choose fewer heads, or set head_width");
  if (config.qk_norm)
    refuse_setting("latent_width", "latents and QK-norm cannot be combined", got + " and qk_norm",
                   "one of the two", "leave the other out");
}

void check_frozen_heads(const TrainModelConfig& config) {
  for (const FrozenHead& frozen : config.frozen_heads) {
    const std::string name = fmt::format("{}.{}", frozen.layer, frozen.head);
    if (frozen.layer < 0 || frozen.layer >= config.layers || frozen.head < 0 || frozen.head >= config.heads)
      refuse_setting("frozen_heads", "there is no such head", name,
                     fmt::format("LAYER.HEAD, 0.0 to {}.{}", config.layers - 1, config.heads - 1));
    if (std::ranges::count(config.frozen_heads, frozen) > 1)
      refuse_setting("frozen_heads", "a head is named twice", name, "each head once");
  }
}

class ParameterList {
 public:
  void add(std::string name, TrainRole role, Shape shape, Index layer = -1) {
    const Index size = shape.element_count();
    parameters_.push_back({std::move(name), role, layer, std::move(shape), offset_});
    offset_ += size;
  }

  void add_norm(const std::string& name, TrainRole weight, TrainRole bias, Index width, Index layer = -1) {
    add(name + ".weight", weight, {{"E", width}}, layer);
    add(name + ".bias", bias, {{"E", width}}, layer);
  }

  std::vector<TrainParameter> take() { return std::move(parameters_); }

 private:
  std::vector<TrainParameter> parameters_;
  Index offset_ = 0;
};

void add_layer(ParameterList& list, const TrainModelConfig& config, Index layer) {
  const std::string prefix = fmt::format("layers.{}.", layer);
  const Index width = config.width, inner = config.heads * head_width_of(config), in_rows = in_rows_of(config);
  if (config.norms)
    list.add_norm(prefix + "norm1", TrainRole::norm1_weight, TrainRole::norm1_bias, width, layer);
  const std::string in_axis = "H·D+2·G·D";
  if (config.latent_width) {
    const Index latent = *config.latent_width;
    list.add(prefix + "self_attn.q_proj.weight", TrainRole::q_weight, {{"H·D", inner}, {"E", width}}, layer);
    list.add(prefix + "self_attn.kv_a_proj_with_mqa.weight", TrainRole::kv_a_weight,
             {{"C+R", latent + shared_key_width_of(config)}, {"E", width}}, layer);
    list.add(prefix + "self_attn.kv_a_layernorm.weight", TrainRole::latent_norm, {{"C", latent}}, layer);
    list.add(prefix + "self_attn.kv_b_proj.weight", TrainRole::kv_b_weight,
             {{"H·(2·D−R)", kv_b_rows_of(config)}, {"C", latent}}, layer);
  } else {
    list.add(prefix + "self_attn.in_proj_weight", TrainRole::in_weight, {{in_axis, in_rows}, {"E", width}},
             layer);
    list.add(prefix + "self_attn.in_proj_bias", TrainRole::in_bias, {{in_axis, in_rows}}, layer);
  }
  if (config.positions == TrainPositions::relative_bias && layer == 0)
    list.add(prefix + "self_attn.relative_attention_bias.weight", TrainRole::relative_bias,
             {{"buckets", relative_bias_of(config).buckets}, {"H", config.heads}}, layer);
  if (config.sink) list.add(prefix + "self_attn.sinks", TrainRole::sinks, {{"H", config.heads}}, layer);
  if (config.output_gate)
    list.add(prefix + "self_attn.output_gate.weight", TrainRole::gate_weight, {{"H·D", inner}, {"E", width}},
             layer);
  if (config.out_projection) {
    list.add(prefix + "self_attn.out_proj.weight", TrainRole::out_weight, {{"E", width}, {"H·D", inner}},
             layer);
    list.add(prefix + "self_attn.out_proj.bias", TrainRole::out_bias, {{"E", width}}, layer);
  }
  if (!config.feed_forward) return;
  const Index hidden = feed_forward_width_of(config);
  if (config.norms)
    list.add_norm(prefix + "norm2", TrainRole::norm2_weight, TrainRole::norm2_bias, width, layer);
  list.add(prefix + "linear1.weight", TrainRole::linear1_weight, {{"F", hidden}, {"E", width}}, layer);
  list.add(prefix + "linear1.bias", TrainRole::linear1_bias, {{"F", hidden}}, layer);
  list.add(prefix + "linear2.weight", TrainRole::linear2_weight, {{"E", width}, {"F", hidden}}, layer);
  list.add(prefix + "linear2.bias", TrainRole::linear2_bias, {{"E", width}}, layer);
}

}  // namespace

void check_train_model(const TrainModelConfig& config) {
  check_between("vocabulary", config.vocabulary, 2, 65536);
  check_between("longest_sequence", config.longest_sequence, 1, 1024);
  check_between("layers", config.layers, 1, 4);
  check_between("width", config.width, 16, 128);
  check_head_sizes(config);
  check_latents(config);
  if (config.sliding_window)
    check_between("sliding_window", *config.sliding_window, 1, config.longest_sequence);
  if (config.feed_forward_width) check_between("feed_forward_width", *config.feed_forward_width, 1, 1024);
  if (config.positions == TrainPositions::sinusoidal && config.width % 2 != 0)
    refuse_setting("positions",
                   "sinusoidal positions pair a sine with a cosine, so the model width must be even",
                   fmt::format("width = {}", config.width), "an even width");
  if (!(config.dropout >= 0.0 && config.dropout < 1.0))
    refuse_setting("dropout", "the value is out of range", fmt::format("{}", config.dropout),
                   "a probability of at least 0 and below 1");
  check_frozen_heads(config);
}

Index head_width_of(const TrainModelConfig& config) {
  return config.head_width.value_or(config.width / config.heads);
}

Index shared_key_width_of(const TrainModelConfig& config) {
  return config.latent_width ? (head_width_of(config) + 7) / 8 * 2 : 0;
}

Index rotated_width_of(const TrainModelConfig& config) {
  return config.latent_width ? shared_key_width_of(config) : head_width_of(config);
}

Index kv_b_rows_of(const TrainModelConfig& config) {
  return config.latent_width ? config.heads * (2 * head_width_of(config) - shared_key_width_of(config)) : 0;
}

Index feed_forward_width_of(const TrainModelConfig& config) {
  return config.feed_forward ? config.feed_forward_width.value_or(4 * config.width) : 0;
}

Index in_rows_of(const TrainModelConfig& config) {
  return (config.heads + 2 * config.kv_heads) * head_width_of(config);
}

PositionWindow seen_by_token(const TrainModelConfig& config) {
  PositionOptions options;
  options.is_causal = config.causal;
  options.sliding_window = config.sliding_window;
  return seen_by_position(options);
}

RelativeBias relative_bias_of(const TrainModelConfig& config) {
  return {.bidirectional = !config.causal};
}

std::vector<TrainParameter> train_parameters(const TrainModelConfig& config) {
  check_train_model(config);
  ParameterList list;
  const Index width = config.width;
  list.add("embedding.weight", TrainRole::embedding, {{"V", config.vocabulary}, {"E", width}});
  if (config.positions == TrainPositions::learned)
    list.add("positions.weight", TrainRole::positions, {{"T", config.longest_sequence}, {"E", width}});
  for (Index layer = 0; layer < config.layers; ++layer) add_layer(list, config, layer);
  if (config.norms) list.add_norm("norm", TrainRole::norm_weight, TrainRole::norm_bias, width);
  if (!config.tied)
    list.add("unembedding.weight", TrainRole::unembedding, {{"V", config.vocabulary}, {"E", width}});
  return list.take();
}

Index train_parameter_count(const std::vector<TrainParameter>& parameters) {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size();
}

std::optional<ValueOwner> owner_of(const TrainModelConfig& config, const TrainParameter& parameter, Index i) {
  const Index columns = parameter.columns(), head_width = head_width_of(config);
  const Index row = i / columns, column = i % columns, per_group = config.heads / config.kv_heads;
  // Of a matrix with so many rows for each head.
  const auto of_rows = [&](Index rows) { return ValueOwner{row / rows, 1, row % rows * columns + column}; };
  switch (parameter.role) {
    case TrainRole::in_weight:
    case TrainRole::in_bias: {
      const Index step = parameter.shape.rank() < 2 ? 1 : columns, unit = i / step / head_width;
      // Query heads, then key heads, then value heads.
      const Index first = unit < config.heads                     ? 0
                          : unit < config.heads + config.kv_heads ? config.heads
                                                                  : config.heads + config.kv_heads;
      const Index heads = first > 0 ? per_group : 1;
      return ValueOwner{(unit - first) * heads, heads, i - (unit - first) * head_width * step};
    }
    case TrainRole::q_weight:
    case TrainRole::gate_weight:
      return of_rows(head_width);
    case TrainRole::kv_b_weight:
      return of_rows(kv_b_rows_of(config) / config.heads);
    case TrainRole::kv_a_weight:
    case TrainRole::latent_norm:
      return ValueOwner{0, config.heads, i};
    case TrainRole::out_weight:
      return ValueOwner{column / head_width, 1, row * columns + column % head_width};
    case TrainRole::sinks:
    case TrainRole::relative_bias:
      return ValueOwner{column, 1, row * columns};
    default:
      return std::nullopt;
  }
}

std::vector<std::uint8_t> frozen_values(const TrainModelConfig& config,
                                        const std::vector<TrainParameter>& parameters) {
  if (config.frozen_heads.empty()) return {};
  std::vector<std::uint8_t> frozen(static_cast<std::size_t>(train_parameter_count(parameters)), 0);
  const auto is_frozen = [&](Index layer, Index head) {
    return std::ranges::count(config.frozen_heads, FrozenHead{layer, head}) > 0;
  };
  const auto stays = [&](const TrainParameter& parameter, const ValueOwner& owner) {
    const bool of_all_layers = parameter.role == TrainRole::relative_bias;
    const Index first_layer = of_all_layers ? 0 : parameter.layer,
                last_layer = of_all_layers ? config.layers - 1 : parameter.layer;
    for (Index layer = first_layer; layer <= last_layer; ++layer)
      for (Index head = owner.first; head < owner.first + owner.heads; ++head)
        if (!is_frozen(layer, head)) return false;
    return true;
  };
  for (const TrainParameter& parameter : parameters)
    for (Index i = 0; i < parameter.size(); ++i)
      if (const auto owner = owner_of(config, parameter, i))
        frozen[static_cast<std::size_t>(parameter.offset + i)] = stays(parameter, *owner);
  return frozen;
}

namespace {

// 1/√n, of a number of inputs that Python calls by `name`.
Beginning bounded(Draw draw, Index inputs, const std::string& name) {
  return {draw, 1.0 / std::sqrt(static_cast<double>(inputs)), fmt::format("1 / math.sqrt({})", name)};
}

}  // namespace

Beginning beginning_of(const TrainParameter& parameter, const TrainModelConfig& config) {
  switch (parameter.role) {
    case TrainRole::embedding:
    case TrainRole::positions:
      return config.tied ? bounded(Draw::normal, config.width, "WIDTH") : Beginning{Draw::normal, 1.0, "1.0"};
    case TrainRole::in_weight: {
      const Index both = parameter.rows() + parameter.columns();
      return {Draw::uniform, std::sqrt(6.0 / static_cast<double>(both)),
              fmt::format("math.sqrt(6 / {})", both)};
    }
    case TrainRole::relative_bias:
      return bounded(Draw::normal, config.width, "WIDTH");
    case TrainRole::q_weight:
    case TrainRole::kv_a_weight:
    case TrainRole::kv_b_weight:
    case TrainRole::gate_weight:
    case TrainRole::out_weight:
    case TrainRole::linear1_weight:
    case TrainRole::linear2_weight:
    case TrainRole::unembedding:
      return bounded(Draw::uniform, parameter.columns(), std::to_string(parameter.columns()));
    case TrainRole::linear1_bias:
      return bounded(Draw::uniform, config.width, "WIDTH");
    case TrainRole::linear2_bias:
      return bounded(Draw::uniform, feed_forward_width_of(config), "HIDDEN");
    case TrainRole::latent_norm:
    case TrainRole::norm1_weight:
    case TrainRole::norm2_weight:
    case TrainRole::norm_weight:
      return {Draw::constant, 1.0, "1.0"};
    case TrainRole::in_bias:
    case TrainRole::sinks:
    case TrainRole::out_bias:
    case TrainRole::norm1_bias:
    case TrainRole::norm2_bias:
    case TrainRole::norm_bias:
      return {};
  }
  return {};
}

namespace {

// The value of head 0 that the i-th value equals if all heads begin equal.
Index same_in_first_head(const TrainParameter& parameter, const TrainModelConfig& config, Index i) {
  if (parameter.role == TrainRole::out_weight && !config.equal_out_projection) return i;
  const auto owner = owner_of(config, parameter, i);
  return owner ? owner->in_first : i;
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
