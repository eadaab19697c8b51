#include "core/train/checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/files/json_text.h"
#include "core/files/json_value.h"
#include "core/model/files/model_files.h"
#include "core/model/tokenizer/unicode_text.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "core/train/train_json.h"
#include "core/train/train_task.h"
#include "core/train/training_folder.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;
using CheckpointJson = nlohmann::ordered_json;

constexpr const char* prefix = "checkpoint-";
constexpr std::uint64_t most_file_bytes = std::uint64_t{64} << 20;

[[noreturn]] void refuse_checkpoint(const std::string& path, const std::string& what,
                                    const std::string& got = "", const std::string& expected = "") {
  throw Error(ExitStatus::input, {path, what, got, expected, ""});
}

// The values of each parameter, or of something as long, as arrays.
template <class T>
void append_arrays(std::vector<NamedTensor>& arrays, const std::string& before,
                   const std::vector<TrainParameter>& parameters, std::span<const T> values) {
  if (values.empty()) return;
  const bool narrow = std::is_same_v<T, float>;
  for (const TrainParameter& parameter : parameters) {
    Tensor tensor = Tensor::unwritten(parameter.shape, narrow ? DType::f32 : DType::f64);
    std::copy_n(values.begin() + parameter.offset, parameter.size(), tensor.values<T>().begin());
    arrays.push_back(
        {before + parameter.name, std::make_shared<const Tensor>(std::move(tensor)), narrow ? "f32" : "f64"});
  }
}

template <class T>
std::vector<T> array_values(const std::string& path, const std::string& before,
                            const std::vector<TrainParameter>& parameters) {
  std::map<std::string, TensorPtr> found;
  for (NamedTensor& array : read_array_file(path)) found[array.name] = std::move(array.tensor);
  std::vector<T> values(static_cast<std::size_t>(train_parameter_count(parameters)));
  constexpr DType dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;
  for (const TrainParameter& parameter : parameters) {
    const auto array = found.find(before + parameter.name);
    if (array == found.end()) refuse_checkpoint(path, "an array is missing", "", before + parameter.name);
    const Tensor& tensor = *array->second;
    if (!tensor.shape().same_sizes(parameter.shape) || tensor.dtype() != dtype)
      refuse_checkpoint(fmt::format("{}: {}", path, array->first),
                        "the array does not fit the model's settings",
                        fmt::format("{} {}", tensor.shape().sizes_text(), dtype_name(tensor.dtype())),
                        fmt::format("{} {}", parameter.shape.sizes_text(), dtype_name(dtype)));
    std::ranges::copy(tensor.values<T>(), values.begin() + parameter.offset);
  }
  return values;
}

CheckpointJson task_json(const TaskSource& task) {
  const auto size = [](const std::optional<Index>& of) { return of ? CheckpointJson(*of) : CheckpointJson(); };
  CheckpointJson json{
      {"name", task.name}, {"length", size(task.sizes.length)}, {"symbols", size(task.sizes.symbols)}};
  if (!task.file.empty()) {
    json["file"] = fs::absolute(task.file).string();
    json["file_hash"] = task.file_hash;
  }
  return json;
}

// A folder under another name until it is complete.
class FolderInProgress {
 public:
  explicit FolderInProgress(std::string path) : path_(std::move(path)) {
    std::error_code error;
    fs::remove_all(path_, error);
    fs::create_directories(path_, error);
    if (error) refuse_output(error);
  }
  ~FolderInProgress() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  FolderInProgress(const FolderInProgress&) = delete;
  FolderInProgress& operator=(const FolderInProgress&) = delete;

  std::string file(const char* name) const { return path_ + "/" + name; }

  void finish(const std::string& path) {
    std::error_code error;
    fs::rename(path_, path, error);
    if (error && fs::exists(path))
      throw Error(ExitStatus::output,
                  {path, "a folder of this name is in the way, and is no whole checkpoint", "", "",
                   "remove it; the training goes on from the checkpoint before it"});
    if (error) refuse_output(error);
    path_.clear();
    sync_folder_of(path);
  }

 private:
  [[noreturn]] void refuse_output(const std::error_code& error) const {
    throw Error(ExitStatus::output, {path_, "the checkpoint could not be written", error.message(), "", ""});
  }

  std::string path_;
};

bool is_json_file(const TaskSource& source) {
  return source.file.ends_with(".json");
}

