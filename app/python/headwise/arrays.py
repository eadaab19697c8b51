"""Arrays between NumPy and the program's files: .npz, and .safetensors, which is mapped into memory."""
from __future__ import annotations

import json
import os
import zipfile
from typing import Any, Mapping

import numpy as np

from headwise.program import InputError, PathLike, UsageError

Array = np.ndarray[Any, np.dtype[Any]]

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
}


def write_arrays(path: PathLike, arrays: Mapping[str, Any]) -> None:
    """An uncompressed .npz of these arrays, under their names. Raises UsageError for what is no array of numbers."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            if not isinstance(name, str):
                raise UsageError(f"arrays: names were expected, got {name!r}: {{'query': …}}")
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, as_array(array, name), allow_pickle=False)


def as_array(array: Any, name: str) -> Array:
    """An array of numbers, also from a tensor of torch. Raises UsageError."""
    if hasattr(array, "detach"):
        from headwise import torch_modules

        array = torch_modules.to_array(array)
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise UsageError(f"{name}: a masked array was given, whose mask would be lost: fill it, or give attn_mask")
    try:
        made = np.asarray(array)
    except ValueError:
        made = np.empty((), object)
    if made.dtype.hasobject or made.dtype.kind not in "biuf":
        raise UsageError(f"{name}: an array of numbers was expected, got {type(array).__name__}")
    return made


def read_run(path: PathLike) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays of a run's file by name, read-only, and its records: scenario, tokens, warnings, origin.

    A .safetensors is mapped into memory, an .npz is read. Raises InputError for what is neither.
    """
    try:
        return _read_npz(path) if os.fspath(path).endswith(".npz") else _map_safetensors(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as damaged:
        raise InputError(f"{os.fspath(path)}: this is no file of a run, a .npz or .safetensors that headwise run writes: {damaged}") from None


def _read_npz(path: PathLike) -> tuple[dict[str, Array], dict[str, Any]]:
    arrays: dict[str, Array] = {}
    records: dict[str, Any] = {}
    with np.load(path) as stored:
        for name in stored.files:
            if name.startswith("__") and name.endswith("__"):
                records[name.strip("_")] = json.loads(bytes(stored[name]))
            else:
                arrays[name] = stored[name]
                arrays[name].flags.writeable = False
    return arrays, records


def _map_safetensors(path: PathLike) -> tuple[dict[str, Array], dict[str, Any]]:
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > size - 8:
            raise ValueError("its header is longer than the file")
        header = json.loads(file.read(length))
    records = {name.strip("_"): _record(text) for name, text in header.pop("__metadata__", {}).items()}
    whole = np.memmap(path, np.uint8, "r") if size > 8 + length else np.empty(0, np.uint8)
    arrays: dict[str, Array] = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = whole[begin if begin < end else 0 : end if begin < end else 0].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays, records


def _record(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
