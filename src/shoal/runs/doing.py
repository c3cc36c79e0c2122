"""A run that is done: read, searched, recoded, written and audited.

Within a time budget, something that holds comes first, then what loses least until the end. A
search that is stopped by the clock may have reached nothing. So where nobody named a method, the
quickest one that can serve goes first and takes what it takes, about a second for 100,000 rows; the
usual one has the rest of the time, and what loses least of the two is published.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.engines.base import engine_of, is_spark
from shoal.engines.local import choose_engine
from shoal.errors import NotAchievable, OutputError
from shoal.exact import read_share
from shoal.methods.choice import best_of, check_least_risk, lost, quickest_first
from shoal.progress import Brief, Laps, Progress, silent
from shoal.release.building import build_release
from shoal.release.layout import Randomness
from shoal.release.manifest import REPORT
from shoal.runs.checks import prepare, private_files, reads_files
from shoal.runs.publish import audited, write_release
from shoal.runs.refusing import check_columns, check_published
from shoal.runs.release import Release, say_asked
from shoal.runs.remarks import Remark, Tell, unheard
from shoal.table.columns import Handed, without_cells
from shoal.table.databases.access import is_outlet, name_of
from shoal.table.forms import MEANS
from shoal.table.reading import take_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from fractions import Fraction

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.engines.local import Local
    from shoal.methods.base import Method, Task
    from shoal.release.layout import Found, Suppression
    from shoal.release.places import Waiting
    from shoal.runs.run import Run

    Solved = tuple[Task, Found, Suppression]


LEAST = 1e-6  # seconds that a search is given where none are left


def best_within(engine: Local, task: Task, usual: Method, share: Fraction) -> tuple[Method, Solved]:
    """Return the method that lost least by the end of the task's seconds, and what it found.

    Raises `NotAchievable` where no method reached what is required.
    """
    assert task.seconds is not None
    ends = time.monotonic() + task.seconds
    best: tuple[Method, Solved] | None = None
    problem: NotAchievable | None = None
    for method in quickest_first(task, usual):
        left = ends - time.monotonic()
        if best is not None and (left <= 0 or method != usual or task.enough()):
            continue
        try:
            found = engine.solve(replace(task, seconds=max(left, LEAST)), method, share)
        except NotAchievable as not_reached:
            if problem is None or method == usual:
                problem = not_reached
            continue
        if best is None or lost(task, found) < lost(task, best[1]):
            best = method, found
    if best is not None:
        return best
    assert problem is not None
    raise problem


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Brief):
    """What a run did: its release, the audit of what was written, facts, remarks and files.

    `facts` are what the manifest says, with seconds; `files` are all that were written, private
    ones included.
    """

    _brief = ("place", "audit", "files")

    release: Release
    audit: Audit
    remarks: tuple[Remark, ...]
    files: tuple[Path, ...]
    place: str  # where the release is, without a password where that is a database

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says, and the seconds that each phase took."""
        return self.release.facts

    def inferred(self) -> list[dict[str, object]]:
        """Return what a reader who knows a person's other quasi-identifiers learns of each one.

        It needs the table as it came, so it is for the owner alone.
        """
        from shoal.audit.inference import infer_from

        return [one.to_dict() for one in infer_from(self.release)]

    @property
    def report(self) -> Path | None:
        """The public report, where there is a directory for one."""
        return next((one for one in self.files if one.name == REPORT), None)


def release_of(run: Run, progress: Progress = silent, tell: Tell = unheard) -> Release:
    """Read, search, recode and audit; nothing is written, or by Spark where it is its own alone."""
    run.check_asked()
    engine = engine_of(run.engine)
    if is_spark(engine):
        from shoal.runs.spread import spread_release

        return cast("Release", spread_release(run, engine, progress, tell))
    return audited(release_here(run, progress, tell))


def trial_of(run: Run, progress: Progress = silent) -> Release:
    """Return what a run would publish, to see what it costs; columns are not refused for that."""
    run.check_asked()
    return audited(release_here(run, progress, trial=True), trial=True)


def release_here(
    run: Run, progress: Progress = silent, tell: Tell = unheard, *, trial: bool = False
) -> Release:
    """Read, search and recode in memory; of a trial, which nobody publishes, nothing is refused.

    Whoever hands it out has it audited.
    """
    laps = Laps()
    given = _given(run, laps, progress, tell)
    table = take_frame(given)
    held = None
    if run.hold_out is not None and not trial:
        from shoal.runs.holding import hold_out

        held = hold_out(run, table)
        given = table = table[held.kept]
    with laps.timed("code", progress):
        table, settled = run.with_table(table)
        prepared = prepare(settled, table, progress)
        if run.schema.pseudonymize:
            from shoal.table.pseudonyms import pseudonymize

            table = pseudonymize(table, run.schema.pseudonymize, run.key)
        table = without_cells(table, run.schema.quasi)  # their ranks are enough from here on
    task = prepared.task
    chosen = run.chosen(task)
    if not trial:
        check_columns(settled, table, prepared)
    share = read_share(run.suppress)
    check_least_risk(task, gone=int(len(task.coded) * share))
    with laps.timed("search", progress):
        first = chosen
        chosen, (task, found, suppression) = _solve(run, task, first, share)
    check_published(run, prepared, task)
    with laps.timed("recode", progress):
        release = build_release(
            table,
            replace(settled.schema, linked={n: one.schema for n, one in prepared.linked.items()}),
            task,
            found,
            suppression=suppression,
            method=chosen,
            randomness=Randomness(run.seed),
            escape_formulas=run.escape_formulas,
            given=given,
            population=prepared.everybody,
            title=run.title,
            form=run.form,
            linked=prepared.linked,
            progress=progress,
        )
    say_asked(release.manifest, run)
    if held is not None:
        held.state(release.manifest)
        release = replace(release, kept=held.kept, held=held.table)
    changed: list[dict[str, str]] = []
    if len(task.coded) < len(prepared.task.coded):
        from shoal.runs.owner import what_changed

        changed = what_changed(prepared.task.coded, task.coded)
    if chosen != first and run.seconds is not None:
        release.settings["instead_of"] = repr(first)
    release.settings.update(seconds=laps.seconds, columns_in=table.width, changed=changed)
    return Release.of(release)


