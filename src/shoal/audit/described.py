"""Whether what a manifest says of one column can be: its kind, its type and what it covers."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from shoal.errors import UsageError
from shoal.table.dates import check_format, not_dates
from shoal.table.ends import backwards
from shoal.table.schema import KINDS, LABELS, NUMERIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.release.stated import StatedColumn, StatedNodes

FITS: dict[str | None, tuple[str | None, ...]] = {
    "interval": (*NUMERIC, "date", None),
    "set": (*LABELS, None),
    "node": (*KINDS, None),
}
OF_QUASI = ("kind", "domain", "hierarchy", "never_mix", "weight", "step", "bounds")
OF_OTHERS = ("near", "survey_weight")


class Wrong(Exception):
    """Something that cannot stand where it stands."""


def check_column(column: StatedColumn, place: str) -> None:
    """Raise where what is said of a column cannot be said of it; its domain depends on its kind."""
    for name in OF_OTHERS if column.quasi else OF_QUASI:
        if getattr(column, name) is not None:
            problem = f"{place} has {name!r}, which does not go with the role {column.role}"
            raise Wrong(problem)
    for name in ("kind", "domain") if column.quasi else ():
        if getattr(column, name) is None:
            problem = f"{place} lacks {name!r}"
            raise Wrong(problem)
    for wrong, why in _odd(column):
        if wrong:
            problem = f"{place} {why}"
            raise Wrong(problem)
    if column.bounds is not None:
        _ends(column.bounds, f"{place}, 'bounds'", dates=column.dates)
    if column.kind == "node":
        _nodes(column.tree, f"{place}, 'domain'")
    elif column.has_ends:
        _ends(column.values[:2], f"{place}, 'domain'", dates=column.dates)


def _odd(column: StatedColumn) -> Iterator[tuple[bool, str]]:
    """Yield what cannot be said together, and whether it is."""
    if column.date_format is not None:
        yield not _is_format(column.date_format), "has a 'date_format' that writes no dates"
    if not column.quasi:
        return
    kind = column.kind
    yield column.type not in FITS[kind], f"is of kind {kind} and of type {column.type}"
    yield column.hierarchy is not None and kind != "node", "has a hierarchy and is no node"
    grid = column.step is not None or column.bounds is not None
    yield grid and kind != "interval", "has a step or bounds and is no interval"
    yield isinstance(column.domain, list) is (kind == "node"), f"has a 'domain' that is no {kind}'s"
    if kind == "interval":
        third = column.values[2:] not in ([], [None])
        yield third, "has a 'domain' with a third element, which is not null"
    elif kind == "set":
        labels = all(isinstance(one, str) for one in column.values) and column.values
        yield not labels, "has a 'domain' that is no list of labels"
        yield len(set(column.values)) < len(column.values), "has a label twice"


def _is_format(said: str) -> bool:
    try:
        check_format("", said)
    except UsageError:
        return False
    return True


def _ends(ends: Sequence[object], place: str, *, dates: bool) -> None:
    right = _are_dates if dates else _are_numbers
    if len(ends) != 2 or not right(ends):
        problem = f"{place} has to have two {'dates' if dates else 'numbers'}"
        raise Wrong(problem)
    if backwards(*ends, dates=dates):
        problem = f"{place} ends before it begins"
        raise Wrong(problem)


def _are_numbers(ends: Sequence[object]) -> bool:
    most = sys.float_info.max
    return all(isinstance(one, int | float) and -most <= one <= most for one in ends)


def _are_dates(ends: Sequence[object]) -> bool:
    import polars as pl

    known = [one for one in ends if isinstance(one, str)]
    return len(known) == len(ends) and not not_dates(pl.Series(known)).any()


def _nodes(domain: StatedNodes, place: str) -> None:
    """Raise where nodes are no tree, or have fewer leaves than those below them."""
    nodes = {node.name: node for node in domain.nodes}
    if len(nodes) < len(domain.nodes):
        problem = f"{place} names a node twice"
        raise Wrong(problem)
    if [node.leaves for node in domain.nodes if node.parent is None] != [domain.leaves]:
        problem = f"{place} has to have one root, with all of its leaves"
        raise Wrong(problem)
    grounded: set[str] = set()  # those that a way up to the root is known from
    for name in nodes:
        way: dict[str, None] = {}
        below = name
        while below not in grounded and (above := nodes[below].parent) is not None:
            way[below] = None
            if above in way or above not in nodes or nodes[below].leaves > nodes[above].leaves:
                problem = f"{place}: what stands above {name[:40]!r} is not above it"
                raise Wrong(problem)
            below = above
        grounded |= way.keys()
    held = Counter[str | None]()
    for node in domain.nodes:
        held[node.parent] += node.leaves
    for name, node in nodes.items():
        if held[name] > node.leaves:
            problem = f"{place}: {name[:40]!r} has fewer leaves than the nodes below it"
            raise Wrong(problem)
