"""How the page speaks: numbers for people, and the words for options and parameters."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import shoal
from shoal.ask import options as usual
from shoal.ask.ask import Ask
from shoal.ask.options import options_of
from shoal.exact import SMALL, percent

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shoal.web.worker import Values

EVERYBODY, KNOWN = usual.EVERYBODY, usual.KNOWN
NARROW = "\u00a0"  # keeps "1 in 5" on one line
OPTIONS = {one.name: one.page for one in options_of(Ask).values() if one.page}
NAMES = {one.name: one.page_name for one in options_of(Ask).values() if one.page_name}
COUNTS = {"m", "l", "k"}
FORMS = {  # name, how a cell looks, what it is good for
    "intervals": ("Intervals", "[38, 41]", "One column each. Readers see directly what is known."),
    "bounds": ("Bounds", "38 · 41", "Two columns of numbers: the ends of the interval."),
    "means": ("Means and bounds", "39.4 · 38 · 41", "Numbers at once in R, Stata or pandas."),
    "two-tables": (
        "Two tables",
        "people.csv + values.csv",
        "Allows most analyses, for research under an agreement. Columns that others may know are "
        "published exactly, so readers can tell who is in the table.",
    ),
}
CELLS = {  # name, how a cell looks, what it means
    "tight": (
        "Around the people",
        "[38, 41]",
        "One person is 38 and one is 41. Less detail is lost.",
    ),
    "regions": (
        "Between public cuts",
        "[30, 44]",
        "No person needs to be 30 or 44. The outermost ends are the smallest and the largest value "
        "of the table, unless you state bounds in a schema file. More detail is lost.",
    ),
}
WHOSE_ROWS = (
    "People in this release may have several rows, so an attacker has to know whose rows are "
    "whose. Open the original table and choose “Marks one person’s rows” for the column that says "
    "so. Then attack the release with that table."
)
PARTS = {  # in which a requirement was measured
    "group": "each group",
    "cells": "all rows with equal cells, because groups share cells",
    "matches": "the rows that match each person",
}
CONTROL = (
    "An attack compares the control group with the people in the release. Choose the original "
    "table and, as the control group, another table: people who are not in the release."
)
UNKNOWN = "too few rows to estimate; all of them may allow it"
ALTERNATIVES = {  # what it is called, and what it gains
    "everybody": (
        "For public release",
        f"A person’s row is identified with a chance of at most 1 in {EVERYBODY}, the usual "
        "threshold for public release.",
    ),
    "known": (
        "For people we know",
        f"A person’s row is identified with a chance of at most 1 in {KNOWN}: for readers under "
        "an agreement.",
    ),
    "wider": ("Protect a wider range", "Protects against less precise guesses too."),
    "suppress": (
        "Let Shoal remove up to 1% of the rows",
        "Removing outliers lets the other rows keep more detail.",
    ),
    "drop": ("Without {drop}", "One column fewer. The others keep more detail."),
}
DOING = {
    "publish": "Making the release",
    "audit": "Checking the release",
    "attack": "Attacking the release",
    "survey": "Measuring the table",
    "compare": "Comparing ways to publish it",
    "tune": "Trying more and less protection",
}
DONE = {
    "publish": "Verdict",
    "audit": "Verdict",
    "attack": "What an attacker learns",
    "survey": "What the table keeps as it is",
    "compare": "Ways to publish it, compared",
    "tune": "What more protection costs",
}
TYPES = {
    "numeric": "number",
    "date": "date",
    "latitude": "latitude",
    "longitude": "longitude",
    "categorical": "label",
    "code": "code",
    "boolean": "yes or no",
    "ordered": "ordered label",
}
MOST_POINTS = 200  # of a picture of what a search loses
MOST_DIGITS = 10**15  # numbers from here on are not written out
PHASES = {
    "read": "Read the table",
    "code": "Prepare its columns",
    "search": "Find groups that keep the promise",
    "improve": "Make them tighter",
    "recode": "Coarsen what may be known",
    "write": "Write the files",
    "audit": "Measure the promise on what was written",
    "report": "Write the report",
}


def whole(value: float) -> str:
    """Write a count.

    >>> whole(60214)
    '60,214'
    """
    return f"{value:,.0f}"


def number(value: Any) -> str:
    """Write a number with separators and no more digits than it has.

    >>> number(2000), number(0.25), number(3e7), number("abc")
    ('2,000', '0.25', '30,000,000', 'abc')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    whole_number = isinstance(value, int) or (value.is_integer() and abs(value) < MOST_DIGITS)
    return f"{value:,.0f}" if whole_number else f"{value:,.6g}"


