"""Traces: every tensor of a pass through attention, where each number comes from, and pictures of it."""
from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from headwise.arrays import Array, read_run
from headwise.figures import Figure, export_words
from headwise.program import InputError, OutputError, PathLike, UsageError, run_json, run_program
from headwise.request import Given, Request, request_of


@dataclass(frozen=True)
class Provenance:
    """Where one number comes from. A box is a dict: the tensor, and for each axis the first index and the one after the last."""

    cell: str  # "scores[0,0,7,5]"
    value: float
    tokens: str  # "it → animal", or empty
    meaning: str  # a sentence, or empty
    formula: str
    note: str
    quantities: dict[str, float]  # "row maximum", "scale" …
    terms: list[dict[str, Any]]  # all: value, label, factors (tensor, index, value)
    sources: list[dict[str, Any]]  # boxes: tensor, begin, end
    feeds: list[dict[str, Any]]
    text: str  # as `headwise info --cell` prints it

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


class Trace(Mapping[str, Array]):
    """The tensors of a run by name, in the order of computation; read-only NumPy arrays, mapped from a file.

    Shapes are those of `headwise list tensors`: `attn_weights` is (N,H,L,S), `output` (N,L,E). Gradients are named
    `grad.NAME`, parameters as PyTorch names them.
    """

    def __init__(self, path: PathLike, dtype: str = "f32") -> None:
        self.path = Path(path)
        #: "f32" or "f64".
        self.dtype = dtype
        self._arrays, records = read_run(path)
        #: The scenario with the sizes of this run, as a dict.
        self.scenario: dict[str, Any] = records.get("scenario") or {}
        #: The labels of rows and columns: {"query": […], "key": […]}.
        self.tokens: dict[str, list[str]] = records.get("tokens") or {}
        #: What the program remarked on.
        self.warnings: list[str] = records.get("warnings") or []

    def __getitem__(self, name: str) -> Array:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"{name}: this trace has {', '.join(self._arrays)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def provenance(self, tensor: str, cell: Sequence[int]) -> Provenance:
        """Where the number of a cell comes from: `trace.provenance("scores", (0, 0, 7, 5))`.

        Indices count from 0, one for each axis. Raises UsageError for what is no cell of the run.
        """
        try:
            name = f"{tensor}[{','.join(str(int(index)) for index in cell)}]"
        except (TypeError, ValueError):
            raise UsageError(f"provenance: an index for each axis was expected, such as (0, 0, 7, 5), got {cell!r}") from None
        told = run_json(["info", str(self.path), "--cell", name, "--dtype", self.dtype])
        told["cell"] = name
        # Infinities and NaN are text there.
        told["value"] = float(told["value"])
        told["quantities"] = {what: float(value) for what, value in told["quantities"].items()}
        for term in told["terms"]:
            term["value"] = float(term["value"])
            for factor in term["factors"]:
                factor["value"] = float(factor["value"])
        return Provenance(**told)

    def figure(
        self,
        tensor: str,
        *,
        head: int | str | None = None,
        batch: int | None = None,
        theme: str | None = None,
        colormap: str | None = None,
        range: tuple[float, float] | str | None = None,
        scale: float | None = None,
        title: str | None = None,
        bar_label: str | None = None,
        font_size: float | None = None,
    ) -> Figure:
        """A heatmap of a tensor: shown in a notebook with a tooltip for each cell, and saved by `.save("map.pdf")`.

        `head` is a number (None: 0) or "all", `range` (lo, hi), "own" or "shared", `scale` the pixels of a cell, `theme` light, dark or
        projector (in a notebook None is as the page is). See `headwise export --help`.
        """
        if range is not None and not isinstance(range, str):
            try:
                low, high = map(float, range)
            except (TypeError, ValueError):
                raise UsageError(f"range: (lo, hi), 'own' or 'shared' was expected, got {range!r}") from None
            range = f"{low!r}:{high!r}"
        return Figure(
            self,
            ["export", str(self.path), "--dtype", self.dtype, "--tensor", str(tensor)]
            + (["--backward"] if str(tensor).startswith("grad.") else [])
            + export_words(
                head=head,
                batch=batch,
                colormap=colormap,
                range=range,
                scale=scale,
                title=title,
                bar_label=bar_label,
                font_size=font_size,
            ),
            theme,
        )

    def save(self, path: PathLike) -> None:
        """A copy of the file of this run (.safetensors), which `headwise FILE` opens in the window.

        Raises UsageError for another extension.
        """
        if Path(path).suffix != self.path.suffix:
            raise UsageError(f"save: {os.fspath(path)}: a name that ends in {self.path.suffix} was expected")
        if not self.path.exists():
            raise InputError(f"{self.path}: the trace's file is gone")
        try:
            shutil.copyfile(self.path, path)
        except OSError as refused:
            raise OutputError(f"{os.fspath(path)}: the file could not be written: {refused.strerror}") from None

    # A trace cannot be changed, and its file is one.
    def __copy__(self) -> "Trace":
        return self

    def __deepcopy__(self, memo: Any) -> "Trace":
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a Trace is not pickled, because its numbers are in a file: Trace.save, and headwise.open_trace there")

    def __repr__(self) -> str:
        lines = [f"{name:24} {str(array.shape):20} {array.dtype}" for name, array in self.items()]
        return "\n".join([f"<headwise.Trace of {len(self)} tensors>", *lines])

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(str(array.shape))}</td><td>{array.dtype}</td></tr>"
            for name, array in self.items()
        )
        return f"<table><thead><tr><th>tensor</th><th>shape</th><th>dtype</th></tr></thead><tbody>{rows}</tbody></table>"


