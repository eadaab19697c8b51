#!/usr/bin/python3
"""Makes the array files beside it with numpy (1.24): what numpy itself writes, in the forms that occur.

Every array holds the numbers 0, 1, 2 ... (bool: odd ones are True), so that the tests know what must come out.
"""
import pathlib
import struct

import numpy as np

here = pathlib.Path(__file__).parent


def counting(shape, dtype):
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    return (numbers % 2).astype(bool) if dtype == "bool" else numbers.astype(dtype)


for dtype in ["<f2", "<f4", "<f8", ">f4", ">f8", ">f2", "i1", "u1", "<i2", ">u2", "<i4", "<u4", ">i8", "<u8", "bool"]:
    name = dtype.replace("<", "le_").replace(">", "be_")
    np.save(here / f"{name}.npy", counting((2, 3), dtype))

np.save(here / "fortran.npy", np.asfortranarray(counting((2, 3, 4), "<f4")))
np.save(here / "fortran_big_endian.npy", np.asfortranarray(counting((3, 2), ">i4")))
np.save(here / "scalar.npy", np.float64(7))
np.save(here / "zero_size.npy", np.zeros((2, 0, 3), np.float32))
np.save(here / "object.npy", np.array([1, "two", None], dtype=object), allow_pickle=True)
np.save(here / "record.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save(here / "text.npy", np.array(["one", "two"]))
np.save(here / "complex.npy", counting((2,), "<c8"))
for version in [(2, 0), (3, 0)]:
    with open(here / f"version{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, counting((2, 3), "<f4"), version=version)

np.savez(here / "stored.npz", query=counting((2, 3), "<f4"), key=counting((4,), "<i4"), mask=counting((2, 2), "bool"))
np.savez_compressed(here / "deflated.npz", query=counting((20, 30), "<f8"), key=np.asfortranarray(counting((4, 2), "<f4")))
np.savez(here / "empty.npz")


def safetensors(name, header, data):
    """After the format section of the safetensors README: the length of the header, the header, the data."""
    header = header.encode()
    header += b" " * (-len(header) % 8)
    (here / name).write_bytes(struct.pack("<Q", len(header)) + header + data)


safetensors(
    "small.safetensors",
    '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},'
    '"b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},"c":{"dtype":"F16","shape":[],"data_offsets":[22,24]},'
    '"none":{"dtype":"F64","shape":[0,5],"data_offsets":[24,24]},"m":{"dtype":"BOOL","shape":[2],"data_offsets":[24,26]}}',
    np.arange(4, dtype="<f4").tobytes()
    + struct.pack("<3H", 0x3F80, 0xC000, 0x7F80)  # 1, -2, inf in bfloat16
    + np.float16(0.5).tobytes()
    + b"\x00\x01",
)
