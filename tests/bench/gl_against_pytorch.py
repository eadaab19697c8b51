#!/usr/bin/env python3
"""Times multi-head attention and scaled dot-product attention of PyTorch on a CUDA GPU (float32, TF32 off) and of Headwise's gl backend on
the same GPU in turns, on the same sizes, and prints how many times as fast Headwise is: the median over the turns. Both are timed from
tensors on the GPU to the output there.

    python3 tests/bench/gl_against_pytorch.py build/release/headwise [--turns 3] [--sizes 512x8x512,4096x32x4096]

Needs torch with CUDA, and an OpenGL 4.3 of the GPU's own driver through EGL."""
import argparse, json, statistics, subprocess, sys

# embed_dim x num_heads x length
SIZES = "512x8x512,512x8x2048,1024x16x2048,4096x32x1024,4096x32x4096"
SOFTWARE = ("llvmpipe", "softpipe", "swrast", "lavapipe")


def headwise_run(program, module, size, causal, repeat):
    """Median milliseconds of one run, and what computed."""
    embed_dim, num_heads, length = size
    settings = {
        "op": "multi_head_attention" if module else "scaled_dot_product_attention",
        "attention.embed_dim": embed_dim, "attention.num_heads": num_heads, "attention.need_weights": "false",
        "inputs.source": "random", "inputs.query_length": length, "mask.is_causal": str(causal).lower(),
    }
    words = [program, "bench", "--preset", "random", "--backend", "gl", "--threads", "1", "--repeat", str(repeat), "--json"]
    for path, value in settings.items():
        words += ["--set", f"{path}={value}"]
    bench = subprocess.run(words, capture_output=True, text=True)
    if bench.returncode != 0:
        sys.exit(f"headwise bench --backend gl: {bench.stderr.strip()}")
    told = json.loads(bench.stdout)
    if not told["runs"]:
        sys.exit(f"the gl backend measured nothing here: {bench.stderr.strip()}")
    run = told["runs"][0]
    assert run["length"] == length and run["max_abs_diff"] < 1e-4, run
    return run["median_ms"], told["machine"]["gl_renderer"]


def pytorch_work(torch, module, size, causal):
    embed_dim, num_heads, length = size
    attend = torch.nn.functional.scaled_dot_product_attention
    if not module:
        q, k, v = (torch.randn(1, num_heads, length, embed_dim // num_heads, device="cuda") for _ in range(3))
        return lambda: attend(q, k, v, is_causal=causal)
    layer = torch.nn.MultiheadAttention(embed_dim, num_heads, batch_first=True, device="cuda").eval()
    x = torch.randn(1, length, embed_dim, device="cuda")
    mask = torch.nn.Transformer.generate_square_subsequent_mask(length, device="cuda") if causal else None
    return lambda: layer(x, x, x, need_weights=False, attn_mask=mask, is_causal=causal)


def pytorch_ms(torch, work, repeat):
    times = []
    for _ in range(repeat + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headwise")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("--sizes", default=SIZES, help="embed_dim x heads x length, separated by commas")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is missing in this Python: install torch with CUDA, then run this again.")
    if not torch.cuda.is_available():
        sys.exit(f"PyTorch {torch.__version__} sees no CUDA device here: run this on a machine with an NVIDIA GPU and its driver.")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}, float32, TF32 off, no weights")
    print(f"{'op':<12}{'E':>6}{'H':>4}{'L':>6}{'PyTorch ms':>12}{'gl ms':>10}{'times as fast':>15}")
    renderer = None
    for module, causal in ((True, False), (False, False), (False, True)):
        for size in (tuple(map(int, word.split("x"))) for word in options.sizes.split(",")):
            theirs, ours = [], []
            with torch.inference_mode():
                work = pytorch_work(torch, module, size, causal)
                for _ in range(options.turns):
                    theirs.append(pytorch_ms(torch, work, options.repeat))
                    ms, renderer = headwise_run(options.headwise, module, size, causal, options.repeat)
                    ours.append(ms)
                    if any(name in renderer for name in SOFTWARE):
                        sys.exit(f"OpenGL is software here ({renderer}): its GPU's own driver for EGL is missing.")
            ratio = statistics.median(a / b for a, b in zip(theirs, ours))
            name = ("mha" if module else "sdpa") + (" causal" if causal else "")
            print(f"{name:<12}{size[0]:>6}{size[1]:>4}{size[2]:>6}{statistics.median(theirs):>12.3f}"
                  f"{statistics.median(ours):>10.3f}{ratio:>15.2f}", flush=True)
    print(f"gl: {renderer}")


if __name__ == "__main__":
    main()
