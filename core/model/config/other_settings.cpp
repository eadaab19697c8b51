#include "core/model/config/other_settings.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

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

}  // namespace

bool is_setting_of_other_parts(std::string_view key) {
  return std::ranges::binary_search(settings, key);
}

}  // namespace headwise
