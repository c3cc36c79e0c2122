"""Intersection: two releases of overlapping tables, and people who are in both.

A person's candidate values in a release are those of the published rows that match the person. The
true value is a candidate in both releases, so only values that are candidates in both remain. A
person is pinned down when one value remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.linking import chosen_people
from shoal.schema.coding import QUANTITY, code_column

if TYPE_CHECKING:
    from shoal.audit.covers import Cover


@dataclass(frozen=True)
class Intersection:
    """What remains of candidate values when two releases are read together."""

    releases: tuple[str, str]
    column: str
    people: int
    in_both: int
    values: tuple[float, float, float]  # mean number: the first release, the second, both
    pinned: tuple[float, float, float]  # share with one value: the same

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by release and together, and a sentence."""
        first, second = self.releases
        names = ("first", "second", "both")
        return {
            "releases": list(self.releases),
            "column": self.column,
            "people": self.people,
            "in_both": self.in_both,
            "mean_values": dict(zip(names, self.values, strict=True)),
            "pinned": dict(zip(names, self.pinned, strict=True)),
            "sentence": (
                f"Of {self.in_both:,} people with candidates in {first} and {second}, each alone "
                f"gives away the {self.column} of {self.pinned[0]:.1%} and {self.pinned[1]:.1%}, "
                f"both together that of {self.pinned[2]:.1%}; {self.values[2]:.3g} values remain "
                f"on average, of {self.values[0]:.3g} and {self.values[1]:.3g}."
            ),
        }


def intersect(first: Cover, second: Cover, name: str) -> Intersection:
    """Intersect the candidate values of the people whom both covers are about."""
    texts = [cover.published.table[name].cast(pl.String) for cover in (first, second)]
    numeric = first.published.sensitive(name).numeric and second.published.sensitive(name).numeric
    column = code_column(pl.concat(texts), kind=QUANTITY if numeric else "categorical")
    carried = column.codes[: len(texts[0])], column.codes[len(texts[0]) :]
    people = chosen_people(len(first.columns[0].values))
    counts = []
    for person in people.tolist():
        marks = np.zeros((2, column.distinct), bool)
        for mark, cover, codes in zip(marks, (first, second), carried, strict=True):
            mark[codes[cover.candidates(person)]] = True
        remaining = int((marks[0] & marks[1]).sum())
        if remaining:
            counts.append((int(marks[0].sum()), int(marks[1].sum()), remaining))
    table = np.array(counts, np.float64).reshape(-1, 3)
    means = table.mean(axis=0) if len(table) else np.zeros(3)
    pinned = (table == 1).mean(axis=0) if len(table) else np.zeros(3)
    return Intersection(
        (first.published.name, second.published.name),
        name,
        len(people),
        len(table),
        (float(means[0]), float(means[1]), float(means[2])),
        (float(pinned[0]), float(pinned[1]), float(pinned[2])),
    )
