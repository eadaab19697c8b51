#include <doctest/doctest.h>

#include <fmt/format.h>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/attention/cell_provenance.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

struct NamedChange {
  const char* name;
  std::function<void(AttentionOptions&)> apply;
};

const std::vector<NamedChange>& changes() {
  static const std::vector<NamedChange> all{
      {"plain", [](AttentionOptions&) {}},
      {"a compressed query", [](AttentionOptions& o) { o.q_lora_rank = 4; }},
      {"RoPE of neighbours, causal",
       [](AttentionOptions& o) {
         o.rotary_base = 100.0;
         o.rotary_pairs = RotaryPairs::neighbours;
         o.is_causal = true;
       }},
      {"RoPE of halves, wide values",
       [](AttentionOptions& o) {
         o.qk_rope_head_dim = 4;
         o.head_dim = 7;
         o.v_head_dim = 6;
         o.rotary_base = 10.0;
         o.rotary_factor = 1.3;
       }},
      {"ALiBi, softcap and a scale",
       [](AttentionOptions& o) {
         o.alibi = true;
         o.softcap = 2.0;
         o.scale = 0.4;
       }},
      {"dropout and a sink",
       [](AttentionOptions& o) {
         o.dropout = 0.4;
         o.sink = {0.5};
       }},
      {"gains, residual and norm", [](AttentionOptions& o) {
         o.head_gain = {0.5, 0.0, 1.0, -2.0};
         o.residual = o.layer_norm = true;
         o.latent_norm_epsilon = 0.3;
       }}};
  return all;
}

AttentionInputs inputs_of(LatentLayout layout, const NamedChange& change) {
  AttentionOptions o = latent_options(layout);
  change.apply(o);
  return latent_inputs(o);
}

std::string refusal_of(const std::string& json, const GivenArrays& given = {}) {
  try {
    make_scenario_inputs(scenario_from_json(json, "s.json"), DType::f32, given, nullptr, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string latent_json(const std::string& attention, const std::string& rest = "") {
  return "{\"op\": \"multi_head_latent_attention\", \"attention\": {\"kv_lora_rank\": 4, "
         "\"qk_nope_head_dim\": 3, \"qk_rope_head_dim\": 2" +
         attention + "}" + rest + "}";
}

}  // namespace

TEST_CASE("both layouts of latent attention give the same numbers and gradients") {
  for (const NamedChange& change : changes()) {
    const TracePtr expanded = reference_forward(inputs_of(LatentLayout::expanded, change));
    const TracePtr absorbed = reference_forward(inputs_of(LatentLayout::absorbed, change));
    CHECK(expanded->tensors.k_heads);
    CHECK_FALSE(expanded->tensors.k_absorbed);
    CHECK(absorbed->tensors.k_absorbed->shape().sizes()[1] == 1);
    CHECK_FALSE(absorbed->tensors.kv_b);
    const TracePtr back = reference_backward(*expanded), back_absorbed = reference_backward(*absorbed);
    for (const TensorEntry& entry : tensor_entries()) {
      for (const bool gradient : {false, true}) {
        const TensorName name{entry.id, gradient};
        const TensorPtr a = back->tensor(name), b = back_absorbed->tensor(name);
        if (!a || !b) continue;
        const auto difference = first_difference(to_string(name), *b, *a, gradient ? 1e-11 : 1e-12, 0.1);
        CHECK_MESSAGE(!difference, change.name, ": ", difference.value_or(""));
      }
    }
  }
}

TEST_CASE("the scale is that of Dn + R in both layouts") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const TracePtr trace = reference_forward(latent_inputs(latent_options(layout)));
    const double ratio = trace->tensors.scaled_scores->flat(3) / trace->tensors.scores->flat(3);
    CHECK(ratio == doctest::Approx(1.0 / std::sqrt(5.0)));
  }
}

TEST_CASE("formulas of latent attention name a head's rows, the shared key and the two parts of kv_a") {
  AttentionOptions o = latent_options(LatentLayout::absorbed);
  o.rotary_base = 10.0;
  const TracePtr trace = reference_backward(*reference_forward(latent_inputs(o)));
  const auto formula = [&](TensorId id, const std::vector<Index>& index, bool gradient = false) {
    return cell_provenance(*trace, {id, gradient}, index).formula;
  };
  CHECK(formula(TensorId::q_absorbed, {0, 1, 2, 3}) ==
        "q_absorbed[0,1,2,3] = Σ_d q_rotary[0,1,2,d] · kv_b_proj.weight[d + 6,3]");
  CHECK(formula(TensorId::q_absorbed, {0, 1, 2, 5}) == "q_absorbed[0,1,2,5] = q_rotary[0,1,2,3]");
  CHECK(formula(TensorId::k_rot, {0, 0, 1, 0}) ==
        "k_rot[0,0,1,0] = kv_a[0,1,5] · cos θ − kv_a[0,1,6] · sin θ, θ = 1 · 1");
  CHECK(formula(TensorId::compressed_kv, {0, 1, 2}) ==
        "compressed_kv[0,1,2] = kv_a_layernorm.weight[2] · kv_a[0,1,2] / √(mean square + ε)");
  CHECK(formula(TensorId::head_output, {0, 1, 2, 0}) ==
        "head_output[0,1,2,0] = Σ_c latent_output[0,1,2,c] · kv_b_proj.weight[9,c]");
  CHECK(formula(TensorId::kv_a, {0, 1, 6}, true) ==
        "grad.kv_a[0,1,6] = grad.k_rot[0,0,1,1] · cos θ − grad.k_rot[0,0,1,0] · sin θ, θ = 1 · 1");
  CHECK(formula(TensorId::kv_a, {0, 1, 2}, true).starts_with("grad.kv_a[0,1,2] = (dn − n · mean dn·n) /"));
}

