"""k-map and δ-presence through files: the example of the paper, releases, and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import shoal as library
from system.shell import shoal

if TYPE_CHECKING:
    from pathlib import Path

# Nergiz, Atzori, Clifton (SIGMOD 2007), the running example: of nine people five are in the table.
PEOPLE = pl.DataFrame(
    [
        ("Alice", "47906", 35, "USA", 0),
        ("Bob", "47903", 59, "Canada", 1),
        ("Christine", "47906", 42, "USA", 1),
        ("Dirk", "47630", 18, "Brazil", 0),
        ("Eunice", "47630", 22, "Brazil", 0),
        ("Frank", "47633", 63, "Peru", 1),
        ("Gail", "48973", 33, "Spain", 0),
        ("Harry", "48972", 47, "Bulgaria", 1),
        ("Iris", "48970", 52, "France", 1),
    ],
    schema=["name", "zip", "age", "nationality", "inside"],
    orient="row",
)
AMERICA = ("47***", "*", "{USA, Canada, Brazil, Peru}", "s")
EUROPE = ("48***", "*", "{Spain, Bulgaria, France}", "s")
PUBLISHED = pl.DataFrame(
    [AMERICA] * 3 + [EUROPE] * 2, schema=["zip", "age", "nationality", "illness"], orient="row"
)
SCHEMA = library.Schema(quasi=["zip", "age", "nationality"], sensitive="illness")


@pytest.mark.parametrize(
    ("require", "holds", "risk"),
    [
        ("DeltaPresence(low=0.5, high=0.67)", True, 2 / 3),
        ("DeltaPresence(low=0.51, high=0.67)", False, 1.01),
        ("DeltaPresence(low=0.5, high=0.66)", False, 2 / 3),
        ("KMap(k=3)", True, 1 / 3),
        ("KMap(k=4)", False, 1 / 3),
    ],
)
def test_the_example_is_one_half_to_two_thirds_present(
    require: str, holds: bool, risk: float
) -> None:
    """Three of six Americans and two of three Europeans: (1/2, 2/3)-presence, and 3-map."""
    audit = library.audit(PUBLISHED, SCHEMA, require=require, population=PEOPLE)
    assert audit.holds == holds
    assert audit.worst_risk == pytest.approx(risk)


def test_overlapping_descriptions_are_not_presence() -> None:
    wide = PUBLISHED.with_columns(pl.Series("zip", ["47***"] * 3 + ["*"] * 2)).with_columns(
        pl.Series("nationality", ["*"] * 5)
    )
    audit = library.audit(wide, SCHEMA, require="DeltaPresence(low=0, high=1)", population=PEOPLE)
    assert not audit.holds
    assert "6 people of the population match several" in audit.problems[0]
    assert library.audit(wide, SCHEMA, require="KMap(k=6)", population=PEOPLE).holds


def test_a_cell_that_cannot_be_read_keeps_nothing() -> None:
    unread = PUBLISHED.with_columns(pl.Series("nationality", ["America"] * 3 + ["Europe"] * 2))
    audit = library.audit(unread, SCHEMA, require="KMap(k=1)", population=PEOPLE)
    assert not audit.holds
    assert "cannot be compared" in audit.problems[0]


def drawn(rows: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": random.integers(16, 90, rows),
            "job": random.choice(list("abcdef"), rows),
            "salary": random.integers(0, 1000, rows),
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    everybody = drawn(3000, 1)
    everybody.write_csv(tmp_path / "all.csv")
    everybody.sample(400, seed=2).write_csv(tmp_path / "some.csv")
    return tmp_path


COLUMNS = ("--quasi", "age,job", "--sensitive", "salary")


@pytest.mark.parametrize("require", ["KMap(k=30)", "DeltaPresence(low=0.05, high=0.2)"])
def test_a_release_is_made_and_audited_against_the_population(files: Path, require: str) -> None:
    run = shoal(
        "anonymize", files / "some.csv", *COLUMNS, "--require", require, "--require",
        "DistinctL(l=3)", "--population", files / "all.csv", "--output", files / "out", "--json",
    )  # fmt: skip
    assert run.code == 0, run.said
    assert run.json()["groups"] > 5
    assert run.json()["measured"][0]["principle"] == require
    audited = shoal("audit", files / "out", "--population", files / "all.csv", "--json")
    assert audited.code == 0
    assert audited.json()["measured"][0]["by"] == "population"
    assert "all.csv" not in (files / "out" / "manifest.json").read_text("utf-8")
    # A population of whom half is gone no longer keeps the promise.
    pl.read_csv(files / "all.csv").head(900).write_csv(files / "few.csv")
    spoiled = shoal("audit", files / "out", "--population", files / "few.csv")
    assert spoiled.code == 1


def test_what_is_refused(files: Path) -> None:
    asked = ("--require", "KMap(k=3)", "--output", files / "out")
    table = ("anonymize", files / "some.csv", *COLUMNS, *asked)
    without = shoal(*table)
    assert without.code == 2
    assert "--population" in without.said
    assert shoal(*table, "--dry-run").code == 2
    assert shoal(*table, "--dry-run", "--population", files / "all.csv").code == 0
    strange = drawn(10, 1).rename({"job": "work"})
    strange.write_csv(files / "strange.csv")
    said = shoal(*table, "--population", files / "strange.csv")
    assert said.code == 2
    assert "The population: There is no column 'job'" in said.said
    missing = drawn(10, 1).with_columns(pl.Series("age", [None, *range(9)]))
    missing.write_csv(files / "missing.csv")
    said = shoal(*table, "--population", files / "missing.csv")
    assert said.code == 2
    assert "(population)' has 1 missing cell" in said.said
    high = (*table[:-4], "--require", "KMap(k=3001)", "--output", files / "out")
    said = shoal(*high, "--population", files / "all.csv")
    assert said.code == 3
    assert "whole table" in said.said
    for method in ("Exchange()", "Split()", "Freeform()"):
        said = shoal(*table, "--population", files / "all.csv", "--method", method)
        assert said.code == 2, method
    for term in ("DeltaPresence(low=0.5, high=0.2)", "KMap(k=0)", "DeltaPresence(high=2)"):
        assert shoal("anonymize", files / "some.csv", *COLUMNS, "--require", term).code == 2


def test_methods_are_compared(files: Path) -> None:
    run = shoal(
        "compare", files / "some.csv", *COLUMNS, "--require", "KMap(k=30)",
        "--population", files / "all.csv", "--json",
    )  # fmt: skip
    assert [entry["method"] for entry in run.json()["entries"]] == ["Mondrian()"]
    assert run.json()["entries"][0]["holds"]


PLACES = {"America": ["USA", "Canada", "Brazil", "Peru"], "Europe": ["Spain", "Bulgaria", "France"]}


@pytest.mark.parametrize("high", ["0.67", "0.66"])
def test_names_of_nodes_stand_for_the_labels_under_them(tmp_path: Path, high: str) -> None:
    """The example as the paper prints it: America and Europe, with the hierarchy as a file."""
    nodes = PUBLISHED.with_columns(pl.Series("nationality", ["America"] * 3 + ["Europe"] * 2))
    nodes.write_csv(tmp_path / "t.csv")
    PEOPLE.write_csv(tmp_path / "all.csv")
    paths = [f"{label};{node};*" for node, labels in PLACES.items() for label in labels]
    (tmp_path / "places.csv").write_text("\n".join(paths), "utf-8")
    options = (
        "--quasi", "zip,age,nationality", "--sensitive", "illness", "--population",
        tmp_path / "all.csv", "--hierarchy", f"nationality={tmp_path / 'places.csv'}",
    )  # fmt: skip
    asked = f"DeltaPresence(low=0.5, high={high})"
    run = shoal("audit", tmp_path / "t.csv", *options, "--require", asked)
    assert run.code == (0 if high == "0.67" else 1)
    found = shoal("audit", tmp_path / "t.csv", *options, "--json").json()
    assert found["identification"]["k_map"] == 3
    assert found["identification"]["presence"] == [0.5, pytest.approx(2 / 3)]
    assert len(found["remarks"]) == 1
    assert "was guessed" in found["remarks"][0]


@pytest.mark.parametrize(
    "hierarchies",
    [
        {"job": {"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f", "g"]}},
        {"age": "Quantiles(parts=8)"},
    ],
    ids=["listed", "built from the table"],
)
@pytest.mark.parametrize("require", ["KMap(k=30)", "DeltaPresence(low=0.01, high=0.5)"])
def test_descriptions_by_nodes(require: str, hierarchies: dict[str, object]) -> None:
    """The search counts whom a node matches, people with labels that the table lacks included."""
    everybody = drawn(3000, 1).with_columns(
        pl.when(pl.int_range(3000) % 50 == 0).then(pl.lit("g")).otherwise("job").alias("job")
    )
    some = everybody.filter(pl.col("job") != "g").sample(400, seed=2)
    if "age" in hierarchies:
        everybody = everybody.filter(pl.col("age").is_in(some["age"].implode()))
    schema = library.Schema(quasi=["age", "job"], sensitive="salary", hierarchies=hierarchies)
    release = library.anonymize(some, schema, require=require, population=everybody)
    audit = release.audit()
    assert audit.holds
    assert audit.groups is not None
    assert audit.groups > 4
