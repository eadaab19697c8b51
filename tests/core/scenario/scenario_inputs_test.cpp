#include "core/scenario/scenario_inputs.h"

#include <fmt/format.h>

#include <cmath>

#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

Scenario scenario_of(const std::string& json) {
  return scenario_from_json(json, "test.json");
}

ScenarioInputs inputs_of(const std::string& json, DType dtype = DType::f64) {
  return make_scenario_inputs(scenario_of(json), dtype);
}

std::string sizes(const TensorPtr& tensor) {
  return tensor ? tensor->shape().sizes_text() : "none";
}

void check_refused(const std::string& json, const std::vector<std::string>& words,
                   ExitStatus status = ExitStatus::usage) {
  CAPTURE(json);
  test::refused_with([&] { inputs_of(json); }, words, status);
}

}  // namespace

TEST_CASE("the shortest scenario gives PyTorch's module in self-attention over random numbers") {
  const ScenarioInputs inputs = inputs_of(R"({"headwise":1})");
  const TraceTensors& t = inputs.attention.tensors;
  CHECK(sizes(t.query) == "(1,10,128)");
  CHECK(t.key == t.query);
  CHECK(t.value == t.query);
  CHECK(sizes(t.in_proj_weight) == "(384,128)");
  CHECK(sizes(t.in_proj_bias) == "(384)");
  CHECK(sizes(t.out_proj_weight) == "(128,128)");
  CHECK(sizes(t.out_proj_bias) == "(128)");
  CHECK(t.q_proj_weight == nullptr);
  CHECK(t.attn_mask == nullptr);
  CHECK(inputs.attention.options == AttentionOptions{});
  CHECK(inputs.labels.query[3] == "q 3");
  CHECK(inputs.labels.key[3] == "k 3");
  CHECK_FALSE(inputs.unbatched);
  CHECK(inputs.grad_output == nullptr);
}

TEST_CASE("null follows from the rest") {
  const AttentionOptions o =
      inputs_of(
          R"({"attention":{"embed_dim":24,"num_heads":6,"num_kv_heads":2,"kdim":10},"inputs":{"self_attention":false}})")
          .attention.options;
  CHECK(o.head_dim == 4);
  CHECK(o.v_head_dim == 4);
  CHECK(o.kdim == 10);
  CHECK(o.vdim == 24);
  CHECK(o.num_kv_heads == 2);
  CHECK(inputs_of(R"({"attention":{"embed_dim":10,"num_heads":3,"head_dim":5,"v_head_dim":2}})")
            .attention.options.v_head_dim == 2);
}

TEST_CASE("fully masked rows are NaN where weights are wanted, zero elsewhere, unless the scenario says") {
  const auto rows = [](const char* json) { return inputs_of(json).attention.options.fully_masked_rows; };
  CHECK(rows("{}") == FullyMaskedRows::nan);
  CHECK(rows(R"({"attention":{"need_weights":false}})") == FullyMaskedRows::zero);
  CHECK(rows(R"({"op":"scaled_dot_product_attention"})") == FullyMaskedRows::zero);
  CHECK(rows(R"({"mask":{"fully_masked_rows":"zero"}})") == FullyMaskedRows::zero);
  CHECK(rows(R"({"op":"scaled_dot_product_attention","mask":{"fully_masked_rows":"nan"}})") ==
        FullyMaskedRows::nan);
}

