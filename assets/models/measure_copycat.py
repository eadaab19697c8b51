"""Measures copycat/model.safetensors on new texts and writes copycat/card.md: every number of the card comes from here.

    /usr/bin/python3 measure_copycat.py [--model FOLDER]
"""

import argparse
import json
import os
import random
import sys

sys.dont_write_bytecode = True
import torch

from gpt2_decoder import run_decoder
from repeating_words import END, SPECIALS, VOCABULARY, repeating_text, twice_told_text
from safetensors_file import read_safetensors

SEED = 1007  # not the one of the training
TEXTS, LENGTH = 400, 64
STRETCHES = [6, 12, 20, 30]
IS_INDUCTION = 0.5  # from this score on a head of layer 1 is called one
EXAMPLE = "garden river lamp apple violin garden river lamp"


def accuracy(p, config, texts):
    """[right in copies, right elsewhere, words in copies, words elsewhere]"""
    ids = torch.tensor([text for text, _ in texts])
    known = torch.tensor([flags for _, flags in texts])[:, 1:]
    right = run_decoder(p, config, ids).logits[:, :-1].argmax(-1) == ids[:, 1:]
    return [right[these].float().mean().item() for these in (known, ~known)] + [known.sum().item(), (~known).sum().item()]


def head_scores(p, config, rng):
    """{(layer, head): {"previous", "induction", "first"}}, means over twice-told texts of every length in STRETCHES; and how
    often the next word of the second telling is right: with one head silent ("silent"), with all heads, with none of layer 1."""
    layers, heads = config["n_layer"], config["n_head"]
    scores = {(l, h): {"previous": 0.0, "induction": 0.0, "first": 0.0, "silent": 0.0}
              for l in range(layers) for h in range(heads)}
    whole = without_last = 0.0
    last = {(layers - 1, head): 0.0 for head in range(heads)}
    for stretch in STRETCHES:
        ids = torch.tensor([twice_told_text(rng, stretch) for _ in range(100)])
        second = torch.arange(stretch + 1, 2 * stretch)  # words of the second telling that have a next one

        def right(gain):
            logits = run_decoder(p, config, ids, gain).logits[:, second]
            return (logits.argmax(-1) == ids[:, second + 1]).float().mean().item() / len(STRETCHES)

        whole += right(None)
        without_last += right(last)
        attention = run_decoder(p, config, ids).attention
        later = torch.arange(1, ids.shape[1])
        for (layer, head), score in scores.items():
            weights = attention[layer][:, head]
            score["previous"] += weights[:, later, later - 1].mean().item() / len(STRETCHES)
            score["induction"] += weights[:, second, second - stretch + 1].mean().item() / len(STRETCHES)
            score["first"] += weights[:, later[1:], 0].mean().item() / len(STRETCHES)
            score["silent"] += right({(layer, head): 0.0})
    return scores, whole, without_last


def example(p, config, head):
    """What the model says after EXAMPLE, and where `head` looks from its last word: [(word, weight)], largest first."""
    words = EXAMPLE.split()
    ids = torch.tensor([[END] + [VOCABULARY.index(word) for word in words]])
    run = run_decoder(p, config, ids)
    probability, word = run.logits[0, -1].softmax(-1).max(-1)
    weights = run.attention[head[0]][0, head[1], -1]
    seen = sorted(zip(weights.tolist(), [SPECIALS[END]] + words), reverse=True)
    return VOCABULARY[word], probability.item(), seen[:3]


