"""Whether what a manifest says of one column can be: its kind, its type, what it covers, its cells.

Numbers that were rounded are multiples of the step, and those that were cut off lie within their
thresholds: of that, the cells are looked at, and what it says of cells is counted again.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import fills_domain, has_leaves, interval_ends, outer_cells, read_cover
from shoal.errors import UsageError
from shoal.principles.requirement import requirements
from shoal.table.dates import check_format, date_parts, not_dates
from shoal.table.missing import MISSING_LABEL, is_missing
from shoal.table.schema import KINDS, LABELS, NUMERIC
from shoal.table.trimming import is_percentile, odd_numbers, read_trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn, StatedNodes

    Found = Iterator[tuple[object, str]]  # whether something is wrong, and the words for it

FITS: dict[str | None, tuple[str | None, ...]] = {
    "interval": (*NUMERIC, "date", None),
    "set": (*LABELS, None),
    "node": (*KINDS, None),
}
OF_QUASI = ("kind", "domain", "hierarchy", "never_mix", "weight", "step", "bounds")
OF_OTHERS = ("near", "survey_weight")


class Wrong(Exception):
    """Something that cannot stand where it stands."""


def refuse_first(found: Iterable[tuple[object, str]], place: str = "") -> None:
    """Raise the first that is wrong; what comes after it may rely on its being right."""
    for wrong, why in found:
        if wrong:
            raise Wrong(f"{place} {why}" if place else why)


def check_column(column: StatedColumn, place: str) -> None:
    """Raise where what is said of a column cannot be said of it; its domain depends on its kind."""
    refuse_first(_odd(column), place)
    if column.bounds is not None:
        refuse_first(_odd_ends(column.bounds, dates=column.dates), f"{place}, 'bounds'")
    if column.kind == "node":
        refuse_first(_odd_nodes(column.tree), f"{place}, 'domain'")
    elif column.has_ends:
        refuse_first(_odd_ends(column.values[:2], dates=column.dates), f"{place}, 'domain'")


def _odd(column: StatedColumn) -> Found:
    """Yield what cannot be said of a column, or not together."""
    said = column.date_format is None or _is_format(column.date_format)
    yield not said, "has a 'date_format' that writes no dates"
    for name in OF_OTHERS if column.quasi else OF_QUASI:
        other = getattr(column, name) is not None
        yield other, f"has {name!r}, which does not go with the role {column.role}"
    if not column.quasi:
        return
    kind = column.kind
    yield kind is None, "lacks 'kind'"
    yield column.domain is None, "lacks 'domain'"
    unfit = f"has the kind {kind}, which does not fit the type {column.type}"
    yield column.type not in FITS[kind], unfit
    yield column.hierarchy is not None and kind != "node", "has a hierarchy but is not a node"
    grid = column.step is not None or column.bounds is not None
    yield grid and kind != "interval", "has a step or bounds but is not an interval"
    odd = isinstance(column.domain, list) is (kind == "node")
    yield odd, f"has a 'domain' that does not fit the kind {kind}"
    if kind == "interval":
        third = column.values[2:] not in ([], [None])
        yield third, "has a 'domain' with a third element, which is not null"
    elif kind == "set":
        labels = column.values and all(isinstance(one, str) for one in column.values)
        yield not labels, "has a 'domain' that is not a list of labels"
        yield len(set(column.values)) < len(column.values), "has a label twice"


def _is_format(said: str) -> bool:
    try:
        check_format("", said)
    except UsageError:
        return False
    return True


def _odd_ends(ends: Sequence[Any], *, dates: bool) -> Found:
    import polars as pl

    if dates:
        texts = len(ends) == 2 and all(isinstance(one, str) for one in ends)
        yield not texts or not_dates(pl.Series(ends)).any(), "has to have two dates"
    most = sys.float_info.max
    numbers = (isinstance(one, int | float) and abs(one) <= most for one in ends)
    yield not dates and (len(ends) != 2 or not all(numbers)), "has to have two numbers"
    yield _backwards(*ends, dates=dates), "ends before it begins"


def _backwards(low: Any, high: Any, *, dates: bool) -> bool:
    """Return whether an interval ends before it begins."""
    if not dates:
        return low > high
    seconds, rest = (part.to_list() for part in date_parts(pl.Series([low, high])))
    return (seconds[0], rest[0]) > (seconds[1], rest[1])


def _odd_nodes(domain: StatedNodes) -> Found:
    """Yield where nodes are no tree, or have fewer leaves than those below them."""
    nodes = {node.name: node for node in domain.nodes}
    yield len(nodes) < len(domain.nodes), "names a node twice"
    roots = [node.leaves for node in domain.nodes if node.parent is None]
    yield roots != [domain.leaves], "must have exactly one root, which has all of its leaves"
    grounded: set[str] = set()  # those that a way up to the root is known from
    for name in nodes:
        way: dict[str, None] = {}
        below = name
        while below not in grounded and (above := nodes[below].parent) is not None:
            way[below] = None
            odd = above in way or above not in nodes or nodes[below].leaves > nodes[above].leaves
            yield odd, f"has an ancestor of {name[:40]!r} that is unknown, below it or too small"
            below = above
        grounded |= way.keys()
    held = Counter[str | None]()
    for node in domain.nodes:
        held[node.parent] += node.leaves
    for name, node in nodes.items():
        below_it = held[name] > node.leaves
        yield below_it, f"has {name[:40]!r}, which has fewer leaves than the nodes below it"


def check_done(
    table: pl.DataFrame, columns: Sequence[StatedColumn], manifest: Manifest
) -> list[str]:
    """Return a sentence for every column whose cells are not what was done to it, or was asked."""
    problems = [*_odd_gaps(table, columns, manifest), *_odd_percentiles(table, columns, manifest)]
    for column in columns:
        name, trim = column.name, column.trim
        if not trim.words or name not in table.columns or column.survey_weight:
            continue
        if column.step is not None:  # regions end where the grid says
            continue
        cells = table[name].unique().drop_nulls().cast(pl.String)
        if column.has_ends:
            cells = pl.concat([end.alias(name) for end in interval_ends(cells)]).drop_nulls()
        elif column.quasi:
            continue  # labels and nodes
        if odd := odd_numbers(cells, trim):
            problems.append(f"Column {name!r} has {odd:,} numbers that were not {trim.words}.")
    return problems


def _odd_gaps(
    table: pl.DataFrame, columns: Sequence[StatedColumn], manifest: Manifest
) -> Iterator[str]:
    """Yield protected columns with missing cells that were not to be kept."""
    for column in columns:
        name, policy = column.name, column.missing or manifest.asked.missing
        if column.role != "sensitive" or policy == "value" or name not in table.columns:
            continue
        if manifest.coarsened_from is None and (many := int(is_missing(table[name]).sum())):
            yield f"Column {name!r} has {many:,} missing cells, and 'asked' does not keep them."


def _odd_percentiles(
    table: pl.DataFrame, columns: Sequence[StatedColumn], manifest: Manifest
) -> Iterator[str]:
    """Yield thresholds that are not the percentiles that were asked for.

    These are taken of the rows that are published, and in a series of those of its first release.
    Where numbers were rounded too, that is not seen.
    """
    asked = manifest.asked
    for column in () if manifest.in_series else columns:
        name = column.name
        told = {side: (getattr(asked, side) or {}).get(name) for side in ("bottom", "top")}
        for side, share in read_trim(name, **told).percentiles:
            limit = getattr(column, side)
            if limit is None or column.round is not None or name not in table.columns:
                continue
            if column.has_ends:
                end = column.values[side == "top"]
                true = column.step is not None or Decimal(str(end)) == Decimal(str(limit))
            else:
                true = column.quasi or is_percentile(table[name], share, side=side, limit=limit)
            if not true:
                yield f"The {side} of column {name!r}, {limit}, is not its {share}."


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


def required(manifest: Manifest) -> list[Requirement]:
    """Return what a manifest says was required; nothing is opened for that."""
    linked = [
        [one.name for one in manifest.linked_columns(name) if one.role == "sensitive"]
        for name in manifest.tables
    ]
    own = manifest.named("sensitive")
    return list(requirements(manifest.require, own, *filter(None, linked), files=False))


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