def trace(
    x: Any,
    *inputs: Any,
    arrays: Given = None,
    settings: Mapping[str, Any] | None = None,
    dtype: str | None = None,
    backend: str = "reference",
    backward: bool = False,
    only: Sequence[str] = (),
    strict: bool = False,
    **keywords: Any,
) -> Trace:
    """Every tensor of a pass through attention.

    `x` is a scenario (a dict, a .json file, the name of a preset, the folder of a model), with `arrays` (a dict under
    PyTorch's names, or files) in place of what it would make; or a torch `nn.MultiheadAttention`,
    `F.scaled_dot_product_attention` or an attention module of transformers, followed by the arguments that it would be called with:

        headwise.trace("welcome", settings={"mask.is_causal": True})
        headwise.trace({"attention": {"embed_dim": 64, "num_heads": 8}}, arrays={"query": query})
        headwise.trace(module, query, key, value, key_padding_mask=mask)
        headwise.trace(F.scaled_dot_product_attention, q, k, v, is_causal=True)
        headwise.trace(model.layers[0].self_attn, hidden_states, position_embeddings=(cosines, sines), attention_mask=None)

    `dtype` is "f32" or "f64" (None: f64 for double tensors of torch, else f32), `only` the names to keep, `backward` adds the
    gradients of the sum of grad_output · output. Raises UsageError, InputError or OutOfMemoryError with the program's sentence;
    what it remarks on is a HeadwiseWarning. A module is not changed.
    """
    if getattr(type(x), "__module__", "").startswith("transformers."):
        from headwise.recording import layer_alone

        with layer_alone(x, inputs, dict(keywords)) as request:
            return run(request.changed(arrays, settings, dtype), backend=backend, backward=backward, only=only, strict=strict)
    request = request_of(x, inputs, arrays, settings, dtype, keywords)
    return run(request, backend=backend, backward=backward, only=only, strict=strict)


def run(
    request: Request, *, backend: str = "reference", backward: bool = False, only: Sequence[str] = (), strict: bool = False
) -> Trace:
    """The same for a request."""
    folder = tempfile.mkdtemp(prefix="headwise_")
    try:
        path = Path(folder) / "trace.safetensors"
        words = ["run", *request.words(folder), "--backend", backend, "-o", str(path)]
        if backward:
            words.append("--backward")
        if strict:
            words.append("--strict")
        if isinstance(only, str):
            raise UsageError(f"only: a list of names was expected, got {only!r}: only=[{only!r}]")
        if only:
            words += ["--only", ",".join(only)]
        run_program(words, given=request.text)
        made = Trace(path, request.dtype)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(made, remove_folder, folder, os.getpid())
    # A number that nobody gave says nothing about a module or a model that ran.
    drawn = [warning for warning in made.warnings if "drawn at random" in warning]
    if drawn and request.is_complete:
        raise UsageError(f"this call cannot be traced: {drawn[0]}")
    return made


def remove_folder(folder: str, owner: int) -> None:
    """Removes a temporary folder; not in a forked child, whose copy of the trace is not the last."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def open_trace(path: PathLike, *, dtype: str = "f32") -> Trace:
    """A run that the program, the window or `Trace.save` has written (.npz or .safetensors)."""
    return Trace(path, dtype)
