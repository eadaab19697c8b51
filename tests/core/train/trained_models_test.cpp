#include "core/train/trained_models.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/model/files/model_files.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"

namespace headwise::test {
namespace {

const std::string small_recipe = "induction,length=8,symbols=8,layers=1,width=16,heads=2,batch=4";

std::string trained_folder_of(const std::string& recipe, Index step) {
  return std::string(trained_prefix) + recipe + "/" + std::to_string(step);
}

std::vector<double> parameter_of(const std::string& recipe, Index step, const std::string& name) {
  for (const NamedTensor& array : read_array_file(trained_folder_of(recipe, step) + "/model.safetensors"))
    if (array.name == name) {
      const auto values = array.tensor->values<double>();
      return {values.begin(), values.end()};
    }
  return {};
}

// Of so many steps, or fewer where it fails.
std::unique_ptr<TrainingRun<double>> run_of(const std::string& recipe, Index steps) {
  TrainingRecipe read = training_recipe(recipe);
  auto run = std::make_unique<TrainingRun<double>>(task_of(read.source), read.settings);
  while (run->step() < steps && !run->failure()) run->take_step();
  return run;
}

}  // namespace

TEST_CASE(
    "a model that is trained when it is read is that of the same training, in whatever order its steps are "
    "read") {
  offer_trained_models();
  for (const Index step : {5, 0, 9, 2}) {
    CAPTURE(step);
    const auto run = run_of(small_recipe, step);
    for (const TrainParameter& parameter : run->parameters()) {
      const std::vector<double> read = parameter_of(small_recipe, step, parameter.name);
      REQUIRE(std::ssize(read) == parameter.size());
      CHECK(std::equal(read.begin(), read.end(), run->values().begin() + parameter.offset));
    }
    CHECK(trained_task(trained_folder_of(small_recipe, step)).step == step);
  }
}

TEST_CASE("such a model tells how right it is on examples that it was not trained on") {
  offer_trained_models();
  const TrainedTask task = trained_task(trained_folder_of(small_recipe, 5));
  const BatchResult held_out = run_of(small_recipe, 5)->held_out(128);
  REQUIRE(task.held_out_loss);
  CHECK(*task.held_out_loss == doctest::Approx(held_out.loss).epsilon(1e-12));
  CHECK(*task.held_out_accuracy == doctest::Approx(accuracy_of(held_out)).epsilon(1e-12));
}

TEST_CASE("a recipe changes what it names and nothing else") {
  const TrainingSettings usual = training_recipe("reverse").settings;
  CHECK(usual == usual_settings(named_task("reverse")));
  TrainingSettings changed = usual;
  changed.model.width = 32;
  changed.model.heads = changed.model.kv_heads = 4;
  changed.optimiser.learning_rate = 0.006;
  changed.seed = 7;
  changed.batch = 16;
  CHECK(training_recipe("reverse,seed=7,width=32,heads=4,batch=16,learning-rate=0.006").settings == changed);
  changed.model.scaled = false;
  CHECK(training_recipe("reverse,seed=7,width=32,heads=4,batch=16,learning-rate=0.006,no-scale").settings ==
        changed);
  const TrainingRecipe sizes = training_recipe("induction,length=12,symbols=6,layers=1");
  CHECK(sizes.source.sizes.length == 12);
  CHECK(sizes.source.sizes.symbols == 6);
  CHECK(sizes.settings.model.layers == 1);
  CHECK(sizes.settings.model.longest_sequence == 12);
}

TEST_CASE("a recipe that cannot be read or trained is refused in one sentence that names it") {
  struct Wrong {
    const char *recipe, *says;
  };
  for (const Wrong& wrong : {Wrong{"", "there is no task of this name"},
                             {"inducton", "there is no task of this name"},
                             {"induction,", "there is no such change"},
                             {"induction,colour=3", "there is no such option"},
                             {"induction,width=wide", "cannot be read"},
                             {"induction,seed=-1", "cannot be read"},
                             {"induction,heads=3", "must divide"},
                             {"induction,batch=0", "batch"},
                             {"induction,learning-rate=nan", "learning"},
                             {"induction,no-scale,no-positions", "only one change is allowed"},
                             {"induction,no-scale,seed=2", "an option stands after the change"},
                             {"induction,heads=1,one-wide-head", "does not apply here"}}) {
    CAPTURE(wrong.recipe);
    CHECK_THROWS_WITH_AS(training_recipe(wrong.recipe), doctest::Contains(wrong.says), Error);
  }
  offer_trained_models();
  for (const char* path :
       {"induction/", "induction/x", "induction/-1", "induction/10001", "induction/1.5",
        "induction,batch=4096,width=128,layers=4/9000", "induction,batch=64/500", "inducton/5"}) {
    CAPTURE(path);
    CHECK_THROWS_AS(InputFile{std::string(trained_prefix) + path + "/config.json"}, Error);
  }
  CHECK_THROWS_WITH_AS(
      trained_model_path(std::string(trained_prefix) + "induction,batch=4096,width=128/9000"),
      doctest::Contains("too long to wait for"), Error);
}

TEST_CASE(
    "a training that stops by itself says where, and the steps before can be read whatever was read first") {
  offer_trained_models();
  CHECK_THROWS_WITH_AS(InputFile{trained_folder_of(small_recipe + ",learning-rate=900", 60) + "/config.json"},
                       doctest::Contains("this training failed"), Error);
  const std::unique_ptr<TrainingRun<double>> run = run_of(small_recipe + ",learning-rate=900", 60);
  REQUIRE(run->failure());
  CHECK(parameter_of(small_recipe + ",learning-rate=900", run->step(), "norm.bias").size() == 16);
}

TEST_CASE("a training that goes on from a step tells its share of the whole, not of what was left") {
  offer_trained_models();
  const std::string recipe = small_recipe + ",seed=3";
  make_folder(trained_folder_of(recipe, 100));
  Progress progress;
  double first = 0.0;
  std::thread observer([&] {
    while ((first = progress.fraction()) == 0.0) std::this_thread::yield();
  });
  {
    const ProgressScope scope(progress);
    make_folder(trained_folder_of(recipe, 200));
  }
  observer.join();
  CHECK(first >= 0.5);
}

TEST_CASE(
    "a training that was given up again and again goes on from where it was, and ends with the same bits") {
  offer_trained_models();
  // The usual seed, written or not
  const std::string recipe = "induction,length=8,symbols=8,layers=1,width=32,heads=2,batch=32",
                    stopped = trained_folder_of(recipe + ",seed=1", 30), whole = trained_folder_of(recipe, 30);
  int given_up = 0;
  for (int after = 0; needs_making(stopped); ++after) {
    // Each time a little later, wherever in a step that is
    std::atomic<bool> cancelled = after == 0;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(after));
      cancelled = true;
    });
    try {
      const CancelScope scope(cancelled);
      make_folder(stopped);
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::cancelled);
      ++given_up;
    }
    canceller.join();
  }
  CHECK(given_up > 0);
  const auto bytes = [](const std::string& path) { return *made_file(path + "/model.safetensors"); };
  CHECK(std::ranges::equal(bytes(stopped), bytes(whole)));
}

}  // namespace headwise::test
