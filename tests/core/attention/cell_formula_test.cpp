// The formulas of cells and of gradients, and what is noted beside them.
#include "core/attention/cell_provenance.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/attention/reference_backend.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// N=2, H=4, G=2, D=3, Dv=3, E=12, L=4, S=6.
AttentionInputs inputs_of_formulas() {
  return random_inputs(small_options(4, 2, 3));
}

std::string formula(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id}, index).formula;
}

struct Formula {
  Id id;
  std::vector<Index> index;
  std::string is;  // what stands behind the cell and " = "
};

void check_formulas(const Trace& trace, const std::vector<Formula>& formulas, bool gradient = false) {
  for (const auto& [id, index, is] : formulas)
    CHECK(cell_provenance(trace, {id, gradient}, index).formula ==
          fmt::format("{}[{}] = {}", to_string(TensorName{id, gradient}), fmt::join(index, ","), is));
}

std::string note(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id}, index).note;
}

TracePtr formula_backward_trace(const AttentionInputs& inputs) {
  return reference_backward(*reference_forward(inputs));
}

std::string gradient_formula(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id, true}, index).formula;
}

std::string gradient_note(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id, true}, index).note;
}

void check_gradients(const Trace& trace, const std::vector<Formula>& formulas) {
  check_formulas(trace, formulas, true);
}

std::vector<std::string> consumer_names(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  std::vector<std::string> names;
  for (const BoxRef& box : cell_consumers(trace, tensor, index)) names.push_back(to_string(box.tensor));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a formula has the real indices of the cell and of its sources, and letters for what is summed") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.head_gain = {1, 1, 0, 1};
  const TracePtr trace = reference_forward(inputs);
  check_formulas(*trace,
                 {{Id::q, {1, 2, 5}, "Σ_e query[1,2,e] · in_proj_weight[5,e] + in_proj_bias[5]"},
                  {Id::v, {0, 1, 2}, "Σ_e value[0,1,e] · in_proj_weight[20,e] + in_proj_bias[20]"},
                  {Id::q_heads, {0, 3, 1, 2}, "q[0,1,11]"},
                  {Id::scores, {0, 3, 2, 1}, "Σ_d q_heads[0,3,2,d] · k_heads[0,1,1,d]"},
                  {Id::attn_weights,
                   {0, 3, 2, 1},
                   "exp(masked_scores[0,3,2,1] − max) / Σ_s exp(masked_scores[0,3,2,s] − max)"},
                  {Id::head_output, {0, 3, 2, 1}, "Σ_s dropped_weights[0,3,2,s] · v_heads[0,1,s,1]"},
                  {Id::concat, {0, 2, 7}, "head_output[0,2,2,1] · heads.gain[2]"},
                  {Id::output, {0, 2, 7}, "Σ_c concat[0,2,c] · out_proj.weight[7,c] + out_proj.bias[7]"},
                  {Id::attn_output_weights, {0, 2, 1}, "1/4 · Σ_h dropped_weights[0,h,2,1]"},
                  {Id::query, {0, 2, 7}, "given"}});
}

TEST_CASE("what the options change is in the formula") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.scale = 0.25;
  inputs.options.temperature = 2.0;
  inputs.options.softcap = 5.0;
  inputs.options.residual = inputs.options.layer_norm = true;
  const TracePtr trace = reference_forward(inputs);
  check_formulas(*trace,
                 {{Id::scaled_scores, {0, 1, 2, 3}, "5 · tanh(scores[0,1,2,3] · 0.25 / 2 / 5)"},
                  {Id::residual_output, {0, 1, 2}, "query[0,1,2] + output[0,1,2]"},
                  {Id::layer_norm_output, {0, 1, 2}, "(residual_output[0,1,2] − mean) / √(variance + ε)"}});
}

TEST_CASE("a window of two sides names its bounds") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.window_left = 1;
  const auto of_cell = [&](std::vector<Index> index) {
    return formula(*reference_forward(inputs), Id::mask_bias, std::move(index));
  };
  CHECK(of_cell({0, 0, 1, 0}) == "mask_bias[0,0,1,0] = (−∞ if 0 < 1 − 1)");
  inputs.options.window_right = 2;
  CHECK(of_cell({0, 0, 1, 4}) == "mask_bias[0,0,1,4] = (−∞ if 4 < 1 − 1 or 4 > 1 + 2)");
}

