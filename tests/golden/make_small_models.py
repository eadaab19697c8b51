#!/usr/bin/python3
"""Writes models/NAME: small randomly initialised models under the names of their families, and what torch computes with them.

    /usr/bin/python3 make_small_models.py      (Debian: python3-torch, 1.13; python3-numpy)

Each folder has config.json and model.safetensors as the family's files have them, and values.npz: 0.ids (L), 0.hidden.l (L,E),
0.attention.l (H,L,L), 0.final (L,E), 0.logits (L,V) where the model predicts words, of RoBERTa 1.… too, a text with padding within;
computed in float32 by small_transformers.py.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "assets", "models"))
sys.path.insert(0, HERE)
from safetensors_file import write_safetensors
from small_transformers import bert_like, bloom_like, distilbert_like, gpt2_like, gpt_neox_like, llama_like, opt_like

E, F, V, LAYERS, POSITIONS = 16, 28, 40, 2, 12
E_WORDS = 10  # of embeddings with a width of their own
IDS = [3, 17, 4, 4, 39, 21, 8, 30, 11]
PADDED = [0, 17, 1, 1, 39, 21, 1, 30, 2]  # 1 is RoBERTa's padding


def drawn(shapes, seed):
    """{name: tensor}: gains near 1, the rest normal; large enough that attention is far from even."""
    generator = torch.Generator().manual_seed(seed)

    def tensor(name, shape):
        x = torch.randn(shape, generator=generator)
        gain = len(shape) == 1 and name.endswith(("weight", "gamma"))
        return 1 + 0.2 * x if gain else 0.4 * x

    return {name: tensor(name, shape) for name, shape in shapes.items()}


def affine(shapes, name, rows, columns=None, bias=True, conv1d=False):
    """A matrix with its bias, or with one size a norm's gain and bias."""
    shapes[name + ".weight"] = (rows,) if columns is None else (columns, rows) if conv1d else (rows, columns)
    if bias:
        shapes[name + ".bias"] = (rows,)


def bert_shapes(root, positions=POSITIONS, token_types=2, width=E):
    shapes = {f"{root}embeddings.word_embeddings.weight": (V, width),
              f"{root}embeddings.token_type_embeddings.weight": (token_types, width)}
    if positions:
        shapes[f"{root}embeddings.position_embeddings.weight"] = (positions, width)
    affine(shapes, f"{root}embeddings.LayerNorm", width)
    if width != E:
        affine(shapes, f"{root}embeddings_project", E, width)
    for layer in range(LAYERS):
        at = f"{root}encoder.layer.{layer}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            affine(shapes, f"{at}attention.{part}", E, E)
        affine(shapes, at + "intermediate.dense", F, E)
        affine(shapes, at + "output.dense", E, F)
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            affine(shapes, at + norm, E)
    return shapes


def bert_config(**more):
    return {"model_type": "bert", "hidden_size": E, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": F,
            "hidden_act": "gelu", "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "vocab_size": V,
            "layer_norm_eps": 1e-12, "pad_token_id": 0, **more}


def bert():
    """As the oldest files have it: gamma and beta, a decoder of its own."""
    shapes = bert_shapes("bert.")
    affine(shapes, "bert.pooler.dense", E, E)
    affine(shapes, "cls.predictions.transform.dense", E, E)
    affine(shapes, "cls.predictions.transform.LayerNorm", E)
    shapes |= {"cls.predictions.decoder.weight": (V, E), "cls.predictions.bias": (V,)}
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): shape
           for name, shape in shapes.items()}
    return old, bert_config(tie_word_embeddings=False), bert_like


def bert_without_words():
    """No prefix, no head, sinusoidal positions, ReLU."""
    return (bert_shapes("", positions=0), bert_config(position_embedding_type="sinusoidal", hidden_act="relu"),
            lambda p, config, ids: bert_like(p, config, ids, root=""))


def roberta():
    """Positions begin at pad_token_id + 1; the decoder is tied."""
    shapes = bert_shapes("roberta.", POSITIONS + 2, 1)
    affine(shapes, "lm_head.dense", E, E)
    affine(shapes, "lm_head.layer_norm", E)
    shapes["lm_head.bias"] = (V,)
    config = bert_config(model_type="roberta", pad_token_id=1, max_position_embeddings=POSITIONS + 2, layer_norm_eps=1e-5,
                         type_vocab_size=1)
    return shapes, config, lambda p, c, ids: bert_like(p, c, ids, root="roberta.")


