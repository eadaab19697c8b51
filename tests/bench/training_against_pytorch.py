#!/usr/bin/env python3
"""Times `headwise train` beside PyTorch's eager mode on the same model, in turns: tokens a second, the best of each.

    python3 tests/bench/training_against_pytorch.py build/release/headwise [--threads 2] [--rounds 5] [--steps 100]

Induction with 2 layers, E = 64, 8 heads, 32 tokens and a batch of 64, AdamW with clipping, in float32. PyTorch has
nn.TransformerEncoder(norm_first=True), an embedding, learned positions and an unembedding, fed with batches that are already there.

Exit status 77 where there is no PyTorch.
"""
import argparse, os, re, subprocess, sys, tempfile, time

try:
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VOCABULARY, LENGTH, BATCH, WIDTH, HEADS, LAYERS = 32, 32, 64, 64, 8, 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        gelu = lambda x: F.gelu(x, approximate="tanh")
        layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, gelu, batch_first=True, norm_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, LAYERS, torch.nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.positions = torch.nn.Embedding(LENGTH, WIDTH)
        self.unembedding = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.register_buffer("mask", torch.nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions.weight
        return self.unembedding(self.encoder(x, mask=self.mask, is_causal=True))


def pytorch_speed(steps):
    torch.manual_seed(0)
    model = Model()
    optimiser = torch.optim.AdamW(model.parameters(), 3e-3, weight_decay=0.01)
    batches = torch.randint(VOCABULARY, (8, BATCH, LENGTH))
    counted = torch.rand(8, BATCH, LENGTH) < 0.6

    def step(i):
        targets = torch.where(counted[i % 8], batches[i % 8].roll(-1, 1), -1)
        optimiser.zero_grad()
        F.cross_entropy(model(batches[i % 8]).flatten(0, 1), targets.flatten(), ignore_index=-1).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    for i in range(10):
        step(i)
    begin = time.perf_counter()
    for i in range(steps):
        step(i)
    return steps * BATCH * LENGTH / (time.perf_counter() - begin)


def headwise_speed(program, steps, threads):
    with tempfile.TemporaryDirectory() as folder:
        words = ["taskset", "-c", f"0-{threads - 1}", program, "train", "induction", "-o", folder + "/run", "--steps", str(steps), "--every", str(steps)]
        out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"(\d+) tokens/s", out)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    ours, theirs = [], []
    for _ in range(given.rounds):
        ours.append(headwise_speed(os.path.abspath(given.program), given.steps, given.threads))
        theirs.append(pytorch_speed(given.steps))
        print(f"headwise {ours[-1]:10,.0f} tokens/s   PyTorch {theirs[-1]:10,.0f}   {ours[-1] / theirs[-1]:.2f} ×", flush=True)
    print(f"best     {max(ours):10,.0f} tokens/s   PyTorch {max(theirs):10,.0f}   {max(ours) / max(theirs):.2f} ×")


main()
