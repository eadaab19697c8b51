"""The configurations: each option by itself, what is known to go wrong, and options drawn together."""

import math
import random

import numpy
import torch

from golden_case import Case

INF = float("inf")


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
    yield Case("rotary", options=mha(rotary_base=1e4), self_attention=True, L=5, S=5)
    yield Case("rotary, grouped heads, causal", self_attention=True, L=6, S=6, bias=False, out_bias=False,
               options=mha(rotary_base=100.0, num_heads=4, num_kv_heads=2, head_dim=6, is_causal=True))
    yield Case("rotary from the bottom right", L=3, S=5, options=mha(rotary_base=10.0, causal_alignment="bottom_right"))
    yield Case("rotary, separate matrices, padding and a residual", separate=True,
               options=mha(rotary_base=1e4, kdim=5, residual=True), masks={"key_padding_mask": tail})
    yield Case("rotary of a part of each head, frequencies given",
               options=mha(rotary_inverse_frequencies=[0.9, 0.01], head_dim=5, v_head_dim=3))
    yield Case("rotary of neighbouring columns", options=mha(rotary_base=10.0, rotary_pairs="neighbours"), self_attention=True, L=5, S=5)
    yield Case("rotary of neighbours in a part of each head, with a factor, from the bottom right", L=3, S=5,
               options=mha(rotary_inverse_frequencies=[0.9, 0.2], head_dim=5, v_head_dim=3, rotary_pairs="neighbours", rotary_factor=1.25,
                           causal_alignment="bottom_right"))
    yield Case("rotary with a factor, grouped heads", self_attention=True, L=6, S=6,
               options=mha(rotary_base=100.0, num_heads=4, num_kv_heads=2, head_dim=6, rotary_factor=0.8))
    yield Case("scaled dot product, rotary of neighbours", options=sdpa(num_heads=4, num_kv_heads=2, head_dim=4, rotary_base=1e2,
                                                                         rotary_pairs="neighbours", rotary_factor=1.1))
    yield Case("scaled dot product, rotary, grouped", options=sdpa(num_heads=4, num_kv_heads=2, head_dim=4, rotary_base=1e4))
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
    yield Case("a window of two sides", L=6, S=6, options=mha(window_left=2, window_right=1))
    yield Case("a window with a bound behind alone", L=6, S=6, options=mha(window_left=1), self_attention=True)
    yield Case("a window with a bound ahead alone, from the bottom right", L=3, S=6,
               options=mha(window_right=0, causal_alignment="bottom_right"))
    yield Case("a window of two sides, causal", L=5, S=5, options=sdpa(window_left=1, window_right=3, is_causal=True))
    yield Case("ALiBi", L=4, S=4, options=mha(alibi=True, num_heads=4))
    yield Case("ALiBi, causal, six heads", L=4, S=4, options=mha(alibi=True, is_causal=True, num_heads=6, embed_dim=12))
    yield Case("ALiBi with appended columns", options=mha(alibi=True, add_zero_attn=True), bias_kv=True)
    yield Case("valid lengths of each batch", masks={"valid_lens": torch.tensor([2, 4])})
    yield Case("valid lengths of each query", masks={"valid_lens": torch.tensor([[1, 2, 3], [4, 1, 2]])})
    yield Case("residual", options=mha(residual=True))
    yield Case("layer norm", options=mha(layer_norm=True))
    yield Case("add and norm", options=mha(residual=True, layer_norm=True))
    yield Case("head gains", options=mha(num_heads=4, head_gain=[1.0, 0.0, -2.0, 0.5]))
    norm = lambda **o: dict(num_heads=4, num_kv_heads=2, head_dim=6, qk_norm_epsilon=1e-3, **o)
    yield Case("QK-norm per head", options=mha(qk_norm="per_head"), self_attention=True, S=3)
    yield Case("QK-norm per head, before RoPE", norm_weights="D", options=norm(qk_norm="per_head", rotary_base=10.0))
    yield Case("QK-norm per head, 1 + w", norm_weights="D", bias=False,
               options=norm(qk_norm="per_head", rotary_base=10.0, qk_norm_offset=1.0, is_causal=True))
    yield Case("QK-norm after RoPE", options=norm(qk_norm="per_head_after_rotary", rotary_base=10.0))
    yield Case("QK-norm after RoPE, weights of each head", norm_weights="HD",
               options=norm(qk_norm="per_head_after_rotary", rotary_base=10.0, qk_norm_kind="l2"))
    yield Case("QK-norm of the whole row", norm_weights="H·D", options=norm(qk_norm="whole"), separate=True)
    yield Case("QK-norm of the whole row, then RoPE", norm_weights="H·D",
               options=norm(qk_norm="whole", rotary_base=100.0, qk_norm_kind="layer"))
    yield Case("QK-norm of the whole row, without weights", options=norm(qk_norm="whole", qk_norm_kind="l2"))
    yield Case("QK-norm by LayerNorm with weights of each head", norm_weights="HD",
               options=norm(qk_norm="per_head", rotary_base=10.0, qk_norm_kind="layer"))
    yield Case("QK-norm without an epsilon", norm_weights="D", options=mha(qk_norm="per_head", qk_norm_epsilon=0.0))
    yield Case("an output gate", gate="H·Dv", options=mha(output_gate=True))
    yield Case("an output gate of each head", gate="H", self_attention=True, S=3, bias=False,
               options=mha(output_gate=True, num_heads=4, num_kv_heads=2, v_head_dim=3))
    yield Case("an output gate behind gains, before add and norm", gate="H·Dv", self_attention=True, S=3,
               options=mha(output_gate=True, head_gain=[1.0, 0.0], residual=True, layer_norm=True, is_causal=True))
    yield Case("an output gate, QK-norm and RoPE", gate="H·Dv", norm_weights="D",
               options=norm(output_gate=True, qk_norm="per_head", rotary_base=10.0, qk_norm_offset=1.0))
    yield Case("no query", L=0)
    yield Case("no key", S=0)
    yield Case("no batch", N=0)
    yield Case("no key but the zero row", S=0, options=mha(add_zero_attn=True))
    yield Case("a softmax that saturates", amplitude=16.0)
    yield Case("a NaN key under padding", special={"key": put((1, 3, 2), math.nan)}, masks={"key_padding_mask": tail})
    yield Case("an infinite value under padding", special={"value": put((0, 3, 0), INF)}, masks={"key_padding_mask": tail})
    yield Case("a sink for each head", sinks=2.0)
    yield Case("sinks, which nothing scales, with grouped heads, a causal mask and everything that does", L=4, sinks=3.0,
               options=mha(num_heads=4, num_kv_heads=2, is_causal=True, scale=0.3, temperature=0.5, softcap=2.0))
    t5 = lambda buckets=32, farthest=128, both=True: {"buckets": buckets, "max_distance": farthest, "bidirectional": both}
    yield Case("relative bias of an encoder, without 1/√D", L=4, S=4, relative=3.0, options=mha(relative_bias=t5(), scale=1.0))
    yield Case("relative bias of a decoder with few buckets", L=9, S=9, relative=3.0, options=mha(relative_bias=t5(6, 5, False), is_causal=True))
    yield Case("relative bias, aligned at the bottom right, with an appended row", L=3, S=11, relative=3.0, bias_kv=True,
               options=mha(relative_bias=t5(8, 7), causal_alignment="bottom_right", add_zero_attn=True))
    yield Case("relative bias of a decoder behind a past", L=2, S=2, past=7, relative=3.0, options=mha(relative_bias=t5(6, 5, False), is_causal=True))
    yield Case("relative bias beside ALiBi, a float mask and a blocked row", L=4, S=4, relative=3.0,
               options=mha(relative_bias=t5(4, 3), alibi=True), masks={"attn_mask": floats(rng, (4, 4), 0.2)})
    yield Case("scaled dot product, relative bias with a mask that fills", L=5, S=6, relative=3.0,
               options=sdpa(num_heads=4, num_kv_heads=2, relative_bias=t5(9, 6, False), mask_value=-2.0, is_causal=True))
    yield Case("sinks where a row is blocked", sinks=2.0, masks={"attn_mask": row_blocked})
    yield Case("sinks where a row is blocked, zero rows", sinks=2.0, options=mha(fully_masked_rows="zero"), masks={"attn_mask": row_blocked})
    yield Case("sinks where a row is filled with a number", sinks=2.0, options=mha(mask_value=-2.0), masks={"attn_mask": row_blocked})
    yield Case("sinks with dropout and a zero row", sinks=2.0, options=mha(dropout=0.4, dropout_seed=3, add_zero_attn=True), bias_kv=True)
    yield Case("a sink that takes all", sinks=2.0, special={"sinks": put((0,), 800.0)})
    yield Case("sinks and a NaN query", sinks=2.0, special={"query": put((0, 1, 1), math.nan)})
    yield Case("scaled dot product, sinks", options=sdpa(num_heads=4, num_kv_heads=2, scale=-0.7), sinks=2.0, masks={"attn_mask": bools(rng, (3, 4), 0.6)})
    yield Case("a past", past=3)
    yield Case("a past, causal", past=3, S=3, options=mha(is_causal=True), self_attention=True)
    yield Case("a past of one token, one query", past=6, L=1, S=1, options=mha(num_heads=4, num_kv_heads=2, is_causal=True), self_attention=True)
    yield Case("a past, fewer queries than new keys, causal from P on", past=2, L=2, S=4, options=mha(is_causal=True))
    yield Case("a past, fewer queries than new keys, causal from the bottom right", past=2, L=2, S=4,
               options=mha(is_causal=True, causal_alignment="bottom_right"))
    yield Case("a past behind QK-norm and RoPE", past=3, norm_weights="D", options=norm(qk_norm="per_head", rotary_base=10.0, is_causal=True))
    yield Case("a past behind RoPE and QK-norm, from the bottom right", past=2, L=2, S=5, norm_weights="HD",
               options=norm(qk_norm="per_head_after_rotary", rotary_base=10.0, causal_alignment="bottom_right", is_causal=True))
    yield Case("a past behind QK-norm of the whole row", past=3, norm_weights="H·D", options=norm(qk_norm="whole", rotary_base=10.0))
    yield Case("a past, a window and ALiBi", past=4, L=3, S=3, options=mha(sliding_window=3, alibi=True, is_causal=True))
    yield Case("a past and a window of two sides", past=3, L=3, S=3, options=mha(window_left=2, window_right=1))
    yield Case("a past with masks of all keys", past=2, masks={"attn_mask": bools(rng, (3, 6), 0.3), "key_padding_mask": bools(rng, (2, 6), 0.2)})
    yield Case("a past, bias_k and a zero row", past=2, bias_kv=True, options=mha(add_zero_attn=True, is_causal=True, v_head_dim=3))
    yield Case("a past, sinks and dropout", past=2, sinks=2.0, options=mha(dropout=0.4, dropout_seed=3))
    yield Case("a past with a float mask and clipping of nothing", past=2, options=mha(num_heads=4, num_kv_heads=1), masks={"attn_mask": floats(rng, (3, 6))})
    yield Case("a past of no token", past=0, options=mha(is_causal=True))
    yield Case("scaled dot product, a past", options=sdpa(num_heads=4, num_kv_heads=2, v_head_dim=3), past=3)
    yield Case("scaled dot product, a past, causal and turned", L=2, S=2, options=sdpa(is_causal=True, rotary_base=10.0, softcap=2.0), past=3)
    yield Case("scaled dot product, a past and a short mask", options=sdpa(fully_masked_rows="zero"), past=2, masks={"attn_mask": bools(rng, (3, 5), 0.7)})
    lengths = lambda *n: {"nonpad_kv_seqlen": torch.tensor(n)}
    yield Case("keys that are there", masks=lengths(4, 2))
    yield Case("keys that are there, causal", S=5, options=mha(is_causal=True), masks=lengths(5, 3))
    yield Case("keys that are there, causal, where the first rows see nothing", L=4, S=5, options=mha(is_causal=True), masks=lengths(2, 0))
    yield Case("keys that are there, causal, where the first rows become 0", L=4, S=5,
               options=mha(is_causal=True, fully_masked_rows="zero", rotary_base=10.0), masks=lengths(2, 4))
    yield Case("keys that are there, a window and ALiBi", S=6, options=mha(window_left=1, window_right=0, alibi=True), masks=lengths(6, 4))
    yield Case("keys that are there beside valid_lens and a mask", S=5, options=mha(is_causal=True),
               masks={**lengths(5, 4), "valid_lens": torch.tensor([[3, 1, 4], [2, 2, 5]]), "attn_mask": floats(rng, (3, 5))})
    yield Case("scaled dot product, keys that are there, causal", L=2, S=6, masks=lengths(6, 3),
               options=sdpa(num_heads=4, num_kv_heads=2, is_causal=True, fully_masked_rows="zero"))
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
    index = lambda heads=2, width=4, k=2, **more: dict(indexer=dict(heads=heads, width=width, k=k, **more))
    yield Case("an indexer", options=mha(**index()))
    yield Case("an indexer with the weights of its norm, in self-attention, causal", self_attention=True, L=6, S=6, indexer_norm=True,
               options=mha(num_heads=4, num_kv_heads=2, is_causal=True, **index(3, 5, 3)))
    yield Case("an indexer with RoPE on some of its columns", L=5, S=5, indexer_norm=True,
               options=mha(rotary_base=10.0, rotary_factor=1.2, is_causal=True, **index(2, 7, 2)))
    yield Case("an indexer with RoPE in neighbouring columns, from the bottom right", L=3, S=7,
               options=mha(rotary_inverse_frequencies=[1.0, 0.3], causal_alignment="bottom_right", is_causal=True,
                           **index(2, 4, 3, rotary_pairs="neighbours")))
    yield Case("an indexer and neighbours in the layer alone", L=3, S=5, options=mha(rotary_base=10.0, rotary_pairs="neighbours", **index(1, 4, 2)))
    yield Case("an indexer of one head, where many scores are 0", L=6, S=6, N=3, options=mha(**index(1, 1, 3)))
    yield Case("an indexer with keys that are the same", L=3, S=6, options=mha(**index(2, 3, 2)),
               special={"key": lambda x: x[:, [0, 1, 0, 1, 0, 1]], "indexer.weights_proj.weight": lambda x: x.abs()})
    yield Case("an indexer that keeps as many keys as there are", options=mha(**index(k=4)))
    yield Case("an indexer that keeps more keys than there are", options=mha(is_causal=True, **index(k=9)))
    yield Case("an indexer beside padding and a float mask", L=4, S=6, options=mha(**index(k=2)),
               masks={"key_padding_mask": bools(rng, (2, 6), 0.3), "attn_mask": floats(rng, (4, 6), 0.2)})
    yield Case("an indexer beside masks that differ by head", L=3, S=5, options=mha(**index(k=2)), masks={"attn_mask": bools(rng, (4, 3, 5), 0.4)})
    yield Case("an indexer where a row is blocked", options=mha(**index(k=2)), masks={"attn_mask": row_blocked})
    yield Case("an indexer where a row is blocked, zero rows", options=mha(fully_masked_rows="zero", **index(k=1)), masks={"attn_mask": row_blocked})
    yield Case("an indexer with a mask that fills", L=4, S=5, options=mha(mask_value=-2.0, is_causal=True, **index(k=2)))
    yield Case("an indexer, sinks, ALiBi and a window", L=6, S=6, sinks=2.0, options=mha(alibi=True, sliding_window=4, **index(k=2)))
    yield Case("an indexer, a relative bias and dropout", L=5, S=5, relative=3.0,
               options=mha(relative_bias=t5(8, 7), dropout=0.3, dropout_seed=4, **index(k=3)))
    yield Case("an indexer, kdim of its own, QK-norm and valid_lens", L=3, S=6, norm_weights="D", indexer_norm=True,
               options=mha(kdim=5, vdim=6, qk_norm="per_head", **index(k=2)), masks={"valid_lens": torch.tensor([5, 2])})
    yield Case("an indexer and keys that are there, causal", L=2, S=6, options=mha(is_causal=True, **index(k=2)), masks=lengths(6, 3))
    yield Case("an indexer and a NaN key", S=6, options=mha(**index(k=2)), special={"key": put((1, 3, 2), math.nan)})
    yield Case("an indexer, gains, a gate, add and norm", gate="H·Dv", self_attention=True, L=4, S=4,
               options=mha(output_gate=True, head_gain=[1.0, -2.0], residual=True, layer_norm=True, is_causal=True, **index(k=2)))
    yield Case("scaled dot product, an indexer", L=4, S=6, options=sdpa(num_heads=4, num_kv_heads=2, **index(2, 3, 2)))
    yield Case("scaled dot product, an indexer, causal with RoPE and a mask", L=5, S=5, masks={"attn_mask": bools(rng, (2, 1, 5, 5), 0.8)},
               options=sdpa(is_causal=True, rotary_base=10.0, fully_masked_rows="zero", **index(1, 2, 2)))
    yield Case("scaled dot product, an indexer whose scores are ties", L=3, S=6, options=sdpa(**index(2, 2, 3)),
               special={"indexer_k": lambda x: x[:, :, [2, 2, 0, 0, 1, 1]]})
    yield Case("model width 512", N=1, L=4, S=5, options=mha(embed_dim=512, num_heads=8), weight_amplitude=0.0625,
               amplitude=1.0, keep=["output", "attn_output_weights", "grad.query", "grad.out_proj.bias"])


