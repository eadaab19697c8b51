// headwise grade: what a class answered to the questions of a lesson, from the homework that its page saves.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/playlist_argument.h"
#include "app/cli/report.h"
#include "app/cli/standard_streams.h"
#include "app/session/answer_check.h"
#include "core/export/label_text.h"
#include "core/export/table.h"
#include "core/files/atomic_file.h"
#include "core/files/input_file.h"
#include "core/lessons/given_answer.h"
#include "core/lessons/homework.h"
#include "core/lessons/lessons.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t most_answers = 100'000;  // of all files
constexpr std::size_t most_title_bytes = 60, most_wrong_bytes = 80, most_name_bytes = 200;

// What became of a question in a homework.
enum class Mark { none, shown, wrong, right };

struct GradedQuestion {
  std::size_t page = 0;  // counted from 0
  std::string title, kind;
  std::size_t answers = 0, right = 0, shown = 0;
  std::map<std::string, std::size_t> wrong;  // how often each wrong answer was given

  std::optional<double> share() const {
    if (answers == 0) return {};
    return static_cast<double>(right) / static_cast<double>(answers);
  }
  // The most frequent; of several the first by its letters. Without any: none.
  std::pair<std::string, std::size_t> favourite_wrong() const {
    const auto most = std::ranges::max_element(wrong, {}, [](const auto& each) { return each.second; });
    if (most == wrong.end()) return {};
    return {most->first, most->second};
  }
};

struct Student {
  std::string file;
  Homework homework;
  std::vector<Mark> marks = {};  // one for each question

  std::size_t count(std::initializer_list<Mark> of) const {
    std::size_t count = 0;
    for (const Mark mark : of) count += static_cast<std::size_t>(std::ranges::count(marks, mark));
    return count;
  }
  std::size_t right() const { return count({Mark::right}); }
  std::size_t answered() const { return count({Mark::right, Mark::wrong}); }
  double share() const { return static_cast<double>(right()) / static_cast<double>(marks.size()); }
};

struct Grades {
  std::string lesson;
  std::vector<GradedQuestion> questions;
  std::vector<Student> students;
  std::vector<std::pair<std::string, Error>> broken;  // files that were not graded, and why

  // Each is one line on stderr; the last one ends the command.
  void refuse_broken() const {
    for (std::size_t i = 0; i + 1 < broken.size(); ++i) print_error(broken[i].second.what());
    if (!broken.empty()) throw broken.back().second;
  }
};

struct GradeRequest {
  std::vector<std::string> files;  // homework, and a playlist may be among them
  std::string lesson, by = "question", output;
  bool csv = false, json = false, strict = false;
};

// A lesson as it is named: a file, or one of the built-in ones.
struct NamedLesson {
  std::string name;
  Playlist playlist;
};

void read_students(const GradeRequest& request, Grades& grades) {
  std::size_t answers = 0;
  for (const std::string& file : request.files) {
    try {
      grades.students.push_back({file, read_homework_file(file)});
    } catch (const Error& error) {
      if (error.status() != ExitStatus::input) throw;
      grades.broken.emplace_back(file, error);
      continue;
    }
    answers += grades.students.back().homework.answers.size();
    if (answers > most_answers)
      refuse_option("FILES", "there are too many answers for one table", file,
                    fmt::format("at most {} of all files", count_cell("", most_answers).words.value()),
                    "grade a part of the files");
  }
}

// The title that most of them have.
std::string title_of_homework(const std::vector<Student>& students) {
  std::map<std::string, std::size_t> counts;
  for (const Student& student : students) ++counts[student.homework.lesson];
  return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
}

NamedLesson lesson_of(const std::string& named, const std::vector<Student>& students) {
  if (!named.empty()) return {named, playlist_named(named)};
  const std::string title = title_of_homework(students);
  for (const Lesson& lesson : lessons())
    if (lesson_playlist(lesson.name).title == title)
      return {std::string(lesson.name), lesson_playlist(lesson.name)};
  const auto of_title = std::ranges::find(
      students, title, [](const Student& student) -> const std::string& { return student.homework.lesson; });
  throw Error(ExitStatus::usage, {.where = of_title->file,
                                  .what = "no built-in lesson has the title of this homework's",
                                  .got = title,
                                  .expected = "a lesson to grade by",
                                  .remedy = "name its playlist with --lesson FILE"});
}

