"""From the cells of a column to ranks over its sorted distinct values.

A column is numeric when every cell is a number as JSON writes numbers, and one of dates when every
cell is a date as ISO 8601 writes them; the whole column decides. Distinct spellings of one number
share a rank, and the shortest of them is published.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from math import ceil, log10
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import BadCells, InputError, ShoalError, UsageError, option
from shoal.table.column import INTEGER, Column, Wordings, frozen
from shoal.table.columns import distinct, is_dictionary, unheld
from shoal.table.dates import LARGEST, not_dates, parse_dates, too_fine
from shoal.table.missing import MISSING_LABEL, first_rows, is_missing
from shoal.table.schema import LABELS, NUMERIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


QUANTITY = "quantity"  # numbers or dates, whichever the cells are
DEGREES = {"latitude": 90, "longitude": 180}
TRUTHS = (  # what says no and yes, in several languages, each pair in order
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("f", "t"),
    ("0", "1"),
    ("ja", "nein"),
    ("j", "n"),
    ("non", "oui"),
    ("n", "o"),
    ("no", "si"),
    ("no", "sí"),
    ("n", "s"),
)
YES_AND_NO = frozenset({"", *(word for pair in TRUTHS for word in pair)})
TINY = 1e-299  # a step of rounding that is a number still
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def code_column(
    column: pl.Series, *, kind: str | None = None, order: Sequence[str] | None = None
) -> Column:
    """Code one column; `kind` and `order` come from the schema and overrule the cells."""
    check_type(column)
    if is_dictionary(column):
        return _code_dictionary(column, kind, order)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if not column.dtype.is_numeric() or kind in {*LABELS, "date"} or order is not None:
        column = column.cast(pl.String)
    cells = column.unique().drop_nulls()
    spelled = cells.cast(pl.String)
    match _reading(column, spelled, "categorical" if order is not None else kind):
        case "numbers":
            return _code_numbers(column, cells, spelled, DEGREES.get(kind or ""))
        case "dates":
            return _code_dates(column, spelled)
    labels = _code_labels(column.cast(pl.String), order)
    if kind == "boolean":
        strange = pl.Series([label.lower() not in YES_AND_NO for label in labels.spellings])
        _refuse(column, strange, labels.spellings, "neither true nor false")
    return labels


def code_lenient(
    column: pl.Series, *, kind: str | None = None, order: Sequence[str] | None = None
) -> Column:
    """Code a column where a missing cell may be a value of its own.

    Missing numbers, and dates, have the rank after all others; a missing label is a label. What is
    wrong with other cells is said of the rows of the whole column. Categories that have an order
    keep it, as if the schema said so.
    """
    missing = is_missing(column)
    order = _order_of(column, kind, order)
    if not missing.any():
        return code_column(column, kind=kind, order=order)
    there = ~missing.to_numpy()
    try:
        known = code_column(column.filter(there), kind=kind, order=order)
    except BadCells as problem:
        where = [int(np.flatnonzero(there)[row - 1]) + 1 for row in problem.rows]
        raise BadCells(column.name, problem.what, where, problem.count, problem.advice) from None
    if not known.numeric:
        return code_column(column, kind=kind, order=order)
    codes = np.full(len(column), known.distinct, np.int32)
    codes[there] = known.codes
    wordings = None
    if known.wordings is not None:
        texts = pl.concat([known.wordings.texts, pl.Series([MISSING_LABEL])])
        rows = np.full(len(column), len(texts) - 1, np.int64)
        rows[there] = known.wordings.rows
        wordings = Wordings(texts, np.append(known.wordings.ranks, known.distinct), rows)
    return replace(
        known,
        wordings=wordings,
        codes=frozen(codes),
        spellings=pl.concat([known.spellings, pl.Series([MISSING_LABEL])]),
    )


def code_asked(
    column: pl.Series,
    *,
    numbers: bool | None,
    kind: str | None = None,
    order: Sequence[str] | None = None,
) -> Column:
    """Code a sensitive column: whether a requirement needs `numbers` in it, None where none asks.

    Numbers may be missing, but not all of them.
    """
    if not numbers:
        return code_lenient(column, kind=kind, order=order)
    known = code_lenient(column, kind=quantity(kind))
    if known.numeric:
        return known
    msg = (
        f"Column {column.name!r} has no value in any row, but its requirement needs numbers. "
        "Fill in the values, or give the column another role."
    )
    raise InputError(msg)


def _order_of(
    column: pl.Series, kind: str | None, order: Sequence[str] | None
) -> Sequence[str] | None:
    """Return the order that was given, or that the categories of a frame have."""
    if order is not None or kind is not None or not isinstance(column.dtype, pl.Enum):
        return order
    return [*column.dtype.categories, *[MISSING_LABEL] * bool(is_missing(column).any())]


def code_persons(column: pl.Series) -> NDArray[np.int64]:
    """Return a number for each cell of a person column, in the order in which people come.

    Cells are told apart by their spelling, and a missing one is a cell too; nothing else is known
    of them afterwards.
    """
    check_type(column)
    if is_dictionary(column):
        cells, places = distinct(column)
        return _by_appearance(code_persons(cells.cast(pl.String))[places])
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if not column.dtype.is_integer():
        column = column.cast(pl.String).fill_null(MISSING_LABEL)
    ranks = column.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    return _by_appearance(ranks)


def _by_appearance(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers for marks from 0 without gaps, in the order in which they first come."""
    first = np.full(int(marks.max(initial=0)) + 1, len(marks), np.int64)
    first[marks[::-1]] = np.arange(len(marks))[::-1]
    numbers = np.empty_like(first)
    numbers[np.argsort(first, kind="stable")] = np.arange(len(first))
    return numbers[marks]