TEST_CASE("a merged mask names every mask that had a say, and appended columns name none") {
  AttentionInputs inputs = inputs_of_formulas();
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
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.alibi = true;
  CHECK(formula(*reference_forward(inputs), Id::mask_bias, {0, 1, 3, 1}) ==
        "mask_bias[0,1,3,1] = (−0.0625·|3 − 1|)");
  inputs.options.is_causal = true;
  CHECK(formula(*reference_forward(inputs), Id::mask_bias, {0, 1, 2, 3}) ==
        "mask_bias[0,1,2,3] = (−∞ if 3 > 2) + (0, ahead of the query)");
}

TEST_CASE("a filled cell says which number filled it and why") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.is_causal = true;
  inputs.options.mask_value = -1e9;
  const TracePtr trace = reference_forward(inputs);
  check_formulas(*trace, {{Id::masked_scores, {0, 0, 1, 2}, "−1e+09, because mask_bias[0,0,1,2] = −∞"},
                          {Id::masked_scores, {0, 0, 1, 1}, "scaled_scores[0,0,1,1] + mask_bias[0,0,1,1]"}});
}

TEST_CASE("appended rows are copies of bias_k and zeros, not projections") {
  AttentionInputs inputs = inputs_of_formulas();
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
  const TracePtr trace = reference_forward(inputs_of_formulas());
  CHECK(note(*trace, Id::scores, {0, 3, 0, 0}) ==
        "Key/value head 1 = 3 // 2 serves the 2 query heads 2 to 3.");
  CHECK(note(*reference_forward(random_inputs(small_options())), Id::scores, {0, 3, 0, 0}) == "");
}

TEST_CASE("a note tells of a muted head, of a dropped weight and of a row without keys") {
  AttentionInputs inputs = inputs_of_formulas();
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

TEST_CASE("a gradient's formula is the transposed product, with its real indices") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.head_gain = {1, 1, 0, 1};
  const TracePtr trace = formula_backward_trace(inputs);
  check_gradients(
      *trace, {{Id::concat, {0, 2, 7}, "Σ_e grad.output[0,2,e] · out_proj.weight[e,7]"},
               {Id::out_proj_weight, {7, 2}, "Σ_{n,l} grad.output[n,l,7] · concat[n,l,2]"},
               {Id::out_proj_bias, {7}, "Σ_{n,l} grad.output[n,l,7]"},
               {Id::head_output, {0, 2, 1, 1}, "grad.concat[0,1,7] · heads.gain[2]"},
               {Id::head_gain, {2}, "Σ_{n,l,c} grad.concat[n,l,c + 6] · head_output[n,2,l,c]"},
               {Id::dropped_weights, {0, 3, 2, 1}, "Σ_d grad.head_output[0,3,2,d] · v_heads[0,1,1,d]"},
               {Id::v_heads, {0, 1, 5, 2}, "Σ_{h=2…3,l} grad.head_output[0,h,l,2] · dropped_weights[0,h,l,5]"},
               {Id::masked_scores,
                {0, 3, 2, 1},
                "attn_weights[0,3,2,1] · (grad.attn_weights[0,3,2,1] − Σ_s grad.attn_weights[0,3,2,s] · "
                "attn_weights[0,3,2,s])"},
               {Id::scaled_scores, {0, 3, 2, 1}, "grad.masked_scores[0,3,2,1]"},
               {Id::scores, {0, 3, 2, 1}, "grad.scaled_scores[0,3,2,1] · 0.57735"},
               {Id::q_heads, {0, 3, 2, 1}, "Σ_s grad.scores[0,3,2,s] · k_heads[0,1,s,1]"},
               {Id::k_heads, {0, 0, 5, 2}, "Σ_{h,l} grad.scores[0,h,l,5] · q_heads[0,h,l,2]"},
               {Id::q, {0, 1, 11}, "grad.q_heads[0,3,1,2]"},
               {Id::key, {0, 1, 5}, "Σ_c grad.k[0,1,c] · in_proj_weight[c + 12,5]"},
               {Id::in_proj_weight, {20, 3}, "Σ_{n,s} grad.v[n,s,2] · value[n,s,3]"},
               {Id::in_proj_bias, {13}, "Σ_{n,s} grad.k[n,s,1]"},
               {Id::output, {0, 2, 7}, "given"}});
}

