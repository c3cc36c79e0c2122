"""The address of a database, and of a table in it; a password in it is never shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit
from urllib.parse import quote as percent

from shoal.errors import UsageError

KINDS = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}
ADDRESS = re.compile(r"^(sqlite|duckdb|postgres|postgresql)://", re.IGNORECASE)


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


def to_keep(text: str, folder: Path) -> str:
    """Return an address to be written into a file of a directory: relative to it, no password."""
    address = read_address_text(text)
    if address.kind != "postgresql":
        path = Path(address.place)
        if not path.is_absolute():
            path = Path(os.path.relpath(path, folder))
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


def read_address_text(text: str) -> Address:
    """Take an address apart, as sqlite:///people.db?table=people."""
    try:
        parts = urlsplit(text)
        said = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        msg = "The address of the database cannot be read. Write it as postgresql://host/name."
        raise UsageError(msg) from None
    kind = KINDS[parts.scheme.lower()]
    tables = [value for key, value in said if key == "table"]
    if len(tables) > 1 or "" in tables:
        msg = "The address of a database names one table, as ?table=people."
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
            f"A {kind} file is named with three slashes, as {kind}:///people.db, or four from the "
            f"root on, as {kind}:////data/people.db; all that may follow is ?table=people."
        )
        raise UsageError(msg)
    return Address(kind, path, table, Path(path).name)
