"""Completed tables: chains that go on or are given up, and what is refused by what they show."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import shoal
from estimation.people import published, release, simulated
from shoal.estimation import chains, completing, judging
from shoal.estimation.completing import Completed, Problem, complete_tables
from shoal.estimation.judging import Diagnosis
from shoal.estimation.opening import open_release

FORMULA = "log(income) ~ age + hours"


@cache
def near_the_limit() -> shoal.Release:
    """Return a release whose groups follow values so far that estimates have to be corrected."""
    return published(simulated(600, 4), 9000, method="Exchange()")


def test_tables_with_the_bias_of_their_groups_are_refused(tmp_path):
    with pytest.raises(shoal.NotAchievable, match="looked at values") as refused:
        shoal.complete(near_the_limit(), tmp_path / "tables", tables=2, seed=1)
    assert "(limit 10%)" in str(refused.value)
    assert not (tmp_path / "tables").exists()
    made = shoal.complete(near_the_limit(), tmp_path / "tables", tables=2, seed=1, anyway=True)
    assert made["status"] == "refused"
    told = (tmp_path / "tables" / "README.txt").read_text("utf-8")
    assert "Status of estimates from these tables: refused" in told
    assert "Completed tables then have a bias." in told


def test_tables_are_approximate_far_from_the_limit_of_a_method_that_looks_at_values(tmp_path):
    mild = published(simulated(600, 4), 3000, method="Exchange()")
    found = {}
    for name, one in (("mild", mild), ("exact", release())):
        found[name] = shoal.complete(one, tmp_path / name, tables=2, seed=1)["status"]
        told = " ".join((tmp_path / name / "README.txt").read_text("utf-8").split())
        verdict = "not to be used" if name == "mild" else "approximate"
        assert f"0.3 or more, the quantity is {verdict}." in told
    assert found == {"mild": "approximate", "exact": "valid"}


@pytest.mark.parametrize(
    ("within", "beyond", "said"),
    [
        (Diagnosis(0.499, 0, 0), Diagnosis(0.5, 0, 0), "information about the slopes"),
        (Diagnosis(0, 0.3, 0), Diagnosis(0, 0.31, 0), "do not agree on 31% of the slopes"),
        (Diagnosis(0, 0, 2.0), Diagnosis(0, 0, 2.1), "lie 2.1 standard errors from"),
    ],
)
def test_what_the_draws_show_refuses_estimates_and_completed_tables(
    within, beyond, said, monkeypatch, tmp_path
):
    monkeypatch.setattr(completing, "DOUBLED", 0)
    monkeypatch.setattr(Diagnosis, "of", lambda _: within)
    assert shoal.estimate(release(), FORMULA, seed=1).status == "valid"
    assert shoal.complete(release(), tmp_path / "a", tables=2, seed=1)["status"] == "valid"
    monkeypatch.setattr(Diagnosis, "of", lambda _: beyond)
    found = shoal.estimate(release(), FORMULA, seed=1)
    assert (found.status, found.quantities) == ("refused", ())
    assert said in found.reason
    with pytest.raises(shoal.NotAchievable, match=said):
        shoal.complete(release(), tmp_path / "b", tables=2, seed=1)
    (reason,) = beyond.reasons()
    assert said in reason
    assert within.reasons() == []


def drawn(orders: np.ndarray, off: float = 0.0) -> Diagnosis:
    """Look at some completed tables that lie `off` what the model expects."""
    problem = Problem(open_release(release()), "income")
    slopes, _ = problem.panel.fit(orders[0, 0])
    return Diagnosis.of(Completed(problem, orders, np.full(slopes.shape, off)))


def test_chains_that_end_apart_and_tables_that_the_model_does_not_expect_are_seen():
    problem = Problem(open_release(release()), "income")
    random, starts = np.random.default_rng(1), problem.release.starts
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows = len(group)
    many = [np.lexsort((random.random(rows), group)) for _ in range(80)]
    alike = np.array(many, np.int32).reshape(2, 40, rows)
    assert drawn(alike).apart == 0
    assert drawn(alike).off == 0
    errors = np.sqrt(np.mean([problem.panel.fit(order)[1] for order in alike[0]], 0))
    assert drawn(alike, 0.5).off == pytest.approx(0.5 / errors.min(), rel=0.05)
    age = problem.release.quasi["age"].codes
    ends = np.empty((2, rows), np.int32)  # the old have the highest values, or the lowest
    for one, way in zip(ends, (age, -age), strict=True):
        one[np.lexsort((way, group))] = np.arange(rows)
    assert drawn(np.repeat(ends[:, None], 40, 1)).apart > judging.APART


def test_chains_are_doubled_three_times_at_most(monkeypatch):
    windows = []
    advance = chains.Sampler.advance

    def counted(self, iterations, keep=0, aims=None):
        windows.append(iterations)
        return advance(self, 1 if keep else 0, min(keep, 1), aims)

    monkeypatch.setattr(chains.Sampler, "advance", counted)
    problem = Problem(open_release(release()), "income")
    asked = []

    def never(found):
        asked.append(found)
        return False

    complete_tables(problem, chains=2, seed=1, settled=never)
    first = completing.WINDOW
    assert windows == [chains.BURN] * 2 + [first * 2**turn for turn in range(4) for _ in range(2)]
    assert len(asked) == 4
    complete_tables(problem, chains=2, seed=1, settled=lambda found: len(asked) == 4)
    assert windows[10:] == [chains.BURN] * 2 + [first] * 2


def test_a_quantity_that_chains_do_not_agree_on_is_refused_and_the_others_are_not(monkeypatch):
    windows = []
    agreed = completing.agreed

    def not_on_age(fits):
        windows.append(fits.shape)
        found = agreed(fits)
        found[1] = False
        return found

    monkeypatch.setattr(completing, "agreed", not_on_age)
    monkeypatch.setattr(completing, "WINDOW", 50)
    found = shoal.estimate(release(), FORMULA, seed=1, anyway=True)
    assert [one.status for one in found.quantities] == ["valid", "refused", "valid"]
    assert found["age"].reason == "The chains do not agree on age."
    assert (found.status, found.reason) == ("refused", "The chains do not agree on age.")
    assert len(windows) == 1 + completing.DOUBLED + 1  # the last is the judgement's
    assert shoal.estimate(release(), FORMULA, seed=1).quantities == ()
