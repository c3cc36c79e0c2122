"""Publishing the next release of a series: ledger and release are written as one act."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.published import read_spelled
from shoal.audit.series import group_rows
from shoal.audit.tables import digest_of, read_manifest
from shoal.errors import AuditFailed, NotAchievable, UsageError, option
from shoal.methods.base import Method, Task
from shoal.principles.groups import Groups
from shoal.progress import Laps, Progress, silent
from shoal.release.building import build_release
from shoal.release.layout import Randomness, Suppression
from shoal.release.ledger import (
    GROUP,
    HERE,
    WHO,
    Ledger,
    Round,
    digest_of_rows,
    locked,
    read_ledger,
)
from shoal.release.manifest import MANIFEST
from shoal.runs.checks import reads_files
from shoal.runs.estimate import whole_run
from shoal.runs.holding import Held, held_file, hold_out_in_series
from shoal.runs.lasting import say_births, with_regions, without_person
from shoal.runs.ledger import (
    Turn,
    as_before,
    check_fixed,
    check_people,
    check_types,
    check_wait,
    fixed_by,
    of_newcomers,
    take_turn,
    thresholds_of,
)
from shoal.runs.publish import write_release
from shoal.runs.refusing import check_labels, check_shown, shown_unchanged
from shoal.runs.release import Release, say_asked
from shoal.runs.remarks import Remark, about_columns
from shoal.runs.restored import add_to_log, check_begin, check_newest
from shoal.table.databases.access import is_outlet
from shoal.table.forms import KNOWN
from shoal.table.groupings import Runs
from shoal.table.partition import PersonOf
from shoal.table.reading import take_frame
from shoal.table.schema import PERSON, REAL
from shoal.table.settings import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.audit.verify import Audit
    from shoal.runs.remarks import Tell
    from shoal.runs.run import Run
    from shoal.table.schema import Schema

AGAIN = (
    "The previous run did not finish publishing. Its release is published now, unchanged. Run "
    "again to publish the table as it is now."
)


def republish(
    run: Run, progress: Progress, tell: Tell, made: Callable[[Release], None]
) -> tuple[Release, Audit]:
    """Publish a table as it is now, as the next release of the series that a ledger remembers."""
    assert run.ledger is not None
    assert run.output is not None
    _check(run)
    said, laps = run, Laps()
    with laps.timed("read", silent):
        table = take_frame(run.frame(progress))
    run.schema.check(table.columns)
    if reads_files(run.table):
        for remark in about_columns(table.columns, run.schema):
            tell(remark)
    written, target, height = run.format or "csv", Path(os.path.realpath(run.output)), table.height
    with locked(run.ledger):
        memory, table, run, held = _memory(run, table)
        series = _Series(memory, run, Randomness(run.seed))
        series.settle()
        with laps.timed("search", silent):
            turn = (
                series.again(table)
                if memory.pending
                else take_turn(memory, table, run, series.chance, progress)
            )
        with laps.timed("recode", silent):
            release = series.release(turn, height, held)
        release.settings["seconds"] = laps.seconds
        say_asked(release.manifest, said)
        made(release)
        with held_file(run, release.held) as beside:
            audit = write_release(
                release,
                target,
                format=written,
                linkage=run.linkage,
                force=run.force,
                threshold=run.threshold,
                beside=beside,
                commit=lambda staged: series.commit(staged, target, turn, held),
                progress=progress,
            )
        series.appeared()
    for note in turn.notes:
        tell(Remark(note))
    return release, audit


def _memory(run: Run, table: pl.DataFrame) -> tuple[Ledger, pl.DataFrame, Run, Held | None]:
    """Return the ledger of a run, begun where there is none, or raise where it says otherwise.

    With it the table, without a control group, rounded and cut off, the run with what the first
    table has decided, and the control group.
    """
    assert run.ledger is not None
    kept = {*run.schema.quasi, *run.schema.sensitive, *run.schema.other}
    columns = [name for name in table.columns if name in kept]
    now = fixed_by(run, columns)
    ledger = Path(os.path.realpath(run.ledger))
    if not ledger.exists():
        check_begin(ledger)
        memory = Ledger.begin(now, columns)
        table, held = _without_held(run, table, memory)
        table, run = run.with_table(table)
        decided = {
            "thresholds": thresholds_of(run.schema),
            "date_formats": dict(run.schema.date_formats),
        }
        memory.fixed |= decided
        return memory, table, run, held
    memory = read_ledger(ledger)
    check_newest(ledger, memory, Path(os.path.realpath(str(run.output))))
    check_fixed(memory, now)
    check_types(memory, run.schema)
    table, held = _without_held(run, table, memory)
    table, run = replace(run, schema=as_before(run.schema, memory)).with_table(table)
    check_fixed(memory, {"date_formats": dict(run.schema.date_formats)})
    return memory, table, run, held


def _without_held(
    run: Run, table: pl.DataFrame, memory: Ledger
) -> tuple[pl.DataFrame, Held | None]:
    """Return a table without the control group, where there is one, and that."""
    if run.hold_out is None:
        return table, None
    held = hold_out_in_series(run, table, memory, check_people(table, run.schema))
    return table[held.kept], held


def foresee_next(run: Run, progress: Progress) -> dict[str, Any]:
    """Say what the next release of a series would hold, and raise as `republish` would.

    Nothing is written and nobody's turn is taken; newcomers alone would be searched.
    """
    _check(run)
    table = take_frame(run.frame(progress))
    run.schema.check(table.columns)
    memory, table, run, _ = _memory(run, table)
    marks = memory.mark(check_people(table, run.schema))
    known, now = set(memory.rows[WHO].to_list()), set(marks)
    new = [r for r, mark in enumerate(marks) if mark not in known and mark not in memory.gone]
    here = memory.rows.with_columns(pl.col(WHO).is_in(list(now)).alias(HERE))
    stay = here.filter(pl.col(HERE).sum().over(GROUP) >= run.least_real)
    pending = memory.pending and not _stands(memory)
    waits = bool(memory.rounds) and len(new) < run.batch
    facts: dict[str, Any] = {}
    if new and not waits and not pending:
        try:
            facts = of_newcomers(run, table[new], memory).rehearse(progress)
        except NotAchievable as problem:
            check_wait(run, memory, len(new), problem)
            waits = True
    if not facts:
        _check_left(run, memory.rows if pending else stay)
        facts = {
            "roles": {role: list(getattr(run.schema, role)) for role in ROLES},
            "require": [
                {"principle": repr(one), "achievable": True, "largest_m": None}
                for one in run.requirements
            ],
            "method": memory.fixed.get("method", "Exchange()"),
            "seconds": round(whole_run(0.0, stay.height), 1),
        }
    born = 0 if waits or pending else len(new)
    return facts | {
        "rows": memory.rows.height if pending else stay.height + born,
        "series": {
            "releases": sum(one.appeared for one in memory.rounds),
            "again": pending,
            "stay": len(known & now),
            "left": len(known - now),
            "newcomers": len(new),
            "wait": waits and bool(new),
        },
    }


def _check_left(run: Run, rows: pl.DataFrame) -> None:
    """Raise where nobody is left in a ledger's rows, or where a group has too few real people."""
    real = rows.group_by(GROUP).agg(pl.col(HERE).sum())[HERE].to_list()
    if not real:
        msg = (
            f"Nothing was published: every group has fewer than {run.least_real:,} people who "
            "are still in the table, and the new people form no groups yet. Lower "
            f"{option('least_real')}, or publish when there are more people. The ledger has not "
            "changed."
        )
        raise NotAchievable(msg)
    if min(real) < run.least_real:  # in a round that was committed before
        msg = (
            "The previous run did not finish publishing. Its release must appear first, and it "
            f"has groups with only {min(real):,} people who are still in the table. Run once "
            f"with {option('least_real')} of at most {min(real):,}, then again."
        )
        raise NotAchievable(msg)


