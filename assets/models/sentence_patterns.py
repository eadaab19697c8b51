"""Writes sentences/patterns.json: what the window's sentence builder offers, from the situations of the grammar.

  python3 assets/models/sentence_patterns.py

Each pattern is one situation: who, what was not done, to what, and why "it" was too … The program reads it with
core/model/files/sentence_patterns.h.
"""

import json
from pathlib import Path

from english_sentences import SITUATIONS
from english_words import pronouns_of

SENTENCE = "the {subject} did not {verb} the {object} because {pronoun} was too {adjective} ."
MOST_PATTERNS, MOST_WORDS = 20, 27
FIRST = """animal dog cat horse lion camel man woman boy girl mother father king queen teacher child street road river bridge lake
book ball key box""".split()
FOLDER = Path(__file__).parent / "sentences"


def name_of(situation, taken):
    """Two of its nouns; no two patterns have one name."""
    subject = some(situation[0])[0]
    names = [f"{subject} and {thing}" for thing in some(situation[2]) if thing != subject]
    return next(name for name in names if name not in taken)


def some(words):
    """A list that a person can look through: what everybody says first, then the first half as it stands, the rest from all."""
    words = [word for word in FIRST if word in words] + [word for word in dict.fromkeys(words) if word not in FIRST]
    if len(words) <= MOST_WORDS:
        return words
    rest = words[MOST_WORDS // 2:]
    count = MOST_WORDS - MOST_WORDS // 2
    return words[:MOST_WORDS // 2] + [rest[i * len(rest) // count] for i in range(count)]


def patterns():
    made = []
    for situation in sorted(SITUATIONS, key=lambda each: -each[-1])[:MOST_PATTERNS]:
        subjects, verbs, objects, of_subject, of_object, share = situation
        made.append({"name": name_of(situation, {each["name"] for each in made}), "share": share,
                     "subjects": some(subjects), "verbs": some(verbs),
                     "objects": some(objects), "of_subject": some(of_subject),
                     "of_object": some(of_object)})
    return made


def pronouns(made):
    """The nouns that "it" does not stand for, by pronoun."""
    others = {}
    for noun in sorted({noun for each in made for noun in each["subjects"] + each["objects"]}):
        pronoun = pronouns_of(noun)[0]
        if pronoun != "it":
            others.setdefault(pronoun, []).append(noun)
    return others


if __name__ == "__main__":
    made = patterns()
    text = json.dumps({"sentence": SENTENCE, "pronouns": pronouns(made), "patterns": made}, separators=(",", ":"))
    (FOLDER / "patterns.json").write_text(text + "\n")
