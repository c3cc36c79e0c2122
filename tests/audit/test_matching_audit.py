"""The audit of matches against definitions, and against spoiled cells."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import shoal
from amount import examples
from graphs import EXACT, SORT, coded, graph, people
from reference import heterogeneous
from shoal.audit import regularity
from shoal.audit.matches import audit_matches
from shoal.audit.regularity import MatchGraph, published_boxes
from shoal.kernels.freeform.boxes import Boxes
from shoal.principles.requirement import requirements

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ["interval", "set", "set"]


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(0, 12, n),
            "job": [f"j{v:03}" for v in rng.integers(0, 90, n) // 8],
            "zip": [f"z{v:03}" for v in rng.integers(0, 100, n)],
            "pay": rng.integers(0, 50, n),
        }
    )


def release_of(frame, k, method=EXACT, seconds=0.001):
    quasi = [name for name in frame.columns if name != "pay"]
    schema = shoal.Schema(quasi=quasi, sensitive="pay" if "pay" in frame.columns else ())
    require = shoal.principles.KAnonymity(k=k)
    return shoal.anonymize(frame, schema, require=require, method=method, seconds=seconds)


def match_lists(frame, published):
    cells = published.select("age", "job", "zip").rows()
    originals = frame.select(pl.col("age", "job", "zip").cast(pl.String)).rows()
    return heterogeneous.match_lists(cells, KINDS, originals)


def narrowed(published, rows):
    """The published table with the ages of some rows cut down to their lowest value."""
    ages = published["age"].to_list()
    for row in rows:
        ages[row] = ages[row].strip("[]").split(",")[0]
    return published.with_columns(pl.Series("age", ages))


@pytest.mark.parametrize("seed", range(6))
def test_matches_and_flow_equal_the_definitions(seed):
    frame = table(40 + seed, seed)
    rng = np.random.default_rng(seed)
    for method in (EXACT, shoal.methods.Ring()):
        release = release_of(frame, 4, method)
        spoiled = narrowed(release.published, rng.choice(len(frame), 6, replace=False))
        for published in (release.published, spoiled):
            lists = match_lists(frame, published)
            known = MatchGraph(release.coded.space, published_boxes(published, release.coded))
            assert known.matches.tolist() == [len(found) for found in lists]
            for k in (1, 2, 4, 5):
                wanted = heterogeneous.disjoint_assignments(lists, len(frame), k)
                assert known.regular(k) == wanted


@pytest.mark.parametrize("seed", range(4))
def test_near_candidates_are_counted_as_defined(seed):
    # A few distinct quasi values make large classes, so that both ways of counting are used.
    frame = table(60, seed).with_columns(pl.col("age") % 2 if seed % 2 else pl.col("age"))
    frame = frame.with_columns(zip=pl.lit("z")) if seed % 2 else frame
    release = release_of(frame, 4)
    asked = requirements(shoal.principles.KAnonymity(k=4), ["pay"])
    found = audit_matches(release.published, release.coded, asked, candidates=True)
    carried = [Fraction(cell) for cell in release.published["pay"]]
    lists = match_lists(frame, release.published)
    assert len(found.candidates) == 4
    for one in found.candidates:
        wanted = [
            heterogeneous.near_share(
                Fraction(own), [carried[row] for row in rows], Fraction(one.width)
            )
            for own, rows in zip(frame["pay"], lists, strict=True)
        ]
        assert one.risks.tolist() == pytest.approx([float(share) for share in wanted])


@pytest.mark.parametrize("method", [EXACT, SORT, shoal.methods.Ring()], ids=repr)
def test_releases_pass(method):
    found = release_of(people(3000), 7, method).audit()
    assert found.holds
    assert found.matches is not None
    assert found.matches.min() >= 7
    assert found.worst_risk <= 1 / 7 + 1e-12


def test_a_narrowed_cell_is_rejected():
    frame = people(1000)
    release = release_of(frame, 10)
    wide = [row for row, cell in enumerate(release.published["age"]) if cell.startswith("[")]
    spoiled = narrowed(release.published, wide[:1])
    found = audit_matches(spoiled, release.coded, release.requirements)
    assert not found.holds
    assert found.worst_risk > 0.1
    assert "does not hold for" in found.complaints()[0]


def test_a_record_that_only_one_person_matches_is_that_person():
    # Everybody else still has many matches, but whoever reads this record knows whose it is.
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6], "pay": range(6)})
    release = release_of(frame, 3)
    wide = pl.Series("age", ["2"] + 5 * ["[1, 6]"])
    spoiled = release.published.with_columns(wide)
    found = audit_matches(spoiled, release.coded, release.requirements)
    assert found.matches is not None
    assert found.matches.min() == 5
    assert found.worst_risk == 1


def test_a_dropped_row_is_rejected():
    release = release_of(people(300), 5)
    found = audit_matches(release.published[1:], release.coded, release.requirements)
    assert not found.holds
    assert "one to one" in " ".join(found.complaints())


def test_enough_matches_for_each_person_are_not_enough():
    # Originals a, a, b, b; records {a}, {a,b}, {a,b}, {a,b}: all match at least 3, yet there are no
    # 3 disjoint assignments: record {a} can take only the two originals a.
    space = coded(pl.DataFrame({"job": ["a", "a", "b", "b"]})).space
    none = np.zeros((4, 0), np.int64)
    known = MatchGraph(space, Boxes(none, none, np.array([[1], [3], [3], [3]], np.uint64)))
    assert known.matches.min() == 3
    assert not known.regular(3)
    assert known.regularity(3) == 2


def test_growing_the_pairs_reaches_the_same_answer(monkeypatch):
    found = graph(people(2000), 10, SORT)
    known = MatchGraph(found.space, found.recast())
    assert known.regular(10)
    monkeypatch.setattr(regularity, "FIRST_PAIRS", 300)
    assert known.regular(10)
    assert not known.regular(int(known.matches.min()) + 1)


def test_a_cell_that_cannot_be_read_covers_nobody():
    release = release_of(people(200), 3)
    ages = release.published["age"].to_list()
    for cell in ("", "[1, 2", "many", "[9, 3]"):
        spoiled = release.published.with_columns(pl.Series("age", [cell, *ages[1:]]))
        known = MatchGraph(release.coded.space, published_boxes(spoiled, release.coded))
        assert not known.regular(3)


@pytest.mark.more
def test_whoever_was_left_out_is_told_apart_or_asked_about(tmp_path: Path) -> None:
    """Rows that match nothing were left out; where others were too, no choice is believed."""
    told = asked = 0
    for seed in range(20, 20 + examples(130)):  # by themselves few are asked about
        chance = random.Random(seed)
        rows = chance.randint(6, 14)
        table = pl.DataFrame(
            {
                "a": [chance.choice([1, 1, 2, 3, 50, 100]) for _ in range(rows)],
                "b": [chance.choice("xxyz") for _ in range(rows)],
                "s": [chance.randint(0, 5) for _ in range(rows)],
            }
        )
        schema = shoal.Schema(quasi=["a", "b"], sensitive="s")
        try:
            release = shoal.anonymize(
                table, schema, require="KAnonymity(k=3)", method="Freeform()", suppress="40%"
            )
        except shoal.NotAchievable:
            continue
        if not release.manifest.suppressed:
            continue
        release.write(tmp_path / "out", force=True)
        kept = table[release.linkage[release.linkage >= 0].tolist()]
        assert shoal.audit(tmp_path / "out", original=kept).holds
        try:
            assert shoal.audit(tmp_path / "out", original=table).holds
            told += 1
        except shoal.InputError:
            asked += 1
    assert told > 0
    assert asked > 0
