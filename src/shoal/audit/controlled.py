"""Each attack on the people in a release and on a control group.

Controls are people of the same population who are not in the release. The reader treats both alike:
whoever is attacked, the reader has their quasi values and the release.

- singling out: `predicates`.
- linking: two disjoint sets of quasi columns, of one person, each lead to the group that fits best,
  the one with the most people per combination of values; right where both lead to the same.
- inference: the window of width 2ε that holds the most of the values that match, as in `linking`.
  Where no row matches, the reader guesses the best window of the whole release.
- learning: naive Bayes, trained on the release, names classes of the values (`learning`).
- finding: of the rows that match a member one is picked at random; members alone.

People with several rows are attacked by all of their rows, and count once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.compared import ENOUGH, FINDING, INFERENCE, LEARNING, LINKING, Compared, Rate
from shoal.audit.covers import CellCover
from shoal.audit.learning import classify
from shoal.audit.linking import Candidates, code_both, guess_people, windows
from shoal.audit.predicates import single_out
from shoal.errors import InputError, UnknownColumn
from shoal.sampling import draw
from shoal.table.coded import persons_of
from shoal.table.missing import MISSING_LABEL
from shoal.table.partition import PersonOf
from shoal.table.settling import trimmed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.table.schema import Schema

PEOPLE = 5000  # members at most, and controls, whom linking, inference and finding are tried on


@dataclass(frozen=True, eq=False)
class Sides:
    """The people of a release and the controls, against the release.

    `table` has the rows of all: members are the people under `members`, controls those from there
    on to under `everybody`.
    """

    cover: CellCover
    table: pl.DataFrame
    candidates: Candidates
    members: int
    everybody: int

    @classmethod
    def of(
        cls,
        published: Published,
        members: pl.DataFrame,
        controls: pl.DataFrame,
        person: str | None,
    ) -> Sides:
        """Lay out both sides against one release."""
        names = [*published.schema.quasi, *published.schema.sensitive]
        both = [side.select(pl.col(names).cast(pl.String)) for side in (members, controls)]
        inside, outside = (persons_of(side, person) for side in (members, controls))
        every = PersonOf(np.concatenate([inside.labels, outside.labels + len(inside)]))
        table = pl.concat(both)
        cover = CellCover(published, table)
        candidates = Candidates(cover, every, persons_of(published.table, published.person))
        return cls(cover, table, candidates, len(inside), len(every))

    @property
    def enough(self) -> bool:
        """Whether there are controls enough for a difference."""
        return self.everybody - self.members >= ENOUGH

    def drawn(self, seed: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return members and controls, some of them where they are very many."""
        outside = draw(self.everybody - self.members, PEOPLE, seed)
        return draw(self.members, PEOPLE, seed).places, outside.places + self.members

    def compare(
        self, attack: str, members: NDArray, controls: NDArray | None = None, **more: object
    ) -> Compared:
        """Return how often an attack was right, from what each person's attempt came to."""
        return Compared(
            self.cover.published.name,
            attack,
            Rate(float(np.mean(members)), len(members)),
            None if controls is None else Rate(float(np.mean(controls)), len(controls)),
            enough=self.enough,
            number=self.everybody - self.members,
            **more,  # type: ignore[arg-type]
        )


def without_controls(
    original: pl.DataFrame, controls: pl.DataFrame, person: str | None
) -> pl.DataFrame:
    """Return the original without the controls: by person, or row by row where all cells agree.

    A control's row takes one equal row out, not all that are equal. Where some controls are no rows
    of the original, none was held back from it: they are other people, who may have equal cells.
    """
    if person is not None:
        held = controls[person].cast(pl.String).unique().drop_nulls()
        left = original.filter(
            ~pl.col(person).cast(pl.String).is_in(held.implode()).fill_null(value=False)
        )
    else:
        shared = [name for name in original.columns if name in controls.columns]
        turn = [
            side.select(pl.col(shared).cast(pl.String).fill_null(MISSING_LABEL)).with_columns(
                turn=pl.int_range(pl.len()).over(shared)
            )
            for side in (original, controls)
        ]
        marked = turn[0].with_row_index("row")
        gone = marked.join(turn[1], on=[*shared, "turn"], how="semi")["row"]
        if len(gone) < controls.height:
            return original
        left = original.filter(~pl.int_range(pl.len()).is_in(gone.implode()))
    if not left.height:
        msg = "Everyone in the original is a control, so no one is left who is in the release."
        raise InputError(msg)
    return left


def not_found(opened: Sequence[Published], controls: pl.DataFrame) -> list[str]:
    """Say where controls seem to be those whom a release held out, and are not in the original."""
    return [
        f"{one.name} held out {controls.height:,} rows, as many as there are controls, but not all "
        "of these are in the original, so none was taken out of it. If the original contains them, "
        "check that both tables are read in the same way."
        for one in opened
        if one.manifest is not None and one.manifest.held_out == controls.height
    ]


def against_controls(
    sides: Sides, wanted: Mapping[str, Sequence[float]], seed: int | None
) -> list[Compared]:
    """Run every attack on members and controls; `wanted` has the widths of each column."""
    found = [single_out(sides, seed), _linked(sides, seed)]
    for name, widths in wanted.items():
        found += [*_inferred(sides, name, widths, seed), _learned(sides, name)]
    return [one for one in [*found, _found(sides, seed)] if one is not None]