def _given(run: Run, laps: Laps, progress: Progress, tell: Tell) -> object:
    """Return the table as it is given, read where it is named by places."""
    if reads_files(run.table) or run.table is None:
        with laps.timed("read", progress):
            return Handed(run.read(progress, tell))
    from shoal.table.streams import Streamed, is_stream

    if is_stream(run.table):
        with laps.timed("read", progress):
            return Streamed(run.table, run.wanted)
    return run.table


def _solve(
    run: Run, task: Task, chosen: Method, share: Fraction
) -> tuple[Method, tuple[Task, Found, Suppression]]:
    """Search by the method; where nobody named it, by others too, as far as time allows."""
    engine = choose_engine(run.engine)
    if run.method is not None or run.form == MEANS:
        return chosen, engine.solve(task, chosen, share)
    if task.seconds is None:
        return best_of(engine.solve, task, chosen, share)
    return best_within(engine, task, chosen, share)


def go(run: Run, progress: Progress = silent, tell: Tell = unheard) -> Outcome:
    """Read, search, write and audit; `tell` hears every remark as soon as it is known."""
    said: list[Remark] = []

    def remark(one: Remark) -> None:
        said.append(one)
        tell(one)

    run.check_places()
    run.check_asked()
    target = str(run.output)
    if run.trials:
        from shoal.views.pages import warm_up

        warm_up()
    release, audit = _publish(run, progress, remark)
    if run.owner_report is not None:
        try:
            with Laps(release.settings["seconds"]).timed("report", silent):
                release.owner_report(
                    run.owner_report,
                    threshold=run.threshold,
                    trials=run.trials,
                    force=run.force,
                    progress=progress,
                )
        except OutputError as problem:
            msg = f"{problem} The release itself is complete, in {name_of(target)!r}."
            raise OutputError(msg) from None
    named, escaped = run.method is not None, run.escape_formulas
    for sentence in audit.remarks:
        remark(Remark(sentence, warning=True))
    for one in release.remarks(named=named, escaped=escaped, seed=run.seed):
        remark(one)
    public = () if is_outlet(target) else sorted(Path(target).iterdir())
    own = [Path(path) for path, grows in private_files(run).values() if not grows]
    return Outcome(release, audit, tuple(said), (*public, *own), name_of(target))


def _publish(run: Run, progress: Progress, tell: Tell) -> tuple[Release, Audit]:
    """Make and write the release, and remember it where there is a history."""
    engine = engine_of(run.engine)
    if is_spark(engine):
        from shoal.runs.spread import written_spread

        spread, audit = written_spread(run, engine, progress, tell)
        return cast("Release", spread), audit  # with the same verbs
    if run.history is None:
        return written(run, progress, tell)
    from shoal.runs.history import History

    frame = run.read(progress, tell)
    history = History(run.history, take_frame(frame), run.schema, run.ledger)

    def warn(release: Release) -> None:
        for said in history.warnings(release.origins):
            tell(Remark(said, warning=True))

    release, audit = written(replace(run, table=frame), progress, tell, warn)
    history.add(release.origins, release.manifest.require, name_of(str(run.output)))
    return release, audit


def _held_file(run: Run, held: pl.DataFrame | None) -> AbstractContextManager[Sequence[Waiting]]:
    """Stage the private file of a control group, where there is one."""
    if held is None:
        return nullcontext(())
    from shoal.runs.holding import held_file

    return held_file(run, held)


def written(
    run: Run, progress: Progress, tell: Tell, made: Callable[[Release], None] = lambda _: None
) -> tuple[Release, Audit]:
    """Make and write the release; `made` sees it before it appears."""
    if run.ledger is not None:
        from shoal.runs.republish import republish

        return republish(run, progress, tell, made)
    release = release_here(run, progress, tell)
    made(release)
    output, written_as = str(run.output), run.format or "csv"
    where: dict[str, Any] = {"linkage": run.linkage, "force": run.force, "progress": progress}
    with _held_file(run, release.held) as beside:
        if is_outlet(output):
            from shoal.runs.outlets import publish

            for one in beside:
                one.place()
            with Laps(release.settings["seconds"]).timed("write", silent):
                return release, publish(release, output, format=written_as, **where)
        where |= {"threshold": run.threshold, "beside": beside}
        return release, write_release(release, output, format=written_as, **where)
