#!/usr/bin/env python3
"""Writes models/NAME for families whose texts transformers itself judges: small models as transformers writes them, and their values.

    python3 tests/golden/make_text_golden.py [NAME]…      (PyPI: torch, transformers 5.24)

As make_small_models.py's: config.json, model.safetensors, and values.npz with 0.ids, 0.hidden.l, 0.attention.l, 0.final and 0.logits.
"""
import json, os, pathlib, shutil, sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
sys.dont_write_bytecode = True
import numpy, torch
from small_models import MASKED_LM, REMOVE, make_model

E, F, V, LAYERS, HEADS, POSITIONS = 16, 28, 40, 2, 4, 12
IDS = [3, 17, 4, 4, 39, 21, 8, 30, 11]
SIZES = {"hidden_size": E, "intermediate_size": F, "vocab_size": V, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
         "num_key_value_heads": 2, "max_position_embeddings": POSITIONS, "head_dim": 4}
GPT_SIZES = {"n_embd": E, "n_inner": F, "vocab_size": V, "n_layer": LAYERS, "n_head": HEADS, "n_positions": POSITIONS, "rotary_dim": 4}
T5_SIZES = {"d_model": E, "d_ff": F, "d_kv": 5, "vocab_size": V, "num_layers": LAYERS, "num_decoder_layers": 1, "num_heads": HEADS,
            "relative_attention_num_buckets": 8, "relative_attention_max_distance": 8}
KINDS = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}
WITHOUT = {"head_dim": None}
# The final norm's module, and what differs from the sizes; None takes a setting away.
MODELS = {
    "granite": ("model.norm", {**WITHOUT, "embedding_multiplier": 3.0, "residual_multiplier": 0.4, "logits_scaling": 2.0,
                               "attention_multiplier": 0.3}),
    "gemma": ("model.norm", {}),
    "gemma2": ("model.norm", {**KINDS, "query_pre_attn_scalar": 9}),
    "gemma3_text": ("model.norm", {**KINDS, "query_pre_attn_scalar": 9}),
    "olmo2": ("model.norm", WITHOUT),
    "exaone4": ("model.norm", KINDS),
    "smollm3": ("model.norm", {**WITHOUT, "layer_types": None, "no_rope_layers": [1, 0]}),
    "cohere": ("model.norm", WITHOUT),
    "cohere2": ("model.norm", {**KINDS, "head_dim": 4}),
    "glm": ("model.norm", {}),
    "glm4": ("model.norm", {}),
    "stablelm": ("model.norm", {**WITHOUT, "partial_rotary_factor": 0.5}),
    "stablelm_parallel": ("model.norm", {**WITHOUT, "partial_rotary_factor": 0.5, "use_parallel_residual": True}),
    "arcee": ("model.norm", {}),
    "nemotron": ("model.norm", {}),
    "starcoder2": ("model.norm", WITHOUT),
    "phi": ("model.final_layernorm", {**WITHOUT, "partial_rotary_factor": 0.5}),
    "gptj": ("transformer.ln_f", {}),
    "mixtral": ("model.norm", {**WITHOUT, "num_local_experts": 3}),
    "qwen3_moe": ("model.norm", {"num_experts": 4, "moe_intermediate_size": 8, "mlp_only_layers": [1]}),
    "gpt_oss": ("model.norm", {**KINDS, "num_local_experts": 3}),
    "modernbert": ("model.final_norm", {**WITHOUT, "num_key_value_heads": None, "num_hidden_layers": 3, "layer_types": None,
                                        "rope_parameters": None, "local_attention": 4}),
    # Two stacks in a file: the text goes through the encoder.
    "t5": ("encoder.final_layer_norm", {}),
    "umt5": ("encoder.final_layer_norm", {"feed_forward_proj": "gated-gelu"}),
}


def write(name, final_norm, changes):
    model_type = name.removesuffix("_parallel")
    sizes = {**(GPT_SIZES if model_type == "gptj" else T5_SIZES if model_type.endswith("t5") else SIZES), **changes}
    model, _ = make_model(model_type, {key: REMOVE if value is None else value for key, value in sizes.items()}, seed=7,
                          preferred=[MASKED_LM] if model_type == "modernbert" else [])
    folder = HERE / "models" / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    before_norm = []
    model.get_submodule(final_norm).register_forward_pre_hook(lambda module, given: before_norm.append(given[0]))
    with torch.no_grad():
        reader = model.get_encoder() if model.config.is_encoder_decoder else model
        run = reader(input_ids=torch.tensor([IDS]), output_hidden_states=True, output_attentions=True)
    arrays = {"0.ids": numpy.array(IDS, numpy.int64)}
    hidden = [*run.hidden_states[:-1], before_norm[0]]
    for layer, state in enumerate(hidden):
        arrays[f"0.hidden.{layer}"] = state[0].numpy()
    for layer, weights in enumerate(run.attentions):
        arrays[f"0.attention.{layer}"] = weights[0].numpy()
    arrays["0.final"] = run.hidden_states[-1][0].numpy()
    if "logits" in run:
        arrays["0.logits"] = run.logits[0].numpy()
    numpy.savez(folder / "values.npz", **arrays)
    print(name, sum(file.stat().st_size for file in folder.iterdir()), "bytes")


for name, (final_norm, changes) in MODELS.items():
    if len(sys.argv) == 1 or name in sys.argv[1:]:
        write(name, final_norm, changes)
