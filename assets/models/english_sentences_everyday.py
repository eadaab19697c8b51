"""What people say every day: statements in all tenses, questions, requests, comparisons, two clauses with a pronoun.

Where a pronoun can mean only one word of its sentence, the sentence says so (pronoun_means), as in
"my brother lost his keys because he was late".
"""

from english_sentences_clauses import CLAUSES
from english_sentences_fixed import FIXED, filled
from english_sentences_phrases import *
from english_sentences_shape import Sentence, is_held_out


def ending(rng, share=0.4):
    """When, where or how; nothing mostly."""
    if rng.random() > share:
        return ""
    return " " + rng.choice([rng.choice(WHEN), rng.choice(WHEN), where(rng), rng.choice(MANNER), with_what(rng)])


def statement(rng):
    """One clause, any verb."""
    what = rng.random()
    if what < 0.42:
        who = some_person(rng)
        v, thing = an_object(rng)
        to = thing.words if rng.random() < 0.88 else rng.choice(INDEFINITE + [SELF[who.person]] * 8 + UNCOUNTABLE + PAIRS)
        return predicate(rng, who, v) + " " + to + ending(rng, 0.3)
    if what < 0.52:
        who = some_animal(rng)
        if rng.random() < 0.4:
            return predicate(rng, who, rng.choice(DO_ANIMAL)) + ending(rng, 0.6)
        v = rng.choice(verbs("eat chase catch like see bite find follow carry watch want steal fear"))
        other = rng.choice([some_animal(rng), some_animal(rng), some_thing(rng, FOODS), some_thing(rng, THINGS), some_person(rng)])
        return predicate(rng, who, v) + " " + (HIM.get(other.words, other.words)) + ending(rng, 0.3)
    if what < 0.62:
        return predicate(rng, some_person(rng), rng.choice(DO_PERSON)) + ending(rng, 0.7)
    if what < 0.68:
        return predicate(rng, some_thing(rng), rng.choice(DO_THING)) + ending(rng, 0.4)
    if what < 0.8:
        who = some_person(rng)
        went, to = predicate(rng, who, rng.choice(GO)), one_of(rng, "to|to|to|into|through|across|past|from")
        return f"{went} {to} " + rng.choice([a_place(rng), a_place(rng), rng.choice(TOWNS), "school", "work", "bed"]) + ending(rng, 0.3)
    if what < 0.9:
        who = rng.choice([some_person, some_animal])(rng)
        return predicate(rng, who, rng.choice(BE_AT)) + " " + where(rng) + ending(rng, 0.15)
    who, other = some_person(rng), some_person(rng)
    return predicate(rng, who, rng.choice(TO_PERSON)) + " " + HIM.get(other.words, other.words) + ending(rng, 0.3)


def being(rng):
    """"my sister is very tall", "the keys are on the table", "there is a cat in the garden"."""
    what = rng.random()
    who = rng.choice([some_person, some_person, some_animal, some_thing, some_thing])(rng)
    past = rng.random() < 0.4
    if what < 0.3:
        link = be(who.person, past) if rng.random() < 0.7 else \
            (rng.choice(LINK).form("past" if past else "third" if who.is_third() else "base"))
        return short_form(rng, who, f"{link} {quality(rng, who)}")
    if what < 0.5:
        return f"{who.words} {be(who.person, past)} {where(rng)}"
    if what < 0.68:
        thing = rng.choice([some_thing, some_animal])(rng)
        many = thing.person == "they"
        if rng.random() < 0.2:
            words = noun_phrase(rng, thing.singular, OF_THINGS, many)[0]
        else:
            words = f"{one_of(rng, 'some|two|three|many|no|a lot of|five') if many else article(thing.noun)} {thing.noun}"
        return f"there {be(thing.person, past)} {words} {where(rng)}"
    if what < 0.8:
        other = rng.choice([some_person, some_animal, some_thing])(rng)
        return f"{who.words} {be(who.person, past)} {comparison(rng)} {HIM.get(other.words, other.words)}"
    if what < 0.86:
        noun = rng.choice(PERSONS + ANIMALS + THINGS + BUILDINGS + IDEAS)
        most, place = highest(rng), rng.choice(BUILDINGS + AREAS)
        among = one_of(rng, f"|in the world|of all|here|in the {place}")
        return f"{who.words} {be(who.person, past)} the {most} {noun} {among}".strip()
    if what < 0.93:
        person, job = some_person(rng), rng.choice(EITHER)
        if person.person in ("i", "he", "she"):
            return short_form(rng, person, f"{be(person.person, past)} {article(job)} {job}")
        return f"{person.words} {be(person.person, past)} {plural(job)}"
    this, whose, noun = one_of(rng, "this|that|it"), rng.choice(OWN), rng.choice(THINGS + VEHICLES + ANIMALS + KIN + IDEAS)
    return f"{this} is {whose} {with_adjective(rng, noun, OF_THINGS)}"


