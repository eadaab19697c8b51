// What the answers claim, held against the numbers.
#include "core/playlist/lessons.h"

#include <cmath>
#include <map>

#include "core/answers/live_text.h"
#include "core/playlist/page_words.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

const PlaylistPage& page_of(std::string_view word, std::string_view lesson = "questions") {
  for (const PlaylistPage& page : lesson_playlist(lesson).pages)
    if (page.title.find(word) != std::string::npos) return page;
  throw std::runtime_error("no page with " + std::string(word));
}

TracePtr trace_of(const PlaylistPage& page) {
  static std::map<const Scenario*, TracePtr> known;
  TracePtr& trace = known[page.scenario.get()];
  if (!trace) trace = reference_forward(make_scenario_inputs(*page.scenario, DType::f32).attention);
  return trace;
}

double number(const PlaylistPage& page, TensorId id, std::initializer_list<Index> index) {
  return trace_of(page)->tensor(id)->at(index);
}

double row_sum(const PlaylistPage& page, TensorId id, Index head, Index query, Index keys) {
  double sum = 0.0;
  for (Index key = 0; key < keys; ++key) sum += number(page, id, {0, head, query, key});
  return sum;
}

}  // namespace

TEST_CASE("every page can be shown as it says, and every number in its words is there") {
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    CHECK_FALSE(playlist.title.empty());
    CHECK_FALSE(lesson.what.empty());
    for (const PlaylistPage& page : playlist.pages) {
      CAPTURE(page.title);
      const TracePtr trace = trace_of(page);
      CHECK_FALSE(page.title.empty());
      CHECK_FALSE(page.caption.empty());
      CHECK(page_problem(page, *trace) == "");
      const ScenarioInputs inputs = make_scenario_inputs(*page.scenario, DType::f32);
      CHECK(page_gaps(page, inputs, *trace).empty());
      const PageWords words = page_words(page, *page.scenario, inputs, *trace);
      CHECK_FALSE(words.ask_changed);
      CHECK_FALSE(words.caption_changed);
      for (const std::string& live : {words.ask, words.caption}) {
        CAPTURE(live);
        CHECK_LACKS(live, "–");
        CHECK(live.find_first_of("{}|") == std::string::npos);
        CHECK_LACKS(live, "  ");
        for (const char* loose : {" . ", " ,", "..", ",."}) CHECK_LACKS(live, loose);
      }
    }
  }
  CHECK(lesson_playlist("questions").pages.size() == 30);
  CHECK_THROWS_WITH_AS(lesson_playlist("question"), doctest::Contains("questions"), Error);
}

TEST_CASE("one wide head differs from many, and its scores are the sum of theirs") {
  const PlaylistPage& page = page_of("one head of 128");
  CHECK(std::stod(live_text("{wide output}", *trace_of(page))) > 0.1);
  CHECK_CONTAINS(live_text("{wide scores}", *trace_of(page)), "e−");
}

TEST_CASE("the scale takes the deviation of the scores down by the root of the head's width") {
  const Trace& trace = *trace_of(page_of("√d_k"));
  const auto deviation = [&](const TensorPtr& tensor) {
    double sum = 0.0, squares = 0.0;
    for (const float value : tensor->values<float>()) sum += value, squares += value * value;
    const auto count = static_cast<double>(tensor->size());
    return std::sqrt(squares / count - sum * sum / count / count);
  };
  CHECK(deviation(trace.tensors.scores) / deviation(trace.tensors.scaled_scores) == doctest::Approx(8.0));
  CHECK(deviation(trace.tensors.scores) == doctest::Approx(8.0).epsilon(0.1));
  CHECK(std::stod(live_text("{spread 64}", trace)) ==
        doctest::Approx(deviation(trace.tensors.scores)).epsilon(0.01));
  CHECK(std::stod(live_text("{spread 16}", trace)) == doctest::Approx(4.0).epsilon(0.1));
  CHECK(std::stod(live_text("{spread 4}", trace)) == doctest::Approx(2.0).epsilon(0.1));
  CHECK(std::stod(live_text("{spread 1}", trace)) == doctest::Approx(1.0).epsilon(0.1));
}

TEST_CASE("a query's row sums to 1, a key's column does not") {
  const PlaylistPage& page = page_of("over rows");
  CHECK(row_sum(page, TensorId::attn_weights, 2, 5, 12) == doctest::Approx(1.0));
  double column = 0.0;
  for (Index query = 0; query < 12; ++query) column += number(page, TensorId::attn_weights, {0, 2, query, 0});
  CHECK(column > 6.0);
}

TEST_CASE("padding blocks columns and leaves the rows of padded queries as they are") {
  const PlaylistPage& page = page_of("padded queries");
  CHECK(row_sum(page, TensorId::attn_weights, 4, 11, 9) == doctest::Approx(1.0));
  CHECK(number(page, TensorId::attn_weights, {0, 4, 0, 9}) == 0.0);
  const PlaylistPage& merged = page_of("Padding, causal");
  CHECK(number(merged, TensorId::attn_weights, {0, 4, 11, 10}) == 0.0);
  CHECK(number(merged, TensorId::attn_weights, {0, 4, 0, 1}) == 0.0);
  CHECK(number(merged, TensorId::attn_weights, {0, 4, 11, 9}) > 0.0);
}

