"""Top and bottom coding and rounding of numbers, before anything is searched.

A number is rounded to the nearest multiple of a step, halves up, and then kept between a bottom and
a top. All of it is exact: numbers are whole multiples of a power of ten. A percentile becomes a
round threshold, on the side that hides more, because an exact one is somebody's value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import BadCells, BadColumnOption, InputError
from shoal.exact import tidy
from shoal.notation import typed_number
from shoal.table.columns import change_text, is_dictionary
from shoal.table.missing import first_rows, is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
PLAIN = r"^-?[0-9]+(\.[0-9]+)?$"
DIGITS = 17  # of a number that fits 64 bits with room for adding
ROUND = 10  # a round threshold is off by less than one in so many


@dataclass(frozen=True)
class Percentile:
    """A share of the cells of a column, in hundredths."""

    share: Decimal

    def __str__(self) -> str:
        return f"{self.share.normalize():f}%"


Threshold = Decimal | Percentile


@dataclass(frozen=True)
class Trim:
    """What is done to the numbers of one column; None for what is not."""

    step: Decimal | None = None
    bottom: Threshold | None = None
    top: Threshold | None = None

    @property
    def percentiles(self) -> tuple[tuple[str, Percentile], ...]:
        """The thresholds that the table has to decide, each with its side."""
        sides = (("bottom", self.bottom), ("top", self.top))
        return tuple((side, one) for side, one in sides if isinstance(one, Percentile))

    @property
    def words(self) -> str:
        """What was done, for people: `rounded to 100; above 50000 given as 50000`."""
        said = [] if self.step is None else [f"rounded to {_worded(self.step)}"]
        for side, limit in (("below", self.bottom), ("above", self.top)):
            if limit is not None:
                said.append(f"{side} {_worded(limit)} given as {_worded(limit)}")
        return "; ".join(said)

    def to_dict(self) -> dict[str, int | float]:
        """Return the numbers for the manifest."""
        said = {"round": self.step, "bottom": self.bottom, "top": self.top}
        return {key: _plain(value) for key, value in said.items() if isinstance(value, Decimal)}


def _worded(value: Threshold) -> str:
    """Return a number as a manifest's number reads, however it was spelled."""
    if isinstance(value, Percentile):
        return str(value)
    return f"{Decimal(str(_plain(value))).normalize():f}"


