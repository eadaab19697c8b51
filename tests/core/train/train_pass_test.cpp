#include "core/train/train_pass.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {
namespace {

constexpr std::uint64_t dropout_seeds[] = {11, 12, 13, 14};

DropoutSeeds seeds_of(const TrainModelConfig& config) {
  if (config.dropout == 0.0) return {};
  return DropoutSeeds(dropout_seeds).first(static_cast<std::size_t>(config.layers));
}

template <class T>
std::vector<T> gradient_of(const TrainModelConfig& config, const std::vector<double>& values,
                           const TrainBatch& batch) {
  TrainPass<T> pass(config);
  const std::vector<T> narrow(values.begin(), values.end());
  std::vector<T> gradient(values.size(), T(NAN));
  pass.gradient(std::span<const T>(narrow), batch, std::span(gradient), seeds_of(config));
  return gradient;
}

// Largest |a − b| over the largest |b|.
template <class A, class B>
double apart(const A& a, const B& b) {
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < std::size(b); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    size = std::max(size, std::abs(static_cast<double>(b[i])));
  }
  return size > 0.0 ? difference / size : difference;  // zeros are to be zeros
}

}  // namespace

TEST_CASE("the gradient of every parameter under every option is that of central differences") {
  for (const auto& [name, config] : trained_options()) {
    CAPTURE(name);
    const TrainBatch batch = random_batch(config, 3, 6);
    std::vector<double> values = moved_parameters(config), gradient(values.size());
    TrainPass<double> pass(config);
    pass.gradient(values, batch, std::span(gradient), seeds_of(config));
    std::vector<double> unused(values.size());
    const auto loss_with = [&](std::size_t at, double change) {
      const double before = std::exchange(values[at], values[at] + change);
      const bool drops = config.dropout > 0.0;  // where nothing is dropped the way forward is enough
      const double loss = drops ? pass.gradient(values, batch, std::span(unused), seeds_of(config)).loss
                                : pass.evaluate(values, batch).loss;
      values[at] = before;
      return loss;
    };
    for (const TrainParameter& parameter : pass.parameters()) {
      double largest = 0.0;
      for (Index i = parameter.offset; i < parameter.offset + parameter.size(); ++i)
        largest = std::max(largest, std::abs(gradient[static_cast<std::size_t>(i)]));
      // A bias of the keys shifts all scores of a query equally where positions do not enter them, and one
      // without effect has gradient 0.
      const double size = std::max(largest, 1e-4);
      const Index step = std::max<Index>(1, parameter.size() / 9);
      for (Index i = 0; i < parameter.size(); i += step) {
        const auto at = static_cast<std::size_t>(parameter.offset + i);
        constexpr double h = 1e-4;
        const double slope =
            (8.0 * (loss_with(at, h) - loss_with(at, -h)) - (loss_with(at, 2 * h) - loss_with(at, -2 * h))) /
            (12.0 * h);
        CHECK_MESSAGE(std::abs(slope - gradient[at]) <= 1e-7 * size, parameter.name, "[", i,
                      "]: ", gradient[at], " and not ", slope);
      }
    }
  }
}

TEST_CASE("gradients and losses have the same bits for 1, 2 and 5 threads") {
  for (const auto& [name, config] : trained_options()) {
    CAPTURE(name);
    const TrainBatch batch = random_batch(config, 200, 7);  // 12 chunks
    const std::vector<double> values = moved_parameters(config);
    const std::vector<float> narrow(values.begin(), values.end());
    std::vector<double> first;
    std::vector<float> first_narrow;
    double first_loss = 0.0;
    for (const int threads : {1, 2, 5}) {
      const ThreadLimit limit(threads);
      TrainPass<double> pass(config);
      TrainPass<float> narrow_pass(config);
      std::vector<double> gradient(values.size());
      std::vector<float> narrow_gradient(values.size());
      const BatchResult result = pass.gradient(values, batch, std::span(gradient), seeds_of(config));
      narrow_pass.gradient(narrow, batch, std::span(narrow_gradient), seeds_of(config));
      if (threads == 1) {
        first = gradient;
        first_narrow = narrow_gradient;
        first_loss = result.loss;
      }
      CHECK(gradient == first);
      CHECK(narrow_gradient == first_narrow);
      CHECK(result.loss == first_loss);
    }
  }
}

