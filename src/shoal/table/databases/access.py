"""Reading from a database and writing a whole table into it, whichever database it is.

Its address names a table in it; a password in the address is never shown.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit
from urllib.parse import quote as percent

from shoal.errors import InputError, OutputError, UsageError, option
from shoal.platforms import path_from

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl


__all__ = [
    "check_target",
    "file_of",
    "is_address",
    "moved",
    "name_of",
    "read_address",
    "refuse_unknown",
    "write_address",
]
MARK = "Shoal release"  # on every table we make; no other is replaced


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
        force: bool,
        accept: Callable[[pl.DataFrame], Any],
    ) -> Any:
        """Make the table in one transaction, which ends well only if what it reads is accepted.

        What stands there is looked at again within the transaction.
        """


def _database(address: Address) -> Database:
    if address.kind == "sqlite":
        from shoal.table.databases.sqlite import Sqlite

        return Sqlite()
    if address.kind == "duckdb":
        from shoal.table.databases.duckdb import DuckDb

        return DuckDb()
    from shoal.table.databases.postgresql import PostgreSql

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
            f"Name what Shoal should read from {address.shown!r}: "
            f"{option('query', 'select …')}, or add ?table=people to the address, {what}."
        )
        raise UsageError(msg)
    asked = query if query is not None else f"select * from {address.quoted_table}"  # noqa: S608 - quoted
    asked = asked.strip().rstrip(";").strip()
    if not asked:
        msg = f"The query is empty. Write one, for example {option('query', 'select …')}."
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
        msg = (
            f"Name the table that Shoal should make in {address.shown!r}: add ?table=published "
            "to the address."
        )
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
    check_standing(address, standing, force=force)


def check_standing(address: Address, mark: str | None, *, force: bool) -> bool:
    """Return whether a table stands where one is to be made, or raise where it must stay.

    `mark` is what it bears, None where there is no table.
    """
    if mark is None:
        return False
    if not force:
        msg = (
            f"The table {address.table!r} already exists. Name another one, or replace it with "
            f"{option('force')}."
        )
        raise OutputError(msg)
    if mark != MARK:
        msg = (
            f"The table {address.table!r} exists and is not a release, so {option('force')} does "
            "not replace it."
        )
        raise OutputError(msg)
    return True


def write_address(
    target: str, table: pl.DataFrame, *, force: bool, accept: Callable[[pl.DataFrame], Any]
) -> Any:
    """Write a table whole or not at all, and only if it is accepted as it reads there.

    Where the file of a database is not there yet, it stays, empty, when the table does not.
    """
    check_target(target, force=force)
    address = read_address_text(target)
    try:
        return _database(address).write(address, table, force=force, accept=accept)
    except InputError as problem:
        raise OutputError(str(problem)) from None


KINDS = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}
ANY = re.compile(
    r"^(?:([A-Za-z][A-Za-z0-9+.-]+)://|(sqlite|duckdb|postgres|postgresql):)", re.IGNORECASE
)
STDOUT = "-"
ADDRESS = re.compile(r"^(sqlite|duckdb|postgres|postgresql)://", re.IGNORECASE)


def _unreadable() -> UsageError:
    """Say what is wrong with an address without a part of it: a password may be in any."""
    return UsageError(
        "The address of the database cannot be read. Write it as postgresql://host/name, and "
        "spell signs in a user's name or password by their numbers: %2F for /, %23 for #, %3F for "
        "?, %40 for @, %3A for :, %25 for %."
    )


@dataclass(frozen=True)
class Address:
    """Where a table is.

    Attributes
    ----------
    kind : sqlite, duckdb or postgresql.
    place : the path of a file, or an address that a server's driver takes.
    table : the name of the table, None where the address names none.
    shown : how messages name the database.
    """

    kind: str
    place: str
    table: str | None
    shown: str

    def __repr__(self) -> str:  # the place may hold a password
        return f"Address({self.shown!r}, table={self.table!r})"

    @property
    def quoted_table(self) -> str:
        """The table as SQL names it; a dot parts the schema from the name."""
        assert self.table is not None
        return ".".join(map(quote, self.table.split(".")))


def quote(name: str) -> str:
    """Return an identifier as SQL quotes it."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def seen_from(text: str, folder: Path) -> str:
    """Return an address that was written in one directory as seen from where we are.

    Only the file of a database has a place; the address of a server stays as it is.
    """
    address = read_address_text(text)
    if address.kind == "postgresql" or Path(address.place).is_absolute():
        return text
    return spell_file(address.kind, folder / address.place, address.table)


