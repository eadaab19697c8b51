"""English from a grammar, for `sentences`: what a masked word is can only be told from another word far away.

Four kinds, each with one pair of words that is drawn together and by which sentences are held out for testing:
  referent   "the animal did not cross the street because it was too tired , so we talked about the animal ."
  agreement  "the keys to the cabinet are rusty ."
  brackets   'anna said : " the dog ( or [ maybe ] the cat ) is here " .'
  names      "when anna and bob went to the park , anna gave a book to bob ."
"""

import zlib
from dataclasses import dataclass, field

from english_words import *

KINDS = ["referent", "agreement", "brackets", "names"]
SHARES = [0.5, 0.17, 0.15, 0.18]
# The sentence of the card and of the program is not trained on.
ALWAYS_HELD_OUT = {("animal", "street")}


@dataclass
class Sentence:
    kind: str
    words: list = field(default_factory=list)
    asked: list = field(default_factory=list)  # places whose word follows from elsewhere
    roles: dict = field(default_factory=dict)  # what a place is: {"it": 9, "referent": 1, "other": 6, …}
    pronoun_means: str = ""  # the noun (its form in the text) that the pronoun stands for

    def say(self, phrase, role=None, ask=False):
        """Appends a phrase; `role` names the place of its first word."""
        if role:
            self.roles[role] = len(self.words)
        if ask:
            self.asked.append(len(self.words))
        self.words += phrase.split()


def is_held_out(first, second):
    """One pair in eight, whatever the seed."""
    return (first, second) in ALWAYS_HELD_OUT or zlib.crc32(f"{first} {second}".encode()) % 8 == 0


def draw_pair(rng, firsts, seconds, held_out):
    while True:
        first, second = rng.choice(firsts), rng.choice(seconds)
        if first != second and is_held_out(first, second) == held_out:
            return first, second


def pronoun_of(noun, plural):
    if plural:
        return "they"
    if noun in PEOPLE:
        return "she" if noun in SHE else "he"
    return "it"


# (subjects, verbs, objects, adjectives of the subject, adjectives of the object, share)
LIVING = list(ANIMALS) + list(PEOPLE)
SITUATIONS = [(list(ANIMALS), VISIT, list(PLACES), OF_SUBJECT, OF_PLACE, 6),
              (list(ANIMALS), HUNT, list(ANIMALS), OF_SUBJECT, OF_QUARRY, 4),
              (list(ANIMALS), EAT, list(FOODS), OF_SUBJECT, OF_FOOD, 3),
              (list(PEOPLE), VISIT, list(PLACES), OF_SUBJECT, OF_PLACE, 2),
              (list(PEOPLE), CARRY, list(THINGS) + list(CONTAINERS), OF_SUBJECT, OF_LOAD, 2),
              (list(THINGS), FIT_INTO, list(CONTAINERS), TOO_LARGE, TOO_SMALL, 4)]


def opening(rng, sentence, but_not):
    """Something before the subject, so that nouns stand at no fixed place; at times with a noun that nothing refers to."""
    what = rng.random()
    if what < 0.55:
        return
    if what < 0.7:
        sentence.say(rng.choice(OPENING))
    else:
        unlike = what < 0.85
        noun = rng.choice([n for n in (LIVING if unlike else list(PLACES)) if n not in but_not])
        sentence.say("unlike the" if unlike else "near the")
        sentence.say(NOUNS[noun] if rng.random() < 0.15 else noun)
    sentence.say(",")


def referent(rng, held_out):
    subjects, verbs, objects, of_subject, of_object, _ = rng.choices(SITUATIONS, [s[-1] for s in SITUATIONS])[0]
    subject, target = draw_pair(rng, subjects, objects, held_out)
    return referent_sentence(rng, subject, rng.choice(verbs), target, of_subject, of_object, rng.random() < 0.5)


def referent_sentence(rng, subject, verb, target, of_subject, of_object, means_subject):
    s = Sentence("referent")
    opening(rng, s, (subject, target))
    forms, plurals = {}, {}
    for noun in (subject, target):
        plurals[noun] = rng.random() < 0.15
        forms[noun] = NOUNS[noun] if plurals[noun] else noun
    referent_noun, other = (subject, target) if means_subject else (target, subject)

    def noun_phrase(noun):
        s.say("the")
        if rng.random() < 0.15:
            s.say(rng.choice(BEFORE_NOUN))
        s.say(forms[noun], "referent" if noun == referent_noun else "other")

    noun_phrase(subject)
    s.say("did not" if rng.random() < 0.7 else "didn ' t")
    s.say(verb)
    noun_phrase(target)
    s.say(rng.choice(["because", "because", "because", "since", "as"]))
    again = rng.random() < 0.12  # the noun itself in place of the pronoun
    be = "were" if plurals[referent_noun] else "was"
    if again:
        s.say("the")
        s.say(forms[referent_noun], ask=True)
    else:
        s.say(pronoun_of(referent_noun, plurals[referent_noun]), "it")
        s.pronoun_means = forms[referent_noun]
    s.say(be)
    s.say(rng.choice(["too", "too", "so", "very"]))
    s.say(rng.choice(of_subject if means_subject else of_object), "adjective")
    what = rng.random()
    if what < 0.65:
        s.say(", so")
        lively = means_subject and subject not in THINGS
        if what < 0.12 and (lively or target in PLACES):
            s.say("the")
            s.say(forms[referent_noun], ask=True)
            # "were closed" after a plural
            s.say(rng.choice(AFTER_SUBJECT if lively else AFTER_PLACE[:2]))
        else:
            s.say(rng.choice(ABOUT))
            s.say("the")
            s.say(forms[referent_noun], "later", ask=True)
    s.say(".")
    return s


