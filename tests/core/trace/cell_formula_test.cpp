#include "core/trace/cell_provenance.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/reference/reference_backend.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// N=2, H=4, G=2, D=3, Dv=3, E=12, L=4, S=6.
AttentionInputs grouped_inputs() {
  return random_inputs(small_options(4, 2, 3));
}

std::string formula(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id}, index).formula;
}

std::string note(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id}, index).note;
}

}  // namespace

TEST_CASE("a formula has the real indices of the cell and of its sources, and letters for what is summed") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.head_gain = {1, 1, 0, 1};
  const TracePtr trace = reference_forward(inputs);
  CHECK(formula(*trace, Id::q, {1, 2, 5}) ==
        "q[1,2,5] = Σ_e query[1,2,e] · in_proj_weight[5,e] + in_proj_bias[5]");
  CHECK(formula(*trace, Id::v, {0, 1, 2}) ==
        "v[0,1,2] = Σ_e value[0,1,e] · in_proj_weight[20,e] + in_proj_bias[20]");
  CHECK(formula(*trace, Id::q_heads, {0, 3, 1, 2}) == "q_heads[0,3,1,2] = q[0,1,11]");
  CHECK(formula(*trace, Id::scores, {0, 3, 2, 1}) ==
        "scores[0,3,2,1] = Σ_d q_heads[0,3,2,d] · k_heads[0,1,1,d]");
  CHECK(formula(*trace, Id::attn_weights, {0, 3, 2, 1}) ==
        "attn_weights[0,3,2,1] = exp(masked_scores[0,3,2,1] − max) / Σ_s exp(masked_scores[0,3,2,s] − max)");
  CHECK(formula(*trace, Id::head_output, {0, 3, 2, 1}) ==
        "head_output[0,3,2,1] = Σ_s dropped_weights[0,3,2,s] · v_heads[0,1,s,1]");
  CHECK(formula(*trace, Id::concat, {0, 2, 7}) == "concat[0,2,7] = head_output[0,2,2,1] · heads.gain[2]");
  CHECK(formula(*trace, Id::output, {0, 2, 7}) ==
        "output[0,2,7] = Σ_c concat[0,2,c] · out_proj.weight[7,c] + out_proj.bias[7]");
  CHECK(formula(*trace, Id::attn_output_weights, {0, 2, 1}) ==
        "attn_output_weights[0,2,1] = 1/4 · Σ_h dropped_weights[0,h,2,1]");
  CHECK(formula(*trace, Id::query, {0, 2, 7}) == "query[0,2,7] = given");
}

TEST_CASE("what the options change is in the formula") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.scale = 0.25;
  inputs.options.temperature = 2.0;
  inputs.options.softcap = 5.0;
  inputs.options.residual = inputs.options.layer_norm = true;
  const TracePtr trace = reference_forward(inputs);
  CHECK(formula(*trace, Id::scaled_scores, {0, 1, 2, 3}) ==
        "scaled_scores[0,1,2,3] = 5 · tanh(scores[0,1,2,3] · 0.25 / 2 / 5)");
  CHECK(formula(*trace, Id::residual_output, {0, 1, 2}) ==
        "residual_output[0,1,2] = query[0,1,2] + output[0,1,2]");
  CHECK(formula(*trace, Id::layer_norm_output, {0, 1, 2}) ==
        "layer_norm_output[0,1,2] = (residual_output[0,1,2] − mean) / √(variance + ε)");
}

TEST_CASE("a merged mask names every mask that had a say, and appended columns name none") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.is_causal = true;
  inputs.options.causal_alignment = CausalAlignment::bottom_right;
  inputs.options.sliding_window = 3;
  inputs.options.add_zero_attn = true;
  inputs.tensors.key_padding_mask = std::make_shared<const Tensor>(Shape{{"N", 2}, {"S", 6}}, DType::boolean);
  inputs.tensors.valid_lens = std::make_shared<const Tensor>(Shape{{"N", 2}}, std::vector<std::int64_t>{6, 2});
  const TracePtr trace = reference_forward(inputs);
  CHECK(
      formula(*trace, Id::mask_bias, {1, 0, 1, 5}) ==
      "mask_bias[1,0,1,5] = (−∞ if key_padding_mask[1,5]) + (−∞ if 5 ≥ valid_lens[1]) + (−∞ if 5 > 1 + 2) + "
      "(−∞ if |1 + 2 − 5| ≥ 3)");
  const CellProvenance blocked = cell_provenance(*trace, {Id::mask_bias}, {1, 0, 1, 5});
  REQUIRE(blocked.terms.size() == 4);
  CHECK(blocked.terms[0].value == 0.0);
  CHECK(blocked.terms[1].value == -INFINITY);
  CHECK(blocked.terms[2].label == "causal");
  CHECK(blocked.terms[2].value == -INFINITY);
  CHECK(blocked.terms[3].value == 0.0);
  CHECK(formula(*trace, Id::mask_bias, {1, 0, 1, 6}) == "mask_bias[1,0,1,6] = 0");
  CHECK(note(*trace, Id::mask_bias, {1, 0, 1, 6}) == "An appended column is blocked by no mask.");
}

