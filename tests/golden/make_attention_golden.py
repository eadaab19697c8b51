#!/usr/bin/python3
"""Writes attention_golden.json.gz: what a real PyTorch computes for many configurations of attention, in float64.

    /usr/bin/python3 make_attention_golden.py [--cases N]      (Debian: python3-torch, 1.13; python3-numpy)

Where torch.nn.MultiheadAttention or F.multi_head_attention_forward has the options of a case, their results are stored
(and the composed ones must agree with them); else the attention is composed here from torch primitives. Nothing of Headwise is
used, but its random numbers are made again (Philox4x32-10): arrays that are only random are not stored, a case names their
shape and amplitude. Arrays are in the layout of a trace: batch first, with heads as an axis of their own.

A case: {"name", "by", "seed", "options", "arrays": {name: array}, "expected": {name: array}}; "key": "query" in "arrays"
is self-attention. An array: {"shape"} and one of "amplitude" (random), "f64", "bool", "i64" (base64, little-endian).
"expected" holds gradients too, "grad.NAME" as autograd has them, of the loss Σ grad_output · the last output; "grad_output" is
a random array where "arrays" has it, else all ones.
"""

import argparse
import base64
import gzip
import json
import math
import os
import random

import numpy
import torch
import torch.nn.functional as F
from torch.nn.utils.stateless import functional_call

HERE = os.path.dirname(os.path.abspath(__file__))
INF = float("inf")
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


# ---- random numbers: (seed, name, index) -> [0, 1) ---------------------------------------------------------------------


