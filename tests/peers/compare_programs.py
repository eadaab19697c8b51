#!/usr/bin/env python3
"""Holds `headwise compare` against programs that are wrong in one thing each, and against programs that are right.

    python3 tests/peers/compare_programs.py build/release/headwise [--right 300] [--seed 0] [--only NAME] [--verbose]

Each program of wrong_programs.py writes its tensors, all of them, the output alone and the weights alone; compare has to name
what is wrong, among the causes that it shows. The right ones are drawn at random (right_programs.py), in sizes, options, types
and layouts; none may differ. Needs numpy. Exit status 1 where a wrong program is missed or called something else, or a right
one is accused; 77 where there is no numpy.
"""
import argparse, json, os, re, resource, subprocess, sys, tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from numpy_attention import Attention, Case

SHOWN_CAUSES = 3  # as many as compare prints


class Compare:
    """Runs the program; keeps the longest that it took."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.folder = tempfile.TemporaryDirectory()
        self.slowest = 0.0

    def __call__(self, scenario, arrays, theirs, dtype="f64"):
        """(exit status, what it says)"""
        path = lambda name: os.path.join(self.folder.name, name)
        with open(path("scenario.json"), "w") as file:
            json.dump(scenario, file)
        np.savez(path("inputs.npz"), **arrays)
        if isinstance(theirs, bytes):
            with open(path("theirs.safetensors"), "wb") as file:
                file.write(theirs)
        else:
            np.savez(path("theirs.npz"), **theirs)
        seconds = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # of the processor
        begin = seconds()
        run = subprocess.run([self.program, "compare", path("scenario.json"), "--input", path("inputs.npz"), "--with",
                              path("theirs.safetensors" if isinstance(theirs, bytes) else "theirs.npz"), "--dtype", dtype,
                              "--json"], capture_output=True, text=True)
        self.slowest = max(self.slowest, seconds() - begin)
        return run.returncode, json.loads(run.stdout) if run.stdout else run.stderr.strip()


def files_of(wrong, right):
    """The files that a program may write: (what is in it, tensors), where they differ from those of the right one."""
    outputs = {n: x for n, x in wrong.items() if n in ("output", "residual_output", "layer_norm_output")}
    files = [("output", outputs), ("attn_weights", {"attn_weights": wrong["attn_weights"]}), ("all", wrong)]
    differs = lambda tensors: any(x.shape != right[n].shape or not np.allclose(x, right[n], rtol=1e-7, atol=1e-7, equal_nan=True)
                                  for n, x in tensors.items())
    return [(name, tensors) for name, tensors in files if differs(tensors)]


def wrong_programs(compare, programs, options):
    """How many (program, case, file) were named, missed and called something else."""
    named, missed, misnamed, names = 0, 0, 0, set()
    for program in programs:
        if options.only and options.only != program.__name__:
            continue
        bad = False
        for place, sizes in enumerate(program.CASES):
            for seed in range(options.draws):
                case = Case(np.random.default_rng((options.seed + seed, place)), **sizes)
                with np.errstate(all="ignore"):
                    right, wrong = Attention(case).run(), program(case).run()
                for file, tensors in files_of(wrong, right):
                    status, said = compare(case.scenario(), case.arrays, tensors)
                    causes = [c["cause"] for c in said["likely_causes"]][:SHOWN_CAUSES] if status == 1 else []
                    if any(re.search(program.NAMED, cause) for cause in causes):
                        named += 1
                        if options.verbose:
                            print(f"named     {program.__name__} ({file}): {causes[0]}")
                        continue
                    bad = True
                    if causes:
                        misnamed += 1
                    else:
                        missed += 1
                    print(f"{'MISNAMED' if causes else 'MISSED'}  {program.__name__}, {sizes}, {file}: status {status}; "
                          f"{causes if status == 1 else said}", flush=True)
        if not bad:
            names.add(program.__name__)
    return named, missed, misnamed, len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--right", type=int, default=300)
    parser.add_argument("--draws", type=int, default=2, help="times that the numbers of each case are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one wrong program")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    compare = Compare(options.program)
    from wrong_programs import PROGRAMS
    named, missed, misnamed, whole = wrong_programs(compare, PROGRAMS, options)
    count = 1 if options.only else len(PROGRAMS)
    print(f"{count} wrong programs, {whole} of them named in every file: {named} files named, {missed} missed, {misnamed} misnamed",
          flush=True)
    accused = 0
    if options.right and not options.only:
        from right_programs import draw_right_program
        for number in range(options.right):
            scenario, arrays, theirs, dtype, what = draw_right_program(options.seed, number)
            status, said = compare(scenario, arrays, theirs, dtype)
            if status == 0:
                continue
            accused += 1
            print(f"ACCUSED  right program {number}, {what}: status {status}; "
                  f"{[t for t in said['tensors'] if not t['agrees']][:1] if status == 1 else said}")
        print(f"{options.right} right programs, {accused} accused")
    print(f"the slowest compare took {compare.slowest:.2f} s of processor time")
    sys.exit(1 if missed or misnamed or accused else 0)


if __name__ == "__main__":
    main()
