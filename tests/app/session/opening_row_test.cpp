// The row of the opening scene: found by what its head does, and true to the trace.
#include "app/session/opening_row.h"

#include <doctest/doctest.h>

#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"

using namespace headwise;

namespace {

std::vector<std::string> texts(const OpeningRow& row) {
  std::vector<std::string> all;
  for (const OpeningWord& word : row.words) all.push_back(word.text);
  return all;
}

}  // namespace

TEST_CASE("the opening scene shows the head that finds the noun, and the weights of its trace") {
  const auto subject = opening_subject();
  REQUIRE(subject);
  CHECK(subject->model_heads == 16);
  const ComputationPtr tired = compute(subject->scenario, nullptr);
  const auto row = opening_row(*subject, tired);
  REQUIRE(row);
  CHECK(texts(*row) == std::vector<std::string>{"the", "animal", "did", "not", "cross", "the", "street",
                                                "because", "it", "was", "too", "tired", "."});
  CHECK(row->words[row->query].text == "it");
  CHECK(row->words[row->strongest].text == "animal");
  CHECK(row->words[row->strongest].weight > 0.9);
  CHECK(row->words[row->swapped].text == "tired");
  CHECK(row->other_word == "wide");
  const Tensor& weights = *tired->trace->tensors.attn_weights;
  for (const OpeningWord& word : row->words)
    CHECK(word.weight == weights.at({0, subject->found.head, subject->found.query, word.position}));
  // The prediction hangs on this head.
  CHECK(row->predicted == "animal");
  CHECK(row->probability > 0.9);
  CHECK(row->without_head != "animal");
}

TEST_CASE("with the other word the arc ends at the other noun, and back again") {
  const auto subject = opening_subject();
  REQUIRE(subject);
  const Scenario wide = with_other_version(*subject, subject->scenario);
  CHECK(wide.inputs.text == "the animal did not cross the street because it was too wide .");
  CHECK(opening_version(*subject, wide) == 1u);
  CHECK(with_other_version(*subject, wide) == subject->scenario);
  const auto row = opening_row(*subject, compute(wide, nullptr));
  REQUIRE(row);
  CHECK(row->words[row->query].text == "it");
  CHECK(row->words[row->strongest].text == "street");
  CHECK(row->words[row->swapped].text == "wide");
  CHECK(row->other_word == "tired");
  CHECK(row->predicted == "street");
}

TEST_CASE("an edit of the layer is in the row: a muted head changes the prediction, not the weights") {
  const auto subject = opening_subject();
  REQUIRE(subject);
  const auto plain = opening_row(*subject, compute(subject->scenario, nullptr));
  const Scenario muted = with_setting(subject->scenario, "heads.gain=[1,1,1,1,1,1,1,0]");
  const auto row = opening_row(*subject, compute(muted, nullptr));
  REQUIRE(plain);
  REQUIRE(row);
  CHECK(row->words[row->strongest].weight == plain->words[plain->strongest].weight);
  CHECK(row->predicted == plain->without_head);
  CHECK(row->probability == doctest::Approx(plain->probability_without_head));
  CHECK(row->without_head.empty());
}

TEST_CASE("other sentences, layers and models are not the opening scene's") {
  const auto subject = opening_subject();
  REQUIRE(subject);
  for (const char* setting : {"inputs.text=the dog sleeps .", "parameters.layer=0"}) {
    const Scenario other = with_setting(subject->scenario, setting);
    CHECK_FALSE(opening_version(*subject, other));
    CHECK_FALSE(opening_row(*subject, compute(other, nullptr)));
    CHECK(with_other_version(*subject, other) == other);
  }
  CHECK_FALSE(opening_version(*subject, preset_scenario("hand_made")));
}
