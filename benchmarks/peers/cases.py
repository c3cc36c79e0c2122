"""The tables that all libraries publish, with hierarchies for those that need some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from common import DATA, load

from shoal.table.hierarchy import read_levels

if TYPE_CHECKING:
    from pathlib import Path

Levels = list[list[int | str]]  # what each value becomes at each level, the values themselves first
ADULT_FILE = "adult_arx.csv.gz"
BINS = (64, 32, 16, 8, 4, 2, 1)


@dataclass(frozen=True)
class Case:
    """A table, the roles of its columns, and what counts as near in the sensitive one."""

    name: str
    source: str
    table: pl.DataFrame
    quasi: list[str]
    sensitive: str
    epsilon: float
    proximity: str  # the requirement that bounds the risk
    folder: Path | None = None  # of hierarchies; numbers are halved without it

    @property
    def hierarchies(self) -> dict[str, Levels]:
        """The levels of every quasi column, over the values that the table has."""
        values = {name: self.table[name].unique().sort().to_list() for name in self.quasi}
        if self.folder is None:
            return {name: halved(found) for name, found in values.items()}
        return {n: arx_levels(found, self.folder / f"{n}.csv") for n, found in values.items()}


def salaries(rows: int) -> Case:
    """Return the first rows of the census table; a prefix of it is a random sample."""
    quasi, sensitive = ["age", "puma", "occupation"], "income"
    table, source = load("sal_acs2024_500k.csv.gz", rows)
    return Case(
        "salaries",
        source,
        table.select(*quasi, sensitive),
        quasi,
        sensitive,
        2000,
        "EpsilonM(epsilon=2000, m=5)",
    )


def adult() -> Case:
    """Return the adult table, with labels and the hierarchies of ARX."""
    table = pl.read_csv(DATA / ADULT_FILE)
    quasi = [name for name in table.columns if name not in {"occupation", "salary-class"}]
    chosen = table.select(*quasi, "occupation")
    folder = DATA / "hierarchies" / "adult"
    return Case("adult", ADULT_FILE, chosen, quasi, "occupation", 0, "FrequencyL(l=5)", folder)


def arx_levels(values: list[int | str], path: Path) -> Levels:
    """Return the levels of a hierarchy file over the values that a column has."""
    known = {levels[0]: levels for levels in read_levels(path)}
    return [values, *map(list, zip(*(known[str(v)][1:] for v in values), strict=True))]


def halved(values: list[int] | list[str]) -> Levels:
    """Return ranges of equal width, 64 of them, then 32, and so on to a single one.

    Labels are as far apart as in the order of the alphabet. A range is named by the least and the
    greatest value in it: halved([1, 2, 3, 9]) has the levels 1, 2, 3, 9, then [1, 3] and 9, then
    [1, 9].
    """
    places = np.arange(len(values)) if isinstance(values[0], str) else np.array(values, np.int64)
    reach = max(int(places[-1] - places[0]), 1)
    levels: Levels = [list(values)]
    for bins in BINS:
        if bins >= len(values):
            continue
        which = np.minimum((places - places[0]) * bins // reach, bins - 1)
        first = np.searchsorted(which, which, "left").tolist()
        last = (np.searchsorted(which, which, "right") - 1).tolist()
        levels.append([_range(values[a], values[b]) for a, b in zip(first, last, strict=True)])
    return levels


def _range(low: int | str, high: int | str) -> str:
    return str(low) if low == high else f"[{low}, {high}]"
