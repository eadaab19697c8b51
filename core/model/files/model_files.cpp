#include "core/model/files/model_files.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "core/files/input_file.h"
#include "core/model/files/model_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_named = 8;

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> folders = paths_in(folder);
  std::erase_if(folders, [](const std::string& path) { return !is_folder(path); });
  return folders;
}

bool is_cached_model(const std::string& folder) {
  return is_folder(folder + "/snapshots") && (is_folder(folder + "/blobs") || is_folder(folder + "/refs"));
}

[[noreturn]] void refuse(const std::string& folder, const std::string& what,
                         const std::vector<std::string>& choices) {
  std::vector<std::string> named(
      choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(std::min(choices.size(), most_named)));
  if (named.size() < choices.size()) named.push_back(fmt::format("{} more", choices.size() - named.size()));
  refuse_input(folder, what, fmt::format("{}", choices.size()), "the folder of one",
               choices.empty() ? "download the model again" : "name one of: " + join(named, ", "));
}

std::string snapshot_of(const std::string& model) {
  std::string revision;
  std::ifstream(model + "/refs/main") >> revision;
  const std::string main = model + "/snapshots/" + revision;
  if (!revision.empty() && revision.find('/') == std::string::npos && !revision.starts_with('.') &&
      is_folder(main))
    return main;
  const std::vector<std::string> snapshots = folders_in(model + "/snapshots");
  if (snapshots.size() == 1) return snapshots[0];
  refuse(model,
         revision.empty() ? "refs/main of this model in the hub's cache names no snapshot"
                          : fmt::format("refs/main names a snapshot that is not in the hub's cache, {}",
                                        one_line(revision, 60)),
         snapshots);
}

constexpr const char* index_ending = ".index.json";
constexpr std::size_t most_files = 4096;

std::vector<std::string> files_ending_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> found = paths_in(folder);
  std::erase_if(found, [&](const std::string& path) { return !path.ends_with(ending); });
  return found;
}

std::string without_index_ending(const std::string& index) {
  return index.substr(0, index.size() - std::string_view(index_ending).size());
}

// Other programs' files, by the ends of their names, in the order in which they are named to the person.
constexpr std::array pickles{".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"};

constexpr std::array foreign_models{
    ".gguf", ".h5",   ".hdf5", ".keras",  ".msgpack", ".ckpt.index", ".ckpt.meta", ".data-00000-of-00001",
    ".pb",   ".onnx", ".ot",   ".tflite", ".mlmodel", ".mlpackage",  ".nemo",      "openvino_model.xml"};

// Names the first model in a format that is not read, with what to do about it; does nothing if there is
// none.
void refuse_other_formats(const std::string& folder) {
  for (const char* ending : pickles) {
    std::vector<std::string> found = files_ending_in(folder, ending);
    std::erase_if(found, [](const std::string& path) { return refused_foreign_model(path).has_value(); });
    // There may be other files next to the model: training_args.bin, optimizer.pt.
    const auto model = std::ranges::find_if(found, [](const std::string& path) {
      return fs::path(path).filename().string().starts_with("pytorch_model");
    });
    if (found.empty()) continue;
    const std::string& first = model != found.end() ? *model : found[0];
    require_fetched(first);
    if (model != found.end() && model->find("-of-") != std::string::npos) throw refused_shards(folder);
    throw refused_pickle(first, !first.ends_with(".pkl") && !first.ends_with(".pickle"));
  }
  for (const char* ending : foreign_models) {
    const std::vector<std::string> found = files_ending_in(folder, ending);
    if (found.empty()) continue;
    require_fetched(found[0]);
    throw *refused_foreign_model(found[0]);
  }
}

// The file or the index that contains a folder's arrays.
std::string arrays_in(const std::string& folder) {
  const std::string whole = (fs::path(folder) / "model.safetensors").string();
  if (is_there(whole)) return whole;  // also beside an index, as transformers does
  if (is_there(whole + index_ending)) return whole + index_ending;
  require_listed(folder);
  for (const char* ending : {".safetensors.index.json", ".safetensors", ".npz"}) {
    const std::vector<std::string> found = files_ending_in(folder, ending);
    if (found.size() == 1) {
      const std::string one = found[0].ends_with(index_ending) ? without_index_ending(found[0]) : found[0];
      return is_there(one) ? one : found[0];
    }
    if (found.size() > 1)
      refuse_input(folder, "the folder has several files of arrays and no index",
                   fmt::format("{} ending in {}", found.size(), ending), "one, or a .safetensors.index.json",
                   "name the file instead of the folder");
  }
  if (const std::string snapshot = hub_snapshot_or(folder); snapshot != folder) return arrays_in(snapshot);
  refuse_other_formats(folder);
  if (const std::string newest = newest_checkpoint_or(folder); newest != folder)
    refuse_input(folder, "the folder has checkpoints of a model, and no model itself", "", newest,
                 "name the checkpoint");
  refuse_input(folder, "the folder has no model", "",
               "a .safetensors or .npz file, or a .safetensors.index.json");
}

