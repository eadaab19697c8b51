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
from english_sentences import draw_sentence
from english_words_pieces import PAD, PARTS, VOCABULARY, WORD_ID, pieces_of, split_text, tokenize
from english_words_rare import KEPT_OUT, TRAINED
from english_words_verbs import AGREEING
from measured_sentences import COUNT, Batch, draw, is_split, swapped_pairs
from safetensors_file import read_safetensors
from sentences_card import card

SEED = 1011  # not the one of the training
LENGTHS = 20000  # sentences of which the longest is told
SURE = 0.9
WELCOME = "the animal did not cross the street because it was too {} ."
WELCOME_ADJECTIVES = {"tired": "animal", "wide": "street"}
# What visitors may type, the pronoun that is asked (its last occurrence), and what a person would say it means.
VISITORS = [("My brother lost his keys yesterday because he was late.", "he", "brother"),
            ("I love pizza but my sister hates it.", "it", "pizza"),
            ("The trophy didn't fit in the suitcase because it was too big.", "it", "trophy"),
            ("The trophy didn't fit in the suitcase because it was too small.", "it", "suitcase"),
            ("The giraffe did not eat the broccoli because it was too bitter.", "it", "broccoli"),
            ("The giraffe did not eat the broccoli because it was too sleepy.", "it", "giraffe"),
            ("The labrador did not cross the motorway because it was too busy.", "it", "motorway"),
            ("Sophie helped the old man because he was tired.", "he", "man"),
            ("When the bus arrived, it was full.", "it", "bus"),
            ("The dog barked at the postman because he was afraid.", "he", "postman"),
            ("The cat sat on the mat because it was warm.", "it", "mat"),
            ("The cat sat on the mat because it was tired.", "it", "cat"),
            ("The teacher gave the students a book and they read it.", "they", "students"),
            ("The city council refused the demonstrators a permit because they feared violence.", "they", "council"),
            ("My phone fell into the soup, so I had to throw it away.", "it", "phone"),
            ("The ball broke the window because it was made of steel.", "it", "ball")]


class Model:
    def __init__(self, folder):
        self.path = os.path.join(folder, "model.safetensors")
        self.p, self.metadata = read_safetensors(self.path)
        with open(os.path.join(folder, "config.json")) as file:
            self.config = json.load(file)
        layers, heads = self.config["num_hidden_layers"], self.config["num_attention_heads"]
        self.heads = [(layer, head) for layer in range(layers) for head in range(heads)]

    def attention(self, batch):
        """Each layer's weights (N,H,L,L)."""
        nowhere = torch.zeros_like(batch.ids, dtype=torch.bool)
        return run_encoder(self.p, self.config, batch.ids, logits_at=nowhere).attention

    def logits(self, batch, role, silent=None):
        """(N,V) at the place of a role."""
        here = torch.zeros_like(batch.ids, dtype=torch.bool)
        here[torch.arange(len(batch.sentences)), batch.place(role)] = True
        return run_encoder(self.p, self.config, batch.ids, {silent: 0.0} if silent else None, logits_at=here).logits


def agreement_right(model, batch, silent=None):
    """How often the verbs of the right number have more probability than those of the wrong one."""
    probability = model.logits(batch, "verb", silent).softmax(-1)
    singular, plural = ([WORD_ID[pair[number].split()[0]] for pair in AGREEING] for number in (0, 1))
    is_plural = torch.tensor([sentence.roles["plural"] for sentence in batch.sentences])
    return ((probability[:, plural].sum(-1) > probability[:, singular].sum(-1)) == is_plural).float().mean().item()


def word_right(model, batch, role, silent=None, word=None):
    return (model.logits(batch, role, silent).argmax(-1) == batch.word(word or role)).float().mean().item()


def both_right(model, first, second, role, silent=None):
    """How often the most probable word is the noun that is meant, in both sentences of a pair."""
    right = [model.logits(half, role, silent).argmax(-1) == half.word("referent") for half in (first, second)]
    return (right[0] & right[1]).float().mean().item()


