"""Oblivious grouping: equal to its definition, and of no use to a reader who knows it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from reference import knowing, oblivious
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Task
from shoal.methods.oblivious import Dealing
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from tables import frame, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

SIX = shoal.Schema(quasi=["age", "zip"], sensitive="salary")


def coordinates(cells: list) -> list[float]:
    """Return where the cells of a column stand: numbers by size, labels by rank."""
    if isinstance(cells[0], str):
        known = sorted(set(cells))
        return [known.index(cell) / max(len(known) - 1, 1) for cell in cells]
    scale = max(1.0, *(abs(float(cell)) for cell in cells))
    low, high = min(cells) / scale, max(cells) / scale
    return [(cell / scale - low) / (high - low) if high > low else 0.0 for cell in cells]


def floors(share: Fraction) -> Any:
    return lambda size: math.floor(size * share)


def kinds(x: int, m: int) -> dict[str, tuple[Any, Any]]:
    """Return principles as text, who is near whom by them, and how many may be."""
    one = Fraction(1, m)
    others = Fraction(m, 5)

    def dissimilar(size: int) -> int:
        return 1 + math.floor((size - 1) * (1 - others))

    return {
        f"EpsilonM(epsilon={x}, m={m})": (lambda u, v: abs(u - v) <= x, floors(one)),
        f"EpsilonM(epsilon=0.{x}, m={m}, relative=True)": (
            lambda u, v: abs(u - v) * 10 <= x * abs(v), floors(one)),
        f"Neighbourhood(below={x}, above=1, m={m})": (
            lambda u, v: v - x <= u <= v + 1, floors(one)),
        f"DeltaL(delta={x / 2}, l={m})": (lambda u, v: abs(u - v) <= x, floors(one)),
        f"Window(width={x}, m={m})": (lambda u, v: v <= u <= v + x, floors(one)),
        f"FrequencyL(l={m})": (lambda u, v: u == v, floors(one)),
        f"AlphaK(alpha=0.{9 - x}, k={m})": (
            lambda u, v: u == v, floors(Fraction(9 - x, 10))),
        f"Dissimilarity(epsilon={x}, delta={m / 5}, k={m}, distance=Absolute())": (
            lambda u, v: abs(u - v) <= x, dissimilar),
        f"Dissimilarity(epsilon={x}, delta={m / 5}, k={m}, distance=Lp(scale='none'))": (
            lambda u, v: abs(u - v) <= x, dissimilar),
        f"Dissimilarity(epsilon=0.5, delta={m / 5}, k={m}, distance=Equality())": (
            lambda u, v: u == v, dissimilar),
    }  # fmt: skip


def drawn(random: Random) -> dict[str, list]:
    """Return a table with ties, duplicates and remainders."""
    rows, top = random.randint(1, 30), random.choice([3, 12, 40])
    return {
        "age": [random.randint(0, 9) for _ in range(rows)],
        "zip": [random.choice([1.5, 2, 10, 400]) for _ in range(rows)],
        "job": [random.choice("abcde") for _ in range(rows)],
        "salary": [random.randint(0, top) for _ in range(rows)],
    }


@pytest.mark.parametrize("seed", range(300))
def test_groups_are_those_of_the_definition_and_hold(seed):
    random = Random(seed)
    table = drawn(random)
    x, m, k = random.randint(0, 4), random.randint(1, 4), random.randint(1, 9)
    kind, block = seed % 10, random.choice([None, None, 5, 9])
    text, (near, allowed) = list(kinds(x, m).items())[kind]
    rows = len(table["age"])
    cuts, ties = (random.sample(range(rows), rows) for _ in range(2))
    asked = tuple(requirements([text, f"KAnonymity(k={k})"], ["salary"]))
    task = Task(code_table(frame(table), schema()), asked)
    points = list(zip(*(coordinates(table[name]) for name in ("age", "zip", "job")), strict=True))
    sizes = oblivious.choices(table["salary"], near, task.least, allowed)
    wanted = oblivious.groups(
        points, table["salary"], near, sizes, cuts, ties, max(1, rows // (block or rows))
    )
    least = max(task.least, k)
    holds = all(
        len(members) >= least
        and all(
            sum(near(table["salary"][u], table["salary"][v]) for u in members)
            <= allowed(len(members))
            for v in members
        )
        for members in wanted
    )
    method = shoal.methods.Oblivious(block=block)
    task = replace(task, orders=lambda *_: [np.array(cuts), np.array(ties)])
    if not holds:
        with pytest.raises(NotAchievable, match=r"cannot reach"):
            method.search(task)
        return
    labels = method.search(task).labels
    found = {frozenset(np.flatnonzero(labels == g).tolist()) for g in set(labels.tolist())}
    assert found == wanted


def small(seed: int, rows: int = 6, *, tied: int = 0, top: int = 12) -> pl.DataFrame:
    """Return a table of a few people, some of whom share an age and a salary."""
    random = np.random.default_rng(seed)
    ages = random.permutation(rows) * 3
    ages[:tied] = ages[0]
    return pl.DataFrame(
        {
            "age": ages,
            "zip": random.permutation(rows) ** 2,
            "salary": random.integers(0, top, rows),
        }
    )


def outcomes(
    table: pl.DataFrame,
    require: str,
    method: Any,
    known: shoal.Schema = SIX,
    cells: str = "tight",
) -> Any:
    """Return what a method may make of the people when they have other salaries."""

    coded = replace(code_table(table, known), cells=cells)
    (salaries,) = coded.sensitive
    asked = tuple(requirements(require, ["salary"]))

    def made(world: tuple[int, ...]) -> list[tuple[list[int], Fraction]]:
        codes = np.searchsorted(salaries.numbers, world).astype(np.int32)
        task = Task(replace(coded, sensitive=(replace(salaries, codes=codes),)), asked)
        return [(groups.labels.tolist(), chance) for groups, chance in method.outcomes(task)]

    return made


EXHAUSTIVE = [
    ("EpsilonM(epsilon=1, m=2)", None, 0, 12),
    ("EpsilonM(epsilon=1, m=2)", None, 3, 12),
    ("EpsilonM(epsilon=2, m=2)", None, 0, 20),
    ("EpsilonM(epsilon=0, m=3)", None, 0, 6),
    ("EpsilonM(epsilon=0, m=2)", None, 2, 4),
    ("EpsilonM(epsilon=1, m=2)", 3, 0, 8),
    ("EpsilonM(epsilon=1, m=2)", 2, 2, 9),
    ("Window(width=1, m=2)", None, 0, 9),
    ("Window(width=1, m=2)", 3, 0, 7),
    ("FrequencyL(l=2)", None, 2, 3),
    ("FrequencyL(l=2)", 2, 0, 3),
    ("AlphaK(alpha=0.7, k=2)", None, 0, 2),
    ("AlphaK(alpha=0.4, k=2)", None, 0, 4),
    ("Neighbourhood(below=2, above=0, m=2)", None, 0, 12),
    ("Dissimilarity(epsilon=1, delta=0.6, k=3, distance=Absolute())", None, 0, 9),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("require", "block", "tied", "top"), EXHAUSTIVE)
def test_a_reader_who_knows_the_method_learns_nothing(require, block, tied, top):
    """Over all assignments, with every tie cut in every way: exactly nothing."""
    method = shoal.methods.Oblivious(block=block)
    for seed in range(40):
        table = small(seed, tied=tied, top=top)
        salaries = table["salary"].to_list()
        made = outcomes(table, require, method)
        if any(made(tuple(np.random.default_rng(s).permutation(salaries))) for s in range(3)):
            assert knowing.distance_from_uniform(salaries, made) == 0
            return
    pytest.fail("No table was tried.")


@pytest.mark.parametrize("root", [2, 3])
def test_prior_odds_within_the_root_are_enough(root):
    """Over priors whose odds between two values of a person are the root: c bounds every belief.

    The worst one is among them, and the bound is reached: odds of c themselves would be too many.
    """
    table = small(3, top=40)
    salaries = table["salary"].to_list()
    made = outcomes(table, "EpsilonM(epsilon=1, m=2)", shoal.methods.Oblivious())
    known = {world: made(world) for world in itertools.permutations(salaries)}
    bound = shoal.principles.EpsilonM(epsilon=1, m=2).at_odds(Fraction(root**2))
    random, most = Random(5), Fraction(0)
    for draw in range(8):
        favoured = salaries if not draw else [random.choice(salaries) for _ in salaries]

        def prior(world, favoured=favoured):
            return Fraction(root) ** sum(map(int.__eq__, world, favoured))

        for groups, beliefs, _ in knowing.posteriors(salaries, known.__getitem__, prior):
            for people, _values in groups:
                for person, value in itertools.product(people, salaries):
                    near = (b for u, b in beliefs[person].items() if abs(u - value) <= 1)
                    most = max(most, sum(near, Fraction(0)))
    assert most == bound == Fraction(root**2, root**2 + 1)


def test_blocks_promise_about_each_person_alone():
    """Of one person nothing is learned; who knows one of a block is certain of the other."""
    table = pl.DataFrame({"age": [0, 1, 50, 51], "zip": [0, 1, 50, 51], "salary": [0, 0, 5, 5]})
    made = outcomes(table, "FrequencyL(l=2)", shoal.methods.Oblivious(block=2))
    assert knowing.distance_from_uniform(table["salary"].to_list(), made) == 0
    pooled = [
        world
        for world in set(itertools.permutations(table["salary"].to_list()))
        if any(len({*labels}) == 1 for labels, _ in made(world))
    ]
    assert sorted(pooled) == [(0, 0, 5, 5), (5, 5, 0, 0)]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("require", "tied", "top"),
    [
        ("EpsilonM(epsilon=1, m=2)", 3, 12),
        ("EpsilonM(epsilon=0, m=2)", 2, 4),
    ],
)
def test_regions_leave_a_reader_who_knows_the_method_with_nothing(require, tied, top):
    """Cuts that divide no ties lie where quasi values and sizes say, whoever has which value."""
    for seed in range(60):
        table = small(seed, tied=tied, top=top)
        salaries = table["salary"].to_list()
        made = outcomes(table, require, shoal.methods.Oblivious(), cells="regions")
        if max((len({*labels}) for labels, _ in made(tuple(salaries))), default=0) > 1:
            assert knowing.distance_from_uniform(salaries, made) == 0
            return
    pytest.fail("No table was divided.")


def with_nodes(table: pl.DataFrame, require: str) -> Any:
    """Return what the method may make of people with other salaries, nodes included."""
    coded = code_table(table, SIX)
    (column,) = coded.sensitive
    asked = tuple(requirements(require, ["salary"]))

    def made(world: tuple[int, ...]) -> Iterator[tuple[list[int], list[int], Fraction]]:
        codes = np.searchsorted(column.numbers, world).astype(np.int32)
        task = Task(replace(coded, sensitive=(replace(column, codes=codes),)), asked)
        for groups, chance in shoal.methods.Oblivious().outcomes(task):
            assert groups.nodes is not None
            yield groups.labels.tolist(), groups.nodes[groups.labels].tolist(), chance

    return made


@pytest.mark.parametrize(
    ("require", "salaries"),
    [
        ("EpsilonM(epsilon=0, m=2)", [0, 0, 1, 1, 2, 2, 3, 3]),
        ("EpsilonM(epsilon=1, m=2)", [0, 1, 9, 20, 30, 40, 50, 60]),
        ("FrequencyL(l=2)", [0, 0, 1, 1, 2, 3, 4, 5]),
    ],
)
def test_groups_and_nodes_together_leave_every_pairing_as_likely(require, salaries):
    """So estimates need no correction for how groups were formed, and `node` tells nothing."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        world = tuple(random.permutation(salaries).tolist())
        table = small(seed, rows=8).with_columns(salary=pl.Series(world))
        made = with_nodes(table, require)
        groups, nodes, _ = next(iter(made(world)), ([], [], 0))
        if 1 < len({*nodes}) < len({*groups}):
            assert knowing.pairings_alike(world, made)
            return
    pytest.fail("No table was cut into nodes of several groups.")


