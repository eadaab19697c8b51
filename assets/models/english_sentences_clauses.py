"""Two clauses, the second with a pronoun that can mean one word of the first: each function fills a Sentence."""

from english_sentences_phrases import *

JOIN = ["because"] * 5 + ["when", "but", "and", ", but", ", and", "so", "although", "after", "before", ".", ".", ";"]


def named_person(rng):
    """A person that a later pronoun can mean."""
    while True:
        who = some_person(rng)
        if who.noun:
            return who


def say_with(s, words, noun, role):
    """Says a phrase in which `noun` stands, and names its place."""
    before = words.split()
    at = len(before) - 1 - before[::-1].index(noun)
    s.roles[role] = len(s.words) + at
    s.say(words)


def pronoun(s, who):
    s.say(who.person, "it")
    s.pronoun_means = who.noun


def person_did(rng, s):
    """"my brother lost his keys yesterday because he was late ." The pronoun is that of the person only."""
    who = named_person(rng)
    v, thing = an_object(rng)
    if thing.person == who.person or who.person not in HIS:
        thing = Who("the " + rng.choice(THINGS), "it") if who.person == "they" else thing
    if rng.random() < 0.35 and thing.singular in NOUNS:
        thing = Who(f"{HIS[who.person]} {thing.noun}", thing.person, thing.noun, thing.singular)
    tense = rng.choice(["past", "past", "no past", "present"])
    first, rest = predicate(rng, who, v, tense), thing.words + (" " + rng.choice(WHEN) if rng.random() < 0.3 else "")
    say_with(s, first, who.noun, "referent")
    if thing.noun:
        say_with(s, rest, thing.noun, "other")
    else:
        s.say(rest)
    s.say(rng.choice(JOIN))
    pronoun(s, who)
    is_past = tense != "present"
    what = rng.random()
    if what < 0.6:
        s.say(be(who.person, is_past) + " " + rng.choice(["", "", "very ", "too ", "so "]) + rng.choice(PERSONAL + OF_PERSON))
    elif what < 0.8:
        s.say(rng.choice(DO_PERSON).form("past" if is_past else "third" if who.is_third() else "base"))
    else:
        v, other = an_object(rng)
        s.say(v.form("past" if is_past else "third" if who.is_third() else "base") + " " + other.words)
    s.say(".")


def thing_was(rng, s):
    """"i bought a new car because it was cheap ." The thing is the only "it" or "they"."""
    who = some_person(rng)
    while who.person == "they":
        who = some_person(rng)
    v, thing = an_object(rng)
    while thing.singular in IS_PERSON:
        v, thing = an_object(rng)
    tense = rng.choice(["past", "past", "no past", "present", "no present"])
    first = predicate(rng, who, v, tense)
    if who.noun:
        say_with(s, first, who.noun, "other")
    else:
        s.say(first)
    say_with(s, thing.words, thing.noun, "referent")
    s.say(rng.choice(JOIN))
    past = "past" in tense
    if rng.random() < 0.7:
        pronoun(s, thing)
        s.say(be(thing.person, past) + " " + rng.choice(["", "", "very ", "too ", "so ", "not "]) + rng.choice(OF_THINGS))
    else:
        other = rng.choice(["i", "my sister", "everyone", "nobody", "she", "my friend", "we"])
        if other in ("i", "we"):
            third = "base"
        else:
            third = "third"
        s.say(other + " " + rng.choice(verbs("like hate love need want see find lose break sell")).form("past" if past else third))
        s.say(HIM[thing.person], "it")
        s.pronoun_means = thing.noun
    s.say(".")


def animal_did(rng, s):
    """"the dog slept because it was tired ." """
    who = some_animal(rng)
    tense = rng.choice(["past", "past", "no past", "present"])
    did = predicate(rng, who, rng.choice(DO_ANIMAL), tense)
    say_with(s, did + (" " + where(rng) if rng.random() < 0.3 else ""), who.noun, "referent")
    s.say(rng.choice(JOIN))
    pronoun(s, who)
    s.say(be(who.person, tense != "present") + " " + rng.choice(["", "very ", "too ", "so "]) + rng.choice(OF_SUBJECT + OF_QUARRY))
    s.say(".")


def when_first(rng, s):
    """"when the man came home , he was tired ." """
    who = rng.choice([named_person, some_animal])(rng)
    tense = rng.choice(["past", "past", "present"])
    s.say(rng.choice("when while after before if although because as since until".split()))
    does = rng.choice(DO_PERSON if who.singular in IS_PERSON else DO_ANIMAL)
    say_with(s, predicate(rng, who, does, tense), who.noun, "referent")
    s.say(",")
    pronoun(s, who)
    past = tense == "past"
    if rng.random() < 0.5:
        s.say(be(who.person, past) + " " + rng.choice(PERSONAL if who.singular in IS_PERSON else OF_SUBJECT))
    else:
        v, thing = an_object(rng)
        s.say(v.form("past" if past else "third" if who.is_third() else "base") + " " + thing.words)
    s.say(".")


