#include "core/attention/check_attention_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/input_checks.h"
#include "core/attention/latent_attention.h"
#include "core/attention/refusals.h"

namespace headwise {
namespace {

template <class Value, class Range>
void check_range(const char* key, const Value& value, const Range& range) {
  if constexpr (requires { *value; }) {
    if (value) check_range(key, *value, range);
  } else if constexpr (requires { value.begin(); }) {
    for (const auto number : value) check_range(key, number, range);
  } else {
    require(range.contains(value),
            {key, "the number is out of range", fmt::format("{}", value), range.text(), ""});
  }
}

void check_options(const AttentionOptions& o, bool sizes_follow_from_arrays) {
  for (const auto& [name, size] :
       {std::pair{"embed_dim", o.embed_dim}, std::pair{"num_heads", o.num_heads},
        std::pair{"num_kv_heads", o.num_kv_heads}, std::pair{"kdim", o.kdim}, std::pair{"vdim", o.vdim},
        std::pair{"head_dim", o.head_dim}, std::pair{"v_head_dim", o.v_head_dim}})
    require(sizes_follow_from_arrays || size > 0,
            {name, "the size is out of range", fmt::format("{}", size), "1 or more", ""});
  const auto check = [&](const OptionRow& row, [[maybe_unused]] auto member, const auto&... range) {
    (check_range(row.key, o.*member, range), ...);
  };
  visit_layer_options(check);
  visit_position_options(check);
  require(!o.sliding_window || !(o.window_left || o.window_right),
          {"sliding_window", "the window is given twice", "sliding_window beside window_left or window_right",
           "one or the other", "leave one out"});
  check_range("mask.value", o.mask_value, NumberRange{.words = "a finite number, or \"-inf\""});
}

void check_head_counts(Index heads, Index kv_heads) {
  require(kv_heads > 0 && heads % kv_heads == 0,
          {"num_heads", "key/value heads must serve equal numbers of query heads",
           fmt::format("num_heads = {}, num_kv_heads = {}", heads, kv_heads),
           fmt::format("num_kv_heads a divisor of {}", heads), ""});
}

void check_types(const AttentionInputs& inputs) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr& tensor = inputs.tensors.*(entry.member);
    if (!tensor) continue;
    const std::string name(entry.name);
    const bool given = is_given_to_sdpa(entry.id) && inputs.options.op == Op::scaled_dot_product_attention;
    if (entry.role == TensorRole::intermediate && !given) {
      refuse({name, "this tensor is computed, it cannot be given", tensor->shape().sizes_text(), "", ""});
    }
    if (entry.id == TensorId::valid_lens || entry.id == TensorId::nonpad_kv_seqlen) {
      require(tensor->dtype() == DType::i64,
              {name, "the type is wrong for lengths", dtype_name(tensor->dtype()), "i64", ""});
    } else if (entry.id == TensorId::frozen_weights) {
      require(tensor->dtype() == DType::f32 || tensor->dtype() == DType::f64,
              {name, "the type is wrong for weights", dtype_name(tensor->dtype()), "f32 or f64", ""});
    } else if (entry.role == TensorRole::mask) {
      require(tensor->dtype() != DType::i64,
              {name, "the type is wrong for a mask", dtype_name(tensor->dtype()), "bool, f32 or f64",
               "1 and 0 may mean blocked or kept: use bool"});
    } else {
      require(tensor->dtype() == inputs.dtype,
              {name, "the type is not that of the trace", dtype_name(tensor->dtype()),
               dtype_name(inputs.dtype), "convert it first"});
    }
  }
}

