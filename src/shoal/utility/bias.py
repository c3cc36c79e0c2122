"""The codebook of a release as its tables tell it, and what it warns of: narrow cells that mislead.

Wide cells are not a random sample: people who are unlike their neighbours stretch the cells of
their group. So the mean of a sensitive column differs between rows with narrow and with wide cells,
and whoever leaves the wide ones out shifts it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import interval_ends, read_cover, read_set
from shoal.exact import percent
from shoal.release.cells import typed_kind
from shoal.release.codebook import HEADER, HeldCells, codebook_of
from shoal.table.coding import code_lenient
from shoal.table.column import INTEGER
from shoal.table.columns import is_dictionary
from shoal.table.forms import CODEBOOK, TWO_TABLES
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import LABELS, PSEUDONYM
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn
    from shoal.table.column import Column
    from shoal.table.schema import Schema


# A day, or a day and a time, as ISO 8601 writes them.
WORDS = ("done", "caution")
HELD = ("type", "domain", "values", "caution")
ISO_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+)?$"


def codebook(published: Published, held: Mapping[str, HeldCells] | None = None) -> pl.DataFrame:
    """Return the codebook of published tables.

    `held` is what columns hold that are published as they are, where more rows say so than these.
    """
    manifest = published.stated
    decimals = {
        one.name
        for one in manifest.columns
        if one.has_ends and not one.dates and not _whole(published, one.name)
    }
    known = dict(_held(published)) if held is None else held
    told = cautions(cell_bias(published.table, manifest)) if published.whole else {}
    return codebook_of(manifest, known, decimals, told)


def untrue_codebook(directory: Path, published: Published) -> list[str]:
    """Return a sentence for every line of a codebook that the tables and the manifest contradict.

    Another version of Shoal may word what was done and what to mind otherwise. Where not all rows
    were read, it is not known what the columns hold that are published as they are.
    """
    known = _lines(codebook(published).write_csv().encode())
    try:
        told = _lines((directory / CODEBOOK).read_bytes())
    except (OSError, pl.exceptions.PolarsError):
        return []  # the audit has said so
    if told.columns != known.columns:
        return [f"{CODEBOOK} has other columns than a codebook has."]
    compared = [key for key in HEADER if published.stated.shoal == __version__ or key not in WORDS]

    def by_column(lines: pl.DataFrame) -> dict[tuple[str, str], dict[str, str]]:
        return {(line["file"], line["name"]): line for line in lines.iter_rows(named=True)}

    right, there = by_column(known), by_column(told)
    problems = [f"{CODEBOOK} has no line for {name!r}." for _, name in right.keys() - there.keys()]
    problems += [
        f"{CODEBOOK} has a line for {name!r}, which is not published."
        for _, name in there.keys() - right.keys()
    ]
    for at in right.keys() & there.keys():
        unknown = () if published.whole or right[at]["form"] != "exact" else HELD
        if other := [
            key for key in compared if key not in unknown and right[at][key] != there[at][key]
        ]:
            problems.append(
                f"{CODEBOOK} contradicts the published tables and the manifest about {at[1]!r}: "
                f"{', '.join(other)}."
            )
    if not problems and told.height != known.height:
        problems.append(f"{CODEBOOK} has several lines for one column.")
    return sorted(problems)


def _lines(data: bytes) -> pl.DataFrame:
    """Read a codebook, all of it as text."""
    return pl.read_csv(data, infer_schema=False).fill_null("")


def _whole(published: Published, name: str) -> bool:
    """Return whether all published numbers of a quasi column are whole."""
    table = published.table if published.people is None else published.people
    ends = interval_ends(table[name].unique().cast(pl.String))
    return all(end.drop_nulls().str.contains(INTEGER).all() for end in ends)


def _held(published: Published) -> Iterator[tuple[str, HeldCells]]:
    """Yield what the columns hold that are published as they are."""
    schema = published.schema
    for one in published.stated.columns:
        name, role = one.name, one.role
        if role not in {"quasi", PSEUDONYM}:
            table = published.table if name in published.table.columns else published.people
            assert table is not None
            yield name, _cells(table[name], schema, role)
    for name, linked in published.linked.items():
        own = schema.linked[name]
        for column in own.published:
            yield column, _cells(linked[column], own, str(own.role(column)))


def _cells(column: pl.Series, schema: Schema, role: str) -> HeldCells:
    """Describe the cells of a column that is published as it is."""
    name = column.name
    some = column.unique()
    some = some.cast(pl.String) if is_dictionary(some) else some
    plain = schema.read_numbers(some.to_frame(), role)[name]
    if schema.types.get(name) in LABELS:
        return HeldCells.of(plain.cast(pl.String), plain)
    kind = typed_kind(plain, spelled=False)
    found = HeldCells.of(plain.cast(kind) if kind is not None else plain, plain)
    known = plain.drop_nulls()
    if plain.dtype == pl.String and len(known) and known.str.contains(ISO_DAY).all():
        return replace(found, type="date", ends=(known.min(), known.max()))
    return found


FEWEST = 11  # rows of which a mean is told
SHARE = 0.01  # of the rows that have to be narrow, or wide, for it to matter
TOLD = 0.1  # standard deviations that a difference has at least
DIGITS = 3
OWN_MEANS = 6  # labels whose own means are told


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
            + ". Leaving out wide cells shifts this mean: use every row, and spread each over "
            "what its cell covers."
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
        few = stated.kind == "set" and len(stated.values) <= OWN_MEANS
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
