#include "core/model/config/attention_settings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include <fmt/format.h>

#include "core/files/strict_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// The settings of config.json that do not change attention: those of other parts of a model, of training, of generation, and of the
// program that wrote the file. Based on the configurations of Hugging Face's transformers 4.49 and 5.23.

// clang-format off
constexpr std::array<std::string_view, 338> settings{
    "act_dim", "activation", "activation_dropout", "activation_function", "add_bias_logits",
    "add_cross_attention", "add_final_layer_norm", "add_fpn", "add_projection", "afn", "apply_layernorm",
    "apply_residual_connection_post_layernorm", "apply_spec_augment", "architectures", "attention_bias",
    "attention_dropout", "attention_heads", "attention_out_bias", "attention_probs_dropout_prob",
    "attention_softmax_in_fp32", "attn_implementation", "attn_pdrop", "auto_map", "auxiliary_channels",
    "auxiliary_concat_input", "auxiliary_loss", "auxiliary_loss_weight", "auxiliary_num_convs", "backbone",
    "backbone_config", "backbone_featmap_shape", "backbone_hidden_size", "backbone_kwargs",
    "backbone_out_indices", "bad_words_ids", "bbox_cost", "bbox_loss_coefficient", "begin_suppress_tokens",
    "bias", "bos_token_id", "chunk_size_feed_forward", "class_cost", "classif_dropout", "classifier_dropout",
    "classifier_proj_size", "conv_channels", "conv_kernel_sizes", "cross_attention_hidden_size", "d_ff",
    "d_kv", "d_model", "decoder", "decoder_attention_heads", "decoder_ffn_dim", "decoder_hidden_size",
    "decoder_intermediate_size", "decoder_layerdrop", "decoder_layers", "decoder_num_attention_heads",
    "decoder_num_hidden_layers", "decoder_sparse_step", "decoder_start_token_id", "decoder_vocab_size",
    "dense_act_fn", "dim", "directionality", "diversity_penalty", "do_layer_norm_before", "do_sample",
    "drop_path_rate", "dropout", "dropout_rate", "dtype", "early_stopping", "emb_layer_norm_before",
    "embd_pdrop", "embedding_dropout", "embedding_multiplier", "embedding_size", "enable_bias", "encoder",
    "encoder_attention_heads", "encoder_ffn_dim", "encoder_layerdrop", "encoder_layers",
    "encoder_no_repeat_ngram_size", "encoder_stride", "eos_coefficient", "eos_token_id", "esmfold_config",
    "exponential_decay_length_penalty", "extra_pos_embeddings", "feed_forward_proj", "ffn_dim",
    "ffn_hidden_size", "final_logit_softcapping", "finetuning_task", "force_bos_token_to_be_generated",
    "forced_bos_token_id", "forced_eos_token_id", "frequency_stride", "fusion_hidden_size", "giou_cost",
    "giou_loss_coefficient", "gradient_checkpointing", "head_dim", "head_in_index", "hidden_act",
    "hidden_activation", "hidden_dim", "hidden_dropout", "hidden_dropout_prob", "hidden_size", "id2label",
    "ignore_index", "image_seq_length", "image_size", "image_token_id", "image_token_index", "init_std",
    "initializer_factor", "initializer_range", "input_channels", "input_feat_per_channel",
    "input_jitter_noise", "intermediate_size", "is_encoder_decoder", "is_folding_model", "is_gated_act",
    "is_hybrid", "label2id", "language", "layer_norm_elementwise_affine", "layer_norm_eps",
    "layer_norm_epsilon", "layer_scale_init_value", "layerdrop", "layernorm_embedding", "layerscale_value",
    "length_penalty", "lm_head_bias", "logit_scale", "logit_scale_init_value", "logits_scaling",
    "mask_feature_length", "mask_feature_min_masks", "mask_feature_prob", "mask_ratio", "mask_time_length",
    "mask_time_min_masks", "mask_time_prob", "mask_token", "mask_token_id", "max_2d_position_embeddings",
    "max_depth", "max_length", "max_position_embeddings", "max_source_positions", "max_target_positions",
    "max_xpath_subs_unit_embeddings", "max_xpath_tag_unit_embeddings", "median_filter_width", "min_length",
    "mlp_bias", "mlp_only_layers", "mlp_ratio", "model_max_length", "model_type", "moe_intermediate_size",
    "moe_num_experts", "moe_num_shared_experts", "moe_topk", "multimodal_projector_bias", "n_cls_tokens",
    "n_ctx", "n_embd", "n_head", "n_heads", "n_inner", "n_layer", "n_layers", "n_positions", "name_or_path",
    "neck_hidden_sizes", "neck_ignore_stages", "no_repeat_ngram_size", "norm_eps", "norm_epsilon",
    "norm_pix_loss", "norm_topk_prob", "normalize_before", "normalize_embedding", "num_attention_heads",
    "num_beam_groups", "num_beams", "num_channels", "num_codebooks", "num_conv_layers", "num_decoder_layers",
    "num_detection_tokens", "num_experts", "num_experts_per_tok", "num_heads", "num_hidden_layers",
    "num_image_tokens", "num_key_value_heads", "num_kv_heads", "num_labels", "num_layers",
    "num_ln_in_parallel_attn", "num_local_experts", "num_mel_bins", "num_register_tokens",
    "num_return_sequences", "original_max_position_embeddings", "out_features", "out_indices",
    "output_attentions", "output_hidden_states", "output_past", "output_router_logits", "output_scores",
    "pad_token_id", "parallel_attn", "patch_norm", "patch_size", "pool_scales", "pooler_act",
    "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_output_size",
    "pooler_size_per_head", "pooler_type", "prefix", "pretraining_tp", "problem_type", "project_dim",
    "projection_dim", "projection_hidden_act", "projection_size", "projector_hidden_act", "qa_dropout",
    "qkv_bias", "readout_type", "reassemble_factors", "relative_attention_max_distance",
    "relative_attention_num_buckets", "remove_invalid_values", "reorder_and_upcast_attn",
    "repetition_penalty", "reshape_hidden_states", "resid_pdrop", "residual_dropout", "residual_multiplier",
    "return_dict", "return_dict_in_generate", "rms_norm_eps", "rotary", "router_aux_loss_coef",
    "router_jitter_noise", "save_step", "scale_attention_softmax_in_fp32", "scale_decoder_outputs",
    "scale_embedding", "semantic_classifier_dropout", "semantic_loss_ignore_index", "sep_token_id",
    "seq_classif_dropout", "seq_length", "share_encoder_decoder_embeddings",
    "shared_expert_intermediate_size", "shared_intermediate_size", "sinusoidal_pos_embds", "slow_but_exact",
    "stage_names", "static_position_embeddings", "subs_pad_id", "summary_activation", "summary_first_dropout",
    "summary_last_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj", "suppress_tokens",
    "swiglu_alpha", "swiglu_limit", "tag_pad_id", "task_specific_params", "task_type_vocab_size",
    "temperature", "text_config", "text_config_dict", "tf_legacy_loss", "tie_encoder_decoder",
    "tie_word_embeddings", "time_stride", "token_dropout", "tokenizer_class", "top_k", "top_p", "torch_dtype",
    "torchscript", "transformers_version", "type_vocab_size", "typical_p", "use_absolute_position_embeddings",
    "use_autobackbone", "use_auxiliary_head", "use_batch_norm_in_fusion_residual", "use_bfloat16", "use_bias",
    "use_bias_in_fusion_residual", "use_cache", "use_cls_token", "use_learned_position_embeddings",
    "use_mask_token", "use_mean_pooling", "use_mid_position_embeddings", "use_parallel_residual",
    "use_pooler", "use_post_norm", "use_pretrained_backbone", "use_qkv_bias", "use_return_dict",
    "use_swiglu_ffn", "use_task_id", "use_timm_backbone", "use_weighted_layer_sum", "vision_config",
    "vision_config_dict", "vision_feature_layer", "vision_feature_select_strategy", "vision_use_head",
    "vocab_list", "vocab_size", "word_embed_proj_dim", "xpath_unit_hidden_size",
};