def latent_cases(rng):
    """multi_head_latent_attention, each in both layouts."""
    turned = dict(rotary_base=100.0, rotary_pairs="neighbours")
    padding = torch.tensor([[0, 0, 0, 1], [0, 0, 1, 1]], dtype=torch.bool)
    for layout in ("expanded", "absorbed"):
        mla = lambda **o: dict(dict(op="multi_head_latent_attention", layout=layout, num_heads=2, embed_dim=8, kv_lora_rank=5, qk_nope_head_dim=3,
                                    qk_rope_head_dim=2), **o)
        case = lambda name, **rest: Case(f"latent, {layout}: {name}", **rest)
        yield case("nothing else", options=mla())
        yield case("self-attention, causal, with RoPE", S=3, self_attention=True, norm_weights="C", options=mla(is_causal=True, **turned))
        yield case("a compressed query, no biases", bias=False, norm_weights="C", options=mla(q_lora_rank=4, **turned))
        yield case("a compressed query, self-attention, halves", S=3, self_attention=True,
                   options=mla(q_lora_rank=3, rotary_base=10.0, qk_rope_head_dim=4, qk_nope_head_dim=2, rotary_factor=1.3, causal_alignment="bottom_right"))
        yield case("wide values, kdim of its own, three heads", norm_weights="C",
                   options=mla(num_heads=3, v_head_dim=4, kdim=5, qk_nope_head_dim=1, qk_rope_head_dim=3, rotary_inverse_frequencies=[0.7]))
        yield case("masks, gains, a gate and what follows", gate="H·Dv", masks={"key_padding_mask": padding, "attn_mask": floats(rng, (3, 4), 0.2)},
                   options=mla(head_gain=[0.5, -2.0], output_gate=True, residual=True, layer_norm=True, latent_norm_epsilon=0.5, **turned))
        yield case("sinks, softcap, a scale, ALiBi and dropout", sinks=2.0, gate="H",
                   options=mla(softcap=2.0, scale=0.7, temperature=2.0, alibi=True, dropout=0.3, dropout_seed=4, output_gate=True,
                               average_attn_weights=False, q_lora_rank=4))
        yield case("a relative bias and a window", relative=1.0,
                   options=mla(relative_bias=dict(buckets=4, max_distance=3, bidirectional=True), window_left=1, **turned))
        index = lambda heads=2, width=4, k=2, **more: dict(q_lora_rank=4, indexer=dict(heads=heads, width=width, k=k, **more))
        yield case("a past", past=3, norm_weights="C", options=mla())
        yield case("a past, causal, with RoPE", past=3, S=3, self_attention=True, norm_weights="C", options=mla(is_causal=True, **turned))
        yield case("a past of seven tokens, one query of a compressed row, halves", past=7, L=1, S=1, self_attention=True,
                   options=mla(is_causal=True, q_lora_rank=3, rotary_base=10.0, qk_rope_head_dim=4, rotary_factor=1.3))
        yield case("a past, fewer queries than new keys, causal from the bottom right", past=2, L=2, S=4,
                   options=mla(is_causal=True, causal_alignment="bottom_right", v_head_dim=4, **turned))
        yield case("a past, a window, ALiBi and masks of all keys", past=2, L=3, S=3, masks={"attn_mask": floats(rng, (3, 5), 0.2),
                   "key_padding_mask": bools(rng, (2, 5), 0.2)}, options=mla(sliding_window=3, alibi=True, is_causal=True))
        yield case("a past, sinks, a relative bias and dropout", past=4, L=2, S=2, sinks=2.0, relative=2.0,
                   options=mla(relative_bias=dict(buckets=5, max_distance=6, bidirectional=False), dropout=0.3, dropout_seed=4, **turned))
        yield case("a past of no token", past=0, options=mla(is_causal=True, **turned))
        yield case("an indexer", options=mla(**index()))
        yield case("an indexer of halves in a causal layer of neighbours, as DeepSeek-V3.2", L=6, S=6, self_attention=True, norm_weights="C",
                   indexer_norm=True, options=mla(is_causal=True, **index(), **turned))
        yield case("an indexer of neighbours, wider than what is turned, as GLM-MoE-DSA", L=5, S=5, self_attention=True, bias=False,
                   options=mla(is_causal=True, qk_rope_head_dim=4, rotary_base=10.0, rotary_pairs="neighbours", **index(3, 6, 2, rotary_pairs="neighbours")))
        yield case("an indexer beside padding, sinks and a gate", L=3, S=6, sinks=2.0, gate="H·Dv", indexer_norm=True,
                   masks={"key_padding_mask": torch.tensor([[0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0]], dtype=torch.bool)},
                   options=mla(output_gate=True, rotary_inverse_frequencies=[0.7], kdim=5, **index(1, 3, 3)))