def wish(rng):
    """Verbs with a verb, a clause or two objects."""
    who = some_person(rng)
    what = rng.random()
    if what < 0.3:
        v, thing = an_object(rng)
        rest = f"{v.form('base')} {thing.words}" if rng.random() < 0.6 else rng.choice(DO_PERSON).form("base")
        return predicate(rng, who, rng.choice(WANT_TO)) + f" to {rest}"
    if what < 0.4:
        enjoys = predicate(rng, who, rng.choice(ENJOY), one_of(rng, "past|present|no present"))
        return f"{enjoys} {rng.choice(ACTIVITY).ing}" + ending(rng, 0.3)
    if what < 0.65:
        giver = rng.choice(GIVE)
        other, thing = some_person(rng), some_thing(rng, THINGS + TEXTS + FOODS)
        other_words = HIM.get(other.words, other.words)
        gives = predicate(rng, who, giver)
        return gives + rng.choice([f" {other_words} {thing.words}", f" {thing.words} to {other_words}"]) + ending(rng, 0.15)
    if what < 0.85:
        says = predicate(rng, who, rng.choice(SAYING), one_of(rng, "past|present|no present"))
        return says + one_of(rng, " that | that | ") + rng.choice([statement, being])(rng)
    thing = some_thing(rng, THINGS + CLOTHES + FOODS + TEXTS)
    return predicate(rng, who, rng.choice(PUT), rng.choice(["past", "past", "future", "no past"])) + f" {thing.words} " + \
        f"{rng.choice(['on', 'in', 'under', 'behind', 'next to', 'into'])} the {rng.choice(FURNITURE + CONTAINERS + ROOMS)}"


def question(rng):
    who = some_person(rng) if rng.random() < 0.7 else some_animal(rng)
    third, p = who.is_third(), who.person
    v, thing = an_object(rng)
    what = rng.random()
    do = rng.choice(["did", "did", "does" if third else "do"])
    if what < 0.25:
        return f"{do} {who.words} {v.form('base')} {thing.words}{ending(rng, 0.2)} ?"
    if what < 0.4:
        where_to = one_of(rng, "where|when|why|how")
        does = rng.choice([v.form("base") + " " + thing.words, rng.choice(GO).base, rng.choice(BE_AT).base])
        return f"{where_to} {do} {who.words} {does} ?"
    if what < 0.52:
        return f"what {do} {who.words} {v.form('base')} ?"
    if what < 0.66:
        past = rng.random() < 0.4
        why, what_is = one_of(rng, "||why |where |how "), [quality(rng, who), where(rng), v.form("ing") + " " + thing.words]
        return f"{why}{be(p, past)} {who.words} {rng.choice(what_is)} ?"
    if what < 0.76:
        return f"{rng.choice(['can', 'could', 'will', 'would', 'may', 'should'])} {who.words} {v.form('base')} {thing.words} ?"
    if what < 0.84:
        who_is = "are you" if who.words in ("i", "you") else "is " + who.words
        return f"who {rng.choice([v.form('past') + ' ' + thing.words, who_is])} ?"
    if what < 0.92:
        return f"{one_of(rng, 'is|are|was')} there {one_of(rng, 'a|any|some|the')} {rng.choice(list(NOUNS))} {where(rng)} ?"
    which, noun = one_of(rng, "how many|which|whose|what"), rng.choice([thing.noun, "time", "colour", "day"])
    return f"{which} {noun} {one_of(rng, 'do you want|is it|is this|did you see|are there')} ?"


def request(rng):
    v, thing = an_object(rng)
    do = rng.choice([v.form("base") + " " + thing.words, rng.choice(DO_PERSON).form("base"),
                     rng.choice(GO).base + " to " + a_place(rng)])
    first = rng.choice(["", "", "please ", "do not ", "don ' t ", "let ' s ", "never ", "always "])
    return f"{first}{do}{rng.choice(['', '', ' , please', ' now'])} {rng.choice(['.', '.', '!'])}"


def list_of(rng):
    nouns = rng.choice([FOODS + STUFFS, THINGS, CLOTHES, ANIMALS, TOOLS])
    words = [noun_phrase(rng, noun, None)[0] for noun in rng.sample(nouns, rng.choice([2, 3, 3]))]
    who = some_person(rng)
    v = rng.choice(verbs("buy see have need like take bring want find"))
    return predicate(rng, who, v) + " " + " , ".join(words[:-1]) + " and " + words[-1] + ending(rng, 0.2)


def simple(rng):
    """A sentence without a pronoun that would be asked."""
    what = rng.random()
    if what < 0.4:
        text = statement(rng)
    elif what < 0.58:
        text = being(rng)
    elif what < 0.7:
        text = wish(rng)
    elif what < 0.8:
        return question(rng)
    elif what < 0.85:
        return request(rng)
    elif what < 0.89:
        text = list_of(rng)
    else:
        return filled(rng, rng.choice(FIXED))
    if rng.random() < 0.12:
        text = rng.choice(OPENING) + " , " + text
    if rng.random() < 0.12:
        text += rng.choice([" and ", " but ", " , but ", " because ", " when ", " while ", " if ", " , so "]) + statement(rng)
    return text + rng.choice([" ."] * 14 + [" !", ""])


def everyday(rng):
    while True:
        s = Sentence("everyday")
        if rng.random() < 0.45:
            rng.choice(CLAUSES)(rng, s)
        else:
            s.say(simple(rng))
        if len(s.words) <= 30 and not tells_held_out(s):
            return s


def tells_held_out(s):
    """Whether the nouns that a pronoun could mean are a pair that is kept for testing."""
    if "animal" in s.words and "street" in s.words:
        return True
    return "other" in s.roles and "referent" in s.roles and any(
        is_held_out(SINGULAR_OF.get(a, a), SINGULAR_OF.get(b, b))
        for a, b in [sorted((s.words[s.roles["referent"]], s.words[s.roles["other"]]), key=s.words.index)])


SINGULAR_OF = {form: noun for noun, form in NOUNS.items()}
