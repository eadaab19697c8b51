// Scenarios that must be refused, and the words that their error line must have.
#include <string>
#include <vector>

#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

struct Malformed {
  std::string json;
  std::vector<std::string> words;
};

const std::vector<Malformed> malformed{
    // Not JSON: line and column
    {"", {"an empty text", "not JSON"}},
    {" \n", {"an empty text", "not JSON"}},
    {"{", {"line 1, column 2", "end of input"}},
    {"{}}", {"line 1, column 3"}},
    {"{} {}", {"line 1, column 4"}},
    {"{\n  \"headwise\": 1,\n}", {"line 3, column 1"}},
    {"{\n  \"headwise\": 1\n  \"op\": 2}", {"line 3"}},
    {"{\"ä\": 1, \"b\" 2}", {"line 1, column 14"}},
    {"{'headwise': 1}", {"line 1, column 2"}},
    {"{headwise: 1}", {"line 1, column 2"}},
    {"{\"headwise\": 01}", {"line 1, column 15"}},
    {"{\"headwise\": +1}", {"line 1"}},
    {"{\"headwise\": 1.}", {"line 1"}},
    {"{\"headwise\": .5}", {"line 1"}},
    {"{\"headwise\": 0x1}", {"line 1"}},
    {"{\"headwise\": 1 /* one */}", {"line 1"}},
    {"{\"headwise\": tru}", {"line 1"}},
    {"{\"inputs\": {\"text\": \"a\nb\"}}", {"line 1", "control character"}},
    {"{\"inputs\": {\"text\": \"\xff\"}}", {"line 1", "UTF-8"}},
    {"{\"inputs\": {\"text\": \"\xc3\"}}", {"line 1", "UTF-8"}},
    {"{\"inputs\": {\"text\": \"\\ud800\"}}", {"line 1", "surrogate"}},
    {"{\"inputs\": {\"text\": \"\\x41\"}}", {"line 1"}},
    {"{\"inputs\": {\"text\": \"open}}", {"line 1", "missing closing quote"}},
    {std::string("{}\0{}", 5), {"line 1, column 3", "zero byte"}},
    {"{\"attention\": {\"scale\": NaN}}", {"line 1, column 25"}},
    {"{\"attention\": {\"scale\": -Infinity}}", {"line 1"}},
    {"{\"attention\": {\"scale\": 1e400}}", {"out of range", "1e400"}},
    {"{\"attention\": {\"scale\": -1e400}}", {"out of range"}},
    {"{\"attention\": {\"qk_norm_offset\": 0.5}}", {"attention.qk_norm_offset", "0.5", "0 or 1"}},
    {"{\"attention\": {\"qk_norm_offset\": 2}}", {"out of range", "0 or 1"}},
    // Not a scenario
    {"[]", {"a scenario is a JSON object", "a list of 0"}},
    {"null", {"a scenario is a JSON object", "null"}},
    {"\"headwise\"", {"a scenario is a JSON object"}},
    {"{\"headwise\": 2}", {"newer Headwise", "version 2", "version 1"}},
    {"{\"headwise\": 1.5}", {"unknown format version", "version 1.5"}},
    {"{\"headwise\": 0}", {"unknown format version"}},
    {"{\"headwise\": \"1\"}", {"headwise", "wrong type", "\"1\""}},
    {"{\"headwise\": null}", {"headwise", "wrong type"}},
    // Unknown and duplicate keys
    {"{\"headwize\": 1}", {"unknown key \"headwize\"", "did you mean \"headwise\"?"}},
    {"{\"attntion\": {}}", {"did you mean \"attention\"?"}},
    {"{\"attention\": {\"num_head\": 4}}",
     {"unknown key \"attention.num_head\"", "did you mean \"attention.num_heads\"?"}},
    {"{\"num_heads\": 4}", {"did you mean \"attention.num_heads\"?"}},
    {"{\"attention\": {\"is_causal\": true}}", {"did you mean \"mask.is_causal\"?"}},
    {"{\"inputs\": {\"Text\": \"\"}}", {"did you mean \"inputs.text\"?"}},
    {"{\"\": 1}", {"unknown key \"\""}},
    {"{\"headwise\": 1, \"headwise\": 1}", {"\"headwise\" occurs twice"}},
    {"{\"attention\": {\"num_heads\": 4, \"num_heads\": 8}}", {"\"num_heads\" occurs twice"}},
    {"{\"attention\": {}, \"attention\": {}}", {"\"attention\" occurs twice"}},
    {"{\"edits\": [{\"tensor\": \"q\", \"tensor\": \"q\"}]}", {"\"tensor\" occurs twice"}},
    {"{\"attention\": {\"n\\u0075m_heads\": 4, \"num_heads\": 8}}", {"occurs twice"}},
    // Wrong types
    {"{\"attention\": []}", {"attention", "a list of 0", "an object"}},
    {"{\"attention\": null}", {"attention", "null", "an object"}},
    {"{\"op\": 1}", {"op", "wrong type", "multi_head_attention"}},
    {"{\"op\": \"mha\"}", {"unknown choice", "\"mha\""}},
    {"{\"inputs\": {\"source\": \"texts\"}}", {"did you mean \"text\"?"}},
    {"{\"attention\": {\"embed_dim\": \"128\"}}",
     {"attention.embed_dim", "wrong type", "\"128\"", "an integer of at least 1"}},
    {"{\"attention\": {\"embed_dim\": null}}", {"wrong type", "null"}},
    {"{\"attention\": {\"embed_dim\": true}}", {"wrong type", "true"}},
    {"{\"attention\": {\"embed_dim\": 12.5}}", {"not a whole number", "12.5"}},
    {"{\"attention\": {\"bias\": 1}}", {"attention.bias", "true or false"}},
    {"{\"attention\": {\"bias\": null}}", {"true or false"}},
    {"{\"attention\": {\"scale\": \"1\"}}", {"attention.scale", "a finite number"}},
    {"{\"inputs\": {\"text\": 12}}", {"inputs.text", "12", "a string"}},
    {"{\"inputs\": {\"text\": null}}", {"inputs.text", "a string"}},
    {"{\"inputs\": {\"seed\": -1}}", {"inputs.seed", "from 0 to 18446744073709551615"}},
    {"{\"inputs\": {\"seed\": 0.5}}", {"not a whole number"}},
    {"{\"inputs\": {\"seed\": 18446744073709551616}}", {"out of range"}},
    {"{\"inputs\": {\"file\": 3}}", {"inputs.file", "a string"}},
    {"{\"mask\": {\"valid_lens\": 3}}", {"mask.valid_lens", "a list (N)"}},
    {"{\"mask\": {\"valid_lens\": [1, [2]]}}", {"mixed"}},
    {"{\"mask\": {\"valid_lens\": [[1], 2]}}", {"mixed"}},
    {"{\"mask\": {\"valid_lens\": [[1], [1, 2]]}}", {"different lengths"}},
    {"{\"mask\": {\"valid_lens\": [-1]}}", {"out of range", "-1"}},
    {"{\"mask\": {\"valid_lens\": [[[1]]]}}", {"wrong type"}},
    {"{\"mask\": {\"value\": \"inf\"}}", {"mask.value", "\"-inf\" or a finite number"}},
    {"{\"mask\": {\"value\": null}}", {"mask.value"}},
    {"{\"mask\": {\"fully_masked_rows\": \"uniform\"}}", {"one of nan, zero"}},
    {"{\"mask\": {\"fully_masked_rows\": 0}}", {"one of nan, zero"}},
    {"{\"heads\": {\"gain\": 1}}", {"heads.gain", "a list of numbers"}},
    {"{\"heads\": {\"gain\": [1, \"2\"]}}", {"heads.gain"}},
    {"{\"heads\": [1]}", {"heads", "an object"}},
    {"{\"heads\": {\"frozen\": [4, 1]}}", {"heads.frozen", "an object with heads and attn_weights"}},
    {"{\"heads\": {\"frozen\": {}}}", {"heads.frozen", "\"heads\" is missing"}},
    {"{\"heads\": {\"frozen\": {\"heads\": []}}}", {"heads.frozen.heads", "no head is named"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [1.5]}}}", {"heads.frozen.heads", "not a whole number"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [-1]}}}", {"out of range", "-1"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4, 1, 4]}}}", {"a head is named twice", "4"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4], \"attn_weight\": 1}}}", {"did you mean \"attn_weights\"?"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4], \"attn_weights\": 1}}}", {"attn_weights", "(N,F,L,S)"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4], \"attn_weights\": [[[1, 2]]]}}}", {"wrong type", "(N,F,L,S)"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4], \"attn_weights\": [[[[1, 2], [3]]]]}}}",
     {"lists of different lengths", "2 and 1"}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4], \"attn_weights\": [[[[1, \"2\"]]]]}}}",
     {"attn_weights", "\"2\""}},
    {"{\"heads\": {\"frozen\": {\"heads\": [4], \"attn_weights\": [[[[1]], [[1]]]]}}}",
     {"one map for each frozen head", "2 maps for 1 heads", "F = 1"}},
    {"{\"heads\": {\"gian\": null}}", {"did you mean \"heads.gain\"?"}},
    {"{\"edits\": {}}", {"edits", "a list of edits"}},
    {"{\"edits\": [1]}", {"edits[0]", "an object"}},
    {"{\"edits\": [{\"tensor\": \"query\", \"index\": [0]}]}", {"edits[0]", "\"value\" is missing"}},
    {"{\"edits\": [{\"tensor\": \"query\", \"index\": [0], \"valu\": 1}]}", {"did you mean \"value\"?"}},
    {"{\"edits\": [{\"tensor\": \"query\", \"index\": 0, \"value\": 1}]}", {"edits[0].index"}},
    {"{\"edits\": [{\"tensor\": \"query\", \"index\": [-1], \"value\": 1}]}", {"out of range"}},
    {"{\"edits\": [{\"tensor\": \"query\", \"index\": [0,0,0,0,0,0,0,0,0], \"value\": 1}]}", {"at most 8"}},
    {"{\"edits\": [{\"tensor\": \"query\", \"index\": [0], \"value\": \"1\"}]}", {"edits[0].value"}},
    {"{\"edits\": [{\"tensor\": 1, \"index\": [0], \"value\": 1}]}", {"edits[0].tensor", "a string"}},
    // Out of range
    {"{\"attention\": {\"embed_dim\": 0}}", {"attention.embed_dim", "out of range", "at least 1"}},
    {"{\"attention\": {\"num_heads\": -8}}", {"-8", "at least 1"}},
    {"{\"attention\": {\"num_kv_heads\": 0}}", {"at least 1"}},
    {"{\"attention\": {\"head_dim\": 0}}", {"at least 1"}},
    {"{\"attention\": {\"embed_dim\": 9223372036854775808}}", {"at most 9223372036854775807"}},
    {"{\"attention\": {\"embed_dim\": 1e300}}", {"out of range"}},
    {"{\"attention\": {\"dropout\": 1.5}}", {"from 0 to 1", "1.5"}},
    {"{\"attention\": {\"dropout\": -0.1}}", {"from 0 to 1"}},
    {"{\"attention\": {\"temperature\": 0}}", {"> 0"}},
    {"{\"attention\": {\"softcap\": -1}}", {"attention.softcap"}},
    {"{\"inputs\": {\"past_length\": -1}}", {"inputs.past_length", "at least 0"}},
    {"{\"attention\": {\"sink\": \"0\"}}", {"attention.sink", "a finite number"}},
    {"{\"attention\": {\"sink\": []}}", {"attention.sink", "no number in the list"}},
    {"{\"attention\": {\"sink\": [1, null]}}", {"attention.sink[1]"}},
    {"{\"attention\": {\"rotary_base\": 0}}", {"attention.rotary_base", "> 0"}},
    {"{\"attention\": {\"rotary_inverse_frequencies\": 1}}", {"a list of numbers, one per pair of columns"}},
    {"{\"inputs\": {\"batch\": -1}}", {"at least 0"}},
    {"{\"mask\": {\"sliding_window\": 0}}", {"at least 1"}},
    {"{\"parameters\": {\"layer\": -1}}", {"at least 0"}},
};

}  // namespace

