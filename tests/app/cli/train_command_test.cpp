#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/train/checkpoint.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// A model that takes no time.
std::vector<std::string> small_training(const std::string& task, const std::string& folder,
                                        std::vector<std::string> more) {
  return joined({{"train", task, "-o", folder, "--width", "16", "--heads", "2", "--batch", "8"}, more});
}

}  // namespace

TEST_CASE("train writes checkpoints and a curve, and a training that is resumed is one that never stopped") {
  const TemporaryFolder folder;
  const std::string parts = folder.file("parts"), whole = folder.file("whole");
  ProgramResult result =
      run_program(small_training("sort", parts, {"--steps", "20", "--every", "10", "--dropout", "0.1"}));
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.out.starts_with("7392 parameters; 3 checkpoints of 0.1 MB will stay in "));
  CHECK_CONTAINS(result.out, "\nstep 10: loss ");
  CHECK_CONTAINS(result.out, "\nstep 20: loss ");
  CHECK(checkpoint_steps(parts) == std::vector<Index>{0, 10, 20});
  run_well({"train", "-o", parts, "--resume", "--steps", "30", "--every", "10"});
  REQUIRE(
      run_program(small_training("sort", whole, {"--steps", "30", "--every", "10", "--dropout", "0.1"})).status ==
      0);
  for (const char* const file : {"model.safetensors", "optimizer.safetensors", "training.json"})
    CHECK(content_of(parts + "/checkpoint-30/" + file) == content_of(whole + "/checkpoint-30/" + file));
  CHECK(content_of(parts + "/curve.csv") == content_of(whole + "/curve.csv"));
  CHECK_CONTAINS(content_of(whole + "/curve.csv"), "\n29,");
}

TEST_CASE("a training that goes on has the steps, interval and number of checkpoints of the run before") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  const auto resumed = [&](std::vector<std::string> more) {
    run_well(joined({{"train", "-o", run, "--resume"}, more}));
    return checkpoint_steps(run);
  };
  const auto cut_back_to = [&](Index step) {
    for (const Index there : checkpoint_steps(run))
      if (there > step) std::filesystem::remove_all(checkpoint_path(run, there));
  };
  REQUIRE(run_program(small_training("sort", run, {"--steps", "12", "--every", "3", "--keep", "5"})).status ==
          0);
  const std::string last = content_of(run + "/checkpoint-12/training.json");
  cut_back_to(3);
  CHECK(resumed({}) == std::vector<Index>{0, 3, 6, 9, 12});
  CHECK(content_of(run + "/checkpoint-12/training.json") == last);
  check_refused({"train", "-o", run, "--resume"}, 2,
                "--steps: the training has taken these steps already: got 12, at step 12; expected more than "
                "12; add --steps");
  // What is given is the run's from then on.
  CHECK(resumed({"--steps", "15", "--every", "1", "--keep", "9"}).back() == 15);
  cut_back_to(14);
  CHECK(resumed({}).back() == 15);
  const TrainingPlan plan_then = read_saved_run(checkpoint_path(run, 15)).plan.value();
  CHECK(plan_then.every == 1);
  CHECK(plan_then.keep == 9);
  cut_back_to(12);
  // The program of the training in a folder takes as many.
  run_well({"train", run, "-o", folder.file("a.py")});
  CHECK_CONTAINS(content_of(folder.file("a.py")), "else 12\n");
  // A folder of an earlier version has no plan: 500 steps, as for a training that begins.
  const std::string settings = checkpoint_path(run, 12) + "/training.json";
  const std::string before = content_of(settings);
  const std::size_t plan = before.find("\"plan\""), end = before.find('}', plan);
  REQUIRE(plan != std::string::npos);
  folder.with_file("run/checkpoint-12/training.json",
                   before.substr(0, before.rfind(',', plan)) + before.substr(end + 1));
  CHECK(!read_saved_run(checkpoint_path(run, 12)).plan);
  run_well({"train", run, "-o", folder.file("a.py")});
  CHECK_CONTAINS(content_of(folder.file("a.py")), "else 500\n");
  CHECK(resumed({"--steps", "20"}).back() == 20);
  CHECK(read_saved_run(checkpoint_path(run, 20)).plan->every == 2);
}

