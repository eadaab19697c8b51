#!/usr/bin/env python3
"""Holds `headwise run --backward` against a real PyTorch (2.5 or newer) on configurations drawn at random.

    python3 tests/peers/compare_with_pytorch.py build/release/headwise [--cases 300] [--seed 0] [--f32-error]

Every case draws sizes, options and arrays (drawn_cases.py) and compares the output, the returned weights and every gradient of
F.multi_head_attention_forward or F.scaled_dot_product_attention in float64: NaN and infinities must stand in the same cells,
the rest may differ by 1e-11 of the tensor's largest magnitude (gradients 1e-9).

With --f32-error it measures instead how far both are from float64 when they compute in float32, over larger sizes and scores
too, and demands at most twice PyTorch's own error of every tensor.

Exit status 1 where a bound is not kept, 77 where there is no PyTorch.
"""
import argparse, collections, contextlib, math, sys, warnings

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from drawn_cases import Draw, draw_case, draw_multi_head_attention
from headwise_program import Headwise, difference

VALUE_BOUND, GRADIENT_BOUND, F32_RATIO_BOUND = 1e-11, 1e-9, 2.0
# Where a sum cancels to nothing, rounding noise of the size of its terms is left: of this, times the inputs' amplitude squared.
LEAST_SCALE = 1e-2


def blocked_to_bias(mask, dtype):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf) if mask.dtype == torch.bool else mask


def multi_head_attention(scenario, t, dtype):
    """(output batch first, attn_output_weights or None)"""
    options = scenario["attention"]
    turned = t["query"].dim() == 3 and scenario["inputs"]["batch_first"]
    turn = lambda x: x.transpose(0, 1) if turned else x
    query = turn(t["query"])
    key, value = (turn(t[n]) if n in t else query for n in ("key", "value"))
    mask = t.get("attn_mask")
    if scenario.get("mask", {}).get("is_causal"):  # merged by hand: PyTorch takes it as a hint about attn_mask
        rows, columns = query.shape[0], t["static_k"].shape[1] if "static_k" in t else key.shape[0]
        causal = blocked_to_bias(torch.ones(rows, columns, dtype=torch.bool).triu(1), dtype)
        mask = causal if mask is None else blocked_to_bias(mask, dtype) + causal
    output, weights = F.multi_head_attention_forward(
        query, key, value, options["embed_dim"], options["num_heads"], t.get("in_proj_weight"), t.get("in_proj_bias"),
        t.get("bias_k"), t.get("bias_v"), options["add_zero_attn"], 0.0, t["out_proj.weight"], t.get("out_proj.bias"),
        training=False, key_padding_mask=t.get("key_padding_mask"), need_weights=options["need_weights"], attn_mask=mask,
        use_separate_proj_weight="q_proj_weight" in t, q_proj_weight=t.get("q_proj_weight"),
        k_proj_weight=t.get("k_proj_weight"), v_proj_weight=t.get("v_proj_weight"), static_k=t.get("static_k"),
        static_v=t.get("static_v"), average_attn_weights=options["average_attn_weights"])
    return turn(output), weights


def scaled_dot_product_attention(scenario, t, dtype):
    mask, causal = t.get("attn_mask"), scenario.get("mask", {}).get("is_causal", False)
    if causal and mask is not None:  # PyTorch refuses both at once
        allowed = torch.ones(t["query"].shape[2], t["key"].shape[2], dtype=torch.bool).tril()
        mask = mask & allowed if mask.dtype == torch.bool else mask + blocked_to_bias(~allowed, dtype)
        causal = False
    return F.scaled_dot_product_attention(t["query"], t["key"], t["value"], attn_mask=mask, is_causal=causal,
                                          scale=scenario["attention"].get("scale"), enable_gqa=True), None


def trusted_kernel(arrays):
    """PyTorch's fused CPU kernel takes a row of NaN scores for one that is fully masked; its plain one does not."""
    poisoned = any(not np.isfinite(a).all() for n, a in arrays.items() if n not in ("attn_mask", "key_padding_mask"))
    return sdpa_kernel(SDPBackend.MATH) if poisoned else contextlib.nullcontext()


def pytorch(scenario, arrays, dtype=torch.float64):
    """Output, returned weights and gradients, in the trace's names and layouts."""
    t = {n: torch.from_numpy(np.ascontiguousarray(a)) for n, a in arrays.items()}
    t = {n: x if x.dtype == torch.bool else x.to(dtype).requires_grad_(n != "grad_output") for n, x in t.items()}
    sdpa = scenario.get("op") == "scaled_dot_product_attention"
    with trusted_kernel(arrays):
        output, weights = (scaled_dot_product_attention if sdpa else multi_head_attention)(scenario, t, dtype)
    (output * t["grad_output"]).sum().backward()
    unbatched = not sdpa and t["query"].dim() == 2
    turned = not sdpa and not unbatched and not scenario["inputs"]["batch_first"]

    def in_trace(name, x):
        if name in ("query", "key", "value", "output") and unbatched:
            x = x.unsqueeze(0)
        elif name in ("query", "key", "value", "output") and turned:
            x = x.transpose(0, 1)
        elif name in ("attn_output_weights", "key_padding_mask") and unbatched:
            x = x.unsqueeze(0)
        return x.detach().numpy()

    values = {"output": in_trace("output", output)}
    if weights is not None:
        values["attn_output_weights"] = in_trace("attn_output_weights", weights)
    for name, x in t.items():
        if x.requires_grad:
            gradient = torch.zeros_like(x) if x.grad is None else x.grad
            trace_name = {"query": "q_heads", "key": "k_heads", "value": "v_heads"}.get(name, name) if sdpa else name
            values["grad." + trace_name] = in_trace(name, gradient)
    return values