// The number of names and the first of them: "3 arrays (h.0.q.weight first)".
std::string counted_arrays_text(const std::vector<std::string>& names) {
  if (names.size() == 1) return "the array " + one_line(names[0], 250);
  return fmt::format("{} arrays ({} first)", names.size(), one_line(names[0], 250));
}

// "it-and-the-noun, no-scale, step 60" for "builtin:trained/it-and-the-noun,width=32,no-scale/60": without the settings.
std::string checkpoint_label(const std::string& path) {
  const fs::path folder(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  std::stringstream words(folder.parent_path().filename().string());
  std::string name;
  for (std::string word; std::getline(words, word, ',');)
    if (word.find('=') == std::string::npos) name += word + ", ";
  return name + "step " + folder.filename().string();
}

// nullopt: it is no checkpoint's name.
std::optional<Index> step_of_name(std::string_view name) {
  constexpr std::string_view prefix = "checkpoint-";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Index step = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool whole = error == std::errc() && stop == name.data() + name.size() && name.front() != '-';
  return whole ? std::optional(step) : std::nullopt;
}

// As ModelFiles looks for them; .bin, .pt and .pth are refused when opened, with the lines that convert them.
// The optimiser's state, which a checkpoint has as well, is no model.
bool holds_arrays(const std::string& folder) {
  constexpr std::array<std::string_view, 5> endings{".safetensors", ".npz", ".bin", ".pt", ".pth"};
  constexpr std::array<std::string_view, 4> others{"optimizer", "scheduler", "rng_state", "training_args"};
  return std::ranges::any_of(paths_in(folder), [&](const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); }) &&
           std::ranges::none_of(others, [&](std::string_view other) { return name.starts_with(other); });
  });
}

}  // namespace

std::string hub_snapshot_or(const std::string& given) {
  if (is_builtin(given)) return given;
  const std::string folder =
      given.size() > 1 && given.ends_with('/') ? given.substr(0, given.size() - 1) : given;
  if (is_cached_model(folder)) return snapshot_of(folder);
  for (const std::string& cache : {folder, folder + "/hub"}) {
    std::vector<std::string> models = folders_in(cache);
    std::erase_if(models, [](const std::string& path) {
      return !fs::path(path).filename().string().starts_with("models--") || !is_cached_model(path);
    });
    if (models.size() == 1) return snapshot_of(models[0]);
    if (models.size() > 1) refuse(cache, "this is the hub's cache of several models", models);
  }
  return given;
}

bool names_model(const std::string& path) {
  return path.ends_with(index_ending) || (is_folder(path) && !path.ends_with(".json"));
}

