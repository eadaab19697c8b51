// The keys of questions: expressions that follow the page's numbers.
#include <doctest/doctest.h>

#include "core/playlist/answer_key.h"
#include "core/playlist/page_words.h"
#include "core/playlist/playlist.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"

using namespace headwise;

namespace {

PlaylistPage page_with(const std::string& answer, const std::string& keys = {}) {
  return playlist_from_json(
             R"({"headwise_playlist": 1, "pages": [{"scenario": "hand_made", "ask": "?", "caption": "!",)" +
                 keys + R"( "answer": )" + answer + "}]}",
             "lesson.json")
      .pages[0];
}

struct ComputedPage {
  ScenarioInputs inputs;
  TracePtr trace;
  explicit ComputedPage(const PlaylistPage& page)
      : inputs(make_scenario_inputs(*page.scenario, DType::f32)), trace(reference_forward(inputs.attention)) {}
};

AnswerKey key_of(const PlaylistPage& page) {
  const ComputedPage seen(page);
  return answer_key(*page.answer, LiveSubject(*seen.trace, page.scenario.get(), &seen.inputs));
}

constexpr const char* who_is_looked_at = R"({"kind": "choice", "options": [
  {"text": "'{key 7}'", "is": "argmax attn_weights[0,0,8,:] = 7"},
  {"text": "'{key 0}'", "is": "argmax attn_weights[0,0,8,:] = 0", "why": "It gets {attn_weights[0,0,8,0]}.", "see": "x"}]})";

}  // namespace

TEST_CASE("the key of a number is the trace's own, and follows what the page sets") {
  const char* weight = R"({"kind": "number", "is": "attn_weights[0,0,8,7]", "within": 0.1, "unit": "of 1"})";
  const PlaylistPage page = page_with(weight);
  const ComputedPage seen(page);
  CHECK(key_of(page).number == double{seen.trace->tensor(TensorId::attn_weights)->at({0, 0, 8, 7})});
  CHECK(key_of(page).problem.empty());
  const PlaylistPage flat = page_with(weight, R"("set": ["attention.scale=0.000001"],)");
  CHECK(*key_of(flat).number == doctest::Approx(1.0 / 12).epsilon(1e-3));
}

TEST_CASE("exactly one option of a choice is right, and another one on another scenario") {
  CHECK(key_of(page_with(who_is_looked_at)).option == 0);
  const PlaylistPage blocked = page_with(R"({"kind": "choice", "options": [
      {"text": "none", "is": "finite masked_scores[0,0,0,:] = 0"},
      {"text": "one", "is": "finite masked_scores[0,0,0,:] = 1"},
      {"text": "all", "is": "finite masked_scores[0,0,0,:] = S"}]})",
                                         R"("set": ["mask.is_causal=true"],)");
  CHECK(key_of(blocked).option == 1);
}

TEST_CASE("the keys of a shape, of a head and of a cell are the trace's own") {
  CHECK(key_of(page_with(R"({"kind": "shape", "is": "shape k_heads"})")).sizes ==
        std::vector<Index>{1, 8, 12, 16});
  const PlaylistPage head = page_with(R"({"kind": "head", "is": "argmax attn_weights[0,:,8,7]"})");
  const ComputedPage seen(head);
  const Tensor& weights = *seen.trace->tensor(TensorId::attn_weights);
  Index largest = 0;
  for (Index h = 1; h < 8; ++h)
    if (weights.at({0, h, 8, 7}) > weights.at({0, largest, 8, 7})) largest = h;
  CHECK(key_of(head).head == largest);
  const AnswerKey cell = key_of(page_with(
      R"({"kind": "cell", "tensor": "attn_weights", "row": "8", "column": "argmax attn_weights[0,0,8,:]"})"));
  CHECK(cell.row == 8);
  CHECK(cell.column == 7);
  const AnswerKey row = key_of(page_with(R"({"kind": "cell", "tensor": "scores", "row": "L - 1"})"));
  CHECK(row.row == 11);
  CHECK_FALSE(row.column);
  const auto problem = [](const char* answer) { return key_of(page_with(answer)).problem; };
  CHECK(problem(R"({"kind": "cell", "tensor": "scores", "row": "E"})").find("row 128 lies outside scores") !=
        std::string::npos);
  CHECK(problem(R"({"kind": "cell", "tensor": "q_rotary", "row": "E"})").find("no map q_rotary") !=
        std::string::npos);
  CHECK(problem(R"({"kind": "head", "is": "D"})").find("16, and there are 8 heads") != std::string::npos);
  CHECK(problem(R"({"kind": "head", "is": "D / 5"})").find("no index") != std::string::npos);
  CHECK(problem(R"({"kind": "shape", "is": "shape bias_k"})").find("bias_k") != std::string::npos);
}

