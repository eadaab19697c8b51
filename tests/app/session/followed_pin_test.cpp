// Where a pin goes when the same text is cut into other tokens.
#include "app/session/selection.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/scenario/presets.h"

using namespace headwise;

namespace {

Selection pinned_at(Index query, Index key) {
  Selection selection;
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, 7, query, key}};
  return selection;
}

std::string word(const std::vector<std::string>& words, Index at) {
  return words[static_cast<std::size_t>(at)];
}

}  // namespace

TEST_CASE("a pin stays on its words when the parameters are of no model, and comes back with the model") {
  const Scenario trained = preset_scenario("welcome");
  const ComputationPtr before = compute(trained, nullptr);
  const std::vector<std::string>& words = before->inputs.labels.query;
  const auto it = std::ranges::find(words, "it") - words.begin();
  const auto animal = std::ranges::find(words, "animal") - words.begin();
  REQUIRE(it < static_cast<Index>(words.size()));
  for (const ParameterSource source : {ParameterSource::hand_made, ParameterSource::random}) {
    Scenario other = trained;
    other.parameters = {};
    other.parameters.source = source;
    const ComputationPtr now = compute(other, before.get());
    const Selection after = selection_after(pinned_at(it, animal), *before, *now);
    REQUIRE(after.pinned);
    CHECK(word(now->inputs.labels.query, after.pinned->index[2]) == "it");
    CHECK(word(now->inputs.labels.key, after.pinned->index[3]) == "animal");
    const Selection again = selection_after(after, *now, *before);
    CHECK(again.pinned == pinned_at(it, animal).pinned);
  }
}

TEST_CASE("a pin goes with a word that is gone, and stays where the text itself is typed anew") {
  const Scenario trained = preset_scenario("welcome");
  const ComputationPtr before = compute(trained, nullptr);
  Computation now = *before;
  now.inputs.labels.query.back() = now.inputs.labels.key.back() = "!";
  const auto last = static_cast<Index>(now.inputs.labels.query.size()) - 1;
  CHECK_FALSE(selection_after(pinned_at(last, 0), *before, now).pinned);
  CHECK_FALSE(selection_after(pinned_at(0, last), *before, now).pinned);
  CHECK(selection_after(pinned_at(0, 1), *before, now).pinned == pinned_at(0, 1).pinned);
  now.scenario.inputs.text += "!";
  CHECK(selection_after(pinned_at(last, 0), *before, now).pinned == pinned_at(last, 0).pinned);
}

TEST_CASE("a head that one wide head replaced is looked at again when the heads are back, with its pin") {
  const Scenario eight = preset_scenario("welcome");
  const ComputationPtr many = compute(eight, nullptr);
  const auto heads = [&](std::int64_t count) {
    Scenario other = eight;
    other.attention.num_heads = count;
    return compute(other, many.get());
  };
  Selection seventh = pinned_at(1, 2);
  seventh.head = 7;
  const ComputationPtr one = heads(1), four = heads(4);
  const Selection wide = selection_after(seventh, *many, *one);
  CHECK(wide.head == 0);
  CHECK(wide.pinned == CellRef{seventh.pinned->tensor, {0, 0, 1, 2}});
  const Selection back = selection_after(wide, *one, *many);
  CHECK(back.head == 7);
  CHECK(back.pinned == seventh.pinned);
  CHECK_FALSE(back.lost_head);

  // On the way through other numbers of heads it is not forgotten ...
  const Selection some = selection_after(selection_after(seventh, *many, *four), *four, *one);
  CHECK(some.head == 0);
  CHECK(selection_after(some, *one, *many).head == 7);
  // ... but what was chosen in between stays.
  Selection chosen = selection_after(seventh, *many, *four);
  CHECK(chosen.head == 3);
  chosen.head = 1;
  CHECK(selection_after(chosen, *four, *many).head == 1);
}