TEST_CASE("a mask that writes 0 lets its keys through, and zeros behind the softmax leave less than 1") {
  CHECK(number(page_of("before the softmax"), TensorId::attn_weights, {0, 4, 0, 11}) > 0.05);
  CHECK(row_sum(page_of("multiply by 0"), TensorId::attn_weights, 4, 3, 4) == doctest::Approx(4.0 / 12));
}

TEST_CASE("a row without a key is NaN, and so is the output") {
  const PlaylistPage& page = page_of("every key");
  CHECK(std::isnan(number(page, TensorId::attn_weights, {0, 0, 0, 0})));
  CHECK(std::isnan(number(page, TensorId::output, {0, 11, 0})));
}

TEST_CASE("dropout takes a row's sum away from 1") {
  const PlaylistPage& page = page_of("a row sum to 1");
  CHECK(row_sum(page, TensorId::attn_weights, 4, 8, 12) == doctest::Approx(1.0));
  CHECK(std::abs(row_sum(page, TensorId::dropped_weights, 4, 8, 12) - 1.0) > 0.01);
  CHECK(std::abs(row_sum(page, TensorId::dropped_weights, 4, 8, 12) -
                 row_sum(page, TensorId::dropped_weights, 4, 9, 12)) > 0.01);
}

TEST_CASE("one matrix for asking and being asked makes scores symmetric, two do not") {
  const PlaylistPage& page = page_of("both W_Q");
  CHECK(std::abs(number(page, TensorId::scores, {0, 3, 8, 7}) - number(page, TensorId::scores, {0, 3, 7, 8})) <
        1e-3);
  CHECK(number(page, TensorId::scores, {0, 0, 8, 7}) > 1.0 + number(page, TensorId::scores, {0, 0, 7, 8}));
}

TEST_CASE("without positions equal words have equal outputs") {
  const PlaylistPage& page = page_of("order of words");
  const TracePtr trace = trace_of(page);
  CHECK(live_text("{difference output[0,0,:] output[0,3,:]}", *trace) == "0");
  CHECK(live_text("{difference output[0,0,:] output[0,1,:]}", *trace) != "0");
}

TEST_CASE("the other answers' facts") {
  const PlaylistPage& grouped = page_of("interleave");
  CHECK(trace_of(grouped)->options.num_heads == 8);
  CHECK(trace_of(grouped)->options.num_kv_heads == 2);
  CHECK(live_text("{shape q}", *trace_of(page_of("divide embed_dim"))) == "(1,12,160)");
  const PlaylistPage& appended = page_of("bias_k");
  CHECK(live_text("{S} {S′}", *trace_of(appended)) == "12 14");
  CHECK(number(appended, TensorId::scores, {0, 0, 0, 13}) == 0.0);
  const PlaylistPage& causal = page_of("L ≠ S");
  CHECK(number(causal, TensorId::mask_bias, {0, 0, 0, 1}) == -INFINITY);
  CHECK(live_text("{shape v_heads} {shape k_heads}", *trace_of(page_of("K used"))) ==
        "(1,8,12,24) (1,8,12,16)");
}

TEST_CASE("on the first walk the word before is the brightest, and takes most of the softmax") {
  const PlaylistPage& page = page_of("every query meets", "first_walk");
  for (Index key = 0; key < 12; ++key) {
    if (key == 7) continue;
    CHECK(number(page, TensorId::scores, {0, 0, 8, key}) < number(page, TensorId::scores, {0, 0, 8, 7}));
  }
  CHECK(number(page, TensorId::attn_weights, {0, 0, 8, 7}) > 0.85);
}

TEST_CASE("what is broken is broken as it says") {
  const auto page = [](std::string_view word) -> const PlaylistPage& { return page_of(word, "break_it"); };
  CHECK(std::stod(live_text("{max attn_weights}", *trace_of(page("Without the scale")))) > 0.95);
  CHECK(number(page("Without positions"), TensorId::attn_weights, {0, 0, 8, 7}) == doctest::Approx(1.0 / 12));
  CHECK(number(page("Without positions"), TensorId::attn_weights, {0, 1, 5, 0}) >
        2 * number(page("Without positions"), TensorId::attn_weights, {0, 1, 5, 1}));
  CHECK(number(page("leaks"), TensorId::attn_weights, {0, 4, 0, 11}) > 0.05);
  const PlaylistPage& infinite = page("infinite value");
  CHECK(number(infinite, TensorId::attn_weights, {0, 4, 3, 11}) == 0.0);
  CHECK(std::isinf(number(infinite, TensorId::v_heads, {0, 4, 11, 0})));
  CHECK(std::isnan(number(infinite, TensorId::head_output, {0, 4, 3, 0})));
  CHECK(number(page("Too hot"), TensorId::attn_weights, {0, 0, 8, 7}) < 0.2);
  CHECK(number(page("Too cold"), TensorId::attn_weights, {0, 0, 8, 7}) > 0.999);
  CHECK(live_text("{max output} {min output}", *trace_of(page("muted"))) == "0 0");
  const PlaylistPage &frozen = page("frozen head"), &values = page("through the values");
  CHECK(number(frozen, TensorId::attn_weights, {0, 0, 8, 7}) == 1.0);
  CHECK(number(values, TensorId::attn_weights, {0, 0, 8, 7}) == 1.0);
  CHECK(number(values, TensorId::head_output, {0, 0, 8, 0}) ==
        doctest::Approx(number(values, TensorId::v_heads, {0, 0, 7, 0})));
  CHECK(number(values, TensorId::head_output, {0, 0, 8, 0}) !=
        number(frozen, TensorId::head_output, {0, 0, 8, 0}));
}
