"""Configurations of attention drawn at random: a scenario, and arrays in PyTorch's layouts.

The arrays are float64, and exact in float32, so that both widths compute from the same numbers."""
import math

import numpy as np


def exact_in_f32(array):
    return array.astype(np.float32).astype(np.float64)


class Draw:
    """A seeded source of choices."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def chance(self, share):
        return bool(self.rng.random() < share)

    def among(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def normal(self, *sizes, deviation=1.0):
        return exact_in_f32(self.rng.standard_normal(sizes) * deviation)

    def bools(self, shape, share):
        return self.rng.random(shape) < share

    def float_mask(self, shape, minus_inf=0.1):
        mask = self.normal(*shape)
        mask[self.rng.random(shape) < minus_inf] = -math.inf
        return mask


def poison(draw, arrays, names):
    """A NaN or an infinity in one cell of one array."""
    name = draw.among([name for name in names if name in arrays and arrays[name].dtype == np.float64])
    if arrays[name].size:
        arrays[name] = arrays[name].copy()
        cell = int(draw.rng.integers(arrays[name].size))
        arrays[name].reshape(-1)[cell] = draw.among([math.nan, math.inf, -math.inf])


def draw_multi_head_attention(draw, amplitude=1.0, sizes=None, special=True):
    """One configuration of F.multi_head_attention_forward. `sizes`: (heads, width, batch, queries, keys)."""
    if sizes:
        heads, width, batch, queries, keys = sizes
    else:
        heads = draw.among([1, 2, 3, 4, 8])
        width = heads * draw.among([1, 2, 3, 5, 8, 16])
        batch, queries, keys = draw.among([1, 2, 3]), draw.among([1, 2, 5, 11]), draw.among([1, 2, 6, 13])
        if special and draw.chance(0.08):
            batch, queries, keys = draw.among([(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0)])
    unbatched = batch == 1 and draw.chance(0.5)
    self_attention = draw.chance(0.35)
    fixed = not self_attention and draw.chance(0.2)
    separate = not self_attention and draw.chance(0.4)
    keys = queries if self_attention else keys
    own_widths = separate and draw.chance(0.7)
    kdim, vdim = (draw.among([1, 4, 7, 20]), draw.among([1, 3, 9, 20])) if own_widths else (width, width)
    batch_first = draw.chance(0.5)

    def sequence(length, features):
        if unbatched:
            return draw.normal(length, features, deviation=amplitude)
        shape = (batch, length) if batch_first else (length, batch)
        return draw.normal(*shape, features, deviation=amplitude)

    arrays = {"query": sequence(queries, width), "grad_output": sequence(queries, width) / amplitude}
    arrays["grad_output"] = exact_in_f32(arrays["grad_output"])
    if not self_attention:
        arrays["key"], arrays["value"] = sequence(keys, kdim), sequence(keys, vdim)
    matrix = lambda rows, columns: draw.normal(rows, columns, deviation=1 / math.sqrt(columns))
    if separate:
        arrays.update(q_proj_weight=matrix(width, width), k_proj_weight=matrix(width, kdim), v_proj_weight=matrix(width, vdim))
    else:
        arrays["in_proj_weight"] = matrix(3 * width, width)
    arrays["out_proj.weight"] = matrix(width, width)
    bias = draw.chance(0.7)
    if bias:
        arrays["in_proj_bias"], arrays["out_proj.bias"] = draw.normal(3 * width), draw.normal(width)
    if fixed:
        shape = (batch * heads, keys, width // heads)
        arrays["static_k"], arrays["static_v"] = draw.normal(*shape), draw.normal(*shape)
    elif draw.chance(0.3):
        arrays["bias_k"], arrays["bias_v"] = draw.normal(1, 1, width), draw.normal(1, 1, width)
    attention = {"embed_dim": width, "num_heads": heads, "bias": bias, "add_bias_kv": "bias_k" in arrays,
                 "add_zero_attn": draw.chance(0.3), "average_attn_weights": draw.chance(0.5), "need_weights": draw.chance(0.7)}
    if own_widths:
        attention.update(kdim=kdim, vdim=vdim)
    kind = draw.among(["none", "none", "bool2", "bool3", "float2", "float3"])
    mask_shape = (queries, keys) if kind.endswith("2") else (batch * heads, queries, keys)
    share = draw.among([0.1, 0.3, 0.7])
    if kind.startswith("bool"):
        arrays["attn_mask"] = draw.bools(mask_shape, share)
    elif kind.startswith("float"):
        arrays["attn_mask"] = draw.float_mask(mask_shape, draw.among([0.0, 0.1, 0.5]))
    if draw.chance(0.4):
        shape = (keys,) if unbatched else (batch, keys)
        arrays["key_padding_mask"] = draw.bools(shape, share) if draw.chance(0.6) else draw.float_mask(shape)
    if special and draw.chance(0.15):
        poison(draw, arrays, ["query", "key", "value", "attn_mask", "static_k", "bias_k", "in_proj_weight"])
    scenario = {"headwise": 1, "attention": attention, "inputs": {"self_attention": self_attention, "batch_first": batch_first}}
    if draw.chance(0.25):
        scenario["mask"] = {"is_causal": True}
    return scenario, arrays


def draw_scaled_dot_product_attention(draw, amplitude=1.0, special=True):
    """One configuration of F.scaled_dot_product_attention: masks of every rank, grouped heads, scales, causal."""
    kv_heads = draw.among([1, 1, 2, 3])
    heads = kv_heads * draw.among([1, 1, 2, 4])
    batch, queries, keys = draw.among([1, 2, 3]), draw.among([1, 2, 5, 11]), draw.among([1, 2, 6, 13])
    if special and draw.chance(0.08):
        batch, queries, keys = draw.among([(0, 3, 4), (2, 0, 4), (2, 3, 0)])
    width, v_width = draw.among([1, 2, 3, 8, 16]), draw.among([1, 4, 8, 16])
    arrays = {"query": draw.normal(batch, heads, queries, width, deviation=amplitude),
              "key": draw.normal(batch, kv_heads, keys, width, deviation=amplitude),
              "value": draw.normal(batch, kv_heads, keys, v_width), "grad_output": draw.normal(batch, heads, queries, v_width)}
    if draw.chance(0.6):
        full = [batch, heads, queries, keys]
        rank = draw.among([2, 3, 4])
        shape = [1 if draw.chance(0.3) else size for size in full[4 - rank:]]
        if draw.chance(0.5):
            arrays["attn_mask"] = draw.bools(tuple(shape), draw.among([0.2, 0.6, 0.9]))
        else:
            arrays["attn_mask"] = draw.float_mask(tuple(shape), draw.among([0.0, 0.3]))
    scenario = {"headwise": 1, "op": "scaled_dot_product_attention", "attention": {}}
    if draw.chance(0.4):
        scenario["attention"]["scale"] = draw.among([0.0, -0.5, 0.25, 1.0, 3.0])
    if draw.chance(0.3):
        scenario["mask"] = {"is_causal": True}
    if special and draw.chance(0.12):
        poison(draw, arrays, ["query", "key", "value", "attn_mask"])
    return scenario, arrays


def draw_case(seed, case, amplitude=1.0, special=True):
    draw = Draw((seed, case))
    if draw.chance(0.65):
        return draw_multi_head_attention(draw, amplitude, special=special)
    return draw_scaled_dot_product_attention(draw, amplitude, special=special)