std::string model_name(const std::string& path) {
  if (is_made_folder(path)) return checkpoint_label(path);
  if (is_builtin(path)) return path.substr(builtin_prefix.size());
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  return (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
}

ModelFiles::ModelFiles(const std::string& path) : path_(path) {
  require_reachable(path);
  const std::string file = is_folder(path) ? arrays_in(path) : path;
  folder_ = fs::path(file).parent_path().string();
  if (folder_.empty()) folder_ = ".";
  if (file.ends_with(index_ending)) {
    open_index(file);
  } else {
    if (file != path && is_there(file + index_ending))
      warnings_.push_back(
          fmt::format("{0}{1} is ignored, because {0} is there too: transformers takes that one; delete "
                      "the one that is out of date",
                      fs::path(file).filename().string(), index_ending));
    open(file);
    for (const ArrayInfo& array : files_[0].info().arrays) {
      arrays_.emplace(array.name, array);
      file_of_.emplace(array.name, 0);
    }
  }
}

void ModelFiles::open(const std::string& file) {
  files_.emplace_back(file);
}

void ModelFiles::open_index(const std::string& index) {
  const Json json = read_json_object(index, model_format);
  const char* const expected = "an object that maps array names to file names";
  const JsonValue map = JsonValue(json, index, model_format).needed("weight_map", expected).object(expected);
  std::map<std::string, std::string> file_by_array;
  std::set<std::string> names;
  for (const auto& [name, unused] : map.json().items()) {
    const std::string file = map[name].text("the name of a file in the same folder");
    if (file.empty() || file.find('/') != std::string::npos)
      map[name].refuse("the index names no file next to it", "the name of a file in the same folder");
    names.insert(file_by_array[name] = file);
  }
  if (names.size() > most_files)
    refuse_input(index, "the index names too many files", fmt::format("{}", names.size()),
                 fmt::format("at most {}", most_files));
  std::map<std::string, std::size_t> number_of;  // of those that are there
  for (const std::string& file : names) {
    const std::string at = (fs::path(folder_) / file).string();
    if (!is_there(at)) {
      missing_files_.push_back(file);
      continue;
    }
    open(at);
    number_of[file] = files_.size() - 1;
  }
  // Like transformers, all arrays of these files, wherever the index says that they are.
  std::vector<std::string> elsewhere, unlisted;
  for (const auto& [file, number] : number_of) {
    for (const ArrayInfo& array : files_[number].info().arrays) {
      const auto listed = file_by_array.find(array.name);
      const auto numbered = listed == file_by_array.end() ? number_of.end() : number_of.find(listed->second);
      if (numbered != number_of.end() && numbered->second != number && files_[numbered->second].find(array.name))
        continue;
      arrays_.insert_or_assign(array.name, array);
      file_of_.insert_or_assign(array.name, number);
      if (listed == file_by_array.end())
        unlisted.push_back(array.name);
      else if (listed->second != file)
        elsewhere.push_back(fmt::format("{} in {} instead of {}", array.name, file, listed->second));
    }
  }
  const std::string short_name = fs::path(index).filename().string();
  if (!elsewhere.empty())
    warnings_.push_back(fmt::format("{} names the wrong file for {}: the right file is used", short_name,
                                    counted_arrays_text(elsewhere)));
  if (!unlisted.empty())
    warnings_.push_back(fmt::format("{} does not list {}, found in its files and used", short_name,
                                    counted_arrays_text(unlisted)));
}

const ArrayInfo* ModelFiles::find(const std::string& name) const {
  const auto at = arrays_.find(name);
  return at == arrays_.end() ? nullptr : &at->second;
}

const LazyArrayFile& ModelFiles::file_of(const std::string& name) const {
  const auto at = file_of_.find(name);
  if (at != file_of_.end()) return files_[at->second];
  refuse_input(path_, "the model lacks an array", name, "",
               fmt::format("headwise info {} lists what is there", path_));
}

TensorPtr ModelFiles::read(const std::string& name) const {
  return file_of(name).read(name);
}

TensorPtr ModelFiles::read_rows(const std::string& name, Index first, Index count) const {
  return file_of(name).read_rows(name, first, count);
}

std::vector<ModelCheckpoint> model_checkpoints(const std::string& folder) {
  std::vector<ModelCheckpoint> checkpoints;
  for (const std::string& path : paths_in(folder)) {
    const std::optional<Index> step = step_of_name(fs::path(path).filename().string());
    if (step && is_folder(path) && holds_arrays(path)) checkpoints.push_back({*step, path});
  }
  std::ranges::stable_sort(checkpoints, {}, &ModelCheckpoint::step);
  return checkpoints;
}

std::vector<ModelCheckpoint> sibling_checkpoints(const std::string& path) {
  std::error_code ignored;
  fs::path model = fs::absolute(path, ignored).lexically_normal();
  if (!model.has_filename() || !is_folder(path))
    model = model.parent_path();  // "run/checkpoint-10/", or a file in it
  if (!step_of_name(model.filename().string())) return {};
  return model_checkpoints(model.parent_path().string());
}

std::string newest_checkpoint_or(const std::string& path) {
  if (!is_folder(path) || holds_arrays(path)) return path;
  const std::vector<ModelCheckpoint> checkpoints = model_checkpoints(path);
  return checkpoints.empty() ? path : checkpoints.back().path;
}

TrainedTask trained_task(const std::string& folder) {
  const std::string path = (fs::path(folder) / "training.json").string();
  if (!is_there(path)) return {};
  try {
    const Json json = read_json_object(path, model_format);
    const JsonValue training(json, path, model_format);
    const auto text = [&](const char* key) {
      const Json& value = training.at(key);
      return value.is_string() ? value.get<std::string>() : "";
    };
    const auto number = [&](const char* key) -> std::optional<double> {
      const Json& value = training.at(key);
      return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
    };
    TrainedTask task{.what = text("what"), .example = text("example")};
    if (const auto step = number("step"); step && *step >= 0.0 && *step < 1e15)
      task.step = static_cast<Index>(*step);
    task.held_out_loss = number("held_out_loss");
    task.held_out_accuracy = number("held_out_accuracy");
    return task;
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input) throw;
    return {};  // the model is as good without
  }
}

FileState model_state(const std::string& path) {
  FileState state = file_state(path);
  if (is_folder(path)) return state;
  for (const char* name :
       {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt"}) {
    const std::string beside = (fs::path(path).parent_path() / name).string();
    if (!is_there(beside)) continue;
    const FileState one = file_state(beside);
    state.modified = std::max(state.modified, one.modified);
    state.bytes += one.bytes;
  }
  return state;
}

}  // namespace headwise
