"""How pages write numbers: chances as "1 in 12", shares in per cent, counts with commas."""

from __future__ import annotations

import json
import math
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shoal.ask import fields
from shoal.ask.options import THRESHOLD
from shoal.exact import at_most, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT = {name: heading for name, (_, _, heading) in fields.CONTEXT.items()}
CERTAIN = 1.0
SPACE = "\u00a0"  # that does not break


def one_in(risk: float) -> str:
    r"""Write a chance as one in so many, never as a smaller chance than it is.

    >>> one_in(0.0833), one_in(0.2), one_in(0.15), one_in(0.62), one_in(1), one_in(0)
    ('1\xa0in\xa012', '1\xa0in\xa05', '1\xa0in\xa06', '62\xa0in\xa0100', 'certain', 'none')
    """
    if risk >= CERTAIN:
        return "certain"
    if risk <= 0:
        return "none"
    if risk > 1 / 2:
        return _in(min(99, math.ceil(100 * risk - 1e-9)), 100)
    return _in(1, math.floor(1 / risk + 1e-9))


def _in(part: int, whole: int) -> str:
    return f"{part}{SPACE}in{SPACE}{whole:,}"


def usual(threshold: str) -> bool:
    """Return whether a threshold of risk is the one for data that anybody may read."""
    return Fraction(threshold) == Fraction(THRESHOLD)


def in_hundred(value: float) -> str:
    r"""Write a share of people as so many in a hundred.

    >>> in_hundred(0.47), in_hundred(0), in_hundred(1), in_hundred(0.0004), in_hundred(0.9999)
    ('47\xa0in\xa0100', 'none', 'all', 'under\xa01\xa0in\xa0100', 'over\xa099\xa0in\xa0100')
    """
    if value <= 0:
        return "none"
    if value >= 1:
        return "all"
    part = round(100 * value)
    if part == 0:
        return f"under{SPACE}{_in(1, 100)}"
    return f"over{SPACE}{_in(99, 100)}" if part == 100 else _in(part, 100)


def chance(risk: float | Fraction | str) -> str:
    r"""Write a chance in per cent, never as a smaller one than it is, and as one in so many.

    >>> chance(0.2), chance("1/11"), chance(0.4), chance(1)
    ('1\xa0in\xa05 (20%)', '1\xa0in\xa011 (9.1%)', '40%', 'certain')
    """
    exact = fraction(risk)
    if not 0 < exact < 1:
        return one_in(float(exact))
    said = percent_up(exact)
    return f"{one_in(float(exact))} ({said})" if exact.numerator == 1 else said


def percent_up(risk: float | Fraction | str) -> str:
    """Write a chance in per cent, rounded up; one in so many is rounded as everybody does.

    >>> percent_up(0.2), percent_up("1/11"), percent_up(Fraction(1, 3))
    ('20%', '9.1%', '33.3%')
    >>> percent_up(0.00321), percent_up(0.00001)
    ('0.33%', 'under 0.01%')
    """
    exact = fraction(risk)
    tenths = math.ceil(exact * 1000) if exact.numerator != 1 else round(exact * 1000)
    if exact >= Fraction(1, 100):
        return f"{tenths / 10:g}%"
    if exact.numerator == 1 or exact < Fraction(1, 10_000):
        return percent(exact)
    return percent(Fraction(math.ceil(exact * 10_000), 10_000))


def fraction(risk: float | Fraction | str) -> Fraction:
    """Return a chance as a rational: the one that is meant where it was rounded to a double."""
    if not isinstance(risk, float):
        return Fraction(risk)
    near = Fraction(risk).limit_denominator(1000)
    return near if abs(near - Fraction(risk)) < 1e-12 else Fraction(str(risk))


def share_of(value: float) -> str:
    """Write a share as the width of something drawn."""
    return f"{100 * min(max(value, 0), 1):.1f}%"


def count(value: int) -> str:
    """Write a whole number."""
    return f"{value:,}"


def figure(value: float) -> str:
    """Write a number of three digits, and a minus that is one.

    >>> figure(-1580.0), figure(0.00553), figure(39300.0), figure(1e-7)
    ('−1,580', '0.00553', '39,300', '1e-07')
    """
    rounded = float(f"{value:.3g}")
    text = f"{rounded:,.0f}" if 100 <= abs(rounded) < 1e15 else f"{rounded:,.3g}"
    return text.replace("-", "−") if text.startswith("-") else text


