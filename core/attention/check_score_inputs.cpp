#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/attention/indexer.h"
#include "core/attention/input_checks.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/trace_warnings.h"

namespace headwise {

void check_rotary_embedding(const AttentionInputs& inputs) {
  const AttentionOptions& o = inputs.options;
  const auto given = static_cast<Index>(o.rotary_inverse_frequencies.size());
  if (!o.rotary_base && given == 0) return;
  require(!o.rotary_base || given == 0,
          {"rotary_inverse_frequencies", "the frequencies follow from rotary_base",
           fmt::format("rotary_base = {} and {} frequencies", o.rotary_base.value_or(0.0), given),
           "one or the other", "leave one out"});
  const Index width = rotary_width(o);
  const std::string name = is_latent(o) ? "qk_rope_head_dim" : "head_dim";
  require(!o.rotary_base || (width > 0 && width % 2 == 0),
          {"rotary_base", "columns are rotated in pairs", fmt::format("{} = {}", name, width),
           "an even " + name, ""});
  require(given <= width / 2,
          {"rotary_inverse_frequencies", "there are more frequencies than pairs of columns",
           fmt::format("{} frequencies, {} = {}", given, name, width),
           fmt::format("at most {} frequencies", is_latent(o) ? "R/2" : "D/2"), ""});
  require(std::ranges::all_of(o.rotary_inverse_frequencies, [](double f) { return std::isfinite(f); }),
          {"rotary_inverse_frequencies", "a number is not finite", "", "finite numbers", ""});
  const TraceTensors& t = inputs.tensors;
  const char* unplaced = t.bias_k          ? "bias_k"
                         : t.static_k      ? "static_k"
                         : o.add_zero_attn ? "add_zero_attn"
                                           : nullptr;
  require(!unplaced,
          {"rotary_base", "keys are rotated by their positions, and appended or static rows have none",
           unplaced ? unplaced : "", "keys that are projected", "leave one out"});
}

void check_qk_norm(const AttentionInputs& inputs, const AttentionSizes& s) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const bool whole = o.qk_norm == QkNorm::whole;
  const auto check = [&](const char* name, const TensorPtr& weight, const char* letter, Index heads) {
    if (!weight) return;
    require(o.qk_norm.has_value(),
            {name, "nothing is normalised with it", weight->shape().sizes_text(),
             "qk_norm per_head, whole or per_head_after_rotary", "set qk_norm, or leave the weights out"});
    const Shape one{{"D", s.head_dim}}, each{{letter, heads}, {"D", s.head_dim}};
    const Shape all{{std::string(letter) + "·D", checked_multiply(heads, s.head_dim, name)}};
    const Shape& got = weight->shape();
    require(
        whole ? got.same_sizes(all) : got.same_sizes(one) || got.same_sizes(each),
        {name, "the shape disagrees", got.sizes_text(),
         whole ? letters_and_sizes(all) : letters_and_sizes(one) + " or " + letters_and_sizes(each),
         whole ? "the whole row is normalised: qk_norm per_head takes one weight for each column of a head"
               : "qk_norm whole takes one weight for each column of all heads"});
  };
  check("q_norm.weight", t.q_norm_weight, "H", s.heads);
  check("k_norm.weight", t.k_norm_weight, "G", s.kv_heads);
  const char* const appended = t.bias_k          ? "bias_k"
                               : t.static_k      ? "static_k"
                               : o.add_zero_attn ? "add_zero_attn"
                                                 : nullptr;
  require(!o.qk_norm || !appended,
          {"qk_norm", "rows that are projected are normalised, and appended or static rows are not",
           appended ? appended : "", "keys that are projected", "leave one out"});
}

void check_output_gate(const AttentionInputs& inputs, const AttentionSizes& s) {
  const TensorPtr &weight = inputs.tensors.output_gate_weight, &bias = inputs.tensors.output_gate_bias;
  const Shape columns{{"H·Dv", checked_multiply(s.heads, s.v_head_dim, "H·Dv")}, {"E", s.embed_dim}};
  const Shape heads{{"H", s.heads}, {"E", s.embed_dim}};
  const std::string expected = letters_and_sizes(columns) + " or " + letters_and_sizes(heads);
  require(inputs.options.output_gate || !(weight || bias),
          {weight ? "output_gate.weight" : "output_gate.bias", "nothing is gated with it",
           (weight ? weight : bias) ? (weight ? weight : bias)->shape().sizes_text() : "", "output_gate true",
           "set output_gate, or leave it out"});
  if (!inputs.options.output_gate) return;
  require(weight != nullptr, {"output_gate.weight", "the parameter is missing", "", expected,
                              "give it, or set output_gate to false"});
  require(weight->shape().same_sizes(columns) || weight->shape().same_sizes(heads),
          {"output_gate.weight", "the shape disagrees", weight->shape().sizes_text(), expected,
           "one row for each column of concat, or one for each head"});
  if (bias) expect_shape("output_gate.bias", *bias, Shape{weight->shape().axes()[0]});
}

