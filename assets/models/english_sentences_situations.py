"""What "it" can stand for: "the SUBJECT did not VERB the OBJECT because it was too ADJECTIVE", one row a situation.

A row: (subjects, verbs, objects, adjectives that speak of the subject, adjectives that speak of the object, share). The two
lists of adjectives have nothing in common, so that the adjective decides.
"""

from english_words import *

LIVING = list(dict.fromkeys(ANIMALS + PERSONS + BABIES))
LAND_ANIMALS = [animal for animal in ANIMALS if animal not in SEA]
CLIMBERS = "cat squirrel monkey bear goat animal leopard kitten snail ant beetle lizard lion frog snake mouse rat spider".split()
FLIERS = "bird crow owl eagle pigeon sparrow parrot bat butterfly bee fly moth beetle wasp swan duck hen".split()
GOODS = list(dict.fromkeys(SMALL_THINGS + FURNITURE + MACHINES + VEHICLES))
BEDS = "bed sofa mattress carpet bench blanket cushion pillow armchair cradle floor chair".split()
BRANCHES = "branch twig rope pole fence wall stem roof ladder".split()
LOADS = "stone rock box tree piano trunk chest barrel crate boat table wardrobe".split()
SOLIDS = "bread meat rope wood paper glass stone ice leather rubber bone cheese branch stick melon onion steak".split()
STICKS = "stick ball bone shoe hat toy branch bag rope basket newspaper glove egg bottle stone blanket towel".split()
LARGE_ROOMS = list(dict.fromkeys(ROOMS + "hotel church cave tunnel tent garden hall cellar palace barn temple house street".split()))
PACKABLE = list(dict.fromkeys(THINGS + CLOTHES + TOOLS + FURNITURE))

SITUATIONS = [
    (LAND_ANIMALS, WALK, WAYS + AREAS, OF_SUBJECT, OF_PLACE, 12),
    (LAND_ANIMALS, CLIMB, HEIGHTS, OF_SUBJECT, OF_HEIGHT, 3),
    (ANIMALS, HUNT, ANIMALS, OF_SUBJECT, OF_QUARRY, 8),
    (ANIMALS, EAT, FOODS, OF_SUBJECT, OF_FOOD, 6),
    (LAND_ANIMALS + BABIES, DRINK, DRINKS, OF_SUBJECT, OF_DRINK, 2),
    (LAND_ANIMALS, CARRY, STICKS, OF_SUBJECT, OF_LOAD, 3),
    (LAND_ANIMALS, HIDE_IN, CONTAINERS, TOO_LARGE, TOO_SMALL, 3),
    (LAND_ANIMALS + BABIES, REST_ON, BEDS, OF_SUBJECT, OF_BED, 3),
    (FLIERS, PERCH, BRANCHES, OF_SUBJECT, OF_BRANCH, 2),
    (LAND_ANIMALS, GO_INSIDE[:3], BUILDINGS, OF_SUBJECT, OF_BUILDING, 3),
    (PACKABLE, FIT_INTO, CONTAINERS, TOO_LARGE, TOO_SMALL, 12),
    (VEHICLES, DRIVE_OVER, WAYS + HEIGHTS[:2], OF_VEHICLE, OF_WAY, 4),
    (SHIPS, SAIL, HARBOURS + ["lake", "sea", "island", "ocean"], OF_SHIP, OF_HARBOUR, 3),
    (LIFTERS, LIFT, LOADS, OF_LIFTER, OF_LOAD, 3),
    (PLANTS + ["house", "roof", "boat", "animal", "bird", "calf"], SURVIVE, HARDSHIPS, OF_PLANT, OF_HARDSHIP, 3),
    (CUTTING, CUT, SOLIDS, OF_BLADE, OF_STUFF, 2),
    (LAMPS, LIGHT_UP, LARGE_ROOMS, OF_LAMP, OF_ROOM, 3),
    (GROUPS, WIN, TASKS, OF_TEAM, OF_TASK, 3),
    (GROUPS, BUY, GOODS, OF_TEAM, OF_GOODS, 2),
    (GROUPS, WALK, WAYS + AREAS + BUILDINGS, OF_AUDIENCE, OF_PLACE, 2),
    (WORKS, PLEASE, GROUPS, OF_TEXT, OF_AUDIENCE, 3),
    # He or she, and it.
    (PERSONS, WALK, WAYS + AREAS, OF_PERSON, OF_PLACE, 3),
    (PERSONS, CLIMB, HEIGHTS, OF_PERSON, OF_HEIGHT, 1),
    (PERSONS, GO_INSIDE, BUILDINGS + ROOMS, OF_PERSON, OF_BUILDING, 3),
    (PERSONS, TAKE, THINGS + CONTAINERS, OF_PERSON, OF_LOAD, 3),
    (PERSONS, COOK, FOODS + STUFFS, OF_PERSON, OF_FOOD, 2),
    (PERSONS, WEAR, CLOTHES, OF_PERSON, OF_CLOTHES, 2),
    (PERSONS, BUY, GOODS, OF_PERSON, OF_GOODS, 2),
    (PERSONS, USE, TOOLS, OF_PERSON, OF_TOOL, 1),
    (PERSONS, READ, TEXTS, OF_PERSON, OF_TEXT, 2),
    (PERSONS, DO_TASK, TASKS + WORKS, OF_PERSON, OF_TASK, 1),
    (PERSONS, MEET, PERSONS, OF_PEERS_JUDGE, OF_PEER, 4),
]


def disjoint(row):
    """A situation whose adjectives say which of the two is meant: what both lists have goes to neither."""
    subjects, verbs, objects, of_subject, of_object, share = row
    both = set(of_subject) & set(of_object)
    return (list(dict.fromkeys(subjects)), verbs, list(dict.fromkeys(objects)), [a for a in of_subject if a not in both],
            [a for a in of_object if a not in both], share)


SITUATIONS = [disjoint(row) for row in SITUATIONS]