def card(config, metadata, parameters, size, right, measured, said):
    known, fresh, known_words, fresh_words = right
    scores, whole, without_last, previous, induction = measured
    word, probability, seen = said
    rows = "\n".join(
        f"| {l}.{h} | {s['previous']:.3f} | {s['induction']:.3f} | {s['first']:.3f} | {s['silent']:.3f} |"
        for (l, h), s in scores.items())
    look = ", ".join(f"{weight:.2f} to {name}" for weight, name in seen)
    return f"""# copycat

A causal decoder that repeats what it has read: {config['n_layer']} layers × {config['n_head']} heads, width {config['n_embd']}, MLP \
{config['n_inner']}, at most {config['n_positions']} words, {config['vocab_size']} words in the vocabulary, {parameters:,} parameters, \
{size:,} bytes. It computes what GPT-2 computes (pre-LayerNorm, tanh GELU, learned positions, the head tied to the word embeddings) and its
tensors have GPT-2's names. It knows no language: its words are drawn at random.

Text: `<|endoftext|>`, then words of vocab.txt, split at white space. A word's id is its line number, from 0; a word that
is not in the list becomes `[UNK]`.

## Training

Next-word objective on every word of texts of random words with repeated stretches
(`repeating_words.py`), early on also with words repeated after one other word (`train_copycat.py` says why): \
{int(metadata['steps']):,} steps of {metadata['batch']} texts, seed {metadata['seed']}, {int(metadata['seconds']) / 60:.1f} \
minutes on one core of a machine that was busy with other work. To train it and measure it again:

    /usr/bin/python3 assets/models/train_copycat.py && /usr/bin/python3 assets/models/measure_copycat.py

needs Debian 12's python3-torch (1.13) and, for this speed, libopenblas0-pthread. The seed fixes the data and the initial weights; another
processor or BLAS rounds differently, so the file may differ in its last digits, and heads may even swap roles.

## How well it does

On {TEXTS} texts that it was not trained on, seed {SEED}, the most probable next word is correct this often:

| where | words | right |
|---|---|---|
| in copies, from their second word on | {known_words:,} | {known:.1%} |
| elsewhere: fresh words, the first words of copies | {fresh_words:,} | {fresh:.1%} |

Elsewhere the next word cannot be predicted. In copies, a word may have had several followers, and only earlier words would
tell which; in the texts of the next section each word has one.

## What its heads do

Measured on texts of {', '.join(str(s) for s in STRETCHES)} different words, each text followed by its copy (100 texts each, averaged over the lengths):
*previous* is the mean weight on the previous word; *induction* the mean weight from a word of the copy to the word that
followed it in the original; *first* the mean weight on `<|endoftext|>`, where idle heads look; *right without* how often the
next word of the copy is predicted correctly when this head's output is 0 (all heads: {whole:.3f}).
Heads are layer.head, from 0.

| head | previous | induction | first | right without |
|---|---|---|---|---|
{rows}

The **previous-token head**, the one with the largest score in layer 0, is {previous[0]}.{previous[1]} \
({scores[previous]['previous']:.3f}); the **induction head**, in layer 1, is {induction[0]}.{induction[1]} \
({scores[induction]['induction']:.3f}). As described in the literature, the first writes to each word which word precedes it; the
second looks for the position preceded by the current word, and predicts the word there. Of the next words of the
copy, {whole:.1%} are correct with all heads, {scores[previous]['silent']:.1%} without {previous[0]}.{previous[1]}, \
{scores[induction]['silent']:.1%} without {induction[0]}.{induction[1]}, {without_last:.1%} without any head of layer 1. Induction heads of
layer 1, with a score above {IS_INDUCTION}: {', '.join(f"{l}.{h}" for (l, h), s in scores.items() if l and s['induction'] > IS_INDUCTION)}.

Example: after "{EXAMPLE}" the model predicts "{word}" (probability {probability:.2f}); from the last word, head \
{induction[0]}.{induction[1]} has the weights {look}.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--model", default=os.path.join(here, "copycat"))
    folder = parser.parse_args().model
    torch.set_num_threads(1)
    path = os.path.join(folder, "model.safetensors")
    p, metadata = read_safetensors(path)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    rng = random.Random(SEED)
    with torch.no_grad():
        right = accuracy(p, config, [repeating_text(rng, LENGTH) for _ in range(TEXTS)])
        scores, whole, without_last = head_scores(p, config, rng)
        previous = max((key for key in scores if key[0] == 0), key=lambda key: scores[key]["previous"])
        induction = max((key for key in scores if key[0] == 1), key=lambda key: scores[key]["induction"])
        said = example(p, config, induction)
    parameters = sum(t.numel() for t in p.values())
    text = card(config, metadata, parameters, os.path.getsize(path), right,
                (scores, whole, without_last, previous, induction), said)
    with open(os.path.join(folder, "card.md"), "w") as file:
        file.write(text)
    print(text)


if __name__ == "__main__":
    main()
