// Which row is followed, where each picture shows it, and what is said of it at every step.

#include <fmt/format.h>
#include <cmath>

#include "app/content/followed_token.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

using Id = TensorId;

Selection pinned_at(Id id, std::vector<Index> index) {
  Selection selection;
  selection.pinned = CellRef{{id}, std::move(index)};
  return selection;
}

std::string said(const TracedScenario& given, Step step, Index token, Index head = 0) {
  Selection selection;
  selection.step = step;
  selection.head = head;
  return followed_sentence(*given.trace, given.inputs.labels, selection, {0, token});
}

}  // namespace

TEST_CASE("the row that is followed is the query of the pinned cell, and a key is none") {
  const TracedScenario given = traced({"inputs.batch=2"});
  const Trace& trace = *given.trace;
  CHECK(followed_row(trace, pinned_at(Id::attn_weights, {1, 2, 3, 0})) == FollowedRow{1, 3});
  CHECK(followed_row(trace, pinned_at(Id::query, {1, 2, 5})) == FollowedRow{1, 2});
  CHECK(followed_row(trace, pinned_at(Id::output, {0, 1, 5})) == FollowedRow{0, 1});
  CHECK_FALSE(followed_row(trace, pinned_at(Id::k_heads, {0, 0, 1, 0})));
  CHECK_FALSE(followed_row(trace, pinned_at(Id::out_proj_weight, {1, 1})));
  CHECK_FALSE(followed_row(trace, Selection{}));
  Selection hovered;
  hovered.hovered = CellRef{{Id::attn_weights}, {0, 0, 1, 1}};
  CHECK_FALSE(followed_row(trace, hovered));
}

TEST_CASE("a picture shows the followed row where its queries are, and not in another sequence") {
  const TracedScenario given = traced({"inputs.batch=2"});
  const FollowedRow row{1, 2};
  const auto line = [&](Id id, Index batch, bool transposed = false) {
    const auto matrix = stage_matrix(*given.trace, {id}, {batch, 1}, transposed);
    REQUIRE(matrix);
    return followed_line(*matrix, row);
  };
  for (const Id id :
       {Id::query, Id::q, Id::q_heads, Id::attn_weights, Id::head_output, Id::concat, Id::output}) {
    CAPTURE(tensor_entry(id).name);
    const auto as_row = line(id, 1);
    REQUIRE(as_row);
    CHECK_FALSE(as_row->column);
    CHECK(as_row->index == 2);
    const auto as_column = line(id, 1, true);
    REQUIRE(as_column);
    CHECK(as_column->column);
    CHECK(as_column->index == 2);
    CHECK_FALSE(line(id, 0));
  }
  for (const Id id : {Id::k_heads, Id::v, Id::in_proj_weight}) CHECK_FALSE(line(id, 1));
  const auto matrix = stage_matrix(*given.trace, {Id::q}, {1, 0});
  CHECK_FALSE(followed_line(*matrix, {1, 99}));
}

TEST_CASE("of the followed token every step says what its own numbers say") {
  const TracedScenario given =
      traced({"inputs.source=text", "inputs.text=the cat saw the dog", "mask.is_causal=true"});
  const TraceTensors& t = given.trace->tensors;
  CHECK(followed_name(given.inputs.labels, {0, 2}) == "“saw”");
  for (const Step step : shown_steps(given.trace->options)) CHECK(said(given, step, 2).size() > 20);
  CHECK_CONTAINS(said(given, Step::inputs, 2), "row 2 of query: 12 numbers");
  CHECK_CONTAINS(said(given, Step::split_heads, 2, 1), "columns 4 to 7");
  CHECK_CONTAINS(said(given, Step::mask, 2), "2 of its 5 keys are blocked");
  CHECK_CONTAINS(said(given, Step::mask, 4), "None of its 5 keys is blocked");
  CHECK(said(given, Step::softmax, 0) == "100.0 % of its attention goes to one key, “the₀”.");
  // The best key by the numbers themselves.
  Index best = 0;
  for (Index j = 1; j < 5; ++j)
    if (t.scores->at({0, 1, 2, j}) > t.scores->at({0, 1, 2, best})) best = j;
  const std::vector<std::string> names{"“the₀”", "“cat”", "“saw”", "“the₃”", "“dog”"};
  const std::string scores = said(given, Step::scores, 2, 1);
  CAPTURE(scores);
  CHECK_CONTAINS(scores, "matches " + names[static_cast<std::size_t>(best)] + " best");
  CHECK_CONTAINS(said(given, Step::weighted_sum, 2, 1), "Head 1 gives it ");
}

TEST_CASE("of a sink the softmax says what it takes of the followed row") {
  const TracedScenario given =
      traced({"inputs.source=text", "inputs.text=the cat saw the dog", "attention.sink=0"});
  const double share = given.trace->tensors.sink_weights->at({0, 1, 2});
  CHECK_CONTAINS(said(given, Step::softmax, 2, 1), fmt::format("The sink takes {:.1f} %.", 100.0 * share));
}

TEST_CASE("with a past it is said where the followed row stands") {
  const TracedScenario given =
      traced({"inputs.source=text", "inputs.text=the cat saw the dog", "inputs.past_length=6"});
  CHECK_CONTAINS(said(given, Step::past, 2, 1), "The cache holds the keys and values of 6 earlier tokens; ");
  CHECK_CONTAINS(said(given, Step::past, 2, 1), "comes after them, at position 8.");
  const TracedScenario latents =
      traced({"op=multi_head_latent_attention", "attention.kv_lora_rank=4", "attention.qk_nope_head_dim=3",
              "attention.qk_rope_head_dim=2", "inputs.past_length=6"});
  CHECK_CONTAINS(said(latents, Step::past, 2, 1),
                 "The cache holds the latents and the rotated keys of 6 earlier tokens; ");
}

TEST_CASE("with an indexer it is said which keys the followed row keeps") {
  const TracedScenario given = traced({"inputs.source=text", "inputs.text=the cat saw the dog",
                                       "mask.is_causal=true", R"(mask.indexer={"heads":2,"width":8,"k":2})"});
  CHECK_CONTAINS(said(given, Step::choose, 3, 1), "It keeps 2 of its 5 keys; the indexer scores “");
  CHECK_CONTAINS(said(given, Step::choose, 0, 1),
                 "It keeps 1 of its 5 keys; the indexer scores “the₀” highest");
}

TEST_CASE("without an input projection nothing is said of one, and rows without numbers say so") {
  const TracedScenario bare = traced({"op=scaled_dot_product_attention"});
  for (const Step step : {Step::project, Step::split_heads, Step::concat}) CHECK(said(bare, step, 1).empty());
  CHECK_CONTAINS(said(bare, Step::softmax, 1), "of its attention goes to");
  CHECK_CONTAINS(said(bare, Step::mask, 1), "No mask");
  const auto barren = [](const char* rule) {
    return traced({"mask.valid_lens=[0]", std::string("mask.fully_masked_rows=") + rule});
  };
  const TracedScenario zero = barren("zero"), undefined = barren("nan");
  CHECK_CONTAINS(said(zero, Step::mask, 1), "All 4 keys are blocked");
  CHECK(said(zero, Step::softmax, 1) == "It attends to no key: all its weights are 0.");
  CHECK(said(zero, Step::weighted_sum, 1) == "Nothing is added up: all its weights are 0.");
  CHECK(said(undefined, Step::softmax, 1) == "Its weights are NaN.");
  CHECK_CONTAINS(said(undefined, Step::weighted_sum, 1), "NaN");
}
