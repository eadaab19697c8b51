"""Measures sentences/model.safetensors on held-out sentences and writes sentences/card.md, with every number on it.

    /usr/bin/python3 measure_sentences.py [--model FOLDER]
"""

import argparse
import json
import os
import random
import sys

sys.dont_write_bytecode = True
import torch

from bert_encoder import run_encoder
from english_sentences import SITUATIONS, draw_sentence, draw_pair, referent_sentence
from english_words import AGREEING, CLS, MASK, PAD, SEP, VOCABULARY, WORD_ID
from safetensors_file import read_safetensors
from sentences_card import card

SEED = 1011  # not the one of the training
COUNT = 1000  # sentences of each kind
LENGTHS = 20000  # sentences of which the longest is told
WELCOME = "the animal did not cross the street because it was too {} ."
WELCOME_ADJECTIVES = {"tired": "animal", "wide": "street"}


class Batch:
    """Sentences as ids (N,L), places counted with [CLS] in front."""

    def __init__(self, sentences, masks=()):
        """`masks`: the role whose word is masked, and the words that are asked beside it (later ones would tell)."""
        self.sentences = sentences
        rows = []
        for sentence in sentences:
            ids = [WORD_ID[word] for word in sentence.words]
            for role in masks:
                if role in sentence.roles:
                    ids[sentence.roles[role]] = MASK
            rows.append([CLS] + ids + [SEP])
        length = max(len(row) for row in rows)
        self.ids = torch.tensor([row + [PAD] * (length - len(row)) for row in rows])

    def place(self, role):
        return torch.tensor([sentence.roles[role] + 1 for sentence in self.sentences])

    def word(self, role):
        return torch.tensor([WORD_ID[sentence.words[sentence.roles[role]]] for sentence in self.sentences])


def draw(rng, kind, wanted, count=COUNT):
    """`count` held-out sentences of a kind for which wanted(sentence)."""
    found = []
    while len(found) < count:
        sentence = draw_sentence(rng, held_out=True, kind=kind)
        if wanted(sentence):
            found.append(sentence)
    return found


def swapped_pairs(rng, count=COUNT):
    """Held-out pairs of sentences that differ in the adjective alone, so that "it" means one noun, then the other: ([…], […])."""
    first, second = [], []
    while len(first) < count:
        subjects, verbs, objects, of_subject, of_object, share = rng.choice(SITUATIONS)
        subject, target = draw_pair(rng, subjects, objects, True)
        verb, state = rng.choice(verbs), rng.getstate()
        pair = []
        for means_subject in (True, False):
            rng.setstate(state)
            pair.append(referent_sentence(rng, subject, verb, target, of_subject, of_object, means_subject))
        a, b = pair
        same = [x == y for x, y in zip(a.words, b.words)]
        # Alike but for the adjective and, where there is one, the noun at the end; the pronoun fits both nouns.
        may_differ = {s.roles[r] for s in pair for r in ("adjective", "later") if r in s.roles}
        if len(a.words) == len(b.words) and "it" in a.roles and "it" in b.roles and "later" in a.roles and "later" in b.roles \
                and all(alike or place in may_differ for place, alike in enumerate(same)):
            first.append(a)
            second.append(b)
    return first, second


class Model:
    def __init__(self, folder):
        self.path = os.path.join(folder, "model.safetensors")
        self.p, self.metadata = read_safetensors(self.path)
        with open(os.path.join(folder, "config.json")) as file:
            self.config = json.load(file)
        layers, heads = self.config["num_hidden_layers"], self.config["num_attention_heads"]
        self.heads = [(layer, head) for layer in range(layers) for head in range(heads)]

    def run(self, batch, silent=None):
        return run_encoder(self.p, self.config, batch.ids, {silent: 0.0} if silent else None)

    def logits(self, batch, role, silent=None):
        """(N,V) at the place of a role."""
        return self.run(batch, silent).logits[torch.arange(len(batch.sentences)), batch.place(role)]


def agreement_right(model, batch, silent=None):
    """How often the verbs of the right number have more probability than those of the wrong one."""
    probability = model.logits(batch, "verb", silent).softmax(-1)
    singular, plural = ([WORD_ID[pair[number].split()[0]] for pair in AGREEING] for number in (0, 1))
    is_plural = torch.tensor([sentence.roles["plural"] for sentence in batch.sentences])
    return ((probability[:, plural].sum(-1) > probability[:, singular].sum(-1)) == is_plural).float().mean().item()


def word_right(model, batch, role, wanted, silent=None):
    return (model.logits(batch, role, silent).argmax(-1) == wanted).float().mean().item()


