"""Refinement: what published cells tell because the method would have drawn others otherwise.

A method that publishes the narrowest cells it can tells more than its cells say: had all rows of a
group lain in one half of a cell, the half would stand there (downcoding: Cohen. Attacks on
Deidentification's Defenses. USENIX Security 2022). Here a reader knows the method, its requirement
and the values that quasi columns can have, and nothing else. Every table with as many rows is
equally likely beforehand, the sensitive values being those that are published. The reader goes
through all of them and keeps those that would have led to the release at hand. On tables so small
this is all that can be inferred; of larger ones, `downcoding` counts what each group and column
excludes by itself, as the linear program of arXiv 2509.03350 does by the counts of all columns.

    quasi     : how often the reader names all quasi values of a group, in any order, and how often
                a reader expects to who believes every combination in the cell equally likely;
                of regions that may be more, because rows do not lie evenly there
    sensitive : the largest total variation between what is then believed of the value of a member
                whose quasi values are known, and the values of the group
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import NotAchievable, UsageError
from shoal.exact import percent, upward
from shoal.methods.choice import check_task
from shoal.progress import Brief
from shoal.release.cells import cells
from shoal.release.cover import covers
from shoal.runs.checks import check_cells
from shoal.runs.knowing import check_plain, outcomes, variation
from shoal.runs.run import Run
from shoal.table.grid import REGIONS, TIGHT
from shoal.table.reading import take_frame
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from shoal.methods.base import Method, Task
    from shoal.principles.groups import Groups
    from shoal.principles.requirement import Require
    from shoal.release.cover import Cover
    from shoal.table.column import Column
    from shoal.table.schema import Schema

CELLS = {TIGHT: "tight cells", REGIONS: "regions"}
MOST = 20_000  # tables that are gone through

Values = tuple[int, ...]
# The cells of a group, its values, ascending, and the values of all groups of its node.
Known = tuple[tuple[str, ...], Values, tuple[Values, ...]]
Members = tuple[tuple[int, int], ...]  # of a group, the combination and the value of each
World = tuple[Members, ...]  # of every group that is shown, in the order in which they are


@dataclass(frozen=True, repr=False)
class Refinement(Brief):
    """What a reader refines of a kind of cells, over all tables.

    `told` is the share of groups whose quasi-identifiers such a reader can name, and `usual` the
    share that a reader expects who considers all values in a cell equally likely.

    `sensitive` is what the reader learns about sensitive values beyond the groups, 0 if nothing.
    """

    _brief = ("require", "method", "rows", "told", "usual", "sensitive")

    require: tuple[str, ...]
    method: str
    rows: int
    tables: int
    told: float
    usual: float
    sensitive: float
    cells: str = TIGHT

    @property
    def sentence(self) -> str:
        """Say it in plain words."""
        said = (
            f"A reader of {CELLS[self.cells]} who knows {self.method} and its requirement names "
            f"all quasi-identifiers of a group, in any order, for {percent(self.told, 1)} of "
            "groups. A reader who considers all values in a cell equally likely expects "
            f"{percent(self.usual, 1)} (over all {self.tables:,} tables of {self.rows} rows). "
        )
        if not self.sensitive:
            return f"{said}The reader learns nothing more about sensitive values."
        return (
            f"{said}Beliefs about a sensitive value then differ from the group's values by up to "
            f"{percent(self.sensitive, 1)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values with its sentence."""
        return asdict(self) | {"gain": self.told - self.usual, "sentence": self.sentence}


def refine(
    frame: Any,
    schema: Schema,
    *,
    require: Require | Iterable[Require],
    method: Method | str | None = None,
    cells: str = TIGHT,
) -> Refinement:
    """Measure what a reader who knows the method refines of published cells, on a tiny table.

    All tables with as many rows and the same values in each column are gone through, 20,000 at
    most; each column's values are those that the table has.

    Parameters
    ----------
    frame, schema, require, method, cells : as for `anonymize`. Regions fill the public bounds, by
        default the range of the table's values.
    """
    asked = Run(schema=schema, require=require, method=method, cells=cells)
    check_cells(asked)
    check_plain(asked.schema.person, asked.schema.never_mix)
    table, run = asked.with_table(take_frame(frame))
    task = run.prepare(table).task
    combinations = prod(one.distinct for one in task.coded.quasi)
    if combinations ** len(task.coded) > MOST:
        msg = (
            f"{combinations:,} combinations of quasi values in {len(task.coded):,} rows make more "
            f"than {MOST:,} tables. Shoal would have to try all of them: use fewer rows or values."
        )
        raise UsageError(msg)
    chosen = run.chosen(task)
    check_task(task)
    return _measured(task, chosen)


