"""Puts the heads of `sentences` into an order by what they do, so that a new training gives a head the number of its job.

    /usr/bin/python3 order_heads.py [--model FOLDER]

A permutation of a layer's heads changes nothing that the model computes: rows of query, key and value with their biases, and columns
of the output matrix, move together. The head that does a job best gets its place; heads without a job keep their order.
"""

import argparse
import os
import random
import sys

sys.dont_write_bytecode = True
import torch

from bert_encoder import layer_name
from measure_sentences import SEED, Model, head_table, tests
from safetensors_file import write_safetensors

# (layer, place, measure of sentences_card.py): the first job is given first.
PLACES = [(1, 7, "follows at it"), (1, 4, "it→adjective"), (0, 7, "previous"), (0, 4, "next"), (0, 2, "closer→opener"),
          (1, 0, "name→first"), (1, 5, "follows at later"), (0, 5, "it→adjective"), (1, 2, "previous")]


def order_of(table, layer, count):
    """The old heads of a layer, in their new order."""
    places, left = {}, list(range(count))
    for its_layer, place, measure in PLACES:
        if its_layer == layer:
            best = max(left, key=lambda head: table[(layer, head)][measure])
            places[place] = best
            left.remove(best)
    return [places[place] if place in places else left.pop(0) for place in range(count)]


def reorder(p, layer, order, width):
    """Permutes the heads of a layer, each `width` rows of its projections."""
    rows = torch.tensor([head * width + row for head in order for row in range(width)])
    at = layer_name(layer) + "attention."
    for part in ("query", "key", "value"):
        for kind in (".weight", ".bias"):
            name = at + "self." + part + kind
            p[name] = p[name][rows].contiguous()
    name = at + "output.dense.weight"
    p[name] = p[name][:, rows].contiguous()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "sentences"))
    folder = parser.parse_args().model
    torch.set_num_threads(1)
    model = Model(folder)
    with torch.no_grad():
        _, measured = tests(random.Random(SEED))
        table = head_table(model, measured)
        before = model.logits(measured["it"], "it")
        heads = model.config["num_attention_heads"]
        for layer in range(model.config["num_hidden_layers"]):
            order = order_of(table, layer, heads)
            print(f"layer {layer}: " + ", ".join(f"{old} → {new}" for new, old in enumerate(order)))
            reorder(model.p, layer, order, model.config["hidden_size"] // heads)
        difference = (model.logits(measured["it"], "it") - before).abs().max().item()
    print(f"largest difference of a logit: {difference:.1e}")
    write_safetensors(model.path, model.p, model.metadata)


if __name__ == "__main__":
    main()
