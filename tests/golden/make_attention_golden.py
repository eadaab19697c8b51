#!/usr/bin/python3
"""Writes attention_golden.json.gz: what a real PyTorch computes for many configurations of attention, in float64.

    /usr/bin/python3 make_attention_golden.py [--cases N]      (Debian: python3-torch, 1.13; python3-numpy)

Where torch.nn.MultiheadAttention or F.multi_head_attention_forward has the options of a case, their results are stored
(and the composed ones must agree with them); else the attention is composed here from torch primitives. Nothing of Headwise is
used, but its random numbers are made again (Philox4x32-10): arrays that are only random are not stored, a case names their
shape and amplitude. Arrays are in the layout of a trace: batch first, with heads as an axis of their own.

A case: {"name", "by", "seed", "options", "arrays": {name: array}, "expected": {name: array}}; "key": "query" in "arrays"
is self-attention. An array: {"shape"} and one of "amplitude" (random), "f64", "bool", "i64" (base64, little-endian).
"expected" holds gradients too, "grad.NAME" as autograd has them, of the loss Σ grad_output · the last output; "grad_output" is
a random array where "arrays" has it, else all ones.
"""

import argparse
import gzip
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # leave no __pycache__ beside the values
from attention_cases import drawn_case, latent_cases, named_cases

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=410, help="how many in all, before those of latent attention")
    wanted = parser.parse_args().cases
    cases = list(named_cases())
    rng = random.Random(20)
    cases += [drawn_case(rng, number) for number in range(max(0, wanted - len(cases)))]
    cases += latent_cases(random.Random(3))
    text = json.dumps([case.to_json(seed) for seed, case in enumerate(cases)], separators=(",", ":"), sort_keys=True)
    path = os.path.join(HERE, "attention_golden.json.gz")
    with open(path, "wb") as file:
        file.write(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(cases)} cases, {os.path.getsize(path)} bytes in {path}")


main()
