// A homework: what a reader answered to the questions of a lesson, as the lesson's page saves it to hand in.
//
//   { "headwise_homework": 1, "lesson": "One word through the layer", "name": "Ada", "saved": "2026-11-28T16:40:00Z",
//     "answers": [ { "page": 4, "title": "4  Scores", "kind": "cell", "given": [8, 7], "right": true } ] }
//
//   lesson   the title of the playlist
//   name     what the reader typed; may be missing, as saved may
//   page     counted from 1; of several answers to a page the last one counts
//   title    of the page, and its kind of answer: they tell whether the lesson still asks the same
//   given    of a number or a shape what was typed, "1/8"; of a choice the option, counted from 1; of a
//            tensor its name; of a head its number; of a cell [row, column]; of weights a list of them; of a
//            mask the blocked pairs, [[row, column], …]; null where the answer was only shown
//   right    what the page said. It is not believed, and may be missing
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lessons/given_answer.h"
#include "core/lessons/live_value.h"
#include "core/lessons/playlist.h"

namespace headwise {

// An answer as it is written: a text, or numbers, of a mask the rows and columns in turn.
struct WrittenAnswer {
  std::string text;
  std::vector<double> numbers;
};

struct HomeworkAnswer {
  std::size_t page = 0;  // counted from 0
  std::string title;     // as it is written
  AnswerKind kind = AnswerKind::number;
  std::optional<WrittenAnswer> given;  // none: the answer was only shown
};

struct Homework {
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;  // of a file

  std::string lesson, name, saved;  // the last two are fit to be printed on one line, the first as it is written
  std::vector<HomeworkAnswer> answers;  // in the order of pages, one for each
};

// Throws Error(input), one sentence that begins with `where`: malformed JSON, another version, a key that is
// missing or unknown, an answer of another form than its kind has.
Homework homework_from_json(std::string_view json, const std::string& where);
// The same for a file of at most most_bytes.
Homework read_homework_file(const std::string& path);

// A question of the lesson that is answered, with its key and the numbers of its page.
struct AnsweredQuestion {
  const PageAnswer& answer;
  const AnswerKey& key;
  const LiveSubject& subject;

  // What was given there. nullopt for what the page cannot mean: a text that is no number, an option that it
  // does not have, a row of zeros, a pair outside its map.
  std::optional<GivenAnswer> given(const WrittenAnswer& written) const;
};

// Whether the page asks what the answer is to: a question of its title and kind.
bool asks_for(const PlaylistPage& page, const HomeworkAnswer& answer);

}  // namespace headwise
