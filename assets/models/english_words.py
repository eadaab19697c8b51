"""The words of the grammar by class: people, animals, places … each singular with its plural."""

from english_words_beings import *
from english_words_forms import plural, verb
from english_words_function import *
from english_words_places import *
from english_words_qualities import *
from english_words_things import *
from english_words_verbs import *


def with_plurals(*lists):
    return {noun: plural(noun) for nouns in lists for noun in nouns}


PERSONS = HE + SHE + EITHER
PEOPLE = with_plurals(PERSONS)
# Nouns that are one or many; the rest of english_words_things.py is never many.
NOUNS = with_plurals(PERSONS, BABIES, GROUPS, ANIMALS, SMALL, PLACES, HEIGHTS, BUILDINGS, ROOMS, WATERS, HARBOURS, REGIONS, THINGS,
                     FURNITURE, CONTAINERS, CLOTHES, TOOLS, CUTTING, MACHINES, LAMPS, LIFTERS, VEHICLES, SHIPS, AIRCRAFT, PLANTS,
                     PARTS_OF_PLANTS, FRUITS, DISHES, BODY, TEXTS, WORKS, TASKS, EVENTS, TIMES, IDEAS, HARDSHIPS, MEALS)
for _never in "fish beer wine tea coffee".split():
    NOUNS.pop(_never, None)
NOUNS["fish"] = "fish"
UNCOUNTABLE = list(dict.fromkeys(STUFFS + DRINKS + MATERIALS + WEATHER + FEELINGS))

IS_HE, IS_SHE = set(HE) | set(HIS_NAMES), set(SHE) | set(HER_NAMES)
IS_PERSON = set(PERSONS) | set(NAMES)


def pronouns_of(noun, plural=False):
    """The pronouns that a noun (its singular) may be named by."""
    if plural:
        return ["they"]
    if noun in IS_HE:
        return ["he"]
    if noun in IS_SHE:
        return ["she"]
    return ["he", "she"] if noun in IS_PERSON else ["it"]