void check_projections(const AttentionInputs& inputs, const AttentionSizes& s, Refusals& refusals) {
  const TraceTensors& t = inputs.tensors;
  const AttentionOptions& o = inputs.options;
  const Index q_rows = checked_multiply(s.heads, s.head_dim, "H·D");
  const Index k_rows = checked_multiply(s.kv_heads, s.head_dim, "G·D");
  const Index v_rows = checked_multiply(s.kv_heads, s.v_head_dim, "G·Dv");
  const bool any_separate = t.q_proj_weight || t.k_proj_weight || t.v_proj_weight;
  const char* separate_remedy = "separate parameters are q_proj_weight, k_proj_weight and v_proj_weight";
  if (t.in_proj_weight) {
    refusals.run([&] {
      require(!any_separate, {"parameters", "packed and separate projections exclude each other",
                              "in_proj_weight beside q_proj_weight, k_proj_weight or v_proj_weight",
                              "one or the other", "leave one out"});
      require(o.kdim == o.embed_dim && o.vdim == o.embed_dim,
              {"in_proj_weight", "packed parameters need key and value as wide as query",
               fmt::format("embed_dim = {}, kdim = {}, vdim = {}", o.embed_dim, o.kdim, o.vdim),
               "kdim = vdim = embed_dim", separate_remedy});
      expect_shape("in_proj_weight", *t.in_proj_weight,
                   {{"H·D+G·D+G·Dv", q_rows + k_rows + v_rows}, {"E", o.embed_dim}},
                   "it holds the rows of q, k and v, one after the other");
    });
  } else {
    const auto weight = [&](const char* name, const TensorPtr& given, bool needed, Axis rows, Axis width) {
      refusals.run([&] {
        require(given || !needed,
                {name, "the parameter is missing", "", letters_and_sizes({rows, width}), separate_remedy});
        if (given) expect_shape(name, *given, {rows, width});
      });
    };
    weight("q_proj_weight", t.q_proj_weight, true, {"H·D", q_rows}, {"E", o.embed_dim});
    weight("k_proj_weight", t.k_proj_weight, !t.static_k, {"G·D", k_rows}, {"kdim", o.kdim});
    weight("v_proj_weight", t.v_proj_weight, !t.static_v, {"G·Dv", v_rows}, {"vdim", o.vdim});
  }
  const auto vector = [&](const char* name, const TensorPtr& given, Axis axis, const char* remedy = "") {
    if (given) refusals.run([&] { expect_shape(name, *given, Shape{axis}, remedy); });
  };
  vector("in_proj_bias", t.in_proj_bias, {"H·D+G·D+G·Dv", q_rows + k_rows + v_rows},
         "it holds the biases of q, k and v, one after the other");
  refusals.run([&] {
    require(!t.bias_k == !t.bias_v,
            {"bias_k", "bias_k and bias_v come together", t.bias_k ? "bias_k alone" : "bias_v alone",
             "both or neither", t.bias_k ? "give bias_v too" : "give bias_k too"});
    require(!(t.bias_k && (t.static_k || t.static_v)),
            {"bias_k", "bias_k and bias_v cannot be appended to static_k and static_v",
             t.static_k ? "bias_k, bias_v and static_k" : "bias_k, bias_v and static_v", "one or the other",
             "leave one out"});
  });
  vector("bias_k", t.bias_k, {"G·D", k_rows});
  vector("bias_v", t.bias_v, {"G·Dv", v_rows});
}

void check_output_parameters(const AttentionInputs& inputs, const AttentionSizes& s, Refusals& refusals) {
  const TraceTensors& t = inputs.tensors;
  const AttentionOptions& o = inputs.options;
  const TensorPtr& out = t.out_proj_weight;
  const Shape out_shape{{"E", o.embed_dim}, {"H·Dv", checked_multiply(s.heads, s.v_head_dim, "H·Dv")}};
  refusals.run([&] {
    require(out != nullptr, {"out_proj.weight", "the parameter is missing", "", letters_and_sizes(out_shape),
                             "a module always has an output projection"});
    expect_shape("out_proj.weight", *out, out_shape);
  });
  refusals.run([&] {
    if (t.out_proj_bias) expect_shape("out_proj.bias", *t.out_proj_bias, {{"E", o.embed_dim}});
  });
  refusals.run([&] {
    if (t.head_gain) expect_shape("heads.gain", *t.head_gain, {{"H", s.heads}});
    const auto gains = static_cast<Index>(o.head_gain.size());
    require(gains == 0 || gains == s.heads,
            {"heads.gain", "there must be one gain for each head", fmt::format("{}", gains),
             fmt::format("num_heads = {}", s.heads), "give one number a head, or leave heads.gain out"});
  });
}