def philox_bits(seed, stream, index):
    """64 random bits for each index (Salmon et al., SC 2011)."""
    low32 = numpy.uint64(0xFFFFFFFF)
    shift = numpy.uint64(32)
    index = numpy.asarray(index, dtype=numpy.uint64)
    counter = [index & low32, index >> shift, numpy.full_like(index, stream & 0xFFFFFFFF), numpy.full_like(index, stream >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a = counter[0] * numpy.uint64(0xD2511F53)
        b = counter[2] * numpy.uint64(0xCD9E8D57)
        counter = [(b >> shift) ^ counter[1] ^ numpy.uint64(key[0]), b & low32,
                   (a >> shift) ^ counter[3] ^ numpy.uint64(key[1]), a & low32]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter[0] | counter[1] << shift


def uniform(seed, name, count):
    stream = 0xCBF29CE484222325
    for byte in name.encode():
        stream = ((stream ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    bits = philox_bits(seed, stream, numpy.arange(count))
    return (bits >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53


def random_array(seed, name, shape, amplitude):
    """Multiples of amplitude/2048 in [-amplitude, amplitude): exact in float32 too."""
    cells = uniform(seed, name, int(numpy.prod(shape)))
    return torch.from_numpy((numpy.floor(cells * 4096) / 2048 - 1) * amplitude).reshape(shape)


# ---- storing arrays ----------------------------------------------------------------------------------------------------


def encoded(tensor):
    kind, dtype = {torch.bool: ("bool", "u1"), torch.int64: ("i64", "<i8"), torch.float64: ("f64", "<f8")}[tensor.dtype]
    data = tensor.detach().contiguous().numpy().astype(dtype).tobytes()
    return {"shape": list(tensor.shape), kind: base64.b64encode(data).decode()}


# ---- attention from torch primitives -----------------------------------------------------------------------------------

DEFAULTS = dict(op="multi_head_attention", embed_dim=8, num_heads=2, num_kv_heads=None, kdim=None, vdim=None, head_dim=None,
                v_head_dim=None, add_zero_attn=False, scale=None, softcap=0.0, temperature=1.0, dropout=0.0,
                dropout_seed=0, need_weights=True, average_attn_weights=True, residual=False, layer_norm=False,
                is_causal=False, causal_alignment="top_left", sliding_window=None, alibi=False, mask_value=None,
                fully_masked_rows="nan", head_gain=[])


def resolve(options):
    o = dict(DEFAULTS, **options)
    o["num_kv_heads"] = o["num_kv_heads"] or o["num_heads"]
    o["kdim"] = o["kdim"] or o["embed_dim"]
    o["vdim"] = o["vdim"] or o["embed_dim"]
    o["head_dim"] = o["head_dim"] or o["embed_dim"] // o["num_heads"]
    o["v_head_dim"] = o["v_head_dim"] or o["head_dim"]
    return o


def published_alibi_slopes(heads):
    def of_power_of_two(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    if math.log2(heads).is_integer():
        return of_power_of_two(heads)
    lower = 2 ** math.floor(math.log2(heads))
    return of_power_of_two(lower) + published_alibi_slopes(2 * lower)[0::2][: heads - lower]


def merged_mask(o, a, N, H, L, S):
    """(N,H,L,S) to add, or None without any mask."""
    parts = []
    blocked = torch.zeros(N, H, L, S, dtype=torch.bool)
    mask = a.get("attn_mask")
    if mask is not None:
        if o["op"] == "multi_head_attention":
            mask = mask.reshape(N, H, L, S) if mask.dim() == 3 else mask.expand(N, H, L, S)
            blocks = mask
        else:
            if 1 != mask.shape[-1] < S:
                mask = F.pad(mask, (0, S - mask.shape[-1]), value=False if mask.dtype == torch.bool else -INF)
            mask = mask.expand(N, H, L, S)
            blocks = ~mask if mask.dtype == torch.bool else mask
        if mask.dtype == torch.bool:
            blocked = blocked | blocks
        else:
            parts.append(mask)
    padding = a.get("key_padding_mask")
    if padding is not None:
        padding = padding[:, None, None, :].expand(N, H, L, S)
        if padding.dtype == torch.bool:
            blocked = blocked | padding
        else:
            parts.append(padding)
    lens = a.get("valid_lens")
    if lens is not None:
        lens = lens[:, None, None, None] if lens.dim() == 1 else lens[:, None, :, None]
        blocked = blocked | (torch.arange(S)[None, None, None, :] >= lens)
    offset = S - L if o["causal_alignment"] == "bottom_right" else 0
    back = torch.arange(L)[:, None] + offset - torch.arange(S)[None, :]
    if o["is_causal"]:
        blocked = blocked | (back < 0)
    if o["sliding_window"]:
        blocked = blocked | (back.abs() >= o["sliding_window"])
    if o["alibi"]:
        distance = back.clamp(min=0) if o["is_causal"] else back.abs()
        slopes = torch.tensor(published_alibi_slopes(H))
        parts.append((-slopes[:, None, None] * distance).expand(N, H, L, S))
    if not (o["is_causal"] or o["sliding_window"] or o["alibi"] or mask is not None or padding is not None or lens is not None):
        return None
    total = torch.zeros(N, H, L, S)
    for part in parts:
        total = total + part
    return total + torch.zeros(N, H, L, S).masked_fill(blocked, -INF)


def composed(o, a):
    """Every tensor of the trace, from torch primitives."""
    r = {}
    H, G, D, Dv = o["num_heads"], o["num_kv_heads"], o["head_dim"], o["v_head_dim"]
    sdpa = o["op"] == "scaled_dot_product_attention"
    if sdpa:
        q, k, v = a["query"], a["key"], a["value"]
        H, G, D = q.shape[1], k.shape[1], q.shape[3]
        S = k.shape[2]
    else:
        sizes = [H * D, G * D, G * Dv]
        weights = a["in_proj_weight"].split(sizes) if "in_proj_weight" in a else [
            a.get("q_proj_weight"), a.get("k_proj_weight"), a.get("v_proj_weight")]
        biases = a["in_proj_bias"].split(sizes) if "in_proj_bias" in a else [None] * 3
        N = a["query"].shape[0]
        join = lambda x: x.transpose(1, 2).flatten(2)
        r["q"] = F.linear(a["query"], weights[0], biases[0])
        k = join(a["static_k"]) if "static_k" in a else F.linear(a["key"], weights[1], biases[1])
        v = join(a["static_v"]) if "static_v" in a else F.linear(a["value"], weights[2], biases[2])
        S = k.shape[1]
        if "bias_k" in a:
            k = torch.cat([k, a["bias_k"].expand(N, 1, -1)], dim=1)
            v = torch.cat([v, a["bias_v"].expand(N, 1, -1)], dim=1)
        if o["add_zero_attn"]:
            k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
        r["k"], r["v"] = k, v
        split = lambda x, heads: x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(1, 2)
        r["q_heads"], r["k_heads"], r["v_heads"] = q, k, v = split(r["q"], H), split(k, G), split(v, G)
    N, _, L, _ = q.shape
    keys, values = k.repeat_interleave(H // G, dim=1), v.repeat_interleave(H // G, dim=1)
    r["scores"] = torch.einsum("nhld,nhsd->nhls", q, keys)
    scale = o["scale"] if o["scale"] is not None else D**-0.5
    r["scaled_scores"] = r["scores"] * scale / o["temperature"]
    if o["softcap"] > 0:
        r["scaled_scores"] = o["softcap"] * torch.tanh(r["scaled_scores"] / o["softcap"])
    masked = r["scaled_scores"]
    bias = merged_mask(o, a, N, H, L, S)
    if bias is not None:
        r["mask_bias"] = bias = F.pad(bias, (0, k.shape[2] - S))
        if o["mask_value"] is not None:
            masked = torch.where(bias == -INF, torch.full((), o["mask_value"]), masked + bias)
        else:
            masked = masked + bias
        r["masked_scores"] = masked
    if o["fully_masked_rows"] == "zero" and masked.shape[-1] > 0:
        empty = (masked == -INF).all(dim=-1, keepdim=True)
        weights = torch.softmax(masked.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    else:
        weights = torch.softmax(masked, dim=-1)
    r["attn_weights"] = weights
    if o["dropout"] > 0:
        kept = torch.from_numpy(uniform(o["dropout_seed"], "dropout", weights.numel())).reshape(weights.shape) >= o["dropout"]
        weights = weights * (kept.double() / (1 - o["dropout"]) if o["dropout"] < 1 else torch.zeros(()))
        r["dropped_weights"] = weights
    heads = torch.matmul(weights, values)
    r["head_output"] = heads
    if sdpa:
        return r
    if "heads.gain" in a:
        heads = heads * a["heads.gain"][:, None, None]
    r["concat"] = heads.transpose(1, 2).flatten(2)
    r["output"] = F.linear(r["concat"], a["out_proj.weight"], a.get("out_proj.bias"))
    last = r["output"]
    if o["residual"]:
        r["residual_output"] = last = a["query"] + last
    if o["layer_norm"]:
        r["layer_norm_output"] = F.layer_norm(last, last.shape[-1:])
    if o["need_weights"] and o["average_attn_weights"]:
        r["attn_output_weights"] = weights.mean(dim=1)
    elif o["need_weights"]:
        r["attn_output_weights"] = weights
    return r


# ---- PyTorch's own ------------------------------------------------------------------------------------------------------


def torch_has(o, a):
    """Whether F.multi_head_attention_forward of 1.13 has all that the case wants."""
    plain = dict(DEFAULTS, embed_dim=o["embed_dim"], num_heads=o["num_heads"], kdim=o["kdim"], vdim=o["vdim"],
                 num_kv_heads=o["num_heads"], head_dim=o["embed_dim"] // o["num_heads"],
                 v_head_dim=o["embed_dim"] // o["num_heads"], add_zero_attn=o["add_zero_attn"],
                 need_weights=o["need_weights"], average_attn_weights=o["average_attn_weights"])
    padding, mask = a.get("key_padding_mask"), a.get("attn_mask")
    float_padding = padding is not None and padding.dtype != torch.bool
    empty = 0 in a["query"].shape or 0 in a["key"].shape
    return o == plain and "valid_lens" not in a and not (float_padding and mask is not None) and not empty and (
        "static_k" in a) == ("static_v" in a)


def by_torch(o, a, batch_first):
    """(name of the function, output, attn_output_weights)"""
    E, H = o["embed_dim"], o["num_heads"]
    by_module = "static_k" not in a
    if by_module:
        packed = o["kdim"] == E and o["vdim"] == E
        if packed != ("in_proj_weight" in a) or ("in_proj_bias" in a) != ("out_proj.bias" in a):
            by_module = False
    if by_module:
        m = torch.nn.MultiheadAttention(E, H, bias="in_proj_bias" in a, add_bias_kv="bias_k" in a,
                                        add_zero_attn=o["add_zero_attn"], kdim=o["kdim"], vdim=o["vdim"],
                                        batch_first=batch_first)
        state = {n: a[n] for n in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias",
                                   "out_proj.weight", "out_proj.bias") if n in a}
        if "bias_k" in a:
            state.update(bias_k=a["bias_k"].reshape(1, 1, E), bias_v=a["bias_v"].reshape(1, 1, E))
        turn = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
        inputs = turn(a["query"]), turn(a["key"]), turn(a["value"])
        masks_and_wishes = dict(key_padding_mask=a.get("key_padding_mask"), attn_mask=a.get("attn_mask"),
                                need_weights=o["need_weights"], average_attn_weights=o["average_attn_weights"])
        assert set(state) == set(m.state_dict())
        out, weights = functional_call(m, state, inputs, masks_and_wishes)
        return "torch.nn.MultiheadAttention", turn(out), weights
    separate = "in_proj_weight" not in a
    turn = lambda x: x.transpose(0, 1)
    row = lambda n: a[n].reshape(1, 1, E) if n in a else None
    flat = lambda n: a[n].flatten(0, 1) if n in a else None
    out, weights = F.multi_head_attention_forward(
        turn(a["query"]), turn(a["key"]), turn(a["value"]), E, H, a.get("in_proj_weight"), a.get("in_proj_bias"),
        row("bias_k"), row("bias_v"), o["add_zero_attn"], 0.0, a["out_proj.weight"], a.get("out_proj.bias"),
        key_padding_mask=a.get("key_padding_mask"), need_weights=o["need_weights"], attn_mask=a.get("attn_mask"),
        use_separate_proj_weight=separate, q_proj_weight=a.get("q_proj_weight"), k_proj_weight=a.get("k_proj_weight"),
        v_proj_weight=a.get("v_proj_weight"), static_k=flat("static_k"), static_v=flat("static_v"),
        average_attn_weights=o["average_attn_weights"])
    return "F.multi_head_attention_forward", turn(out), weights


# What a trace calls the inputs of scaled_dot_product_attention.
HEADS_NAMES = {"query": "q_heads", "key": "k_heads", "value": "v_heads"}


# ---- cases --------------------------------------------------------------------------------------------------------------


class Case:
    """Options, sizes, and the arrays that are more than random."""

    def __init__(self, name, N=2, L=3, S=4, options=None, separate=None, bias=True, out_bias=True, bias_kv=False, static="",
                 self_attention=False, masks=None, special=None, amplitude=2.0, weight_amplitude=0.5, batch_first=True,
                 keep=None, ones=False):
        self.name, self.keep, self.batch_first, self.ones = name, keep, batch_first, ones
        self.options = o = resolve(options or {})
        H, G, D, Dv, E = o["num_heads"], o["num_kv_heads"], o["head_dim"], o["v_head_dim"], o["embed_dim"]
        self.random = {}  # name -> (shape, amplitude)
        self.given = dict(masks or {})
        self.self_attention = self_attention
        if o["op"] == "scaled_dot_product_attention":
            self.random["query"] = ((N, H, L, D), amplitude)
            self.random["key"] = ((N, G, S, D), amplitude)
            self.random["value"] = ((N, G, S, Dv), amplitude)
            self.given.update(special or {})
            return
        if separate is None:
            separate = o["kdim"] != E or o["vdim"] != E
        rows = [H * D, G * D, G * Dv]
        self.random["query"] = ((N, L, E), amplitude)
        if not self_attention:
            self.random["key"] = ((N, S, o["kdim"]), amplitude)
            self.random["value"] = ((N, S, o["vdim"]), amplitude)
        if separate:
            self.random["q_proj_weight"] = ((rows[0], E), weight_amplitude)
            self.random["k_proj_weight"] = ((rows[1], o["kdim"]), weight_amplitude)
            self.random["v_proj_weight"] = ((rows[2], o["vdim"]), weight_amplitude)
        else:
            self.random["in_proj_weight"] = ((sum(rows), E), weight_amplitude)
        if bias:
            self.random["in_proj_bias"] = ((sum(rows),), weight_amplitude)
        if bias_kv:
            self.random["bias_k"] = ((G * D,), 1.0)
            self.random["bias_v"] = ((G * Dv,), 1.0)
        if "k" in static:
            self.random["static_k"] = ((N, G, S, D), 1.0)
        if "v" in static:
            self.random["static_v"] = ((N, G, S, Dv), 1.0)
        self.random["out_proj.weight"] = ((E, H * Dv), weight_amplitude)
        if out_bias and bias:
            self.random["out_proj.bias"] = ((E,), weight_amplitude)
        if o["head_gain"]:
            self.given["heads.gain"] = torch.tensor(o["head_gain"])
        self.given.update(special or {})

    def arrays(self, seed):
        a = {n: random_array(seed, n, shape, amplitude) for n, (shape, amplitude) in self.random.items()}
        for name, value in self.given.items():
            a[name] = value(a[name]) if callable(value) else value
        if self.self_attention:
            a["key"] = a["value"] = a["query"]
        return a

    def to_json(self, seed):
        a = self.arrays(seed)
        grad_output = self.grad_output(seed)
        r, gradients, last = self.with_gradients(composed, a, grad_output)
        by = "composed from torch primitives"
        # 1.13 fills a float mask where keys are padding, 2.x adds to it: the mask's gradients differ in rows that are NaN.
        float_mask = "attn_mask" in a and a["attn_mask"].is_floating_point()
        filled_nan = float_mask and "key_padding_mask" in a and bool(r["head_output"].isnan().any())
        if self.options["op"] == "multi_head_attention" and torch_has(self.options, a) and not filled_nan:
            torchs, torchs_gradients, _ = self.with_gradients(by_torch, a, grad_output)
            by = torchs.pop("by")
            for mine, theirs in [(r, torchs), (gradients, torchs_gradients)]:
                for name, value in theirs.items():
                    assert torch.allclose(value, mine[name], rtol=1e-11, atol=1e-13, equal_nan=True), (self.name, name)
                    mine[name] = value
        arrays = {}
        for name, value in a.items():
            if self.self_attention and name in ("key", "value"):
                arrays[name] = "query"
            elif name in self.given:
                arrays[name] = encoded(value)
            else:
                arrays[name] = {"shape": list(value.shape), "amplitude": self.random[name][1]}
        if grad_output is not None:
            arrays["grad_output"] = {"shape": list(last.shape), "amplitude": 1.0}
        expected = {n: encoded(x) for n, x in r.items() if self.keep is None or n in self.keep}
        for name, value in gradients.items():
            given = name.removeprefix("grad.") in [*a, *HEADS_NAMES.values()]
            if self.keep is None or name in self.keep or given and "grad" in self.keep:
                expected[name] = encoded(value)
        options = {n: x for n, x in self.options.items() if x != DEFAULTS[n]}
        return {"name": self.name, "by": by, "seed": seed, "options": options, "arrays": arrays, "expected": expected}

    def grad_output(self, seed):
        """A function of the last output's shape, or None: all ones."""
        return None if self.ones else lambda shape: random_array(seed, "grad_output", shape, 1.0)

    def with_gradients(self, function, a, grad_output):
        """(the tensors that the function makes, the gradients of what it read and made, the last output)"""
        leaves = {n: x.clone().requires_grad_() if x.is_floating_point() else x for n, x in a.items()}
        if self.self_attention:
            leaves["key"] = leaves["value"] = leaves["query"]
        if function is by_torch:
            by, output, weights = by_torch(self.options, leaves, self.batch_first)
            r = {"by": by, "output": output}
            if weights is not None:
                r["attn_output_weights"] = weights
        else:
            r = function(self.options, leaves)
        made = {n: x for n, x in r.items() if torch.is_tensor(x) and n != "attn_output_weights"}
        last = next(made[n] for n in ("layer_norm_output", "residual_output", "output", "head_output") if n in made)
        for x in made.values():
            if x.requires_grad:
                x.retain_grad()
        (last if grad_output is None else last * grad_output(last.shape)).sum().backward()
        gradients = {}
        for name, x in {**leaves, **made}.items():
            if not x.is_floating_point() or (self.self_attention and name in ("key", "value")):
                continue
            if name in made and x.grad is None:
                continue  # not on the way to the loss
            if self.options["op"] == "scaled_dot_product_attention":
                name = HEADS_NAMES.get(name, name)
            gradients["grad." + name] = torch.zeros_like(x) if x.grad is None else x.grad
        return {n: x.detach() if torch.is_tensor(x) else x for n, x in r.items()}, gradients, last


def bools(rng, shape, share):
    return torch.tensor([rng.random() < share for _ in range(int(numpy.prod(shape)))], dtype=torch.bool).reshape(shape)


def floats(rng, shape, minus_inf=0.0):
    cells = [-INF if rng.random() < minus_inf else rng.randint(-64, 64) / 16 for _ in range(int(numpy.prod(shape)))]
    return torch.tensor(cells, dtype=torch.float64).reshape(shape)


def put(index, value):
    """An array of the case with one cell set."""
    def edit(x):
        x = x.clone()
        x[index] = value
        return x
    return edit


def named_cases():
    """Each option by itself, and the combinations that are known to go wrong."""
    rng = random.Random(1)
    mha = lambda **o: o
    sdpa = lambda **o: dict(op="scaled_dot_product_attention", **o)
    tail = torch.tensor([[0, 0, 0, 1], [0, 0, 1, 1]], dtype=torch.bool)
    row_blocked = torch.zeros(3, 4, dtype=torch.bool)
    row_blocked[1] = True
    yield Case("self-attention", self_attention=True, S=3)
    yield Case("self-attention, sequence first", self_attention=True, S=3, batch_first=False)
    yield Case("cross-attention")
    yield Case("cross-attention, a loss that is the sum of the output", ones=True)
    yield Case("one head", options=mha(num_heads=1))
    yield Case("heads of width 1", options=mha(num_heads=8))
    yield Case("one token meets one token", N=1, L=1, S=1)
    yield Case("no bias", bias=False)
    yield Case("an input bias, no output bias", out_bias=False)
    yield Case("separate matrices of equal width", separate=True)
    yield Case("kdim and vdim of their own", options=mha(kdim=5, vdim=6))
    yield Case("kdim and vdim of their own, no bias", options=mha(kdim=3, vdim=9), bias=False)
    yield Case("bias_k and bias_v", bias_kv=True)
    yield Case("bias_k and bias_v with masks", bias_kv=True, masks={"key_padding_mask": tail, "attn_mask": bools(rng, (3, 4), 0.3)})
    yield Case("a zero row", options=mha(add_zero_attn=True))
    yield Case("bias row, then zero row, under a mask that blocks all", options=mha(add_zero_attn=True), bias_kv=True,
               masks={"key_padding_mask": torch.ones(2, 4, dtype=torch.bool)})
    yield Case("static_k and static_v", static="kv")
    yield Case("static_k and static_v with a zero row and padding", static="kv", options=mha(add_zero_attn=True),
               masks={"key_padding_mask": tail})
    yield Case("static_k alone", static="k")
    yield Case("static_v alone", static="v")
    yield Case("key_padding_mask", masks={"key_padding_mask": tail})
    yield Case("key_padding_mask as floats", masks={"key_padding_mask": floats(rng, (2, 4))})
    yield Case("attn_mask of two axes", masks={"attn_mask": bools(rng, (3, 4), 0.4)})
    yield Case("attn_mask of three axes", masks={"attn_mask": bools(rng, (4, 3, 4), 0.4)})
    yield Case("attn_mask as floats", masks={"attn_mask": floats(rng, (3, 4), 0.2)})
    yield Case("attn_mask as floats, of three axes", masks={"attn_mask": floats(rng, (4, 3, 4), 0.2)})
    yield Case("both masks, boolean", masks={"attn_mask": bools(rng, (3, 4), 0.2), "key_padding_mask": tail})
    yield Case("both masks, a float and a boolean one", masks={"attn_mask": floats(rng, (3, 4)), "key_padding_mask": tail})
    yield Case("both masks, floats", masks={"attn_mask": floats(rng, (3, 4)), "key_padding_mask": floats(rng, (2, 4))})
    yield Case("a row of nothing but blocked keys is NaN", masks={"attn_mask": row_blocked})
    yield Case("a row of nothing but blocked keys is zero", masks={"attn_mask": row_blocked}, options=mha(fully_masked_rows="zero"))
    yield Case("a row blocked by floats is zero", masks={"attn_mask": torch.zeros(3, 4).masked_fill(row_blocked, -INF)}, options=mha(fully_masked_rows="zero"))
    yield Case("blocked keys are filled with -1e9", masks={"attn_mask": row_blocked, "key_padding_mask": tail}, options=mha(mask_value=-1e9))
    yield Case("a filled mask of valid lengths", masks={"valid_lens": torch.tensor([3, 0])}, options=mha(mask_value=-1e6))
    yield Case("weights of every head", options=mha(average_attn_weights=False))
    yield Case("no weights", options=mha(need_weights=False))
    yield Case("head widths of their own", options=mha(head_dim=3, v_head_dim=5))
    yield Case("grouped heads", options=mha(num_heads=4, num_kv_heads=2))
    yield Case("one key/value head for all", options=mha(num_heads=4, num_kv_heads=1), bias_kv=True)
    yield Case("grouped heads with separate matrices", options=mha(num_heads=4, num_kv_heads=2, kdim=5, head_dim=3), separate=True)
    yield Case("a scale of one's own", options=mha(scale=0.3))
    yield Case("a scale of 0", options=mha(scale=0.0))
    yield Case("a scale below 0", options=mha(scale=-0.5))
    yield Case("softcap", options=mha(softcap=1.5))
    yield Case("temperature and softcap", options=mha(softcap=1.5, temperature=0.5))
    yield Case("dropout", options=mha(dropout=0.4, dropout_seed=2**40 + 5))
    yield Case("dropout of everything", options=mha(dropout=1.0))
    yield Case("causal", L=4, S=4, self_attention=True, options=mha(is_causal=True))
    yield Case("causal, more keys than queries", L=3, S=5, options=mha(is_causal=True))
    yield Case("causal from the bottom right", L=3, S=5, options=mha(is_causal=True, causal_alignment="bottom_right"))
    yield Case("causal from the bottom right, more queries than keys", L=5, S=3,
               options=mha(is_causal=True, causal_alignment="bottom_right"))
    yield Case("causal, beside a mask and padding", L=4, S=4, options=mha(is_causal=True),
               masks={"attn_mask": floats(rng, (4, 4)), "key_padding_mask": tail})
    yield Case("a window to both sides", L=6, S=6, options=mha(sliding_window=2))
    yield Case("a window into the past", L=6, S=6, options=mha(sliding_window=3, is_causal=True), self_attention=True)
    yield Case("a window from the bottom right", L=3, S=6, options=mha(sliding_window=2, causal_alignment="bottom_right"))
    yield Case("ALiBi", L=4, S=4, options=mha(alibi=True, num_heads=4))
    yield Case("ALiBi, causal, six heads", L=4, S=4, options=mha(alibi=True, is_causal=True, num_heads=6, embed_dim=12))
    yield Case("ALiBi with appended columns", options=mha(alibi=True, add_zero_attn=True), bias_kv=True)
    yield Case("valid lengths of each batch", masks={"valid_lens": torch.tensor([2, 4])})
    yield Case("valid lengths of each query", masks={"valid_lens": torch.tensor([[1, 2, 3], [4, 1, 2]])})
    yield Case("residual", options=mha(residual=True))
    yield Case("layer norm", options=mha(layer_norm=True))
    yield Case("add and norm", options=mha(residual=True, layer_norm=True))
    yield Case("head gains", options=mha(num_heads=4, head_gain=[1.0, 0.0, -2.0, 0.5]))
    yield Case("no query", L=0)
    yield Case("no key", S=0)
    yield Case("no batch", N=0)
    yield Case("no key but the zero row", S=0, options=mha(add_zero_attn=True))
    yield Case("a softmax that saturates", amplitude=16.0)
    yield Case("a NaN key under padding", special={"key": put((1, 3, 2), math.nan)}, masks={"key_padding_mask": tail})
    yield Case("an infinite value under padding", special={"value": put((0, 3, 0), INF)}, masks={"key_padding_mask": tail})
    yield Case("a NaN query", special={"query": put((0, 1, 1), math.nan)})
    yield Case("a NaN in a float mask", masks={"attn_mask": put((0, 1), math.nan)(floats(rng, (3, 4)))})
    yield Case("plus infinity in a float mask", masks={"attn_mask": put((0, 1), INF)(floats(rng, (3, 4)))})
    yield Case("scaled dot product", options=sdpa(num_heads=2, head_dim=3))
    yield Case("scaled dot product, True takes part", options=sdpa(), masks={"attn_mask": bools(rng, (3, 4), 0.6)})
    for shape in [(4,), (1, 4), (3, 1), (2, 3, 4), (1, 3, 4), (2, 1, 3, 4), (1, 2, 1, 4), (2, 2, 3, 4), (2, 1, 1, 1)]:
        yield Case(f"scaled dot product, a mask of {shape}", options=sdpa(fully_masked_rows="zero"),
                   masks={"attn_mask": bools(rng, shape, 0.7) if len(shape) % 2 else floats(rng, shape, 0.1)})
    yield Case("scaled dot product, a mask short in S", options=sdpa(), masks={"attn_mask": floats(rng, (3, 2))})
    yield Case("scaled dot product, a boolean mask short in S", options=sdpa(fully_masked_rows="zero"), masks={"attn_mask": bools(rng, (2, 1, 3, 3), 0.7)})
    yield Case("scaled dot product, grouped, values of another width", options=sdpa(num_heads=6, num_kv_heads=2, head_dim=3, v_head_dim=5))
    yield Case("scaled dot product, causal", options=sdpa(is_causal=True))
    yield Case("scaled dot product, causal from the bottom right", L=5, S=3,
               options=sdpa(is_causal=True, causal_alignment="bottom_right", fully_masked_rows="zero"))
    yield Case("scaled dot product, scale 0", options=sdpa(scale=0.0))
    yield Case("scaled dot product, softcap and a window", L=5, S=5, options=sdpa(softcap=2.0, sliding_window=2))
    yield Case("scaled dot product, dropout", options=sdpa(dropout=0.5, dropout_seed=9))
    yield Case("scaled dot product, a NaN value that nobody looks at", options=sdpa(fully_masked_rows="zero"),
               special={"value": put((0, 0, 3, 1), math.nan)}, masks={"attn_mask": torch.tensor([True, True, True, False])})
    yield Case("model width 512", N=1, L=4, S=5, options=mha(embed_dim=512, num_heads=8), weight_amplitude=0.0625,
               amplitude=1.0, keep=["output", "attn_output_weights", "grad.query", "grad.out_proj.bias"])


def drawn_case(rng, number):
    """Any options together."""
    pick, chance = rng.choice, lambda share: rng.random() < share
    sdpa, beyond = chance(0.25), chance(0.6)
    H = pick([1, 2, 2, 2, 3, 4])
    o = dict(num_heads=H, embed_dim=H * pick([1, 2, 2, 3]), need_weights=chance(0.85), average_attn_weights=chance(0.6))
    N, L, S = pick([1, 2, 2, 3]), pick([1, 2, 3, 4]), pick([1, 2, 3, 4, 5])
    extra = {}
    if sdpa:
        o.update(op="scaled_dot_product_attention")
    else:
        o.update(add_zero_attn=chance(0.2))
        if chance(0.3):
            o.update(kdim=pick([2, 3, 5]), vdim=pick([2, 4, 5]))
        extra.update(bias=chance(0.75), out_bias=chance(0.9), separate=True if chance(0.2) else None,
                     batch_first=chance(0.5))
        if chance(0.2):
            extra["static"] = "kv"
        elif chance(0.25):
            extra["bias_kv"] = True
        if S == L and chance(0.7) and "kdim" not in o:
            extra["self_attention"] = True
    if beyond:
        o.update(num_kv_heads=pick([g for g in range(1, H + 1) if H % g == 0]))
        if chance(0.4):
            o.update(head_dim=pick([1, 2, 3]), v_head_dim=pick([1, 2, 4]))
        for share, option in [(0.2, dict(scale=pick([0.0, -0.7, 0.25, 1.0]))), (0.2, dict(softcap=pick([0.5, 2.0]))),
                              (0.2, dict(temperature=pick([0.5, 3.0]))),
                              (0.25, dict(dropout=pick([0.1, 0.5, 0.9]), dropout_seed=rng.getrandbits(64))),
                              (0.3, dict(is_causal=True)), (0.4, dict(causal_alignment="bottom_right")),
                              (0.2, dict(sliding_window=pick([1, 2, 3]))), (0.2, dict(alibi=True)),
                              (0.2, dict(mask_value=pick([-1e9, -1e6, -3.0]))), (0.5, dict(fully_masked_rows="zero"))]:
            if chance(share):
                o.update(option)
        if not sdpa:
            o.update(residual=chance(0.2), layer_norm=chance(0.2))
            if chance(0.2):
                o.update(head_gain=[pick([0.0, 1.0, -1.5, 2.0]) for _ in range(H)])
    masks = {}
    if chance(0.4):
        shape = pick([(L, S), (N * H, L, S)] if not sdpa else
                     [(L, S), (1, S), (H, L, S), (N, 1, L, S), (N, H, L, S), (H, 1, S), (S,)])
        masks["attn_mask"] = bools(rng, shape, 0.7 if sdpa else 0.3) if chance(0.5) else floats(rng, shape, 0.1)
    if chance(0.3):
        masks["key_padding_mask"] = bools(rng, (N, S), 0.3) if chance(0.7) else floats(rng, (N, S), 0.1)
    if beyond and chance(0.2):
        shape = pick([(N,), (N, L)])
        masks["valid_lens"] = torch.tensor([rng.randint(0, S) for _ in range(int(numpy.prod(shape)))]).reshape(shape)
    return Case(f"drawn {number}", N=N, L=L, S=S, options=o, masks=masks, **extra,
                ones=chance(0.2),
                keep=["output", "head_output", "attn_weights", "attn_output_weights", "layer_norm_output", "grad"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=410, help="how many in all")
    wanted = parser.parse_args().cases
    cases = list(named_cases())
    rng = random.Random(20)
    cases += [drawn_case(rng, number) for number in range(max(0, wanted - len(cases)))]
    text = json.dumps([case.to_json(seed) for seed, case in enumerate(cases)], separators=(",", ":"), sort_keys=True)
    path = os.path.join(HERE, "attention_golden.json.gz")
    with open(path, "wb") as file:
        file.write(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(cases)} cases, {os.path.getsize(path)} bytes in {path}")


main()
