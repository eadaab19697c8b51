// What the answers claim, held against the numbers.
#include "core/lessons/lessons.h"

#include <cmath>
#include <map>

#include "core/attention/reference_backend.h"
#include "core/files/array_files.h"
#include "core/lessons/live_text.h"
#include "core/lessons/page_words.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/train/trained_models.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

const PlaylistPage& page_of(std::string_view word, std::string_view lesson = "questions") {
  for (const PlaylistPage& page : lesson_playlist(lesson).pages)
    if (page.title.find(word) != std::string::npos) return page;
  throw std::runtime_error("no page with " + std::string(word));
}

TracePtr trace_of_lesson(const PlaylistPage& page) {
  static std::map<const Scenario*, TracePtr> known;
  TracePtr& trace = known[page.scenario.get()];
  if (!trace) trace = reference_forward(make_scenario_inputs(*page.scenario, DType::f32).attention);
  return trace;
}

double number(const PlaylistPage& page, TensorId id, std::initializer_list<Index> index) {
  return trace_of_lesson(page)->tensor(id)->at(index);
}

double row_sum(const PlaylistPage& page, TensorId id, Index head, Index query, Index keys) {
  double sum = 0.0;
  for (Index key = 0; key < keys; ++key) sum += number(page, id, {0, head, query, key});
  return sum;
}

const PlaylistPage& training_page(std::string_view title) {
  for (const PlaylistPage& page : lesson_playlist("heads_differ").pages)
    if (page.title == title) return page;
  throw std::runtime_error("no page " + std::string(title));
}

const std::string& model_of(const PlaylistPage& page) {
  return *page.scenario->parameters.file;
}

// The same training at another step.
std::string at_step(const std::string& folder, Index step) {
  return folder.substr(0, folder.rfind('/') + 1) + std::to_string(step);
}

double right(const std::string& folder) {
  return trained_task(folder).held_out_accuracy.value_or(NAN);
}

Index brightest_key(const PlaylistPage& page, Index head, Index query) {
  const TracePtr trace = reference_forward(make_scenario_inputs(*page.scenario, DType::f32).attention);
  const Tensor& weights = *trace->tensors.attn_weights;
  Index best = 0;
  for (Index key = 0; key < weights.shape().size(3); ++key)
    if (weights.at({0, head, query, key}) > weights.at({0, head, query, best})) best = key;
  return best;
}

}  // namespace

