"""How numbers are spelled, and the one rounding of what is exact: to a decimal on the safe side.

Risks, bounds and levels are rationals. What is printed of them is a decimal, and whoever reads it
back reads that decimal, not the double nearest to it: `0.1` is one tenth. So a number is on the
safe side of a rational where `Fraction(str(number))` is.
"""

from __future__ import annotations

import math
import re
import sys
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

from shoal.errors import UsageError

WHOLE = 2**53  # from here on doubles are sparser than whole numbers, which are spelled in full
SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
LARGEST = Fraction(str(sys.float_info.max))  # the largest level that is reported
LEAST = math.nextafter(0, 1)  # the least one above 0
PRECISE = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
LOST = Fraction(1, 10**50)  # more than what rounding to so many digits can change, as a share
TINY = 0.0001  # the least share that is spelled in figures
FEW = 100  # "12 in 100" is read at a glance, "123 in 457" is not
SMALL = 0.01  # shares below have one digit more
GRID = 2**40  # of losses, finer than an audit compares them
VANISHED = -1000  # exp of this is less than any share of people


def written(value: float) -> Fraction:
    """Return the rational that the spelling of a number says."""
    return Fraction(str(value))


def read_share(text: str | float | None, what: str = "What may be suppressed") -> Fraction:
    """Read how much of a table may be left out, or else `what`: "1%" or a number from 0 to 1."""
    if text is None:
        return Fraction(0)
    found = SHARE.fullmatch(text) if isinstance(text, str) else None
    if found:
        share = Fraction(found[1]) / 100
    else:
        try:
            share = Fraction(str(text))
        except (ValueError, ZeroDivisionError):
            share = Fraction(-1)
    if not 0 <= share <= 1:
        msg = f"{what} is a share such as 1% or 0.01. Got {text!r}."
        raise UsageError(msg)
    return share


def upward(ratio: Fraction, digits: int | None = None) -> float:
    """Return the least number, of so many digits if that is said, that is not below a rational.

    >>> upward(Fraction(1, 3)), upward(Fraction(1, 3), 4), upward(Fraction(1, 2))
    (0.33333333333333337, 0.3334, 0.5)
    """
    if abs(ratio) >= WHOLE and digits is None:
        short = float(ratio)
        return short if written(short) == ratio else math.ceil(ratio)
    found = _near(ratio, digits)
    while math.isfinite(found) and written(found) < ratio:
        found = math.nextafter(found, math.inf)
    while digits is None and written(less := math.nextafter(found, -math.inf)) >= ratio:
        found = less
    return found or 0.0  # no minus before a zero


def downward(ratio: Fraction, digits: int | None = None) -> float:
    """Return the largest number, of so many digits if that is said, that is not above a rational.

    >>> downward(Fraction(2, 3)), downward(Fraction(2, 3), 4), downward(Fraction(1, 2))
    (0.6666666666666666, 0.6666, 0.5)
    """
    return -upward(-ratio, digits) or 0.0


def above(ratio: Fraction) -> float:
    """Return the least number that is above a rational, for what has to be more than it."""
    found = upward(ratio)
    if written(found) > ratio:
        return found
    return math.floor(ratio) + 1 if abs(found) >= WHOLE else math.nextafter(found, math.inf)


def at_most(value: float | Fraction, digits: int = 4) -> str:
    """Spell a number in few digits, rounded up: a risk is at most what is shown of it.

    >>> at_most(Fraction(1, 3)), at_most(0.25), at_most(1.0)
    ('0.3334', '0.25', '1')
    """
    ratio = value if isinstance(value, Fraction) else written(value)
    return f"{upward(ratio, digits):.{digits}g}"


def at_least(value: float | Fraction, digits: int = 4) -> str:
    """Spell a number in few digits, rounded down: a level is at least what is shown of it.

    >>> at_least(Fraction(2, 3)), at_least(12.5)
    ('0.6666', '12.5')
    """
    ratio = value if isinstance(value, Fraction) else written(value)
    return f"{downward(ratio, digits):.{digits}g}"


