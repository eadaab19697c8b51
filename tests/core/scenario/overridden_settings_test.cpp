// Keys that another key or an array overrides, told once each with what does so.
#include "core/scenario/overridden_settings.h"

#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "tests/checks.h"

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
