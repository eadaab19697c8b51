#include "core/train/training_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/train/checkpoint.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {
namespace {

// What is left of a run with a checkpoint every `every` steps.
std::vector<Index> left_of(Index steps, Index every, Index most) {
  std::vector<Index> kept;
  for (Index step = 0; step <= steps; step += every) {
    kept.push_back(step);
    for (const Index dropped : steps_to_drop(kept, most)) std::erase(kept, dropped);
    CHECK(std::ssize(kept) <= most);
  }
  return kept;
}

}  // namespace

TEST_CASE("few checkpoints all stay; of many at most so many, with the first and the last") {
  CHECK(left_of(40, 10, 5) == std::vector<Index>{0, 10, 20, 30, 40});
  CHECK(left_of(50, 10, 5) == std::vector<Index>{0, 20, 40, 50});
  for (const Index most : {3, 4, 7, 32})
    for (const Index steps : {99, 1000, 4321}) {
      const std::vector<Index> left = left_of(steps, 1, most);
      CHECK(left.front() == 0);
      CHECK(left.back() == steps);
      CHECK(std::ssize(left) >= (most + 1) / 2);
    }
}

TEST_CASE("steps at odd places go first, and a run that began later counts from there") {
  CHECK(steps_to_drop(std::vector<Index>{0, 10, 13, 20, 30}, 4) == std::vector<Index>{13});
  CHECK(steps_to_drop(std::vector<Index>{5, 6, 7, 8, 9}, 3) == std::vector<Index>{6, 8});
  CHECK(steps_to_drop(std::vector<Index>{0, 1000, 1001, 1002}, 3) == std::vector<Index>{1001});
  CHECK(steps_to_drop(std::vector<Index>{}, 3).empty());
  const Index far = std::numeric_limits<Index>::max();
  CHECK(steps_to_drop(std::vector<Index>{0, 1, 2, far - 1, far}, 3) == std::vector<Index>{1, 2, far - 1});
}

TEST_CASE("checkpoints of a folder are thinned out whole, and those that stay can be read") {
  const TemporaryFolder folder;
  TaskSource source{.name = "majority"};
  const TrainTask task = task_of(source);
  TrainingRun<float> run(task, two_head_settings(task, 2, 0.0));
  for (int i = 0; i < 7; ++i) {
    write_checkpoint(folder.file("run"), source, run);
    thin_out_checkpoints(folder.file("run"), 4);
    run.take_step();
  }
  CHECK(checkpoint_steps(folder.file("run")) == std::vector<Index>{0, 2, 4, 6});
  CHECK(read_saved_run(checkpoint_path(folder.file("run"), 4)).step == 4);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("run")), {}) == 4);
  const auto bytes_of = [&](const char* name) {
    return static_cast<Index>(std::filesystem::file_size(checkpoint_path(folder.file("run"), 4) + name));
  };
  const Index arrays = bytes_of("/model.safetensors") + bytes_of("/optimizer.safetensors"),
              told = checkpoint_bytes(run.settings(), 4);
  CHECK(arrays > told);
  CHECK(arrays < told + 20000);  // their headers
}

}  // namespace headwise::test