// The texts of a task's tokens for its checkpoints, so that a text becomes the same tokens again.

constexpr const char* visible_space = "␣";

// text_task shows a space and the end of a line by signs of their own. Its tokens are in the order of their
// characters, so the first of two equal ones, or one at which only white space can stand, is the white space.
std::vector<std::string> character_pieces(const TrainTask& task) {
  std::vector<std::string> characters;
  std::int32_t before = -1;
  for (const std::string& shown : task.token_texts) {
    std::string character = shown;
    if (shown == "↵" && before < '\n') character = "\n";
    if (shown == visible_space && before < ' ') character = " ";
    before = code_point_at(character, 0).value;
    characters.push_back(std::move(character));
  }
  return characters;
}

std::string without_spaces(const std::string& word) {
  std::string text;
  for (std::size_t at = 0; at < word.size();) {
    const CodePoint point = code_point_at(word, at);
    text += is_white_space(point.value) ? visible_space : word.substr(at, point.bytes);
    at += point.bytes;
  }
  return text.empty() ? visible_space : text;
}

// By token.
std::vector<std::string> pieces_of(const TrainTask& task, bool by_character) {
  if (by_character) return character_pieces(task);
  std::vector<std::string> pieces;
  for (const std::string& word : task.token_texts) pieces.push_back(without_spaces(word));
  return pieces;
}

// A tokenizer.json of Hugging Face's `tokenizers`, model WordLevel: token i has id i, and no token stands for
// unknown words, unless the task has one that is called "[UNK]". `by_character`, as for text_task: each
// character is a token, white space too. Else tokens are words between white space, and white space inside
// one is written "␣". Empty if two tokens would be written alike.
std::string task_tokenizer_json(const TrainTask& task, bool by_character) {
  const std::vector<std::string> pieces = pieces_of(task, by_character);
  if (std::set<std::string_view>(pieces.begin(), pieces.end()).size() < pieces.size()) return "";
  std::string vocabulary;  // as text: an ordered object of 65,536 keys takes long
  for (std::size_t id = 0; id < pieces.size(); ++id)
    vocabulary +=
        (id == 0 ? "" : ",\n   ") + json_text(nlohmann::ordered_json(pieces[id])) + ": " + std::to_string(id);
  const std::string split =
      by_character
          ? R"({"type": "Split", "pattern": {"Regex": "[\\s\\S]"}, "behavior": "Isolated", "invert": false})"
          : R"({"type": "WhitespaceSplit"})";
  return R"({
 "version": "1.0",
 "truncation": null,
 "padding": null,
 "added_tokens": [],
 "normalizer": null,
 "pre_tokenizer": )" +
         split + R"(,
 "post_processor": null,
 "decoder": )" +
         (by_character ? R"({"type": "Fuse"})" : "null") + R"(,
 "model": {
  "type": "WordLevel",
  "vocab": {
   )" + vocabulary +
         R"(
  },
  "unk_token": "[UNK]"
 }
}
)";
}

// The text that this tokenizer turns into `tokens`.
std::string task_text(const TrainTask& task, bool by_character, std::span<const std::int32_t> tokens) {
  const std::vector<std::string> pieces = pieces_of(task, by_character);
  std::string text;
  for (const std::int32_t token : tokens)
    text += (text.empty() || by_character ? "" : " ") + pieces[static_cast<std::size_t>(token)];
  return text;
}

// The first held-out example of the run.
template <class T>
std::string example_of(const TrainingRun<T>& run, bool by_character) {
  TrainBatch batch{.sequences = 1};
  fill_batch(run.task(), TaskSplit::held_out, run.settings().seed, 0, batch);
  return task_text(run.task(), by_character, batch.tokens);
}

std::string safetensors_of(const std::vector<NamedTensor>& arrays) {
  std::string bytes;
  write_safetensors(
      [&](std::span<const std::byte> part) {
        bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
      },
      arrays, {});
  return bytes;
}

// JSON has no other numbers.
CheckpointJson finite_or_null(double number) {
  return std::isfinite(number) ? CheckpointJson(number) : CheckpointJson();
}

std::string content_in(const std::string& path) {
  const InputFile file(path);
  if (file.size() > most_file_bytes)
    refuse_checkpoint(path, "the file is too large", fmt::format("{} bytes", file.size()),
                      fmt::format("at most {}", most_file_bytes));
  return file.read_text(0, file.size());
}

}  // namespace

