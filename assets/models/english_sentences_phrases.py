"""Parts of everyday sentences: who does something, what it is done to, and the verb in its tense."""

from dataclasses import dataclass

from english_words import *
from english_words_forms import comparative, plural, superlative

HIS = {"he": "his", "she": "her", "it": "its", "they": "their", "i": "my", "you": "your", "we": "our"}
HIM = {"he": "him", "she": "her", "it": "it", "they": "them", "i": "me", "you": "you", "we": "us"}
SELF = {"i": "myself", "you": "yourself", "he": "himself", "she": "herself", "it": "itself", "we": "ourselves", "they": "themselves"}
OWN = "my my my your his her our their the the the the".split()
VOWEL_SOUND = tuple("aeiou")
KIN = """father brother son uncle grandfather husband nephew dad grandpa mother sister daughter aunt grandmother wife niece mum
grandma cousin friend neighbour boss partner colleague teacher doctor""".split()


@dataclass
class Who:
    """A subject: its words, who of I, you, he … it is in the verb, and the word that a later pronoun would mean."""
    words: str
    person: str  # "i", "you", "we", "they", "he", "she" or "it"
    noun: str = ""  # the noun in its form here; nothing where there is none to be meant
    singular: str = ""

    def is_third(self):
        return self.person in ("he", "she", "it")


def one_of(rng, text):
    """One of the phrases that "|" keeps apart."""
    return rng.choice(text.split("|"))


def article(noun):
    return "an" if noun.startswith(VOWEL_SOUND) else "a"


def with_adjective(rng, noun, adjectives, share=0.25):
    return f"{rng.choice(adjectives)} {noun}" if adjectives and rng.random() < share else noun


def noun_phrase(rng, noun, adjectives=None, many=None):
    """(words, form of the noun, whether plural) with an article, a possessive, a number …"""
    if noun in UNCOUNTABLE or noun not in NOUNS:
        first = rng.choice(["the", "the", "some", "my", "", "", "this", "his", "her", "our"])
        return f"{first} {with_adjective(rng, noun, adjectives)}".strip(), noun, False
    is_plural = rng.random() < 0.22 if many is None else many
    form = NOUNS[noun] if is_plural else noun
    described = with_adjective(rng, form, adjectives)
    if is_plural:
        number = rng.choice(NUMBERS[2:30])
        first = one_of(rng, "the|the|the|some|two|three|these|those|many||my|our|all the|several|both|few|most|other|enough|such|"
                       f"{number}|lots of|a lot of")
    else:
        first = rng.choice(["the"] * 6 + ["a"] * 5 + OWN[:6] + ["this", "that", "every", "another", "each", "no", "either",
                                                            "such a", "the other", "the same", "one", "its", "their", "whose"])
    if first == "a":
        first = article(described)
    return f"{first} {described}".strip(), form, is_plural


def some_person(rng):
    """A subject that is a person."""
    what = rng.random()
    if what < 0.3:
        person = rng.choice(["i", "i", "i", "you", "we", "they", "he", "she"])
        return Who(person, person)
    if what < 0.5:
        name = rng.choice(NAMES)
        return Who(name, pronouns_of(name)[0], name, name)
    if what < 0.56:
        first, second = rng.sample(NAMES, 2)
        return Who(rng.choice([f"{first} and {second}", f"my {rng.choice(KIN)} and i", f"{first} and i"]), "they")
    if what < 0.6:
        return Who(rng.choice("everyone everybody someone somebody nobody".split()), "he")
    noun = rng.choice(KIN) if what < 0.78 else rng.choice(PERSONS)
    many = rng.random() < 0.18
    form = NOUNS[noun] if many else noun
    first = rng.choice(OWN[:8]) if what < 0.78 else rng.choice(["the", "the", "the", "a", "our", "that"])
    described = with_adjective(rng, form, ["young", "old", "little", "older", "new", "best", "poor", "tall", "nice"], 0.15)
    if many:
        first = {"a": "some", "that": "those"}.get(first, first)
    elif first == "a":
        first = article(described)
    return Who(f"{first} {described}", "they" if many else rng.choice(pronouns_of(noun)), form, noun)


def some_animal(rng):
    noun = rng.choice(ANIMALS + BABIES + SMALL)
    words, form, many = noun_phrase(rng, noun, BEFORE_NOUN)
    return Who(words, "they" if many else "it", form, noun)


def some_thing(rng, nouns=None, adjectives=OF_THINGS):
    noun = rng.choice(nouns or THINGS + FURNITURE + VEHICLES + MACHINES + CLOTHES)
    words, form, many = noun_phrase(rng, noun, adjectives)
    return Who(words, "they" if many else "it", form.split()[-1], noun)


def be(person, past=False):
    if past:
        return "was" if person in ("i", "he", "she", "it") else "were"
    return "am" if person == "i" else "is" if person in ("he", "she", "it") else "are"


def have(person):
    return "has" if person in ("he", "she", "it") else "have"


def short_form(rng, who, words):
    """"i am" as "i ' m", at times."""
    contracted = {"am": "' m", "is": "' s", "are": "' re", "have": "' ve", "has": "' s", "will": "' ll", "had": "' d"}
    first, _, rest = words.partition(" ")
    if who.words in ("i", "you", "he", "she", "it", "we", "they") and first in contracted and rest and rng.random() < 0.4:
        return f"{who.words} {contracted[first]} {rest}"
    return f"{who.words} {words}"


TENSES = ["past"] * 7 + ["present"] * 5 + ["no past"] * 2 + ["no present"] * 2 + \
    "future perfect now now then then modal no_future going had not_yet not_now".split()


