#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/command_options.h"
#include "app/cli/report.h"
#include "app/cli/standard_streams.h"
#include "app/platform/desktop_program.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"
#include "core/train/checkpoint.h"
#include "core/train/train_json.h"
#include "core/train/training_folder.h"
#include "core/train/training_history.h"
#include "core/train/training_outcome.h"
#include "core/train/training_program.h"

namespace headwise {
namespace {

// The options of headwise train, and the settings that they describe.

struct TrainWords {
  std::string task, output, steps = "500", every, keep = "32", seed, dtype = "f32";
  std::string length, symbols, layers, width, heads, kv_heads, head_width, latents, positions, sliding_window,
      dropout;
  std::vector<std::string> frozen;
  bool no_feed_forward = false, no_norms = false, no_out_projection = false, no_causal = false,
       no_scale = false, qk_norm = false, sink = false, output_gate = false, tied = false,
       equal_heads = false, equal_but_output = false, resume = false, json = false;
  std::string beside;
  std::string optimiser, learning_rate, weight_decay, clip, warm_up, cosine, batch;
};

template <class T>
void set_if_given(const char* option, const std::string& word, T& value) {
  if (word.empty()) return;
  if constexpr (std::is_same_v<T, double>)
    value = number_of(option, word);
  else
    value = integer_of(option, word);
}

FrozenHead frozen_head_of(const std::string& word) {
  FrozenHead head;
  const char* const end = word.data() + word.size();
  const auto layer = std::from_chars(word.data(), end, head.layer);
  const bool dot = layer.ec == std::errc() && layer.ptr != end && *layer.ptr == '.';
  if (!dot || std::from_chars(layer.ptr + 1, end, head.head).ptr != end)
    refuse_option("--freeze", "the value is wrong", word, "LAYER.HEAD, as 0.3");
  return head;
}

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
  options.flag("--json", words.json, "Print a line of JSON for each checkpoint, as it is written");
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
  options.value(
      "--latents", words.latents,
      "Keys and values of all heads are made of this many numbers a token (MLA), 1 to 128; default: "
      "each head's own",
      {.type = "C"});
  options.value("--positions", words.positions,
                "none, learned, sinusoidal, rotary, alibi or relative_bias; default: learned",
                {.type = "NAME"});
  options.flag("--no-feed-forward", words.no_feed_forward, "Attention alone");
  options.flag("--no-norms", words.no_norms, "No LayerNorm");
  options.flag("--no-out-projection", words.no_out_projection,
               "No W_O: the concatenated heads are the output");
  options.flag("--no-causal", words.no_causal, "Each token sees those after it, too");
  options.value("--sliding-window", words.sliding_window,
                "Each token sees fewer places than this before it, and without the causal mask behind it; "
                "default: all",
                {.type = "N"});
  options.flag("--no-scale", words.no_scale, "Scores without 1/√D");
  options.flag("--qk-norm", words.qk_norm, "Each head's rows of q and k get the same length");
  options.flag("--sink", words.sink, "A learned score per head that takes weight but has no value");
  options.flag("--output-gate", words.output_gate,
               "The concatenated heads times σ(x·W_g), number by number, before W_O");
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

// The task that was named, or the text file; what the other options change of its usual settings.
// Throw Error(usage).
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
      refuse_input(words.task, "there is no text in it to learn",
                   is_folder(words.task) ? "a folder" : "a device or a pipe",
                   "a text file, or a task in a .json file");
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
  set_if_given("--latents", words.latents, model.latent_width);
  if (!words.positions.empty()) model.positions = train_positions_named("--positions", words.positions);
  model.feed_forward = !words.no_feed_forward;
  model.norms = !words.no_norms;
  model.out_projection = !words.no_out_projection;
  model.causal = !words.no_causal;
  set_if_given("--sliding-window", words.sliding_window, model.sliding_window);
  model.scaled = !words.no_scale;
  model.qk_norm = words.qk_norm;
  model.sink = words.sink;
  model.output_gate = words.output_gate;
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
  if (seed < 0) refuse_option("--seed", "the value is wrong", words.seed, "0 or more");
  settings.seed = static_cast<std::uint64_t>(seed);
  return settings;
}

// What --steps, --every and --keep say; what is not given is as `saved` with the training that goes on.
TrainingPlan plan_of(const CommandOptions& options, const TrainWords& words,
                     const std::optional<TrainingPlan>& saved = {}) {
  const auto count = [&](const char* option, const std::string& word, std::optional<Index> of_run, Index least) {
    if (of_run && !options.given(option)) return *of_run;
    const Index number = integer_of(option, word);
    if (number < least)
      refuse_option(option, "the value is out of range", word, fmt::format("{} or more", least));
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

// Throws Error(usage) if an option is given that a training has already, which goes on.
void refuse_settings(const CommandOptions& options) {
  const std::string name =
      options.given_option_outside({"--output", "--steps", "--every", "--keep", "--resume", "--json"});
  if (!name.empty())
    refuse_option(name, "a training that goes on has its task and settings already", "",
                  "only --steps, --every and --keep", "leave it out");
}

std::string text_of_file(const std::string& path) {
  if (!is_there(path)) return "";
  const InputFile file(path);
  return file.read_text(0, file.size());
}

struct TrainRequest {
  TaskSource source;
  std::string folder;
  TrainingPlan plan;
  std::optional<std::string> resumed;  // the checkpoint
  SavedRun saved;                      // of it
  bool is_compared = false;            // with another run, by its outcome
  bool json = false;                   // a line of JSON for each checkpoint, and no other lines
  std::string change = {};             // what is changed in this run: a name of --beside
};

// A line for a checkpoint, with the habit that stands out.
template <class T>
std::string checkpoint_line(const TrainRequest& request, TrainingRun<T>& run, const TrainingStep& last,
                            const BatchResult& held_out, double tokens_per_second) {
  double most = 0.0;
  Cell strongest("strongest", Json(), "");
  const auto habits = run.habits();
  for (std::size_t layer = 0; layer < habits.size(); ++layer)
    for (std::size_t head = 0; head < habits[layer].size(); ++head) {
      const TrainedHabits& of = habits[layer][head];
      for (const auto& [value, name] :
           {std::pair(of.previous_token, "previous token"), std::pair(of.induction, "induction")})
        if (value && *value > most) {
          most = *value;
          strongest = {"strongest",
                       {{"habit", name}, {"share", most}, {"layer", layer}, {"head", head}},
                       fmt::format(", {} {:.2f} in head {}.{}", name, most, layer, head)};
        }
    }
  const double accuracy = accuracy_of(held_out);
  Report report;
  report.add_line("step {}: loss {}, held-out loss {}, held-out accuracy {} %{}, {} tokens/s\n",
                  {{"change", request.change},
                   {"step", run.step(), std::to_string(run.step())},
                   {"loss", number_json(last.batch.loss), fmt::format("{:.4g}", last.batch.loss)},
                   {"held_out_loss", number_json(held_out.loss), fmt::format("{:.4g}", held_out.loss)},
                   {"held_out_accuracy", number_json(accuracy), fmt::format("{:.1f}", 100.0 * accuracy)},
                   strongest,
                   {"tokens_per_second", tokens_per_second, fmt::format("{:.0f}", tokens_per_second)},
                   {"checkpoint", checkpoint_path(request.folder, run.step())}});
  return request.json ? report.json.dump() + "\n" : report.text;
}

std::string megabytes(Index bytes) {
  const double of = static_cast<double>(bytes) / 1e6;
  return of < 10.0 ? fmt::format("{:.1f} MB", of) : fmt::format("{:.0f} MB", of);
}

// What the run will leave on the disk, before it begins.
std::string expected_line(const TrainRequest& request, const TrainingSettings& settings, Index value_bytes) {
  const Index parameters = train_parameter_count(train_parameters(settings.model)),
              bytes = checkpoint_bytes(settings, value_bytes),
              after_first = (request.plan.steps - 1) / request.plan.every + 1,
              stay = std::min(after_first, request.plan.keep - 1) + 1;
  return fmt::format("{} parameters; {}{} checkpoints of {} will stay in {}: {}\n", parameters,
                     after_first < request.plan.keep ? "" : "at most ", stay, megabytes(bytes),
                     request.folder, megabytes(checked_multiply(bytes, stay, "checkpoints")));
}

// Trains to the last step or until numbers fail. Throws Error(cancelled) after a signal. Of a run that is not
// compared, the outcome has only its steps and its failure.
template <class T>
TrainingOutcome train(const TrainRequest& request, TrainTask task, const TrainingSettings& settings) {
  using Clock = std::chrono::steady_clock;
  TrainingRun<T> run(std::move(task), settings);
  if (!run.task().note.empty() && !request.json) print(run.task().note + "\n");
  const std::string curve = request.folder + "/curve.csv";
  std::string before = curve_before("", 0);
  if (request.resumed) {
    run.restore(read_training_state<T>(*request.resumed, request.saved));
    before = curve_before(text_of_file(curve), run.step());
    if (const Index missing = missing_rows(before, run.step()); missing > 0)
      print_warning(fmt::format("{} has no row for {} of the first {} steps", curve, missing, run.step()));
  }
  std::vector<CurveRow> rows;
  const auto keep = [&] {
    const std::string csv = curve_csv(rows);
    // The curve first: rows after the newest checkpoint are computed again, rows before it could not be.
    write_file_atomically(curve, before + csv.substr(csv.find('\n') + 1));
    write_checkpoint(request.folder, request.source, run, request.plan);
    thin_out_checkpoints(request.folder, request.plan.keep);
  };
  const Index steps = request.plan.steps;
  const std::string resume_hint = fmt::format("headwise train -o {} --resume goes on", request.folder);
  // Ctrl+C ends the training after its step, with a checkpoint; a second one ends the program as usual.
  const StopOnSignals stop_on_signals;
  if (!request.resumed) keep();  // as it began
  if (!request.json) print(expected_line(request, settings, static_cast<Index>(sizeof(T))));
  Clock::duration spent{};
  Index taken = 0;
  const Index first = run.step();
  while (run.step() < steps) {
    const ProgressPart part = slice_of_work(run.step() - first, steps - first);
    const Clock::time_point begin = Clock::now();
    const std::optional<TrainingStep> step = run.take_step();
    spent += Clock::now() - begin;
    if (!step) {
      if (rows.empty() || checkpoint_steps(request.folder).back() != run.step()) keep();
      break;
    }
    rows.push_back({*step, std::nullopt});
    ++taken;
    const bool unread = reader_is_gone();
    const bool ends = StopOnSignals::wanted() || unread || run.step() == steps;
    if (!ends && run.step() % request.plan.every != 0) continue;
    rows.back().held_out = run.held_out();
    keep();
    const double seconds = std::chrono::duration<double>(spent).count();
    print(checkpoint_line(request, run, *step, *rows.back().held_out,
                          static_cast<double>(taken * settings.batch * run.task().length) / seconds));
    if (unread && run.step() < steps)
      throw Error(
          ExitStatus::output,
          {.where = "training",
           .what = fmt::format("standard output was closed, so training stopped at step {}", run.step()),
           .remedy = resume_hint});
    if (StopOnSignals::wanted())
      throw Error(
          ExitStatus::cancelled,
          {.where = "training", .what = fmt::format("stopped at step {}", run.step()), .remedy = resume_hint});
  }
  TrainingOutcome outcome;
  outcome.steps = run.step();
  outcome.failure = run.failure();
  if (!request.is_compared) return outcome;
  std::vector<double> losses;
  for (const CurveRow& row : rows) losses.push_back(row.step.batch.loss);
  return training_outcome(run, std::span<const double>(losses));
}

TrainingOutcome train(DType dtype, const TrainRequest& request, const TrainTask& task,
                      const TrainingSettings& settings) {
  return dtype == DType::f32 ? train<float>(request, task, settings) : train<double>(request, task, settings);
}

// A failure that ends the command.
void refuse_failure(const TrainRequest& request, const TrainingOutcome& outcome) {
  if (!outcome.failure) return;
  refuse_option("training", fmt::format("{}; the last whole step is in {}", outcome.failure->what,
                                        checkpoint_path(request.folder, outcome.steps)));
}

void refuse_folder_in_use(const std::string& folder, const char* remedy) {
  const std::vector<Index> there = checkpoint_steps(folder);
  if (!there.empty())
    refuse_option(folder, "there is a training in this folder already",
                  fmt::format("{} checkpoints", there.size()), "", remedy);
}

// The same training with one change, in a folder within that of the first; and what the two show.
void train_variant(const TrainWords& wanted, DType dtype, const TrainRequest& request, const TrainTask& task,
                   const TrainingSettings& settings) {
  const TrainingChange change = training_change_named("--beside", wanted.beside);
  const std::optional<TrainingSettings> changed = changed_settings(settings, change);
  if (!changed)
    refuse_option("--beside", "this changes nothing of the training, or cannot be trained with its settings",
                  wanted.beside, "another change", "see headwise list changes");
  TrainRequest own = request, other = request;
  own.is_compared = other.is_compared = true;
  other.folder = request.folder + "/" + wanted.beside;
  other.change = wanted.beside;
  const TrainingFolder held(other.folder);
  refuse_folder_in_use(other.folder, "choose another folder");
  const TrainingOutcome as_it_is = train(dtype, own, task, settings);
  refuse_failure(own, as_it_is);
  if (!request.json) print(fmt::format("\n{}:\n", training_change_entry(change).with));
  const TrainingOutcome beside = train(dtype, other, task, *changed);
  const std::string answer = text_of_answer(change_answer(change, as_it_is, beside));
  print(request.json ? Json{{"change", wanted.beside}, {"answer", answer}}.dump() + "\n" : "\n" + answer);
}

void require_task(const TrainWords& wanted) {
  if (wanted.task.empty())
    refuse_option("TASK", "no task is given", "", "a task or a text file", "see headwise list tasks");
}

// The program of the training that is described, or of one in a folder.
void write_program_of(const CommandOptions& options, const TrainWords& wanted, DType dtype) {
  require_task(wanted);
  const std::vector<Index> there = checkpoint_steps(wanted.task);
  if (there.empty()) {
    TaskSource source = source_of(wanted);
    const TrainTask task = task_of(source);
    write_training_program(wanted.output, source, settings_of(wanted, task), dtype,
                           plan_of(options, wanted).steps);
    return;
  }
  const std::string given = options.given_option_outside({"TASK", "--output", "--steps"});
  if (!given.empty())
    refuse_option(given, "the training in this folder has its task and settings already", "",
                  "only --output and --steps", "leave it out");
  const SavedRun run = read_saved_run(checkpoint_path(wanted.task, there.back()));
  write_training_program(wanted.output, run.task, run.settings, run.dtype,
                         plan_of(options, wanted, run.plan).steps);
}

}  // namespace

void run_train(CommandOptions& options, const Words& words) {
  TrainWords wanted;
  add_train_flags(options, wanted);
  if (!options.parse(words)) return;
  refuse_standard_stream("--output", wanted.output);
  TrainRequest request;
  request.folder = wanted.output;
  request.json = wanted.json;
  request.plan = plan_of(options, wanted);  // a wrong word is reported first
  if (wanted.dtype != "f32" && wanted.dtype != "f64")
    refuse_option("--dtype", "there is no such type", wanted.dtype, "f32 or f64");
  DType dtype = wanted.dtype == "f32" ? DType::f32 : DType::f64;
  if (wanted.output.ends_with(".py") && wanted.json)
    refuse_option("--json", "a program is written, and nothing is trained", wanted.output, "a folder");
  if (wanted.output.ends_with(".py")) return write_program_of(options, wanted, dtype);
  TrainingSettings settings;
  TrainTask task;
  std::optional<TrainingFolder> held;
  if (wanted.resume) {
    if (checkpoint_steps(request.folder).empty())
      refuse_input(request.folder, "there is no checkpoint to go on from", "",
                   "a folder of an earlier training", "leave out --resume");
    refuse_settings(options);
    held.emplace(request.folder);
    const std::vector<Index> there = checkpoint_steps(request.folder);
    request.resumed = checkpoint_path(request.folder, there.back());
    request.saved = read_saved_run(*request.resumed);
    request.source = request.saved.task;
    task = task_of(request.source);
    settings = request.saved.settings;
    dtype = request.saved.dtype;
    request.plan = plan_of(options, wanted, request.saved.plan);
    if (request.saved.step >= request.plan.steps)
      refuse_option("--steps", "the training has taken these steps already",
                    fmt::format("{}, at step {}", request.plan.steps, request.saved.step),
                    fmt::format("more than {}", request.saved.step),
                    options.given("--steps") ? "" : "add --steps");
  } else {
    require_task(wanted);
    request.source = source_of(wanted);
    task = task_of(request.source);
    settings = settings_of(wanted, task);
    held.emplace(request.folder);
    refuse_folder_in_use(request.folder, "add --resume to go on, or choose another folder");
  }
  if (!wanted.beside.empty()) return train_variant(wanted, dtype, request, task, settings);
  refuse_failure(request, train(dtype, request, task, settings));
}

}  // namespace headwise
