// What a scenario makes up beside arrays that are given: named, with how it was made.
#include "core/scenario/overridden_settings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

using namespace headwise;

namespace {

TensorPtr empty_array(std::vector<Index> sizes) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({"?", size});
  return std::make_shared<const Tensor>(Tensor(Shape(std::move(axes)), DType::f32));
}

const GivenArrays only_query{{"query", empty_array({1, 3, 8})}};
const GivenArrays all_parameters{{"in_proj_weight", empty_array({24, 8})},
                                 {"in_proj_bias", empty_array({24})},
                                 {"out_proj.weight", empty_array({8, 8})},
                                 {"out_proj.bias", empty_array({8})}};

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
  CHECK(made_up(eight_wide, {{"attn_mask", empty_array({3, 3})}}).arrays.empty());
}

TEST_CASE("beside arrays with another program's names all that was made up is named") {
  const MadeUp made = made_up(eight_wide, {{"query", empty_array({1, 3, 8})},
                                           {"layer.self_attn.in_proj_weight", empty_array({24, 8})}});
  CHECK(made.arrays.size() == 4);
  CHECK(made.arrays[0] == "in_proj_weight: drawn at random (xavier_uniform, seed 0)");
  CHECK(
      made.notes[0].starts_with("the array \"layer.self_attn.in_proj_weight\" is not used: did you mean "
                                "in_proj_weight? the names are query"));
  const MadeUp letters = made_up(
      eight_wide,
      {{"query", empty_array({1, 3, 8})}, {"K", empty_array({1, 3, 8})}, {"V", empty_array({1, 3, 8})}});
  CHECK(letters.notes[0].starts_with("the arrays \"K\" (key?), \"V\" (value?) are not used: the names are"));
  // What a run has written may stand beside.
  CHECK(made_up(eight_wide, {{"query", empty_array({1, 3, 8})}, {"output", empty_array({1, 3, 8})}})
            .arrays.empty());
}

TEST_CASE("a mask of numbers that are all 0 or 1 is told to be added") {
  const auto notes = [](double second) {
    Tensor mask(Shape{{"L", 3}, {"S", 3}}, DType::f32);
    mask.set_flat(1, 1.0);
    mask.set_flat(2, second);
    return made_up(eight_wide, {{"query", empty_array({1, 3, 8})},
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
  CHECK(made_up(eight_wide, {{"key", empty_array({1, 5, 8})}}).arrays ==
        MadeUpLines{"query: drawn at random (normal, seed 0)"});
  const MadeUp one = made_up(cross, {{"query", empty_array({1, 3, 8})}, {"key", empty_array({1, 5, 8})}});
  CHECK(one.arrays.empty());
  CHECK(one.notes == MadeUpLines{"value was not given: it is the same as key"});
  const char* sdpa = R"({"op":"scaled_dot_product_attention","inputs":{"source":"ones"}})";
  CHECK(made_up(sdpa, {{"query", empty_array({1, 2, 3, 4})}}).arrays ==
        MadeUpLines{"key: all ones", "value: all ones"});
}

TEST_CASE("integers where numbers are expected are told by what they look like") {
  const auto refused = [](const std::vector<std::int64_t>& values) {
    Tensor tensor(Shape{{"L", 2}, {"E", static_cast<Index>(values.size() / 2)}}, values);
    try {
      made_up(R"({"attention":{"num_heads":1}})",
              {{"query", std::make_shared<const Tensor>(std::move(tensor))}});
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::input);
      return std::string(error.what());
    }
    return std::string("read");
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  // 1, -0.5, 0.0123, 3 in bf16, f16 and f32
  const std::string bf16 = refused({0x3F80, 0xBF00, 0x3C4A, 0x4040});
  CHECK(has(bf16, "bf16 saved as uint16"));
  CHECK(has(bf16, ".view('float32')"));
  CHECK(has(refused({0x3F80, 0xBF00 - 0x10000, 0x3C4A, 0x4040}), "bf16 saved as int16"));
  CHECK(has(refused({0x3C00, 0xB800, 0x224C, 0x2E66}), "f16 saved as uint16"));
  CHECK(has(refused({0x3F800000, 0x3F000000, 0x3C4A1234, 0x40400000}), "f32 saved as uint32"));
  const std::string ids = refused({101, 7, 2, 15000});
  CHECK(has(ids, "integers from 2 to 15000"));
  CHECK_FALSE(has(ids, "saved as"));
  CHECK(has(ids, "astype('float32')"));
  CHECK_FALSE(has(refused({0, 1, 1, 0}), "saved as"));
}

TEST_CASE("query with its heads behind the length is told, in both orders of the axes") {
  const auto refused = [](const std::string& json, const GivenArrays& given) {
    try {
      made_up(json, given);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const char* sdpa =
      R"({"op":"scaled_dot_product_attention","attention":{"num_heads":4},"inputs":{"source":"file"}})";
  const auto three = [](std::vector<Index> sizes) {
    return GivenArrays{
        {"query", empty_array(sizes)}, {"key", empty_array(sizes)}, {"value", empty_array(sizes)}};
  };
  CHECK(has(refused(sdpa, three({2, 10, 4, 8})), "is query (N,L,H,D)?"));
  const std::string packed = refused(sdpa, three({20, 4, 8}));
  CHECK(has(packed, "(N·L,H,D)"));
  CHECK(has(packed, "a[None]"));
}
