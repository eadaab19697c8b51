"""The words of the grammar in english_sentences.py, and the vocabulary that follows from them."""

# singular: plural
PEOPLE = {"man": "men", "woman": "women", "boy": "boys", "girl": "girls", "king": "kings", "queen": "queens",
          "teacher": "teachers", "doctor": "doctors", "farmer": "farmers", "singer": "singers", "child": "children",
          "sailor": "sailors", "painter": "painters", "nurse": "nurses", "guest": "guests", "writer": "writers"}
SHE = {"woman", "girl", "queen", "nurse", "singer", "teacher", "writer"}
ANIMALS = {"animal": "animals", "dog": "dogs", "cat": "cats", "horse": "horses", "fox": "foxes", "wolf": "wolves",
           "bear": "bears", "lion": "lions", "tiger": "tigers", "rabbit": "rabbits", "mouse": "mice", "goat": "goats",
           "cow": "cows", "pig": "pigs", "duck": "ducks", "goose": "geese", "hen": "hens", "bird": "birds",
           "camel": "camels", "monkey": "monkeys", "squirrel": "squirrels", "turtle": "turtles", "snake": "snakes",
           "donkey": "donkeys"}
PLACES = {"street": "streets", "road": "roads", "river": "rivers", "bridge": "bridges", "field": "fields",
          "garden": "gardens", "forest": "forests", "valley": "valleys", "canal": "canals", "park": "parks",
          "path": "paths", "yard": "yards", "beach": "beaches", "tunnel": "tunnels", "lake": "lakes", "square": "squares",
          "market": "markets", "desert": "deserts", "meadow": "meadows", "track": "tracks"}
THINGS = {"key": "keys", "book": "books", "ball": "balls", "lamp": "lamps", "chair": "chairs", "cup": "cups",
          "plate": "plates", "clock": "clocks", "hat": "hats", "shoe": "shoes", "guitar": "guitars", "picture": "pictures",
          "trophy": "trophies", "letter": "letters", "vase": "vases", "toy": "toys", "coat": "coats", "drum": "drums"}
CONTAINERS = {"cabinet": "cabinets", "box": "boxes", "bag": "bags", "suitcase": "suitcases", "drawer": "drawers",
              "basket": "baskets", "car": "cars", "boat": "boats", "room": "rooms", "cupboard": "cupboards",
              "van": "vans", "chest": "chests", "pocket": "pockets", "trunk": "trunks"}
FOODS = {"apple": "apples", "pear": "pears", "cake": "cakes", "pie": "pies", "soup": "soups", "carrot": "carrots",
         "cheese": "cheeses", "egg": "eggs", "fish": "fishes", "berry": "berries", "potato": "potatoes", "nut": "nuts"}
NOUNS = {**PEOPLE, **ANIMALS, **PLACES, **THINGS, **CONTAINERS, **FOODS}

NAMES = """anna bob carla david emma frank greta henry irene jack karen leo mary nina oscar paul rosa simon tina victor
wanda alice peter laura tom sarah john lucy mark helen george julia""".split()

BEFORE_NOUN = "old young little black white brown red blue green new".split()
# Whether "it" was too … : these speak of the one who would have acted,
OF_SUBJECT = "tired hungry sleepy weak lazy scared sick shy ill afraid".split()
# and these of what it would have been done to.
OF_PLACE = "wide busy dark muddy icy steep noisy crowded narrow dangerous wet long".split()
OF_QUARRY = "fast quick strong wild clever dangerous".split()
OF_FOOD = "sour hot cold salty bitter rotten hard".split()
OF_LOAD = "heavy hot dirty wet dangerous cold".split()
TOO_LARGE = "big large thick tall".split()  # for where it should have gone
TOO_SMALL = "small tiny narrow short".split()  # for what should have gone in
STATES = "rusty old new clean dirty ready here there good bad cheap gone lost safe empty heavy cold big small".split()

VISIT = "cross enter visit reach leave".split()
HUNT = "chase catch bite follow fight attack".split()
EAT = "eat taste finish want".split()
CARRY = "lift carry push move hold".split()
FIT_INTO = "fit into|fit in|go into".split("|")

AGREEING = [("is", "are"), ("was", "were"), ("has been", "have been"), ("seems", "seem"), ("looks", "look"),
            ("remains", "remain")]
LIKING = [("likes", "like"), ("sees", "see"), ("wants", "want"), ("knows", "know"), ("needs", "need")]
BESIDE = "to near behind on under beside with in".split()
AFTER_SUBJECT = "slept|rested|waited|went home|sat down".split("|")
AFTER_PLACE = "stayed empty|stayed quiet|was closed".split("|")
ABOUT = "we talked about|everyone looked at|nobody liked|they told us about|i drew|we laughed about|i wrote about".split("|")
OPENING = "yesterday|today|in the morning|in the evening|at night|last week".split("|")
GIFTS = "gave sent showed sold".split()
WENT = "went to|came to|walked to|met in|were in".split("|")

PRONOUNS = ["it", "he", "she", "they"]
PUNCTUATION = [".", ",", ":", "(", ")", "[", "]", '"', "'", "?"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
FUNCTION_WORDS = """the and or did not didn t because since as too so very unlike near maybe said thanked that when""".split()


def vocabulary():
    """Specials first, then every word that the grammar can say, each once, sorted."""
    words = set(PRONOUNS) | set(PUNCTUATION) | set(FUNCTION_WORDS) | set(NAMES) | set(NOUNS) | set(NOUNS.values())
    lists = (BEFORE_NOUN, OF_SUBJECT, OF_PLACE, OF_QUARRY, OF_FOOD, OF_LOAD, TOO_LARGE, TOO_SMALL, STATES, VISIT, HUNT, EAT,
             CARRY, FIT_INTO, BESIDE, AFTER_SUBJECT, AFTER_PLACE, ABOUT, OPENING, GIFTS, WENT,
             [form for pair in AGREEING + LIKING for form in pair])
    for phrases in lists:
        for phrase in phrases:
            words.update(phrase.split())
    return SPECIALS + sorted(words)


VOCABULARY = vocabulary()
WORD_ID = {word: i for i, word in enumerate(VOCABULARY)}
PAD, UNK, CLS, SEP, MASK = range(5)
