#!/usr/bin/env python3
"""Holds the PyTorch programs that `headwise train TASK -o FILE.py` writes against the trainings that they describe, in float64.

    python3 tests/peers/compare_training_programs.py build/release/headwise

For every task, and every option of the model and the optimiser: the losses of the first 50 steps, to 1e-9 of the first one.

Exit status 1 where the bound is not kept, 77 where there is no PyTorch.
"""
import argparse, csv, json, os, subprocess, sys, tempfile

try:
    import numpy, torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

STEPS, BOUND = 50, 1e-9
SMALL = "--width 16 --heads 4 --batch 12".split()

TASKS = ["induction", "previous-token", "reverse", "sort", "it-and-the-noun", "brackets", "modular-addition", "majority", "lookup",
         "text.txt", "task.json", "held_out.json", "induction --length 13 --symbols 9", "lookup --length 32 --symbols 9",
         "it-and-the-noun --symbols 5", "modular-addition --symbols 7", "majority --symbols 5", "brackets --symbols 4 --length 31"]
OPTIONS = ["--layers 1", "--layers 4", "--width 20 --heads 2", "--heads 1", "--heads 16", "--kv-heads 2", "--kv-heads 1", "--head-width 6",
           "--no-feed-forward", "--no-norms", "--positions none", "--positions sinusoidal", "--positions rotary",
           "--positions rotary --kv-heads 2", "--positions alibi", "--positions alibi --heads 6 --head-width 4",
           "--positions alibi --no-causal", "--no-causal", "--sliding-window 3", "--latents 16", "--latents 12 --positions rotary --sink",
           "--latents 20 --heads-begin-equal --freeze 0.1", "--latents 16 --no-out-projection --dropout 0.2",
           "--sliding-window 2 --no-causal --sink", "--no-scale", "--qk-norm", "--qk-norm --positions rotary --kv-heads 2", "--sink",
           "--sink --kv-heads 2 --no-causal", "--output-gate", "--output-gate --no-out-projection",
           "--output-gate --kv-heads 2 --head-width 6 --sink", "--positions relative_bias",
           "--positions relative_bias --no-causal --kv-heads 2", "--positions relative_bias --no-scale --heads-begin-equal --output-gate",
           "--positions relative_bias --freeze 0.1,1.1 --sink --output-gate", "--no-out-projection", "--tied", "--dropout 0.3",
           "--dropout 0.2 --kv-heads 2 --no-causal", "--heads-begin-equal", "--heads-begin-equal --kv-heads 2",
           "--heads-begin-equal-but-output", "--heads-begin-equal --no-out-projection", "--freeze 0.1,1.0",
           "--freeze 0.0,0.1 --kv-heads 2", "--freeze 1.3 --no-out-projection --optimiser momentum", "--optimiser sgd --learning-rate 0.1",
           "--optimiser momentum --learning-rate 0.02", "--optimiser adam", "--weight-decay 0 --clip 0", "--clip 0.1", "--warm-up 0",
           "--warm-up 5 --cosine 40", "--optimiser momentum --weight-decay 0.1 --clip 0.5", "--seed 12345678901"]


def write_tasks(folder):
    with open(os.path.join(folder, "text.txt"), "w", encoding="utf-8", newline="") as file:
        file.write("Der Käfer läuft über den Weg,\r\nund \"niemand\" sieht ihn.\n" * 30)
    pairs = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Ghana", "Accra"), ("Kenya", "Nairobi"), ("Peru", "Lima")]
    asked = [{"tokens": [a, "?"], "targets": [None, b]} for a, b in pairs] + [{"tokens": [a, "is", b, "."]} for a, b in pairs]
    task = {"headwise_task": 1, "name": "capitals \"é\"", "what": "Say the capital.", "layers": 2, "examples": asked}
    for name, more in (("task.json", {}), ("held_out.json", {"held_out": [{"tokens": ["say", "Peru", "?"], "targets": [None, None, "Lima"]}]})):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(task | more, file)


def judge(headwise, words, folder, number):
    """The largest difference of the losses."""
    run, program = os.path.join(folder, f"run{number}"), os.path.join(folder, f"program{number}.py")
    common = ["--steps", str(STEPS), "--dtype", "f64"]
    subprocess.run([headwise, "train", *words, "-o", run, *common], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    subprocess.run([headwise, "train", *words, "-o", program, *common], check=True, cwd=folder)
    printed = subprocess.run([sys.executable, program], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    theirs = [float(line.split()[1]) for line in printed.splitlines()]
    with open(os.path.join(run, "curve.csv")) as file:
        ours = [float(row["loss"]) for row in csv.DictReader(file)]
    assert len(ours) == len(theirs) == STEPS, (len(ours), len(theirs))
    return max(abs(a - b) for a, b in zip(ours, theirs)) / ours[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headwise", help="the program")
    parser.add_argument("--only", default="", help="cases that have this word")
    given = parser.parse_args()
    cases = [[*task.split(), *SMALL] for task in TASKS] + [["induction", *SMALL, *option.split()] for option in OPTIONS]
    cases = [words for words in cases if given.only in " ".join(words)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        write_tasks(folder)
        for number, words in enumerate(cases):
            # An option that is named twice counts once, as it stands last.
            for at in reversed(range(len(words))):
                if words[at].startswith("--") and words[at] in words[at + 1:]:
                    del words[at:at + 2]
            difference = judge(os.path.abspath(given.headwise), words, folder, number)
            failed += not difference <= BOUND
            print(f"{'ok' if difference <= BOUND else 'FAILED':7}{difference:.1e}  {' '.join(words)}", flush=True)
    print(f"{len(cases)} programs, {failed} failed")
    sys.exit(1 if failed else 0)


main()
