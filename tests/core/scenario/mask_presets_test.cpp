#include "core/scenario/mask_presets.h"

#include <cmath>

#include "core/attention/cell_provenance.h"
#include "core/attention/reference_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

ScenarioInputs with_mask(const std::string& mask, const GivenArrays& given = {},
                         const char* op = "multi_head_attention", Index queries = 5, Index keys = 6) {
  const std::string json =
      R"({"op":")" + std::string(op) +
      R"(","attention":{"embed_dim":4,"num_heads":2},"inputs":{"self_attention":false,"query_length":)" +
      std::to_string(queries) + R"(,"key_length":)" + std::to_string(keys) + R"(},"mask":{)" + mask + "}}";
  return make_scenario_inputs(scenario_from_json(json, "test.json"), DType::f64, given);
}

// A row a query: '1' where the key is seen, in mask_bias of head 1.
std::vector<std::string> seen(const ScenarioInputs& inputs) {
  const TracePtr trace = reference_forward(inputs.attention);
  const Tensor& bias = *trace->tensors.mask_bias;
  std::vector<std::string> rows;
  for (Index l = 0; l < bias.shape().size(2); ++l) {
    std::string& row = rows.emplace_back();
    for (Index s = 0; s < bias.shape().size(3); ++s) row += std::isinf(bias.at({0, 1, l, s})) ? '0' : '1';
  }
  return rows;
}

using Rows = std::vector<std::string>;

std::string refusal_of_mask(const std::string& mask, const GivenArrays& given = {}) {
  return test::refusal_line([&] { with_mask(mask, given); },
                            given.empty() ? ExitStatus::usage : ExitStatus::input);
}

}  // namespace

TEST_CASE("each preset blocks what its words say") {
  CHECK(seen(with_mask(R"("preset":"causal")")) == Rows{"100000", "110000", "111000", "111100", "111110"});
  CHECK(seen(with_mask(R"("preset":"causal_bottom_right")")) ==
        Rows{"110000", "111000", "111100", "111110", "111111"});
  CHECK(seen(with_mask(R"("preset":"sliding_window:2")")) ==
        Rows{"110000", "111000", "011100", "001110", "000111"});
  CHECK(seen(with_mask(R"("preset":"prefix:3")")) == Rows{"111000", "111000", "111000", "111100", "111110"});
  CHECK(seen(with_mask(R"("preset":"dilated:2:3")")) ==
        Rows{"100100", "010010", "001001", "100100", "010010"});
  CHECK(seen(with_mask(R"("preset":"document:0,2,5")")) ==
        Rows{"110000", "110000", "001110", "001110", "001110"});
  CHECK(seen(with_mask(R"("preset":"padding:2")")) == Rows{"111100", "111100", "111100", "111100", "111100"});
}

TEST_CASE("a preset is the same for both operators, whatever True means to them") {
  for (const char* preset : {"sliding_window:2", "prefix", "document:0,3", "dilated"}) {
    const std::string mask = R"("preset":")" + std::string(preset) + "\"";
    CHECK(seen(with_mask(mask)) == seen(with_mask(mask, {}, "scaled_dot_product_attention")));
  }
}

TEST_CASE("numbers that are left out have the form's default") {
  CHECK(seen(with_mask(R"("preset":"sliding_window")")) == seen(with_mask(R"("preset":"sliding_window:3")")));
  CHECK(seen(with_mask(R"("preset":"prefix")")) == seen(with_mask(R"("preset":"prefix:2")")));
  CHECK(seen(with_mask(R"("preset":"dilated")")) == seen(with_mask(R"("preset":"dilated:2:2")")));
  CHECK(seen(with_mask(R"("preset":"padding")")) == seen(with_mask(R"("preset":"padding:1")")));
}

TEST_CASE("a preset merges with the other masks, and follows the causal alignment") {
  CHECK(seen(with_mask(R"("preset":"dilated:2:2","is_causal":true)")) ==
        Rows{"100000", "010000", "101000", "010100", "001010"});
  CHECK(seen(with_mask(R"("preset":"sliding_window:1","causal_alignment":"bottom_right")")) ==
        Rows{"010000", "001000", "000100", "000010", "000001"});
  Tensor given({{"L", 5}, {"S", 6}}, DType::boolean);
  given.set_flat(0, 1);
  CHECK(seen(with_mask(R"("preset":"padding:4")", {{"attn_mask", std::make_shared<const Tensor>(given)}})) ==
        Rows{"010000", "110000", "110000", "110000", "110000"});
  Tensor floats({{"N·H", 2}, {"L", 5}, {"S", 6}}, DType::f64);
  floats.set_flat(31, 0.5);
  const ScenarioInputs merged =
      with_mask(R"("preset":"padding:4")", {{"attn_mask", std::make_shared<const Tensor>(floats)}});
  CHECK(merged.attention.tensors.attn_mask->at({1, 0, 1}) == 0.5);
  CHECK(std::isinf(merged.attention.tensors.attn_mask->at({1, 0, 2})));
}

TEST_CASE("every cell of a preset's mask is what its provenance says") {
  const TracePtr trace = reference_forward(with_mask(R"("preset":"prefix:2","is_causal":true)").attention);
  const Tensor& bias = *trace->tensors.mask_bias;
  for (Index i = 0; i < bias.size(); ++i) {
    const CellProvenance cell = cell_provenance(*trace, {TensorId::mask_bias}, bias.shape().index_of(i));
    CHECK(recompute_from_provenance(*trace, cell) == bias.flat(i));
  }
}

TEST_CASE("an unknown preset is refused with the nearest, wrong numbers with the form") {
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"prefx:3")"), "did you mean prefix?");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"slidng")"), "did you mean sliding_window?");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"")"), "is not known");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"sliding_window:0")"), "at least 1");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"sliding_window:x")"), "whole numbers");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"sliding_window:")"), "whole numbers");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"sliding_window:99999999999999999999")"), "whole numbers");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"dilated:2")"), "expected 2 numbers");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"dilated:2:0")"), "at least 1");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"prefix:7")"), "0 to S = 6");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"prefix:-1")"), "at least 0");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"causal:2")"), "expected 0 numbers");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"document")"), "start at 0");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"document:0,4,4")"), "increase");
  CHECK_CONTAINS(refusal_of_mask(R"("preset":"document:0,6")"), "S = 6");
  const auto row = std::make_shared<const Tensor>(Shape{{"L", 1}, {"S", 6}}, DType::boolean);
  CHECK_CONTAINS(
      refusal_of_mask(
          R"("preset":"padding")",
          {{"attn_mask", row},
           {"query", std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 5}, {"E", 4}}, DType::f64)}}),
      "(L,S) = (5,6)");
}

TEST_CASE("a preset over nothing is nothing") {
  for (const char* preset : {"sliding_window", "document:0", "causal_bottom_right", "padding:0", "prefix:0"}) {
    CAPTURE(preset);
    const std::string mask = R"("preset":")" + std::string(preset) + "\"";
    CHECK_NOTHROW(reference_forward(with_mask(mask, {}, "multi_head_attention", 0, 3).attention));
    CHECK_NOTHROW(reference_forward(with_mask(mask, {}, "multi_head_attention", 3, 0).attention));
  }
}
