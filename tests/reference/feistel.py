"""A Feistel network over 62 bits whose rounds are blocks of ChaCha20 (RFC 8439)."""

from __future__ import annotations

import struct

WORD = 2**32 - 1
HALF = 31


def _turned(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & WORD


def _quarter(x: list[int], a: int, b: int, c: int, d: int) -> None:
    for left, right, far, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[left] = (x[left] + x[right]) & WORD
        x[far] = _turned(x[far] ^ x[left], by)


def first_word(key: bytes, counter: int, nonce: int) -> int:
    """Return the first word of a block: 64 bits of counter, 64 of nonce."""
    begun = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key)]
    begun += [counter & WORD, counter >> 32, nonce & WORD, nonce >> 32]
    x = list(begun)
    for _ in range(10):
        for at in range(4):
            _quarter(x, at, at + 4, at + 8, at + 12)
        for at in range(4):
            _quarter(x, at, (at + 1) % 4 + 4, (at + 2) % 4 + 8, (at + 3) % 4 + 12)
    return (x[0] + begun[0]) & WORD


def permuted(key: bytes, number: int, rounds: int = 8) -> int:
    """Return the number that a key puts in place of a number of 62 bits."""
    left, right = number >> HALF, number & 2**HALF - 1
    for turn in range(rounds):
        left, right = right, left ^ (first_word(key, right, turn) & 2**HALF - 1)
    return left << HALF | right
