"""Who is like whom in a table as it is, before anything is published: for the owner alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.people import descriptions
from shoal.table.coding import code_lenient
from shoal.table.missing import is_missing

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from shoal.table.partition import PersonOf
    from shoal.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Today:
    """The original table, of which `whom` says whom each row is about.

    `numbers` are the quasi columns that are compared as numbers, so that 5 and 5.0 are one value.
    """

    original: pl.DataFrame
    schema: Schema
    whom: PersonOf
    numbers: Collection[str]

    @cached_property
    def kinds_of_people(self) -> NDArray[np.int64]:
        """A number for each person, the same for those whose rows all have the same values."""
        labels = np.zeros(self.original.height, np.int64)
        plain = self.schema.read_numbers(self.original, "quasi")
        for name in self.schema.quasi:
            kind = self.schema.types.get(name) if name in self.numbers else "categorical"
            codes = code_lenient(plain[name], kind=kind).codes.astype(np.int64)
            _, labels = np.unique(
                labels * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True
            )
        return descriptions(labels, self.whom).labels

    def own(self, row: int) -> tuple[int, NDArray[np.int64]]:
        """Return whom a row is about, and all rows of that person."""
        person = int(self.whom.labels[row])
        return person, self.whom.rows(person)

    def alike(self, row: int) -> tuple[int, NDArray[np.int64]]:
        """Return how many are described as the person of a row is, and all of their rows."""
        kinds = self.kinds_of_people
        found = np.flatnonzero(kinds == kinds[int(self.whom.labels[row])])
        return len(found), self.whom.rows_of(found)[0]

    def cells(self, name: str, rows: NDArray[np.int64]) -> tuple[str | None, ...]:
        """Return some cells of a column as text, None where they are missing."""
        some = self.original[name].gather(rows).cast(pl.String)
        texts = zip(some.to_list(), is_missing(some), strict=True)
        return tuple(None if gone else text for text, gone in texts)
