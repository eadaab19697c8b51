// What a scenario does not say aloud: keys that another key or an array overrides, told once each with what
// does so, and what is made up beside arrays that are given, named with how it was made.
#include "core/scenario/overridden_settings.h"

#include <algorithm>

#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

using SettingLines = std::vector<std::string>;

TensorPtr blank_array(std::vector<Index> sizes) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({"?", size});
  return std::make_shared<const Tensor>(Tensor(Shape(std::move(axes)), DType::f32));
}

// Of a scenario file, with --set and --input.
SettingLines overridden_in(const std::string& json, const SettingLines& settings = {},
                           const GivenArrays& given = {}) {
  Scenario scenario = scenario_from_json(json, "test.json");
  WrittenByUser written{.file = scenario.origin.written, .settings = {}, .input = {}};
  for (const std::string& setting : settings) {
    scenario = with_setting(scenario, setting);
    written.settings.insert(setting.substr(0, setting.find('=')));
  }
  for (const auto& [name, array] : given) written.input.insert(name);
  return overridden_settings(scenario, make_scenario_inputs(scenario, DType::f32, given), written);
}

// One line, about this key, with this part.
void check_overridden(const SettingLines& lines, const std::string& key, const std::string& part) {
  CAPTURE(key);
  REQUIRE(lines.size() == 1);
  CAPTURE(lines[0]);
  CHECK(lines[0].starts_with(key + " = "));
  CHECK_CONTAINS(lines[0], part);
}

constexpr const char* of_text = R"({"attention":{"embed_dim":16},"inputs":{"source":"text","text":"a b c"}})";
constexpr const char* of_numbers = R"({"attention":{"embed_dim":16}})";
constexpr const char* of_sdpa = R"({"op":"scaled_dot_product_attention","attention":{"embed_dim":16}})";

const GivenArrays only_query{{"query", blank_array({1, 3, 8})}};
const GivenArrays all_parameters{{"in_proj_weight", blank_array({24, 8})},
                                 {"in_proj_bias", blank_array({24})},
                                 {"out_proj.weight", blank_array({8, 8})},
                                 {"out_proj.bias", blank_array({8})}};

GivenArrays all_but(GivenArrays arrays, const std::string& name) {
  arrays.erase(name);
  return arrays;
}

struct MadeUp {
  std::vector<std::string> arrays, notes;
};

MadeUp made_up(const std::string& json, const GivenArrays& given) {
  const Scenario scenario = scenario_from_json(json, "test.json");
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32, given);
  MadeUp made{{}, inputs.notes};
  for (const MadeUpArray& array : made_up_arrays(scenario, inputs, given))
    made.arrays.push_back(array.name + ": " + array.how);
  return made;
}

using MadeUpLines = std::vector<std::string>;
constexpr const char* eight_wide = R"({"attention":{"embed_dim":8,"num_heads":2}})";

}  // namespace

TEST_CASE("a length beside a text is told, with the number of tokens and the remedy") {
  check_overridden(overridden_in(of_text, {"inputs.query_length=512"}), "inputs.query_length", "has 3 tokens");
  check_overridden(overridden_in(of_text, {"inputs.query_length=512"}), "inputs.query_length",
                   "set inputs.source=random");
  check_overridden(overridden_in(of_text, {"inputs.key_length=5"}), "inputs.key_length",
                   "in self-attention the keys are the 3 queries");
  CHECK(overridden_in(of_text, {"inputs.query_length=3"}).empty());
  CHECK(overridden_in(of_text, {"inputs.source=random", "inputs.query_length=512"}).empty());
  CHECK(overridden_in(of_numbers, {"inputs.query_length=5"}).empty());
}

TEST_CASE("each key that another overrides is told with that one") {
  struct Case {
    const char *json, *setting, *by;
  };
  for (const Case& one :
       {Case{of_numbers, "inputs.positions=true", "inputs.source is random"},
        {of_numbers, "inputs.text=abc", "set inputs.source=text"},
        {of_numbers, "inputs.file=x.npz", "set inputs.source=file"},
        {of_text, "inputs.key_text=abc", "set inputs.self_attention=false"},
        {R"({"inputs":{"source":"ones"}})", "inputs.seed=4", "inputs.source is ones"},
        {of_numbers, "parameters.layer=2", "set parameters.source=model"},
        {of_numbers, "parameters.file=x.npz", "parameters.source is random"},
        {R"({"parameters":{"source":"hand_made"}})", "parameters.init=identity", "hand_made"},
        {R"({"parameters":{"init":"identity"}})", "parameters.seed=4", "parameters.init is identity"},
        {R"({"attention":{"need_weights":false}})", "attention.average_attn_weights=false",
         "attention.need_weights is false"},
        {of_numbers, "mask.causal_alignment=bottom_right", "set mask.is_causal=true"},
        {of_numbers, "mask.alibi_scale=2", "set mask.alibi=true"},
        {of_numbers, "attention.rotary_pairs=neighbours", "attention.rotary_base is null"},
        {of_numbers, "attention.rotary_factor=1.5", "set attention.rotary_base=10000"},
        {of_numbers, "attention.qk_norm_kind=l2", "set attention.qk_norm=per_head"},
        {of_numbers, "attention.qk_norm_offset=1", "set attention.qk_norm=per_head"},
        {R"({"attention":{"qk_norm":"per_head"}})", "attention.qk_norm_offset=1", "q_norm.weight"},
        {of_numbers, "attention.latent_norm_epsilon=1e-6", "op is multi_head_attention"},
        {of_numbers, "mask.value=-1e9", "there is no mask"},
        {R"({"mask":{"preset":"causal"}})", "mask.is_causal=false", "mask.preset is causal"},
        {of_sdpa, "attention.bias=false", "op is scaled_dot_product_attention"},
        {of_sdpa, "parameters.seed=3", "op is scaled_dot_product_attention"},
        {R"({"op":"scaled_dot_product_attention","attention":{"head_dim":4}})", "attention.embed_dim=96",
         "attention.head_dim is 4"}}) {
    CAPTURE(one.setting);
    const std::string setting = one.setting;
    check_overridden(overridden_in(one.json, {setting}), setting.substr(0, setting.find('=')), one.by);
  }
}