TrainTask task_of(TaskSource& source) {
  if (source.file.empty()) return named_task(source.name, source.sizes);
  if (source.sizes.symbols)
    throw Error(ExitStatus::usage, {"symbols", "a file has the tokens that it has",
                                    fmt::format("{}", *source.sizes.symbols), "", "leave it out"});
  const std::string content = content_in(source.file);
  const std::uint64_t hash = CounterRandom::stream_number(content);
  if (source.file_hash != 0 && source.file_hash != hash)
    refuse_checkpoint(source.file,
                      "the file has changed since the training began, which would go on with another task");
  source.file_hash = hash;
  if (!is_json_file(source)) return text_task(content, source.file, source.sizes.length);
  if (source.sizes.length)
    throw Error(ExitStatus::usage, {"length", "the examples of a file have the length that they have",
                                    fmt::format("{}", *source.sizes.length), "", "leave it out"});
  return json_task(content, source.file);
}

std::string checkpoint_path(const std::string& folder, Index step) {
  return fmt::format("{}/{}{}", folder, prefix, step);
}

std::vector<Index> checkpoint_steps(const std::string& folder) {
  std::vector<Index> steps;
  for (const ModelCheckpoint& checkpoint : model_checkpoints(folder)) steps.push_back(checkpoint.step);
  return steps;
}

template <class T>
std::vector<NamedContent> checkpoint_files(const TaskSource& task, TrainingRun<T>& run,
                                           const std::optional<TrainingPlan>& plan) {
  const std::vector<TrainParameter>& parameters = run.parameters();
  std::vector<NamedTensor> arrays, moments;
  append_arrays(arrays, "", parameters, run.values());
  append_arrays(moments, "first.", parameters, run.optimiser().first());
  append_arrays(moments, "second.", parameters, run.optimiser().second());
  const bool by_character = !task.file.empty() && !is_json_file(task);
  const BatchResult held_out = run.held_out();
  CheckpointJson training{{"step", run.step()},
                          {"task", task_json(task)},
                          {"optimiser", optimiser_json(run.settings().optimiser)},
                          {"batch", run.settings().batch},
                          {"seed", run.settings().seed},
                          {"dtype", std::is_same_v<T, float> ? "f32" : "f64"},
                          {"held_out_loss", finite_or_null(held_out.loss)},
                          {"held_out_accuracy", finite_or_null(accuracy_of(held_out))},
                          {"what", run.task().what},
                          {"example", example_of(run, by_character)}};
  if (plan) training["plan"] = {{"steps", plan->steps}, {"every", plan->every}, {"keep", plan->keep}};
  std::vector<NamedContent> files{
      {"model.safetensors", safetensors_of(arrays)},
      {"config.json", json_text(train_model_json(run.settings().model), {.indent = 1}) + "\n"},
      {"training.json", json_text(training, {.indent = 1, .replaces_bytes = true}) + "\n"}};
  if (!moments.empty()) files.push_back({"optimizer.safetensors", safetensors_of(moments)});
  if (std::string tokenizer = task_tokenizer_json(run.task(), by_character); !tokenizer.empty())
    files.push_back({"tokenizer.json", std::move(tokenizer)});
  return files;
}

template <class T>
void write_checkpoint(const std::string& folder, const TaskSource& task, TrainingRun<T>& run,
                      const std::optional<TrainingPlan>& plan) {
  const std::vector<NamedContent> contents = checkpoint_files(task, run, plan);
  const std::string path = checkpoint_path(folder, run.step());
  FolderInProgress files(unfinished_checkpoint_path(path));
  for (const NamedContent& file : contents)
    write_file_atomically(files.file(file.name.c_str()), std::string_view(file.content));
  files.finish(path);
}

