"""What a worker does for the page.

Nothing is decided here: tables are read, looked at and published by the same functions that the
commands call, and plain values go back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.progress import Progress, silent
from shoal.runs import consider as considering
from shoal.runs.look import codes, picture, uniqueness
from shoal.runs.proposal import propose as proposing

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 4_000  # rows that a price is tried on
SECONDS = 0.6  # of the search for a price


@dataclass
class Hand:
    """One worker's memory of tables, and everything that it can be asked to do, by name."""

    progress: Progress = silent
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    found: dict[str, shoal.Inspection] = field(default_factory=dict)
    codes: dict[str, pl.DataFrame] = field(default_factory=dict)

    def warm_up(self) -> None:
        """Load what the first click needs."""
        from shoal.datasets.census import census

        table = census(400)
        found = shoal.inspect(table)
        shoal.anonymize(table, found.schema, require="EpsilonM(epsilon=100, m=2)")

    def make_demo(self, path: str) -> None:
        """Write the embedded table."""
        from shoal.datasets.census import census

        census().write_csv(path)

    def look(self, path: str, sample: str, **how: str | None) -> dict[str, Any]:
        """Read a table; return what its columns are, with pictures, and a proposal."""
        table = self._read(path, **how)
        found = shoal.inspect(table)
        self.found[path] = found
        self.codes[path] = codes(table.select(one.name for one in found.columns if one.type))
        table.sample(min(SAMPLE, table.height)).write_parquet(sample)
        known = found.to_dict()
        for column, facts in zip(found.columns, known["columns"], strict=True):
            facts["picture"] = picture(table[column.name], column)
        return known | {"proposal": _proposal(table, found)}

    def propose(self, path: str, roles: dict[str, str]) -> dict[str, Any] | None:
        """Return a requirement to start from, with the roles as they are now."""
        found = self.found[path]
        columns = tuple(replace(one, role=roles.get(one.name)) for one in found.columns)
        secret = next((one.name for one in columns if one.role == "sensitive"), None)
        return _proposal(self.tables[path], replace(found, columns=columns, protect=secret))

    def unique(self, path: str, names: list[str]) -> dict[str, Any]:
        """Return how unique people are by some columns, and by all but one of them."""
        return uniqueness(self.codes[path], names)

    def consider(self, path: str, file: str) -> list[dict[str, Any]]:
        """Return for each requirement of a schema file what it says and how far it can go."""
        asked = _asked(file)
        return [_considered(self.tables[path], asked, text) for text in asked["require"]]

    def change(self, text: str, sensitive: list[str], numbers: dict[str, str]) -> str:
        """Return a requirement with some of its numbers changed."""
        return considering.changed(text, sensitive, numbers)

    def price(self, sample: str, file: str) -> dict[str, Any]:
        """Publish a sample of the rows in memory; return what that loses."""
        asked = _asked(file)
        begun = time.perf_counter()
        table = self._read(sample)
        release = shoal.anonymize(table, asked.pop("schema"), **asked, seconds=SECONDS)
        facts = {key: release.manifest[key] for key in ("loss", "columns", "rows")}
        return facts | {"seconds": time.perf_counter() - begun}

    def publish(self, file: str, path: str, output: str, **how: str | None) -> dict[str, Any]:
        """Make a release of a table as a schema file says, and return what came of it."""
        asked = _asked(file)
        self.progress("read", 0.0)
        table = self._read(path, **how)
        release = shoal.anonymize(table, asked.pop("schema"), **asked, progress=self.progress)
        audit = release.write(output, progress=self.progress)
        sizes = audit.alike if audit.alike is not None else audit.matches
        return {
            "manifest": release.manifest,
            "audit": audit.to_dict(),
            "promises": [
                one.principle.promise(" and ".join(one.columns)) for one in release.requirements
            ],
            "smallest": None if sizes is None else int(sizes.min()),
            "files": {one.name: one.stat().st_size for one in sorted(Path(output).iterdir())},
        }

    def save(self, source: str, target: str) -> str:
        """Copy a release into a folder that is not there yet; return which."""
        from shoal.runs.copies import copy_release

        return str(copy_release(source, target))

    def _read(self, path: str, **how: str | None) -> pl.DataFrame:
        from shoal.table.reading import read_table

        if path not in self.tables:
            self.tables[path] = read_table([path], **how)
        return self.tables[path]


def _proposal(table: pl.DataFrame, found: shoal.Inspection) -> dict[str, Any] | None:
    made = proposing(table, found)
    if made is None:
        return None
    return {"require": made.require, "missing": made.missing, "reasons": list(made.reasons)}


def _considered(table: pl.DataFrame, asked: dict[str, Any], text: str) -> dict[str, Any]:
    try:
        return considering.consider(table, asked["schema"], text, asked["missing"])
    except shoal.ShoalError as problem:
        return {"text": text, "problem": problem.sentence, "fix": problem.fix}


def _asked(file: str) -> dict[str, Any]:
    """Read a schema file as the command line does."""
    from shoal.table.settings import read_settings

    said = read_settings(file)
    used = {name for names in said.roles.values() for name in names}
    quasi = said.roles.get("quasi", ())
    schema = shoal.Schema(
        **said.roles,
        types={name: kind for name, kind in said.types.items() if name in used},
        order={name: order for name, order in said.order.items() if name in used},
        hierarchies={name: tree for name, tree in said.hierarchies.items() if name in quasi},
        weights=said.weights,
        decimal=said.decimal,
    )
    return {
        "schema": schema,
        "require": said.require,
        "method": said.method,
        "missing": said.missing or "error",
        "suppress": said.suppress,
        "title": said.title,
    }