def drawn_case(rng, number):
    """Any options together."""
    pick, chance = rng.choice, lambda share: rng.random() < share
    sdpa, beyond = chance(0.25), chance(0.6)
    H = pick([1, 2, 2, 2, 3, 4])
    o = dict(num_heads=H, embed_dim=H * pick([1, 2, 2, 3]), need_weights=chance(0.85), average_attn_weights=chance(0.6))
    N, L, S = pick([1, 2, 2, 3]), pick([1, 2, 3, 4]), pick([1, 2, 3, 4, 5])
    extra = {}
    past = pick([1, 2, 3]) if beyond and chance(0.25) else None
    if sdpa:
        o.update(op="scaled_dot_product_attention")
    else:
        o.update(add_zero_attn=chance(0.2))
        if chance(0.3):
            o.update(kdim=pick([2, 3, 5]), vdim=pick([2, 4, 5]))
        extra.update(bias=chance(0.75), out_bias=chance(0.9), separate=True if chance(0.2) else None,
                     batch_first=chance(0.5))
        if past is None and chance(0.2):
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
                              (0.2, dict(rotary_base=pick([2.0, 1e4]), rotary_pairs=pick(["halves", "neighbours"]), rotary_factor=pick([1.0, 1.3]))),
                              (0.2, dict(sliding_window=pick([1, 2, 3]))), (0.2, dict(alibi=True)),
                              (0.2, dict(mask_value=pick([-1e9, -1e6, -3.0]))), (0.5, dict(fully_masked_rows="zero"))]:
            if chance(share):
                o.update(option)
        # Columns are turned in pairs, and a row that is appended has no position.
        width = o.get("head_dim", o["embed_dim"] // H)
        if width % 2 or o.get("add_zero_attn") or "static" in extra or "bias_kv" in extra:
            for key in ("rotary_base", "rotary_pairs", "rotary_factor"):
                o.pop(key, None)
        if not sdpa:
            o.update(residual=chance(0.2), layer_norm=chance(0.2))
            if chance(0.2):
                o.update(head_gain=[pick([0.0, 1.0, -1.5, 2.0]) for _ in range(H)])
    if past is not None:
        extra["past"] = past
    T = S + (past or 0)  # the keys that masks speak of
    masks = {}
    if chance(0.4):
        shape = pick([(L, T), (N * H, L, T)] if not sdpa else
                     [(L, T), (1, T), (H, L, T), (N, 1, L, T), (N, H, L, T), (H, 1, T), (T,)])
        masks["attn_mask"] = bools(rng, shape, 0.7 if sdpa else 0.3) if chance(0.5) else floats(rng, shape, 0.1)
    if chance(0.3):
        masks["key_padding_mask"] = bools(rng, (N, T), 0.3) if chance(0.7) else floats(rng, (N, T), 0.1)
    if beyond and chance(0.2):
        shape = pick([(N,), (N, L)])
        masks["valid_lens"] = torch.tensor([rng.randint(0, T) for _ in range(int(numpy.prod(shape)))]).reshape(shape)
    if beyond and past is None and chance(0.15):
        masks["nonpad_kv_seqlen"] = torch.tensor([rng.randint(0, T) for _ in range(N)])
    return Case(f"drawn {number}", N=N, L=L, S=S, options=o, masks=masks, **extra,
                ones=chance(0.2),
                keep=["output", "head_output", "attn_weights", "attn_output_weights", "layer_norm_output", "grad"])
