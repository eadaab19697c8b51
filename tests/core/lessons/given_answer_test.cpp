// What somebody gave as an answer: whether it is right, and how a homework writes it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/attention/reference_backend.h"
#include "core/files/json_text.h"
#include "core/lessons/given_answer.h"
#include "core/lessons/homework.h"
#include "core/scenario/scenario_inputs.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// A page of the hand-made heads with this answer, and what it says.
struct AskedPage {
  PlaylistPage page;
  ScenarioInputs inputs;
  TracePtr trace;
  PageWords words;

  explicit AskedPage(const std::string& answer)
      : page(playlist_from_json(fmt::format(R"({{"headwise_playlist": 1, "pages": [{{"scenario": "hand_made",
              "step": "mask", "veil": true, "set": ["mask.is_causal=true"], "title": "t", "ask": "?", "caption": "!",
              "answer": {}}}]}})",
                                            answer),
                                "lesson.json")
                 .pages[0]),
        inputs(make_scenario_inputs(*page.scenario, DType::f32)),
        trace(reference_forward(inputs.attention)),
        words(page_words(page, *page.scenario, inputs, *trace)) {
    REQUIRE(words.key.problem.empty());
  }

  std::optional<bool> is_right(const GivenAnswer& given) const {
    return headwise::is_right(*page.answer, words.key, given);
  }
  // What a homework has written for it, as the page understands it.
  std::optional<GivenAnswer> given(const std::string& written) const {
    const Homework homework = homework_from_json(
        fmt::format(R"({{"headwise_homework": 1, "lesson": "l", "answers": [
                    {{"page": 1, "title": "t", "kind": "{}", "given": {}}}]}})",
                    answer_kind_names()[static_cast<std::size_t>(page.answer->kind)], written),
        "ada.json");
    CHECK(asks_for(page, homework.answers.at(0)));
    const LiveSubject subject(*trace, page.scenario.get(), &inputs);
    return AnsweredQuestion{*page.answer, words.key, subject}.given(homework.answers[0].given.value());
  }
  // "right", "wrong" or "unread", and how it is told.
  std::string verdict(const std::string& written) const {
    const std::optional<GivenAnswer> answer = given(written);
    if (!answer) return "unread";
    const std::optional<bool> right = is_right(*answer);
    return fmt::format("{}: {}",
                       !right   ? "no key"
                       : *right ? "right"
                                : "wrong",
                       given_words(*page.answer, words, *answer));
  }
};

constexpr const char* which_is_split = R"({"kind": "tensor", "options": [
  {"tensor": "query", "is": "difference q_heads[0,1,8,:] query[0,8,16:32] = 0"},
  {"tensor": "q", "is": "difference q_heads[0,1,8,:] q[0,8,16:32] = 0"}]})";

std::string homework_with(const std::string& answers, const std::string& keys = R"("name": "Ada",)") {
  return fmt::format(R"({{"headwise_homework": 1, "lesson": "Walk", {} "answers": [{}]}})", keys, answers);
}

std::string refusal_of_homework(const std::string& text) {
  return test::refusal_line([&] { homework_from_json(text, "ada.json"); });
}

}  // namespace

TEST_CASE("a number is right within a distance of its key, or within a share of it") {
  PageAnswer answer;
  answer.within_share = 0.05;
  const auto right = [&](double of_key, double number) {
    AnswerKey key;
    key.number = of_key;
    return is_right(answer, key, {.number = number});
  };
  CHECK(right(200.0, 209.9) == true);
  CHECK(right(200.0, 211.0) == false);
  CHECK(right(-200.0, -190.1) == true);
  CHECK(right(0.0, 0.0) == true);
  CHECK(right(0.0, 0.01) == false);
  answer.within = 0.02;
  CHECK(right(0.0, 0.01) == true);
}

TEST_CASE("without a key no answer of any kind is right or wrong") {
  for (std::size_t kind = 0; kind < answer_kind_names().size(); ++kind) {
    CAPTURE(answer_kind_names()[kind]);
    CHECK_FALSE(is_right(blank_answer(static_cast<AnswerKind>(kind)), {}, {}).has_value());
  }
}