def percent(share: float | Fraction, digits: int | None = None) -> str:
    """Spell a share in per cent, alike in the terminal, in files and on pages.

    There is no space before the sign, so that it stands on one line everywhere and as options spell
    it. Of digits there are as many as a reader needs, unless it is said how many.

    >>> percent(0.0213), percent(0), percent(0.00002), percent(0.514), percent(0.2)
    ('2.1%', '0%', 'under 0.01%', '51.4%', '20%')
    >>> percent(0.0505, 2), percent(0.5, 1)
    ('5.05%', '50.0%')
    """
    if digits is not None:
        return f"{float(share):.{digits}%}"
    if 0 < share < TINY:
        return f"under {percent(TINY)}"
    return f"{100 * float(share):.{1 if share >= SMALL else 2}f}".rstrip("0").rstrip(".") + "%"


def unique_share(share: float) -> str:
    """Spell how many rows or people are unique, alike in the terminal, in files and on pages.

    >>> unique_share(0.951), unique_share(0.9996), unique_share(1), unique_share(1 / 300)
    ('95.1%', 'Over 99.9%', '100%', '0.33%')
    """
    return "Over 99.9%" if 0.999 < share < 1 else percent(share)


def as_odds(share: Fraction) -> str:
    """Write a share as so many in so many, where these are few, and in per cent.

    >>> as_odds(Fraction(2, 3)), as_odds(Fraction(1, 5)), as_odds(Fraction(2001, 6000))
    ('2 in 3 (66.7%)', '1 in 5 (20%)', '33.4%')
    """
    part, whole = share.as_integer_ratio()
    if whole > FEW:
        return f"{at_most(100 * share, 3)}%"
    return f"{part} in {whole} ({percent(share)})"


def _near(ratio: Fraction, digits: int | None) -> float:
    """Return a double near a rational; of up to 15 digits, the one that is spelled with them."""
    if digits is None:
        return float(ratio)
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return float(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))


def logarithm(ratio: Fraction) -> Fraction:
    """Return the natural logarithm of a positive rational, but for less than LOST.

    >>> float(logarithm(Fraction(1, 2)))
    -0.6931471805599453
    """
    top, bottom = (PRECISE.ln(Decimal(part)) for part in ratio.as_integer_ratio())
    return Fraction(PRECISE.subtract(top, bottom))


def exponential(power: Fraction) -> Fraction:
    """Return a rational of at least exp(power), for powers of at most 0, by a share of LOST.

    >>> float(exponential(Fraction(-1)))
    0.36787944117144233
    """
    reached = max(power, Fraction(VANISHED))
    rounded = PRECISE.divide(Decimal(reached.numerator), Decimal(reached.denominator))
    return Fraction(PRECISE.exp(rounded)) * (1 + LOST)


def tidy(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is at most a value.

    >>> [tidy(value) for value in (4999, 23.5, 0.07, 0)]
    [2000, 20, 0.05, 0]
    """
    if value <= 0 or not math.isfinite(value):
        return 0
    power = math.floor(math.log10(value))
    step = max((lead for lead in (1, 2, 5) if lead * 10.0**power <= value), default=0)
    exact = float(f"{step}e{power}")
    return int(exact) if exact >= 1 else exact


def wide(width: float, unit: str = "") -> str:
    """Write a width in a unit, where it has one.

    >>> wide(2000), wide(30.0, "days"), wide(1, "days"), wide(0.5, "days")
    ('2,000', '30 days', '1 day', '0.5 days')
    """
    if float(width).is_integer() and abs(width) < WHOLE:
        width = int(width)
    return " ".join(filter(None, [f"{width:,}", unit[:-1] if width == 1 else unit]))


def unit_of(types: Collection[str | None]) -> str:
    """Return the unit that widths of columns of some types are in.

    >>> unit_of(["date"]), unit_of(["numeric"]), unit_of([])
    ('days', '', '')
    """
    return "days" if types and all(one == "date" for one in types) else ""


def with_lost(published: float, rows: int, lost: int) -> float:
    """Return the mean over all rows from that over published ones: a row left out loses all.

    Of published rows it is a multiple of 1 / `GRID`, so that taking out the others again leaves no
    trace of how many they were.
    """
    return (round(published * GRID) / GRID * rows + lost) / (rows + lost) if lost else published


def without_lost(mean: float, rows: int, lost: int) -> float:
    """Return the mean over published rows, which is the same however many were left out."""
    return round((mean * (rows + lost) - lost) / rows * GRID) / GRID
