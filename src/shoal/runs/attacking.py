"""Attacks on releases, with everything that a reader can do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.attack import Attack, attack_releases, told_apart
from shoal.audit.published import open_published
from shoal.estimation.attacking import guess_by_model
from shoal.estimation.recovering import recovered
from shoal.runs.downcoding import Downcoded, downcoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.distances.base import Distance
    from shoal.table.schema import Schema


def attack(
    releases: Sequence[Any],
    schema: Schema | None = None,
    *,
    original: Any = None,
    control: Any = None,
    population: Any = None,
    group: str | None = None,
    epsilons: Sequence[float] | None = None,
    deltas: Sequence[float] | None = None,
    distance: Distance | str | None = None,
    seed: int | None = None,
    hierarchies: Mapping[str, object] | None = None,
) -> Attack:
    """Attack releases.

    Parameters
    ----------
    releases : release directories, paths of tables, or frames.
    schema : the quasi and sensitive columns, for plain tables. If several rows of the original may
        be about one person, also its person column: then Shoal links people by their rows and by
        how many rows they have, and measures nothing else.
    original : the path or frame of the original table, which the attacker links with; with it come
        linking, learning and, for several releases, their intersections, two by two and all
        together. How releases differ needs none.
    control : the path or frame of people of the same population who are not in the releases.
        Singling out, linking and inference are tried on both sides, and only the difference comes
        from being in a release. Controls who are in the original, by their person or row by row,
        are taken out of it. Of a release in two tables, the model of `estimate` guesses too.
    population : the path or frame of everyone who could be in the table, with their quasi values.
        Singling out then counts there how rare a description is, and needs no control group.
    group : the column that names the groups of plain tables.
    epsilons, deltas : how near guesses are, and the grid of the vulnerability. By default guesses
        are as near as the releases' own requirements say, or shares of the spread of a column.
    distance : how far apart sensitive values are, all columns together, also in the notation.
    seed : makes the sample of people repeatable. Large tables are sampled, by default at random.
    hierarchies : those that the owner listed, for releases whose manifests cannot say what a node
        covers.
    """
    found = attack_releases(
        releases,
        schema,
        original=original,
        control=control,
        population=population,
        group=group,
        epsilons=epsilons,
        deltas=deltas,
        distance=distance,
        seed=seed,
        hierarchies=hierarchies,
        model=guess_by_model,
    )
    remarks = (*found.remarks, *_recovered(releases, seed))
    return replace(
        found, remarks=remarks, refinements=_refined(releases, schema, group, hierarchies)
    )


def of_one(found: Attack) -> Attack:
    """Return an attack on one release whose sentences speak of the release, not of its folder."""
    kinds = ("vulnerability", "guesses", "inferences", "links", "lessons", "controlled")
    named = {
        kind: tuple(replace(one, release="the release") for one in getattr(found, kind))
        for kind in (*kinds, "refinements")
    }
    return replace(found, **named)


def _recovered(releases: Sequence[Any], seed: int | None) -> list[str]:
    """Say of release directories where readers who fit a model know who has which value."""
    return [
        f"{Path(one).name}: {sentence}"
        for one in releases
        if isinstance(one, str | Path) and Path(one).is_dir()
        for sentence in recovered(one, seed)
    ]


def _refined(
    releases: Sequence[Any],
    schema: Schema | None,
    group: str | None,
    hierarchies: Mapping[str, object] | None,
) -> tuple[Downcoded, ...]:
    """Count what cells exclude for readers who know how they were made; of rows, not of people."""
    if schema is not None and schema.person is not None:
        return ()
    opened = told_apart([open_published(one, schema, group, hierarchies) for one in releases])
    return tuple(found for one in opened if (found := downcoded(one)) is not None)