TEST_CASE("each kind of answer in a homework is judged by the key of its page, and told in words") {
  const AskedPage number(R"({"kind": "number", "is": "E / H", "within": 0.5})");
  CHECK(number.verdict(R"("16")") == "right: 16");
  CHECK(number.verdict(R"("33/2")") == "right: 16.5");
  CHECK(number.verdict(R"("−0,125")") == "wrong: −0.125");
  CHECK(number.verdict(R"("sixteen")") == "unread");
  const AskedPage choice(R"({"kind": "choice", "options": [{"text": "at “it”", "is": "E = 1"},
                             {"text": "E is {E}", "is": "E = 128"}]})");
  CHECK(choice.verdict("1") == "wrong: 1, “at ‘it’”");
  CHECK(choice.verdict("2") == "right: 2, “E is 128”");
  CHECK(choice.verdict("3") == "unread");
  const AskedPage tensor(which_is_split);
  CHECK(tensor.verdict(R"("q")") == "right: 2, “q”");
  CHECK(tensor.verdict(R"("query")") == "wrong: 1, “query”");
  CHECK(tensor.verdict(R"("v")") == "unread");
  const AskedPage shape(R"({"kind": "shape", "is": "shape k_heads"})");
  CHECK(shape.verdict(R"j("(1, 8, 12, 16)")j") == "right: (1,8,12,16)");
  CHECK(shape.verdict(R"("N H S E/H")") == "right: (1,8,12,16)");
  CHECK(shape.verdict(R"("1 12 8 16")") == "wrong: (1,12,8,16)");
  CHECK(shape.verdict(R"("?")") == "unread");
  const AskedPage head(R"({"kind": "head", "is": "argmax attn_weights[0,:,8,7]"})");
  CHECK(head.verdict("0") == "right: head 0");
  CHECK(head.verdict("7") == "wrong: head 7");
  CHECK(head.verdict("8") == "unread");
  const AskedPage cell(
      R"({"kind": "cell", "tensor": "attn_weights", "column": "argmax attn_weights[0,0,8,:]"})");
  CHECK(cell.verdict("[8, 7]") == "right: “it” (row 8), “because” (column 7)");
  CHECK(cell.verdict("[3, 7]").starts_with("right: "));  // any row
  CHECK(cell.verdict("[8, 99]") == "wrong: “it” (row 8), column 99");
}

TEST_CASE("a drawn row is scaled to 1 before it is judged, and needs a weight") {
  const AskedPage row(R"({"kind": "weights", "is": "attn_weights[0,0,8,:]", "within": 0.001})");
  REQUIRE(row.words.key.weights);
  std::vector<double> drawn = row.words.key.weights->weights;
  CHECK(row.is_right({.weights = drawn}) == true);
  drawn[0] += 0.004;  // less than what can be seen, though more than the page allows
  drawn[7] -= 0.004;
  CHECK(row.is_right({.weights = drawn}) == true);
  for (double& weight : drawn) weight *= 3.0;
  CHECK(row.verdict(json_text(nlohmann::json(drawn))) == "right: a row, largest at “because”");
  CHECK(row.verdict("[1,0,0,0,0,0,0,0,0,0,0,0]") == "wrong: a row, largest at “The”");
  CHECK(row.verdict("[0,0,0,0,0,0,0,0,0,0,0,0]") == "unread");
  CHECK_FALSE(row.is_right({.weights = {0.5, 0.5}}).has_value());
}

TEST_CASE("a painted mask is right where every pair of its box is") {
  const AskedPage mask(R"({"kind": "mask", "is": "mask_bias[0,0,0:3,0:3] = -inf"})");
  CHECK(mask.verdict("[[0,1],[0,2],[1,2]]") == "right: 3 of 9 pairs blocked");
  CHECK(mask.verdict("[[0,1],[0,2],[2,0]]") == "wrong: 3 of 9 pairs blocked");
  CHECK(mask.verdict("[[0,1],[0,2]]") == "wrong: 2 of 9 pairs blocked");
  CHECK(mask.verdict("[]") == "wrong: 0 of 9 pairs blocked");
  CHECK(mask.verdict("[[0,3]]") == "unread");
}

