#include "app/cli/train_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "app/cli/subcommand.h"
#include "core/files/file_paths.h"
#include "core/tensor/error.h"
#include "core/train/train_json.h"

namespace headwise {
namespace {

void set_if_given(const char* option, const std::string& word, Index& value) {
  if (!word.empty()) value = integer_of(option, word);
}
void set_if_given(const char* option, const std::string& word, std::optional<Index>& value) {
  if (!word.empty()) value = integer_of(option, word);
}
void set_if_given(const char* option, const std::string& word, double& value) {
  if (!word.empty()) value = number_of(option, word);
}

FrozenHead frozen_head_of(const std::string& word) {
  FrozenHead head;
  const char* const end = word.data() + word.size();
  const auto layer = std::from_chars(word.data(), end, head.layer);
  const bool dot = layer.ec == std::errc() && layer.ptr != end && *layer.ptr == '.';
  if (!dot || std::from_chars(layer.ptr + 1, end, head.head).ptr != end)
    throw Error(ExitStatus::usage, {"--freeze", "the value is wrong", word, "LAYER.HEAD, as 0.3", ""});
  return head;
}

}  // namespace

void add_train_flags(CommandOptions& options, TrainWords& words) {
  options.value("TASK", words.task,
                "The task: one of headwise list tasks, a text file to predict character by character, or a "
                "task in a .json file; with -o FILE.py also the folder of a training");
  options.value("-o,--output", words.output,
                "The folder for checkpoints and curve.csv; a name that ends in .py: the PyTorch program that "
                "trains the same",
                {.type = "FOLDER", .required = true});
  options.value("--steps", words.steps, "Steps to take altogether; with --resume, as many as before",
                {.type = "N", .shows_default = true});
  options.value("--every", words.every,
                "Steps between checkpoints; default: a tenth of --steps, with --resume as before",
                {.type = "N"});
  options.value("--keep", words.keep,
                "The most checkpoints to keep, 3 or more: the first, the last and evenly spaced ones",
                {.type = "N", .shows_default = true});
  options.value("--beside", words.beside,
                "Train the same with one change beside it, in FOLDER/CHANGE, and say what it did; one of "
                "headwise list changes",
                {.type = "CHANGE"});
  options.flag(
      "--resume", words.resume,
      "Go on from the last checkpoint of the folder, with its task and settings, and its --steps, --every "
      "and --keep where they are not given");
  options.value("--seed", words.seed,
                "The seed of the initial parameters, the batches and dropout; default: 1", {.type = "N"});
  options.value("--dtype", words.dtype, "f32 or f64", {.type = "NAME", .shows_default = true});
  options.value("--batch", words.batch, "Sequences per step; default: 64", {.type = "N"});
  options.value("--length", words.length, "Tokens of a sequence; default: as usual for the task",
                {.type = "N"});
  options.value("--symbols", words.symbols,
                "Different words, numbers or keys of the task; default: as usual for it", {.type = "N"});
  options.value("--layers", words.layers, "1 to 4; default: as usual for the task", {.type = "N"});
  options.value("--width", words.width, "The model width, 16 to 128; default: 64", {.type = "E"});
  options.value("--heads", words.heads, "1 to 16; default: 8", {.type = "H"});
  options.value("--kv-heads", words.kv_heads, "Key/value heads, a divisor of --heads; default: as many",
                {.type = "G"});
  options.value("--head-width", words.head_width, "The head width; default: E/H", {.type = "D"});
  options.value("--positions", words.positions,
                "none, learned, sinusoidal, rotary or alibi; default: learned", {.type = "NAME"});
  options.flag("--no-feed-forward", words.no_feed_forward, "Attention alone");
  options.flag("--no-norms", words.no_norms, "No LayerNorm");
  options.flag("--no-out-projection", words.no_out_projection,
               "No W_O: the concatenated heads are the output");
  options.flag("--no-causal", words.no_causal, "Each token sees those after it, too");
  options.flag("--no-scale", words.no_scale, "Scores without 1/√D");
  options.flag("--tied", words.tied, "The unembedding is the embedding");
  options.flag("--heads-begin-equal", words.equal_heads, "Every head begins as head 0");
  options.flag("--heads-begin-equal-but-output", words.equal_but_output,
               "Every head begins as head 0, but the columns of W_O are random");
  options.value("--dropout", words.dropout, "Of attention weights; default: 0", {.type = "P"});
  options.values("--freeze", words.frozen, "A head that stays as it began: LAYER.HEAD",
                 {.type = "L.H", .delimiter = ','});
  options.value("--optimiser", words.optimiser, "sgd, momentum, adam or adamw; default: adamw",
                {.type = "NAME"});
  options.value("--learning-rate", words.learning_rate, "Default: 0.003", {.type = "LR"});
  options.value("--weight-decay", words.weight_decay, "Default: 0.01", {.type = "X"});
  options.value("--clip", words.clip, "The largest gradient norm, 0 for no clipping; default: 1",
                {.type = "NORM"});
  options.value("--warm-up", words.warm_up, "Steps over which the learning rate rises; default: 20",
                {.type = "N"});
  options.value("--cosine", words.cosine, "The step by which the learning rate has fallen to 0", {.type = "N"});
}

TaskSource source_of(const TrainWords& words) {
  TaskSource source{.name = words.task, .sizes = {}};
  set_if_given("--length", words.length, source.sizes.length);
  set_if_given("--symbols", words.symbols, source.sizes.symbols);
  bool is_named = false;
  for (const TaskEntry& entry : task_entries()) is_named = is_named || entry.name == words.task;
  if (!is_named && is_there(words.task)) {
    source.name = "file";
    source.file = words.task;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(words.task, ignored))
      throw Error(ExitStatus::input, {words.task, "there is no text in it to learn",
                                      is_folder(words.task) ? "a folder" : "a device or a pipe",
                                      "a text file, or a task in a .json file", ""});
  }
  return source;
}

