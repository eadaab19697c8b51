"""Writes and reads .safetensors: 8 bytes little-endian length, a JSON header of that length, the float32 data."""

import json
import math
import struct

import numpy
import torch


def write_safetensors(path, tensors, metadata):
    """`tensors` {name: float32 tensor}, `metadata` {key: text}. The header is padded so that the data begin at 8 bytes."""
    header, at = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        size = 4 * tensor.numel()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().numpy().astype("<f4").tobytes())


def read_safetensors(path):
    """({name: tensor}, metadata) of a file that write_safetensors wrote."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        count = math.prod(entry["shape"])
        array = numpy.frombuffer(data, "<f4", count, entry["data_offsets"][0]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(array.copy())
    return tensors, metadata