TEST_CASE("an option that has what it needs is not told of") {
  const char* const turned =
      R"({"attention":{"embed_dim":16,"num_heads":2,"rotary_base":100,"qk_norm":"per_head"}})";
  CHECK(overridden_in(turned, {"attention.rotary_pairs=neighbours", "attention.rotary_factor=1.5",
                               "attention.qk_norm_kind=l2", "attention.qk_norm_epsilon=0.5"})
            .empty());
  CHECK(overridden_in(R"({"attention":{"embed_dim":16,"num_heads":2,"rotary_inverse_frequencies":[1]}})",
                      {"attention.rotary_factor=2"})
            .empty());
  for (const char* const name : {"q_norm.weight", "k_norm.weight"})
    CHECK(overridden_in(turned, {"attention.qk_norm_offset=1"}, {{name, blank_array({8})}}).empty());
}

TEST_CASE("a contradiction that a file has in itself is told, unless the command line overrides it") {
  const char* both =
      R"({"attention":{"embed_dim":16},"inputs":{"source":"text","text":"a b c","query_length":20}})";
  check_overridden(overridden_in(both), "inputs.query_length", "3 tokens");
  CHECK(overridden_in(both, {"inputs.source=random"}).empty());
  CHECK(overridden_in(R"({"mask":{"causal_alignment":"top_left"}})").empty());  // its default: nothing else could come out
  check_overridden(overridden_in(R"({"inputs":{"text":"not read"}})"), "inputs.text",
                   "is not used, because inputs.source is random");
}

TEST_CASE("an array overrides a file's keys without a word, but not a setting's") {
  const GivenArrays query{{"query", blank_array({2, 5, 16})}};
  CHECK(overridden_in(R"({"attention":{"embed_dim":16},"inputs":{"query_length":7,"batch":3,"seed":2}})", {},
                      query)
            .empty());
  const SettingLines lines =
      overridden_in(of_numbers, {"inputs.query_length=7", "inputs.batch=3", "inputs.source=ones"}, query);
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK_CONTAINS(line, "query (2,5,16) is given");
  CHECK(overridden_in(of_numbers, {"inputs.query_length=5", "inputs.batch=2"}, query).empty());
}

TEST_CASE("no preset contradicts itself") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    CHECK(overridden_in(std::string(preset.json)).empty());
  }
}

TEST_CASE("a parameter that is missing beside others is named, with how it was made") {
  CHECK(made_up(eight_wide, all_parameters).arrays.empty());
  CHECK(made_up(eight_wide, all_parameters).notes.empty());
  CHECK(made_up(eight_wide, all_but(all_parameters, "out_proj.bias")).arrays ==
        MadeUpLines{"out_proj.bias: all zeros"});
  CHECK(made_up(eight_wide, all_but(all_parameters, "in_proj_weight")).arrays ==
        MadeUpLines{"in_proj_weight: drawn at random (xavier_uniform, seed 0)"});
  const MadeUp both = made_up(
      R"({"attention":{"embed_dim":8,"num_heads":2,"add_bias_kv":true},"parameters":{"init":"normal_dk","seed":7}})",
      all_but(all_parameters, "out_proj.weight"));
  CHECK(both.arrays == MadeUpLines{"bias_k: drawn at random (normal_dk, seed 7)",
                                   "bias_v: drawn at random (normal_dk, seed 7)",
                                   "out_proj.weight: drawn at random (normal_dk, seed 7)"});
  CHECK(std::ranges::count(both.notes,
                           "out_proj.weight was not given: drawn at random (normal_dk, seed 7)") == 1);
}

TEST_CASE("a scenario whose parameters are all its own makes up none, and a query alone is no parameter") {
  CHECK(made_up(eight_wide, {}).arrays.empty());
  CHECK(made_up(eight_wide, only_query).arrays.empty());
  CHECK(made_up(eight_wide, {{"attn_mask", blank_array({3, 3})}}).arrays.empty());
}