TEST_CASE("every option reaches the operator") {
  const AttentionOptions o =
      inputs_of(R"({"attention":{"scale":0.5,"softcap":3,"temperature":2,"dropout":0.25,"dropout_seed":7,
      "add_zero_attn":true,"need_weights":false,"average_attn_weights":false,"residual":true,"layer_norm":true},
      "mask":{"is_causal":true,"causal_alignment":"bottom_right","sliding_window":3,"alibi":true,"value":-5},
      "heads":{"gain":[0,1,1,1,1,1,1,2]}})")
          .attention.options;
  CHECK(o.scale == 0.5);
  CHECK(o.softcap == 3.0);
  CHECK(o.temperature == 2.0);
  CHECK(o.dropout == 0.25);
  CHECK(o.dropout_seed == 7);
  CHECK(o.add_zero_attn);
  CHECK_FALSE(o.need_weights);
  CHECK_FALSE(o.average_attn_weights);
  CHECK(o.residual);
  CHECK(o.layer_norm);
  CHECK(o.is_causal);
  CHECK(o.causal_alignment == CausalAlignment::bottom_right);
  CHECK(o.sliding_window == 3);
  CHECK(o.alibi);
  CHECK(o.mask_value == -5.0);
  CHECK(o.head_gain == std::vector<double>{0, 1, 1, 1, 1, 1, 1, 2});
}

TEST_CASE("attention.sink becomes the array sinks, which a given one replaces and edits change") {
  const ScenarioInputs one = inputs_of(R"({"attention":{"embed_dim":8,"num_heads":2,"sink":0.5},
      "edits":[{"tensor":"sinks","index":[1],"value":-3}]})");
  REQUIRE(one.attention.tensors.sinks);
  CHECK(one.attention.tensors.sinks->flat(0) == 0.5);
  CHECK(one.attention.tensors.sinks->flat(1) == -3.0);
  const GivenArrays given{{"sinks", std::make_shared<const Tensor>(Shape{{"a", 2}}, std::vector<double>{1, 2})}};
  for (const char* op : {"multi_head_attention", "scaled_dot_product_attention"}) {
    const std::string json =
        fmt::format(R"({{"op":"{}","attention":{{"embed_dim":8,"num_heads":2,"sink":0.5}}}})", op);
    const ScenarioInputs both = make_scenario_inputs(scenario_from_json(json, "test"), DType::f64, given);
    CHECK(both.attention.tensors.sinks->flat(1) == 2.0);
    CHECK_NOTHROW(reference_forward(both.attention));
  }
  CHECK_CONTAINS(
      test::refusal_line([] { inputs_of(R"({"attention":{"embed_dim":8,"num_heads":4,"sink":[1,2]}})"); },
                         ExitStatus::usage),
      "attention.sink has 2 numbers, num_heads is 4: write one number for every head, or one for each");
}

TEST_CASE("inputs.past_length draws a past, which arrays replace, and its keys have labels") {
  for (const char* op : {"multi_head_attention", "scaled_dot_product_attention"}) {
    const std::string json = fmt::format(
        R"({{"op":"{}","attention":{{"embed_dim":8,"num_heads":2}},"inputs":{{"query_length":3,"past_length":2}}}})",
        op);
    const ScenarioInputs drawn = inputs_of(json);
    CHECK(sizes(drawn.attention.tensors.past_key) == "(1,2,2,4)");
    CHECK(sizes(drawn.attention.tensors.past_value) == "(1,2,2,4)");
    CHECK_FALSE(identical(*drawn.attention.tensors.past_key, *drawn.attention.tensors.past_value));
    CHECK(drawn.labels.key == std::vector<std::string>{"past 0", "past 1", "k 0", "k 1", "k 2"});
    CHECK(*drawn.labels.along("S") == std::vector<std::string>{"k 0", "k 1", "k 2"});
    CHECK(drawn.labels.along("P+S") == &drawn.labels.key);
    CHECK(reference_forward(drawn.attention)->tensors.scores->shape().size(3) == 5);
    const auto past = [](Index length) {
      return std::make_shared<const Tensor>(Shape{{"a", 1}, {"b", 2}, {"c", length}, {"d", 4}}, DType::f64);
    };
    const GivenArrays given{{"past_key", past(7)}, {"past_value", past(7)}};
    const ScenarioInputs replaced = make_scenario_inputs(scenario_from_json(json, "test"), DType::f64, given);
    CHECK(attention_sizes(replaced.attention).past == 7);
    const GivenArrays alone{{"past_key", past(7)}};
    CHECK_CONTAINS(
        test::refusal_line([&] { make_scenario_inputs(scenario_from_json(json, "test"), DType::f64, alone); },
                           ExitStatus::input),
        "past_key is given without past_value: both or neither");
  }
  const GivenArrays lens{
      {"nonpad_kv_seqlen", std::make_shared<const Tensor>(Shape{{"N", 1}}, std::vector<std::int64_t>{2})}};
  CHECK_CONTAINS(
      test::refusal_line(
          [&] {
            make_scenario_inputs(scenario_from_json(R"({"inputs":{"past_length":2}})", "test"), DType::f64,
                                 lens);
          },
          ExitStatus::input),
      "inputs.past_length and nonpad_kv_seqlen exclude each other: both say where the queries stand");
}

