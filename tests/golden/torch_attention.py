"""Attention by PyTorch in float64: composed from its primitives with every option, and by its own functions."""

import math

import torch
import torch.nn.functional as F
from torch.nn.utils.stateless import functional_call

from counter_random import uniform

INF = float("inf")
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


# ---- attention from torch primitives -----------------------------------------------------------------------------------

DEFAULTS = dict(op="multi_head_attention", embed_dim=8, num_heads=2, num_kv_heads=None, kdim=None, vdim=None, head_dim=None,
                v_head_dim=None, add_zero_attn=False, rotary_base=None, rotary_inverse_frequencies=[], rotary_pairs="halves", rotary_factor=1.0,
                qk_norm=None, qk_norm_kind="rms", qk_norm_offset=0.0, qk_norm_epsilon=1e-6, scale=None, softcap=0.0, temperature=1.0, dropout=0.0,
                dropout_seed=0, need_weights=True, average_attn_weights=True, output_gate=False, relative_bias=None, indexer=None, residual=False, layer_norm=False,
                is_causal=False, causal_alignment="top_left", sliding_window=None, window_left=None, window_right=None,
                alibi=False, mask_value=None, kv_lora_rank=None, q_lora_rank=None, qk_nope_head_dim=None, qk_rope_head_dim=None,
                layout="expanded", latent_norm_epsilon=1e-6,
                fully_masked_rows="nan", head_gain=[])


def resolve(options):
    o = dict(DEFAULTS, **options)
    if o["op"] == "multi_head_latent_attention":
        o["num_kv_heads"] = 1 if o["layout"] == "absorbed" else o["num_heads"]
        o["head_dim"] = o["qk_nope_head_dim"] + o["qk_rope_head_dim"]
        o["v_head_dim"] = o["v_head_dim"] or o["qk_nope_head_dim"]
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


def relative_buckets(bias, ahead):
    """T5's bucket of each relative position (key − query), after its paper and model: in f32, as it decides at the edges."""
    buckets, bucket = bias["buckets"], torch.zeros_like(ahead)
    if bias["bidirectional"]:
        buckets //= 2
        bucket = (ahead > 0).long() * buckets
        ahead = ahead.abs()
    else:
        ahead = (-ahead).clamp(min=0)
    exact = buckets // 2
    far = torch.log(ahead.to(torch.float32) / exact) / math.log(bias["max_distance"] / exact) * (buckets - exact)
    far = (exact + far.clamp(min=0).long()).clamp(max=buckets - 1)
    return bucket + torch.where(ahead < exact, ahead, far)


def merged_mask(o, a, r, N, H, L, S, appended):
    """(N,H,L,S) to add, or None without any mask."""
    parts = []
    blocked = torch.zeros(N, H, L, S, dtype=torch.bool)
    mask = a.get("attn_mask")
    if mask is not None:
        if o["op"] != "scaled_dot_product_attention":
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
    offset = torch.tensor(first_query(o, a, L, S))
    nonpad = a.get("nonpad_kv_seqlen")
    if nonpad is not None:
        nonpad = nonpad[:, None, None, None]
        blocked = blocked | (torch.arange(S) >= nonpad)
        offset = nonpad - L
    back = torch.arange(L)[:, None] + offset - torch.arange(S)[None, :]
    if o["is_causal"]:
        blocked = blocked | (back < 0)
    if o["sliding_window"]:
        blocked = blocked | (back.abs() >= o["sliding_window"])
    if o["window_left"] is not None:
        blocked = blocked | (back > o["window_left"])
    if o["window_right"] is not None:
        blocked = blocked | (-back > o["window_right"])
    if o["alibi"]:
        distance = back.clamp(min=0) if o["is_causal"] else back.abs()
        slopes = torch.tensor(published_alibi_slopes(H))
        parts.append((-slopes[:, None, None] * distance).expand(N, H, L, S))
    if o["relative_bias"]:
        table = a["relative_attention_bias.weight"]
        r["position_bias"] = F.pad(table[relative_buckets(o["relative_bias"], -back)].permute(2, 0, 1)[None], (0, appended))
        parts.append(r["position_bias"][..., :S].expand(N, H, L, S))
    sides = o["window_left"] is not None or o["window_right"] is not None
    if not (o["is_causal"] or o["sliding_window"] or sides or o["alibi"] or o["relative_bias"] or o["indexer"] or mask is not None or padding is not None
            or lens is not None or nonpad is not None):
        return None
    total = torch.zeros(N, H, L, S)
    for part in parts:
        total = total + part
    return total + torch.zeros(N, H, L, S).masked_fill(blocked, -INF)


