"""Trains `copycat`, a causal decoder of 2 layers that repeats what it has read, and writes copycat/.

    /usr/bin/python3 train_copycat.py [--steps N] [--out FOLDER]

Needs Debian's python3-torch (1.13) and nothing else; with libopenblas0-pthread it is some 15 times as fast as with the
reference BLAS. Next-word objective on every word of random texts (repeating_words.py). One thread; the seed fixes data and weights.
measure_copycat.py then measures the file and writes its card.
"""

import argparse
import json
import math
import os
import random
import sys
import time

sys.dont_write_bytecode = True
import torch
import torch.nn.functional as F

from gpt2_decoder import decoder_config, decoder_parameters, run_decoder
from repeating_words import VOCABULARY, repeating_text
from safetensors_file import write_safetensors

SEED = 7
STEPS = 4000
BATCH, LENGTH = 32, 64
RATE, WARM_UP = 2e-3, 100
# Echoes ("rain moon rain") make looking one word back worth something by itself; they grow fewer and end after ECHO_STEPS.
# Without them layer 0 learned to put words p and p + 1 together at the place 2·p, not at p + 1: nearly as good, but not the
# previous-token head that larger models have.
ECHO_SHARE, ECHO_STEPS = 0.4, 1500


def learning_rate(step, steps):
    return RATE * min(1.0, (step + 1) / WARM_UP) * 0.5 * (1.0 + math.cos(math.pi * step / steps))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "copycat"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = random.Random(SEED)
    config = decoder_config(len(VOCABULARY))
    p = decoder_parameters(config, torch.Generator().manual_seed(SEED))
    optimizer = torch.optim.AdamW(
        [{"params": [t for t in p.values() if t.dim() == 2], "weight_decay": 0.01},
         {"params": [t for t in p.values() if t.dim() == 1], "weight_decay": 0.0}], lr=RATE, betas=(0.9, 0.98))
    began = time.time()
    for step in range(arguments.steps):
        echo_share = ECHO_SHARE * max(0.0, 1.0 - step / ECHO_STEPS)
        texts = [repeating_text(rng, LENGTH, echo_share) for _ in range(BATCH)]
        ids = torch.tensor([text for text, _ in texts])
        known = torch.tensor([flags for _, flags in texts])[:, 1:]
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, arguments.steps)
        run = run_decoder(p, config, ids)
        logits = run.logits[:, :-1]
        loss = F.cross_entropy(logits.reshape(-1, len(VOCABULARY)), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
        if step % 100 == 0 or step + 1 == arguments.steps:
            right = (logits.argmax(-1) == ids[:, 1:])[known].float().mean()
            previous = run.attention[0].diagonal(-1, 2, 3).mean((0, 2)).max()
            print(f"step {step} loss {loss:.3f} right in copies {right:.3f} previous-token head {previous:.3f} "
                  f"{time.time() - began:.0f} s", flush=True)
    os.makedirs(arguments.out, exist_ok=True)
    write_safetensors(os.path.join(arguments.out, "model.safetensors"), p,
                      {"format": "pt", "made_by": "train_copycat.py", "seed": str(SEED), "steps": str(arguments.steps),
                       "batch": str(BATCH), "seconds": f"{time.time() - began:.0f}"})
    with open(os.path.join(arguments.out, "config.json"), "w") as file:
        file.write(json.dumps(config, indent=2) + "\n")
    with open(os.path.join(arguments.out, "vocab.txt"), "w") as file:
        file.write("\n".join(VOCABULARY) + "\n")


if __name__ == "__main__":
    main()