def two_people(rng, s):
    """"john saw mary and she smiled ." A man and a woman, so that the pronoun says who is meant."""
    he, she = rng.choice(HIS_NAMES + ["the " + noun for noun in HE]), rng.choice(HER_NAMES + ["the " + noun for noun in SHE])
    first, second = (he, she) if rng.random() < 0.5 else (she, he)
    means, person = rng.choice([(he, "he"), (she, "she")])
    for words, verb_after in ((first, True), (second, False)):
        say_with(s, words, words.split()[-1], "referent" if words == means else "other")
        if verb_after:
            s.say(rng.choice(TO_PERSON).form("past"))
    s.say(rng.choice(JOIN))
    s.say(person, "it")
    s.pronoun_means = means.split()[-1]
    s.say(rng.choice(["was " + rng.choice(PERSONAL + OF_PERSON), rng.choice(DO_PERSON).form("past")]))
    s.say(".")


def relative(rng, s):
    """"the man who lives near the river is a doctor ." """
    person = rng.random() < 0.5
    noun = rng.choice(PERSONS if person else THINGS + ANIMALS + BUILDINGS)
    many = rng.random() < 0.3
    who = Who("", "they" if many else rng.choice(pronouns_of(noun)), NOUNS[noun] if many else noun, noun)
    s.say("the " + who.noun, "subject")
    form = rng.choice(["past", "third" if who.is_third() else "base"])
    if person:
        v, thing = an_object(rng)
        s.say(rng.choice(["who", "who", "that"]) + " " + v.form(form) + " " + thing.words)
    elif noun in ANIMALS:
        s.say("that " + rng.choice(DO_ANIMAL).form(form) + " " + where(rng))
    else:
        that, owner = one_of(rng, "that|which"), some_person(rng)
        does = rng.choice(verbs("buy see like find sell own want visit"))
        s.say(f"{that} {predicate(rng, owner, does, one_of(rng, 'past|present'))}")
    s.say(be(who.person, rng.random() < 0.4), ask=True)
    s.say(rng.choice(PERSONAL if person else OF_THINGS) + " .")


def passive(rng, s):
    """"the window was broken by the boy ." """
    v, thing = an_object(rng)
    while v.rest:
        v, thing = an_object(rng)
    what = rng.choice([be(thing.person, True), be(thing.person), "will be", "must be", "can be",
                       have(thing.person) + " been"])
    s.say(f"{thing.words} {what} {v.participle}")
    if rng.random() < 0.6:
        by = some_person(rng)
        s.say("by " + {"i": "me", "we": "us", "they": "them", "he": "him", "she": "her"}.get(by.words, by.words))
    s.say(rng.choice([".", rng.choice(WHEN) + " ."]))


def opinion(rng, s):
    """"i love pizza but my sister hates it ." """
    found, nouns = rng.choice(OBJECTS_OF)
    noun = rng.choice(nouns)
    countable = noun in NOUNS
    form = NOUNS[noun] if countable else noun
    thing = Who(form, "they" if countable and form != noun else "it", form, noun)
    likes = verbs("love like hate prefer enjoy need want")
    first, other = some_person(rng), some_person(rng)
    while other.noun == first.noun or "they" in (first.person, other.person):
        first, other = some_person(rng), some_person(rng)
    s.say(first.words + " " + rng.choice(likes).form("third" if first.is_third() else "base"))
    s.say(form, "referent")
    s.say(rng.choice(["but", "and", ", but", "because", "although"]))
    what = rng.random()
    if what < 0.6:
        s.say(other.words + " " + rng.choice(likes).form("third" if other.is_third() else "base"))
        s.say(HIM[thing.person], "it")
    else:
        s.say(thing.person, "it")
        s.say(be(thing.person) + " " + rng.choice(OF_THINGS))
    s.pronoun_means = form
    s.say(".")


def speech(rng, s):
    """'" i am tired , " said the king .'"""
    who = named_person(rng)
    what = rng.choice(["i am " + rng.choice(PERSONAL), "where is " + some_thing(rng).words + " ?",
                       "i want " + some_thing(rng, FOODS).words, "come here",
                       "i don ' t know", "it is late", "let ' s go home", "thank you", "help !", "good morning",
                       "i " + rng.choice(DO_PERSON).form("past")])
    if rng.random() < 0.5:
        s.say('"')
        s.say(what + rng.choice([" ,", ""]))
        s.say('"', ask=True)
        s.say(rng.choice(["said " + who.words, who.words + " said", who.words + " asked"]) + " .")
    else:
        s.say(who.words + " said" + rng.choice([" :", " ,", ""]))
        s.say('"')
        s.say(what)
        s.say('"', ask=True)
        s.say(".")


# Each as often as it is drawn.
CLAUSES = [person_did] * 4 + [thing_was] * 4 + [animal_did] * 2 + [when_first] * 2 + [two_people] * 2 + \
    [relative, passive, opinion, opinion, speech]