def _reading(column: pl.Series, spelled: pl.Series, kind: str | None) -> str:
    """Return what the cells are taken for: numbers, dates or labels."""
    if kind in LABELS or not len(spelled):
        return "labels"
    if kind == "date":
        return "dates"
    if kind in NUMERIC or column.dtype.is_numeric() or spelled.str.contains(NUMBER).all():
        return "numbers"
    if not not_dates(spelled).any():
        return "dates"
    return "numbers" if kind == QUANTITY else "labels"


def quantity(kind: str | None) -> str:
    """Return the type of a column whose values have to be numbers or dates."""
    return kind if kind in NUMERIC or kind == "date" else QUANTITY


def _code_dictionary(column: pl.Series, kind: str | None, order: Sequence[str] | None) -> Column:
    """Code a column through its distinct cells; which rows are wrong, only its rows can say."""
    cells, places = distinct(column)
    try:
        once = code_column(cells.cast(pl.String), kind=kind, order=order)
    except ShoalError:
        code_column(column.cast(pl.String), kind=kind, order=order)
        raise
    return replace(once.part(places.astype(np.int64)), offered=None)


def check_type(column: pl.Series) -> None:
    """Raise where the cells of a column are neither text nor numbers nor dates."""
    kind = column.dtype
    if kind.is_nested() or any(kind == other for other in (pl.Binary, pl.Object, pl.Duration)):
        shown = unheld(kind) or kind
        msg = f"Column {column.name!r} holds {shown}: turn it into text, numbers or dates first."
        raise InputError(msg)


def _places(column: pl.Series, cells: pl.Series) -> NDArray[np.int64]:
    """Return for each row the place of its cell in `cells`."""
    if column.dtype == pl.String:
        physical = column.cast(pl.Enum(cells)).to_physical()
    else:
        physical = column.replace_strict(cells, pl.Series(np.arange(len(cells))))
    return physical.to_numpy().astype(np.int64)


def _code_numbers(
    column: pl.Series, cells: pl.Series, spelled: pl.Series, most: int | None
) -> Column:
    if column.dtype == pl.String:
        _refuse(column, ~spelled.str.contains(NUMBER), cells, "non-numeric")
    _refuse_missing(column)
    numbers = parse_numbers(spelled)
    _refuse(column, pl.Series(~np.isfinite(numbers)), cells, "infinite")
    if most is not None:
        _refuse(column, pl.Series(np.abs(numbers) > most), cells, f"beyond {most} degrees")
    values, ranks = _ranked(numbers, spelled)
    if len(values) < len(spelled):
        _refuse_blurred(column, cells, spelled, ranks)
    return _spelled_column(column, values, ranks, spelled, _places(column, cells))


def _code_dates(column: pl.Series, spelled: pl.Series) -> Column:
    _refuse(column, not_dates(spelled), spelled, "not a date")
    _refuse_missing(column)
    _refuse(column, too_fine(spelled), spelled, "in nanoseconds, outside 1897 to 2043")
    read = parse_dates(spelled)
    assert read is not None
    values, ranks = np.unique(read[0], return_inverse=True)
    places = _places(column, spelled)
    return replace(
        _spelled_column(column, values, ranks, spelled, places), dates=True, per_day=read[1]
    )


