"""The audit of anything and the attacker's view, through files and the command."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import shoal as library
from shoal.audit.covers import read_interval, read_labels
from system.shell import anonymize, people, shoal, write_csv

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("--quasi", "age,zip", "--sensitive", "salary")
SCHEMA = library.Schema(quasi=["age", "zip"], sensitive="salary")
CELLS = ("[17, 24]", "17-24", "17..24", "<=24", "11***", '["a", "b"]', "{a, b}", "under 25", None)


def original(rows: int = 600) -> pl.DataFrame:
    random = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": random.integers(16, 90, rows),
            "zip": random.integers(10000, 10060, rows),
            "salary": random.integers(0, 1000, rows) * 10,
        }
    )


def homogeneous(rows: int = 600) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a table whose salary follows from age, and a 10-anonymous release that shows it."""
    table = original(rows).with_columns(salary=pl.col("age") // 10 * 1000)
    decade = pl.col("age") // 10 * 10
    cells = pl.format("{}-{}", decade, decade + 9)
    return table, table.select(age=cells, zip=pl.lit("10***"), salary="salary")


@pytest.mark.parametrize("cell", CELLS)
def test_cells_of_any_spelling_make_groups(cell: str | None, tmp_path: Path) -> None:
    rows = [{"age": cell or "", "zip": "*", "salary": str(v)} for v in (1, 2, 3)]
    rows += [{"age": "other", "zip": "*", "salary": str(v)} for v in (1, 50)]
    found = shoal("audit", write_csv(tmp_path / "t.csv", rows), *COLUMNS, "--json")
    assert found.code == 0
    facts = found.json()
    assert (facts["rows"], facts["groups"], facts["k"]) == (5, 2, 2)
    levels = {one["principle"]: one["level"] for one in facts["columns"][0]["levels"]}
    assert levels["DistinctL"] == 2
    assert levels["EntropyL"] == 2


def test_a_group_column_makes_groups(tmp_path: Path) -> None:
    table = original(60).with_columns(team=pl.int_range(60) % 6)
    path = tmp_path / "t.csv"
    table.write_csv(path)
    found = shoal("audit", path, *COLUMNS, "--group", "team", "--json").json()
    assert (found["groups"], found["k"], found["by"]) == (6, 10, "team")
    assert found["remarks"]  # rows of one team have different cells
    alone = shoal("audit", path, *COLUMNS, "--json").json()
    assert alone["by"] == "equal cells"
    assert alone["identification"]["prosecutor"] == 1


def test_the_survey_agrees_with_what_is_required(tmp_path: Path) -> None:
    release = library.anonymize(original(), SCHEMA, require="EpsilonM(epsilon=300, m=4)").table
    path = tmp_path / "t.csv"
    release.write_csv(path)
    facts = shoal("audit", path, *COLUMNS, "--json").json()
    for level in facts["columns"][0]["levels"]:
        if level["principle"] in {"DistinctL", "EntropyL", "TCloseness"}:
            fixed = "".join(f", {name}={value!r}" for name, value in level["fixed"].items())
            asked = f"{level['principle']}({level['parameter']}={level['level']!r}{fixed})"
            found = shoal("audit", path, *COLUMNS, "--require", asked, "--json").json()
            by_group = [one for one in found["measured"] if one["by"] == "group"]
            assert all(one["holds"] for one in by_group), asked


def test_the_journalist_and_the_report(tmp_path: Path) -> None:
    everybody = original()
    everybody.write_csv(tmp_path / "all.csv")
    library.anonymize(
        everybody.head(200), SCHEMA, require="KAnonymity(k=4)", method="Mondrian()"
    ).table.drop("group").write_csv(tmp_path / "t.csv")
    report = tmp_path / "report.html"
    options = ("--population", tmp_path / "all.csv", "--report", report, "--json")
    found = shoal("audit", tmp_path / "t.csv", *COLUMNS, *options).json()["identification"]
    assert found["prosecutor"] == 0.25
    assert found["journalist"] < found["prosecutor"]
    assert found["marketer_population"] < found["marketer"]
    assert found["k_map"] == round(1 / found["journalist"])
    assert 0 < found["presence"][0] <= found["presence"][1] <= 1
    for asked in (
        f"KMap(k={found['k_map']})",
        f"DeltaPresence(low={found['presence'][0]}, high={found['presence'][1]})",
    ):
        people = ("--population", tmp_path / "all.csv")
        assert shoal("audit", tmp_path / "t.csv", *COLUMNS, *people, "--require", asked).code == 0
    text = report.read_text("utf-8")
    assert "Riskiest groups" in text
    assert "Riskiest records" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    again = shoal("audit", tmp_path / "t.csv", *COLUMNS, "--report", report)
    assert again.code == 4
    assert "exists" in again.said


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    original(50).write_csv(path)
    assert shoal("audit", path, "--quasi", "age").code == 2
    asked = ("--require", "KAnonymity(k=1)", "--group", "zip")
    assert shoal("audit", path, *COLUMNS, *asked).code == 2
    assert shoal("audit", path, *COLUMNS, "--group", "nowhere").code == 2
    assert shoal("audit", path, *COLUMNS, "--original", path).code == 2
    assert shoal("attack", path, *COLUMNS, "--delta", "2").code == 2
    assert shoal("attack", path, *COLUMNS, "--distance", "KAnonymity(k=2)").code == 2
    assert shoal("attack", path, "--quasi", "age").code == 2


def test_without_grouping_everything_is_vulnerable(tmp_path: Path) -> None:
    """Rows that nobody shares a description with are in breach at every ε and δ."""
    table = original(300).with_columns(zip=10000 + pl.int_range(300))
    table.write_csv(tmp_path / "bare.csv")
    options = ("--original", tmp_path / "bare.csv", "--json")
    found = shoal("attack", tmp_path / "bare.csv", *COLUMNS, *options).json()
    (grid,) = found["vulnerability"]
    assert all(point["share"] == 1 for point in grid["grid"])
    assert all(one["hits"] == 1 for one in found["linking"])
    assert found["linking"][0]["prior"] < 0.1


def test_k_anonymous_groups_with_one_value_are_broken_by_linking() -> None:
    table, release = homogeneous()
    assert library.audit(release, SCHEMA, require="KAnonymity(k=5)").holds
    found = library.attack([release], SCHEMA, original=table).to_dict()
    assert found["linking"][0]["epsilon"] == 0
    assert found["linking"][0]["hits"] == 1
    assert found["linking"][0]["prior"] < 0.3
    assert found["learning"][0]["accuracy"] > 0.95
    assert found["learning"][0]["gain"] > 0.5
    assert all(point["share"] == 1 for point in found["vulnerability"][0]["grid"])


def test_an_epsilon_m_release_is_not_beyond_its_bound(tmp_path: Path) -> None:
    """At its ε, δ up to 1 - 1/m finds no breach, and linking stays under 2/m."""
    table = original(1500)
    table.write_csv(tmp_path / "t.csv")
    library.anonymize(table, SCHEMA, require="EpsilonM(epsilon=200, m=10)").write(tmp_path / "em")
    options = ("--original", tmp_path / "t.csv", "--epsilon", "200,9000", "--delta", "0.5,0.9,1")
    found = shoal("attack", tmp_path / "em", *options, "--json").json()
    shares = {(p["epsilon"], p["delta"]): p["share"] for p in found["vulnerability"][0]["grid"]}
    assert shares[200, 0.5] == shares[200, 0.9] == 0
    assert shares[9000, 0.9] == 1
    assert found["linking"][0]["epsilon"] == 200
    assert found["linking"][0]["unmatched"] == 0
    assert found["linking"][0]["hits"] <= 0.2 + 0.03
    assert found["linking"][1]["hits"] > 0.9


def test_vulnerability_grows_with_epsilon_and_delta() -> None:
    release = library.anonymize(
        original(), SCHEMA, require="DistinctL(l=5)", method="Mondrian()"
    ).table
    (one,) = library.attack([release], SCHEMA).vulnerability
    counts = np.array(one.breaches)
    assert (np.diff(counts, axis=0) >= 0).all()
    assert (np.diff(counts, axis=1) >= 0).all()
    assert counts[0, 0] < counts[-1, -1]


def test_a_distance_over_several_columns() -> None:
    table = original().with_columns(hours=pl.col("salary") % 70)
    schema = library.Schema(quasi=["age", "zip"], sensitive=["salary", "hours"])
    release = library.anonymize(table, schema, require="KAnonymity(k=6)").table
    found = library.attack(
        [release], schema, distance=library.distances.Lp(p=1, weights=(0.5, 0.5))
    )
    (one,) = found.vulnerability
    assert one.column == "salary+hours"
    assert len(library.attack([release], schema).vulnerability) == 2


def test_two_releases_together_leave_fewer_values(tmp_path: Path) -> None:
    table = original().with_columns(salary=pl.int_range(600) * 10)
    young = pl.col("age") < 50
    by_age = table.select(
        age=pl.when(young).then(pl.lit("<50")).otherwise(pl.lit(">=50")), zip=pl.lit("*"),
        salary="salary",
    )  # fmt: skip
    by_zip = table.select(age=pl.lit("*"), zip=pl.col("zip").cast(pl.String), salary="salary")
    table.write_csv(tmp_path / "t.csv")
    by_age.write_csv(tmp_path / "a.csv")
    by_zip.write_csv(tmp_path / "b.csv")
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    report = tmp_path / "report.html"
    options = ("--original", tmp_path / "t.csv", "--report", report)
    said = shoal("attack", *files, *COLUMNS, *options)
    assert said.code == 0
    assert "minimality" in said.out
    assert report.read_text("utf-8").count("<figure>") == 3  # each by itself, and both together
    found = shoal("attack", *files, *COLUMNS, "--original", tmp_path / "t.csv", "--json").json()
    (both,) = found["intersection"]
    assert both["in_both"] == 600
    expected = table.with_columns(young=young).group_by("young", "zip").len()["len"]
    assert both["mean_values"]["both"] == pytest.approx((expected**2).sum() / 600)
    assert both["pinned"]["both"] == pytest.approx((expected == 1).sum() / 600)
    assert both["pinned"]["first"] == 0


def test_a_release_without_groups_is_vulnerable_by_the_rows_that_people_match(
    table: Path, place: Path
) -> None:
    made = anonymize(table, place / "out", "--method", "Freeform()", require="KAnonymity(k=3)")
    assert made.code == 0
    found = shoal("attack", place / "out", "--original", table, "--json").json()
    (one,) = found["vulnerability"]
    assert one["groups"] is None
    assert one["people"] == one["people_in_all"] == len(people())
    assert all(entry["error"] is None for entry in one["grid"])
    assert "among the rows of out that match them" in one["sentence"]
    assert found["linking"][0]["people"] == len(people())
    assert found["linking"][0]["unmatched"] == 0
    report = place / "attack.html"
    said = shoal("attack", place / "out", "--original", table, "--report", report)
    assert "among the rows of out that match them" in " ".join(said.out.split())
    assert "for whom, among the rows that match them" in report.read_text("utf-8")
    alone = shoal("attack", place / "out", "--json").json()
    assert alone["vulnerability"] == []
    assert any("needs the original" in remark for remark in alone["remarks"])


def test_spellings_of_intervals_and_sets() -> None:
    assert read_interval("[17, 24]") == read_interval("17 - 24") == (17, 24)
    low, high = read_interval("(17,24)") or (0, 0)
    assert 17 < low < high < 24
    assert read_interval("-5--1") == (-5, -1)
    assert read_interval("11***") is None
    assert read_labels("x;y|z") == ["x;y|z", "x", "y", "z"]


def test_labels_and_missing_values_are_measured_too(tmp_path: Path) -> None:
    table = original(200).with_columns(
        illness=pl.Series(["flu", "cold", None, "gout"] * 50),
        salary=pl.col("salary").cast(pl.Float64),
    )
    table[7, "salary"] = None
    table.write_csv(tmp_path / "t.csv")
    by_age = table.with_columns(
        age=pl.when(pl.col("age") < 50).then(pl.lit("<50")), zip=pl.lit("*")
    )
    by_age.write_csv(tmp_path / "r.csv")
    columns = ("--quasi", "age,zip", "--sensitive", "illness,salary")
    found = shoal("audit", tmp_path / "r.csv", *columns, "--json").json()
    assert (found["rows"], found["groups"]) == (200, 2)  # the missing age is a group
    illness, salary = found["columns"]
    assert not illness["numeric"]
    assert illness["distinct"] == 4
    assert salary["numeric"]  # and one is missing
    assert [one["epsilon"] for one in illness["proximity"]] == [0]
    attacked = shoal(
        "attack", tmp_path / "r.csv", *columns, "--original", tmp_path / "t.csv", "--json"
    ).json()
    assert {one["column"] for one in attacked["linking"]} == {"illness", "salary"}
    assert any(
        "rows of the original in which a sensitive value" in remark
        for remark in attacked["remarks"]
    )
