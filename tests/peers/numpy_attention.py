"""Multi-head attention in numpy, written for itself: a method for each step, so that a wrong program changes one of them.

Masks are kept as "blocked" (True) of shape (N,H,L,S), plus a float bias. Nothing here is taken from Headwise's own sources."""
import math

import numpy as np


def round_bf16(x):
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
    return np.where(np.isfinite(x), rounded.view(np.float32), x).astype(np.float32)


class Case:
    """Sizes, options and arrays of one attention, and the scenario that tells Headwise the same."""

    def __init__(self, rng, batch=2, queries=6, keys=6, heads=4, kv_heads=None, head_dim=4, v_head_dim=None, sdpa=False,
                 self_attention=True, causal=False, bottom_right=False, padding=False, mask=None, rotary=None, bias=True,
                 scale=None, softcap=None, residual=False, layer_norm=False, separate=False, amplitude=1.0, dtype=np.float64,
                 alibi=False, window=None, average=False, latent=None):
        self.batch, self.queries, self.keys, self.heads = batch, queries, keys, heads
        self.kv_heads, self.head_dim = kv_heads or heads, head_dim
        self.v_head_dim = v_head_dim or head_dim
        self.sdpa, self.causal, self.bottom_right, self.rotary = sdpa, causal, bottom_right, rotary
        self.given_scale, self.softcap, self.residual, self.layer_norm = scale, softcap, residual, layer_norm
        self.alibi, self.window, self.average = alibi, window, average
        self.latent = latent  # "expanded" or "absorbed": multi_head_latent_attention
        self.rank, self.nope, self.rope = 6, 3, 4
        self.self_attention = self_attention and not sdpa
        self.dtype = dtype
        width = self.width = heads * head_dim
        normal = lambda *sizes, deviation=1.0: (rng.standard_normal(sizes) * deviation).astype(np.float32).astype(dtype)
        a = self.arrays = {}
        if latent:
            self.head_dim, self.v_head_dim = self.nope + self.rope, 5
            shapes = {"query": (batch, queries, width), "q_proj_weight": (heads * self.head_dim, width),
                      "kv_a_proj_with_mqa.weight": (self.rank + self.rope, width),
                      "kv_b_proj.weight": (heads * (self.nope + self.v_head_dim), self.rank),
                      "out_proj.weight": (width, heads * self.v_head_dim)}
            a.update((name, normal(*shape, deviation=1.0 if name == "query" else 0.7)) for name, shape in shapes.items())
        elif sdpa:
            a["query"] = normal(batch, heads, queries, head_dim, deviation=amplitude)
            a["key"] = normal(batch, self.kv_heads, keys, head_dim, deviation=amplitude)
            a["value"] = normal(batch, self.kv_heads, keys, self.v_head_dim)
        else:
            a["query"] = normal(batch, queries, width, deviation=amplitude)
            if not self.self_attention:
                a["key"] = normal(batch, keys, width, deviation=amplitude)
                a["value"] = normal(batch, keys, width, deviation=amplitude)
            rows = [heads * head_dim, self.kv_heads * head_dim, self.kv_heads * self.v_head_dim]
            weight = normal(sum(rows), width, deviation=1 / math.sqrt(width))
            if separate:
                a["q_proj_weight"], a["k_proj_weight"], a["v_proj_weight"] = np.split(weight, np.cumsum(rows)[:2])
            else:
                a["in_proj_weight"] = weight
            a["out_proj.weight"] = normal(width, heads * self.v_head_dim, deviation=1 / math.sqrt(width))
            if bias:
                a["in_proj_bias"], a["out_proj.bias"] = normal(sum(rows), deviation=0.3), normal(width, deviation=0.3)
        if padding:
            lengths = [keys - (1 + n) % max(1, keys - 1) if n % 2 == 0 else keys - 2 for n in range(batch)]
            a["key_padding_mask"] = np.array([[s >= max(1, length) for s in range(keys)] for length in lengths])
            if padding == "left":
                a["key_padding_mask"] = a["key_padding_mask"][:, ::-1].copy()
                a["key_padding_mask"][:, :2] = True
        if mask == "bool":
            blocked = rng.random((queries, keys)) < 0.3
            blocked[np.arange(queries), rng.integers(0, keys, queries)] = False
            blocked[:, 0] = False
            a["attn_mask"] = ~blocked if sdpa else blocked
        elif mask == "heads":  # a mask for each head of each batch
            blocked = rng.random((batch, heads, queries, keys)) < 0.3
            blocked[..., 0] = False
            a["attn_mask"] = ~blocked if sdpa else blocked.reshape(batch * heads, queries, keys)
        elif mask == "merged":  # a causal mask and padding in one array
            lengths = [max(1, keys - 1 - n % 2) for n in range(batch)]
            blocked = np.triu(np.ones((queries, keys), bool), 1) | np.array([[[s >= m for s in range(keys)]] for m in lengths])
            blocked = np.repeat(blocked[:, None], heads, 1)
            a["attn_mask"] = ~blocked if sdpa else blocked.reshape(batch * heads, queries, keys)
        elif mask == "float":
            a["attn_mask"] = normal(queries, keys)
        elif mask == "triangle":
            blocked = np.triu(np.ones((queries, keys), bool), 1)
            a["attn_mask"] = ~blocked if sdpa else blocked

    def scenario(self):
        attention = {"num_heads": self.heads, "num_kv_heads": self.kv_heads, "head_dim": self.head_dim, "v_head_dim": self.v_head_dim}
        if not self.sdpa:
            attention.update(embed_dim=self.width, bias="in_proj_bias" in self.arrays, average_attn_weights=self.average,
                             residual=self.residual, layer_norm=self.layer_norm)
        if self.rotary:
            attention["rotary_base"] = self.rotary
        if self.given_scale is not None:
            attention["scale"] = self.given_scale
        if self.softcap:
            attention["softcap"] = self.softcap
        mask = {"is_causal": self.causal, "alibi": self.alibi}
        if self.bottom_right:
            mask["causal_alignment"] = "bottom_right"
        if self.window:
            mask["sliding_window"] = self.window
        scenario = {"headwise": 1, "attention": attention, "mask": mask}
        if self.latent:
            scenario["op"] = "multi_head_latent_attention"
            for name in ("num_kv_heads", "head_dim"):
                del attention[name]
            attention.update(kv_lora_rank=self.rank, qk_nope_head_dim=self.nope, qk_rope_head_dim=self.rope, layout=self.latent, bias=False)
        if self.sdpa:
            scenario["op"] = "scaled_dot_product_attention"
            scenario["attention"] = {n: v for n, v in attention.items() if n in ("scale", "softcap", "rotary_base")}
        else:
            scenario["inputs"] = {"self_attention": self.self_attention, "batch_first": True}
        return scenario


