"""The program that computes: where it is, how it is run, and its refusals as exceptions."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any, Mapping, Sequence, Union

PathLike = Union[str, "os.PathLike[str]"]


class HeadwiseError(Exception):
    """What the program refused, in its own sentence. `status` is its exit status."""

    status = 1


class UsageError(HeadwiseError, ValueError):
    """A scenario, a setting or a name is wrong."""

    status = 2


class InputError(HeadwiseError, ValueError):
    """A file is damaged, or its arrays disagree with the scenario."""

    status = 3


class OutputError(HeadwiseError, OSError):
    """The output could not be written."""

    status = 4


class OutOfMemoryError(HeadwiseError, MemoryError):
    """It would not fit in memory; known before anything was computed."""

    status = 5


class CancelledError(HeadwiseError):
    """The computation was cancelled."""

    status = 6


class NoDisplayError(HeadwiseError):
    """There is no display, or no usable GPU."""

    status = 7


class HeadwiseWarning(UserWarning):
    """What the program, or the reading of a torch module, remarks on; the computation goes on."""


#: The exceptions by exit status.
ERRORS: dict[int, type[HeadwiseError]] = {
    error.status: error
    for error in (UsageError, InputError, OutputError, OutOfMemoryError, CancelledError, NoDisplayError)
}


def program_path(but: str | None = None) -> str:
    """The program's file: $HEADWISE_PROGRAM, else the one of this package, else the first on the path.

    `but` is this package's own command, which would start itself for ever. Raises FileNotFoundError where there is none.
    """
    chosen = os.environ.get("HEADWISE_PROGRAM")
    if chosen and not (but and os.path.exists(chosen) and os.path.samefile(chosen, but)):
        return chosen
    packaged = Path(__file__).with_name("bin") / "headwise"
    if packaged.is_file():
        return str(packaged)
    # A script may be the own command of this package, of another Python.
    if (found := shutil.which("headwise")) and Path(found).read_bytes()[:4] == b"\x7fELF":
        return found
    raise FileNotFoundError(
        "headwise: the program is not part of this package and not on the path: install the wheel (pip install headwise), "
        "or set HEADWISE_PROGRAM to build/release/headwise of a checkout"
    )


def run_program(words: Sequence[str], *, given: str | None = None, accept: Sequence[int] = (0,)) -> str:
    """What `headwise WORD…` prints to standard output, with `given` as its standard input.

    Its warnings become HeadwiseWarning; an exit status that is not in `accept` raises the exception of that name, with the
    program's sentence.
    """
    result = subprocess.run(
        [program_path(), *(word.encode("utf-8", "surrogateescape") for word in words)],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    refused = refusal(result.returncode, result.stderr)
    if result.returncode in accept:
        return result.stdout
    raise refused


#: The command line's words, as they are called here.
_WORDS = (
    (re.compile(r"--set ([a-z_.]+)=(\S+?)(?=[,;:.)]?(?:\s|$))"), r"settings={'\1': '\2'}"),
    (re.compile(r"the --input files|--input files?"), "arrays="),
    (re.compile(r"--set\b"), "settings="),
    (re.compile(r"--with\b"), "theirs="),
    (re.compile(r"--(strict|backward)\b"), r"\1=True"),
    (re.compile(r"--(tolerance|only|dtype|backend)\b"), r"\1="),
)


def in_python(sentence: str) -> str:
    """A sentence of the program in the words of this module."""
    for word, here in _WORDS:
        sentence = word.sub(here, sentence)
    return sentence


def refusal(status: int, said: str) -> HeadwiseError:
    """The exception of an exit status, from what the program said on standard error; its warnings are given at once."""
    sentences = []
    for line in said.splitlines():
        sentence = line.removeprefix("headwise: ")
        if sentence.startswith("warning: "):
            warnings.warn(in_python(sentence.removeprefix("warning: ")), HeadwiseWarning, stacklevel=caller_level())
        elif sentence:
            sentences.append(in_python(sentence))
    return ERRORS.get(status, HeadwiseError)("\n".join(sentences) or f"headwise ended with status {status}")


def run_json(words: Sequence[str], *, given: str | None = None, accept: Sequence[int] = (0,)) -> Any:
    """The same, read as JSON."""
    return json.loads(run_program([*words, "--json"], given=given, accept=accept))


def caller_level() -> int:
    """How many frames up the first one outside of this package is: a warning shows that line."""
    import sys

    folder = str(Path(__file__).parent)
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folder):
        frame = frame.f_back
        level += 1
    return level


def plain(value: Any) -> Any:
    """What JSON has for a number or an array of NumPy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise UsageError(f"a number, a text, a list or a dict was expected in a scenario, got {type(value).__name__}")


def setting_words(settings: Mapping[str, Any] | None) -> list[str]:
    """{"mask.is_causal": True} as --set words."""
    words: list[str] = []
    for path, value in (settings or {}).items():
        words += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value, default=plain)}"]
    return words