TEST_CASE("gradients in f64 agree with every instruction set to 1e-12 of the largest") {
  for (const auto& [name, config] : trained_options()) {
    CAPTURE(name);
    const TrainBatch batch = random_batch(config, 40, 7);
    const std::vector<double> values = moved_parameters(config);
    std::vector<double> first;
    for (const InstructionSet set : instruction_sets()) {
      if (!machine_runs(set)) continue;
      const InstructionSetScope scope(set);
      const std::vector<double> gradient = gradient_of<double>(config, values, batch);
      if (first.empty()) first = gradient;
      CHECK_MESSAGE(apart(gradient, first) < 1e-12, instruction_set_name(set));
      CHECK_MESSAGE(apart(gradient_of<float>(config, values, batch), first) < 1e-4, instruction_set_name(set));
    }
  }
}

namespace {

// A model of one layer without feed-forward and norms, with dropout.
void check_against_reference(const TrainModelConfig& config) {
  constexpr Index sequences = 40;  // more than are computed at a time
  const TrainBatch batch = random_batch(config, sequences, 7);
  const std::vector<double> values = moved_parameters(config);
  TrainPass<double> pass(config);
  std::vector<double> gradient(values.size());
  const BatchResult result = pass.gradient(values, batch, std::span(gradient), seeds_of(config));

  const auto parameter = [&](TrainRole role) -> const TrainParameter& {
    return *std::ranges::find(pass.parameters(), role, &TrainParameter::role);
  };
  const auto part = [&](const std::vector<double>& of, TrainRole role) {
    const TrainParameter& p = parameter(role);
    return std::vector<double>(of.begin() + p.offset, of.begin() + p.offset + p.size());
  };
  const auto tensor = [&](TrainRole role) {
    return std::make_shared<const Tensor>(parameter(role).shape, part(values, role));
  };
  const Index rows = sequences * 7, width = 16, head_width = head_width_of(config);
  const std::vector<double> embedding = part(values, TrainRole::embedding),
                            unembedding = part(values, TrainRole::unembedding);
  std::vector<double> x;
  for (const std::int32_t token : batch.tokens)
    x.insert(x.end(), embedding.begin() + token * width, embedding.begin() + (token + 1) * width);
  AttentionInputs inputs;
  inputs.dtype = DType::f64;
  inputs.options.embed_dim = inputs.options.kdim = inputs.options.vdim = width;
  inputs.options.num_heads = 4;
  inputs.options.num_kv_heads = config.kv_heads;
  inputs.options.head_dim = inputs.options.v_head_dim = head_width;
  inputs.options.is_causal = config.causal;
  inputs.options.sliding_window = config.sliding_window;
  inputs.options.dropout = 0.25;
  inputs.options.dropout_seed = dropout_seeds[0];
  inputs.options.alibi = config.positions == TrainPositions::alibi;
  if (config.positions == TrainPositions::rotary) inputs.options.rotary_base = 10000.0;
  if (config.qk_norm) inputs.options.qk_norm = QkNorm::per_head;
  inputs.tensors.query = inputs.tensors.key = inputs.tensors.value =
      std::make_shared<const Tensor>(Shape{{"N", sequences}, {"L", 7}, {"E", width}}, x);
  // Each parameter of attention with the tensor that it is.
  std::vector<std::pair<TrainRole, TensorPtr TraceTensors::*>> trained;
  const auto give = [&](TrainRole role, TensorPtr TraceTensors::*member) {
    inputs.tensors.*member = tensor(role);
    trained.emplace_back(role, member);
  };
  if (config.latent_width) {
    inputs.options.op = Op::multi_head_latent_attention;
    inputs.options.kv_lora_rank = *config.latent_width;
    inputs.options.qk_rope_head_dim = shared_key_width_of(config);
    inputs.options.qk_nope_head_dim = head_width - shared_key_width_of(config);
    inputs.tensors.value = nullptr;
    give(TrainRole::q_weight, &TraceTensors::q_proj_weight);
    give(TrainRole::kv_a_weight, &TraceTensors::kv_a_weight);
    give(TrainRole::latent_norm, &TraceTensors::kv_a_norm_weight);
    give(TrainRole::kv_b_weight, &TraceTensors::kv_b_weight);
  } else {
    give(TrainRole::in_weight, &TraceTensors::in_proj_weight);
    give(TrainRole::in_bias, &TraceTensors::in_proj_bias);
  }
  give(TrainRole::out_weight, &TraceTensors::out_proj_weight);
  give(TrainRole::out_bias, &TraceTensors::out_proj_bias);
  if (config.sink) give(TrainRole::sinks, &TraceTensors::sinks);
  inputs.options.output_gate = config.output_gate;
  if (config.output_gate) give(TrainRole::gate_weight, &TraceTensors::output_gate_weight);
  if (config.positions == TrainPositions::relative_bias) {
    inputs.options.relative_bias = relative_bias_of(config);
    give(TrainRole::relative_bias, &TraceTensors::relative_bias_weight);
  }
  const TracePtr forward = reference_forward(inputs);

  // Logits and cross-entropy by the textbook.
  const auto output = forward->tensors.output->values<double>();
  std::vector<double> grad_y(x.size(), 0.0);
  const auto counted = static_cast<double>(result.counted);
  double loss = 0.0;
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t target = batch.targets[static_cast<std::size_t>(row)];
    if (target < 0) continue;
    std::vector<double> logits(11, 0.0);
    double sum = 0.0;
    for (Index v = 0; v < 11; ++v) {
      for (Index c = 0; c < width; ++c)
        logits[static_cast<std::size_t>(v)] +=
            (x[static_cast<std::size_t>(row * width + c)] + output[static_cast<std::size_t>(row * width + c)]) *
            unembedding[static_cast<std::size_t>(v * width + c)];
      sum += std::exp(logits[static_cast<std::size_t>(v)]);
    }
    loss += (std::log(sum) - logits[static_cast<std::size_t>(target)]) / counted;
    for (Index v = 0; v < 11; ++v)
      for (Index c = 0; c < width; ++c)
        grad_y[static_cast<std::size_t>(row * width + c)] +=
            (std::exp(logits[static_cast<std::size_t>(v)]) / sum - (v == target)) / counted *
            unembedding[static_cast<std::size_t>(v * width + c)];
  }
  CHECK(result.loss == doctest::Approx(loss).epsilon(1e-12));
  const TracePtr back =
      reference_backward(*forward, std::make_shared<const Tensor>(forward->tensors.output->shape(), grad_y));
  for (const auto& [role, member] : trained)
    CHECK(apart(part(gradient, role), (back->grad.*member)->values<double>()) < 1e-12);
  std::vector<double> grad_embedding(embedding.size(), 0.0);
  const auto grad_query = back->grad.query->values<double>();  // of the tensor that is key and value, too
  for (Index i = 0; i < rows * width; ++i)
    grad_embedding[static_cast<std::size_t>(batch.tokens[static_cast<std::size_t>(i / width)] * width + i % width)] +=
        grad_query[static_cast<std::size_t>(i)] + grad_y[static_cast<std::size_t>(i)];
  CHECK(apart(part(gradient, TrainRole::embedding), grad_embedding) < 1e-12);