// Checks that the heads are valid and distinct, and the weights of each.
void check_frozen_heads(const AttentionInputs& inputs, const AttentionSizes& s, Refusals& refusals) {
  const std::vector<Index>& heads = inputs.options.frozen_heads;
  const TensorPtr& held = inputs.tensors.frozen_weights;
  refusals.run([&] {
    std::set<Index> different;
    for (const Index head : heads) {
      require(head >= 0 && head < s.heads, {"heads.frozen", "there is no such head", fmt::format("{}", head),
                                            fmt::format("0 to {}", s.heads - 1), "heads count from 0"});
      require(different.insert(head).second,
              {"heads.frozen", "a head is named twice", fmt::format("{}", head), "each head once", ""});
    }
    require(!held || !heads.empty(), {"frozen_weights", "no head is frozen that could keep them",
                                      held ? held->shape().sizes_text() : "", "heads.frozen with its heads",
                                      "name the heads, or leave frozen_weights out"});
    const Shape expected{
        {"N", s.batch}, {"F", static_cast<Index>(heads.size())}, {"L", s.queries}, {s.key_axis(), s.all_keys}};
    require(held || heads.empty(), {"frozen_weights", "the weights that frozen heads keep are missing", "",
                                    letters_and_sizes(expected), "give them, or unfreeze the heads"});
    if (held)
      expect_shape("frozen_weights", *held, expected,
                   "freeze the heads again at these sizes, or unfreeze them");
  });
}

void expect_rank(const char* name, const TensorPtr& tensor, Index rank, const char* letters,
                 const std::string& remedy) {
  require(tensor != nullptr, {name, "the input is missing", "", letters, ""});
  require(tensor->shape().rank() == rank,
          {name, "the number of axes disagrees", tensor->shape().sizes_text(), letters, remedy});
}

// What only multi_head_latent_attention has.
void check_of_other_operator(const AttentionInputs& inputs) {
  const char* const remedy = "choose multi_head_latent_attention, or leave it out";
  for (const char* const option : set_options(inputs.options, latent_only))
    refuse({option, "multi_head_attention has no such option", "", "", remedy});
  for (const TensorEntry& entry : tensor_entries())
    require(!is_latent_parameter(entry.id) || !(inputs.tensors.*(entry.member)),
            {std::string(entry.name), "multi_head_attention has no such parameter", "", "", remedy});
}

constexpr const char* unbatched = "an unbatched input has N = 1 here";

void check_batch_of_key(const TraceTensors& t, const AttentionSizes& s, Index kdim) {
  require(
      t.key->shape().size(0) == s.batch,
      {"key", "key and query have different batch sizes", t.key->shape().sizes_text(),
       fmt::format("(N,S,kdim) = ({},S,{})", s.batch, kdim),
       t.key->shape().size(1) == s.batch ? "is the batch axis the second one? the trace wants it first" : ""});
}

void check_multi_head_latent_attention(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  const AttentionOptions& o = inputs.options;
  check_options(o, false);
  check_latent_options(o, t);
  expect_rank("query", t.query, 3, "(N,L,E)", unbatched);
  expect_rank("key", t.key, 3, "(N,S,kdim)", unbatched);
  check_past(inputs);
  const AttentionSizes s = attention_sizes(inputs);
  check_past_shapes(inputs, s);
  expect_shape("query", *t.query, {{"N", s.batch}, {"L", s.queries}, {"E", o.embed_dim}},
               "embed_dim must be the width of query");
  check_batch_of_key(t, s, o.kdim);
  expect_shape("key", *t.key, {{"N", s.batch}, {"S", s.new_keys()}, {"kdim", o.kdim}},
               "kdim must be the width of key");
  Refusals refusals;
  check_latent_parameters(o, t, s, refusals);
  check_output_parameters(inputs, s, refusals);
  refusals.run([&] { check_rotary_embedding(inputs); });
  refusals.run([&] { check_output_gate(inputs, s); });
  refusals.run([&] { check_sinks(inputs, s); });
  refusals.run([&] { check_relative_bias(inputs, s); });
  refusals.run([&] { check_indexer(inputs, s); });
  check_masks(inputs, s, refusals);
  check_frozen_heads(inputs, s, refusals);
  refusals.throw_if_any();
}

