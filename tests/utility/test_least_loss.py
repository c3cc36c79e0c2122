"""No grouping loses less than the bound says, and the bound is what its definition says."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import shoal
from amount import examples
from reference.least import least
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.utility.least import least_loss, reaches

QUASI = ["age", "job", "place"]


def table(random, rows):
    heavy = np.round(np.exp(random.normal(4, 2, rows)))
    return pl.DataFrame(
        {
            "age": random.integers(0, random.choice([3, 20, 90]), rows),
            "job": random.choice(list("abc"), rows),
            "place": random.choice(["n1", "n2", "s1", "s2"], rows),
            "pay": heavy if random.random() < 0.5 else random.integers(0, 12, rows),
        }
    )


def schema(hierarchy):
    return shoal.Schema(
        quasi=QUASI,
        sensitive=["pay"],
        hierarchies={"place": shoal.hierarchies.Prefix()} if hierarchy else {},
        weights={"age": 3.0},
    )


def ncp(frame, own, hierarchy):
    """Return the NCP of a group's box, by its definition."""
    ages, places = frame["age"].to_list(), frame["place"].to_list()
    span = max(ages) - min(ages)
    some = [ages[row] for row in own]
    total = (max(some) - min(some)) / span if span else 0.0
    jobs = frame["job"].to_list()
    total += (len({jobs[row] for row in own}) - 1) / max(len(set(jobs)) - 1, 1)
    under = {places[row] for row in own}
    if hierarchy and len(under) > 1:
        heads = {place[0] for place in under}
        under = {place for place in set(places) if len(heads) > 1 or place[0] in heads}
    return total + (len(under) - 1) / max(len(set(places)) - 1, 1)


def asked(random):
    """Return a requirement in the notation, its least size, and how many may be near to whom."""
    epsilon, m = int(random.integers(0, 6)), int(random.integers(2, 4))
    return [
        (f"KAnonymity(k={m})", m, lambda size: size, lambda _u, _v: False),
        (
            f"EpsilonM(epsilon={epsilon}, m={m})",
            *(m, lambda s: s / m, lambda u, v: abs(u - v) <= epsilon),
        ),
        (
            f"EpsilonM(epsilon=0.5, m={m}, relative=True)",
            *(m, lambda s: s / m, lambda u, v: abs(u - v) <= 0.5 * abs(v)),
        ),
        (f"Window(width={epsilon}, m={m})", m, lambda s: s / m, lambda u, v: v <= u <= v + epsilon),
        (
            f"Dissimilarity(epsilon={epsilon}, delta=0.5, k=3, distance=Absolute())",
            *(3, lambda s: 1 + 0.5 * (s - 1), lambda u, v: abs(u - v) <= epsilon),
        ),
    ][int(random.integers(5))]  # fmt: skip


@pytest.mark.more
def test_no_grouping_loses_less():
    tried = tight = 0
    for seed in range(examples(150)):
        random = np.random.default_rng(seed)
        rows, hierarchy = int(random.integers(4, 8)), bool(random.integers(2))
        frame = table(random, rows)
        spelled, size, allowed, near = asked(random)
        pay = frame["pay"].to_list()

        def holds(own, pay=pay, size=size, allowed=allowed, near=near):
            counts = [sum(near(pay[u], pay[v]) for u in own) for v in own]
            return len(own) >= size and max(counts) <= allowed(len(own))

        def width(own, frame=frame, hierarchy=hierarchy):
            return ncp(frame, own, hierarchy)

        best = least(rows, holds, width)
        if best is None:
            continue
        coded = code_table(frame, schema(hierarchy))
        bound = least_loss(coded, requirements(spelled, ["pay"]))
        assert bound * rows * len(QUASI) <= best + 1e-9
        tried += 1
        tight += bound * rows * len(QUASI) >= 0.5 * best - 1e-9
    assert tried >= examples(61)
    assert tight > tried / 2


