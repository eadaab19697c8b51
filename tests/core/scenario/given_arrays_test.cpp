// Arrays from outside, in PyTorch's names and layouts, against the scenario that they come with.
#include <cmath>
#include <filesystem>

#include "core/attention/check_attention_inputs.h"
#include "core/attention/reference_backend.h"
#include "core/files/array_files.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

// Cell i holds first + i.
TensorPtr counted_up(std::vector<Index> sizes, double first = 0.0, DType dtype = DType::f64) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({"?", size});
  Tensor tensor(Shape(std::move(axes)), dtype);
  for (Index i = 0; i < tensor.size(); ++i)
    tensor.set_flat(i, dtype == DType::boolean ? 0.0 : first + static_cast<double>(i));
  return std::make_shared<const Tensor>(std::move(tensor));
}

ScenarioInputs made_with(const std::string& json, const GivenArrays& given, DType dtype = DType::f64) {
  return make_scenario_inputs(scenario_from_json(json, "test.json"), dtype, given);
}

std::string sizes_of_given(const TensorPtr& tensor) {
  return tensor ? tensor->shape().sizes_text() : "none";
}

void check_refused(const std::string& json, const GivenArrays& given, const std::vector<std::string>& words) {
  CAPTURE(json);
  test::refused_with([&] { check_attention_inputs(made_with(json, given, DType::f32).attention); }, words);
}

constexpr const char* two_heads = R"({"attention":{"num_heads":2}})";

}  // namespace

TEST_CASE("a query alone sets N, L and E, and self-attention stays self-attention") {
  const ScenarioInputs inputs = made_with(two_heads, {{"query", counted_up({3, 5, 6})}});
  const TraceTensors& t = inputs.attention.tensors;
  CHECK(t.query->shape() == Shape{{"N", 3}, {"L", 5}, {"E", 6}});
  CHECK(t.key == t.query);
  CHECK(inputs.attention.options.embed_dim == 6);
  CHECK(inputs.attention.options.head_dim == 3);
  CHECK(sizes_of_given(t.in_proj_weight) == "(18,6)");
  CHECK(inputs.labels.query.size() == 5);
  CHECK_NOTHROW(reference_forward(inputs.attention));
}

TEST_CASE("key and value set S, kdim and vdim; a key alone is the value too where its width allows") {
  const GivenArrays given{
      {"query", counted_up({1, 2, 4})}, {"key", counted_up({1, 3, 5})}, {"value", counted_up({1, 3, 6})}};
  const ScenarioInputs inputs = made_with(two_heads, given);
  CHECK(inputs.attention.options.kdim == 5);
  CHECK(inputs.attention.options.vdim == 6);
  CHECK(sizes_of_given(inputs.attention.tensors.v_proj_weight) == "(4,6)");
  CHECK(inputs.labels.key.size() == 3);
  CHECK_NOTHROW(reference_forward(inputs.attention));
  const ScenarioInputs memory =
      made_with(two_heads, {{"query", counted_up({1, 2, 4})}, {"key", counted_up({1, 3, 4})}});
  CHECK(memory.attention.tensors.value == memory.attention.tensors.key);
  CHECK(memory.attention.tensors.value != nullptr);
}

TEST_CASE("batch_first false reads (L,N,E), without a batch axis N is 1") {
  const char* length_first = R"({"attention":{"num_heads":2},"inputs":{"batch_first":false}})";
  const GivenArrays given{{"query", counted_up({3, 2, 4})}, {"grad_output", counted_up({3, 2, 4}, 100)}};
  const ScenarioInputs inputs = made_with(length_first, given);
  CHECK(sizes_of_given(inputs.attention.tensors.query) == "(2,3,4)");
  CHECK(inputs.attention.tensors.query->at({1, 2, 3}) == (2 * 2 + 1) * 4 + 3);
  CHECK(sizes_of_given(inputs.grad_output) == "(2,3,4)");
  CHECK(inputs.grad_output->at({1, 0, 0}) == 104.0);
  CHECK_FALSE(inputs.unbatched);
  for (const char* json : {two_heads, length_first}) {
    const ScenarioInputs single = made_with(json, {{"query", counted_up({3, 4})},
                                                   {"key", counted_up({5, 4})},
                                                   {"value", counted_up({5, 4})},
                                                   {"key_padding_mask", counted_up({5}, 0, DType::boolean)},
                                                   {"attn_mask", counted_up({2, 3, 5}, 0, DType::boolean)},
                                                   {"grad_output", counted_up({3, 4})}});
    CHECK(single.unbatched);
    CHECK(sizes_of_given(single.attention.tensors.query) == "(1,3,4)");
    CHECK(sizes_of_given(single.attention.tensors.key_padding_mask) == "(1,5)");
    CHECK(sizes_of_given(single.grad_output) == "(1,3,4)");
    CHECK_NOTHROW(reference_forward(single.attention));
  }
}

