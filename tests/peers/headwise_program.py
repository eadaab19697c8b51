"""Runs `headwise run` on arrays in memory, and measures how far two arrays are apart."""
import json, math, os, subprocess, tempfile

import numpy as np


class Headwise:
    """The program, with a folder of its own for what it reads and writes."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.folder = tempfile.TemporaryDirectory()

    def run(self, scenario, arrays, dtype="f64", backward=False, only=()):
        """(the tensors by name, "") or (None, "exit N: the line on stderr")"""
        path = lambda name: os.path.join(self.folder.name, name)
        with open(path("scenario.json"), "w") as file:
            json.dump(scenario, file)
        np.savez(path("inputs.npz"), **arrays)
        words = [self.program, "run", path("scenario.json"), "--input", path("inputs.npz"), "--dtype", dtype, "-o",
                 path("ours.npz")]
        words += ["--backward"] if backward else []
        words += ["--only", ",".join(only)] if only else []
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode != 0:
            return None, f"exit {run.returncode}: {run.stderr.strip()}"
        with np.load(path("ours.npz")) as file:
            return {name: file[name] for name in file.files}, ""


def difference(ours, theirs, least_scale=0.0):
    """Largest |ours − theirs| of the finite cells over the largest |theirs|, or over least_scale where that is larger.
    Infinite where the shapes disagree, or where a cell is NaN or infinite in one and not the same in the other."""
    if ours.shape != theirs.shape:
        return math.inf
    finite = np.isfinite(theirs)
    if not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True) or not np.isfinite(ours[finite]).all():
        return math.inf
    if not finite.any():
        return 0.0
    apart = np.max(np.abs(ours[finite].astype(np.float64) - theirs[finite].astype(np.float64)))
    return float(apart / max(np.max(np.abs(theirs[finite])), least_scale, 1e-300))
