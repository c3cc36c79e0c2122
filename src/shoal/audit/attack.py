"""The attacker's view of one or several releases, in numbers and plain sentences.

Who links people has `linking` and `together`. Who learns trains naive Bayes on a release alone.
Even where no group says much, all groups together say how sensitive values go with quasi values.
With classes s (labels, or fifths of the numbers) and quasi values x, the attacker takes

    P(s | x) ∝ P(s) Π_j P(x_j | s),    P(x_j | s) = (1 + Σ [x_j in cell] / |cell|) / (n_s + values)

where the sum is over the published rows of class s, each spread evenly over the values that its
cell covers (Kifer: Attacks on Privacy and deFinetti's Theorem. SIGMOD 2009, for its classifier).
Its accuracy on the original is compared with always naming the most frequent class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.covers import CellCover
from shoal.audit.exposure import Vulnerability, vulnerability, widths
from shoal.audit.linking import (
    Candidates,
    Intersection,
    Link,
    code_both,
    intersect,
    link,
    link_people,
)
from shoal.audit.published import Published, open_published
from shoal.audit.together import Difference, Together, differences, intersect_all
from shoal.audit.verify import GUESSED
from shoal.distances.base import Distance
from shoal.distances.labels import Equality
from shoal.distances.numeric import Absolute
from shoal.errors import InputError, UnknownColumn, UsageError, option
from shoal.exact import percent
from shoal.sampling import draw
from shoal.table.coding import code_persons
from shoal.table.forms import MEANS, TWO_TABLES
from shoal.table.reading import read_table, take_frame
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from shoal.audit.covers import ColumnCover
    from shoal.sampling import Sample
    from shoal.table.column import Column
    from shoal.table.schema import Schema


FIFTHS = 5
AT_A_TIME = 2**16  # people whose classes are scored at a time
MOST_CLASSES = 50  # of labels; rarer ones are one class together


@dataclass(frozen=True)
class Lesson:
    """How well a classifier trained on a release names people's classes."""

    release: str
    column: str
    classes: int
    people: int
    accuracy: float
    prior: float

    def to_dict(self) -> dict[str, Any]:
        """Return the accuracies, their difference, and a sentence."""
        return {
            "release": self.release,
            "column": self.column,
            "classes": self.classes,
            "people": self.people,
            "accuracy": self.accuracy,
            "prior": self.prior,
            "gain": self.accuracy - self.prior,
            "sentence": (
                f"A classifier trained on {self.release} names the right one of {self.classes} "
                f"classes of {self.column} for {percent(self.accuracy, 1)} of people; always "
                f"naming the most frequent one is right for {percent(self.prior, 1)}."
            ),
        }


def learn(cover: CellCover, original: pl.DataFrame, name: str) -> Lesson:
    """Train naive Bayes on a release and test it on the original."""
    numeric = cover.published.sensitive(name).numeric
    carried_column = cover.published.table[name]
    column, count = code_both(original[name], carried_column, numeric=numeric)
    classes = class_of(column, column.codes[count:])
    truth, taught = classes[column.codes[:count]], classes[column.codes[count:]]
    sizes = np.bincount(taught, minlength=int(classes.max()) + 1)
    with np.errstate(divide="ignore"):  # a class that the release lacks is never named
        prior = np.log(sizes / len(taught))
    likelihoods = [np.log(_likelihood(one, taught, sizes)).T for one in cover.columns]
    right = 0
    for begin in range(0, count, AT_A_TIME):
        some = slice(begin, begin + AT_A_TIME)
        scores = np.tile(prior, (len(truth[some]), 1))
        for one, likelihood in zip(cover.columns, likelihoods, strict=True):
            scores += likelihood[one.values[some]]
        right += int(np.count_nonzero(scores.argmax(axis=1) == truth[some]))
    return Lesson(
        cover.published.name,
        name,
        len(sizes),
        count,
        right / count,
        float(np.mean(truth == sizes.argmax())),
    )


