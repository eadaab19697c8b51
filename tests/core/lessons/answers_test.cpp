// The keys of questions: expressions that follow the page's numbers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/attention/reference_backend.h"
#include "core/lessons/answer_key.h"
#include "core/lessons/page_words.h"
#include "core/lessons/playlist.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

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

constexpr const char* which_is_cut = R"({"kind": "tensor", "options": [
  {"tensor": "query", "is": "difference q_heads[0,1,8,:] query[0,8,16:32] = 0", "why": "It has {E} columns.", "see": "x"},
  {"tensor": "q", "is": "difference q_heads[0,1,8,:] q[0,8,16:32] = 0"}]})";

constexpr const char* at_mask = R"("step": "mask", "veil": true, "set": ["mask.is_causal=true"],)";

std::string refusal_of(const std::string& answer, const std::string& keys = at_mask) {
  return test::refusal_line([&] { page_with(answer, keys); }, ExitStatus::usage);
}

void says(const std::string& text, const std::string& part) {
  CHECK_CONTAINS(text, part);
}

}  // namespace

TEST_CASE("the right tensor is the one whose condition holds, and another one on another page") {
  CHECK(key_of(page_with(which_is_cut)).option == 1);
  const char* larger = R"({"kind": "tensor", "options": [
    {"tensor": "q_heads", "is": "deviation q_heads > deviation k_heads"},
    {"tensor": "k_heads", "is": "deviation q_heads < deviation k_heads"}]})";
  const auto zeroed = [&](const char* text) {
    return key_of(page_with(larger, std::string(R"("set": ["inputs.text=)") + text + R"("],)")).option;
  };
  const PlaylistPage page = page_with(larger);
  const ComputedPage seen(page);
  const LiveSubject subject(*seen.trace, page.scenario.get(), &seen.inputs);
  std::string_view difference = "deviation q_heads - deviation k_heads";
  const double more = live_value(read_live_expression(difference), subject).number;
  CHECK(key_of(page).option == (more > 0.0 ? 0U : 1U));
  CHECK(zeroed("one two three").has_value());
  says(refusal_of(
           R"({"kind": "tensor", "options": [{"tensor": "qq", "is": "E > 1"}, {"tensor": "q", "is": "E < 1"}]})"),
       "options[0].tensor");
  says(refusal_of(
           R"({"kind": "tensor", "options": [{"tensor": "grad.q", "is": "E > 1"}, {"tensor": "q", "is": "E < 1"}]})"),
       "a gradient is not clicked");
  says(refusal_of(
           R"({"kind": "tensor", "options": [{"tensor": "q", "is": "E > 1"}, {"tensor": "q", "is": "E < 1"}]})"),
       "an option names this tensor already");
  says(refusal_of(
           R"({"kind": "tensor", "options": [{"tensor": "k", "is": "1 > 0"}, {"tensor": "q", "is": "E < 1"}]})"),
       "a constant");
  says(refusal_of(
           R"({"kind": "tensor", "options": [{"text": "k", "is": "E > 1"}, {"tensor": "q", "is": "E < 1"}]})"),
       "text");
}

TEST_CASE("the key of a row of weights is the row itself, computed cell by cell") {
  const PlaylistPage page = page_with(R"({"kind": "weights", "is": "attn_weights[0,0,8,:]"})");
  CHECK(page.answer->within == PageAnswer::usual_misplaced);
  const ComputedPage seen(page);
  const Tensor& weights = *seen.trace->tensor(TensorId::attn_weights);
  const AnswerKey key = key_of(page);
  REQUIRE(key.weights);
  REQUIRE(key.weights->weights.size() == 12);
  CHECK(key.weights->axis == "S");
  for (Index k = 0; k < 12; ++k)
    CHECK(key.weights->weights[static_cast<std::size_t>(k)] == double{weights.at({0, 0, 8, k})});
  const PageWords words = page_words(page, *page.scenario, seen.inputs, *seen.trace);
  CHECK(words.weight_labels == seen.inputs.labels.key);
  const AnswerKey mean =
      key_of(page_with(R"({"kind": "weights", "is": "(attn_weights[0,0,8,:] + attn_weights[0,1,8,:]) / 2"})"));
  REQUIRE(mean.weights);
  CHECK(mean.weights->weights[7] ==
        doctest::Approx((double{weights.at({0, 0, 8, 7})} + double{weights.at({0, 1, 8, 7})}) / 2));
}

