#include "core/train/train_task.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/tensor/error.h"
#include "core/train/training_run.h"
#include "tests/checks.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {
namespace {

struct TaskExample {
  std::vector<std::int32_t> tokens, targets;
  friend bool operator==(const TaskExample&, const TaskExample&) = default;
  friend auto operator<=>(const TaskExample&, const TaskExample&) = default;
};

TaskExample example_of(const TrainTask& task, Index number, TaskSplit split = TaskSplit::training,
                       std::uint64_t seed = 1) {
  const auto length = static_cast<std::size_t>(task.length);
  TaskExample example{std::vector<std::int32_t>(length, -7), std::vector<std::int32_t>(length, -7)};
  task.example(split, seed, number, example.tokens, example.targets);
  return example;
}

std::vector<TrainTask> all_tasks() {
  std::vector<TrainTask> all;
  for (const TaskEntry& entry : task_entries()) all.push_back(named_task(std::string(entry.name)));
  std::string text;
  for (int i = 0; i < 100; ++i) text += "Der Käfer läuft über den Weg, und ";
  all.push_back(text_task(text, "text.txt", 20));
  return all;
}

// Calls f(tokens, targets, position) for the counted positions of some examples.
template <class F>
void for_counted(const TrainTask& task, F&& f) {
  for (Index number = 0; number < 200; ++number) {
    const TaskExample example = example_of(task, number);
    Index counted = 0;
    for (Index i = 0; i < task.length; ++i) {
      if (example.targets[static_cast<std::size_t>(i)] < 0) continue;
      ++counted;
      f(example.tokens, example.targets, static_cast<std::size_t>(i));
    }
    CHECK(counted > 0);
  }
}

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

TEST_CASE("every task draws tokens and targets of its vocabulary, each of which has a text") {
  for (const TrainTask& task : all_tasks()) {
    CAPTURE(task.name);
    CHECK(std::ssize(task.token_texts) == task.vocabulary);
    CHECK(std::set(task.token_texts.begin(), task.token_texts.end()).size() == task.token_texts.size());
    CHECK(task.what.ends_with("."));
    std::set<std::int32_t> seen;
    for (const TaskSplit split : {TaskSplit::training, TaskSplit::held_out})
      for (Index number = 0; number < 300; ++number) {
        const TaskExample example = example_of(task, number, split);
        for (const std::int32_t token : example.tokens) {
          REQUIRE((token >= 0 && token < task.vocabulary));
          seen.insert(token);
        }
        for (const std::int32_t target : example.targets) {
          REQUIRE((target >= -1 && target < task.vocabulary));
          seen.insert(target);
        }
      }
    seen.erase(-1);
    CHECK(std::ssize(seen) == task.vocabulary);
  }
}

TEST_CASE("an example is the same whenever it is drawn, and another one of another number, seed and split") {
  for (const TrainTask& task : all_tasks()) {
    CAPTURE(task.name);
    CHECK(example_of(task, 5) == example_of(task, 5));
    const auto differs = [&](auto&& other) {
      Index different = 0;
      for (Index number = 0; number < 50; ++number) different += example_of(task, number) != other(number);
      return different > 25;
    };
    CHECK(differs([&](Index n) { return example_of(task, n + 1); }));
    CHECK(differs([&](Index n) { return example_of(task, n, TaskSplit::training, 2); }));
    CHECK(differs([&](Index n) { return example_of(task, n, TaskSplit::held_out); }));
  }
}

TEST_CASE("induction asks for what came after the same token before, and only where there is one") {
  const TrainTask task = named_task("induction");
  std::set<Index> distances;
  for (Index number = 0; number < 200; ++number) {
    const auto [tokens, targets] = example_of(task, number);
    std::map<std::int32_t, std::int32_t> after;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto before = after.find(tokens[i]);
      CHECK(targets[i] == (before == after.end() ? -1 : before->second));
      if (targets[i] < 0) distances.insert(static_cast<Index>(i));
      if (i + 1 < tokens.size()) {
        if (targets[i] >= 0) CHECK(tokens[i + 1] == targets[i]);
        after[tokens[i]] = tokens[i + 1];
      }
    }
  }
  CHECK(distances.size() > 4);
}

