"""Trains `sentences`, a bidirectional encoder of 2 layers × 8 heads over made English, and writes sentences/.

    /usr/bin/python3 train_sentences.py [--steps N] [--out FOLDER]

Needs Debian's python3-torch (1.13) and nothing else; with libopenblas0-pthread it is some 15 times as fast as with the
reference BLAS. One thread; the seed fixes data and weights. measure_sentences.py then measures the file and writes its card.

The objective is BERT's masked word, with two additions that make the far-away words matter (english_sentences.py marks them):
a word that follows from elsewhere is masked more often than others, and a pronoun that is not masked is asked, half of
the time, for the noun that it stands for, as if it were a mask over that noun.
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

from bert_encoder import encoder_config, encoder_parameters, run_encoder
from english_sentences import draw_sentence
from english_words import CLS, MASK, PAD, SEP, SPECIALS, UNK, VOCABULARY, WORD_ID
from safetensors_file import write_safetensors

SEED = 11
STEPS = 9000
BATCH = 64
RATE, WARM_UP = 1e-3, 400
ASKED_SHARE = 0.6  # of the words that follow from elsewhere
OTHER_SHARE = 0.1  # of the rest: 80 % [MASK], 10 % any word, 10 % as it stands
PRONOUN_SHARE = 0.5  # of the pronouns: asked for the noun they stand for
UNKNOWN_SHARE = 0.01  # of the words read, so that [UNK] has an embedding that was trained
NOT_ASKED = -100


def masked(rng, sentence):
    """(ids read, ids asked or NOT_ASKED), with [CLS] and [SEP] around."""
    read = [WORD_ID[word] for word in sentence.words]
    asked = [NOT_ASKED] * len(read)
    for place, word in enumerate(list(read)):
        if place in sentence.asked:
            if rng.random() < ASKED_SHARE:
                read[place], asked[place] = MASK, word
        elif rng.random() < OTHER_SHARE:
            asked[place] = word
            what = rng.random()
            read[place] = MASK if what < 0.8 else rng.randrange(len(SPECIALS), len(VOCABULARY)) if what < 0.9 else word
        elif rng.random() < UNKNOWN_SHARE:
            read[place] = UNK
    if sentence.pronoun_means and rng.random() < PRONOUN_SHARE:
        place = sentence.roles["it"]
        read[place], asked[place] = WORD_ID[sentence.words[place]], WORD_ID[sentence.pronoun_means]
        for later in sentence.asked:  # else the answer could be copied from there
            asked[later], read[later] = WORD_ID[sentence.words[later]], MASK
    return [CLS] + read + [SEP], [NOT_ASKED] + asked + [NOT_ASKED]


def padded(rows, filler):
    length = max(len(row) for row in rows)
    return torch.tensor([row + [filler] * (length - len(row)) for row in rows])


def learning_rate(step, steps):
    return RATE * min(1.0, (step + 1) / WARM_UP) * 0.5 * (1.0 + math.cos(math.pi * step / steps))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "sentences"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = random.Random(SEED)
    config = encoder_config(len(VOCABULARY))
    p = encoder_parameters(config, torch.Generator().manual_seed(SEED))
    optimizer = torch.optim.AdamW(
        [{"params": [t for t in p.values() if t.dim() == 2], "weight_decay": 0.01},
         {"params": [t for t in p.values() if t.dim() == 1], "weight_decay": 0.0}], lr=RATE, betas=(0.9, 0.98))
    began = time.time()
    for step in range(arguments.steps):
        rows = [masked(rng, draw_sentence(rng)) for _ in range(BATCH)]
        ids = padded([read for read, _ in rows], PAD)
        asked = padded([wanted for _, wanted in rows], NOT_ASKED)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, arguments.steps)
        here = asked != NOT_ASKED
        logits = run_encoder(p, config, ids, logits_at=here).logits
        loss = F.cross_entropy(logits, asked[here])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
        if step % 200 == 0 or step + 1 == arguments.steps:
            pronouns = (ids >= len(SPECIALS)) & (asked != ids) & here
            right = (logits.argmax(-1) == asked[here])[pronouns[here]].float().mean()
            print(f"step {step} loss {loss:.3f} right behind pronouns {right:.3f} {time.time() - began:.0f} s", flush=True)
    os.makedirs(arguments.out, exist_ok=True)
    write_safetensors(os.path.join(arguments.out, "model.safetensors"), p,
                      {"format": "pt", "made_by": "train_sentences.py", "seed": str(SEED), "steps": str(arguments.steps),
                       "batch": str(BATCH), "seconds": f"{time.time() - began:.0f}"})
    with open(os.path.join(arguments.out, "config.json"), "w") as file:
        file.write(json.dumps(config, indent=2) + "\n")
    with open(os.path.join(arguments.out, "vocab.txt"), "w") as file:
        file.write("\n".join(VOCABULARY) + "\n")


if __name__ == "__main__":
    main()