TEST_CASE("what the options change is in a gradient's formula") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.scale = 0.25;
  inputs.options.temperature = 2.0;
  inputs.options.softcap = 5.0;
  inputs.options.residual = inputs.options.layer_norm = true;
  inputs.options.is_causal = true;
  inputs.options.mask_value = -1e9;
  inputs.options.dropout = 1.0;
  inputs.tensors.bias_k = random_tensor({{"G·D", 6}}, "bias_k");
  inputs.tensors.bias_v = random_tensor({{"G·Dv", 6}}, "bias_v");
  inputs.tensors.key_padding_mask = random_tensor({{"N", 2}, {"S", 6}}, "key_padding_mask");
  const TracePtr trace = formula_backward_trace(inputs);
  check_gradients(
      *trace,
      {{Id::scores,
        {0, 1, 2, 3},
        "grad.scaled_scores[0,1,2,3] · 0.25 / 2 · (1 − tanh²(scores[0,1,2,3] · 0.25 / 2 / 5))"},
       {Id::scaled_scores, {0, 1, 2, 3}, "0, because mask_bias[0,1,2,3] = −∞ and the score was filled"},
       {Id::scaled_scores, {0, 1, 2, 2}, "grad.masked_scores[0,1,2,2]"},
       {Id::attn_weights, {0, 1, 2, 2}, "grad.dropped_weights[0,1,2,2] · 0"},
       {Id::residual_output,
        {0, 1, 2},
        "(dn − mean dn − n · mean dn·n) / √(variance + ε), dn = grad.layer_norm_output[0,1,2], "
        "n = (residual_output[0,1,2] − mean) / √(variance + ε)"},
       {Id::output, {0, 1, 2}, "grad.residual_output[0,1,2]"},
       {Id::query, {0, 1, 2}, "Σ_c grad.q[0,1,c] · in_proj_weight[c,2] + grad.residual_output[0,1,2]"},
       {Id::bias_k, {4}, "Σ_n grad.k[n,6,4]"},
       {Id::key_padding_mask, {1, 5}, "Σ_{h,l} grad.mask_bias[1,h,l,5]"}});
}

TEST_CASE("in self-attention the gradient of the query sums what comes back from q, k and v") {
  AttentionInputs inputs = random_inputs(small_options(), {1, 4, 4});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  const TracePtr trace = formula_backward_trace(inputs);
  CHECK(gradient_formula(*trace, Id::query, {0, 2, 1}) ==
        "grad.query[0,2,1] = Σ_c grad.q[0,2,c] · in_proj_weight[c,1] + Σ_c grad.k[0,2,c] · "
        "in_proj_weight[c + 12,1] + Σ_c grad.v[0,2,c] · in_proj_weight[c + 24,1]");
  CHECK(gradient_note(*trace, Id::query, {0, 2, 1}) == "The total: one array is query, key and value.");
  CHECK(gradient_formula(*trace, Id::in_proj_weight, {13, 1}) ==
        "grad.in_proj_weight[13,1] = Σ_s grad.k[0,s,1] · query[0,s,1]");
}

TEST_CASE("the quantities of a softmax's gradient are those that its formula needs") {
  const TracePtr trace = formula_backward_trace(inputs_of_formulas());
  const CellProvenance provenance = cell_provenance(*trace, {Id::masked_scores, true}, {0, 3, 2, 1});
  CHECK(quantity(provenance, "P") == trace->tensors.attn_weights->at({0, 3, 2, 1}));
  CHECK(quantity(provenance, "dP") == trace->grad.attn_weights->at({0, 3, 2, 1}));
  double sum = 0.0;
  for (const Term& term : provenance.terms) sum += term.value;
  CHECK(quantity(provenance, "Σ dP·P").value_or(0.0) == doctest::Approx(sum));
  CHECK(provenance.note ==
        "P is the weight and dP its gradient; Σ dP·P is the mean of dP over the row, weighted by P.");
}