def spell_file(kind: str, path: Path, table: str | None) -> str:
    """Return the address of a table in the file of a database."""
    said = f"?{urlencode({'table': table}, quote_via=percent)}" if table else ""
    return f"{kind}:///{percent(path.as_posix())}{said}"


def moved(text: str, path: Path) -> str:
    """Return the address of the same table in another file."""
    address = read_address_text(text)
    return spell_file(address.kind, path, address.table)


def to_keep(text: str, folder: Path) -> str:
    """Return an address to be written into a file of a directory: relative to it, no password."""
    address = read_address_text(text)
    if address.kind != "postgresql":
        path = Path(address.place)
        if not path.is_absolute():
            path = Path(path_from(path, folder))
        return spell_file(address.kind, path, address.table)
    parts = urlsplit(text)
    user, at, host = parts.netloc.rpartition("@")
    said = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if "pass" not in key.lower()
    ]
    place = user.partition(":")[0] + at + host
    return urlunsplit((parts.scheme, place, parts.path, urlencode(said, quote_via=percent), ""))


def is_address(source: object) -> bool:
    """Return whether something names a database rather than a file."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def is_outlet(target: str | Path) -> bool:
    """Return whether something is published there without a directory."""
    return str(target) == STDOUT or is_address(target)


def refuse_unknown(place: object) -> None:
    """Raise where a place is an address of a kind that nothing here reads or writes.

    As a path it would lead to files whose names have a password in them.
    """
    found = ANY.match(str(place)) if isinstance(place, str | os.PathLike) else None
    if found is not None and not is_address(place):
        msg = (
            f"Shoal cannot use an address that begins with {found[1] or found[2]!r}. It takes "
            "files and directories, and tables of a database: sqlite:///people.db, "
            "duckdb:///people.duckdb or postgresql://host/name, each with ?table=people."
        )
        raise UsageError(msg)


def read_address_text(text: str) -> Address:
    """Take an address apart, as sqlite:///people.db?table=people."""
    try:
        parts = urlsplit(text)
        said = parse_qsl(parts.query, keep_blank_values=True)
        _ = parts.port
    except ValueError:
        raise _unreadable() from None
    kind = KINDS[parts.scheme.lower()]
    if kind == "postgresql" and (
        parts.fragment
        or parts.netloc.count("@") > 1
        or "@" in parts.path
        or ("@" in parts.query and ":" in parts.netloc and "@" not in parts.netloc)
    ):
        raise _unreadable()
    tables = [value for key, value in said if key == "table"]
    if len(tables) > 1 or "" in tables:
        msg = "The address of a database names one table, for example ?table=people."
        raise UsageError(msg)
    rest = [(key, value) for key, value in said if key != "table"]
    table = tables[0] if tables else None
    if kind == "postgresql":
        place = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(rest), ""))
        host = parts.netloc.rpartition("@")[2]
        return Address(kind, place, table, f"{host or 'local'}{parts.path}")
    path = unquote(parts.path.removeprefix("/"))
    if parts.netloc or rest or not path:
        msg = (
            f"A {kind} file is named with three slashes, for example {kind}:///people.db, or four "
            "from the "
            f"root on, for example {kind}:////data/people.db; all that may follow is ?table=people."
        )
        raise UsageError(msg)
    return Address(kind, path, table, Path(path).name)
