"""Where another implementation differs, and why."""
from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence, Union

from headwise.arrays import write_arrays
from headwise.program import PathLike, UsageError, run_json
from headwise.request import Request, files_of, request_of
from headwise.traces import Trace

Theirs = Union[Mapping[str, Any], PathLike, Iterable[PathLike]]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two results, tensor by tensor in the order of computation."""

    agrees: bool
    tensor: str | None  # the first that differs
    cell: tuple[int, ...] | None  # where it differs most
    ours: float | None  # Headwise's number there
    theirs: float | None
    causes: list[str]  # mistakes that were found by computing: theirs agrees if …
    report: str  # all of it in words
    details: dict[str, Any] = field(repr=False)  # as `headwise compare --json` prints it

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        return self.report


def compare(
    mine: Any,
    theirs: Theirs,
    *,
    arrays: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    dtype: str | None = None,
    tolerance: float | None = None,
) -> Comparison:
    """Compares a trace or a scenario with the tensors of another program.

    `theirs` is a dict of arrays under Headwise's names ({"attn_weights": …, "output": …}), or files. A cell agrees if
    |ours − theirs| ≤ tolerance · max(|ours|, |theirs|, u), where u is the largest number of the tensor, at most 1. Where
    something differs, causes are searched by computing with one mistake at a time. True if everything agrees.
    """
    if isinstance(mine, Trace):
        if arrays:
            raise UsageError("compare: a trace has its arrays already: give arrays to headwise.trace")
        request = Request(str(mine.path), settings=dict(settings or {}), dtype=dtype or mine.dtype)
    else:
        request = request_of(mine, (), arrays, settings, dtype, {})
    return compare_request(request, theirs, tolerance)


def compare_request(request: Request, theirs: Theirs, tolerance: float | None) -> Comparison:
    with tempfile.TemporaryDirectory(prefix="headwise_") as folder:
        words = ["compare", *request.words(folder)]
        for file in _files(theirs, Path(folder)):
            words += ["--with", file]
        if tolerance is not None:
            words += ["--tolerance", repr(float(tolerance))]
        differs = 1
        details = run_json(words, given=request.text, accept=(0, differs))
    nothing: dict[str, Any] = {}
    first = next((entry for entry in details["tensors"] if entry["name"] == details.get("first_difference")), nothing)
    return Comparison(
        agrees=details["agrees"],
        tensor=details.get("first_difference"),
        cell=tuple(first["worst"]) if "worst" in first else None,
        ours=float(first["ours"]) if "ours" in first else None,
        theirs=float(first["theirs"]) if "theirs" in first else None,
        causes=[cause["cause"] for cause in details.get("likely_causes", [])],
        report=_without_files(details["text"]),
        details=details,
    )


def _without_files(report: str) -> str:
    """The report without its first line, which names the files that were compared: here they are nobody's."""
    return report.partition("\n\n")[2].strip()


def _files(theirs: Theirs, folder: Path) -> list[str]:
    if isinstance(theirs, Mapping):
        path = folder / "theirs.npz"
        write_arrays(path, theirs)
        return [str(path)]
    return files_of(theirs, "theirs")


def assert_attention_close(
    module: Any,
    *inputs: Any,
    like: Any = None,
    parameters: Mapping[str, str | Sequence[str]] | None = None,
    tolerance: float | None = None,
    **keywords: Any,
) -> None:
    """Fails where a torch module's result is not that of multi-head attention, with the first tensor that differs, its cell and
    the likely cause: for pytest.

        headwise.assert_attention_close(module, query, key, value)                 # an nn.MultiheadAttention, or a subclass
        headwise.assert_attention_close(mine, x, like=nn.MultiheadAttention(64, 8)) # what it should be, with its own parameters
        headwise.assert_attention_close(mine, x, like=reference, parameters={"in_proj_weight": "qkv.weight"})
        headwise.assert_attention_close(mine, x, like=reference, parameters={"in_proj_weight": ["q.weight", "k.weight", "v.weight"]})
        headwise.assert_attention_close(mine, x, like={"attention": {"embed_dim": 64, "num_heads": 8, "num_kv_heads": 2, "bias": False}},
                                        parameters={"q_proj_weight": "q.weight", …})   # what nn.MultiheadAttention has not

    The module is called with these arguments, without gradients, and gives the output, or (output, weights). `like` is the
    nn.MultiheadAttention that it should equal, or a scenario: grouped heads, rotated positions, a causal mask; `parameters` says which of PyTorch's parameters stands where in the module, in
    place of those of `like`; several are taken one below the other. The tolerance is that of `compare`, 0.002 for float16 and 0.02 for
    bfloat16. The module's training state is not changed; in training with dropout, call module.eval() first.
    Raises AssertionError, and what `trace` raises.
    """
    from headwise import torch_modules

    request, theirs, usual = torch_modules.checked_call(module, inputs, keywords, like, parameters or {})
    found = compare_request(request, theirs, usual if tolerance is None else tolerance)
    if not found.agrees:
        raise AssertionError(f"{type(module).__name__} differs from multi-head attention\n{found.report}")
