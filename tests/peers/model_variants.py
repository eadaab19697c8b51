"""Settings that change attention: for each family, what its configuration can say otherwise, one change at a time."""
import re

from small_models import HEAD_DIM, HEADS, REMOVE, fields_of, small_config_values

SWITCHES = re.compile(
    r"attention_bias|use_qk_norm|qk_norm|qk_layernorm|qkv_bias|use_qkv_bias|q_bias|use_bias|bias|enable_bias|scale_attn_weights"
    r"|scale_attn_by_inverse_layer_idx|reorder_and_upcast_attn|is_decoder|is_causal|causal|multi_query|alibi|new_decoder_architecture|parallel_attn"
    r"|use_bidirectional_attention|rope_interleave|attn_temperature_tuning|add_swa_attention_sink_bias|add_full_attention_sink_bias|use_alibi|rotary|use_rope"
    r"|use_rotary_embeddings?|attention_out_bias|attention_output_gate|use_gated_attention|gated_attention|use_head_wise_attn_gate|layernorm_qkv|attn_bias|use_relative_position_bias"
    r"|use_shared_relative_position_bias|use_absolute_position_embeddings|qk_ln|attention_k_eq_v|tie_qkv|cross_attention|use_attention_bias|kv_tied|use_mrope")
# Other values of settings that are numbers or words.
VALUES = {
    "attention_multiplier": {"0.37": 0.37, "1": 1.0}, "query_pre_attn_scalar": {"40": 40}, "attn_logit_softcapping": {"2": 2.0, "none": None},
    "clip_qkv": {"0.4": 0.4}, "sliding_window": {"3": 3, "none": None}, "attention_chunk_size": {"3": 3},
    "position_embedding_type": {"rotary": "rotary", "relative_key": "relative_key", "relative_key_query": "relative_key_query"},
    "rotary_dim": {"4": 4, "none": None}, "softmax_scale": {"0.3": 0.3}, "alibi_bias_max": {"4": 4},
    "local_attention": {"4": 4}, "window_size": {"3": 3}, "rope_theta": {"500": 500.0}, "partial_rotary_factor": {"0.25": 0.25},
    "attn_softcap": {"2": 2.0}, "attn_logit_softcap": {"2": 2.0}, "attention_scaling": {"0.4": 0.4}, "qk_scale": {"0.4": 0.4},
    "relative_attention_num_buckets": {"4": 4}, "relative_attention_max_distance": {"3": 3},
    "attention_value_scale": {"0.5": 0.5},
}
# Settings that a config.json may omit: the model then has its class's own, which a type has to know (usual_… in assets/models/types.txt).
LEFT_OUT = "defaults left out"
MAY_BE_LEFT_OUT = (
    "rope_parameters", "rope_theta", "rope_scaling", "rope_interleave", "partial_rotary_factor", "no_rope_layers", "no_rope_layer_interval",
    "sliding_window", "use_sliding_window", "sliding_window_pattern", "max_window_layers", "layer_types", "attention_chunk_size",
    "attn_temperature_tuning", "head_dim", "attention_multiplier", "query_pre_attn_scalar", "attn_logit_softcapping", "use_qk_norm",
    "qk_layernorm", "is_causal", "scale_attn_weights", "rotary_dim", "clip_qkv", "indexer_types", "relative_attention_num_buckets",
    "relative_attention_max_distance")
# Families whose rotary positions are tried in every way; the others have them in the same code.
EVERY_ROPE = {"llama", "qwen2", "phi3", "phi", "gpt_neox", "gemma", "olmo2", "cohere", "glm", "stablelm", "qwen3", "mistral", "granite", "olmo", "smollm3"}