  inputs.options.dropout = 0.0;
  const TracePtr plain = reference_forward(inputs);
  CHECK(apart(pass.attention_weights(values, batch)[0].values<double>(),
              plain->tensors.attn_weights->values<double>()) < 1e-13);
}

}  // namespace

TEST_CASE("a layer of attention alone agrees with the reference backend, forward and back") {
  TrainModelConfig config;
  config.vocabulary = 11;
  config.longest_sequence = 7;
  config.layers = 1;
  config.width = 16;
  config.heads = 4;
  config.feed_forward = config.norms = false;
  config.dropout = 0.25;
  for (const bool causal : {false, true})
    for (const Index kv_heads : {4, 2})
      for (const TrainPositions positions : {TrainPositions::none, TrainPositions::rotary,
                                             TrainPositions::alibi, TrainPositions::relative_bias})
        for (const bool qk_norm : {false, true})
          for (const auto& [sink, output_gate] :
               {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
            CAPTURE(static_cast<int>(positions));
            CAPTURE(sink);
            CAPTURE(output_gate);
            config.causal = causal;
            config.kv_heads = kv_heads;
            config.positions = positions;
            config.qk_norm = qk_norm;
            config.sink = sink;
            config.output_gate = output_gate;
            const bool can_have_latents = kv_heads == 4 && !qk_norm;
            for (const auto& latents : {std::optional<Index>{}, {3}, {16}})
              for (const auto& window : {std::optional<Index>{}, {1}, {3}}) {
                if (latents && !can_have_latents) continue;
                config.latent_width = latents;
                config.head_width = latents == 16 ? std::optional<Index>(5) : std::nullopt;
                config.sliding_window = window;
                check_against_reference(config);
              }
          }
}

TEST_CASE("evaluation computes the loss of the same model without dropout, and counts the right answers") {
  TrainModelConfig config = trained_options()[0].config;
  const TrainBatch batch = random_batch(config, 50, 7);
  const std::vector<double> values = moved_parameters(config);
  std::vector<double> gradient(values.size());
  TrainPass<double> pass(config);
  const BatchResult trained = pass.gradient(values, batch, std::span(gradient)),
                    evaluated = pass.evaluate(values, batch);
  CHECK(evaluated.loss == trained.loss);
  CHECK(evaluated.correct == trained.correct);
  CHECK(evaluated.counted == std::ranges::count_if(batch.targets, [](auto t) { return t >= 0; }));
  config.dropout = 0.5;
  TrainPass<double> dropping(config);
  CHECK(dropping.evaluate(values, batch).loss == trained.loss);
  CHECK(dropping.gradient(values, batch, std::span(gradient), seeds_of(config)).loss != trained.loss);
  // Exactly one target of each position is what it says.
  TrainBatch said = batch;
  for (std::size_t at = 0; at < 7; ++at) {
    said.targets.assign(said.targets.size(), -1);
    Index right = 0;
    for (std::int32_t v = 0; v < 11; ++v) {
      said.targets[at] = v;
      right += pass.evaluate(values, said).correct;
    }
    CHECK(right == 1);
  }
}

TEST_CASE("the gradient of a frozen head is zero, and all other gradients stay") {
  TrainModelConfig config = trained_options()[0].config;
  const TrainBatch batch = random_batch(config, 5, 7);
  const std::vector<double> values = moved_parameters(config),
                            free = gradient_of<double>(config, values, batch);
  config.frozen_heads = {{1, 2}};
  const std::vector<double> frozen = gradient_of<double>(config, values, batch);
  const std::vector<std::uint8_t> stays = frozen_values(config, train_parameters(config));
  for (std::size_t i = 0; i < free.size(); ++i) CHECK(frozen[i] == (stays[i] ? 0.0 : free[i]));
}

TEST_CASE("heads that begin equal get equal gradients, bit for bit") {
  TrainModelConfig config = trained_options()[0].config;
  config.heads_begin_equal = true;
  config.positions = TrainPositions::rotary;
  TrainPass<float> pass(config);
  const std::vector<double> values = moved_parameters(config);  // the biases of the heads differ
  std::vector<float> narrow(values.begin(), values.end()), gradient(values.size());
  for (const TrainParameter& parameter : pass.parameters())
    if (parameter.role == TrainRole::in_bias)
      std::fill_n(narrow.begin() + parameter.offset, parameter.size(), 0.0f);
  pass.gradient(narrow, random_batch(config, 9, 7), std::span(gradient));
  for (const TrainParameter& parameter : pass.parameters()) {
    if (parameter.role != TrainRole::in_weight) continue;
    for (Index head = 1; head < 4; ++head)
      for (Index i = 0; i < 4 * 16; ++i)
        CHECK(gradient[static_cast<std::size_t>(parameter.offset + head * 4 * 16 + i)] ==
              gradient[static_cast<std::size_t>(parameter.offset + i)]);
  }
}

TEST_CASE("a batch that does not fit the model is refused in one sentence") {
  const TrainModelConfig config = trained_options()[0].config;
  TrainPass<double> pass(config);
  const std::vector<double> values = moved_parameters(config);
  const auto refused = [&](auto&& change) {
    TrainBatch batch = random_batch(config, 2, 7);
    change(batch);
    CHECK_THROWS_AS(pass.evaluate(values, batch), Error);
  };
  refused([](TrainBatch& b) { b.tokens[3] = 11; });
  refused([](TrainBatch& b) { b.tokens[3] = -1; });
  refused([](TrainBatch& b) { b.targets[3] = -2; });
  refused([](TrainBatch& b) { b.targets[3] = 11; });
  refused([](TrainBatch& b) { b.targets.pop_back(); });
  refused([](TrainBatch& b) { b.sequences = 0; });
  refused([](TrainBatch& b) { b.length = 8; });
  CHECK_THROWS_AS(pass.evaluate(std::span(values).first(5), random_batch(config, 2, 7)), Error);
}

TEST_CASE("a batch in which nothing counts has loss 0 and gradient 0") {
  const TrainModelConfig config = trained_options()[0].config;
  TrainBatch batch = random_batch(config, 2, 7);
  batch.targets.assign(batch.targets.size(), -1);
  for (const double g : gradient_of<double>(config, moved_parameters(config), batch)) CHECK(g == 0.0);
}

}  // namespace headwise::test