def test_the_oracle_sees_a_node_that_follows_values():
    def telling(world):
        yield [0, 0, 1, 1], [0, 0, int(world[0] > world[1]), int(world[0] > world[1])], Fraction(1)

    assert not knowing.pairings_alike((1, 2, 3, 4), telling)


def test_remainders_are_safe_too():
    table = small(1, rows=5, top=9)
    made = outcomes(table, "EpsilonM(epsilon=1, m=2)", shoal.methods.Oblivious())
    assert knowing.distance_from_uniform(table["salary"].to_list(), made) == 0


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("method", "require", "exceeds"),
    [
        ("Exchange()", "EpsilonM(epsilon=1, m=2)", True),
        ("Split()", "EpsilonM(epsilon=1, m=2)", True),
        ("Split(partition='round-robin')", "EpsilonM(epsilon=1, m=2)", False),
        ("XColor()", "EpsilonM(epsilon=1, m=2)", True),
        ("Mondrian()", "Window(width=1, m=2)", False),
    ],
)
def test_other_methods_give_something_away(method, require, exceeds):
    """The check can fail: it finds what methods that look at values tell."""
    found = shoal.measures.minimality(small(4), SIX, require=require, method=method)
    assert found.distance > 0.1
    assert found.exceeded is not None
    assert (found.exceeded > 0) == exceeds
    assert "learns more than the groups show" in found.sentence


