"""The models of layers/: (name of the folder, model_type, settings). Sizes as small as a family allows; windows are shorter than a text."""
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LLAMA = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 99, "max_position_embeddings": 32, **TOKENS}
WIDE = {**LLAMA, "head_dim": 8}  # heads that are wider than E/H
BERT = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99,
        "max_position_embeddings": 32, **TOKENS}
GPT2 = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 32, "vocab_size": 99, "bos_token_id": 1, "eos_token_id": 2}
BART = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "vocab_size": 99, "max_position_embeddings": 32, **TOKENS,
        "decoder_start_token_id": 2, "forced_eos_token_id": 2}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2, "vocab_size": 99, **TOKENS,
      "decoder_start_token_id": 0}
CLIP_TEXT = {**BERT, "projection_dim": 16}
CLIP_VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16,
               "patch_size": 8, "projection_dim": 16}
ROPE = {"rope_theta": 10000.0}
YARN = {**ROPE, "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}
TURNS = ["sliding_attention", "full_attention"]
FALCON = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99, "max_position_embeddings": 32, **TOKENS}
MOE = {"moe_intermediate_size": 8, "num_experts": 2, "num_experts_per_tok": 1, "num_local_experts": 2}
LLAMA4 = {**WIDE, **MOE, "intermediate_size_mlp": 16}
LATENT = {**LLAMA, "num_key_value_heads": 4, "q_lora_rank": 6, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 5}
DEEPSEEK = {**LATENT, **MOE, "n_routed_experts": 2, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 2}
INDEXER = {"index_topk": 3, "index_n_heads": 2, "index_head_dim": 6, "mlp_layer_types": ["dense"] * 2}


def rope(**way):
    return {"rope_parameters": {**ROPE, **way}}