def by_population(
    releases: Sequence[Published],
    people: pl.DataFrame,
    everybody: pl.DataFrame,
    person: str | None,
    seed: int | None,
) -> list[Compared]:
    """Single people out by descriptions whose weights come from all who could be in the table."""
    found = []
    for one in releases:
        for name in filter(None, (*one.schema.quasi, person)):
            if name not in everybody.columns:
                raise UnknownColumn(name, everybody.columns)
        known = everybody.with_columns(
            pl.lit(None, pl.String).alias(name)
            for name in one.schema.sensitive
            if name not in everybody.columns  # descriptions are about quasi columns
        )
        members, others = (as_known(side, one.schema) for side in (people, known))
        found.append(single_out(Sides.of(one, members, others, person), seed))
    return [one for one in found if one is not None]


def as_known(people: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Return what is known of people as a release has it: whoever reads it rounds likewise."""
    return schema.read_numbers(trimmed(people, schema, "quasi"), "quasi")


def _inferred(sides: Sides, name: str, widths: Sequence[float], seed: int | None) -> list[Compared]:
    """Guess a protected column of both sides to within each width."""
    published = sides.cover.published
    numeric = published.sensitive(name).numeric
    column, count = code_both(sides.table[name], published.table[name], numeric=numeric)
    lasts = [windows(column, width) for width in widths]
    right = [
        guess_people(sides.candidates, column.codes, count, lasts, some, otherwise=True)[1]
        for some in sides.drawn(seed)
    ]
    return [
        sides.compare(INFERENCE, right[0][:, at], right[1][:, at], column=name, epsilon=widths[at])
        for at in range(len(widths))
    ]


def _learned(sides: Sides, name: str) -> Compared:
    """Let a classifier that was trained on the release name the classes of both sides.

    Of people with several rows it is right by the share of their rows.
    """
    right = classify(sides.cover, sides.table, name)[0]
    share = np.bincount(sides.candidates.whom.labels, right) / sides.candidates.whom.sizes
    return sides.compare(LEARNING, share[: sides.members], share[sides.members :], column=name)


def _linked(sides: Sides, seed: int | None) -> Compared | None:
    """Link what is known of people by two disjoint sets of columns."""
    columns = sides.cover.columns
    if len(columns) < 2:
        return None
    # The columns with the most different cells are dealt in turn, so that both sets tell as much.
    order = sorted(range(len(columns)), key=lambda at: -len(columns[at].cover))
    sets = sorted(order[0::2]), sorted(order[1::2])
    density = [_density(sides, some) for some in sets]
    right = [
        np.array([_same_group(sides, person, sets, density) for person in some.tolist()])
        for some in sides.drawn(seed)
    ]
    names = sides.cover.published.schema.quasi
    first, second = (tuple(names[at] for at in some) for some in sets)
    return sides.compare(LINKING, *right, sets=(first, second))


def _density(sides: Sides, places: Sequence[int]) -> NDArray[np.float64]:
    """Return the log of the people of each description per combination of values it covers."""
    sizes = np.bincount(sides.candidates.description, minlength=len(sides.cover.rows))
    found = np.log(np.maximum(sizes, 1))
    for at in places:
        column, cells = sides.cover.columns[at], sides.cover.cells[at]
        found -= np.log(np.maximum(column.sizes, 1))[cells]
    return found


def _same_group(
    sides: Sides,
    person: int,
    sets: tuple[list[int], list[int]],
    density: list[NDArray[np.float64]],
) -> bool:
    """Say whether both sets of columns lead to one group."""
    led = []
    for places, weight in zip(sets, density, strict=True):
        rows = sides.candidates.whom.rows(person).tolist()
        fitting = sum(
            (sides.cover.matching(row, places).astype(np.int64) for row in rows[1:]),
            sides.cover.matching(rows[0], places).astype(np.int64),
        )
        if not fitting.any():
            return False
        weights = np.where(fitting == fitting.max(), weight, -np.inf)
        best = np.flatnonzero(weights == weights.max())
        led.append(int(best[np.argmin(sides.cover.rows[best])]))
    return led[0] == led[1]


def _found(sides: Sides, seed: int | None) -> Compared | None:
    """Return the chance of members that one of the people who may be them is them.

    A person's own rows are known by their sensitive values; whoever is not published is not found.
    """
    names = list(sides.cover.published.schema.sensitive)
    if not names:
        return None
    cells = pl.concat(
        [
            table.select(pl.col(names).cast(pl.String).fill_null(MISSING_LABEL))
            for table in (sides.table, sides.cover.published.table)
        ]
    )
    keys = cells.to_struct().rank("dense").to_numpy()
    own, carried = keys[: sides.table.height], keys[sides.table.height :]
    there = sides.candidates.there
    carried = carried[there.order]
    chances = []
    for person in sides.drawn(seed)[0].tolist():
        some = sides.candidates.find(person)
        others = ~np.isin(carried, own[sides.candidates.whom.rows(person)])
        apart = np.logical_or.reduceat(others, there.starts[:-1])[some].all()  # of nobody, all are
        chances.append(0.0 if apart else 1 / len(some))
    return sides.compare(FINDING, np.array(chances))