TEST_CASE("the parameters that are given decide packed or separate, the others are made") {
  const ScenarioInputs packed =
      made_with(R"({"attention":{"num_heads":2},"parameters":{"layout":"separate"}})",
                {{"in_proj_weight", counted_up({12, 4})}, {"out_proj.bias", counted_up({4}, 7)}});
  CHECK(packed.attention.tensors.in_proj_weight->at({11, 3}) == 47.0);
  CHECK(packed.attention.tensors.q_proj_weight == nullptr);
  CHECK(packed.attention.tensors.out_proj_bias->at({0}) == 7.0);
  CHECK(sizes_of_given(packed.attention.tensors.query) == "(1,10,4)");
  const ScenarioInputs separate = made_with(two_heads, {{"q_proj_weight", counted_up({4, 4})},
                                                        {"k_proj_weight", counted_up({4, 3})},
                                                        {"v_proj_weight", counted_up({4, 5})},
                                                        {"key", counted_up({1, 2, 3})}});
  CHECK(separate.attention.tensors.in_proj_weight == nullptr);
  CHECK(sizes_of_given(separate.attention.tensors.value) == "(1,2,5)");
  CHECK_NOTHROW(reference_forward(separate.attention));
}

TEST_CASE("of two weights that belong together one alone is told, with what the other is") {
  const std::string normed = R"({"attention":{"embed_dim":8,"num_heads":2,"qk_norm":"per_head"}})";
  const std::string chosen =
      R"({"attention":{"embed_dim":8,"num_heads":2},"mask":{"indexer":{"heads":1,"width":4,"k":3}}})";
  const std::string latents = R"({"op":"multi_head_latent_attention","attention":{"embed_dim":8,"num_heads":2,
    "kv_lora_rank":4,"q_lora_rank":4,"qk_nope_head_dim":2,"qk_rope_head_dim":2,"v_head_dim":4}})";
  const auto told = [](const std::string& json, const GivenArrays& given) {
    std::vector<std::string> halves;
    for (const std::string& note : made_with(json, given).notes)
      if (note.find(" is given without ") != std::string::npos) halves.push_back(note);
    return halves;
  };
  struct Pair {
    std::string json, one, other;
    int all_of_other, all_of_one;
  };
  for (const auto& [json, one, other, of_other, of_one] :
       {Pair{normed, "q_norm.weight", "k_norm.weight", 1, 1},
        Pair{latents, "q_a_layernorm.weight", "kv_a_layernorm.weight", 1, 1},
        Pair{chosen, "indexer.k_norm.weight", "indexer.k_norm.bias", 0, 1}}) {
    const TensorPtr four = counted_up({4}, 1.0);
    const auto sentence = [](const std::string& given, const std::string& missing, int all) {
      return std::vector{given + " is given without " + missing + ": all numbers of the latter are " +
                         std::to_string(all) + "; give both, or neither"};
    };
    CHECK(told(json, {{one, four}}) == sentence(one, other, of_other));
    CHECK(told(json, {{other, four}}) == sentence(other, one, of_one));
    CHECK(told(json, {{one, four}, {other, four}}).empty());
    CHECK(told(json, {}).empty());
  }
}

