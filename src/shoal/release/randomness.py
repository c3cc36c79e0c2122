"""Where chance comes from: the operating system, or a seed for tests."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.chance import secure_orders
from shoal.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.kernels.chacha import Stream


@dataclass(frozen=True)
class Randomness:
    """Random orders; secure unless a seed is given."""

    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and self.seed < 0:
            msg = f"A seed is a whole number of at least 0. Got {self.seed}."
            raise UsageError(msg)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same orders again."""
        return self.seed is not None

    def permutations(self, *sizes: int) -> list[NDArray[np.int64]]:
        """Return a random order of each of the given sizes; secure ones are the system's own."""
        if self.seed is not None:
            generator = np.random.Generator(np.random.PCG64(self.seed))
            return [generator.permutation(size) for size in sizes]
        return secure_orders(*sizes)

    def below(self, *draws: tuple[int, int]) -> list[NDArray[np.int64]]:
        """Return for each (bound, count) so many numbers from 0 to under the bound, all alike.

        Secure: straight from the operating system, as the orders are. Words past the last whole
        multiple of the bound are drawn again, so that no number is likelier than another.
        """
        if self.seed is not None:
            generator = np.random.Generator(np.random.PCG64((self.seed, len(draws))))
            return [generator.integers(bound, size=count) for bound, count in draws]
        return [_secure_below(bound, count) for bound, count in draws]

    def stream(self) -> Stream:
        """Return a cryptographic stream for choices inside kernels, its key used for nothing else.

        Secure: the key is 256 bits from the operating system.
        """
        from shoal.kernels.chacha import fresh_stream, stream_of

        if self.seed is None:
            return fresh_stream()
        return stream_of(hashlib.sha256(f"shoal {self.seed}".encode()).digest())


def _secure_below(bound: int, count: int) -> NDArray[np.int64]:
    words = np.frombuffer(os.urandom(8 * count), np.uint64).copy()
    last = np.uint64(2**64 - 2**64 % bound - 1)
    while (over := np.flatnonzero(words > last)).size:
        words[over] = np.frombuffer(os.urandom(8 * over.size), np.uint64)
    return (words % np.uint64(bound)).astype(np.int64)
