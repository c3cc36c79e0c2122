"""What a worker does for the page.

Nothing is decided here: tables are read, looked at and published by the same functions that the
commands call, and plain values go back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import shoal
from shoal.progress import Progress, silent
from shoal.runs import consider as considering
from shoal.runs.look import codes, picture, uniqueness
from shoal.runs.proposal import propose as proposing
from shoal.runs.run import Run

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

    def warm_up(self, *, search: bool) -> None:
        """Load what the first click needs."""
        from shoal.datasets.census import census

        table = census(400)
        found = shoal.inspect(table)
        if search:
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
        return considering.considered(self.tables[path], file)

    def change(self, text: str, sensitive: list[str], numbers: dict[str, str]) -> str:
        """Return a requirement with some of its numbers changed."""
        return considering.changed(text, sensitive, numbers)

    def price(self, sample: str, file: str) -> dict[str, Any]:
        """Publish a sample of the rows in memory; return what that loses."""
        begun = time.perf_counter()
        release = Run.load(file, table=self._read(sample), seconds=SECONDS).release()
        facts = {key: release.manifest[key] for key in ("loss", "columns", "rows")}
        return facts | {"seconds": time.perf_counter() - begun}

    def publish(self, file: str, path: str, output: str, **how: str | None) -> dict[str, Any]:
        """Make a release of a table as a schema file says, and return what came of it."""
        made = Run.load(file, table=[path], output=output, **how).go(self.progress)
        sizes = made.audit.alike if made.audit.alike is not None else made.audit.matches
        return {
            "manifest": made.facts,
            "audit": made.audit.to_dict(),
            "promises": [
                one.principle.promise(" and ".join(one.columns))
                for one in made.release.requirements
            ],
            "smallest": None if sizes is None else int(sizes.min()),
            "remarks": [(one.sentence, one.warning) for one in made.remarks],
            "files": {one.name: one.stat().st_size for one in made.files if one.is_file()},
        }

    def save(self, source: str, target: str) -> str:
        """Copy a release into a folder that is not there yet; return which."""
        from shoal.runs.copies import copy_release

        return str(copy_release(source, target))

    def _read(self, path: str, **how: str | None) -> pl.DataFrame:
        if path not in self.tables:
            self.tables[path] = Run.of(None, table=[path], **how).frame(self.progress)
        return self.tables[path]


def _proposal(table: pl.DataFrame, found: shoal.Inspection) -> dict[str, Any] | None:
    made = proposing(table, found)
    if made is None:
        return None
    return {"require": made.require, "missing": made.missing, "reasons": list(made.reasons)}
