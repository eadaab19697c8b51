"""What single families need beyond what the names of their fields say: values over those of small_models."""
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
# Three-part positions: a head of 16 has 8 pairs.
MROPE = {"rope_parameters": {**ROPE, "mrope_section": [2, 3, 3]}}
MROPE_HALF = {"rope_parameters": {**ROPE, "partial_rotary_factor": 0.5, "mrope_section": [1, 1, 2]}}
HEAD_DIM = {"head_dim": 16}

SPECIAL = {
    "swin": {"image_size": 32, "patch_size": 4, "window_size": 4, "depths": [2, 2], "num_heads": [2, 4], "embed_dim": 16},
    "donut-swin": {"image_size": 32, "patch_size": 4, "window_size": 4, "depths": [2, 2], "num_heads": [2, 4], "embed_dim": 16},
    "swinv2": {"image_size": 32, "patch_size": 4, "window_size": 4, "depths": [2, 2], "num_heads": [2, 4], "embed_dim": 16},
    "maskformer-swin": {"image_size": 32, "patch_size": 4, "window_size": 4, "depths": [2, 2], "num_heads": [2, 4], "embed_dim": 16},
    "gpt_neo": {"num_layers": 4, "attention_types": [[["global", "local"], 2]], "window_size": 4},
    "esm": {"vocab_size": 33, "mask_token_id": 32, "pad_token_id": 1, "intermediate_size": 64},
    "lilt": {"channel_shrink_ratio": 4, "hidden_size": 96, "num_attention_heads": 4, "max_2d_position_embeddings": 64},
    "gemma3n_text": {"num_hidden_layers": 4, "num_kv_shared_layers": 0, "layer_types": ["sliding_attention", "full_attention"] * 2,
                     "activation_sparsity_pattern": [0.0] * 4, "intermediate_size": 64},
    "granite_speech5_encoder": {"context_size": 8}, "dab-detr": {"query_dim": 4},
    "autoformer": {"prediction_length": 4, "context_length": 16, "lags_sequence": [1, 2]},
    "informer": {"prediction_length": 4, "context_length": 16, "lags_sequence": [1, 2]},
    "time_series_transformer": {"prediction_length": 4, "context_length": 16, "lags_sequence": [1, 2]},
    "step3p5": {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2, "sliding_window": 3},
    "hunyuan_v1_dense": HEAD_DIM, "hunyuan_v1_moe": HEAD_DIM, "ministral": HEAD_DIM, "nemotron": {**HEAD_DIM, "num_key_value_heads": 2},
    "hunyuan_vl_text": {**HEAD_DIM, "rope_parameters": {**ROPE, "mrope_section": [2, 2, 2, 2]}},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2, "num_hidden_layers": 4},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"], "num_hidden_layers": 2, "mamba_n_heads": 8, "mamba_d_head": 16},
    "nemotron_h": {"layers_block_type": ["mamba", "attention", "mlp", "attention"], "mamba_num_heads": 8, "mamba_head_dim": 16, "n_groups": 2},
    "bamba": {"attn_layer_indices": [1], "mamba_n_heads": 8, "mamba_d_head": 16}, "falcon_h1": {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_ssm": 128},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "num_hidden_layers": 2},
    "glm5_next_text": {"num_key_value_heads": 4, "head_dim": 0, "qk_rope_head_dim": 0},
    "gemma4_text": {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2, "hidden_size_per_layer_input": 8},
    "dbrx": {"attn_config": {"rope_theta": 10000.0, "kv_n_heads": 2, "clip_qkv": 8.0}}, "chameleon": {"vocabulary_map": {"<image>": 80}},
    "cohere_compass_text": {"rope_parameters": {"full_attention": dict(ROPE)}},
    "dots1": {"moe_intermediate_size": 32, "n_routed_experts": 4, "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "num_experts_per_tok": 2},
    "ernie4_5_vl_moe_text": {"moe_intermediate_size": [32, 32], "rope_parameters": {**ROPE, "mrope_section": [3, 3, 2]}},
    "blt": {"encoder_hash_byte_group_vocab": 500}, "reformer": {"axial_pos_embds_dim": [32, 32], "axial_pos_shape": [8, 8]},
    "xmod": {"default_language": "en_XX"}, "mamba2": {"num_heads": 8, "head_dim": 16}, "xlstm": {"num_heads": 4},
    "patchtst": {"context_length": 32}, "patchtsmixer": {"context_length": 32}, "tvp": {},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 32, **MROPE},
"emu3_vqgan": {"base_channels": 32, "channel_multiplier": [1, 1], "attn_resolutions": []},
    "perceiver": {"num_latents": 8, "d_latents": 64, "d_model": 64, "image_size": 32},
    "bros": {},
    "moonshine_streaming": {"num_key_value_heads": 4},
    "clvp_encoder": {"use_rotary_embedding": False},
    **{name: MROPE for name in ("qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text", "qwen2_5_omni_talker", "qwen3_vl_text", "qwen3_vl_moe_text",
                                "paddleocr_vl_text", "qwen3_omni_moe_text")},
    **{name: MROPE_HALF for name in ("glm4v_moe_text",)},
    **{name: MROPE for name in ("glm4v_text", "glm_image_text", "glm_ocr_text")},
}
