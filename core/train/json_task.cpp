// A task in a JSON file: examples written out, in words.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/files/json_value.h"
#include "core/tensor/error.h"
#include "core/train/train_task.h"

namespace headwise {
namespace {

constexpr JsonFormat task_format{.limits = {.levels = 8, .values = 5'000'000, .keys = 100}};
constexpr std::size_t most_task_tokens = 65536, longest_example = 1024;
constexpr const char* end_token = "(end)";  // fills the examples that are shorter than the longest
constexpr std::size_t held_out_every = 5;   // where the file does not say which examples are held out

// Tokens of an example, and what is asked for at each; −1: nothing.
struct WrittenExample {
  std::vector<std::int32_t> tokens, targets;
};
using WrittenExamples = std::vector<WrittenExample>;

class TaskReader {
 public:
  explicit TaskReader(std::string where) : where_(std::move(where)) {}

  TrainTask read(const std::string& text) {
    const Json parsed = parse_json(text, where_, task_format);
    const JsonValue json(parsed, where_, task_format);
    if (!json.contains("headwise_task"))
      json.refuse_got("this is no task of Headwise", "", "an object with \"headwise_task\": 1");
    json.only({"headwise_task", "name", "what", "layers", "examples", "held_out"},
              "headwise_task, name, what, layers, examples, held_out");
    if (json["headwise_task"].json() != 1) json["headwise_task"].refuse("this version is not known", "1");
    TrainTask task;
    task.name = word_of(json.needed("name"));
    task.what = word_of(json.needed("what"));
    if (json.contains("layers")) task.layers = json["layers"].integer(1, 4);
    WrittenExamples training = examples_of(json["examples"]), held_out;
    if (json.contains("held_out")) {
      held_out = examples_of(json["held_out"]);
    } else {
      split(training, held_out);
    }
    finish(task, std::move(training), std::move(held_out));
    return task;
  }

 private:
  [[noreturn]] void wrong(const std::string& key, const std::string& what, const std::string& got,
                          const std::string& expected) const {
    throw Error(ExitStatus::input, {where_ + ": " + key, what, got, expected, ""});
  }

  static std::string word_of(const JsonValue& value) {
    std::string word = value.text();
    if (word.empty()) value.refuse("the text is empty", "a text");
    return word;
  }

  std::int32_t token_of(const std::string& word) {
    const auto [found, is_new] = numbers_.try_emplace(word, static_cast<std::int32_t>(words_.size()));
    if (is_new) words_.push_back(word);
    if (words_.size() > most_task_tokens)
      wrong("examples", "there are too many different tokens", "", fmt::format("at most {}", most_task_tokens));
    return found->second;
  }

  WrittenExamples examples_of(const JsonValue& list) {
    if (!list.json().is_array() || list.json().empty())
      list.refuse_got("there are no examples", "", "a list of one or more");
    WrittenExamples examples;
    list.each([&](const JsonValue& item) { examples.push_back(example_of(item)); }, true);
    return examples;
  }

  // Without "targets" each token asks for the next.
  WrittenExample example_of(const JsonValue& json) {
    if (!json.contains("tokens"))
      json.refuse_got("this is no example", "", "{\"tokens\": […], \"targets\": […]}");
    json.only({"tokens", "targets"}, "tokens and targets");
    WrittenExample example;
    const JsonValue tokens = json["tokens"], targets = json["targets"];
    const std::size_t count = tokens.json().size();
    if (!tokens.json().is_array() || count == 0 || count > longest_example)
      tokens.refuse_got("the number of tokens is out of range", fmt::format("{}", count),
                        fmt::format("a list of 1 to {}", longest_example));
    tokens.each([&](const JsonValue& token) { example.tokens.push_back(token_of(token.text())); });
    if (!json.contains("targets")) {
      example.targets.assign(example.tokens.begin() + 1, example.tokens.end());
      example.targets.push_back(-1);
      return example;
    }
    if (!targets.json().is_array() || targets.json().size() != count)
      targets.refuse_got("each token needs a target, or null where none is asked for",
                         fmt::format("{} targets", targets.json().size()), fmt::format("{}", count));
    targets.each([&](const JsonValue& target) {
      example.targets.push_back(target.json().is_null() ? -1 : token_of(target.text("a string or null")));
    });
    return example;
  }

  // Holds every fifth example out.
  void split(WrittenExamples& training, WrittenExamples& held_out) const {
    if (training.size() < held_out_every)
      wrong("examples", "there are too few examples to hold one of five out",
            fmt::format("{}", training.size()), fmt::format("{} or more, or held_out", held_out_every));
    WrittenExamples kept;
    for (std::size_t i = 0; i < training.size(); ++i)
      (i % held_out_every == held_out_every - 1 ? held_out : kept).push_back(std::move(training[i]));
    training = std::move(kept);
  }

  void finish(TrainTask& task, WrittenExamples training, WrittenExamples held_out) {
    std::size_t longest = 0, shortest = longest_example;
    for (const WrittenExamples* of : {&training, &held_out}) {
      bool asks = false;
      for (const WrittenExample& example : *of) {
        longest = std::max(longest, example.tokens.size());
        shortest = std::min(shortest, example.tokens.size());
        asks = asks || std::ranges::any_of(example.targets, [](std::int32_t target) { return target >= 0; });
      }
      if (!asks)
        wrong(of == &training ? "examples" : "held_out", "no target is asked for", "",
              "one or more that is not null");
    }
    if (shortest < longest) {
      const std::int32_t end = token_of(end_token);
      for (WrittenExamples* of : {&training, &held_out})
        for (WrittenExample& example : *of) {
          example.tokens.resize(longest, end);
          example.targets.resize(longest, -1);
        }
    }
    if (words_.size() < 2)
      wrong("examples", "there is nothing to predict", fmt::format("{} different tokens", words_.size()),
            "2 or more");
    task.length = static_cast<Index>(longest);
    task.vocabulary = std::ssize(words_);
    task.token_texts = std::move(words_);
    task.example = [name = task.name, training = std::make_shared<const WrittenExamples>(std::move(training)),
                    held_out = std::make_shared<const WrittenExamples>(std::move(held_out))](
                       TaskSplit split, std::uint64_t seed, Index number, std::span<std::int32_t> tokens,
                       std::span<std::int32_t> targets) {
      TaskDraws draws(name, split, seed, number);
      const WrittenExamples& of = split == TaskSplit::training ? *training : *held_out;
      const WrittenExample& example = of[static_cast<std::size_t>(draws.below(std::ssize(of)))];
      std::ranges::copy(example.tokens, tokens.begin());
      std::ranges::copy(example.targets, targets.begin());
    };
  }

  std::string where_;
  std::vector<std::string> words_;
  std::map<std::string, std::int32_t> numbers_;
};

}  // namespace

TrainTask json_task(const std::string& text, const std::string& where) {
  return TaskReader(where).read(text);
}

}  // namespace headwise
