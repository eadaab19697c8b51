#include <array>

#include "core/model/config/model_type_tables.h"

namespace headwise {
namespace {

using enum Sees;
using enum InnerPositions;
using namespace reads;

constexpr unsigned bert = reads::is_decoder | position_type;

// Settings of the convolutions before the first layer, of training and of the outputs after the last one.
constexpr std::string_view wav2vec2_settings =
    "feat_proj_dropout final_dropout feat_extract_norm feat_extract_activation conv_dim "
    "conv_stride conv_kernel conv_bias num_conv_pos_embeddings num_conv_pos_embedding_groups "
    "num_feat_extract_layers do_stable_layer_norm feat_quantizer_dropout ctc_loss_reduction "
    "ctc_zero_infinity "
    "codevector_dim num_codevectors_per_group num_codevector_groups contrastive_logits_temperature "
    "num_negatives "
    "proj_codevector_dim diversity_loss_weight tdnn_dim tdnn_kernel tdnn_dilation "
    "xvector_output_dim add_adapter adapter_kernel_size adapter_stride num_adapter_layers "
    "output_hidden_size adapter_attn_dim hidden_dropout activation_dropout feat_proj_layer_norm "
    "conv_pos_batch_norm conv_pos_kernel_size squeeze_factor num_ctc_classes replace_prob "
    "num_clusters num_classes vocab_size ";

constexpr std::array types{
    // Encoders, and vision models, that see every token.
    ModelType{.name = "aimv2_vision_model", .sees = all_tokens, .own_settings = "use_head is_native"},
    ModelType{.name = "albert",
              .sees = past_if_is_decoder,
              .reads = bert,
              .own_settings = "num_hidden_groups inner_group_num down_scale_factor gap_size "
                              "net_structure_type num_memory_blocks classifier_dropout_prob"},
    ModelType{.name = "align_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "altclip_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "altclip_vision_model", .sees = all_tokens},
    ModelType{.name = "audio-spectrogram-transformer", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "beit", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "bert", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "bert-generation", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "big_bird",
              .sees = past_if_is_decoder,
              .reads = bert | block_sparse,
              .own_settings = "block_size num_random_blocks rescale_embeddings"},
    ModelType{.name = "blip_2_qformer",
              .sees = all_tokens,
              .own_settings = "cross_attention_frequency encoder_hidden_size use_qformer_text_input"},
    ModelType{.name = "bridgetower_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "camembert", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "chinese_clip_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "chinese_clip_vision_model", .sees = all_tokens},
    ModelType{.name = "clap_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "clip_vision_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "clipseg_vision_model", .sees = all_tokens},
    ModelType{.name = "data2vec-audio", .sees = all_tokens, .own_settings = wav2vec2_settings},
    ModelType{.name = "data2vec-text", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "data2vec-vision", .sees = all_tokens},
    ModelType{.name = "deit", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "dinov2", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "dinov2_with_registers", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "distilbert", .sees = all_tokens},
    ModelType{.name = "dpr", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "dpt", .sees = all_tokens},
    ModelType{.name = "electra", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "ernie", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "esm", .sees = past_if_is_decoder, .positions = as_position_type, .reads = bert | rope},
    ModelType{.name = "flava_image_model", .sees = all_tokens},
    ModelType{.name = "flava_multimodal_model", .sees = all_tokens},
    ModelType{.name = "flava_text_model", .sees = all_tokens},
    ModelType{.name = "git_vision_model", .sees = all_tokens},
    ModelType{.name = "hubert", .sees = all_tokens, .own_settings = wav2vec2_settings},
    ModelType{.name = "idefics2_vision", .sees = all_tokens},
    ModelType{.name = "idefics3_vision", .sees = all_tokens},
    ModelType{.name = "ijepa", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "instructblip_qformer",
              .sees = all_tokens,
              .own_settings = "cross_attention_frequency encoder_hidden_size"},
    ModelType{.name = "instructblipvideo_qformer",
              .sees = all_tokens,
              .own_settings = "cross_attention_frequency encoder_hidden_size"},
    ModelType{.name = "kosmos_2_vision_model", .sees = all_tokens},
    ModelType{.name = "layoutlm", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "markuplm", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "megatron-bert", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "metaclip_2_vision_model", .sees = all_tokens},
    ModelType{.name = "mgp-str",
              .sees = all_tokens,
              .own_settings = "max_token_length num_character_labels num_bpe_labels num_wordpiece_labels "
                              "output_a3_attentions distilled attn_drop_rate drop_rate"},
    ModelType{.name = "mobilevit",
              .sees = all_tokens,
              .own_settings = "hidden_sizes expand_ratio output_stride aspp_out_channels atrous_rates "
                              "aspp_dropout_prob conv_kernel_size classifier_dropout_prob"},
    ModelType{.name = "owlv2_vision_model", .sees = all_tokens},
    ModelType{.name = "owlvit_vision_model", .sees = all_tokens},
    ModelType{.name = "phi4_multimodal_vision",
              .sees = all_tokens,
              .reads = head_dim,
              .own_settings = "crop_size feature_layer"},
    ModelType{.name = "pixio", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "radio",
              .sees = all_tokens,
              .reads = head_dim,
              .own_settings = "max_img_size num_cls_tokens num_registers video_temporal_patch_size patch_dim "
                              "video_patch_dim summary_idxs norm_mean norm_std"},
    ModelType{.name = "rembert",
              .sees = past_if_is_decoder,
              .reads = bert,
              .own_settings = "input_embedding_size output_embedding_size classifier_dropout_prob"},
    ModelType{.name = "roberta", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "roberta-prelayernorm", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "roc_bert",
              .sees = past_if_is_decoder,
              .reads = bert,
              .own_settings = "enable_pronunciation enable_shape pronunciation_embed_dim "
                              "pronunciation_vocab_size shape_embed_dim shape_vocab_size concat_input"},
    ModelType{.name = "sew", .sees = all_tokens, .own_settings = wav2vec2_settings},
    ModelType{.name = "siglip2_text_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "siglip_text_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "siglip_vision_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "smolvlm_vision", .sees = all_tokens},
    ModelType{.name = "splinter", .sees = all_tokens, .own_settings = "question_token_id"},
    ModelType{.name = "tapas",
              .sees = all_tokens,
              .own_settings =
                  "type_vocab_sizes positive_label_weight num_aggregation_labels aggregation_loss_weight "
                  "use_answer_as_supervision answer_loss_importance use_normalized_answer_loss "
                  "huber_loss_delta aggregation_temperature use_gumbel_for_cells use_gumbel_for_aggregation "
                  "average_approximation_function cell_selection_preference answer_loss_cutoff max_num_rows "
                  "max_num_columns average_logits_per_cell select_one_column allow_empty_column_selection "
                  "init_cell_selection_weights_to_zero reset_position_index_per_cell disable_per_token_loss "
                  "aggregation_labels no_aggregation_label_index"},
    ModelType{
        .name = "tipsv2_text_model", .sees = all_tokens, .own_settings = "scale_sqrt_depth pooling_epsilon"},
    ModelType{.name = "tipsv2_vision_model", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "unispeech", .sees = all_tokens, .own_settings = wav2vec2_settings},
    ModelType{.name = "unispeech-sat", .sees = all_tokens, .own_settings = wav2vec2_settings},
    ModelType{.name = "vilt",
              .sees = all_tokens,
              .own_settings = "modality_type_vocab_size max_image_length num_images"},
    ModelType{.name = "visual_bert",
              .sees = all_tokens,
              .own_settings = "visual_embedding_dim bypass_transformer special_visual_initialize"},
    ModelType{.name = "vit", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "vit_mae", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "vit_msn", .sees = all_tokens, .reads = head_dim},
    ModelType{.name = "vivit", .sees = all_tokens, .reads = head_dim, .own_settings = "num_frames tubelet_size"},
    ModelType{.name = "wav2vec2", .sees = all_tokens, .own_settings = wav2vec2_settings},
    ModelType{.name = "xlm-roberta", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "xlm-roberta-xl", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "xmod",
              .sees = past_if_is_decoder,
              .reads = bert,
              .own_settings = "pre_norm adapter_reduction_factor adapter_layer_norm adapter_reuse_layer_norm "
                              "ln_before_adapter languages default_language"},
    ModelType{.name = "yolos", .sees = all_tokens},
    // Encoder-decoder models.
    ModelType{.name = "bart", .sees = past_in_decoder},
    ModelType{.name = "bigbird_pegasus",
              .sees = past_in_decoder,
              .reads = block_sparse,
              .own_settings = "block_size num_random_blocks"},
    ModelType{.name = "blenderbot", .sees = past_in_decoder},
    ModelType{.name = "blenderbot-small", .sees = past_in_decoder},
    ModelType{
        .name = "led",
        .sees = past_in_decoder,
        .own_settings = "attention_window max_encoder_position_embeddings max_decoder_position_embeddings"},
    ModelType{.name = "m2m_100", .sees = past_in_decoder},
    ModelType{.name = "marian", .sees = past_in_decoder},
    ModelType{.name = "mbart", .sees = past_in_decoder},
    ModelType{
        .name = "mt5", .sees = past_in_decoder, .positions = relative, .reads = head_dim, .usual_head_dim = 64},
    ModelType{.name = "mvp", .sees = past_in_decoder, .own_settings = "prompt_length prompt_mid_dim"},
    ModelType{.name = "nllb-moe",
              .sees = past_in_decoder,
              .own_settings =
                  "router_bias router_dtype router_ignore_padding_tokens expert_capacity encoder_sparse_step "
                  "router_z_loss_coef second_expert_policy normalize_router_prob_before_dropping "
                  "batch_prioritized_routing moe_eval_capacity_token_fraction moe_token_dropout"},
    ModelType{.name = "pegasus", .sees = past_in_decoder},
    ModelType{.name = "plbart", .sees = past_in_decoder},
    ModelType{.name = "speech_to_text", .sees = past_in_decoder},
    ModelType{
        .name = "switch_transformers",
        .sees = past_in_decoder,
        .positions = relative,
        .reads = head_dim,
        .usual_head_dim = 64,
        .own_settings =
            "expert_capacity num_sparse_encoder_layers num_sparse_decoder_layers encoder_sparse_step "
            "router_bias router_dtype router_ignore_padding_tokens router_z_loss_coef add_router_probs"},
    ModelType{
        .name = "t5", .sees = past_in_decoder, .positions = relative, .reads = head_dim, .usual_head_dim = 64},
    ModelType{
        .name = "time_series_transformer",
        .sees = past_in_decoder,
        .own_settings =
            "prediction_length context_length distribution_output loss input_size lags_sequence scaling "
            "num_dynamic_real_features num_static_categorical_features num_static_real_features "
            "num_time_features cardinality embedding_dimension num_parallel_samples feature_size"},
    ModelType{.name = "udop",
              .sees = past_in_decoder,
              .positions = relative,
              .reads = head_dim,
              .usual_head_dim = 64,
              .own_settings = "relative_bias_args"},
    ModelType{
        .name = "umt5", .sees = past_in_decoder, .positions = relative, .reads = head_dim, .usual_head_dim = 64},
    ModelType{.name = "whisper", .sees = past_in_decoder},
};

}  // namespace

std::span<const ModelType> encoder_types() {
  return types;
}

}  // namespace headwise
