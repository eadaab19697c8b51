#include <array>

#include "core/model/config/model_type_tables.h"

namespace headwise {
namespace {

using enum Sees;
using enum InnerPositions;
using namespace reads;

constexpr unsigned llama = rope | reads::head_dim, windowed = llama | window;

constexpr std::string_view expert_settings =
    "n_shared_experts n_routed_experts routed_scaling_factor n_group topk_group first_k_dense_replace "
    "num_mtp_layers "
    "num_nextn_predict_layers";

// Qwen2-VL and 2.5-VL, whether the settings are in the text part or in the whole.
constexpr ModelType qwen2_vl(std::string_view name, std::string_view own_settings = {}) {
  return {.name = name,
          .positions = rotary,
          .reads = rope | window | window_switch | window_by_default | rope_sections,
          .usual_heads = 64,
          .usual_kv_heads = 8,
          .usual_base = 1e6,
          .first_windowed = 80,
          .own_settings = own_settings};
}
constexpr std::string_view picture_tokens =
    "video_token_id vision_start_token_id vision_end_token_id vision_token_id";

constexpr std::array types{
    // Decoders without positions in attention.
    ModelType{.name = "biogpt"},
    ModelType{.name = "clip_text_model", .usual_heads = 8},
    ModelType{.name = "clipseg_text_model"},
    ModelType{.name = "gpt2", .reads = gpt2_scale},
    ModelType{.name = "gpt_bigcode", .reads = gpt2_scale | multi_query},
    ModelType{
        .name = "gpt_neo", .reads = local_windows, .own_settings = "window_size resid_dropout embed_dropout"},
    // Written by `headwise train`; out_projection is read with the layer's arrays.
    ModelType{.name = "headwise",
              .sees = Sees::past_if_is_causal,
              .positions = as_trained,
              .reads = gpt2_scale | causal_switch | reads::head_dim,
              .own_settings = "position_embedding_type out_projection feed_forward layer_norm frozen_heads "
                              "heads_begin_equal equal_out_projection"},
    ModelType{.name = "imagegpt", .reads = gpt2_scale},
    ModelType{.name = "kosmos_2_5_text_model", .own_settings = "embed_dim layers"},
    ModelType{.name = "metaclip_2_text_model"},
    ModelType{.name = "musicgen_decoder", .own_settings = "audio_channels"},
    ModelType{.name = "musicgen_melody_decoder", .own_settings = "audio_channels chroma_length num_chroma"},
    ModelType{.name = "openai-gpt"},
    ModelType{.name = "opt"},
    ModelType{.name = "owlv2_text_model"},
    ModelType{.name = "owlvit_text_model"},
    ModelType{.name = "trocr"},
    ModelType{.name = "xglm"},
    // Decoders with positions in attention.
    ModelType{.name = "arcee", .positions = rotary, .reads = llama},
    ModelType{.name = "aria_text", .positions = rotary, .reads = llama},
    ModelType{.name = "bamba",
              .positions = rotary,
              .reads = llama | partial_rope,
              .usual_share = 0.5,
              .own_settings =
                  "num_logits_to_keep attn_layer_indices mamba_n_heads mamba_d_head mamba_n_groups "
                  "mamba_d_state mamba_d_conv mamba_expand mamba_chunk_size mamba_conv_bias mamba_proj_bias "
                  "time_step_limit time_step_min time_step_max time_step_floor z_loss_coefficient"},
    ModelType{.name = "bloom", .positions = alibi},
    ModelType{.name = "cohere", .positions = rotary_neighbours, .reads = llama},
    ModelType{.name = "cohere2",
              .positions = rotary_neighbours,
              .reads = windowed | rope_in_windows,
              .own_settings =
                  "layer_switch order_of_interleaved_layers position_embedding_type use_embedding_sharing "
                  "use_gated_activation use_parallel_block use_parallel_embedding"},
    ModelType{.name = "csm_depth_decoder_model", .positions = rotary, .reads = llama, .usual_base = 5e5},
    ModelType{.name = "cwm", .positions = rotary, .reads = windowed, .usual_base = 1e6, .usual_head_dim = 128},
    ModelType{.name = "emu3_text_model", .positions = rotary, .reads = llama, .usual_base = 1e6},
    ModelType{.name = "ernie4_5",
              .positions = rotary_neighbours,
              .reads = llama,
              .usual_base = 5e5,
              .usual_head_dim = 128},
    ModelType{.name = "falcon", .positions = alibi_or_rotary, .reads = rope | reads::falcon},
    ModelType{.name = "falcon_h1",
              .positions = rotary,
              .reads = llama,
              .own_settings =
                  "num_logits_to_keep attn_layer_indices mamba_n_heads mamba_d_head mamba_n_groups "
                  "mamba_d_state mamba_d_conv mamba_expand mamba_chunk_size mamba_conv_bias "
                  "mamba_proj_bias time_step_limit time_step_min time_step_max time_step_floor "
                  "mamba_d_ssm mamba_norm_before_gate mamba_rms_norm mamba_use_mlp projectors_bias "
                  "lm_head_multiplier mlp_multipliers attention_in_multiplier attention_out_multiplier "
                  "ssm_multipliers ssm_in_multiplier ssm_out_multiplier mlp_expansion_factor"},
    ModelType{.name = "gemma",
              .positions = rotary,
              .reads = llama,
              .usual_heads = 16,
              .usual_kv_heads = 16,
              .usual_head_dim = 256},
    ModelType{.name = "gemma2",
              .positions = rotary,
              .reads = windowed | window_by_default | query_scalar | softcap,
              .usual_heads = 8,
              .usual_kv_heads = 4,
              .usual_head_dim = 256},
    ModelType{.name = "gemma3_text",
              .positions = rotary,
              .reads = windowed | query_scalar | softcap,
              .usual_head_dim = 256},
    ModelType{.name = "glm",
              .positions = rotary_neighbours,
              .reads = llama | partial_rope,
              .usual_share = 0.5,
              .usual_head_dim = 128},
    ModelType{.name = "glm4",
              .positions = rotary_neighbours,
              .reads = llama | partial_rope,
              .usual_share = 0.5,
              .usual_head_dim = 128},
    ModelType{.name = "glm4_moe",
              .positions = rotary,
              .reads = llama | partial_rope,
              .usual_share = 0.5,
              .own_settings = expert_settings},
    ModelType{.name = "glm4v_moe_text",
              .positions = rotary,
              .reads = llama | partial_rope | rope_sections,
              .usual_share = 0.5,
              .own_settings = expert_settings},
    ModelType{.name = "gpt_neox", .positions = rotary, .reads = rope | partial_rope, .usual_share = 0.25},
    ModelType{.name = "gpt_neox_japanese",
              .positions = rotary,
              .reads = rope | partial_rope,
              .own_settings = "intermediate_multiple_size"},
    ModelType{
        .name = "gpt_oss", .positions = rotary, .reads = windowed, .usual_base = 1.5e5, .usual_head_dim = 64},
    ModelType{.name = "gptj", .positions = rotary_neighbours, .reads = rope | reads::rotary_dim},
    ModelType{.name = "granite", .positions = rotary, .reads = llama | multiplier},
    ModelType{.name = "granitemoe", .positions = rotary, .reads = llama | multiplier},
    ModelType{.name = "granitemoeshared", .positions = rotary, .reads = llama | multiplier},
    ModelType{
        .name = "helium", .positions = rotary_neighbours, .reads = llama, .usual_base = 1e5, .usual_head_dim = 128},
    ModelType{.name = "higgs_audio_v2",
              .positions = rotary,
              .reads = llama,
              .usual_head_dim = 128,
              .own_settings = "codebook_size audio_token_id audio_bos_token_id audio_delay_token_id "
                              "audio_stream_bos_id audio_stream_eos_id"},
    ModelType{.name = "hyperclovax", .positions = rotary, .reads = llama | written_multiplier},
    ModelType{.name = "internlm3", .positions = rotary, .reads = llama, .usual_head_dim = 128},
    ModelType{.name = "iquestcoder", .positions = rotary, .reads = llama, .usual_head_dim = 128},
    ModelType{.name = "jais2", .positions = rotary, .reads = llama},
    ModelType{.name = "llama", .positions = rotary, .reads = llama, .usual_heads = 32},
    ModelType{.name = "ministral", .positions = rotary, .reads = windowed},
    ModelType{.name = "mistral",
              .positions = rotary,
              .reads = windowed | window_by_default,
              .usual_heads = 32,
              .usual_kv_heads = 8},
    ModelType{.name = "mixtral", .positions = rotary, .reads = windowed, .usual_base = 1e6},
    ModelType{.name = "mllama_text_model",
              .positions = rotary,
              .reads = rope,
              .usual_heads = 32,
              .usual_kv_heads = 8,
              .usual_base = 5e5,
              .own_settings = "cross_attention_layers"},
    ModelType{.name = "nemotron", .positions = rotary, .reads = llama | partial_rope, .usual_share = 0.5},
    ModelType{.name = "olmo", .positions = rotary, .reads = llama | clip},
    ModelType{.name = "olmo2", .positions = rotary, .reads = llama},
    ModelType{.name = "olmoe", .positions = rotary, .reads = llama | clip},
    ModelType{.name = "paddleocr_vl_text",
              .positions = rotary,
              .reads = llama | rope_sections,
              .usual_base = 5e5,
              .usual_head_dim = 128},
    ModelType{.name = "persimmon", .positions = rotary, .reads = rope | partial_rope, .usual_share = 0.5},
    ModelType{.name = "phi", .positions = rotary, .reads = llama | partial_rope, .usual_share = 0.5},
    ModelType{.name = "phi3", .positions = rotary, .reads = windowed | partial_rope},
    ModelType{.name = "phi4_multimodal",
              .positions = rotary,
              .reads = windowed | partial_rope,
              .own_settings = "audio_config"},
    ModelType{.name = "phimoe", .positions = rotary, .reads = windowed, .usual_base = 1e6},
    ModelType{.name = "qwen2",
              .positions = rotary,
              .reads = windowed | window_switch | window_by_default,
              .usual_heads = 32,
              .usual_kv_heads = 32},
    ModelType{
        .name = "qwen2_5_omni_talker",
        .positions = rotary,
        .reads = windowed | window_switch | rope_sections,
        .usual_base = 1e6,
        .usual_head_dim = 128,
        .own_settings =
            "audio_token_index video_token_index tts_text_start_token_id tts_text_end_token_id "
            "tts_text_pad_token_id tts_codec_start_token_id tts_codec_end_token_id tts_codec_pad_token_id "
            "tts_codec_mask_token_id vision_start_token_id vision_end_token_id position_id_per_seconds "
            "seconds_per_chunk audio_start_token_id audio_end_token_id spatial_merge_size"},
    ModelType{.name = "qwen2_5_omni_text",
              .positions = rotary,
              .reads = windowed | window_switch | rope_sections,
              .usual_base = 1e6},
    qwen2_vl("qwen2_5_vl", picture_tokens),
    qwen2_vl("qwen2_5_vl_text"),
    ModelType{.name = "qwen2_moe", .positions = rotary, .reads = windowed | window_switch | window_by_default},
    qwen2_vl("qwen2_vl", picture_tokens),
    qwen2_vl("qwen2_vl_text"),
    ModelType{.name = "qwen3",
              .positions = rotary,
              .reads = windowed | window_switch | window_by_default,
              .usual_head_dim = 128},
    ModelType{.name = "qwen3_moe", .positions = rotary, .reads = windowed | window_switch | window_by_default},
    ModelType{.name = "seed_oss", .positions = rotary, .reads = llama, .usual_head_dim = 128},
    ModelType{
        .name = "smollm3", .positions = rotary, .reads = windowed | window_switch | no_rope, .usual_base = 2e6},
    ModelType{.name = "solar_open",
              .positions = rotary,
              .reads = llama | partial_rope,
              .usual_base = 1e6,
              .usual_head_dim = 128,
              .own_settings = expert_settings},
    ModelType{.name = "stablelm", .positions = rotary, .reads = rope | partial_rope, .usual_share = 0.25},
    ModelType{.name = "starcoder2", .positions = rotary, .reads = windowed},
};

}  // namespace

std::span<const ModelType> decoder_types() {
  return types;
}

}  // namespace headwise
