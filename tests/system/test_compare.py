"""`shoal compare`: several methods under one requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl
import pytest

import shoal as library
from shoal.views.tables import print_comparison
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
    assert all(found["least_loss"] <= loss for loss in losses)
    assert found["entries"][0]["times_least"] == pytest.approx(losses[0] / found["least_loss"])
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


def test_what_no_method_reaches_ends_with_3(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people(20))
    shown = shoal("compare", table, *ASKED, "EpsilonM(epsilon=90000, m=3)", "--json")
    assert shown.code == 3
    assert not shown.out
    assert shown.said.count("What would help") == 1  # the methods agree on why


REASON = "It was too hard."


class Helpless(library.methods.Split):
    """A method that never finds anything."""

    def search(self, task: object) -> NoReturn:
        raise library.NotAchievable(REASON)


def test_a_method_that_fails_stands_last_with_its_reason(capsys: Any) -> None:
    frame = pl.DataFrame({"age": range(80), "pay": range(0, 8000, 100)})
    schema = library.Schema(quasi="age", sensitive="pay")
    found = library.compare(
        frame, schema, require="KAnonymity(k=4)", methods=[Helpless(), "Split()"]
    )
    assert found.reached
    assert [entry.problem for entry in found.entries] == [None, REASON]
    assert found.entries[1].loss is None
    print_comparison(found.to_dict())
    shown = capsys.readouterr().out
    assert "not reached" in shown
    assert f"Helpless(): {REASON}" in shown
    assert f"not reached: {REASON}" in found._repr_html_()


def test_queries_risk_time_and_memory_are_measured(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    asked = ("EpsilonM(epsilon=500, m=3)", "--queries", "50", "--json")
    found = shoal("compare", table, *ASKED, *asked).json()
    assert found["workload"]["queries"] == 50
    for entry in found["entries"]:
        assert set(entry) == {
            "method", "loss", "times_least", "query_error", "learning", "squared_error", "risk",
            "holds", "groups",
            "seconds", "megabytes", "problem", "regression",
        }  # fmt: skip
        assert set(entry["query_error"]) == {"mean", "median", "p95"}
        assert 0 <= entry["query_error"]["median"] <= entry["query_error"]["p95"]
        assert entry["seconds"] >= 0
        assert entry["megabytes"] is None or entry["megabytes"] >= 0
        assert entry["learning"] is None
    again = shoal("compare", table, *ASKED, *asked).json()
    assert [e["query_error"] for e in again["entries"]] == [
        e["query_error"] for e in found["entries"]
    ]
    none = shoal("compare", table, *ASKED, "KAnonymity(k=5)", "--queries", "0", "--json").json()
    assert none["workload"] is None


def test_query_error_is_that_of_the_library(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    asked = ("KAnonymity(k=5)", "--method", "Split()", "--queries", "40", "--json")
    (entry,) = shoal("compare", table, *ASKED, *asked).json()["entries"]
    frame = pl.read_csv(table, infer_schema=False)
    schema = library.Schema(quasi=["age", "town", "score"], sensitive="salary")
    release = library.anonymize(frame, schema, require="KAnonymity(k=5)", method="Split()")
    known = library.measures.query_error(
        release, frame, schema, workload=library.measures.Workload(queries=40), seed=0
    )
    assert entry["query_error"]["mean"] == pytest.approx(known.mean)


def test_learning_is_measured_on_request_and_shown(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    page = tmp_path / "compared.html"
    asked = ("KAnonymity(k=3)", "--method", "Split()", "--method", "Mondrian()", "--learning")
    shown = shoal("compare", table, *ASKED, *asked, "--report", page)
    assert shown.code == 0
    assert "learned: R² of salary on 60 held-out rows" in " ".join(shown.out.split())
    assert max(map(len, shown.out.splitlines())) <= 80
    text = page.read_text("utf-8")
    assert "<svg" in text
    assert "Mondrian()" in text
    assert page.stat().st_mode & 0o777 == 0o600
    other = ("--other", "note", "--target", "note", "--json")
    found = shoal("compare", table, *ASKED, *asked, *other).json()
    for entry in found["entries"]:
        assert entry["learning"]["target"] == "note"
        assert entry["learning"]["metric"] == "accuracy"
        assert set(entry["learning"]["release"]) == {"forest", "linear"}
    assert shoal("compare", table, *ASKED, "KAnonymity(k=3)", "--target", "age").code == 2


def test_a_notebook_shows_the_table_and_the_picture() -> None:
    frame = pl.DataFrame({"age": range(80), "pay": range(0, 8000, 100)})
    schema = library.Schema(quasi="age", sensitive="pay")
    found = library.compare(frame, schema, require="KAnonymity(k=4)", methods=["Split()"])
    shown = found._repr_html_()
    assert "<svg" in shown
    assert "<html" not in shown
    assert "Split()" in shown


def test_a_method_that_does_not_fit_is_refused_when_it_is_named(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people())
    asked = ("EpsilonM(epsilon=500, m=3)", "--method", "Mondrian()")
    assert shoal("compare", table, *ASKED, *asked).code == 2