def rope_ways(family):
    half = HEAD_DIM // 2
    base = {"rope_theta": 10000.0}
    if family in ("glm",):
        half //= 2
        base["partial_rotary_factor"] = 0.5
    if family in ("phi", "phi3", "gpt_neox", "stablelm"):
        base["partial_rotary_factor"] = 1.0
    yarn = {**base, "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    longrope = {**base, "rope_type": "longrope", "short_factor": [1.0 + 0.2 * i for i in range(half)],
                "long_factor": [2.0 + 0.7 * i for i in range(half)], "factor": 16.0}
    ways = {
        "base 500": {**base, "rope_type": "default", "rope_theta": 500.0},
        "a quarter of a head": {**base, "rope_type": "default", "partial_rotary_factor": 0.25},
        "half of a head": {**base, "rope_type": "default", "partial_rotary_factor": 0.5},
        "linear": {**base, "rope_type": "linear", "factor": 4.0},
        "dynamic, text shorter": {**base, "rope_type": "dynamic", "factor": 4.0},
        "llama3": {**base, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 16},
        "yarn": yarn, "yarn with mscale": {**yarn, "mscale": 1.0, "mscale_all_dim": 0.6},
        "yarn with attention_factor": {**yarn, "attention_factor": 1.3, "beta_fast": 16, "beta_slow": 2},
        "yarn not truncated": {**yarn, "truncate": False},
        "longrope, short": {**longrope, "original_max_position_embeddings": 32},
        "longrope, long": {**longrope, "original_max_position_embeddings": 4},
    }
    changes = {f"rope {name}": {"rope_parameters": way} for name, way in ways.items()}
    if family == "phi3":  # which knows longrope alone
        changes = {name: change for name, change in changes.items() if change["rope_parameters"]["rope_type"] in ("default", "longrope")}
        return changes
    changes["rope dynamic, text longer"] = {"rope_parameters": ways["dynamic, text shorter"], "max_position_embeddings": 6}
    return changes