def test_what_is_measured_is_what_the_definition_says():
    table = small(4)
    salaries = table["salary"].to_list()
    found = shoal.measures.minimality(
        table, SIX, require="EpsilonM(epsilon=1, m=2)", method="Split()"
    )
    made = outcomes(table, "EpsilonM(epsilon=1, m=2)", shoal.methods.Split())
    worst, often = knowing.exceeded(salaries, made, lambda u, v: abs(u - v) <= 1, Fraction(1, 2))
    assert found.worst == pytest.approx(float(worst))
    assert found.exceeded == pytest.approx(float(often))
    assert found.distance == pytest.approx(float(knowing.distance_from_uniform(salaries, made)))


def test_ties_dealt_in_the_order_of_the_table_would_give_something_away():
    """Chance is needed, and the check sees when it is lacking."""

    class Careless(shoal.methods.Oblivious):
        def outcomes(self, task):
            order = np.arange(len(task.coded))
            yield self.group(task, Dealing.of(task, repr(self)), order, order), Fraction(1)

    table = small(1, top=3)
    salaries = table["salary"].to_list()
    made = outcomes(table, "FrequencyL(l=2)", Careless())
    assert knowing.distance_from_uniform(salaries, made) > 0
    made = outcomes(table, "FrequencyL(l=2)", shoal.methods.Oblivious())
    assert knowing.distance_from_uniform(salaries, made) == 0


