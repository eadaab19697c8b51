// A checkpoint as core/model opens it, held against what core/train computes.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/attention/reference_backend.h"
#include "core/model/transformer/predictions.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "core/train/cell_update.h"
#include "core/train/checkpoint.h"
#include "core/train/train_json.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/train/small_training.h"
#include "tests/core/train/train_options.h"
#include "tests/refusals.h"

namespace headwise::test {
namespace {

constexpr double f32_tolerance = 2e-5;

// The configuration's own vocabulary and length, as a task of repeated tokens.
TaskSource source_for(const TrainModelConfig& config) {
  return {.name = "previous-token", .sizes = {.length = config.longest_sequence, .symbols = config.vocabulary}};
}

std::unique_ptr<TrainingRun<float>> moved_run(TaskSource& source, const TrainModelConfig& config) {
  TrainingSettings settings;
  settings.model = config;
  settings.optimiser.kind = OptimiserKind::sgd;
  auto run = std::make_unique<TrainingRun<float>>(task_of(source), settings);
  const std::vector<double> moved = moved_parameters(config);
  run->restore({0, {moved.begin(), moved.end()}, {}, {}});
  return run;
}

// Each option on its own, and random combinations of all.
std::vector<NamedTrainModel> options_and_combinations() {
  std::vector<NamedTrainModel> models = trained_options();
  const TrainModelConfig base = models.front().config;
  const CounterRandom random(11, "combinations");
  std::uint64_t next = 0;
  const auto one_of = [&](Index count) {
    return static_cast<Index>(random.bits(next++) % static_cast<std::uint64_t>(count));
  };
  constexpr std::array positions{TrainPositions::none,       TrainPositions::learned,
                                 TrainPositions::sinusoidal, TrainPositions::rotary,
                                 TrainPositions::alibi,      TrainPositions::relative_bias};
  for (int i = 0; i < 60; ++i) {
    TrainModelConfig config = base;
    config.layers = 1 + one_of(3);
    config.positions = positions[static_cast<std::size_t>(i) % positions.size()];
    config.causal = one_of(2) == 0;
    if (one_of(3) == 0) config.sliding_window = 1 + one_of(config.longest_sequence);
    config.scaled = one_of(3) > 0;
    config.qk_norm = one_of(3) == 0;
    config.sink = one_of(3) == 0;
    config.output_gate = one_of(3) == 0;
    config.norms = one_of(3) > 0;
    config.feed_forward = one_of(3) > 0;
    config.out_projection = one_of(3) > 0;
    config.tied = one_of(2) == 0;
    config.activation = one_of(2) == 0 ? TrainActivation::relu : TrainActivation::gelu;
    config.kv_heads = Index{1} << one_of(3);
    if (config.out_projection && one_of(2) == 0) config.head_width = 2 * (1 + one_of(5));
    if (one_of(3) == 0) config.feed_forward_width = 1 + one_of(40);
    if (one_of(2) == 0 && config.kv_heads == config.heads && head_width_of(config) > 2 && !config.qk_norm)
      config.latent_width = 1 + one_of(30);
    models.push_back({"combination", config});
  }
  return models;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape().sizes() == b.shape().sizes());
  double largest = 0.0;
  for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a.flat(i) - b.flat(i)));
  return largest;
}

double cross_entropy(const Transformer& transformer, const Tensor& last_hidden,
                     const std::vector<std::int32_t>& targets) {
  double loss = 0.0;
  Index counted = 0;
  visit_logits(transformer, last_hidden, [&](Index row, std::span<const float> logits) {
    const std::int32_t target = targets[static_cast<std::size_t>(row)];
    if (target < 0) return;
    loss -= WordDistribution(logits).log_probability(target);
    ++counted;
  });
  return loss / static_cast<double>(counted);
}

// The folder of the checkpoint of such a run.
std::string written(const TemporaryFolder& folder, const TrainModelConfig& config) {
  TaskSource source = source_for(config);
  write_checkpoint(folder.file("run"), source, *moved_run(source, config));
  return checkpoint_path(folder.file("run"), 0);
}

