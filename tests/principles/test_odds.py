"""Readers to whom some rows seem more likely: what is bounded is the worst of all their weights."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from contracts import test_principles
from system.shell import shoal as command

PRINCIPLES: tuple[Any, ...] = (
    shoal.principles.EpsilonM(epsilon=2, m=3),
    shoal.principles.FrequencyL(l=3),
    shoal.principles.MUniqueness(m=3),
    shoal.principles.DeltaL(delta=2, l=2),
    shoal.principles.Window(width=2, m=2),
    shoal.principles.Dissimilarity(epsilon=2, delta=0.5, k=3),
)


@given(st.integers(1, 6), st.integers(0, 6), st.fractions(1, 9, max_denominator=4))
def test_no_weights_within_the_odds_give_near_rows_more(near, others, odds):
    """By enumeration: every row has the lower weight or the upper one, which is where it ends."""
    size = near + others
    worst = max(
        sum(weights[:near]) / sum(weights) for weights in product((Fraction(1), odds), repeat=size)
    )
    share = Fraction(near, size)
    assert worst == odds * share / (odds * share + 1 - share)


@pytest.mark.parametrize("principle", PRINCIPLES, ids=repr)
def test_what_a_requirement_allows_is_within_its_bound(principle):
    odds = Fraction(3)
    for size in range(principle.least, 30):
        near = principle.allowed(size)
        if near >= 1:
            assert odds * near / (odds * near + size - near) <= principle.at_odds(odds)
    assert principle.at_odds(Fraction(1)) == principle.listed


def table() -> pl.DataFrame:
    return pl.DataFrame({"age": [n % 40 for n in range(120)], "pay": [100 * n for n in range(120)]})


def test_the_audit_gives_it_and_what_bounds_no_guess_has_none(tmp_path):
    require = ["EpsilonM(epsilon=150, m=5)", "KAnonymity(k=5)"]
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(table(), schema, require=require)
    release.write(tmp_path / "out")
    found = shoal.audit(tmp_path / "out").at_odds(3)
    assert [one["bound"] for one in found] == [pytest.approx(3 / 7), None]
    assert found[0]["bound"] >= 3 / 7  # never less than it is
    done = command("audit", tmp_path / "out", "--odds", "3", "--json")
    assert json.loads(done.out)["odds"] == {"odds": 3, "bounds": found}
    said = " ".join(command("audit", tmp_path / "out", "--odds", "3").out.split())
    assert "seem 3 times as likely as others" in said
    assert "at most 42.9%" in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "3 times as likely" in page
    assert "42.9%" in page


NEAR = {  # that say who is near to whom, and how many may be
    "EpsilonM", "Neighbourhood", "DeltaL", "Window", "Chain", "Dissimilarity", "FrequencyL",
    "AlphaK", "MUniqueness",
}  # fmt: skip


@pytest.mark.parametrize(
    "contract",
    [one for name, one in vars(test_principles).items() if name.startswith("Test")],
    ids=lambda one: one.__name__,
)
def test_only_principles_about_pairs_bound_it_and_all_others_say_null(contract):
    principle = contract.asked
    rows = pl.DataFrame({"g": ["a"] * 10, "pay": [10 * n for n in range(10)]})
    if contract.labels:
        rows = rows.with_columns(pay=pl.col("pay").cast(pl.String) + "x")
    schema = shoal.Schema(quasi="g", sensitive="pay")
    others = pl.DataFrame({"g": ["a"] * 20})
    found = shoal.audit(rows, schema, require=principle, population=others)
    assert found.holds
    (said,) = found.at_odds(3)
    assert (said["bound"] is not None) == (type(principle).__name__ in NEAR)
    assert (said["bound"] is not None) == hasattr(principle, "at_odds")


def test_nothing_is_bounded_where_one_row_spoils_the_requirement():
    schema = shoal.Schema(quasi="g", sensitive="pay")
    require = "EpsilonM(epsilon=10, m=2)"
    for last, bound in (("90", pytest.approx(2 / 3)), ("6", None)):
        rows = pl.DataFrame({"g": ["a"] * 2, "pay": ["5", last]})
        (found,) = shoal.audit(rows, schema, require=require).at_odds(2)
        assert found["bound"] == bound


@pytest.mark.parametrize("odds", [0.5, 0, -1, float("nan"), float("inf")])
def test_odds_below_one_are_refused(odds, tmp_path):
    with pytest.raises(shoal.UsageError, match="at least 1"):
        shoal.plan(table(), shoal.Schema(sensitive="pay"), m=5, odds=odds)


@pytest.mark.parametrize(("m", "odds", "needed"), [(5, 3, 13), (5, 1, 5), (2, 2.5, 4), (10, 2, 19)])
def test_a_plan_says_which_m_keeps_the_chance(m, odds, needed):
    schema = shoal.Schema(sensitive="pay")
    found = shoal.plan(table(), schema, m=m, odds=odds).to_dict()["odds"]
    assert found["m"] == needed
    kept = shoal.principles.EpsilonM(epsilon=1, m=needed).at_odds(Fraction(str(odds)))
    assert kept <= Fraction(1, m)
    assert needed == 1 or shoal.principles.EpsilonM(epsilon=1, m=needed - 1).at_odds(
        Fraction(str(odds))
    ) > Fraction(1, m)
    known = shoal.plan(table(), schema, require=f"FrequencyL(l={m})", odds=odds)
    assert known.to_dict()["odds"] == found
    assert "odds" not in shoal.plan(table(), schema, m=m).to_dict()
    with pytest.raises(shoal.UsageError, match="what is bounded"):
        shoal.plan(table(), schema, odds=odds)


def test_a_schema_file_sets_them_for_audit_and_plan(tmp_path):
    table().write_csv(tmp_path / "people.csv")
    path = tmp_path / "shoal.toml"
    said = (
        'table = "people.csv"\nquasi = "age"\nsensitive = "pay"\noutput = "out"\n'
        'require = "EpsilonM(epsilon=150, m=5)"\nodds = '
    )
    path.write_text(said + "3\n")
    assert command("anonymize", "--schema", path).code == 0
    done = command("audit", tmp_path / "out", "--schema", path, "--json")
    assert json.loads(done.out)["odds"]["odds"] == 3
    done = command("plan", "--schema", path, "--m", "5", "--json")
    assert json.loads(done.out)["odds"]["m"] == 13
    over = command("plan", "--schema", path, "--m", "5", "--odds", "1", "--json")
    assert json.loads(over.out)["odds"]["m"] == 5
    assert command("plan", "--schema", path).code == 0  # nothing is bounded, so nothing is said
    done = command("certificate", tmp_path / "out", tmp_path / "certificate.html")
    assert done.code == 0, done.err
    assert "3 times as likely" in (tmp_path / "certificate.html").read_text()
    path.write_text(said + "0.5\n")
    done = command("plan", "--schema", path, "--m", "5")
    assert (done.code, "odds" in done.said) == (2, True)