TEST_CASE("bias_k is (1,1,E) or (E), static_k (N·H,S,D) becomes (N,H,S,D)") {
  for (const std::vector<Index>& shape : {std::vector<Index>{1, 1, 4}, std::vector<Index>{4}}) {
    const ScenarioInputs inputs = made_with(
        two_heads,
        {{"query", counted_up({1, 2, 4})}, {"bias_k", counted_up(shape)}, {"bias_v", counted_up(shape)}});
    CHECK(sizes_of_given(inputs.attention.tensors.bias_k) == "(4)");
    CHECK(inputs.labels.key.back() == "bias_k");
    CHECK_NOTHROW(reference_forward(inputs.attention));
  }
  const ScenarioInputs fixed = made_with(two_heads, {{"query", counted_up({3, 2, 4})},
                                                     {"static_k", counted_up({6, 5, 2})},
                                                     {"static_v", counted_up({6, 5, 2})}});
  CHECK(fixed.attention.tensors.static_k->shape() == Shape{{"N", 3}, {"G", 2}, {"S", 5}, {"D", 2}});
  CHECK(fixed.attention.tensors.static_k->at({2, 1, 4, 1}) == ((2 * 2 + 1) * 5 + 4) * 2 + 1);
  CHECK(fixed.labels.key.size() == 5);
  CHECK_NOTHROW(reference_forward(fixed.attention));
  const ScenarioInputs masked = made_with(
      R"({"attention":{"num_heads":2},"mask":{"valid_lens":[5]},"edits":[{"tensor":"attn_mask","index":[1,4],"value":1}]})",
      {{"query", counted_up({1, 2, 4})},
       {"static_k", counted_up({2, 5, 2})},
       {"static_v", counted_up({2, 5, 2})}});
  CHECK(sizes_of_given(masked.attention.tensors.attn_mask) == "(2,5)");  // masks see the static keys
  CHECK_NOTHROW(reference_forward(masked.attention));
}

TEST_CASE("masks keep their kind: bool stays bool, floats get the type of the run, lengths stay integers") {
  const ScenarioInputs inputs = made_with(two_heads,
                                          {{"query", counted_up({2, 3, 4})},
                                           {"attn_mask", counted_up({3, 3}, 0, DType::boolean)},
                                           {"key_padding_mask", counted_up({2, 3}, 0, DType::f64)},
                                           {"valid_lens", counted_up({2}, 1, DType::i64)}},
                                          DType::f32);
  CHECK(inputs.attention.tensors.attn_mask->dtype() == DType::boolean);
  CHECK(inputs.attention.tensors.key_padding_mask->dtype() == DType::f32);
  CHECK(inputs.attention.tensors.valid_lens->dtype() == DType::i64);
  CHECK_NOTHROW(reference_forward(inputs.attention));
}

TEST_CASE("masks alone set the lengths where nothing else says them") {
  const ScenarioInputs inputs = made_with(R"({"inputs":{"self_attention":false}})",
                                          {{"attn_mask", counted_up({4, 6}, 0, DType::boolean)},
                                           {"key_padding_mask", counted_up({3, 6}, 0, DType::boolean)}});
  CHECK(sizes_of_given(inputs.attention.tensors.query) == "(3,4,128)");
  CHECK(sizes_of_given(inputs.attention.tensors.key) == "(3,6,128)");
  CHECK(sizes_of_given(made_with("{}", {{"key_padding_mask", counted_up({3, 6}, 0, DType::boolean)}})
                           .attention.tensors.query) == "(3,6,128)");
}

TEST_CASE("scaled_dot_product_attention takes everything from its arrays") {
  const ScenarioInputs inputs = made_with(R"({"op":"scaled_dot_product_attention"})",
                                          {{"query", counted_up({2, 4, 3, 6})},
                                           {"key", counted_up({2, 2, 5, 6})},
                                           {"value", counted_up({2, 2, 5, 7})},
                                           {"attn_mask", counted_up({1, 4, 1, 5}, 0, DType::boolean)},
                                           {"grad_output", counted_up({2, 4, 3, 7})}});
  const AttentionOptions& o = inputs.attention.options;
  CHECK(o.num_heads == 4);
  CHECK(o.num_kv_heads == 2);
  CHECK(o.head_dim == 6);
  CHECK(o.v_head_dim == 7);
  CHECK(sizes_of_given(inputs.grad_output) == "(2,4,3,7)");
  CHECK(sizes_of_given(reference_forward(inputs.attention)->tensors.output) == "(2,4,3,7)");
}