TEST_CASE("a window that is given twice, and buckets that cannot be, contradict a scenario itself") {
  CHECK_CONTAINS(test::refusal_line([] { inputs_of(R"({"mask":{"sliding_window":3,"window_right":0}})"); },
                                    ExitStatus::usage),
                 "mask.sliding_window and mask.window_left or window_right exclude each other");
  CHECK_CONTAINS(test::refusal_line([] { inputs_of(R"({"attention":{"relative_bias":{"buckets":3}}})"); },
                                    ExitStatus::usage),
                 "attention.relative_bias.buckets = 3: expected 4 to");
  CHECK_CONTAINS(test::refusal_line([] { inputs_of(R"({"attention":{"relative_bias":{"max_distance":8}}})"); },
                                    ExitStatus::usage),
                 "attention.relative_bias.max_distance = 8");
}

TEST_CASE("mask.indexer draws the parameters of an indexer, or its queries, keys and weights") {
  const ScenarioInputs module = inputs_of(
      R"({"attention":{"embed_dim":8,"num_heads":2,"rotary_base":10},"inputs":{"query_length":5},
          "mask":{"indexer":{"heads":3,"width":4,"k":2,"rotary_pairs":"neighbours"}}})");
  CHECK(sizes(module.attention.tensors.indexer_wq_b) == "(12,8)");
  CHECK(sizes(module.attention.tensors.indexer_wk) == "(4,8)");
  CHECK(sizes(module.attention.tensors.indexer_weights_proj) == "(3,8)");
  CHECK_FALSE(module.attention.tensors.indexer_k_norm_weight);
  CHECK(module.attention.options.indexer == Indexer{3, 4, 2, RotaryPairs::neighbours});
  CHECK_NOTHROW(reference_forward(module.attention));
  const ScenarioInputs heads = inputs_of(
      R"({"op":"scaled_dot_product_attention","attention":{"num_heads":2,"head_dim":4},
          "inputs":{"query_length":5,"key_length":6,"batch":2},"mask":{"indexer":{"heads":3,"width":4,"k":2}}})");
  CHECK(sizes(heads.attention.tensors.indexer_q) == "(2,3,5,4)");
  CHECK(sizes(heads.attention.tensors.indexer_k) == "(2,1,6,4)");
  CHECK(sizes(heads.attention.tensors.indexer_weights) == "(2,5,3)");
  CHECK_NOTHROW(reference_forward(heads.attention));
  const ScenarioInputs edited = inputs_of(
      R"({"op":"scaled_dot_product_attention","attention":{"num_heads":2,"head_dim":4},
          "mask":{"indexer":{"heads":3,"width":4,"k":2}},"edits":[{"tensor":"indexer_q","index":[0,2,1,3],"value":7}]})");
  CHECK(edited.attention.tensors.indexer_q->at({0, 2, 1, 3}) == 7.0);
  const char* const json = R"({"attention":{"embed_dim":8,"num_heads":2},"inputs":{"query_length":5},
                               "mask":{"indexer":{"heads":1,"width":2,"k":2}}})";
  const GivenArrays given{
      {"indexer.wk.weight", std::make_shared<const Tensor>(Shape{{"a", 2}, {"b", 8}}, DType::f64)}};
  const ScenarioInputs own = make_scenario_inputs(scenario_from_json(json, "test"), DType::f64, given);
  CHECK(own.attention.tensors.indexer_wk->flat(3) == 0.0);
  const ScenarioInputs without = make_scenario_inputs(scenario_from_json("{}", "test"), DType::f64, given);
  CHECK(std::ranges::count(without.notes, "indexer.wk.weight is not used: mask.indexer is null") == 1);
}