def class_of(column: Column, taught: NDArray) -> NDArray[np.int64]:
    """Return the class of every code: fifths of the published numbers, or the frequent labels."""
    counts = np.bincount(taught, minlength=column.distinct)
    if column.numeric and column.distinct > FIFTHS:
        below = np.cumsum(counts) - counts / 2
        fifths = np.minimum((below * FIFTHS / counts.sum()).astype(np.int64), FIFTHS - 1)
        return np.unique(fifths, return_inverse=True)[1].astype(np.int64)
    place = np.empty(column.distinct, np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(column.distinct)
    return np.minimum(place, MOST_CLASSES - 1)


def _likelihood(
    column: ColumnCover, taught: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return P(value | class) of one quasi column, a row for each class, UNKNOWN at the end."""
    values, cells = column.distinct, len(column.lows)
    rows = np.bincount(taught * cells + column.cells, minlength=len(sizes) * cells)
    rows = rows.reshape(len(sizes), cells)
    labelled = column.counts > 0
    extent = np.where(labelled, column.counts, column.highs - column.lows + 1)
    weights = rows / np.maximum(extent, 1)
    spans = ~labelled & (extent > 0)
    steps = np.zeros((len(sizes), values + 1))
    for which in range(len(sizes)):
        np.add.at(steps[which], column.lows[spans], weights[which, spans])
        np.add.at(steps[which], column.highs[spans] + 1, -weights[which, spans])
    spread = np.maximum(np.cumsum(steps, axis=1)[:, :-1], 0)
    for which in range(len(sizes)):
        spread[which] += np.bincount(
            column.listed, weights[which, column.listing], minlength=values
        )
    unknown = np.ones((len(sizes), 1))  # at the end: a missing value tells no class from another
    return np.hstack([(1 + spread) / (sizes[:, None] + values), unknown])


MINIMALITY = (
    "Not measured: whoever knows the method and its requirement may rule out tables for which it "
    "would have published something narrower (minimality). See docs/limits.md."
)
PEOPLE = 2000  # people who are linked with releases, at most; drawn at random from more
BEYOND = {  # what a form tells, and this attack leaves aside
    MEANS: "the means of groups were not used; whoever reckons with them rules out more groups, so "
    "that a person's own is known more often. Within a group nothing changes.",
    TWO_TABLES: "everybody's quasi values are published, and only what groups span was used; "
    "whoever looks for a person's own values finds the group more often. Within a group nothing "
    "changes.",
}
NOT_OF_PEOPLE = (
    "Several rows may be about one person, so people are linked; vulnerability, learning and "
    "intersection are about one row each and are not measured."
)
GUESSES = (0.01, 0.05, 0.1)  # of the spread: how near a guess has to be


@dataclass(frozen=True)
class Attack:
    """What attackers reach: without knowing anybody, and where the original is theirs to link."""

    vulnerability: tuple[Vulnerability, ...]
    links: tuple[Link, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    intersections: tuple[Intersection, ...] = ()
    remarks: tuple[str, ...] = ()
    together: tuple[Together, ...] = ()
    differences: tuple[Difference, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; every entry has its sentence."""
        return {
            "vulnerability": [one.to_dict() for one in self.vulnerability],
            "linking": [one.to_dict() for one in self.links],
            "learning": [one.to_dict() for one in self.lessons],
            "intersection": [one.to_dict() for one in self.intersections],
            "together": [one.to_dict() for one in self.together],
            "difference": [one.to_dict() for one in self.differences],
            "minimality": MINIMALITY,
            "remarks": list(self.remarks),
        }


def attack(
    releases: Sequence[Any],
    schema: Schema | None = None,
    *,
    original: Any = None,
    group: str | None = None,
    epsilons: Sequence[float] | None = None,
    deltas: Sequence[float] | None = None,
    distance: Distance | str | None = None,
    seed: int | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Attack:
    """Attack releases.

    Parameters
    ----------
    releases : release directories, paths of tables, or frames.
    schema : the quasi and sensitive columns, for plain tables; the person column of the original,
        where several rows may be about one person: then people are linked, by their rows and by how
        many there are, and nothing else is measured.
    original : the path or frame of the original table, which the attacker links with; with it come
        linking, learning and, for several releases, their intersections, two by two and all
        together. How releases differ needs none.
    group : the column that names the groups of plain tables.
    epsilons, deltas : the grid of the vulnerability; chosen from the first release by default.
    distance : how far apart sensitive values are, all columns together, also in the notation.
    seed : of the sample of people who are linked and intersected where they are more than 2,000;
        by default nobody can tell which they are.
    hierarchies : those that the owner listed, for releases whose manifests cannot say what a node
        covers.
    """
    if isinstance(distance, str):
        distance = Distance.read(distance)
    if not releases:
        msg = "Name at least one release to attack."
        raise UsageError(msg)
    whom = None if schema is None else schema.person
    opened = _named(
        [open_published(one, schema, group, hierarchies, people=bool(whom)) for one in releases]
    )
    for other in opened[1:]:
        if other.schema.sensitive != opened[0].schema.sensitive:
            msg = (
                "The releases have different sensitive columns. Choose shared ones: "
                f"{option('sensitive')}."
            )
            raise UsageError(msg)
    remarks: list[str] = []
    if whom is not None:
        return _against_people(opened, original, whom, epsilons, seed)
    if epsilons is not None:
        remarks += _unused(opened, distance)
    options: Any = {"distance": distance, "epsilons": epsilons, "deltas": deltas}
    if original is None:
        remarks += [
            f"{one.name} has no groups, so its vulnerability is measured over the rows that match "
            f"a person, which needs the original table: {option('original')}."
            for one in opened
            if one.heterogeneous
        ]
        remarks.append("Linking, learning and intersection need the original table.")
        return Attack(
            tuple(vulnerability(opened, **options)),
            remarks=tuple(remarks),
            differences=tuple(differences(opened)),
        )
    people = _known(original, opened, remarks)
    sample = draw(people.height, PEOPLE, seed)
    covers = [CellCover(one, _as_known(people, one.schema)) for one in opened]
    grid = vulnerability(opened, covers=covers, sample=sample, **options)
    own = epsilons if distance is None or isinstance(distance, Absolute) else None
    return _against(covers, people, sample, own, tuple(grid), remarks)


def _against_people(
    opened: list[Published],
    original: Any,
    person: str,
    epsilons: Sequence[float] | None,
    seed: int | None,
) -> Attack:
    """Link people who may have several rows."""
    if original is None:
        msg = f"People are linked with the original table: name it. {option('original')}."
        raise UsageError(msg)
    for one in opened:
        if one.person is None or one.heterogeneous or not one.schema.sensitive:
            msg = (
                f"{one.name} does not say which of its rows are about one person, or has no "
                "sensitive column beside them, so people cannot be linked with it."
            )
            raise UsageError(msg)
    remarks = [NOT_OF_PEOPLE]
    rows = _known(original, opened, remarks)
    if person not in rows.columns:
        raise UnknownColumn(person, rows.columns)
    rows = rows.drop_nulls(person)
    if not rows.height:
        msg = f"No row of the original says whom it is about in column {person!r}."
        raise InputError(msg)
    whom = code_persons(rows[person])
    sample = draw(int(whom.max()) + 1, PEOPLE, seed)
    links: list[Link] = []
    for one in opened:
        cover = CellCover(one, _as_known(rows, one.schema))
        assert one.person is not None
        there = code_persons(one.table[one.person])
        candidates = Candidates.of(cover, whom, there)
        for name in one.schema.sensitive:
            column = one.sensitive(name)
            wanted = (epsilons if column.numeric else None) or widths(column, GUESSES)
            links += link_people(candidates, rows, there, name, wanted, sample)
    return Attack((), tuple(links), remarks=tuple(remarks))


def _unused(releases: list[Published], distance: Distance | None) -> list[str]:
    """Say where the widths that somebody chose say nothing: labels are equal or are not."""
    if distance is not None:
        labels = ["labels"] * isinstance(distance, Equality)
    else:
        first = releases[0]
        labels = [
            f"labels of {name}"
            for name in first.schema.sensitive
            if not first.sensitive(name).numeric
        ]
    return [f"The widths are not used for {one}, which are equal or not." for one in labels]


def _known(original: Any, releases: list[Published], remarks: list[str]) -> pl.DataFrame:
    """Return what the attacker knows of people: those who have every sensitive value.

    Their sensitive numbers are read as those of the first release.
    """
    people = read_table(original) if isinstance(original, str | Path) else take_frame(original)
    sensitive = releases[0].schema.sensitive
    for name in (*sensitive, *(name for one in releases for name in one.schema.quasi)):
        if name not in people.columns:
            raise UnknownColumn(name, people.columns)
    known = people.fill_nan(None).drop_nulls(list(sensitive))
    if known.height < people.height:
        remarks.append(f"{people.height - known.height:,} people without a value are left out.")
    if not known.height:
        msg = "Nobody in the original has a value of every sensitive column to be guessed."
        raise InputError(msg)
    first = releases[0].schema
    return first.read_numbers(trimmed(known, first, "sensitive"), "sensitive")


def _as_known(people: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Return what is known of people as a release has it: whoever reads it rounds likewise."""
    return schema.read_numbers(trimmed(people, schema, "quasi"), "quasi")


def _against(
    covers: list[CellCover],
    people: pl.DataFrame,
    sample: Sample,
    epsilons: Sequence[float] | None,
    grid: tuple[Vulnerability, ...],
    remarks: list[str],
) -> Attack:
    """Add the attacks that know the people."""
    first = covers[0].published
    remarks += [f"{one.published.name}: {GUESSED}" for one in covers if not one.published.kinds]
    remarks += [
        f"{one.published.name}: {BEYOND[one.published.form]}"
        for one in covers
        if one.published.form in BEYOND
    ]
    remarks += [
        f"{one.unread} distinct quasi cells of {one.published.name} could not be read; they rule "
        "nobody out."
        for one in covers
        if one.unread
    ]
    links: list[Link] = []
    for name in first.schema.sensitive:
        column = first.sensitive(name)
        wanted = (epsilons if column.numeric else None) or widths(column, GUESSES)
        links += [one for cover in covers for one in link(cover, people, name, wanted, sample)]
    sensitive = first.schema.sensitive
    lessons = tuple(learn(cover, people, name) for name in sensitive for cover in covers)
    pairs = tuple(
        intersect(one, two, people, name, sample)
        for name in sensitive
        for one, two in combinations(covers, 2)
    )
    every = tuple(
        intersect_all(covers, people, name, sample) for name in sensitive if len(covers) > 2
    )
    differ = tuple(differences([cover.published for cover in covers]))
    return Attack(grid, tuple(links), lessons, pairs, tuple(remarks), every, differ)


def _named(releases: list[Published]) -> list[Published]:
    """Tell releases with one name apart by their place."""
    names = [one.name for one in releases]
    return [
        replace(one, name=f"{one.name} ({place})") if names.count(one.name) > 1 else one
        for place, one in enumerate(releases, start=1)
    ]
