#include "core/train/task_tokenizer.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "core/files/json_text.h"
#include "core/model/tokenizer/unicode_text.h"

namespace headwise {
namespace {

constexpr const char* visible_space = "␣";

// text_task shows a space and the end of a line by signs of their own. Its tokens are in the order of their
// characters, so the first of two equal ones, or one at which only white space can stand, is the white space.
std::vector<std::string> character_pieces(const TrainTask& task) {
  std::vector<std::string> characters;
  std::int32_t before = -1;
  for (const std::string& shown : task.token_texts) {
    std::string character = shown;
    if (shown == "↵" && before < '\n') character = "\n";
    if (shown == visible_space && before < ' ') character = " ";
    before = code_point_at(character, 0).value;
    characters.push_back(std::move(character));
  }
  return characters;
}

std::string without_spaces(const std::string& word) {
  std::string text;
  for (std::size_t at = 0; at < word.size();) {
    const CodePoint point = code_point_at(word, at);
    text += is_white_space(point.value) ? visible_space : word.substr(at, point.bytes);
    at += point.bytes;
  }
  return text.empty() ? visible_space : text;
}

// By token.
std::vector<std::string> pieces_of(const TrainTask& task, bool by_character) {
  if (by_character) return character_pieces(task);
  std::vector<std::string> pieces;
  for (const std::string& word : task.token_texts) pieces.push_back(without_spaces(word));
  return pieces;
}

}  // namespace

std::string task_tokenizer_json(const TrainTask& task, bool by_character) {
  const std::vector<std::string> pieces = pieces_of(task, by_character);
  if (std::set<std::string_view>(pieces.begin(), pieces.end()).size() < pieces.size()) return "";
  std::string vocabulary;  // as text: an ordered object of 65,536 keys takes long
  for (std::size_t id = 0; id < pieces.size(); ++id)
    vocabulary +=
        (id == 0 ? "" : ",\n   ") + json_text(nlohmann::ordered_json(pieces[id])) + ": " + std::to_string(id);
  const std::string split =
      by_character
          ? R"({"type": "Split", "pattern": {"Regex": "[\\s\\S]"}, "behavior": "Isolated", "invert": false})"
          : R"({"type": "WhitespaceSplit"})";
  return R"({
 "version": "1.0",
 "truncation": null,
 "padding": null,
 "added_tokens": [],
 "normalizer": null,
 "pre_tokenizer": )" +
         split + R"(,
 "post_processor": null,
 "decoder": )" +
         (by_character ? R"({"type": "Fuse"})" : "null") + R"(,
 "model": {
  "type": "WordLevel",
  "vocab": {
   )" + vocabulary +
         R"(
  },
  "unk_token": "[UNK]"
 }
}
)";
}

std::string task_text(const TrainTask& task, bool by_character, std::span<const std::int32_t> tokens) {
  const std::vector<std::string> pieces = pieces_of(task, by_character);
  std::string text;
  for (const std::int32_t token : tokens)
    text += (text.empty() || by_character ? "" : " ") + pieces[static_cast<std::size_t>(token)];
  return text;
}

}  // namespace headwise