TEST_CASE("an indexer that does not fit the layer is refused with its key and what to do") {
  const auto refusal = [](const std::string& more, const std::string& indexer) {
    return test::refusal_line(
        [&] {
          inputs_of((R"({"attention":{"embed_dim":8,"num_heads":2)" + more + R"(},"mask":{"indexer":)" +
                     indexer + "}}")
                        .c_str());
        },
        ExitStatus::usage);
  };
  const char* const fitting = R"({"heads":1,"width":4,"k":2})";
  CHECK_CONTAINS(refusal(R"(,"rotary_base":10)", R"({"heads":1,"width":3,"k":2})"),
                 "mask.indexer.width = 3: the layer rotates 4 columns, so give the indexer at least as many");
  CHECK_CONTAINS(refusal(R"(,"add_zero_attn":true)", fitting),
                 "mask.indexer has keys of its own, and none for the keys of add_zero_attn: leave one out");
  CHECK_CONTAINS(refusal("", R"({"heads":1,"width":4})"), "mask.indexer: the key \"k\" is missing");
  CHECK_CONTAINS(refusal("", R"({"heads":0,"width":4,"k":1})"), "mask.indexer.heads");
  CHECK_CONTAINS(refusal("", R"({"heads":1,"width":4,"k":1,"top":1})"), "top");
  CHECK_CONTAINS(
      test::refusal_line(
          [&] { inputs_of(R"({"inputs":{"past_length":2},"mask":{"indexer":{"heads":1,"width":4,"k":2}}})"); },
          ExitStatus::usage),
      "none for the keys of inputs.past_length");
}

TEST_CASE("a past that does not fit into memory is refused before it is made") {
  CHECK_CONTAINS(test::refusal_line([] { inputs_of(R"({"inputs":{"past_length":9000000000000000000}})"); },
                                    ExitStatus::memory),
                 "it would not fit in memory: got more than 8.0 EiB");
}

TEST_CASE("cross-attention: one memory is key and value, unless their widths differ") {
  const ScenarioInputs one = inputs_of(
      R"({"attention":{"embed_dim":8,"num_heads":2},"inputs":{"self_attention":false,"query_length":3,"key_length":5,"batch":2}})");
  CHECK(sizes(one.attention.tensors.query) == "(2,3,8)");
  CHECK(sizes(one.attention.tensors.key) == "(2,5,8)");
  CHECK(one.attention.tensors.value == one.attention.tensors.key);
  const ScenarioInputs two = inputs_of(
      R"({"attention":{"embed_dim":8,"num_heads":2,"kdim":6,"vdim":4},"inputs":{"self_attention":false,"query_length":3,"key_length":5}})");
  CHECK(sizes(two.attention.tensors.key) == "(1,5,6)");
  CHECK(sizes(two.attention.tensors.value) == "(1,5,4)");
  CHECK(sizes(two.attention.tensors.k_proj_weight) == "(8,6)");
  CHECK(sizes(two.attention.tensors.v_proj_weight) == "(8,4)");
  CHECK_NOTHROW(reference_forward(two.attention));
}

TEST_CASE("two sentences: the second one is the key, and both label their axis") {
  const ScenarioInputs inputs = make_scenario_inputs(preset_scenario("cross_attention"), DType::f32);
  CHECK(inputs.labels.query == std::vector<std::string>{"Das", "Tier", "war", "müde"});
  CHECK(inputs.labels.key.size() == 9);
  CHECK(inputs.labels.key.back() == "street");
  CHECK(sizes(inputs.attention.tensors.key) == "(1,9,128)");
}