TEST_CASE("the quantities of a norm's gradient are those that its formula needs") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.layer_norm = true;
  const TracePtr trace = formula_backward_trace(inputs);
  const CellProvenance provenance = cell_provenance(*trace, {Id::output, true}, {0, 1, 2});
  REQUIRE(provenance.terms.size() == 12);
  double mean = 0.0, squares = 0.0;
  for (Index e = 0; e < 12; ++e) mean += trace->tensors.output->at({0, 1, e}) / 12;
  for (Index e = 0; e < 12; ++e) squares += std::pow(trace->tensors.output->at({0, 1, e}) - mean, 2) / 12;
  CHECK(quantity(provenance, "mean").value_or(0.0) == doctest::Approx(mean));
  CHECK(quantity(provenance, "√(variance + ε)").value_or(0.0) == doctest::Approx(std::sqrt(squares + 1e-5)));
  CHECK(quantity(provenance, "mean dn").value_or(0.0) == doctest::Approx(1.0));  // grad_output is all ones
}

TEST_CASE("the formulas of a norm of q and k name its weights, its offset and what it divides by") {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 6), {1, 3, 3});
  AttentionOptions& o = inputs.options;
  o.qk_norm = QkNorm::per_head;
  o.qk_norm_offset = 1.0;
  inputs.tensors.q_norm_weight = random_tensor({{"D", 6}}, "q_norm.weight");
  const TracePtr trace = formula_backward_trace(inputs);
  check_formulas(
      *trace, {{Id::q_normed, {0, 3, 2, 1}, "(1 + q_norm.weight[1]) · q_heads[0,3,2,1] / √(mean square + ε)"},
               {Id::k_normed, {0, 1, 2, 5}, "k_heads[0,1,2,5] / √(mean square + ε)"},
               {Id::scores, {0, 3, 2, 1}, "Σ_d q_normed[0,3,2,d] · k_normed[0,1,1,d]"}});
  check_gradients(*trace,
                  {{Id::q_heads,
                    {0, 3, 2, 1},
                    "(dn − n · mean dn·n) / √(mean square + ε), dn = weight · grad.q_normed[0,3,2,1], "
                    "n = q_heads[0,3,2,1] / √(mean square + ε)"},
                   {Id::q_norm_weight,
                    {1},
                    "Σ_{n,h,l} grad.q_normed[n,h,l,1] · q_heads[n,h,l,1] / √(mean square + ε) of its row"}});
}

TEST_CASE("the formulas of an output gate name the gate, of a column or of a head") {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 3), {1, 3, 3});
  inputs.options.output_gate = true;
  inputs.tensors.output_gate_weight = random_tensor({{"H", 4}, {"E", 12}}, "output_gate.weight");
  const TracePtr trace = formula_backward_trace(inputs);
  check_formulas(*trace, {{Id::output_gate, {0, 1, 3}, "Σ_e query[0,1,e] · output_gate.weight[3,e]"},
                          {Id::gated_concat, {0, 1, 7}, "concat[0,1,7] · σ(output_gate[0,1,2])"}});
  check_gradients(*trace, {{Id::concat, {0, 1, 7}, "grad.gated_concat[0,1,7] · σ(output_gate[0,1,2])"},
                           {Id::output_gate,
                            {0, 1, 2},
                            "Σ_{c=6…8} grad.gated_concat[0,1,c] · concat[0,1,c] · σ(g) · (1 − σ(g)), "
                            "g = output_gate[0,1,2]"}});
}

TEST_CASE("the formulas of a sink name it in the sum, and its share and gradient by what they are made of") {
  AttentionInputs inputs = random_inputs(small_options(4, 2, 6), {1, 3, 3});
  inputs.options.sink = {0.5};
  const TracePtr trace = formula_backward_trace(inputs);
  check_formulas(*trace, {{Id::lse, {0, 3, 2}, "max + ln Σ_s exp(masked_scores[0,3,2,s] − max)"},
                          {Id::sink_weights, {0, 3, 2}, "exp(sinks[3]) / (exp(sinks[3]) + exp(lse[0,3,2]))"},
                          {Id::attn_weights,
                           {0, 3, 2, 1},
                           "exp(masked_scores[0,3,2,1] − max) / (exp(sinks[3] − max) + "
                           "Σ_s exp(masked_scores[0,3,2,s] − max))"}});
  check_gradients(*trace, {{Id::sinks,
                            {3},
                            "−Σ_{n,l,s} sink_weights[n,3,l] · grad.attn_weights[n,3,l,s] · "
                            "attn_weights[n,3,l,s]"}});
}

