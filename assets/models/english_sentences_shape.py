"""A sentence of the grammar, and which pairs of words are held out of the training."""

import zlib
from dataclasses import dataclass, field

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
