"""PostgreSQL, through psycopg: tables go in and out by COPY, as text that the server spells."""

from __future__ import annotations

import io
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError
from shoal.table.databases.access import MARK, Address, check_standing, quote
from shoal.table.files import load
from shoal.table.forms import check_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 10  # seconds to wait for a server, where the address says nothing else
CHUNK = 1 << 20
KINDS: dict[str, pl.DataType] = {  # of the server's types; all others stay text
    "int2": pl.Int64(),
    "int4": pl.Int64(),
    "int8": pl.Int64(),
    "float8": pl.Float64(),
    "date": pl.Date(),
    "timestamp": pl.Datetime("us"),
}
DATA, INTERNAL = "22", "XX"  # classes of errors whose text may hold cells


class PostgreSql:
    """A PostgreSQL server."""

    def __init__(self) -> None:
        self.driver = load("psycopg", extra="postgresql", what="A PostgreSQL server")

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return what a query finds, in a transaction that can only read."""
        with self._connected(address) as connection:
            connection.read_only = True
            return self._fetch(connection, query, address)

    def standing(self, address: Address) -> str | None:
        """Return None where there is no such table, else the mark it bears, or nothing."""
        with self._connected(address) as connection:
            connection.read_only = True
            return _mark_of(connection, address)

    def write(
        self,
        address: Address,
        table: pl.DataFrame,
        *,
        force: bool,
        accept: Callable[[pl.DataFrame], Any],
    ) -> Any:
        """Make the table in one transaction."""
        name = address.quoted_table
        plain = table.with_columns(
            column.cast(pl.String) for column in table if _kind(column.dtype) == "text"
        )
        columns = ", ".join(f"{quote(c.name)} {_kind(c.dtype)}" for c in plain)
        with self._connected(address) as connection:
            if check_standing(address, _mark_of(connection, address), force=force):
                connection.execute(f"drop table {name}")
            connection.execute(f"create table {name} ({columns})")
            connection.execute(f"comment on table {name} is '{MARK}'")
            spelled = io.BytesIO()
            plain.write_csv(spelled, include_header=False, datetime_format="%FT%T%.6f")
            with connection.cursor().copy(f"copy {name} from stdin (format csv)") as copy:
                spelled.seek(0)
                while chunk := spelled.read(CHUNK):
                    copy.write(chunk)
            found = accept(self._fetch(connection, f"select * from {name}", address))  # noqa: S608 - quoted
            connection.commit()
        return found

    def _fetch(self, connection: Any, query: str, address: Address) -> pl.DataFrame:
        """Copy the rows of a query; every cell is quoted, so nothing unquoted is missing."""
        # Prepared, so that it can be one statement only: a second one could begin by a commit.
        asked = f"select * from ({query}\n) as asked limit 0"  # noqa: S608 - the owner's own
        columns = connection.execute(asked, prepare=True).description
        copied = io.BytesIO()
        statement = f"copy ({query}\n) to stdout (format csv, force_quote *)"
        with connection.cursor().copy(statement) as copy:
            for block in copy:
                copied.write(block)
        names = [column.name for column in columns]
        check_header(names, address.shown)
        places = [str(place) for place in range(len(names))]
        kinds = self._kinds(connection, columns)
        if copied.tell():
            copied.seek(0)
            table = pl.read_csv(copied, has_header=False, new_columns=places, infer_schema=False)
        else:
            table = pl.DataFrame({place: [] for place in places}, dict.fromkeys(places, pl.String))
        series = zip(names, table, kinds, strict=True)
        return pl.DataFrame([_typed(column, kind).alias(name) for name, column, kind in series])

    @staticmethod
    def _kinds(connection: Any, columns: Any) -> list[str]:
        known = [connection.adapters.types.get(column.type_code) for column in columns]
        return [kind.name if kind else "text" for kind in known]

    @contextmanager
    def _connected(self, address: Address) -> Iterator[Any]:
        try:
            said = self.driver.conninfo.conninfo_to_dict(address.place)
        except self.driver.Error:  # its text holds the address, password and all
            msg = (
                "The address of the PostgreSQL server cannot be read. Write it as "
                "postgresql://user@host:5432/name, and spell other signs by their numbers, for "
                "example %40 for @."
            )
            raise InputError(msg) from None
        password = said.get("password")
        said.setdefault("connect_timeout", PATIENCE)
        try:
            with closing(self.driver.connect(**said)) as connection:
                yield connection
        except self.driver.Error as problem:
            reason = _reason(problem)
            if password:
                reason = reason.replace(str(password), "***")
            msg = f"PostgreSQL on {address.shown!r}: {reason.rstrip('.')}."
            raise InputError(msg) from None


def _mark_of(connection: Any, address: Address) -> str | None:
    """Return the mark of a table, None where there is none."""
    found = connection.execute(
        "select coalesce(obj_description(c, 'pg_class'), '') from to_regclass(%s) as c "
        "where c is not null",
        [address.quoted_table],
    ).fetchone()
    return found[0] if found else None


def _reason(problem: Any) -> str:
    state = getattr(problem, "sqlstate", None) or ""
    if state[:2] in {DATA, INTERNAL}:
        return f"{type(problem).__name__} ({state}); the message is left out, it may hold data"
    told = problem.diag.message_primary or str(problem).strip() or type(problem).__name__
    return " ".join(told.split())


def _kind(dtype: pl.DataType) -> str:
    if dtype in {pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32}:
        return "bigint"
    if dtype.is_float():
        return "double precision"
    if dtype.is_decimal() or dtype == pl.UInt64:
        return "numeric"
    if dtype == pl.Boolean:
        return "boolean"
    if dtype == pl.Date:
        return "date"
    return "timestamp" if dtype == pl.Datetime and not dtype.time_zone else "text"  # type: ignore[attr-defined]


def _typed(column: pl.Series, kind: str) -> pl.Series:
    """Return a column in its type, or as text where the type cannot hold a cell (infinity, BC)."""
    if kind == "bool":
        return column.replace_strict({"t": True, "f": False}, return_dtype=pl.Boolean)
    wanted = KINDS.get(kind)
    if wanted is None:
        return column
    if kind == "timestamp":
        typed = column.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    elif kind == "date":
        typed = column.str.to_date("%Y-%m-%d", strict=False)
    else:
        typed = column.cast(wanted, strict=False)
    return typed if typed.null_count() == column.null_count() else column
