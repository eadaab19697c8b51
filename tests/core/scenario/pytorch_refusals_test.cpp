// Every assertion of F.multi_head_attention_forward, F._mha_shape_check, F._canonical_mask, F._in_projection,
// nn.MultiheadAttention and F.scaled_dot_product_attention, broken once: what PyTorch refuses is refused
// here, by a sentence with what was got, what was expected and, where the sizes tell, the likely cause. The
// one exception is is_causal beside a mask, which merges.
#include "core/attention/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

struct Array {
  const char* name;
  std::vector<Index> sizes;
  DType dtype = DType::f32;
};

TensorPtr made(const Array& array) {
  std::vector<Axis> axes;
  for (const Index size : array.sizes) axes.push_back({"?", size});
  return std::make_shared<const Tensor>(Shape(std::move(axes)), array.dtype);
}

constexpr DType flags = DType::boolean;
constexpr const char* three_heads = R"({"attention":{"embed_dim":12,"num_heads":3}})";
constexpr const char* sdpa = R"({"op":"scaled_dot_product_attention"})";

// N = 2, L = 4, S = 6, E = 12, H = 3.
const std::vector<Array> mha_arrays{{"query", {2, 4, 12}},  {"key", {2, 6, 12}},
                                    {"value", {2, 6, 12}},  {"in_proj_weight", {36, 12}},
                                    {"in_proj_bias", {36}}, {"out_proj.weight", {12, 12}},
                                    {"out_proj.bias", {12}}};
// N = 2, H = G = 3, L = 4, S = 6, D = 4, Dv = 5.
const std::vector<Array> sdpa_arrays{{"query", {2, 3, 4, 4}}, {"key", {2, 3, 6, 4}}, {"value", {2, 3, 6, 5}}};

struct Case {
  const char* pytorch;         // the assertion, in PyTorch's words
  std::vector<Array> changed;  // replaces or joins the arrays that agree; no sizes and type i64: left out
  std::vector<std::string> words;
  const char* json = three_heads;
  ExitStatus status = ExitStatus::input;
};

const Array no_packed_weight{"in_proj_weight", {}, DType::i64};

void compute(const std::string& json, const GivenArrays& given) {
  const ScenarioInputs inputs = make_scenario_inputs(scenario_from_json(json, "test.json"), DType::f32, given);
  reference_backward(*reference_forward(inputs.attention), inputs.grad_output);
}

void check_refused(const std::vector<Array>& agreeing, const std::vector<Case>& cases) {
  GivenArrays base;
  for (const Array& array : agreeing) base[array.name] = made(array);
  REQUIRE_NOTHROW(compute(agreeing.size() == 3 ? sdpa : three_heads, base));
  for (const Case& wrong : cases) {
    CAPTURE(wrong.pytorch);
    GivenArrays given = base;
    for (const Array& array : wrong.changed)
      if (array.sizes.empty() && array.dtype == DType::i64)
        given.erase(array.name);
      else
        given[array.name] = made(array);
    test::refused_with([&] { compute(wrong.json, given); }, wrong.words, wrong.status);
  }
}

}  // namespace

TEST_CASE("what _mha_shape_check refuses is refused: the axes of inputs and masks, batched and unbatched") {
  check_refused(
      mha_arrays,
      {{"query should be unbatched 2D or batched 3D",
        {{"query", {12}}},
        {"query", "(12)", "(N,length,width)"}},
       {"query of 4 axes", {{"query", {2, 3, 4, 4}}}, {"(2,3,4,4)", "scaled_dot_product_attention"}},
       {"for batched query, key is 3-D",
        {{"key", {6, 12}}},
        {"query (2,4,12)", "key (6,12)", "give key its batch axis"}},
       {"for batched query, value is 3-D",
        {{"value", {6, 12}}},
        {"value (6,12)", "give value its batch axis"}},
       {"for unbatched query, key is 2-D", {{"query", {4, 12}}}, {"query (4,12)", "key (2,6,12)"}},
       {"for batched query, key_padding_mask is 2-D",
        {{"key_padding_mask", {6}, flags}},
        {"(6)", "query (2,4,12)", "give it its batch axis"}},
       {"key_padding_mask of 3 axes", {{"key_padding_mask", {2, 1, 6}, flags}}, {"(2,1,6)", "(N,S)"}},
       {"for unbatched query, key_padding_mask is 1-D",
        {{"query", {4, 12}}, {"key", {6, 12}}, {"value", {6, 12}}, {"key_padding_mask", {1, 6}, flags}},
        {"(1,6)", "remove its batch axis"}},
       {"attn_mask of 1 axis", {{"attn_mask", {6}, flags}}, {"(6)", "(L,S) = (4,6)", "key_padding_mask"}},
       {"attn_mask of 4 axes", {{"attn_mask", {2, 3, 4, 6}, flags}}, {"(2,3,4,6)", "join its first two axes"}},
       {"unbatched attn_mask is (H,L,S)",
        {{"query", {4, 12}}, {"key", {6, 12}}, {"value", {6, 12}}, {"attn_mask", {2, 4, 6}, flags}},
        {"(2,4,6)", "(N·H,L,S) = (3,4,6)"}}});
}