TEST_CASE("what is written in the scenario and disagrees with the arrays is shown beside them") {
  const GivenArrays given{{"query", counted_up({1, 2, 12})}, {"key", counted_up({1, 3, 5})}};
  check_refused(R"({"attention":{"embed_dim":16,"num_heads":2}})", given,
                {"embed_dim = 16", "E = 12", "(1,2,12)"});
  check_refused(R"({"attention":{"embed_dim":128,"num_heads":2}})", given, {"embed_dim = 128", "E = 12"});
  check_refused(R"({"attention":{"num_heads":2,"kdim":6}})", given, {"kdim = 6", "kdim = 5", "(1,3,5)"});
  check_refused("{}", given, {"num_heads = 8", "embed_dim = 12", "query (1,2,12)"});
  CHECK_NOTHROW(made_with(R"({"attention":{"embed_dim":12,"num_heads":2,"kdim":5}})", given));
  const GivenArrays heads{{"query", counted_up({1, 4, 2, 6})}};
  check_refused(R"({"op":"scaled_dot_product_attention","attention":{"num_heads":8}})", heads,
                {"num_heads = 8", "H = 4"});
  check_refused(R"({"op":"scaled_dot_product_attention","attention":{"head_dim":8}})", heads,
                {"head_dim = 8", "D = 6"});
  check_refused(R"({"op":"scaled_dot_product_attention","attention":{"embed_dim":128}})", heads,
                {"embed_dim = 128", "24"});
}

TEST_CASE("arrays that disagree with each other are refused, both shapes shown") {
  const TensorPtr query = counted_up({2, 3, 4});
  check_refused(two_heads, {{"query", query}, {"key", counted_up({3, 3, 4})}},
                {"disagree about N", "(2,3,4)", "(3,3,4)", "batch_first"});
  check_refused(two_heads, {{"key", counted_up({2, 3, 4})}, {"value", counted_up({2, 4, 4})}},
                {"disagree about S"});
  check_refused(two_heads, {{"query", query}, {"key", counted_up({3, 4})}},
                {"query, key and value must have the same number of axes"});
  check_refused(two_heads, {{"query", query}, {"in_proj_weight", counted_up({18, 6})}},
                {"disagree about embed_dim", "(18,6)"});
  check_refused(two_heads, {{"query", query}, {"in_proj_weight", counted_up({4, 12})}}, {"embed_dim"});
  check_refused(two_heads, {{"query", query}, {"in_proj_weight", counted_up({13, 4})}},
                {"in_proj_weight", "(13,4)"});
  check_refused(two_heads, {{"query", query}, {"out_proj.weight", counted_up({5, 4})}},
                {"disagree about embed_dim"});
  check_refused(two_heads, {{"in_proj_weight", counted_up({12, 4})}, {"q_proj_weight", counted_up({4, 4})}},
                {"both given", "in_proj_weight"});
  check_refused(two_heads, {{"query", query}, {"bias_k", counted_up({4})}}, {"bias_k is given without bias_v"});
  check_refused(two_heads, {{"query", query}, {"bias_v", counted_up({4})}}, {"bias_v is given without bias_k"});
  check_refused(two_heads,
                {{"query", query},
                 {"bias_k", counted_up({4})},
                 {"bias_v", counted_up({4})},
                 {"static_k", counted_up({4, 3, 2})}},
                {"static_k excludes bias_k"});
  check_refused(R"({"attention":{"num_heads":2,"add_bias_kv":true}})",
                {{"query", query}, {"static_k", counted_up({4, 3, 2})}},
                {"static_k excludes attention.add_bias_kv"});
  check_refused(two_heads, {{"query", query}, {"static_k", counted_up({5, 3, 2})}},
                {"static_k", "(5,3,2)", "(4,S,width)"});
  check_refused(two_heads, {{"query", query}, {"attn_mask", counted_up({3, 4}, 0, DType::boolean)}},
                {"attn_mask", "(3,4)"});
  check_refused(R"({"attention":{"num_heads":2,"bias":false}})",
                {{"query", query}, {"in_proj_bias", counted_up({12})}}, {"attention.bias is false"});
  check_refused(R"({"op":"scaled_dot_product_attention"})",
                {{"query", counted_up({1, 2, 3, 4})}, {"in_proj_weight", counted_up({12, 4})}},
                {"no parameters", "in_proj_weight"});
  check_refused(R"({"op":"scaled_dot_product_attention"})",
                {{"query", counted_up({1, 2, 3, 4})}, {"key", counted_up({1, 2, 3, 5})}}, {"disagree about D"});
}

