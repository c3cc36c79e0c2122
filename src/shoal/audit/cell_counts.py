"""What a manifest says cells of a column look like, counted again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.agreement import required
from shoal.audit.cells import fills_domain, has_leaves, outer_cells, read_cover
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn

CLOSE = 1e-9  # losses are means of doubles, added up in another order


@dataclass(frozen=True)
class CellCount:
    """The cells of one column, counted: what they lose, how many are wrong, and the outer ones.

    `at` counts the rows of each node. Counts of parts of a table add up.
    """

    lost: float
    bad: int
    mixed: bool
    outer: frozenset[str]
    at: Counter[str]

    def __add__(self, other: CellCount) -> CellCount:
        return CellCount(
            self.lost + other.lost,
            self.bad + other.bad,
            self.mixed or other.mixed,
            self.outer | other.outer,
            self.at + other.at,
        )


def count_cells(published: pl.DataFrame, column: StatedColumn) -> CellCount:
    """Count the cells of a column, of which a manifest says what it says."""
    counted = published[column.name].value_counts()
    texts = counted[column.name].cast(pl.String)
    cover, outside = read_cover(texts, column)
    by_cell, bad = cover.loss(), int(outside.sum())
    nodes = texts.fill_null(MISSING_LABEL).to_list() if column.kind == "node" else []
    return CellCount(
        float(by_cell @ counted["count"].to_numpy()),
        bad,
        bool(column.never_mix and (by_cell > 0).any()),
        frozenset() if bad else outer_cells(texts, cover),
        Counter(dict(zip(nodes, counted["count"], strict=False))),
    )


def check_cells(counted: Mapping[str, CellCount], manifest: Manifest, rows: int) -> list[str]:
    """Return a sentence for cells outside the domain and for a loss that is not what cells say.

    Where a population was given, the values under nodes are its own: they may be more than rows.
    """
    problems = []
    measured = {}
    everybody = any(one.principle.population for one in required(manifest))
    stated = manifest.by_name
    for name, one in counted.items():
        if one.mixed:
            problems.append(f"Column {name!r} is never mixed, and has cells of several values.")
        if one.bad:
            problems.append(f"{one.bad} distinct cells of column {name!r} are outside its domain.")
        elif not (
            fills_domain(pl.Series(sorted(one.outer), dtype=pl.String), stated[name])
            and (stated[name].kind != "node" or everybody or has_leaves(one.at, stated[name].tree))
        ):
            problems.append(f"The domain of column {name!r} is larger than its published cells.")
        else:
            gone = manifest.suppressed or 0
            measured[name] = (one.lost + gone) / (rows + gone)
    if problems:
        return problems
    if set(manifest.loss.ncp) != set(measured):
        return ["The manifest does not give the loss of every quasi column."]
    measured["gcp"] = float(np.mean(list(measured.values())))
    return [
        f"The loss of {name!r} is {measured[name]:.6f}, the manifest says {value:.6f}."
        for name, value in {"gcp": manifest.loss.gcp, **manifest.loss.ncp}.items()
        if abs(measured[name] - value) > CLOSE
    ]
