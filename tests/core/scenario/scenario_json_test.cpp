#include "core/scenario/scenario_json.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

// Every key of the format, none with its default.
constexpr const char* whole_schema = R"({
  "headwise": 1,
  "op": "scaled_dot_product_attention",
  "attention": { "embed_dim": 96, "num_heads": 6, "num_kv_heads": 3, "kdim": 40, "vdim": 48, "head_dim": 10,
                 "v_head_dim": 12, "bias": false, "add_bias_kv": true, "add_zero_attn": true,
                 "rotary_base": 500000, "rotary_inverse_frequencies": [1, 0.25], "scale": -0.125,
                 "softcap": 30.5, "temperature": 0.7, "sink": [0.5, -1, 2, 0, 1e-300, 3], "dropout": 0.1, "dropout_seed": 18446744073709551615,
                 "need_weights": false, "average_attn_weights": false, "residual": true, "layer_norm": true },
  "inputs": { "source": "text", "seed": 9223372036854775808, "text": "Ça va ? 🙂 \"quoted\" \u0000\n", "key_text": "",
              "positions": false, "file": "in.npz", "batch": 0, "query_length": 0, "key_length": 7,
              "self_attention": false, "batch_first": false },
  "parameters": { "source": "file", "layout": "per_head", "init": "identity", "seed": 3, "file": "a/b.safetensors",
                  "layer": 11 },
  "mask": { "is_causal": true, "causal_alignment": "bottom_right", "sliding_window": 1, "valid_lens": [[1, 2], [0, 2]],
            "alibi": true, "preset": "prefix", "file": "mask.npy", "value": -1e9, "fully_masked_rows": "zero" },
  "heads": { "gain": [1, 0, 0.5, -2, 1e-300, 0.1],
             "frozen": { "heads": [4, 1], "attn_weights": [[[[0.1, 0.9]], [["nan", 1]]]] } },
  "edits": [ { "tensor": "query", "index": [0, 1, 2], "value": 0.1 }, { "tensor": "attn_mask", "index": [], "value": "-inf" } ]
})";

Scenario read(const std::string& json) {
  return scenario_from_json(json, "test.json");
}

}  // namespace