// Attention in every layer, and the loss.
void check_computes_alike(const TrainModelConfig& config, TrainingRun<float>& run, const TextModel& model) {
  CAPTURE(model.no_text());
  REQUIRE(model.no_text().empty());
  const Transformer& transformer = *model.transformer();
  REQUIRE(transformer.no_words().empty());
  CHECK(model.nameless_words().empty());
  REQUIRE(transformer.config().num_layers == config.layers);

  TrainBatch batch{.sequences = 1};
  fill_batch(run.task(), TaskSplit::held_out, run.settings().seed, 3, batch);
  const Transformer::Pass pass = transformer.run(batch.tokens, {.keep_weights = true});
  const std::vector<Tensor> maps = run.held_out_maps(3);
  for (Index layer = 0; layer < config.layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    CHECK(largest_difference(*pass.attn_weights[at], maps[at]) < f32_tolerance);
    // The same as a scenario: the layer's own parameters and settings, given its true input.
    Scenario scenario = layer_scenario(model.files().path(), model.layers(), layer);
    scenario.inputs.source = InputSource::text;
    scenario.inputs.text = model.tokenizer()->decode(batch.tokens);
    const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
    CHECK(inputs.notes.empty());
    const TracePtr trace = reference_forward(inputs.attention);
    CHECK(largest_difference(*trace->tensors.attn_weights, maps[at]) < f32_tolerance);
    const TensorPtr last =
        transformer.continue_from(*inputs.model_input->hidden_state, layer, *trace->tensors.output);
    CHECK(largest_difference(*last, *pass.last_hidden) < 1e-4);
  }
  TrainPass<float> trained(config);
  const double loss = trained.evaluate(run.values(), batch).loss;
  CHECK(cross_entropy(transformer, *pass.last_hidden, batch.targets) ==
        doctest::Approx(loss).epsilon(f32_tolerance));
}

// Each number of a layer's attention is among the training's parameters, to the last bit.
void check_numbers(const TrainModelConfig& config, const TrainingRun<float>& run, const TextModel& model) {
  std::vector<TensorId> trained{TensorId::in_proj_weight, TensorId::in_proj_bias};
  if (config.latent_width)
    trained = {TensorId::q_proj_weight, TensorId::kv_a_weight, TensorId::kv_a_norm_weight,
               TensorId::kv_b_weight};
  trained.insert(trained.end(), {TensorId::out_proj_weight, TensorId::out_proj_bias});
  if (config.sink) trained.push_back(TensorId::sinks);
  if (config.output_gate) trained.push_back(TensorId::output_gate_weight);
  if (config.positions == TrainPositions::relative_bias) trained.push_back(TensorId::relative_bias_weight);
  std::vector<int> found(run.values().size(), 0);
  const auto find_all = [&](const TraceTensors& tensors, Index layer, std::span<const TensorId> ids) {
    for (const TensorId id : ids) {
      const TensorPtr& tensor = tensors.*tensor_entry(id).member;
      if (id == TensorId::out_proj_bias && config.latent_width && !config.out_projection) continue;
      REQUIRE(tensor);
      const Index columns = tensor->shape().size(tensor->shape().rank() - 1);
      for (Index i = 0; i < tensor->size(); ++i) {
        std::vector<Index> index{i % columns};
        if (tensor->shape().rank() == 2) index.insert(index.begin(), i / columns);
        const auto cell = trained_cell(config, layer, id, index);
        const bool is_output = id == TensorId::out_proj_weight || id == TensorId::out_proj_bias;
        if (is_output && !config.out_projection) {
          CHECK_FALSE(cell);
          continue;
        }
        REQUIRE(cell);
        const TrainParameter& parameter = run.parameters()[cell->parameter];
        const auto at =
            static_cast<std::size_t>(parameter.offset + cell->row * parameter.columns() + cell->column);
        ++found[at];
        if (tensor->flat(i) != static_cast<double>(run.values()[at])) FAIL(parameter.name);
      }
    }
  };
  for (Index layer = 0; layer < config.layers; ++layer) {
    Scenario scenario = layer_scenario(model.files().path(), model.layers(), layer);
    scenario.inputs.query_length = 4;
    find_all(make_scenario_inputs(scenario, DType::f32).attention.tensors, layer, trained);
  }
  for (const TrainParameter& parameter : run.parameters()) {
    const bool of_attention = parameter.role >= TrainRole::in_weight && parameter.role <= TrainRole::out_bias;
    const Index times = parameter.role == TrainRole::relative_bias ? config.layers  // which share it
                                                                   : of_attention;
    const auto first = found.begin() + parameter.offset;
    CHECK(std::all_of(first, first + parameter.size(), [&](int count) { return count == times; }));
  }
}

std::string text_of(const std::vector<EncodedToken>& tokens, const std::string& text) {
  std::string joined;
  for (const EncodedToken& token : tokens) joined += text.substr(token.begin, token.end - token.begin) + "|";
  return joined;
}

}  // namespace