TEST_CASE("the answers of the other tasks are those that their sentences say") {
  for_counted(named_task("previous-token"),
              [](auto& tokens, auto& targets, std::size_t i) { CHECK(targets[i] == tokens[i - 1]); });
  const auto answers_of = [](auto& tokens, auto& targets) {
    const auto half = static_cast<std::ptrdiff_t>(tokens.size() / 2);
    CHECK(std::equal(tokens.begin() + half + 1, tokens.end(), targets.begin() + half));
    return std::pair(std::vector<std::int32_t>(tokens.begin(), tokens.begin() + half),
                     std::vector<std::int32_t>(targets.begin() + half, targets.end()));
  };
  for_counted(named_task("reverse"), [&](auto& tokens, auto& targets, std::size_t) {
    auto [given, answers] = answers_of(tokens, targets);
    std::ranges::reverse(given);
    CHECK(given == answers);
  });
  for_counted(named_task("sort"), [&](auto& tokens, auto& targets, std::size_t) {
    auto [given, answers] = answers_of(tokens, targets);
    std::ranges::sort(given);
    CHECK(given == answers);
  });
  for_counted(named_task("brackets"), [](auto& tokens, auto& targets, std::size_t i) {
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    CHECK(targets[i] - 2 == std::count(tokens.begin(), end, 0) - std::count(tokens.begin(), end, 1));
  });
  for_counted(named_task("modular-addition"), [](auto& tokens, auto& targets, std::size_t i) {
    CHECK(i == 2);
    CHECK(targets[i] == (tokens[0] + tokens[1]) % 31);
  });
  for_counted(
      named_task("majority", {.length = 16, .symbols = 3}), [](auto& tokens, auto& targets, std::size_t i) {
        const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        for (std::int32_t letter = 0; letter < 3; ++letter)
          if (letter != targets[i])
            CHECK(std::count(tokens.begin(), end, letter) < std::count(tokens.begin(), end, targets[i]));
      });
  for_counted(named_task("lookup"), [](auto& tokens, auto& targets, std::size_t i) {
    CHECK(i >= 12);
    const auto key = std::find(tokens.begin(), tokens.begin() + 12, tokens[i]);
    CHECK((key - tokens.begin()) % 2 == 0);
    CHECK(*(key + 1) == targets[i]);
    CHECK(tokens[i + 1] == targets[i]);
  });
}

TEST_CASE("modular addition holds out pairs that are never trained on") {
  const TrainTask task = named_task("modular-addition", {.symbols = 7});
  std::set<TaskExample> trained, held_out;
  for (Index number = 0; number < 1000; ++number) {
    trained.insert(example_of(task, number));
    held_out.insert(example_of(task, number, TaskSplit::held_out));
  }
  CHECK(trained.size() + held_out.size() == 49);
  CHECK(held_out.size() > 5);
  for (const TaskExample& example : held_out) CHECK(!trained.contains(example));
}

TEST_CASE("a text holds out its last tenth, and each character is asked for at the one before") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>('a' + i % 10);
  text.replace(900, 100, std::string(50, 'x') + std::string(50, 'y'));
  const TrainTask task = text_task(text, "abc.txt", 8);
  CHECK(task.vocabulary == 12);
  for (Index number = 0; number < 100; ++number) {
    const TaskExample trained = example_of(task, number),
                      held_out = example_of(task, number, TaskSplit::held_out);
    CHECK(std::equal(trained.tokens.begin() + 1, trained.tokens.end(), trained.targets.begin()));
    for (const std::int32_t token : trained.tokens) CHECK(token < 10);
    for (const std::int32_t token : held_out.tokens) CHECK(token >= 10);
  }
  CHECK(task.token_texts[10] == "x");
}

TEST_CASE("a short text is learned in the longest sequences that fit, and says so") {
  const auto of_length = [](Index count) {
    std::string text;
    for (Index i = 0; i < count; ++i) text += static_cast<char>('a' + i % 7);
    return text;
  };
  for (const auto& [count, length] : {std::pair{20, 1}, {29, 1}, {30, 2}, {240, 23}, {649, 63}}) {
    const TrainTask task = text_task(of_length(count), "short.txt");
    CHECK(task.length == length);
    CHECK_CONTAINS(task.note, "sequences have " + std::to_string(length) + " character");
    const TaskExample held_out = example_of(task, 3, TaskSplit::held_out);
    CHECK(std::ssize(held_out.tokens) == length);
  }
  for (const Index count : {650, 651, 5000}) {
    const TrainTask task = text_task(of_length(count), "long.txt");
    CHECK(task.length == 64);
    CHECK(task.note.empty());
  }
  // A length that was asked for is not changed.
  CHECK_THROWS_AS(text_task(of_length(240), "short.txt", 24), Error);
  CHECK(text_task(of_length(240), "short.txt", 23).note.empty());
  CHECK_THROWS_AS(text_task(of_length(19), "short.txt"), Error);
}