CASES = [
    ("bert", "bert", BERT), ("bert_decoder", "bert", {**BERT, "is_decoder": True}),
    ("bert_cross", "bert", {**BERT, "is_decoder": True, "add_cross_attention": True}),
    ("roberta", "roberta", {**BERT, "max_position_embeddings": 36}), ("electra", "electra", {**BERT, "embedding_size": 8}),
    ("distilbert", "distilbert", {"dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 16, "vocab_size": 99, "max_position_embeddings": 32}),
    ("esm_absolute", "esm", {**BERT, "vocab_size": 99, "mask_token_id": 98, "position_embedding_type": "absolute"}),
    ("esm_rotary", "esm", {**BERT, "vocab_size": 99, "mask_token_id": 98, "position_embedding_type": "rotary"}),
    ("albert", "albert", {**BERT, "embedding_size": 8}), ("big_bird", "big_bird", {**BERT, "block_size": 2, "num_random_blocks": 1}),
    ("xlm_roberta_xl", "xlm-roberta-xl", {**BERT, "max_position_embeddings": 36}),
    ("wav2vec2", "wav2vec2", {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "conv_dim": [8], "vocab_size": 32,
                              "conv_stride": [300], "conv_kernel": [400], "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}),
    ("vit", "vit", {**CLIP_VISION, "num_hidden_layers": 2}),
    ("swin", "swin", {"image_size": 16, "patch_size": 4, "window_size": 2, "depths": [2], "num_heads": [2], "embed_dim": 16}),
    ("gpt2", "gpt2", GPT2), ("gpt2_no_scale", "gpt2", {**GPT2, "scale_attn_weights": False}),
    ("gpt2_scale_by_layer", "gpt2", {**GPT2, "scale_attn_by_inverse_layer_idx": True}),
    ("gpt2_cross", "gpt2", {**GPT2, "add_cross_attention": True}),
    ("gpt_bigcode", "gpt_bigcode", GPT2), ("gptj", "gptj", {**GPT2, "rotary_dim": 2}),
    ("gpt_neo", "gpt_neo", {"hidden_size": 16, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]],
                            "window_size": 3, "vocab_size": 99, "max_position_embeddings": 32, "intermediate_size": 16}),
    ("llama", "llama", LLAMA), ("llama_wide_heads", "llama", WIDE), ("llama_biases", "llama", {**LLAMA, "attention_bias": True}),
    ("llama_linear", "llama", {**LLAMA, **rope(rope_type="linear", factor=4.0)}),
    ("llama_dynamic", "llama", {**LLAMA, **rope(rope_type="dynamic", factor=4.0)}),
    ("llama_llama3", "llama", {**LLAMA, **rope(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                               original_max_position_embeddings=16)}),
    ("llama_yarn", "llama", {**WIDE, "rope_parameters": YARN}),
    ("mistral", "mistral", {**LLAMA, "sliding_window": None}), ("mistral_window", "mistral", {**LLAMA, "sliding_window": 3}),
    ("mixtral", "mixtral", {**LLAMA, **MOE}),
    ("qwen2", "qwen2", LLAMA),
    ("qwen2_window", "qwen2", {**LLAMA, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
    ("qwen2_vl_text", "qwen2_vl_text", {**LLAMA, **rope(rope_type="default", mrope_section=[1, 1, 0])}),
    ("ernie4_5", "ernie4_5", WIDE),
    ("qwen3", "qwen3", WIDE), ("qwen3_moe", "qwen3_moe", {**WIDE, **MOE}),
    ("gemma", "gemma", WIDE),
    ("gemma2", "gemma2", {**WIDE, "query_pre_attn_scalar": 40, "attn_logit_softcapping": 2.0, "sliding_window": 3}),
    ("gemma3_text", "gemma3_text", {**WIDE, "query_pre_attn_scalar": 40, "sliding_window": 3, "layer_types": TURNS}),
    ("gemma3", "gemma3", {"text_config": {**WIDE, "sliding_window": 3, "layer_types": TURNS, "model_type": "gemma3_text"}, "mm_tokens_per_image": 4,
                          "vision_config": {**CLIP_VISION, "model_type": "siglip_vision_model"}, "image_token_index": 90, "boi_token_index": 91,
                          "eoi_token_index": 92}),
    ("granite", "granite", {**LLAMA, "attention_multiplier": 0.37}),
    ("olmo", "olmo", LLAMA), ("olmo_clip", "olmo", {**LLAMA, "clip_qkv": 0.4}), ("olmo2", "olmo2", LLAMA),
    ("stablelm", "stablelm", LLAMA), ("stablelm_norms", "stablelm", {**LLAMA, "qk_layernorm": True, "use_qkv_bias": True}),
    ("cohere", "cohere", LLAMA), ("cohere_norms", "cohere", {**LLAMA, "use_qk_norm": True}),
    ("cohere2", "cohere2", {**LLAMA, "sliding_window": 3, "layer_types": TURNS}),
    ("exaone4", "exaone4", {**LLAMA, "sliding_window": 3, "layer_types": TURNS}),
    ("llama4_text", "llama4_text", {**LLAMA4, "no_rope_layers": [1, 0]}),
    ("gpt_oss", "gpt_oss", {**WIDE, **MOE, "sliding_window": 3, "layer_types": TURNS, "rope_parameters": {**YARN, "truncate": False}}),
    ("glm", "glm", WIDE), ("glm4", "glm4", WIDE), ("helium", "helium", {**LLAMA, "head_dim": 4}),
    ("phi", "phi", LLAMA), ("phi3", "phi3", LLAMA),
    ("phi3_window", "phi3", {**LLAMA, "sliding_window": 3}),
    ("phi3_longrope", "phi3", {**LLAMA, "original_max_position_embeddings": 16,
                               **rope(rope_type="longrope", short_factor=[1.0, 1.5], long_factor=[2.0, 5.0], partial_rotary_factor=1.0,
                                      original_max_position_embeddings=16)}),
    ("smollm3", "smollm3", {**LLAMA, "no_rope_layers": [1, 0]}),
    ("llama4_without_norm", "llama4_text", {**LLAMA4, "use_qk_norm": False, "no_rope_layers": [1, 1]}),
    ("llama4_chunks", "llama4_text", {**LLAMA4, "no_rope_layers": [1, 0], "attention_chunk_size": 3, "floor_scale": 4, "attn_scale": 0.5}),
    ("nanochat", "nanochat", WIDE), ("olmo3_wide", "olmo3", {**WIDE, "sliding_window": 3, "layer_types": TURNS}),
    ("step3p5", "step3p5", {**WIDE, **MOE, "sliding_window": 3, "layer_types": TURNS, "num_sliding_attention_heads": 2,
                            "rope_parameters": {"full_attention": {**ROPE, "rope_type": "default", "partial_rotary_factor": 0.5},
                                                "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}}}),
    ("starcoder2", "starcoder2", {**LLAMA, "sliding_window": 3}), ("nemotron", "nemotron", WIDE),
    ("persimmon", "persimmon", {k: v for k, v in LLAMA.items() if k != "num_key_value_heads"}),
    ("diffllama", "diffllama", LLAMA), ("ministral", "ministral", {**WIDE, "sliding_window": 3, "layer_types": TURNS}),
    ("deepseek_v3", "deepseek_v3", {**DEEPSEEK, "q_lora_rank": None}),
    ("deepseek_v3_yarn", "deepseek_v3", {**DEEPSEEK, "rope_interleave": False, "attention_bias": True,
                                         **rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=8, mscale=1.0, mscale_all_dim=0.7)}),
    ("deepseek_v2", "deepseek_v2", DEEPSEEK), ("minicpm3", "minicpm3", LATENT),
    ("kimi_linear_full", "kimi_linear", {**LATENT, "layer_types": ["full_attention"] * 2, "mlp_layer_types": ["dense"] * 2}),
    ("deepseek_v32", "deepseek_v32", {**DEEPSEEK, **INDEXER}), ("glm_moe_dsa_shared", "glm_moe_dsa", {**DEEPSEEK, **INDEXER, "indexer_types": ["full", "shared"]}),
    ("qwen3_next", "qwen3_next", {**WIDE, **MOE, "layer_types": ["full_attention"] * 2, "shared_expert_intermediate_size": 8}),
    ("clip_text", "clip_text_model", CLIP_TEXT), ("clip_vision", "clip_vision_model", {**CLIP_VISION, "num_hidden_layers": 2}),
    ("clip", "clip", {"text_config": CLIP_TEXT, "vision_config": CLIP_VISION, "projection_dim": 16}),
    ("video_llava", "video_llava", {"text_config": {**LLAMA, "model_type": "llama"}, "vision_config": {**CLIP_VISION, "model_type": "clip_vision_model"},
                                   "image_token_index": 80, "video_token_index": 81}),
    ("siglip_vision", "siglip_vision_model", CLIP_VISION),
    ("opt", "opt", {"hidden_size": 16, "ffn_dim": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99,
                    "max_position_embeddings": 32, "word_embed_proj_dim": 16, **TOKENS}),
    ("xglm", "xglm", {"d_model": 16, "ffn_dim": 16, "num_layers": 2, "attention_heads": 4, "vocab_size": 99, "max_position_embeddings": 32, **TOKENS}),
    ("bart", "bart", BART), ("marian", "marian", BART),
    ("whisper", "whisper", {**BART, "num_mel_bins": 8, "max_source_positions": 6, "max_target_positions": 8, "suppress_tokens": None,
                            "begin_suppress_tokens": None}),
    ("t5", "t5", T5),
    ("bloom", "bloom", {"hidden_size": 16, "n_layer": 2, "n_head": 4, "vocab_size": 99, **TOKENS}),
    ("bloom_three_heads", "bloom", {"hidden_size": 12, "n_layer": 2, "n_head": 3, "vocab_size": 99, **TOKENS}),
    ("gpt_neox", "gpt_neox", {**BERT, "num_attention_heads": 2}),
    ("gpt_neox_whole_head", "gpt_neox", {**BERT, **rope(rope_type="default", partial_rotary_factor=1.0)}),
    ("falcon_rw", "falcon", {**FALCON, "alibi": True, "multi_query": False, "parallel_attn": False, "bias": True}),
    ("falcon_many_heads", "falcon", {**FALCON, "multi_query": False}),
    ("falcon_7b", "falcon", FALCON), ("falcon_40b", "falcon", {**FALCON, "new_decoder_architecture": True, "num_kv_heads": 2}),
]