def electra():
    """A small generator: narrow embeddings with a projection behind them; a head of its own names, tied."""
    shapes = bert_shapes("electra.", width=E_WORDS)
    affine(shapes, "generator_predictions.dense", E_WORDS, E)
    affine(shapes, "generator_predictions.LayerNorm", E_WORDS)
    shapes["generator_lm_head.bias"] = (V,)
    config = bert_config(model_type="electra", embedding_size=E_WORDS, hidden_act="relu")
    return shapes, config, lambda p, c, ids: bert_like(p, c, ids, root="electra.")


def distilbert():
    root = "distilbert."
    shapes = {f"{root}embeddings.word_embeddings.weight": (V, E), f"{root}embeddings.position_embeddings.weight": (POSITIONS, E)}
    affine(shapes, root + "embeddings.LayerNorm", E)
    for layer in range(LAYERS):
        at = f"{root}transformer.layer.{layer}."
        for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
            affine(shapes, f"{at}attention.{part}", E, E)
        affine(shapes, at + "ffn.lin1", F, E)
        affine(shapes, at + "ffn.lin2", E, F)
        for norm in ("sa_layer_norm", "output_layer_norm"):
            affine(shapes, at + norm, E)
    affine(shapes, "vocab_transform", E, E)
    affine(shapes, "vocab_layer_norm", E)
    shapes["vocab_projector.bias"] = (V,)
    config = {"model_type": "distilbert", "dim": E, "n_layers": LAYERS, "n_heads": 2, "hidden_dim": F, "activation": "gelu",
              "max_position_embeddings": POSITIONS, "vocab_size": V, "sinusoidal_pos_embds": False, "tie_weights_": True}
    return shapes, config, distilbert_like


