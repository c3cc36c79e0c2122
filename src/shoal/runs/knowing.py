"""Readers who know the method: all assignments of a small table's values, gone through.

Such a reader asks which assignments of the values to the people would have led to the release at
hand. Every assignment is equally likely beforehand; the reader knows everybody's quasi values, who
is in which group, and the values of each group. What is believed of a person afterwards should be
what the group shows: each of its values as likely as it is frequent.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.claims import manifest_schema
from shoal.audit.tables import read_manifest
from shoal.distances.relation import near
from shoal.errors import NotAchievable, UsageError, option
from shoal.exact import percent, upward
from shoal.methods.choice import check_task
from shoal.principles.groups import Groups
from shoal.progress import Brief
from shoal.runs.run import Run
from shoal.table.reading import read_table, take_frame
from shoal.table.schema import Schema
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.principles.requirement import Require
    from shoal.table.coded import Coded
    from shoal.table.missing import Missing

ROWS = 8  # 40,320 assignments; nine rows have nine times as many

World = tuple[int, ...]  # the value of each person, as a code
Output = frozenset[tuple[World, World]]  # the people of each group, and their values, ascending


@dataclass(frozen=True, repr=False)
class Minimality(Brief):
    """What a reader who knows the method learns, over all assignments of the values to the people.

    `distance` is the largest total variation between what the reader believes of a person and the
    values of the group. `worst` is the largest probability of a value near a person's own.
    `exceeded` is the share of assignments in which that is more than the requirement allows for
    some person. Both are None if no requirement is about near values. `refused` counts the
    assignments for which the method found nothing to publish.
    """

    _brief = ("require", "method", "rows", "distance", "worst")

    require: tuple[str, ...]
    method: str
    rows: int
    assignments: int
    refused: int
    distance: float
    worst: float | None
    exceeded: float | None

    @property
    def sentence(self) -> str:
        """Say it in plain words."""
        tried = f"over all {self.assignments:,} assignments of the values to the people"
        if self.distance == 0:
            return (
                f"A reader who knows {self.method} and its requirement learns nothing beyond the "
                f"groups, {tried}."
            )
        learned = (
            f"A reader who knows {self.method} and its requirement learns more than the groups "
            f"show, {tried}: beliefs about a person differ from the group's values by up to "
            f"{percent(self.distance, 1)}"
        )
        if self.exceeded is None or self.worst is None:
            return f"{learned}."
        return (
            f"{learned}, and in {percent(self.exceeded, 1)} of the assignments a person's value is "
            f"nearly known with more certainty than is allowed, {percent(self.worst, 1)} at most."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values with its sentence."""
        return asdict(self) | {"sentence": self.sentence}


def minimality(
    frame: Any,
    schema: Schema | None = None,
    *,
    require: Require | Iterable[Require] = (),
    method: Method | str | None = None,
    missing: Missing = "error",
    original: Any = None,
) -> Minimality:
    """Measure what a reader who knows the method learns, on a table of at most 8 rows.

    Parameters
    ----------
    frame, schema, require, method, missing : as for `anonymize`; or a release directory, which
        says what was required and how it was made, with types and weights from the schema.
    original : the table that a release directory was made from.
    """
    if isinstance(frame, str | Path):
        return knowing_release(frame, original, schema)
    asked = Run(schema=schema or Schema(), require=require, method=method, missing=missing)
    check_plain(asked.schema.person, asked.schema.never_mix)
    table, run = asked.with_table(take_frame(frame))
    task = run.prepare(table).task
    if len(task.coded) > ROWS:
        msg = (
            f"The table has {len(task.coded):,} rows. To measure what a reader who knows the "
            "method learns, Shoal tries all assignments of values to people, for at most "
            f"{ROWS} rows."
        )
        raise UsageError(msg)
    chosen = run.chosen(task)
    check_task(task)
    return _measured(task, chosen)


def check_plain(person: str | None, never_mix: Sequence[str]) -> None:
    """Raise where a table is searched in parts: then more is decided than a method decides."""
    said = {"person": person, "never_mix": never_mix}
    for name in (name for name, value in said.items() if value):
        msg = (
            "Shoal measures what a reader who knows the method learns only where it searches all "
            f"rows together, one row per person. Leave out {option(name)}."
        )
        raise UsageError(msg)


def knowing_release(
    directory: str | Path, original: Any, schema: Schema | None = None
) -> Minimality:
    """Measure it for the method and the requirement of a release; weights come from the schema."""
    manifest = read_manifest(Path(directory))
    stated = manifest_schema(manifest)
    kept = [one.name for one in manifest.columns if one.never_mix]
    check_plain(stated.person, kept)
    known = Schema(
        quasi=stated.quasi,
        sensitive=stated.sensitive,
        types=schema.types if schema else {},
        hierarchies=stated.hierarchies,
        weights=schema.weights if schema else {},
        decimal=stated.decimal,
        **stated.said_of((*stated.quasi, *stated.sensitive)),
    )
    people = read_table(original) if isinstance(original, str | Path) else take_frame(original)
    return minimality(people, known, require=manifest.require, method=manifest.method)


