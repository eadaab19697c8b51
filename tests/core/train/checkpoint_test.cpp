#include "core/train/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "core/train/training_folder.h"
#include "core/train/training_history.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/train/small_training.h"
#include "tests/refusals.h"

namespace headwise::test {
namespace fs = std::filesystem;

namespace {

template <class T>
void check_stored(TaskSource source, OptimiserKind kind) {
  const TemporaryFolder folder;
  const TrainTask task = task_of(source);
  TrainingSettings settings = two_head_settings(task, 8, 0.1);
  settings.optimiser.kind = kind;
  TrainingRun<T> run(task, settings);
  for (int i = 0; i < 5; ++i) run.take_step();
  write_checkpoint(folder.file("run"), source, run);
  for (int i = 0; i < 4; ++i) run.take_step();

  CHECK(checkpoint_steps(folder.file("run")) == std::vector<Index>{5});
  const std::string checkpoint = checkpoint_path(folder.file("run"), 5);
  SavedRun saved = read_saved_run(checkpoint);
  CHECK(saved.step == 5);
  CHECK(saved.settings == settings);
  CHECK(saved.dtype == (std::is_same_v<T, float> ? DType::f32 : DType::f64));
  TrainingRun<T> resumed(task_of(saved.task), saved.settings);
  resumed.restore(read_training_state<T>(checkpoint, saved));
  for (int i = 0; i < 4; ++i) resumed.take_step();
  CHECK(std::ranges::equal(resumed.values(), run.values()));
}

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

TEST_CASE("a run that goes on from a checkpoint's files is one that never stopped, bit for bit") {
  check_stored<float>({.name = "induction", .sizes = {.length = 12}}, OptimiserKind::adamw);
  check_stored<double>({.name = "sort", .sizes = {.symbols = 5}}, OptimiserKind::momentum);
  check_stored<float>({.name = "majority"}, OptimiserKind::sgd);
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "to be or not to be, that is ";
  check_stored<float>({.name = "file", .sizes = {.length = 16}, .file = folder.with_file("hamlet.txt", text)},
                      OptimiserKind::adam);
}

TEST_CASE("a run does not go on with a file that has changed") {
  const TemporaryFolder folder;
  TaskSource source{.name = "file",
                    .sizes = {.length = 8},
                    .file = folder.with_file("a.txt", std::string(200, 'a') + std::string(200, 'b'))};
  task_of(source);
  CHECK(source.file_hash != 0);
  task_of(source);
  folder.with_file("a.txt", std::string(200, 'b') + std::string(200, 'a'));
  CHECK_THROWS_AS(task_of(source), Error);
}

TEST_CASE("a checkpoint has the parameters under PyTorch's names and says of which type the model is") {
  const TemporaryFolder folder;
  auto [source, task, run] = SmallRun("majority", 8, 0.1);
  write_checkpoint(folder.file(""), source, run);
  const std::string checkpoint = checkpoint_path(folder.file(""), 0);
  std::vector<std::string> names, expected;
  for (const NamedTensor& array : read_array_file(checkpoint + "/model.safetensors"))
    names.push_back(array.name);
  for (const TrainParameter& parameter : run.parameters()) expected.push_back(parameter.name);
  std::ranges::sort(names);
  std::ranges::sort(expected);
  CHECK(names == expected);
  CHECK_CONTAINS(content_of(checkpoint + "/config.json"), "\"model_type\": \"headwise\"");
}

TEST_CASE("a checkpoint that cannot be written leaves nothing behind") {
  const TemporaryFolder folder;
  auto [source, task, run] = SmallRun("majority", 8, 0.1);
  const std::string blocked = folder.with_file("file", "this is no folder");
  CHECK_THROWS_AS(write_checkpoint(blocked, source, run), Error);
  std::filesystem::create_directories(checkpoint_path(folder.file("run"), 0) + "/taken");
  CHECK_THROWS_AS(write_checkpoint(folder.file("run"), source, run), Error);
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.file("run")))
    ++entries;
  CHECK(entries == 1);
}

TEST_CASE(
    "a checkpoint that is incomplete or does not fit together is refused in one sentence that names the "
    "file") {
  const TemporaryFolder folder;
  auto [source, task, run] = SmallRun("majority", 8, 0.1);
  write_checkpoint(folder.file(""), source, run);
  const std::string good = checkpoint_path(folder.file(""), 0), bad = folder.file("bad");
  const auto refused = [&](const char* name, const std::string& content) {
    std::filesystem::remove_all(bad);
    std::filesystem::copy(good, bad);
    folder.with_file(std::string("bad/") + name, content);
    if (content.empty()) std::filesystem::remove(bad + "/" + name);
    refused_with([&] { read_training_state<float>(bad, read_saved_run(bad)); }, {name});
  };
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "config.json", "training.json"}) {
    refused(name, "");
    refused(name, "{}");
    refused(name, "[1,2");
  }
  SavedRun wider = read_saved_run(good);
  wider.settings.model.width = 32;
  CHECK_THROWS_AS(read_training_state<float>(good, wider), Error);
  CHECK_THROWS_AS(read_training_state<double>(good, read_saved_run(good)), Error);
}

TEST_CASE("a curve is a row for each step, and a run that goes on keeps those before it") {
  std::vector<CurveRow> rows;
  for (Index step = 0; step < 12; ++step)
    rows.push_back({{step, {2.5, 4, 1}, {0.125, 0.5, 1.0}}, std::nullopt});
  rows[2].held_out = BatchResult{1.5, 8, 4};
  const std::string csv = curve_csv(rows);
  CHECK(
      csv.starts_with("step,loss,accuracy,learning_rate,gradient_norm,held_out_loss,held_out_accuracy\n0,2.5,"
                      "0.25,0.125,0.5,,\n"));
  CHECK_CONTAINS(csv, "\n2,2.5,0.25,0.125,0.5,1.5,0.5\n");
  CHECK(curve_before(csv, 12) == csv);
  rows.resize(5);
  CHECK(curve_before(csv, 5) == curve_csv(rows));
  CHECK(curve_before("nonsense\n-3,4\n7\n", 12) == curve_csv({}));
  const std::vector<CurveLoss> losses = curve_losses(csv);
  REQUIRE(losses.size() == 12);
  CHECK(losses[7].step == 7);
  CHECK(losses[7].loss == 2.5);
  CHECK(losses[7].accuracy == 0.25);
  CHECK(curve_losses("-3,4,5,\n7\n8,,0.5,\n9,1.5\n9,one,2,\n11,0.5,0.25,0.1,1,,\n").size() == 1);
}

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
  auto [source, task, run] = SmallRun("majority", 2, 0.0);
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

TEST_CASE("a folder is held by one training at a time, and the second is told which process has it") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  {
    const TrainingFolder held(run);
    CHECK(fs::exists(run + "/" + TrainingFolder::lock_name));
    const std::string line = refused_with(
        [&] { const TrainingFolder second(run); },
        {"another training is being written into this folder", "process " + std::to_string(getpid())},
        ExitStatus::output);
    CHECK(line.starts_with(run));
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

}  // namespace headwise::test
