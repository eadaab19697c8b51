"""A GPT-2-like decoder as a function of named parameters: pre-LayerNorm, tanh GELU, learned positions, tied head.

Letters: N batch, L length, E n_embd, H n_head, D = E/H, F n_inner, V vocab_size. Names and layouts are those of public GPT-2
checkpoints: Conv1D matrices are (in,out), y = x·W + b; c_attn holds q, k and v side by side.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class DecoderRun:
    hidden: list  # embeddings, then after each block: (N,L,E); the last one before ln_f
    attention: list  # each layer: (N,H,L,L), after softmax
    final: torch.Tensor  # after ln_f: (N,L,E)
    logits: torch.Tensor  # (N,L,V)


def decoder_config(vocab_size):
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": vocab_size, "n_embd": 128,
            "n_layer": 2, "n_head": 4, "n_inner": 128, "n_positions": 64, "n_ctx": 64, "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5, "initializer_range": 0.02, "attn_pdrop": 0.0, "embd_pdrop": 0.0,
            "resid_pdrop": 0.0, "bos_token_id": 0, "eos_token_id": 0, "tie_word_embeddings": True}


def sinusoids(count, width, amplitude):
    """(count,width): sines, then cosines, of wave lengths from 2π to 2π·10. A step from any place to the next is the same
    rotation, so that "the word before" is learned once and not for each place anew."""
    angles = torch.arange(count)[:, None] * 10.0 ** (-torch.arange(width // 2) / (width // 2 - 1))
    return amplitude * torch.cat([angles.sin(), angles.cos()], 1)


def decoder_parameters(config, generator):
    """{name: tensor}: matrices normal with initializer_range, biases 0, LayerNorm 1 and 0; the positions, which are learned like
    the rest, begin as sinusoids."""
    E, width = config["n_embd"], config["n_inner"]
    shapes = {"wte.weight": (config["vocab_size"], E), "wpe.weight": (config["n_positions"], E)}
    for layer in range(config["n_layer"]):
        at = f"h.{layer}."
        for name, rows, columns in (("attn.c_attn", E, 3 * E), ("attn.c_proj", E, E), ("mlp.c_fc", E, width),
                                    ("mlp.c_proj", width, E)):
            shapes[at + name + ".weight"], shapes[at + name + ".bias"] = (rows, columns), (columns,)
        for name in ("ln_1", "ln_2"):
            shapes[at + name + ".weight"], shapes[at + name + ".bias"] = (E,), (E,)
    shapes["ln_f.weight"], shapes["ln_f.bias"] = (E,), (E,)

    def drawn(name, shape):
        if name == "wpe.weight":
            return sinusoids(*shape, 2.0 * config["initializer_range"])
        if name.endswith("bias"):
            return torch.zeros(shape)
        if len(shape) == 1:
            return torch.ones(shape)
        return torch.randn(shape, generator=generator) * config["initializer_range"]

    return {name: drawn(name, shape).requires_grad_() for name, shape in shapes.items()}


def gelu_tanh(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x ** 3)))


def run_decoder(p, config, ids, head_gain=None):
    """`ids` (N,L); `head_gain` {(layer, head): factor of the head's output}. Returns a DecoderRun."""
    H, E, eps = config["n_head"], config["n_embd"], config["layer_norm_epsilon"]
    N, L = ids.shape

    def conv1d(name, x):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    def norm(name, x):
        return F.layer_norm(x, (E,), p[name + ".weight"], p[name + ".bias"], eps)

    x = p["wte.weight"][ids] + p["wpe.weight"][:L]
    blocked = torch.ones(L, L, dtype=torch.bool).triu(1)
    hidden, attention = [x], []
    for layer in range(config["n_layer"]):
        at = f"h.{layer}."
        packed = conv1d(at + "attn.c_attn", norm(at + "ln_1", x)).split(E, dim=2)
        q, k, v = (part.view(N, L, H, E // H).transpose(1, 2) for part in packed)
        weights = (q @ k.transpose(2, 3) / math.sqrt(E // H)).masked_fill(blocked, -math.inf).softmax(-1)
        head_output = weights @ v
        for (gain_layer, head), gain in (head_gain or {}).items():
            if gain_layer == layer:
                scale = torch.ones(H)
                scale[head] = gain
                head_output = head_output * scale[None, :, None, None]
        concat = head_output.transpose(1, 2).reshape(N, L, E)
        x = x + conv1d(at + "attn.c_proj", concat)
        x = x + conv1d(at + "mlp.c_proj", gelu_tanh(conv1d(at + "mlp.c_fc", norm(at + "ln_2", x))))
        hidden.append(x)
        attention.append(weights)
    final = norm("ln_f", x)
    return DecoderRun(hidden, attention, final, final @ p["wte.weight"].t())