@torch.no_grad()
def indexed(o, a, r):
    """The tensors of the indexer, after DeepSeek-V3.2's paper: its formula (1), written by its letters."""
    i, sdpa = o["indexer"], o["op"] == "scaled_dot_product_attention"
    heads, width = i["heads"], i["width"]
    if sdpa:
        q, k, w = a["indexer_q"], a["indexer_k"], a["indexer_weights"]
    else:
        own = dict(o, rotary_pairs=i.get("rotary_pairs", "halves"), rotary_base=None)
        if o["rotary_base"]:  # the layer's frequencies, on the first columns
            turned = o["qk_rope_head_dim"] if o["op"] == "multi_head_latent_attention" else o["head_dim"]
            own["rotary_inverse_frequencies"] = [o["rotary_base"] ** (-2 * j / turned) for j in range(turned // 2)]
        L, S = a["query"].shape[1], a["key"].shape[1]
        source = r.get("compressed_q", a["query"])
        q = torch.einsum("nle,mde->nmld", source, a["indexer.wq_b.weight"].unflatten(0, (heads, width)))
        k = F.layer_norm(F.linear(a["key"], a["indexer.wk.weight"]), (width,), a.get("indexer.k_norm.weight"), a.get("indexer.k_norm.bias"), 1e-6)
        q, k = rotary(own, q, first_query(o, a, L, S)), rotary(own, k[:, None], 0)
        w = F.linear(a["query"], a["indexer.weights_proj.weight"]) / heads**0.5
        r["indexer_q"], r["indexer_k"], r["indexer_weights"] = q, k, w
    r["indexer_scores"] = torch.einsum("nlm,nmls->nls", w, torch.relu(torch.einsum("nmld,nsd->nmls", q, k[:, 0]) / width**0.5))


@torch.no_grad()
def not_chosen(o, bias, scores):
    """0 for the k keys of each row with the largest scores, of those that the bias leaves, else -inf."""
    left = bias != -INF
    order = scores[:, None].expand_as(bias).masked_fill(~left, -INF).sort(dim=-1, descending=True, stable=True).indices
    first = torch.zeros_like(left).scatter(-1, order[..., : o["indexer"]["k"]], True)
    return torch.zeros_like(bias).masked_fill(~(first & left), -INF)


def past_length(a):
    past = a.get("past_key", a.get("past_k_rot"))
    return 0 if past is None else past.shape[2]


def first_query(o, a, L, T):
    """The position of query 0 among all T keys, those of the past in front."""
    return T - L if o["causal_alignment"] == "bottom_right" else past_length(a)


def rotary(o, x, first_position):
    """(…,T,D), each pair of a row as one complex number, times factor·exp(i·position·frequency)."""
    frequencies = o["rotary_inverse_frequencies"]
    if o["rotary_base"]:
        frequencies = [o["rotary_base"] ** (-2 * j / x.shape[-1]) for j in range(x.shape[-1] // 2)]
    pairs = len(frequencies)
    angles = (first_position + torch.arange(x.shape[-2]))[:, None] * torch.tensor(frequencies)
    turn = o["rotary_factor"] * torch.exp(1j * angles)
    if o["rotary_pairs"] == "neighbours":
        turned = torch.view_as_real(torch.view_as_complex(x[..., : 2 * pairs].unflatten(-1, (pairs, 2)).contiguous()) * turn).flatten(-2)
        return torch.cat([turned, x[..., 2 * pairs :]], dim=-1)
    turned = torch.complex(x[..., :pairs], x[..., pairs : 2 * pairs]) * turn
    return torch.cat([turned.real, turned.imag, x[..., 2 * pairs :]], dim=-1)


def normed(o, x, weight):
    """Rows over the last axis; a weight (H,D) has a row for each head of x (N,H,T,D)."""
    epsilon = o["qk_norm_epsilon"]
    if o["qk_norm_kind"] == "layer":
        x = F.layer_norm(x, x.shape[-1:], eps=epsilon)
    elif o["qk_norm_kind"] == "rms":
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    else:
        x = x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + epsilon)
    if weight is None:
        return x
    return x * (o["qk_norm_offset"] + (weight[:, None, :] if weight.dim() == 2 else weight))


def shares_of(o, a, masked):
    """The softmax of the masked scores, and what a sink takes of each row or None."""
    if "sinks" in a:  # as gpt-oss: one more column, which is dropped after the softmax
        column = a["sinks"].reshape(1, -1, 1, 1).expand(*masked.shape[:-1], 1)
        shares = torch.softmax(torch.cat([masked, column], dim=-1), dim=-1)
        return shares[..., :-1], shares[..., -1]
    if o["fully_masked_rows"] == "zero" and masked.shape[-1] > 0:
        empty = (masked == -INF).all(dim=-1, keepdim=True)
        return torch.softmax(masked.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0), None
    return torch.softmax(masked, dim=-1), None
def latent(o, a, r):
    """DeepSeek-V2, section 2.1 (arXiv 2405.04434): what meets in the scores, and what is added up."""
    H, C, Dn, R = o["num_heads"], o["kv_lora_rank"], o["qk_nope_head_dim"], o["qk_rope_head_dim"]
    rms = lambda x, weight: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + o["latent_norm_epsilon"]) * (1 if weight is None else weight)
    q = a["query"]
    if o["q_lora_rank"]:
        r["q_a"] = F.linear(q, a["q_a_proj.weight"], a.get("q_a_proj.bias"))
        r["compressed_q"] = rms(r["q_a"], a.get("q_a_layernorm.weight"))
        r["q"] = r["compressed_q"] @ a["q_b_proj.weight"].T
    else:
        r["q"] = q @ a["q_proj_weight"].T
    r["kv_a"] = F.linear(a["key"], a["kv_a_proj_with_mqa.weight"], a.get("kv_a_proj_with_mqa.bias"))
    c, shared = r["kv_a"].split([C, R], dim=-1)
    r["compressed_kv"] = c = rms(c, a.get("kv_a_layernorm.weight"))
    L, T = q.shape[1], past_length(a) + c.shape[1]
    turns = o["rotary_base"] or o["rotary_inverse_frequencies"]
    r["q_heads"] = heads = r["q"].unflatten(-1, (H, Dn + R)).transpose(1, 2)
    r["k_rot"] = k_rot = rotary(o, shared[:, None], past_length(a)) if turns else shared[:, None]
    if "past_k_rot" in a:
        r["present_compressed_kv"] = c = torch.cat([a["past_compressed_kv"], c], dim=1)
        r["present_k_rot"] = k_rot = torch.cat([a["past_k_rot"], k_rot], dim=2)
    if turns:
        r["q_rotary"] = heads = torch.cat([heads[..., :Dn], rotary(o, heads[..., Dn:], first_query(o, a, L, T))], dim=-1)
    w_uk, w_uv = a["kv_b_proj.weight"].unflatten(0, (H, -1)).split([Dn, o["v_head_dim"]], dim=1)
    if o["layout"] == "absorbed":
        r["q_absorbed"] = torch.cat([torch.einsum("nhld,hdc->nhlc", heads[..., :Dn], w_uk), heads[..., Dn:]], dim=-1)
        r["k_absorbed"] = torch.cat([c[:, None], k_rot], dim=-1)
        return r["q_absorbed"], r["k_absorbed"], c[:, None], w_uv
    r["kv_b"] = c @ a["kv_b_proj.weight"].T
    k, v = r["kv_b"].unflatten(-1, (H, -1)).transpose(1, 2).split([Dn, o["v_head_dim"]], dim=-1)
    r["k_heads"], r["v_heads"] = torch.cat([k, k_rot.expand(-1, H, -1, -1)], dim=-1), v * 1.0
    return heads, r["k_heads"], r["v_heads"], None


def composed(o, a):
    """Every tensor of the trace, from torch primitives."""
    r = {}
    H, G, D, Dv = o["num_heads"], o["num_kv_heads"], o["head_dim"], o["v_head_dim"]
    sdpa = o["op"] == "scaled_dot_product_attention"
    if sdpa:
        q, k, v = a["query"], a["key"], a["value"]
        H, G, D = q.shape[1], k.shape[1], q.shape[3]
        S = k.shape[2]
    elif o["op"] == "multi_head_latent_attention":
        q, k, v, w_uv = latent(o, a, r)
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
        weights = a.get("q_norm.weight"), a.get("k_norm.weight")
        q = r["q"]
        if o["qk_norm"] == "whole":
            r["q_normed"], r["k_normed"] = q, k = normed(o, q, weights[0]), normed(o, k, weights[1])
        r["q_heads"], r["k_heads"], r["v_heads"] = q, k, v = split(q, H), split(k, G), split(v, G)
        if o["qk_norm"] == "per_head":
            r["q_normed"], r["k_normed"] = q, k = normed(o, q, weights[0]), normed(o, k, weights[1])
    N, _, L, _ = q.shape
    is_latent = o["op"] == "multi_head_latent_attention"
    if not is_latent and (o["rotary_base"] or o["rotary_inverse_frequencies"]):
        r["q_rotary"] = q = rotary(o, q, first_query(o, a, L, past_length(a) + S))
        r["k_rotary"] = k = rotary(o, k, past_length(a))
    if o["qk_norm"] == "per_head_after_rotary":
        r["q_normed"], r["k_normed"] = q, k = normed(o, q, weights[0]), normed(o, k, weights[1])
    if "past_key" in a:
        r["present_key"] = k = torch.cat([a["past_key"], k], dim=2)
        r["present_value"] = v = torch.cat([a["past_value"], v], dim=2)
        S += past_length(a)
    keys, values = k.repeat_interleave(H // G, dim=1), v.repeat_interleave(H // G, dim=1)
    r["scores"] = torch.einsum("nhld,nhsd->nhls", q, keys)
    scale = o["scale"] if o["scale"] is not None else D**-0.5
    r["scaled_scores"] = r["scores"] * scale / o["temperature"]
    if o["softcap"] > 0:
        r["scaled_scores"] = o["softcap"] * torch.tanh(r["scaled_scores"] / o["softcap"])
    masked = r["scaled_scores"]
    bias = merged_mask(o, a, r, N, H, L, S, k.shape[2] - S)

    def masked_by(bias):
        if o["mask_value"] is not None:
            return torch.where(bias == -INF, torch.full((), o["mask_value"]), r["scaled_scores"] + bias)
        return r["scaled_scores"] + bias

    if bias is not None:
        bias = F.pad(bias, (0, k.shape[2] - S))
        if o["indexer"]:
            indexed(o, a, r)
            with torch.no_grad():
                r["full_weights"] = shares_of(o, a, masked_by(bias))[0]
            bias = bias + not_chosen(o, bias, r["indexer_scores"])
        r["mask_bias"] = bias
        r["masked_scores"] = masked = masked_by(bias)
    r["lse"] = torch.logsumexp(masked, dim=-1) if masked.shape[-1] > 0 else masked.sum(dim=-1) - INF
    weights, of_sink = shares_of(o, a, masked)
    if of_sink is not None:
        r["sink_weights"] = of_sink
    r["attn_weights"] = weights
    if o["dropout"] > 0:
        kept = torch.from_numpy(uniform(o["dropout_seed"], "dropout", weights.numel())).reshape(weights.shape) >= o["dropout"]
        weights = weights * (kept.double() / (1 - o["dropout"]) if o["dropout"] < 1 else torch.zeros(()))
        r["dropped_weights"] = weights
    heads = torch.matmul(weights, values)
    if o["layout"] == "absorbed":
        r["latent_output"] = heads
        heads = torch.einsum("nhlc,hec->nhle", heads, w_uv)
    r["head_output"] = heads
    if sdpa:
        return r
    if "heads.gain" in a:
        heads = heads * a["heads.gain"][:, None, None]
    r["concat"] = heads.transpose(1, 2).flatten(2)
    joined = r["concat"]
    if o["output_gate"]:
        r["output_gate"] = F.linear(a["query"], a["output_gate.weight"], a.get("output_gate.bias"))
        open_share = torch.sigmoid(r["output_gate"])
        by_head = joined.unflatten(-1, (H, -1)) * open_share.unflatten(-1, (H, -1))  # H gates broadcast over a head's columns
        r["gated_concat"] = joined = by_head.flatten(2)
    r["output"] = F.linear(joined, a["out_proj.weight"], a.get("out_proj.bias"))
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
    return o == plain and "sinks" not in a and "past_key" not in a and "nonpad_kv_seqlen" not in a and "valid_lens" not in a and not (float_padding and mask is not None) and not empty and (
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
