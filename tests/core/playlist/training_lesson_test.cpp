// What the lesson about training says that is not read from the page it is said on.
#include <doctest/doctest.h>

#include <cmath>

#include "core/files/array_files.h"
#include "core/model/transformer/text_model.h"
#include "core/playlist/lessons.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/train/trained_models.h"

using namespace headwise;

namespace {

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