TEST_CASE("a checkpoint opens as the model that was trained: attention, loss and each number, to the bit") {
  for (const auto& [name, config] : options_and_combinations()) {
    CAPTURE(name);
    CAPTURE(static_cast<int>(config.positions));
    const TemporaryFolder folder;
    TaskSource source = source_for(config);
    const auto run = moved_run(source, config);
    write_checkpoint(folder.file("run"), source, *run);
    const auto model = TextModel::open(checkpoint_path(folder.file("run"), 0));
    check_computes_alike(config, *run, *model);
    check_numbers(config, *run, *model);
  }
  const TrainModelConfig config = trained_options().front().config;
  const std::array<Index, 2> origin{0, 0}, below{in_rows_of(config), 0};
  CHECK_FALSE(trained_cell(config, 0, TensorId::attn_weights, origin));
  CHECK_FALSE(trained_cell(config, config.layers, TensorId::in_proj_weight, origin));
  CHECK_FALSE(trained_cell(config, 0, TensorId::in_proj_weight, below));
  CHECK_FALSE(trained_cell(config, 0, TensorId::in_proj_bias, origin));
}

TEST_CASE("a checkpoint in f64 opens like one in f32") {
  const TemporaryFolder folder;
  TaskSource source{.name = "sort"};
  const TrainingSettings settings = two_head_settings(task_of(source));
  TrainingRun<double> run(task_of(source), settings);
  write_checkpoint(folder.file("run"), source, run);
  const auto model = TextModel::open(checkpoint_path(folder.file("run"), 0));
  REQUIRE(model->no_text().empty());
  TrainBatch batch{.sequences = 1};
  fill_batch(run.task(), TaskSplit::held_out, settings.seed, 0, batch);
  const Transformer::Pass pass = model->transformer()->run(batch.tokens, {.keep_weights = true});
  const std::vector<Tensor> maps = run.held_out_maps(0);
  for (std::size_t layer = 0; layer < maps.size(); ++layer)
    CHECK(largest_difference(*pass.attn_weights[layer], maps[layer]) < f32_tolerance);
}

TEST_CASE("a checkpoint whose arrays and settings disagree is refused by a sentence that names them") {
  const TemporaryFolder folder;
  TrainModelConfig plain = trained_options().front().config;
  const std::string good = written(folder, plain);
  const auto refusal = [&](const std::string& checkpoint, const char* key, const nlohmann::json& value) {
    nlohmann::json config = nlohmann::json::parse(content_of(checkpoint + "/config.json"));
    config[key] = value;
    const TemporaryFolder changed;
    std::filesystem::copy(checkpoint, changed.file("model"));
    changed.with_file("model/config.json", config.dump());
    try {
      const auto model = TextModel::open(changed.file("model"));
      return model->no_text() + (model->transformer() ? model->transformer()->no_words() : "");
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::input);
      return std::string(error.what());
    }
  };
  const auto names = [](const std::string& line, const char* part) {
    CAPTURE(line);
    CHECK_CONTAINS(line, part);
    CHECK(line.find('\n') == std::string::npos);
  };
  CHECK(refusal(good, "attention_dropout", 0.5) == "");
  names(refusal(good, "layer_norm", false), "norm");
  names(refusal(good, "feed_forward", false), "linear1");
  names(refusal(good, "out_projection", false), "out_proj");
  names(refusal(good, "tie_word_embeddings", true), "unembedding.weight");
  names(refusal(good, "position_embedding_type", "none"), "positions.weight");
  names(refusal(good, "position_embedding_type", "relative"), "relative");
  names(refusal(good, "max_position_embeddings", 8), "max_position_embeddings");
  names(refusal(good, "max_position_embeddings", nullptr), "max_position_embeddings");
  names(refusal(good, "hidden_act", "mish"), "mish");
  names(refusal(good, "is_causal", "yes"), "is_causal");
  names(refusal(good, "scale_attn_weights", 2), "scale_attn_weights");
  names(refusal(good, "num_attention_heads", 3), "3");
  TrainModelConfig bare = plain;
  bare.norms = bare.feed_forward = bare.out_projection = false;
  bare.tied = true;
  bare.positions = TrainPositions::none;
  const TemporaryFolder other;
  const std::string least = written(other, bare);
  names(refusal(least, "layer_norm", true), "norm1");
  names(refusal(least, "feed_forward", true), "linear1");
  names(refusal(least, "out_projection", true), "out_proj");
  names(refusal(least, "tie_word_embeddings", false), "unembedding.weight");
  names(refusal(least, "position_embedding_type", "learned"), "positions.weight");
  names(refusal(least, "head_dim", 8), "head_dim");
}