TEST_CASE("every key of the format is read") {
  const Scenario s = read(whole_schema);
  CHECK(s.op == Op::scaled_dot_product_attention);
  const AttentionSpec& a = s.attention;
  CHECK(a.embed_dim == 96);
  CHECK(a.num_heads == 6);
  CHECK(a.num_kv_heads == 3);
  CHECK(a.kdim == 40);
  CHECK(a.vdim == 48);
  CHECK(a.head_dim == 10);
  CHECK(a.v_head_dim == 12);
  CHECK_FALSE(a.bias);
  CHECK(a.add_bias_kv);
  CHECK(a.add_zero_attn);
  CHECK(a.rotary_base == 500000.0);
  CHECK(a.rotary_inverse_frequencies == std::vector<double>{1.0, 0.25});
  CHECK(a.scale == -0.125);
  CHECK(a.softcap == 30.5);
  CHECK(a.temperature == 0.7);
  CHECK(a.sink == std::vector<double>{0.5, -1, 2, 0, 1e-300, 3});
  CHECK(a.dropout == 0.1);
  CHECK(a.dropout_seed == std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(a.need_weights);
  CHECK_FALSE(a.average_attn_weights);
  CHECK(a.residual);
  CHECK(a.layer_norm);
  const InputsSpec& i = s.inputs;
  CHECK(i.source == InputSource::text);
  CHECK(i.seed == 9223372036854775808u);
  CHECK(i.text == std::string("Ça va ? 🙂 \"quoted\" \0\n", 25));
  CHECK(i.key_text == "");
  CHECK_FALSE(i.positions);
  CHECK(i.file == "in.npz");
  CHECK(i.batch == 0);
  CHECK(i.query_length == 0);
  CHECK(i.key_length == 7);
  CHECK_FALSE(i.self_attention);
  CHECK_FALSE(i.batch_first);
  const ParametersSpec& p = s.parameters;
  CHECK(p.source == ParameterSource::file);
  CHECK(p.layout == ProjectionLayout::per_head);
  CHECK(p.init == Initialisation::identity);
  CHECK(p.seed == 3);
  CHECK(p.file == "a/b.safetensors");
  CHECK(p.layer == 11);
  const MaskSpec& m = s.mask;
  CHECK(m.is_causal);
  CHECK(m.causal_alignment == CausalAlignment::bottom_right);
  CHECK(m.sliding_window == 1);
  REQUIRE(m.valid_lens.has_value());
  CHECK(*m.valid_lens == std::vector<std::vector<std::int64_t>>{{1, 2}, {0, 2}});
  CHECK(m.valid_lens_per_query);
  CHECK(m.alibi);
  CHECK(m.preset == "prefix");
  CHECK(m.file == "mask.npy");
  CHECK(m.value == -1e9);
  CHECK(m.fully_masked_rows == FullyMaskedRows::zero);
  REQUIRE(s.head_gain.has_value());
  CHECK(*s.head_gain == std::vector<double>{1, 0, 0.5, -2, 1e-300, 0.1});
  REQUIRE(s.edits.size() == 2);
  CHECK(s.edits[0] == CellEdit{"query", {0, 1, 2}, 0.1});
  CHECK(s.edits[1].value == -std::numeric_limits<double>::infinity());
  REQUIRE(s.frozen_heads.has_value());
  CHECK(s.frozen_heads->heads == std::vector<std::int64_t>{4, 1});
  REQUIRE(s.frozen_heads->attn_weights);
  CHECK(s.frozen_heads->attn_weights->shape().to_string() ==
        Shape{{"N", 1}, {"F", 2}, {"L", 1}, {"S", 2}}.to_string());
  CHECK(s.frozen_heads->attn_weights->flat(1) == 0.9);
  CHECK(std::isnan(s.frozen_heads->attn_weights->flat(2)));
  CHECK(s.origin.written.size() == 52);
}

TEST_CASE("what is left out has its default, and {\"headwise\":1} is a scenario") {
  CHECK(read("{\"headwise\":1}") == Scenario{});
  CHECK(read("{}") == Scenario{});
  CHECK(read("\xEF\xBB\xBF{}\n") == Scenario{});  // a byte order mark is skipped
}

TEST_CASE("a sink is null, a number for every head, or a list") {
  CHECK(read(R"({"attention":{"sink":null}})") == Scenario{});
  Scenario one = read(R"({"attention":{"sink":-0.5}})");
  CHECK(one.attention.sink == std::vector<double>{-0.5});
  CHECK_CONTAINS(scenario_to_json(one), "\"sink\": -0.5");
  one.attention.sink = {1, 2};
  CHECK(read(scenario_to_json(one)) == one);
}

TEST_CASE("writing and reading again gives the same scenario, to the last bit and byte") {
  const Scenario whole = read(whole_schema);
  CHECK(read(scenario_to_json(whole)) == whole);
  CHECK(read(scenario_to_json(whole, true)) == whole);
  CHECK(scenario_to_json(read(scenario_to_json(whole))) == scenario_to_json(whole));

  Scenario numbers;
  for (const double value :
       {0.1, 1.0 / 3.0, -0.0, 5e-324, 1.7976931348623157e308, 9007199254740993.0, 1e22, 123456.789e-7})
    numbers.edits.push_back({"query", {0, 0, 0}, value});
  numbers.edits.push_back({"query", {0}, std::numeric_limits<double>::quiet_NaN()});
  const Scenario again = read(scenario_to_json(numbers));
  REQUIRE(again.edits.size() == numbers.edits.size());
  for (std::size_t i = 0; i + 1 < numbers.edits.size(); ++i) {
    CHECK(again.edits[i].value == numbers.edits[i].value);
    CHECK(std::signbit(again.edits[i].value) == std::signbit(numbers.edits[i].value));
  }
  CHECK(std::isnan(again.edits.back().value));

  Scenario text;
  text.inputs.text = "e\u0301 \u00e9 \u200d \U0001F469\u200D\U0001F467 \t\x7f \\ \" / \u2028";  // not normalised
  CHECK(read(scenario_to_json(text)).inputs.text == text.inputs.text);
}

TEST_CASE("only what differs from its default is written, unless all is asked for or somebody wrote it") {
  CHECK(scenario_to_json(Scenario{}) == "{\n  \"headwise\": 1\n}\n");
  Scenario scenario;
  scenario.attention.num_heads = 4;
  CHECK(scenario_to_json(scenario) ==
        "{\n  \"headwise\": 1,\n  \"attention\": {\n    \"num_heads\": 4\n  }\n}\n");
  const std::string complete = scenario_to_json(Scenario{}, true);
  for (const char* key :
       {"\"embed_dim\": 128", "\"kdim\": null", "\"value\": \"-inf\"", "\"edits\": []", "\"gain\": null"})
    CHECK_CONTAINS(complete, key);
  CHECK(read(complete) == Scenario{});
  CHECK_CONTAINS(scenario_to_json(read(R"({"attention":{"embed_dim":128}})")), "\"embed_dim\": 128");
}

TEST_CASE("who wrote a key is no part of the scenario's value") {
  CHECK(read(R"({"attention":{"embed_dim":128}})") == Scenario{});
  CHECK(read(R"({"attention":{"embed_dim":128}})").origin.written.contains("attention.embed_dim"));
  CHECK_FALSE(read("{}").origin.written.contains("attention.embed_dim"));
}

TEST_CASE("a whole number may be written with a decimal point") {
  CHECK(read(R"({"attention":{"num_heads":4.0,"embed_dim":6.4e1}})").attention.embed_dim == 64);
  CHECK(read(R"({"inputs":{"seed":8.0}})").inputs.seed == 8);
}

TEST_CASE("a list of integers is a length per sentence, a list of lists one per query") {
  CHECK_FALSE(read(R"({"mask":{"valid_lens":[3,0]}})").mask.valid_lens_per_query);
  CHECK(read(R"({"mask":{"valid_lens":[]}})").mask.valid_lens->empty());
  CHECK(read(R"({"mask":{"valid_lens":[[1,2]]}})").mask.valid_lens_per_query);
  CHECK_FALSE(read(R"({"mask":{"valid_lens":null}})").mask.valid_lens.has_value());
}

TEST_CASE("text that is not UTF-8 is refused when it is written, and named") {
  Scenario scenario;
  scenario.inputs.text = "a\xff";
  CHECK_THROWS_WITH_AS(scenario_to_json(scenario), doctest::Contains("not UTF-8"), Error);
  CHECK_THROWS_WITH_AS(with_setting(Scenario{}, "inputs.text=a\xff"), doctest::Contains("not UTF-8"), Error);
}

TEST_CASE("--set changes one key of an object, and the rest of it stays") {
  Scenario base = preset_scenario("hand_made");
  base.attention.rotary_base = 10000.0;
  base = with_setting(base, R"(attention.rotary_scaling={"rope_type":"yarn","factor":2,"beta_fast":16,
                               "original_max_position_embeddings":8})");
  RotaryScaling expected = base.attention.rotary_scaling.value();
  expected.factor = 4.5;
  const Scenario changed = with_setting(base, "attention.rotary_scaling.factor=4.5");
  CHECK(changed.attention.rotary_scaling == expected);
  CHECK(changed.origin.changed.contains("attention.rotary_scaling"));
  CHECK(changed.origin.written.contains("attention.rotary_scaling"));
  Scenario same = changed;
  same.attention.rotary_scaling->factor = 2.0;
  CHECK(same == base);
  // Without an object, the other keys have their defaults.
  const RelativeBias bias =
      with_setting(base, "attention.relative_bias.bidirectional=false").attention.relative_bias.value();
  CHECK_FALSE(bias.bidirectional);
  CHECK(bias.buckets == RelativeBias{}.buckets);
  const Scenario indexed = with_setting(preset_scenario("indexer"), "mask.indexer.k=3");
  CHECK(indexed.mask.indexer.value().k == 3);
  CHECK(indexed.mask.indexer->width == preset_scenario("indexer").mask.indexer->width);
}