TrainingSettings settings_of(const TrainWords& words, const TrainTask& task) {
  TrainingSettings settings = usual_settings(task);
  TrainModelConfig& model = settings.model;
  set_if_given("--layers", words.layers, model.layers);
  set_if_given("--width", words.width, model.width);
  set_if_given("--heads", words.heads, model.heads);
  model.kv_heads = model.heads;
  set_if_given("--kv-heads", words.kv_heads, model.kv_heads);
  set_if_given("--head-width", words.head_width, model.head_width);
  if (!words.positions.empty()) model.positions = train_positions_named("--positions", words.positions);
  model.feed_forward = !words.no_feed_forward;
  model.norms = !words.no_norms;
  model.out_projection = !words.no_out_projection;
  model.causal = !words.no_causal;
  model.scaled = !words.no_scale;
  model.tied = words.tied;
  model.heads_begin_equal = words.equal_heads || words.equal_but_output;
  model.equal_out_projection = !words.equal_but_output;
  set_if_given("--dropout", words.dropout, model.dropout);
  for (const std::string& head : words.frozen) model.frozen_heads.push_back(frozen_head_of(head));
  OptimiserConfig& optimiser = settings.optimiser;
  if (!words.optimiser.empty()) optimiser.kind = optimiser_kind_named("--optimiser", words.optimiser);
  set_if_given("--learning-rate", words.learning_rate, optimiser.learning_rate);
  set_if_given("--weight-decay", words.weight_decay, optimiser.weight_decay);
  if (!words.clip.empty()) {
    optimiser.clip_norm = number_of("--clip", words.clip);
    if (*optimiser.clip_norm == 0.0) optimiser.clip_norm.reset();
  }
  set_if_given("--warm-up", words.warm_up, optimiser.warm_up_steps);
  set_if_given("--cosine", words.cosine, optimiser.cosine_steps);
  set_if_given("--batch", words.batch, settings.batch);
  Index seed = 1;
  set_if_given("--seed", words.seed, seed);
  if (seed < 0) throw Error(ExitStatus::usage, {"--seed", "the value is wrong", words.seed, "0 or more", ""});
  settings.seed = static_cast<std::uint64_t>(seed);
  return settings;
}

TrainingPlan plan_of(const CommandOptions& options, const TrainWords& words,
                     const std::optional<TrainingPlan>& saved) {
  const auto count = [&](const char* option, const std::string& word, std::optional<Index> of_run, Index least) {
    if (of_run && !options.given(option)) return *of_run;
    const Index number = integer_of(option, word);
    if (number < least)
      throw Error(ExitStatus::usage,
                  {option, "the value is out of range", word, fmt::format("{} or more", least), ""});
    return number;
  };
  TrainingPlan plan;
  plan.steps = count("--steps", words.steps, saved ? std::optional(saved->steps) : std::nullopt, 1);
  const Index tenth = std::max<Index>(1, plan.steps / 10);
  plan.every = words.every.empty() ? (saved ? saved->every : tenth) : count("--every", words.every, {}, 1);
  plan.keep =
      count("--keep", words.keep, saved ? std::optional(saved->keep) : std::nullopt, least_kept_checkpoints);
  return plan;
}

void refuse_settings(const CommandOptions& options) {
  const std::string name = options.given_besides({"--output", "--steps", "--every", "--keep", "--resume"});
  if (!name.empty())
    throw Error(ExitStatus::usage, {name, "a training that goes on has its task and settings already", "",
                                    "only --steps, --every and --keep", "leave it out"});
}

}  // namespace headwise
