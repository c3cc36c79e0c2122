"""Checks of values from a stranger's JSON: each raises a sentence that says where and what.

A check is a function of a value and of the words for its place. Checks are put together: a list of
texts, an object with these keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

Check = Callable[[Any, str], None]
LONGEST = 10**7  # characters of any text
WHOLE = 2**53  # counts above it are not those of a table
BRIEF = 60  # characters of what was got that a message repeats


class Wrong(Exception):
    """Something that cannot stand where it stands."""


def refused(place: str, allowed: str, got: Any) -> Wrong:
    """Return the sentence of all checks: where, what is needed, what was got."""
    try:
        shown = repr(got)
    except (ValueError, RecursionError):  # a number of thousands of digits, or deep nesting
        shown = type(got).__name__
    shown = shown if len(shown) <= BRIEF else shown[:BRIEF] + "…"
    return Wrong(f"{place} has to be {allowed}, not {shown}")


def whole(*, least: int = 0, null: bool = False) -> Check:
    """Return a check for counts."""

    def check(value: Any, place: str) -> None:
        if value is None and null:
            return
        if type(value) is not int or not least <= value <= WHOLE:
            raise refused(place, f"a whole number of at least {least}", value)

    return check


def finite(*, least: float = -math.inf, above: float = -math.inf, most: float = math.inf) -> Check:
    """Return a check for numbers: neither NaN nor infinite, and not larger than a double."""
    words = [f"of at least {least}"] * (least > -math.inf)
    words += [f"above {above}"] * (above > -math.inf) + [f"of at most {most}"] * (most < math.inf)

    def check(value: Any, place: str) -> None:
        right = type(value) in {int, float}
        try:
            right = right and math.isfinite(value) and least <= value <= most and value > above
        except OverflowError:
            right = False
        if not right:
            raise refused(place, " ".join(["a number", " and ".join(words)]).strip(), value)

    return check


def text(pattern: str | None = None, *, longest: int = LONGEST, null: bool = False) -> Check:
    """Return a check for texts that match a pattern; with `null`, null will do."""

    def check(value: Any, place: str) -> None:
        if value is None and null:
            return
        if not isinstance(value, str) or len(value) > longest:
            raise refused(place, f"a text of at most {longest:,} characters", value)
        if pattern is not None and not re.fullmatch(pattern, value):
            raise refused(place, f"a text like {pattern}", value)

    return check


def flag(value: Any, place: str) -> None:
    """Check for true or false."""
    if not isinstance(value, bool):
        raise refused(place, "true or false", value)


def true(value: Any, place: str) -> None:
    """Check for true: what is false is not said."""
    if value is not True:
        raise refused(place, "true or left out", value)


def one_of(*words: str) -> Check:
    """Return a check for one of several words."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, str) or value not in words:
            raise refused(place, " or ".join(map(repr, words)), value)

    return check


def listed(
    item: Check, *, least: int = 0, most: int | None = None, different: bool = False
) -> Check:
    """Return a check for lists, item by item."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, list) or len(value) < least or len(value) > (most or len(value)):
            raise refused(place, "a list" + f" of at least {least}" * bool(least), value)
        for number, one in enumerate(value, 1):
            item(one, f"{place}, {number}")
        if different and len(set(value)) < len(value):
            raise refused(place, "a list without repetition", value)

    return check


def mapped(item: Check, names: Check = lambda _value, _place: None) -> Check:
    """Return a check for objects whose keys are free, value by value."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise refused(place, "an object", value)
        for name, one in value.items():
            names(name, place)
            item(one, f"{place}, {name[:BRIEF]!r}")

    return check


def or_null(check: Check) -> Check:
    """Return a check that null passes as well."""

    def checked(value: Any, place: str) -> None:
        if value is not None:
            check(value, place)

    return checked


def shaped(needed: dict[str, Check], known: dict[str, Check] | None = None) -> Check:
    """Return a check for objects with these keys: those that are needed, others that may be."""
    every = needed | (known or {})

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise refused(place, "an object", value)
        for name in needed:
            if name not in value:
                problem = f"{place} lacks {name!r}"
                raise Wrong(problem)
        for name, one in value.items():
            if name not in every:
                problem = f"{place} has {name[:BRIEF]!r}, which this version of Shoal does not know"
                raise Wrong(problem)
            every[name](one, f"{place}, {name!r}")

    return check