def agreement(rng, held_out):
    s = Sentence("agreement")
    first, second = draw_pair(rng, list(NOUNS), list(NOUNS), held_out)
    plural, other_plural = rng.random() < 0.5, rng.random() < 0.5
    s.roles["plural"], s.roles["other_plural"] = plural, other_plural
    if rng.random() < 0.3:
        s.say(rng.choice(OPENING) + " ,")
    s.say("the")
    if rng.random() < 0.2:
        s.say(rng.choice(BEFORE_NOUN))
    s.say(NOUNS[first] if plural else first, "head_noun")
    if rng.random() < 0.7:
        s.say(rng.choice(BESIDE) + " the")
        s.say(NOUNS[second] if other_plural else second, "other")
        if rng.random() < 0.25:
            s.say(rng.choice(BESIDE) + " the")
            third = rng.choice(list(NOUNS))
            s.say(NOUNS[third] if rng.random() < 0.5 else third)
    else:
        s.say("that the")
        s.say(NOUNS[second] if other_plural else second, "other")
        s.say(rng.choice(LIKING)[other_plural], ask=True)
    s.say(rng.choice(AGREEING)[plural], "verb", ask=True)
    s.say(rng.choice(STATES))
    s.say(".")
    return s


def brackets(rng, held_out):
    s = Sentence("brackets")
    first, second = draw_pair(rng, LIVING, LIVING, held_out)
    speaks = rng.random() < 0.6
    opened = []

    def opens(sign):
        opened.append((sign, len(s.words)))
        s.say(sign)

    def closes():
        sign, place = opened.pop()
        s.roles["opener"], s.roles["closer"] = place, len(s.words)
        s.say({"(": ")", "[": "]", '"': '"'}[sign], ask=True)

    def noun_phrase(noun):
        s.say("the")
        if rng.random() < 0.3:
            s.say(rng.choice(BEFORE_NOUN))
        s.say(noun)

    if speaks:
        s.say(rng.choice(NAMES) + " said :")
        opens('"')
    noun_phrase(first)
    if not speaks or rng.random() < 0.6:
        sign = rng.choice("([")
        opens(sign)
        s.say(rng.choice(["or", "and", "with", "near"]))
        if rng.random() < 0.5:
            opens("[" if sign == "(" else "(")
            s.say(rng.choice(["maybe", "today", "yesterday", "very old", "not here"]))
            closes()
        noun_phrase(second)
        closes()
    s.say(rng.choice(["is", "was"]) + " " + rng.choice(STATES))
    if speaks:
        closes()
    s.say(".")
    return s


def names(rng, held_out):
    s = Sentence("names")
    first, second = draw_pair(rng, NAMES, NAMES, held_out)
    place, thing = rng.choice(list(PLACES)), rng.choice(list(THINGS))
    if rng.random() < 0.6:
        s.say("when")
        s.say(first)
        s.say("and")
        s.say(second)
        s.say(rng.choice(WENT) + " the " + place + " ,")
        giver, taker = (first, second) if rng.random() < 0.5 else (second, first)
        s.say(giver, "again")
        s.say(rng.choice(GIFTS) + " the " + thing + " to")
        s.say(taker, "later", ask=True)
    else:
        s.say(first)
        s.say(rng.choice(GIFTS))
        s.say(second)
        s.say("the " + thing + " in the " + place + " , and")
        s.say(second, "again", ask=True)
        s.say("thanked")
        s.say(first, "later", ask=True)
    for role, name in (("first", s.words[s.roles["later"]]), ("other", s.words[s.roles["again"]])):
        s.roles[role] = s.words.index(name)
    s.say(".")
    return s


MAKERS = {"referent": referent, "agreement": agreement, "brackets": brackets, "names": names}


def draw_sentence(rng, held_out=False, kind=None):
    return MAKERS[kind or rng.choices(KINDS, SHARES)[0]](rng, held_out)


if __name__ == "__main__":
    import random

    for number in range(40):
        print(" ".join(draw_sentence(random.Random(number)).words))
