"""Measured levels against definitions: each holds, and nothing stricter does."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import distribution, proximity
from shoal.audit.covers import CellCover
from shoal.audit.exposure import nearness
from shoal.audit.published import open_published
from shoal.audit.survey import riskiest_records
from shoal.table.sensitive import Sensitive

SCHEMA = shoal.Schema(quasi=["q"], sensitive="s")
ABOVE, BELOW = 1 + Fraction(1, 10**9), 1 - Fraction(1, 10**9)

partitions = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=9), min_size=1, max_size=4)


def table(groups, spelling="[{}, 9]"):
    rows = [(spelling.format(g), value) for g, group in enumerate(groups) for value in group]
    frame = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=1)


def levels(groups):
    (column,) = shoal.measures.levels(table(groups), SCHEMA).to_dict()["columns"]
    return {
        (one["principle"], *one["fixed"].values()): one["level"] for one in column["levels"]
    }, column


def shares(groups):
    whole = [value for group in groups for value in group]
    domain = sorted(set(whole))
    q = distribution.shares(whole, domain)
    return [(distribution.shares(group, domain), q) for group in groups]


@given(partitions)
def test_diversity(groups):
    found, _ = levels(groups)
    assert found["DistinctL",] == min(map(distribution.distinct, groups))
    worst = Fraction(found["EntropyL",])
    assert all(distribution.entropy_at_least(group, worst * BELOW) for group in groups)
    assert not all(distribution.entropy_at_least(group, worst * ABOVE) for group in groups)
    share = max(proximity.risk(group, "equality") for group in groups)
    assert found["FrequencyL",] == 1 // share
    assert Fraction(str(found["AlphaK", 1])) >= share  # as it is written, and so read back
    for l in (2, 3):
        c = found["RecursiveCL", l]
        if c is None:
            assert any(distribution.distinct(group) < l for group in groups)
        else:
            assert all(distribution.recursive(g, Fraction(c) * ABOVE, l) for g in groups)
            assert not all(distribution.recursive(g, Fraction(c) * BELOW, l) for g in groups)


@given(partitions)
def test_distances_to_the_table(groups):
    found, _ = levels(groups)
    both = shares(groups)
    equal = max(distribution.equal_distance(p, q) for p, q in both)
    ordered = max(distribution.ordered_distance(p, q) for p, q in both)
    assert found["TCloseness", "equal"] == pytest.approx(float(equal), abs=1e-15)
    assert found["TCloseness", "ordered"] == pytest.approx(float(ordered), abs=1e-15)
    assert Fraction(str(found["TCloseness", "equal"])) >= equal
    gain = max((a - b) / b for p, q in both for a, b in zip(p, q, strict=True))
    assert found["BetaLikeness", False] == pytest.approx(float(max(gain, 0)), rel=1e-12)
    enhanced = found["BetaLikeness", True]
    wide = str(10**6)
    possible = all(distribution.beta_likeness(p, q, wide, enhanced=True) for p, q in both)
    assert (enhanced is not None) == possible
    lacking = any(a == 0 for p, _ in both for a in p)
    delta = found["DeltaDisclosure",]
    assert (delta is None) == lacking
    if delta is not None:
        apart = max(abs(math.log(a / b)) for p, q in both for a, b in zip(p, q, strict=True))
        assert delta == pytest.approx(apart, abs=1e-12)


@given(partitions)
def test_spread_and_uniqueness(groups):
    found, column = levels(groups)
    assert column["riskiest"][0]["rows"] in map(len, groups)
    least = min(map(distribution.distinct, groups))
    assert found["KE", least] == min(map(distribution.range_of, groups))
    variance = min(map(distribution.variance, groups))
    assert found["Variance",] == pytest.approx(float(variance), abs=1e-9)
    different = all(len(set(group)) == len(group) for group in groups)
    assert found["MUniqueness",] == (min(map(len, groups)) if different else None)


@given(partitions, st.sampled_from([0, 1, 2, 5]))
def test_nearness(groups, epsilon):
    published = open_published(table(groups), SCHEMA)
    value = Sensitive.of((published.sensitive("s"),))
    (found,) = nearness(published.groups, value, [epsilon])
    worst = max(proximity.risk(group, "absolute", epsilon=epsilon) for group in groups)
    assert Fraction(str(found.to_dict()["risk"])) >= worst
    assert found.to_dict()["risk"] == pytest.approx(float(worst), rel=1e-12)


@given(partitions)
def test_the_riskiest_records(groups):
    frame = table(groups)
    published = open_published(frame, SCHEMA)
    value = Sensitive.of((published.sensitive("s"),))
    found = riskiest_records(published, value, 1)
    rows = frame.rows()

    def risk(row):
        own = [value for cell, value in rows if cell == rows[row][0]]
        return Fraction(sum(abs(value - rows[row][1]) <= 1 for value in own), len(own))

    assert [one["risk"] for one in found] == [float(risk(one["row"] - 1)) for one in found]
    worst = sorted((float(risk(row)) for row in range(len(rows))), reverse=True)
    assert [one["risk"] for one in found] == worst[:10]


def test_a_record_says_why_it_is_at_risk():
    released = pl.DataFrame(
        {"q": ["a"] * 4 + ["b"] + ["c"] * 2, "s": [1000, 1010, 1020, 50000, 7, 1, 90000]}
    )
    published = open_published(released, SCHEMA)
    value = Sensitive.of((published.sensitive("s"),))
    found = {one["row"]: one["why"] for one in riskiest_records(published, value, 100)}
    assert found[5] == "alone in its group"
    assert found[1] == "3 of 4 in its group are within 100 of its own s"
    assert found[4] == "one in 4, and no other is near"
    assert list(found)[:2] == [5, 1]


@given(partitions)
def test_levels_do_not_depend_on_spelling(groups):
    spellings = ("[{}, 9]", "{}-9", "{}..9", ">={}", "{}***", "a label {}")
    first, *others = (
        shoal.measures.levels(table(groups, spelling), SCHEMA).to_dict() for spelling in spellings
    )
    assert all(other == first for other in others)


boxes = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sets(st.sampled_from("abc"), min_size=1)),
    min_size=1,
    max_size=6,
)
people = st.lists(
    st.tuples(st.none() | st.integers(0, 5), st.sampled_from("abc")), min_size=1, max_size=12
)


@given(boxes, people)
def test_who_matches_whom(boxes, people):
    cells = [(f"{min(a, b)}-{max(a, b)}", "{" + ", ".join(sorted(c)) + "}") for a, b, c in boxes]
    release = pl.DataFrame(
        {"x": [x for x, _ in cells], "y": [y for _, y in cells], "s": [1] * len(cells)}
    )
    known = pl.DataFrame(people, schema={"x": pl.Int64, "y": pl.String}, orient="row")
    if known["x"].is_null().all():
        return
    published = open_published(release, shoal.Schema(quasi=["x", "y"], sensitive="s"))
    cover = CellCover(published, known)

    def matches(box, person):
        low, high = sorted(box[:2])
        return (person[0] is None or low <= person[0] <= high) and person[1] in box[2]

    for place, person in enumerate(people):
        expected = [matches(box, person) for box in boxes]
        # A cell that names no label anybody has cannot be told from a hierarchy's node.
        readable = [bool(box[2] & {y for _, y in people}) for box in boxes]
        found = cover.candidates(place).tolist()
        assert [f for f, r in zip(found, readable, strict=True) if r] == [
            e for e, r in zip(expected, readable, strict=True) if r
        ]
    totals = np.sum([cover.matching(place) for place in range(len(people))], axis=0)
    assert cover.counts().tolist() == totals.tolist()