@pytest.mark.parametrize(
    ("require", "reason"),
    [
        (["EpsilonM(epsilon=1, m=2)", "FrequencyL(l=2)"], "one requirement beside KAnonymity"),
        (["KAnonymity(k=2)"], "needs a requirement about near values"),
        (["EntropyL(l=2)"], "not about near values"),
        (["Dissimilarity(epsilon=1, delta=0.5, k=2, distance=Edit())"], "gives them none"),
    ],
)
def test_what_it_cannot_keep_is_refused_with_the_reason(require, reason):
    table = small(1).with_columns(salary=pl.Series([11, 12, 22, 33, 44, 55]))
    with pytest.raises(UsageError, match=reason):
        shoal.anonymize(table, SIX, require=require, method="Oblivious()")


def test_leaving_out_rows_is_refused():
    with pytest.raises(UsageError, match="does not remove rows"):
        shoal.anonymize(
            small(1, top=40), SIX, require="FrequencyL(l=2)", method="Oblivious()", suppress="1%"
        )


def test_classes_of_an_equivalence_are_dealt():
    labels = ("a1", "a2", "b1", "b2", "c1", "c2")
    paths = tuple((label, label[0], "*") for label in labels)
    table = pl.DataFrame({"age": range(12), "job": [path[0] for path in paths] * 2})
    known = shoal.Schema(quasi="age", sensitive="job")
    near = shoal.principles.Dissimilarity(
        epsilon=0.5, delta=1, k=3, distance=shoal.distances.Hierarchical(levels=paths)
    )
    release = shoal.anonymize(table, known, require=near, method=shoal.methods.Oblivious())
    assert release.audit().holds
    for _, members in release.table.group_by("group"):
        assert members["job"].str.slice(0, 1).n_unique() == 3


