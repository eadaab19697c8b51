"""Trains `sentences` for a little longer, so that one head alone finds what a pronoun stands for.

    /usr/bin/python3 focus_sentences.py [--model FOLDER]

After train_sentences.py four heads of layer 1 look from "it" to the noun, and together they copy it: none of them can be shown to do
it. Here the objective stays the same, and in addition each of the other heads of that layer pays for the weight with which it looks
from an asked pronoun, or a masked later noun, to the noun that is meant. The head that order_heads.py called 1.7 pays nothing.

The last phase makes the answer surer: an asked pronoun counts more than other words, and more of the sentences have one that could
mean two nouns. It also blurs the head's look a little, so the weights kept are the mean of those before and after it, which answer
nearly as surely and look as sharply as before.
"""

import argparse
import os
import random
import sys
import time
from dataclasses import dataclass

sys.dont_write_bytecode = True
import torch
import torch.nn.functional as F

from bert_encoder import run_encoder
from english_sentences import draw_sentence
from english_words_pieces import CLS, PAD, SEP
from measure_sentences import Model
from safetensors_file import write_safetensors
from train_sentences import NOT_ASKED, TWO_SHARE, batches, ids_of, learning_rate, masked, padded


@dataclass(frozen=True)
class Phase:
    steps: int
    price: float  # of a weight 1 on the noun, in nats
    seed: int
    rate: float = 8e-4
    pronoun_counts: float = 1.0  # in the loss, relative to another word
    referents: float = 0.0  # the share of the sentences that are of the kind "referent" beyond english_sentences.SHARES
    kept: float = 1.0  # how much of the weights after the phase is kept; the rest is those before it


# First the others leave, then the one learns to copy every noun, then it becomes sure.
PHASES = [Phase(5000, 0.3, 12), Phase(2500, 0.15, 13),
          Phase(5000, 0.15, 14, rate=6e-4, pronoun_counts=3.0, referents=0.25, kept=0.5)]
WARM_UP = 200
LAYER, FINDER = 1, 7


def looks_of(sentence, read):
    """(place of a pronoun or a later noun, places of the pieces of the noun that it means) without [CLS]."""
    starts, at = [], 0
    for word in sentence.words:
        starts.append(at)
        at += len(ids_of(word))
    if "referent" not in sentence.roles or at != len(read):  # a word was read as [UNK]
        return []
    noun = sentence.roles["referent"]
    pieces = range(starts[noun], starts[noun] + len(ids_of(sentence.words[noun])))
    return [(starts[sentence.roles[role]], piece) for role in ("it", "later") if role in sentence.roles for piece in pieces]


def row(rng, longest, referents):
    """(ids read, ids asked, looks) of one text or two, with [CLS] and [SEP] around."""
    read, asked, looks = [], [], []
    for _ in range(2 if rng.random() < TWO_SHARE else 1):
        sentence = draw_sentence(rng, kind="referent" if referents and rng.random() < referents else None)
        r, a = masked(rng, sentence)
        if len(read) + len(r) + 2 <= longest:
            looks += [(len(read) + i + 1, len(read) + j + 1) for i, j in looks_of(sentence, r)]
            read, asked = read + r, asked + a
    return [CLS] + read + [SEP], [NOT_ASKED] + asked + [NOT_ASKED], looks


def paid(attention, asked, looks):
    """What the other heads' weights on the noun cost, per text; only where something is asked."""
    rows = [(n, i, j) for n, places in enumerate(looks) for i, j in places]
    if not rows:
        return attention.sum() * 0.0
    n, i, j = (torch.tensor(column) for column in zip(*rows))
    weights = attention[n, :, i, j] * (asked[n, i] != NOT_ASKED)[:, None]
    others = [head for head in range(weights.shape[1]) if head != FINDER]
    return weights[:, others].sum() / max(1, int((asked[n, i] != NOT_ASKED).sum()))


def train(model, phase):
    before = {name: tensor.detach().clone() for name, tensor in model.p.items()}
    p = {name: tensor.requires_grad_() for name, tensor in model.p.items()}
    optimizer = torch.optim.AdamW(p.values(), lr=phase.rate, betas=(0.9, 0.98), weight_decay=0.0)
    model.p = p
    rng = random.Random(phase.seed)
    rows_drawn = batches(rng, lambda: row(rng, model.config["max_position_embeddings"], phase.referents))
    began, losses, prices, sure = time.time(), [], [], []
    for step in range(phase.steps):
        drawn = next(rows_drawn)
        ids, asked = padded([r[0] for r in drawn], PAD), padded([r[1] for r in drawn], NOT_ASKED)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, phase.steps, phase.rate, WARM_UP)
        here = asked != NOT_ASKED
        run = run_encoder(p, model.config, ids, logits_at=here)
        pronouns = ((asked != ids) & here & (ids > 4))[here]
        counts = torch.where(pronouns, phase.pronoun_counts, 1.0)
        each = F.cross_entropy(run.logits, asked[here], reduction="none")
        price = paid(run.attention[LAYER], asked, [r[2] for r in drawn])
        optimizer.zero_grad(set_to_none=True)
        ((each * counts).sum() / counts.sum() + phase.price * price).backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
        losses.append(each.mean().item())
        prices.append(price.item())
        if pronouns.any():
            probability = run.logits[pronouns].softmax(-1).gather(1, asked[here][pronouns][:, None])
            sure.append((probability > 0.9).float().mean().item())
        if step % 100 == 99:
            print(f"step {step + 1} loss {sum(losses) / len(losses):.3f} other heads' weight {sum(prices) / len(prices):.3f} "
                  f"sure at pronouns {sum(sure) / max(1, len(sure)):.3f} {time.time() - began:.0f} s", flush=True)
            losses, prices, sure = [], [], []
    model.p = {name: (1 - phase.kept) * before[name] + phase.kept * tensor.detach() for name, tensor in p.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "sentences"))
    parser.add_argument("--phases", type=int, nargs="+", default=range(len(PHASES)))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = Model(arguments.model)
    began = time.time()
    for phase in arguments.phases:
        train(model, PHASES[phase])
    seconds = time.time() - began + float(model.metadata.get("focus_seconds", 0))
    metadata = {**model.metadata, "focus_steps": str(sum(phase.steps for phase in PHASES)), "focus_seconds": f"{seconds:.0f}"}
    write_safetensors(model.path, model.p, metadata)


if __name__ == "__main__":
    main()