def tests(rng):
    """{name: (what it asks, count, function of (model, silent))}"""
    found = {}

    def add(name, what, batch, right):
        found[name] = (what, len(batch.sentences), right)

    later = Batch(draw(rng, "referent", lambda s: "later" in s.roles), ["later"])
    add("later noun", "the noun repeated after \", so …\", masked", later,
        lambda m, silent: word_right(m, later, "later", later.word("referent"), silent))
    it = Batch(draw(rng, "referent", lambda s: "it" in s.roles and "later" not in s.roles and not s.asked))
    add("it", "the noun that a visible pronoun stands for, predicted at the pronoun", it,
        lambda m, silent: word_right(m, it, "it", it.word("referent"), silent))
    first, second = (Batch(half, ["later"]) for half in swapped_pairs(rng))
    for role, what in (("later", "the later noun"), ("it", "the pronoun")):
        add("swap at " + role, f"pairs that differ only in the adjective, both right, predicted at {what}", first,
            lambda m, silent, role=role: (
                (m.logits(first, role, silent).argmax(-1) == first.word("referent")) &
                (m.logits(second, role, silent).argmax(-1) == second.word("referent"))).float().mean().item())
    alike = Batch(draw(rng, "agreement", lambda s: s.roles["plural"] == s.roles["other_plural"]), ["verb"])
    add("agreement, alike", "the verb's number; the intervening noun has the same", alike,
        lambda m, silent: agreement_right(m, alike, silent))
    unlike = Batch(draw(rng, "agreement", lambda s: s.roles["plural"] != s.roles["other_plural"]), ["verb"])
    add("agreement, unlike", "the verb's number; the intervening noun has the other", unlike,
        lambda m, silent: agreement_right(m, unlike, silent))
    closers = Batch(draw(rng, "brackets", lambda s: True), ["closer"])
    add("brackets", "the sign that closes the outermost bracket or quotation", closers,
        lambda m, silent: word_right(m, closers, "closer", closers.word("closer"), silent))
    name = Batch(draw(rng, "names", lambda s: True), ["later"])
    add("names", "the repeated one of two names", name,
        lambda m, silent: word_right(m, name, "later", name.word("later"), silent))
    return found, {"it": it, "first": first, "second": second, "unlike": unlike, "closers": closers, "names": name}


def mean_weight(runs, batch, head, of, to):
    """Mean weight of a head from the place of role `of` to that of role `to`."""
    rows = torch.arange(len(batch.sentences))
    return runs.attention[head[0]][rows, head[1], batch.place(of), batch.place(to)]


def head_table(model, batches):
    """{head: {measure: mean weight}}; "follows" is how much of the weight goes along when the adjective is swapped."""
    runs = {name: model.run(batch) for name, batch in batches.items()}
    table = {}
    for head in model.heads:
        def mean(name, of, to):
            return mean_weight(runs[name], batches[name], head, of, to)

        row = {"it→referent": mean("it", "it", "referent"), "it→other": mean("it", "it", "other"),
               "it→adjective": mean("it", "it", "adjective"), "later→referent": mean("first", "later", "referent"),
               "verb→its noun": mean("unlike", "verb", "head_noun"), "verb→noun between": mean("unlike", "verb", "other"),
               "closer→opener": mean("closers", "closer", "opener"), "name→first": mean("names", "later", "first")}
        # The other noun of one half is the referent of the other half.
        for of in ("it", "later"):
            here = mean("first", of, "referent") + mean("second", of, "referent")
            there = mean("first", of, "other") + mean("second", of, "other")
            row["follows at " + of] = (here - there) / 2
        attention, ids = runs["it"].attention[head[0]][:, head[1]], batches["it"].ids
        words = (ids != PAD)[:, 1:]
        row["previous"] = attention.diagonal(-1, 1, 2)[words]
        row["next"] = attention.diagonal(1, 1, 2)[words]
        table[head] = {name: weights.mean().item() for name, weights in row.items()}
    return table


def welcome(model):
    """{adjective: (what it says at "it": [(word, probability)], {head: (weight on animal, weight on street)})}"""
    told = {}
    for adjective in WELCOME_ADJECTIVES:
        words = ["[CLS]"] + WELCOME.format(adjective).split() + ["[SEP]"]
        ids = torch.tensor([[WORD_ID[word] for word in words]])
        run = run_encoder(model.p, model.config, ids)
        it, animal, street = (words.index(word) for word in ("it", "animal", "street"))
        probability, best = run.logits[0, it].softmax(-1).topk(3)
        from_it = {head: run.attention[head[0]][0, head[1], it] for head in model.heads}
        weights = {head: (row[animal].item(), row[street].item()) for head, row in from_it.items()}
        told[adjective] = ([(VOCABULARY[i], q) for i, q in zip(best.tolist(), probability.tolist())], weights)
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--model", default=os.path.join(here, "sentences"))
    folder = parser.parse_args().model
    torch.set_num_threads(1)
    model = Model(folder)
    rng = random.Random(SEED)
    longest = (max(len(draw_sentence(rng).words) for _ in range(LENGTHS)) + 2, LENGTHS)
    with torch.no_grad():
        asked, batches = tests(random.Random(SEED))
        right = {name: (what, count, test(model, None)) for name, (what, count, test) in asked.items()}
        silenced = ("it", "later noun", "agreement, unlike", "brackets", "names")
        without = {head: {name: asked[name][2](model, head) for name in silenced} for head in model.heads}
        text = card(model, SEED, longest, right, head_table(model, batches), without, welcome(model), WELCOME, WELCOME_ADJECTIVES)
    with open(os.path.join(folder, "card.md"), "w") as file:
        file.write(text)
    print(text)


if __name__ == "__main__":
    main()
