// That the programs train the same is held by tests/peers/compare_training_programs.py, which needs PyTorch.
#include "core/train/training_program.h"

#include <filesystem>

#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/train/train_options.h"

namespace headwise::test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the program of a run has every parameter, and of the model only what the run has") {
  for (const NamedTrainModel& option : trained_options()) {
    CAPTURE(option.name);
    TaskSource source{.name = "majority", .sizes = {.length = 7, .symbols = 11}};
    TrainingSettings settings = usual_settings(task_of(source));
    settings.model = option.config;
    const std::string text = training_program(source, settings, DType::f64, 50, "").text;
    for (const TrainParameter& parameter : train_parameters(option.config))
      CHECK_MESSAGE(has(text, "    \"" + parameter.name + "\": "), parameter.name);
    CHECK(has(text, "dropout_factors") == (option.config.dropout > 0.0));
    CHECK(has(text, "def rotate") == (option.config.positions == TrainPositions::rotary));
    CHECK(has(text, "ALIBI") == (option.config.positions == TrainPositions::alibi));
    CHECK(has(text, "FUTURE") == option.config.causal);
    CHECK(has(text, "FAR = ") == option.config.sliding_window.has_value());
    CHECK(has(text, "/ math.sqrt(HEAD_WIDTH)") == option.config.scaled);
    CHECK(has(text, "torch.rsqrt(y.square()") == option.config.qk_norm);
    CHECK(has(text, "LATENT, SHARED = ") == option.config.latent_width.has_value());
    CHECK(has(text, "BUCKETS") == (option.config.positions == TrainPositions::relative_bias));
    CHECK(has(text, "sinks = P[") == option.config.sink);
    CHECK(has(text, ".sigmoid()") == option.config.output_gate);
    CHECK(has(text, "def norm(") == option.config.norms);
    CHECK(has(text, "F.relu") == (option.config.activation == TrainActivation::relu));
    CHECK(has(text, "repeat_interleave") == (option.config.kv_heads < option.config.heads));
    CHECK(has(text, "begins as head 0") == option.config.heads_begin_equal);
    CHECK(text.starts_with("#!/usr/bin/env python3\n"));
    CHECK(text.ends_with("file=sys.stderr)\n"));
    for (const char* directive : {"#if", "#else", "#end"}) CHECK(!has(text, directive));
  }
}

TEST_CASE("every task that has a name has its rule in Python") {
  for (const TaskEntry& entry : task_entries()) {
    CAPTURE(std::string(entry.name));
    TaskSource source{.name = std::string(entry.name)};
    const TrainTask task = task_of(source);
    const std::string text = training_program(source, usual_settings(task), DType::f32, 9, "").text;
    CHECK_CONTAINS(text, "TASK = \"" + source.name + "\"\n");
    CHECK_CONTAINS(text, "def example(draws, split):");
    CHECK(text.find("def example(") == text.rfind("def example("));
    CHECK_CONTAINS(text, "else 9\n");
    CHECK_CONTAINS(text, "float32)");
  }
}

TEST_CASE("a program gets the file of its task beside it, and never takes the name of another file") {
  const TemporaryFolder folder;
  std::string book;
  for (int i = 0; i < 40; ++i) book += "to be or not to be ";
  const TaskSource source{.name = "file", .sizes = {.length = 8}, .file = folder.with_file("book.txt", book)};
  TaskSource opened = source;
  const TrainingSettings settings = usual_settings(task_of(opened));
  const std::string program = folder.file("hamlet.py"), data = folder.file("hamlet.txt");
  write_training_program(program, source, settings, DType::f32, 10);
  CHECK(content_of(data) == book);
  CHECK_CONTAINS(content_of(program), "DATA = \"hamlet.txt\"\n");
  write_training_program(program, source, settings, DType::f64, 10);
  CHECK_CONTAINS(content_of(program), "float64)");
  write_training_program(folder.file("book.py"), source, settings, DType::f32, 10);
  CHECK(content_of(folder.file("book.txt")) == book);
  folder.with_file("other.txt", "mine");
  CHECK_THROWS_AS(write_training_program(folder.file("other.py"), source, settings, DType::f32, 10), Error);
  CHECK(content_of(folder.file("other.txt")) == "mine");
  CHECK(!std::filesystem::exists(folder.file("other.py")));
}

}  // namespace headwise::test