TEST_CASE("a damaged checkpoint is named, with the one from which the training resumes without it") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  run_well(small_training("sort", run, {"--steps", "4", "--every", "2"}));
  const std::string whole = folder.file("whole");
  std::filesystem::copy(run + "/checkpoint-4", whole);
  const auto refused = [&](const std::string& checkpoint, const std::string& part, const std::string& remedy) {
    const ProgramResult result =
        check_refused({"train", "-o", run, "--resume", "--steps", "6"}, 3,
                      run + "/" + checkpoint + ": this checkpoint is damaged: got " + part);
    CHECK_CONTAINS(result.err, "; " + remedy);
    CHECK_LACKS(result.err, "download");
  };
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "training.json", "config.json"}) {
    CAPTURE(name);
    const std::string path = run + "/checkpoint-4/" + name, content = content_of(path);
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, content.size() / 2, content.size() - 3}) {
      folder.with_file(std::string("run/checkpoint-4/") + name, content.substr(0, size));
      refused("checkpoint-4", name, "remove it: the training resumes from the one before, checkpoint-2");
    }
    // Without its model it is no checkpoint, and without its training.json not one of this program.
    if (name[0] == 'o' || name[0] == 'c') {
      std::filesystem::remove(path);
      refused("checkpoint-4", std::string(name) + ": file not found", "remove it: ");
    }
    folder.with_file(std::string("run/checkpoint-4/") + name, content);
  }
  std::filesystem::remove(run + "/checkpoint-4/training.json");
  const ProgramResult foreign = run_program({"train", "-o", run, "--resume"});
  CHECK(foreign.status == 3);
  CHECK_CONTAINS(foreign.err, "checkpoint-4/training.json: file not found");
  CHECK_LACKS(foreign.err, "remove");
  std::filesystem::remove_all(run + "/checkpoint-4");
  run_well({"train", "-o", run, "--resume"});
  CHECK(content_of(run + "/checkpoint-4/model.safetensors") == content_of(whole + "/model.safetensors"));
  for (const Index step : {2, 4}) std::filesystem::remove_all(checkpoint_path(run, step));
  folder.with_file("run/checkpoint-0/model.safetensors", "x");
  refused("checkpoint-0", "model.safetensors", "remove it and train anew: there is no checkpoint before it");
}

TEST_CASE("every option of train changes the settings that a checkpoint keeps") {
  const TemporaryFolder folder;
  int number = 0;
  const auto settings_with = [&](std::vector<std::string> more) {
    const std::string path = folder.file(fmt::format("{}", number++));
    more.insert(more.end(), {"--steps", "1"});
    run_well(small_training("lookup", path, more));
    return read_saved_run(checkpoint_path(path, 1));
  };
  const TrainingSettings usual = settings_with({}).settings;
  const auto changed = [&](std::vector<std::string> more, auto&& change) {
    CAPTURE(more.front());
    TrainingSettings expected = usual;
    change(expected);
    CHECK(expected != usual);
    CHECK(settings_with(std::move(more)).settings == expected);
  };
  changed({"--layers", "1"}, [](TrainingSettings& s) { s.model.layers = 1; });
  changed({"--kv-heads", "1"}, [](TrainingSettings& s) { s.model.kv_heads = 1; });
  changed({"--head-width", "4"}, [](TrainingSettings& s) { s.model.head_width = 4; });
  changed({"--latents", "12"}, [](TrainingSettings& s) { s.model.latent_width = 12; });
  changed({"--positions", "alibi"}, [](TrainingSettings& s) { s.model.positions = TrainPositions::alibi; });
  changed({"--no-feed-forward"}, [](TrainingSettings& s) { s.model.feed_forward = false; });
  changed({"--no-norms"}, [](TrainingSettings& s) { s.model.norms = false; });
  changed({"--no-out-projection"}, [](TrainingSettings& s) { s.model.out_projection = false; });
  changed({"--no-causal"}, [](TrainingSettings& s) { s.model.causal = false; });
  changed({"--no-scale"}, [](TrainingSettings& s) { s.model.scaled = false; });
  changed({"--positions", "relative_bias"},
          [](TrainingSettings& s) { s.model.positions = TrainPositions::relative_bias; });
  changed({"--sink"}, [](TrainingSettings& s) { s.model.sink = true; });
  changed({"--sliding-window", "3"}, [](TrainingSettings& s) { s.model.sliding_window = 3; });
  changed({"--output-gate"}, [](TrainingSettings& s) { s.model.output_gate = true; });
  changed({"--qk-norm"}, [](TrainingSettings& s) { s.model.qk_norm = true; });
  changed({"--tied"}, [](TrainingSettings& s) { s.model.tied = true; });
  changed({"--heads-begin-equal"}, [](TrainingSettings& s) { s.model.heads_begin_equal = true; });
  changed({"--heads-begin-equal-but-output"}, [](TrainingSettings& s) {
    s.model.heads_begin_equal = true;
    s.model.equal_out_projection = false;
  });
  changed({"--dropout", "0.25"}, [](TrainingSettings& s) { s.model.dropout = 0.25; });
  changed({"--freeze", "0.1,1.0"}, [](TrainingSettings& s) { s.model.frozen_heads = {{0, 1}, {1, 0}}; });
  changed({"--optimiser", "sgd"}, [](TrainingSettings& s) { s.optimiser.kind = OptimiserKind::sgd; });
  changed({"--learning-rate", "0.5"}, [](TrainingSettings& s) { s.optimiser.learning_rate = 0.5; });
  changed({"--weight-decay", "0.5"}, [](TrainingSettings& s) { s.optimiser.weight_decay = 0.5; });
  changed({"--clip", "0"}, [](TrainingSettings& s) { s.optimiser.clip_norm.reset(); });
  changed({"--warm-up", "3"}, [](TrainingSettings& s) { s.optimiser.warm_up_steps = 3; });
  changed({"--cosine", "50"}, [](TrainingSettings& s) { s.optimiser.cosine_steps = 50; });
  changed({"--seed", "9"}, [](TrainingSettings& s) { s.seed = 9; });
  changed({"--length", "16"}, [](TrainingSettings& s) { s.model.longest_sequence = 16; });
  changed({"--symbols", "20"}, [](TrainingSettings& s) { s.model.vocabulary = 40; });
  CHECK(settings_with({"--dtype", "f64"}).dtype == DType::f64);
}