TEST_CASE("a row of weights is refused where it is a constant, no row, or no weights") {
  const auto weights = [](const char* is) { return fmt::format(R"({{"kind": "weights", "is": "{}"}})", is); };
  says(refusal_of(weights("0 * attn_weights[0,0,8,:] + 0.5")), "a constant");
  says(refusal_of(weights("0.5")), "a constant");
  says(refusal_of(weights("attn_weights[0,0,8,7]")), "one number");
  says(refusal_of(weights("sum attn_weights[0,0,8,:]")), "one number");
  says(refusal_of(weights("attn_weights[0,0,8,:] = 1")), "not a number");
  says(refusal_of(R"({"kind": "weights", "is": "attn_weights[0,0,8,:]", "within": 0})"), "within");
  const auto problem = [&](const char* is, const char* keys = "") {
    return key_of(page_with(weights(is), keys)).problem;
  };
  says(problem("attn_weights[0,0,:,:]"), "at most 64");
  says(problem("attn_weights[0,0,0:2,0:3]"), "runs along 2 axes");
  says(problem("attn_weights[0,0,8,11:]"), "is one number");
  says(problem("attn_weights[0,0,99,:]"), "no such cells of attn_weights");
  says(problem("scores[0,0,8,:]"), "between 0 and 1");
  says(problem("attn_weights[0,0,8,0:3]"), "sums to");
  says(problem("attn_weights[0,0,8,:] + attn_weights[0,0,8,0:3]"), "12 and 3 cells");
  // A row in which every key is blocked has no weights.
  says(problem("attn_weights[0,0,8,:]", R"("set": ["mask.preset=padding:12"],)"), "NaN");
}

TEST_CASE("how much of a drawn row lies where it does not belong is half of what differs") {
  CHECK(misplaced_weight({1.0, 0.0}, {0.0, 1.0}) == 1.0);
  CHECK(misplaced_weight({0.5, 0.5}, {0.25, 0.75}) == 0.25);
  CHECK(misplaced_weight({0.5, 0.5}, {0.5, 0.5}) == 0.0);
}

TEST_CASE("the key of a mask holds for the blocked pairs of its box") {
  const AnswerKey all = key_of(page_with(R"({"kind": "mask", "is": "mask_bias[0,0,:,:] = -inf"})", at_mask));
  REQUIRE(all.mask);
  CHECK(all.mask->rows == 12);
  CHECK(all.mask->columns == 12);
  for (Index query = 0; query < 12; ++query)
    for (Index key = 0; key < 12; ++key)
      CHECK(all.mask->blocked[static_cast<std::size_t>(12 * query + key)] == (key > query));
  const AnswerKey row = key_of(page_with(R"({"kind": "mask", "is": "mask_bias[0,0,3,2:] = -inf"})", at_mask));
  REQUIRE(row.mask);
  CHECK(row.mask->row == 3);
  CHECK(row.mask->column == 2);
  CHECK(row.mask->blocked == std::vector<bool>{false, false, true, true, true, true, true, true, true, true});
  // The weights that are 0 are the same pairs.
  const AnswerKey weights =
      key_of(page_with(R"({"kind": "mask", "is": "not attn_weights[0,0,:,:] > 0"})", at_mask));
  CHECK(weights.mask->blocked == all.mask->blocked);
}

