"""What an analyst would get wrong by looking at narrow cells alone, told column by column.

Wide cells are not a random sample: people who are unlike their neighbours stretch the cells of
their group. So the mean of a sensitive column differs between rows with narrow and with wide cells,
and whoever leaves the wide ones out shifts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import read_cover, read_set
from shoal.exact import percent
from shoal.table.coding import code_lenient
from shoal.table.columns import is_dictionary
from shoal.table.forms import TWO_TABLES
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn
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
            + ". Dropping wide cells shifts it: use every row, each weighted over what "
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


def cell_bias(published: pl.DataFrame, manifest: Manifest) -> list[CellBias]:
    """Return where means differ between narrow and wide cells by a tenth of a deviation or more.

    Everything is read off the published table. No mean is told of fewer than eleven rows, and all
    are rounded to three digits. Two tables have no wide cells.
    """
    if manifest.form == TWO_TABLES:
        return []
    types = {one.name: one.type for one in manifest.columns}
    secret = manifest.named("sensitive")
    coded = [
        code_lenient(published[name], kind=types[name])
        for name in secret
        if code_lenient(published[name].drop_nulls().head(1), kind=types[name]).numeric
    ]
    numeric = [one for one in coded if one.numeric and not one.dates and one.gap is None]
    found = []
    for stated in manifest.columns if numeric else ():
        if stated.quasi:
            cells = _Cells.of(published[stated.name], stated)
            told = (_compared(cells, other) for other in numeric)
            found += [one for one in told if one is not None]
    return found


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of a quasi column: which rows have wide ones, and the label of each narrow one."""

    name: str
    wide: NDArray[np.bool_]
    exact: bool  # whether narrow cells are single values
    labels: list[str]  # of a column of labels, where they are few
    which: NDArray[np.int32]

    @classmethod
    def of(cls, cells: pl.Series, stated: StatedColumn) -> _Cells:
        texts, which = different(cells)
        widths = read_cover(texts, stated)[0].loss()[which]
        exact = int((widths == 0).sum()) >= max(FEWEST, SHARE * len(widths))
        few = stated.kind == "set" and len(stated.values) <= LABELS
        wide = widths > (0 if exact else np.median(widths))
        return cls(cells.name, wide, exact, texts.to_list() if few and exact else [], which)


def different(cells: pl.Series) -> tuple[pl.Series, NDArray[np.int32]]:
    """Return the different cells as texts, sorted, and which of them each row has."""
    if not is_dictionary(cells):
        cells = cells.cast(pl.String).cast(pl.Categorical(pl.Categories.random()))
    codes = cells.to_physical().cast(pl.Int32).fill_null(-1).to_numpy() + 1
    some = np.full(int(codes.max()) + 1, -1, np.int32)
    some[codes] = np.arange(len(codes), dtype=np.int32)  # a row of each
    held = np.flatnonzero(some >= 0)
    named = cells.gather(some[held]).cast(pl.String).fill_null(MISSING_LABEL)
    texts = named.unique().sort()
    place = np.zeros(len(some), np.int32)
    place[held] = named.cast(pl.Enum(texts)).to_physical().to_numpy()
    return texts, place[codes]


def _compared(cells: _Cells, other: Column) -> CellBias | None:
    values, wide = other.numbers.astype(np.float64)[other.codes], cells.wide
    rows = int(wide.sum())
    if min(rows, len(wide) - rows) < max(FEWEST, SHARE * len(wide)):
        return None
    narrow_mean, wide_mean = float(values[~wide].mean()), float(values[wide].mean())
    deviation = float(values.std())
    if not deviation or not abs(wide_mean - narrow_mean) >= TOLD * deviation:
        return None
    return CellBias(
        cells.name,
        other.name,
        _rounded(narrow_mean),
        _rounded(wide_mean),
        _rounded(rows / len(wide)),
        _rounded((wide_mean - narrow_mean) / deviation),
        cells.exact,
        _by_label(cells, values),
    )


def _by_label(cells: _Cells, values: NDArray[np.float64]) -> dict[str, float]:
    counts = np.bincount(cells.which[~cells.wide], minlength=len(cells.labels))
    sums = np.bincount(cells.which[~cells.wide], values[~cells.wide], len(cells.labels))
    return {
        (read_set(text) or [""])[0]: _rounded(total / count)
        for text, total, count in zip(cells.labels, sums, counts, strict=False)
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
