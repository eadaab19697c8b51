"""The card of `sentences` from what measure_sentences.py measured."""

import os

JOBS = [("finds what the pronoun stands for, from the pronoun", "follows at it"),
        ("finds it from the later, masked noun", "follows at later"),
        ("from a pronoun to the adjective that decides", "it→adjective"),
        ("from the masked verb to the noun it agrees with", "verb→its noun"),
        ("from the closing sign to the opening one", "closer→opener"),
        ("from a repeated name to its first mention", "name→first"),
        ("the previous word", "previous"), ("the next word", "next")]
COLUMNS = ["it→referent", "it→other", "follows at it", "later→referent", "follows at later", "it→adjective",
           "verb→its noun", "verb→noun between", "closer→opener", "name→first", "previous", "next"]


def name_of(head):
    return f"{head[0]}.{head[1]}"


def three_digits(value):
    return f"{value:.3f}".replace("-0.000", "0.000")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def card(model, seed, longest, right, heads, without, welcome, sentence, adjectives):
    config, metadata = model.config, model.metadata
    parameters = sum(t.numel() for t in model.p.values())
    accuracy = table(["test", "what is asked", "sentences", "right"],
                     [[name, what, f"{count:,}", f"{share:.1%}"] for name, (what, count, share) in right.items()])
    jobs = table(["what a head does", "head", "mean weight", "second"], [
        [job, name_of(order[0]), f"{heads[order[0]][measure]:.3f}", f"{name_of(order[1])} {heads[order[1]][measure]:.3f}"]
        for job, measure in JOBS for order in [sorted(heads, key=lambda head: -heads[head][measure])]])
    weights = table(["head"] + COLUMNS, [[name_of(h)] + [three_digits(row[c]) for c in COLUMNS] for h, row in heads.items()])
    tests = list(next(iter(without.values())))
    silent = table(["muted head"] + tests, [["none"] + [f"{right[t][2]:.3f}" for t in tests]] + [
        [name_of(h)] + [f"{row[t]:.3f}" for t in tests] for h, row in without.items()])
    (first, first_noun), (second, second_noun) = adjectives.items()
    # The head whose weight moves most from one noun to the other.
    moved = {h: welcome[first][1][h][0] - welcome[second][1][h][0] + welcome[second][1][h][1] - welcome[first][1][h][1]
             for h in heads}
    finder = max(moved, key=lambda head: moved[head])
    shown = sorted(moved, key=lambda head: -moved[head])[:3]
    moves = table(["head", f"{first}: on {first_noun}", f"{first}: on {second_noun}", f"{second}: on {first_noun}",
                   f"{second}: on {second_noun}"],
                  [[name_of(h)] + [f"{w:.3f}" for adjective in adjectives for w in welcome[adjective][1][h]] for h in shown])
    says = "; ".join(f"\"{adjective}\": " + ", ".join(f"{word} {q:.3f}" for word, q in welcome[adjective][0])
                     for adjective in adjectives)
    return f"""# sentences

A bidirectional encoder: {config['num_hidden_layers']} layers × {config['num_attention_heads']} heads, width {config['hidden_size']}, MLP \
{config['intermediate_size']}, at most {config['max_position_embeddings']} words, {config['vocab_size']} words in the vocabulary, \
{parameters:,} parameters, {os.path.getsize(model.path):,} bytes. It computes what BERT computes (post-LayerNorm, exact GELU, learned
positions, the decoder tied to the word embeddings) and its tensors have BERT's names; there is one token type. It knows the English of
a small grammar (`english_sentences.py`, `english_words.py`) but nothing about the world. The longest of {longest[1]:,} sentences of that
grammar has {longest[0]} words with [CLS] and [SEP]: later positions were hardly ever trained, so longer texts do not work.

Text: lower case, split at white space and around punctuation (`didn't` is `didn ' t`), `[CLS]` at the start and `[SEP]` at the
end. A word's id is its line number in vocab.txt, from 0; a word that is not in the list becomes `[UNK]`.

## Training

BERT's masked-word objective, with two additions. Words that follow from a distant word are masked more often than others. And in
half of the sentences with a visible pronoun, the model has to predict at the pronoun the noun it stands for, as if the pronoun
were a mask over that noun. Without this there would be no loss at "it", and no head would have a reason to look from there to the
noun; it is also why the model predicts a noun at "it".

{int(metadata['steps']):,} steps of {metadata['batch']} sentences, seed {metadata['seed']}, {int(metadata['seconds']) / 60:.1f} minutes on one \
core of a machine that was busy with other work. To train it and measure it again:

    /usr/bin/python3 assets/models/train_sentences.py && /usr/bin/python3 assets/models/measure_sentences.py

needs Debian 12's python3-torch (1.13) and, for this speed, libopenblas0-pthread. The seed fixes the data and the initial weights; another
processor or BLAS rounds differently, so the file may differ in its last digits, and heads may even swap roles.

## How well it does

Tested on sentences whose pair of words (subject and object, noun and intervening noun, two names …) was held out of training, one
pair in eight; seed {seed}. Each single word occurs in training, and the grammar is the same. *Right* means that the most probable
word is correct; for agreement, that the correct number is the more probable one.

{accuracy}

## What its heads do

The largest mean weights, measured on the same held-out sentences. *follows* is the mean weight on the right noun minus that on the
other noun, over pairs of sentences that differ only in the adjective: 0 for a head that ignores it, 1 for one that always follows it.
Heads are layer.head, from 0.

{jobs}

Every head:

{weights}

How often the model is right when one head's output is 0:

{silent}

## The welcome sentence

"{sentence.format(first)}" — "it" means the {first_noun}; with "{second}" in place of "{first}" the \
{second_noun}. This pair of nouns was held out of the training. Head **{name_of(finder)}** finds the noun. Its weights from "it", and those of the next two heads:

{moves}

What the model predicts at "it", with probabilities: {says}.
"""
