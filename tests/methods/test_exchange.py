"""Exchange and XColor as methods: what they return holds by the oracle's count."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from reference import proximity
from shoal.errors import NotAchievable, TooCrowded, UsageError
from shoal.methods import passes
from shoal.methods.base import Task
from shoal.methods.exchange import halved
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from tables import frame, schema, tables

PAIR: dict[str, list] = {"age": [1, 2], "zip": [1, 2], "job": ["a", "b"], "salary": [1, 2]}


def search(table, require, method, sensitive=("salary",)):
    coded = code_table(
        frame(table), shoal.Schema(quasi=["age", "zip", "job"], sensitive=list(sensitive))
    )
    return method.search(Task(coded, tuple(requirements(require, list(sensitive)))))


def members(groups):
    return [np.flatnonzero(groups.labels == g).tolist() for g in range(len(groups))]


@given(tables(most=60), st.integers(0, 6), st.integers(1, 4), st.booleans())
def test_exchange_reaches_every_achievable_epsilon_m(table, epsilon, m, relative):
    kind, width = ("relative", epsilon / 8) if relative else ("absolute", epsilon)
    assume(proximity.generalizable(table["salary"], kind, m, epsilon=width))
    require = shoal.principles.EpsilonM(epsilon=width, m=m, relative=relative)
    for rows in members(search(table, require, shoal.methods.Exchange())):
        assert proximity.holds([table["salary"][r] for r in rows], kind, m, epsilon=width)


def heaped(seed: int, rows: int) -> pl.DataFrame:
    """Return rows in heaps of equal ones and far outliers, with people who have one to three."""
    rng = np.random.default_rng(seed)
    heap = rng.integers(0, 40, rows) * (rng.random(rows) < 0.6)
    outlying = np.where(rng.random(rows) < 0.02, 500, 1)
    return pl.DataFrame(
        {
            "who": np.sort(rng.integers(0, rows // 2, rows)),
            "age": heap * outlying,
            "job": [f"j{number}" for number in heap // 4 % 7],
            "town": [f"t{number}" for number in heap % 8],
            "salary": (rng.pareto(2.0, rows) * 50).astype(int),
            "hours": rng.integers(0, 12, rows),
        }
    )


TOWNS = {"north": ["t0", "t1", "t2"], "south": ["t3", "t4"], "west": ["t5", "t6", "t7"]}
DIFFERING = [
    ({"salary": ("absolute", 5, 3)}, 3),
    ({"salary": ("relative", 0.1, 2)}, 2),
    ({"salary": ("absolute", 3, 2), "hours": ("absolute", 0, 4)}, 4),
    ({}, 5),
]


@pytest.mark.parametrize(("asked", "least"), DIFFERING)
def test_groups_of_different_sizes_hold(asked, least, monkeypatch):
    """Sets and nodes of a tree, heaps and outliers: in small tables too, where asked to."""
    monkeypatch.setattr(passes, "FEW_ROWS", 0)
    differing = 0
    for seed in range(4):
        table = heaped(seed, 500)
        wide = shoal.Schema(
            quasi=["age", "job", "town"],
            sensitive=["salary", "hours"],
            hierarchies={"town": TOWNS},
        )
        require = [
            f"{column}: EpsilonM(epsilon={epsilon}, m={m}, relative={kind == 'relative'})"
            for column, (kind, epsilon, m) in asked.items()
        ] + [f"KAnonymity(k={least})"]
        release = shoal.anonymize(
            table, wide, require=require, method=shoal.methods.Exchange(), seed=seed
        )
        groups = release.table.partition_by("group")
        assert sum(map(len, groups)) == len(table)
        assert min(map(len, groups)) >= least
        differing += len(groups) < len(table) // least
        for group in groups:
            for column, (kind, epsilon, m) in asked.items():
                assert proximity.holds(group[column].to_list(), kind, m, epsilon=epsilon)
    assert differing


def test_groups_of_people_with_several_rows_hold_at_different_sizes(monkeypatch):
    monkeypatch.setattr(passes, "FEW_ROWS", 0)
    for seed in range(2):
        wide = shoal.Schema(quasi=["age", "job"], sensitive="salary", person="who")
        asked = "EpsilonM(epsilon=3, m=3)"
        release = shoal.anonymize(heaped(seed, 600), wide, require=asked, seed=seed)
        (measured,) = release.audit().measured()
        assert measured.holds
        for group in release.table.partition_by("group"):
            values = dict(group.group_by("person").agg("salary").iter_rows())
            counts = {who: len(own) for who, own in values.items()}
            for who, own in values.items():
                alike = [p for p in values if counts[p] == counts[who]]
                for value in own:
                    near = [p for p in alike if any(abs(v - value) <= 3 for v in values[p])]
                    assert 3 * len(near) <= len(alike)


@given(tables(most=60), st.integers(1, 9))
def test_exchange_keeps_k_anonymity(table, k):
    assume(len(table["age"]) >= k)
    groups = search(table, shoal.principles.KAnonymity(k=k), shoal.methods.Exchange(), sensitive=())
    assert min(groups.sizes) >= k


@given(tables(most=60), st.integers(1, 9), st.lists(st.integers(0, 59), max_size=4))
def test_exchange_never_loses_more_than_split_under_k_anonymity(table, k, doubled):
    """Whole runs of equal rows are there too: fixed sizes would tear them."""
    rows = len(table["age"])
    assume(rows >= k)
    kept = [*range(rows), *(place % rows for place in doubled for _ in range(2 * k + 1))]
    table = {name: [cells[place] for place in kept] for name, cells in table.items()}
    losses = [
        shoal.anonymize(
            frame(table), schema(), require=shoal.principles.KAnonymity(k=k), method=method
        ).loss
        for method in (shoal.methods.Exchange(), shoal.methods.Split())
    ]
    assert losses[0] <= losses[1] + 1e-9


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(1, 6))
def test_long_ranges_are_cut_into_equal_parts(sizes, half):
    sizes = [half + size for size in sizes]
    starts = np.cumsum([0, *sizes])
    cuts = halved(starts, 2 * half).tolist()
    assert set(starts.tolist()) <= set(cuts)
    lengths = np.diff(cuts)
    assert lengths.min() >= half
    assert lengths.max() <= 2 * half
    for begin, end in pairwise(starts.tolist()):
        inside = [b - a for a, b in pairwise(cuts) if begin <= a < end]
        assert max(inside) - min(inside) <= 1


@given(
    tables(most=60),
    st.integers(0, 3),
    st.sampled_from([0.2, 0.5, 0.8]),
    st.integers(2, 5),
    st.sampled_from([shoal.methods.Exchange(), shoal.methods.XColor()]),
)
def test_dissimilarity_holds_or_the_method_says_it_does_not(table, epsilon, delta, k, method):
    assume(len(table["age"]) >= k)
    require = shoal.principles.Dissimilarity(
        epsilon=epsilon, delta=delta, k=k, distance=shoal.distances.Absolute()
    )
    try:
        groups = search(table, require, method)
    except TooCrowded:
        return
    for rows in members(groups):
        values = [table["salary"][r] for r in rows]
        assert len(rows) >= k
        for value in values:
            near = sum(abs(value - other) <= epsilon for other in values) - 1
            assert near <= (1 - Fraction(str(delta))) * (len(rows) - 1)


@given(tables(most=60), st.integers(1, 3), st.integers(1, 3))
def test_two_requirements_on_two_columns_hold_in_the_same_groups(table, m, l):
    pairs = zip(table["age"], table["salary"], strict=True)
    table = table | {"illness": [(age * 7 + salary) % 5 for age, salary in pairs]}
    require = [f"salary: EpsilonM(epsilon=1, m={m})", f"illness: FrequencyL(l={l})"]
    assume(len(table["age"]) >= max(m, l))
    try:
        groups = search(table, require, shoal.methods.Exchange(), sensitive=("salary", "illness"))
    except TooCrowded:
        return
    for rows in members(groups):
        assert proximity.holds([table["salary"][r] for r in rows], "absolute", m, epsilon=1)
        assert proximity.holds([table["illness"][r] for r in rows], "equality", l)


def crowd(rows=60, same=40):
    salaries = [100] * same + [1000 * i for i in range(rows - same)]
    return pl.DataFrame({"age": list(range(rows)), "salary": salaries})


def test_suppression_leaves_out_the_rows_in_the_way_and_counts_them():
    table = crowd()
    plain = shoal.Schema(quasi="age", sensitive="salary")
    require = shoal.principles.EpsilonM(epsilon=10, m=2)
    with pytest.raises(NotAchievable, match=r"66\.7% of the rows have salary 100"):
        shoal.anonymize(table, plain, require=require)
    release = shoal.anonymize(table, plain, require=require, suppress="40%")
    assert release.suppression.in_the_way == 20  # 40 equal ones need 40 others, or 20 to go
    assert 36 <= release.manifest.rows <= 40
    assert release.audit().holds
    assert release.loss > 20 / 60


def test_suppression_beyond_its_limit_is_refused_with_what_it_would_take():
    with pytest.raises(NotAchievable, match="`suppress` allows 6"):
        shoal.anonymize(
            crowd(),
            shoal.Schema(quasi="age", sensitive="salary"),
            require=shoal.principles.EpsilonM(epsilon=10, m=2),
            suppress="10%",
        )


def test_suppression_resolves_what_exchanges_cannot():
    labels = ["a"] * 30 + ["b"] * 10
    table = pl.DataFrame({"age": list(range(40)), "illness": labels})
    plain = shoal.Schema(quasi="age", sensitive="illness")
    require = shoal.principles.Dissimilarity(
        epsilon=0, delta=0.5, k=4, distance=shoal.distances.Equality()
    )
    with pytest.raises(NotAchievable, match="Delta can be"):
        shoal.anonymize(table, plain, require=require)
    release = shoal.anonymize(table, plain, require=require, suppress="60%")
    assert release.audit().holds
    assert 0 < (release.manifest.suppressed or 0) <= 24


def test_nothing_of_suppressed_rows_shows_in_the_domain():
    table = pl.DataFrame({"age": [*range(20), 99], "salary": [*range(0, 2000, 100), 0]})
    table = pl.concat([table] + [pl.DataFrame({"age": [99], "salary": [0]})] * 12)
    release = shoal.anonymize(
        table,
        shoal.Schema(quasi="age", sensitive="salary"),
        require=shoal.principles.EpsilonM(epsilon=1, m=5),
        suppress="40%",
    )
    assert release.manifest.suppressed
    shown = {int(text.strip("[]").split(", ")[-1]) for text in release.table["age"]}
    assert release.manifest.columns[0].values[1] == max(shown)


@pytest.mark.parametrize("share", ["200%", "-1%", "much", 2, -0.1])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(UsageError, match="such as 1%"):
        shoal.anonymize(
            crowd(),
            shoal.Schema(quasi="age", sensitive="salary"),
            require=shoal.principles.KAnonymity(k=2),
            suppress=share,
        )


@given(tables(most=60), st.integers(0, 6), st.integers(1, 4))
def test_exchange_reaches_every_achievable_window(table, width, m):
    assume(m * proximity.window_count(table["salary"], width) <= len(table["salary"]))
    require = shoal.principles.Window(width=width, m=m)
    for rows in members(search(table, require, shoal.methods.Exchange())):
        values = [table["salary"][r] for r in rows]
        assert m * proximity.window_count(values, width) <= len(values)


def test_xcolor_needs_one_symmetric_relation():
    coded = code_table(frame(PAIR), schema())
    require = shoal.principles.EpsilonM(epsilon=0.5, m=2, relative=True)
    with pytest.raises(UsageError, match="symmetric"):
        shoal.methods.XColor().check(Task(coded, tuple(requirements(require, ["salary"]))))