TEST_CASE("every page can be shown as it says, and every number in its words is there") {
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    CHECK_FALSE(playlist.title.empty());
    CHECK_FALSE(lesson.what.empty());
    for (const PlaylistPage& page : playlist.pages) {
      CAPTURE(page.title);
      const TracePtr trace = trace_of_lesson(page);
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
  CHECK(lesson_playlist("questions").pages.size() == 39);
  CHECK_THROWS_WITH_AS(lesson_playlist("question"), doctest::Contains("questions"), Error);
}

TEST_CASE("one wide head differs from many, and its scores are the sum of theirs") {
  const PlaylistPage& page = page_of("one head of 128");
  CHECK(std::stod(live_text("{wide output}", *trace_of_lesson(page))) > 0.1);
  CHECK_CONTAINS(live_text("{wide scores}", *trace_of_lesson(page)), "e−");
}

TEST_CASE("the scale takes the deviation of the scores down by the root of the head's width") {
  const Trace& trace = *trace_of_lesson(page_of("√d_k"));
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
  const TracePtr trace = trace_of_lesson(page);
  CHECK(live_text("{difference output[0,0,:] output[0,3,:]}", *trace) == "0");
  CHECK(live_text("{difference output[0,0,:] output[0,1,:]}", *trace) != "0");
}

TEST_CASE("the other answers' facts") {
  const PlaylistPage& grouped = page_of("interleave");
  CHECK(trace_of_lesson(grouped)->options.num_heads == 8);
  CHECK(trace_of_lesson(grouped)->options.num_kv_heads == 2);
  CHECK(live_text("{shape q}", *trace_of_lesson(page_of("divide embed_dim"))) == "(1,12,160)");
  const PlaylistPage& appended = page_of("bias_k");
  CHECK(live_text("{S} {S′}", *trace_of_lesson(appended)) == "12 14");
  CHECK(number(appended, TensorId::scores, {0, 0, 0, 13}) == 0.0);
  const PlaylistPage& causal = page_of("L ≠ S");
  CHECK(number(causal, TensorId::mask_bias, {0, 0, 0, 1}) == -INFINITY);
  CHECK(live_text("{shape v_heads} {shape k_heads}", *trace_of_lesson(page_of("K used"))) ==
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
  CHECK(std::stod(live_text("{max attn_weights}", *trace_of_lesson(page("Without the scale")))) > 0.95);
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
  CHECK(live_text("{max output} {min output}", *trace_of_lesson(page("muted"))) == "0 0");
  const PlaylistPage &frozen = page("frozen head"), &values = page("through the values");
  CHECK(number(frozen, TensorId::attn_weights, {0, 0, 8, 7}) == 1.0);
  CHECK(number(values, TensorId::attn_weights, {0, 0, 8, 7}) == 1.0);
  CHECK(number(values, TensorId::head_output, {0, 0, 8, 0}) ==
        doctest::Approx(number(values, TensorId::v_heads, {0, 0, 7, 0})));
  CHECK(number(values, TensorId::head_output, {0, 0, 8, 0}) !=
        number(frozen, TensorId::head_output, {0, 0, 8, 0}));
}

TEST_CASE(
    "the lesson about training has ten pages, which ask before they show, and no model is stored for them") {
  const Playlist& lesson = lesson_playlist("heads_differ");
  CHECK(lesson.pages.size() == 10);
  for (const PlaylistPage& page : lesson.pages) {
    CAPTURE(page.title);
    CHECK_FALSE(page.ask.empty());
    CHECK(page.answer);
    CHECK(model_of(page).starts_with(trained_prefix));
  }
}

TEST_CASE(
    "the sentence of the lesson is answered with the animal that was too wild, after the training and not "
    "before") {
  const auto said = [](const PlaylistPage& page) {
    const auto model = TextModel::open(model_of(page));
    const ModelText text = model->read(page.scenario->inputs.text);
    const Index last = static_cast<Index>(text.ids.size()) - 1;
    const TensorPtr logits =
        model->transformer()->logits(*model->transformer()->run(text.ids).last_hidden, last, 1);
    Index best = 0;
    for (Index token = 0; token < logits->shape().size(1); ++token)
      if (logits->at({0, token}) > logits->at({0, best})) best = token;
    return model->label(static_cast<TokenId>(best));
  };
  CHECK(said(training_page("Before the first step")) != "camel");
  CHECK(said(training_page("The word that decides")) == "camel");
}

TEST_CASE(
    "head 0 looks at the first noun at one page of the lesson about training, and at the adjective on the "
    "next") {
  CHECK(brightest_key(training_page("Two nouns, no adjective"), 0, 14) == 1);
  CHECK(brightest_key(training_page("The word that decides"), 0, 14) == 11);
  CHECK(brightest_key(training_page("Two jobs, four heads"), 2, 14) == 11);
}

TEST_CASE("the pages about other data begin with the same numbers in every layer") {
  const auto arrays = [](std::string_view title) {
    return read_array_file(at_step(model_of(training_page(title)), 0) + "/model.safetensors");
  };
  const std::vector<NamedTensor> sentences = arrays("Two jobs, four heads"),
                                 rows_of_words = arrays("The same beginning, other data");
  int compared = 0;
  for (const NamedTensor& array : sentences) {
    if (!array.name.starts_with("layers.")) continue;
    for (const NamedTensor& other : rows_of_words)
      if (other.name == array.name) {
        ++compared;
        CHECK(std::ranges::equal(array.tensor->values<double>(), other.tensor->values<double>()));
      }
  }
  CHECK(compared == 24);
}

TEST_CASE(
    "one wide head has as many parameters as four, is right less often after 160 steps, and learns it in the "
    "end") {
  const std::string four = at_step(model_of(training_page("Two nouns, no adjective")), 160),
                    wide = model_of(training_page("One wide head instead"));
  const auto parameters = [](const std::string& folder) {
    Index count = 0;
    for (const NamedTensor& array : read_array_file(folder + "/model.safetensors"))
      count += array.tensor->shape().element_count();
    return count;
  };
  CHECK(parameters(four) == parameters(wide));
  CHECK(right(four) == doctest::Approx(0.96).epsilon(0.005));
  CHECK(right(wide) < 0.6);
  CHECK(right(at_step(wide, 320)) > 0.9);
}

TEST_CASE("heads that begin equal learn the sentences of the lesson with one map in each layer") {
  CHECK(right(model_of(training_page("All heads begin equal"))) > 0.99);
}
