#include "core/model/files/model_files.h"

#include <filesystem>

#include "core/scenario/run_record.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr const char* distilbert = R"({"model_type":"distilbert","n_heads":2,"dim":12,"n_layers":1})";

void write_checkpoint_folder(const TemporaryFolder& folder, const std::string& name) {
  std::filesystem::create_directories(folder.file(name));
  Sizes sizes;
  add_layer(sizes, "transformer.layer.0");
  write_safetensors(folder.file(name + "/model.safetensors"), counted_arrays(sizes));
  folder.with_file(name + "/config.json", distilbert);
  folder.with_file(name + "/trainer_state.json", "{}");
}

// As the Trainer of transformers leaves them, with what is none beside them.
void write_training(const TemporaryFolder& folder) {
  for (const char* name : {"run/checkpoint-1000", "run/checkpoint-500", "run/checkpoint-1500"})
    write_checkpoint_folder(folder, name);
  std::filesystem::create_directories(folder.file("run/checkpoint-2000"));  // not written yet
  folder.with_file("run/checkpoint-2000/optimizer.pt", "x");
  for (const char* name :
       {"run/checkpoint-x", "run/checkpoint--3", "run/checkpoint-", "run/checkpoint-7.part"})
    write_checkpoint_folder(folder, name);
  folder.with_file("run/checkpoint-3000", "a file");
}

std::vector<Index> steps_of(const std::vector<ModelCheckpoint>& checkpoints) {
  std::vector<Index> steps;
  for (const ModelCheckpoint& checkpoint : checkpoints) steps.push_back(checkpoint.step);
  return steps;
}

}  // namespace

TEST_CASE("the checkpoints in a folder are those that hold a model, by step") {
  const TemporaryFolder folder;
  write_training(folder);
  const std::vector<ModelCheckpoint> found = model_checkpoints(folder.file("run"));
  CHECK(steps_of(found) == std::vector<Index>{500, 1000, 1500});
  CHECK(found[1].path == folder.file("run/checkpoint-1000"));
  CHECK(model_checkpoints(folder.file("none")).empty());
  CHECK(model_checkpoints(folder.file("run/checkpoint-500")).empty());
}

TEST_CASE("a checkpoint knows those beside it, however its path is written") {
  const TemporaryFolder folder;
  write_training(folder);
  for (const char* path : {"run/checkpoint-500", "run/checkpoint-500/",
                           "run/checkpoint-500/model.safetensors", "run/checkpoint-x/../checkpoint-1500"})
    CHECK(steps_of(sibling_checkpoints(folder.file(path))) == std::vector<Index>{500, 1000, 1500});
  CHECK(sibling_checkpoints(folder.file("run")).empty());
  CHECK(sibling_checkpoints(folder.file("run/checkpoint-x")).empty());
}

TEST_CASE("a folder of checkpoints opens as the newest one, and a model as itself") {
  const TemporaryFolder folder;
  write_training(folder);
  CHECK(newest_checkpoint_or(folder.file("run")) == folder.file("run/checkpoint-1500"));
  CHECK(scenario_of_file(folder.file("run")).parameters.file == folder.file("run/checkpoint-1500"));
  try {
    const ModelFiles files(folder.file("run"));
    FAIL_CHECK("opened");
  } catch (const Error& error) {
    CHECK_CONTAINS(std::string(error.what()), "checkpoint-1500");
  }
  write_checkpoint_folder(folder, "run");
  CHECK(newest_checkpoint_or(folder.file("run")) == folder.file("run"));
  CHECK(scenario_of_file(folder.file("run")).parameters.file == folder.file("run"));
  CHECK(newest_checkpoint_or(folder.file("none")) == folder.file("none"));
}
