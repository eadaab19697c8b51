// headwise grade: the homework of a class, judged by the keys of its lesson.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

constexpr const char* two_questions = R"({"headwise_playlist": 1, "title": "Two questions", "pages": [
  {"scenario": "hand_made", "title": "Nothing is asked", "caption": "!"},
  {"title": "How wide?", "ask": "?", "caption": "!", "answer": {"kind": "number", "is": "E / H"}},
  {"title": "=Which, \"one\"?", "ask": "?", "caption": "!", "answer": {"kind": "choice", "options": [
    {"text": "All of E = {E}", "is": "E = H"}, {"text": "a part", "is": "E > H"}]}}]})";

std::string answer_text(int page, const std::string& title, const std::string& kind, const std::string& given) {
  return fmt::format(R"({{"page": {}, "title": {}, "kind": "{}", "given": {}, "right": true}})", page,
                     nlohmann::json(title).dump(), kind, given);
}
std::string wide(const std::string& given) {
  return answer_text(2, "How wide?", "number", given);
}
std::string which(const std::string& given) {
  return answer_text(3, "=Which, \"one\"?", "choice", given);
}

// A class in a folder, with its lesson.
struct HomeworkFolder {
  TemporaryFolder folder;
  ProgramOptions here{.folder = folder.file(""), .in_child = {}, .in_test = {}};

  HomeworkFolder() { folder.with_file("lesson.json", two_questions); }

  void hand_in(const std::string& file, const std::string& name, const Words& answers,
               const std::string& lesson = "Two questions") const {
    std::string text;
    for (const std::string& answer : answers) text += (text.empty() ? "" : ", ") + answer;
    folder.with_file(file,
                     fmt::format(R"({{"headwise_homework": 1, "lesson": "{}", "name": {}, "answers": [{}]}})",
                                 lesson, nlohmann::json(name).dump(), text));
  }
  ProgramResult grade(const Words& words) const { return run_program(joined({{"grade"}, words}), here); }
  std::string graded(const Words& words) const { return run_well(joined({{"grade"}, words}), here).out; }
};

struct SmallClass : HomeworkFolder {
  SmallClass() {
    hand_in("ada.json", "Ada", {wide(R"("16")"), which("2")});
    hand_in("bob.json", "=1+1", {wide(R"("128")"), which("1")});
    hand_in("eve.json", "Eve", {wide(R"("128,0")"), which("null")});
    hand_in("ida.json", "", {wide(R"("a lot")")});
  }
  Words files = {"ada.json", "bob.json", "eve.json", "ida.json", "lesson.json"};
};

}  // namespace

TEST_CASE("grade judges by the keys of the lesson, whatever a file says of itself") {
  const SmallClass small;
  const std::string out = small.graded(small.files);
  CHECK(out.starts_with("Two questions: 2 questions, 4 students\n"));
  CHECK_CONTAINS(out, "“How wide?”");
  CHECK_CONTAINS(out, "25 %  2×  128\n");
  CHECK_CONTAINS(out, "50 %  1×  1, “All of E = 128”\n");
  CHECK_CONTAINS(out, "(no name)");
  const nlohmann::json json = nlohmann::json::parse(small.graded(joined({small.files, {"--json"}})));
  CHECK(json["lesson"] == "Two questions");
  const nlohmann::json& number = json["questions"].at(0);
  CHECK(number["page"] == 2);
  CHECK(number["kind"] == "number");
  CHECK(number["answers"] == 4);
  CHECK(number["right"] == 1);
  CHECK(number["share_right"] == 0.25);
  CHECK(number["favourite_wrong"] == "128");
  CHECK(number["favourite_wrong_count"] == 2);
  CHECK(json["questions"].at(1)["shown"] == 1);
  const nlohmann::json& eve = json["students"].at(2);
  CHECK(eve["file"] == "eve.json");
  CHECK(eve["answered"] == 1);
  CHECK(eve["share"] == 0.0);
  CHECK(eve["answers"] == nlohmann::json::parse(R"([{"page": 2, "right": false}, {"page": 3, "right": null}])"));
  CHECK(json["not_graded"].empty());
}

TEST_CASE("a table for spreadsheets has a row for each question or student, and no formula") {
  const SmallClass small;
  CHECK(small.graded(joined({small.files, {"--csv"}})) ==
        "page,question,kind,answers,right,share_right,favourite_wrong,favourite_wrong_count,shown\r\n"
        "2,How wide?,number,4,1,0.25,128,2,0\r\n"
        "3,\"'=Which, \"\"one\"\"?\",choice,2,1,0.5,\"1, “All of E = 128”\",1,1\r\n");
  CHECK(small.graded(joined({small.files, {"-o", "students.csv", "--by", "student"}})) ==
        "students.csv: 2 questions, 4 students\n");
  CHECK(content_of(small.folder.file("students.csv")) ==
        "name,file,answered,right,share,page 2: How wide?,\"page 3: =Which, \"\"one\"\"?\"\r\n"
        "Ada,ada.json,2,2,1,1,1\r\n"
        "'=1+1,bob.json,2,0,0,0,0\r\n"
        "Eve,eve.json,1,0,0,0,\r\n"
        ",ida.json,1,0,0,0,\r\n");
}

TEST_CASE("two files of one student are both listed, and the last answer to a page counts") {
  const HomeworkFolder handed;
  handed.hand_in("first.json", "Ada", {wide(R"("1")"), wide(R"("16")")});
  handed.hand_in("second.json", "Ada", {wide(R"("16")"), wide(R"("1")")});
  const std::string table =
      handed.graded({"first.json", "second.json", "--lesson", "lesson.json", "--csv", "--by", "student"});
  CHECK_CONTAINS(table, "\r\nAda,first.json,1,1,0.5,1,\r\nAda,second.json,1,0,0,0,\r\n");
}