void check_multi_head_attention(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  const AttentionOptions& o = inputs.options;
  check_options(o, false);
  check_head_counts(o.num_heads, o.num_kv_heads);
  check_of_other_operator(inputs);
  expect_rank("query", t.query, 3, "(N,L,E)", unbatched);
  expect_rank("key", t.key, 3, "(N,S,kdim)", unbatched);
  expect_rank("value", t.value, 3, "(N,S,vdim)", unbatched);
  if (t.static_k)
    expect_rank("static_k", t.static_k, 4, "(N,G,S,D)", "(N·G,S,D) is split into its two axes first");
  if (t.static_v)
    expect_rank("static_v", t.static_v, 4, "(N,G,S,Dv)", "(N·G,S,Dv) is split into its two axes first");
  check_past(inputs);
  const AttentionSizes s = attention_sizes(inputs);
  check_past_shapes(inputs, s);
  expect_shape("query", *t.query, {{"N", s.batch}, {"L", s.queries}, {"E", o.embed_dim}},
               "embed_dim must be the width of query");
  const Index given_keys =
      t.key->shape().size(1);  // may differ from S if static_k or static_v replace the projection
  check_batch_of_key(t, s, o.kdim);
  expect_shape("key", *t.key, {{"N", s.batch}, {"S", t.static_k ? given_keys : s.new_keys()}, {"kdim", o.kdim}},
               t.static_v && given_keys != s.keys
                   ? fmt::format("static_v has S = {}: give static_k of that length too", s.keys)
                   : "kdim must be the width of key");
  expect_shape("value", *t.value,
               {{"N", s.batch}, {"S", t.static_v ? t.value->shape().size(1) : s.new_keys()}, {"vdim", o.vdim}},
               t.static_k ? fmt::format("static_k has S = {}: give static_v of that length too", s.keys)
                          : "key and value have the same length");
  if (t.static_k) expect_shape("static_k", *t.static_k, computed_shape(TensorId::static_k, o, s));
  if (t.static_v) expect_shape("static_v", *t.static_v, computed_shape(TensorId::static_v, o, s));
  Refusals refusals;
  check_projections(inputs, s, refusals);
  check_output_parameters(inputs, s, refusals);
  refusals.run([&] { check_rotary_embedding(inputs); });
  refusals.run([&] { check_qk_norm(inputs, s); });
  refusals.run([&] { check_output_gate(inputs, s); });
  refusals.run([&] { check_sinks(inputs, s); });
  refusals.run([&] { check_relative_bias(inputs, s); });
  refusals.run([&] { check_indexer(inputs, s); });
  check_masks(inputs, s, refusals);
  check_frozen_heads(inputs, s, refusals);
  refusals.throw_if_any();
}

void check_scaled_dot_product_attention(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  const AttentionOptions& o = inputs.options;
  check_options(o, true);
  for (const TensorEntry& entry : tensor_entries()) {
    require(entry.role != TensorRole::parameter || is_of_both_operators(entry.id) || !(t.*(entry.member)),
            {std::string(entry.name), "scaled_dot_product_attention has no such parameter", "", "",
             is_latent_parameter(entry.id) ? "choose multi_head_latent_attention, or leave it out"
                                           : "choose multi_head_attention, or leave it out"});
  }
  const auto unknown = [](bool set, const char* name,
                          const char* remedy = "choose multi_head_attention, or leave it out") {
    require(!set, {name, "scaled_dot_product_attention has no such option", "", "", remedy});
  };
  for (const char* option : set_options(o, latent_only))
    unknown(true, option, "choose multi_head_latent_attention, or leave it out");
  for (const char* option : set_options(o, module_only)) unknown(true, option);
  unknown(!o.head_gain.empty(), "heads.gain");
  expect_rank("query", t.query, 4, "(N,H,L,D)", "");
  expect_rank("key", t.key, 4, "(N,G,S,D)", "");
  expect_rank("value", t.value, 4, "(N,G,S,Dv)", "");
  check_past(inputs);
  const AttentionSizes s = attention_sizes(inputs);
  require(s.heads > 0,
          {"query", "there is no head", t.query->shape().sizes_text(), "(N,H,L,D) with H of 1 or more", ""});
  require(s.head_dim > 0, {"query", "the head width is 0", t.query->shape().sizes_text(),
                           "(N,H,L,D) with D of 1 or more", ""});
  check_head_counts(s.heads, s.kv_heads);
  expect_shape("key", *t.key, {{"N", s.batch}, {"G", s.kv_heads}, {"S", s.new_keys()}, {"D", s.head_dim}},
               "query and key have the same batch and head width");
  expect_shape("value", *t.value,
               {{"N", s.batch}, {"G", s.kv_heads}, {"S", s.new_keys()}, {"Dv", s.v_head_dim}},
               "key and value have the same batch, heads and length");
  check_past_shapes(inputs, s);
  Refusals refusals;
  refusals.run([&] { check_rotary_embedding(inputs); });
  refusals.run([&] { check_sinks(inputs, s); });
  refusals.run([&] { check_relative_bias(inputs, s); });
  refusals.run([&] { check_indexer(inputs, s); });
  check_masks(inputs, s, refusals);
  check_frozen_heads(inputs, s, refusals);
  refusals.throw_if_any();
}