def _spelled_column(
    column: pl.Series,
    values: NDArray,
    ranks: NDArray[np.int64],
    spelled: pl.Series,
    places: NDArray[np.int64],
) -> Column:
    """Return a column of numbers or dates, whose texts have ranks, and whose rows have texts."""
    several = Wordings(spelled, ranks, places) if len(values) < len(spelled) else None
    return Column(
        column.name,
        frozen(values),
        spelled.gather(np.argsort(ranks)) if several is None else several.shortest(),
        frozen(ranks.astype(np.int32)[places]),
        wordings=several,
    )


def _refuse_missing(column: pl.Series) -> None:
    missing = is_missing(column)
    if missing.any():
        advice = (
            "A distance to a missing number is not defined. Fill in the missing numbers, or "
            f"{option('missing', 'drop')}."
        )
        raise BadCells(column.name, "missing", first_rows(missing), int(missing.sum()), advice)


def _ranked(numbers: NDArray, spelled: pl.Series) -> tuple[NDArray, NDArray[np.int64]]:
    """Return sorted distinct numbers and the rank of each; integers are never taken for equal.

    Integers beyond 2**61 are held as doubles, of which neighbours may be equal; ranks tell them
    apart all the same.
    """
    if numbers.dtype == np.int64 or not spelled.str.contains(INTEGER).all():
        values, ranks = np.unique(numbers, return_inverse=True)
        return values, ranks
    known = sorted({int(text) for text in spelled})
    place = {number: rank for rank, number in enumerate(known)}
    ranks = np.array([place[int(text)] for text in spelled], np.int64)
    return np.array([float(number) for number in known]), ranks


def parse_numbers(spelled: pl.Series) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the numbers that texts spell: exact integers where all are, doubles otherwise."""
    if spelled.str.contains(INTEGER).all():
        integers = spelled.cast(pl.Int64, strict=False)
        if not integers.has_nulls() and bool(integers.is_between(-LARGEST, LARGEST).all()):
            return integers.to_numpy()
    return spelled.cast(pl.Float64).to_numpy()


def _refuse_blurred(
    column: pl.Series, cells: pl.Series, spelled: pl.Series, ranks: NDArray[np.int64]
) -> None:
    """Raise where numbers that differ are one double: a cell of one would not cover the other."""
    shared = np.flatnonzero(np.bincount(ranks)[ranks] > 1)
    exact: dict[int, set[Decimal]] = {}
    for place in shared.tolist():
        exact.setdefault(int(ranks[place]), set()).add(Decimal(spelled[place]))
    blurred = {rank: numbers for rank, numbers in exact.items() if len(numbers) > 1}
    if not blurred:
        return
    largest = max(abs(float(number)) for numbers in blurred.values() for number in numbers)
    step = Decimal(10) ** ceil(log10(2 * max(float(np.spacing(largest)), TINY)))
    advice = (
        "Some of them differ by less than a floating-point number can show. Round them, "
        f"{option('round', f'{column.name}={step:g}')}, or read them as labels, "
        f"{option('type', f'{column.name}=categorical')}."
    )
    _refuse(column, pl.Series(np.isin(ranks, list(blurred))), cells, "too exact", advice)


def _refuse(
    column: pl.Series, bad: pl.Series, cells: pl.Series, what: str, advice: str | None = None
) -> None:
    if bad.any():
        where = column.is_in(cells.filter(bad).implode()).fill_null(value=False)
        advice = (
            advice or "Correct them, remove those rows, or give the column another type or role."
        )
        if what == "non-numeric" and bad.all():
            advice = (
                "It holds labels. Give it another type or role, or use a requirement for "
                "labels, for example FrequencyL(l=3)."
            )
        raise BadCells(column.name, what, first_rows(where), int(where.sum()), advice)


def _code_labels(column: pl.Series, order: Sequence[str] | None) -> Column:
    column = column.fill_null(MISSING_LABEL)
    labels = column.unique().sort()
    if order is not None:
        labels = _ordered(column.name, labels, order)
    codes = _places(column, labels).astype(np.int32)
    return Column(column.name, None, labels, frozen(codes), ordered=order is not None)


def _ordered(name: str, labels: pl.Series, order: Sequence[str]) -> pl.Series:
    if len(set(order)) != len(order):
        twice = next(label for place, label in enumerate(order) if label in order[:place])
        msg = f"The order of column {name!r} names {twice!r} twice."
        raise UsageError(msg)
    unknown = labels.filter(~labels.is_in(list(order)))
    if len(unknown):
        msg = f"The order of column {name!r} lacks the label {unknown[0]!r}."
        raise InputError(msg)
    present = set(labels)
    return pl.Series([label for label in order if label in present], dtype=pl.String)