@pytest.mark.more
@pytest.mark.parametrize("hierarchy", [False, True])
def test_a_row_reaches_as_far_as_the_nearest_possible_members(hierarchy):
    """On hundreds of rows, against every pair: the tree of boxes misses nothing."""
    for seed in range(examples(4)):
        random = np.random.default_rng(seed)
        frame = table(random, 300)
        pay, m, epsilon = frame["pay"].to_list(), 2 + seed, 2
        coded = code_table(frame, schema(hierarchy))
        found = reaches(coded, requirements(f"EpsilonM(epsilon={epsilon}, m={m})", ["pay"]))
        for row in range(0, 300, 7):
            ways = sorted(
                (ncp(frame, [row, other], hierarchy), other) for other in range(300) if other != row
            )
            others: list[int] = []
            for taken_from, (way, other) in enumerate(ways):
                last_place, last_way = taken_from, way
                if abs(pay[other] - pay[row]) > epsilon:
                    others.append(other)
                taken = [pay[other] for other in others]
                apart, last = 0, -np.inf
                for value in sorted(taken):
                    if value > last + epsilon:
                        apart, last = apart + 1, value
                if apart + 1 >= m:
                    break
            assert found[row] <= last_way + 1e-9
            if apart + 1 >= m and last_place < 8 * m + 15:
                assert found[row] == pytest.approx(last_way)


def test_every_set_of_rows_that_could_be_a_group_reaches_as_far():
    """Whatever holds and contains a row is as wide as the row has to reach: all sets of seven."""
    for seed in range(30):
        random = np.random.default_rng(1000 + seed)
        frame, m, epsilon = table(random, 7), 2, 1
        pay = frame["pay"].to_list()
        coded = code_table(frame, schema(hierarchy=False))
        found = reaches(coded, requirements(f"EpsilonM(epsilon={epsilon}, m={m})", ["pay"]))
        for size in range(2, 8):
            for own in combinations(range(7), size):
                counts = [sum(abs(pay[u] - pay[v]) <= epsilon for u in own) for v in own]
                if max(counts) * m <= size:
                    width = ncp(frame, list(own), hierarchy=False)
                    assert all(found[row] <= width + 1e-9 for row in own)


def test_the_owners_report_says_how_far_from_the_least_a_release_is_unless_rows_are_left_out(
    tmp_path,
):
    frame = table(np.random.default_rng(1), 120)
    for suppress in (None, "10%"):
        release = shoal.anonymize(
            frame,
            schema(hierarchy=False),
            require=shoal.principles.KAnonymity(k=3),
            suppress=suppress,
        )
        release.owner_report(tmp_path / str(suppress))
        page = (tmp_path / str(suppress)).read_text("utf-8")
        assert ("any release of these rows has to lose" in page) == (
            release.manifest.suppressed == 0
        )
        if not release.manifest.suppressed:
            bound = least_loss(release.coded, release.requirements)
            assert 0 < bound <= release.loss


def test_a_comparison_says_it_too_unless_a_person_may_have_several_rows():
    frame = table(np.random.default_rng(2), 120).with_columns(who=pl.int_range(120) // 2)
    alone = shoal.compare(frame, schema(hierarchy=False), require="KAnonymity(k=3)", queries=0)
    assert alone.least_loss is not None
    assert alone.least_loss > 0
    for entry in alone.entries:
        assert entry.loss is not None
        assert entry.times_least is not None
        assert entry.times_least == pytest.approx(entry.loss / alone.least_loss)
        assert entry.times_least >= 1
    people = replace(schema(hierarchy=False), person="who")
    several = shoal.compare(frame, people, require="KAnonymity(k=3)", queries=0)
    assert several.least_loss is None
    assert [entry.times_least for entry in several.entries] == [None] * len(several.entries)


def test_the_less_is_looked_at_the_lower_the_bound(monkeypatch):
    """Whoever was not looked at is as near as its box, so no row is said to reach too far."""
    random = np.random.default_rng(3)
    lower = 0
    for seed in range(10):
        frame = table(random, 400)
        coded = code_table(frame, schema(hierarchy=seed % 2))
        one = requirements(asked(random)[0], ["pay"])
        exact = reaches(coded, one)
        before = np.zeros(len(exact))
        for effort in (1, 4, 16, 64, 1000):
            monkeypatch.setattr("shoal.kernels.reach.EFFORT", effort)
            found = reaches(coded, one)
            assert (found <= exact).all()
            lower += int((found < exact).sum())
            assert found.sum() >= before.sum()
            before = found
        assert (before == exact).all()
    assert lower > 1000
