// What a number says in words, held against the numbers of the trace.
#include "app/content/cell_terms.h"

#include <cmath>
#include <limits>

#include "core/scenario/presets.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/checks.h"

using namespace headwise;
using Id = TensorId;

namespace {

std::string meaning(const TracedScenario& given, Id id, const std::vector<Index>& index) {
  return cell_meaning(*given.trace, given.inputs.labels, {{id}, index});
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TracedScenario sentence(std::initializer_list<std::string> settings = {}) {
  Scenario scenario = preset_scenario("hand_made");
  for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
  TracedScenario result{scenario, make_scenario_inputs(scenario, DType::f32), nullptr};
  result.trace = reference_forward(result.inputs.attention);
  return result;
}

// The words at rows 1 and 5 of "The animal didn't cross the street because it was too tired";
// "the" stands in it once.
constexpr Index animal = 1, the = 5;

}  // namespace

TEST_CASE("a weight is told as the share of attention that it is") {
  const TracedScenario given = sentence();
  const double weight = given.trace->tensor(Id::attn_weights)->at({0, 0, animal, the});
  const std::string text = meaning(given, Id::attn_weights, {0, 0, animal, the});
  CHECK_CONTAINS(text, "In head 0, “animal” gives ");
  CHECK_CONTAINS(text, " of its attention to “the”");
  const std::size_t begin = text.find("gives ") + 6;
  if (weight >= 1e-4) {
    CHECK(std::abs(std::stod(text.substr(begin)) - 100.0 * weight) < 0.051);
  } else {
    CHECK(text.substr(begin, 4) == "less");
  }
}

TEST_CASE("a score is told by its place in its row") {
  const TracedScenario given = sentence();
  const TensorPtr scores = given.trace->tensor(Id::scores);
  const Index keys = scores->shape().size(3);
  int best = 0, second = 0;
  for (Index key = 0; key < keys; ++key) {
    const std::string text = meaning(given, Id::scores, {0, 5, animal, key});
    Index larger = 0;
    for (Index other = 0; other < keys; ++other)
      larger += scores->at({0, 5, animal, other}) > scores->at({0, 5, animal, key});
    CHECK(says(text, ": the best match of the 12") == (larger == 0));
    CHECK(says(text, "the 2nd best match") == (larger == 1));
    CHECK(says(text, "the 11th best match") == (larger == 10));
    best += larger == 0, second += larger == 1;
  }
  CHECK(best >= 1);
  CHECK(second >= 1);
}

TEST_CASE("a blocked weight is told as blocked, with where the attention went instead") {
  const TracedScenario given = sentence({"mask.is_causal=true"});
  const Tensor& weights = *given.trace->tensor(Id::attn_weights);
  REQUIRE(weights.at({0, 2, animal, the}) == 0.0);
  const std::string text = meaning(given, Id::attn_weights, {0, 2, animal, the});
  CHECK_CONTAINS(text,
                 "The mask blocks “the” for “animal”: its share is 0, and the other keys share all of the "
                 "attention, most of all “");
  // Without the mask the same pair is a share like any other.
  CHECK_CONTAINS(meaning(sentence(), Id::attn_weights, {0, 2, animal, the}), "“animal” gives");
}

TEST_CASE("where a sink takes a share, the other keys are not said to share all of the attention") {
  const TracedScenario given = sentence({"mask.is_causal=true", "attention.sink=1"});
  CHECK_CONTAINS(
      meaning(given, Id::attn_weights, {0, 0, animal, the}),
      "The mask blocks “the” for “animal”: its share is 0, and the other keys share what the sink leaves "
      "of the attention, most of all ");
}

TEST_CASE("a key that the indexer does not choose is not said to be blocked") {
  const TracedScenario given =
      sentence({R"(mask.indexer={"heads":2,"width":8,"k":1})", "mask.is_causal=true"});
  const Tensor& weights = *given.trace->tensor(Id::attn_weights);
  const Index left = weights.at({0, 0, the, animal}) == 0.0 ? animal : 0;  // one key of six is chosen
  CHECK_CONTAINS(meaning(given, Id::attn_weights, {0, 0, the, left}), "The indexer does not choose “");
  CHECK_CONTAINS(meaning(given, Id::masked_scores, {0, 0, the, left}),
                 "the indexer does not choose this pair, and its weight is 0.");
  CHECK_CONTAINS(meaning(given, Id::attn_weights, {0, 0, animal, the}), "The mask blocks “the”");
}

TEST_CASE("where every key of a query is blocked, no other key is said to get its attention") {
  const TracedScenario given = sentence({"mask.preset=padding:12", "mask.fully_masked_rows=zero"});
  REQUIRE(given.trace->tensor(Id::attn_weights)->at({0, 0, animal, the}) == 0.0);
  CHECK(meaning(given, Id::attn_weights, {0, 0, animal, the}) ==
        "The masks block every key for “animal”: all its weights are set to 0.");
}

TEST_CASE("a blocked pair is said to be blocked, and its weight 0 only where it is") {
  const TracedScenario causal = sentence({"mask.is_causal=true"});
  CHECK(meaning(causal, Id::masked_scores, {0, 0, animal, the}) ==
        "“animal” may not attend to “the”: the mask blocks this pair, and its weight is 0.");
  CHECK(meaning(causal, Id::masked_scores, {0, 0, the, animal}).empty());
  // No key is left for any query.
  const TracedScenario nothing = sentence({"mask.valid_lens=[0]"});
  REQUIRE(nothing.trace->tensor(Id::masked_scores)->at({0, 0, 0, 0}) ==
          -std::numeric_limits<double>::infinity());
  const bool nan = std::isnan(nothing.trace->tensor(Id::attn_weights)->at({0, 0, 0, 0}));
  CHECK(says(meaning(nothing, Id::masked_scores, {0, 0, 0, 0}), "weight is 0") == !nan);
  if (nan) CHECK(meaning(nothing, Id::attn_weights, {0, 0, 0, 0}).empty());
}

TEST_CASE("an output of a head names the key that most of it comes from, where that can be said") {
  const TracedScenario given = sentence();
  const TensorPtr weights = given.trace->tensor(Id::attn_weights);
  Index most = 0;
  for (Index key = 1; key < weights->shape().size(3); ++key)
    if (weights->at({0, 0, the, key}) > weights->at({0, 0, the, most})) most = key;
  const std::string text = meaning(given, Id::head_output, {0, 0, the, 3});
  CHECK_CONTAINS(text, "Column 3 of head 0's output for “the”");
  CHECK_CONTAINS(text, "most of all “" + given.inputs.labels.key[static_cast<std::size_t>(most)] + "”");
  CHECK_FALSE(
      says(meaning(sentence({"attention.dropout=0.5"}), Id::head_output, {0, 0, the, 3}), "most of all"));
}

TEST_CASE("a column of concat is told by the head that wrote it, also where v is narrower than q and k") {
  const TracedScenario given = traced({"attention.v_head_dim=2"});
  REQUIRE(given.trace->tensor(Id::concat)->shape().size(2) == 6);
  CHECK_CONTAINS(meaning(given, Id::concat, {0, 0, 5}), "Head 2 wrote this");
  CHECK_CONTAINS(meaning(given, Id::concat, {0, 0, 5}), "column 1 of its output");
  CHECK(meaning(sentence(), Id::concat, {0, animal, 17}) ==
        "Head 1 wrote this for “animal”: it is column 1 of its output.");
}

TEST_CASE("where there is nothing to say beyond the formula, nothing is said") {
  const TracedScenario given = sentence();
  CHECK(meaning(given, Id::in_proj_weight, {0, 0}).empty());
  CHECK(meaning(given, Id::query, {0, 0, 0}).empty());
  CHECK(cell_meaning(*reference_backward(*given.trace), given.inputs.labels, {{Id::scores, true}, {0, 0, 0, 0}})
            .empty());
}

TEST_CASE("the sink's cells say what it takes, and the log-sum-exp which sink would take half") {
  const TracedScenario given = sentence({"attention.sink=40"});
  const double share = given.trace->tensors.sink_weights->at({0, 1, animal});
  const std::string text = meaning(given, Id::sink_weights, {0, 1, animal});
  CHECK_CONTAINS(text, "In head 1, the sink takes ");
  CHECK_CONTAINS(text, " of the attention of “animal”; the keys share the other ");
  REQUIRE(share > 1e-3);
  CHECK(std::abs(std::stod(text.substr(text.find("takes ") + 6)) - 100.0 * share) < 0.051);
  CHECK_CONTAINS(meaning(given, Id::lse, {0, 1, animal}), "a sink of this score would take half");
}

TEST_CASE("a score of the indexer says whether its key is chosen, left out, or blocked before") {
  const TracedScenario given =
      traced({R"(mask.indexer={"heads":2,"width":4,"k":2})", "mask.is_causal=true", "inputs.query_length=6"});
  CHECK_CONTAINS(meaning(given, Id::indexer_scores, {0, 2, 4}), "A mask blocks ");
  int chosen = 0, left = 0;
  for (Index key = 0; key <= 4; ++key) {
    const std::string text = meaning(given, Id::indexer_scores, {0, 4, key});
    CHECK_CONTAINS(text, " of the 5 that the masks leave.");
    chosen += says(text, "The indexer chooses ") ? 1 : 0;
    left += says(text, "The indexer does not choose ") ? 1 : 0;
  }
  CHECK(chosen == 2);
  CHECK(left == 3);
}
