#include "tests/core/train/train_options.h"

#include "core/tensor/random.h"
#include "core/train/train_model.h"

namespace headwise::test {

std::vector<NamedTrainModel> trained_options() {
  TrainModelConfig base;
  base.vocabulary = 11;
  base.longest_sequence = 7;
  base.width = 16;
  base.heads = base.kv_heads = 4;
  std::vector<NamedTrainModel> options;
  const auto add = [&](const char* name, auto&& change) {
    options.push_back({name, base});
    change(options.back().config);
  };
  add("as it is", [](TrainModelConfig&) {});
  add("one layer", [](TrainModelConfig& c) { c.layers = 1; });
  add("four layers", [](TrainModelConfig& c) { c.layers = 4; });
  add("a width that is no multiple of the padding", [](TrainModelConfig& c) { c.width = 20; });
  add("one wide head", [](TrainModelConfig& c) { c.heads = c.kv_heads = 1; });
  add("sixteen narrow heads", [](TrainModelConfig& c) { c.heads = c.kv_heads = 16; });
  add("grouped heads", [](TrainModelConfig& c) { c.kv_heads = 2; });
  add("one key head", [](TrainModelConfig& c) { c.kv_heads = 1; });
  add("heads wider than E/H", [](TrainModelConfig& c) { c.head_width = 6; });
  add("no feed-forward", [](TrainModelConfig& c) { c.feed_forward = false; });
  add("a narrow feed-forward", [](TrainModelConfig& c) { c.feed_forward_width = 5; });
  add("relu", [](TrainModelConfig& c) { c.activation = TrainActivation::relu; });
  add("no norms", [](TrainModelConfig& c) { c.norms = false; });
  add("no positions", [](TrainModelConfig& c) { c.positions = TrainPositions::none; });
  add("sinusoidal", [](TrainModelConfig& c) { c.positions = TrainPositions::sinusoidal; });
  add("rotary", [](TrainModelConfig& c) { c.positions = TrainPositions::rotary; });
  add("rotary, grouped", [](TrainModelConfig& c) {
    c.positions = TrainPositions::rotary;
    c.kv_heads = 2;
  });
  add("alibi", [](TrainModelConfig& c) { c.positions = TrainPositions::alibi; });
  add("alibi, not causal", [](TrainModelConfig& c) {
    c.positions = TrainPositions::alibi;
    c.causal = false;
  });
  add("not causal", [](TrainModelConfig& c) { c.causal = false; });
  add("a window", [](TrainModelConfig& c) { c.sliding_window = 3; });
  add("a window of the token itself", [](TrainModelConfig& c) { c.sliding_window = 1; });
  add("a window on both sides, relative bias, a sink", [](TrainModelConfig& c) {
    c.sliding_window = 3;
    c.causal = false;
    c.positions = TrainPositions::relative_bias;
    c.sink = true;
  });
  add("a window in a long text, dropout, grouped", [](TrainModelConfig& c) {
    c.longest_sequence = 40;  // also of keys that a whole block of queries does not see
    c.sliding_window = 5;
    c.dropout = 0.3;
    c.kv_heads = 2;
  });
  const auto latents = [](TrainModelConfig& c, Index width) {
    c.latent_width = width;
    c.heads = c.kv_heads = 4;
    c.head_width = 6;
  };
  add("latents", [&](TrainModelConfig& c) { c.latent_width = 4; });
  add("latents, rotary, heads of 6", [&](TrainModelConfig& c) {
    latents(c, 9);
    c.positions = TrainPositions::rotary;
  });
  add("latents as wide as keys and values, a sink, ALiBi, dropout", [&](TrainModelConfig& c) {
    latents(c, 48);
    c.sink = true;
    c.positions = TrainPositions::alibi;
    c.dropout = 0.3;
  });
  add("latents, an output gate", [&](TrainModelConfig& c) {
    latents(c, 7);
    c.output_gate = true;
  });
  add("latents without W_O, not causal, one layer", [&](TrainModelConfig& c) {
    c.latent_width = 5;
    c.heads = c.kv_heads = 1;
    c.layers = 1;
    c.out_projection = c.causal = c.norms = false;
  });
  add("latents, a window, relative bias, heads that begin equal", [&](TrainModelConfig& c) {
    latents(c, 20);
    c.sliding_window = 3;
    c.positions = TrainPositions::relative_bias;
    c.heads_begin_equal = true;
  });
  add("without 1/√D", [](TrainModelConfig& c) { c.scaled = false; });
  add("QK-norm", [](TrainModelConfig& c) { c.qk_norm = true; });
  add("QK-norm, rotary, grouped", [](TrainModelConfig& c) {
    c.qk_norm = true;
    c.positions = TrainPositions::rotary;
    c.kv_heads = 2;
  });
  add("relative bias", [](TrainModelConfig& c) { c.positions = TrainPositions::relative_bias; });
  add("a sink, grouped, not causal, dropout", [](TrainModelConfig& c) {
    c.sink = true;
    c.kv_heads = 2;
    c.causal = false;
    c.dropout = 0.3;
  });
  add("an output gate", [](TrainModelConfig& c) { c.output_gate = true; });
  add("an output gate without W_O", [](TrainModelConfig& c) {
    c.output_gate = true;
    c.out_projection = false;
  });
  add("an output gate of heads wider than E/H, rotary", [](TrainModelConfig& c) {
    c.output_gate = true;
    c.head_width = 6;
    c.positions = TrainPositions::rotary;
  });
  add("a sink", [](TrainModelConfig& c) { c.sink = true; });
  add("relative bias, not causal, without 1/√D", [](TrainModelConfig& c) {
    c.positions = TrainPositions::relative_bias;
    c.causal = c.scaled = false;
  });
  add("relative bias, long, grouped", [](TrainModelConfig& c) {
    c.positions = TrainPositions::relative_bias;
    c.longest_sequence = 40;  // also of buckets that distances share
    c.kv_heads = 2;
  });
  add("relative bias, a sink and an output gate, QK-norm, grouped", [](TrainModelConfig& c) {
    c.positions = TrainPositions::relative_bias;
    c.sink = c.output_gate = c.qk_norm = true;
    c.kv_heads = 2;
  });
  add("without W_O", [](TrainModelConfig& c) { c.out_projection = false; });
  add("tied", [](TrainModelConfig& c) { c.tied = true; });
  add("dropout", [](TrainModelConfig& c) { c.dropout = 0.3; });
  add("dropout, grouped", [](TrainModelConfig& c) {
    c.dropout = 0.3;
    c.kv_heads = 2;
    c.causal = false;
  });
  add("heads that begin equal", [](TrainModelConfig& c) { c.heads_begin_equal = true; });
  add("heads that begin equal but for W_O", [](TrainModelConfig& c) {
    c.heads_begin_equal = true;
    c.equal_out_projection = false;
  });
  add("attention alone", [](TrainModelConfig& c) {
    c.layers = 1;
    c.feed_forward = c.norms = c.out_projection = false;
    c.positions = TrainPositions::none;
  });
  return options;
}

TrainBatch random_batch(const TrainModelConfig& config, Index sequences, Index length) {
  TrainBatch batch{.sequences = sequences, .length = length, .tokens = {}, .targets = {}};
  const CounterRandom random(5, "batch");
  const auto below = [&](Index i, Index bound) {
    return static_cast<std::int32_t>(random.bits(static_cast<std::uint64_t>(i)) %
                                     static_cast<std::uint64_t>(bound));
  };
  const Index count = sequences * length;
  for (Index i = 0; i < count; ++i) {
    batch.tokens.push_back(below(3 * i, config.vocabulary));
    batch.targets.push_back(below(3 * i + 1, 3) == 0 ? -1 : below(3 * i + 2, config.vocabulary));
  }
  return batch;
}

std::vector<double> moved_parameters(const TrainModelConfig& config) {
  const std::vector<TrainParameter> parameters = train_parameters(config);
  std::vector<double> values(static_cast<std::size_t>(train_parameter_count(parameters)));
  initialise_parameters(config, parameters, 3, std::span(values));
  const CounterRandom random(4, "moved");
  for (const TrainParameter& parameter : parameters) {
    if (parameter.shape.rank() != 1) continue;
    for (Index i = parameter.offset; i < parameter.offset + parameter.size(); ++i)
      values[static_cast<std::size_t>(i)] += 0.2 * random.normal(static_cast<std::uint64_t>(i));
  }
  return values;
}

}  // namespace headwise::test