// clang-format on
static_assert(std::ranges::is_sorted(settings));

bool is_setting_of_other_parts(std::string_view key) {
  return std::ranges::binary_search(settings, key);
}

using Json = nlohmann::json;
enum class Neutral { never, off, on, one, absolute_positions, full_layers, full_attention };

// An attention setting: `readers` take it into account, for all others any value but the neutral one (and null) changes what is computed.
struct AttentionSetting {
  std::string_view key;
  unsigned readers;  // of reads::
  Neutral neutral = Neutral::never;
};

using enum Neutral;
constexpr unsigned every_type = ~0U;

constexpr std::array attention_settings{
    AttentionSetting{"alibi", reads::falcon, off},
    AttentionSetting{"attention_chunk_size", 0},
    AttentionSetting{"attention_layers", reads::local_windows},
    AttentionSetting{"attention_multiplier", reads::multiplier | reads::written_multiplier},
    AttentionSetting{"attention_sink", 0, off},
    AttentionSetting{"attention_type", reads::block_sparse, full_attention},
    AttentionSetting{"attention_types", reads::local_windows},
    AttentionSetting{"attention_window", 0},
    AttentionSetting{"attn_logit_softcapping", reads::softcap, off},
    AttentionSetting{"attn_temperature_tuning", 0, off},
    AttentionSetting{"cache_implementation", reads::window},
    AttentionSetting{"clip_qkv", reads::clip},
    AttentionSetting{"is_causal", reads::causal_switch, on},
    AttentionSetting{"is_decoder", every_type},  // it changes nothing for types that do not read it
    AttentionSetting{"key_multiplier", 0, one},
    AttentionSetting{"kv_lora_rank", 0},
    AttentionSetting{"layer_types", reads::window, full_layers},
    AttentionSetting{"local_attention", 0},
    AttentionSetting{"max_window_layers", reads::window},
    AttentionSetting{"multi_query", reads::falcon | reads::multi_query, off},
    AttentionSetting{"new_decoder_architecture", reads::falcon, off},
    AttentionSetting{"no_rope_layer_interval", reads::no_rope},
    AttentionSetting{"no_rope_layers", reads::no_rope},
    AttentionSetting{"partial_rotary_factor", reads::rope},
    AttentionSetting{"position_embedding_type", reads::position_type, absolute_positions},
    AttentionSetting{"pruned_heads", reads::pruned_heads, off},
    AttentionSetting{"q_lora_rank", 0},
    AttentionSetting{"qk_layernorm", 0, off},
    AttentionSetting{"qk_norm", 0, off},
    AttentionSetting{"quantization_config", 0},
    AttentionSetting{"query_pre_attn_scalar", reads::query_scalar},
    AttentionSetting{"relative_attention", 0, off},
    AttentionSetting{"rope_local_base_freq", 0},
    AttentionSetting{"rope_parameters", reads::rope},
    AttentionSetting{"rope_scaling", reads::rope},
    AttentionSetting{"rope_theta", reads::rope},
    AttentionSetting{"rotary_dim", reads::rotary_dim},
    AttentionSetting{"rotary_emb_base", reads::rope},
    AttentionSetting{"rotary_pct", reads::rope},
    AttentionSetting{"scale_attn_by_inverse_layer_idx", reads::gpt2_scale, off},
    AttentionSetting{"scale_attn_weights", reads::gpt2_scale, on},
    AttentionSetting{"sliding_window", reads::window},
    AttentionSetting{"sliding_window_pattern", reads::rope_in_windows},
    AttentionSetting{"use_alibi", 0, off},
    AttentionSetting{"use_bidirectional_attention", 0, off},
    AttentionSetting{"use_prompt", 0, off},
    AttentionSetting{"use_qk_norm", 0, off},
    AttentionSetting{"use_relative_position_bias", 0, off},
    AttentionSetting{"use_shared_relative_position_bias", 0, off},
    AttentionSetting{"use_sliding_window", reads::window, off},
};