TEST_CASE("appended columns have labels of their own") {
  const ScenarioInputs inputs = inputs_of(
      R"({"attention":{"add_bias_kv":true,"add_zero_attn":true},"inputs":{"source":"text","text":"a b a"}})");
  CHECK(inputs.labels.query == std::vector<std::string>{"a", "b", "a"});
  CHECK(inputs.labels.key == std::vector<std::string>{"a", "b", "a", "bias_k", "zero"});
  CHECK(sizes(inputs.attention.tensors.bias_k) == "(128)");
  CHECK(reference_forward(inputs.attention)->tensors.scores->shape().size(3) == 5);
}

TEST_CASE("ones are ones, uniform01 lies in [0,1), batches differ, seeds differ, and f32 is f64 rounded") {
  const ScenarioInputs ones = inputs_of(R"({"inputs":{"source":"ones"}})");
  for (const double value : ones.attention.tensors.query->values<double>()) REQUIRE(value == 1.0);
  const ScenarioInputs uniform = inputs_of(R"({"inputs":{"source":"uniform01"}})");
  for (const double value : uniform.attention.tensors.query->values<double>())
    REQUIRE((value >= 0.0 && value < 1.0));
  const ScenarioInputs wide = inputs_of(R"({"inputs":{"batch":2}})");
  const Tensor& random = *wide.attention.tensors.query;
  CHECK(random.at({0, 0, 0}) != random.at({1, 0, 0}));
  CHECK(random.at({0, 0, 0}) != inputs_of(R"({"inputs":{"seed":1}})").attention.tensors.query->at({0, 0, 0}));
  const ScenarioInputs narrow = inputs_of(R"({"inputs":{"batch":2}})", DType::f32);
  CHECK(identical(*narrow.attention.tensors.query, random.converted(DType::f32)));
}

TEST_CASE("sizes of zero are sizes") {
  for (const char* json :
       {R"({"inputs":{"query_length":0}})", R"({"inputs":{"batch":0}})",
        R"({"inputs":{"self_attention":false,"key_length":0}})", R"({"inputs":{"source":"text","text":""}})",
        R"({"inputs":{"source":"text","text":"a b","key_text":"","self_attention":false}})"}) {
    CAPTURE(json);
    const ScenarioInputs inputs = inputs_of(json);
    CHECK_NOTHROW(reference_forward(inputs.attention));
  }
}

TEST_CASE("scaled_dot_product_attention takes its heads from the options, a text is cut into them") {
  const ScenarioInputs random = inputs_of(
      R"({"op":"scaled_dot_product_attention","attention":{"embed_dim":24,"num_heads":4,"num_kv_heads":2,"v_head_dim":5},"inputs":{"query_length":3,"key_length":7,"batch":2}})");
  CHECK(sizes(random.attention.tensors.query) == "(2,4,3,6)");
  CHECK(sizes(random.attention.tensors.key) == "(2,2,7,6)");
  CHECK(sizes(random.attention.tensors.value) == "(2,2,7,5)");
  CHECK(random.attention.tensors.in_proj_weight == nullptr);
  CHECK_NOTHROW(reference_forward(random.attention));

  const ScenarioInputs text =
      inputs_of(R"({"op":"scaled_dot_product_attention","inputs":{"source":"text","text":"a b c"}})");
  const ScenarioInputs whole = inputs_of(R"({"inputs":{"source":"text","text":"a b c"}})");
  for (Index head = 0; head < 8; ++head) {  // head h holds columns 16h … 16h+15 of the embedding
    CHECK(text.attention.tensors.query->at({0, head, 2, 5}) ==
          whole.attention.tensors.query->at({0, 2, head * 16 + 5}));
  }
}