def gpt2():
    """A head of its own, and the buffers that old files have."""
    root = "transformer."
    shapes = {root + "wte.weight": (V, E), root + "wpe.weight": (POSITIONS, E), "lm_head.weight": (V, E)}
    for layer in range(LAYERS):
        at = f"{root}h.{layer}."
        for name, rows, columns in (("attn.c_attn", 3 * E, E), ("attn.c_proj", E, E), ("mlp.c_fc", F, E), ("mlp.c_proj", E, F)):
            affine(shapes, at + name, rows, columns, conv1d=True)
        affine(shapes, at + "ln_1", E)
        affine(shapes, at + "ln_2", E)
        shapes[at + "attn.bias"] = (1, 1, POSITIONS, POSITIONS)
        shapes[at + "attn.masked_bias"] = ()
    affine(shapes, root + "ln_f", E)
    config = {"model_type": "gpt2", "n_embd": E, "n_layer": LAYERS, "n_head": 4, "n_inner": F, "n_positions": POSITIONS,
              "vocab_size": V, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": False}
    return shapes, config, gpt2_like


def gpt_neox_shapes(bias=True):
    shapes = {"gpt_neox.embed_in.weight": (V, E)}
    for layer in range(LAYERS):
        at = f"gpt_neox.layers.{layer}."
        affine(shapes, at + "attention.query_key_value", 3 * E, E, bias=bias)
        affine(shapes, at + "attention.dense", E, E, bias=bias)
        affine(shapes, at + "mlp.dense_h_to_4h", F, E)
        affine(shapes, at + "mlp.dense_4h_to_h", E, F)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            affine(shapes, at + norm, E)
    affine(shapes, "gpt_neox.final_layer_norm", E)
    return shapes


def gpt_neox_config(**more):
    return {"model_type": "gpt_neox", "hidden_size": E, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
            "intermediate_size": F, "max_position_embeddings": POSITIONS, "vocab_size": V, "layer_norm_eps": 1e-5, **more}


def gpt_neox():
    """As Pythia: half of each head is turned; the buffers that old files have."""
    shapes = gpt_neox_shapes() | {"embed_out.weight": (V, E)}
    for layer in range(LAYERS):
        at = f"gpt_neox.layers.{layer}.attention."
        shapes |= {at + "bias": (1, 1, POSITIONS, POSITIONS), at + "masked_bias": (), at + "rotary_emb.inv_freq": (2,)}
    config = gpt_neox_config(hidden_act="gelu", use_parallel_residual=True, rotary_pct=0.5, rotary_emb_base=10000)
    return shapes, config, lambda p, c, ids: gpt_neox_like(p, c, ids, "embed_out.weight")


def gpt_neox_serial():
    """One part of a block after the other, no biases of attention; names as transformers 5 has them."""
    shapes = gpt_neox_shapes(bias=False) | {"lm_head.weight": (V, E)}
    config = gpt_neox_config(hidden_act="gelu_new", use_parallel_residual=False, attention_bias=False, rope_parameters={
        "rope_type": "default", "rope_theta": 3000.0, "partial_rotary_factor": 0.25})
    return shapes, config, lambda p, c, ids: gpt_neox_like(p, c, ids, "lm_head.weight")


def opt_shapes(root, width=E):
    shapes = {root + "embed_tokens.weight": (V, width), root + "embed_positions.weight": (POSITIONS + 2, E)}
    for layer in range(LAYERS):
        at = f"{root}layers.{layer}."
        for part in ("q", "k", "v", "out"):
            affine(shapes, f"{at}self_attn.{part}_proj", E, E)
        affine(shapes, at + "fc1", F, E)
        affine(shapes, at + "fc2", E, F)
        for norm in ("self_attn_layer_norm", "final_layer_norm"):
            affine(shapes, at + norm, E)
    return shapes


def opt_config(**more):
    return {"model_type": "opt", "hidden_size": E, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "ffn_dim": F,
            "max_position_embeddings": POSITIONS, "vocab_size": V, "activation_function": "relu", "enable_bias": True,
            "layer_norm_elementwise_affine": True, "_remove_final_layer_norm": False, **more}


def opt():
    shapes = opt_shapes("model.decoder.")
    affine(shapes, "model.decoder.final_layer_norm", E)
    return (shapes, opt_config(do_layer_norm_before=True, word_embed_proj_dim=E),
            lambda p, c, ids: opt_like(p, c, ids, "model.decoder."))


def opt_post():
    """As OPT 350m: post-LayerNorm, narrow words; named as the oldest files are."""
    shapes = opt_shapes("decoder.", E_WORDS)
    affine(shapes, "decoder.project_in", E, E_WORDS, bias=False)
    affine(shapes, "decoder.project_out", E_WORDS, E, bias=False)
    return (shapes, opt_config(do_layer_norm_before=False, word_embed_proj_dim=E_WORDS),
            lambda p, c, ids: opt_like(p, c, ids, "decoder."))


def llama_shapes(heads, kv_heads, width, qkv_bias=False, own_head=True):
    shapes = {"model.embed_tokens.weight": (V, E)}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for part, rows in (("q", heads * width), ("k", kv_heads * width), ("v", kv_heads * width)):
            affine(shapes, f"{at}self_attn.{part}_proj", rows, E, bias=qkv_bias)
        affine(shapes, at + "self_attn.o_proj", E, heads * width, bias=False)
        for part, rows, columns in (("gate", F, E), ("up", F, E), ("down", E, F)):
            affine(shapes, f"{at}mlp.{part}_proj", rows, columns, bias=False)
        affine(shapes, at + "input_layernorm", E, bias=False)
        affine(shapes, at + "post_attention_layernorm", E, bias=False)
    affine(shapes, "model.norm", E, bias=False)
    if own_head:
        shapes["lm_head.weight"] = (V, E)
    return shapes


def llama_config(heads, kv_heads, **more):
    return {"model_type": "llama", "hidden_size": E, "num_hidden_layers": LAYERS, "num_attention_heads": heads,
            "num_key_value_heads": kv_heads, "intermediate_size": F, "hidden_act": "silu", "max_position_embeddings": POSITIONS,
            "vocab_size": V, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False, **more}


def llama():
    """As Llama 3.1: grouped heads, slowed frequencies; heads wider than E/H."""
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 40}
    return (llama_shapes(4, 2, 6), llama_config(4, 2, head_dim=6, rope_theta=500.0, rope_scaling=scaling), llama_like)


