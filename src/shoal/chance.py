"""Random orders from the operating system: the one secure source that searching and writing share.

Every order is the sorting order of 64 random bits a place straight from the operating system, so
no generator state exists that one could recover from what is published.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Orders = Callable[..., "list[NDArray[np.int64]]"]


def secure_orders(*sizes: int) -> list[NDArray[np.int64]]:
    """Return a random order of each of the given sizes, independent of one another."""
    return [
        np.argsort(np.frombuffer(os.urandom(8 * size), np.uint64), kind="stable") for size in sizes
    ]
