"""Encoders and decoders of other people's families in plain torch, from named arrays as their files have them.

Each function takes `p` {name: tensor}, `config` (config.json) and ids (L), and returns a Run. Letters: L length, E width,
H heads, G key/value heads, D head width, V words. Linear matrices are [out,in], GPT-2's Conv1D [in,out].
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu,
               "gelu_new": lambda x: 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x ** 3)))}


@dataclass
class Run:
    hidden: list  # the embeddings, then after each block: (L,E)
    attention: list  # of each block: (H,L,L)
    final: torch.Tensor  # (L,E), what the logits are made from
    logits: torch.Tensor  # (L,V), or None


def attend(q, k, v, heads, blocked, bias=0.0):
    """q (L,H·D), k and v (L,G·D), blocked (L,L) bool, bias (H,L,L) → (L,H·D), weights (H,L,L). Each key/value head serves
    neighbours."""
    L = q.shape[0]
    width = q.shape[1] // heads
    q = q.view(L, heads, width).transpose(0, 1)
    k, v = (x.view(L, -1, width).transpose(0, 1) for x in (k, v))
    k, v = (x.repeat_interleave(heads // x.shape[0], 0) for x in (k, v))
    weights = (q @ k.transpose(1, 2) / math.sqrt(width) + bias).masked_fill(blocked, -math.inf).softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(L, heads * width), weights


def linear(p, name, x):
    return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def layer_norm(p, name, x, eps):
    gain = p.get(name + ".weight", p.get(name + ".gamma"))
    bias = p.get(name + ".bias", p.get(name + ".beta"))
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


def causal(L, window=None):
    blocked = torch.ones(L, L, dtype=torch.bool).triu(1)
    return blocked if window is None else blocked | torch.ones(L, L, dtype=torch.bool).tril(-window)


def roberta_positions(ids, padding):
    """Tokens that are no padding count on behind `padding`; those that are stand there."""
    is_word = ids != padding
    return torch.where(is_word, is_word.cumsum(0) + padding, padding)


def bert_like(p, config, ids, root="bert."):
    """post-LayerNorm; BERT's names, RoBERTa's head or that of ELECTRA's generator where it has one."""
    E, eps, L = config["hidden_size"], config["layer_norm_eps"], len(ids)
    act = ACTIVATIONS[config["hidden_act"]]
    at = root + "embeddings."
    word = p[at + "word_embeddings.weight"]
    if config.get("position_embedding_type") == "sinusoidal":
        angle = torch.arange(L)[:, None] / 10000.0 ** (torch.arange(0, E, 2) / E)
        position = torch.stack([angle.sin(), angle.cos()], -1).view(L, E)
    else:
        places = roberta_positions(ids, config["pad_token_id"]) if config["model_type"] == "roberta" else torch.arange(L)
        position = p[at + "position_embeddings.weight"][places]
    x = layer_norm(p, at + "LayerNorm", word[ids] + position + p[at + "token_type_embeddings.weight"][0], eps)
    if root + "embeddings_project.weight" in p:
        x = linear(p, root + "embeddings_project", x)
    hidden, attention = [x], []
    for layer in range(config["num_hidden_layers"]):
        at = f"{root}encoder.layer.{layer}."
        q, k, v = (linear(p, f"{at}attention.self.{part}", x) for part in ("query", "key", "value"))
        out, weights = attend(q, k, v, config["num_attention_heads"], torch.zeros(L, L, dtype=torch.bool))
        x = layer_norm(p, at + "attention.output.LayerNorm", x + linear(p, at + "attention.output.dense", out), eps)
        inner = act(linear(p, at + "intermediate.dense", x))
        x = layer_norm(p, at + "output.LayerNorm", x + linear(p, at + "output.dense", inner), eps)
        hidden.append(x)
        attention.append(weights)
    logits = None
    if "generator_predictions.dense.weight" in p:
        y = layer_norm(p, "generator_predictions.LayerNorm", F.gelu(linear(p, "generator_predictions.dense", x)), eps)
        logits = F.linear(y, word, p["generator_lm_head.bias"])
    elif "lm_head.dense.weight" in p:
        y = layer_norm(p, "lm_head.layer_norm", F.gelu(linear(p, "lm_head.dense", x)), eps)
        logits = F.linear(y, word, p["lm_head.bias"])
    elif "cls.predictions.bias" in p:
        at = "cls.predictions."
        y = layer_norm(p, at + "transform.LayerNorm", act(linear(p, at + "transform.dense", x)), eps)
        logits = F.linear(y, p.get(at + "decoder.weight", word), p[at + "bias"])
    return Run(hidden, attention, x, logits)


