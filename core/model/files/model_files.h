// The files of a model: one array file, or several with an index, and the files next to them. Arrays are read
// on demand, so a model larger than memory opens at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/tensor/shape.h"

namespace headwise {

// The cache in which huggingface_hub keeps what it downloads: models--OWNER--NAME with blobs, refs and
// snapshots/REVISION.

// The snapshot that refs/main names, or else the only one, if `folder` is a model's folder in the cache, or
// the cache with one model; `folder` for anything else. Throws Error(input) that names what there is to
// choose from.
std::string hub_snapshot_or(const std::string& folder);

// Whether a path looks like that of a model: a folder, or the index of a sharded model.
// (An array file may be one too.)
bool names_model(const std::string& path);
// The display name of the model at a path: "sentences" for "builtin:sentences" and for the folder
// "models/sentences/"; "reverse, step 60" for "builtin:trained/reverse,width=32/60".
std::string model_name(const std::string& path);

class ModelFiles {
 public:
  // A folder (model.safetensors, model.safetensors.index.json, or else its only .safetensors or .npz file), a
  // model's folder in the hub's cache, an index, or an array file. Throws Error(input) if there is no such
  // file (for a folder with only .bin or .pt files it says how to convert them), or a file is invalid. A
  // missing shard named by the index is not an error.
  explicit ModelFiles(const std::string& path);

  const std::string& path() const { return path_; }      // as given
  const std::string& folder() const { return folder_; }  // where config.json and tokenizers are searched
  std::size_t file_count() const { return files_.size(); }
  // Names of the files that are listed in the index and missing.
  const std::vector<std::string>& missing_files() const { return missing_files_; }

  // Where the index and the files beside it disagree, one line each: the arrays are those that transformers
  // would take.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // All available arrays, by name.
  const std::map<std::string, ArrayInfo>& arrays() const { return arrays_; }
  const ArrayInfo* find(const std::string& name) const;  // null: there is none
  TensorPtr read(const std::string& name) const;         // like LazyArrayFile::read
  TensorPtr read_rows(const std::string& name, Index first, Index count) const;

  // Only for a single file: its information as stored.
  bool is_one_file() const { return files_.size() == 1 && missing_files_.empty(); }
  const ArrayFileInfo& first_file_info() const { return files_[0].info(); }

 private:
  void open(const std::string& file);
  void open_index(const std::string& index);
  const LazyArrayFile& file_of(const std::string& name) const;

  std::string path_, folder_;
  std::vector<LazyArrayFile> files_;
  std::vector<std::string> missing_files_, warnings_;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, std::size_t> file_of_;
};

// Checkpoints of a training in a folder, checkpoint-STEP, as `headwise train` and the Trainer of Hugging
// Face's transformers write them: each is a model by itself.

struct ModelCheckpoint {
  Index step = 0;
  std::string path;  // FOLDER/checkpoint-STEP
  friend bool operator==(const ModelCheckpoint&, const ModelCheckpoint&) = default;
};

// The folders named checkpoint-STEP in `folder` that hold a model's arrays, by step;
// empty if there are none, or it cannot be read.
std::vector<ModelCheckpoint> model_checkpoints(const std::string& folder);

// All checkpoints of the training that the model at `path` is a checkpoint of, itself among them, by step.
// `path` is the folder checkpoint-STEP or a file in it; empty if it is neither.
std::vector<ModelCheckpoint> sibling_checkpoints(const std::string& path);

// The newest checkpoint in a folder that is no model itself; `path` for anything else.
std::string newest_checkpoint_or(const std::string& path);

// What a model was trained to do, from the training.json that `headwise train` writes beside its models.
// Empty if there is none.
struct TrainedTask {
  std::string what;                          // one sentence: what is asked, and what attention must find
  std::string example;                       // a text of the task that the model was not trained on
  std::optional<Index> step = std::nullopt;  // after which the model was written
  std::optional<double> held_out_loss =
                            std::nullopt,  // cross-entropy in nats, on examples that it was not trained on
      held_out_accuracy = std::nullopt;    // 0 … 1
};
TrainedTask trained_task(const std::string& folder);

// Whether a model on disk has changed since it was read.

// Changes whenever a model's files do. For a folder: file_state. For a file: the newest time and the total
// bytes of it and of the files next to it that say how to read it (config.json, the tokenizer's files).
FileState model_state(const std::string& path);

}  // namespace headwise
