"""What a worker does for the page.

Nothing is decided here: tables are read, looked at and published by the same functions that the
commands call, and plain values go back.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import shoal
from shoal.ask.ask import Ask
from shoal.progress import Better, Enough, never, untold
from shoal.runs import consider as considering
from shoal.runs import prices as pricing
from shoal.runs.doing import trial_of
from shoal.runs.look import (
    about,
    check_link,
    codes,
    picture,
    rows_going,
    some_rows,
    uniqueness,
)
from shoal.runs.losing import QUICK, SAMPLE, reach_of
from shoal.runs.preview import estimated_view, published_rows, with_today
from shoal.runs.proposal import (
    DEAR,
    linked_requirement,
    propose_linked,
    requirements_for,
)
from shoal.runs.proposal import propose as proposing
from shoal.runs.run import Run
from shoal.views.pages import (
    comparison_page,
    frontier_page,
    survey_page,
    write_page,
)
from shoal.views.person import as_html
from shoal.views.sentences import promised
from shoal.web.released import Reader

if TYPE_CHECKING:
    import polars as pl

    from shoal.audit.seen import PersonView
    from shoal.runs.preview import BeforeAfter
    from shoal.runs.proposal import Proposal
    from shoal.web.worker import Values


@dataclass
class Hand(Reader):
    """One worker's memory of tables, and everything that it can be asked to do, by name."""

    enough: Enough = never
    better: Better = untold
    shown: dict[str, Values] = field(default_factory=dict)
    found: dict[str, shoal.results.Inspection] = field(default_factory=dict)
    codes: dict[str, pl.DataFrame] = field(default_factory=dict)
    last: tuple[Any, ...] = (None, None, None)  # a sample, what was asked of it, and its release

    def warm_up(self, *, search: bool) -> None:
        """Load what the first click needs."""
        from shoal.datasets.census import census

        table = census(400)
        found = shoal.inspect(table)
        if search:
            shoal.anonymize(table, found.schema, require=considering.TYPICAL)

    def make_demo(self, path: str) -> None:
        """Write the embedded table."""
        from shoal.datasets.census import census

        census().write_csv(path)

    def open(self, path: str, said: Values) -> Values:
        """Read a file as it is; return what was assumed, with its first and last lines."""
        opened = shoal.open_table(path, progress=self.progress, **said)
        self.tables[path] = opened.plain
        self.shown[path] = opened.preview.to_dict() | {
            "assumed": [one.to_dict() for one in opened.assumed],
            "needed": opened.needed,
            "sheets": list(opened.found.sheets),
        }
        return self.shown[path]

    def look(self, path: str, said: Values) -> Values:
        """Return what the columns of a table are, with pictures, and a proposal."""
        if path not in self.tables:
            self.open(path, said)
        table = self.tables[path]
        found = shoal.inspect(table)
        self.found[path] = found
        self.codes[path] = codes(table.select(one.name for one in found.columns if one.type))
        return _pictured(table, found) | {"proposal": _proposal(table, found)}

    def link(
        self, path: str, called: str, person: str | None = None, encoding: str | None = None
    ) -> Values:
        """Read a table that is to be linked by people; return what its columns are."""
        table = self._read(path, encoding=encoding)
        check_link(table, called, person)
        return _pictured(table, shoal.inspect(table))

    def draw(
        self,
        path: str,
        sample: str,
        person: str | None,
        linked: dict[str, str],
        row: int | None = None,
    ) -> int:
        """Write some rows of a table, to try prices on, and what linked tables say of them.

        The person of a `row` is among them. Returns how many rows of the table they are.
        """
        rows = some_rows(self.tables[path], person, SAMPLE, row)
        some = self.tables[path][rows]
        some.write_parquet(sample)
        np.save(_numbers(sample), rows)
        for target, place in linked.items():
            about(self.tables[place], str(person), some).write_parquet(target)
        return some.height

    def propose(
        self, path: str, roles: dict[str, str], linked: dict[str, str], ask: Ask
    ) -> Values | None:
        """Return requirements to start from, with the roles as they are now."""
        found, table = self._with_roles(path, roles), self.tables[path]
        if not linked:
            return _proposal(table, found, dear=math.inf)
        others = self._linked(linked)
        schema = Run.of(ask, linked=others).schema
        return _proposed(propose_linked(table, found, schema, others))

    def _with_roles(self, path: str, roles: dict[str, str]) -> shoal.results.Inspection:
        """Return what was found of a table, with the roles as they are now."""
        found = self.found[path]
        columns = tuple(replace(one, role=roles.get(one.name)) for one in found.columns)
        secret = tuple(one.name for one in columns if one.role == "sensitive")
        return replace(found, columns=columns, protect=secret)

    def going(self, path: str, ask: Ask) -> Values:
        """Return how many rows will go as is asked, and why."""
        run = Run.of(ask, table=self.tables[path])
        table = run.schema.read_numbers(self.tables[path], "quasi", "sensitive")
        least = max((one.principle.least for one in run.requirements), default=1)
        return rows_going(table, run.schema, run.missing, least)

    def ready(self, path: str, ask: Ask, linked: dict[str, str]) -> None:
        """Raise where a run would be refused before its search."""
        run = Run.of(ask, table=self.tables[path], linked=self._linked(linked))
        run.check_asked()
        run.ready(self.tables[path])

    def instead(self, texts: list[str], tables: list[list[str]], text: str) -> list[str]:
        """Return requirements with another one in the place of the one that it is to replace."""
        return considering.instead(texts, tables, text)

    def reach(self, path: str, ask: Ask) -> dict[str, float]:
        """Return how far the columns of a whole table reach: a sample may reach less far."""
        return reach_of(self.tables[path], Run.of(ask, table=self.tables[path]))

    def unique(self, path: str, names: list[str], whom: str | None) -> Values:
        """Return how unique people are by some columns, and by all but one of them."""
        coded = self.codes[path]
        return uniqueness(coded, names, whom if whom in coded.columns else None)

    def consider(self, path: str, ask: Ask, linked: dict[str, str]) -> list[Values]:
        """Return for each requirement what it says and how far it can go."""
        return considering.considered(self.tables[path], ask, self._linked(linked))

    def read_file(self, text: str, beside: str) -> Ask:
        """Read a schema file, or raise where it is none: with the line and the key."""
        Run.load(beside, text=text)
        return Ask.from_toml(text)

    def change(
        self, text: str, sensitive: list[str], numbers: dict[str, str], decimal: str | None = None
    ) -> str:
        """Return a requirement with some of its numbers changed."""
        return considering.changed(text, sensitive, numbers, decimal)

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
        ask: Ask,
    ) -> list[str]:
        """Return requirements with one for each of some columns, where one is known that helps.

        It is the first that can be kept beside all others, or by itself where those cannot.
        """
        found, table, more = self._with_roles(path, roles), self.tables[path], self._linked(linked)

        def kept(require: list[str]) -> bool:
            return pricing.kept_together(
                table, Run.of(replace(ask, require=tuple(require)), table=table, linked=more)
            )

        for name in columns:
            if name in own:
                able = requirements_for(table, found, name)
            else:
                run = Run.of(ask, table=table, linked=more)
                one = linked_requirement(table, run.schema, more, name, run.missing)
                able = [one] if one else []
            others = texts if able and kept(texts) else []
            texts = next(
                (
                    considering.joined(texts, [one])
                    for one in able
                    if kept(considering.joined(others, [one]))
                ),
                texts,
            )
        return texts

    def as_sure(self, texts: list[str], sensitive: list[str], most: int) -> list[str]:
        """Return requirements under which nobody is found more often than once in so many."""
        return considering.as_sure(texts, sensitive, most)

    def price(self, sample: str, linked: dict[str, str], ask: Ask, **changes: Any) -> Values:
        """Return about what a release loses, with some changes to what is asked."""
        some, more = self._drawn(sample, linked)
        begun = time.perf_counter()
        found = pricing.tried(some, ask, linked=more, **changes)
        if found.rows == some.height:  # every row of the sample can be looked at in it
            self.last = sample, ask, found.release
        return pricing.as_price(found, time.perf_counter() - begun)

    def preview(
        self, sample: str, linked: dict[str, str], ask: Ask, row: int | None
    ) -> tuple[PersonView, BeforeAfter]:
        """Return what a stranger would learn about one person of a sample, and some of its rows."""
        some, more = self._drawn(sample, linked)
        if self.last[:2] != (sample, ask):
            run = Run.of(ask, table=some, linked=more)
            quick = replace(run, seconds=QUICK, enough=lambda: True)
            self.last = sample, ask, trial_of(quick)
        release, rows = self.last[2], np.load(_numbers(sample))
        view = estimated_view(release, some, rows, row)
        own = int(np.flatnonzero(rows == view.row)[0])
        shown = published_rows(release, some.height, [own]).beside(some, release.schema)
        return view, replace(shown, rows=tuple(rows[list(shown.rows)].tolist()))

    def seen_today(self, path: str, ask: Ask, view: PersonView) -> str:
        """Return a person of a sample as a piece of a page, beside what the whole table shows."""
        schema = Run.of(ask, table=self.tables[path]).schema
        view = with_today(view, self.tables[path], schema)
        return as_html(view, alone=False, estimated=True)

    def alternatives(
        self, sample: str, linked: dict[str, str], ask: Ask, lost: dict[str, float]
    ) -> list[Values]:
        """Return what else could be asked for, given what each column loses now."""
        some, more = self._drawn(sample, linked)
        return pricing.alternatives(some, ask, lost, more)

    def methods(self, sample: str, linked: dict[str, str], ask: Ask) -> list[Values]:
        """Return the methods that serve, and which of them is the usual one."""
        some, more = self._drawn(sample, linked)
        return pricing.methods(some, ask, more)

    def forms(self, sample: str, linked: dict[str, str], ask: Ask) -> list[Values]:
        """Return what an analyst can do with each form."""
        some, more = self._drawn(sample, linked)
        return pricing.forms(some, ask, more)

    def publish(self, ask: Ask, path: str, output: str, **how: Any) -> Values:
        """Make a release of a table as is asked, and return what came of it."""
        heard: Values = {"enough": self.enough, "better": self.better}
        asked = Run.of(ask, table=[path], output=output, **heard, **how)
        made = asked.publish(self.progress)
        return {
            "manifest": made.facts,
            "promises": [(promised(one, made.facts), True) for one in made.release.requirements],
            "inferred": made.inferred(),
            "rows": published_rows(made.release, made.facts["rows_in"]),
            "remarks": [(one.sentence, one.warning) for one in made.remarks if not one.roles],
            "files": {one.name: one.stat().st_size for one in made.files if one.is_file()},
        }

    def survey(self, ask: Ask, path: str, page: str, **how: Any) -> None:
        """Write a page about the level of every principle on a table as it is."""
        asked = Run.of(ask, table=[path], **how)
        known = shoal.Schema(quasi=asked.schema.quasi, sensitive=asked.schema.sensitive)
        found = shoal.measures.levels(asked.frame(self.progress), known)
        write_page(page, survey_page(found.to_dict()))

    def compare(self, ask: Ask, path: str, page: str, **how: Any) -> None:
        """Write a page about what several methods make of a table."""
        found = Run.of(ask, table=[path], **how).compare(progress=self.progress)
        write_page(page, comparison_page(_reached(found)))

    def tune(self, ask: Ask, path: str, page: str, **how: Any) -> None:
        """Write a page about what a table loses as what is required grows."""
        found = Run.of(ask, table=[path], **how).tune(progress=self.progress)
        write_page(page, frontier_page(_reached(found)))

    def _linked(self, places: dict[str, str]) -> dict[str, pl.DataFrame]:
        return {name: self.tables[place] for name, place in places.items()}

    def _drawn(
        self, sample: str, linked: dict[str, str]
    ) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
        """Return rows that were drawn, and those of linked tables."""
        return self._read(sample), {name: self._read(place) for name, place in linked.items()}


def _numbers(sample: str) -> str:
    """Return where the numbers of the rows of a sample are kept."""
    return f"{sample}.npy"


def _pictured(table: pl.DataFrame, found: shoal.results.Inspection) -> Values:
    known = found.to_dict()
    for column, facts in zip(found.columns, known["columns"], strict=True):
        facts["picture"] = picture(table[column.name], column)
    return known


def _proposal(
    table: pl.DataFrame, found: shoal.results.Inspection, dear: float = DEAR
) -> Values | None:
    made = proposing(table, found, count=1, dear=dear)
    return _proposed(made[0] if made else None)


def _proposed(first: Proposal | None) -> Values | None:
    """Return a proposal as plain values."""
    if first is None:
        return None
    known = {"require": list(first.require), "missing": first.missing}
    return known | {"reasons": list(first.reasons), "sensitive": list(first.sensitive)}


def _reached(found: shoal.results.Comparison | shoal.results.Frontier) -> Values:
    """Return what was tried as plain values, or raise where nothing was reached."""
    if not found.reached:
        raise shoal.NotAchievable(found.refusal)
    return found.to_dict()
