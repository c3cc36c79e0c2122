"""Which values of a parameter are tried: said by a person, or around the value that is asked for.

Notation: `epsilon` (a grid of our own), `epsilon=1000,2000,4500`, `epsilon=1000..9000` (so many
points as `POINTS`, evenly apart) or `epsilon=1000..9000:5`.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError, nearest
from shoal.notation import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.principles.base import Principle
    from shoal.principles.requirement import Requirement

POINTS = 8
MOST_POINTS = 100
RANGE = re.compile(r"(?P<first>[^.:].*?)\.\.(?P<last>.+?)(?::(?P<points>\d+))?")
FORM = "Write it as epsilon=1000,2000,4500 or epsilon=1000..9000:5."


@dataclass(frozen=True)
class Grid:
    """A parameter of one requirement, and the values to try, ascending."""

    place: int  # of the requirement among all
    parameter: str
    values: tuple[float, ...]


def grid_of(asked: Sequence[Requirement], vary: str | None) -> Grid:
    """Read what is to be varied; without it, the first parameter of the first requirement."""
    name, equals, said = (part.strip() for part in (vary or "").partition("="))
    if (vary and not name) or (equals and not said):
        msg = f"Cannot read {brief(vary or '')}. {FORM}"
        raise UsageError(msg)
    place, parameter = _find(asked, name or None)
    principle = asked[place].principle
    values = _read(said, vary or "") if said else _around(principle, parameter)
    return Grid(place, parameter, values)


def parameters(principle: Principle) -> dict[str, bool]:
    """Return the parameters of a principle that are numbers, and whether each is a whole one."""
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(principle)  # type: ignore[arg-type]
    return {field.name: field.type == "int" for field in fields if field.type in {"int", "float"}}


def _find(asked: Sequence[Requirement], name: str | None) -> tuple[int, str]:
    known = [parameters(one.principle) for one in asked]
    if name is None:
        return 0, next(iter(known[0]))
    places = [place for place, names in enumerate(known) if name in names]
    if not places:
        every = sorted({name for names in known for name in names})
        msg = f"Nothing that is required has a parameter {name!r}{nearest(name, every)}"
        raise UsageError(msg)
    if len(places) > 1:
        msg = (
            f"{len(places)} requirements have a parameter {name!r}. Vary one that only one of them "
            "has, or tune them one at a time."
        )
        raise UsageError(msg)
    return places[0], name


def _read(said: str, whole: str) -> tuple[float, ...]:
    found = RANGE.fullmatch(said)
    if not found:
        return tuple(sorted({_number(text, whole) for text in said.split(",")}))
    first, last = _number(found["first"], whole), _number(found["last"], whole)
    points = int(found["points"] or POINTS)
    if not 2 <= points <= MOST_POINTS or first >= last:
        msg = (
            f"In {brief(whole)}, a range goes from a smaller to a larger number in 2 to "
            f"{MOST_POINTS} points. {FORM}"
        )
        raise UsageError(msg)
    integers = isinstance(first, int) and isinstance(last, int)
    return _distinct(np.linspace(first, last, points), whole=integers)


def _number(text: str, whole: str) -> float:
    text = text.strip()
    try:
        value = int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        finite = abs(value) < float("inf")
    except ValueError:
        finite = False
    if not finite:
        msg = f"In {brief(whole)}, {brief(text)} is not a number. {FORM}"
        raise UsageError(msg)
    return value


def _around(principle: Principle, parameter: str) -> tuple[float, ...]:
    """Return values from a quarter of what is asked for to twice as much, those that are allowed.

    Where these are whole numbers and too few, all from 2 to 9 instead.
    """
    asked, whole = getattr(principle, parameter), parameters(principle)[parameter]
    if not asked:
        msg = f"Around {parameter}={asked} there is nothing to try. Say what to try: {FORM}"
        raise UsageError(msg)
    steps = np.arange(1, POINTS + 1) * asked / (POINTS / 2)
    values = _distinct(steps, whole=whole)
    if whole:
        values = tuple(value for value in values if value >= min(2, asked))  # 1 protects nobody
    if whole and len(values) < 6:
        values = tuple(sorted({*range(2, 2 + POINTS), asked}))
    return tuple(value for value in values if _allowed(principle, parameter, value))


def _allowed(principle: Principle, parameter: str, value: float) -> bool:
    try:
        dataclasses.replace(principle, **{parameter: value})  # type: ignore[type-var]
    except UsageError:
        return False
    return True


def _distinct(values: Any, *, whole: bool) -> tuple[float, ...]:
    if whole:
        return tuple(sorted({round(value) for value in values.tolist()}))
    return tuple(sorted({float(f"{value:.6g}") for value in values.tolist()}))
