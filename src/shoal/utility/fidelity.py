"""What an analyst can still learn: published rows before and after they were recoded.

Everything is about published rows alone, so nothing tells what was left out; nothing is about fewer
than eleven people; and figures have three digits. After: a number is the middle of its cell, and a
label is any of those that its cell covers, all alike. Of two tables all columns are as they were,
and what is known of both together is by groups: everybody has the mean of their group's values, or
the share of each label in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.cover import Cover
from shoal.sampling import draw
from shoal.table.forms import TWO_TABLES
from shoal.utility.bands import HUGE, LEAST, Bands, as_facts, bands, spelled
from shoal.utility.columns import how_wide, spread_over
from shoal.utility.dependence import COLUMNS, Seen, explained, pairs, regression, three

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.release.recoding import ReleaseData
    from shoal.table.column import Column

ROWS = 50_000  # that pairs and regressions are made from; of more, so many at random


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn from a table: which, the cell of a column that each bears, whose they are."""

    rows: NDArray
    cells: NDArray
    count: Callable[[NDArray], NDArray]


def fidelity(release: ReleaseData) -> dict[str, Any]:
    """Compare published rows with what they were."""
    coded = release.coded
    count, everybody = coded.person_of.count, len(coded.person_of)
    if everybody < 2 * LEAST:
        return {"skipped": f"Not shown: it would be about {everybody} people, which is too few."}
    layout, covers = release.recoding.layout, release.recoding.covers
    chance = 0 if release.manifest.reproducible else None
    some = draw(len(coded), ROWS, chance)
    cells = {n: one.borne[layout.bears[some.places]] for n, one in covers.items()}
    rows = layout.carries[some.places]
    parted: dict[str, Bands] = {}
    columns, seen = [], []
    apart = release.form == TWO_TABLES
    for column in coded.quasi if apart else ():
        found, covered, entry = _kept(column, count)
        parted[column.name], cells[column.name] = found, column.codes[rows]
        columns.append(entry | {"role": "quasi"})
        if _moderate(column):
            seen.append(_seen(column, found, covered, rows, cells[column.name]))
    for column in () if apart else coded.quasi:
        cover = covers[column.name]
        weights = layout.bearers.astype(np.float64)
        borne = np.zeros(len(cover))
        np.add.at(borne, cover.borne, weights)
        found = bands(column, cover, borne.astype(np.int64), count)
        parted[column.name] = found
        columns.append(_column(column, found, cover, borne, count))
        if _moderate(column):
            seen.append(_seen(column, found, cover, rows, cells[column.name]))
    for column in coded.sensitive[:COLUMNS]:
        found, covered, entry = _kept(column, count)
        columns.append(entry)
        if _moderate(column):
            one = _seen(column, found, covered, rows, column.codes[rows], "sensitive")
            seen.append(_of_groups(one, column, found, release, rows) if apart else one)
    target, lost = explained(seen), _lost(release)
    among = coded.person_of.only(rows).count
    return {
        "least": LEAST,
        "rows": len(some),
        "of": some.whole,
        "columns": columns,
        "pairs": pairs(seen),
        "regression": regression(target, seen, everybody),
        "subgroups": [
            _subgroups(found, target, Drawn(rows, cells[name], among), count, lost)
            for name, found in parted.items()
            if len(found) > 1
        ],
    }


def _column(
    column: Column,
    found: Bands,
    covered: Cover,
    borne: NDArray[np.float64],
    count: Callable[[NDArray], NDArray],
) -> dict[str, Any]:
    """Return a quasi column before and after, and how much its cells cover."""
    before = np.bincount(found.place[column.codes], minlength=len(found)) / len(column.codes)
    after, wide = found.shares @ borne / borne.sum(), how_wide(spread_over(covered), borne)
    facts = {
        "column": column.name,
        "role": "quasi",
        "dates": column.dates,
        "numeric": found.edges is not None,
        "distinct": column.distinct,
        **as_facts(found),
        "before": [three(one) for one in before.tolist()],
        "after": [three(one) for one in after.tolist()],
        "apart": three(float(np.abs(before - after).sum() / 2)),
        "people": [int(three(one)) for one in count(found.place[column.codes])],
        **wide | {"exact": three(wide["exact"])},
    }
    if column.numeric and _moderate(column):
        spans, there = covered.numbers()
        values = spans.domain.numbers.astype(np.float64)
        span = float(values[-1] - values[0])
        middle, known = (values[spans.low] + values[spans.high]) / 2, borne * there
        own = values[column.codes[column.codes < len(values)]]
        means = (own.mean(), float(middle @ known / known.sum()))
        facts["means"] = [_mean(column, one, span) for one in means]
    return facts