def described(case, scenario, arrays):
    return f"case {case}: {scenario} { {n: a.shape if a.dtype == bool else (a.shape, 'f') for n, a in arrays.items()} }"


def compare_in_f64(headwise, given):
    worst, failures, refused = collections.defaultdict(float), 0, 0
    for case in range(given.first, given.first + given.cases):
        amplitude = [1.0, 1.0, 1.0, 8.0, 200.0][case % 5]
        scenario, arrays = draw_case(given.seed, case, amplitude)
        try:
            theirs = pytorch(scenario, arrays)
        except (RuntimeError, AssertionError) as error:
            refused += 1
            print(f"PyTorch refuses {described(case, scenario, arrays)}\n  {str(error).splitlines()[0]}")
            continue
        ours, error = headwise.run(scenario, arrays, backward=True)
        if ours is None:
            print(f"{error}\n  {described(case, scenario, arrays)}")
            failures += 1
            continue
        for name, expected in theirs.items():
            gradient = name.startswith("grad.")
            off = difference(ours[name], expected, LEAST_SCALE * amplitude**2) if name in ours else math.inf
            if math.isfinite(off):
                worst[gradient] = max(worst[gradient], off)
            if not off <= (GRADIENT_BOUND if gradient else VALUE_BOUND):
                finite = "" if name not in ours else f"; NaN: {np.isnan(ours[name]).sum()} ours, {np.isnan(expected).sum()} theirs"
                print(f"{name} is off by {off:.3g}{finite} in {described(case, scenario, arrays)}")
                failures += 1
    print(f"{given.cases} cases, PyTorch {torch.__version__}: worst value {worst[False]:.3g}, worst gradient {worst[True]:.3g}, "
          f"{refused} that PyTorch refuses, {failures} failures")
    return failures


def draw_for_f32(seed, case):
    """Sizes and magnitudes that f32 feels: up to E = 512, L = S = 256, and scores that saturate the softmax."""
    draw = Draw((seed, case, 32))
    amplitude = draw.among([0.1, 1.0, 1.0, 3.0, 10.0, 40.0])
    heads = draw.among([1, 2, 4, 8])
    sizes = draw.among([None, None, (heads, heads * 8, 2, 16, 24), (heads, heads * 16, 1, 64, 48), (8, 512, 1, 32, 32),
                        (heads, heads * 32, 1, 128, 128), (heads, 64, 1, 256, 256)])
    if sizes is None:
        return draw_case(seed, case, amplitude, special=False)
    return draw_multi_head_attention(draw, amplitude, sizes, special=False)


def largest_error(got, exact):
    """Of the cells that are finite in float64: largest |got − exact|, infinite where such a cell is not finite."""
    finite = np.isfinite(exact)
    errors = np.abs(got[finite].astype(np.float64) - exact[finite])
    return 0.0 if errors.size == 0 else math.inf if not np.isfinite(errors).all() else float(errors.max())


def measure_f32_error(headwise, given):
    ratios, failures = collections.defaultdict(list), 0
    for case in range(given.first, given.first + given.cases):
        scenario, arrays = draw_for_f32(given.seed, case)
        exact = pytorch(scenario, arrays, torch.float64)
        theirs = pytorch(scenario, arrays, torch.float32)
        ours, error = headwise.run(scenario, arrays, "f32", backward=True)
        if ours is None:
            print(f"{error}\n  {described(case, scenario, arrays)}")
            failures += 1
            continue
        for name, truth in exact.items():
            our_error, their_error = largest_error(ours[name], truth), largest_error(theirs[name], truth)
            if our_error == 0.0:
                continue
            ratio = our_error / their_error if their_error > 0.0 else math.inf
            ratios[name].append((ratio, case))
            if ratio > F32_RATIO_BOUND:
                largest = np.max(np.abs(truth[np.isfinite(truth)]))
                print(f"{name}: {our_error:.3g} ours, {their_error:.3g} PyTorch's, {ratio:.3g} times, of {largest:.3g} in "
                      f"{described(case, scenario, arrays)}")
                failures += 1
    print(f"{'tensor':28} cases   median    worst  in case")
    for name, of_cases in ratios.items():
        worst, case = max(of_cases)
        print(f"{name:28} {len(of_cases):5} {np.median([ratio for ratio, _ in of_cases]):8.3f} {worst:8.3f}  {case}")
    print(f"our f32 error over PyTorch {torch.__version__}'s: {given.cases} cases, {failures} above {F32_RATIO_BOUND}")
    return failures


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--cases", type=int, default=300)
    arguments.add_argument("--first", type=int, default=0, help="number of the first case")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--f32-error", action="store_true", help="measure the error of f32, ours and PyTorch's")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")  # PyTorch warns of masks of two types
    torch.set_num_threads(1)
    judge = measure_f32_error if given.f32_error else compare_in_f64
    sys.exit(1 if judge(Headwise(given.program), given) else 0)


main()
