"""Texts for `copycat`: random words in which stretches come again.

A text begins with <|endoftext|>. Then, by turns: some fresh words, or a copy of a stretch that stood earlier. Inside a copy, from
its second word on, the next word can be known, and only by finding where the words stood before.
"""

import random

END, UNKNOWN = 0, 1
SPECIALS = ["<|endoftext|>", "[UNK]"]
WORDS = """
apple apron arrow autumn bacon badge baker ball bamboo banjo barn basket beach beaver bell bench berry bird blanket boat
bottle branch bread breeze brick bridge broom brush bucket butter button cabin cactus camel candle canoe carpet carrot
castle cat cedar cello chain chair cheese cherry chimney circle cliff clock cloud clover coast coffee comb compass copper
coral corn cottage cotton cradle crane crayon creek cricket crown cup curtain daisy deer desk diamond dog dolphin donkey
door dragon drawer dream drum duck eagle earth elbow ember engine falcon feather fence fern ferry field finger fire fish
flag flame flute forest fork fossil fountain fox frog frost fruit garden garlic gate ginger glass globe glove goat gold
grape grass gravel guitar hammer harbor harp harvest hat hawk hazel hedge helmet hen hill honey hook horn horse house
ice ink iron island ivory ivy jacket jar jewel jungle kettle key kitchen kite knife ladder lake lamp lantern leaf lemon
lens letter lily lime lion lizard lock maple marble market meadow melon mill mint mirror mole monkey moon moss moth
mountain mouse nail napkin needle nest night north novel nut oak oasis ocean olive onion orange orchid otter oven owl
paint palace panda paper parrot path peach pearl pebble pencil pepper piano pigeon pillow pine planet plate plum pocket
pond pony poppy potato prairie prism pumpkin quartz quilt rabbit radio rain raven ribbon rice ring river road robin rock
roof rope rose ruby saddle sail salmon salt sand scarf school sea seal seed shadow shark sheep shell ship shoe silk
silver sky sled smoke snail snow soap soup south spade spark spider spoon spring squirrel stable star statue stone storm
straw street sugar summer sun swan table tail tea temple tent thunder tiger toast tomato torch tower town train tree
truck tulip tunnel turtle valley vase velvet village vine violet violin wagon wall walnut water wave wheat wheel whistle
willow wind window winter wolf wood wool yard zebra
""".split()
VOCABULARY = SPECIALS + WORDS
assert len(set(VOCABULARY)) == len(VOCABULARY)

UNKNOWN_SHARE = 0.01  # of fresh words, so that [UNK] has an embedding that was trained


def fresh_word(rng):
    return UNKNOWN if rng.random() < UNKNOWN_SHARE else rng.randrange(len(SPECIALS), len(VOCABULARY))


def repeating_text(rng, length, echo_share=0.0):
    """(ids, known): `known[i]` says that word i can be known from what stands before it. Of the fresh words, `echo_share` are
    the word before the last one again, "rain moon rain"."""
    ids, known = [END], [False]
    while len(ids) < length:
        if len(ids) > 6 and rng.random() < 0.6:
            span = rng.randint(4, min(24, len(ids) - 1))
            start = rng.randint(1, len(ids) - span)
            ids += ids[start:start + span]
            known += [False] + [True] * (span - 1)
        else:
            span = rng.randint(3, 12)
            for _ in range(span):
                echo = len(ids) > 2 and rng.random() < echo_share
                ids.append(ids[-2] if echo else fresh_word(rng))
            known += [False] * span
    return ids[:length], known[:length]


def twice_told_text(rng, stretch):
    """`stretch` different words, then the same once more: (ids), for measuring heads. Word i (1-based) comes again at
    i + stretch."""
    words = rng.sample(range(len(SPECIALS), len(VOCABULARY)), stretch)
    return [END] + words + words


if __name__ == "__main__":
    print(" ".join(VOCABULARY[i] for i in repeating_text(random.Random(1), 64)[0]))