def _measured(task: Task, method: Method) -> Minimality:
    outputs: dict[Output, dict[World, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    count = refused = 0
    for world, coded in _worlds(task.coded):
        count += 1
        seen = outcomes(method, replace(task, coded=coded))
        refused += not seen
        for groups, chance in seen:
            outputs[_shown(groups.labels, world)][world] += chance
    if not outputs:
        msg = f"{method!r} finds nothing to publish, for any assignment of the values."
        raise NotAchievable(msg)
    distance, worst, often = Fraction(0), Fraction(0), Fraction(0)
    limits = _limits(task)
    for shown, weights in outputs.items():
        whole = sum(weights.values(), Fraction(0))
        beliefs = _beliefs(weights, whole, len(task.coded))
        over = False
        for people, values in shown:
            for person in people:
                distance = max(distance, variation(beliefs[person], values))
                for close, allowed in limits:
                    risk = _risk(beliefs[person], close)
                    worst = max(worst, risk)
                    over |= risk > allowed[len(people)]
        often += whole if over else 0
    return Minimality(
        require=tuple(map(repr, task.requirements)),
        method=repr(method),
        rows=len(task.coded),
        assignments=count,
        refused=refused,
        distance=upward(distance),
        worst=upward(worst) if limits else None,
        exceeded=upward(often / count) if limits else None,
    )


def _worlds(coded: Coded) -> Iterator[tuple[World, Coded]]:
    """Yield every distinct assignment of the sensitive values to the rows."""
    codes = Sensitive.of(coded.sensitive).codes
    known = set()
    for order in permutations(range(len(coded))):
        world = tuple(codes[list(order)].tolist())
        if world in known:
            continue
        known.add(world)
        moved = np.array(order)
        yield (
            world,
            replace(
                coded,
                sensitive=tuple(replace(one, codes=one.codes[moved]) for one in coded.sensitive),
            ),
        )


def outcomes(method: Method, task: Task) -> list[tuple[Groups, Fraction]]:
    """Return the groups that a method may find, none where it refuses."""
    found = []
    try:
        for groups, chance in method.outcomes(task):
            if not isinstance(groups, Groups):
                msg = f"{method!r} publishes no groups, so what they show cannot be compared."
                raise UsageError(msg)
            found.append((groups, chance))
    except NotAchievable:
        return []
    return found


def _shown(labels: NDArray[np.int64], world: World) -> Output:
    members: dict[int, list[int]] = defaultdict(list)
    for person, label in enumerate(labels.tolist()):
        members[label].append(person)
    return frozenset(
        (tuple(people), tuple(sorted(world[person] for person in people)))
        for people in members.values()
    )


def _beliefs(
    weights: dict[World, Fraction], whole: Fraction, rows: int
) -> list[dict[int, Fraction]]:
    """Return how likely each value of each person is after an output was seen."""
    beliefs: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in range(rows)]
    for world, weight in weights.items():
        for person, value in enumerate(world):
            beliefs[person][value] += weight / whole
    return beliefs


def variation(belief: dict[int, Fraction], values: World) -> Fraction:
    """Return the total variation between a belief and the values of a group."""
    shares = {value: Fraction(values.count(value), len(values)) for value in values}
    return sum((max(belief.get(v, Fraction(0)) - s, Fraction(0)) for v, s in shares.items()),
               Fraction(0))  # fmt: skip


def _limits(task: Task) -> list[tuple[NDArray[np.bool_], list[Fraction]]]:
    """Return for each requirement who is near to whom, and what groups of each size may show.

    A whole member may be more of a small group than the bound, as in `Dissimilarity`.
    """
    everything = Sensitive.of(task.coded.sensitive)
    _, first = np.unique(everything.codes, return_index=True)
    found = []
    for pairs, value in task.pairs:
        codes = value.codes[first]  # of each distinct value of all columns together
        close = near(pairs.relation(value), codes[:, None], codes[None, :])
        sizes = range(1, len(task.coded) + 1)
        shares = [Fraction(pairs.allowed(size), size) for size in sizes]
        found.append((close, [Fraction(1), *(max(pairs.bound, s) for s in shares)]))
    return found


def _risk(belief: dict[int, Fraction], close: NDArray[np.bool_]) -> Fraction:
    """Return how likely the value is to lie near the most exposed one that it may be."""
    return max(
        sum((share for u, share in belief.items() if close[u, v]), Fraction(0)) for v in belief
    )