TEST_CASE("--set changes one key: JSON where it is JSON, else a string") {
  const Scenario base = preset_scenario("hand_made");
  CHECK(with_setting(base, "attention.num_heads=4").attention.num_heads == 4);
  CHECK(with_setting(base, "attention.num_heads=4").inputs.text == base.inputs.text);
  CHECK(with_setting(base, "inputs.text=it was = tired").inputs.text == "it was = tired");
  CHECK(with_setting(base, "inputs.text=").inputs.text.empty());
  CHECK(with_setting(base, "inputs.text=\"12\"").inputs.text == "12");
  CHECK(with_setting(base, "parameters.source=random").parameters.source == ParameterSource::random);
  CHECK(with_setting(base, "mask.value=-1e9").mask.value == -1e9);
  CHECK_FALSE(with_setting(with_setting(base, "mask.value=-1e9"), "mask.value=-inf").mask.value.has_value());
  CHECK(with_setting(base, "heads.gain=[1,0]").head_gain->size() == 2);
  CHECK_FALSE(
      with_setting(with_setting(base, "attention.kdim=5"), "attention.kdim=null").attention.kdim.has_value());
  CHECK(with_setting(base, R"(mask={"is_causal":true})").mask.is_causal);
  CHECK(with_setting(base, "op=scaled_dot_product_attention").op == Op::scaled_dot_product_attention);
  CHECK(with_setting(base, R"(edits=[{"tensor":"query","index":[0,0,0],"value":1}])").edits.size() == 1);
}