TEST_CASE("ranks and types that a name never has are refused") {
  check_refused(two_heads, {{"query", counted_up({4})}}, {"query", "number of axes", "(4)"});
  check_refused(two_heads, {{"query", counted_up({1, 1, 1, 4})}}, {"number of axes"});
  check_refused(two_heads, {{"in_proj_weight", counted_up({12})}}, {"in_proj_weight"});
  check_refused(two_heads, {{"in_proj_bias", counted_up({3, 4})}}, {"in_proj_bias"});
  check_refused(two_heads, {{"bias_k", counted_up({2, 1, 4})}, {"bias_v", counted_up({4})}},
                {"bias_k", "(1,1,E) or (E)"});
  check_refused(two_heads, {{"out_proj.bias", counted_up({4, 1})}}, {"out_proj.bias"});
  check_refused(two_heads, {{"static_k", counted_up({4})}}, {"static_k"});
  check_refused(two_heads, {{"key_padding_mask", counted_up({1, 2, 3}, 0, DType::boolean)}},
                {"key_padding_mask"});
  check_refused(two_heads, {{"valid_lens", counted_up({1, 2, 3}, 0, DType::i64)}}, {"valid_lens"});
  check_refused(two_heads, {{"grad_output", counted_up({4})}}, {"grad_output"});
  check_refused(two_heads, {{"query", counted_up({1, 2, 4}, 0, DType::i64)}},
                {"query", "integers", "a float type"});
  check_refused(two_heads, {{"attn_mask", counted_up({2, 2}, 0, DType::i64)}},
                {"attn_mask", "integers", "bool"});
  check_refused(two_heads, {{"valid_lens", counted_up({1}, 0, DType::f32)}}, {"valid_lens", "integers"});
  check_refused(R"({"op":"scaled_dot_product_attention"})", {{"query", counted_up({2, 3, 4})}},
                {"query", "(N,H,L,D)"});
}

TEST_CASE("numbers beyond f32 are told, names that nothing reads too, those of a trace are not") {
  const ScenarioInputs inputs = made_with(two_heads,
                                          {{"query", counted_up({1, 1, 4}, 1e300)},
                                           {"qeury", counted_up({1})},
                                           {"scores", counted_up({1})},
                                           {"grad.query", counted_up({1})}},
                                          DType::f32);
  REQUIRE(inputs.notes.size() == 6);
  CHECK_CONTAINS(inputs.notes[0], "\"qeury\" is not used");
  CHECK_CONTAINS(inputs.notes[1], "4 of 4 numbers are beyond f32");
  CHECK(inputs.notes[2].starts_with("in_proj_weight was not given"));  // perhaps under another name
  const Scenario scenario = scenario_from_json(two_heads, "test.json");
  const GivenArrays large{{"query", counted_up({1, 1, 4}, 1e300)}};
  const ScenarioInputs first = make_scenario_inputs(scenario, DType::f32, large);
  const ScenarioInputs shared = make_scenario_inputs(scenario, DType::f32, large, &first);
  CHECK(shared.attention.tensors.query == first.attention.tensors.query);
  CHECK(shared.notes == first.notes);  // told as long as it holds
}