TEST_CASE(
    "a mask is refused where its key is a constant, no condition or no map, and on a page that cannot be "
    "painted") {
  const auto mask = [](const char* is) { return fmt::format(R"({{"kind": "mask", "is": "{}"}})", is); };
  says(refusal_of(mask("1 = 1")), "a constant");
  says(refusal_of(mask("mask_bias[0,0,:,:]")), "no condition");
  says(refusal_of(mask("E = 128")), "no map");
  says(refusal_of(mask("mask_bias[0,0,3,2] = -inf")), "no map");
  says(refusal_of(mask("mask_bias[0,0,:,:] = -inf"), R"("step": "mask",)"), "no veil");
  says(refusal_of(mask("mask_bias[0,0,:,:] = -inf"), R"("step": "concat", "veil": true,)"),
       "scores, scale, mask");
  const auto problem = [&](const char* is, const char* keys = at_mask) {
    return key_of(page_with(mask(is), keys)).problem;
  };
  says(problem("mask_bias[0,0,:,:] = -inf", R"("step": "mask", "veil": true,)"),
       "no such cells of mask_bias");
  says(problem("mask_bias[0,:,3,:] = -inf"), "runs along axis 1");
  says(problem("in_proj_weight = 0"), "at most 4096");
  says(problem("attn_weights[0,0,:,:] = 0",
               R"("step": "mask", "veil": true, "set": ["mask.preset=padding:12"],)"),
       "NaN");
}

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
  CHECK_CONTAINS(problem(R"({"kind": "cell", "tensor": "scores", "row": "E"})"),
                 "row 128 lies outside scores");
  CHECK_CONTAINS(problem(R"({"kind": "cell", "tensor": "q_rotary", "row": "E"})"), "no map q_rotary");
  CHECK_CONTAINS(problem(R"({"kind": "head", "is": "D"})"), "16, and there are 8 heads");
  CHECK_CONTAINS(problem(R"({"kind": "head", "is": "D / 5"})"), "no index");
  CHECK_CONTAINS(problem(R"({"kind": "shape", "is": "shape bias_k"})"), "bias_k");
}

TEST_CASE("sizes are read with or without brackets, as numbers and as letters of the page") {
  const PlaylistPage page = page_with(R"({"kind": "shape", "is": "shape k_heads"})");
  const ComputedPage seen(page);
  const LiveSubject subject(*seen.trace, page.scenario.get(), &seen.inputs);
  const std::vector<Index> right{1, 8, 12, 16};
  for (const char* typed :
       {"1, 8, 12, 16", "(1,8,12,16)", "1 8 12 16", "[N, H, S, D]", "N,H,L,E/H", "1x8x12x16",
        "1 x 8 x 12 x 16", "1×8×12×16", "1 · 8 · 12 · 16", "N×H×L×D", "1*8*12*16"})
    CHECK(typed_sizes(typed, subject) == right);
  for (const char* typed : {"", "()", "1, eight", "1.5, 2", "-1, 8", "1, x"})
    CHECK(typed_sizes(typed, subject).empty());
}

TEST_CASE("a key that cannot be computed says why") {
  const auto problem = [](const char* answer) { return key_of(page_with(answer)).problem; };
  CHECK_CONTAINS(problem(R"({"kind": "number", "is": "scores[0,0,99,0]"})"), "scores[0,0,99,0]");
  CHECK_CONTAINS(problem(R"json({"kind": "number", "is": "1 / (E - 128)"
})json"),
                 "not a finite number");
  CHECK_CONTAINS(
      problem(R"({"kind": "choice", "options": [{"text": "a", "is": "E = 1"}, {"text": "b", "is": "E = 2"}]})"),
      "none of the options");
  CHECK_CONTAINS(
      problem(R"({"kind": "choice", "options": [{"text": "a", "is": "E > 1"}, {"text": "b", "is": "E > 2"}]})"),
      "options 1 and 2 both");
  CHECK_CONTAINS(
      problem(
          R"({"kind": "choice", "options": [{"text": "a", "is": "E = 128"}, {"text": "b", "is": "q[0,99,0] > 2"}]})"),
      "option 2 needs: q[0,99,0] > 2");
}