TEST_CASE("valid_lens become a tensor of integers, per sentence or per query") {
  CHECK(sizes(inputs_of(R"({"inputs":{"batch":2},"mask":{"valid_lens":[3,10]}})").attention.tensors.valid_lens) ==
        "(2)");
  const TensorPtr per_query =
      inputs_of(R"({"inputs":{"query_length":2},"mask":{"valid_lens":[[1,2]]}})").attention.tensors.valid_lens;
  CHECK(sizes(per_query) == "(1,2)");
  CHECK(per_query->dtype() == DType::i64);
  CHECK(per_query->at({0, 1}) == 2.0);
}

TEST_CASE("a scenario that contradicts itself is refused, every cause named") {
  check_refused(R"({"attention":{"num_heads":7}})",
                {"num_heads = 7", "embed_dim = 128", "attention.head_dim"});
  check_refused(R"({"attention":{"num_kv_heads":3}})", {"num_kv_heads = 3", "num_heads = 8"});
  check_refused(R"({"attention":{"kdim":64}})", {"kdim = 64", "inputs.self_attention"});
  check_refused(R"({"attention":{"vdim":64}})", {"vdim = 64"});
  check_refused(R"({"inputs":{"query_length":4,"key_length":6}})",
                {"key_length = 6", "inputs.self_attention"});
  check_refused(R"({"heads":{"gain":[1,1]}})", {"heads.gain has 2", "num_heads is 8"});
  check_refused(R"({"heads":{"frozen":{"heads":[8],"attn_weights":[[[[1]]]]}}})",
                {"heads.frozen names head 8", "from 0 to 7"});
  check_refused(R"({"heads":{"frozen":{"heads":[4, 1]}}})",
                {"heads.frozen has no attn_weights", "(N,F,L,S) = (1,2,10,10)", "frozen_weights"});
  check_refused(R"({"heads":{"frozen":{"heads":[4],"attn_weights":[[[[1,0],[0,1]]]]}}})",
                {"heads.frozen.attn_weights is (1,1,2,2)", "expected (N,F,L,S) = (1,1,10,10)", "null"});
  check_refused(
      R"({"attention":{"add_zero_attn":true},"inputs":{"query_length":1},"heads":{"frozen":{"heads":[4],"attn_weights":[[[[1]]]]}}})",
      {"(N,F,L,S′) = (1,1,1,2)"});
  check_refused(R"({"mask":{"valid_lens":[1,2]}})", {"2 entries", "N is 1"});
  check_refused(R"({"mask":{"valid_lens":[11]}})", {"11", "S = 10"});
  check_refused(R"({"mask":{"valid_lens":[[1,2]]}})", {"L is 10"});
  check_refused(R"({"inputs":{"source":"file"}})", {"inputs.file is null"});
  check_refused(R"({"parameters":{"source":"file"}})", {"parameters.file is null"});
  check_refused(R"({"parameters":{"source":"model"}})", {"model"});
  check_refused(R"({"mask":{"preset":"prefx"}})", {"\"prefx\"", "did you mean prefix?", "sliding_window:W"});
  check_refused(
      R"({"parameters":{"source":"hand_made"},"attention":{"kdim":64},"inputs":{"self_attention":false}})",
      {"hand_made", "kdim = vdim = embed_dim"});
  check_refused(
      R"({"op":"scaled_dot_product_attention","attention":{"residual":true,"layer_norm":true,"add_bias_kv":true,"add_zero_attn":true},"heads":{"gain":[1]}})",
      {"set op to multi_head_attention, or leave them out", "residual", "layer_norm", "add_bias_kv", "add_zero_attn", "heads.gain"});
  check_refused(R"({"attention":{"num_heads":7,"num_kv_heads":3},"inputs":{"key_length":3}})",
                {"3 contradictions", "num_heads = 7", "num_kv_heads = 3", "key_length = 3"});
}

