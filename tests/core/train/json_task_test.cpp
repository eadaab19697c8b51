#include <algorithm>
#include <set>

#include "core/tensor/error.h"
#include "core/train/training_run.h"
#include "tests/checks.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {
namespace {

constexpr const char* capitals =
    R"({"headwise_task": 1, "name": "capitals", "what": "Say the capital.", "examples": [
  {"tokens": ["France", "?"], "targets": [null, "Paris"]}, {"tokens": ["Italy", "?"], "targets": [null, "Rome"]},
  {"tokens": ["say", "Spain", "?"], "targets": [null, null, "Madrid"]}],
  "held_out": [{"tokens": ["say", "Italy", "?"], "targets": [null, null, "Rome"]}]})";

std::vector<std::string> words_of_example(const TrainTask& task, TaskSplit split, Index number) {
  const auto length = static_cast<std::size_t>(task.length);
  std::vector<std::int32_t> tokens(length), targets(length);
  task.example(split, 1, number, tokens, targets);
  std::vector<std::string> words;
  for (const std::int32_t token : tokens) words.push_back(task.token_texts[static_cast<std::size_t>(token)]);
  for (const std::int32_t target : targets)
    words.push_back(target < 0 ? "" : task.token_texts[static_cast<std::size_t>(target)]);
  return words;
}

std::string json_task_refusal(const std::string& text) {
  return test::refusal_line([&] { json_task(text, "task.json"); });
}

}  // namespace

TEST_CASE("a task in JSON has the examples that are written there, and holds out those that it says") {
  const TrainTask task = json_task(capitals, "capitals.json");
  CHECK(task.name == "capitals");
  CHECK(task.length == 3);
  CHECK(task.layers == 1);
  CHECK(task.vocabulary == 9);  // with (end)
  std::set<std::vector<std::string>> trained;
  for (Index number = 0; number < 50; ++number)
    trained.insert(words_of_example(task, TaskSplit::training, number));
  CHECK(trained == std::set<std::vector<std::string>>{{"France", "?", "(end)", "", "Paris", ""},
                                                      {"Italy", "?", "(end)", "", "Rome", ""},
                                                      {"say", "Spain", "?", "", "", "Madrid"}});
  CHECK(words_of_example(task, TaskSplit::held_out, 3) ==
        std::vector<std::string>{"say", "Italy", "?", "", "", "Rome"});
}

TEST_CASE("without targets each token asks for the next, and without held-out examples every fifth is") {
  std::string text = R"({"headwise_task": 1, "name": "n", "what": "w", "layers": 3, "examples": [)";
  for (int i = 0; i < 10; ++i)
    text += std::string(i ? "," : "") + R"({"tokens": ["a", "b", "t)" + std::to_string(i) + "\"]}";
  const TrainTask task = json_task(text + "]}", "n.json");
  CHECK(task.layers == 3);
  std::set<std::string> trained, held_out;
  for (Index number = 0; number < 200; ++number) {
    trained.insert(words_of_example(task, TaskSplit::training, number)[2]);
    const std::vector<std::string> words = words_of_example(task, TaskSplit::held_out, number);
    held_out.insert(words[2]);
    CHECK(words == std::vector<std::string>{"a", "b", words[2], "b", words[2], ""});
  }
  CHECK(trained.size() == 8);
  CHECK(held_out == std::set<std::string>{"t4", "t9"});
}

TEST_CASE("a task in JSON is learned like any other") {
  const TrainTask task = json_task(capitals, "capitals.json");
  TrainingRun<float> run(task, two_head_settings(task, 8, 0.0));
  double first = 0.0, last = 0.0;
  for (int i = 0; i < 60; ++i) {
    last = run.take_step().value().batch.loss;
    if (i == 0) first = last;
  }
  CHECK(last < 0.1 * first);
}

TEST_CASE("a task in JSON that says nothing to learn is refused in one sentence that names the place") {
  CHECK(json_task_refusal(capitals).empty());
  const auto refused = [](const std::string& text, const char* part) {
    const std::string line = json_task_refusal(text);
    CHECK_MESSAGE(line.starts_with("task.json"), line);
    CHECK_CONTAINS(line, part);
  };
  const auto with = [](const std::string& more) {
    return R"({"headwise_task": 1, "name": "n", "what": "w", )" + more + "}";
  };
  refused("", "");
  refused("[1]", "no task");
  refused("{\"a\": 1", "");
  refused(R"({"headwise_task": 2, "name": "n", "what": "w"})", "headwise_task");
  refused(R"({"headwise_task": 1, "what": "w"})", "name");
  refused(with(R"("examples": [])"), "examples");
  refused(with(R"("examples": [{"tokens": ["a", "b"]}])"), "examples");
  refused(with(R"("colour": 1)"), "colour");
  refused(with(R"("layers": 5)"), "layers");
  refused(with(R"("examples": [{"tokens": []}])"), "examples[0].tokens");
  refused(with(R"("examples": [{"tokens": ["a", 7]}])"), "examples[0].tokens");
  refused(with(R"("examples": [{"tokens": ["a", "b"], "targets": ["a"]}])"), "examples[0].targets");
  refused(with(R"("examples": [{"tokens": ["a", "b"], "targets": ["a", 1]}])"), "examples[0].targets");
  refused(with(R"("examples": [{"tokens": ["a", "b"], "target": ["a", null]}])"), "unknown key \"target\"");
  refused(
      with(R"("examples": [{"tokens": ["a", "b"], "targets": [null, null]}], "held_out": [{"tokens": ["a", "b"]}])"),
      "examples");
  refused(with(R"("examples": [{"tokens": ["a", "a"]}], "held_out": [{"tokens": ["a", "a"]}])"),
          "nothing to predict");
}

}  // namespace headwise::test