def distilbert_like(p, config, ids):
    eps, L, root = 1e-12, len(ids), "distilbert."
    act = ACTIVATIONS[config["activation"]]
    word = p[root + "embeddings.word_embeddings.weight"]
    x = layer_norm(p, root + "embeddings.LayerNorm", word[ids] + p[root + "embeddings.position_embeddings.weight"][:L], eps)
    hidden, attention = [x], []
    for layer in range(config["n_layers"]):
        at = f"{root}transformer.layer.{layer}."
        q, k, v = (linear(p, f"{at}attention.{part}_lin", x) for part in "qkv")
        out, weights = attend(q, k, v, config["n_heads"], torch.zeros(L, L, dtype=torch.bool))
        x = layer_norm(p, at + "sa_layer_norm", x + linear(p, at + "attention.out_lin", out), eps)
        inner = act(linear(p, at + "ffn.lin1", x))
        x = layer_norm(p, at + "output_layer_norm", x + linear(p, at + "ffn.lin2", inner), eps)
        hidden.append(x)
        attention.append(weights)
    y = layer_norm(p, "vocab_layer_norm", act(linear(p, "vocab_transform", x)), eps)
    return Run(hidden, attention, x, F.linear(y, word, p["vocab_projector.bias"]))


def gpt2_like(p, config, ids):
    """pre-LayerNorm, Conv1D."""
    eps, L, root = config["layer_norm_epsilon"], len(ids), "transformer."
    act = ACTIVATIONS[config["activation_function"]]

    def conv1d(name, x):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    x = p[root + "wte.weight"][ids] + p[root + "wpe.weight"][:L]
    hidden, attention = [x], []
    for layer in range(config["n_layer"]):
        at = f"{root}h.{layer}."
        q, k, v = conv1d(at + "attn.c_attn", layer_norm(p, at + "ln_1", x, eps)).chunk(3, 1)
        out, weights = attend(q, k, v, config["n_head"], causal(L))
        x = x + conv1d(at + "attn.c_proj", out)
        x = x + conv1d(at + "mlp.c_proj", act(conv1d(at + "mlp.c_fc", layer_norm(p, at + "ln_2", x, eps))))
        hidden.append(x)
        attention.append(weights)
    final = layer_norm(p, root + "ln_f", x, eps)
    return Run(hidden, attention, final, F.linear(final, p.get("lm_head.weight", p[root + "wte.weight"])))


def inverse_frequencies(config, width):
    """What pair j is turned by from one place to the next; slowed down as rope_scaling says."""
    freq = config["rope_theta"] ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    scaling = config.get("rope_scaling")
    if scaling is None:
        return freq
    if scaling["rope_type"] == "linear":
        return freq / scaling["factor"]
    assert scaling["rope_type"] == "llama3"
    longest = scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = longest * freq / (2 * math.pi)  # of the pair over the text of training
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return kept * freq + (1 - kept) * freq / scaling["factor"]


def rotated(x, width, freq):
    """x (L,heads·width): of each head the first 2·len(freq) columns are turned, j together with j + len(freq)."""
    L, pairs = x.shape[0], len(freq)
    a, b, rest = x.reshape(L, -1, width).split([pairs, pairs, width - 2 * pairs], -1)
    angle = torch.arange(L)[:, None].double() * freq
    cos, sin = angle.cos().float()[:, None], angle.sin().float()[:, None]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1).reshape(L, -1)


def alibi(heads, L):
    """Of each head (a power of two) what its scores lose per token of distance: (H,L,L)."""
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    return slopes[:, None, None] * (torch.arange(L)[None, :] - torch.arange(L)[:, None])


def bloom_like(p, config, ids):
    """pre-LayerNorm, a norm of the embeddings, ALiBi."""
    eps, L, H, root = config["layer_norm_epsilon"], len(ids), config["n_head"], "transformer."
    word, act = p[root + "word_embeddings.weight"], ACTIVATIONS["gelu_new"]
    x = layer_norm(p, root + "word_embeddings_layernorm", word[ids], eps)
    hidden, attention = [x], []
    for layer in range(config["n_layer"]):
        at = f"{root}h.{layer}."
        y = layer_norm(p, at + "input_layernorm", x, eps)
        q, k, v = (part.reshape(L, -1) for part in linear(p, at + "self_attention.query_key_value", y).view(L, H, 3, -1).unbind(2))
        out, weights = attend(q, k, v, H, causal(L), alibi(H, L))
        x = x + linear(p, at + "self_attention.dense", out)
        y = layer_norm(p, at + "post_attention_layernorm", x, eps)
        x = x + linear(p, at + "mlp.dense_4h_to_h", act(linear(p, at + "mlp.dense_h_to_4h", y)))
        hidden.append(x)
        attention.append(weights)
    final = layer_norm(p, root + "ln_f", x, eps)
    return Run(hidden, attention, final, F.linear(final, word))