// Of a homework of another lesson none of the answers has its question in this one.
void leave_out_others(const NamedLesson& lesson, Grades& grades) {
  const std::vector<PlaylistPage>& pages = lesson.playlist.pages;
  std::vector<Student> kept;
  for (Student& student : grades.students) {
    const std::vector<HomeworkAnswer>& answers = student.homework.answers;
    const bool fits = answers.empty() || std::ranges::any_of(answers, [&](const HomeworkAnswer& answer) {
                        return answer.page < pages.size() && asks_for(pages[answer.page], answer);
                      });
    if (fits) {
      kept.push_back(std::move(student));
      continue;
    }
    grades.broken.emplace_back(
        student.file,
        Error(ExitStatus::input, {.where = student.file,
                                  .what = "none of its answers is to a question of this lesson",
                                  .got = "homework of “" + student.homework.lesson + "”",
                                  .expected = fmt::format("“{}” ({})", lesson.playlist.title, lesson.name),
                                  .remedy = "grade the homework of each lesson by itself"}));
  }
  grades.students = std::move(kept);
}

std::string kind_word(AnswerKind kind) {
  return std::string(answer_kind_names()[static_cast<std::size_t>(kind)]);
}

std::string asked_words(const std::string& title, AnswerKind kind) {
  return fmt::format("“{}” ({})", one_line(title, most_title_bytes), kind_word(kind));
}

// The answer of a homework to a page; null if it has none.
const HomeworkAnswer* answer_to(const Student& student, std::size_t page) {
  const std::vector<HomeworkAnswer>& answers = student.homework.answers;
  const auto found = std::ranges::find(answers, page, &HomeworkAnswer::page);
  return found == answers.end() ? nullptr : &*found;
}

// Answers to what the lesson no longer asks: a warning for each such page, of the first file that has one.
void warn_of_others(const NamedLesson& lesson, const std::vector<Student>& students, Warnings& warnings) {
  const std::vector<PlaylistPage>& pages = lesson.playlist.pages;
  struct Other {
    const HomeworkAnswer* answer;
    const Student* student;
    std::size_t count = 0;
  };
  std::map<std::size_t, Other> others;
  for (const Student& student : students)
    for (const HomeworkAnswer& answer : student.homework.answers)
      if (answer.page >= pages.size() || !asks_for(pages[answer.page], answer))
        ++others.try_emplace(answer.page, Other{&answer, &student}).first->second.count;
  for (const auto& [page, other] : others) {
    const bool asks = page < pages.size() && pages[page].answer;
    warnings.add(fmt::format(
        "page {} asks something else in this lesson, so {} not judged: got {}, in {}; expected {}", page + 1,
        other.count == 1 ? "an answer is" : fmt::format("{} answers are", other.count),
        asked_words(other.answer->title, other.answer->kind), one_line(other.student->file, most_title_bytes),
        asks ? asked_words(pages[page].title, pages[page].answer->kind) : "no question"));
  }
}

// What was given, and cannot be an answer on its page.
std::string odd_words(const WrittenAnswer& written) {
  return written.text.empty() ? "what the page does not offer"
                              : fmt::format("“{}”", one_line(printable(written.text), most_title_bytes));
}

// Judges the answers of all to one question, as its key says and not as their files do.
void judge(const PlaylistPage& page, const PageWords& words, const LiveSubject& subject,
           std::vector<Student>& students, GradedQuestion& question, Warnings& warnings) {
  const AnsweredQuestion asked{*page.answer, words.key, subject};
  std::size_t without_key = 0;
  for (Student& student : students) {
    const HomeworkAnswer* const answer = answer_to(student, question.page);
    Mark& mark = student.marks.emplace_back(Mark::none);
    if (!answer || !asks_for(page, *answer)) continue;
    if (!answer->given) {
      mark = Mark::shown;
      ++question.shown;
      continue;
    }
    const std::optional<GivenAnswer> given = asked.given(*answer->given);
    const std::optional<bool> right = given ? is_right(*page.answer, words.key, *given) : false;
    if (!right) {
      ++without_key;
      continue;
    }
    mark = *right ? Mark::right : Mark::wrong;
    ++question.answers;
    if (*right) ++question.right;
    if (!*right)
      ++question.wrong[given ? given_words(*page.answer, words, *given) : odd_words(*answer->given)];
  }
  if (without_key > 0)
    warnings.add(fmt::format("page {}: {} of another length than its key, and not judged", question.page + 1,
                             without_key == 1 ? "an answer is" : fmt::format("{} answers are", without_key)));
}