TEST_CASE("the weights of frozen heads come from the scenario, or as an array that overrides them") {
  const char* json =
      R"({"inputs":{"query_length":2},"heads":{"frozen":{"heads":[4, 1],"attn_weights":[[[[1,0],[0,1]],[[0.5,0.5],[1,1]]]]}}})";
  const ScenarioInputs inputs = inputs_of(json);
  CHECK(inputs.attention.options.frozen_heads == std::vector<Index>{4, 1});
  REQUIRE(inputs.attention.tensors.frozen_weights);
  CHECK(inputs.attention.tensors.frozen_weights->dtype() == DType::f64);  // in an f32 run too
  CHECK(inputs.attention.tensors.frozen_weights->at({0, 1, 0, 1}) == 0.5);

  const Scenario scenario = scenario_from_json(json, "test");
  Tensor other(Shape{{"a", 1}, {"b", 2}, {"c", 2}, {"d", 2}}, DType::f32);
  other.set_flat(0, 0.25);
  const auto given = std::make_shared<const Tensor>(other);
  const ScenarioInputs overridden = make_scenario_inputs(scenario, DType::f32, {{"frozen_weights", given}});
  CHECK(overridden.attention.tensors.frozen_weights->flat(0) == 0.25);
  CHECK(overridden.attention.tensors.frozen_weights->shape().letters() == "(N,F,L,S)");

  // Without a frozen head the array has no place, and a note says so.
  const ScenarioInputs none = make_scenario_inputs(Scenario{}, DType::f32, {{"frozen_weights", given}});
  CHECK_FALSE(none.attention.tensors.frozen_weights);
  REQUIRE(none.notes.size() == 1);
  CHECK_CONTAINS(none.notes[0], "heads.frozen names no heads");

  Tensor wrong(Shape{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 2}}, DType::f32);
  test::refused_with(
      [&] {
        make_scenario_inputs(scenario, DType::f32, {{"frozen_weights", std::make_shared<const Tensor>(wrong)}});
      },
      {"frozen_weights is (1,2,3,2), expected (N,F,L,S) = (1,2,2,2)"});
}

TEST_CASE("a cell of the weights held is edited as any other input, one that nobody holds is not") {
  const Scenario scenario = scenario_from_json(
      R"({"inputs":{"query_length":1},"heads":{"frozen":{"heads":[4],"attn_weights":[[[[1]]]]}},
          "edits":[{"tensor":"frozen_weights","index":[0,0,0,0],"value":0.5}]})",
      "test");
  CHECK(make_scenario_inputs(scenario, DType::f32).attention.tensors.frozen_weights->flat(0) == 0.5);
  check_refused(R"({"edits":[{"tensor":"frozen_weights","index":[0,0,0,0],"value":0.5}]})",
                {"no such tensor"});
}

TEST_CASE("sizes beyond any memory are refused before anything is taken") {
  for (const char* json :
       {R"({"attention":{"embed_dim":1000000000000}})",
        R"({"attention":{"embed_dim":4611686018427387904,"num_heads":1}})",
        R"({"attention":{"head_dim":9223372036854775807}})",
        R"({"attention":{"num_heads":9223372036854775807,"head_dim":1}})",
        R"({"inputs":{"query_length":1000000000000}})",
        R"({"inputs":{"query_length":9223372036854775807,"batch":9223372036854775807}})",
        R"({"inputs":{"batch":0,"query_length":1000000000000000}})",  // the labels would not fit
        R"({"inputs":{"batch":1000000000000,"source":"text","text":"a"}})"})
    check_refused(json, {}, ExitStatus::memory);
}