def both_sure(model, first, second, silent=None):
    """How often that noun has at least SURE at the pronoun, in both sentences of a pair."""
    sure = [model.logits(half, "it", silent).softmax(-1).gather(1, half.word("referent")[:, None])[:, 0] >= SURE
            for half in (first, second)]
    return (sure[0] & sure[1]).float().mean().item()


def pronoun_tests(rng, add):
    it = Batch(draw(rng, "referent", lambda s: "it" in s.roles and "later" not in s.roles and not s.asked))
    add("it", "the noun that a visible pronoun stands for, predicted at the pronoun", it,
        lambda m, silent: word_right(m, it, "it", silent, "referent"))
    first, second = (Batch(half, ["later"]) for half in swapped_pairs(rng, True))
    for role, what in (("later", "the later noun"), ("it", "the pronoun")):
        add("swap at " + role, f"pairs that differ only in the adjective, both right, predicted at {what}", first,
            lambda m, silent, role=role: both_right(m, first, second, role, silent))
    plain = [Batch(half) for half in swapped_pairs(rng, False)]
    rare = [Batch(half) for half in swapped_pairs(rng, False, kept_out=True)]
    add("sure at it", f"pairs that end after the adjective: the right noun has at least {SURE} at the pronoun, in both", plain[0],
        lambda m, silent: both_sure(m, *plain, silent))
    add("new words, swap at it", "the same pairs with two nouns that are in no training sentence, read in pieces; both right", rare[0],
        lambda m, silent: both_right(m, *rare, "it", silent))
    add("new words, sure at it", f"these pairs: the right noun's first piece has at least {SURE}, in both", rare[0],
        lambda m, silent: both_sure(m, *rare, silent))
    return it, first, second


def tests(rng):
    """{name: (what it asks, count, function of (model, silent))}, and the batches that head_table() reads."""
    found = {}

    def add(name, what, batch, right):
        found[name] = (what, len(batch.sentences), right)

    later = Batch(draw(rng, "referent", lambda s: "later" in s.roles and not is_split(s.words[s.roles["later"]])), ["later"])
    add("later noun", "the noun repeated after \", so …\", masked", later,
        lambda m, silent: word_right(m, later, "later", silent))
    it, first, second = pronoun_tests(rng, add)
    alike = Batch(draw(rng, "agreement", lambda s: s.roles["plural"] == s.roles["other_plural"]), ["verb"])
    add("agreement, alike", "the verb's number; the intervening noun has the same", alike,
        lambda m, silent: agreement_right(m, alike, silent))
    unlike = Batch(draw(rng, "agreement", lambda s: s.roles["plural"] != s.roles["other_plural"]), ["verb"])
    add("agreement, unlike", "the verb's number; the intervening noun has the other", unlike,
        lambda m, silent: agreement_right(m, unlike, silent))
    closers = Batch(draw(rng, "brackets", lambda s: True), ["closer"])
    add("brackets", "the sign that closes the outermost bracket or quotation", closers,
        lambda m, silent: word_right(m, closers, "closer", silent))
    name = Batch(draw(rng, "names", lambda s: True), ["later"])
    add("names", "the repeated one of two names", name, lambda m, silent: word_right(m, name, "later", silent))
    clause = Batch(draw(rng, "everyday", lambda s: bool(s.pronoun_means) and "it" in s.roles))
    add("everyday pronouns", "the word that he, she, it or they stands for where only one fits; new sentences, pairs not held out", clause,
        lambda m, silent: word_right(m, clause, "it", silent, "referent"))
    return found, {"it": it, "first": first, "second": second, "unlike": unlike, "closers": closers, "names": name}


