"""DuckDB, through its own package."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.table.databases.access import MARK, check_standing, quote
from shoal.table.files import load
from shoal.table.forms import check_header
from shoal.table.frames import take_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from shoal.table.databases.access import Address


# A query reads this file and no other: no copy to, no attach, no extension, and no way back.
ALONE = {"enable_external_access": "false", "lock_configuration": "true"}


WIDE = {"HUGEINT", "UHUGEINT"}


class DuckDb:
    """A DuckDB file."""

    def __init__(self) -> None:
        self.driver = load("duckdb", extra="duckdb", what="A DuckDB file")
        load("pyarrow", extra="duckdb", what="A DuckDB file")

    def read(self, address: Address, query: str) -> pl.DataFrame:
        """Return what a query finds; the file is opened for reading only."""
        with (
            self._sentences(address),
            closing(self.driver.connect(address.place, read_only=True, config=ALONE)) as connection,
        ):
            return _fetch(connection.sql(query), address)

    def standing(self, address: Address) -> str | None:
        """Return None where there is no such table, else the mark it bears, or nothing."""
        with (
            self._sentences(address),
            closing(self.driver.connect(address.place, read_only=True)) as connection,
        ):
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
        with (
            self._sentences(address),
            closing(self.driver.connect(address.place)) as connection,
        ):
            connection.begin()
            try:
                if check_standing(address, _mark_of(connection, address), force=force):
                    connection.execute(f"drop table {name}")
                connection.register("published_now", table.to_arrow())
                connection.execute(f"create table {name} as select * from published_now")  # noqa: S608 - quoted
                connection.execute(f"comment on table {name} is '{MARK}'")
                written = connection.sql(f"select * from {name}")  # noqa: S608 - quoted
                found = accept(_fetch(written, address))
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            return found

    @contextmanager
    def _sentences(self, address: Address) -> Iterator[None]:
        try:
            yield
        except self.driver.Error as problem:
            # Texts about the query and the file are told; others may hold cells.
            telling = (self.driver.ProgrammingError, self.driver.IOException)
            reason = type(problem).__name__
            if isinstance(problem, self.driver.PermissionException):
                reason = "a query may only read this file, as select does"
            if isinstance(problem, telling):
                reason = str(problem).splitlines()[0].rstrip(".!")
            msg = f"DuckDB on {address.shown!r}: {reason}."
            raise InputError(msg) from None


def _mark_of(connection: Any, address: Address) -> str | None:
    """Return the mark of a table, None where there is none."""
    schema, _, name = (address.table or "").rpartition(".")
    found = connection.execute(
        "select coalesce(comment, '') from (select schema_name, table_name, comment from "
        "duckdb_tables() union all select schema_name, view_name, null from "
        "duckdb_views()) where lower(table_name) = lower(?) and schema_name = ?",
        [name, schema or "main"],
    ).fetchone()
    return found[0] if found else None


def _exact(name: str, kind: Any) -> str:
    """Return a column as SQL asks for it: integers of 128 bits as digits, of which Arrow has 38."""
    named = quote(name)
    return f"cast({named} as varchar) as {named}" if str(kind) in WIDE else named


def _fetch(found: Any, address: Address) -> pl.DataFrame:
    if found is None:
        msg = f"The query on {address.shown!r} returns no table. It has to be a select."
        raise InputError(msg)
    check_header(found.columns, address.shown)
    if WIDE.intersection(map(str, found.types)):
        found = found.project(", ".join(map(_exact, found.columns, found.types)))
    return take_arrow(found.to_arrow_table())