TEST_CASE("what multi_head_attention_forward refuses about masks is refused, with the likely cause") {
  check_refused(
      mha_arrays,
      {{"the shape of the 2D attn_mask", {{"attn_mask", {6, 4}, flags}}, {"(6,4)", "(4,6)", "transposed?"}},
       {"the 2D attn_mask is a padding mask", {{"attn_mask", {2, 6}, flags}}, {"(2,6)", "key_padding_mask"}},
       {"the shape of the 3D attn_mask: (N,L,S)",
        {{"attn_mask", {2, 4, 6}, flags}},
        {"(6,4,6)", "each of the batch is repeated for each head"}},
       {"the shape of the 3D attn_mask: (H,L,S)",
        {{"attn_mask", {3, 4, 6}, flags}},
        {"(3,4,6)", "for each head is repeated for each of the batch"}},
       {"the shape of the 3D attn_mask: (1,L,S)", {{"attn_mask", {1, 4, 6}, flags}}, {"leave its first axis out"}},
       {"the shape of the 3D attn_mask: turned", {{"attn_mask", {6, 6, 4}, flags}}, {"last two axes transposed?"}},
       {"expecting key_padding_mask shape of (N,S)",
        {{"key_padding_mask", {6, 2}, flags}},
        {"(6,2)", "(N,S) = (2,6)", "transposed?"}},
       {"key_padding_mask of L columns", {{"key_padding_mask", {2, 4}, flags}}, {"that of key, not of query"}},
       {"key_padding_mask of another batch", {{"key_padding_mask", {3, 6}, flags}}, {"(3,6)", "(2,6)"}},
       {"only bool and floating types of attn_mask",
        {{"attn_mask", {4, 6}, DType::i64}},
        {"attn_mask", "integers", "store it as bool"}},
       {"only bool and floating types of key_padding_mask",
        {{"key_padding_mask", {2, 6}, DType::i64}},
        {"integers", "store it as bool"}}});
}

TEST_CASE("what multi_head_attention_forward refuses about sizes is refused, with both sizes") {
  check_refused(mha_arrays, {{"was expecting embedding dimension of",
                              {},
                              {"embed_dim = 16 written", "query (2,4,12)"},
                              R"({"attention":{"embed_dim":16,"num_heads":4}})"},
                             {"embed_dim not divisible by num_heads",
                              {},
                              {"num_heads = 5 does not divide embed_dim = 12"},
                              R"({"attention":{"num_heads":5}})"},
                             {"key's sequence and batch dims do not match value's",
                              {{"value", {2, 7, 12}}},
                              {"key (2,6,12)", "value (2,7,12)", "batch_first is true"}},
                             {"key of another batch",
                              {{"key", {3, 6, 12}}, {"value", {3, 6, 12}}},
                              {"query (2,4,12)", "key (3,6,12)"}},
                             {"key shape does not match value shape (packed)",
                              {{"value", {2, 6, 7}}},
                              {"value (2,6,7)", "in_proj_weight (36,12)", "v_proj_weight"}},
                             {"query of another width than its weight",
                              {{"query", {2, 4, 13}}},
                              {"query (2,4,13)", "in_proj_weight (36,12)"}},
                             {"num_kv_heads does not divide num_heads",
                              {},
                              {"num_kv_heads = 2 does not divide num_heads = 3"},
                              R"({"attention":{"num_heads":3,"num_kv_heads":2}})",
                              ExitStatus::usage},
                             {"embed_dim and num_heads must be greater than 0",
                              {},
                              {"num_heads", "at least 1"},
                              R"({"attention":{"num_heads":0}})",
                              ExitStatus::usage},
                             {"embed_dim must be greater than 0",
                              {},
                              {"embed_dim", "at least 1"},
                              R"({"attention":{"embed_dim":0}})",
                              ExitStatus::usage},
                             {"dropout probability has to be between 0 and 1",
                              {},
                              {"dropout", "1.5", "from 0 to 1"},
                              R"({"attention":{"dropout":1.5}})",
                              ExitStatus::usage},
                             {"the gradient's shape is not the output's",
                              {{"grad_output", {4, 2, 12}}},
                              {"(4,2,12)", "(2,4,12)", "batch axis"}}});
}

