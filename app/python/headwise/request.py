"""What is to be computed, however it was named: a scenario with its arrays."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Mapping, Union

from headwise.arrays import write_arrays
from headwise.program import PathLike, UsageError, plain, setting_words

Given = Union[Mapping[str, Any], PathLike, Iterable[PathLike], None]


@dataclass
class Request:
    """A scenario as the program takes it; `arrays` are under PyTorch's names and override what it would make."""

    scenario: str  # a path, the name of a preset, or "-": `text`
    text: str | None = None
    arrays: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    dtype: str = "f32"
    is_complete: bool = False  # every array that the call reads is given

    def changed(self, arrays: Given, settings: Mapping[str, Any] | None, dtype: str | None) -> Request:
        """This request, with what was given besides. Raises UsageError."""
        if isinstance(arrays, Mapping):
            self.arrays.update(arrays)
        else:
            self.files += files_of(arrays, "arrays")
        self.settings.update(settings or {})
        if dtype is not None:
            self.dtype = dtype
        return self

    def words(self, folder: PathLike) -> list[str]:
        """The words after the command; the arrays are written into `folder`."""
        words = [self.scenario]
        if self.arrays:
            path = Path(folder) / "given.npz"
            write_arrays(path, self.arrays)
            words += ["--input", str(path)]
        for file in self.files:
            words += ["--input", file]
        return [*words, *setting_words(self.settings), "--dtype", self.dtype]


def request_of(
    x: Any,
    inputs: tuple[Any, ...],
    arrays: Given,
    settings: Mapping[str, Any] | None,
    dtype: str | None,
    keywords: Mapping[str, Any],
) -> Request:
    """Raises UsageError for what is neither a scenario nor an attention module."""
    if isinstance(x, (str, os.PathLike, Mapping)):
        if inputs or keywords:
            unexpected = next(iter(keywords), "a second positional argument")
            raise UsageError(f"trace: {unexpected}: a scenario takes its inputs as arrays={{'query': …}}")
        request = _scenario(x)
    else:
        from headwise import torch_modules  # which imports torch only if x comes from there

        request = torch_modules.request_of(x, inputs, dict(keywords))
    return request.changed(arrays, settings, dtype)


def _scenario(x: PathLike | Mapping[str, Any]) -> Request:
    if isinstance(x, Mapping):
        return Request("-", text=json.dumps(x, default=plain))
    path = os.fspath(x)
    return Request(os.path.join(".", path) if path.startswith("-") else path)


def files_of(given: Any, what: str) -> list[str]:
    """One path, several or none. Raises UsageError."""
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    if isinstance(given, Iterable):
        paths = list(given)
        if all(isinstance(path, (str, os.PathLike)) for path in paths):
            return [os.fspath(path) for path in paths]
    raise UsageError(f"{what}: a dict of arrays by name, or the paths of files, were expected, got {type(given).__name__}")