def head_table(model, batches):
    """{head: {measure: mean weight}}; "follows" is how much of the weight goes along when the adjective is swapped."""
    runs = {name: model.attention(batch) for name, batch in batches.items()}
    table = {}
    for head in model.heads:
        def mean(name, of, to):
            batch, rows = batches[name], torch.arange(len(batches[name].sentences))
            return runs[name][head[0]][rows, head[1], batch.place(of), batch.place(to)]

        row = {"it→referent": mean("it", "it", "referent"), "it→other": mean("it", "it", "other"),
               "it→adjective": mean("it", "it", "adjective"), "later→referent": mean("first", "later", "referent"),
               "verb→its noun": mean("unlike", "verb", "head_noun"), "verb→noun between": mean("unlike", "verb", "other"),
               "closer→opener": mean("closers", "closer", "opener"), "name→first": mean("names", "later", "first")}
        # The other noun of one half is the referent of the other half.
        for of in ("it", "later"):
            here = mean("first", of, "referent") + mean("second", of, "referent")
            there = mean("first", of, "other") + mean("second", of, "other")
            row["follows at " + of] = (here - there) / 2
        attention, ids = runs["it"][head[0]][:, head[1]], batches["it"].ids
        words = (ids != PAD)[:, 1:]
        row["previous"] = attention.diagonal(-1, 1, 2)[words]
        row["next"] = attention.diagonal(1, 1, 2)[words]
        table[head] = {name: weights.mean().item() for name, weights in row.items()}
    return table


def best_at(model, words, place, count):
    """([(piece, probability)], weights of each layer (H,L)) at a place of a text with [CLS] and [SEP]."""
    ids = torch.tensor([[WORD_ID[word] for word in words]])
    run = run_encoder(model.p, model.config, ids)
    probability, best = run.logits[0, place].softmax(-1).topk(count)
    return [(VOCABULARY[i], q) for i, q in zip(best.tolist(), probability.tolist())], [w[0, :, place] for w in run.attention]


def welcome(model):
    """{adjective: (what it says at "it": [(word, probability)], {head: (weight on animal, weight on street)})}"""
    told = {}
    for adjective in WELCOME_ADJECTIVES:
        words = ["[CLS]"] + WELCOME.format(adjective).split() + ["[SEP]"]
        animal, street = words.index("animal"), words.index("street")
        says, attention = best_at(model, words, words.index("it"), 3)
        told[adjective] = (says, {head: (attention[head[0]][head[1], animal].item(), attention[head[0]][head[1], street].item())
                                  for head in model.heads})
    return told


def visitors(model):
    """[(sentence, pronoun, what a person says, [(piece, probability)])]"""
    told = []
    for text, pronoun, means in VISITORS:
        words = ["[CLS]"] + tokenize(text) + ["[SEP]"]
        place = len(words) - 1 - words[::-1].index(pronoun)
        told.append((text, pronoun, means, pieces_of(means)[0], best_at(model, words, place, 2)[0]))
    return told


def reading(folder):
    """How many words of the everyday sentences are whole, read in pieces, and unknown."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "everyday_sentences.txt")) as file:
        lines = file.read().splitlines()
    words = [word for line in lines for word in split_text(line)]
    pieces = [pieces_of(word) for word in words]
    return {"sentences": len(lines), "words": len(words), "split": sum(len(p) > 1 for p in pieces),
            "unknown": sum("[UNK]" in p for p in pieces), "whole": len(PARTS[1]), "characters": len(PARTS[2]),
            "starts": len(PARTS[3]), "continued": len(PARTS[4]), "rare": sum(len(words) for words in TRAINED.values()),
            "kept_out": sum(len(words) for words in KEPT_OUT.values())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--model", default=os.path.join(here, "sentences"))
    folder = parser.parse_args().model
    torch.set_num_threads(1)
    model = Model(folder)
    rng = random.Random(SEED)
    longest = (max(sum(len(pieces_of(word)) for word in draw_sentence(rng).words) for _ in range(LENGTHS)) + 2, LENGTHS)
    with torch.no_grad():
        asked, batches = tests(random.Random(SEED))
        right = {name: (what, count, test(model, None)) for name, (what, count, test) in asked.items()}
        silenced = ("it", "later noun", "agreement, unlike", "brackets", "names")
        without = {head: {name: asked[name][2](model, head) for name in silenced} for head in model.heads}
        text = card(model, SEED, longest, right, head_table(model, batches), without, welcome(model), WELCOME, WELCOME_ADJECTIVES,
                    visitors(model), reading(folder))
    with open(os.path.join(folder, "card.md"), "w") as file:
        file.write(text)
    print(text)


if __name__ == "__main__":
    main()
