// A text, character by character, as a task; and batches of any task.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "core/files/json_value.h"
#include "core/model/tokenizer/unicode_text.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/train/train_task.h"

namespace headwise {
namespace {

constexpr Index usual_length = 64;  // of a sequence
constexpr Index least_text =
    20;  // characters: two of them are held out, a sequence of one and what comes after it
constexpr Index most_characters = 65536;  // different ones: the largest vocabulary

std::vector<std::int32_t> characters_of(const std::string& text, const std::string& where) {
  if (looks_like_utf16(text))
    throw Error(ExitStatus::input, {where, "the text is UTF-16", "", "UTF-8", "save the file as UTF-8"});
  std::vector<std::int32_t> characters;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.value < 0)
      throw Error(ExitStatus::input, {where, "the text is not UTF-8", fmt::format("a wrong byte at {}", at),
                                      "UTF-8", "save the file as UTF-8"});
    characters.push_back(point.value);
    at += point.bytes;
  }
  return characters;
}

std::string text_of(std::int32_t character) {
  if (character == '\n') return "↵";
  if (character == ' ') return "␣";
  std::string text;
  append_code_point(text, character);
  return text;
}

}  // namespace

TrainTask text_task(const std::string& text, const std::string& where, std::optional<Index> wanted) {
  if (wanted && (*wanted < 1 || *wanted > 1024))
    throw Error(ExitStatus::usage,
                {"text", "the length is out of range", fmt::format("{}", *wanted), "1 to 1024", ""});
  const std::string enough = wanted
                                 ? fmt::format("{} or more for sequences of {}", 10 * (*wanted + 1), *wanted)
                                 : fmt::format("{} or more", least_text);
  if (text.empty())
    throw Error(ExitStatus::input,
                {where, "the text is empty, so there is nothing to learn", "0 characters", enough, ""});
  std::vector<std::int32_t> characters = characters_of(text, where);
  const std::set<std::int32_t> different(characters.begin(), characters.end());
  const Index count = std::ssize(characters), held_out = count / 10, cut = count - held_out;
  if (different.size() < 2 || std::ssize(different) > most_characters)
    throw Error(ExitStatus::input, {where, "there is nothing to predict in this text",
                                    fmt::format("{} different characters", different.size()),
                                    fmt::format("2 to {}", most_characters), ""});
  // A held-out sequence and the character after it.
  const Index length = wanted.value_or(std::clamp<Index>(held_out - 1, 1, usual_length));
  if (held_out <= length)
    throw Error(ExitStatus::input,
                {where, "the text is too short: a tenth of it is held out, and must be longer than a sequence",
                 fmt::format("{} characters", count), enough,
                 wanted ? "choose a longer text or shorter sequences" : "choose a longer text"});
  TrainTask task;
  task.name = "text";
  task.what =
      "Say the next character of a text: heads find what usually follows, and what stood there when the same "
      "characters came before.";
  task.layers = 2;
  task.vocabulary = std::ssize(different);
  task.length = length;
  if (!wanted && length < usual_length)
    task.note = fmt::format("The text is short, so its sequences have {}.", counted(length, "character"));
  for (const std::int32_t character : different) task.token_texts.push_back(text_of(character));
  for (std::int32_t& character : characters)
    character = static_cast<std::int32_t>(std::distance(different.begin(), different.find(character)));
  task.example = [tokens_of_text = std::make_shared<const std::vector<std::int32_t>>(std::move(characters)),
                  cut, length](TaskSplit split, std::uint64_t seed, Index number,
                               std::span<std::int32_t> tokens, std::span<std::int32_t> targets) {
    TaskDraws draws("text", split, seed, number);
    const Index begin = split == TaskSplit::training ? 0 : cut,
                end = split == TaskSplit::training ? cut : std::ssize(*tokens_of_text);
    const auto first = tokens_of_text->begin() + begin + draws.below(end - begin - length);
    std::copy_n(first, length, tokens.begin());
    std::copy_n(first + 1, length, targets.begin());
  };
  return task;
}

void fill_batch(const TrainTask& task, TaskSplit split, std::uint64_t seed, Index first, TrainBatch& batch) {
  batch.length = task.length;
  const auto length = static_cast<std::size_t>(task.length),
             count = static_cast<std::size_t>(batch.sequences) * length;
  batch.tokens.resize(count);
  batch.targets.resize(count);
  for (Index i = 0; i < batch.sequences; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * length;
    task.example(split, seed, first + i, std::span(batch.tokens).subspan(at, length),
                 std::span(batch.targets).subspan(at, length));
  }
}

}  // namespace headwise
