"""SQLite, through the driver that comes with Python."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError
from shoal.table.databases.access import MARK, Address, check_standing, quote
from shoal.table.forms import check_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BATCH = 50_000  # rows that are Python objects at one time
EXACT = 2**53
WIDE = (pl.UInt64, pl.Int128, pl.UInt128)  # a file holds 64 bits with a sign


class Sqlite:
    """A SQLite file. Each cell has its own type there; a column of mixed types is read as text."""

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return what a query finds; the file is opened for reading only."""
        uri = f"{Path(address.place).absolute().as_uri()}?mode=ro"
        with _sentences(address), closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("select count(*) from sqlite_master")  # raises if it is no database
            connection.execute("pragma query_only = on")
            connection.set_authorizer(_only_reading)
            return _fetch(connection.execute(query), address)

    def standing(self, address: Address) -> str | None:
        """Return None where there is no such table, else the mark it bears, or nothing."""
        uri = f"{Path(address.place).absolute().as_uri()}?mode=ro"
        with _sentences(address), closing(sqlite3.connect(uri, uri=True)) as connection:
            return _mark_of(connection, address)

    def write(
        self,
        address: Address,
        table: pl.DataFrame,
        *,
        force: bool,
        accept: Callable[[pl.DataFrame], Any],
    ) -> Any:
        """Make the table in one transaction; the mark stays in the statement that made it."""
        name = quote(address.table or "")
        plain = table.with_columns(
            column.cast(pl.String) for column in table if _kind(column.dtype) == "text"
        )
        columns = ", ".join(f"{quote(c.name)} {_kind(c.dtype)}" for c in plain)
        places = ", ".join("?" * plain.width)
        with (
            _sentences(address),
            closing(sqlite3.connect(address.place, isolation_level=None)) as connection,
        ):
            connection.execute("pragma secure_delete = on")  # of a replaced table nothing is left
            connection.execute("begin immediate")
            try:
                if check_standing(address, _mark_of(connection, address), force=force):
                    connection.execute(f"drop table {name}")
                connection.execute(f"create table {name} (/* {MARK} */ {columns})")
                connection.executemany(f"insert into {name} values ({places})", plain.iter_rows())  # noqa: S608 - quoted
                cursor = connection.execute(f"select * from {name} order by rowid")  # noqa: S608 - quoted
                found = accept(_fetch(cursor, address))
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
            return found


def _mark_of(connection: sqlite3.Connection, address: Address) -> str | None:
    """Return the mark of a table, None where there is none."""
    found = connection.execute(
        "select sql from sqlite_master where lower(name) = lower(?)", [address.table]
    ).fetchone()
    if found is None:
        return None
    _, opening, rest = (found[0] or "").partition("/* ")
    return rest.partition(" */")[0] if opening else ""


READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def _only_reading(action: int, first: str | None, second: str | None, *_where: object) -> int:
    """Allow what reads this file alone: attaching, or a copy by `vacuum into`, writes another."""
    loading = action == sqlite3.SQLITE_FUNCTION and "load_extension" in {first, second}
    return sqlite3.SQLITE_OK if action in READING and not loading else sqlite3.SQLITE_DENY


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_integer() and dtype not in WIDE:
        return "integer"
    return "real" if dtype.is_float() else "text"


def _fetch(cursor: sqlite3.Cursor, address: Address) -> pl.DataFrame:
    if cursor.description is None:
        msg = f"The query on {address.shown!r} returns no table. It has to be a select."
        raise InputError(msg)
    names = [column[0] for column in cursor.description]
    check_header(names, address.shown)
    parts: list[list[pl.Series]] = [[] for _ in names]
    while rows := cursor.fetchmany(BATCH):
        for part, cells in zip(parts, zip(*rows, strict=True), strict=True):
            part.append(_series(cells))
    return pl.DataFrame([_joined(part).alias(n) for n, part in zip(names, parts, strict=True)])


def _series(cells: Sequence[Any]) -> pl.Series:
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {int, float} and all(abs(c) <= EXACT for c in cells if type(c) is int):
        return pl.Series(cells, dtype=pl.Float64, strict=False)
    if len(kinds) > 1 and bytes not in kinds:
        return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)
    if len(kinds) > 1:
        return pl.Series(cells, dtype=pl.Object)  # refused by name when it is used
    return pl.Series(cells)


def _joined(parts: list[pl.Series]) -> pl.Series:
    kinds = {part.dtype for part in parts} - {pl.Null()}
    if kinds == {pl.Int64(), pl.Float64()}:
        exact = all(part.abs().max() <= EXACT for part in parts if part.dtype == pl.Int64)  # type: ignore[operator]
        kinds = {pl.Float64() if exact else pl.String()}
    kind = kinds.pop() if len(kinds) == 1 else pl.String()
    if not parts:
        return pl.Series(dtype=pl.String)
    return pl.concat([part if part.dtype == kind else part.cast(kind) for part in parts])


def _denied(problem: Exception) -> bool:
    return getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_AUTH


@contextmanager
def _sentences(address: Address) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as problem:
        reason = "a query may only read, as select does" if _denied(problem) else problem
        msg = f"SQLite on {address.shown!r}: {reason}."
        raise InputError(msg) from None
