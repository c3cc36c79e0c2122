"""`Oblivious()` in parts: by row counts, strata, shards and blocks, a reader learns nothing.

Every assignment of the values to the people (or to their rows) of a tiny table is gone through, and
in each of them every way that chance may go. The engine is the product's own; what a reader then
believes, the oracle works out by itself. Methods that look at values where parts are made fail.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from reference import knowing
from shoal.engines import local
from shoal.engines.spark.cuts import Cuts
from shoal.engines.spark.searching import ShardJoining
from shoal.engines.spark.work import ShardFound
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Method, Task
from shoal.methods.oblivious import Dealing
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.table.partition import renumber

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Search = Callable[["Tiny", Task, Any], dict[int, int]]

REFUSED = NotAchievable("Nothing is reached.")


@dataclass
class Chance:
    """Goes every way once: whoever asks gets one of the ways, the next time round another."""

    script: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    likely: Fraction = Fraction(1)

    def choose(self, ways: list[tuple[Any, Fraction]]) -> Any:
        """Return one of several things that have probabilities."""
        place = len(self.asked)
        taken = self.script[place] if place < len(self.script) else 0
        self.asked.append(len(ways))
        self.likely *= ways[taken][1]
        return ways[taken][0]

    def ways(self, act: Callable[[], Any]) -> Iterator[tuple[Any, Fraction]]:
        """Yield what comes of an act, for all ways, but those in which it is refused."""
        left: list[list[int]] = [[]]
        while left:
            self.script, self.asked, self.likely = left.pop(), [], Fraction(1)
            try:
                done = act()
            except NotAchievable:
                done = None
            begun = self.script + [0] * (len(self.asked) - len(self.script))
            for place in range(len(self.script), len(self.asked)):
                left += [[*begun[:place], other] for other in range(1, self.asked[place])]
            if done is not None:
                yield done, self.likely


@pytest.fixture(autouse=True)
def chance(monkeypatch: pytest.MonkeyPatch) -> Chance:
    """Let one script decide how `Oblivious()` goes, and shards come one after the other."""
    drawn = Chance()
    known: dict[Any, dict[tuple[int, ...], Fraction]] = {}

    def outcomes(method: Any, task: Any) -> dict[tuple[int, ...], Fraction]:
        columns = [*(one.codes for one in task.coded.quasi), task.values[0].codes]
        key = (repr(method), *(codes.tobytes() for codes in columns))
        if key not in known:
            alike = known[key] = {}
            for groups, likely in method.outcomes(task):
                labels = tuple(renumber(groups.labels).tolist())
                alike[labels] = alike.get(labels, Fraction(0)) + likely
        return known[key]

    def search(method: Any, task: Any) -> Groups:
        alike = outcomes(method, task)
        if not alike:
            raise REFUSED
        whole = sum(alike.values(), Fraction(0))
        if whole < 1 and drawn.choose([(False, whole), (True, 1 - whole)]):
            raise REFUSED
        found = drawn.choose([(labels, one / whole) for labels, one in alike.items()])
        return Groups(np.array(found))

    monkeypatch.setattr(shoal.methods.Oblivious, "search", search)
    advice = "shoal.engines.people._Search.refusal"  # tries what would work: nothing of it is shown
    monkeypatch.setattr(advice, lambda _, _published, _waiting, reason, _limit: reason)
    monkeypatch.setattr(local, "in_threads", lambda jobs, _watch: [job() for job in jobs])
    return drawn


class Careless(shoal.methods.Oblivious):
    """Looks at who has which value where people are lowered or joined, as other methods do."""

    chooses_rows = True
    divides = Method.divides


def orders_of(coded: Any, chance: Chance, *, by_rows: bool) -> Any:
    """Return what draws the order of rows: of each person's, as no other matters there.

    Where all rows of a person have one value, any order will do: it tells nothing of values.
    """

    def drawn(*counts: int) -> list[np.ndarray]:
        (rows,) = counts
        own = coded.person_of.parts()
        several = [some for some in own if len(some) > 1 and by_rows]
        ways = list(itertools.product(*(itertools.permutations(some) for some in several)))
        order = np.arange(rows)
        for some, moved in zip(
            several, chance.choose([(way, Fraction(1, len(ways))) for way in ways]), strict=True
        ):
            order[some] = moved
        return [order]

    return drawn


@dataclass
class Tiny:
    """People with their rows, and what is asked of them."""

    require: str
    values: list[int]
    counts: list[int] | None = None  # rows of each person; None: no column says whom rows are about
    shard: int | None = None
    block: int | None = None
    by_rows: bool = False  # whether values are those of rows, and not of people
    tied: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def owners(self) -> list[int]:
        """The person of each row."""
        counts = self.counts or [1] * len(self.values)
        return [person for person, count in enumerate(counts) for _ in range(count)]

    def table(self) -> pl.DataFrame:
        """Return the rows, with some value in each."""
        owners = self.owners
        pay = [*self.values, *[self.values[0]] * len(owners)][: len(owners)]
        ages = [3 * owner + 7 * (row % 2) for row, owner in enumerate(owners)]
        if self.tied:
            ages[:3] = [ages[0]] * 3
        return pl.DataFrame(
            {
                "who": [f"p{owner}" for owner in owners],
                "age": ages,
                "zip": [(5 * owner) % 7 for owner in owners],
                "sex": ["f" if owner % 2 else "m" for owner in owners],
                "pay": pay,
            }
        )

    def task(self, chance: Chance) -> Callable[[tuple[int, ...]], Task]:
        """Return the task in which people, or rows, have some values."""
        who: dict[str, Any] = {} if self.counts is None else {"person": "who"}
        quasi = ["age", "zip", *self.more.get("never_mix", [])]
        schema = shoal.Schema(quasi=quasi, sensitive="pay", **who, **self.more)
        coded = code_table(self.table(), schema)
        known = sorted(set(self.values))
        asked = tuple(requirements(self.require, ["pay"]))
        (pay,) = code_table(pl.DataFrame({"pay": known}), shoal.Schema(sensitive="pay")).sensitive
        chances: Any = (
            {}
            if self.counts is None
            else {"orders": orders_of(coded, chance, by_rows=self.by_rows)}
        )

        def made(world: tuple[int, ...]) -> Task:
            given = world if self.by_rows else [world[owner] for owner in self.owners]
            codes = np.array([known.index(value) for value in given], np.int32)
            return Task(replace(coded, sensitive=(replace(pay, codes=codes),)), asked, **chances)

        return made

    def distance(
        self, chance: Chance, method: type[shoal.methods.Oblivious], search: Search
    ) -> tuple[Fraction, int]:
        """Return how far beliefs are from the groups, and in how many ways all was published."""
        task_of, owners, ways = self.task(chance), self.owners, 0

        def publish(world: tuple[int, ...]) -> Iterator[tuple[Any, list[dict[int, Any]], Fraction]]:
            nonlocal ways
            task = task_of(world)
            told = world if self.by_rows else [world[owner] for owner in owners]

            def act() -> Any:
                return search(self, task, method(block=self.block))

            for labels, likely in chance.ways(act):
                ways += 1
                groups: dict[int, dict[int, Any]] = {}
                for row, label in labels.items():
                    held = groups.setdefault(label, {}).setdefault(owners[row], ())
                    unseen = held and not task.coded.rows_known
                    groups[label][owners[row]] = held if unseen else (*held, told[row])
                yield tuple(labels), list(groups.values()), likely

        worlds = sorted(set(itertools.permutations(self.values)))
        return knowing.distance_from_shown(worlds, publish), ways


def here(tiny: Tiny, task: Task, method: Any) -> dict[int, int]:
    """Return the group of each row that is published by this machine."""
    solved, found, _ = shoal.Local(shard=tiny.shard).solve(task, method, Fraction(0))
    assert isinstance(found, Groups)
    return dict(zip(solved.coded.rows.tolist(), found.labels.tolist(), strict=True))


def spread(tiny: Tiny, task: Task, method: Any) -> dict[int, int]:
    """Return the same by cuts, workers and joins as Spark has them, each worker this machine."""
    cuts = Cuts(deals=method.chooses_rows)
    coded = task.coded
    assert tiny.shard is not None
    cuts.grow(coded, np.arange(len(coded)), 1.0, tiny.shard)
    joining = ShardJoining(cuts, method=method)
    leaves = cuts.walk([one.codes for one in coded.quasi], np.zeros(len(coded), np.int64))
    kept: dict[int, dict[int, int]] = {}
    while waiting := joining.waiting():
        found = []
        for number in waiting:
            units = joining.shards[number].units
            rows = np.flatnonzero(np.isin(joining.first[leaves], list(units)))
            try:
                groups = here(Tiny("", []), task.part(rows), method)
            except NotAchievable as problem:
                found.append(ShardFound(number, len(rows), len(rows), problem=str(problem)))
            else:
                found.append(ShardFound(number, len(rows), len(rows), file="there"))
                kept[number] = groups
        joining.take(found, waiting)
    return {
        row: 100 * number + label
        for number in joining.shards
        for row, label in kept[number].items()
    }


CASES = {
    "row counts": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], [2, 2, 1, 1, 1, 1]),
    "three row counts": Tiny("EpsilonM(epsilon=1, m=2)", [1, 1, 5, 5, 9, 9], [3, 3, 2, 2, 1, 1]),
    "too few of a count": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3], [3, 2, 2, 1, 1]),
    "one row of each": Tiny(
        "FrequencyL(l=2)", [1, 1, 2, 2, 3], [2, 1, 1, 1], by_rows=True, more={"most_rows": 1}
    ),
    "at most two rows": Tiny("FrequencyL(l=2)", [1, 1, 2, 3], [3, 2, 1, 1], more={"most_rows": 2}),
    "rows unknown": Tiny("FrequencyL(l=2)", [1, 1, 2, 2], [2, 2, 1, 1], more={"rows": "unknown"}),
    "shards": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], shard=3),
    "shards that are cut": Tiny("FrequencyL(l=2)", [1, 2, 3, 4, 5], shard=3),
    "shards with ties": Tiny("FrequencyL(l=2)", [1, 1, 1, 2, 2, 3], shard=2, tied=True),
    "larger shards with ties": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], shard=3, tied=True),
    "shards and near values": Tiny("EpsilonM(epsilon=1, m=2)", [1, 2, 5, 6, 9, 9], shard=3),
    "shards and blocks": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], shard=4, block=2),
    "shards of people": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], [1, 1, 1, 1, 2, 2], shard=2),
    "never mixed": Tiny("FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], more={"never_mix": ["sex"]}),
    "never mixed with ties": Tiny(
        "FrequencyL(l=2)", [1, 1, 2, 2, 3, 4], tied=True, more={"never_mix": ["sex"]}
    ),
    "never mixed people": Tiny(
        "FrequencyL(l=2)", [1, 1, 2, 2, 3, 3], [3, 3, 2, 2, 2, 2], more={"never_mix": ["sex"]}
    ),
}  # fmt: skip
LEAKY = ("row counts", "three row counts", "shards", "shards and near values")
SPREAD = ("shards", "shards and near values", "larger shards with ties")


@pytest.mark.few(8)
@pytest.mark.parametrize("case", CASES)
def test_a_reader_who_knows_the_method_learns_nothing_from_parts(case, chance):
    distance, ways = CASES[case].distance(chance, shoal.methods.Oblivious, here)
    assert distance == 0
    assert ways >= 8


@pytest.mark.parametrize("case", SPREAD)
def test_nor_from_the_shards_of_many_machines(case, chance):
    distance, ways = CASES[case].distance(chance, shoal.methods.Oblivious, spread)
    assert distance == 0
    assert ways >= 8


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("case", "search"), [*((case, here) for case in LEAKY), *((case, spread) for case in SPREAD)]
)
def test_parts_that_are_made_by_values_tell_more(case, search, chance):
    """The check can fail: with decisions by who has which value, beliefs are not the groups'."""
    distance, _ = CASES[case].distance(chance, Careless, search)
    assert distance > 0


