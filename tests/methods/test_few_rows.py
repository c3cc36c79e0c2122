"""On tables of at most nine rows nothing that exists is missed, whatever is required together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from reference import distribution, partitions, population, proximity
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Task
from shoal.methods.exhaustive import Partitions
from shoal.notation import known_terms
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.table.people import code_people

HALF = Fraction(1, 2)


def most(values) -> int:
    return max(values.count(value) for value in values)


def near_others(values, epsilon) -> int:
    return max(sum(abs(u - v) <= epsilon for u in values) for v in values) - 1


def shares(group, table) -> tuple[list[Fraction], list[Fraction]]:
    domain = sorted(set(table))
    return distribution.shares(group, domain), distribution.shares(table, domain)


# What is asked of a column of small integers, with what it means for a group g of a table t.
JUDGES = {
    "KAnonymity(k=2)": lambda g, _: len(g) >= 2,
    "KAnonymity(k=4)": lambda g, _: len(g) >= 4,
    "EpsilonM(epsilon=1, m=2)": lambda g, _: proximity.holds(g, "absolute", 2, epsilon=1),
    "EpsilonM(epsilon=0, m=3)": lambda g, _: proximity.holds(g, "absolute", 3, epsilon=0),
    "EpsilonM(epsilon=0.5, m=2, relative=True)": lambda g, _: proximity.holds(
        g, "relative", 2, epsilon=0.5
    ),
    "Neighbourhood(below=1, above=2, m=2)": lambda g, _: proximity.holds(
        g, "general", 2, below=1, above=2
    ),
    "DeltaL(delta=0.5, l=2)": lambda g, _: proximity.holds(g, "delta-l", 2, delta=0.5),
    "Window(width=1, m=2)": lambda g, _: proximity.holds(g, "window", 2, width=1),
    "Dissimilarity(epsilon=1, delta=0.5, k=2, distance=Absolute())": lambda g, _: (
        len(g) >= 2 and near_others(g, 1) <= HALF * (len(g) - 1)
    ),
    "Dissimilarity(epsilon=0, delta=0.9, k=3, distance=Absolute())": lambda g, _: (
        len(g) >= 3 and near_others(g, 0) <= Fraction(1, 10) * (len(g) - 1)
    ),
    "MUniqueness(m=2)": lambda g, _: len(g) >= 2 and most(g) == 1,
    "MUniqueness(m=3)": lambda g, _: len(g) >= 3 and most(g) == 1,
    "FrequencyL(l=2)": lambda g, _: 2 * most(g) <= len(g),
    "AlphaK(alpha=0.4, k=3)": lambda g, _: len(g) >= 3 and 5 * most(g) <= 2 * len(g),
    "DistinctL(l=2)": lambda g, _: len(set(g)) >= 2,
    "DistinctL(l=3)": lambda g, _: len(set(g)) >= 3,
    "EntropyL(l=2)": lambda g, _: distribution.entropy_at_least(g, Fraction(2)),
    "RecursiveCL(c=2, l=2)": lambda g, _: distribution.recursive(g, Fraction(2), 2),
    "TCloseness(t=0.3)": lambda g, t: distribution.equal_distance(*shares(g, t)) <= Fraction(3, 10),
    "TCloseness(t=0.25, ground='ordered')": lambda g, t: (
        distribution.ordered_distance(*shares(g, t)) <= Fraction(1, 4)
    ),
    "DeltaDisclosure(delta=0.8)": lambda g, t: distribution.delta_disclosure(*shares(g, t), "0.8"),
    "BetaLikeness(beta=1)": lambda g, t: distribution.beta_likeness(
        *shares(g, t), "1", enhanced=False
    ),
    "BetaLikeness(beta=1, enhanced=True)": lambda g, t: distribution.beta_likeness(
        *shares(g, t), "1", enhanced=True
    ),
    "KE(k=2, e=3)": lambda g, _: len(set(g)) >= 2 and max(g) - min(g) >= 3,
    "Variance(at_least=1.5)": lambda g, _: distribution.variance(g) >= Fraction(3, 2),
    "Chain(epsilon=1, m=2)": lambda g, _: proximity.holds(g, "chain", 2, epsilon=1),
}
METHODS = (None, "Exchange()", "Split()", "Mondrian()", "Mondrian(split='least-loss')")
SCHEMA = shoal.Schema(quasi=["q", "r"], sensitive=["s0", "s1"])


def drawn(random: np.random.Generator, rows: int) -> pl.DataFrame:
    spread = int(random.integers(2, 8))
    return pl.DataFrame(
        {
            "q": random.integers(-5, 6, rows),
            "r": random.choice(list("abc"), rows),
            "s0": random.integers(0, spread, rows),
            "s1": random.integers(0, spread, rows),
        }
    )


def asked(random: np.random.Generator) -> list[tuple[str, str]]:
    """One to three requirements, each of a column of its own or not."""
    texts = random.choice(list(JUDGES), int(random.integers(1, 4)), replace=False)
    return [(str(random.choice(["s0", "s1"])), str(text)) for text in texts]


def judge(table: pl.DataFrame, require: list[tuple[str, str]]):
    columns = table.to_dict(as_series=False)

    def holds(group: tuple[int, ...]) -> bool:
        return all(
            JUDGES[text]([columns[name][row] for row in group], columns[name])
            for name, text in require
        )

    return holds


def test_every_principle_is_among_those_asked_for():
    judged = {text.split("(")[0] for text in JUDGES} | {"KMap", "DeltaPresence"}
    assert judged == {name for name, term in known_terms().items() if term.role == "requirement"}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(10))
def test_whatever_exists_is_found(seed):
    random = np.random.default_rng(seed)
    existing = 0
    for _ in range(25):
        table = drawn(random, int(random.choice([1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9])))
        require = asked(random)
        exists = partitions.exists(table.height, judge(table, require))
        existing += exists
        named = [f"{name}: {text}" for name, text in require]
        for method in METHODS if exists else METHODS[:1]:
            try:
                release = shoal.anonymize(table, SCHEMA, require=named, method=method)
            except UsageError:
                assert method is not None, named
            except NotAchievable:
                assert not exists, (named, method, table.rows())
            else:
                assert exists
                assert release.audit().holds
    assert 0 < existing < 25  # both answers are tried


def test_what_the_whole_table_and_no_cut_of_it_keeps_is_found():
    table = pl.DataFrame({"q": [-5, 5, -2, -3], "s0": ["c", "ä", "c", "ä"], "s1": [1, 1, 3, 2]})
    schema = shoal.Schema(quasi="q", sensitive=["s0", "s1"])
    require = ["s0: MUniqueness(m=2)", "s1: DistinctL(l=2)"]
    release = shoal.anonymize(table, schema, require=require)
    assert release.manifest.groups == 2
    assert release.audit().holds


@pytest.mark.parametrize("seed", range(20))
def test_of_all_partitions_the_one_of_least_loss(seed):
    random = np.random.default_rng(seed)
    table = drawn(random, int(random.integers(2, 8)))
    require = asked(random)
    task = Task(
        code_table(table, SCHEMA),
        tuple(requirements([f"{name}: {text}" for name, text in require], SCHEMA.sensitive)),
    )
    numbers, labels = table["q"].to_list(), table["r"].to_list()
    extent, kinds = max(numbers) - min(numbers), len(set(labels))

    def loss(group: tuple[int, ...]) -> float:
        q, r = [numbers[row] for row in group], {labels[row] for row in group}
        wide = (max(q) - min(q)) / extent if extent else 0
        return len(group) * (wide + (len(r) - 1) / max(kinds - 1, 1))

    wanted = partitions.least_loss(table.height, judge(table, require), loss)
    found = Partitions(task).best()
    assert (found is None) == (wanted is None)
    if found is not None:
        parts = [tuple(np.flatnonzero(found.labels == g).tolist()) for g in range(len(found))]
        assert sum(map(loss, parts)) == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(6))
def test_a_population_is_heeded(seed):
    """`DeltaPresence` is about descriptions, which must not overlap, so partitions are compared."""
    random = np.random.default_rng(seed)
    existing = 0
    for _ in range(12):
        table = drawn(random, int(random.integers(2, 7)))
        strangers = drawn(random, int(random.integers(0, 8)))
        everybody = pl.concat([table, strangers]).select("q", "r")
        name, text = asked(random)[0]
        low, high = [("0", "0.8"), ("0.5", "1"), ("0.3", "0.7")][int(random.integers(3))]
        k = int(random.integers(1, 4))
        holds = judge(table, [(name, text)])
        cells, people = table.select("q", "r").rows(), everybody.rows()
        kinds = ("interval", "set")

        def fits(
            parts, *, holds=holds, cells=cells, people=people, low=low, high=high, k=k, kinds=kinds
        ) -> bool:
            shown = [[cells[row] for row in part] for part in partitions.descriptions(parts, cells)]
            return (
                all(map(holds, parts))
                and all(population.k_map(group, kinds, people, k) for group in shown)
                and all(population.presence(group, kinds, people, low, high) for group in shown)
                and all(
                    sum(population.matches(group, kinds, person) for group in shown) <= 1
                    for person in people
                )
            )

        exists = any(map(fits, proximity.set_partitions(range(table.height))))
        existing += exists
        require = [f"{name}: {text}", f"DeltaPresence(low={low}, high={high})", f"KMap(k={k})"]
        try:
            release = shoal.anonymize(table, SCHEMA, require=require, population=everybody)
        except NotAchievable:
            assert not exists, (require, table.rows(), people)
        else:
            assert exists
            assert release.audit().holds
    assert existing


def test_people_are_coded_as_the_search_asks_for_them():
    table = pl.DataFrame({"q": [1, 2, 9], "r": ["a", "a", "b"], "s0": [1, 2, 3], "s1": [1, 1, 1]})
    coded = code_table(table, SCHEMA)
    task = Task(
        coded,
        tuple(requirements("KMap(k=2)", SCHEMA.sensitive)),
        population=code_people(table.select("q", "r"), coded),
    )
    assert Partitions(task).matching[0b011] == (True, True, False)
    assert Partitions(task).matching[0b111] == (True, True, True)