TEST_CASE("a grad_output that is not finite is told by index") {
  Tensor given({{"N", 1}, {"L", 2}, {"E", 4}}, DType::f64);
  given.set_flat(6, std::nan(""));
  const ScenarioInputs inputs = made_with(
      two_heads,
      {{"query", counted_up({1, 2, 4})}, {"grad_output", std::make_shared<const Tensor>(std::move(given))}});
  REQUIRE(inputs.notes.size() == 1);
  CHECK(inputs.notes[0].find("grad_output[0,1,2] is nan:") == 0);
}

TEST_CASE("an array that stays the same is converted once") {
  const GivenArrays given{{"query", counted_up({1, 2, 4})}};
  const Scenario scenario = scenario_from_json(two_heads, "test.json");
  const ScenarioInputs first = make_scenario_inputs(scenario, DType::f32, given);
  const ScenarioInputs second = make_scenario_inputs(scenario, DType::f32, given, &first);
  CHECK(second.attention.tensors.query == first.attention.tensors.query);
  const ScenarioInputs other =
      make_scenario_inputs(scenario, DType::f32, {{"query", counted_up({1, 2, 4}, 1)}}, &first);
  CHECK(other.attention.tensors.query != first.attention.tensors.query);
}

TEST_CASE("a text of the right length still labels the arrays that replace its embedding") {
  const char* text = R"({"attention":{"num_heads":2},"inputs":{"source":"text","text":"one two"}})";
  CHECK(made_with(text, {{"query", counted_up({1, 2, 4})}}).labels.query[1] == "two");
  CHECK(made_with(text, {{"query", counted_up({1, 3, 4})}}).labels.query[1] == "q 1");
}

TEST_CASE("files named in the scenario are read from its folder, and --input comes before them") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headwise given arrays test";
  std::filesystem::create_directories(folder);
  write_npz((folder / "in.npz").string(),
            {{"query", counted_up({1, 2, 4}), "f64"}, {"in_proj_weight", counted_up({1}), "f64"}});
  write_npz((folder / "p.npz").string(),
            {{"in_proj_weight", counted_up({12, 4}), "f64"}, {"out_proj.weight", counted_up({4, 4}), "f64"}});
  write_npz((folder / "m.npz").string(), {{"attn_mask", counted_up({2, 2}, 0, DType::boolean), "bool"}});
  Scenario scenario =
      scenario_from_json(R"({"attention":{"num_heads":2},"inputs":{"source":"file","file":"in.npz"},
      "parameters":{"source":"file","file":"p.npz"},"mask":{"file":"m.npz"}})",
                         "test.json");
  scenario.origin.folder = folder.string();
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f64);
  CHECK(inputs.attention.tensors.in_proj_weight->at({11, 3}) == 47.0);
  CHECK(sizes_of_given(inputs.attention.tensors.attn_mask) == "(2,2)");
  CHECK(inputs.notes == std::vector<std::string>{"in_proj_bias was not given: all zeros",
                                                 "out_proj.bias was not given: all zeros"});
  const ScenarioInputs given =
      make_scenario_inputs(scenario, DType::f64, {{"query", counted_up({1, 2, 4}, 50)}}, &inputs);
  CHECK(given.attention.tensors.query->at({0, 0, 0}) == 50.0);
  CHECK(given.attention.tensors.in_proj_weight == inputs.attention.tensors.in_proj_weight);  // not read again

  const auto refused = [&](const char* word) {
    CHECK_THROWS_WITH_AS(make_scenario_inputs(scenario, DType::f64), doctest::Contains(word), Error);
  };
  scenario.mask.file = "in.npz";
  refused(
      "attn_mask, key_padding_mask, valid_lens or nonpad_kv_seqlen is missing: got in_proj_weight, query");
  refused("the file holds inputs: name it in inputs.file, with inputs.source=file");
  scenario.mask.file = "nothing.npz";
  refused("nothing.npz");
  scenario.mask.file.reset();
  scenario.parameters.file = "m.npz";
  refused("out_proj.weight is missing");
  refused("the file holds masks: name it in mask.file");
  scenario.parameters.source = ParameterSource::random;
  scenario.inputs.file = "p.npz";
  refused("query is missing");
  refused("expected arrays named query, key, value");
  refused("the file holds parameters: name it in parameters.file, with parameters.source=file");
  refused("or have the inputs made, with inputs.source=text or random");
  write_npz((folder / "key.npz").string(), {{"key", counted_up({1, 2, 4}), "f64"}});
  scenario.inputs.file = "key.npz";
  refused(
      "query is missing: got key; expected arrays named query, key, value; add it to the file, or give it");
  std::filesystem::remove_all(folder);
}

