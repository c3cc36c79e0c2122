"""A coarser release of a release, for a second audience: its groups are joined, nothing else.

What is made from published files and fresh chance alone tells, together with them, what they tell.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import alike
from shoal.audit.claims import manifest_schema
from shoal.audit.published import read_spelled
from shoal.audit.standing import stand_ins
from shoal.audit.tables import digest_of, read_manifest
from shoal.errors import AuditFailed, UsageError, option
from shoal.methods.base import Method, Task
from shoal.methods.coarsening import Coarsening
from shoal.principles.groups import Groups
from shoal.principles.requirement import Require, asked_of, requirements
from shoal.progress import Laps, Progress, silent, with_bar
from shoal.release.building import build_release
from shoal.release.layout import Randomness, Suppression
from shoal.release.manifest import COUNTS, HELD, MANIFEST
from shoal.release.statement import check_title
from shoal.runs.audit import audited as audited_files
from shoal.runs.publish import audited
from shoal.runs.release import Release
from shoal.table.coded import persons_of
from shoal.table.forms import BOUNDS, INTERVALS, TWO_TABLES
from shoal.table.partition import renumber
from shoal.table.schema import PERSON, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn
    from shoal.table.coded import Coded


@with_bar
def coarsen(
    directory: str | Path,
    *,
    require: Require | Iterable[Require],
    title: str | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Make a coarser release from a release, by joining its groups.

    Both together reveal no more than the finer one, and the coarser one keeps its guarantees. The
    form is kept where it shows boxes alone (`intervals`, `bounds`), and is `intervals` otherwise.
    Shoal leaves out other columns of the people table, because next to the values they would show
    whose values these are.

    Parameters
    ----------
    directory : the finer release, which has to hold what it promises.
    require : what must hold beside that, one principle or several.
    title : what the coarser release is called in its manifest and report, public.
    seed : for tests only: makes the order of published rows repeatable, and so guessable.
    progress : called with the name of a phase and the share of it that is done.
    """
    check_title(title)
    finer = Path(directory)
    manifest = read_manifest(finer)
    _check_finer(manifest)
    found = audited_files(finer)
    if not found.holds:
        msg = f"{finer.name!r} does not hold what it promises. " + " ".join(found.complaints())
        raise AuditFailed(msg)
    schema = manifest_schema(manifest)
    if manifest.form == TWO_TABLES:  # beside values they would tell whose those are
        schema = schema.only("quasi", "sensitive", "person")
    kept = requirements(manifest.require, schema.sensitive)
    _check_people(kept)
    more = [one for one in requirements(require, schema.sensitive) if one not in kept]
    _check_people(more)
    asked = (*kept, *more)
    laps = Laps()
    with laps.timed("code", progress):
        table = read_spelled(finer, manifest).table
        fine = Groups(np.unique(table[RESERVED].cast(pl.Int64).to_numpy(), return_inverse=True)[1])
        coded = stand_ins(table, manifest, schema, fine, asked_of(asked))
    kinds = _kinds(table, manifest, fine)
    if manifest.people is not None:
        known = bool(manifest.rows_known)
        coded = replace(coded, person_of=persons_of(table, PERSON), rows_known=known)
        if known:
            kinds = _by_rows(coded, fine, kinds)
        table = table.drop(PERSON)  # numbers are fresh
    task = Task(coded, asked, progress)
    with laps.timed("search", progress):
        groups = Coarsening(task, len(kept), fine, kinds).run()
    with laps.timed("recode", progress):
        release = build_release(
            table.drop(RESERVED),
            schema,
            task,
            groups,
            suppression=_left_out(manifest),
            method=Method.read(manifest.method),
            randomness=Randomness(seed),
            escape_formulas=bool(manifest.escaped),
            title=title,
            form=BOUNDS if manifest.form == BOUNDS else INTERVALS,
            given=table.drop(RESERVED),
            progress=progress,
        )
    if manifest.rows_in is None:
        release.manifest.withhold()
    release.manifest.say(
        columns=_columns(manifest, release.manifest),
        coarsened_from=digest_of(finer / MANIFEST),
        **{name: getattr(manifest, name) for name in (*COUNTS, *HELD)},
    )
    release.settings["seconds"] = laps.seconds
    if manifest.reproducible:
        release.manifest.reproducible = True
    return audited(Release.of(replace(release, recast=True)))


def _check_finer(manifest: Manifest) -> None:
    """Raise where a release cannot be made coarser."""
    if not manifest.grouped:
        msg = "This release has no groups to join. Make both with a method that forms groups."
        raise UsageError(msg)
    if manifest.cells is not None:
        msg = (
            "Shoal cannot make a release with regions coarser, because joined groups would not "
            "be regions between cuts. Publish a coarser release from the table instead, with "
            f"{option('cells')} tight or with a stricter requirement."
        )
        raise UsageError(msg)
    if manifest.tables:
        msg = "Shoal cannot make a release with linked tables coarser."
        raise UsageError(msg)
    if manifest.in_series:
        msg = (
            "Shoal cannot make a release of a series coarser: its groups continue in the next "
            "release, but joined groups would not. Give the series to both audiences, or "
            "publish two series about different people."
        )
        raise UsageError(msg)


def _check_people(asked: Iterable[Requirement]) -> None:
    for one in asked:
        if one.principle.population:
            msg = (
                f"{one!r} compares with a population, but a coarser release is made from the "
                f"release alone. Leave it out of {option('require')}."
            )
            raise UsageError(msg)


def _kinds(table: pl.DataFrame, manifest: Manifest, fine: Groups) -> NDArray[np.int64]:
    """Return which groups may be joined: those with the same cells that are never mixed."""
    kept = [column.name for column in manifest.columns if column.never_mix]
    return fine.of_part(alike(table, kept).labels)


def _by_rows(coded: Coded, fine: Groups, kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return kinds of groups whose people have equally many rows: only they hide each other."""
    fewest, most = fine.ends(coded.person_of.of_row(coded.person_of.sizes))
    if (most != fewest).any():
        msg = "A group has people with different numbers of rows, so the release was changed."
        raise UsageError(msg)
    return renumber(kinds * (int(most.max()) + 1) + most)


def _left_out(manifest: Manifest) -> Suppression:
    """Return what the finer release says of rows and people that were left out."""
    gone = manifest.suppressed or 0
    if manifest.people is None:
        return Suppression(in_the_way=gone)
    people, capped = manifest.suppressed_people or 0, manifest.capped or 0
    return Suppression(in_the_way=people, of_people=gone, capped=capped)


def _columns(finer: Manifest, coarser: Manifest) -> list[StatedColumn]:
    """Return what is said of the columns of the finer release, with what is covered now."""
    covered = coarser.by_name
    return [c.but(domain=covered[c.name].domain) for c in finer.columns if c.name in covered]
