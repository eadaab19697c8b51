"""The random numbers of Headwise, made again: (seed, name, index) -> [0, 1), Philox4x32-10 (Salmon et al., SC 2011)."""

import numpy
import torch


def philox_bits(seed, stream, index):
    """64 random bits for each index (Salmon et al., SC 2011)."""
    low32 = numpy.uint64(0xFFFFFFFF)
    shift = numpy.uint64(32)
    index = numpy.asarray(index, dtype=numpy.uint64)
    counter = [index & low32, index >> shift, numpy.full_like(index, stream & 0xFFFFFFFF), numpy.full_like(index, stream >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a = counter[0] * numpy.uint64(0xD2511F53)
        b = counter[2] * numpy.uint64(0xCD9E8D57)
        counter = [(b >> shift) ^ counter[1] ^ numpy.uint64(key[0]), b & low32,
                   (a >> shift) ^ counter[3] ^ numpy.uint64(key[1]), a & low32]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter[0] | counter[1] << shift


def uniform(seed, name, count):
    stream = 0xCBF29CE484222325
    for byte in name.encode():
        stream = ((stream ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    bits = philox_bits(seed, stream, numpy.arange(count))
    return (bits >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53


def random_array(seed, name, shape, amplitude):
    """Multiples of amplitude/2048 in [-amplitude, amplitude): exact in float32 too."""
    cells = uniform(seed, name, int(numpy.prod(shape)))
    return torch.from_numpy((numpy.floor(cells * 4096) / 2048 - 1) * amplitude).reshape(shape)