void check_everything(const AttentionInputs& inputs) {
  require(inputs.dtype == DType::f32 || inputs.dtype == DType::f64,
          {"dtype", "there is no arithmetic in this type", dtype_name(inputs.dtype), "f32 or f64", ""});
  const double mask_value = inputs.options.mask_value.value_or(0.0);
  require(inputs.dtype == DType::f64 || !(std::abs(mask_value) > std::numeric_limits<float>::max()),
          {"mask.value", "the number is infinite in f32", fmt::format("{}", mask_value),
           fmt::format("at most {:g} in magnitude", std::numeric_limits<float>::max()),
           "choose f64, or \"-inf\""});
  for (const double sink : inputs.options.sink)
    require(inputs.dtype == DType::f64 || !(std::abs(sink) > std::numeric_limits<float>::max()),
            {"attention.sink", "the number is infinite in f32", fmt::format("{}", sink),
             fmt::format("at most {:g} in magnitude", std::numeric_limits<float>::max()),
             "choose f64, or a smaller number: a sink of 1e30 takes all"});
  check_types(inputs);
  if (is_latent(inputs.options)) {
    check_multi_head_latent_attention(inputs);
  } else if (projects(inputs.options.op)) {
    check_multi_head_attention(inputs);
  } else {
    check_scaled_dot_product_attention(inputs);
  }
}

}  // namespace

void check_attention_inputs(const AttentionInputs& inputs) {
  Refusals refusals;
  refusals.run([&] { check_everything(inputs); });
  refusals.throw_if_any();
}

std::shared_ptr<Trace> begun_trace(const AttentionInputs& inputs) {
  auto trace = std::make_shared<Trace>();
  trace->options = resolved_options(inputs);
  trace->dtype = inputs.dtype;
  TraceTensors& t = trace->tensors = inputs.tensors;
  if (trace->options.op == Op::scaled_dot_product_attention) {
    t.q_heads = std::exchange(t.query, nullptr);
    t.k_heads = std::exchange(t.key, nullptr);
    t.v_heads = std::exchange(t.value, nullptr);
  }
  return trace;
}

std::string f32_backend_refusal(const AttentionInputs& inputs, const std::string& backend) {
  std::string reason = inputs.dtype == DType::f32 ? "" : "computes in f32";
  const auto check = [&](const OptionRow& row, auto member, const auto&...) {
    if (reason.empty() && row.only_reference && is_set(inputs.options, member))
      reason = fmt::format("does not {} ({})", row.only_reference, row.key);
  };
  visit_layer_options(check);
  visit_position_options(check);
  const AttentionSizes s = attention_sizes(inputs);
  const Index least = std::min({s.batch, s.queries, s.key_rows(), s.head_dim, s.v_head_dim, s.embed_dim});
  if (reason.empty() && least == 0) reason = "wants a size of at least 1 in every axis";
  return reason.empty() ? "" : fmt::format("the {} backend {}", backend, reason);
}

}  // namespace headwise
