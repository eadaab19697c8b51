"""Arrays between NumPy and the program's files: .npz, and .safetensors, which is mapped into memory."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping

import numpy as np

from headwise.program import InputError, PathLike

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
    """An uncompressed .npz of these arrays, under their names."""
    named: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    np.savez(path, **named)


def read_run(path: PathLike) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays of a run's file by name, read-only, and its records: scenario, tokens, warnings, origin.

    A .safetensors is mapped into memory, an .npz is read. Raises InputError for what is neither.
    """
    return _read_npz(path) if os.fspath(path).endswith(".npz") else _map_safetensors(path)


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
            raise InputError(f"{os.fspath(path)}: this is no file of a run: a .npz or .safetensors of headwise run was expected")
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