TEST_CASE("sizes are read with or without brackets, as numbers and as letters of the page") {
  const PlaylistPage page = page_with(R"({"kind": "shape", "is": "shape k_heads"})");
  const ComputedPage seen(page);
  const LiveSubject subject(*seen.trace, page.scenario.get(), &seen.inputs);
  const std::vector<Index> right{1, 8, 12, 16};
  for (const char* typed : {"1, 8, 12, 16", "(1,8,12,16)", "1 8 12 16", "[N, H, S, D]", "N,H,L,E/H"})
    CHECK(typed_sizes(typed, subject) == right);
  for (const char* typed : {"", "()", "1, eight", "1.5, 2", "-1, 8", "1, x"})
    CHECK(typed_sizes(typed, subject).empty());
}

TEST_CASE("a key that cannot be computed says why") {
  const auto problem = [](const char* answer) { return key_of(page_with(answer)).problem; };
  CHECK(problem(R"({"kind": "number", "is": "scores[0,0,99,0]"})").find("scores[0,0,99,0]") !=
        std::string::npos);
  CHECK(problem(R"json({"kind": "number", "is": "1 / (E - 128)"
})json")
            .find("not a finite number") != std::string::npos);
  CHECK(problem(R"({"kind": "choice", "options": [{"text": "a", "is": "E = 1"}, {"text": "b", "is": "E = 2"}]})")
            .find("none of the options") != std::string::npos);
  CHECK(problem(R"({"kind": "choice", "options": [{"text": "a", "is": "E > 1"}, {"text": "b", "is": "E > 2"}]})")
            .find("options 1 and 2 both") != std::string::npos);
  CHECK(problem(R"({"kind": "choice", "options": [{"text": "a", "is": "E = 128"}, {"text": "b", "is": "q[0,99,0] > 2"}]})")
            .find("option 2 needs: q[0,99,0] > 2") != std::string::npos);
}

TEST_CASE("what counts as right: within a distance, or a share of the key") {
  PageAnswer answer;
  answer.within_share = 0.05;
  CHECK(is_right(answer, 200.0, 209.9));
  CHECK_FALSE(is_right(answer, 200.0, 211.0));
  CHECK(is_right(answer, -200.0, -190.1));
  CHECK(is_right(answer, 0.0, 0.0));
  CHECK_FALSE(is_right(answer, 0.0, 0.01));
  answer.within = 0.02;
  CHECK(is_right(answer, 0.0, 0.01));
}

TEST_CASE("an answer is written as it was read") {
  for (const char* written :
       {who_is_looked_at, R"({"kind": "number", "is": "2 * E", "within": 0.5, "unit": "columns"})",
        R"({"kind": "shape", "is": "shape q"})", R"({"kind": "head", "is": "H - 1"})",
        R"({"kind": "cell", "tensor": "scores", "row": "8", "column": "argmax scores[0,0,8,:]"})",
        R"({"kind": "number", "is": "E"})"}) {
    const PlaylistPage page = page_with(written);
    Playlist playlist{"t", {page}};
    CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
    playlist.pages[0].answer->is += " + 1";
    CHECK_FALSE(playlist.pages[0] == page);
  }
}

TEST_CASE("the options of a page are shown with the numbers of its trace") {
  const PlaylistPage page = page_with(who_is_looked_at);
  const ComputedPage seen(page);
  const PageWords words = page_words(page, *page.scenario, seen.inputs, *seen.trace);
  REQUIRE(words.options.size() == 2);
  CHECK(words.options[0] == "'" + seen.inputs.labels.key[7] + "'");
  CHECK(words.whys[1].find("It gets ") == 0);
  CHECK(words.key.option == 0);
}

TEST_CASE("what is typed as a number is read as people write them") {
  for (const auto& [typed, number] : {std::pair{"0.5", 0.5},
                                      {"0,5", 0.5},
                                      {" 1/8", 0.125},
                                      {"50 %", 0.5},
                                      {"-3", -3.0},
                                      {"−3", -3.0},
                                      {"√16", 4.0},
                                      {".25", 0.25}})
    CHECK(typed_number(typed) == number);
  for (const char* none :
       {"", " ", "half", "1e", "E", "1/0", "0.5 0.5", "'a'", "1 = 1", "inf", "max scores", "%"})
    CHECK_FALSE(typed_number(none));
}
