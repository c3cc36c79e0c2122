"""What could be required of one sensitive column: few choices, from what its values are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.exact import percent, tidy
from shoal.principles.frequency import FrequencyL
from shoal.principles.ordered import Ranked
from shoal.principles.proximity import EpsilonM
from shoal.principles.remedies import crowd_of, share_limit
from shoal.table.coding import code_lenient
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from shoal.table.column import Column
    from shoal.table.partition import PersonOf
    from shoal.table.schema import Schema

MOST = 5  # the m and l to start from where the table allows it
LARGE = 3_000  # codes of which all pairs are compared
ROOM = 0.92  # share of what a requirement allows of equal values that a table may have
UNSURE = 0.5  # the same where values are missing, which are near to all others
PART, LESS = 2, 4  # of the widest range: the part to start from, and where values are missing
Promise = tuple[tuple[str, ...], tuple[str, ...]]  # requirements, and what is said of them


def promises(cells: pl.Series, schema: Schema, whose: PersonOf) -> list[Promise]:
    """Return what can be required of one sensitive column, the most telling first."""
    name = cells.name
    if not len(cells):
        return []
    kind = schema.types.get(name)
    column = code_lenient(cells, kind=kind, order=schema.order.get(name))
    found: list[Promise] = []
    if column.numeric and kind in {"numeric", "date"}:
        widths = list(_widths(column, rows=not whose.given))
        found += [*widths[:1], *widths[2:3]]
    if kind == "code" and not whose.given:  # of several values of a person it may limit none
        found += _alike(column)
    found += _shares(column, whose)
    if len(schema.sensitive) < 2:
        return found
    return [(tuple(f"{name}: {text}" for text in texts), why) for texts, why in found]


def _alike(column: Column) -> Iterator[Promise]:
    """Yield that codes which begin alike are not too many in a group."""
    if column.distinct > LARGE or min(map(len, column.spellings)) < 3:
        return
    yield (
        (f"Dissimilarity(epsilon=0.5, delta=0.5, k={MOST}, distance=Hierarchical(Prefix()))",),
        (f"At most half of the others in a group have a {column.name} that begins alike.",),
    )


def _widths(column: Column, *, rows: bool) -> Iterator[Promise]:
    crowd = crowd_of(EpsilonM(epsilon=0, m=MOST), Sensitive.of((column,)))
    ranked = Ranked.of(column)
    room, part = (ROOM, PART) if column.missing is None else (UNSURE, LESS)
    for m in range(MOST, 1, -1):
        if m > 2 and m * _most(column.counts, column.missing) > room * column.rows:
            continue  # equal values leave a search next to no room
        bound = ranked.bound(m)
        width = tidy((bound or 0) / part)
        whole = column.numbers.dtype.kind == "i"
        if width > 0 and not (whole and width < 1):
            require = EpsilonM(epsilon=width, m=m)
            limit = f"For m={m}, epsilon must stay under {bound:,}; `shoal plan` shows more."
            heap = () if crowd is None or not rows else (f"{crowd.text}, so m={m} is proposed.",)
            yield (
                (repr(require),),
                (
                    require.promise_in(column.name, "days" if column.dates else ""),
                    limit if rows else f"`shoal plan` about {column.name!r} alone shows more.",
                    *heap,
                ),
            )


def _most(counts: NDArray[np.int64], missing: int | None) -> int:
    """Return how many have the most frequent value, or none, which counts as that one."""
    known = np.delete(counts, [] if missing is None else [missing])
    lacking = 0 if missing is None else int(counts[missing])
    return int(known.max(initial=0)) + lacking


def _shares(column: Column, whose: PersonOf) -> Iterator[Promise]:
    """Yield that no value is too frequent, among rows, or among the people whose rows they are."""
    most = _most(whose.count(column.codes, column.distinct), column.missing)
    rows, whom = len(whose), whose.whom
    largest, l = rows // most, 1
    share = f"{percent(most / rows, 1)} of the {whom} have the most frequent value of {column.name}"
    share += " or none" if column.missing is not None else ""
    if largest >= 2:
        l = min(MOST, max(2, largest - 1))
        require = FrequencyL(l=l)
        why = require.promise_in(column.name, "")
        yield (repr(require),), (why, f"At most l={largest} is achievable: {share}.")
    limit = share_limit(most, rows, min(MOST, rows))
    if limit is not None and (l == 1 or limit.alpha * l > 1):  # it asks for less
        why = f"No value of {column.name} has more than {percent(limit.alpha, 0)} of a group."
        yield (repr(limit),), (why, f"{share}.")
