"""A keyed permutation of the numbers of 62 bits, so that numbers are unique and tell nothing.

A Feistel network of ROUNDS rounds whose round function is a block of ChaCha20 under a secret key:
whoever does not have the key cannot tell it from a permutation drawn at random (Luby, Rackoff 1988;
four rounds would do). Different numbers stay different, whoever permutes them.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.chacha import next_block, stream_of
from shoal.kernels.compiling import lean_as

ROUNDS = 8
HALF = 31  # bits


def permuted(key: bytes, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers of 62 bits, each replaced by the one that a key of 32 bytes puts there."""
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < 1 << 2 * HALF:
        msg = "Only numbers of 62 bits are permuted."
        raise ValueError(msg)
    found = np.ascontiguousarray(numbers, np.int64).copy()
    permute(stream_of(key), found)
    return found


@lean_as("void(uint32[::1], int64[::1])")
def permute(stream, numbers):
    """Permute numbers (IN/OUT) under the key of a stream, whose counter and nonce are used up."""
    mask = (np.int64(1) << HALF) - 1
    for place in range(len(numbers)):
        left, right = numbers[place] >> HALF, numbers[place] & mask
        for turn in range(ROUNDS):
            stream[12] = np.uint32(right)
            stream[13] = np.uint32(0)
            stream[14] = np.uint32(turn)
            next_block(stream)
            left, right = right, left ^ (np.int64(stream[16]) & mask)
        numbers[place] = (left << HALF) | right