def several(names: list[str], most: int = 6) -> str:
    """Write names one after the other, and how many more there are.

    >>> several(["age"]), several(["age", "zip"]), several(["a", "b", "c"], most=2)
    ('age', 'age and zip', 'a, b and 1 more')
    """
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most:,} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else "none"


def plural(number: int, word: str) -> str:
    """Write how many of something there are.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def people(number: int) -> str:
    """Write so many people.

    >>> people(1), people(2000)
    ('1 person', '2,000 people')
    """
    return f"{count(number)} {'person' if number == 1 else 'people'}"


def extent(column: Mapping[str, Any], width: float) -> str:
    """Write how much of a column a cell covers."""
    if not column["numeric"]:
        return f"{width:,.0f} of {column['whole']:,.0f}"
    if column["dates"]:
        return "1 day" if width == 1 else f"{width:,.0f} days"
    return f"{width:,.6g}"


def cell(text: str | None, kind: str | None) -> str:
    """Write a published cell as one would say it.

    >>> cell("[30, 34]", "interval"), cell('["flu", "cold"]', "set"), cell("7", "interval")
    ('30 to 34', 'flu or cold', '7')
    >>> cell("[30, 34, null]", "interval"), cell('["", "flu"]', "set"), cell("", "interval")
    ('30 to 34, or missing', 'flu, or missing', '(missing)')
    """
    if not text:
        return "(missing)"
    if kind not in {"interval", "set"} or not text.startswith("["):
        return text
    try:
        parts = json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        return text
    known = [str(part) for part in dict.fromkeys(parts) if part not in {None, ""}]
    said = (" or " if kind == "set" else " to ").join(known)
    return f"{said}, or missing" if len(known) < len({*parts}) else said


def day(text: str) -> str:
    """Write a day in words.

    >>> day("2026-11-05")
    '5 November 2026'
    """
    return f"{(one := date.fromisoformat(text)).day} {one:%B %Y}"


FILTERS = {
    "day": day,
    "cell": cell,
    "chance": chance,
    "fraction": fraction,
    "width": share_of,
    "one_in": one_in,
    "percent_up": percent_up,
    "percent": percent,
    "in_hundred": in_hundred,
    "count": count,
    "figure": figure,
    "several": several,
    "plural": plural,
    "people": people,
    "at_most": at_most,
}


SHARES = (
    "Vulnerability: the share of groups (of people, where there are no groups) in which at least "
    "one value lies within epsilon of more than 1 - delta of the others."
)
ATTACKS = (  # what an attack is called, and its key
    ("Guessing, where the group is known", "guessing"),
    ("Members and controls", "controlled"),
    ("Refinement of cells", "refinement"),
    ("Inference of quasi-identifiers", "inference"),
    ("Linking", "linking"),
    ("Learning", "learning"),
    ("Intersection of two releases", "intersection"),
    ("Intersection of all releases", "together"),
    ("Difference of two releases", "difference"),
)


def without_draw(attack: dict[str, Any]) -> str:
    """Return what an attack found, without on whom: what all share is said once (`draws`)."""
    return str(attack["sentence"]).removesuffix(attack.get("drawn", ""))


def draws(facts: dict[str, Any]) -> list[str]:
    """Return, each once, on whom attacks were measured where not on all."""
    kinds = ("vulnerability", "inference", "linking", "intersection", "together")
    found = [one.get("drawn", "").strip() for kind in kinds for one in facts[kind]]
    return [f"Where ± stands: {one[0].lower()}{one[1:]}" for one in dict.fromkeys(found) if one]


def why_necessary(people: int | None, missing: int | None) -> str:
    """Say why what is within the limits of a plan may still not be achievable.

    >>> why_necessary(None, 3)
    'These limits are necessary, but may not be enough: 3 values are missing and count as near to \
every other value. A dry run shows whether the release is achievable.'
    """
    if people is not None:
        why = "people have several rows, and the plan assumes that all of them are published"
    else:
        noun = "value is missing and counts" if missing == 1 else "values are missing and count"
        why = f"{missing or 0:,} {noun} as near to every other value"
    return (
        f"These limits are necessary, but may not be enough: {why}. A dry run shows whether the "
        "release is achievable."
    )
