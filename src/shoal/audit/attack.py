"""The attacker's view of one or several releases, in numbers and plain sentences.

Who knows a person's group guesses (`guessing`), who knows all quasi values of a person but one
infers it (`inference`), who has a list of people links them (`linking`, `together`), and who reads
the release as a whole learns from it (`learning`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.compared import MARGIN, SINGLING, Compared
from shoal.audit.controlled import (
    Sides,
    against_controls,
    as_known,
    by_population,
    not_found,
    without_controls,
)
from shoal.audit.covers import CellCover
from shoal.audit.exposure import Vulnerability, vulnerability, widths
from shoal.audit.guessing import Guessing, guess_in_groups, promised_widths
from shoal.audit.inference import Inference, infer_everybody
from shoal.audit.learning import Lesson, learn
from shoal.audit.linking import Candidates, Link, link, link_people
from shoal.audit.published import Published, open_published
from shoal.audit.together import (
    Difference,
    Intersection,
    Together,
    differences,
    intersect,
    intersect_all,
)
from shoal.audit.verify import GUESSED
from shoal.distances.base import Distance
from shoal.distances.labels import Equality
from shoal.distances.numeric import Absolute
from shoal.errors import InputError, UnknownColumn, UsageError, option
from shoal.progress import Brief
from shoal.sampling import draw
from shoal.table.coded import persons_of
from shoal.table.forms import MEANS, TWO_TABLES
from shoal.table.reading import read_table, take_frame
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from shoal.runs.downcoding import Downcoded
    from shoal.sampling import Sample
    from shoal.table.schema import Schema

    Widths = Mapping[str, Sequence[float]]
    Model = Callable[[Any, Sides, Widths, int | None], list[Compared]]


MINIMALITY = (
    "Not measured: a reader who knows the method and everyone's quasi-identifiers may exclude some "
    "sensitive values (in the documentation: Limits, minimality)."
)
PEOPLE = 2000  # people who are linked with releases, at most; drawn at random from more
BEYOND = {  # what a form tells, and this attack leaves aside
    MEANS: "this attack did not use the means of the groups. An attacker who uses them could "
    "exclude more groups, so that a person's own group is known more often. Within a group nothing "
    "changes.",
    TWO_TABLES: "everyone's quasi-identifiers are published, and this attack used only what the "
    "groups span. An attacker who looks for a person's own values finds the group more often. "
    "Within a group nothing changes.",
}
NOT_OF_PEOPLE = (
    "Several rows may be about one person, so this attack links people. Guessing, vulnerability, "
    "learning and intersection are about single rows and are not measured."
)
NOT_KNOWN = (
    "What a requirement allows is for readers who know a person's group. An attacker who links "
    "people knows their quasi-identifiers: where several groups match a person, the best guess "
    "over all of them may be right more often than that, or less often."
)
GUESSES = (0.01, 0.05, 0.1)  # of the spread: how near a guess has to be


@dataclass(frozen=True, repr=False)
class Attack(Brief):
    """How often attackers guess right, with and without the original table to link with."""

    vulnerability: tuple[Vulnerability, ...]
    guesses: tuple[Guessing, ...] = ()
    inferences: tuple[Inference, ...] = ()
    links: tuple[Link, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    intersections: tuple[Intersection, ...] = ()
    remarks: tuple[str, ...] = ()
    together: tuple[Together, ...] = ()
    differences: tuple[Difference, ...] = ()
    controlled: tuple[Compared, ...] = ()
    refinements: tuple[Downcoded, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; every entry has its sentence."""
        return {
            "vulnerability": [one.to_dict() for one in self.vulnerability],
            "guessing": [one.to_dict() for one in self.guesses],
            "controlled": [one.to_dict() for one in self.controlled],
            "refinement": [one.to_dict() for one in self.refinements],
            "inference": [one.to_dict() for one in self.inferences],
            "linking": [one.to_dict() for one in self.links],
            "learning": [one.to_dict() for one in self.lessons],
            "intersection": [one.to_dict() for one in self.intersections],
            "together": [one.to_dict() for one in self.together],
            "difference": [one.to_dict() for one in self.differences],
            "minimality": MINIMALITY,
            "remarks": list(self.remarks),
        }


