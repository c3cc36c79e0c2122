"""What an analyst can still learn: published rows before and after they were recoded.

Everything is about published rows alone, so nothing tells what was left out; nothing is about fewer
than eleven people; and figures have three digits. After: a number is the middle of its cell, and a
label is any of those that its cell covers, all alike. Of two tables all columns are as they were,
and what is known of both together is by groups: everybody has the mean of their group's values, or
the share of each label in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.cells import Spans, ncp_by_group
from shoal.sampling import draw
from shoal.table.forms import TWO_TABLES
from shoal.utility.bands import HUGE, LEAST, Bands, as_facts, bands, spelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.release.release import ReleaseData
    from shoal.table.column import Column

ROWS = 50_000  # that pairs and regressions are made from; of more, so many at random
COLUMNS = 8  # that pairs are made of
PAIRS = 12  # that are shown
TERMS = 4  # labels of a column in a regression, beside the one that the others are compared with
PER_TERM = 11  # people that a coefficient takes


@dataclass(frozen=True, eq=False)
class Seen:
    """One column of some rows before and after: a number a row, or its share in each band."""

    name: str
    role: str
    parts: list[str]  # of labels; none of numbers
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    of_groups: bool = False  # whether afterwards groups are known, not who of them has which value

    @property
    def narrowed(self) -> float:
        """How much less numbers of groups vary than those of people, whose spread is known."""
        if not self.of_groups or self.parts:
            return 1.0
        return float(self.after.std() / max(self.before.std(), 1e-300))

    @property
    def within(self) -> float:
        """The sum of squares within groups, which the values of a group tell."""
        return float(((self.before - self.after) ** 2).sum()) if self.of_groups else 0.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn from a table: which, the cell of a column that each bears, whose they are."""

    rows: NDArray
    cells: NDArray
    count: Callable[[NDArray], NDArray]


def three(value: float) -> float:
    """Round to three digits."""
    return float(f"{value:.3g}")


def fidelity(release: ReleaseData, persons: NDArray | None = None) -> dict[str, Any]:
    """Compare published rows with what they were; `persons` says whose each coded row is."""
    coded = release.coded
    count = _counter(persons)
    everybody = int(count(np.zeros(len(coded), np.int64))[0])
    if everybody < 2 * LEAST:
        return {"skipped": f"Not shown: it would be about {everybody} people, too few to hide in."}
    layout, kinds = release.recoding.layout, release.recoding.kinds
    chance = 0 if release.manifest.get("reproducible") else None
    some = draw(len(coded), ROWS, chance)
    cells = {n: k.which[layout.bears[some.places]] for n, k in kinds.items()}
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
        kind = kinds[column.name]
        weights = layout.bearers.astype(np.float64)
        borne = np.zeros(len(kind.spans))
        np.add.at(borne, kind.which, weights)
        found = bands(column, kind.spans, borne.astype(np.int64), count)
        parted[column.name] = found
        columns.append(_column(column, found, kind.spans, borne, count))
        if _moderate(column):
            seen.append(_seen(column, found, kind.spans, rows, cells[column.name]))
    for column in coded.sensitive[:COLUMNS]:
        found, covered, entry = _kept(column, count)
        columns.append(entry)
        if _moderate(column):
            one = _seen(column, found, covered, rows, column.codes[rows], "sensitive")
            seen.append(_of_groups(one, column, found, release, rows) if apart else one)
    target, lost = _target(seen), _lost(release)
    among = _counter(None if persons is None else persons[rows])
    return {
        "least": LEAST,
        "rows": len(some),
        "of": some.whole,
        "columns": columns,
        "pairs": _pairs(seen),
        "regression": _regression(target, seen, everybody),
        "subgroups": [
            _subgroups(found, target, Drawn(rows, cells[name], among), count, lost)
            for name, found in parted.items()
            if len(found) > 1
        ],
    }


def _counter(persons: NDArray | None) -> Callable[[NDArray], NDArray]:
    """Return what counts the people in each band, given the band of every coded row."""
    if persons is None:
        return np.bincount

    def count(place: NDArray) -> NDArray:
        pairs = np.unique(np.column_stack([place, persons]), axis=0)
        return np.bincount(pairs[:, 0])

    return count


