"""What a worker does for the page.

Nothing is decided here: tables are read, looked at and published by the same functions that the
commands call, and plain values go back.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.progress import Better, Enough, Progress, never, silent, untold
from shoal.runs import consider as considering
from shoal.runs import prices as pricing
from shoal.runs.look import (
    about,
    check_link,
    codes,
    picture,
    rows_going,
    some_people,
    uniqueness,
)
from shoal.runs.losing import SAMPLE, reach_of
from shoal.runs.proposal import DEAR, linked_requirement, propose_linked, requirement_for
from shoal.runs.proposal import propose as proposing
from shoal.runs.run import Run
from shoal.views.pages import (
    attack_page,
    comparison_page,
    frontier_page,
    survey_page,
    write_page,
)
from shoal.views.person import as_html
from shoal.views.sentences import promised

if TYPE_CHECKING:
    import polars as pl

    from shoal.runs.proposal import Proposal


@dataclass
class Hand:
    """One worker's memory of tables, and everything that it can be asked to do, by name."""

    progress: Progress = silent
    enough: Enough = never
    better: Better = untold
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    found: dict[str, shoal.results.Inspection] = field(default_factory=dict)
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

    def look(self, path: str, **how: str | None) -> dict[str, Any]:
        """Read a table; return what its columns are, with pictures, and a proposal."""
        table = self._read(path, **how)
        found = shoal.inspect(table)
        self.found[path] = found
        self.codes[path] = codes(table.select(one.name for one in found.columns if one.type))
        return _pictured(table, found) | {"proposal": _proposal(table, found)}

    def link(
        self, path: str, called: str, person: str | None = None, encoding: str | None = None
    ) -> dict[str, Any]:
        """Read a table that is to be linked by people; return what its columns are."""
        table = self._read(path, encoding=encoding)
        check_link(table, called, person)
        return _pictured(table, shoal.inspect(table))

    def draw(self, path: str, sample: str, person: str | None, linked: dict[str, str]) -> int:
        """Write some rows of a table, to try prices on, and what linked tables say of them.

        Returns how many rows of the table they are.
        """
        some = some_people(self.tables[path], person, SAMPLE)
        some.write_parquet(sample)
        for target, place in linked.items():
            about(self.tables[place], str(person), some).write_parquet(target)
        return some.height

    def propose(
        self, path: str, roles: dict[str, str], linked: dict[str, str], file: str
    ) -> dict[str, Any] | None:
        """Return requirements to start from, with the roles as they are now."""
        found, table = self._with_roles(path, roles), self.tables[path]
        if not linked:
            return _proposal(table, found, dear=math.inf)
        others = self._linked(linked)
        schema = Run.load(file, linked=others).schema
        return _proposed(propose_linked(table, found, schema, others))

    def _with_roles(self, path: str, roles: dict[str, str]) -> shoal.results.Inspection:
        """Return what was found of a table, with the roles as they are now."""
        found = self.found[path]
        columns = tuple(replace(one, role=roles.get(one.name)) for one in found.columns)
        secret = tuple(one.name for one in columns if one.role == "sensitive")
        return replace(found, columns=columns, protect=secret)

    def going(self, path: str, file: str) -> dict[str, Any]:
        """Return how many rows will go as a schema file says, and why."""
        run = Run.load(file, table=self.tables[path])
        table = run.schema.read_numbers(self.tables[path], "quasi", "sensitive")
        least = max((one.principle.least for one in run.asked), default=1)
        return rows_going(table, run.schema, run.missing, least)

    def ready(self, path: str, file: str, linked: dict[str, str]) -> None:
        """Raise where a run would be refused before its search."""
        run = Run.load(file, table=self.tables[path], linked=self._linked(linked))
        run.check_asked()
        run.ready(self.tables[path])

    def instead(self, texts: list[str], tables: list[list[str]], text: str) -> list[str]:
        """Return requirements with another one in the place of the one that it is to replace."""
        return considering.instead(texts, tables, text)

    def reach(self, path: str, file: str) -> dict[str, float]:
        """Return how far the columns of a whole table reach: a sample may reach less far."""
        return reach_of(self.tables[path], Run.load(file, table=self.tables[path]))

    def unique(self, path: str, names: list[str], whom: str | None) -> dict[str, Any]:
        """Return how unique people are by some columns, and by all but one of them."""
        coded = self.codes[path]
        return uniqueness(coded, names, whom if whom in coded.columns else None)

    def consider(self, path: str, file: str, linked: dict[str, str]) -> list[dict[str, Any]]:
        """Return for each requirement of a schema file what it says and how far it can go."""
        return considering.considered(self.tables[path], file, self._linked(linked))

    def check_file(self, file: str) -> None:
        """Raise where a schema file is none: with the line and the key, as the commands do."""
        Run.load(file)

    def change(self, text: str, sensitive: list[str], numbers: dict[str, str]) -> str:
        """Return a requirement with some of its numbers changed."""
        return considering.changed(text, sensitive, numbers)

    def carry(
        self,
        path: str,
        texts: list[str],
        before: list[list[str]],
        now: list[list[str]],
        **known: Any,
    ) -> list[str]:
        """Return requirements that follow the columns to protect; new columns have one proposed."""
        kept = considering.carried(texts, before, now)
        had = {name for some in before for name in some}
        new = [name for name in considering.bare(kept, now) if name not in had]
        return self.protect(path, kept, new, own=now[0], **known)

    def lacking(self, texts: list[str], tables: list[list[str]]) -> list[str]:
        """Return the columns to protect that no requirement is about."""
        return considering.bare(texts, tables)

    def protect(
        self,
        path: str,
        texts: list[str],
        columns: list[str],
        *,
        own: list[str],
        roles: dict[str, str],
        linked: dict[str, str],
        file: str,
    ) -> list[str]:
        """Return requirements with one for each of some columns, where one is known that helps."""
        found, table = self._with_roles(path, roles), self.tables[path]
        made: list[str | None] = []
        for name in columns:
            if name in own:
                made.append(requirement_for(table, found, name))
            else:
                more = self._linked(linked)
                run = Run.load(file, table=table, linked=more)
                made.append(linked_requirement(table, run.schema, more, name, run.missing))
        return considering.joined(texts, [text for text in made if text is not None])

    def as_sure(self, texts: list[str], sensitive: list[str], most: int) -> list[str]:
        """Return requirements under which nobody is found more often than once in so many."""
        return considering.as_sure(texts, sensitive, most)

    def price(
        self, sample: str, linked: dict[str, str], file: str, **changes: Any
    ) -> dict[str, Any]:
        """Return about what a release loses, with some changes to what a schema file says."""
        some, more = self._drawn(sample, linked)
        return pricing.price(some, file, linked=more, **changes)

    def alternatives(
        self, sample: str, linked: dict[str, str], file: str, lost: dict[str, float]
    ) -> list[dict[str, Any]]:
        """Return what else could be asked for, given what each column loses now."""
        some, more = self._drawn(sample, linked)
        return pricing.alternatives(some, file, lost, more)

    def methods(self, sample: str, linked: dict[str, str], file: str) -> list[dict[str, Any]]:
        """Return the methods that serve, and which of them is the usual one."""
        some, more = self._drawn(sample, linked)
        return pricing.methods(some, file, more)

    def forms(self, sample: str, linked: dict[str, str], file: str) -> list[dict[str, Any]]:
        """Return what an analyst can do with each form."""
        some, more = self._drawn(sample, linked)
        return pricing.forms(some, file, more)

    def publish(self, file: str, path: str, output: str, **how: Any) -> dict[str, Any]:
        """Make a release of a table as a schema file says, and return what came of it."""
        heard: dict[str, Any] = {"enough": self.enough, "better": self.better}
        asked = Run.load(file, table=[path], output=output, **heard, **how)
        made = asked.go(self.progress)
        return {
            "manifest": made.facts,
            "promises": [(promised(one, made.facts), True) for one in made.release.requirements],
            "remarks": [(one.sentence, one.warning) for one in made.remarks if not one.roles],
            "files": {one.name: one.stat().st_size for one in made.files if one.is_file()},
        }

    def audit(self, folder: str) -> dict[str, Any]:
        """Measure what a release keeps, from its files."""
        found = shoal.audit(folder)
        made = json.loads((Path(folder) / "manifest.json").read_text("utf-8"))
        return {
            "audit": found.to_dict(),
            "complaints": found.complaints(),
            "promises": [
                (promised(one.requirement, made), one.holds)
                for one in found.findings
                if one.by != "cells"
            ],
        }

    def certificate(self, folder: str, page: str) -> None:
        """Write the certificate of a release, measured from its files: all of it, or nothing."""
        partial = Path(f"{page}.partial")
        partial.unlink(missing_ok=True)
        shoal.certificate(folder, partial)
        partial.replace(page)

    def person(self, file: str, path: str, folder: str, row: int | None, **how: Any) -> str:
        """Return what a stranger learns about one person, as a piece of a page; kept nowhere."""
        asked = Run.load(file, table=[path], **how)
        found = shoal.measures.person(
            folder,
            row,
            original=asked.frame(self.progress),
            person=asked.schema.person,
            hierarchies=asked.said.ask.hierarchies,
        )
        return as_html(found, alone=False)

    def attack(self, folders: list[str], page: str, original: str | None) -> None:
        """Write a page about what an attacker learns from releases."""
        write_page(page, attack_page(shoal.attack(folders, original=original).to_dict()))

    def survey(self, file: str, path: str, page: str, **how: Any) -> None:
        """Write a page about the level of every principle on a table as it is."""
        asked = Run.load(file, table=[path], **how)
        known = shoal.Schema(quasi=asked.schema.quasi, sensitive=asked.schema.sensitive)
        found = shoal.measures.survey(asked.frame(self.progress), known)
        write_page(page, survey_page(found.to_dict()))

    def compare(self, file: str, path: str, page: str, **how: Any) -> None:
        """Write a page about what several methods make of a table."""
        found = Run.load(file, table=[path], **how).compare(progress=self.progress)
        write_page(page, comparison_page(_reached(found)))

    def tune(self, file: str, path: str, page: str, **how: Any) -> None:
        """Write a page about what a table loses as what is required grows."""
        found = Run.load(file, table=[path], **how).tune(progress=self.progress)
        write_page(page, frontier_page(_reached(found)))

    def save(self, source: str, target: str) -> str:
        """Copy a release into a folder that is not there yet; return which."""
        from shoal.runs.publish import copy_release

        return str(copy_release(source, target))

    def _read(self, path: str, **how: str | None) -> pl.DataFrame:
        if path not in self.tables:
            self.tables[path] = Run.of(None, table=[path], **how).frame(self.progress)
        return self.tables[path]

    def _linked(self, places: dict[str, str]) -> dict[str, pl.DataFrame]:
        return {name: self.tables[place] for name, place in places.items()}

    def _drawn(
        self, sample: str, linked: dict[str, str]
    ) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
        """Return rows that were drawn, and those of linked tables."""
        return self._read(sample), {name: self._read(place) for name, place in linked.items()}


def _pictured(table: pl.DataFrame, found: shoal.results.Inspection) -> dict[str, Any]:
    known = found.to_dict()
    for column, facts in zip(found.columns, known["columns"], strict=True):
        facts["picture"] = picture(table[column.name], column)
    return known


def _proposal(
    table: pl.DataFrame, found: shoal.results.Inspection, dear: float = DEAR
) -> dict[str, Any] | None:
    made = proposing(table, found, count=1, dear=dear)
    return _proposed(made[0] if made else None)


def _proposed(first: Proposal | None) -> dict[str, Any] | None:
    """Return a proposal as plain values."""
    if first is None:
        return None
    known = {"require": list(first.require), "missing": first.missing}
    return known | {"reasons": list(first.reasons), "sensitive": list(first.sensitive)}


def _reached(found: shoal.results.Comparison | shoal.results.Frontier) -> dict[str, Any]:
    """Return what was tried as plain values, or raise where nothing was reached."""
    if not found.reached:
        raise shoal.NotAchievable(found.refusal)
    return found.to_dict()