TEST_CASE("a homework is read with what each page was answered, the last answer to a page counts") {
  const Homework homework = homework_from_json(
      homework_with(R"({"page": 4, "title": "Four", "kind": "cell", "given": [8, 7], "right": true},
                       {"page": 2, "title": "Two", "kind": "number", "given": null, "right": false},
                       {"page": 4, "title": "Four", "kind": "cell", "given": [1, 2]})",
                    R"("name": "  Ada\n\u202e\u001b[31m ", "saved": "2026-11-28T16:40:00Z",)"),
      "ada.json");
  CHECK(homework.lesson == "Walk");
  CHECK(homework.name == "Ada\\n\\x1b[31m");
  CHECK(homework.saved == "2026-11-28T16:40:00Z");
  REQUIRE(homework.answers.size() == 2);
  CHECK(homework.answers[0].page == 1);
  CHECK_FALSE(homework.answers[0].given.has_value());
  CHECK(homework.answers[1].title == "Four");
  CHECK(homework.answers[1].given.value().numbers == std::vector<double>{1, 2});
  CHECK(homework_from_json(homework_with("", ""), "ada.json").name.empty());
}

TEST_CASE("an answer fits a page of its title and kind alone") {
  const AskedPage asked(R"({"kind": "number", "is": "E / H"})");
  CHECK(asks_for(asked.page, {0, "t", AnswerKind::number, {}}));
  CHECK_FALSE(asks_for(asked.page, {0, "u", AnswerKind::number, {}}));
  CHECK_FALSE(asks_for(asked.page, {0, "t", AnswerKind::head, {}}));
  CHECK_FALSE(asks_for({}, {}));
}

TEST_CASE("a homework that is no homework is refused in one line, with its place") {
  const auto answer = [](const char* kind, const std::string& given) {
    return homework_with(fmt::format(R"({{"page": 1, "title": "t", "kind": "{}", "given": {}}})", kind, given));
  };
  const std::vector<std::pair<std::string, std::string>> broken{
      {"", "this is not JSON"},
      {"[]", "a homework, as a lesson's page saves it"},
      {R"({"headwise_playlist": 1})", "headwise_homework"},
      {R"({"headwise_homework": 2, "lesson": "l", "answers": []})", "got 2; expected an integer from 1 to 1"},
      {R"({"headwise_homework": 1, "answers": []})", "lesson"},
      {R"({"headwise_homework": 1, "lesson": "l"})", "answers"},
      {homework_with("", R"("nmae": "x",)"), "did you mean"},
      {homework_with(R"({"page": 0, "title": "t", "kind": "head", "given": 1})"), "answers[0].page"},
      {homework_with(R"({"page": 1001, "title": "t", "kind": "head", "given": 1})"), "answers[0].page"},
      {homework_with(R"({"page": 1, "title": "t", "kind": "haed", "given": 1})"), "did you mean \"head\"?"},
      {homework_with(R"({"page": 1, "title": "t", "kind": "head"})"), "what was given, or null"},
      {answer("number", "1"), "answers[0].given: wrong type: got 1"},
      {answer("number", '"' + std::string(201, '1') + '"'), "at most 200 bytes"},
      {answer("choice", "0"), "from 1 to 9"},
      {answer("head", "-1"), "from 0"},
      {answer("head", "1.5"), "answers[0].given"},
      {answer("cell", "[1]"), "[row, column]"},
      {answer("cell", "[1, -2]"), "answers[0].given[1]"},
      {answer("weights", "[1]"), "a list of 2 to 64 weights"},
      {answer("weights", "[1, -1]"), "a weight of at least 0"},
      {answer("mask", "[[1, 2], [1, 2, 3]]"), "answers[0].given[1]"},
      {answer("mask", "[[1, \"2\"]]"), "answers[0].given[0][1]"},
      {answer("mask", "[[[[[[1]]]]]]"), "nested too deeply"}};
  for (const auto& [text, part] : broken) {
    CAPTURE(text);
    const std::string line = refusal_of_homework(text);
    CHECK(line.starts_with("ada.json"));
    CHECK_CONTAINS(line, part);
  }
}

TEST_CASE("a homework of more than 1 MiB is refused before it is read") {
  const TemporaryFolder folder;
  const std::string padded = homework_with("");
  const std::string path =
      folder.with_file("most.json", padded + std::string(Homework::most_bytes - padded.size(), ' '));
  CHECK(read_homework_file(path).name == "Ada");
  folder.with_file("most.json", padded + std::string(Homework::most_bytes + 1 - padded.size(), ' '));
  CHECK_CONTAINS(test::refusal_line([&] { read_homework_file(path); }), "expected at most 1.0 MiB");
}
