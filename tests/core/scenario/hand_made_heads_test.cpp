#include "core/scenario/hand_made_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/attention/reference_backend.h"
#include "core/scenario/embeddings.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

struct Run {
  ScenarioInputs inputs;
  TracePtr trace;
  Index length() const { return static_cast<Index>(inputs.labels.query.size()); }
  // attn_weights[0, head, query, key]
  double weight(Index head, Index query, Index key) const {
    return trace->tensors.attn_weights->at({0, head, query, key});
  }
};

Run run(Scenario scenario, DType dtype = DType::f32) {
  Run result;
  result.inputs = make_scenario_inputs(scenario, dtype);
  result.trace = reference_forward(result.inputs.attention);
  return result;
}

Scenario hand_made(const std::string& text, Index embed_dim = 128, Index num_heads = 8) {
  Scenario scenario;
  scenario.attention.embed_dim = embed_dim;
  scenario.attention.num_heads = num_heads;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = text;
  scenario.parameters.source = ParameterSource::hand_made;
  return scenario;
}

// `count` words, every fifth of which is "the".
std::string long_text(Index count) {
  std::string text;
  for (Index i = 0; i < count; ++i) text += i % 5 == 0 ? "the " : fmt::format("word{} ", i);
  return text;
}

void check_roles(const Run& r) {
  const Index n = r.length();
  const Index heads = static_cast<Index>(r.inputs.heads.size());
  for (Index i = 0; i < n; ++i) {
    CAPTURE(i);
    // the first word has no previous one: it sees itself
    CHECK(r.weight(0, i, std::max<Index>(i - 1, 0)) > 0.6);
    if (heads > 2) CHECK(r.weight(2, i, 0) > 0.6);
    if (heads > 3) CHECK(r.weight(3, i, i) > 0.6);
    double largest = 0.0;
    for (Index j = 0; heads > 4 && j < n; ++j) largest = std::max(largest, r.weight(4, i, j));
    if (heads > 4) CHECK(largest == doctest::Approx(1.0 / static_cast<double>(n)));
  }
}

// Head 1 looks at the same word elsewhere. Returns how much of themselves the words see that stand alone.
double check_same_word(const Run& r, const std::string& text, double at_least) {
  double seen = 0.0, lonely = 0.0;
  const std::vector<Token> tokens = tokenise(text);
  REQUIRE(static_cast<Index>(tokens.size()) == r.length());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    double elsewhere = 0.0;
    bool alone = true;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      if (j == i || tokens[j].lookup != tokens[i].lookup) continue;
      alone = false;
      elsewhere += r.weight(1, static_cast<Index>(i), static_cast<Index>(j));
    }
    CAPTURE(tokens[i].text);
    CAPTURE(i);
    if (!alone) CHECK(elsewhere > at_least);
    lonely += alone ? 1.0 : 0.0;
    seen += alone ? r.weight(1, static_cast<Index>(i), static_cast<Index>(i)) : 0.0;
  }
  return lonely == 0.0 ? 1.0 : seen / lonely;
}

}  // namespace

TEST_CASE("in the welcome sentence every hand-made head looks where its name says") {
  const Run r = run(preset_scenario("hand_made"));
  check_roles(r);
  CHECK(check_same_word(r, preset_scenario("hand_made").inputs.text, 0.6) > 0.9);
}

TEST_CASE("the heads work for any text: short ones, repeated words, scripts of all kinds") {
  for (const std::string text :
       {"one", "a b", "very very very good", "the cat saw the dog and the dog saw the cat .",
        "Ça c'est l'été , l'hiver c'est l'été !", "你好世界你好", "مرحبا بالعالم مرحبا",
        "🙂 👩‍👩‍👧 🙂 🏳️‍🌈 👩‍👩‍👧",
        "to be or not to be , that is the question"}) {
    CAPTURE(text);
    const Run r = run(hand_made(text));
    check_roles(r);
    CHECK(check_same_word(r, text, 0.6) > 0.5);
  }
}

TEST_CASE("in a text of a few hundred words the previous word still takes most of the softmax") {
  const Run r = run(hand_made(long_text(400)));
  check_roles(r);
  check_same_word(r, long_text(400), 0.6);
}

TEST_CASE("the heads work at other widths") {
  struct Size {
    Index embed_dim, num_heads;
  };
  for (const Size size :
       {Size{64, 4}, {64, 8}, {512, 8}, {256, 16}, {128, 16}, {96, 5 + 1}, {32, 2}, {128, 1}, {768, 12}}) {
    CAPTURE(size.embed_dim);
    CAPTURE(size.num_heads);
    const std::string text = "the cat saw the dog and the dog saw the cat .";
    const Run r = run(hand_made(text, size.embed_dim, size.num_heads));
    check_roles(r);
    if (size.num_heads > 1) check_same_word(r, text, 0.5);
  }
}

