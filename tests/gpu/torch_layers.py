#!/usr/bin/env python3
"""PyTorch on the same GPU, for tests/gpu/on_a_gpu.sh: the sizes of `headwise_gpu_bench layers` in float32 with TF32 off. Whole layers,
attention as PyTorch chooses to compute it, and attention by its plain path (PyTorch's own float32 kernels may use tensor cores by
splitting numbers into three of TF32; the plain path multiplies in float32)."""
import json
import statistics
import sys

SIZES = [(512, 8, 512), (512, 8, 2048), (768, 12, 1024), (1024, 16, 2048), (4096, 32, 512), (4096, 32, 1024), (4096, 32, 4096)]


def milliseconds(torch, work):
    times = []
    for _ in range(8):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[3:])


def main():
    try:
        import torch
    except ImportError:
        print(json.dumps({"missing": "torch"}))
        return
    if not torch.cuda.is_available():
        print(json.dumps({"missing": "CUDA"}))
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    from torch.nn.attention import SDPBackend, sdpa_kernel
    runs = []
    with torch.no_grad():
        for embed_dim, num_heads, length in SIZES:
            layer = torch.nn.MultiheadAttention(embed_dim, num_heads, batch_first=True, device="cuda").eval()
            x = torch.randn(1, length, embed_dim, device="cuda")
            q, k, v = (torch.randn(1, num_heads, length, embed_dim // num_heads, device="cuda") for _ in range(3))
            for causal in (False, True):
                mask = torch.nn.Transformer.generate_square_subsequent_mask(length, device="cuda") if causal else None
                attend = torch.nn.functional.scaled_dot_product_attention
                run = {"embed_dim": embed_dim, "num_heads": num_heads, "length": length, "causal": causal}
                run["layer_ms"] = milliseconds(torch, lambda: layer(x, x, x, need_weights=False, attn_mask=mask, is_causal=causal))
                run["attention_ms"] = milliseconds(torch, lambda: attend(q, k, v, is_causal=causal))
                with sdpa_kernel(SDPBackend.MATH):
                    run["plain_attention_ms"] = milliseconds(torch, lambda: attend(q, k, v, is_causal=causal))
                runs.append(run)
    print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(), "runs": runs}))


if __name__ == "__main__":
    sys.exit(main())
