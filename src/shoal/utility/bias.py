"""What an analyst would get wrong by looking at narrow cells alone, told column by column.

Wide cells are not a random sample: people who are unlike their neighbours stretch the cells of
their group. So the mean of a sensitive column differs between rows with narrow and with wide cells,
and whoever leaves the wide ones out shifts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.exact import percent
from shoal.release.cells import kind_of, ncp_by_group
from shoal.table.forms import TWO_TABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.release import ReleaseData
    from shoal.table.column import Column

FEWEST = 11  # rows of which a mean is told
SHARE = 0.01  # of the rows that have to be narrow, or wide, for it to matter
TOLD = 0.1  # standard deviations that a difference has at least
DIGITS = 3
LABELS = 6  # labels whose own means are told


@dataclass(frozen=True)
class CellBias:
    """How the mean of a sensitive column differs by the cells of a quasi column.

    `wide` is the share of rows with wide cells; `by_label` has the mean of every label that stands
    alone, where there are few.
    """

    column: str
    of: str
    narrow_mean: float
    wide_mean: float
    wide: float
    deviations: float  # by how many standard deviations the two differ
    exact: bool  # whether narrow cells are single values, and not only narrower than the others
    by_label: dict[str, float]

    def __str__(self) -> str:
        """Say it, and what to do."""
        narrow = "single values" if self.exact else "narrower cells"
        wide = "wider ones" if self.exact else "the others"
        means = f"{_shown(self.narrow_mean)} in rows with {narrow} and {_shown(self.wide_mean)}"
        alone = ", ".join(
            f"{_shown(mean)} for {label or '(missing)'}" for label, mean in self.by_label.items()
        )
        return (
            f"The mean of {self.of} is {means} in rows with {wide} ({percent(self.wide, 0)} of all)"
            + (f"; {alone}" if alone else "")
            + ". Whoever leaves wide cells out shifts it: use every row, each weighted over what "
            "its cell covers."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "column": self.column,
            "of": self.of,
            "narrow_mean": self.narrow_mean,
            "wide_mean": self.wide_mean,
            "wide": self.wide,
            "deviations": self.deviations,
            "by_label": self.by_label,
        }


def cell_bias(release: ReleaseData) -> list[CellBias]:
    """Return where means differ between narrow and wide cells by a tenth of a deviation or more.

    Only published rows count, no mean is told of fewer than eleven, and all are rounded to three
    digits. Two tables have no wide cells.
    """
    if release.form == TWO_TABLES:
        return []
    found = []
    numeric = [column for column in release.coded.sensitive if column.numeric and not column.dates]
    for column in release.recoding.quasi.values():
        widths, exact = _widths(release, column)
        wide = widths > (0 if exact else np.median(widths))
        for other in numeric:
            one = _compared(column, other, wide, exact=exact)
            if one is not None:
                found.append(one)
    return found


def _widths(release: ReleaseData, column: Column) -> tuple[NDArray[np.float64], bool]:
    """Return the loss of each coded row's cell, and whether enough of them lose nothing."""
    kind, layout = release.recoding.kinds[column.name], release.recoding.layout
    by_row = np.empty(len(layout.bears))
    by_row[layout.carries] = ncp_by_group(column, kind.spans)[kind.which[layout.bears]]
    bare = int((by_row == 0).sum())
    return by_row, bare >= max(FEWEST, SHARE * len(by_row))


def _compared(
    column: Column, other: Column, wide: NDArray[np.bool_], *, exact: bool
) -> CellBias | None:
    values = other.numbers.astype(np.float64)[other.codes]
    rows = int(wide.sum())
    if min(rows, len(wide) - rows) < max(FEWEST, SHARE * len(wide)):
        return None
    narrow_mean, wide_mean = float(values[~wide].mean()), float(values[wide].mean())
    deviation = float(values.std())
    if not deviation or not abs(wide_mean - narrow_mean) >= TOLD * deviation:
        return None
    return CellBias(
        column.name,
        other.name,
        _rounded(narrow_mean),
        _rounded(wide_mean),
        _rounded(rows / len(wide)),
        _rounded((wide_mean - narrow_mean) / deviation),
        exact,
        _by_label(column, values, wide) if exact and kind_of(column) == "set" else {},
    )


def _by_label(
    column: Column, values: NDArray[np.float64], wide: NDArray[np.bool_]
) -> dict[str, float]:
    counts = np.bincount(column.codes[~wide], minlength=column.distinct)
    sums = np.bincount(column.codes[~wide], values[~wide], column.distinct)
    if column.distinct > LABELS:
        return {}
    return {
        label: _rounded(total / count)
        for label, total, count in zip(column.spellings, sums, counts, strict=True)
        if count >= FEWEST
    }


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _shown(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 10**DIGITS else f"{number:g}"


def cautions(found: list[CellBias]) -> dict[str, str]:
    """Return what analysts should know of each column, in one text."""
    said: dict[str, list[str]] = {}
    for one in found:
        said.setdefault(one.column, []).append(str(one))
    return {column: " ".join(sentences) for column, sentences in said.items()}