namespace {

SavedRun saved_run_in(const std::string& checkpoint) {
  const std::string path = checkpoint + "/training.json", config = checkpoint + "/config.json";
  const Json training = read_json_object(path, training_format);
  const JsonValue json(training, path, training_format), task = json.needed("task");
  SavedRun run;
  json.needed("step").read(run.step);
  task.needed("name").read(run.task.name);
  task.read_key("length", run.task.sizes.length);
  task.read_key("symbols", run.task.sizes.symbols);
  if (task.contains("file")) {
    task["file"].read(run.task.file);
    task.needed("file_hash").read(run.task.file_hash);
  }
  const Json model = read_json_object(config, training_format);
  run.settings.model = train_model_of_json({model, config, training_format});
  run.settings.optimiser = optimiser_of_json(json.needed("optimiser"));
  json.needed("batch").read(run.settings.batch);
  json.needed("seed").read(run.settings.seed);
  run.dtype = json.needed("dtype").choice({"f32", "f64"}) == 0 ? DType::f32 : DType::f64;
  if (json.contains("plan")) {
    const auto count = [plan = json["plan"]](const char* key, Index least) {
      return plan.needed(key).integer(least);
    };
    run.plan = {count("steps", 1), count("every", 1), count("keep", least_kept_checkpoints)};
  }
  return run;
}

template <class T>
TrainingState<T> training_state_in(const std::string& checkpoint, const SavedRun& run) {
  const std::vector<TrainParameter> parameters = train_parameters(run.settings.model);
  TrainingState<T> state;
  state.step = run.step;
  state.values = array_values<T>(checkpoint + "/model.safetensors", "", parameters);
  const std::string moments = checkpoint + "/optimizer.safetensors";
  const OptimiserKind kind = run.settings.optimiser.kind;
  if (kind != OptimiserKind::sgd) state.first = array_values<T>(moments, "first.", parameters);
  if (kind == OptimiserKind::adam || kind == OptimiserKind::adamw)
    state.second = array_values<T>(moments, "second.", parameters);
  return state;
}

// Without this checkpoint, where does its training go on?
std::string remedy_for(const std::string& checkpoint) {
  const std::vector<ModelCheckpoint> all = sibling_checkpoints(checkpoint);
  const auto name = [](const ModelCheckpoint& of) { return fs::path(of.path).filename().string(); };
  const auto own = std::ranges::find(all, fs::path(checkpoint).filename().string(), name);
  if (own != all.end() && own + 1 != all.end()) return "remove it: the training has later checkpoints";
  const Index before = own != all.end() ? own - all.begin() : std::ssize(all);
  if (before == 0) return "remove it and train anew: there is no checkpoint before it";
  return fmt::format("remove it: the training resumes from the one before, {}",
                     name(all[static_cast<std::size_t>(before - 1)]));
}

// No damage: a checkpoint of another program, or a file that is there and may not be read.
bool is_foreign_or_locked(const std::string& checkpoint) {
  return !is_there(checkpoint + "/training.json") ||
         std::ranges::any_of(paths_in(checkpoint), [](const std::string& path) {
           return access(path.c_str(), R_OK) != 0 && errno == EACCES;
         });
}

// What `read` returns. The files are the program's own: what is wrong with one of them is damage.
template <class Read>
auto undamaged(const std::string& checkpoint, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input || is_foreign_or_locked(checkpoint)) throw;
    std::string why = error.without_remedy();
    if (why.starts_with(checkpoint + "/")) why.erase(0, checkpoint.size() + 1);
    throw Error(ExitStatus::input, {checkpoint, "this checkpoint is damaged", why, "", remedy_for(checkpoint)});
  }
}

}  // namespace

SavedRun read_saved_run(const std::string& checkpoint) {
  return undamaged(checkpoint, [&] { return saved_run_in(checkpoint); });
}

template <class T>
TrainingState<T> read_training_state(const std::string& checkpoint, const SavedRun& run) {
  return undamaged(checkpoint, [&] { return training_state_in<T>(checkpoint, run); });
}

template std::vector<NamedContent> checkpoint_files(const TaskSource&, TrainingRun<float>&,
                                                    const std::optional<TrainingPlan>&);
template std::vector<NamedContent> checkpoint_files(const TaskSource&, TrainingRun<double>&,
                                                    const std::optional<TrainingPlan>&);
template void write_checkpoint(const std::string&, const TaskSource&, TrainingRun<float>&,
                               const std::optional<TrainingPlan>&);
template void write_checkpoint(const std::string&, const TaskSource&, TrainingRun<double>&,
                               const std::optional<TrainingPlan>&);
template TrainingState<float> read_training_state(const std::string&, const SavedRun&);
template TrainingState<double> read_training_state(const std::string&, const SavedRun&);

}  // namespace headwise
