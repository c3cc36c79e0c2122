"""Reading from a database and writing a whole table into it, whichever database it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shoal.errors import InputError, OutputError, UsageError
from shoal.schema.databases.address import Address, is_address, read_address_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

__all__ = ["check_target", "file_of", "is_address", "name_of", "read_address", "write_address"]
MARK = "Shoal release"  # on every table we make; --force replaces no other


class Database(Protocol):
    """What each database does in its own way; failures are raised as InputError."""

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return what a query finds; it cannot change anything."""

    def standing(self, address: Address) -> str | None:
        """Return None where there is no such table, else the mark it bears, or nothing."""

    def write(
        self,
        address: Address,
        table: pl.DataFrame,
        *,
        mark: str,
        replace: bool,
        accept: Callable[[pl.DataFrame], Any],
    ) -> Any:
        """Make the table in one transaction, which ends well only if what it reads is accepted."""


def _database(address: Address) -> Database:
    if address.kind == "sqlite":
        from shoal.schema.databases.sqlite import Sqlite

        return Sqlite()
    if address.kind == "duckdb":
        from shoal.schema.databases.duckdb import DuckDb

        return DuckDb()
    from shoal.schema.databases.postgresql import PostgreSql

    return PostgreSql()


def file_of(source: str) -> list[Path]:
    """Return the file that a database is kept in; none for a server."""
    address = read_address_text(source)
    return [] if address.kind == "postgresql" else [Path(address.place)]


def name_of(source: str) -> str:
    """Return how messages name a place: a path as it is, an address without any password."""
    if not is_address(source):
        return source
    address = read_address_text(source)
    return f"{address.shown}, table {address.table}" if address.table else address.shown


def read_address(source: str, query: str | None) -> pl.DataFrame:
    """Read what a query finds, or the table that the address names."""
    address = read_address_text(source)
    if (query is None) == (address.table is None):
        what = "not both" if query else "one of them"
        msg = (
            f"Say what to read from {address.shown!r}: --query 'select …', or ?table=people at the "
            f"end of the address, {what}."
        )
        raise UsageError(msg)
    asked = query if query is not None else f"select * from {address.quoted_table}"  # noqa: S608 - quoted
    asked = asked.strip().rstrip(";").strip()
    if not asked:
        msg = "The query is empty. Write one, as --query 'select * from people'."
        raise UsageError(msg)
    for path in file_of(source):
        if not path.is_file():
            msg = f"Cannot read {path.name!r}: there is no such file."
            raise InputError(msg)
    return _database(address).read(address, asked)


def check_target(target: str, *, force: bool) -> None:
    """Raise before any work is done where a table could not be written in the end."""
    address = read_address_text(target)
    if address.table is None:
        msg = f"Say which table to make in {address.shown!r}: add ?table=published."
        raise UsageError(msg)
    database = _database(address)
    for path in file_of(target):
        if not path.exists():
            if not path.absolute().parent.is_dir():
                msg = f"Cannot write {path.name!r}: its directory is missing."
                raise OutputError(msg)
            return
    try:
        standing = database.standing(address)
    except InputError as problem:
        raise OutputError(str(problem)) from None
    if standing is None:
        return
    if not force:
        msg = f"The table {address.table!r} exists. Name another one, or replace it with --force."
        raise OutputError(msg)
    if standing != MARK:
        msg = (
            f"The table {address.table!r} exists and is not a release, so --force does not "
            "replace it."
        )
        raise OutputError(msg)


def write_address(
    target: str, table: pl.DataFrame, *, force: bool, accept: Callable[[pl.DataFrame], Any]
) -> Any:
    """Write a table whole or not at all, and only if it is accepted as it reads there."""
    check_target(target, force=force)
    address = read_address_text(target)
    made = [path for path in file_of(target) if not path.exists()]
    done = False
    try:
        found = _database(address).write(address, table, mark=MARK, replace=force, accept=accept)
        done = True
    except InputError as problem:
        raise OutputError(str(problem)) from None
    finally:
        for path in () if done else made:
            path.unlink(missing_ok=True)
    return found
