#include "core/code/own_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/attention/rotary_embedding.h"
#include "core/tensor/join.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

// The options that PyTorch's function of this name has no argument for.
std::vector<std::string> missing_options(const Trace& trace, const AttentionSizes& s) {
  const AttentionOptions& o = trace.options;
  std::vector<std::string> missing;
  const auto lacks = [&](bool is_set, const char* name) {
    if (is_set) missing.emplace_back(name);
  };
  lacks(o.softcap > 0, "softcap");
  lacks(o.clip_qkv.has_value(), "clip_qkv");
  lacks(o.temperature != 1.0, "temperature");
  lacks(o.dropout > 0, "a seeded dropout");
  lacks(o.mask_value.has_value(), "a finite mask value");
  lacks(!o.frozen_heads.empty(), "frozen heads");
  lacks(has_rotary_embedding(o), "rotary position embedding");
  if (o.op == Op::multi_head_attention) {
    lacks(o.scale.has_value(), "scale");
    lacks(s.kv_heads != s.heads, "num_kv_heads");
    lacks(s.head_dim * s.heads != s.embed_dim || s.v_head_dim * s.heads != s.embed_dim, "head_dim");
    lacks(std::ranges::any_of(o.head_gain, [](double gain) { return gain != 1.0; }), "head gains");
    lacks(o.fully_masked_rows == FullyMaskedRows::zero && trace.tensors.mask_bias, "zero for masked rows");
    // 1.13 treats a bias given together with another mask as a mask itself, and rejects empty sequences.
    lacks(s.batch == 0 || s.queries == 0 || s.keys == 0, "empty sequences");
    lacks((trace.tensors.static_k == nullptr) != (trace.tensors.static_v == nullptr),
          "one static array alone");
  }
  return missing;
}

std::string mha_call(const Trace& trace, const AttentionSizes& s) {
  const TraceTensors& t = trace.tensors;
  const auto given = [](const TensorPtr& tensor, const char* expression) {
    return tensor ? expression : "None";
  };
  std::string mask = "None";
  if (t.mask_bias) {
    mask = fmt::format("mask_bias[..., :{}].reshape({}, {}, {})", s.keys, s.batch * s.heads, s.queries, s.keys);
  }
  std::string text = "attn_output, weights = F.multi_head_attention_forward(\n";
  text += fmt::format(
      "    query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), {}, {}, {}, {},\n", s.embed_dim,
      s.heads, given(t.in_proj_weight, "in_proj_weight"), given(t.in_proj_bias, "in_proj_bias"));
  text += fmt::format("    {}, {}, {}, 0.0,\n", given(t.bias_k, "bias_k.reshape(1, 1, -1)"),
                      given(t.bias_v, "bias_v.reshape(1, 1, -1)"),
                      trace.options.add_zero_attn ? "True" : "False");
  text +=
      fmt::format("    out_proj_weight, {}, attn_mask={},\n", given(t.out_proj_bias, "out_proj_bias"), mask);
  if (!t.in_proj_weight) {
    text +=
        "    use_separate_proj_weight=True, q_proj_weight=q_proj_weight, k_proj_weight=k_proj_weight,\n"
        "    v_proj_weight=v_proj_weight,\n";
  }
  if (t.static_k) text += "    static_k=static_k.flatten(0, 1), static_v=static_v.flatten(0, 1),\n";
  text += ")\n";
  return text + "own = attn_output.transpose(0, 1)\n";
}

std::string sdpa_call(const Trace& trace, const AttentionSizes& s) {
  const Index group = s.kv_heads > 0 ? s.heads / s.kv_heads : 1;
  const std::string repeat = group == 1 ? "" : fmt::format(".repeat_interleave({}, dim=1)", group);
  return fmt::format("own = F.scaled_dot_product_attention(query, key{0}, value{0}, attn_mask={1}{2})\n",
                     repeat, trace.tensors.mask_bias ? "mask_bias" : "None",
                     trace.options.scale ? fmt::format(", scale={}", *trace.options.scale) : std::string());
}

}  // namespace

std::string own_function_text(const Trace& trace) {
  const AttentionSizes s = attention_sizes(trace.options, trace.tensors);
  const bool sdpa = trace.options.op == Op::scaled_dot_product_attention;
  const char* name = sdpa ? "F.scaled_dot_product_attention" : "F.multi_head_attention_forward";
  const std::vector<std::string> missing = missing_options(trace, s);
  if (!missing.empty()) return fmt::format("\n# {} has no {}.\n", name, join(missing, ", "));
  const std::string compared = fmt::format(
      "print(\"largest difference from {}:\", torch.nan_to_num(own - output).abs().max().item())\n", name);
  const std::string mask_note =
      trace.tensors.mask_bias ? "; its attn_mask is mask_bias, a float mask that is added" : "";
  if (!sdpa) return "\n# The same in one call" + mask_note + "\n" + mha_call(trace, s) + compared;
  std::string text = "\n# The same in one call, which came with PyTorch 2" + mask_note + "\n";
  text += "if hasattr(F, \"scaled_dot_product_attention\") and output.numel() > 0:\n";
  return text + "    " + sdpa_call(trace, s) + "    " + compared;
}

}  // namespace headwise