# What one family needs several settings for.
OF_FAMILY = {
    "gpt2": {"no scale, by layer": {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True},
             "cross": {"add_cross_attention": True}},
    "bert": {"decoder with cross-attention": {"is_decoder": True, "add_cross_attention": True}},
    "falcon": {"rw": {"alibi": True, "multi_query": False, "parallel_attn": False, "bias": True},
               "rw, sequential": {"alibi": True, "multi_query": False, "bias": True, "new_decoder_architecture": False},
               "40b": {"new_decoder_architecture": True, "num_kv_heads": 2}, "many heads": {"multi_query": False},
               "alibi and one key head": {"alibi": True}},
    "smollm3": {"layers without positions": {"no_rope_layers": [1, 0, 1, 0]}, "all with positions": {"no_rope_layers": [1, 1, 1, 1]},
                "window": {"use_sliding_window": True, "sliding_window": 3}},
    "qwen2": {"window in all": {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 0},
              "window from layer 2": {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 2},
              "layer_types": {"sliding_window": 3, "use_sliding_window": True,
                              "layer_types": ["sliding_attention", "full_attention"] * 2}},
    "qwen3": {"window": {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}},
    "llama4_text": {"no qk norm": {"use_qk_norm": False}, "chunks of 3": {"attention_chunk_size": 3},
                    "temperature felt": {"floor_scale": 2, "attn_scale": 0.3}},
    "stablelm": {"norms of heads": {"qk_layernorm": True}, "biases": {"use_qkv_bias": True}},
    "t5": {"gated, untied": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}},
    "gpt_neo": {"all local": {"attention_types": [[["local"], 4]]}},
    "esm": {"rotary": {"position_embedding_type": "rotary"}},
    "phi3": {f"longrope of half a head, {name}": {"rope_parameters": {
        "rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "original_max_position_embeddings": length,
        "short_factor": [1.0, 1.2, 1.4, 1.6], "long_factor": [2.0, 2.7, 3.4, 4.1], "factor": 16.0}} for name, length in (("short", 32), ("long", 4))},
    "granitemoehybrid": {"rope": {"position_embedding_type": "rope"}},
    "mpt": {"clip": {"attn_config": {"clip_qkv": 0.4}}, "softmax_scale": {"attn_config": {"softmax_scale": 0.3}},
            "no alibi": {"attn_config": {"alibi": False}}},
    "dbrx": {"clip": {"attn_config": {"clip_qkv": 0.4}}},
    "opt": {"norms after": {"do_layer_norm_before": False}},
    "clip": {}, "gemma2": {"all full": {"layer_types": ["full_attention"] * 4}},
    "gpt_oss": {"plain rope": {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}},
    "deepseek_v3": {"no q_lora": {"q_lora_rank": None}, "halves": {"rope_interleave": False}},
    "deepseek_v2": {"no q_lora": {"q_lora_rank": None}},
    "glm_moe_dsa": {"shared choices": {"indexer_types": ["full", "shared"] * 2}},
    "olmo": {"clip_qkv, grouped": {"clip_qkv": 0.4, "num_key_value_heads": 2}},
}
# Why a family has no attention of its own that could be judged.
# Layers that are judged with what their own module is given, and whose warning speaks of what comes before that or of the whole model.
BEFORE = "its keys come from a convolution over the tokens, which the warning names and the judge has behind it"
WARNED_THOUGH_EQUAL = {
    **dict.fromkeys(("glpn", "pvt", "segformer"), BEFORE),
    **dict.fromkeys(("bridgetower", "bridgetower_vision_model"), "no setting says how many heads its vision layers have: the model itself divides by 64"),
    "informer": "its decoder is given too few tokens for attention_type to show, and its cross-attention does without",
    **dict.fromkeys(("flint", "lara_mini"), "only the kinds of their layers, left out, say which have a window; the others see everything"),
    "unlimited_ocr_text": "its window is longer than the text that it is judged with",
    "groupvit_vision_model": "its config.json says another number of layers than it has",
}
STATE = "keeps a state in place of attention weights"
PART = "has no model of its own; it is judged inside of the models it is a part of"
PIXELS = "is made of convolutions"
BACKBONE = "sees through a backbone of pictures that has to be chosen, and has no small one"
LIBRARY = "needs natten, torchaudio or detectron2"
LARGE = "is large whatever its configuration says"
UNMADE = "has sizes that are fixed, or parts that fit together in ways that small_models.py does not know"
COMPOSITE = "is two models of other families, each of which is judged"
WITHOUT_JUDGE = {
    **dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm", "recurrent_gemma"), STATE),
    **dict.fromkeys(("blip_text_model", "edgetam_mask_decoder", "edgetam_prompt_encoder", "edgetam_video_mask_decoder", "edgetam_video_prompt_encoder",
                     "idefics_perciever", "idefics_vision", "gemma4_unified_audio", "gemma4_unified_vision", "sam2_mask_decoder", "sam2_prompt_encoder",
                     "sam2_video_mask_decoder", "sam2_video_prompt_encoder", "sam3_geometry_encoder", "sam3_lite_text_geometry_encoder",
                     "sam3_tracker_mask_decoder", "sam3_tracker_prompt_encoder", "sam3_tracker_video_mask_decoder",
                     "sam3_tracker_video_prompt_encoder", "sam_hq_mask_decoder", "sam_hq_prompt_encoder", "sam_mask_decoder", "sam_prompt_encoder",
                     "sapiens2_head", "t5_gemma_module", "vibevoice_diffusion", "molmo2_adapter", "layoutxlm", "pp_chart2table",
                     "pp_chart2table_vision"), PART),
    **dict.fromkeys(("convnext", "convnextv2", "efficientnet", "resnet", "regnet", "bit", "chameleon_vqgan", "emu3_vqgan", "glm_image_vqmodel", "janus_vqgan",
                     "fastspeech2_conformer_hifigan", "speecht5_hifigan", "univnet", "qwen2_5_omni_bigvgan", "vibevoice_acoustic_tokenizer",
                     "vibevoice_acoustic_tokenizer_decoder", "vibevoice_acoustic_tokenizer_encoder", "pp_ocrv5_mobile_det", "pp_ocrv5_server_det",
                     "pp_ocrv6_medium_det", "pp_ocrv6_small_det", "slanet", "uvdoc", "uvdoc_backbone", "superpoint", "align_vision_model", "gemma3n_vision",
                     "timm_backbone"), PIXELS),
    **dict.fromkeys(("conditional_detr", "dab-detr", "deformable_detr", "detr", "omdet-turbo", "d_fine", "table-transformer", "upernet",
                     "mask2former", "maskformer", "lw_detr", "lw_detr_vit", "edgetam", "edgetam_vision_model", "fast_vlm", "perception_lm", "tvp",
                     "vitmatte", "efficientloftr"), BACKBONE),
    **dict.fromkeys(("dinat", "higgs_audio_v2_tokenizer", "layoutlmv2"), LIBRARY),
    **dict.fromkeys(("gemma3n", "pe_audio_video", "pe_audio_video_encoder", "pe_video", "pe_video_encoder", "vibevoice", "vibevoice_asr",
                     "qwen2_5_omni_token2wav", "rag"), LARGE),
    **dict.fromkeys(("csm", "deepseek_ocr2", "deepseek_ocr2_text", "dia_decoder", "diffusion_gemma", "diffusion_gemma_text", "dots3_note",
                     "dots3_note_audio_encoder", "dots3_note_vision_encoder", "emu3", "esmfold2", "fun_asr_nano", "gemma3n_audio",
                     "gemma4_assistant", "gemma4_audio", "gemma4_unified_assistant", "gemma4_vision", "granite4_vision", "inkling_audio",
                     "inkling_vision", "kosmos_2_5_vision_model", "mimi", "mimi_decoder", "molmo2", "moshi_depth", "muse_spark", "muse_spark_audio",
                     "musicgen", "musicgen_melody", "nemotron_h_omni", "patchtsmixer", "pix2struct_text_model", "pix2struct_vision_model",
                     "pocket_tts_audio_tokenizer", "pocket_tts_audio_tokenizer_decoder", "qwen2_5_omni", "qwen2_5_omni_dit", "qwen3_omni_moe",
                     "qwen4_exp", "qwen4_exp_text", "sam3_lite_text_mask_decoder", "sam3_mask_decoder", "seggpt", "t5gemma2_decoder",
                     "t5gemma2_encoder", "t5gemma2_text", "wav2vec2-bert", "zamba", "zamba2"), UNMADE),
    **dict.fromkeys(("encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "rag", "nougat", "vision-text-dual-encoder"), COMPOSITE),
}


def variants_of(model_type, with_shared=True):
    """{name of the variant: changes to the small configuration}, with_shared: settings that many families have too."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    try:
        config_class = CONFIG_MAPPING[model_type]
        fields, _ = fields_of(config_class)
        small = small_config_values(config_class)
    except Exception:
        return {}
    found = dict(OF_FAMILY.get(model_type, {}))
    found[LEFT_OUT] = {name: fields[name] for name in MAY_BE_LEFT_OUT if name in fields}
    if not with_shared:
        return found
    for name, value in fields.items():
        value = small.get(name, value)
        if isinstance(value, bool) and SWITCHES.fullmatch(name):
            found[f"{name} {str(not value).lower()}"] = {name: not value}
        for word, other in VALUES.get(name, {}).items():
            if other != value and (other is not None or value is not None):
                found[f"{name} {word}"] = {name: other}
    if "num_key_value_heads" in fields:
        grouped = small.get("num_key_value_heads", fields["num_key_value_heads"])
        found["as many key heads" if grouped == 2 else "two key heads"] = {"num_key_value_heads": HEADS if grouped == 2 else 2}
    if "head_dim" in fields and model_type != "hunyuan_vl_text":  # its positions come in parts of half a head of 16
        found["head_dim 24"] = {"head_dim": 24}
    if model_type in EVERY_ROPE:
        found.update(rope_ways(model_type))
    elif "rope_parameters" in fields and not isinstance(fields["rope_parameters"], dict) and "layer_types" not in fields:
        found["rope base 500"] = {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}
        found["rope yarn"] = rope_ways("")["rope yarn"]
    return found
