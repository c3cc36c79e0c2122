"""A memory against accidents: a private log of releases, kept where the owner agreed to it.

It holds of every release the day, a digest of the input, whom it was about (as HMACs under a key
that lies in the file), what was required and where it went. When people are published again
without a ledger, the owner is warned: two independent releases tell more than both alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError, OutputError
from shoal.notation import read_json
from shoal.release.ledger import locked
from shoal.release.places import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from shoal.table.schema import Schema

VERSION = 1
MARK = 20  # hexadecimal digits of a person's HMAC: 80 bits tell people apart
SLICE = 2**16  # rows that are digested at a time
PATIENCE = 60.0  # seconds in which another run has added its line
GUIDE = "see the guide on publishing again"


@dataclass(frozen=True)
class Past:
    """The log as it was read: its key, and what it says of every release."""

    key: bytes
    releases: tuple[dict[str, Any], ...]


def known_by(schema: Schema) -> tuple[str, ...]:
    """Return the columns that tell who somebody is: those that name people, else quasi columns."""
    return schema.persons or tuple(sorted(schema.identifying or schema.quasi))


def read_history(path: str | Path) -> Past:
    """Read the log; one that is not there yet begins now."""
    name = Path(path).name
    try:
        text = Path(path).read_text("utf-8")
    except FileNotFoundError:
        return Past(secrets.token_bytes(32), ())
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not text"
        msg = f"Cannot read the history {name!r}: {reason}."
        raise InputError(msg) from None
    try:
        first, *lines = [read_json(line) for line in text.splitlines()]
        key = {VERSION: first["key"]}[first["shoal_history"]]
        for line in lines:
            _ = line["day"], line["by"], [str(mark) for mark in line["people"]], line["ledger"]
        return Past(bytes.fromhex(key), tuple(lines))
    except (InputError, KeyError, TypeError, ValueError):
        msg = f"{name!r} is not a history of releases. Choose another file for it."
        raise InputError(msg) from None


def marks(key: bytes, table: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the HMAC of whom each row is about."""
    rows = table.select(pl.col(columns).cast(pl.String)).iter_rows()
    return [hmac.digest(key, json.dumps(row).encode(), "sha256").hex()[:MARK] for row in rows]


def digest_of_table(table: pl.DataFrame) -> str:
    """Return a digest of the cells of a table."""
    found = hashlib.sha256()
    for part in table.iter_slices(SLICE):
        found.update(part.write_csv().encode())
    return f"sha256:{found.hexdigest()}"


class History:
    """The log of releases, for one run: first it warns, then it is added to."""

    def __init__(
        self,
        path: str | Path,
        table: pl.DataFrame,
        schema: Schema,
        ledger: str | Path | None = None,
    ) -> None:
        self.path = Path(path)
        self.ledger = None if ledger is None else os.path.realpath(ledger)
        self.past = read_history(path)
        self.by = known_by(schema)
        self.once = bool(schema.persons)  # several rows may be about one person
        self.people = marks(self.past.key, table, self.by)
        self.begun = None if self.past.releases else table.select(self.by)
        self.digest = digest_of_table(table)

    def _counted(self, people: Iterable[str]) -> Counter[str]:
        """Count people: each once where a column says who they are, else as often as they occur."""
        return Counter(set(people) if self.once else people)

    def _published(self, rows: NDArray[Any]) -> Counter[str]:
        """Count whom published rows are about; rows below 0 stand for nobody."""
        return self._counted(self.people[row] for row in rows.tolist() if row >= 0)

    def warnings(self, rows: NDArray[Any]) -> list[str]:
        """Return a sentence for every earlier release with people who are published again."""
        now = self._published(rows)
        said = []
        for one in self.past.releases:
            if list(self.by) != one["by"] or (self.ledger and one["ledger"] == self.ledger):
                continue
            both = (now & self._counted(one["people"])).total()
            if both:
                day = datetime.fromisoformat(one["day"])
                said.append(
                    f"{both:,} of these {now.total():,} people were in the release of {day.day} "
                    f"{day:%B %Y}; together the two may reveal more: {GUIDE}."
                )
        return said

    def add(self, rows: NDArray[Any], require: Sequence[str], output: str) -> None:
        """Add a release that was published to the log, to which other runs may have added."""
        with locked(self.path, "history", PATIENCE):
            past = read_history(self.path) if self.path.exists() else self.past
            if past.key != self.past.key:  # another run has begun the log
                if self.begun is None:
                    msg = (
                        f"The history {self.path.name!r} was replaced by another program while "
                        "Shoal was working, and Shoal left it as it is. The release itself is "
                        f"complete, in {output!r}."
                    )
                    raise OutputError(msg)
                self.people = marks(past.key, self.begun, self.by)
            entry = {
                "day": datetime.now(UTC).astimezone().date().isoformat(),
                "input": self.digest,
                "by": list(self.by),
                "people": sorted(self._published(rows).elements()),
                "require": list(require),
                "output": output,
                "ledger": self.ledger,
            }
            first = {"shoal_history": VERSION, "key": past.key.hex()}
            lines = [first, *past.releases, entry]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            write_whole(self.path, text, force=True, what="history")
