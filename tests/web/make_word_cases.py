#!/usr/bin/env python3
"""Makes the cases of check_words.js from what the program itself says.

    make_word_cases.py PROGRAM > word_cases.json      small scenarios, kept beside this file
    make_word_cases.py PROGRAM --lessons > FILE       every text of the built-in lessons, on their scenarios
"""
import json
import pathlib
import re
import sys

import word_probe as probe
from word_facts import FACTS, GIVEN, KEYS, SCENARIOS, TEXTS

LESSONS = pathlib.Path(__file__).resolve().parents[2] / "assets/lessons"
# What a page in a browser does not compute
NOT_HERE = re.compile(r"layouts output|wide (?:output|scores|grad\.[a-z_]+)|trained (?:step|loss|accuracy)"
                      r"|(?:turn|stretch) -?\d+|habit [a-z]+(?:_[a-z]+)? \d+")


def small_cases(program, folder):
    cases = {"scenarios": {}, "texts": [], "keys": [], **FACTS}
    for name, described in SCENARIOS.items():
        page = {key: described[key] for key in ("scenario", "set")}
        scenario = probe.trace_of(program, page, folder, described.get("only"))
        scenario["given"] = probe.given(program, page, GIVEN.get(name, []), folder)
        cases["scenarios"][name] = scenario
        said = probe.texts_told(program, [(page, TEXTS[name])], folder)[0]
        cases["texts"] += [[name, text, says] for text, says in zip(TEXTS[name], said)]
        for answer in KEYS.get(name, []):
            steps = {"step": "softmax", "veil": True} if answer["kind"] == "mask" else {}
            cases["keys"].append([name, answer, probe.key_told(program, {**page, **steps}, answer, folder)])
    return cases


def lesson_texts(page):
    answer = page.get("answer", {})
    options = answer.get("options", [])
    texts = [page.get("ask"), page.get("caption"), page.get("notes"), answer.get("why")]
    texts += [option.get(key) for option in options for key in ("text", "why")]
    texts += ["{if " + option["is"] + ": true | else: false}" for option in options]
    return [text for text in texts if text]


def lesson_cases(program, folder):
    cases = {"scenarios": {}, "texts": [], "keys": []}
    for path in sorted(LESSONS.glob("*.json")):
        base = {"scenario": "hand_made", "set": []}
        for number, page in enumerate(json.loads(path.read_text())["pages"], 1):
            if "scenario" in page:
                base = {"scenario": page["scenario"], "set": []}
            base = {**base, "set": base["set"] + page.get("set", [])}
            name = f"{path.stem} {number}"
            texts = lesson_texts(page)
            quantities = sorted(set(NOT_HERE.findall(json.dumps(page))))
            scenario = probe.trace_of(program, base, folder)
            scenario["given"] = probe.given(program, base, quantities, folder)
            cases["scenarios"][name] = scenario
            said = probe.texts_told(program, [(base, texts)], folder)[0]
            cases["texts"] += [[name, text, says] for text, says in zip(texts, said)]
            if "answer" in page:
                place = {key: page[key] for key in ("step", "view", "veil", "head") if key in page}
                told = probe.key_told(program, {**base, **place}, page["answer"], folder)
                cases["keys"].append([name, page["answer"], told])
    return cases


def write(cases, file):
    """One line for each scenario and each case."""
    scenarios = ",\n".join(f"{line(name)}: {line(each)}" for name, each in cases["scenarios"].items())
    lists = [f"{line(kind)}: [\n" + ",\n".join(map(line, each)) + "]"
             for kind, each in cases.items() if kind != "scenarios"]
    file.write('{"scenarios": {\n' + scenarios + "},\n" + ",\n".join(lists) + "}\n")


def line(value):
    return json.dumps(value, ensure_ascii=False)


def main():
    make = lesson_cases if "--lessons" in sys.argv else small_cases
    with probe.folder() as folder:
        write(make(sys.argv[1], folder), sys.stdout)


main()
