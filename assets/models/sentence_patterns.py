"""Writes sentences/patterns.json: what the window's sentence builder offers, from the situations of the grammar.

  python3 assets/models/sentence_patterns.py

Each pattern is one situation: who, what was not done, to what, and why "it" was too … The program reads it with
core/model/files/sentence_patterns.h.
"""

import json
from pathlib import Path

import english_words
from english_sentences import SITUATIONS, pronoun_of

SENTENCE = "the {subject} did not {verb} the {object} because {pronoun} was too {adjective} ."
NAMES = {("animal", "animal"): "hunter and quarry", ("person", "thing"): "person and load"}
SINGULAR = {"people": "person"}
FOLDER = Path(__file__).parent / "sentences"


def kind_of(nouns):
    """The name of the smallest list of english_words that holds most of these nouns: "animal"; None if none does."""
    lists = {name: words for name, words in vars(english_words).items() if name.isupper() and isinstance(words, dict)}
    fitting = [name for name, words in lists.items() if 2 * sum(noun in words for noun in nouns) > len(nouns)]
    if not fitting:
        return None
    name = min(fitting, key=lambda each: len(lists[each])).lower()
    return SINGULAR.get(name, name.removesuffix("s"))


def name_of(situation, taken):
    """Two kinds of noun, "animal and place"; else two nouns, and then the verb too: no two patterns have one name."""
    subjects, verbs, objects = situation[:3]
    kinds = kind_of(subjects), kind_of(objects)
    nouns = f"{subjects[0]} and {objects[0]}"
    names = [NAMES.get(kinds, " and ".join(kinds) if all(kinds) else nouns), nouns, f"{nouns}: {verbs[0]}"]
    return next(name for name in names if name not in taken)


def patterns():
    made = []
    for situation in sorted(SITUATIONS, key=lambda each: -each[-1]):
        subjects, verbs, objects, of_subject, of_object, share = situation
        made.append({"name": name_of(situation, {each["name"] for each in made}), "share": share,
                     "subjects": list(dict.fromkeys(subjects)), "verbs": list(dict.fromkeys(verbs)),
                     "objects": list(dict.fromkeys(objects)), "of_subject": list(dict.fromkeys(of_subject)),
                     "of_object": list(dict.fromkeys(of_object))})
    return made


def pronouns(made):
    """The nouns that "it" does not stand for, by pronoun."""
    others = {}
    for noun in sorted({noun for each in made for noun in each["subjects"] + each["objects"]}):
        pronoun = pronoun_of(noun, False)
        if pronoun != "it":
            others.setdefault(pronoun, []).append(noun)
    return others


if __name__ == "__main__":
    made = patterns()
    text = json.dumps({"sentence": SENTENCE, "pronouns": pronouns(made), "patterns": made}, indent=1)
    (FOLDER / "patterns.json").write_text(text + "\n")