TEST_CASE("train learns the characters of a text file") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 50; ++i) text += "one two three four five six seven ";
  const std::string path = folder.with_file("numbers.txt", text);
  run_well(small_training(path, folder.file("run"), {"--length", "32", "--steps", "20"}));
  check_refused(small_training(folder.with_file("a.txt", std::string(1000, 'a')), folder.file("a"), {}), 3,
                "a.txt");
}

TEST_CASE("a signal ends a training with a checkpoint, from which it goes on") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  ProgramOptions options;
  options.in_test = [&](int process) {
    for (int i = 0; i < 400 && checkpoint_steps(run).size() < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(process, SIGINT);
  };
  const ProgramResult result =
      run_program(small_training("sort", run, {"--steps", "100000000", "--every", "2"}), options);
  CAPTURE(result.err);
  CHECK(result.status == 6);
  CHECK(is_one_line(result.err));
  const Index last = checkpoint_steps(run).back();
  CHECK(last > 0);
  run_well({"train", "-o", run, "--resume", "--steps", fmt::format("{}", last + 1)});
}

TEST_CASE("wherever a training is killed, it goes on to the same checkpoints and curve, and leaves nothing") {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole");
  const auto words = [&](const std::string& run) {
    return small_training("sort", run, {"--steps", "6", "--every", "1", "--keep", "4"});
  };
  run_well(words(whole));
  // The kernel's own count of the files that the process has opened for writing is not at hand: the moments
  // are drawn.
  int killed = 0;
  for (int moment = 0; moment < 24; ++moment) {
    const std::string run = folder.file(fmt::format("run{}", moment));
    ProgramOptions options;
    options.in_test = [&](int process) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30 + 7 * moment));
      kill(process, SIGKILL);
    };
    killed += run_program(words(run), options).status == 128 + SIGKILL;
    const std::vector<Index> there = checkpoint_steps(run);
    if (there.empty() || there.back() == 6) continue;
    const ProgramResult result =
        run_well({"train", "-o", run, "--resume", "--steps", "6", "--every", "1", "--keep", "4"});
    CHECK(result.err.empty());
    CHECK(content_of(run + "/curve.csv") == content_of(whole + "/curve.csv"));
    for (const auto& entry : std::filesystem::directory_iterator(run))
      CHECK_FALSE(entry.path().filename().string().starts_with("."));
  }
  CHECK(killed > 0);
}