def _moderate(column: Column) -> bool:
    """Return whether sums and squares of a column's numbers can be taken."""
    return not column.numeric or float(np.abs(column.numbers).max()) <= HUGE


def _mean(column: Column, value: float, span: float) -> str:
    """Write a mean to three digits of what the column spans."""
    if span <= 0:
        return spelled(value, dates=column.dates)
    step = 10.0 ** (np.floor(np.log10(span)) - 2)
    rounded = round(value / step) * step
    if column.dates:
        return spelled(rounded, dates=True)
    return f"{rounded:,.{max(0, -int(np.floor(np.log10(step))))}f}"


def _kept(
    column: Column, count: Callable[[NDArray], NDArray]
) -> tuple[Bands, Cover, dict[str, Any]]:
    covered = Cover.of_values(column)
    borne = np.bincount(column.codes, minlength=column.distinct).astype(np.float64)
    found = bands(column, covered, borne.astype(np.int64), count)
    return found, covered, _column(column, found, covered, borne, count) | {"role": "sensitive"}


def _seen(
    column: Column,
    found: Bands,
    covered: Cover,
    rows: NDArray,
    cells: NDArray,
    role: str = "quasi",
) -> Seen:
    codes = column.codes[rows]
    if column.numeric and column.gap is None:
        values = column.numbers.astype(np.float64)
        middle = (values[covered.low] + values[covered.high]) / 2
        return Seen(column.name, role, [], values[codes], middle[cells])
    return Seen(
        column.name,
        role,
        found.names,
        np.eye(len(found))[found.place[codes]],
        found.shares.T[cells],
    )


def _of_groups(
    one: Seen, column: Column, found: Bands, release: ReleaseData, rows: NDArray
) -> Seen:
    """Return a sensitive column of which readers know what values a group has, not whose."""
    group = release.recoding.layout.borne
    sizes = np.bincount(group)
    if column.numeric and column.gap is None:
        values = column.numbers.astype(np.float64)[column.codes]
        after = (np.bincount(group, weights=values) / sizes)[group[rows]]
        return replace(one, after=after, of_groups=True)
    shares = np.zeros((len(sizes), len(found)))
    np.add.at(shares, (group, found.place[column.codes]), 1.0)
    after = (shares / sizes[:, np.newaxis])[group[rows]]
    return replace(one, after=after, of_groups=True)


def _lost(release: ReleaseData) -> NDArray[np.float64]:
    """Return how much of the detail every coded row has lost, over all quasi columns."""
    covers = release.recoding.covers.values()
    by_cell = sum(cover.loss()[cover.borne] for cover in covers)
    return np.asarray(by_cell)[release.recoding.layout.borne] / len(covers)


def _subgroups(
    found: Bands,
    target: Seen | None,
    drawn: Drawn,
    count: Callable[[NDArray], NDArray],
    lost: NDArray[np.float64],
) -> dict[str, Any]:
    """Return for the people of each band what they lost, and the target's mean before and after."""
    column = found.column
    place = found.place[column.codes]
    people, of_rows = count(place), np.bincount(place, minlength=len(found))
    losses = np.bincount(place, weights=lost, minlength=len(found)) / of_rows
    entries = [
        {"name": name, "people": int(three(people[band])), "loss": three(losses[band])}
        for band, name in enumerate(found.names)
    ]
    told = target is not None and target.name != column.name
    if told:
        assert target is not None
        own = place[drawn.rows]
        heads = np.append(drawn.count(own), np.zeros(len(found)))
        sums = np.bincount(own, weights=target.before, minlength=len(found))
        of_sample = np.bincount(own, minlength=len(found))
        cells = np.bincount(drawn.cells, minlength=found.shares.shape[1])
        values = np.bincount(drawn.cells, weights=target.after, minlength=len(cells))
        weight, spread = found.shares @ cells, found.shares @ values
        for band, entry in enumerate(entries):
            if heads[band] >= LEAST and weight[band] > 0:
                entry["before"] = three(sums[band] / of_sample[band])
                entry["after"] = three(spread[band] / weight[band])
    return {
        "column": column.name,
        "target": target.name if told and target is not None else None,
        "bands": entries,
    }
