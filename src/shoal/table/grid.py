"""The public grid of a numeric column: the points at which regions may begin.

Points lie `step` apart, from the lower bound to the upper one. A column of which nothing is said
has steps of one in its last digit, and the range of its rows for bounds. Everything is counted in
whole units of the last digit, so that no point is ever rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import InputError, UsageError, option
from shoal.table.column import INTEGER, frozen
from shoal.table.dates import date_units, units_as_dates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.table.column import Column, Domain

TIGHT, REGIONS = "tight", "regions"
KINDS_OF_CELLS = (TIGHT, REGIONS)
LARGEST = 2**62  # units that integers of 64 bits are trusted with
SECONDS = 86_400  # of a day


@dataclass(frozen=True)
class CutGrid:
    """Points `first + i * step` for i under `count`, in units of the column's last digit.

    `digits` are the decimal places of a unit, `decimals` those that every number is spelled with,
    None where spellings differ. Dates have `per_day` units a day.
    """

    first: int
    step: int
    count: int
    digits: int = 0
    decimals: int | None = None
    per_day: int | None = None

    def units(self, places: NDArray) -> NDArray:
        """Return the points at some places, in units."""
        wide = self.first + self.count * self.step
        kind = np.int64 if max(abs(self.first), abs(wide)) < LARGEST else object
        found: NDArray = np.asarray(places).astype(kind) * self.step + self.first
        return found

    def spelled(self, places: NDArray) -> pl.Series:
        """Return how the points at some places are written; every point alike, held or not."""
        units = self.units(places)
        if self.per_day is not None:
            if not self.step % self.per_day and not self.first % self.per_day:
                return units_as_dates(units // self.per_day, 1).cast(pl.String)
            texts = units_as_dates(units, self.per_day).dt.strftime("%Y-%m-%dT%H:%M:%S%.f")
            return texts.str.replace(r"(\.\d*?)0+$", "$1").str.strip_suffix(".")
        if not self.digits and not self.decimals:
            return pl.Series([str(unit) for unit in units.tolist()], dtype=pl.String)
        return pl.Series([self._text(unit) for unit in units.tolist()], dtype=pl.String)

    def _text(self, unit: int) -> str:
        text = f"{Decimal(unit).scaleb(-self.digits):.{max(self.digits, self.decimals or 0)}f}"
        return text if self.decimals is not None else text.rstrip("0").rstrip(".")

    def shown_step(self) -> int:
        """Return the coarsest step that its two ends show, in units.

        Wherever a column is cut, the ends beside the cut show the step. One that is cut nowhere
        would say by its step how finely values inside of its only cell are written.
        """
        ends = self.units(np.array([0, self.count - 1])).tolist()
        coarser = [self.per_day // SECONDS] if self.per_day is not None else []
        if self.per_day is None:
            coarser = [10**power for power in range(self.digits + 1)]
        fits = [one for one in coarser if one > self.step and not any(end % one for end in ends)]
        return max(fits, default=self.step)

    def settled(self) -> dict[str, Any]:
        """Return step and bounds as a column has them that can be cut nowhere else."""
        low, high = self.spelled(np.array([0, self.count - 1])).to_list()
        if self.per_day is not None:
            return {"step": Decimal(self.step) / self.per_day, "bounds": (low, high)}
        step = Decimal(self.step).scaleb(-self.digits)
        return {"step": step, "bounds": (Decimal(low), Decimal(high))}


def said(column: Domain) -> dict[str, Any]:
    """Return what a manifest says of where a column can be cut."""
    found: dict[str, Any] = {}
    if column.step is not None:
        found["step"] = plain(column.step)
    if column.bounds is not None:
        found["bounds"] = [one if isinstance(one, str) else plain(one) for one in column.bounds]
    return found


def plain(value: Decimal) -> int | float:
    """Return a decimal as JSON writes it."""
    return int(value) if value == value.to_integral_value() else float(value)


def read_step(column: str, said: object) -> Decimal:
    """Read the step of a grid, a number above 0; of dates, days."""
    found = _decimal(said)
    if found is None or found <= 0:
        msg = f"The step of column {column!r} must be a number above 0. Got {said!r}."
        raise UsageError(msg)
    return found


def read_bounds(column: str, said: object) -> tuple[Decimal, Decimal] | tuple[str, str]:
    """Read the least and the greatest value that a column can have, two numbers or two dates."""
    if isinstance(said, list | tuple) and len(said) == 2:
        numbers = [_decimal(one) for one in said]
        if numbers[0] is not None and numbers[1] is not None and numbers[0] <= numbers[1]:
            return numbers[0], numbers[1]
        dates = [str(one) for one in said]
        if None in numbers and _moments(dates) is not None and dates[0] <= dates[1]:
            return dates[0], dates[1]
    msg = (
        f"The bounds of column {column!r} must be its smallest and its largest possible value, "
        f"for example [0, 120]. Got {said!r}."
    )
    raise UsageError(msg)


def _decimal(said: object) -> Decimal | None:
    if isinstance(said, bool) or not isinstance(said, int | float | str | Decimal):
        return None
    try:
        found = Decimal(str(said))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _moments(texts: list[str], per_day: int = 1) -> list[int] | None:
    floor, ceiling, good = date_units(pl.Series(texts, dtype=pl.String), per_day)
    return [int(ceiling[0]), int(floor[1])] if good.all() else None


def said_units(
    column: Domain, bounds: tuple[Any, Any] | None, digits: int
) -> tuple[int, int] | None:
    """Return bounds in the units of a column, None where none are given."""
    if bounds is None:
        return None
    if column.dates:
        found = _moments(list(map(str, bounds)), column.per_day)
        if found is None:
            msg = f"The bounds of column {column.name!r} must be dates. Got {bounds[0]!r}."
            raise InputError(msg)
        return found[0], found[1]
    if isinstance(bounds[0], str):
        msg = f"The bounds of column {column.name!r} must be numbers. Got {bounds[0]!r}."
        raise InputError(msg)
    low, high = (one.scaleb(digits).to_integral_value() for one in bounds)
    return int(low), int(high)


def bounds_width(column: Domain) -> int | float:
    """Return how far the public bounds of a column are apart, in what its values are counted in."""
    assert column.bounds is not None
    if column.dates:
        low, high = said_units(column, column.bounds, 0) or (0, 0)
        return high - low
    width: Decimal = column.bounds[1] - column.bounds[0]
    return plain(width)


def known_units(column: Domain) -> tuple[list[int], int, int | None]:
    """Return the values of a numeric column in units, its digits, and how many are spelled."""
    assert column.values is not None
    if column.dates:
        return column.values.tolist(), 0, None
    said = [one for one in (*(column.bounds or ()), column.step) if isinstance(one, Decimal)]
    whole = column.values.dtype == np.int64 and all(one == one.to_integral_value() for one in said)
    if whole and column.known.str.contains(INTEGER).all():
        return column.values.tolist(), 0, None
    numbers = [Decimal(text) for text in column.known]
    digits = max(0, *(_places(one) for one in (*numbers, *said)))
    spelled = {len(text.partition(".")[2]) for text in column.known}
    alike = (
        spelled.pop() if len(spelled) == 1 and not column.known.str.contains("[eE]").any() else 0
    )
    units = [int(one.scaleb(digits)) for one in numbers]
    return units, digits, alike if alike >= digits and alike else None


def _places(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return -exponent


def grid_of(column: Domain) -> tuple[CutGrid, NDArray[np.int64]]:
    """Return the grid of a numeric column, and the place of each of its numbers on it."""
    units, digits, decimals = known_units(column)
    step = _step(column, digits, units)
    bounds = said_units(column, column.bounds, digits) or (units[0], units[-1])
    low, high = bounds
    if (high - low) // step >= LARGEST:
        msg = f"Column {column.name!r} has too many steps between its ends. Choose a larger step."
        raise InputError(msg)
    if column.bounds is None:  # from 0, so that steps lie where anybody would look for them
        low = low // step * step
    check_within(column, units, bounds, step, low)
    grid = CutGrid(
        low,
        step,
        (high - low) // step + 1,
        digits,
        decimals,
        column.per_day if column.dates else None,
    )
    return grid, np.array([(unit - low) // step for unit in units], np.int64)


def in_units(days: Decimal, per_day: int) -> Decimal:
    """Return a step in units of time; a second is no decimal part of a day, so the nearest one."""
    exact = days * per_day
    near = exact.to_integral_value()
    return near if abs(exact - near) * 10**12 <= near else exact


def _step(column: Domain, digits: int, units: list[int]) -> int:
    if column.step is not None:
        days = column.dates
        whole = in_units(column.step, column.per_day) if days else column.step.scaleb(digits)
        if whole != whole.to_integral_value():
            msg = f"The step of column {column.name!r} is finer than its dates are written."
            raise InputError(msg)
        return int(whole)
    if not column.dates:
        return 1
    for step in (column.per_day, column.per_day // SECONDS):
        if step and not any(unit % step for unit in units):
            return step
    return 1


def check_within(
    column: Domain, units: list[int], bounds: tuple[int, int], step: int, low: int
) -> None:
    """Raise where numbers lie outside of the bounds, or beside the grid."""
    if units[0] < bounds[0] or units[-1] > bounds[1]:
        msg = (
            f"Column {column.name!r} has values outside its bounds. Widen the bounds, or limit "
            f"the values with {option('bottom')} and {option('top')}."
        )
        raise InputError(msg)
    if (bounds[1] - low) % step or any((unit - low) % step for unit in units):
        msg = (
            f"Some values or bounds of column {column.name!r} are not a whole number of steps "
            f"from {('the lower bound' if column.bounds else '0')}. Choose a smaller step, or "
            f"round the column first: {option('round')}."
        )
        raise InputError(msg)


def said_of_column(column: Column, step: Mapping[str, Any], bounds: Mapping[str, Any]) -> Column:
    """Return a column with what a schema says of its grid, checked against its values."""
    name = column.name
    if name not in step and name not in bounds:
        return column
    if column.values is None:
        msg = f"Column {name!r} has a step or bounds, but it is not numeric."
        raise InputError(msg)
    found = replace(
        column,
        step=None if name not in step else read_step(name, step[name]),
        bounds=None if name not in bounds else read_bounds(name, bounds[name]),
    )
    grid_of(found)
    return found


def on_grid(
    column: Column, grid: CutGrid, held: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Column, NDArray[np.int64]]:
    """Return a column that has the points at some places for values too, and the places of all.

    `held` are the places of its numbers.
    """
    places = np.unique(np.concatenate([held, ends[ends < grid.count], [0, grid.count - 1]]))
    moved = np.append(np.searchsorted(places, held), len(places)).astype(np.int32)
    units = grid.units(places)
    spelled = grid.spelled(places)
    whole = column.values is not None and column.values.dtype == np.int64 and not grid.digits
    if column.dates or whole:
        values: NDArray = units.astype(np.int64)
    else:
        values = spelled.cast(pl.Float64).to_numpy()
    gap = [] if column.gap is None else [column.spellings[column.gap]]
    found = replace(
        column,
        values=frozen(values),
        spellings=pl.concat([spelled, pl.Series(gap, dtype=pl.String)]),
        codes=frozen(moved[column.codes]),
        wordings=None,
        **grid.settled(),
    )
    return found, places
