"""Right programs, drawn at random: the same attention written in several ways, in several types, kept in several layouts.

None of them may differ for `headwise compare`."""
import json, math

import numpy as np

from numpy_attention import Attention, Case


class HeadByHead(Attention):
    """Loops over heads, scales q before the product, and shifts nothing before exp."""

    def run(self):
        c, t = self.c, super().run()
        if c.softcap or "key_padding_mask" in self.a:
            return t
        q, k = (t.get(f"{n}_rotary", t.get(f"{n}_heads", self.a.get("query" if n == "q" else "key"))) for n in "qk")
        v = self.a["value"] if c.sdpa else t["v_heads"]
        blocked, bias = self.blocked()
        outputs, weights = [], []
        for h in range(c.heads):
            g = h // (c.heads // c.kv_heads)
            x = np.einsum("nld,nsd->nls", q[:, h] * np.sqrt(np.abs(self.scale())), k[:, g] * np.sqrt(np.abs(self.scale())))
            x = x * np.sign(self.scale()) + (bias if np.ndim(bias) < 3 else bias[h])
            e = np.where(blocked[:, h], 0, np.exp(x))
            weights.append(e / e.sum(-1, keepdims=True))
            outputs.append(np.einsum("nls,nsd->nld", weights[-1], v[:, g]))
        t = {"attn_weights": np.stack(weights, 1), "head_output": np.stack(outputs, 1)}
        if c.sdpa:
            return {**t, "output": t["head_output"]}
        t["concat"] = np.concatenate(outputs, -1)
        t["output"] = self.project_out(t["concat"])
        return t


class FilledWithLargeNegative(Attention):
    """Blocks with −1e9; where no row is blocked as a whole the weights are the same."""

    def masked(self, scaled):
        blocked, bias = self.blocked()
        return np.where(blocked, -1e9, scaled + bias)

    def run(self):
        t = super().run()
        t.pop("masked_scores")
        return t


class KeyByKey(Attention):
    """The softmax as flash attention computes it: a running maximum, a running sum."""

    def softmax(self, x):
        m, total = np.full(x.shape[:-1] + (1,), -np.inf, x.dtype), np.zeros(x.shape[:-1] + (1,), x.dtype)
        parts = []
        for s in range(x.shape[-1]):
            now = np.maximum(m, x[..., s:s + 1])
            finite = np.where(np.isneginf(now), 0, now)
            total = total * np.exp(np.where(np.isneginf(m), -np.inf, m - finite)) + np.exp(x[..., s:s + 1] - finite)
            m = now
        return np.exp(x - m) / total


