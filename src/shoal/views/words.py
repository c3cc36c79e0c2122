"""How pages write numbers: chances as "1 in 12", shares in per cent, counts with commas."""

from __future__ import annotations

import json
import math
from datetime import date
from fractions import Fraction
from typing import Any

from shoal.exact import at_most, percent
from shoal.views.usual import THRESHOLD

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


def limit(threshold: Fraction) -> str:
    r"""Write a threshold of risk as it is, and as one in so many; the usual one as it is known.

    >>> limit(Fraction(1, 11)), limit(Fraction("0.09")), limit(Fraction("0.2"))
    ('1\xa0in\xa011 (0.09)', '0.09, about 1\xa0in\xa011', '1\xa0in\xa05')
    """
    if usual(threshold):
        return f"{nearly(threshold)} (0.09)"
    exact = threshold.numerator == 1
    return nearly(threshold) if exact else f"{float(threshold):g}, about {nearly(threshold)}"


def usual(threshold: Fraction) -> bool:
    """Return whether a threshold of risk is the one for data that anybody may read."""
    return threshold == Fraction(THRESHOLD)


def standing(seen: dict[str, Any]) -> str:
    """Say how the largest risk of being found stands to its threshold."""
    if not seen["after"]["largest_kept"]:
        return "above"
    return "not above" if seen["after"]["smallest"] * seen["threshold"] == 1 else "below"


def nearly(threshold: Fraction) -> str:
    """Write a threshold of risk as about one in so many."""
    return _in(1, round(1 / threshold))


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


def extent(column: dict[str, object], width: float) -> str:
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
    """
    if text is None:
        return "(missing)"
    if kind not in {"interval", "set"} or not text.startswith("["):
        return text
    try:
        parts = json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        return text
    return (" to " if kind == "interval" else " or ").join(map(str, parts))


def day(text: str) -> str:
    """Write a day in words.

    >>> day("2026-11-05")
    '5 November 2026'
    """
    return f"{(one := date.fromisoformat(text)).day} {one:%B %Y}"


FILTERS = {
    "day": day,
    "cell": cell,
    "one_in": one_in,
    "limit": limit,
    "nearly": nearly,
    "standing": standing,
    "percent": percent,
    "in_hundred": in_hundred,
    "count": count,
    "figure": figure,
    "several": several,
    "plural": plural,
    "people": people,
    "at_most": at_most,
}


def without_draw(attack: dict[str, Any]) -> str:
    """Return what an attack found, without on whom: what all share is said once (`draws`)."""
    return str(attack["sentence"]).removesuffix(attack.get("drawn", ""))


def draws(facts: dict[str, Any]) -> list[str]:
    """Return, each once, on whom attacks were measured where not on all."""
    kinds = ("vulnerability", "linking", "intersection", "together")
    found = [one.get("drawn", "").strip() for kind in kinds for one in facts[kind]]
    return [f"Where ± stands: {one[0].lower()}{one[1:]}" for one in dict.fromkeys(found) if one]