def mistral():
    """A sliding window of 4, one key/value head, positions slowed to half, a tied head."""
    config = llama_config(4, 1, model_type="mistral", sliding_window=4, tie_word_embeddings=True,
                          rope_scaling={"rope_type": "linear", "factor": 2.0})
    return llama_shapes(4, 1, 4, own_head=False), config, llama_like


def qwen2():
    """Biases of q, k and v, a tied head; a window that is not used."""
    config = llama_config(4, 2, model_type="qwen2", rms_norm_eps=1e-6, rope_theta=1000000.0, sliding_window=2,
                          use_sliding_window=False, max_window_layers=1, tie_word_embeddings=True)
    return llama_shapes(4, 2, 4, qkv_bias=True, own_head=False), config, llama_like


def qwen3():
    """Norms of the rows of q and k of each head, which is wider than E/H."""
    shapes = llama_shapes(4, 2, 6)
    for layer in range(LAYERS):
        for norm in ("q_norm", "k_norm"):
            affine(shapes, f"model.layers.{layer}.self_attn.{norm}", 6, bias=False)
    return shapes, llama_config(4, 2, model_type="qwen3", head_dim=6, rms_norm_eps=1e-6, rope_theta=1000000.0), llama_like


def phi3():
    """q, k and v in one array, gate and up in another; half of each head is turned, a window of 4."""
    shapes = {"model.embed_tokens.weight": (V, E), "lm_head.weight": (V, E)}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for part, rows, columns in (("self_attn.qkv_proj", 2 * E, E), ("self_attn.o_proj", E, E),
                                    ("mlp.gate_up_proj", 2 * F, E), ("mlp.down_proj", E, F)):
            affine(shapes, at + part, rows, columns, bias=False)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            affine(shapes, at + norm, E, bias=False)
    affine(shapes, "model.norm", E, bias=False)
    return shapes, llama_config(4, 2, model_type="phi3", sliding_window=4, partial_rotary_factor=0.5), llama_like


def bloom():
    shapes = {"transformer.word_embeddings.weight": (V, E)}
    affine(shapes, "transformer.word_embeddings_layernorm", E)
    for layer in range(LAYERS):
        at = f"transformer.h.{layer}."
        for part, rows, columns in (("self_attention.query_key_value", 3 * E, E), ("self_attention.dense", E, E),
                                    ("mlp.dense_h_to_4h", 4 * E, E), ("mlp.dense_4h_to_h", E, 4 * E)):
            affine(shapes, at + part, rows, columns)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            affine(shapes, at + norm, E)
    affine(shapes, "transformer.ln_f", E)
    config = {"model_type": "bloom", "hidden_size": E, "n_layer": LAYERS, "n_head": 4, "vocab_size": V, "seq_length": POSITIONS,
              "layer_norm_epsilon": 1e-5, "apply_residual_connection_post_layernorm": False}
    return shapes, config, bloom_like


def write(name, seed, made):
    shapes, config, run = made
    parameters = drawn(shapes, seed)
    arrays = {}
    for text, ids in enumerate([IDS, PADDED] if name == "roberta" else [IDS]):
        with torch.no_grad():
            result = run(parameters, config, torch.tensor(ids))
        arrays |= {f"{text}.ids": numpy.array(ids, numpy.int64), f"{text}.final": result.final.numpy()}
        for what in ("hidden", "attention"):
            for layer, tensor in enumerate(getattr(result, what)):
                arrays[f"{text}.{what}.{layer}"] = tensor.numpy()
        if result.logits is not None:
            arrays[f"{text}.logits"] = result.logits.numpy()
    folder = os.path.join(HERE, "models", name)
    os.makedirs(folder, exist_ok=True)
    write_safetensors(os.path.join(folder, "model.safetensors"), parameters, {"format": "pt"})
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)
        file.write("\n")
    numpy.savez_compressed(os.path.join(folder, "values.npz"), **arrays)
    print(name, sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder)), "bytes")


torch.set_num_threads(1)
for number, make in enumerate((bert, bert_without_words, roberta, distilbert, gpt2, llama, mistral, qwen2, electra, gpt_neox,
                               gpt_neox_serial, opt, opt_post, bloom, phi3, qwen3)):
    write(make.__name__, number, make())