TEST_CASE("the text of an example becomes the tokens of the example again, in every task") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "To be or\nnot\tto be ¿ñ? 中↵␣ ";
  const std::string json =
      R"({"headwise_task":1,"name":"capitals","what":"Say it.","examples":[)"
      R"({"tokens":["New Zealand","?"," "],"targets":[null,"Wellington",null]},)"
      R"({"tokens":["France","?"],"targets":[null,"Paris"]}],"held_out":[{"tokens":["France","?"],"targets":[null,"Paris"]}]})";
  std::vector<TaskSource> sources{
      {.name = "induction", .sizes = {.symbols = 60}},
      {.name = "file", .sizes = {.length = 30}, .file = folder.with_file("hamlet.txt", text)},
      {.name = "file", .file = folder.with_file("capitals.json", json)}};
  for (const TaskEntry& entry : task_entries()) sources.push_back({.name = std::string(entry.name)});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    TaskSource& source = sources[i];
    CAPTURE(source.name);
    const TrainingSettings settings = two_head_settings(task_of(source));
    TrainingRun<float> run(task_of(source), settings);
    const std::string path = folder.file("run" + std::to_string(i));
    write_checkpoint(path, source, run);
    const std::string checkpoint = checkpoint_path(path, 0);
    const auto model = TextModel::open(checkpoint);
    REQUIRE(model->no_text().empty());
    TrainBatch batch{.sequences = 1};
    for (Index number = 0; number < 20; ++number) {
      fill_batch(run.task(), TaskSplit::held_out, settings.seed, number, batch);
      const std::string as_text = model->tokenizer()->decode(batch.tokens);
      const ModelText read = model->read(as_text);
      CHECK(read.ids == batch.tokens);
      CHECK(read.notices.empty());
      if (source.name == "file") continue;
      for (std::size_t t = 0; t < read.ids.size(); ++t)
        CHECK(read.labels[t] == run.task().token_texts[static_cast<std::size_t>(batch.tokens[t])]);
    }
    CHECK(model->task().what == run.task().what);
    // What the checkpoint opens with is its first held-out example.
    fill_batch(run.task(), TaskSplit::held_out, settings.seed, 0, batch);
    const Scenario scenario = scenario_of_file(checkpoint);
    CHECK(scenario.inputs.source == InputSource::text);
    CHECK(model->read(scenario.inputs.text).ids == batch.tokens);
  }
}

TEST_CASE("characters are labelled so that white space is seen, and each is a token") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "to be\nor not ";
  TaskSource source{.name = "file", .sizes = {.length = 8}, .file = folder.with_file("a.txt", text)};
  const TrainingSettings settings = two_head_settings(task_of(source));
  TrainingRun<float> run(task_of(source), settings);
  write_checkpoint(folder.file("run"), source, run);
  const auto model = TextModel::open(checkpoint_path(folder.file("run"), 0));
  const ModelText read = model->read("to be\n");
  CHECK(read.labels == std::vector<std::string>{"t", "o", "␣", "b", "e", "↵"});
  CHECK(text_of(read.tokens, "to be\n") == "t|o| |b|e|\n|");
}

TEST_CASE("a word that the task does not have is named, with words that it has") {
  const TemporaryFolder folder;
  const std::string checkpoint = written(folder, trained_options().front().config);
  const auto model = TextModel::open(checkpoint);
  CHECK(model->read("garden river lamp garden").labels ==
        std::vector<std::string>{"garden", "river", "lamp", "garden"});
  refused_with([&] { model->read("garden gryphon lamp"); }, {"\"gryphon\"", "garden, river, lamp"},
               ExitStatus::usage);
}

TEST_CASE("a model of a training opens with words that it knows where its example is lost") {
  const TemporaryFolder folder;
  const std::string checkpoint = written(folder, trained_options().front().config);
  for (const std::string training : {"", "{", "[]", R"({"example": 3})"}) {
    std::filesystem::remove(checkpoint + "/training.json");
    if (!training.empty()) folder.with_file("run/checkpoint-0/training.json", training);
    CHECK(scenario_of_file(checkpoint).inputs.text == "garden river lamp apple violin stone cloud");
  }
}

}  // namespace headwise::test
