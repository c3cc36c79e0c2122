"""`shoal compare`: several methods under one requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from system.shell import people, shoal, write_csv

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ("--quasi", "age,town,score", "--sensitive", "salary", "--require")


def test_methods_that_fit_are_compared_in_the_order_of_their_loss(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    found = shoal("compare", table, *ASKED, "EpsilonM(epsilon=500, m=3)", "--json").json()
    methods = [entry["method"] for entry in found["entries"]]
    assert sorted(methods) == ["Exchange()", "Split()", "Split(partition='round-robin')"]
    losses = [entry["loss"] for entry in found["entries"]]
    assert losses == sorted(losses)
    assert all(entry["holds"] and entry["risk"] <= 0.334 for entry in found["entries"])
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_k_anonymity_is_compared_with_and_without_groups(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    found = shoal("compare", table, *ASKED, "KAnonymity(k=5)", "--json").json()
    by_method = {entry["method"]: entry for entry in found["entries"]}
    assert {"Freeform()", "Mondrian()", "Exchange()"} <= set(by_method)
    assert by_method["Freeform()"]["groups"] is None
    assert by_method["Freeform()"]["loss"] < by_method["Mondrian()"]["loss"]
    shown = shoal("compare", table, *ASKED, "KAnonymity(k=5)", "--method", "Split()")
    assert "Split()" in shown.out
    assert "Exchange()" not in shown.out


def test_what_no_method_reaches_is_said(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people(20))
    shown = shoal("compare", table, *ASKED, "EpsilonM(epsilon=90000, m=3)")
    assert shown.code == 0
    assert "not reached" in shown.out
    assert "largest m" in " ".join(shown.out.split())


def test_a_method_that_does_not_fit_is_refused_when_it_is_named(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    asked = ("EpsilonM(epsilon=500, m=3)", "--method", "Mondrian()")
    assert shoal("compare", table, *ASKED, *asked).code == 2