TEST_CASE("a batch has the examples from its first on") {
  const TrainTask task = named_task("sort");
  TrainBatch batch{.sequences = 3};
  fill_batch(task, TaskSplit::training, 1, 40, batch);
  CHECK(batch.length == 16);
  for (Index i = 0; i < 3; ++i) {
    const TaskExample example = example_of(task, 40 + i);
    CHECK(std::equal(example.tokens.begin(), example.tokens.end(), batch.tokens.begin() + i * 16));
    CHECK(std::equal(example.targets.begin(), example.targets.end(), batch.targets.begin() + i * 16));
  }
}

TEST_CASE("a task that does not exist, is too small or has no text to learn is refused in one sentence") {
  const auto refused = [](auto&& make, const char* begins) {
    const ExitStatus status = std::string(begins).starts_with("task") ? ExitStatus::usage : ExitStatus::input;
    const std::string line = refusal_line(make, status);
    CHECK_MESSAGE(line.starts_with(begins), line);
  };
  refused([] { named_task("chess"); }, "task");
  refused([] { named_task("induction", {.length = 3}); }, "task induction");
  refused([] { named_task("reverse", {.length = 7}); }, "task reverse");
  refused([] { named_task("lookup", {.length = 24, .symbols = 5}); }, "task lookup");
  refused([] { named_task("majority", {.symbols = 27}); }, "task majority");
  refused([] { text_task(std::string(1000, 'a'), "a.txt", 8); }, "a.txt");
  refused([] { text_task("", "a.txt", 8); }, "a.txt");
  refused([] { text_task("too short", "a.txt", 8); }, "a.txt");
  refused([] { text_task("\xff\xfe", "a.txt", 8); }, "a.txt");
}

TEST_CASE(
    "the question after a sentence asks for the noun that its adjective speaks of, which stands before it") {
  const TrainTask task = named_task("it-and-the-noun");
  std::map<std::string, std::set<bool>> of_subject;  // by adjective and verb
  std::string first;
  Index subjects = 0;
  for (Index number = 0; number < 1000; ++number) {
    const auto [tokens, targets] = example_of(task, number);
    std::vector<std::string> words;
    for (const std::int32_t token : tokens)
      words.push_back(task.token_texts[static_cast<std::size_t>(token)]);
    for (std::size_t i = 0; i + 1 < targets.size(); ++i) CHECK(targets[i] == -1);
    const bool subject = targets.back() == tokens[1];
    CHECK((subject || targets.back() == tokens[6]));
    CHECK(tokens[1] != tokens[6]);
    subjects += subject;
    CHECK(words[8] == "it");
    CHECK(words.back() == "?");
    // Whether "fast" speaks of the one or the other depends on the sentence, but never on the nouns.
    of_subject[words[11] + " " + words[4]].insert(subject);
    if (number == 0)
      for (const std::string& word : words) first += word + " ";
  }
  for (const auto& [adjective, answers] : of_subject) CHECK_MESSAGE(answers.size() == 1, adjective);
  CHECK((subjects > 400 && subjects < 600));
  CHECK(first.starts_with("the "));
  CHECK(of_subject.at("tired cross") == std::set{true});
  CHECK(of_subject.at("wide cross") == std::set{false});
  CHECK(of_subject.at("small fit") == std::set{false});
}

TEST_CASE("no pair of nouns that is asked for on held-out sentences is trained on, but each noun is") {
  for (const Index nouns : {4, 12}) {
    const TrainTask task = named_task("it-and-the-noun", {.length = std::nullopt, .symbols = nouns});
    std::set<std::pair<std::int32_t, std::int32_t>> trained, held_out;
    std::set<std::int32_t> subjects, objects;
    for (Index number = 0; number < 5000; ++number) {
      const TaskExample example = example_of(task, number),
                        other = example_of(task, number, TaskSplit::held_out);
      trained.insert({example.tokens[1], example.tokens[6]});
      held_out.insert({other.tokens[1], other.tokens[6]});
      subjects.insert(example.tokens[1]);
      objects.insert(example.tokens[6]);
    }
    for (const auto& pair : held_out) CHECK(!trained.contains(pair));
    CHECK(std::ssize(held_out) > 3);
    CHECK(std::ssize(subjects) == 2 * nouns);
    CHECK(std::ssize(objects) == 3 * nouns);
  }
}

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
