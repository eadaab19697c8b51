"""English from a grammar, for `sentences`: what a masked word is can often only be told from another word far away.

Four kinds with one pair of words that is drawn together and by which sentences are held out for testing:
  referent   "the animal did not cross the street because it was too tired , so we talked about the animal ."
  agreement  "the keys to the cabinet are rusty ."
  brackets   'anna said : " the dog ( or [ maybe ] the cat ) is here " .'
  names      "when anna and bob went to the park , anna gave a book to bob ."
and what people say every day (english_sentences_everyday.py).
"""

from english_sentences_everyday import everyday
from english_sentences_rare import with_rare_words
from english_sentences_shape import Sentence, draw_pair, is_held_out
from english_sentences_situations import LIVING, SITUATIONS
from english_words import *

KINDS = ["referent", "agreement", "brackets", "names", "everyday"]
SHARES = [0.48, 0.09, 0.07, 0.08, 0.28]
RARE_SHARE = 0.22  # of the sentences: some of their words are replaced by rare ones

NEGATIONS = ([("did not", "was", "were")] * 7 + [("didn ' t", "was", "were")] * 3 + [("could not", "was", "were")] * 2 +
             [("couldn ' t", "was", "were"), ("would not", "was", "were"), ("wouldn ' t", "was", "were"), ("never", "was", "were"),
              ("will not", "is", "are"), ("can not", "is", "are"), ("won ' t", "is", "are"), ("can ' t", "is", "are"),
              ("does not", "is", "are"), ("doesn ' t", "is", "are")])
IN_THE_PLURAL = {"does not": "do not", "doesn ' t": "don ' t"}
BECAUSE = ["because"] * 6 + ["since", "as"]
THE = ["the"] * 9 + ["my", "our", "that", "this"]
PLURAL_THE = {"that": "those", "this": "these"}


def opening(rng, sentence, but_not):
    """Something before the subject, so that nouns stand at no fixed place; at times with a noun that nothing refers to."""
    what = rng.random()
    if what < 0.6:
        return
    if what < 0.75:
        sentence.say(rng.choice(OPENING))
    else:
        unlike = what < 0.87
        noun = rng.choice([n for n in (LIVING if unlike else PLACES) if n not in but_not])
        sentence.say("unlike the" if unlike else "near the")
        sentence.say(NOUNS[noun] if rng.random() < 0.15 else noun)
    sentence.say(",")


def referent(rng, held_out):
    subjects, verbs, objects, of_subject, of_object, _ = rng.choices(SITUATIONS, [s[-1] for s in SITUATIONS])[0]
    subject, target = draw_pair(rng, subjects, objects, held_out)
    return referent_sentence(rng, subject, rng.choice(verbs), target, of_subject, of_object, rng.random() < 0.5)


def past_of(negation, verb_phrase):
    """"never cross" is "never crossed"; the other negations take the first form."""
    return verb(verb_phrase).form("past") if negation == "never" else verb_phrase


def referent_sentence(rng, subject, verb_phrase, target, of_subject, of_object, means_subject):
    s = Sentence("referent")
    opening(rng, s, (subject, target))
    forms, plurals = {}, {}
    for noun in (subject, target):
        plurals[noun] = noun in NOUNS and rng.random() < 0.15
        forms[noun] = NOUNS[noun] if plurals[noun] else noun
    referent_noun, other = (subject, target) if means_subject else (target, subject)

    def noun_phrase(noun):
        the = rng.choice(THE)
        s.say(PLURAL_THE.get(the, the) if plurals[noun] else the)
        if rng.random() < 0.15:
            s.say(rng.choice(BEFORE_NOUN))
        s.say(forms[noun], "referent" if noun == referent_noun else "other")

    negation, was, were = rng.choice(NEGATIONS)
    noun_phrase(subject)
    s.say(IN_THE_PLURAL.get(negation, negation) if plurals[subject] else negation)
    s.say(past_of(negation, verb_phrase))
    noun_phrase(target)
    s.say(rng.choice(BECAUSE))
    again = rng.random() < 0.1  # the noun itself in place of the pronoun
    which = rng.random()
    if again:
        s.say("the")
        s.say(forms[referent_noun], ask=True)
    else:
        pronouns = pronouns_of(referent_noun, plurals[referent_noun])
        s.say(pronouns[int(which * len(pronouns))], "it")
        s.pronoun_means = forms[referent_noun]
    s.say(were if plurals[referent_noun] else was)
    s.say(rng.choice(["too", "too", "too", "so", "very"]))
    s.say(rng.choice(of_subject if means_subject else of_object), "adjective")
    what = rng.random()
    if what < 0.5:
        after(rng, s, what, forms[referent_noun], means_subject and subject in LIVING, target in PLACES)
    s.say(".")
    return s


def after(rng, s, what, noun, lively, is_place):
    """", so …" with the noun once more."""
    s.say(", so")
    if what < 0.1 and (lively or is_place):
        s.say("the")
        s.say(noun, ask=True)
        # "were closed" after a plural
        s.say(rng.choice(AFTER_SUBJECT if lively else AFTER_PLACE[:2]))
    else:
        s.say(rng.choice(ABOUT))
        s.say("the")
        s.say(noun, "later", ask=True)


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
        s.say(rng.choice(NAMES) + " said " + rng.choice([":", ":", ","]))
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
    place, thing = rng.choice(PLACES + BUILDINGS), rng.choice(THINGS)
    if rng.random() < 0.6:
        s.say("when")
        s.say(first)
        s.say("and")
        s.say(second)
        s.say(rng.choice(WENT) + " the " + place + " ,")
        giver, taker = (first, second) if rng.random() < 0.5 else (second, first)
        s.say(giver, "again")
        s.say(rng.choice(GIFTS) + rng.choice([" the ", " the ", " his ", " her "]) + thing + " to")
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


MAKERS = {"referent": referent, "agreement": agreement, "brackets": brackets, "names": names,
          "everyday": lambda rng, held_out: everyday(rng)}


def draw_sentence(rng, held_out=False, kind=None, rare=True):
    """`rare`: whether words are replaced by rare ones, in a share of the sentences."""
    sentence = MAKERS[kind or rng.choices(KINDS, SHARES)[0]](rng, held_out)
    return with_rare_words(rng, sentence) if rare and rng.random() < RARE_SHARE else sentence


if __name__ == "__main__":
    import random

    for number in range(60):
        print(" ".join(draw_sentence(random.Random(number)).words))