TEST_CASE("beside arrays with another program's names all that was made up is named") {
  const MadeUp made = made_up(eight_wide, {{"query", blank_array({1, 3, 8})},
                                           {"layer.self_attn.in_proj_weight", blank_array({24, 8})}});
  CHECK(made.arrays.size() == 4);
  CHECK(made.arrays[0] == "in_proj_weight: drawn at random (xavier_uniform, seed 0)");
  CHECK(
      made.notes[0].starts_with("the array \"layer.self_attn.in_proj_weight\" is not used: did you mean "
                                "in_proj_weight? the names are query"));
  const MadeUp letters = made_up(
      eight_wide,
      {{"query", blank_array({1, 3, 8})}, {"K", blank_array({1, 3, 8})}, {"V", blank_array({1, 3, 8})}});
  CHECK(letters.notes[0].starts_with("the arrays \"K\" (key?), \"V\" (value?) are not used: the names are"));
  // What a run has written may stand beside.
  CHECK(made_up(eight_wide, {{"query", blank_array({1, 3, 8})}, {"output", blank_array({1, 3, 8})}})
            .arrays.empty());
}

TEST_CASE("a mask of numbers that are all 0 or 1 is told to be added") {
  const auto notes = [](double second) {
    Tensor mask(Shape{{"L", 3}, {"S", 3}}, DType::f32);
    mask.set_flat(1, 1.0);
    mask.set_flat(2, second);
    return made_up(eight_wide, {{"query", blank_array({1, 3, 8})},
                                {"attn_mask", std::make_shared<const Tensor>(std::move(mask))}})
        .notes;
  };
  REQUIRE(notes(1.0).size() == 1);
  CHECK(notes(1.0)[0].starts_with("attn_mask has numbers that are all 0 or 1, and they are added"));
  CHECK(notes(0.5).empty());
}

TEST_CASE("an input that is missing beside others is named too") {
  const char* cross =
      R"({"attention":{"embed_dim":8,"num_heads":2},"inputs":{"self_attention":false,"seed":3}})";
  CHECK(made_up(cross, only_query).arrays == MadeUpLines{"key: drawn at random (normal, seed 3)"});
  CHECK(made_up(eight_wide, {{"key", blank_array({1, 5, 8})}}).arrays ==
        MadeUpLines{"query: drawn at random (normal, seed 0)"});
  const MadeUp one = made_up(cross, {{"query", blank_array({1, 3, 8})}, {"key", blank_array({1, 5, 8})}});
  CHECK(one.arrays.empty());
  CHECK(one.notes == MadeUpLines{"value was not given: it is the same as key"});
  const char* sdpa = R"({"op":"scaled_dot_product_attention","inputs":{"source":"ones"}})";
  CHECK(made_up(sdpa, {{"query", blank_array({1, 2, 3, 4})}}).arrays ==
        MadeUpLines{"key: all ones", "value: all ones"});
}

TEST_CASE("integers where numbers are expected are told by what they look like") {
  const auto refused = [](const std::vector<std::int64_t>& values) {
    Tensor tensor(Shape{{"L", 2}, {"E", static_cast<Index>(values.size() / 2)}}, values);
    return test::refusal_line([&] {
      made_up(R"({"attention":{"num_heads":1}})", {{"query", std::make_shared<const Tensor>(tensor)}});
    });
  };
  // 1, -0.5, 0.0123, 3 in bf16, f16 and f32
  const std::string bf16 = refused({0x3F80, 0xBF00, 0x3C4A, 0x4040});
  CHECK_CONTAINS(bf16, "bf16 saved as uint16");
  CHECK_CONTAINS(bf16, ".view('float32')");
  CHECK_CONTAINS(refused({0x3F80, 0xBF00 - 0x10000, 0x3C4A, 0x4040}), "bf16 saved as int16");
  CHECK_CONTAINS(refused({0x3C00, 0xB800, 0x224C, 0x2E66}), "f16 saved as uint16");
  CHECK_CONTAINS(refused({0x3F800000, 0x3F000000, 0x3C4A1234, 0x40400000}), "f32 saved as uint32");
  const std::string ids = refused({101, 7, 2, 15000});
  CHECK_CONTAINS(ids, "integers from 2 to 15000");
  CHECK_LACKS(ids, "saved as");
  CHECK_CONTAINS(ids, "astype('float32')");
  CHECK_LACKS(refused({0, 1, 1, 0}), "saved as");
}

TEST_CASE("query with its heads behind the length is told, in both orders of the axes") {
  const char* sdpa =
      R"({"op":"scaled_dot_product_attention","attention":{"num_heads":4},"inputs":{"source":"file"}})";
  const auto three = [](std::vector<Index> sizes) {
    return GivenArrays{
        {"query", blank_array(sizes)}, {"key", blank_array(sizes)}, {"value", blank_array(sizes)}};
  };
  test::refused_with([&] { made_up(sdpa, three({2, 10, 4, 8})); }, {"is query (N,L,H,D)?"});
  test::refused_with([&] { made_up(sdpa, three({20, 4, 8})); }, {"(N·L,H,D)", "a[None]"});
}