def _column(
    column: Column,
    found: Bands,
    covered: Spans,
    borne: NDArray[np.float64],
    count: Callable[[NDArray], NDArray],
) -> dict[str, Any]:
    """Return a quasi column before and after, and how much its cells cover."""
    before = np.bincount(found.place[column.codes], minlength=len(found)) / len(column.codes)
    after = found.shares @ borne / borne.sum()
    facts = {
        "column": column.name,
        "role": "quasi",
        "dates": column.dates,
        "numeric": column.numeric,
        "distinct": column.distinct,
        **as_facts(found),
        "before": [three(one) for one in before.tolist()],
        "after": [three(one) for one in after.tolist()],
        "apart": three(float(np.abs(before - after).sum() / 2)),
        "people": [int(three(one)) for one in count(found.place[column.codes])],
        **_widths(column, covered, borne),
    }
    if column.numeric and _moderate(column):
        values = column.numbers.astype(np.float64)
        span = float(values[-1] - values[0])
        middle = (values[covered.low] + values[covered.high]) / 2
        means = (values[column.codes].mean(), float(middle @ borne / borne.sum()))
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


def _widths(column: Column, covered: Spans, borne: NDArray[np.float64]) -> dict[str, Any]:
    """Return how much published cells cover: of numbers their width, of labels how many."""
    if column.tree is not None:
        width = column.tree.leaves[column.nodes(covered.low, covered.high)].astype(np.float64)
        exact, whole = width == 1, float(column.tree.leaves[column.tree.up[-1, 0]])
    elif column.numeric:
        values = column.numbers.astype(np.float64)
        with np.errstate(over="ignore"):
            width = np.nan_to_num(values[covered.high] - values[covered.low])
            whole = float(np.nan_to_num(values[-1] - values[0]))
        exact = covered.low == covered.high
    else:
        assert covered.labels is not None
        width, whole = covered.labels.astype(np.float64), float(column.distinct)
        exact = width == 1
    order = np.argsort(width)
    reached = np.cumsum(borne[order])
    half, most = (
        float(width[order[np.searchsorted(reached, share * reached[-1])]]) for share in (0.5, 0.9)
    )
    return {
        "exact": three(float(borne[exact].sum() / borne.sum())),
        "half": half,
        "ninety": most,
        "widest": float(width[order[-1]]),
        "whole": whole,
    }


def kept_columns(release: ReleaseData, persons: NDArray | None = None) -> list[dict[str, Any]]:
    """Return how the sensitive columns are distributed, which are published as they were."""
    if len(release.coded) < 2 * LEAST:
        return []
    count = _counter(persons)
    return [_kept(column, count)[2] for column in release.coded.sensitive[:COLUMNS]]


def _kept(
    column: Column, count: Callable[[NDArray], NDArray]
) -> tuple[Bands, Spans, dict[str, Any]]:
    covered, borne = _exact(column)
    found = bands(column, covered, borne.astype(np.int64), count)
    return found, covered, _column(column, found, covered, borne, count) | {"role": "sensitive"}


def _exact(column: Column) -> tuple[Spans, NDArray[np.float64]]:
    """Return the cells of a column that is published as it was: one for each value."""
    every = np.arange(column.distinct, dtype=np.int32)
    labels = (None, None) if column.numeric else (every, np.ones(column.distinct, np.int64))
    borne = np.bincount(column.codes, minlength=column.distinct).astype(np.float64)
    return Spans(every, every, *labels), borne


def _seen(
    column: Column,
    found: Bands,
    covered: Spans,
    rows: NDArray,
    cells: NDArray,
    role: str = "quasi",
) -> Seen:
    codes = column.codes[rows]
    if column.numeric:
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
    layout = release.recoding.layout
    group = np.empty(len(layout.carries), np.int64)
    group[layout.carries] = layout.bears
    sizes = np.bincount(group)
    if column.numeric:
        values = column.numbers.astype(np.float64)[column.codes]
        after = (np.bincount(group, weights=values) / sizes)[group[rows]]
        return replace(one, after=after, of_groups=True)
    shares = np.zeros((len(sizes), len(found)))
    np.add.at(shares, (group, found.place[column.codes]), 1.0)
    after = (shares / sizes[:, np.newaxis])[group[rows]]
    return replace(one, after=after, of_groups=True)


def _pairs(seen: list[Seen]) -> list[dict[str, Any]]:
    """Return how strongly columns go together, before and after, the strongest first."""
    pairs: list[dict[str, Any]] = []
    for one, two in combinations(seen[:COLUMNS], 2):
        if one.role == two.role == "sensitive":
            continue  # both are published as they were
        before, after = association(one.before, two.before), association(one.after, two.after)
        if before is None or after is None:
            continue
        after *= one.narrowed * two.narrowed
        numbers = one.before.ndim + two.before.ndim
        how = ("correlation", "correlation ratio", "Cramér's V")[numbers - 2]
        entry = {"one": one.name, "two": two.name, "how": how}
        pairs.append(entry | {"before": three(before), "after": three(after)})
    return sorted(pairs, key=lambda pair: -abs(pair["before"]))[:PAIRS]


