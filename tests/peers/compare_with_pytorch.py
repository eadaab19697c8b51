#!/usr/bin/env python3
"""Holds `headwise run` against a real PyTorch on configurations drawn at random.

    /usr/bin/python3 tests/peers/compare_with_pytorch.py build/release/headwise [--cases 200] [--seed 0]

Every case draws sizes, options and arrays, writes the arrays to an .npz and the options to a scenario, runs both in
float64 and Headwise also in float32, and reports the largest relative difference. Exit status 1 where one is above the
bounds (f64 1e-12, f32 2e-6 of the tensor's largest magnitude), 77 where there is no PyTorch.
"""
import argparse, json, math, os, subprocess, sys, tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

F64_BOUND, F32_BOUND = 1e-12, 2e-6


def draw_case(rng):
    """One configuration of torch.nn.MultiheadAttention: options and float64 arrays in PyTorch's layouts."""
    heads = int(rng.choice([1, 2, 3, 4, 8]))
    width = heads * int(rng.choice([1, 2, 5, 8, 16]))
    batch, queries = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    self_attention = rng.random() < 0.4
    separate = not self_attention and rng.random() < 0.4
    keys = queries if self_attention else int(rng.integers(1, 14))
    kdim, vdim = (int(rng.integers(1, 20)), int(rng.integers(1, 20))) if separate else (width, width)
    normal = lambda *sizes: rng.standard_normal(sizes)
    arrays = {"query": normal(batch, queries, width)}
    if not self_attention:
        arrays["key"], arrays["value"] = normal(batch, keys, kdim), normal(batch, keys, vdim)
    if separate:
        arrays.update(q_proj_weight=normal(width, width) / math.sqrt(width), k_proj_weight=normal(width, kdim) / math.sqrt(kdim),
                      v_proj_weight=normal(width, vdim) / math.sqrt(vdim))
    else:
        arrays["in_proj_weight"] = normal(3 * width, width) / math.sqrt(width)
    arrays["out_proj.weight"] = normal(width, width) / math.sqrt(width)
    bias = rng.random() < 0.7
    if bias:
        arrays["in_proj_bias"], arrays["out_proj.bias"] = normal(3 * width), normal(width)
    if rng.random() < 0.3:
        arrays["bias_k"], arrays["bias_v"] = normal(1, 1, width), normal(1, 1, width)
    attention = {"embed_dim": width, "num_heads": heads, "bias": bias, "add_bias_kv": "bias_k" in arrays,
                 "add_zero_attn": bool(rng.random() < 0.3), "average_attn_weights": bool(rng.random() < 0.5)}
    if separate:
        attention.update(kdim=kdim, vdim=vdim)
    kind = rng.choice(["none", "bool2", "bool3", "float2", "float3"])
    mask_shape = (queries, keys) if kind.endswith("2") else (batch * heads, queries, keys)
    if kind.startswith("bool"):
        arrays["attn_mask"] = rng.random(mask_shape) < 0.3
    elif kind.startswith("float"):
        arrays["attn_mask"] = normal(*mask_shape)
    if rng.random() < 0.4:
        padding = rng.random((batch, keys)) < 0.3
        arrays["key_padding_mask"] = padding
    scenario = {"headwise": 1, "attention": attention, "inputs": {"self_attention": bool(self_attention)}}
    if rng.random() < 0.25:
        scenario["mask"] = {"is_causal": True}
    return scenario, arrays


def pytorch(scenario, arrays):
    t = {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}
    options = scenario["attention"]
    query = t["query"].transpose(0, 1)
    key, value = (t[n].transpose(0, 1) if n in t else query for n in ("key", "value"))
    mask = t.get("attn_mask")
    to_float = lambda m: torch.zeros(m.shape, dtype=torch.float64).masked_fill(m, -math.inf) if m.dtype == torch.bool else m
    if mask is not None:
        mask = to_float(mask)
    if scenario.get("mask", {}).get("is_causal"):
        causal = torch.ones(query.shape[0], key.shape[0], dtype=torch.bool).triu(1)
        mask = to_float(causal) if mask is None else mask + to_float(causal)
    separate = "q_proj_weight" in t
    output, weights = F.multi_head_attention_forward(
        query, key, value, options["embed_dim"], options["num_heads"], t.get("in_proj_weight"), t.get("in_proj_bias"),
        t.get("bias_k"), t.get("bias_v"), options["add_zero_attn"], 0.0, t["out_proj.weight"], t.get("out_proj.bias"),
        training=False, key_padding_mask=t.get("key_padding_mask"), need_weights=True, attn_mask=mask,
        use_separate_proj_weight=separate, q_proj_weight=t.get("q_proj_weight"), k_proj_weight=t.get("k_proj_weight"),
        v_proj_weight=t.get("v_proj_weight"), average_attn_weights=options["average_attn_weights"])
    return {"output": output.transpose(0, 1).numpy(), "attn_output_weights": weights.numpy()}


def difference(ours, theirs):
    """Largest |ours − theirs| over the largest |theirs|; infinite where shapes or NaN positions differ."""
    if ours.shape != theirs.shape or not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        return math.inf
    there = ~np.isnan(theirs)
    if not there.any():
        return 0.0
    return float(np.max(np.abs(ours[there] - theirs[there])) / max(np.max(np.abs(theirs[there])), 1e-300))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--cases", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    worst, failures = {"f64": 0.0, "f32": 0.0}, 0
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for case in range(given.cases):
            scenario, arrays = draw_case(np.random.default_rng((given.seed, case)))
            theirs = pytorch(scenario, arrays)
            json.dump(scenario, open(path("scenario.json"), "w"))
            np.savez(path("inputs.npz"), **arrays)
            for dtype, bound in (("f64", F64_BOUND), ("f32", F32_BOUND)):
                run = subprocess.run([given.program, "run", path("scenario.json"), "--input", path("inputs.npz"), "--dtype",
                                      dtype, "-o", path("ours.npz")], capture_output=True, text=True)
                if run.returncode != 0:
                    print(f"case {case} {dtype}: exit {run.returncode}: {run.stderr.strip()}\n  {scenario}")
                    failures += 1
                    continue
                ours = np.load(path("ours.npz"))
                for name, expected in theirs.items():
                    off = difference(ours[name].astype(np.float64), expected)
                    if math.isfinite(off):
                        worst[dtype] = max(worst[dtype], off)
                    if not off <= bound:
                        print(f"case {case} {dtype} {name}: {off:.3g} above {bound}\n  {scenario} "
                              f"{ {n: a.shape for n, a in arrays.items()} }")
                        failures += 1
    print(f"{given.cases} cases, PyTorch {torch.__version__}: worst f64 {worst['f64']:.3g}, f32 {worst['f32']:.3g}, "
          f"{failures} failures")
    sys.exit(1 if failures else 0)


main()
