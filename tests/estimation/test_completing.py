"""Completed tables: chains that go on or are given up, and what is refused by what they show."""

from __future__ import annotations

from functools import cache

import pytest

import shoal
from estimation.people import published, release, simulated


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