TEST_CASE("latent attention in blocks of queries has the bits of the whole") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed})
    for (const NamedChange& change : changes()) {
      const AttentionInputs inputs = inputs_of(layout, change);
      const std::vector<TensorName> needed{
          {TensorId::output}, {TensorId::attn_weights}, {TensorId::head_output}};
      const TracePtr whole = reference_forward(inputs), parts = reference_forward_of(inputs, needed, 0, 8);
      for (const TensorName name : needed)
        CHECK_MESSAGE(identical(*whole->tensor(name), *parts->tensor(name)), change.name, " ", to_string(name));
    }
}

TEST_CASE("a scenario of latent attention has the same parameters in both layouts") {
  const std::string sizes = ", \"embed_dim\": 12, \"num_heads\": 3, \"q_lora_rank\": 5, \"rotary_base\": 100";
  const auto made = [&](const char* layout) {
    const Scenario scenario =
        scenario_from_json(latent_json(sizes + fmt::format(", \"layout\": \"{}\"", layout)), "s.json");
    CHECK(scenario_from_json(scenario_to_json(scenario), "again") == scenario);
    return make_scenario_inputs(scenario, DType::f64, {}, nullptr, {});
  };
  const ScenarioInputs expanded = made("expanded"), absorbed = made("absorbed");
  CHECK(identical(*expanded.attention.tensors.kv_b_weight, *absorbed.attention.tensors.kv_b_weight));
  CHECK(expanded.attention.options.num_kv_heads == 3);
  CHECK(absorbed.attention.options.num_kv_heads == 1);
  CHECK(expanded.attention.options.head_dim == 5);
  CHECK_FALSE(expanded.attention.tensors.value);
  const auto difference = first_difference("output", *reference_forward(absorbed.attention)->tensors.output,
                                           *reference_forward(expanded.attention)->tensors.output, 1e-12, 0.1);
  CHECK_MESSAGE(!difference, difference.value_or(""));
}

TEST_CASE("latent attention refuses what it does not have, and others refuse what is its own") {
  for (const auto& [attention, rest, words] :
       {std::tuple<const char*, const char*, const char*>{", \"num_kv_heads\": 2", "", "no num_kv_heads"},
        {", \"head_dim\": 5", "", "no head_dim"},
        {", \"vdim\": 5", "", "no vdim"},
        {", \"kdim\": 5", "", "kdim = 5"},
        {", \"clip_qkv\": 5", "", "no clip_qkv"},
        {", \"qk_norm\": \"whole\"", "", "no qk_norm"},
        {", \"add_zero_attn\": true", "", "no add_zero_attn"},
        {", \"add_bias_kv\": true", "", "no add_bias_kv"},
        {", \"rotary_base\": 10, \"qk_rope_head_dim\": 3", "", ""},
        {"", ", \"parameters\": {\"source\": \"hand_made\"}", "hand-made heads"},
        {"", ", \"parameters\": {\"source\": \"model\", \"file\": \"builtin:sentences\"}",
         "multi_head_latent_attention has no k_proj_weight"}})
    CHECK_MESSAGE(refusal_of(latent_json(attention, rest)).find(words) != std::string::npos, attention, rest,
                  ": ", refusal_of(latent_json(attention, rest)));
  CHECK(refusal_of("{\"op\": \"multi_head_latent_attention\"}").find("kv_lora_rank") != std::string::npos);
  CHECK(refusal_of("{\"attention\": {\"kv_lora_rank\": 4}}").find("multi_head_attention has no kv_lora_rank") !=
        std::string::npos);
  const auto refused_by_sdpa = [](const std::string& attention) {
    return refusal_of("{\"op\": \"scaled_dot_product_attention\", \"attention\": {" + attention + "}}");
  };
  CHECK(refused_by_sdpa("\"layout\": \"absorbed\"")
            .find("has no layout: set op to multi_head_latent_attention, or leave it out") != std::string::npos);
  for (const char* const option : {"\"qk_norm\": \"whole\"", "\"residual\": true", "\"add_bias_kv\": true"})
    CHECK_MESSAGE(
        refused_by_sdpa(option).find("set op to multi_head_attention, or leave it out") != std::string::npos,
        refused_by_sdpa(option));
}

TEST_CASE("parameters of latent attention are checked by shape, and those of others are refused") {
  const auto refused = [](const std::function<void(AttentionInputs&)>& change) {
    AttentionInputs inputs = latent_inputs(latent_options(LatentLayout::expanded));
    change(inputs);
    try {
      reference_forward(inputs);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused([](AttentionInputs&) {}).empty());
  const auto has = [&](const std::function<void(AttentionInputs&)>& change, const char* words) {
    const std::string said = refused(change);
    CHECK_MESSAGE(said.find(words) != std::string::npos, words, ": ", said);
  };
  has([](auto& in) { in.tensors.kv_b_weight = nullptr; }, "kv_b_proj.weight");
  has(
      [](auto& in) {
        in.tensors.kv_a_weight = random_tensor({{"C+R", 6}, {"kdim", 8}}, "x");
      },
      "kv_a_proj_with_mqa.weight");
  has([](auto& in) { in.tensors.value = in.tensors.key; }, "value");
  has([](auto& in) { in.tensors.in_proj_weight = in.tensors.q_proj_weight; }, "in_proj_weight");
  has([](auto& in) { in.tensors.q_b_weight = in.tensors.q_proj_weight; }, "q_b_proj.weight");
  has([](auto& in) { in.options.num_kv_heads = 2; }, "num_kv_heads");
  has([](auto& in) { in.options.kv_lora_rank.reset(); }, "kv_lora_rank");
}