def bf16_bits(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def safetensors(arrays, to_bf16):
    header, data = {}, b""
    for name, x in arrays.items():
        raw = (bf16_bits(x) if to_bf16 else np.ascontiguousarray(x, np.float32)).tobytes()
        header[name] = {"dtype": "BF16" if to_bf16 else "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def in_layout(rng, name, x, case, length_first):
    """The same numbers as other programs keep them."""
    inside = name in ("q", "k", "v", "concat")
    if x.ndim == 3 and (length_first or inside) and name != "attn_output_weights":
        # (L,N,E) is ambiguous in the module's interface unless it says so; inside, all of them are read.
        if length_first or (inside and x.shape[0] != x.shape[1] and rng.random() < 0.3):
            return x.transpose(1, 0, 2)
    if x.ndim == 4 and name in ("q_heads", "k_heads", "v_heads", "head_output", "q_rotary", "k_rotary"):
        choice = rng.integers(6)
        if choice == 0:
            return x.reshape(-1, *x.shape[2:])  # heads folded into the batch
        if choice == 1 and x.shape[1] != x.shape[2]:
            return x.transpose(0, 2, 1, 3)
        if choice == 2 and name in ("k_heads", "k_rotary", "v_heads") and case.kv_heads != case.heads:
            return np.repeat(x, case.heads // case.kv_heads, 1)
    if name in ("scores", "attn_weights") and rng.random() < 0.2:
        return x.reshape(-1, *x.shape[2:])
    return x


def draw_right_program(seed, number):
    """(scenario, inputs, theirs, what it is in words)"""
    rng = np.random.default_rng((seed, 77, number))
    chance = lambda share: bool(rng.random() < share)
    among = lambda *choices: choices[int(rng.integers(len(choices)))]
    kv_heads = among(1, 2, 3)
    heads = kv_heads * among(1, 1, 2, 4)
    self_attention = chance(0.5)
    queries = among(2, 3, 5, 9, 16)
    keys = queries if self_attention else among(3, 4, 7, 12)
    sdpa = chance(0.25)
    computed_in = among("f64", "f64", "f32")
    sizes = dict(batch=among(1, 2, 3), queries=queries, keys=keys, heads=heads, kv_heads=kv_heads, head_dim=among(2, 4, 6, 8, 16),
                 sdpa=sdpa, self_attention=self_attention, causal=chance(0.3), padding=not sdpa and chance(0.3), mask=among(None, None, "bool", "float"),
                 rotary=among(None, None, 10000.0, 500.0), bias=chance(0.7), separate=chance(0.3),
                 scale=among(None, None, None, 0.5, -0.25, 1.0), softcap=among(None, None, None, 5.0, 50.0), residual=chance(0.2),
                 layer_norm=chance(0.2), alibi=chance(0.1), average=chance(0.5), amplitude=among(0.1, 1.0, 1.0, 4.0),
                 window=among(None, None, None, 3), dtype=np.float64 if computed_in == "f64" else np.float32)
    if sizes["alibi"]:
        sizes["heads"] = sizes["kv_heads"] = 4
    if not self_attention and not sdpa and queries < keys:
        sizes["bottom_right"] = chance(0.3)
    if sizes["window"] and queries > keys:
        sizes["window"] = None
    program = among(Attention, Attention, HeadByHead, FilledWithLargeNegative, KeyByKey)
    case = Case(rng, **sizes)
    with np.errstate(all="ignore"):
        t = program(case).run()
        blocked = case.sdpa is not None and Attention(case).blocked()[0].all(-1).any()
    if blocked and (program is not Attention or case.sdpa):
        with np.errstate(all="ignore"):
            t, program = Attention(case).run(), Attention
        if case.sdpa:  # PyTorch's function gives zeros there
            t = {n: np.nan_to_num(x, nan=0.0) if n in ("attn_weights", "head_output", "output") else x for n, x in t.items()}
    scenario, arrays = case.scenario(), dict(case.arrays)
    length_first = not sdpa and chance(0.25)
    if length_first:
        scenario["inputs"]["batch_first"] = False
        for name in ("query", "key", "value"):
            if name in arrays:
                arrays[name] = arrays[name].transpose(1, 0, 2)
    kept = among("all", "all", "output", "weights", "some")
    last = [n for n in ("layer_norm_output", "residual_output", "output") if n in t][0]
    names = {"all": list(t), "output": [last], "weights": ["attn_weights"], "some": [n for n in t if chance(0.5)] or [last]}[kept]
    theirs = {n: np.ascontiguousarray(in_layout(rng, n, t[n], case, length_first)) for n in names}
    stored = computed_in if chance(0.6) else among("f32", "f16", "bf16")
    if stored == "f32":
        theirs = {n: x.astype(np.float32) for n, x in theirs.items()}
    elif stored == "f16":
        theirs = {n: x.astype(np.float16) for n, x in theirs.items()}
    if stored == "bf16" or (stored == "f32" and chance(0.2)):
        theirs = safetensors(theirs, stored == "bf16")
    ours_in = "f32" if computed_in == "f32" and chance(0.5) else "f64"
    what = {"program": program.__name__, "in": computed_in, "stored as": stored, "kept": kept, "length_first": length_first, **sizes}
    return scenario, arrays, theirs, ours_in, {n: str(v) for n, v in what.items() if v is not None}