def attack_releases(
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
    model: Model | None = None,
) -> Attack:
    """Attack releases (see `shoal.attack`); `model` guesses by a model of all groups together."""
    if isinstance(distance, str):
        distance = Distance.read(distance)
    if not releases:
        msg = "Name at least one release to attack."
        raise UsageError(msg)
    whom = None if schema is None else schema.person
    opened = told_apart(
        [open_published(one, schema, group, hierarchies, people=bool(whom)) for one in releases]
    )
    for other in opened[1:]:
        if other.schema.sensitive != opened[0].schema.sensitive:
            msg = "The releases have different sensitive columns. Choose shared ones: {}."
            raise UsageError(msg.format(option("sensitive")))
    remarks: list[str] = []
    original = original if original is None else _read(original)
    original, controlled = _controlled(
        releases, opened, original, control, whom, epsilons, seed, remarks, model
    )
    if population is not None:
        weighed = by_population(opened, _members(original), _read(population), whom, seed)
        controlled = (*weighed, *(one for one in controlled if one.attack != SINGLING))
    if whom is not None:
        found = _against_people(opened, original, whom, epsilons, seed)
        return replace(found, remarks=(*found.remarks, *remarks), controlled=controlled)
    if epsilons is not None:
        remarks += _unused(opened, distance)
    options: Any = {"distance": distance, "epsilons": epsilons, "deltas": deltas}
    guesses = tuple(guess for one in opened for guess in guess_in_groups(one))
    if original is None:
        remarks += [
            f"{one.name} has no groups, so its vulnerability is measured over the rows that match "
            f"a person, which needs the original table: {option('original')}."
            for one in opened
            if one.heterogeneous
        ]
        remarks.append("Inference, linking, learning and intersection need the original table.")
        return Attack(
            tuple(vulnerability(opened, **options)),
            guesses,
            remarks=tuple(remarks),
            differences=tuple(differences(opened)),
        )
    people = _known(original, opened, remarks)
    sample = draw(people.height, PEOPLE, seed)
    covers = [CellCover(one, as_known(people, one.schema)) for one in opened]
    grid = vulnerability(opened, covers=covers, sample=sample, **options)
    own = epsilons if distance is None or isinstance(distance, Absolute) else None
    inferences = tuple(told for one in opened for told in infer_everybody(one, original, seed))
    attacked = Attack(tuple(grid), guesses, inferences, controlled=controlled)
    return _against(covers, people, sample, own, attacked, remarks)


def _members(original: Any) -> pl.DataFrame:
    """Return the people in the releases, whom attacks are compared with others on, or raise."""
    if original is None:
        msg = (
            "An attack compares the control group, or the population, with the people in the "
            f"release. Name their original table too. {option('original')}."
        )
        raise UsageError(msg)
    return _read(original)


def _controlled(
    releases: Sequence[Any],
    opened: list[Published],
    original: Any,
    control: Any,
    person: str | None,
    epsilons: Sequence[float] | None,
    seed: int | None,
    remarks: list[str],
    model: Model | None,
) -> tuple[Any, tuple[Compared, ...]]:
    """Attack members and controls, where there are any; return the original without these, too."""
    if control is None:
        return original, ()
    people, controls = _members(original), _read(control)
    for table in (people, controls):
        if person is not None and person not in table.columns:
            raise UnknownColumn(person, table.columns)
    inside = without_controls(people, controls, person)
    if inside.height < people.height:
        remarks.append(
            f"{people.height - inside.height:,} rows of the original are controls: they are not "
            "attacked as members."
        )
    else:
        remarks += not_found(opened, controls)
    sides = [_known(table, opened, remarks) for table in (inside, controls)]
    if person is not None:
        sides = [side.drop_nulls(person) for side in sides]
    found: list[Compared] = []
    modelled: list[Compared] = []
    for source, one in zip(releases, opened, strict=True):
        members, others = (as_known(side, one.schema) for side in sides)
        laid = Sides.of(one, members, others, person)
        wanted = {name: _near([one], name, epsilons) for name in one.schema.sensitive}
        found += against_controls(laid, wanted, seed)
        modelled += [] if model is None else model(source, laid, wanted, seed)
    remarks.append(MARGIN)
    return inside, (*found, *modelled)