def association(one: NDArray[np.float64], two: NDArray[np.float64]) -> float | None:
    """Return Pearson's correlation of numbers, the correlation ratio of numbers by labels, or V.

    Labels come as the share of every row in each band. None where a column does not vary.
    """
    if one.ndim == two.ndim == 1:
        one, two = one - one.mean(), two - two.mean()
        size = np.sqrt((one @ one) * (two @ two))
        return float(np.clip(one @ two / size, -1, 1)) if size > 0 else None
    if one.ndim == 2 and two.ndim == 2:
        return _cramer(one.T @ two)
    numbers, shares = (one, two) if one.ndim == 1 else (two, one)
    weights = shares.sum(0)
    numbers = numbers - numbers.mean()
    sums = shares.T @ numbers
    whole = numbers @ numbers
    if whole <= 0 or np.count_nonzero(weights) < 2:
        return None
    between = np.divide(sums**2, weights, out=np.zeros_like(sums), where=weights > 0).sum()
    return float(np.sqrt(np.clip(between / whole, 0, 1)))


def _cramer(table: NDArray[np.float64]) -> float | None:
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return None
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    spread = ((table - expected) ** 2 / expected).sum() / table.sum()
    return float(np.sqrt(np.clip(spread / least, 0, 1)))


def _target(seen: list[Seen]) -> Seen | None:
    """Return what is explained by the rest: a sensitive number, or a label, or else a number."""
    numbers = [one for one in seen if not one.parts]
    kept = [one for one in numbers if one.role == "sensitive"]
    if kept:
        return kept[0]
    for one in seen:
        if one.role == "sensitive" and len(one.parts) > 1:
            named = f"share of {one.parts[0]} in {one.name}"
            return replace(
                one, name=named, parts=[], before=one.before[:, 0], after=one.after[:, 0]
            )
    return numbers[-1] if len(seen) > 1 and numbers else None


def _regression(target: Seen | None, seen: list[Seen], people: int) -> dict[str, Any]:
    """Explain the target by the quasi columns, on both tables, by least squares."""
    if target is None:
        return {"skipped": "No regression: there is no number that others could explain."}
    names: list[str] = []
    before: list[NDArray] = []
    after: list[NDArray] = []
    for one in seen:
        if one.role != "quasi" or one.name == target.name:
            continue
        if not one.parts:
            names.append(f"each unit of {one.name}")
            before.append(one.before)
            after.append(one.after)
            continue
        for part in range(1, min(len(one.parts), TERMS + 1)):  # the first is the commonest label
            names.append(f"{one.name} {one.parts[part]} instead of {one.parts[0]}")
            before.append(one.before[:, part])
            after.append(one.after[:, part])
    if not names or people < PER_TERM * (len(names) + 2):
        return {"skipped": "No regression: there are too few people for it."}
    fits = (
        least_squares(before, target.before),
        least_squares(after, target.after, target.within),
    )
    if fits[0] is None or fits[1] is None:
        return {"skipped": "No regression: some columns say the same as others."}
    terms = [
        {
            "name": name,
            "before": three(fits[0][0][place]),
            "error_before": three(fits[0][1][place]),
            "after": three(fits[1][0][place]),
            "error_after": three(fits[1][1][place]),
        }
        for place, name in enumerate(names)
    ]
    return {"target": target.name, "terms": terms}


def least_squares(
    columns: list[NDArray], target: NDArray, within: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the coefficients beside a constant, and their standard errors; None if ambiguous.

    `within` is the sum of squares that means of groups lack.
    """
    matrix = np.column_stack(columns)
    matrix = matrix - matrix.mean(0)
    scale = np.sqrt((matrix**2).mean(0))
    if not (scale > 0).all():
        return None
    matrix /= scale
    left = target - target.mean()
    found, _, rank, _ = np.linalg.lstsq(matrix, left, rcond=1e-9)
    if rank < matrix.shape[1]:
        return None
    rest = left - matrix @ found
    freedom = max(1, len(left) - matrix.shape[1] - 1)
    spread = np.linalg.inv(matrix.T @ matrix).diagonal() * (rest @ rest + within) / freedom
    return found / scale, np.sqrt(np.maximum(spread, 0)) / scale


def _lost(release: ReleaseData) -> NDArray[np.float64]:
    """Return how much of the detail every coded row has lost, over all quasi columns."""
    layout, kinds = release.recoding.layout, release.recoding.kinds
    columns = release.coded.quasi
    by_cell = sum(ncp_by_group(c, kinds[c.name].spans)[kinds[c.name].which] for c in columns)
    lost = np.empty(len(layout.carries))
    lost[layout.carries] = np.asarray(by_cell)[layout.bears] / len(columns)
    return lost


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
