"""The values of a table, and of people who are not in it, under the nodes of a hierarchy.

A node covers values, not just those that occur. Where a population is given, a hierarchy is built
from its values, so that no name and no count of a node tells who of them is in the table.

Below them stand the distinct values of a column, what they are compared by, and their bins.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table.dates import date_parts
from shoal.table.hierarchy import Tree
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from shoal.table.column import Column
    from shoal.table.groupings import Hierarchy
    from shoal.table.hierarchy import Levels


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


@dataclass(frozen=True, eq=False)
class Placed:
    """A tree, where the values of the table stand in it, and where those of people do."""

    tree: Tree
    places: NDArray[np.int64]
    standing: NDArray[np.int64] | None


def distinct_of(column: Column) -> Distinct:
    """Return the distinct values of a column, without the label of missing ones."""
    labels = column.spellings.to_list()
    kept = [place for place, label in enumerate(labels) if label != MISSING_LABEL]
    values = column.numbers if column.numeric else None
    whole = Distinct(
        column.name, labels, values, column.counts, dates=column.dates, ordered=column.ordered
    )
    return whole.part(kept)


def place(column: Column, hierarchy: Hierarchy, people: Column | None) -> Placed:
    """Build the tree of a column's values, or of everybody's where people are given.

    Then its names and counts tell of everybody, and not who is in the table. A missing cell is a
    label under the root, unless the hierarchy has a place for it. Of a listed hierarchy the tree
    has the labels that occur; the whole of it has to be sound all the same.
    """
    texts = column.spellings.to_list()
    spelled: dict[str, str] = {}
    if people is None:
        levels = levels_of(column, hierarchy)
    else:
        levels, spelled = _of_everybody(column, hierarchy, people)
        texts += people.spellings.to_list()
    labels = [spelled.get(text, text) for text in texts]
    Tree.of(levels, column.name).places(labels, column.name)
    present = set(labels)
    tree = Tree.of(tuple(path for path in levels if path[0] in present), column.name)
    places = tree.places(labels, column.name)
    own, theirs = np.split(places, [column.distinct])
    return Placed(tree, own, None if people is None else theirs)


def _of_everybody(
    column: Column, hierarchy: Hierarchy, people: Column
) -> tuple[Levels, dict[str, str]]:
    """Return the paths of people's values, and the label of each text of theirs and the table's."""
    own, theirs = distinct_of(column), distinct_of(people)
    hierarchy.check_people(own)
    whole = _together(theirs, own)
    missing = any(MISSING_LABEL in one.spellings for one in (column, people))
    levels = _levels(whole, hierarchy, column, missing=missing)
    same = dict(zip(_exact(whole), whole.labels, strict=True))
    spelled = {
        text: same[key]
        for some in (own, theirs)
        for text, key in zip(some.labels, _exact(some), strict=True)
    }
    if not hierarchy.readable:  # its owner listed it
        return levels, spelled
    levels, below = _merged(levels)
    return levels, {text: below[label] for text, label in spelled.items()}


def levels_of(column: Column, hierarchy: Hierarchy) -> Levels:
    """Return the paths of a column's values; a missing cell is a label under the root."""
    own = distinct_of(column)
    return _levels(own, hierarchy, column, missing=len(own.labels) < column.distinct)


def _levels(distinct: Distinct, hierarchy: Hierarchy, column: Column, *, missing: bool) -> Levels:
    if hierarchy.needs_numbers and column.values is None:
        msg = (
            f"{hierarchy!r} needs numbers or dates, and column {column.name!r} has other cells. "
            "Choose another hierarchy, or give the column a type."
        )
        raise InputError(msg)
    levels = hierarchy.levels(distinct) if distinct.labels else ((MISSING_LABEL,),)
    return _with_missing(levels) if missing else levels


def _exact(distinct: Distinct) -> list[Any]:
    """Return what values are ordered and compared by."""
    return distinct.labels if distinct.values is None else exactly(distinct)


def _together(theirs: Distinct, own: Distinct) -> Distinct:
    """Return people's values, and those of the table that none of them has, in one order."""
    known = set(_exact(theirs))
    rest = own.part([place for place, key in enumerate(_exact(own)) if key not in known])
    numbers = [one.values for one in (theirs, rest) if one.values is not None]
    both = replace(
        own,
        labels=theirs.labels + rest.labels,
        values=np.concatenate(numbers) if numbers else None,
        counts=np.concatenate([theirs.counts, np.zeros_like(rest.counts)]),
    )
    return both.part(sorted(range(len(both.labels)), key=_exact(both).__getitem__))


def _merged(levels: Levels) -> tuple[Levels, dict[str, str]]:
    """Return paths without labels that another one covers, and the label for each.

    A day covers the moments of it, where others have it as it is.
    """
    known = {path[0] for path in levels}
    below = {
        path[0]: next((name for name in path[1:-1] if name in known and name != path[0]), path[0])
        for path in levels
    }
    return tuple(path for path in levels if below[path[0]] == path[0]), below


def named_above(
    hierarchy: Hierarchy, names: Collection[str], distinct: Distinct
) -> list[list[str]]:
    """Return for every value which of the named nodes cover it, a name of its own among them."""
    known = sorted(names)
    same: dict[object, str] = {}
    for name, key in zip(known, distinct.keys(known), strict=True):
        if key is not None:
            same.setdefault(key, name)
    above = hierarchy.covering(names, distinct)
    found = []
    for label, key, path in zip(
        distinct.labels, distinct.keys(distinct.labels), above, strict=True
    ):
        own = label if label in names else same.get(key)
        found.append(list(dict.fromkeys([*([] if own is None else [own]), *path])))
    return found


def _with_missing(levels: Levels) -> Levels:
    """Return levels with a place for missing cells, which is under the root if none is said."""
    if any(path[0] == MISSING_LABEL for path in levels):
        return levels
    depth = len(levels[0])
    return (*levels, (MISSING_LABEL,) * max(depth - 1, 1) + levels[0][-1:] * (depth > 1))