TEST_CASE("a cache of latents is drawn, or given with or without an axis for its one head") {
  const std::string latents =
      R"({"op":"multi_head_latent_attention","attention":{"embed_dim":8,"num_heads":2,"kv_lora_rank":5,)"
      R"("qk_nope_head_dim":3,"qk_rope_head_dim":2},"inputs":{"query_length":3,"past_length":2}})";
  const ScenarioInputs drawn = made_with(latents, {});
  CHECK(sizes_of_given(drawn.attention.tensors.past_compressed_kv) == "(1,2,5)");
  CHECK(drawn.attention.tensors.past_k_rot->shape() == Shape{{"N", 1}, {"1", 1}, {"P", 2}, {"R", 2}});
  CHECK(drawn.labels.key == std::vector<std::string>{"past 0", "past 1", "k 0", "k 1", "k 2"});
  CHECK(sizes_of_given(reference_forward(drawn.attention)->tensors.present_compressed_kv) == "(1,5,5)");
  // (N,1,P,C) and (N,1,P,R) are transformers', (N,P,C) and (N,P,R) those of DeepSeek's own program.
  const TensorPtr rotated = counted_up({1, 1, 7, 2});
  for (const GivenArrays& given :
       {GivenArrays{{"past_compressed_kv", counted_up({1, 1, 7, 5})}, {"past_k_rot", rotated}},
        GivenArrays{{"past_compressed_kv", counted_up({1, 7, 5})}, {"past_k_rot", counted_up({1, 7, 2})}}}) {
    const TraceTensors tensors = made_with(latents, given).attention.tensors;
    CHECK(sizes_of_given(tensors.past_compressed_kv) == "(1,7,5)");
    CHECK(sizes_of_given(tensors.past_k_rot) == "(1,1,7,2)");
    CHECK(tensors.past_k_rot->at({0, 0, 3, 1}) == 7.0);
  }
  check_refused(latents, {{"past_k_rot", rotated}},
                {"past_k_rot is given without past_compressed_kv: both or neither"});
  check_refused(latents, {{"past_compressed_kv", counted_up({1, 7, 4})}, {"past_k_rot", rotated}},
                {"past_compressed_kv", "(1,7,4)", "(1,7,5)", "kv_lora_rank"});
  check_refused(latents, {{"past_compressed_kv", counted_up({1, 2, 7, 5})}, {"past_k_rot", rotated}},
                {"past_compressed_kv", "the number of axes is wrong", "(N,P,C), or (N,1,P,C)"});
  check_refused(latents, {{"past_compressed_kv", counted_up({1, 7, 5})}, {"past_k_rot", counted_up({1, 6, 2})}},
                {"past_compressed_kv and past_k_rot are as long"});
  check_refused(
      latents, {{"past_key", rotated}, {"past_value", rotated}},
      {"multi_head_latent_attention keeps no past_key in its cache: give past_compressed_kv (N,P,C) and "
       "past_k_rot (N,1,P,R), or set op to multi_head_attention"});
  check_refused("{}", {{"past_compressed_kv", counted_up({1, 7, 5})}, {"past_k_rot", rotated}},
                {"multi_head_attention keeps no past_compressed_kv in its cache: give past_key (N,G,P,D) and "
                 "past_value (N,G,P,Dv), or set op to multi_head_latent_attention"});
}
