"""A cryptographic stream of random numbers inside kernels: ChaCha20 (RFC 8439, section 2.3).

A stream is a uint32 array of STATE words: 16 of cipher state (constants, 256-bit key, 64-bit block
counter, 64-bit nonce), 16 of the current block, and the number of words already taken from it. The
key comes from the operating system's secure source; whoever does not have it cannot tell the stream
from random bits, so what is chosen by it is as unpredictable as the operating system's own numbers.
The key is used for one stream and forgotten.
"""

import os

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compiling import inner_as, lean_as

STATE = 33
Stream = NDArray[np.uint32]


def fresh_stream() -> Stream:
    """Return a stream keyed by 256 bits from the operating system."""
    return stream_of(os.urandom(32))


def stream_of(key: bytes) -> Stream:
    """Return the stream of a 32-byte key (repeatable: for tests, and for releases that say so)."""
    if len(key) != 32:
        msg = f"A key has 32 bytes. Got {len(key)}."
        raise ValueError(msg)
    stream = np.zeros(STATE, np.uint32)
    stream[:4] = np.frombuffer(b"expand 32-byte k", "<u4")
    stream[4:12] = np.frombuffer(key, "<u4")
    stream[32] = 16
    return stream


@inner_as("void(uint32[::1], int64, int64, int64, int64)")
def quarter_round(x, a, b, c, d):
    """Mix four words of a block (RFC 8439, section 2.1)."""
    x[a] += x[b]
    x[d] ^= x[a]
    x[d] = (x[d] << np.uint32(16)) | (x[d] >> np.uint32(16))
    x[c] += x[d]
    x[b] ^= x[c]
    x[b] = (x[b] << np.uint32(12)) | (x[b] >> np.uint32(20))
    x[a] += x[b]
    x[d] ^= x[a]
    x[d] = (x[d] << np.uint32(8)) | (x[d] >> np.uint32(24))
    x[c] += x[d]
    x[b] ^= x[c]
    x[b] = (x[b] << np.uint32(7)) | (x[b] >> np.uint32(25))


@lean_as("void(uint32[::1])")
def next_block(stream):
    """Fill the block of a stream (IN/OUT) and advance its counter."""
    block = stream[16:32]
    for word in range(16):
        block[word] = stream[word]
    for _ in range(10):
        for column in range(4):
            quarter_round(block, column, column + 4, column + 8, column + 12)
        for column in range(4):
            quarter_round(
                block, column, (column + 1) % 4 + 4, (column + 2) % 4 + 8, (column + 3) % 4 + 12
            )
    for word in range(16):
        block[word] += stream[word]
    stream[12] += np.uint32(1)
    if stream[12] == 0:
        stream[13] += np.uint32(1)
    stream[32] = 0


@lean_as("int64(uint32[::1], int64)")
def below(stream, bound):
    """Return a number uniform in 0..bound-1, exactly, for 1 <= bound <= 2^32.

    Words beyond the last whole multiple of `bound` are drawn anew.
    """
    whole = (np.int64(1) << 32) // bound * bound
    while True:
        if stream[32] == 16:
            next_block(stream)
        word = np.int64(stream[16 + stream[32]])
        stream[32] += np.uint32(1)
        if word < whole:
            return word % bound
