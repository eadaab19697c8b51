#include "core/model/layers/model_families.h"

#include <array>

namespace headwise {
namespace {

using enum AttentionLayout;

constexpr std::array families{
    // torch.nn.TransformerEncoderLayer, as `headwise train` writes it: before its nn.MultiheadAttention, so that a layer has the
    // block's name.
    ModelFamily{.name = "Headwise",
                .layout = packed,
                .qkv = "self_attn.in_proj_",
                .output = "self_attn.out_proj.",
                .is_causal = true,
                .model_type = "headwise"},
    ModelFamily{
        .name = "torch.nn.MultiheadAttention", .layout = packed, .qkv = "in_proj_", .output = "out_proj."},
    ModelFamily{.name = "torch.nn.MultiheadAttention",
                .layout = separate,
                .q = "q_proj_",
                .k = "k_proj_",
                .v = "v_proj_",
                .output = "out_proj.",
                .joint_bias = "in_proj_"},
    ModelFamily{.name = "BERT",
                .layout = separate,
                .q = "attention.self.query.",
                .k = "attention.self.key.",
                .v = "attention.self.value.",
                .output = "attention.output.dense."},
    ModelFamily{.name = "BERT, cross-attention",
                .layout = separate,
                .q = "crossattention.self.query.",
                .k = "crossattention.self.key.",
                .v = "crossattention.self.value.",
                .output = "crossattention.output.dense.",
                .is_cross = true},
    ModelFamily{.name = "ViT",
                .layout = separate,
                .q = "attention.attention.query.",
                .k = "attention.attention.key.",
                .v = "attention.attention.value.",
                .output = "attention.output.dense."},
    ModelFamily{.name = "Q-Former, cross-attention",
                .layout = separate,
                .q = "crossattention.attention.query.",
                .k = "crossattention.attention.key.",
                .v = "crossattention.attention.value.",
                .output = "crossattention.output.dense.",
                .is_cross = true},
    ModelFamily{.name = "ALBERT",
                .layout = separate,
                .q = "attention.query.",
                .k = "attention.key.",
                .v = "attention.value.",
                .output = "attention.dense.",
                .needs_output = true},
    ModelFamily{.name = "timm ViT", .layout = packed, .qkv = "attn.qkv.", .output = "attn.proj."},
    ModelFamily{.name = "DistilBERT",
                .layout = separate,
                .q = "attention.q_lin.",
                .k = "attention.k_lin.",
                .v = "attention.v_lin.",
                .output = "attention.out_lin."},
    // The same names: if c_attn.weight is three times as wide as high, it is a Conv1D.
    ModelFamily{
        .name = "GPT-2", .layout = packed_in, .qkv = "attn.c_attn.", .output = "attn.c_proj.", .is_causal = true},
    ModelFamily{.name = "GPT-2, cross-attention",
                .layout = queries_in,
                .q = "crossattention.q_attn.",
                .kv = "crossattention.c_attn.",
                .output = "crossattention.c_proj.",
                .is_cross = true},
    ModelFamily{
        .name = "nanoGPT", .layout = packed, .qkv = "attn.c_attn.", .output = "attn.c_proj.", .is_causal = true},
    ModelFamily{.name = "GPT-Neo",
                .layout = separate,
                .q = "attn.attention.q_proj.",
                .k = "attn.attention.k_proj.",
                .v = "attn.attention.v_proj.",
                .output = "attn.attention.out_proj.",
                .is_causal = true,
                .scales = false},
    ModelFamily{.name = "wav2vec 2.0",
                .layout = separate,
                .q = "attention.q_proj.",
                .k = "attention.k_proj.",
                .v = "attention.v_proj.",
                .output = "attention.out_proj.",
                .needs_output = true},
    ModelFamily{.name = "GPT-J",
                .layout = separate,
                .q = "attn.q_proj.",
                .k = "attn.k_proj.",
                .v = "attn.v_proj.",
                .output = "attn.out_proj.",
                .is_causal = true,
                .needs_output = true,
                .positions = "rotary"},
    ModelFamily{.name = "Llama",
                .layout = separate,
                .q = "self_attn.q_proj.",
                .k = "self_attn.k_proj.",
                .v = "self_attn.v_proj.",
                .output = "self_attn.o_proj.",
                .is_causal = true,
                .positions = "rotary"},
    ModelFamily{.name = "OPT, BART",
                .layout = separate,
                .q = "self_attn.q_proj.",
                .k = "self_attn.k_proj.",
                .v = "self_attn.v_proj.",
                .output = "self_attn.out_proj.",
                .is_causal = true},
    ModelFamily{.name = "Phi",
                .layout = separate,
                .q = "self_attn.q_proj.",
                .k = "self_attn.k_proj.",
                .v = "self_attn.v_proj.",
                .output = "self_attn.dense.",
                .is_causal = true,
                .positions = "rotary"},
    ModelFamily{.name = "BART, cross-attention",
                .layout = separate,
                .q = "encoder_attn.q_proj.",
                .k = "encoder_attn.k_proj.",
                .v = "encoder_attn.v_proj.",
                .output = "encoder_attn.out_proj.",
                .is_cross = true},
    ModelFamily{.name = "Phi-3",
                .layout = packed,
                .qkv = "self_attn.qkv_proj.",
                .output = "self_attn.o_proj.",
                .is_causal = true,
                .positions = "rotary"},
    ModelFamily{.name = "Persimmon",
                .layout = interleaved,
                .qkv = "self_attn.query_key_value.",
                .output = "self_attn.dense.",
                .is_causal = true,
                .positions = "rotary"},
    ModelFamily{.name = "T5",
                .layout = separate,
                .q = "SelfAttention.q.",
                .k = "SelfAttention.k.",
                .v = "SelfAttention.v.",
                .output = "SelfAttention.o.",
                .is_causal = true,
                .scales = false,
                .positions = "relative"},
    ModelFamily{.name = "T5, cross-attention",
                .layout = separate,
                .q = "EncDecAttention.q.",
                .k = "EncDecAttention.k.",
                .v = "EncDecAttention.v.",
                .output = "EncDecAttention.o.",
                .is_cross = true,
                .scales = false},
    ModelFamily{.name = "BLOOM",
                .layout = interleaved,
                .qkv = "self_attention.query_key_value.",
                .output = "self_attention.dense.",
                .is_causal = true,
                .positions = "ALiBi"},
    ModelFamily{.name = "GPT-NeoX",
                .layout = interleaved,
                .qkv = "attention.query_key_value.",
                .output = "attention.dense.",
                .is_causal = true,
                .positions = "rotary"}};

}  // namespace

std::span<const ModelFamily> model_families() {
  return families;
}

std::string_view layout_name(AttentionLayout layout) {
  switch (layout) {
    case separate:
      return "q, k and v separate, [out,in]";
    case packed:
      return "q, k, v packed in rows, [out,in]";
    case packed_in:
      return "q, k, v packed in columns, [in,out]";
    case interleaved:
      return "q, k, v of each head in turns, [out,in]";
    case queries_in:
      return "q, and k and v packed, in columns, [in,out]";
    case grouped:
      return "q heads, k, v of each key/value head in turns, [out,in]";
  }
  return "";
}

}  // namespace headwise
