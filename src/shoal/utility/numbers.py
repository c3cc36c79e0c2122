"""Published cells, of any form, and plain ones as the same numbers, ready for a model.

A number is itself; where a group is known by two ends it is the middle of them, and where its mean
is published, that. A date counts in days. A label becomes a share for each label of its column: 1
for its own, and 1 / k for each of k labels in a set. The name of a node is a label. A missing
number counts as the mean of the others, and a number of its own, 1 or 0, says that it is missing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import covers_missing, interval_ends, read_set
from shoal.audit.published import open_checked
from shoal.audit.tables import read_manifest
from shoal.errors import InputError, UnknownColumn
from shoal.table.coding import NUMBER
from shoal.table.dates import date_parts, not_dates
from shoal.table.forms import MEANS, PEOPLE, RELEASE, TWO_TABLES, VALUES, ends_of, gaps_of
from shoal.table.missing import MISSING_LABEL
from shoal.table.reading import give_frame, take_frame
from shoal.table.schema import NODE, RESERVED
from shoal.utility.bias import ISO_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.release.manifest import Manifest
    from shoal.release.recoding import ReleaseData
    from shoal.release.stated import StatedColumn

DAY = 86_400
LABELS = 100  # of a column that have a number of their own
END = re.compile(r"^(.*)_(low|high|missing)$")


class CellNumbers:
    """Turns the columns of a table into numbers; which labels there are, `fit` learns."""

    def __init__(self, columns: Sequence[str] | None = None) -> None:
        self.columns = columns

    def fit(self, table: Any) -> CellNumbers:
        """Learn which columns hold numbers, and which labels the others have."""
        frame = take_frame(table)
        self.kept_ = list(self.columns) if self.columns is not None else _bases(frame)
        self.labels_: dict[str, list[str]] = {}
        self.means_: dict[str, float] = {}
        self.gaps_: set[str] = set()
        for name in self.kept_:
            numbers = _numbers(frame, name)
            if numbers is not None:
                missing = np.isnan(numbers)
                self.means_[name] = float(numbers[~missing].mean()) if not missing.all() else 0.0
                self.gaps_ |= {name} if missing.any() else set()
            else:
                counts: dict[str, float] = {}
                for labels in _sets(frame, name):
                    for label in labels:
                        counts[label] = counts.get(label, 0) + 1 / len(labels)
                common = sorted(counts, key=lambda label: (-counts[label], label))[:LABELS]
                self.labels_[name] = sorted(common)
        return self

    @property
    def names(self) -> list[str]:
        """The names of the numbers, in their order."""
        found = []
        for name in self.kept_:
            found += [f"{name}={label}" for label in self.labels_.get(name, ())]
            found += [name] * (name not in self.labels_) + [gaps_of(name)] * (name in self.gaps_)
        return found

    def transform(self, table: Any) -> NDArray[np.float64]:
        """Return a row of numbers for each row of a table."""
        frame = take_frame(table)
        parts = []
        for name in self.kept_:
            if name in self.labels_:
                parts.append(self._shares(frame, name))
                continue
            numbers = _numbers(frame, name)
            if numbers is None:
                msg = f"Column {name!r} held numbers when this was fitted, and does not any more."
                raise InputError(msg)
            missing = np.isnan(numbers)
            parts.append(np.where(missing, self.means_[name], numbers)[:, None])
            if name in self.gaps_:
                parts.append(missing[:, None].astype(np.float64))
        return np.hstack(parts) if parts else np.zeros((frame.height, 0))

    def _shares(self, frame: pl.DataFrame, name: str) -> NDArray[np.float64]:
        place = {label: number for number, label in enumerate(self.labels_[name])}
        cells = _cells(frame, name)
        distinct = cells.unique()
        shares = np.zeros((len(distinct), len(place)))
        for row, labels in enumerate(_read(distinct)):
            for label in labels:
                if label in place:
                    shares[row, place[label]] += 1 / len(labels)
        return shares[cells.cast(pl.Enum(distinct)).to_physical().to_numpy()]


def _bases(frame: pl.DataFrame) -> list[str]:
    """Return the columns that a table is about: two ends are one column, a group is none."""
    names: dict[str, None] = {}
    for name in frame.columns:
        end = END.match(name)
        both = end is not None and {*ends_of(end[1])} <= set(frame.columns)
        base = end[1] if end is not None and both else name
        if base != RESERVED and (base != NODE or RESERVED not in frame.columns):
            names[base] = None
    return list(names)


def _numbers(frame: pl.DataFrame, name: str) -> NDArray[np.float64] | None:
    """Return a column as numbers, None where it holds labels."""
    low, high = ends_of(name)
    if name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pl.Struct):
            parts = [column.struct.field(end) for end in ("low", "high")]
        elif isinstance(column.dtype, pl.List):
            return None
        else:
            parts = list(interval_ends(column.cast(pl.String))) if column.dtype == pl.String else []
            parts = parts or [column, column]
    elif {low, high} <= set(frame.columns):
        parts = [frame[low], frame[high]]
    else:
        raise UnknownColumn(name, frame.columns)
    read = [_as_number(part) for part in parts]
    return None if read[0] is None or read[1] is None else read[0] / 2 + read[1] / 2


def _as_number(column: pl.Series) -> NDArray[np.float64] | None:
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).to_numpy()
    if column.dtype == pl.Boolean:
        return None
    texts = column.cast(pl.String)
    known = texts.drop_nulls()
    if not len(known):
        return None
    if known.str.contains(NUMBER).all():
        return texts.cast(pl.Float64).to_numpy()
    if not_dates(known).any():
        return None
    seconds, rest = (part.cast(pl.Float64).to_numpy() for part in date_parts(texts))
    return (seconds + rest / 1e9) / DAY


def _cells(frame: pl.DataFrame, name: str) -> pl.Series:
    from shoal.audit.cells import as_text

    if name not in frame.columns:
        raise UnknownColumn(name, frame.columns)
    return as_text(frame[name]).fill_null(MISSING_LABEL)


def _sets(frame: pl.DataFrame, name: str) -> list[list[str]]:
    cells = _cells(frame, name)
    distinct = cells.unique()
    read = _read(distinct)
    return [read[place] for place in cells.cast(pl.Enum(distinct)).to_physical()]


def _read(cells: pl.Series) -> list[list[str]]:
    return [read_set(text) or [text] for text in cells]


# A release


def features(source: Any) -> Any:
    """Return the quasi and other columns of a release as numbers, a row for each published one.

    Of two tables a row stands for one of the values, and has the means over the people of its
    group. A release in memory gives the kind of frame that it was made from, a directory Polars.

    Parameters
    ----------
    source : a release, or its directory.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": [20, 30, 40, 50], "pay": [1000, 9000, 5000, 2000]})
    >>> schema = shoal.Schema(quasi="age", sensitive="pay")
    >>> release = shoal.anonymize(people, schema, require="EpsilonM(epsilon=500, m=2)")
    >>> sorted(release.features()["age"])
    [25.0, 25.0, 45.0, 45.0]
    """
    if isinstance(source, str | Path):
        tables, manifest = read(source), read_manifest(Path(source))
    elif not hasattr(source, "manifest"):
        msg = (
            f"features takes a release or its directory, not a {type(source).__name__}. Name the "
            "directory; for a frame there is CellTransformer."
        )
        raise InputError(msg)
    else:
        tables, manifest = _typed(source), source.manifest
    found = _as_numbers(tables, manifest)
    given = getattr(source, "given", None)
    return found if given is None else give_frame(found, given)


def _as_numbers(tables: Any, manifest: Manifest) -> pl.DataFrame:
    kept = [one.name for one in manifest.columns if one.role in {"quasi", "other"}]
    if isinstance(tables, tuple):
        people, values = tables
        made = CellNumbers([name for name in kept if name in people.columns]).fit(people)
        numbers = pl.DataFrame(made.transform(people), schema=made.names, orient="row")
        means = numbers.with_columns(people[RESERVED]).group_by(RESERVED).mean()
        return values.select(RESERVED).join(means, on=RESERVED, how="left").select(made.names)
    made = CellNumbers(kept).fit(tables)
    return pl.DataFrame(made.transform(tables), schema=made.names, orient="row")


def _typed(release: ReleaseData) -> Any:
    """Return what `read` makes of the files: labels as lists, those that are never mixed too."""
    from shoal.release.forms import is_interval

    parts = {}
    for stem, part in release.parts.items():
        kept = [name for name in part.schema.never_mix if is_interval(part.quasi[name])]
        schema = replace(part.schema, never_mix=tuple(kept))
        parts[stem] = pl.concat(replace(part, escape=False, schema=schema).typed())
    return (
        (parts[PEOPLE], parts[VALUES]) if release.form == TWO_TABLES else next(iter(parts.values()))
    )


def read(directory: str | Path) -> Any:
    """Read a release directory with types: numbers as numbers, dates as dates, sets as lists.

    An interval stands in two columns, `age_low` and `age_high`, with the mean before them where
    there is one. Where ages are missing, `age_missing` behind them is 1 where a cell covers some.
    A number or date that is never mixed stands in one column, as it is. Two tables come as a pair:
    people and values.
    """
    tables = typed_tables(directory)
    return (tables[PEOPLE], tables[VALUES]) if VALUES in tables else tables[RELEASE]


def typed_tables(directory: str | Path) -> dict[str, pl.DataFrame]:
    """Read all tables of a release directory with types, by their names."""
    from shoal.table.databases.access import is_address

    place = Path(directory)
    if is_address(str(directory)) or not place.is_dir():
        msg = f"{place.name!r} is not a release directory."
        raise InputError(msg)
    published = open_checked(place)
    manifest, schema = published.stated, published.schema
    sensitive = manifest.named("sensitive")
    known = {RELEASE: published.table}
    if published.people is not None:
        known = {PEOPLE: published.people, VALUES: published.table.select(RESERVED, *sensitive)}
    stated = manifest.by_name
    found = {
        name: _with_types(schema.read_numbers(table, "other"), stated, manifest.form)
        for name, table in known.items()
    }
    for name, linked in published.linked.items():
        table = schema.linked[name].read_numbers(linked, "other")
        plain = {column: column.removeprefix(f"{name}.") for column in linked.columns}
        own = {column.name: column for column in manifest.tables[name].columns}
        found[name] = _with_types(table.rename(plain), own, manifest.form)
    return found


def _with_types(table: pl.DataFrame, stated: Mapping[str, StatedColumn], form: str) -> pl.DataFrame:
    columns: list[pl.Series] = []
    for cells in table:
        column = stated.get(cells.name)
        if column is not None and column.quasi and form != TWO_TABLES:
            columns += _quasi(cells, column, form)
        else:
            labels = column is not None and column.kind == "set"
            columns.append(cells.cast(pl.String) if labels else _plain(cells, column))
    return pl.DataFrame(columns)


def _quasi(cells: pl.Series, column: StatedColumn, form: str) -> list[pl.Series]:
    from shoal.audit.cells import interval_means

    name, texts = cells.name, cells.cast(pl.String)
    if column.kind == "node":
        return [texts]
    if not column.has_ends:
        distinct = texts.fill_null(MISSING_LABEL).unique()
        lists = pl.Series(name, _read(distinct), pl.List(pl.String))
        places = texts.fill_null(MISSING_LABEL).cast(pl.Enum(distinct)).to_physical()
        return [lists.gather(places)]
    if column.never_mix:
        return [_plain(texts, column)]
    low, high = interval_ends(texts)
    parts = [one.alias(end) for one, end in zip((low, high), ends_of(name), strict=True)]
    if form == MEANS:
        parts.insert(0, interval_means(texts).fill_null(low).alias(name))
    found = [_plain(part, column) for part in parts]
    if column.has_gap:
        found.append(covers_missing(texts).cast(pl.Int64).alias(gaps_of(name)))
    return found


def _plain(cells: pl.Series, column: StatedColumn | None) -> pl.Series:
    """Return cells with the type that all of them have: integers, decimals, dates, or text."""
    from shoal.release.cells import typed_kind
    from shoal.table.dates import parse_dates, units_as_dates
    from shoal.table.schema import LABELS as TEXTS

    if cells.dtype != pl.String and not isinstance(cells.dtype, pl.Categorical):
        return cells
    texts = cells.cast(pl.String)
    said = None if column is None else column.type
    if said in TEXTS:
        return texts
    kind = typed_kind(texts, spelled=False)
    if kind is not None:
        return texts.cast(kind)
    known = texts.drop_nulls()
    dated = said == "date" or (len(known) and known.str.contains(ISO_DAY).all())
    found = parse_dates(known) if dated and len(known) else None
    if found is None:
        return texts
    places = pl.Series(np.cumsum(texts.is_not_null().to_numpy()) - 1)
    dates = units_as_dates(*found).gather(places.clip(0))
    nothing = pl.Series([None], dtype=dates.dtype)
    return dates.zip_with(texts.is_not_null(), nothing).alias(cells.name)
