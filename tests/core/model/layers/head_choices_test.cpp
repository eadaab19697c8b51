// Into how many heads a layer can be cut whose model does not say it.
#include "core/model/layers/layer_parameters.h"

#include "core/attention/reference_backend.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const ModelFamily& family_named(std::string_view name) {
  for (const ModelFamily& family : model_families())
    if (family.name == name) return family;
  FAIL("no such family");
  return model_families().front();
}

AttentionLayer layer_of(std::string_view family, Index q_rows, Index kv_rows) {
  AttentionLayer layer;
  layer.family = &family_named(family);
  layer.query_width = layer.key_width = layer.q_rows = q_rows;
  layer.k_rows = layer.v_rows = kv_rows;
  return layer;
}

std::vector<Index> heads_of(const std::vector<HeadChoice>& choices) {
  std::vector<Index> heads;
  for (const HeadChoice& choice : choices) heads.push_back(choice.num_heads);
  return heads;
}

// With one layer of Llama: q of 16 rows, k and v of 8.
void write_llama(const TemporaryFolder& folder) {
  const std::string prefix = "model.layers.0.self_attn.";
  write_model(folder,
              {{prefix + "q_proj.weight", {16, 16}},
               {prefix + "k_proj.weight", {8, 16}},
               {prefix + "v_proj.weight", {8, 16}},
               {prefix + "o_proj.weight", {16, 16}}},
              "");
}

}  // namespace

TEST_CASE("a layer can be cut into the heads that divide its rows, the usual widths being asked first") {
  const AttentionLayer layer = layer_of("BERT", 384, 384);
  CHECK(heads_of(head_choices(layer)) ==
        std::vector<Index>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 384});
  CHECK(heads_of(usual_head_choices(layer)) == std::vector<Index>{12, 6, 4, 3});
  CHECK(likeliest_heads(layer) == HeadChoice{12, 12, 32, 32});
  CHECK(choice_of_heads(layer, 12) == HeadChoice{12, 12, 32, 32});
  CHECK_FALSE(choice_of_heads(layer, 7).has_value());
}

TEST_CASE("the width of the keys gives their heads, and leaves out what does not fit it") {
  const AttentionLayer layer = layer_of("Llama", 512, 128);
  for (const HeadChoice& choice : head_choices(layer)) {
    CHECK(choice.num_kv_heads * choice.head_dim == 128);
    CHECK(choice.num_heads % choice.num_kv_heads == 0);
    CHECK(choice.head_dim % 2 == 0);  // rotary positions
  }
  CHECK(heads_of(usual_head_choices(layer)) == std::vector<Index>{16, 8, 4});
  CHECK(likeliest_heads(layer) == HeadChoice{8, 2, 64, 64});
  CHECK_FALSE(choice_of_heads(layer, 2).has_value());  // of 256, and the keys are 128 wide
}

TEST_CASE("the likeliest heads are 64 wide, in wide models 128, in one of 2560 80, in a BERT of 384 32") {
  CHECK(likeliest_heads(layer_of("BERT", 768, 768))->num_heads == 12);
  CHECK(likeliest_heads(layer_of("Llama", 4096, 1024)) == HeadChoice{32, 8, 128, 128});
  CHECK(likeliest_heads(layer_of("OPT, BART", 2560, 2560))->head_dim == 80);
  CHECK(likeliest_heads(layer_of("ViT", 384, 384))->num_heads == 6);
  CHECK(likeliest_heads(layer_of("BERT", 48, 48)) == HeadChoice{1, 1, 48, 48});
  CHECK(usual_head_choices(layer_of("BERT", 48, 48)).size() == 5);
}

TEST_CASE("one array of q, k and v that is narrower than three times the model has fewer heads for keys") {
  AttentionLayer packed = layer_of("BERT", 0, 0);
  packed.family = &family_named("Phi-3");
  packed.query_width = packed.key_width = 512;
  packed.packed_rows = 768;
  CHECK(likeliest_heads(packed) == HeadChoice{8, 2, 64, 64});
  packed.packed_rows = 3 * 512;
  CHECK(likeliest_heads(packed) == HeadChoice{8, 8, 64, 64});
}

