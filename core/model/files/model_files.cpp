#include "core/model/files/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/files/file_paths.h"
#include "core/files/foreign_model.h"
#include "core/files/json_text.h"
#include "core/files/made_folders.h"
#include "core/files/pickle.h"
#include "core/files/reachable.h"
#include "core/model/files/model_checkpoints.h"
#include "core/model/files/model_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr const char* index_ending = ".index.json";
constexpr std::size_t most_files = 4096;

std::vector<std::string> files_ending_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> found = paths_in(folder);
  std::erase_if(found, [&](const std::string& path) { return !path.ends_with(ending); });
  return found;
}

// The file or the index that contains a folder's arrays.
std::string arrays_in(const std::string& folder) {
  const std::string whole = (fs::path(folder) / "model.safetensors").string();
  if (is_there(whole + index_ending)) return whole + index_ending;
  if (is_there(whole)) return whole;
  require_listed(folder);
  for (const char* ending : {".safetensors.index.json", ".safetensors", ".npz"}) {
    const std::vector<std::string> found = files_ending_in(folder, ending);
    if (found.size() == 1) return found[0];
    if (found.size() > 1) {
      throw Error(ExitStatus::input,
                  {folder, "the folder has several files of arrays and no index",
                   fmt::format("{} ending in {}", found.size(), ending), "one, or a .safetensors.index.json",
                   "name the file instead of the folder"});
    }
  }
  for (const char* ending : {".bin", ".pt", ".pth"}) {
    const std::vector<std::string> found = files_ending_in(folder, ending);
    // There may be other files next to the model: training_args.bin, optimizer.pt.
    const auto model = std::ranges::find_if(found, [](const std::string& path) {
      return fs::path(path).filename().string().starts_with("pytorch_model");
    });
    if (model != found.end() && model->find("-of-") != std::string::npos) throw refused_shards(folder);
    if (!found.empty()) throw refused_pickle(model != found.end() ? *model : found[0], true);
  }
  for (const char* ending : {".gguf", ".h5", ".msgpack", ".onnx"}) {
    const std::vector<std::string> found = files_ending_in(folder, ending);
    if (!found.empty()) throw *refused_foreign_model(found[0]);
  }
  if (const std::string newest = newest_checkpoint_or(folder); newest != folder)
    throw Error(ExitStatus::input, {folder, "the folder has checkpoints of a model, and no model itself", "",
                                    newest, "name the checkpoint"});
  throw Error(ExitStatus::input, {folder, "the folder has no model", "",
                                  "a .safetensors or .npz file, or a .safetensors.index.json", ""});
}

// "it-and-the-noun, no-scale, step 60" for "builtin:trained/it-and-the-noun,width=32,no-scale/60": without the settings.
std::string made_name(const std::string& path) {
  const fs::path folder(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  std::stringstream words(folder.parent_path().filename().string());
  std::string name;
  for (std::string word; std::getline(words, word, ',');)
    if (word.find('=') == std::string::npos) name += word + ", ";
  return name + "step " + folder.filename().string();
}

}  // namespace

bool names_model(const std::string& path) {
  return path.ends_with(index_ending) || is_folder(path);
}

std::string model_name(const std::string& path) {
  if (is_made_folder(path)) return made_name(path);
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
  const nlohmann::json json = read_model_json(index);
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object()) {
    throw Error(ExitStatus::input,
                {index, "the index is damaged", map == json.end() ? "no weight_map" : map->type_name(),
                 "a weight_map from the names of arrays to those of files", ""});
  }
  std::map<std::string, std::vector<std::string>> names;  // by file
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || file.get_ref<const std::string&>().empty() ||
        file.get_ref<const std::string&>().find('/') != std::string::npos) {
      throw Error(ExitStatus::input, {index + ": " + name, "the index names no file next to it",
                                      json_text(file), "the name of a file in the same folder", ""});
    }
    names[file.get<std::string>()].push_back(name);
  }
  if (names.size() > most_files) {
    throw Error(ExitStatus::input, {index, "the index names too many files", fmt::format("{}", names.size()),
                                    fmt::format("at most {}", most_files), ""});
  }
  for (const auto& [file, of_file] : names) {
    const std::string at = (fs::path(folder_) / file).string();
    if (!is_there(at)) {
      missing_files_.push_back(file);
      continue;
    }
    open(at);
    for (const std::string& name : of_file) {
      const ArrayInfo* const info = files_.back().find(name);
      if (!info) continue;  // a missing array, like any other
      arrays_.emplace(name, *info);
      file_of_.emplace(name, files_.size() - 1);
    }
  }
}

const ArrayInfo* ModelFiles::find(const std::string& name) const {
  const auto at = arrays_.find(name);
  return at == arrays_.end() ? nullptr : &at->second;
}

const LazyArrayFile& ModelFiles::file_of(const std::string& name) const {
  const auto at = file_of_.find(name);
  if (at != file_of_.end()) return files_[at->second];
  throw Error(ExitStatus::input, {path_, "the model lacks an array", name, "",
                                  fmt::format("headwise info {} lists what is there", path_)});
}

TensorPtr ModelFiles::read(const std::string& name) const {
  return file_of(name).read(name);
}

TensorPtr ModelFiles::read_rows(const std::string& name, Index first, Index count) const {
  return file_of(name).read_rows(name, first, count);
}

}  // namespace headwise
