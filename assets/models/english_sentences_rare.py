"""Replaces words of a sentence by rare or made-up ones, which are read in pieces."""

from english_words import *
from english_words_forms import plural
from english_words_rare import TRAINED

NOUN_SHARE, OTHER_SHARE = 0.6, 0.25
MADE_UP_SHARE = 0.3
KIND_OF = {}  # singular: kind of rare word
for _kind, _lists in {"person": [PERSONS], "animal": [ANIMALS, SMALL], "building": [BUILDINGS], "place": [PLACES],
                      "clothes": [CLOTHES], "container": [CONTAINERS], "food": [FOODS, STUFFS],
                      "thing": [THINGS, TOOLS, FURNITURE, MACHINES, PLANTS], "name": [NAMES]}.items():
    for _list in _lists:
        for _noun in _list:
            KIND_OF.setdefault(_noun, _kind)
SINGULAR = {form: noun for noun, form in NOUNS.items() if noun in KIND_OF}
# A rare noun is spoken of as "it" or as he or she like the one it replaces, so these stay.
GENDERED = set(HE) | set(SHE)
QUALITIES = set(BEFORE_NOUN) | set(OF_THINGS) | set(PERSONAL)
PASTS = {v.past for found, _ in OBJECTS_OF for v in found if not v.rest} - {"was", "put", "cut", "read", "hit", "shut", "had"}


ONSETS = "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sn sp st t th tr v w z".split()
NUCLEI = "a e i o u a e i o u ea ee oo ou ai".split()
BETWEEN_VOWELS = "b d f g k l m n p r s t v z bb dd gg ll mb mm nd nn nt pp rt st tt".split()
CODAS = "b d g k l m n p r s t x ck ll nd ng nk nt rd rk rn sh st".split()


def made_up(rng):
    """A word that nobody knows, such as "blonker" or "tramile"."""
    word = rng.choice(ONSETS) + rng.choice(NUCLEI)
    for _ in range(rng.choice([0, 1, 1, 2])):
        word += rng.choice(BETWEEN_VOWELS) + rng.choice(NUCLEI)
    return word + rng.choice([rng.choice(CODAS), rng.choice(CODAS), rng.choice(CODAS), "er", "le", "y", "in", "o", "ton", "ing"])


def replacement(rng, word, sentence):
    """What stands for a word from now on, or nothing."""
    if word in KIND_OF or word in SINGULAR:
        if rng.random() >= NOUN_SHARE:
            return None
        noun = SINGULAR.get(word, word)
        if noun in GENDERED:
            return None
        rare = made_up(rng) if rng.random() < MADE_UP_SHARE else rng.choice(TRAINED[KIND_OF[noun]])
        return plural(rare) if word in SINGULAR and word != noun else rare
    if word in QUALITIES and rng.random() < OTHER_SHARE:
        return rng.choice(TRAINED["quality"])
    if word in PASTS and rng.random() < OTHER_SHARE:
        return rng.choice(TRAINED["past"])
    return None


def with_rare_words(rng, sentence):
    """The sentence, changed in place; the word that decides (the adjective) stays."""
    stays = {sentence.words[sentence.roles[role]] for role in ("adjective",) if role in sentence.roles}
    found = {}
    for place, word in enumerate(sentence.words):
        if word not in found:
            found[word] = None if word in stays else replacement(rng, word, sentence)
        if found[word]:
            sentence.words[place] = found[word]
    if sentence.pronoun_means:
        sentence.pronoun_means = found.get(sentence.pronoun_means) or sentence.pronoun_means
    return sentence
