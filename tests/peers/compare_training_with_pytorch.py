#!/usr/bin/env python3
"""Holds what Headwise's training computes against PyTorch's autograd and torch.optim, in float64.

    cmake --build build/release --target headwise_training_cases
    python3 tests/peers/compare_training_with_pytorch.py build/release/headwise_training_cases

For each option of a trained model (tests/core/train/train_options.cpp): the loss and the gradient of every parameter, to 1e-9 of the
tensor's largest magnitude, and the losses of 200 steps of an optimiser with the parameters at their end, to 1e-6. PyTorch is given our
dropout masks.

Exit status 1 where a bound is not kept, 77 where there is no PyTorch.
"""
import argparse, glob, json, math, os, subprocess, sys, tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

GRADIENT_BOUND, STEP_BOUND = 1e-9, 1e-6
# Gradients that cancel to nothing, as those of the keys' biases, keep rounding noise of their terms' size.
LEAST_SCALE = 1e-3


def sinusoids(length, width):
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * 10000.0 ** (-pairs / width)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(length, width)


def rotate(x):
    """Half-split rotary embedding of (N,H,T,D)."""
    length, width = x.shape[-2:]
    angles = torch.arange(length, dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(0, width, 2, dtype=x.dtype) / width)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def alibi_slopes(heads):
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return torch.tensor(slopes + [2 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)], dtype=torch.float64)


def relative_buckets(ahead, causal, buckets=32, furthest=128):
    """Of T5, as transformers computes it: half of the buckets for keys ahead, unless nothing ahead is seen."""
    first = 0 if causal else (ahead > 0) * (buckets // 2)
    distance = -ahead.clamp(max=0) if causal else ahead.abs()
    count = buckets if causal else buckets // 2
    exact = count // 2
    share = torch.log(distance.float().clamp(min=1) / exact) / math.log(furthest / exact)
    further = (exact + (share * (count - exact)).long()).clamp(max=count - 1)
    return first + torch.where(distance < exact, distance, further)


def hidden(c, length):
    """True where a query does not see a key."""
    before = torch.arange(length)[:, None] - torch.arange(length)
    window = c["sliding_window"] or length
    return (before.abs() >= window) | (before < 0 if c["is_causal"] else torch.tensor(False))


def attention(c, p, x, factors, table):
    """self_attn of a block: nn.MultiheadAttention where it has the option, and what surrounds it."""
    batch, length, width = x.shape
    heads, groups = c["num_attention_heads"], c["num_key_value_heads"]
    head_width = c["head_dim"] or width // heads
    plain = groups == heads and heads * head_width == width and c["out_projection"] and c["scale_attn_weights"]
    plain &= not c["qk_norm"] and c["position_embedding_type"] not in ("rotary", "alibi", "relative_bias") and factors is None
    plain &= not c["sink"] and not c["output_gate"] and not c["kv_lora_rank"]
    if plain:
        mask = hidden(c, length)
        layer = torch.nn.MultiheadAttention(width, heads, batch_first=True, dtype=torch.float64)
        return torch.func.functional_call(layer, p, (x, x, x), {"attn_mask": mask, "need_weights": False})[0]
    rotary = c["position_embedding_type"] == "rotary"
    if c["kv_lora_rank"]:
        # DeepSeek-V2's: latents after an RMSNorm become each head's keys and values; the last columns of keys are of all heads
        down = p["kv_a_proj_with_mqa.weight"]
        latents, shared = F.linear(x, down).split([c["kv_lora_rank"], len(down) - c["kv_lora_rank"]], -1)
        latents = F.rms_norm(latents, latents.shape[-1:], p["kv_a_layernorm.weight"], 1e-6)
        q = F.linear(x, p["q_proj.weight"]).unflatten(-1, (heads, head_width)).transpose(1, 2)
        made = F.linear(latents, p["kv_b_proj.weight"]).unflatten(-1, (heads, -1)).transpose(1, 2)
        nope, v = made[..., :-head_width], made[..., -head_width:]
        q_nope, q_rope = q[..., :nope.shape[-1]], q[..., nope.shape[-1]:]
        shared = shared.unsqueeze(1)
        if rotary:
            q_rope, shared = rotate(q_rope), rotate(shared)
        q, k = torch.cat([q_nope, q_rope], -1), torch.cat([nope, shared.expand(batch, heads, -1, -1)], -1)
    else:
        q, k, v = F.linear(x, p["in_proj_weight"], p["in_proj_bias"]).split([n * head_width for n in (heads, groups, groups)], -1)
        q, k, v = (y.reshape(batch, length, -1, head_width).transpose(1, 2) for y in (q, k, v))
        if rotary:
            q, k = rotate(q), rotate(k)
    if c["qk_norm"]:
        q, k = (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) for y in (q, k))
    k, v = (y.repeat_interleave(heads // groups, 1) for y in (k, v))
    scores = q @ k.transpose(-1, -2)
    if c["scale_attn_weights"]:
        scores = scores / math.sqrt(head_width)
    if c["position_embedding_type"] == "alibi":
        at = torch.arange(length)
        scores = scores - alibi_slopes(heads)[:, None, None] * (at[:, None] - at).abs()
    if table is not None:
        ahead = torch.arange(length) - torch.arange(length)[:, None]
        scores = scores + table[relative_buckets(ahead, c["is_causal"])].permute(2, 0, 1)
    scores = scores.masked_fill(hidden(c, length), -math.inf)
    if c["sink"]:
        scores = torch.cat([scores, p["sinks"].reshape(1, -1, 1, 1).expand(batch, -1, length, 1)], -1)
    weights = scores.softmax(-1)[..., :length]
    if factors is not None:
        weights = weights * factors
    out = (weights @ v).transpose(1, 2).reshape(batch, length, -1)
    if c["output_gate"]:
        out = out * torch.sigmoid(F.linear(x, p["output_gate.weight"]))
    return F.linear(out, p["out_proj.weight"], p["out_proj.bias"]) if c["out_projection"] else out


def loss_of(c, parameters, tokens, targets, dropout):
    def under(prefix):
        return {n[len(prefix):]: p for n, p in parameters.items() if n.startswith(prefix)}

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], parameters[name + ".weight"], parameters[name + ".bias"]) if c["layer_norm"] else x

    x = F.embedding(tokens, parameters["embedding.weight"])
    if c["position_embedding_type"] == "learned":
        x = x + parameters["positions.weight"][:tokens.shape[1]]
    if c["position_embedding_type"] == "sinusoidal":
        x = x + sinusoids(*x.shape[1:])
    activation = {"relu": F.relu, "gelu_pytorch_tanh": lambda y: F.gelu(y, approximate="tanh")}[c["hidden_act"]]
    for layer in range(c["num_hidden_layers"]):
        name = f"layers.{layer}."
        x = x + attention(c, under(name + "self_attn."), norm(x, name + "norm1"), dropout.get(layer),
                          parameters.get("layers.0.self_attn.relative_attention_bias.weight"))
        if c["feed_forward"]:
            p = under(name)
            y = activation(F.linear(norm(x, name + "norm2"), p["linear1.weight"], p["linear1.bias"]))
            x = x + F.linear(y, p["linear2.weight"], p["linear2.bias"])
    unembedding = parameters["embedding.weight" if c["tie_word_embeddings"] else "unembedding.weight"]
    return F.cross_entropy(F.linear(norm(x, "norm"), unembedding).flatten(0, 1), targets.flatten(), ignore_index=-1)


