"""The held-out sentences that measure_sentences.py asks about, as batches of ids."""

import torch

from english_sentences import SITUATIONS, draw_pair, draw_sentence, referent_sentence
from english_sentences_rare import KIND_OF
from english_words_pieces import CLS, MASK, PAD, SEP, WORD_ID, pieces_of
from english_words_rare import KEPT_OUT

COUNT = 1000  # sentences of each kind


class Batch:
    """Sentences as ids (N,L). A role's place is that of the first piece of its word, counted with [CLS] in front."""

    def __init__(self, sentences, masks=()):
        """`masks`: the roles whose word is masked: the one that is asked, and those that would tell."""
        self.sentences, self.starts, rows = sentences, [], []
        for sentence in sentences:
            hidden = {sentence.roles[role] for role in masks if role in sentence.roles}
            ids, starts = [CLS], []
            for place, word in enumerate(sentence.words):
                starts.append(len(ids))
                pieces = [WORD_ID[piece] for piece in pieces_of(word)]
                ids += [MASK] * len(pieces) if place in hidden else pieces
            rows.append(ids + [SEP])
            self.starts.append(starts)
        length = max(len(row) for row in rows)
        self.ids = torch.tensor([row + [PAD] * (length - len(row)) for row in rows])

    def place(self, role):
        return torch.tensor([starts[sentence.roles[role]] for sentence, starts in zip(self.sentences, self.starts)])

    def word(self, role):
        """The first piece of the word."""
        return torch.tensor([WORD_ID[pieces_of(sentence.words[sentence.roles[role]])[0]] for sentence in self.sentences])


def draw(rng, kind, wanted, count=COUNT):
    """`count` held-out sentences of a kind for which wanted(sentence)."""
    found = []
    while len(found) < count:
        sentence = draw_sentence(rng, held_out=True, kind=kind, rare=False)
        if wanted(sentence):
            found.append(sentence)
    return found


def is_split(word):
    return len(pieces_of(word)) > 1


def kept_out_noun(rng, noun):
    """A word of the same kind that no sentence of the training has, or nothing."""
    words = [word for word in KEPT_OUT.get(KIND_OF.get(noun), []) if is_split(word)]
    return rng.choice(words) if words else None


def swapped_pairs(rng, with_later, kept_out=False, count=COUNT):
    """Held-out pairs of sentences that differ in the adjective alone, so that "it" means one noun, then the other: ([…], […]).

    `with_later`: whether the noun stands once more at the end, to be masked. `kept_out`: both nouns are
    words of KEPT_OUT, in the singular.
    """
    first, second = [], []
    while len(first) < count:
        subjects, verbs, objects, of_subject, of_object, share = rng.choices(SITUATIONS, [s[-1] for s in SITUATIONS])[0]
        subject, target = draw_pair(rng, subjects, objects, True)
        if kept_out:
            subject, target = kept_out_noun(rng, subject), kept_out_noun(rng, target)
            if not subject or not target or subject == target or pieces_of(subject)[0] == pieces_of(target)[0]:
                continue
        verb, state = rng.choice(verbs), rng.getstate()
        pair = []
        for means_subject in (True, False):
            rng.setstate(state)
            pair.append(referent_sentence(rng, subject, verb, target, of_subject, of_object, means_subject))
        if is_swapped_pair(pair, with_later):
            first.append(pair[0])
            second.append(pair[1])
    return first, second


def is_swapped_pair(pair, with_later):
    """Alike but for the adjective and, where there is one, the noun at the end; the pronoun fits both nouns."""
    a, b = pair
    if any("it" not in s.roles or ("later" in s.roles) != with_later for s in pair) or len(a.words) != len(b.words):
        return False
    if not with_later and (a.asked or b.asked):
        return False
    may_differ = {s.roles[r] for s in pair for r in ("adjective", "later") if r in s.roles}
    return all(x == y or place in may_differ for place, (x, y) in enumerate(zip(a.words, b.words)))