TEST_CASE("what multi_head_attention_forward and _in_projection refuse about parameters is refused") {
  check_refused(
      mha_arrays,
      {{"in_proj_weight of too few rows", {{"in_proj_weight", {24, 12}}}, {"(24,12)", "(36,12)"}},
       {"in_proj_weight as (E,3E)",
        {{"in_proj_weight", {12, 36}}},
        {"(12,36)", "transposed? in_proj_weight is (3E,E)"}},
       {"in_proj_weight as (3,E,E)", {{"in_proj_weight", {3, 12, 12}}}, {"(3,12,12)", "(3E,E)"}},
       {"in_proj_bias of one projection",
        {{"in_proj_bias", {12}}},
        {"(12)", "(36)", "the biases of q, k and v"}},
       {"use_separate_proj_weight is False beside separate weights",
        {{"q_proj_weight", {12, 12}}, {"k_proj_weight", {12, 12}}, {"v_proj_weight", {12, 12}}},
        {"in_proj_weight (packed) and q_proj_weight, k_proj_weight, v_proj_weight (separate)"}},
       {"use_separate_proj_weight is True but v_proj_weight is None",
        {no_packed_weight, {"q_proj_weight", {12, 12}}, {"k_proj_weight", {12, 12}}},
        {"only q_proj_weight and k_proj_weight are given", "give v_proj_weight too"}},
       {"use_separate_proj_weight is True but q_proj_weight is None",
        {no_packed_weight, {"v_proj_weight", {12, 12}}},
        {"only v_proj_weight is given", "give q_proj_weight and k_proj_weight too"}},
       {"expecting query weights shape of",
        {no_packed_weight, {"q_proj_weight", {13, 12}}, {"k_proj_weight", {12, 12}}, {"v_proj_weight", {12, 12}}},
        {"q_proj_weight", "(13,12)", "(12,12)"}},
       {"expecting key weights shape of",
        {no_packed_weight,
         {"key", {2, 6, 7}},
         {"q_proj_weight", {12, 12}},
         {"k_proj_weight", {7, 12}},
         {"v_proj_weight", {12, 12}}},
        {"key (2,6,7)", "k_proj_weight (7,12)", "transposed?"}},
       {"expecting value weights shape of",
        {no_packed_weight, {"q_proj_weight", {12, 12}}, {"k_proj_weight", {12, 12}}, {"v_proj_weight", {11, 12}}},
        {"v_proj_weight", "(11,12)", "(12,12)"}},
       {"out_proj_weight of another width",
        {{"out_proj.weight", {12, 13}}},
        {"out_proj.weight", "(12,13)", "(12,12)"}},
       {"out_proj_bias of another width", {{"out_proj.bias", {3}}}, {"out_proj.bias (3)", "query (2,4,12)"}}});
}

TEST_CASE("what multi_head_attention_forward refuses about bias_k and static_k is refused, both named") {
  check_refused(
      mha_arrays,
      {{"bias_k without bias_v",
        {{"bias_k", {1, 1, 12}}},
        {"bias_k is given without bias_v", "both or neither"}},
       {"bias_v without bias_k", {{"bias_v", {1, 1, 12}}}, {"bias_v is given without bias_k"}},
       {"bias_k of another width", {{"bias_k", {1, 1, 13}}, {"bias_v", {1, 1, 12}}}, {"(13)", "(12)"}},
       {"bias_k for each of the batch",
        {{"bias_k", {1, 2, 12}}, {"bias_v", {1, 2, 12}}},
        {"(1,2,12)", "(1,1,E)"}},
       {"bias cannot be added to static key",
        {{"bias_k", {1, 1, 12}}, {"bias_v", {1, 1, 12}}, {"static_k", {6, 6, 4}}},
        {"static_k excludes bias_k and bias_v"}},
       {"bias cannot be added to static value",
        {{"bias_k", {1, 1, 12}}, {"bias_v", {1, 1, 12}}, {"static_v", {6, 6, 4}}},
        {"static_v excludes bias_k and bias_v"}},
       {"expecting static_k.size(0) of N·H", {{"static_k", {2, 6, 4}}}, {"(2,6,4)", "(6,S,width)"}},
       {"expecting static_k.size(2) of head_dim", {{"static_k", {6, 6, 5}}}, {"(2,3,6,5)", "(2,3,6,4)"}},
       {"expecting static_v.size(0) of N·H", {{"static_v", {3, 6, 4}}}, {"(3,6,4)", "(6,S,width)"}},
       {"expecting static_v.size(2) of head_dim", {{"static_v", {6, 6, 3}}}, {"(2,3,6,3)", "(2,3,6,4)"}},
       {"static_k and static_v of two lengths",
        {{"static_k", {6, 8, 4}}, {"static_v", {6, 6, 4}}},
        {"static_k (6,8,4)", "static_v (6,6,4)"}},
       {"static_k of another length than value",
        {{"static_k", {6, 8, 4}}},
        {"(2,6,12)", "static_k has S = 8: give static_v"}},
       {"static_v of another length than key",
        {{"static_v", {6, 8, 4}}},
        {"(2,6,12)", "static_v has S = 8: give static_k"}}});
}