TEST_CASE("a layer whose arrays are missing or do not fit has no choice") {
  AttentionLayer layer = layer_of("BERT", 384, 384);
  layer.missing = {"value.weight"};
  CHECK(head_choices(layer).empty());
  CHECK_FALSE(likeliest_heads(layer_of("BERT", 384, 5)).has_value());
  CHECK_FALSE(likeliest_heads(layer_of("BERT", 0, 0)).has_value());
}

TEST_CASE("any number of heads that a layer can be cut into computes") {
  const TemporaryFolder folder;
  write_llama(folder);
  const AttentionLayers layers = find_attention_layers(ModelFiles(folder.file("")));
  const std::vector<HeadChoice> choices = head_choices(layers.layers.at(0));
  CHECK(choices.size() >= 2);
  for (const HeadChoice& choice : choices) {
    CAPTURE(choice.num_heads);
    Scenario scenario = layer_scenario(folder.file(""), layers, 0);
    set_heads(scenario.attention, choice);
    const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
    CHECK(reference_forward(inputs.attention)->tensors.q_heads->shape().size(1) == choice.num_heads);
    CHECK(inputs.attention.options.num_kv_heads == choice.num_kv_heads);
  }
}

TEST_CASE("heads that nothing says are told as assumed until the scenario says them") {
  const TemporaryFolder folder;
  write_llama(folder);
  const std::string file = R"("parameters":{"source":"model","file":")" + folder.file("") + R"("}})";
  const Scenario silent =
      scenario_from_json(R"({"headwise":1,"attention":{"num_kv_heads":4},)" + file, "test");
  const ScenarioInputs assumed = make_scenario_inputs(silent, DType::f32);
  CHECK_CONTAINS(assumed.head_count_note, "assuming 8 (4 for k and v) of 2");
  CHECK(assumed.notes.size() == 2);
  const Scenario says =
      scenario_from_json(R"({"headwise":1,"attention":{"num_heads":8,"num_kv_heads":4},)" + file, "test");
  // What is left is that names alone do not say what kind of model this is.
  const std::vector<std::string> notes = make_scenario_inputs(says, DType::f32).notes;
  REQUIRE(notes.size() == 1);
  CHECK_CONTAINS(notes[0], "no config.json gives the kind of model");
}

TEST_CASE("a setting of something else leaves the number of heads assumed, one of its own does not") {
  const TemporaryFolder folder;
  write_llama(folder);
  const AttentionLayers layers = find_attention_layers(ModelFiles(folder.file("")));
  const Scenario opened = layer_scenario(folder.file(""), layers, 0);
  CHECK(heads_are_assumed(with_setting(opened, "inputs.batch=2"), layers.layers[0]));
  CHECK_FALSE(heads_are_assumed(with_setting(opened, "attention.num_heads=4"), layers.layers[0]));
}

TEST_CASE("a scenario that says num_heads alone has the key/value heads that the rows of k leave") {
  const TemporaryFolder folder;
  write_llama(folder);
  const auto fitting = [&](const std::string& attention) {
    return with_layer_values(scenario_from_json(R"({"headwise":1,"attention":)" + attention +
                                                    R"(,"parameters":{"source":"model","file":")" +
                                                    folder.file("") + R"("}})",
                                                "test"))
        .attention;
  };
  CHECK(fitting(R"({"num_heads":8})").num_kv_heads == 4);
  CHECK(fitting(R"({"num_heads":4})").num_kv_heads == 2);
  CHECK(fitting(R"({"num_heads":8,"num_kv_heads":2})").num_kv_heads == 2);  // as it is said
  CHECK_FALSE(fitting(R"({"num_heads":7})").num_kv_heads.has_value());      // fits nothing
  CHECK_FALSE(fitting(R"({"num_kv_heads":null})").num_kv_heads.has_value());
}

TEST_CASE("another number of heads than a layer was trained with is told") {
  const Scenario scenario = scenario_from_json(
      R"({"headwise":1,"attention":{"num_heads":4},"parameters":{"source":"model","file":"builtin:sentences"}})",
      "test");
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  CHECK(inputs.head_count_note == "trained with 8 heads of 16; split differently here, as 4 of 32");
  CHECK(inputs.notes.back() == "num_heads: " + inputs.head_count_note);
  Scenario trained = scenario;
  trained.attention.num_heads = 8;
  CHECK(make_scenario_inputs(trained, DType::f32).head_count_note.empty());
}