void grade(const NamedLesson& lesson, Grades& grades, Warnings& warnings) {
  const std::vector<PlaylistPage>& pages = lesson.playlist.pages;
  grades.lesson = lesson.playlist.title;
  warn_of_others(lesson, grades.students, warnings);
  const auto judge_page = [&](std::size_t page, const PageWords& words, const LiveSubject& subject) {
    GradedQuestion& question = grades.questions.emplace_back();
    question.page = page;
    question.title = pages[page].title;
    question.kind = kind_word(pages[page].answer->kind);
    judge(pages[page], words, subject, grades.students, question, warnings);
  };
  for (const PageKey& key : checked_keys(lesson.playlist, lesson.name, true, judge_page))
    if (key.too_large)
      warnings.add(
          fmt::format("page {} is not graded: its scenario is too large to be computed here", key.page + 1));
  if (grades.questions.empty())
    throw Error(ExitStatus::usage, {.where = lesson.name,
                                    .what = "this lesson has no question that takes an answer",
                                    .expected = "pages with \"ask\" and \"answer\""});
}

// Three ways to tell it.

std::string question_name(const GradedQuestion& question) {
  return fmt::format("page {}{}{}", question.page + 1, question.title.empty() ? "" : ": ", question.title);
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (const std::string& field : fields) quoted.push_back(csv_field(printable(field)));
  return join(quoted, ",") + "\r\n";
}

std::string csv_by_question(const Grades& grades) {
  std::string text = csv_line({"page", "question", "kind", "answers", "right", "share_right",
                               "favourite_wrong", "favourite_wrong_count", "shown"});
  for (const GradedQuestion& question : grades.questions) {
    const auto [wrong, count] = question.favourite_wrong();
    const std::optional<double> share = question.share();
    text += csv_line({std::to_string(question.page + 1), question.title, question.kind,
                      std::to_string(question.answers), std::to_string(question.right),
                      share ? fmt::format("{:.4g}", *share) : "", wrong, std::to_string(count),
                      std::to_string(question.shown)});
  }
  return text;
}

std::string csv_by_student(const Grades& grades) {
  std::vector<std::string> headings{"name", "file", "answered", "right", "share"};
  for (const GradedQuestion& question : grades.questions) headings.push_back(question_name(question));
  std::string text = csv_line(headings);
  for (const Student& student : grades.students) {
    std::vector<std::string> fields{student.homework.name, student.file, std::to_string(student.answered()),
                                    std::to_string(student.right()), fmt::format("{:.4g}", student.share())};
    for (const Mark mark : student.marks)
      fields.emplace_back(mark == Mark::right ? "1" : mark == Mark::wrong ? "0" : "");
    text += csv_line(fields);
  }
  return text;
}

Cell counted_cell(std::string key, std::size_t count) {
  return count_cell(std::move(key), static_cast<Index>(count));
}

Cell share_cell(std::string key, std::optional<double> share) {
  return {std::move(key), value_or_null(share), share ? fmt::format("{:.0f} %", 100.0 * *share) : "-"};
}

Row question_row(const GradedQuestion& question) {
  const auto [wrong, count] = question.favourite_wrong();
  const std::string in_words =
      count == 0 ? "" : fmt::format("{}×  {}", count, one_line(wrong, most_wrong_bytes));
  return {integer_cell("page", static_cast<Index>(question.page) + 1),
          {"question", question.title, fmt::format("“{}”", one_line(question.title, most_title_bytes))},
          {"kind", question.kind},
          counted_cell("answers", question.answers),
          counted_cell("shown", question.shown),
          counted_cell("right", question.right),
          share_cell("share_right", question.share()),
          {"favourite_wrong", count == 0 ? Json() : Json(wrong), in_words},
          {"favourite_wrong_count", count}};
}

Row student_row(const Student& student, const std::vector<GradedQuestion>& questions) {
  Json pages = Json::array();
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (const Mark mark = student.marks[i]; mark != Mark::none)
      pages.push_back({{"page", questions[i].page + 1},
                       {"right", mark == Mark::shown ? Json() : Json(mark == Mark::right)}});
  const std::string& name = student.homework.name;
  return {{"name", name, name.empty() ? "(no name)" : one_line(name, most_name_bytes)},
          text_cell("file", student.file),
          {"saved", student.homework.saved},
          counted_cell("answered", student.answered()),
          counted_cell("right", student.right()),
          share_cell("share", student.share()),
          {"answers", pages}};
}