def test_chance_comes_from_the_system_and_a_seed_repeats_it():
    table = pl.DataFrame({"age": [1] * 40, "salary": range(40)})
    known = shoal.Schema(quasi="age", sensitive="salary")

    def groups(**chosen: Any) -> list[list[int]]:
        release = shoal.anonymize(
            table, known, require="EpsilonM(epsilon=1, m=2)", method="Oblivious()", **chosen
        )
        return sorted(release.table.group_by("group").agg("salary")["salary"].list.sort().to_list())

    assert groups(seed=1) == groups(seed=1)
    assert groups() != groups()


def test_public_weights_decide_where_it_cuts():
    table = pl.DataFrame({"age": range(8), "zip": [0, 7, 1, 6, 2, 5, 3, 4], "salary": range(8)})
    asked = tuple(requirements("EpsilonM(epsilon=0, m=2)", ["salary"]))
    spans = {}
    for name in ("age", "zip"):
        weights = {"age": 9.0, "zip": 1.0} if name == "age" else {"age": 1.0, "zip": 9.0}
        task = Task(code_table(table, replace_weights(weights)), asked)
        groups = shoal.methods.Oblivious().search(task)
        spans[name] = [
            max(members) - min(members)
            for g in range(len(groups))
            for members in [table["age"].to_numpy()[groups.labels == g]]
        ]
    assert sum(spans["age"]) < sum(spans["zip"])


def replace_weights(weights: dict[str, float]) -> shoal.Schema:
    return shoal.Schema(quasi=["age", "zip"], sensitive="salary", weights=weights)


def test_larger_groups_are_tried_where_they_allow_more():
    """(α,k) with α = 0.4: of five rows two may be alike, though of three only one may."""
    salaries = [0] * 4 + [1] * 3 + [2] * 3
    table = pl.DataFrame({"age": range(10), "zip": range(10), "salary": salaries})
    asked = tuple(requirements("AlphaK(alpha=0.4, k=1)", ["salary"]))
    task = Task(code_table(table, SIX), asked)
    measure = Dealing.of(task, "Oblivious()")
    assert list(zip(measure.sizes.tolist(), measure.widths.tolist(), strict=True)) == [
        (3, 1),
        (5, 2),
    ]
    groups = shoal.methods.Oblivious().search(task)
    assert sorted(groups.sizes.tolist()) == [5, 5]
    assert task.holds(Groups(groups.labels))


def test_only_few_rows_can_be_gone_through():
    with pytest.raises(UsageError, match="at most 8 rows"):
        shoal.measures.minimality(
            small(1, rows=9), SIX, require="FrequencyL(l=2)", method="Oblivious()"
        )
