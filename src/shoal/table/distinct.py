"""The distinct values of a column, what they are compared by, and the bins they lie in."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.table.dates import date_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NUMERAL = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"  # that is exact within reason


DAY = 86_400 * 10**9  # nanoseconds
BIN = re.compile(r"\[([^,]+), ([^,]+)\)")


EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - dates of tables have no zone


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column in their order: how they are spelled and how often.

    `values` are numbers, or days where `dates` says so; `ordered` labels stand in an order that a
    person gave.
    """

    column: str
    labels: list[str]
    values: NDArray | None
    counts: NDArray[np.int64]
    dates: bool = False
    ordered: bool = False

    def keys(self, texts: list[str]) -> list[Any]:
        """Return what texts are compared by: numbers, moments or themselves; None if they cannot.

        Exact, so that 0.1 and 0.10 are one value, and neighbouring large numbers are two.
        """
        if self.values is None:
            return list(texts)
        if self.dates:
            return moments(texts)
        return [size_of(text) for text in texts]

    def part(self, places: list[int]) -> Distinct:
        """Return some of the values."""
        return Distinct(
            self.column,
            [self.labels[place] for place in places],
            None if self.values is None else self.values[places],
            self.counts[places],
            self.dates,
            self.ordered,
        )


def exactly(distinct: Distinct) -> list[Fraction]:
    """Return numbers, or days, exactly: doubles may be what several large ones have in common."""
    assert distinct.values is not None
    keys = distinct.keys(distinct.labels)
    unit = DAY if distinct.dates else 1
    return [
        Fraction(str(value)) if key is None else Fraction(key, unit)
        for key, value in zip(keys, distinct.values.tolist(), strict=True)
    ]


def moments(texts: list[str]) -> list[int | None]:
    """Return the nanoseconds from 1970-01-01 up to each date, None for what is none."""
    seconds, rest = date_parts(pl.Series(texts, dtype=pl.String))
    return [
        None if whole is None else whole * 10**9 + part
        for whole, part in zip(seconds.to_list(), rest.to_list(), strict=True)
    ]


def size_of(text: str) -> Fraction | None:
    """Return the number that a text spells; a wild exponent would take for ever to be exact."""
    if re.fullmatch(NUMERAL, text):
        return Fraction(text)
    try:
        rounded = float(text)
    except ValueError:
        return None
    return Fraction(rounded) if math.isfinite(rounded) else None


def spell_number(value: Fraction) -> str:
    """Spell a number exactly, without a fraction that says nothing."""
    if value.denominator == 1:
        return str(value.numerator)
    short = repr(float(value))
    return short if Fraction(short) == value else _all_digits(value)


def _all_digits(value: Fraction) -> str:
    """Spell a multiple of a decimal with all its digits."""
    digits = next(digits for digits in count(1) if 10**digits % value.denominator == 0)
    whole, rest = divmod(abs(value) * 10**digits, 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{int(rest):0{digits}d}"


def bin_of(value: Fraction, width: Fraction, *, dates: bool) -> str:
    """Name the bin of a width that holds a number, or a date."""
    place = value // width
    spelled = _dated if dates else spell_number
    return f"[{spelled(place * width)}, {spelled((place + 1) * width)})"


def _dated(days: Fraction) -> str:
    """Spell so many days after 1970-01-01 as a date, with the time of day where there is one."""
    microseconds = days * DAY / 1000
    if microseconds.denominator > 1:  # finer than clocks write
        return spell_number(days)
    try:
        moment = EPOCH + timedelta(microseconds=microseconds.numerator)
    except OverflowError:  # beyond the years that calendars write
        return spell_number(days)
    return moment.date().isoformat() if days.denominator == 1 else moment.isoformat()


def bin_width(name: str, *, dates: bool) -> Fraction | None:
    """Return how wide the bin of a name is, in days for dates; None where it names no bin."""
    found = BIN.fullmatch(name)
    if found is None:
        return None
    low, high = moments([found[1], found[2]]) if dates else (None, None)
    if low is not None and high is not None:
        return Fraction(high - low, DAY)
    ends = size_of(found[1]), size_of(found[2])
    return None if ends[0] is None or ends[1] is None else ends[1] - ends[0]