def beside(lost: float, now: float) -> str:
    r"""Say how much more or less something costs than what is chosen.

    >>> beside(0.153, 0.057), beside(0.047, 0.057)
    ('9.6 percentage points more than your choice', '1 percentage point less than your choice')
    >>> beside(0.057, 0.057)
    'as much as your choice'
    """
    digits = 1 if max(lost, now) >= SMALL else 2  # as both are shown
    more = round(round(100 * lost, digits) - round(100 * now, digits), digits)
    if not more:
        return "as much as your choice"
    points = "percentage point" if abs(more) == 1 else "percentage points"
    return f"{abs(more):g} {points} {'more' if more > 0 else 'less'} than your choice"


def unpriced(whole: bool) -> str:  # noqa: FBT001 - templates name nothing
    """Say why something has no price, tried on the whole table or on a part of it.

    >>> unpriced(True), unpriced(False)
    ('not achievable on this table', 'too few rows to estimate; all of them may allow it')
    """
    return "not achievable on this table" if whole else UNKNOWN


def seconds(value: float) -> str:
    r"""Write a time.

    >>> seconds(0.234), seconds(42.4), seconds(125)
    ('0.2\xa0s', '42\xa0s', '2\xa0min 5\xa0s')
    """
    if value < 10:
        return f"{value:.1f}{NARROW}s"
    if value < 60:
        return f"{value:.0f}{NARROW}s"
    return f"{int(value // 60)}{NARROW}min {int(value % 60)}{NARROW}s"


def remaining(value: float) -> str:
    """Write how long something still takes, in no more detail than is known.

    >>> remaining(0.4), remaining(24.2), remaining(95)
    ('About 1 second left', 'About 24 seconds left', 'About 2 minutes left')
    """
    count, unit = (max(1, round(value)), "second") if value < 90 else (round(value / 60), "minute")
    return f"About {count} {unit}{'' if count == 1 else 's'} left"


def size(count: int) -> str:
    """Write the size of a file.

    >>> size(900), size(912_000), size(3_400_000)
    ('1 kB', '912 kB', '3.4 MB')
    """
    if count < 1_000_000:
        return f"{max(1, round(count / 1000))} kB"
    return f"{count / 1_000_000:.1f} MB"


def lacking(by: dict[str, int], undecided: dict[str, int] | None = None) -> str:
    """Say which columns lack values, and in how many rows.

    >>> lacking({"zip": 84}, {"age": 1200})
    'age is missing in 1,200 rows and zip in 84'
    """
    counts = sorted((by | (undecided or {})).items(), key=lambda one: -one[1])
    (name, count), *others = counts
    said = [f"{name} is missing in {count:,} {'row' if count == 1 else 'rows'}"]
    said += [f"{name} in {count:,}" for name, count in others]
    return " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))


def option(name: str, value: str | None) -> str:
    """Spell an option in a sentence of the page."""
    if value is None:
        return NAMES.get(name, name.replace("_", " "))
    return f"“{label(name, value)}”"


def label(name: str, value: str) -> str:
    """Return what a button says that sets an option."""
    known = OPTIONS.get(name, "{name}: {{}}".format(name=name.replace("_", " ").capitalize()))
    if isinstance(known, dict):
        return known.get(value, f"{name.replace('_', ' ')} {value}")
    return known.format(value).replace(" 1 rows", " 1 row")


def not_names(columns: str) -> str:
    """Return what a button says that states that a column is not what it looks like."""
    return f"{columns} does not name or describe people, and no reader knows it of a person"


def remedy(one: Mapping[str, Any]) -> str:
    """Return what a button says that changes a requirement.

    >>> remedy({"parameter": "m", "value": 3}), remedy({"parameter": "alpha", "value": 0.35})
    ('Allow a chance of 1 in 3', 'Limit equal values only: 35% of a group')
    """
    value = one["value"]
    if one["parameter"] == "alpha":
        return f"Limit equal values only: {percent(value)} of a group"
    said = {
        "epsilon": "Guesses must be closer: {}",
        "m": "Allow a chance of 1 in {}",
        "l": "Allow a chance of 1 in {}",
        "k": "Minimum group size: {}",
    }
    return said.get(one["parameter"], one["parameter"] + " {}").format(number(value))


