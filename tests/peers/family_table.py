#!/usr/bin/env python3
"""What Headwise makes of the attention layers of each family of transformers, as a Markdown page.

    python3 tests/peers/compare_with_transformers.py build/release/headwise --no-variants --json told.json
    python3 tests/peers/family_table.py told.json > docs/families.md

A family stands once, by the layer that fares worst: a layer that is different without a word before a refused one, that before a told
one, and that before an equal one. tests/structure/family_table_test.cpp holds the page to tests/golden/layers/outcomes.json, where
layers of some families are kept with what transformers made of them.
"""
import collections, datetime, json, re, sys, textwrap

WORDS = {"EQUAL": "equal", "UNKNOWN": "equal", "WARNED": "equal", "TOLD": "told", "VAGUE": "told", "REFUSED": "refused",
         "SILENT": "different", "CRASHED": "different", "NO JUDGE": "not judged"}
WORST_FIRST = ["different", "refused", "told", "equal", "not judged"]
MEANING = {
    "equal": "Weights within 1e-5 and the output within 1e-4 of transformers' own, in every layer and head that could be compared.",
    "told": "All layers are computed, at least one differs, and a warning says so.",
    "refused": "At least one layer is not computed; a sentence says why.",
    "different": "At least one layer differs without a word.",
    "not judged": "Layers that Headwise sees, in models whose attention weights transformers does not return.",
}


NAMES = {"told": "different with a warning"}


def reason_of(layer):
    """What is told of a layer, in a few words: a cause if there is one, else that its type is not known."""
    sentences = [re.sub(r"\s+", " ", line).replace("|", "/") for line in layer["remark"].splitlines()]
    sentences = [re.sub(r"^.*?headwise: (warning: |error: )?", "", text) for text in sentences if "headwise: " in text] or sentences
    sentences = [re.sub(r"(/\S*/)?config\.json: ", "", text) for text in sentences]
    unknown = [text for text in sentences if "is not known" in text]
    causes = [text for text in sentences if text not in unknown and "the files have" not in text]
    if not causes:
        return "its model_type is not known"
    text = re.sub(r"^\S*/(model\.safetensors|[^/ ]+): ", "", causes[0])
    return text if len(text) <= 120 else text[:118].rsplit(" ", 1)[0] + " …"


def main():
    with open(sys.argv[1]) as file:
        all_told = json.load(file)
    families, statuses = collections.defaultdict(list), {}
    for told in all_told:
        statuses[told["model_type"]] = told["status"]
        # Layers that keep a state instead of weights have no arrays of attention.
        families[told["model_type"]] += [x for x in told["layers"] if "none of its attention arrays is there" not in x["remark"]]
    rows = collections.defaultdict(list)
    for family, layers in sorted(families.items()):
        words = [WORDS[layer["outcome"]] for layer in layers]
        for word in WORST_FIRST:
            if word in words:
                equal = sum(w == "equal" for w in words)
                rows[word].append((family, equal, len(words), reason_of(layers[words.index(word)])))
                break
    import transformers
    from transformers.models.auto import modeling_auto
    writers = set(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) | set(modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)

    def counts_of(kept):
        numbers = {word: sum(kept(row[0]) for row in rows[word]) for word in ["equal", "told", "refused", "different", "not judged"]}
        return ", ".join(f"{number} {NAMES.get(word, word)}" for word, number in numbers.items() if number)

    print("# Families of models\n")
    print("What `headwise` makes of the attention layers of each family of models that transformers can make, compared with transformers' own")
    print("eager attention on small random models. A family is listed by its worst layer; the number after a name counts the layers compared. Made by")
    print(f"tests/peers/family_table.py with transformers {transformers.__version__} on {datetime.date.today()}: {counts_of(lambda family: True)}.")
    left = sorted(writers - {family for family, layers in families.items() if layers})
    print(f"Of the {len(writers)} families that write text (AutoModelForCausalLM or AutoModelForSeq2SeqLM loads them):\n"
          f"{counts_of(writers.__contains__)}, {len(left)} not compared.")
    for word in ["equal", "told", "refused", "different", "not judged"]:
        if not rows[word]:
            continue
        print(f"\n## {NAMES.get(word, word).capitalize()}\n\n{MEANING[word]}\n")
        if word in ("equal", "not judged"):
            names = ", ".join(f"{family}\N{NO-BREAK SPACE}({equal or total})" for family, equal, total, _ in rows[word]) + "."
            print(textwrap.fill(names, 140, break_long_words=False, break_on_hyphens=False).replace("\N{NO-BREAK SPACE}", " "))
            continue
        print("| family | equal layers | what is said of the first layer that is not equal |\n| --- | --- | --- |")
        for family, equal, total, reason in rows[word]:
            print(f"| {family} | {equal} of {total} | {reason} |")
    print("\n## Not compared\n\nFamilies that write text of which there is no layer to compare.\n")
    for meaning, is_one in (("Headwise recognises no attention layer", lambda status: status == "unrecognised"),
                            ("there is no attention", lambda status: status == "no attention"),
                            ("transformers could not make or run a small one", lambda status: status not in ("unrecognised", "no attention"))):
        names = [family for family in left if is_one(statuses.get(family))]
        if names:
            print(textwrap.fill(f"- {meaning}: {', '.join(names)}.", 140, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


main()
