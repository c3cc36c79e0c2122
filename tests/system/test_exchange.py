"""Proximity of any data on the command line: distances, several columns, suppression, refusals."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from reference import release
from searched import searched
from system.shell import Row, anonymize, names_in, people, shoal, write_csv

if TYPE_CHECKING:
    from pathlib import Path

ILL = ("flu", "cold", "ulcer", "cancer", "gout", "burn", "none")
PATHS = ("flu;lung", "cold;lung", "ulcer;gut", "cancer;new", "gout;new", "burn;skin", "none;none")
HIERARCHY = "".join(f"{path};*\n" for path in PATHS)


def patients(rows: int = 240) -> list[Row]:
    return [
        {"age": str(20 + i * 7 % 60), "zip": str(100 + i * 13 % 40), "illness": ILL[i * i % 7],
         "cost": str(100 * (i * 31 % 97))}
        for i in range(rows)
    ]  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "patients.csv", patients())


def groups_of(directory: Path, *columns: str) -> list[list[tuple[str, ...]]]:
    with (directory / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        found.setdefault(row["group"], []).append(tuple(row[name] for name in columns))
    return list(found.values())


def test_dissimilarity_over_a_hierarchy_holds_by_hand(table: Path, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(HIERARCHY, "utf-8")
    distance = f"Hierarchical(file='{tmp_path}/h.csv')"
    require = f"Dissimilarity(epsilon=0.5, delta=0.6, k=6, distance={distance})"
    out = tmp_path / "out"
    done = anonymize(table, out, "--quasi", "age,zip", "--sensitive", "illness", require=require)
    assert done.code == 0, done.said
    parent = dict(line.split(";")[:2] for line in HIERARCHY.split())
    for group in groups_of(out, "illness"):
        assert len(group) >= 6
        for (one,) in group:
            near = sum(parent[one] == parent[other] for (other,) in group) - 1
            assert near <= Fraction(4, 10) * (len(group) - 1)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["method"] == "Exchange()"
    assert str(tmp_path) not in (out / "manifest.json").read_text("utf-8")
    assert shoal("audit", out).code == 0  # without the file: its contents are in the manifest


def test_a_requirement_for_each_sensitive_column_holds_in_the_same_groups(
    table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = anonymize(
        table, out, "--quasi", "age,zip", "--sensitive", "cost,illness",
        "--require", "cost: EpsilonM(epsilon=200, m=4)", "--require", "illness: FrequencyL(l=3)",
    )  # fmt: skip
    assert done.code == 0, done.said
    for group in groups_of(out, "cost", "illness"):
        costs = [int(cost) for cost, _ in group]
        assert all(4 * sum(abs(c - d) <= 200 for d in costs) <= len(costs) for c in costs)
        assert 3 * max(Counter(ill for _, ill in group).values()) <= len(group)


def test_the_default_loses_less_than_the_paper(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "people.csv", people(600))
    losses: list[float] = []
    for method in ("Exchange()", 'Split(partition="round-robin")'):
        out = tmp_path / str(len(losses))
        require = "EpsilonM(epsilon=900, m=4)"
        done = anonymize(table, out, "--method", method, "--json", require=require)
        losses.append(done.json()["loss"]["gcp"])
    assert losses[0] < 0.8 * losses[1]


def test_what_is_not_achievable_ends_with_the_delta_that_is(table: Path, tmp_path: Path) -> None:
    rows = patients(40)
    for row in rows[:30]:
        row["illness"] = "flu"
    crowded = write_csv(tmp_path / "crowded.csv", rows)
    require = "Dissimilarity(epsilon=0, delta=0.6, k=4, distance=Equality())"
    options: tuple[str, ...] = ("--quasi", "age,zip", "--sensitive", "illness")
    done = anonymize(crowded, tmp_path / "out", *options, require=require)
    assert done.code == 3
    assert "Delta can be" in done.said
    assert "out" not in names_in(tmp_path)
    options = (*options, "--suppress", "70%", "--json")
    done = anonymize(crowded, tmp_path / "out", *options, require=require)
    assert done.code == 0, done.said
    manifest = done.json()
    assert manifest["suppressed"] > 0
    assert manifest["rows"] + manifest["suppressed"] == 40
    assert manifest["loss"]["gcp"] >= manifest["suppressed"] / 40
    assert not release.problems(tmp_path / "out")
    assert shoal("audit", tmp_path / "out").code == 0


def test_the_owner_is_told_what_leaving_rows_out_paid_back(tmp_path: Path) -> None:
    rows = patients(200)
    rows[7]["age"] = "999"
    table = write_csv(tmp_path / "outlier.csv", rows)
    roles = ("--quasi", "age,zip", "--sensitive", "illness", "--suppress", "1%")
    done = anonymize(table, tmp_path / "out", *roles, require="KAnonymity(k=5)")
    assert done.code == 0, done.said
    assert "so that the other rows keep more detail: GCP" in done.said
    written = "".join(
        (tmp_path / "out" / name).read_text("utf-8") for name in ("release.csv", "manifest.json")
    )
    assert "999" not in searched(written)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert 1 <= manifest["suppressed"] <= 2
    assert not release.problems(tmp_path / "out")


def test_a_search_out_of_time_is_published_by_what_holds(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "many.csv", patients(4000))
    options = ("--quasi", "age,zip", "--sensitive", "cost", "--seconds", "0.0001")
    done = anonymize(table, tmp_path / "out", *options, require="EpsilonM(epsilon=900, m=4)")
    assert done.code == 0, done.said
    assert "By Split(), which lost least of the methods that finished" in done.said
    for group in groups_of(tmp_path / "out", "cost"):
        costs = [int(cost) for (cost,) in group]
        assert all(4 * sum(abs(a - b) <= 900 for b in costs) <= len(costs) for a in costs)


def test_a_search_out_of_time_is_not_published_where_nothing_holds(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(HIERARCHY, "utf-8")
    distance = f"Hierarchical(file='{tmp_path}/h.csv')"  # no method but exchanges serves it
    require = f"Dissimilarity(epsilon=0.5, delta=0.6, k=6, distance={distance})"
    table = write_csv(tmp_path / "many.csv", patients(4000))
    options = ("--quasi", "age,zip", "--sensitive", "illness", "--seconds", "0.0001")
    done = anonymize(table, tmp_path / "out", *options, require=require)
    assert done.code == 3
    assert "--seconds" in done.said
    assert "k=" in done.said
    assert "out" not in names_in(tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--suppress", "lots"), "such as 1%"),
        (("--seconds", "-1"), "seconds above 0"),
        (("--method", "Exchange(size=500)"), "Groups of 500"),
        (("--method", "Mondrian()"), "survive"),
        (("--method", "XColor()", "--require", "FrequencyL(l=2)"), "one pairwise requirement"),
    ],
)
def test_bad_options_are_refused(table: Path, tmp_path: Path, options, words) -> None:
    roles = ("--quasi", "age,zip", "--sensitive", "cost")
    require = "EpsilonM(epsilon=200, m=4)"
    done = anonymize(table, tmp_path / "out", *roles, *options, require=require)
    assert done.code == 2, done.said
    assert words in done.said
    assert "out" not in names_in(tmp_path)


def test_plan_says_what_is_known_about_a_dissimilarity(table: Path) -> None:
    require = "Dissimilarity(epsilon=0, delta=0.5, k=4, distance=Equality())"
    found = shoal("plan", table, "--sensitive", "illness", "--require", require, "--json").json()
    counts = Counter(row["illness"] for row in patients())
    assert found["degree"] == max(counts.values()) - 1
    assert found["classes"] == 60
    assert found["neighbours"] == 1
    assert found["guaranteed"] == (found["degree"] <= found["classes"] * 2 / 2)
    assert {"k", "neighbours", "delta"} <= set(found["reaches"][0])
    assert "certain" in shoal("plan", table, "--sensitive", "illness", "--require", require).out
