"""Tables that answer count queries: exact ones, and published ones whose rows spread over boxes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.audit.cells import alike, cell_codes, check_rows
from shoal.audit.published import open_checked
from shoal.audit.tables import find_parts, open_stated
from shoal.errors import InputError, UnknownColumn
from shoal.kernels.queries import BLOCK, box_counts, count_rows, spread_count
from shoal.principles.groups import Groups
from shoal.table.forms import MEANS, RELEASE
from shoal.table.reading import read_table, take_frame
from shoal.table.schema import NODE, PERSON, RESERVED
from shoal.table.settling import settle, weights_of
from shoal.utility.columns import Exact, Intervals, Spread, read_cells, take_cells
from shoal.utility.parts import PartsTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.release.manifest import Manifest
    from shoal.release.recoding import Recoding
    from shoal.table.schema import Schema
    from shoal.utility.pairing import SharedOut
    from shoal.utility.placing import LikelyPlaces
    from shoal.utility.sets import Set

Asked = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]
KEPT = 2**27  # bytes of columns, put together for queries, that are held for the next ones
TOGETHER = 5_000_000  # rows of part files whose means are looked at all at once, to learn from them
Query = dict[str, "Set"]  # what is asked of each column; all of it has to hold


class Answers(Protocol):
    """What can be asked for counts; `queryable` takes it as it takes a release."""

    def __len__(self) -> int: ...

    @property
    def columns(self) -> Mapping[str, Exact | Spread]:
        """What can be asked about."""

    def count(self, query: Query) -> float:
        """Return the (expected) number of rows that a query asks for."""


class CodedCells(Mapping[str, Exact]):
    """Columns of a table, each coded when it is first asked for."""

    def __init__(self, table: pl.DataFrame, names: Sequence[str], schema: Schema) -> None:
        for name in names:
            if name not in table.columns:
                raise UnknownColumn(name, table.columns)
        self.table, self.names, self.schema = table, tuple(names), schema
        self._coded: dict[str, Exact] = {}

    def __getitem__(self, name: str) -> Exact:
        if name not in self.names:
            raise KeyError(name)
        if name not in self._coded:
            self._coded[name] = Exact.of(
                self.table[name],
                kind=self.schema.types.get(name),
                order=self.schema.order.get(name),
                hierarchy=self.schema.hierarchies.get(name),
            )
        return self._coded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with exact values, in an order of their own."""

    columns: Mapping[str, Exact]
    size: int
    order: NDArray | None = None
    _stacked: dict[tuple[str, ...], NDArray[np.int32]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.size

    @classmethod
    def of(
        cls,
        table: pl.DataFrame,
        names: Sequence[str],
        schema: Schema,
        order: NDArray | None = None,
    ) -> Rows:
        """Take some columns of a table."""
        return cls(CodedCells(table, names, schema), table.height, order)

    def asked(self, query: Query) -> Asked:
        """Return what kernels need for the part of a query that is about these columns."""
        names = tuple(sorted(name for name in query if name in self.columns))
        codes = self._stacked.get(names)
        if codes is None:
            held = sum(one.nbytes for one in [*self._stacked.values()])
            if held + 4 * len(names) * len(self) > KEPT:
                self._stacked.clear()
            codes = np.empty((len(names), len(self)), np.int32)
            for place, name in enumerate(names):
                own = self.columns[name].codes
                codes[place] = own if self.order is None else own[self.order]
            self._stacked[names] = codes
        begins, firsts, lasts = [0], [], []
        for name in names:
            for first, last in self.columns[name].ranges(query[name]):
                firsts.append(first)
                lasts.append(last)
            begins.append(len(firsts))
        ends = np.array(firsts, np.int32), np.array(lasts, np.int32)
        return codes, np.array(begins, np.int64), *ends

    def by_box(self, starts: NDArray[np.int64], query: Query) -> NDArray[np.int64]:
        """Count the rows of each box that a query asks for."""
        counts = np.empty(len(starts) - 1, np.int64)
        scratch = np.empty((2, BLOCK), np.uint8), np.empty(BLOCK + 1, np.int64)
        box_counts(starts, *self.asked(query), *scratch, counts)
        return counts


@dataclass(frozen=True, eq=False)
class ExactTable:
    """A table whose values are all known: the original."""

    rows: Rows

    @classmethod
    def of(cls, source: Any, schema: Schema) -> ExactTable:
        """Take the columns that a schema names from a path or a frame."""
        table = read_table(source) if isinstance(source, str | Path) else take_frame(source)
        table, schema = settle(table, schema)
        if not table.height:
            msg = "The table has a header but no rows."
            raise InputError(msg)
        plain = schema.read_numbers(table, "quasi", "sensitive")
        return cls(Rows.of(plain, schema.published, schema))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> Mapping[str, Exact]:
        """What can be asked about."""
        return self.rows.columns

    def count(self, query: Query) -> float:
        """Return the number of rows that a query asks for."""
        check_columns(query, self.columns)
        marks = np.empty((2, BLOCK), np.uint8)
        return count_rows(len(self.rows), *self.rows.asked(query), marks)


@dataclass(frozen=True, eq=False)
class BoxTable:
    """A published table: rows of one box stand together, and each spreads over it.

    Boxes are the distinct combinations of quasi cells, so that it does not matter whether groups
    are known or there are none.
    """

    quasi: dict[str, Spread]
    cells: NDArray[np.int32]  # by column and box
    starts: NDArray[np.int64]
    rows: Rows
    values: tuple[str, ...] = ()  # the sensitive columns, from which places of rows are learned
    weights: NDArray[np.float64] | None = None  # how many people a row of each box stands for

    def __post_init__(self) -> None:
        for (name, column), cells in zip([*self.quasi.items()], self.cells, strict=True):
            if isinstance(column, Intervals):
                sizes = self.sizes.astype(np.float64)
                rows = np.bincount(cells, weights=sizes, minlength=len(column.lows))
                self.quasi[name] = column.borne(rows)

    @classmethod
    def of(
        cls,
        published: pl.DataFrame,
        manifest: Manifest,
        schema: Schema,
        known: Recoding | None = None,
    ) -> BoxTable:
        """Read a published table, quasi cells as text where it is not `known` what they cover."""
        check_rows(published)
        stated = manifest.by_name
        quasi, which, rows = {}, {}, None
        if known is None and manifest.form == MEANS:
            groups = alike(published, (RESERVED,))
            rows = groups.sizes[groups.labels]
        for name in schema.quasi:
            if known is not None:
                quasi[name], cells = take_cells(known.covers[name], known.layout.bearers)
                which[name] = cells[known.layout.bears]
            elif name in published.columns:
                quasi[name], which[name] = read_cells(published[name], stated[name], rows)
            else:
                raise UnknownColumn(name, published.columns)
        # In the order of the column with the most cells shares are read one after the other.
        most_first = sorted(quasi, key=lambda name: -len(quasi[name].sizes))
        parts = [(which[name], len(quasi[name].sizes)) for name in most_first]
        weighed = None
        if schema.survey_weight in published.columns:
            weighed = published[str(schema.survey_weight)]
            parts.append(cell_codes(weighed))  # rows of one box stand for equally many people
        boxes = Groups.alike(published.height, iter(parts))
        shown = np.array([cells[boxes.first] for cells in which.values()], np.int32)
        exact = [name for name in stated if name not in quasi and name in published.columns]
        weights = None
        if weighed is not None:
            plain = schema.read_numbers(weighed.to_frame(), "other")[weighed.name]
            weights = weights_of(plain).to_numpy()[boxes.first]
        held = Rows.of(published, exact, schema, boxes.order)
        return cls(quasi, shown, boxes.starts, held, tuple(schema.sensitive), weights)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def columns(self) -> Mapping[str, Exact | Spread]:
        """What can be asked about."""
        return ChainMap(self.quasi, self.rows.columns)  # type: ignore[arg-type]

    @property
    def weighed(self) -> bool:
        """Whether rows stand for people of a population."""
        return self.weights is not None

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows in each box."""
        return np.diff(self.starts)

    @cached_property
    def placed(self) -> LikelyPlaces | None:
        """Where in their cells rows with some values lie rather, where means tell that."""
        if not any(isinstance(one, Intervals) and one.tilted for one in self.quasi.values()):
            return None
        from shoal.utility.placing import LikelyPlaces  # kernels that other forms do not need

        return LikelyPlaces.of(self)

    def count(self, query: Query) -> float:
        """Return the expected number of rows that a query asks for."""
        check_columns(query, self.columns)
        if self._places_matter(query):
            return float(self._inside(query).sum())
        used = [place for place, name in enumerate(self.quasi) if name in query]
        shares = [column.shares(query[n]) for n, column in self.quasi.items() if n in query]
        offsets = np.array([0, *accumulate(map(len, shares[:-1]))], np.int64)
        return spread_count(
            self.cells,
            np.array(used, np.int64),
            np.concatenate([np.empty(0), *shares]),
            offsets,
            self.rows.by_box(self.starts, query),
        )

    def estimate(self, query: Query) -> float:
        """Return the expected number of people of the population, by the survey weights."""
        if self.weights is None:
            return self.count(query)
        check_columns(query, self.columns)
        return float((self.weights * self._inside(query)).sum())

    def _places_matter(self, query: Query) -> bool:
        """Say whether it matters which rows lie where, as it does beyond one column."""
        return len(query) > 1 and self.placed is not None

    def _inside(self, query: Query) -> NDArray[np.float64]:
        """Return the expected number of rows of each box that a query asks for."""
        told: Mapping[str, object] = {}
        if self._places_matter(query):
            assert self.placed is not None
            inside, told = self.placed.asked(self, query), self.placed.columns
        else:
            inside = self.rows.by_box(self.starts, query).astype(np.float64)
        for place, (name, column) in enumerate(self.quasi.items()):
            if name in query and name not in told:
                inside *= column.shares(query[name])[self.cells[place]]
            elif name in query and isinstance(column, Intervals) and column.missing:
                inside *= np.asarray(column.known())[self.cells[place]]
        return inside


@dataclass(frozen=True, eq=False)
class TwoTables:
    """Quasi-identifiers and sensitive values in two tables, linked by groups alone (Anatomy).

    Which values people of a group are likely to have, `pairing` learns from all groups. Where it
    tells nothing, they go together at random: of a people and b values that a query asks for in a
    group of n people, a·b/n are expected (Xiao, Tao: Anatomy. VLDB 2006).
    """

    first: Rows
    second: Rows
    starts: tuple[NDArray[np.int64], NDArray[np.int64]]  # of the groups, in either
    weights: NDArray[np.float64] | None = None  # how many people one of each group stands for

    @classmethod
    def of(cls, people: pl.DataFrame, values: pl.DataFrame, schema: Schema) -> TwoTables:
        """Take two tables that share their groups."""
        sides, weights = [], None
        for table in (people, values):
            groups = Groups.of(table[RESERVED].cast(pl.Int64).to_numpy())
            names = [name for name in table.columns if name not in {RESERVED, PERSON, NODE}]
            sides.append((Rows.of(table, names, schema, groups.order), groups.starts))
            if schema.survey_weight in names:  # the mean of a group, in all of its rows
                plain = schema.read_numbers(table, "other")[str(schema.survey_weight)]
                weights = weights_of(plain).to_numpy()[groups.order[groups.starts[:-1]]]
        (first, starts), (second, others) = sides
        return cls(first, second, (starts, others), weights)

    def __len__(self) -> int:
        return len(self.second)

    @property
    def columns(self) -> Mapping[str, Exact]:
        """What can be asked about."""
        return ChainMap(self.first.columns, self.second.columns)  # type: ignore[arg-type]

    @property
    def weighed(self) -> bool:
        """Whether rows stand for people of a population."""
        return self.weights is not None

    @cached_property
    def pairing(self) -> SharedOut | None:
        """Which values of their group people are likely to have, where that can be told."""
        from shoal.utility.pairing import SharedOut  # kernels that other questions do not need

        return SharedOut.of(self.first, self.second, self.starts)

    def count(self, query: Query) -> float:
        """Return the expected number of rows that a query asks for."""
        return self._sum(query, np.ones(len(self.starts[0]) - 1))

    def estimate(self, query: Query) -> float:
        """Return the expected number of people of the population, by the survey weights."""
        return self.count(query) if self.weights is None else self._sum(query, self.weights)

    def _sum(self, query: Query, weights: NDArray[np.float64]) -> float:
        check_columns(query, self.columns)
        both = all(query.keys() & side.columns.keys() for side in (self.first, self.second))
        if both and self.pairing is not None:
            return self.pairing.count(self.first, self.second, self.starts, query, weights)
        first, second = (
            rows.by_box(starts, query)
            for rows, starts in zip((self.first, self.second), self.starts, strict=True)
        )
        return float((weights * first * second / np.diff(self.starts[0])).sum())


def check_columns(query: Query, columns: Mapping[str, object]) -> None:
    """Raise where a query is about a column that is not there."""
    for name in query:
        if name not in columns:
            raise UnknownColumn(name, list(columns))


def queryable(source: Any) -> Answers:
    """Return what a release directory, or anything published in memory, answers."""
    if isinstance(source, ExactTable | BoxTable | TwoTables | PartsTable):
        return source
    if isinstance(source, str | Path):
        manifest = open_stated(Path(source))
        parts = find_parts(Path(source), RELEASE, manifest.digests)
        if parts and (manifest.form != MEANS or parts.rows > TOGETHER):
            return PartsTable(parts, manifest)
        read = open_checked(Path(source), manifest)
        if read.people is None:
            return BoxTable.of(read.table, manifest, read.schema)
        secret = read.table.select(RESERVED, *read.schema.sensitive)
        return TwoTables.of(read.people, secret, read.schema)
    if hasattr(source, "answers"):
        return source.answers()
    msg = f"A release or its directory is needed, not a {type(source).__name__}."
    raise InputError(msg)