TEST_CASE("a checkpoint is there only after the rows of its steps, and rows that are missing are said") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  // A folder in the place of the curve: it cannot be written.
  std::filesystem::create_directories(run + "/curve.csv");
  CHECK(run_program(small_training("sort", run, {"--steps", "2"})).status == 4);
  CHECK(checkpoint_steps(run).empty());
  std::filesystem::remove(run + "/curve.csv");
  run_well(small_training("sort", run, {"--steps", "4", "--every", "2"}));
  folder.with_file("run/curve.csv", "step,loss\n0,1,0,\n3,1,0,\n");
  const ProgramResult result = run_well({"train", "-o", run, "--resume", "--steps", "5"});
  CHECK(is_one_line(result.err));
  CHECK_CONTAINS(result.err, "curve.csv has no row for 2 of the first 4 steps");
}

TEST_CASE("a folder in which a training is being written is refused to a second one, which names the first") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run"), inner = run + "/one-wide-head";
  ProgramOptions options;
  options.in_test = [&](int process) {
    for (int i = 0; i < 400 && checkpoint_steps(run).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::string named = fmt::format("process {}", process);
    check_refused(small_training("sort", run, {"--steps", "2"}), 4, named);
    check_refused({"train", "-o", run, "--resume", "--steps", "200000000"}, 4, named);
    check_refused(small_training("sort", inner, {"--steps", "2"}), 4, named);
    kill(process, SIGKILL);
  };
  CHECK(
      run_program(small_training("sort", run,
                                 {"--steps", "100000000", "--every", "1000000", "--beside", "one-wide-head"}),
                  options)
          .status == 128 + SIGKILL);
  run_well({"train", "-o", run, "--resume", "--steps", "1"});
}

TEST_CASE("a long training keeps a bounded number of checkpoints, and says so before it starts") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  const ProgramResult result = run_well(
      small_training("sort", run, {"--steps", "21", "--every", "1", "--keep", "5", "--optimiser", "sgd"}));
  CHECK_CONTAINS(result.out, "at most 5 checkpoints of 0.0 MB will stay in ");
  CHECK(checkpoint_steps(run) == std::vector<Index>{0, 8, 16, 21});
  CHECK_CONTAINS(content_of(run + "/curve.csv"), "\n20,");
}

TEST_CASE("train --beside trains one change in a folder of its own and says what it did") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  const ProgramResult result =
      run_well(small_training("sort", run, {"--steps", "10", "--beside", "one-wide-head"}));
  CHECK(read_saved_run(checkpoint_path(run, 10)).settings.model.heads == 2);
  CHECK(read_saved_run(checkpoint_path(run + "/one-wide-head", 10)).settings.model.heads == 1);
  CHECK_CONTAINS(result.out, "\nwith one wide head:\n");
  CHECK_CONTAINS(result.out, "Both have 7392 parameters");
  const ProgramResult failing = run_program(small_training(
      "sort", folder.file("fails"),
      {"--steps", "10", "--optimiser", "sgd", "--learning-rate", "0.9e19", "--clip", "0", "--no-norms"}));
  CHECK(failing.status == 2);
  check_refused(small_training("sort", folder.file("a"), {"--beside", "two-heads"}), 2, "one-wide-head");
  check_refused(small_training("sort", folder.file("a"), {"--beside", "learned-positions"}), 2, "--beside");
  CHECK(!std::filesystem::exists(folder.file("a")));
}

TEST_CASE("an output that ends in .py is the program of a training, described by options or in a folder") {
  const TemporaryFolder folder;
  const std::string first = folder.file("first.py"), second = folder.file("second.py"),
                    run = folder.file("run");
  run_well(small_training("lookup", first, {"--steps", "7", "--dtype", "f64"}));
  CHECK_CONTAINS(content_of(first), "STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 7\n");
  CHECK_CONTAINS(content_of(first), "float64");
  run_well(small_training("lookup", run, {"--steps", "1", "--dtype", "f64"}));
  run_well({"train", run, "-o", second, "--steps", "7"});
  CHECK(content_of(second) == content_of(first));
  const std::string text = folder.with_file("a b.txt", std::string(500, 'a') + std::string(500, 'b'));
  run_well(small_training(text, folder.file("text.py"), {"--length", "8"}));
  CHECK(content_of(folder.file("text.txt")) == content_of(text));
  CHECK_CONTAINS(content_of(folder.file("text.py")), "DATA = \"text.txt\"\n");
  folder.with_file("taken.txt", "something else");
  check_refused(small_training(text, folder.file("taken.py"), {"--length", "8"}), 4, "taken.txt");
  CHECK(content_of(folder.file("taken.txt")) == "something else");
  check_refused({"train", run, "-o", second, "--width", "32"}, 2, "--width");
  check_refused({"train", "-o", second}, 2, "TASK");
}

