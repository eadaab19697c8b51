// The files of a model: one file of arrays or several with an index, and what lies beside them. Arrays are read when
// somebody asks for them, so a model larger than the memory opens at once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/files/lazy_array_file.h"

namespace headwise {

// Whether a path is a model's by its look: a folder, or the index of a model in parts. (A file of arrays may be one too.)
bool names_model(const std::string& path);
// What the model at a path is called: "sentences" of "builtin:sentences" and of the folder "models/sentences/".
std::string model_name(const std::string& path);

class ModelFiles {
 public:
  // A folder (model.safetensors.index.json, model.safetensors, or else its only .safetensors or .npz file), an index, or
  // a file of arrays. Throws Error(input): nothing of that kind is there (of a folder with .bin or .pt files alone: how
  // to convert them), or a file is wrong. A part that the index names and that is not there is no error.
  explicit ModelFiles(const std::string& path);

  const std::string& path() const { return path_; }      // as given
  const std::string& folder() const { return folder_; }  // where config.json and tokenizers are looked for
  std::size_t file_count() const { return files_.size(); }
  // Names of the files that the index speaks of and that are missing.
  const std::vector<std::string>& missing_files() const { return missing_files_; }

  // All arrays that are there, by name.
  const std::map<std::string, ArrayInfo>& arrays() const { return arrays_; }
  const ArrayInfo* find(const std::string& name) const;  // null: there is none
  TensorPtr read(const std::string& name) const;         // as LazyArrayFile::read
  TensorPtr read_rows(const std::string& name, Index first, Index count) const;

  // Of a single file, as it is in the file.
  bool is_one_file() const { return files_.size() == 1 && missing_files_.empty(); }
  const ArrayFileInfo& first_file_info() const { return files_[0].info(); }

 private:
  void open(const std::string& file);
  void open_index(const std::string& index);
  const LazyArrayFile& file_of(const std::string& name) const;

  std::string path_, folder_;
  std::vector<LazyArrayFile> files_;
  std::vector<std::string> missing_files_;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, std::size_t> file_of_;
};

}  // namespace headwise