def _measured(task: Task, method: Method) -> Refinement:
    seen: dict[tuple[Known, ...], dict[World, Fraction]] = defaultdict(
        lambda: defaultdict(Fraction)
    )
    values = Sensitive.of(task.coded.sensitive).codes.tolist()
    inside: dict[tuple[str, ...], int] = {}  # combinations that published cells cover
    tables = 0
    for combined, one in _tables(task):
        tables += 1
        for found, chance in outcomes(method, one):
            groups = _shown(one, found, combined, values, inside)
            seen[tuple(known for known, _ in groups)][tuple(who for _, who in groups)] += chance
    if not seen:
        msg = f"{method!r} finds nothing to publish, whatever the quasi values are."
        raise NotAchievable(msg)
    told, usual, whole = Fraction(0), Fraction(0), Fraction(0)
    furthest = Fraction(0)
    for shown, worlds in seen.items():
        weight = sum(worlds.values(), Fraction(0))
        for known in set(shown):  # groups that show the same cannot be told apart
            places = [place for place, one in enumerate(shown) if one == known]
            published, listed, _ = known
            told += _likeliest(worlds, places)
            usual += weight * len(places) * _usual(inside[published], len(listed))
            whole += weight * len(places)
            furthest = max(furthest, _learned(worlds, places, listed))
    return Refinement(
        tuple(map(repr, task.requirements)),
        repr(method),
        len(task.coded),
        tables,
        float(told / whole),
        float(usual / whole),
        upward(furthest),
        task.coded.cells,
    )


def _tables(task: Task) -> Iterator[tuple[NDArray[np.int64], Task]]:
    """Yield every table: the combination of quasi values of each row, and what is searched."""
    columns = task.coded.quasi
    every = np.array(list(product(*(range(one.distinct) for one in columns))), np.int32)
    for chosen in product(range(len(every)), repeat=len(task.coded)):
        combined = np.array(chosen)
        quasi = tuple(
            replace(one, codes=np.ascontiguousarray(every[combined, at]))
            for at, one in enumerate(columns)
        )
        yield combined, replace(task, coded=replace(task.coded, quasi=quasi))


def _shown(
    task: Task,
    groups: Groups,
    combined: NDArray[np.int64],
    values: list[int],
    inside: dict[tuple[str, ...], int],
) -> list[tuple[Known, Members]]:
    """Return what a release shows of every group, and who is in it; the order says nothing.

    How many combinations cells cover is noted in `inside`.
    """
    covered = covers(task.coded, task.coded.quasi, groups)
    texts = [cells(one).to_list() for one in covered]
    found = []
    for group in range(len(groups)):
        rows = groups.rows(group).tolist()
        who = tuple(sorted((int(combined[row]), values[row]) for row in rows))
        shown = tuple(text[group] for text in texts)
        if shown not in inside:
            inside[shown] = prod(
                _count_inside(*both, group) for both in zip(task.coded.quasi, covered, strict=True)
            )
        found.append((shown, who))
    listed = [tuple(sorted(value for _, value in who)) for _, who in found]
    nodes = range(len(groups)) if groups.nodes is None else groups.nodes.tolist()
    beside = {
        node: tuple(sorted(one for one, at in zip(listed, nodes, strict=True) if at == node))
        for node in nodes
    }
    every = zip(found, listed, nodes, strict=True)
    return sorted(((shown, own, beside[node]), who) for (shown, who), own, node in every)


def _likeliest(worlds: dict[World, Fraction], places: list[int]) -> Fraction:
    """Return the weight of the likeliest quasi values of groups that show the same."""
    sums: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for world, weight in worlds.items():
        for place in places:
            sums[tuple(sorted(one for one, _ in world[place]))] += weight
    return max(sums.values())


def _usual(combinations: int, members: int) -> Fraction:
    """Return the chance of the likeliest multiset where every combination is equally likely."""
    share, more = divmod(members, combinations)
    ways = factorial(members)
    ways //= factorial(share) ** (combinations - more) * factorial(share + 1) ** more
    return Fraction(ways, combinations**members)


def _learned(worlds: dict[World, Fraction], places: list[int], listed: tuple[int, ...]) -> Fraction:
    """Return how far beliefs about a member's value are from the values of the group, at most."""
    beliefs: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for world, weight in worlds.items():
        for place in places:
            for combination, value in world[place]:
                beliefs[combination][value] += weight
    furthest = Fraction(0)
    for belief in beliefs.values():
        whole = sum(belief.values(), Fraction(0))
        shares = {value: weight / whole for value, weight in belief.items()}
        furthest = max(furthest, variation(shares, listed))
    return furthest


def _count_inside(column: Column, cover: Cover, group: int) -> int:
    """Count the values of a column that the cell of a group covers."""
    if column.tree is not None:
        assert column.places is not None
        own = column.places
    elif column.values is None:
        own = 2 * np.arange(column.distinct) + 1
    else:  # the values of a grid are those of the column, and more
        assert cover.domain.values is not None
        own = 2 * np.searchsorted(cover.domain.values, column.values) + 1
    return int(cover.contains(own, np.full(len(own), group)).sum())
