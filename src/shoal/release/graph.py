"""The generalization graph: which originals each recast record covers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.kernels.chacha import Stream
    from shoal.kernels.freeform.boxes import Boxes
    from shoal.table.coded import Space


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizationGraph:
    """A k-regular bipartite graph between recast records and originals, as k assignments.

    Recast record j covers the originals `matches[j]`, itself first; every column of `matches` is a
    permutation, so every original is covered k times. The k assignments share no edge.

    References
    ----------
    Doka, Xue, Tsoumakos, Karras, Cuzzocrea, Koziris: Heterogeneous k-Anonymization with High
    Utility. IEEE Big Data 2015.
    """

    space: Space
    matches: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"<GeneralizationGraph of {len(self):,} records>"

    def __post_init__(self) -> None:
        rows = np.arange(len(self.space.ranks))[:, None]
        matches = np.array(self.matches, np.int32, order="C")
        if (
            matches.ndim != 2
            or len(matches) != len(rows)
            or not (matches[:, :1] == rows).all()
            or not (np.sort(matches, axis=0) == rows).all()
        ):
            msg = "Every column of a generalization graph is a permutation, the first the identity."
            raise ValueError(msg)
        if not (np.diff(np.sort(matches, axis=1), axis=1) > 0).all():
            msg = "The assignments of a generalization graph share no edge."
            raise ValueError(msg)
        matches.setflags(write=False)
        object.__setattr__(self, "matches", matches)

    def __len__(self) -> int:
        return len(self.matches)

    @property
    def k(self) -> int:
        """How many originals each recast record covers, and how many cover each original."""
        return self.matches.shape[1]

    @property
    def order(self) -> NDArray[np.int32]:
        """The covered originals, record by record."""
        return self.matches.ravel()

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each record begins in `order`, and the end."""
        return np.arange(len(self) + 1, dtype=np.int64) * self.k

    def recast(self) -> Boxes:
        """Return what each record covers: lowest and highest rank, or labels as bits by rank."""
        from shoal.kernels.freeform.boxes import cover, rank_points

        points = rank_points(self.space.ranks, self.space.kinds, self.space.offsets)
        return cover(points, self.matches.copy())

    @cached_property
    def ncp(self) -> NDArray[np.float64]:
        """The mean NCP of each column over the recast records (HK, equations 1 and 2)."""
        from shoal.kernels.freeform.boxes import column_losses

        losses = np.empty(len(self.space.kinds))
        column_losses(self.space.ranks, *self.space.shape_arrays, self.matches.copy(), losses)
        return losses / len(self)

    @property
    def gcp(self) -> float:
        """The global certainty penalty, the mean of NCP over columns (HK, equation 3)."""
        return float(self.ncp.mean())

    def true_matches(self, stream: Stream) -> NDArray[np.int32]:
        """Return for each recast record the original whose remaining cells it carries.

        A random decomposition into k perfect matchings, one of them drawn uniformly: each edge is
        the true one with probability exactly 1/k.
        """
        from shoal.kernels.freeform.matchings import true_matches

        return true_matches(self.matches, stream)
