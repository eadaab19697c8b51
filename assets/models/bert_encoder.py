"""A BERT-like encoder as a function of named parameters: post-LayerNorm, exact GELU, learned positions.

Letters: N batch, L length, E hidden_size, H heads, D = E/H, F intermediate_size, V vocab_size. Names and layouts are those of
public BERT checkpoints (y = x·Wᵀ + b), the decoder is the word embedding. There is one token type.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class EncoderRun:
    hidden: list  # embeddings, then after each layer: (N,L,E)
    attention: list  # each layer: (N,H,L,L), after softmax
    logits: torch.Tensor  # (N,L,V)


def encoder_config(vocab_size):
    return {"architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": vocab_size, "hidden_size": 128,
            "num_hidden_layers": 2, "num_attention_heads": 8, "intermediate_size": 256, "hidden_act": "gelu",
            "max_position_embeddings": 64, "type_vocab_size": 1, "layer_norm_eps": 1e-12, "initializer_range": 0.02,
            "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "pad_token_id": 0,
            "position_embedding_type": "absolute", "tie_word_embeddings": True}


def layer_name(layer):
    return f"encoder.layer.{layer}."


def encoder_parameters(config, generator):
    """{name: tensor}: matrices normal with initializer_range, biases 0, LayerNorm 1 and 0."""
    E, V, width = config["hidden_size"], config["vocab_size"], config["intermediate_size"]
    shapes = {"embeddings.word_embeddings.weight": (V, E),
              "embeddings.position_embeddings.weight": (config["max_position_embeddings"], E),
              "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], E)}

    def linear(name, rows, columns):
        shapes[name + ".weight"], shapes[name + ".bias"] = (rows, columns), (rows,)

    def norm(name):
        shapes[name + ".LayerNorm.weight"], shapes[name + ".LayerNorm.bias"] = (E,), (E,)

    norm("embeddings")
    for layer in range(config["num_hidden_layers"]):
        at = layer_name(layer)
        for part in ("query", "key", "value"):
            linear(at + "attention.self." + part, E, E)
        linear(at + "attention.output.dense", E, E)
        norm(at + "attention.output")
        linear(at + "intermediate.dense", width, E)
        linear(at + "output.dense", E, width)
        norm(at + "output")
    linear("cls.predictions.transform.dense", E, E)
    norm("cls.predictions.transform")
    shapes["cls.predictions.bias"] = (V,)

    def drawn(name, shape):
        if name.endswith("LayerNorm.weight"):
            return torch.ones(shape)
        if name.endswith("bias"):
            return torch.zeros(shape)
        return torch.randn(shape, generator=generator) * config["initializer_range"]

    return {name: drawn(name, shape).requires_grad_() for name, shape in shapes.items()}


def run_encoder(p, config, ids, head_gain=None, logits_at=None):
    """`ids` (N,L), padded with pad_token_id behind; `head_gain` {(layer, head): factor of the head's output};
    `logits_at` (N,L) bool: logits (count,V) of these places only. Returns an EncoderRun."""
    H, E, eps = config["num_attention_heads"], config["hidden_size"], config["layer_norm_eps"]
    N, L = ids.shape

    def linear(name, x):
        return F.linear(x, p[name + ".weight"], p[name + ".bias"])

    def norm(name, x):
        return F.layer_norm(x, (E,), p[name + ".LayerNorm.weight"], p[name + ".LayerNorm.bias"], eps)

    def heads(x):
        return x.view(N, L, H, E // H).transpose(1, 2)

    word = p["embeddings.word_embeddings.weight"]
    x = word[ids] + p["embeddings.position_embeddings.weight"][:L] + p["embeddings.token_type_embeddings.weight"][0]
    x = norm("embeddings", x)
    blocked = (ids == config["pad_token_id"])[:, None, None, :]
    hidden, attention = [x], []
    for layer in range(config["num_hidden_layers"]):
        at = layer_name(layer)
        q, k, v = (heads(linear(at + "attention.self." + part, x)) for part in ("query", "key", "value"))
        weights = (q @ k.transpose(2, 3) / math.sqrt(E // H)).masked_fill(blocked, -math.inf).softmax(-1)
        head_output = weights @ v
        for (gain_layer, head), gain in (head_gain or {}).items():
            if gain_layer == layer:
                scale = torch.ones(H)
                scale[head] = gain
                head_output = head_output * scale[None, :, None, None]
        concat = head_output.transpose(1, 2).reshape(N, L, E)
        x = norm(at + "attention.output", x + linear(at + "attention.output.dense", concat))
        inner = F.gelu(linear(at + "intermediate.dense", x))
        x = norm(at + "output", x + linear(at + "output.dense", inner))
        hidden.append(x)
        attention.append(weights)
    last = x if logits_at is None else x[logits_at]
    y = norm("cls.predictions.transform", F.gelu(linear("cls.predictions.transform.dense", last)))
    return EncoderRun(hidden, attention, F.linear(y, word, p["cls.predictions.bias"]))