TEST_CASE("an answer is written as it was read") {
  for (const char* written :
       {who_is_looked_at, R"({"kind": "number", "is": "2 * E", "within": 0.5, "unit": "columns"})",
        R"({"kind": "shape", "is": "shape q"})", R"({"kind": "head", "is": "H - 1"})",
        R"({"kind": "cell", "tensor": "scores", "row": "8", "column": "argmax scores[0,0,8,:]"})",
        R"({"kind": "number", "is": "E"})", which_is_cut,
        R"({"kind": "weights", "is": "attn_weights[0,0,8,:]", "within": 0.2})",
        R"({"kind": "weights", "is": "(attn_weights[0,0,8,:] + attn_weights[0,1,8,:]) / 2"})",
        R"({"kind": "mask", "is": "mask_bias[0,0,:,:] = -inf"})"}) {
    const PlaylistPage page = page_with(written, at_mask);
    Playlist playlist{"t", {page}};
    CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
    playlist.pages[0].answer->is += " + 1";
    CHECK_FALSE(playlist.pages[0] == page);
  }
}

TEST_CASE("every kind of answer is a row of the table, in the order of the kinds") {
  const std::vector<std::string_view> names = answer_kind_names();
  CHECK(names.size() == 8);
  CHECK(names[static_cast<std::size_t>(AnswerKind::head)] == "head");
  CHECK(names[static_cast<std::size_t>(AnswerKind::mask)] == "mask");
  for (std::size_t i = 0; i < names.size(); ++i) {
    PageAnswer answer = blank_answer(static_cast<AnswerKind>(i));
    answer.tensor = TensorId::scores;
    CHECK(key_json(answer, nullptr, {})["kind"] == names[i]);
    const std::string words = key_words(answer, nullptr, {});
    says(words, "asks for ");
    says(words, "not computed here");
  }
}

TEST_CASE("the options of a page are shown with the numbers of its trace") {
  const PlaylistPage page = page_with(who_is_looked_at);
  const ComputedPage seen(page);
  const PageWords words = page_words(page, *page.scenario, seen.inputs, *seen.trace);
  REQUIRE(words.options.size() == 2);
  CHECK(words.options[0] == "'" + seen.inputs.labels.key[7] + "'");
  CHECK(words.reasons[1].find("It gets ") == 0);
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

TEST_CASE("a number that stays the same is a key only where its author says why it is right") {
  for (const char* is : {"3", "0 * E + 5", "1/8"}) {
    CAPTURE(is);
    const std::string key = fmt::format(R"("is": "{}")", is);
    says(refusal_of(fmt::format(R"({{"kind": "number", {}}})", key), ""), "\"why\"");
    says(refusal_of(fmt::format(R"({{"kind": "number", {}, "why": " "}})", key), ""), "the text is empty");
    const PlaylistPage page = page_with(
        fmt::format(R"({{"kind": "number", {}, "why": "Three projections: {{E}} features each."}})", key));
    CHECK(key_of(page).number);
    const ComputedPage seen(page);
    CHECK(page_words(page, *page.scenario, seen.inputs, *seen.trace).why ==
          "Three projections: 128 features each.");
    Playlist playlist;
    playlist.pages.push_back(page);
    CHECK(playlist_from_json(playlist_to_json(playlist), "again").pages[0] == page);
  }
  says(refusal_of(R"({"kind": "head", "is": "3"})", ""), "the key is a constant");
}

TEST_CASE("notes are read and written with their page, and their live numbers are checked") {
  const PlaylistPage page = page_with(R"({"kind": "number", "is": "E"})", R"("notes": "Wait for {H} hands.",)");
  CHECK(page.notes == "Wait for {H} hands.");
  const ComputedPage seen(page);
  CHECK(page_words(page, *page.scenario, seen.inputs, *seen.trace).notes == "Wait for 8 hands.");
  Playlist playlist;
  playlist.pages.push_back(page);
  CHECK(playlist_from_json(playlist_to_json(playlist), "again").pages[0] == page);
  PlaylistPage wrong = page;
  wrong.notes = "{max}";
  CHECK_FALSE(wrong == page);
  CHECK_FALSE(page_problem(wrong, *seen.trace).empty());
}