def gpt_neox_like(p, config, ids, head):
    """pre-LayerNorm, both parts of a block side by side or not; the first columns of each head are turned."""
    eps, L, H, root = config["layer_norm_eps"], len(ids), config["num_attention_heads"], "gpt_neox."
    act, D = ACTIVATIONS[config["hidden_act"]], config["hidden_size"] // config["num_attention_heads"]
    rope = config.get("rope_parameters", {"rope_theta": config.get("rotary_emb_base"),
                                          "partial_rotary_factor": config.get("rotary_pct")})
    freq = inverse_frequencies({"rope_theta": rope["rope_theta"]}, int(D * rope["partial_rotary_factor"]))
    x = p[root + "embed_in.weight"][ids]
    hidden, attention = [x], []
    for layer in range(config["num_hidden_layers"]):
        at = f"{root}layers.{layer}."
        y = layer_norm(p, at + "input_layernorm", x, eps)
        q, k, v = linear(p, at + "attention.query_key_value", y).view(L, H, 3, D).unbind(2)
        out, weights = attend(rotated(q, D, freq), rotated(k, D, freq), v.reshape(L, -1), H, causal(L))
        between = x + linear(p, at + "attention.dense", out)
        y = layer_norm(p, at + "post_attention_layernorm", x if config["use_parallel_residual"] else between, eps)
        x = between + linear(p, at + "mlp.dense_4h_to_h", act(linear(p, at + "mlp.dense_h_to_4h", y)))
        hidden.append(x)
        attention.append(weights)
    final = layer_norm(p, root + "final_layer_norm", x, eps)
    return Run(hidden, attention, final, F.linear(final, p[head]))


def opt_like(p, config, ids, root):
    """pre-LayerNorm with a final norm, or post-LayerNorm; positions from row 2 on; words may have a width of their own."""
    eps, L, before = 1e-5, len(ids), config["do_layer_norm_before"]
    act = ACTIVATIONS[config["activation_function"]]

    def projected(name, x):
        return linear(p, root + name, x) if root + name + ".weight" in p else x

    word = p[root + "embed_tokens.weight"]
    x = projected("project_in", word[ids]) + p[root + "embed_positions.weight"][2:2 + L]
    hidden, attention = [x], []
    for layer in range(config["num_hidden_layers"]):
        at = f"{root}layers.{layer}."
        y = layer_norm(p, at + "self_attn_layer_norm", x, eps) if before else x
        q, k, v = (linear(p, f"{at}self_attn.{part}_proj", y) for part in "qkv")
        out, weights = attend(q, k, v, config["num_attention_heads"], causal(L))
        x = x + linear(p, at + "self_attn.out_proj", out)
        x = x if before else layer_norm(p, at + "self_attn_layer_norm", x, eps)
        y = layer_norm(p, at + "final_layer_norm", x, eps) if before else x
        x = x + linear(p, at + "fc2", act(linear(p, at + "fc1", y)))
        x = x if before else layer_norm(p, at + "final_layer_norm", x, eps)
        hidden.append(x)
        attention.append(weights)
    final = layer_norm(p, root + "final_layer_norm", x, eps) if before else x
    return Run(hidden, attention, final, F.linear(projected("project_out", final), word))


def rms_norm(p, name, x, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * p[name + ".weight"]


def llama_like(p, config, ids):
    """pre-RMSNorm, rotary positions, SwiGLU, grouped heads; biases of q, k and v where the file has them (Qwen2); q, k
    and v in one array, gate and up in another, a part of each head turned (Phi-3); norms of heads (Qwen3)."""
    eps, L, H, root = config["rms_norm_eps"], len(ids), config["num_attention_heads"], "model."
    window = config.get("sliding_window") if config.get("use_sliding_window", True) else None
    x = p[root + "embed_tokens.weight"][ids]
    hidden, attention = [x], []
    for layer in range(config["num_hidden_layers"]):
        at = f"{root}layers.{layer}."
        y = rms_norm(p, at + "input_layernorm", x, eps)
        if at + "self_attn.qkv_proj.weight" in p:
            qkv, D = linear(p, at + "self_attn.qkv_proj", y), x.shape[1] // H
            q, k, v = qkv.split([H * D] + 2 * [config["num_key_value_heads"] * D], 1)
        else:
            q, k, v = (linear(p, f"{at}self_attn.{part}_proj", y) for part in "qkv")
        if at + "self_attn.q_norm.weight" in p:
            D = q.shape[1] // H
            q = rms_norm(p, at + "self_attn.q_norm", q.unflatten(1, (-1, D)), eps).flatten(1)
            k = rms_norm(p, at + "self_attn.k_norm", k.unflatten(1, (-1, D)), eps).flatten(1)
        freq = inverse_frequencies(config, int(q.shape[1] // H * config.get("partial_rotary_factor", 1.0)))
        q, k = (rotated(part, q.shape[1] // H, freq) for part in (q, k))
        out, weights = attend(q, k, v, H, causal(L, window))
        x = x + linear(p, at + "self_attn.o_proj", out)
        y = rms_norm(p, at + "post_attention_layernorm", x, eps)
        if at + "mlp.gate_up_proj.weight" in p:
            gate, up = linear(p, at + "mlp.gate_up_proj", y).chunk(2, 1)
        else:
            gate, up = (linear(p, f"{at}mlp.{part}_proj", y) for part in ("gate", "up"))
        x = x + linear(p, at + "mlp.down_proj", F.silu(gate) * up)
        hidden.append(x)
        attention.append(weights)
    final = rms_norm(p, root + "norm", x, eps)
    return Run(hidden, attention, final, F.linear(final, p.get("lm_head.weight", p[root + "embed_tokens.weight"])))
