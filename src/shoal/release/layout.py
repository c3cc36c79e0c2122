"""How what was found becomes published rows: whose cells each row bears, whose values it carries.

The one place that tells groups from a generalization graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.freeform.graph import GeneralizationGraph
from shoal.principles.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.randomness import Randomness

Found = Groups | GeneralizationGraph

ADVERSARY = (
    "The 1/k is about a reader who knows the quasi-identifiers of everybody in the table, the "
    "published file and the method, even which k published rows each person was matched to, but "
    "not the random choice among them: each of the k is a person's own with probability 1/k.",
    "It is about one person at a time, before any true link is known: a reader who learns some "
    "people's rows can rule these out for others.",
    "Published cells can cover people whom a row was not made for. A reader who does not know the "
    "matches sees at least k rows for everybody, not all of them equally likely.",
    "k-anonymity hides which row is a person's, not the sensitive value: the k rows can carry "
    "equal or close values. `shoal audit --original` shows its owner how close.",
)


@dataclass(frozen=True, eq=False)
class Layout:
    """Published rows in their random order."""

    bears: NDArray[np.int32]  # the cell that each published row bears
    carries: NDArray[np.int32]  # the coded row whose remaining values it carries
    bearers: NDArray[np.int64]  # how many rows bear each cell
    numbers: NDArray[np.int32] | None  # the group number of each published row
    groups: int | None
    adversary: tuple[str, ...] = ()  # what the guarantee is about, where groups do not say it


def lay_out(found: Found, randomness: Randomness) -> Layout:
    """Put rows, and the numbers of groups, into a random order.

    In a heterogeneous release a row carries the values of its true match.
    """
    if isinstance(found, Groups):
        rows, ids = randomness.permutations(len(found.labels), len(found))
        carries = rows.astype(np.int32)
        bears = found.labels[carries].astype(np.int32)
        return Layout(bears, carries, found.sizes, ids.astype(np.int32)[bears], len(found))
    (rows,) = randomness.permutations(len(found))
    carries = found.true_matches(randomness.stream())[rows].astype(np.int32)
    ones = np.ones(len(found), np.int64)
    return Layout(rows.astype(np.int32), carries, ones, None, None, ADVERSARY)
