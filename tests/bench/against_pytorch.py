#!/usr/bin/env python3
"""Times nn.MultiheadAttention and F.scaled_dot_product_attention of PyTorch and of Headwise's fused backend in turns, on the
same sizes and as many threads, and prints how many times as fast Headwise is: the median over the turns. Where onnx and
onnxruntime are installed, ONNX Runtime takes its turn too, with its operator MultiHeadAttention (com.microsoft) between
products for the projections.

    python3 tests/bench/against_pytorch.py build/release/headwise [--threads 2] [--turns 5] [--lengths 128,512,2048,4096]

Needs torch (2.5 or newer) in the Python that runs it."""
import argparse, json, statistics, subprocess, time

import torch
import torch.nn.functional as F

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None

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


def onnx_model(module, length, causal):
    """A graph of q, k and v (with `module` of x and its parameters) to the output, in float32."""
    helper, shape = onnx.helper, [1, length, EMBED_DIM]
    nodes, constants = [], []
    random = np.random.default_rng(0)

    def linear(x, name):
        for suffix, size in (("weight", (EMBED_DIM, EMBED_DIM)), ("bias", (EMBED_DIM,))):
            array = (random.standard_normal(size) / EMBED_DIM**0.5).astype(np.float32)
            constants.append(onnx.numpy_helper.from_array(array, f"{name}_{suffix}"))
        nodes.append(helper.make_node("MatMul", [x, f"{name}_weight"], [f"{name}_product"]))
        nodes.append(helper.make_node("Add", [f"{name}_product", f"{name}_bias"], [name]))

    inputs = ["x"] if module else ["q", "k", "v"]
    for name in ("q", "k", "v") if module else ():
        linear("x", name)
    nodes.append(helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["heads"], domain="com.microsoft",
                                  num_heads=NUM_HEADS, unidirectional=int(causal)))
    if module:
        linear("heads", "output")

    def value(name):
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    graph = helper.make_graph(nodes, "attention", [value(name) for name in inputs],
                              [value("output" if module else "heads")], constants)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def onnx_work(module, length, causal, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(onnx_model(module, length, causal).SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    given = {i.name: random.standard_normal((1, length, EMBED_DIM)).astype(np.float32) for i in session.get_inputs()}
    return lambda: session.run(None, given)


def median_ms(work, repeat):
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
    if onnxruntime:
        print(f"ONNX Runtime {onnxruntime.__version__}")
    beside = f"{'ORT ms':>10}{'times':>7}" if onnxruntime else ""
    print(f"{'op':<12}{'L':>6}{'fused ms':>10}{'of peak':>9}{'PyTorch ms':>12}{'times':>7}{beside}")
    for module, causal in ((True, False), (False, False), (False, True)):
        for length in map(int, options.lengths.split(",")):
            repeat = 41 if length <= 256 else 15 if length <= 1024 else 5
            peers = {"PyTorch": pytorch_work(module, length, causal)}
            if onnxruntime:
                peers["ONNX Runtime"] = onnx_work(module, length, causal, options.threads)
            theirs, ours, peak = {name: [] for name in peers}, [], []
            with torch.inference_mode():
                for _ in range(options.turns):
                    for name, work in peers.items():
                        theirs[name].append(median_ms(work, repeat))
                    ms, fraction = headwise_ms(options.headwise, module, length, causal, options.threads, repeat)
                    ours.append(ms)
                    peak.append(fraction)
            name = ("mha" if module else "sdpa") + (" causal" if causal else "")
            line = f"{name:<12}{length:>6}{statistics.median(ours):>10.3f}{statistics.median(peak):>9.2f}"
            for peer, width in (("PyTorch", 12), ("ONNX Runtime", 10)):
                if peer in theirs:
                    ratio = statistics.median(a / b for a, b in zip(theirs[peer], ours))
                    line += f"{statistics.median(theirs[peer]):>{width}.3f}{ratio:>7.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
