#!/usr/bin/env python3
"""PyTorch on the same GPU, for tests/gpu/on_a_gpu.sh: the sizes of `headwise_gpu_bench layers` in float32 with TF32 off. Whole layers,
attention as PyTorch chooses to compute it, and attention by its plain path (PyTorch's own float32 kernels may use tensor cores by
splitting numbers into three of TF32; the plain path multiplies in float32)."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from gl_against_pytorch import pytorch_ms, pytorch_work

SIZES = [(512, 8, 512), (512, 8, 2048), (768, 12, 1024), (1024, 16, 2048), (4096, 32, 512), (4096, 32, 1024), (4096, 32, 4096)]
REPEAT = 5


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
        for size in SIZES:
            for causal in (False, True):
                run = dict(zip(("embed_dim", "num_heads", "length"), size), causal=causal)
                run["layer_ms"] = pytorch_ms(torch, pytorch_work(torch, True, size, causal), REPEAT)
                attention = pytorch_work(torch, False, size, causal)
                run["attention_ms"] = pytorch_ms(torch, attention, REPEAT)
                with sdpa_kernel(SDPBackend.MATH):
                    run["plain_attention_ms"] = pytorch_ms(torch, attention, REPEAT)
                runs.append(run)
    print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(), "runs": runs}))


if __name__ == "__main__":
    sys.exit(main())