TEST_CASE("every malformed scenario is refused in one line that says what, where, got and expected") {
  REQUIRE(malformed.size() >= 60);
  for (const Malformed& scenario : malformed) {
    CAPTURE(scenario.json);
    const std::string line = test::refused_with([&] { scenario_from_json(scenario.json, "bad.json"); },
                                                scenario.words, ExitStatus::usage);
    CHECK(line.starts_with("bad.json"));
    CHECK(line.size() < 1600);
  }
}

TEST_CASE("a scenario that is nested or large without end is refused and costs little") {
  const auto refused = [](const std::string& json, const char* word) {
    CHECK_THROWS_WITH_AS(scenario_from_json(json, "bad.json"), doctest::Contains(word), Error);
  };
  refused(std::string(1'000'000, '['), "nested too deeply");
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  refused(objects, "nested too deeply");
  std::string keys = "{";
  for (int i = 0; i < 100'000; ++i) keys += "\"k" + std::to_string(i) + "\":0,";
  refused(keys + "\"z\":0}", "too many keys");
  std::string values = "{\"heads\":{\"gain\":[0";
  for (int i = 0; i < 4'000'001; ++i) values += ",0";
  refused(values + "]}}", "more than 4000000 values");
  refused("{\"inputs\":{\"" + std::string(1'000'000, 'x') + "\":1}}", "unknown key");
}

TEST_CASE("a scenario that is cut at any byte is refused, and one changed byte is never more than an error") {
  Scenario whole;
  whole.attention.num_kv_heads = 4;
  whole.attention.scale = -0.125;
  whole.inputs.text = "Ça 🙂 \"va\"";
  whole.mask.valid_lens = std::vector<std::vector<std::int64_t>>{{1, 2}, {3, 4}};
  whole.mask.valid_lens_per_query = true;
  whole.head_gain = std::vector<double>{1, 0.5};
  whole.edits = {{"query", {0, 1, 2}, 1e-3}};
  const std::string json = scenario_to_json(whole);
  REQUIRE(scenario_from_json(json, "x") == whole);
  for (std::size_t length = 0; length + 2 < json.size(); ++length)  // the last two are "}" and a new line
    CHECK_THROWS_AS(scenario_from_json(json.substr(0, length), "x"), Error);
  int read = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    for (const char byte : {'\0', '"', '{', ']', '9', '-', ' ', 'e', '\xff'}) {
      std::string changed = json;
      changed[at] = byte;
      try {
        read += scenario_to_json(scenario_from_json(changed, "x")).empty() ? 0 : 1;
      } catch (const Error& error) {
        REQUIRE(error.status() == ExitStatus::usage);
      }
    }
  }
  CHECK(read > 0);
}