TEST_CASE(
    "the reason can be read off W_q and W_k: the previous-word head turns each position pair by one "
    "position") {
  const AttentionOptions options;  // E = 128, H = 8, D = 16
  const EmbeddingLayout layout = embedding_layout(128);
  const Tensor q = hand_made_projection(Projection::q, options, 0, DType::f64);
  const Tensor k = hand_made_projection(Projection::k, options, 0, DType::f64);
  for (Index pair = 0; pair < 8; ++pair) {
    const Index column = layout.position_column() + 2 * pair;
    const double w = sinusoid_frequency(pair, layout.position_pairs);
    const double gain = k.at({2 * pair, column});
    CHECK(gain > 0.0);
    CHECK(k.at({2 * pair + 1, column + 1}) == gain);
    CHECK(k.at({2 * pair, column + 1}) == 0.0);
    CHECK(q.at({2 * pair, column}) == doctest::Approx(gain * std::cos(w)));
    CHECK(q.at({2 * pair, column + 1}) == doctest::Approx(-gain * std::sin(w)));
    CHECK(q.at({2 * pair + 1, column}) == doctest::Approx(gain * std::sin(w)));
  }
  for (Index row = 4 * 16; row < 5 * 16; ++row)  // head 4 averages
    for (Index column = 0; column < 128; ++column) REQUIRE(q.at({row, column}) == 0.0);
}

TEST_CASE("each head's output is a piece of the code of the word that it looked at") {
  const Run r = run(preset_scenario("hand_made"));
  const Tensor& query = *r.trace->tensors.query;
  const Tensor& head_output = *r.trace->tensors.head_output;
  for (Index i = 1; i < r.length(); ++i)
    for (Index d = 0; d < 16; ++d)  // head 0, nine tenths of the previous word: columns 0…15 of its code
      CHECK(std::abs(head_output.at({0, 0, i, d}) - query.at({0, i - 1, d})) < 0.25);
}

TEST_CASE(
    "the output mixes the heads: each of its columns reads the same column of every head, and no length "
    "changes") {
  const Run r = run(preset_scenario("hand_made"));
  const Tensor& weight = *r.trace->tensors.out_proj_weight;
  const Tensor& concat = *r.trace->tensors.concat;
  const Tensor& output = *r.trace->tensors.output;
  for (Index e = 0; e < 128; ++e) {
    for (Index c = 0; c < 128; ++c) {
      const bool same_column = e % 16 == c % 16;
      if (!same_column) REQUIRE(weight.at({e, c}) == 0.0);
      // cos(π·b·(h + ½)/8) is 0 for b = 4·odd only between heads, so no head is left out.
      if (same_column) REQUIRE(std::abs(weight.at({e, c})) > 0.05);
    }
  }
  for (Index i = 0; i < r.length(); ++i) {
    double before = 0.0, after = 0.0, first = 0.0;
    for (Index c = 0; c < 128; ++c) {
      before += concat.at({0, i, c}) * concat.at({0, i, c});
      after += output.at({0, i, c}) * output.at({0, i, c});
      if (c % 16 == 3) first += concat.at({0, i, c});
    }
    CHECK(after == doctest::Approx(before).epsilon(1e-5));
    CHECK(output.at({0, i, 3}) == doctest::Approx(first / std::sqrt(8.0)).epsilon(1e-4));
  }
}

TEST_CASE("heads that are too narrow for their roles are refused with the remedy") {
  for (const auto& [embed_dim, num_heads] :
       {std::pair<Index, Index>{16, 8}, {8, 2}, {4, 4}, {1, 1}, {128, 64}}) {
    CAPTURE(embed_dim);
    CHECK_THROWS_WITH_AS(make_scenario_inputs(hand_made("a b c", embed_dim, num_heads), DType::f32),
                         doctest::Contains("embed_dim of at least 32"), Error);
  }
}

TEST_CASE("without positions the previous word cannot be told from any other, and a note says so") {
  Scenario scenario = hand_made("the cat saw the dog");
  scenario.inputs.positions = false;
  const Run r = run(scenario);
  for (Index j = 0; j < r.length(); ++j) CHECK(r.weight(0, 3, j) == doctest::Approx(0.2));
  REQUIRE(r.inputs.notes.size() == 1);
  CHECK_CONTAINS(r.inputs.notes[0], "positions are off");
}

TEST_CASE("every head has a name and a reason, and only where the parameters are hand-made") {
  const ScenarioInputs welcome = make_scenario_inputs(preset_scenario("hand_made"), DType::f32);
  REQUIRE(welcome.heads.size() == 8);
  CHECK(welcome.heads[0].name == "previous word");
  CHECK(welcome.heads[7].role == HeadRole::random);
  for (const HeadDescription& head : welcome.heads) CHECK_FALSE(head.reason.empty());
  CHECK(make_scenario_inputs(preset_scenario("random"), DType::f32).heads.empty());
}

TEST_CASE("grouped heads share their keys and still look where they should") {
  for (const Index groups : {1, 2, 4}) {
    CAPTURE(groups);
    Scenario scenario = hand_made("the cat saw the dog and the dog saw the cat .");
    scenario.attention.num_kv_heads = groups;
    const Run r = run(scenario);
    check_roles(r);
    check_same_word(r, scenario.inputs.text, 0.6);
  }
}
