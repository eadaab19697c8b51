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


def accuracy_table(right):
    return table(["test", "what is asked", "sentences", "right"],
                 [[name, what, f"{count:,}", f"{share:.1%}"] for name, (what, count, share) in right.items()])


def jobs_table(heads):
    return table(["what a head does", "head", "mean weight", "second"], [
        [job, name_of(order[0]), f"{heads[order[0]][measure]:.3f}", f"{name_of(order[1])} {heads[order[1]][measure]:.3f}"]
        for job, measure in JOBS for order in [sorted(heads, key=lambda head: -heads[head][measure])]])


def silent_table(right, without):
    tests = list(next(iter(without.values())))
    return table(["muted head"] + tests, [["none"] + [f"{right[t][2]:.3f}" for t in tests]] + [
        [name_of(h)] + [f"{row[t]:.3f}" for t in tests] for h, row in without.items()])


def visitors_table(visitors):
    """Each sentence with the two most probable pieces at its pronoun; what a person would say is bold where the model says it first."""
    def says(first_piece, found):
        return ", ".join(f"**{word}** {q:.2f}" if word == first_piece and place == 0 else f"{word} {q:.2f}"
                         for place, (word, q) in enumerate(found))

    return table(["sentence", "asked", "a person says", "the model says"],
                 [[text, pronoun, means, says(piece, found)] for text, pronoun, means, piece, found in visitors])


def welcome_text(heads, welcome, sentence, adjectives):
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
    return f""""{sentence.format(first)}" — "it" means the {first_noun}; with "{second}" in place of "{first}" the \
{second_noun}. This pair of nouns was held out of the training. Head **{name_of(finder)}** finds the noun. Its weights from "it", and those of the next two heads:

{moves}

What the model predicts at "it", with probabilities: {says}."""


def card(model, seed, longest, right, heads, without, welcome, sentence, adjectives, visitors, reading):
    config, metadata = model.config, model.metadata
    parameters = sum(t.numel() for t in model.p.values())
    weights = table(["head"] + COLUMNS, [[name_of(h)] + [three_digits(row[c]) for c in COLUMNS] for h, row in heads.items()])
    return f"""# sentences

A bidirectional encoder: {config['num_hidden_layers']} layers × {config['num_attention_heads']} heads, width {config['hidden_size']}, MLP \
{config['intermediate_size']}, at most {config['max_position_embeddings']} tokens, {config['vocab_size']:,} pieces in the vocabulary, \
{parameters:,} parameters, {os.path.getsize(model.path):,} bytes. It computes what BERT computes (post-LayerNorm, exact GELU, learned
positions, the decoder tied to the word embeddings) and its tensors have BERT's names; there is one token type. It knows the everyday
English of a grammar (`english_sentences*.py`, `english_words*.py`) but nothing about the world. The longest of {longest[1]:,} sentences of
that grammar has {longest[0]} tokens with [CLS] and [SEP]; one text in eight of the training was two or three sentences.

Text: lower case without accents, split at white space and around punctuation (`didn't` is `didn ' t`), `[CLS]` at the start and `[SEP]`
at the end. The vocabulary has {reading['whole']:,} whole words, {reading['characters']} letters, digits and signs, {reading['starts']} pieces that begin a word and \
{reading['continued']} that continue one (`##`). Any other word is split as in BERT's WordPiece, greedily into the longest pieces: `giraffe` is
`gi ##ra ##ff ##e`. Of the {reading['words']} words and signs of {reading['sentences']} everyday sentences, written before the training (`everyday_sentences.txt`),
{reading['split']} are split and {reading['unknown']} are unknown. Only characters of other scripts, and emoji, become `[UNK]`.

## Training

BERT's masked-word objective, with two additions. Words that follow from a distant word are masked more often than others. And in
more than half of the sentences with a visible pronoun, the model has to predict at the pronoun the noun it stands for, as if the pronoun
were a mask over that noun: its **first piece**, where the noun is split. Without this there would be no loss at "it", and no head would
have a reason to look from there to the noun; it is also why the model predicts a noun at "it".

In a fifth of the sentences nouns, names, adjectives and verbs are replaced by one of {reading['rare']} rarer words or by made-up ones, both read in
pieces. {reading['kept_out']} more are in no training sentence (`KEPT_OUT` in english_words_rare.py).

{int(metadata['steps']):,} steps of {metadata['batch']} texts, seed {metadata['seed']}, {int(metadata['seconds']) / 60:.1f} minutes on one \
core of a machine that was busy with other work. After them four heads of layer 1 looked from "it" to the noun and copied it together. So
that one head can be shown to do it, {int(metadata['focus_steps']):,} more steps ({int(metadata['focus_seconds']) / 60:.1f} minutes) had one more \
term: the other heads of that layer pay for the weight with which they look from a pronoun to its noun (`focus_sentences.py`). In the last 5,000 of these
steps a pronoun in the loss counted three times as much as another word, and an extra quarter of the sentences had two nouns that a pronoun
could mean; the final parameters are the mean of those before and after these steps, which ran on another machine, with PyTorch 2.15. To repeat it:

    cd assets/models
    python3 train_sentences.py && python3 order_heads.py && python3 focus_sentences.py && python3 measure_sentences.py

needs python3-torch (Debian's 1.13, or a newer one) and, with Debian's, libopenblas0-pthread for this speed. The seed fixes the data and the
initial weights; another version, processor or BLAS rounds differently, so the numbers may differ a little. The heads of each layer were
permuted (order_heads.py), which changes nothing that the model computes: the head that finds the noun is 1.7, and the others have the
number of their job as far as they have one.

## How well it does

Tested on sentences whose pair of words (subject and object, noun and intervening noun, two names …) was held out of training, one
pair in eight; seed {seed}. Except for *new words*, each single word occurs in training, and the grammar is the same. *Right* means that the
most probable word is correct; for agreement, that the correct number is the more probable one.

{accuracy_table(right)}

## What it makes of other sentences

Sentences that the grammar did not draw. **Bold**: the model's first answer is what a person would say.

{visitors_table(visitors)}

What it cannot do: it has learned which adjectives suit animals, people, places or things, and which word a pronoun can agree with. Where
world knowledge, a longer story or an adjective outside its situations decides, it guesses. A word in pieces has no meaning for it beyond
its pieces. It answers no questions and writes no texts.

## What its heads do

The largest mean weights, measured on the same held-out sentences. *follows* is the mean weight on the right noun minus that on the
other noun, over pairs of sentences that differ only in the adjective: 0 for a head that ignores it, 1 for one that always follows it.
Heads are layer.head, from 0. Where a word is split, its first piece counts.

{jobs_table(heads)}

Every head:

{weights}

How often the model is right when one head's output is 0:

{silent_table(right, without)}

## The welcome sentence

{welcome_text(heads, welcome, sentence, adjectives)}
"""
