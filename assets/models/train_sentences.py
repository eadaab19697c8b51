"""Trains `sentences`, a bidirectional encoder of 2 layers × 8 heads over made English, and writes sentences/.

    /usr/bin/python3 train_sentences.py [--steps N] [--out FOLDER]

Needs Debian's python3-torch (1.13) or a newer one and nothing else; with libopenblas0-pthread Debian's is some 15 times as fast
as with the reference BLAS. One thread; the seed fixes data and weights. order_heads.py then puts the heads into their order,
focus_sentences.py trains a little longer, and measure_sentences.py measures the file and writes its card.

The objective is BERT's masked word, with two additions that make the far-away words matter (english_sentences.py marks them):
a word that follows from elsewhere is masked more often than others, and a pronoun that is not masked is asked, more than half
of the time, for the noun that it stands for, as if it were a mask over that noun: for the noun's first piece if it is read in several.
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
from english_words_pieces import CLS, MASK, PAD, SEP, SPECIALS, UNK, VOCABULARY, WORD_ID, pieces_of
from safetensors_file import write_safetensors

SEED = 11
STEPS = 28000
BATCH = 64
POOL = 16  # batches that are drawn together and sorted by length, so that little is padded
RATE, WARM_UP = 1.5e-3, 800
ASKED_SHARE = 0.6  # of the words that follow from elsewhere
OTHER_SHARE = 0.1  # of the rest: 80 % [MASK], 10 % any word, 10 % as it stands
PRONOUN_SHARE = 0.6  # of the pronouns: asked for the noun they stand for
UNKNOWN_SHARE = 0.003  # of the words read, so that [UNK] has an embedding that was trained
TWO_SHARE = 0.12  # of the texts are two sentences, up to the last position
NOT_ASKED = -100

IDS_OF = {}  # word: ids of its pieces


def ids_of(word):
    if word not in IDS_OF:
        IDS_OF[word] = [WORD_ID[piece] for piece in pieces_of(word)]
    return IDS_OF[word]


def hidden_word(rng, ids):
    """What is read in place of a word that is asked."""
    what = rng.random()
    if what < 0.8:
        return [MASK] * len(ids)
    return [rng.randrange(len(SPECIALS), len(VOCABULARY)) for _ in ids] if what < 0.9 else ids


def masked(rng, sentence):
    """(ids read, ids asked or NOT_ASKED), without [CLS] and [SEP]. All pieces of a word are masked together."""
    asks_pronoun = bool(sentence.pronoun_means) and rng.random() < PRONOUN_SHARE
    read, asked = [], []
    for place, word in enumerate(sentence.words):
        ids, wanted = ids_of(word), None
        seen = ids
        if asks_pronoun and place == sentence.roles["it"]:
            wanted = ids_of(sentence.pronoun_means)[:1]
        elif place in sentence.asked:
            # Where the pronoun is asked as well, the answer could be copied from here.
            if asks_pronoun or rng.random() < ASKED_SHARE:
                seen, wanted = [MASK] * len(ids), ids
        elif rng.random() < OTHER_SHARE:
            seen, wanted = hidden_word(rng, ids), ids
        elif rng.random() < UNKNOWN_SHARE:
            seen = [UNK]
        read += seen
        asked += wanted or [NOT_ASKED] * len(seen)
    return read, asked


def text(rng, longest):
    """One row: a sentence or two, with [CLS] and [SEP] around, at most `longest` ids."""
    read, asked = masked(rng, draw_sentence(rng))
    if rng.random() < TWO_SHARE:
        more = [masked(rng, draw_sentence(rng)) for _ in range(rng.choice([1, 1, 2]))]
        for r, a in more:
            if len(read) + len(r) + 2 <= longest:
                read, asked = read + r, asked + a
    read, asked = read[:longest - 2], asked[:longest - 2]
    return [CLS] + read + [SEP], [NOT_ASKED] + asked + [NOT_ASKED]


def batches(rng, draw_row):
    """Batches of BATCH texts of about the same length, without end; draw_row() gives one text, its ids first."""
    while True:
        pool = sorted((draw_row() for _ in range(POOL * BATCH)), key=lambda row: len(row[0]))
        rows = [pool[at:at + BATCH] for at in range(0, len(pool), BATCH)]
        rng.shuffle(rows)
        yield from rows


def padded(rows, filler):
    length = max(len(row) for row in rows)
    return torch.tensor([row + [filler] * (length - len(row)) for row in rows])


def learning_rate(step, steps, rate=RATE, warm_up=WARM_UP):
    return rate * min(1.0, (step + 1) / warm_up) * 0.5 * (1.0 + math.cos(math.pi * step / steps))


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
    rows_drawn = batches(rng, lambda: text(rng, config["max_position_embeddings"]))
    losses, pronouns_right = [], []
    for step in range(arguments.steps):
        rows = next(rows_drawn)
        ids = padded([read for read, _ in rows], PAD)
        asked = padded([wanted for _, wanted in rows], NOT_ASKED)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, arguments.steps)
        here = asked != NOT_ASKED
        logits = run_encoder(p, config, ids, logits_at=here).logits
        loss = F.cross_entropy(logits, asked[here])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        pronouns = ((ids >= len(SPECIALS)) & (asked != ids) & here)[here]
        if pronouns.any():
            probability = logits[pronouns].softmax(-1).gather(1, asked[here][pronouns][:, None])
            pronouns_right.append((probability > 0.5).float().mean().item())
        if step % 200 == 199 or step + 1 == arguments.steps:
            print(f"step {step + 1} loss {sum(losses) / len(losses):.3f} "
                  f"right behind pronouns {sum(pronouns_right) / max(1, len(pronouns_right)):.3f} {time.time() - began:.0f} s", flush=True)
            losses, pronouns_right = [], []
    os.makedirs(arguments.out, exist_ok=True)
    write_safetensors(os.path.join(arguments.out, "model.safetensors"), p,
                      {"format": "pt", "made_by": "train_sentences.py", "seed": str(SEED), "steps": str(arguments.steps),
                       "batch": str(BATCH), "seconds": f"{time.time() - began:.0f}"})
    write_configuration(arguments.out, config)


def write_configuration(folder, config):
    """Everything beside the weights that the program and transformers need."""
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True,
                 "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]",
                 "model_max_length": config["max_position_embeddings"]}
    for name, content in (("config.json", config), ("tokenizer_config.json", tokenizer)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(json.dumps(content, indent=2) + "\n")
    with open(os.path.join(folder, "vocab.txt"), "w") as file:
        file.write("\n".join(VOCABULARY) + "\n")


if __name__ == "__main__":
    main()
