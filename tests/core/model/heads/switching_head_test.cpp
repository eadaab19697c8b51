#include "core/model/heads/head_survey.h"

#include <doctest/doctest.h>

#include "core/model/transformer/text_model.h"

using namespace headwise;

namespace {

const std::string sentences_folder = HEADWISE_SOURCE_DIR "/assets/models/sentences";
const std::string copycat_folder = HEADWISE_SOURCE_DIR "/assets/models/copycat";

std::optional<SwitchingHead> switching_head(const TextModel& model, const std::string& first,
                                            const std::string& second) {
  return find_switching_head(*model.transformer(), model.read(first).ids, model.read(second).ids);
}

}  // namespace

TEST_CASE("the head that finds what it stands for is found by what it does, whatever the sentence") {
  const auto model = TextModel::open(sentences_folder);
  struct Case {
    const char *first, *second, *first_key, *second_key;
  };
  for (const auto& [first, second, first_key, second_key] :
       {Case{"the animal did not cross the street because it was too tired .",
             "the animal did not cross the street because it was too wide .", "animal", "street"},
        Case{"the horse did not cross the river because it was too hungry .",
             "the horse did not cross the river because it was too icy .", "horse", "river"}}) {
    const auto found = switching_head(*model, first, second);
    REQUIRE(found);
    const ModelText text = model->read(first);
    const auto label = [&](Index position) { return text.labels[static_cast<std::size_t>(position)]; };
    CHECK(found->layer == 1);  // as the model's card measures
    CHECK(found->head == 7);
    CHECK(label(found->query) == "it");
    CHECK(label(found->keys[0]) == first_key);
    CHECK(label(found->keys[1]) == second_key);
    CHECK(found->weights[0] > 0.8);
    CHECK(found->weights[1] > 0.8);
    const auto pass = model->transformer()->run(text.ids, {.keep_weights = true});
    const Tensor& weights = *pass.attn_weights[1];
    CHECK(weights.at({0, found->head, found->query, found->keys[0]}) == found->weights[0]);
  }
}

TEST_CASE("the versions of a sentence may come in either order") {
  const auto model = TextModel::open(sentences_folder);
  const std::string tired = "the animal did not cross the street because it was too tired .",
                    wide = "the animal did not cross the street because it was too wide .";
  const auto there = switching_head(*model, tired, wide), back = switching_head(*model, wide, tired);
  REQUIRE(there);
  REQUIRE(back);
  CHECK(back->head == there->head);
  CHECK(back->keys[0] == there->keys[1]);
  CHECK(back->weights[1] == there->weights[0]);
}

TEST_CASE("no head switches where nothing differs, or the lengths do") {
  const auto model = TextModel::open(sentences_folder);
  const std::string text = "the animal did not cross the street because it was too tired .";
  CHECK_FALSE(switching_head(*model, text, text));
  CHECK_FALSE(switching_head(*model, text, "the animal was tired ."));
}

TEST_CASE("what differs is neither the query nor a key of a switching head") {
  // Each token of copycat's second half attends to what followed the word the first time;
  // one word is exchanged.
  const auto model = TextModel::open(copycat_folder);
  const ModelText first = model->read("garden river lamp apple garden river"),
                  second = model->read("garden river lamp apple garden lamp");
  if (const auto found = find_switching_head(*model->transformer(), first.ids, second.ids)) {
    CHECK(first.ids[static_cast<std::size_t>(found->query)] ==
          second.ids[static_cast<std::size_t>(found->query)]);
    for (const Index key : found->keys)
      CHECK(first.ids[static_cast<std::size_t>(key)] == second.ids[static_cast<std::size_t>(key)]);
  }
}
