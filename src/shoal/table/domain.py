"""What a column can hold: sorted distinct values, how they are spelled, and the tree over them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shoal.table.hierarchy import Tree

INTEGER = r"^-?(0|[1-9][0-9]*)$"


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a column, apart from any table's codes; a shard is a domain and some codes.

    `values` are numbers for a numeric column, whole units of time for one of dates (`per_day` of
    them to a day), and None for a categorical one; `spellings` are the texts that stand for the
    ranks; `ordered` ones are labels in an order that was given. A column with a hierarchy has a
    `tree` and the place of each rank in it, ascending; its values are labels.
    """

    name: str
    values: NDArray[np.int64] | NDArray[np.float64] | None
    spellings: pl.Series
    dates: bool = field(default=False, kw_only=True)
    per_day: int = field(default=1, kw_only=True)
    tree: Tree | None = field(default=None, kw_only=True)
    places: NDArray[np.int64] | None = field(default=None, kw_only=True)
    ordered: bool = field(default=False, kw_only=True)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers or days."""
        return self.values is not None

    @property
    def numbers(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The values of a numeric column, those of dates in days, as distances take them."""
        assert self.values is not None
        return self.values if self.per_day == 1 else self.values / self.per_day

    @cached_property
    def exact(self) -> NDArray:
        """The values of a numeric column to be compared with others: integers of any size."""
        assert self.values is not None
        if self.values.dtype == np.int64 or not self.spellings.str.contains(INTEGER).all():
            return self.values
        return np.array([int(text) for text in self.spellings], object)

    @property
    def distinct(self) -> int:
        """How many distinct values there are."""
        return len(self.spellings)

    @property
    def domain(self) -> Domain:
        """The domain alone, without anybody's codes."""
        return Domain(**{one.name: getattr(self, one.name) for one in fields(Domain)})

    def nodes(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the lowest node of the hierarchy over each range of ranks."""
        assert self.tree is not None
        assert self.places is not None
        return self.tree.nodes(self.places[low], self.places[high])