TEST_CASE("a note says where no gradient passes, and who shares a key/value head") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.options.is_causal = true;
  inputs.options.head_gain = {1, 1, 0, 1};
  const TracePtr trace = formula_backward_trace(inputs);
  CHECK(gradient_note(*trace, Id::masked_scores, {0, 1, 2, 3}) ==
        "A key of weight 0 passes no gradient on to its score.");
  CHECK(gradient_note(*trace, Id::v_heads, {0, 1, 5, 2}) ==
        "Key/value head 1 collects from the 2 query heads that it serves, 2 to 3.");
  CHECK(gradient_note(*trace, Id::head_output, {0, 2, 0, 1}) == "Head 2 is muted: its gain is 0.");
  CHECK(gradient_note(*trace, Id::output, {0, 2, 1}) ==
        "Given: grad_output, the weight of this cell in the loss Σ grad_output · output.");
  inputs.options.mask_value = -1e9;
  inputs.options.dropout = 1.0;
  const TracePtr filled = formula_backward_trace(inputs);
  CHECK(gradient_note(*filled, Id::scaled_scores, {0, 1, 2, 3}) ==
        "A filled score is a constant: no gradient passes.");
  CHECK(gradient_note(*filled, Id::attn_weights, {0, 1, 2, 2}) == "Dropped: no gradient passes.");
}

TEST_CASE("parameters beside static_k have rows that the loss does not depend on") {
  AttentionInputs inputs = inputs_of_formulas();
  inputs.tensors.static_k = random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"D", 3}}, "static_k");
  inputs.tensors.static_v = random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"Dv", 3}}, "static_v");
  const TracePtr trace = formula_backward_trace(inputs);
  CHECK(gradient_formula(*trace, Id::in_proj_weight, {13, 2}) == "grad.in_proj_weight[13,2] = 0");
  CHECK(gradient_note(*trace, Id::in_proj_weight, {13, 2}) == "The loss does not depend on this number.");
  check_gradients(*trace, {{Id::key, {0, 1, 2}, "0"}, {Id::static_k, {0, 1, 3, 2}, "grad.k[0,3,5]"}});
}

TEST_CASE(
    "with a backward pass a cell also feeds the gradients that read it, and a gradient feeds gradients") {
  const AttentionInputs inputs = inputs_of_formulas();
  const TracePtr forward = reference_forward(inputs);
  const TracePtr trace = reference_backward(*forward);
  CHECK(consumer_names(*forward, {Id::dropped_weights}, {0, 1, 2, 3}) ==
        Names{"head_output", "attn_output_weights"});
  CHECK(consumer_names(*trace, {Id::dropped_weights}, {0, 1, 2, 3}) ==
        Names{"head_output", "attn_output_weights", "grad.v_heads"});
  CHECK(consumer_names(*trace, {Id::attn_weights}, {0, 1, 2, 3}) ==
        Names{"dropped_weights", "grad.masked_scores"});
  CHECK(consumer_names(*trace, {Id::scores, true}, {0, 1, 2, 3}) == Names{"grad.q_heads", "grad.k_heads"});
  CHECK(consumer_names(*trace, {Id::query, true}, {0, 1, 2}) == Names{});
  const std::vector<BoxRef> boxes = cell_consumers(*trace, {Id::k, true}, {1, 2, 4});
  REQUIRE(boxes.size() == 3);
  CHECK(boxes[0] == BoxRef{{Id::key, true}, {1, 2, 0}, {2, 3, 12}});
  CHECK(boxes[1] == BoxRef{{Id::in_proj_weight, true}, {16, 0}, {17, 12}});
  CHECK(boxes[2] == BoxRef{{Id::in_proj_bias, true}, {16}, {17}});
}
