"""Small models in training, step by step."""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Iterator

from headwise.program import PathLike, program_path, refusal


@dataclass(frozen=True)
class TrainingStep:
    """A checkpoint of a training."""

    step: int
    loss: float  # of the batch of the last step
    held_out_loss: float
    held_out_accuracy: float  # from 0 to 1
    tokens_per_second: float
    strongest: dict[str, Any] | None  # the habit that stands out: habit, share, layer, head
    checkpoint: str  # a folder that `headwise.heads`, `headwise.trace` and `headwise.show` take


def train(task: str, folder: PathLike | None = None, *, steps: int = 500, every: int | None = None, **options: Any) -> Iterator[TrainingStep]:
    """Trains a small transformer, and gives a step for each checkpoint as it is written:

        for step in headwise.train("induction", "run", steps=200, every=20, heads=4, learning_rate=0.001):
            print(step.step, step.held_out_accuracy)

    `task` is one of `headwise list tasks`, or a text file; `folder` is kept (None: a new one in the system's temporary folder, which
    stays too). Options are those of `headwise train --help`, with _ for -: no_causal=True, freeze=["0.1", "1.2"]. To stop early, leave
    the loop: the training ends after its step, and `headwise train -o FOLDER --resume` goes on. Raises UsageError before the first step.
    """
    words = ["train", task, "-o", os.fspath(folder or tempfile.mkdtemp(prefix="headwise_training_")), "--steps", str(steps), "--json"]
    if every is not None:
        words += ["--every", str(every)]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, *map(str, value if isinstance(value, (list, tuple)) else [value])]
    return _steps(words)


def _steps(words: list[str]) -> Iterator[TrainingStep]:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        training = subprocess.Popen(
            [program_path(), *words], stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8"
        )
        assert training.stdout is not None
        try:
            for line in training.stdout:
                told = json.loads(line)
                if "step" not in told or told.pop("change"):
                    continue  # of a run beside this one
                yield TrainingStep(**{**told, **{name: float(told[name]) for name in ("loss", "held_out_loss", "held_out_accuracy")}})
            status = training.wait()
        finally:
            # With nobody to read its lines it ends after its step, with a checkpoint. It would not see a signal while it waits
            # for its lines to be read.
            training.stdout.close()
            training.wait()
        if status != 0:
            said.seek(0)
            raise refusal(status, said.read())