TEST_CASE("sizes beyond any memory are refused with the key that is too large, and the most that it may be") {
  const auto refused_with_maps = [](const std::string& json, const std::string& words) {
    CAPTURE(json);
    CHECK_THROWS_WITH_AS(make_scenario_inputs(scenario_of(json), DType::f32, {}, nullptr, {.maps = 3}),
                         doctest::Contains(words.c_str()), Error);
  };
  refused_with_maps(R"({"inputs":{"query_length":99999999999}})", "set inputs.query_length to at most ");
  refused_with_maps(R"({"inputs":{"query_length":99999999999}})", ": it is 99999999999");
  refused_with_maps(R"({"inputs":{"self_attention":false,"key_length":9223372036854775807}})",
                    "set inputs.key_length to at most ");
  refused_with_maps(R"({"inputs":{"batch":9223372036854775807}})", "got more than 8.0 EiB");
  refused_with_maps(R"({"attention":{"embed_dim":8888888888888}})", "set attention.embed_dim to at most ");
  refused_with_maps(R"({"attention":{"num_heads":99999999999,"head_dim":1}})",
                    "set attention.num_heads to at most ");
  refused_with_maps(R"({"inputs":{"query_length":9223372036854775807,"batch":9223372036854775807}})",
                    "choose smaller sizes: inputs.batch = 9223372036854775807 is the largest");
  check_refused(
      R"({"op":"scaled_dot_product_attention","attention":{"num_heads":99999999999,"head_dim":99999999999}})",
      {"attention.num_heads × attention.head_dim: ", "got 99999999999 × 99999999999"}, ExitStatus::memory);
}

TEST_CASE("the most that a size may be is what fits") {
  const std::string json = R"({"inputs":{"query_length":)";
  const auto with_maps = [&](const std::string& length) {
    make_scenario_inputs(scenario_of(json + length + "}}"), DType::f32, {}, nullptr, {.maps = 3});
  };
  const std::string line = test::refusal_line([&] { with_maps("99999999999"); }, ExitStatus::memory);
  const Index most = std::stoll(line.substr(line.find("at most ", line.find("set inputs.")) + 8));
  CHECK(most > 100);
  CHECK(most < 1000000);
  CHECK_THROWS_AS(with_maps(std::to_string(2 * most)), Error);
}

TEST_CASE("a Scenario that was made by hand is checked like one that was read") {
  const auto refused = [](const char* key, auto&& change) {
    Scenario scenario;
    change(scenario);
    test::refused_with([&] { make_scenario_inputs(scenario, DType::f32); }, {key}, ExitStatus::usage);
  };
  refused("attention.dropout", [](Scenario& s) { s.attention.dropout = 2.0; });
  refused("attention.scale", [](Scenario& s) { s.attention.scale = std::nan(""); });
  refused("attention.embed_dim", [](Scenario& s) { s.attention.embed_dim = 0; });
  refused("heads.gain", [](Scenario& s) { s.head_gain = std::vector<double>(8, INFINITY); });
}

TEST_CASE("what an edit of the scenario does not touch is shared with the inputs before it") {
  const Scenario before = preset_scenario("hand_made");
  const ScenarioInputs first = make_scenario_inputs(before, DType::f32);
  const auto again = [&](const char* setting) {
    return make_scenario_inputs(with_setting(before, setting), DType::f32, {}, &first);
  };
  const TraceTensors& t = first.attention.tensors;
  for (const char* setting : {"mask.is_causal=true", "attention.scale=0.1", "heads.gain=[0,1,1,1,1,1,1,1]",
                              "attention.dropout=0.5", "mask.valid_lens=[5]"}) {
    CAPTURE(setting);
    const ScenarioInputs next = again(setting);
    CHECK(next.attention.tensors.query == t.query);
    CHECK(next.attention.tensors.in_proj_weight == t.in_proj_weight);
    CHECK(next.attention.tensors.out_proj_weight == t.out_proj_weight);
    CHECK(next.attention.tensors.in_proj_bias == t.in_proj_bias);
  }
  const ScenarioInputs text = again("inputs.text=another sentence");
  CHECK(text.attention.tensors.query != t.query);
  CHECK(text.attention.tensors.in_proj_weight == t.in_proj_weight);
  const ScenarioInputs parameters = again("parameters.seed=1");
  CHECK(parameters.attention.tensors.query == t.query);
  CHECK(parameters.attention.tensors.in_proj_weight != t.in_proj_weight);
  const ScenarioInputs f64 = make_scenario_inputs(before, DType::f64, {}, &first);
  CHECK(f64.attention.tensors.query != t.query);
  CHECK(f64.attention.tensors.query->dtype() == DType::f64);
}