TEST_CASE("what scaled_dot_product_attention refuses is refused") {
  check_refused(
      sdpa_arrays,
      {{"query is at least 2-D", {{"query", {4}}}, {"query", "(4)", "(N,H,L,D)"}, sdpa},
       {"query and key of two widths", {{"key", {2, 3, 6, 5}}}, {"query (2,3,4,4)", "key (2,3,6,5)"}, sdpa},
       {"key as (N,G,D,S)", {{"key", {2, 3, 4, 6}}, {"value", {2, 3, 6, 5}}}, {"transposed? key is (N,G,S,D)"}, sdpa},
       {"key and value of two lengths", {{"value", {2, 3, 7, 5}}}, {"key (2,3,6,4)", "value (2,3,7,5)"}, sdpa},
       {"key and value of two head counts", {{"value", {2, 1, 6, 5}}}, {"key (2,3,6,4)", "value (2,1,6,5)"}, sdpa},
       {"batches that do not agree",
        {{"key", {4, 3, 6, 4}}, {"value", {4, 3, 6, 5}}},
        {"query (2,3,4,4)", "key (4,3,6,4)"},
        sdpa},
       {"enable_gqa: heads do not divide",
        {{"key", {2, 2, 6, 4}}, {"value", {2, 2, 6, 5}}},
        {"num_kv_heads = 2", "num_heads = 3"},
        sdpa},
       {"query as (N,L,H,D)", {{"query", {2, 4, 3, 4}}}, {"is query (N,L,H,D)?"}, sdpa},
       {"a mask that does not broadcast",
        {{"attn_mask", {6, 4}, flags}},
        {"(6,4)", "(2,3,4,6)", "transposed?"},
        sdpa},
       {"a mask for each of the batch", {{"attn_mask", {2, 4, 6}, flags}}, {"(N,1,L,S) broadcasts"}, sdpa},
       {"a mask longer than the keys", {{"attn_mask", {4, 7}, flags}}, {"(4,7)"}, sdpa},
       {"a mask of five axes", {{"attn_mask", {1, 1, 1, 4, 6}, flags}}, {"(1,1,1,4,6)"}, sdpa},
       {"a mask of integers", {{"attn_mask", {4, 6}, DType::i64}}, {"integers", "store it as bool"}, sdpa},
       {"dropout_p outside of [0,1]",
        {},
        {"dropout"},
        R"({"op":"scaled_dot_product_attention","attention":{"dropout":-0.1}})",
        ExitStatus::usage}});
}

TEST_CASE("arrays of no float type are refused by name") {
  for (const char* name : {"query", "key", "value", "in_proj_weight", "in_proj_bias", "out_proj.weight"}) {
    for (const Array& array : mha_arrays) {
      if (std::string(array.name) != name) continue;
      check_refused(mha_arrays, {{name, {{name, array.sizes, DType::i64}}, {name, "integers", "float32"}},
                                 {name, {{name, array.sizes, flags}}, {name, "bool", "a float type"}}});
    }
  }
}

TEST_CASE("several wrong arrays are told in one line: the first in full, the others by name") {
  check_refused(mha_arrays, {{"all of these at once",
                              {{"attn_mask", {6, 4}, flags},
                               {"key_padding_mask", {6, 2}, flags},
                               {"in_proj_bias", {12}},
                               {"out_proj.weight", {12, 13}}},
                              {"in_proj_bias: the shape disagrees",
                               "out_proj.weight, attn_mask, key_padding_mask are wrong too"}}});
}

TEST_CASE("separate projections that a separate scenario lacks are made, not refused") {
  const ScenarioInputs inputs = make_scenario_inputs(
      scenario_from_json(R"({"attention":{"embed_dim":12,"num_heads":3},"parameters":{"layout":"separate"}})",
                         "t.json"),
      DType::f32, {{"q_proj_weight", made({"q_proj_weight", {12, 12}})}});
  CHECK(inputs.attention.tensors.k_proj_weight != nullptr);
}