def _plain(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def read_trim(
    column: str,
    *,
    step: object = None,
    bottom: object = None,
    top: object = None,
    decimal: str | None = None,
) -> Trim:
    """Return what is to be done to a column, or raise where it makes no sense.

    Numbers may be written as the table writes them, with its `decimal` sign.

    >>> read_trim("charges", step=100, top="99%").words
    'rounded to 100; above 99% given as 99%'
    """
    width = None if step is None else _number(column, "round", step, decimal)
    if width is not None and width <= 0:
        raise BadColumnOption(column, "round", "a number above 0", step)
    low = None if bottom is None else _threshold(column, "bottom", bottom, decimal)
    high = None if top is None else _threshold(column, "top", top, decimal)
    for name, one, allowed in (("bottom", low, (0, 50)), ("top", high, (50, 100))):
        if isinstance(one, Percentile) and not allowed[0] < one.share < allowed[1]:
            span = f"a number, or between {allowed[0]}% and {allowed[1]}%"
            raise BadColumnOption(column, name, span, str(one))
    return _ordered(column, Trim(width, low, high))


def _ordered(column: str, trim: Trim) -> Trim:
    low, high = trim.bottom, trim.top
    if isinstance(low, Decimal) and isinstance(high, Decimal) and low >= high:
        msg = f"The bottom of column {column!r}, {low:f}, is not below its top, {high:f}."
        raise InputError(msg)
    return trim


def _threshold(column: str, name: str, said: object, sign: str | None) -> Threshold:
    if isinstance(said, str) and said.strip().endswith("%"):
        return Percentile(_number(column, name, said.strip()[:-1], sign))
    return _number(column, name, said, sign)


def _number(column: str, name: str, said: object, sign: str | None) -> Decimal:
    try:
        value = None if isinstance(said, bool) else Decimal(str(said).strip())
    except InvalidOperation:
        value = typed_number(said, sign) if isinstance(said, str) else None
    if value is None or not value.is_finite() or abs(value.adjusted()) > 300:
        allowed = "a number" if name == "round" else "a number, or a percentile such as 99%"
        raise BadColumnOption(column, name, allowed, said)
    if Decimal(str(_plain(value))) != value:  # the manifest could not say it
        raise BadColumnOption(column, name, "a number of at most 15 digits", said)
    return value


def resolve(trim: Trim, column: pl.Series) -> Trim:
    """Return what is to be done with every percentile replaced by a round threshold."""
    if not trim.percentiles:
        return trim
    cells = _filled(column)
    counted = cells.value_counts(name="#" if column.name != "#" else "##")
    texts, counts = counted.get_columns()
    if not len(texts):
        return replace(trim, bottom=None, top=None)
    numbers, scale = _scaled(texts)
    order = np.argsort(numbers, kind="stable")
    up_to = np.cumsum(counts.to_numpy()[order])
    ranked = numbers[order]

    def at(share: Decimal) -> Fraction:
        """Return the least number that so many hundredths of the cells do not exceed."""
        place = int(np.searchsorted(up_to, ceil(Fraction(share) / 100 * int(up_to[-1]))))
        return Fraction(int(ranked[place]), 10**scale)

    top, bottom = trim.top, trim.bottom
    if isinstance(top, Percentile):
        top = round_threshold(at(top.share))
    if isinstance(bottom, Percentile):
        bottom = -round_threshold(-at(bottom.share))
    return _ordered(column.name, replace(trim, bottom=bottom, top=top))


def is_percentile(cells: pl.Series, share: Percentile, *, side: str, limit: object) -> bool:
    """Return whether a threshold can be a percentile of what was cut off there.

    Cells beyond it stand at it now, so that the percentile is the threshold itself.
    """
    known = _filled(cells)
    if not len(known) or not known.str.contains(NUMBER).all():
        return True
    asked = Trim(top=share) if side == "top" else Trim(bottom=share)
    return getattr(resolve(asked, known), side) == Decimal(str(limit))


def round_threshold(value: Fraction) -> Decimal:
    """Return a round number of at most `value`, off by less than a tenth of it.

    >>> [str(round_threshold(Fraction(x))) for x in (84, 123456, 52700, "14.9", "-87", 0)]
    ['80', '120000', '50000', '14', '-90', '0']
    """
    step = Decimal(str(tidy(abs(float(value)) / ROUND)))
    if not step:
        return Decimal(0)
    found = floor(value / Fraction(step)) * step
    return Decimal(f"{found.normalize():f}")


def trim_column(column: pl.Series, trim: Trim, sign: str = ".") -> pl.Series:
    """Return a column with its numbers rounded and kept between its thresholds.

    Text stays text, with `sign` as its decimal sign, and integers beyond 64 bits become text; cells
    that nothing is done to stay as they are, and so do missing ones.
    """
    if column.dtype == pl.String or is_dictionary(column):

        def change(cells: pl.Series) -> pl.Series:
            found = _trimmed(cells, trim, column)
            return found.str.replace(".", sign, literal=True) if sign != "." else found

        return change_text(column, change)
    if not column.dtype.is_numeric():
        msg = (
            f"Column {column.name!r} holds {column.dtype}, but Shoal can round or limit numbers "
            "only."
        )
        raise InputError(msg)
    cells = column.fill_nan(None) if column.dtype.is_float() else column
    known = cells.unique().drop_nulls()
    texts = _trimmed(known.cast(pl.String), trim, column)
    whole = column.dtype.is_integer() and bool(texts.str.contains(r"^-?[0-9]+$").all())
    changed = texts.cast(pl.Int64 if whole else pl.Float64, strict=False)
    if whole and changed.has_nulls():
        changed = texts  # beyond 64 bits a number is spelled
    return cells.replace_strict(known, changed, default=None, return_dtype=changed.dtype)


def _filled(column: pl.Series) -> pl.Series:
    return column.filter(~is_missing(column)).cast(pl.String)


def _trimmed(cells: pl.Series, trim: Trim, column: pl.Series) -> pl.Series:
    bad = ~cells.str.contains(NUMBER).fill_null(value=True)
    if bad.any():
        where = column.cast(pl.String).is_in(cells.filter(bad).implode()).fill_null(value=False)
        advice = (
            "Shoal can round or limit numbers only. Correct these cells, or leave the column "
            "as it is."
        )
        raise BadCells(column.name, "non-numeric", first_rows(where), int(where.sum()), advice)
    known = cells.drop_nulls().unique()
    if not len(known):
        return cells
    asked = [one for one in (trim.step, trim.bottom, trim.top) if isinstance(one, Decimal)]
    numbers, scale = _scaled(known, asked)
    found, spelled = numbers, known
    if trim.step is not None:
        step = _units(trim.step, scale)
        found = (2 * numbers + step) // (2 * step) * step
        spelled = _spelled(found, scale, max(0, -_exponent(trim.step)))
    for limit, beyond in ((trim.bottom, np.less), (trim.top, np.greater)):
        if isinstance(limit, Decimal):
            cut = pl.Series(beyond(found, _units(limit, scale)).astype(bool))
            spelled = spelled.zip_with(~cut, pl.Series([f"{limit:f}"]))
            found = np.where(cut.to_numpy(), _units(limit, scale), found)
    return cells.replace_strict(known, spelled, default=None, return_dtype=pl.String)


def odd_numbers(cells: pl.Series, trim: Trim) -> int:
    """Count the numbers among cells that no cell becomes when it is rounded and cut off so."""
    known = cells.filter(cells.str.contains(NUMBER)).unique()
    limits = [one for one in (trim.bottom, trim.top) if isinstance(one, Decimal)]
    if not len(known):
        return 0
    numbers, scale = _scaled(known, [*limits, *([] if trim.step is None else [trim.step])])
    odd = np.zeros(len(numbers), bool)
    if trim.step is not None:
        odd = (numbers % _units(trim.step, scale) != 0).astype(bool)
    for limit in limits:
        odd &= (numbers != _units(limit, scale)).astype(bool)
    for side, beyond in ((trim.bottom, np.less), (trim.top, np.greater)):
        if isinstance(side, Decimal):
            odd |= beyond(numbers, _units(side, scale)).astype(bool)
    return int(odd.sum())


def _scaled(cells: pl.Series, asked: list[Decimal] | None = None) -> tuple[NDArray[Any], int]:
    """Return numbers as whole multiples of 10^-scale, and the scale: 64 bits where they fit."""
    least = max([0, *(-_exponent(one) for one in asked or ())])
    wide = max([0, *(len(f"{abs(one):f}") for one in asked or ())])
    if cells.str.contains(PLAIN).all():
        fraction = cells.str.extract(r"\.([0-9]+)$", 1).fill_null("")
        decimals = _longest(fraction)
        scale = max(least, decimals)
        if max(_longest(cells), wide) + scale <= DIGITS:
            digits = cells.str.replace(r"\.[0-9]+$", "") + fraction.str.pad_end(scale, "0")
            return digits.cast(pl.Int64).to_numpy(), scale
    values = [Decimal(text) for text in cells]
    scale = max([least, *(-_exponent(value) for value in values)])
    return np.array([_units(value, scale) for value in values], object), scale


def _longest(cells: pl.Series) -> int:
    return int(cells.str.len_bytes().to_numpy().max(initial=0))


def _exponent(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _units(value: Decimal, scale: int) -> int:
    return int(Fraction(value) * 10**scale)


def _spelled(numbers: NDArray[Any], scale: int, decimals: int) -> pl.Series:
    """Return multiples of 10^-decimals, held as those of 10^-scale, with so many decimals."""
    units = numbers // 10 ** (scale - decimals)
    sizes = np.abs(units)
    texts = pl.Series(sizes if sizes.dtype != object else [str(one) for one in sizes])
    texts = texts.cast(pl.String)
    minus = pl.Series(np.where((units < 0).astype(bool), "-", ""))
    if not decimals:
        return minus + texts
    texts = texts.str.zfill(decimals + 1)
    return minus + texts.str.head(-decimals) + "." + texts.str.tail(decimals)


def done_first(trim: Trim | None, date_format: str | None) -> str:
    """Return in words what is done to the cells of a column before anything else, if any."""
    said = [f"First {trim.words}."] if trim is not None and trim.words else []
    said += [f"Written as {date_format}, read as dates."] if date_format is not None else []
    return " ".join(said)