TEST_CASE("--set keeps what was written before, adds its own key, and keeps the folder") {
  Scenario base = read(R"({"attention":{"embed_dim":128}})");
  base.origin.folder = "somewhere";
  const Scenario changed = with_setting(base, "attention.num_heads=8");
  CHECK(changed.origin.written.contains("attention.embed_dim"));
  CHECK(changed.origin.written.contains("attention.num_heads"));
  CHECK(changed.origin.folder == "somewhere");
}

TEST_CASE("a scenario file keeps what it names when it is saved into another folder") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headwise scenario test";
  std::filesystem::create_directories(folder / "inner");
  std::ofstream(folder / "a.json") << R"({"parameters":{"source":"file","file":"inner/p.npz"}})";
  const Scenario scenario = read_scenario_file((folder / "a.json").string());
  CHECK(scenario.origin.folder == folder.string());
  write_scenario_file(scenario, (folder / "inner" / "b.json").string());
  CHECK(read_scenario_file((folder / "inner" / "b.json").string()).parameters.file == "p.npz");
  write_scenario_file(scenario, (folder / "c.json").string());
  CHECK(read_scenario_file((folder / "c.json").string()) == scenario);
  std::filesystem::remove_all(folder);
}

TEST_CASE(
    "weights that frozen heads keep are written as text where they are few, else into a file beside the "
    "scenario") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headwise frozen test";
  std::filesystem::create_directories(folder / "inner");
  for (const Index length : {12, 100}) {
    Tensor weights(Shape{{"N", 1}, {"F", 2}, {"L", length}, {"S", length}}, DType::f64);
    for (Index i = 0; i < weights.size(); ++i) weights.set_flat(i, 1.0 / static_cast<double>(i + 3));
    Scenario scenario;
    scenario.inputs.query_length = length;
    scenario.frozen_heads = FrozenHeads{{5, 0}, std::make_shared<const Tensor>(weights), std::nullopt};
    const ScenarioInputs expected = make_scenario_inputs(scenario, DType::f64);
    write_scenario_file(scenario, (folder / "a.json").string());
    CHECK(std::filesystem::exists(folder / "a.frozen.npz") == (length > 12));
    const Scenario again = read_scenario_file((folder / "a.json").string());
    CHECK((again == scenario) == (length == 12));  // else it names the file
    CHECK(identical(*make_scenario_inputs(again, DType::f64).attention.tensors.frozen_weights,
                    *expected.attention.tensors.frozen_weights));
    write_scenario_file(again, (folder / "inner" / "b.json").string());
    const Scenario moved = read_scenario_file((folder / "inner" / "b.json").string());
    CHECK(identical(*make_scenario_inputs(moved, DType::f64).attention.tensors.frozen_weights,
                    *expected.attention.tensors.frozen_weights));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a scenario file that is missing or a folder ends with status 2") {
  for (const std::string& path :
       {std::string("/no/such/file.json"), std::filesystem::temp_directory_path().string()})
    test::refused_with([&] { read_scenario_file(path); }, {path}, ExitStatus::usage);
}