@cache
def starts() -> dict[str, tuple[str, str, bool]]:
    """Return what a requirement may begin with: notation, what it is for, whether of a column."""
    every = (getattr(shoal.principles, name) for name in dir(shoal.principles))
    return {
        one.__name__: (f"{one.__name__}({one.start})".format(most=KNOWN), one.aim, one.columns > 0)
        for one in every
        if one.start is not None
    }


@cache
def ways_to_search() -> dict[str, tuple[str, str]]:
    """Return what each method that the page offers is called, and what it is good for."""
    every = (getattr(shoal.methods, name) for name in dir(shoal.methods))
    offered = {repr(one()): one.page for one in every if one.page is not None}
    return {
        "": ("The default", "Shoal takes the method that loses least on your table."),
        **offered,
    }


def span(name: str, value: float, limit: Values | None, rows: int) -> tuple[float, float, float]:
    """Return the least and the largest number of a slider, and its step."""
    if name in COUNTS:
        most = limit["limit"] if limit and limit["limit"] else max(2, rows)
        return (2, max(2, min(most, max(30, 2 * value))), 1)
    bound = limit["limit"] if limit and limit["limit"] else None
    if limit and limit["must"] == "under" and bound:
        return (0, bound, bound / 100)
    if name in {"t", "delta", "alpha"}:
        return (0, 1, 0.01)
    most = max(2 * value, bound or 0) or 1
    return (0, most, most / 100)


def covers(column: Values, lost: float) -> str:
    """Say what a published cell covers on average, by the share that is lost."""
    domain = column.get("domain") or []
    if column.get("never_mix"):
        return "exactly what it was"
    if column.get("kind") == "interval":
        low, high = domain[:2]
        if isinstance(low, int | float) and isinstance(high, int | float):
            return f"a range of {number(round(lost * (high - low), 2))}, on average"
        return f"{percent(lost)} of all dates"
    count = len(domain)
    if column.get("kind") == "set" and count:
        labels = 1 + lost * (count - 1)
        return f"{labels:.1f} of the {count:,} values, on average"
    return "a node of its hierarchy"


def coarser_than(made: Values) -> list[int]:
    """Return the group sizes that make a release coarser than it is: more than it promises.

    >>> coarser_than({"found": {"quasi": 1 / 11}}), coarser_than({"found": None})
    ([20, 50, 100], [11, 20, 50, 100])
    """
    risk = (made.get("found") or {}).get("quasi") or 1
    return [size for size in (EVERYBODY, 20, 50, 100) if size * risk > 1 + 1e-9] or [200]


def bar_end(lost: Collection[float]) -> int:
    """Return at how many percent bars end that are to show what columns lose.

    >>> bar_end([0.02, 0.09]), bar_end([0.146]), bar_end([0.7]), bar_end([])
    (10, 20, 100, 10)
    """
    most = 100 * max(lost, default=0)
    return next(end for end in (10, 20, 50, 100) if most <= end or end == 100)


def falling(losses: list[tuple[float, float]], now: float) -> str:
    """Return the path of losses over time in a field of 100 by 40; it begins at its top.

    Each holds until the next one is found, and the last one until now.

    >>> falling([(1.0, 0.08), (2.0, 0.04)], 3.0)
    'M0.00 1.00H50.00V20.50H100.00'
    """
    begun, most = losses[0][0], losses[0][1] or 1.0
    span = max(now - begun, 1e-9)
    step = max(1, len(losses) // MOST_POINTS)
    told = [*losses[1::step], losses[-1]] if len(losses) > 1 else []
    drawn = "".join(
        f"H{min(100 * (at - begun) / span, 100):.2f}V{40 - 39 * loss / most:.2f}"
        for at, loss in dict.fromkeys(told)
    )
    return f"M0.00 1.00{drawn}H100.00"


def scale(points: list[Values], chosen: float) -> float:
    """Return how high a picture of the frontier reaches: the first, highest columns stick out."""
    bounds = [point["bound"] for point in points]
    usual = bounds[min(2, len(bounds) - 1)]
    most = max(usual * 1.3, chosen * 1.2) or 1
    power = 10 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= most)


def together(*several: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what belongs together, one of each."""
    return list(zip(*several, strict=True))