Report grade_report(const Grades& grades) {
  Report report;
  report.add_line("{}: {}, {}\n",
                  {text_cell("lesson", grades.lesson), counted(std::ssize(grades.questions), "question"),
                   counted(std::ssize(grades.students), "student")});
  std::vector<Row> rows{
      {"page", "question", "answers", "only shown", "right", "share", "favourite wrong answer"}};
  for (const GradedQuestion& question : grades.questions) rows.push_back(question_row(question));
  report.add_list("questions", rows);
  report.text += "\n";
  rows = {{"student", "file", "answered", "right", "share"}};
  for (const Student& student : grades.students) rows.push_back(student_row(student, grades.questions));
  report.add_list("students", rows);
  rows.clear();
  report.json["not_graded"] = Json::array();
  for (const auto& [file, error] : grades.broken)
    report.json["not_graded"].push_back({{"file", file}, {"problem", error.what()}});
  return report;
}

// False if only help was requested.
bool read_grade_words(CommandOptions& options, const Words& words, GradeRequest& request) {
  options.values("FILES", request.files,
                 "Homework that the page of a lesson has saved (.json), or folders of it; the lesson's "
                 "playlist may be among them",
                 {.required = true, .several_words = true});
  options.value(
      "--lesson", request.lesson,
      "The lesson: a file with its playlist, or the name of a lesson; default: the built-in lesson with the "
      "homework's title",
      {.type = "NAME"});
  options.flag("--csv", request.csv, "Write a table for spreadsheets, as does an output named .csv");
  options.value("--by", request.by, "In a table for spreadsheets, a row for each question or each student",
                {.type = "question|student", .shows_default = true});
  options.flag("--json", request.json, "Write JSON, as does an output named .json");
  options.value("-o,--output", request.output, "The file to write; default: standard output", {.type = "FILE"});
  add_strict_flag(options, request.strict);
  if (!options.parse(words)) return false;
  if (options.given("--lesson") && request.lesson.empty())
    refuse_option("--lesson", "a name is empty", "", "the name of a playlist file or of a lesson");
  if (request.csv && request.json)
    refuse_option("--csv", "this option is for another output", "--json", "one of the two");
  if (!request.csv && !request.json) {
    request.csv = request.output.ends_with(".csv");
    request.json = request.output.ends_with(".json");
  }
  if (request.by != "question" && request.by != "student")
    refuse_option("--by", "there is no such table", request.by, "question or student");
  if (options.given("--by") && !request.csv)
    refuse_option("--by", "this option is for a table", "", "--csv, or an output named .csv");
  return true;
}

// With the .json files of a folder in its place, by their names.
std::vector<std::string> with_folders_opened(const std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    const auto first = std::ssize(files);
    for (fs::directory_iterator at(name, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".json") files.push_back(at->path().string());
    if (error) refuse_input(name, "the folder cannot be read", error.message());
    if (std::ssize(files) == first)
      refuse_input(name, "the folder has no homework", "", "files that end in .json");
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

// Takes the playlist out of the files.
void take_lesson(GradeRequest& request) {
  request.files = with_folders_opened(request.files);
  const auto rest = std::stable_partition(request.files.begin(), request.files.end(),
                                          [](const std::string& file) { return !names_playlist(file); });
  if (rest != request.files.end()) {
    const bool second = rest + 1 != request.files.end();
    if (second || !request.lesson.empty())
      refuse_option("FILES", "a lesson is named twice", second ? *(rest + 1) : *rest, "one lesson",
                    "grade the homework of each lesson by itself");
    request.lesson = *rest;
    request.files.erase(rest, request.files.end());
  }
  if (request.files.empty())
    refuse_option("FILES", "there is no homework", request.lesson, "files that the lesson's page has saved");
}

}  // namespace

void run_grade(CommandOptions& options, const Words& words) {
  GradeRequest request;
  if (!read_grade_words(options, words, request)) return;
  take_lesson(request);
  Grades grades;
  Warnings warnings;
  read_students(request, grades);
  if (grades.students.empty()) grades.refuse_broken();
  const NamedLesson lesson = lesson_of(request.lesson, grades.students);
  leave_out_others(lesson, grades);
  if (grades.students.empty() || request.strict) grades.refuse_broken();
  grade(lesson, grades, warnings);
  warnings.refuse_where(request.strict);
  const std::string text = !request.csv              ? grade_report(grades).printed(request.json)
                           : request.by == "student" ? csv_by_student(grades)
                                                     : csv_by_question(grades);
  if (request.output.empty() || request.output == standard_stream) {
    print(text);
  } else {
    write_file_atomically(request.output, text);
    print(fmt::format("{}: {}, {}\n", request.output, counted(std::ssize(grades.questions), "question"),
                      counted(std::ssize(grades.students), "student")));
  }
  grades.refuse_broken();
}

}  // namespace headwise