def optimiser_of(c, parameters):
    kind, lr, decay = c["kind"], c["learning_rate"], c["weight_decay"]
    if kind in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, lr, momentum=c["momentum"] if kind == "momentum" else 0.0, weight_decay=decay)
    make = torch.optim.Adam if kind == "adam" else torch.optim.AdamW
    return make(parameters, lr, betas=(c["beta1"], c["beta2"]), eps=c["epsilon"], weight_decay=decay)


def rate_share(c, step):
    begin, end = c["warm_up_steps"], c["cosine_steps"]
    if step < begin:
        return (step + 1) / begin
    if end is None:
        return 1.0
    part = (min(step, end) - begin) / (end - begin)
    return c["final_share"] + (1 - c["final_share"]) * (1 + math.cos(math.pi * part)) / 2


def judge(path):
    """(name, largest difference of gradients, of 200 steps)"""
    with open(path) as file:
        case = json.load(file)
    with np.load(path[:-4] + "npz") as file:
        arrays = {n: torch.from_numpy(file[n]) for n in file.files}
    under = lambda prefix: {n[len(prefix):]: x for n, x in arrays.items() if n.startswith(prefix)}
    tokens, targets = arrays["tokens"].long(), arrays["targets"].long()
    dropout = {int(layer): x for layer, x in under("dropout.").items()}
    parameters = {n: x.clone().requires_grad_() for n, x in under("value.").items()}
    apart = lambda ours, theirs: float((ours - theirs).abs().max() / max(float(theirs.abs().max()), LEAST_SCALE))

    loss_of(case["model"], parameters, tokens, targets, dropout).backward()
    gradients = max((apart(x, parameters[n].grad), n) for n, x in under("gradient.").items())

    optimiser = optimiser_of(case["optimiser"], parameters.values())
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: rate_share(case["optimiser"], step))
    losses = []
    for _ in range(len(arrays["losses"])):
        optimiser.zero_grad()
        loss = loss_of(case["model"], parameters, tokens, targets, dropout)
        loss.backward()
        if case["optimiser"]["clip_norm"] is not None:
            torch.nn.utils.clip_grad_norm_(parameters.values(), case["optimiser"]["clip_norm"])
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    steps = max((apart(arrays["losses"], torch.tensor(losses, dtype=torch.float64)), "losses"),
                max((apart(x, parameters[n].detach()), n) for n, x in under("last.").items()))
    return f"{case['name']} ({case['optimiser']['kind']})", gradients, steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="headwise_training_cases")
    given = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.abspath(given.program), folder], check=True)
        paths = sorted(glob.glob(os.path.join(folder, "*.json")))
        assert paths, "no cases were written"
        for path in paths:
            name, (gradients, where), (steps, where_last) = judge(path)
            kept = gradients <= GRADIENT_BOUND and steps <= STEP_BOUND
            failed += not kept
            print(f"{'ok' if kept else 'FAILED':7}{name:50} gradients {gradients:.1e} ({where}), 200 steps {steps:.1e} ({where_last})")
    print(f"{len(paths)} options, {failed} failed")
    sys.exit(1 if failed else 0)


main()