@pytest.mark.parametrize("seed", range(30))
def test_shards_are_cut_whoever_has_which_value_and_hold_then(seed):
    draw = np.random.default_rng(seed)
    rows, m = int(draw.integers(6, 60)), int(draw.integers(2, 4))
    values = draw.integers(0, 3 * rows, rows)
    method, asked = (
        shoal.methods.Oblivious(),
        tuple(requirements(f"EpsilonM(epsilon=2, m={m})", ["pay"])),
    )
    schema = shoal.Schema(quasi="age", sensitive="pay")
    halves = np.split(np.arange(rows), [int(draw.integers(1, rows))])
    said = set()
    for _ in range(8):
        table = pl.DataFrame({"age": range(rows), "pay": draw.permutation(values)})
        task = Task(code_table(table, schema), asked)
        divided = method.divides(task, halves, lambda _: None)
        said.add(divided)
        for half in halves if divided else ():
            measure = Dealing.of(task.part(half), "Oblivious()")
            ranked = np.sort(table["pay"].to_numpy()[half])
            most = max(np.searchsorted(ranked, ranked + 2, "right") - np.arange(len(half)))
            groups = [len(half) // size for size in measure.sizes]
            assert any(most <= w * g for w, g in zip(measure.widths, groups, strict=True) if g)
    assert len(said) == 1


def test_a_shard_that_cannot_hold_ends_it_where_values_may_not_join_people():
    table = pl.DataFrame({"age": range(8), "pay": [1, 1, 1, 1, 2, 3, 4, 5]})
    coded = code_table(table, shoal.Schema(quasi="age", sensitive="pay"))
    cuts = Cuts()
    cuts.grow(coded, np.arange(8), 1.0, 4)
    joining = ShardJoining(cuts, method=shoal.methods.Oblivious())
    first, second = joining.waiting()
    wrong = ShardFound(first, 4, 4, problem="Too many values are near.")
    with pytest.raises(
        NotAchievable, match=r"near\. Oblivious\(\) does not join .*Spark\(shard=8\)"
    ):
        joining.take([wrong, ShardFound(second, 4, 4, file="there")], [first, second])


def test_rows_at_one_place_stay_together_where_values_may_not_deal_them():
    table = pl.DataFrame({"age": [1] * 40, "pay": range(40)})
    coded = code_table(table, shoal.Schema(quasi="age", sensitive="pay"))
    for deals in (True, False):
        cuts = Cuts(deals=deals)
        cuts.grow(coded, np.arange(40), 1.0, 10)
        assert cuts.dealt == [4 if deals else 1]


def test_leaving_out_people_is_refused_however_they_are_searched():
    table = Tiny("", [1, 2, 3, 4], [1, 1, 1, 1]).table()
    ways: list[tuple[dict[str, Any], str | None]]
    ways = [({"person": "who"}, None), ({}, "Local(shard=2)")]
    for said, engine in ways:
        schema = shoal.Schema(quasi=["age", "zip"], sensitive="pay", **said)
        with pytest.raises(UsageError, match="does not remove rows"):
            shoal.anonymize(
                table, schema, require="FrequencyL(l=2)", method="Oblivious()",
                suppress="20%", engine=engine,
            )  # fmt: skip


def test_people_who_cannot_hold_by_themselves_are_named_with_what_would_work(monkeypatch):
    monkeypatch.undo()
    table = Tiny("", [1, 1, 2, 2, 3, 3], [2, 2, 1, 1, 1, 1]).table()
    schema = shoal.Schema(quasi=["age", "zip"], sensitive="pay", person="who")
    pay = [[1, 1, 2, 2, 3, 3][int(who[1:])] for who in table["who"]]
    with pytest.raises(
        NotAchievable, match=r"does not choose by their values .*most_rows='1' works"
    ):
        shoal.anonymize(
            table.with_columns(pay=pl.Series(pay)), schema, require="FrequencyL(l=2)",
            method="Oblivious()",
        )  # fmt: skip