class Attention:
    """A right program. `run` returns its tensors under Headwise's names."""

    def __init__(self, case):
        self.c, self.a = case, case.arrays
        self.t = {}

    # Projections
    def source(self, which):
        return self.a["query"] if self.c.self_attention else self.a[which]

    def weight(self, which):
        c, place = self.c, "qkv".index(which)
        if f"{which}_proj_weight" in self.a:
            return self.a[f"{which}_proj_weight"]
        return np.split(self.a["in_proj_weight"], self.part_rows())[place]

    def part_rows(self):
        c = self.c
        return [c.heads * c.head_dim, (c.heads + c.kv_heads) * c.head_dim]

    def bias(self, which):
        if "in_proj_bias" not in self.a:
            return 0.0
        return np.split(self.a["in_proj_bias"], self.part_rows())["qkv".index(which)]

    def project(self, which):
        x = self.source({"q": "query", "k": "key", "v": "value"}[which])
        return x @ self.weight(which).T + self.bias(which)

    def split(self, x, heads):
        n, length, width = x.shape
        return x.reshape(n, length, heads, width // heads).transpose(0, 2, 1, 3)

    # Rotary positions
    def frequencies(self):
        d = self.c.head_dim
        return self.c.rotary ** (-np.arange(0, d, 2) / d)

    def positions(self, which, length):
        first = self.c.keys - self.c.queries if which == "q" and self.c.bottom_right else 0
        return np.arange(length) + first

    def rotate(self, x, which):
        angle = self.positions(which, x.shape[2])[:, None] * self.frequencies()
        cos, sin = np.cos(angle), np.sin(angle)
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)

    def repeat(self, x, which):
        return np.repeat(x, self.c.heads // x.shape[1], axis=1)

    # Scores and weights
    def scale(self):
        return 1 / math.sqrt(self.c.head_dim) if self.c.given_scale is None else self.c.given_scale

    def scores(self, q, k):
        return q @ k.swapaxes(-1, -2)

    def scaled(self, scores):
        x = scores * self.scale()
        return self.c.softcap * np.tanh(x / self.c.softcap) if self.c.softcap else x

    def offset(self):
        return self.c.keys - self.c.queries if self.c.bottom_right else 0

    def grid(self):
        return np.arange(self.c.queries)[:, None] + self.offset(), np.arange(self.c.keys)[None, :]

    def causal(self):
        i, j = self.grid()
        return j > i

    def padding(self):
        return self.a["key_padding_mask"][:, None, None, :]

    def attn_mask(self):
        """(blocked, bias)"""
        mask = self.a["attn_mask"]
        if mask.dtype != bool:
            return np.isneginf(mask), np.where(np.isneginf(mask), 0, mask)
        if mask.ndim == 3 and not self.c.sdpa:
            mask = mask.reshape(self.c.batch, self.c.heads, *mask.shape[1:])
        return (~mask if self.c.sdpa else mask), 0.0

    def slopes(self):
        """ALiBi's: of the next lower power of two, then every second one of the next higher."""
        heads, lower = self.c.heads, 1 << (self.c.heads.bit_length() - 1)
        return np.array([2.0 ** (-8 * (h + 1) / lower) for h in range(lower)] +
                        [2.0 ** (-8 * (2 * h + 1) / (2 * lower)) for h in range(heads - lower)])

    def blocked(self):
        """(blocked (N,H,L,S), bias); None without masks"""
        c = self.c
        blocked, bias = np.zeros((c.batch, c.heads, c.queries, c.keys), bool), 0.0
        if c.causal:
            blocked = blocked | self.causal()
        if c.window:
            i, j = self.grid()
            blocked = blocked | (np.abs(i - j) >= c.window)
        if c.alibi:
            i, j = self.grid()
            bias = bias - self.slopes()[:, None, None] * np.abs(i - j)
        if "key_padding_mask" in self.a:
            blocked = blocked | self.padding()
        if "attn_mask" in self.a:
            own, added = self.attn_mask()
            blocked, bias = blocked | own, bias + added
        return blocked, bias

    def masked(self, scaled):
        blocked, bias = self.blocked()
        return np.where(blocked, -np.inf, scaled + bias)

    def softmax(self, x):
        with np.errstate(invalid="ignore"):
            e = np.exp(x - x.max(axis=-1, keepdims=True))
            return e / e.sum(axis=-1, keepdims=True)

    def weights(self, masked):
        return self.softmax(masked)

    # Output
    # Latents: keys and values of all heads from one row of `rank` numbers, and `rope` columns of each key with the position.
    def of_latents(self):
        c, a = self.c, self.a
        q = self.split(a["query"] @ a["q_proj_weight"].T, c.heads)
        latent, shared = np.split(a["query"] @ a["kv_a_proj_with_mqa.weight"].T, [c.rank], -1)
        latent = latent / np.sqrt((latent * latent).mean(-1, keepdims=True) + 1e-6)
        keys, values = np.split(self.split(latent @ a["kv_b_proj.weight"].T, c.heads), [c.nope], -1)
        turned = lambda x: self.turned_columns(x) if c.rotary else x
        q = np.concatenate([q[..., :c.nope], turned(q[..., c.nope:])], -1)
        shared = np.broadcast_to(turned(shared[:, None]), keys.shape[:-1] + (c.rope,))
        return q, np.concatenate([keys, shared], -1), values

    def turned_columns(self, x):
        half = self.c.rope // 2
        angles = np.arange(x.shape[-2])[:, None] * self.c.rotary ** (-np.arange(half) / half)
        first, second = x[..., :half], x[..., half:]
        return np.concatenate([first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles)], -1)

    def weigh(self, weights, v):
        return weights @ v

    def merge(self, heads):
        n, h, length, d = heads.shape
        return heads.transpose(0, 2, 1, 3).reshape(n, length, h * d)

    def project_out(self, concat):
        return concat @ self.a["out_proj.weight"].T + self.a.get("out_proj.bias", 0.0)

    def normalise(self, x):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def add_residual(self, output):
        return self.a["query"] + output

    def run(self):
        c, t = self.c, self.t
        if c.sdpa:
            q, k, v = (self.a[n] for n in ("query", "key", "value"))
        elif c.latent:
            q, k, v = self.of_latents()
        else:
            for name in "qkv":
                t[name] = self.project(name)
            q, k, v = (self.split(t[n], c.heads if n == "q" else c.kv_heads) for n in "qkv")
            t["q_heads"], t["k_heads"], t["v_heads"] = q, k, v
        if c.rotary and not c.latent:
            q, k = self.rotate(q, "q"), self.rotate(k, "k")
            t["q_rotary"], t["k_rotary"] = q, k
        t["scores"] = self.scores(q, self.repeat(k, "k"))
        t["scaled_scores"] = self.scaled(t["scores"])
        t["masked_scores"] = self.masked(t["scaled_scores"])
        t["attn_weights"] = self.weights(t["masked_scores"])
        t["head_output"] = self.weigh(t["attn_weights"], self.repeat(v, "v"))
        if c.sdpa:
            t["output"] = t["head_output"]
            return t
        t["concat"] = self.merge(t["head_output"])
        t["output"] = self.project_out(t["concat"])
        last = t["output"]
        if c.residual:
            last = t["residual_output"] = self.add_residual(last)
        if c.layer_norm:
            t["layer_norm_output"] = self.normalise(last)
        t["attn_output_weights"] = t["attn_weights"].mean(1) if c.average else t["attn_weights"]
        return t
