"""Some of many, drawn at random, and how far off what is measured on them may be.

What is drawn depends on no order of the rows: every row is as likely as any other. Chance comes
from the operating system unless a seed is given. Where all are taken, nothing is off.

Random orders are drawn from the one secure source that searching and writing share: each is the
sorting order of 64 random bits a place straight from the operating system, so no generator state
exists that one could recover from what is published.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import UsageError
from shoal.exact import percent

if TYPE_CHECKING:
    from numpy.typing import NDArray


Orders = Callable[..., "list[NDArray[np.int64]]"]


def secure_orders(*sizes: int) -> list[NDArray[np.int64]]:
    """Return a random order of each of the given sizes, independent of one another."""
    return [
        np.argsort(np.frombuffer(os.urandom(8 * size), np.uint64), kind="stable") for size in sizes
    ]


CONFIDENCE = 0.95
Z = 1.959963984540054  # the normal quantile that leaves 2.5 % on either side


def wilson(share: float, count: int, z: float = Z) -> tuple[float, float]:
    """Return Wilson's interval of a share that was found among so many, at 95% by default.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0.1, 100)]
    [0.055, 0.174]
    """
    width = 1 + z * z / count
    middle = (share + z * z / (2 * count)) / width
    half = z / width * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def newcombe(one: float, ones: int, other: float, others: int) -> tuple[float, float]:
    """Return Newcombe's interval of the difference of two shares, from Wilson's of each.

    Newcombe: Interval estimation for the difference between independent proportions. Statistics in
    Medicine 17 (1998), method 10.

    Examples
    --------
    >>> [round(end, 4) for end in newcombe(56 / 70, 70, 48 / 80, 80)]
    [0.0524, 0.3339]
    """
    (low, high), (least, most) = wilson(one, ones), wilson(other, others)
    difference = one - other
    return (
        difference - math.hypot(one - low, most - other),
        difference + math.hypot(high - one, other - least),
    )


@dataclass(frozen=True, eq=False)
class Sample:
    """Places drawn without repetition from 0 to under `whole`, ascending."""

    places: NDArray[np.int64]
    whole: int

    def __len__(self) -> int:
        return len(self.places)

    @property
    def complete(self) -> bool:
        """Whether all were taken."""
        return len(self) == self.whole

    def only(self, which: NDArray[np.bool_]) -> Sample:
        """Return those of the sample for whom something is so, as a sample of all of them.

        How many all of them are, the sample tells.
        """
        places = self.places[which]
        if self.complete:
            return Sample(places, len(places))
        return Sample(places, max(len(places), round(self.whole * len(places) / len(self))))

    @property
    def _left_out(self) -> float:
        """The factor of the variance that is left when a finite whole is drawn from."""
        return (self.whole - len(self)) / max(self.whole - 1, 1)

    def share_error(self, share: float) -> float | None:
        """Return how far the share in the whole is from that in the sample, at 95% confidence.

        The further end of Wilson's interval, so that a share of 0 or 1 is not taken for certain;
        None where all were taken.
        """
        if self.complete:
            return None
        if not len(self):
            return 1.0
        low, high = wilson(share, len(self), Z * math.sqrt(self._left_out))
        return max(high - share, share - low)

    def mean_error(self, values: NDArray) -> float | None:
        """Return the same for the mean of one value of each that was drawn.

        None where all were taken, and where fewer than two were: then nothing can be said.
        """
        if self.complete or len(values) < 2:
            return None
        spread = float(np.std(values, ddof=1))
        return Z * spread * math.sqrt(self._left_out / len(values))


def draw(whole: int, most: int, seed: int | None = None) -> Sample:
    """Draw so many at random, or take all where there are no more.

    Examples
    --------
    >>> draw(3, 5).places.tolist(), len(draw(100, 5))
    ([0, 1, 2], 5)
    """
    check_seed(seed)
    if whole <= most:
        return Sample(np.arange(whole), whole)
    chance = np.random.Generator(np.random.PCG64(seed))
    return Sample(np.sort(chance.choice(whole, most, replace=False)), whole)


def check_seed(seed: int | None) -> None:
    """Raise where a seed is none."""
    if seed is not None and seed < 0:
        msg = f"A seed is a whole number of at least 0. Got {seed}."
        raise UsageError(msg)


def within(error: float | None) -> str:
    """Return how far a share may be off, for behind it in a sentence; nothing where nothing is.

    Examples
    --------
    >>> within(0.0213), within(None)
    (' (± 2.1)', '')
    """
    return "" if error is None else f" (± {100 * error:.1f})"


def drawn_from(sample: Sample, what: str) -> str:
    """Say what was drawn, for the end of a sentence; nothing where all were taken.

    Examples
    --------
    >>> drawn_from(draw(3, 5), "people"), drawn_from(draw(1234, 5), "people")
    ('', ' Measured on 5 of 1,234 people, drawn at random; ± is the 95% margin of error.')
    """
    if sample.complete:
        return ""
    return (
        f" Measured on {len(sample):,} of {sample.whole:,} {what}, drawn at random; ± is the "
        f"{percent(CONFIDENCE, 0)} margin of error."
    )