void check_sinks(const AttentionInputs& inputs, const AttentionSizes& s) {
  const auto count = static_cast<Index>(inputs.options.sink.size());
  require(count <= 1 || count == s.heads,
          {"sink", "there must be one number for every head, or one for each", fmt::format("{} numbers", count),
           fmt::format("1, or num_heads = {}", s.heads), "give one number, or one per head"});
  const TensorPtr& sinks = inputs.tensors.sinks;
  if (!sinks) return;
  expect_shape("sinks", *sinks, {{"H", s.heads}}, "one number a head");
  const std::string cells = non_finite_cells("sinks", *sinks);
  require(cells.empty(), {"sinks", "a number is not finite", cells, "finite numbers",
                          "a head without a sink has a very negative number, as −1e30"});
}

void check_relative_bias(const AttentionInputs& inputs, const AttentionSizes& s) {
  const std::optional<RelativeBias>& bias = inputs.options.relative_bias;
  const TensorPtr& weight = inputs.tensors.relative_bias_weight;
  const char* const name = "relative_attention_bias.weight";
  require(bias || !weight, {name, "nothing is computed from it", weight ? weight->shape().sizes_text() : "",
                            "relative_bias with its buckets", "set relative_bias, or leave it out"});
  if (!bias) return;
  const std::string wrong = relative_bias_problem(*bias);
  require(wrong.empty(), {"relative_bias", wrong, "", "", ""});
  require(!inputs.tensors.nonpad_kv_seqlen,
          {"relative_bias", "its distances are the same for the whole batch",
           "nonpad_kv_seqlen, which moves the queries of each batch entry", "one of them", "leave one out"});
  const Shape expected{{"buckets", bias->buckets}, {"H", s.heads}};
  require(weight != nullptr, {name, "the parameter is missing", "", letters_and_sizes(expected),
                              "give it, or set relative_bias to null"});
  expect_shape(name, *weight, expected, "one row for each bucket, one column for each head");
}

void check_indexer(const AttentionInputs& inputs, const AttentionSizes& s) {
  const std::optional<Indexer>& indexer = inputs.options.indexer;
  const TraceTensors& t = inputs.tensors;
  const bool sdpa = inputs.options.op == Op::scaled_dot_product_attention;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr& tensor = t.*(entry.member);
    require(indexer || !tensor || !is_of_indexer(entry.id),
            {std::string(entry.name), "nothing is chosen by it", tensor ? tensor->shape().sizes_text() : "",
             "indexer with its heads, width and k", "set mask.indexer, or leave it out"});
  }
  if (!indexer) return;
  const std::string wrong = indexer_problem(inputs.options);
  require(wrong.empty(), {"mask.indexer", wrong, "", "", ""});
  const bool past = given_past_length(t).has_value();
  const char* const unplaced = past ? tensor_entry(cached_tensors(inputs.options.op)[0].past).name.data()
                               : t.static_k                   ? "static_k"
                               : t.bias_k                     ? "bias_k"
                               : inputs.options.add_zero_attn ? "add_zero_attn"
                                                              : nullptr;
  require(!unplaced,
          {"mask.indexer",
           "the indexer has keys of its own, and none for the keys of a past, static_k "
           "or appended rows",
           unplaced ? unplaced : "", "keys that are projected",
           past ? "leave one out, or give the earlier tokens again as query and key" : "leave one out"});
  const auto check = [&](const char* name, const TensorPtr& tensor, bool needed, const Shape& expected) {
    require(tensor || !needed, {name, sdpa ? "the input is missing" : "the parameter is missing", "",
                                letters_and_sizes(expected), "give it, or set mask.indexer to null"});
    if (tensor) expect_shape(name, *tensor, expected, "mask.indexer says its heads and its width");
  };
  const Axis heads{"Hi", indexer->heads}, width{"W", indexer->width};
  if (sdpa) {
    check("indexer_q", t.indexer_q, true, {{"N", s.batch}, heads, {"L", s.queries}, width});
    check("indexer_k", t.indexer_k, true, {{"N", s.batch}, {"1", 1}, {"S", s.keys}, width});
    check("indexer_weights", t.indexer_weights, true, {{"N", s.batch}, {"L", s.queries}, heads});
    return;
  }
  const Index rows = checked_multiply(indexer->heads, indexer->width, "indexer.wq_b.weight");
  const Axis source{is_latent(inputs.options) ? "Cq" : "E", indexer_source_width(inputs.options)};
  check("indexer.wq_b.weight", t.indexer_wq_b, true, {{"Hi·W", rows}, source});
  check("indexer.wk.weight", t.indexer_wk, true, {width, {"kdim", inputs.options.kdim}});
  check("indexer.k_norm.weight", t.indexer_k_norm_weight, false, {width});
  check("indexer.k_norm.bias", t.indexer_k_norm_bias, false, {width});
  check("indexer.weights_proj.weight", t.indexer_weights_proj, true, {heads, {"E", inputs.options.embed_dim}});
}

}  // namespace headwise
