"""Writes rotary_scalings.json: what transformers makes of rope_scaling objects, config by config, for texts of several lengths.

python3 -m venv venv && venv/bin/pip install torch transformers && venv/bin/python make_rotary_scaling_golden.py
"""
import json
import pathlib
import random

import transformers
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS


def scalings(rng, pairs):
    """One object of each type, with keys left out or not."""
    def some(**keys):
        return {key: value for key, value in keys.items() if rng.random() < 0.6}

    yield {"rope_type": "linear", "factor": rng.choice([2.0, 3.5])}
    yield {"rope_type": "dynamic", "factor": rng.choice([2.0, 8.0])}
    yield {"rope_type": "llama3", "factor": rng.choice([4.0, 8.0, 32.0]), "low_freq_factor": rng.choice([0.5, 1.0]),
           "high_freq_factor": rng.choice([2.0, 4.0]), "original_max_position_embeddings": rng.choice([64, 8192])}
    for _ in range(3):
        yield {"rope_type": "yarn", "factor": rng.choice([4.0, 40.0, 0.5]), "original_max_position_embeddings": rng.choice([64, 4096]),
               **some(beta_fast=16.0, beta_slow=2.0, truncate=False, attention_factor=1.5, mscale=0.707, mscale_all_dim=1.2)}
    yield {"rope_type": "longrope", "original_max_position_embeddings": 32, **some(factor=8.0, attention_factor=1.19),
           "short_factor": [1.0 + rng.randrange(8) / 16 for _ in range(pairs)],
           "long_factor": [2.0 + rng.randrange(80) / 16 for _ in range(pairs)]}


def main():
    rng = random.Random(20261129)
    cases = []
    for head_dim, base, share in [(8, 10000.0, 1.0), (64, 500000.0, 1.0), (16, 1000.0, 0.5), (128, 10000.0, 1.0), (4, 100.0, 1.0)]:
        width = int(head_dim * share)
        for scaling in scalings(rng, width // 2):
            settings = {"model_type": "llama", "hidden_size": 2 * head_dim, "num_attention_heads": 2, "head_dim": head_dim,
                        "max_position_embeddings": 256, "rope_parameters": {**scaling, "rope_theta": base, "partial_rotary_factor": share}}
            config = LlamaConfig.from_dict(json.loads(json.dumps(settings)))
            for tokens in (1, 32, 33, 300):
                frequencies, factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, "cpu", seq_len=tokens)
                cases.append({"config": settings, "head_dim": head_dim, "tokens": tokens,
                              "inverse_frequencies": [float(f) for f in frequencies], "factor": factor})
    path = pathlib.Path(__file__).with_name("rotary_scalings.json")
    path.write_text(json.dumps({"transformers": transformers.__version__, "cases": cases}) + "\n")
    print(len(cases), "cases", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