def _read(source: Any) -> pl.DataFrame:
    read = read_table(source) if isinstance(source, str | Path) else take_frame(source)
    return read.fill_nan(None)


def _against_people(
    opened: list[Published],
    original: Any,
    person: str,
    epsilons: Sequence[float] | None,
    seed: int | None,
) -> Attack:
    """Link people who may have several rows."""
    if original is None:
        msg = f"To link people, the attack needs the original table. Name it. {option('original')}."
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
        msg = (
            f"Column {person!r} of the original is empty, so the attack cannot see which rows "
            "belong to one person."
        )
        raise InputError(msg)
    whom = persons_of(rows, person)
    sample = draw(len(whom), PEOPLE, seed)
    links: list[Link] = []
    inferences: list[Inference] = []
    for one in opened:
        cover = CellCover(one, as_known(rows, one.schema))
        inferences += infer_everybody(one, original, seed, person)
        candidates = Candidates(cover, whom, persons_of(one.table, one.person))
        for name in one.schema.sensitive:
            wanted = _near([one], name, epsilons)
            links += link_people(candidates, rows, name, wanted, sample)
    return Attack((), (), tuple(inferences), tuple(links), remarks=tuple(remarks))


def _near(
    releases: Sequence[Published], name: str, epsilons: Sequence[float] | None
) -> Sequence[float]:
    """Return how near guesses of a column are to be: as asked, as promised, or by its spread."""
    column = releases[0].sensitive(name)
    if not column.numeric:
        return [0]
    return epsilons or promised_widths(releases, name) or widths(column, GUESSES)


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
    people = _read(original)
    sensitive = releases[0].schema.sensitive
    for name in (*sensitive, *(name for one in releases for name in one.schema.quasi)):
        if name not in people.columns:
            raise UnknownColumn(name, people.columns)
    known = people.drop_nulls(list(sensitive))
    if known.height < people.height:
        remarks.append(
            f"The attack leaves out {people.height - known.height:,} rows of the original in which "
            "a sensitive value is missing."
        )
    if not known.height:
        msg = "No person in the original has a value in every sensitive column."
        raise InputError(msg)
    first = releases[0].schema
    return first.read_numbers(trimmed(known, first, "sensitive"), "sensitive")


def _against(
    covers: list[CellCover],
    people: pl.DataFrame,
    sample: Sample,
    epsilons: Sequence[float] | None,
    attacked: Attack,
    remarks: list[str],
) -> Attack:
    """Add the attacks that know the people."""
    first = covers[0].published
    remarks += [NOT_KNOWN] if attacked.guesses else []
    remarks += [f"{one.published.name}: {GUESSED}" for one in covers if not one.published.kinds]
    remarks += [
        f"{one.published.name}: {BEYOND[one.published.form]}"
        for one in covers
        if one.published.form in BEYOND
    ]
    remarks += [
        f"{one.unread} different quasi-identifier cells of {one.published.name} could not be "
        "read. The attack treats them as fitting every person."
        for one in covers
        if one.unread
    ]
    links: list[Link] = []
    for name in first.schema.sensitive:
        wanted = _near([cover.published for cover in covers], name, epsilons)
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
    return replace(
        attacked,
        links=tuple(links),
        lessons=lessons,
        intersections=pairs,
        remarks=tuple(remarks),
        together=every,
        differences=differ,
    )


def told_apart(releases: list[Published]) -> list[Published]:
    """Tell releases with one name apart by their place."""
    names = [one.name for one in releases]
    return [
        replace(one, name=f"{one.name} ({place})") if names.count(one.name) > 1 else one
        for place, one in enumerate(releases, start=1)
    ]