TEST_CASE("a folder stands for its .json files, by their names") {
  const SmallClass small;
  small.folder.with_file("notes.txt", "no homework");
  CHECK_CONTAINS(small.graded({".", "--csv", "--by", "student"}),
                 "\r\nAda,./ada.json,2,2,1,1,1\r\n'=1+1,./bob.json,");
  std::filesystem::create_directory(small.folder.file("empty"));
  check_refused({"grade", "empty", "ada.json"}, 3, "empty: the folder has no homework", small.here);
}

TEST_CASE("the lesson is named, or among the files, or the built-in one of the homework's title") {
  const HomeworkFolder handed;
  const std::string split = answer_text(3, "3  The split into heads", "shape", R"("N H S D")");
  handed.hand_in("walk.json", "Ada", {split}, "One word through the layer");
  handed.hand_in("own.json", "Ada", {wide(R"("16")")}, "An older title");
  CHECK_CONTAINS(handed.graded({"walk.json", "--csv"}), "\r\n3,3  The split into heads,shape,1,1,1,,0,0\r\n");
  CHECK(handed.graded({"walk.json", "--lesson", "first_walk"}).starts_with("One word through the layer: 3 "));
  CHECK(handed.graded({"own.json", "--lesson", "lesson.json"}).starts_with("Two questions: 2 "));
  CHECK(handed.graded({"lesson.json", "own.json"}).starts_with("Two questions: 2 "));
  const auto refused = [&](const Words& words, int status, const std::string& part) {
    check_refused(joined({{"grade"}, words}), status, part, handed.here);
  };
  refused({"own.json"}, 2,
          "got An older title; expected a lesson to grade by; name its playlist with --lesson");
  refused({"own.json", "lesson.json", "first_walk"}, 2, "a lesson is named twice");
  refused({"own.json", "lesson.json", "--lesson", "first_walk"}, 2, "a lesson is named twice");
  refused({"lesson.json"}, 2, "there is no homework");
  refused({"own.json", "--lesson", "welcome"}, 2, "this is a preset, which has no pages");
  refused({"own.json", "--lesson", "first_walk"}, 3, "none of its answers is to a question of this lesson");
}

TEST_CASE("an answer to what the lesson no longer asks is told once for its page, and not judged") {
  const SmallClass small;
  for (const char* file : {"old.json", "older.json"})
    small.hand_in(file, "Old", {answer_text(2, "How deep?", "number", R"("16")"), which("2")});
  small.hand_in("far.json", "Far",
                {answer_text(2, "How wide?", "head", "1"), which("2"), answer_text(9, "More", "head", "1")});
  const Words files = joined({small.files, {"old.json", "older.json", "far.json"}});
  const ProgramResult result = small.grade(joined({files, {"--csv"}}));
  CHECK(result.status == 0);
  CHECK_CONTAINS(result.out, "\r\n2,How wide?,number,4,1,");
  CHECK_CONTAINS(result.out, "choice,5,4,0.8,");
  CHECK_CONTAINS(result.err,
                 "page 2 asks something else in this lesson, so 3 answers are not judged: got “How deep?” "
                 "(number), in old.json; expected “How wide?” (number)\n");
  CHECK_CONTAINS(result.err,
                 "page 9 asks something else in this lesson, so an answer is not judged: got “More” "
                 "(head), in far.json; expected no question\n");
  CHECK(std::ranges::count(result.err, '\n') == 2);
  const ProgramResult strict = small.grade(joined({files, {"--strict", "-o", "out.csv"}}));
  CHECK(strict.status == 3);
  CHECK(content_of(small.folder.file("out.csv")).empty());
}

TEST_CASE("a broken file among others is one line and status 3, and the others are graded") {
  const SmallClass small;
  small.folder.with_file("cut.json", R"({"headwise_homework": 1, "les)");
  small.hand_in("odd.json", "Odd", {wide("16")});
  const Words broken = joined({{"cut.json", "odd.json", "none.json"}, small.files});
  const ProgramResult result = small.grade(joined({broken, {"--json"}}));
  CHECK(result.status == 3);
  CHECK(std::ranges::count(result.err, '\n') == 3);
  CHECK_CONTAINS(result.err, "headwise: cut.json: ");
  CHECK_CONTAINS(result.err, "headwise: odd.json: answers[0].given: wrong type: got 16; expected a string\n");
  CHECK_CONTAINS(result.err, "headwise: none.json: ");
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(json["students"].size() == 4);
  REQUIRE(json["not_graded"].size() == 3);
  CHECK(json["not_graded"][1]["file"] == "odd.json");
  const ProgramResult strict = small.grade(joined({broken, {"--strict"}}));
  CHECK(strict.status == 3);
  CHECK(strict.out.empty());
  check_refused({"grade", "odd.json", "lesson.json"}, 3, "odd.json: answers[0].given: wrong type", small.here);
}

TEST_CASE("a wrong command line of grade is one line and status 2") {
  const SmallClass small;
  const auto refused = [&](const Words& words, const std::string& part) {
    check_refused(joined({{"grade"}, small.files, words}), 2, part, small.here);
  };
  refused({"--csv", "--json"}, "one of the two");
  refused({"--by", "student"}, "--csv, or an output named .csv");
  refused({"--csv", "--by", "page"}, "question or student");
  check_refused({"grade", "ada.json", "--lesson", ""}, 2, "--lesson: a name is empty", small.here);
  check_refused({"grade"}, 2, "FILES");
}