def predicate(rng, who, v, tense=None):
    """The subject with the verb in its tense: "my brother lost", "we have not seen"."""
    p, tense = who.person, tense or rng.choice(TENSES)
    third = who.is_third()
    often = rng.choice(OFTEN) + " " if rng.random() < 0.08 else ""
    if tense == "past":
        return f"{who.words} {often}{v.form('past')}"
    if tense == "present":
        return f"{who.words} {often}{v.form('third' if third else 'base')}"
    if tense == "no past":
        return f"{who.words} {rng.choice(['did not', 'didn ' + chr(39) + ' t'])} {v.form('base')}"
    if tense == "no present":
        do = "does" if third else "do"
        dont = "doesn ' t" if third else "don ' t"
        return f"{who.words} {rng.choice([do + ' not', dont, dont])} {v.form('base')}"
    if tense == "future":
        return short_form(rng, who, f"will {often}{v.form('base')}")
    if tense == "no_future":
        return f"{who.words} {rng.choice(['will not', 'won ' + chr(39) + ' t'])} {v.form('base')}"
    if tense == "perfect":
        return short_form(rng, who, f"{have(p)} {rng.choice(['', '', 'not ', 'never ', 'just ', 'already '])}{v.form('participle')}")
    if tense == "now":
        return short_form(rng, who, f"{be(p)} {rng.choice(['', '', '', 'not ', 'still '])}{v.form('ing')}")
    if tense == "had":
        return f"{who.words} had {rng.choice(['', '', 'never ', 'already '])}{v.form('participle')}"
    if tense == "not_yet":
        return f"{who.words} {rng.choice([have(p), 'had'])}n ' t {v.form('participle')}"
    if tense == "not_now":
        past = rng.random() < 0.5
        return f"{who.words} {'am not' if p == 'i' and not past else be(p, past) + 'n ' + chr(39) + ' t'} {v.form('ing')}"
    if tense == "then":
        return f"{who.words} {be(p, True)} {v.form('ing')}"
    if tense == "going":
        return short_form(rng, who, f"{be(p)} going to {v.form('base')}")
    modal = rng.choice(MODALS + ["can not", "could not", "can ' t", "couldn ' t", "should not", "must not"])
    return f"{who.words} {modal} {v.form('base')}"


def an_object(rng):
    """(verb, what it goes with as a Who)"""
    found, nouns = rng.choice(OBJECTS_OF)
    v = rng.choice(found)
    return v, some_thing(rng, nouns, ABSTRACT if nouns is IDEAS else BEFORE_NOUN if nouns is ANIMALS else OF_THINGS)


def a_place(rng):
    """"in the garden", "to" left to others."""
    noun = rng.choice(PLACES + BUILDINGS + ROOMS + HEIGHTS + REGIONS)
    return f"the {with_adjective(rng, noun, OF_THINGS, 0.1)}"


BETWEEN = """between|among|against|around|without|within|towards|toward|onto|during|despite|except|over|below|above|across|along|
after|before|past|off|upon|under|beyond|opposite|about|instead of|because of|
out of|up|down|through|from|with|by|for""".replace("\n", "").split("|")
INDEFINITE = """something anything nothing everything someone anyone anybody nobody none others mine yours ours theirs hers less more enough it
that this everyone somebody lots either neither""".split()


def with_what(rng):
    """"without the key", "during the winter", "instead of me"."""
    noun = rng.choice(list(NOUNS) + UNCOUNTABLE + PAIRS)
    name, day, month = rng.choice(NAMES), rng.choice(DAYS), rng.choice(MONTHS)
    other = rng.choice(["me", "him", "her", "us", "them", "you", "everyone", "others", name, day, month])
    words = noun_phrase(rng, noun, None)[0] if rng.random() < 0.75 else other
    return f"{rng.choice(BETWEEN)} {words}"


def where(rng):
    what = rng.random()
    if what < 0.08:
        return rng.choice("somewhere anywhere nowhere everywhere upstairs downstairs instead again together anyway yet".split())
    if what < 0.15:
        return f"in {rng.choice(TOWNS)}"
    if what < 0.3:
        return one_of(rng, "at home|here|there|outside|upstairs|inside|at school|at work|in bed|everywhere|far away|on the left")
    if what < 0.5:
        return f"{one_of(rng, 'on|under|behind|in|beside|near|next to')} the {rng.choice(FURNITURE + CONTAINERS + THINGS)}"
    return f"{rng.choice('in in in at near behind'.split())} {a_place(rng)}"


def quality(rng, who):
    """What can be said of someone or something: "very tired", "bigger than a dog"."""
    person = who.person != "it" and who.singular not in NOUNS or who.singular in IS_PERSON
    adjectives = PERSONAL if person else OF_THINGS
    what = rng.random()
    if what < 0.5:
        return rng.choice(adjectives)
    return f"{rng.choice(DEGREE)} {rng.choice(adjectives)}"


def comparison(rng):
    """"bigger than", "as big as", "more expensive than", "the biggest"."""
    adjective = rng.choice(COMPARED)
    what = rng.random()
    if what < 0.5:
        return f"{comparative(adjective)} than" if comparative(adjective) else f"more {adjective} than"
    if what < 0.75:
        return f"{rng.choice(['as', 'not as'])} {adjective} as"
    return f"{rng.choice(['more', 'less'])} {rng.choice(MORE)} than"


def highest(rng):
    adjective = rng.choice(COMPARED)
    return superlative(adjective) or f"most {adjective}"