TEST_CASE(
    "ALiBi shows the head's slope and the distance, and that a key ahead of a causal query gets nothing") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.alibi = true;
  CHECK(formula(*reference_forward(inputs), Id::mask_bias, {0, 1, 3, 1}) ==
        "mask_bias[0,1,3,1] = (−0.0625·|3 − 1|)");
  inputs.options.is_causal = true;
  CHECK(formula(*reference_forward(inputs), Id::mask_bias, {0, 1, 2, 3}) ==
        "mask_bias[0,1,2,3] = (−∞ if 3 > 2) + (0, ahead of the query)");
}

TEST_CASE("a filled cell says which number filled it and why") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.is_causal = true;
  inputs.options.mask_value = -1e9;
  const TracePtr trace = reference_forward(inputs);
  CHECK(formula(*trace, Id::masked_scores, {0, 0, 1, 2}) ==
        "masked_scores[0,0,1,2] = −1e+09, because mask_bias[0,0,1,2] = −∞");
  CHECK(formula(*trace, Id::masked_scores, {0, 0, 1, 1}) ==
        "masked_scores[0,0,1,1] = scaled_scores[0,0,1,1] + mask_bias[0,0,1,1]");
}

TEST_CASE("appended rows are copies of bias_k and zeros, not projections") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.add_zero_attn = true;
  inputs.tensors.bias_k = random_tensor({{"G·D", 6}}, "bias_k");
  inputs.tensors.bias_v = random_tensor({{"G·Dv", 6}}, "bias_v");
  const TracePtr trace = reference_forward(inputs);
  CHECK(cell_provenance(*trace, {Id::k}, {1, 5, 4}).combine == Combine::product_sum);
  CHECK(cell_provenance(*trace, {Id::k}, {1, 6, 4}).combine == Combine::copy);
  CHECK(formula(*trace, Id::k, {1, 6, 4}) == "k[1,6,4] = bias_k[4]");
  CHECK(note(*trace, Id::k, {1, 6, 4}) == "The row that bias_k appends, the same for every batch.");
  CHECK(formula(*trace, Id::k, {1, 7, 4}) == "k[1,7,4] = 0");
  CHECK(note(*trace, Id::k, {1, 7, 4}) == "The row of zeros that add_zero_attn appends.");
}

TEST_CASE("a note tells which query heads share a key/value head") {
  const TracePtr trace = reference_forward(grouped_inputs());
  CHECK(note(*trace, Id::scores, {0, 3, 0, 0}) ==
        "Key/value head 1 = 3 // 2 serves the 2 query heads 2 to 3.");
  CHECK(note(*reference_forward(random_inputs(small_options())), Id::scores, {0, 3, 0, 0}) == "");
}

TEST_CASE("a note tells of a muted head, of a dropped weight and of a row without keys") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.head_gain = {1, 1, 0, 1};
  inputs.options.dropout = 1.0;
  inputs.tensors.key_padding_mask =
      std::make_shared<const Tensor>(Shape{{"N", 2}, {"S", 6}}, std::vector<std::uint8_t>(12, 1));
  const TracePtr nan_rows = reference_forward(inputs);
  CHECK(note(*nan_rows, Id::concat, {0, 0, 7}) == "Head 2 is muted: its gain is 0.");
  CHECK(note(*nan_rows, Id::concat, {0, 0, 2}) == "");
  CHECK(note(*nan_rows, Id::dropped_weights, {0, 0, 0, 0}) == "Dropped.");
  CHECK(note(*nan_rows, Id::attn_weights, {0, 0, 0, 0}) ==
        "Every key of this row is blocked: the row's maximum is −∞, and −∞ − (−∞) is NaN.");
  inputs.options.fully_masked_rows = FullyMaskedRows::zero;
  CHECK(note(*reference_forward(inputs), Id::attn_weights, {0, 0, 0, 0}) ==
        "Every key of this row is blocked: the row is set to 0.");
}

TEST_CASE("numbers in formulas have a real minus sign and name what is not finite") {
  CHECK(number_text(-0.25) == "−0.25");
  CHECK(number_text(1e-9) == "1e−09");
  CHECK(number_text(-INFINITY) == "−∞");
  CHECK(number_text(NAN) == "NaN");
}