bool is_word(const Json& value, std::string_view word) {
  return value.is_string() && value.get_ref<const std::string&>() == word;
}

bool is_neutral(const Json& value, Neutral neutral) {
  if (value.is_null()) return true;
  switch (neutral) {
    case never:
      return false;
    case off:
      return (value.is_boolean() && !value.get<bool>()) ||
             (value.is_number() && value.get<double>() == 0.0) || (value.is_structured() && value.empty());
    case on:
      return value.is_boolean() && value.get<bool>();
    case one:
      return value.is_number() && value.get<double>() == 1.0;
    case full_attention:
      return is_word(value, "original_full");
    case absolute_positions:
      return is_word(value, "absolute");
    case full_layers:
      return value.is_array() &&
             std::ranges::all_of(value, [](const Json& kind) { return is_word(kind, "full_attention"); });
  }
  return false;
}

bool names_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> settings_not_computed(const Json& config, const ModelType* type, unsigned computed) {
  std::vector<std::string> told;
  for (auto at = config.begin(); at != config.end(); ++at) {
    const std::string& key = at.key();
    const Json& value = at.value();
    if (key.starts_with("_")) continue;  // internal to the program that wrote the file
    if (type && names_word(type->own_settings, key)) continue;
    const auto known = std::ranges::find(attention_settings, key, &AttentionSetting::key);
    const std::string setting =
        fmt::format("config.json: {} = {}", one_line(key, 60), json_as_written(value, 60));
    if (known != attention_settings.end()) {
      if (known->readers == every_type || is_neutral(value, known->neutral) ||
          ((type ? type->reads : computed) & known->readers) != 0)
        continue;
      told.push_back(type ? fmt::format("{} is ignored for the model type {}", setting, type->name)
                          : setting + " may change attention, but is not computed");
    } else if (type && !value.is_null() && !is_setting_of_other_parts(key)) {
      told.push_back(
          fmt::format("{} is not a known setting of {}: it may change attention", setting, type->name));
    }
  }
  return told;
}

}  // namespace headwise
