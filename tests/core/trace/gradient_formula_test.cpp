#include <doctest/doctest.h>

#include "core/reference/reference_backend.h"
#include "core/trace/cell_provenance.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// N=2, H=4, G=2, D=3, Dv=3, E=12, L=4, S=6.
AttentionInputs grouped_inputs() {
  return random_inputs(small_options(4, 2, 3));
}

TracePtr backward_trace(const AttentionInputs& inputs) {
  return reference_backward(*reference_forward(inputs));
}

std::string formula(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id, true}, index).formula;
}

std::string note(const Trace& trace, Id id, const std::vector<Index>& index) {
  return cell_provenance(trace, {id, true}, index).note;
}

std::vector<std::string> consumer_names(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  std::vector<std::string> names;
  for (const BoxRef& box : cell_consumers(trace, tensor, index)) names.push_back(to_string(box.tensor));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a gradient's formula is the transposed product, with its real indices") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.head_gain = {1, 1, 0, 1};
  const TracePtr trace = backward_trace(inputs);
  CHECK(formula(*trace, Id::concat, {0, 2, 7}) ==
        "grad.concat[0,2,7] = Σ_e grad.output[0,2,e] · out_proj.weight[e,7]");
  CHECK(formula(*trace, Id::out_proj_weight, {7, 2}) ==
        "grad.out_proj.weight[7,2] = Σ_{n,l} grad.output[n,l,7] · concat[n,l,2]");
  CHECK(formula(*trace, Id::out_proj_bias, {7}) == "grad.out_proj.bias[7] = Σ_{n,l} grad.output[n,l,7]");
  CHECK(formula(*trace, Id::head_output, {0, 2, 1, 1}) ==
        "grad.head_output[0,2,1,1] = grad.concat[0,1,7] · heads.gain[2]");
  CHECK(formula(*trace, Id::head_gain, {2}) ==
        "grad.heads.gain[2] = Σ_{n,l,c} grad.concat[n,l,c + 6] · head_output[n,2,l,c]");
  CHECK(formula(*trace, Id::dropped_weights, {0, 3, 2, 1}) ==
        "grad.dropped_weights[0,3,2,1] = Σ_d grad.head_output[0,3,2,d] · v_heads[0,1,1,d]");
  CHECK(formula(*trace, Id::v_heads, {0, 1, 5, 2}) ==
        "grad.v_heads[0,1,5,2] = Σ_{h=2…3,l} grad.head_output[0,h,l,2] · dropped_weights[0,h,l,5]");
  CHECK(formula(*trace, Id::masked_scores, {0, 3, 2, 1}) ==
        "grad.masked_scores[0,3,2,1] = attn_weights[0,3,2,1] · (grad.attn_weights[0,3,2,1] − "
        "Σ_s grad.attn_weights[0,3,2,s] · attn_weights[0,3,2,s])");
  CHECK(formula(*trace, Id::scaled_scores, {0, 3, 2, 1}) ==
        "grad.scaled_scores[0,3,2,1] = grad.masked_scores[0,3,2,1]");
  CHECK(formula(*trace, Id::scores, {0, 3, 2, 1}) ==
        "grad.scores[0,3,2,1] = grad.scaled_scores[0,3,2,1] · 0.57735");
  CHECK(formula(*trace, Id::q_heads, {0, 3, 2, 1}) ==
        "grad.q_heads[0,3,2,1] = Σ_s grad.scores[0,3,2,s] · k_heads[0,1,s,1]");
  CHECK(formula(*trace, Id::k_heads, {0, 0, 5, 2}) ==
        "grad.k_heads[0,0,5,2] = Σ_{h,l} grad.scores[0,h,l,5] · q_heads[0,h,l,2]");
  CHECK(formula(*trace, Id::q, {0, 1, 11}) == "grad.q[0,1,11] = grad.q_heads[0,3,1,2]");
  CHECK(formula(*trace, Id::key, {0, 1, 5}) ==
        "grad.key[0,1,5] = Σ_c grad.k[0,1,c] · in_proj_weight[c + 12,5]");
  CHECK(formula(*trace, Id::in_proj_weight, {20, 3}) ==
        "grad.in_proj_weight[20,3] = Σ_{n,s} grad.v[n,s,2] · value[n,s,3]");
  CHECK(formula(*trace, Id::in_proj_bias, {13}) == "grad.in_proj_bias[13] = Σ_{n,s} grad.k[n,s,1]");
  CHECK(formula(*trace, Id::output, {0, 2, 7}) == "grad.output[0,2,7] = given");
}

TEST_CASE("what the options change is in a gradient's formula") {
  AttentionInputs inputs = grouped_inputs();
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
  const TracePtr trace = backward_trace(inputs);
  CHECK(formula(*trace, Id::scores, {0, 1, 2, 3}) ==
        "grad.scores[0,1,2,3] = grad.scaled_scores[0,1,2,3] · 0.25 / 2 · (1 − tanh²(scores[0,1,2,3] · 0.25 / "
        "2 / 5))");
  CHECK(formula(*trace, Id::scaled_scores, {0, 1, 2, 3}) ==
        "grad.scaled_scores[0,1,2,3] = 0, because mask_bias[0,1,2,3] = −∞ and the score was filled");
  CHECK(formula(*trace, Id::scaled_scores, {0, 1, 2, 2}) ==
        "grad.scaled_scores[0,1,2,2] = grad.masked_scores[0,1,2,2]");
  CHECK(formula(*trace, Id::attn_weights, {0, 1, 2, 2}) ==
        "grad.attn_weights[0,1,2,2] = grad.dropped_weights[0,1,2,2] · 0");
  CHECK(formula(*trace, Id::residual_output, {0, 1, 2}) ==
        "grad.residual_output[0,1,2] = (grad.layer_norm_output[0,1,2] − mean dy − layer_norm_output[0,1,2] · "
        "mean dy·y) / √(variance + ε)");
  CHECK(formula(*trace, Id::output, {0, 1, 2}) == "grad.output[0,1,2] = grad.residual_output[0,1,2]");
  CHECK(formula(*trace, Id::query, {0, 1, 2}) ==
        "grad.query[0,1,2] = Σ_c grad.q[0,1,c] · in_proj_weight[c,2] + grad.residual_output[0,1,2]");
  CHECK(formula(*trace, Id::bias_k, {4}) == "grad.bias_k[4] = Σ_n grad.k[n,6,4]");
  CHECK(formula(*trace, Id::key_padding_mask, {1, 5}) ==
        "grad.key_padding_mask[1,5] = Σ_{h,l} grad.mask_bias[1,h,l,5]");
}