TEST_CASE("--set that cannot be is refused with the same words") {
  const auto refused = [](const char* setting, const char* word) {
    CAPTURE(setting);
    CHECK_THROWS_WITH_AS(with_setting(Scenario{}, setting), doctest::Contains(word), Error);
  };
  refused("attention.num_heads", "PATH=VALUE");
  refused("=4", "PATH=VALUE");
  refused("attention.num_head=4", "did you mean \"attention.num_heads\"?");
  refused("num_heads=4", "did you mean \"attention.num_heads\"?");
  refused("attention.num_heads=four", "wrong type");
  refused("attention.num_heads.most=4", "\"attention.num_heads\" has no parts");
  refused("attention.rotary_scaling.factor=4", "rope_type");
  refused("mask.indexer.k=4", "heads");
  refused("attention.relative_bias.bucket=4", "buckets");
  refused("attention.relative_bias.buckets.most=4", "buckets");
  refused("attention.nothing.at=4", "unknown key");
  refused("attention.num_heads=", "wrong type");
  refused("attention.scale=1e400", "a number is out of range: got 1e400");
  refused("attention.scale=NaN", "\"NaN\"");
  refused("inputs.text=12", "a string");
  refused("headwise=2", "newer");
  refused("op.x=1", "op");
  refused("edits.0.value=1", "edits");
  refused("attention={\"num_heads\":4,\"num_heads\":8}", "occurs twice");
  refused("nothing.at.all=1", "unknown key");
}