def _stands(memory: Ledger) -> bool:
    """Return whether the last release stands where it was to appear."""
    manifest = Path(memory.rounds[-1].place) / MANIFEST
    return manifest.is_file() and digest_of(manifest) == memory.rounds[-1].manifest


def _check(run: Run) -> None:
    """Raise where a series cannot be made of what is asked."""
    _check_schema(run.schema)
    if is_outlet(str(run.output)):
        msg = "A series is published into directories: their manifests link its releases."
        raise UsageError(msg)
    if run.owner_report is not None or run.trials:
        msg = "The owner's report and trials need one table, but a series follows its ledger."
        raise UsageError(msg)
    for one in run.requirements:
        if one.principle.population:
            msg = f"{one!r} compares with a population, which changes from release to release."
            raise UsageError(msg)
        if one.principle.scaled or not one.principle.by_itself:
            msg = (
                f"{one!r} compares with the whole table, which changes from release to release, "
                "but the groups of a series must not change. Require what a group meets by itself, "
                "for example EpsilonM, FrequencyL, or a distance such as Lp(scale='none')."
            )
            raise UsageError(msg)
    for name in ("batch", "least_real"):
        number = getattr(run, name)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            msg = f"{option(name)} is a whole number of at least 1. Got {number!r}."
            raise UsageError(msg)


def _check_schema(schema: Schema) -> None:
    """Raise where rows are not those of one person each, as they came in."""
    if schema.person is None:
        msg = f"A series needs the column that identifies each person: {option('person')}."
        raise UsageError(msg)
    schema.check_reserved(REAL)
    if schema.most_rows is not None or schema.rows != KNOWN:
        msg = "A series has one row per person: leave out options about several rows."
        raise UsageError(msg)
    if schema.survey_weight is not None:
        msg = "Survey weights change with each release, but groups of a series must not change."
        raise UsageError(msg)
    for name, one in schema.hierarchies.items():
        if isinstance(one, Runs):
            msg = (
                f"{one!r} of column {name!r} depends on the values in the table, so it would "
                "differ from release to release. The groups of a series must not change. "
                "Choose Bins, Prefix or Calendar, or list the hierarchy in a file."
            )
            raise UsageError(msg)
    if schema.pseudonymize:
        msg = "Pseudonyms link a person's rows across releases. Leave them out of a series."
        raise UsageError(msg)