TEST_CASE("in self-attention the gradient of the query sums what comes back from q, k and v") {
  AttentionInputs inputs = random_inputs(small_options(), {1, 4, 4});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  const TracePtr trace = backward_trace(inputs);
  CHECK(formula(*trace, Id::query, {0, 2, 1}) ==
        "grad.query[0,2,1] = Σ_c grad.q[0,2,c] · in_proj_weight[c,1] + Σ_c grad.k[0,2,c] · "
        "in_proj_weight[c + 12,1] + Σ_c grad.v[0,2,c] · in_proj_weight[c + 24,1]");
  CHECK(note(*trace, Id::query, {0, 2, 1}) == "The total: one array is query, key and value.");
  CHECK(formula(*trace, Id::in_proj_weight, {13, 1}) ==
        "grad.in_proj_weight[13,1] = Σ_s grad.k[0,s,1] · query[0,s,1]");
}

TEST_CASE("the quantities of a softmax's gradient are those that its formula needs") {
  const TracePtr trace = backward_trace(grouped_inputs());
  const CellProvenance provenance = cell_provenance(*trace, {Id::masked_scores, true}, {0, 3, 2, 1});
  CHECK(quantity(provenance, "P") == trace->tensors.attn_weights->at({0, 3, 2, 1}));
  CHECK(quantity(provenance, "dP") == trace->grad.attn_weights->at({0, 3, 2, 1}));
  double sum = 0.0;
  for (const Term& term : provenance.terms) sum += term.value;
  CHECK(quantity(provenance, "Σ dP·P").value_or(0.0) == doctest::Approx(sum));
  CHECK(provenance.note ==
        "P is the weight and dP its gradient; Σ dP·P is the mean of dP over the row, weighted by P.");
}

TEST_CASE("the variance of a layer norm's gradient is the sum of the terms that stand for it") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.layer_norm = true;
  const TracePtr trace = backward_trace(inputs);
  const CellProvenance provenance = cell_provenance(*trace, {Id::output, true}, {0, 1, 2});
  REQUIRE(provenance.terms.size() == 24);
  double variance = 0.0;
  for (std::size_t e = 12; e < 24; ++e) variance += provenance.terms[e].value;
  CHECK(quantity(provenance, "variance").value_or(0.0) == doctest::Approx(variance));
  CHECK(provenance.terms[15].label == "variance, e 3");
  CHECK(quantity(provenance, "mean dy").value_or(0.0) == doctest::Approx(1.0));  // grad_output is all ones
}

TEST_CASE("a note says where no gradient passes, and who shares a key/value head") {
  AttentionInputs inputs = grouped_inputs();
  inputs.options.is_causal = true;
  inputs.options.head_gain = {1, 1, 0, 1};
  const TracePtr trace = backward_trace(inputs);
  CHECK(note(*trace, Id::masked_scores, {0, 1, 2, 3}) ==
        "A key of weight 0 passes no gradient on to its score.");
  CHECK(note(*trace, Id::v_heads, {0, 1, 5, 2}) ==
        "Key/value head 1 collects from the 2 query heads that it serves, 2 to 3.");
  CHECK(note(*trace, Id::head_output, {0, 2, 0, 1}) == "Head 2 is muted: its gain is 0.");
  CHECK(note(*trace, Id::output, {0, 2, 1}) ==
        "Given: grad_output, the weight of this cell in the loss Σ grad_output · output.");
  inputs.options.mask_value = -1e9;
  inputs.options.dropout = 1.0;
  const TracePtr filled = backward_trace(inputs);
  CHECK(note(*filled, Id::scaled_scores, {0, 1, 2, 3}) ==
        "A filled score is a constant: no gradient passes.");
  CHECK(note(*filled, Id::attn_weights, {0, 1, 2, 2}) == "Dropped: no gradient passes.");
}

TEST_CASE("parameters beside static_k have rows that the loss does not depend on") {
  AttentionInputs inputs = grouped_inputs();
  inputs.tensors.static_k = random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"D", 3}}, "static_k");
  inputs.tensors.static_v = random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"Dv", 3}}, "static_v");
  const TracePtr trace = backward_trace(inputs);
  CHECK(formula(*trace, Id::in_proj_weight, {13, 2}) == "grad.in_proj_weight[13,2] = 0");
  CHECK(note(*trace, Id::in_proj_weight, {13, 2}) == "The loss does not depend on this number.");
  CHECK(formula(*trace, Id::key, {0, 1, 2}) == "grad.key[0,1,2] = 0");
  CHECK(formula(*trace, Id::static_k, {0, 1, 3, 2}) == "grad.static_k[0,1,3,2] = grad.k[0,3,5]");
}

TEST_CASE(
    "with a backward pass a cell also feeds the gradients that read it, and a gradient feeds gradients") {
  const AttentionInputs inputs = grouped_inputs();
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
