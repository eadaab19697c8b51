#!/usr/bin/env python3
"""Times nn.MultiheadAttention and F.scaled_dot_product_attention of PyTorch and of Headwise's fused backend in turns, on the
same sizes and as many threads, and prints how many times as fast Headwise is: the median over the turns.

    python3 tests/bench/against_pytorch.py build/release/headwise [--threads 2] [--turns 5] [--lengths 128,512,2048,4096]

Needs torch (2.5 or newer) in the Python that runs it."""
import argparse, json, statistics, subprocess, time

import torch
import torch.nn.functional as F

EMBED_DIM, NUM_HEADS = 512, 8


def headwise_ms(program, module, length, causal, threads, repeat):
    """Median milliseconds of one run, and its fraction of the machine's peak."""
    settings = {
        "op": "multi_head_attention" if module else "scaled_dot_product_attention",
        "attention.embed_dim": EMBED_DIM, "attention.num_heads": NUM_HEADS, "attention.need_weights": "false",
        "inputs.source": "random", "inputs.query_length": length, "mask.is_causal": str(causal).lower(),
    }
    words = [program, "bench", "--preset", "random", "--backend", "fused", "--threads", str(threads), "--repeat",
             str(repeat), "--json"]
    for path, value in settings.items():
        words += ["--set", f"{path}={value}"]
    run = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["runs"][0]
    assert run["length"] == length and run["max_abs_diff"] < 1e-4, run
    return run["median_ms"], run["fraction_of_peak"]


def pytorch_work(module, length, causal):
    if not module:
        q, k, v = (torch.randn(1, NUM_HEADS, length, EMBED_DIM // NUM_HEADS) for _ in range(3))
        return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    layer = torch.nn.MultiheadAttention(EMBED_DIM, NUM_HEADS, batch_first=True).eval()
    x = torch.randn(1, length, EMBED_DIM)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(length) if causal else None
    return lambda: layer(x, x, x, need_weights=False, attn_mask=mask, is_causal=causal)


def pytorch_ms(work, repeat):
    times = []
    for _ in range(repeat + 2):
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headwise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--lengths", default="128,512,2048,4096")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"PyTorch {torch.__version__}, {options.threads} threads, embed_dim {EMBED_DIM}, {NUM_HEADS} heads, no weights")
    print(f"{'op':<8}{'L':>6}{'PyTorch ms':>12}{'fused ms':>10}{'of peak':>9}{'times as fast':>15}")
    for module, causal in ((True, False), (False, False), (False, True)):
        for length in map(int, options.lengths.split(",")):
            repeat = 41 if length <= 256 else 15 if length <= 1024 else 5
            work = pytorch_work(module, length, causal)
            theirs, ours, peak = [], [], []
            with torch.inference_mode():
                for _ in range(options.turns):
                    theirs.append(pytorch_ms(work, repeat))
                    ms, fraction = headwise_ms(options.headwise, module, length, causal, options.threads, repeat)
                    ours.append(ms)
                    peak.append(fraction)
            ratio = statistics.median(a / b for a, b in zip(theirs, ours))
            name = ("mha" if module else "sdpa") + (" causal" if causal else "")
            print(f"{name:<12}{length:>6}{statistics.median(theirs):>12.3f}{statistics.median(ours):>10.3f}"
                  f"{statistics.median(peak):>9.2f}{ratio:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