TEST_CASE("a training that cannot be done is refused in one line") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  check_refused({"train", "-o", run}, 2, "TASK");
  check_refused({"train", "sort"}, 2, "--output");
  check_refused({"train", "chess", "-o", run}, 2, "induction");
  check_refused({"train", "sort", "-o", run, "--heads", "7"}, 2, "heads");
  check_refused({"train", "sort", "-o", run, "--steps", "0"}, 2, "--steps");
  check_refused({"train", "sort", "-o", run, "--every", "x"}, 2, "--every");
  check_refused({"train", "sort", "-o", run, "--dtype", "bf16"}, 2, "--dtype");
  check_refused({"train", "sort", "-o", run, "--freeze", "one"}, 2, "--freeze");
  check_refused({"train", "sort", "-o", run, "--seed", "-1"}, 2, "--seed");
  check_refused({"train", "sort", "-o", run, "--keep", "2"}, 2, "--keep");
  check_refused({"train", "sort", "-o", folder.with_file("occupied", "x"), "--steps", "9223372036854775807",
                 "--every", "1", "--keep", "9223372036854775807"},
                4, "occupied");
  check_refused({"train", "/dev/null", "-o", run}, 3, "no text in it to learn");
  check_refused({"train", folder.with_file("empty.txt", ""), "-o", run}, 3, "an empty file");
  check_refused({"train", "sort", "-o", run, "--optimiser", "lion"}, 2, "--optimiser");
  check_refused({"train", "-o", run, "--resume"}, 3, "checkpoint");
  CHECK(!std::filesystem::exists(run));
  check_refused({"train", "sort", "-o", folder.with_file("file", "x") + "/run", "--steps", "1"}, 4,
                "checkpoint");
  run_well(small_training("sort", run, {"--steps", "1"}));
  check_refused(small_training("sort", run, {"--steps", "2"}), 2, "--resume");
  check_refused({"train", "-o", run, "--resume", "--steps", "1"}, 2, "--steps");
  check_refused({"train", "-o", run, "--resume", "--steps", "3", "--width", "32"}, 2, "--width");
  const ProgramResult high = run_program(small_training(
      "sort", folder.file("high"), {"--optimiser", "sgd", "--learning-rate", "1e30", "--clip", "0"}));
  CHECK(high.status == 2);
  CHECK(is_one_line(high.err));
  CHECK_CONTAINS(high.err, "the first tensor that is not finite");
  CHECK(checkpoint_steps(folder.file("high")).size() == 2);
}

TEST_CASE("train --json prints a line for each checkpoint, and nothing else") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run");
  const auto lines_of = [](const std::string& text) {
    std::vector<nlohmann::json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  };
  const std::vector<nlohmann::json> steps =
      lines_of(run_well(small_training("sort", run, {"--steps", "20", "--every", "10", "--json"})).out);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].at("step") == 10);
  CHECK(steps[1].at("step") == 20);
  CHECK(steps[1].at("checkpoint") == checkpoint_path(run, 20));
  CHECK(steps[1].at("held_out_accuracy").get<double>() >= 0.0);
  CHECK(steps[1].at("strongest").at("layer").is_number());
  // The curve has the same loss, of the step before the one that was reached.
  CHECK_CONTAINS(content_of(run + "/curve.csv"),
                 fmt::format("\n19,{}", static_cast<double>(steps[1].at("loss"))));
  const std::vector<nlohmann::json> beside =
      lines_of(run_well(small_training("sort", folder.file("two"),
                                       {"--steps", "4", "--every", "4", "--json", "--beside", "one-head"}))
                   .out);
  REQUIRE(beside.size() == 3);
  CHECK(beside[0].at("change") == "");
  CHECK(beside[1].at("change") == "one-head");
  CHECK_FALSE(beside[2].at("answer").get<std::string>().empty());
  CHECK(lines_of(run_well({"train", "-o", run, "--resume", "--steps", "30", "--json"}).out).back().at("step") ==
        30);
  check_refused({"train", "sort", "-o", folder.file("sort.py"), "--json"}, 2, "nothing is trained");
}
