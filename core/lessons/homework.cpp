#include "core/lessons/homework.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/export/label_text.h"
#include "core/files/input_file.h"
#include "core/lessons/given_kinds.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

// A mask is the deepest: { answers: [ { given: [ [row, column] ] } ] }. What is counted as values begins or
// ends at a byte of its own.
const JsonFormat homework_format{.limits = {.levels = 5, .values = Homework::most_bytes, .keys = 8}};

// Fit to be printed on one line.
std::string clean_text(const JsonValue& value) {
  const std::string text = printable(value.text());
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

HomeworkAnswer homework_answer(const JsonValue& json) {
  json.object("an answer").only({"page", "title", "kind", "given", "right"});
  HomeworkAnswer answer;
  answer.page = static_cast<std::size_t>(json.needed("page").integer(1, Playlist::most_pages)) - 1;
  answer.title = json.needed("title").text();
  json.needed("kind").read(answer.kind, answer_kind_names());
  const JsonValue given = json["given"];
  if (!json.contains("given")) given.refuse_got("the key is missing", "", "what was given, or null");
  if (json.has("given")) answer.given = given_kind(answer.kind).written(given);
  return answer;
}

}  // namespace

Homework homework_from_json(std::string_view text, const std::string& where) {
  const Json tree = parse_json(text, where, homework_format);
  const JsonValue json(tree, where, homework_format);
  json.object("a homework, as a lesson's page saves it").needed("headwise_homework", "1").integer(1, 1);
  json.only({"headwise_homework", "lesson", "name", "saved", "answers"});
  Homework homework;
  homework.lesson = json.needed("lesson").text();
  if (json.has("name")) homework.name = clean_text(json["name"]);
  if (json.has("saved")) homework.saved = clean_text(json["saved"]);
  std::map<std::size_t, HomeworkAnswer> answers;
  json.needed("answers")
      .list("a list of answers")
      .each(
          [&](const JsonValue& one) {
            HomeworkAnswer answer = homework_answer(one);
            answers.insert_or_assign(answer.page, std::move(answer));
          },
          true);
  for (auto& [page, answer] : answers) homework.answers.push_back(std::move(answer));
  return homework;
}

Homework read_homework_file(const std::string& path) {
  const InputFile file(path);
  if (file.size() > Homework::most_bytes)
    refuse_input(path, "the file is too large for a homework", bytes_text(static_cast<Index>(file.size())),
                 "at most " + bytes_text(Homework::most_bytes));
  return homework_from_json(file.read_text(0, file.size()), path);
}

bool asks_for(const PlaylistPage& page, const HomeworkAnswer& answer) {
  return page.answer && page.answer->kind == answer.kind && page.title == answer.title;
}

}  // namespace headwise
