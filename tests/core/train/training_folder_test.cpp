#include "core/train/training_folder.h"

#include "core/tensor/error.h"
#include "core/train/training_history.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

TEST_CASE("a folder is held by one training at a time, and the second is told which process has it") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  {
    const TrainingFolder held(run);
    CHECK(fs::exists(run + "/" + TrainingFolder::lock_name));
    try {
      const TrainingFolder second(run);
      FAIL("both hold the folder");
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::output);
      const std::string what = error.what();
      CHECK(what.starts_with(run));
      CHECK_CONTAINS(what, "another training is being written into this folder");
      CHECK_CONTAINS(what, "process " + std::to_string(getpid()));
    }
  }
  CHECK_FALSE(fs::exists(run));  // made for the training, which wrote nothing
  fs::create_directory(run);
  const TrainingFolder again(run);
}

TEST_CASE("a training removes the checkpoints that an earlier one has left unfinished, and nothing else") {
  const TemporaryFolder folder;
  const std::string part = unfinished_checkpoint_path(folder.file("checkpoint-12"));
  CHECK(part == folder.file(".checkpoint-12.part"));
  fs::create_directory(part);
  folder.with_file(".checkpoint-12.part/model.safetensors", "half");
  fs::create_directories(folder.file(".checkpoint-mine.part"));
  fs::create_directories(folder.file("checkpoint-10"));
  const TrainingFolder held(folder.file(""));
  CHECK_FALSE(fs::exists(part));
  CHECK(fs::exists(folder.file(".checkpoint-mine.part")));
  CHECK(fs::exists(folder.file("checkpoint-10")));
}

TEST_CASE("rows that a curve lacks are counted") {
  const std::string curve = "step,loss\n0,1,\n1,1,\n3,1,\n3,1,\n9,1,\nx\n";
  CHECK(missing_rows(curve, 0) == 0);
  CHECK(missing_rows(curve, 2) == 0);
  CHECK(missing_rows(curve, 4) == 1);
  CHECK(missing_rows("", 4) == 4);
}
