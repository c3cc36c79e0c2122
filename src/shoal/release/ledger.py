"""The ledger: the owner's private memory of a series of releases of one table.

It holds the rows of all groups that are published, as they came in when their group was born; whom
each row is about, as an HMAC under a key that lies in the file; the people of groups that were
dropped, who never come back; and of every round the digest of its manifest and how many real
people each group had. Group numbers count up and are never used again.

A round is committed before its release appears. Should the release never appear, the next run
publishes the same round: the other order would let a crash regroup people who were published.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError, OutputError
from shoal.notation import read_json
from shoal.platforms import lock, on_windows, unlinked_flags
from shoal.release.places import PRIVATE, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

VERSION = 1
PAUSE = 0.05  # seconds between two attempts at a lock
WHO, GROUP, HERE = "\x00person", "\x00group", "\x00here"  # columns beside those of the table
Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Round:
    """One release of the series: its manifest's digest, and the real people of each group.

    `place` is where it was to appear, `facts` what else its manifest counts.
    """

    manifest: str
    real: dict[int, int]
    place: str
    facts: dict[str, int]
    appeared: bool = False


@dataclass
class Ledger:
    """What the owner keeps from run to run.

    Attributes
    ----------
    key : of the HMACs.
    fixed : what every run has to ask for alike: roles, requirement and so on.
    rows : the rows of living groups; `WHO` they are about, their `GROUP`, whether that person is
        `HERE` now, and their cells as text.
    groups : a digest of the published rows of every group there ever was, by its number.
    regions : the regions of every group there ever was, where cells are regions.
    births : the number of the first group of each round in which groups were born.
    gone : people of dropped groups, as HMACs.
    rounds : the releases so far.
    seen : a digest of the file as it was last read or written, None before there is one.
    """

    key: bytes
    fixed: dict[str, Any]
    rows: pl.DataFrame
    groups: list[str] = field(default_factory=list)
    regions: list[dict[str, Any]] = field(default_factory=list)
    births: list[int] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    rounds: list[Round] = field(default_factory=list)
    seen: str | None = None

    @classmethod
    def begin(cls, fixed: dict[str, Any], columns: Sequence[str]) -> Ledger:
        """Return a ledger in which nothing stands yet."""
        names = {WHO: pl.String, GROUP: pl.Int64, HERE: pl.Boolean}
        empty = pl.DataFrame(schema=names | dict.fromkeys(columns, pl.String))
        return cls(secrets.token_bytes(32), fixed, empty)

    def mark(self, people: Iterable[str]) -> list[str]:
        """Return the HMAC of each person."""
        return [hmac.digest(self.key, one.encode(), "sha256").hex() for one in people]

    @property
    def previous(self) -> str | None:
        """The digest of the manifest of the last release that appeared."""
        return next((one.manifest for one in reversed(self.rounds) if one.appeared), None)

    @property
    def pending(self) -> bool:
        """Whether the last round was committed and is not known to have appeared."""
        return bool(self.rounds) and not self.rounds[-1].appeared

    def to_json(self) -> str:
        """Return everything as text."""
        return json.dumps(
            {
                "shoal_ledger": VERSION,
                "key": self.key.hex(),
                "fixed": self.fixed,
                "rows": self.rows.to_dict(as_series=False),
                "groups": self.groups,
                **({"regions": self.regions, "births": self.births} if self.regions else {}),
                "gone": sorted(self.gone),
                "rounds": [
                    {
                        "manifest": one.manifest,
                        "appeared": one.appeared,
                        "place": one.place,
                        "facts": one.facts,
                        "real": {str(group): real for group, real in one.real.items()},
                    }
                    for one in self.rounds
                ],
            },
            ensure_ascii=False,
        )

    def write(self, path: str | Path) -> None:
        """Write the ledger, whole or not at all, for its owner alone.

        Raises where another program has written it since it was read.
        """
        path = Path(path)
        if (_digest(path.read_bytes()) if path.exists() else None) != self.seen:
            msg = (
                f"The ledger {path.name!r} was created or changed by another program while Shoal "
                "was working, and Shoal left it as it is. Run the command again."
            )
            raise OutputError(msg)
        text = self.to_json()
        write_whole(path, text, force=self.seen is not None, what="ledger")
        self.seen = _digest(text.encode())

    def disagreements(
        self, releases: Sequence[tuple[str, str, Mapping[int, Rows], Any]]
    ) -> list[str]:
        """Return a sentence for whatever releases say otherwise than the ledger.

        Each release has a name, the digest of its manifest, the rows of each group, and the
        numbers of real people that they state.
        """
        wrong = []
        places = {one.manifest: place for place, one in enumerate(self.rounds)}
        last = -1
        for name, digest, groups, real in releases:
            place = places.get(digest)
            if place is None:
                wrong.append(f"{name}: the ledger does not list this release.")
                continue
            if place <= last:
                wrong.append(
                    f"{name}: according to the ledger, this release is older than one that you "
                    "named before it. Name the releases oldest first."
                )
            last = place
            stated = self.rounds[place].real
            if {group: [number] for group, number in stated.items()} != dict(real):
                wrong.append(
                    f"{name}: the numbers of people who are still in the table differ from the "
                    "ledger."
                )
            changed = [
                group
                for group, rows in groups.items()
                if not 0 <= group < len(self.groups) or self.groups[group] != digest_of_rows(rows)
            ]
            if changed:
                wrong.append(f"{name}: {len(changed)} groups differ from the ledger.")
        return wrong


def digest_of_rows(rows: Rows) -> str:
    """Return a digest of the published rows of a group, in whatever order they stand."""
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_ledger(path: str | Path) -> Ledger:
    """Read a ledger, raising where it is none."""
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
        said = read_json(data)
    except OSError as problem:
        msg = f"Cannot read the ledger {name!r}: {problem.strerror}."
        raise InputError(msg) from None
    except InputError as problem:
        msg = f"{name!r} is not a ledger: {problem}."
        raise InputError(msg) from None
    if not isinstance(said, dict) or said.get("shoal_ledger") != VERSION:
        msg = (
            f"{name!r} was written by another version of Shoal, which this version cannot read "
            "as a ledger."
        )
        raise InputError(msg)
    try:
        _check_shape(said)
        columns = said["rows"]
        kinds = {WHO: pl.String, GROUP: pl.Int64, HERE: pl.Boolean}
        return Ledger(
            key=bytes.fromhex(said["key"]),
            fixed=said["fixed"],
            rows=pl.DataFrame(columns, schema={n: kinds.get(n, pl.String) for n in columns}),
            groups=list(said["groups"]),
            regions=[dict(one) for one in said.get("regions", [])],
            births=[int(one) for one in said.get("births", [])],
            gone=set(said["gone"]),
            rounds=[
                Round(
                    one["manifest"],
                    {int(group): int(real) for group, real in one["real"].items()},
                    str(one["place"]),
                    {str(name): int(number) for name, number in one["facts"].items()},
                    bool(one["appeared"]),
                )
                for one in said["rounds"]
            ],
            seen=_digest(data),
        )
    except (KeyError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError):
        msg = f"Parts of the ledger {name!r} are missing or changed. Restore a copy of it."
        raise InputError(msg) from None


def _check_shape(said: dict[str, Any]) -> None:
    """Raise where parts of a ledger are not of the kind that they are written as."""
    fixed, rows = said["fixed"], said["rows"]
    texts = (*said["groups"], *said["gone"], *rows[WHO], *fixed["columns"])
    mappings = (fixed.get(name, {}) for name in ("hierarchies", "order", "date_formats"))
    if (
        not all(isinstance(text, str) for text in texts)
        or not all(isinstance(mapping, dict) for mapping in mappings)
        or not all(isinstance(column, list) for column in rows.values())
        or not {WHO, GROUP, HERE, *fixed["columns"]} <= rows.keys()
        or any(None in rows[name] for name in (GROUP, HERE))
    ):
        raise TypeError


@contextmanager
def locked(path: str | Path, what: str = "ledger", patience: float = 0.0) -> Iterator[None]:
    """Keep other runs from a private file, or raise where one has it for longer than `patience`."""
    target = Path(os.path.realpath(path))
    mark = target.with_name(f".{target.name}.lock")
    end = time.monotonic() + patience
    while True:
        try:
            descriptor = os.open(mark, unlinked_flags(os.O_RDWR | os.O_CREAT), PRIVATE)
        except OSError as problem:
            msg = f"Cannot lock the {what} {target.name!r}: {problem.strerror}."
            raise OutputError(msg) from None
        held = lock(descriptor)
        if held is None:
            os.close(descriptor)
            msg = (
                f"Cannot lock the {what} {target.name!r}: its disk, or this system, has no locks. "
                "Put it on another disk."
            )
            raise OutputError(msg)
        if not held:
            os.close(descriptor)
            if time.monotonic() < end:
                time.sleep(PAUSE)
                continue
            msg = f"Another run is using the {what} {target.name!r}. Wait until it has finished."
            raise OutputError(msg)
        if mark.exists() and os.path.samestat(os.fstat(descriptor), mark.lstat()):
            break
        os.close(descriptor)  # whoever had it took the file away in between
    try:
        yield
    finally:
        if on_windows():  # it takes away nothing that is open
            os.close(descriptor)
            with suppress(PermissionError):  # the next run has it already
                mark.unlink(missing_ok=True)
        else:
            mark.unlink(missing_ok=True)
            os.close(descriptor)