@dataclass(frozen=True, eq=False)
class _Series:
    """A ledger under its lock, and what is made from it."""

    ledger: Ledger
    run: Run
    chance: Randomness

    @property
    def path(self) -> Path:
        """Where the ledger lies."""
        return Path(os.path.realpath(str(self.run.ledger)))

    def settle(self) -> None:
        """See whether the last round appeared before its run was stopped."""
        if self.ledger.pending and _stands(self.ledger):
            self.appeared()

    def appeared(self) -> None:
        """Note that the last round has appeared."""
        self.ledger.rounds[-1] = replace(self.ledger.rounds[-1], appeared=True)
        self.ledger.write(self.path)

    def again(self, table: pl.DataFrame) -> Turn:
        """Return the turn that was committed and never appeared."""
        people = check_people(table, self.run.schema)
        row_of = dict(zip(self.ledger.mark(people), range(len(people)), strict=True))
        rows = zip(self.ledger.rows[WHO], self.ledger.rows[HERE], strict=True)
        links = [row_of.get(mark, -1) if here else -1 for mark, here in rows]
        facts = self.ledger.rounds[-1].facts
        return Turn(np.array(links, np.int64), facts["absent"], facts["dropped"], notes=[AGAIN])

    def release(self, turn: Turn, height: int, held: Held | None) -> Release:
        """Return the release that the ledger says, of a table of so many rows."""
        ledger = self.ledger
        _check_left(self.run, ledger.rows)
        run = replace(self.run, schema=without_person(self.run.schema, ledger.fixed["types"]))
        stored = ledger.rows.select(ledger.fixed["columns"])
        numbers, labels = np.unique(ledger.rows[GROUP].to_numpy(), return_inverse=True)
        coded = run.coded(stored)
        about = {name for one in run.requirements for name in one.columns}
        check_labels(run.schema, coded, run.form, about)
        check_shown(stored, shown_unchanged(run.schema, about))
        here = ledger.rows[HERE].to_numpy()
        real = np.bincount(labels, weights=here).astype(np.int64)
        coded = replace(coded, person_of=PersonOf(np.arange(len(coded))))
        coded = with_regions(coded, ledger, numbers[labels])
        made = build_release(
            stored,
            replace(run.schema, person=PERSON),
            Task(coded, tuple(run.requirements)),
            Groups(labels),
            suppression=Suppression(in_the_way=turn.absent),
            method=Method.read(turn.method or ledger.fixed["method"]),
            randomness=self.chance,
            escape_formulas=run.escape_formulas,
            given=stored,
            title=run.title,
            form=run.form,
        )
        ledger.fixed["method"] = made.manifest.method
        layout = made.recoding.layout
        layout = replace(layout, numbers=numbers[layout.bears], real=real[layout.bears], nodes=None)
        counts = {} if held is None else held.counts
        if ledger.pending:
            counts = {name: ledger.rounds[-1].facts[name] for name in counts}
            height = int(here.sum()) + turn.absent + turn.dropped + counts.get("held_out", 0)
        made.manifest.say(
            **counts,
            rows_in=height,
            dropped=turn.dropped,
            people=int(here.sum()),
            suppressed_people=turn.absent,
            previous=ledger.previous,
        )
        say_births(made.manifest, ledger, coded, {*numbers.tolist()})
        return Release.of(
            replace(
                made,
                recoding=replace(made.recoding, layout=layout),
                recast=True,
                links=turn.links,
                kept=None if held is None else held.kept,
                held=None if held is None else held.table,
            )
        )

    def commit(self, staged: Path, target: Path, turn: Turn, held: Held | None) -> None:
        """Write the ledger of a release that is about to appear, and who is to be told of."""
        manifest = read_manifest(staged)
        changed = 0
        for group, rows in group_rows(read_spelled(staged, manifest)).items():
            digest = digest_of_rows(rows)
            changed += self.ledger.groups[group] not in {"", digest}
            self.ledger.groups[group] = digest
        if changed:
            msg = (
                f"Nothing was published: {changed:,} groups would look different from before. "
                "A hierarchy or a column type has changed: restore it and run the command again."
            )
            raise AuditFailed(msg)
        reals = dict(self.ledger.rows.group_by(GROUP).agg(pl.col(HERE).sum()).iter_rows())
        facts = {"absent": turn.absent, "dropped": turn.dropped} | (held.counts if held else {})
        done = Round(digest_of(staged / MANIFEST), reals, str(target), facts)
        if self.ledger.pending:
            self.ledger.rounds.pop()
        self.ledger.rounds.append(done)
        self.ledger.write(self.path)
        add_to_log(self.path, len(self.ledger.rounds), turn.log)
