"""What published tables show by themselves, counted again in plain Python."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.audit.published import read_release
from shoal.audit.tables import read_manifest
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from pathlib import Path

TREE = {"south": ["Aix", "Bari"], "north": ["Cork", "Delft", "Essen"]}


def people(seed: int, rows: int = 150) -> pl.DataFrame:
    chance = random.Random(seed)
    towns = [town for some in TREE.values() for town in some]
    return pl.DataFrame(
        {
            "age": [chance.randint(18, 60) for _ in range(rows)],
            "my height": [round(chance.gauss(170, 9), 1) for _ in range(rows)],
            "born": [f"19{chance.randint(60, 99)}-0{chance.randint(1, 9)}-11" for _ in range(rows)],
            "town": [chance.choice(towns) for _ in range(rows)],
            "pay": [chance.randint(1, 40) * 500 for _ in range(rows)],
            "ill": [chance.choice(["flu", "cold", "gout"]) for _ in range(rows)],
        }
    )


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "numbers": ({"quasi": ["age", "my height", "born"], "sensitive": "pay"}, {}),
    "labels": ({"quasi": ["town", "age"], "sensitive": "ill"}, {}),
    "nodes": ({"quasi": ["town", "age"], "sensitive": "ill", "hierarchies": {"town": TREE}}, {}),
    "means": ({"quasi": ["age", "my height"], "sensitive": "pay"}, {"form": "means"}),
    "two tables": (
        {"quasi": ["age", "town"], "sensitive": "ill"},
        {"form": "two-tables", "require": "FrequencyL(l=2)"},
    ),
    "no groups": ({"quasi": ["age", "my height"], "sensitive": "pay"}, {"method": "Freeform()"}),
}


def released(case: str, seed: int, place: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    roles, asked = CASES[case]
    table = people(seed)
    options: dict[str, Any] = {"require": "KAnonymity(k=3)"} | asked
    shoal.anonymize(table, shoal.Schema(**roles), **options).write(place)
    manifest = read_manifest(place)
    return table, shown(read_release(place, manifest, lean=True))


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", CASES)
def test_counts_lie_between_what_cells_allow_and_are_estimated_as_by_count(
    case: str, seed: int, tmp_path: Path
) -> None:
    table, found = released(case, seed, tmp_path / "out")
    assert len(found["questions"]) >= 3
    for one in found["questions"]:
        truth = satisfied(table, one["condition"])
        assert one["least"] <= truth <= one["most"], one
        assert one["least"] - 1e-9 <= one["about"] <= one["most"] + 1e-9, one
        joined = " and " in one["condition"] and case == "two tables"  # by groups alone
        if not joined:
            answer = shoal.count(tmp_path / "out", one["condition"])
            assert one["about"] == pytest.approx(answer), one
        columns = [name for name in table.columns if name in one["condition"]]
        if columns == ["pay"] or columns == ["ill"] or (case == "two tables" and not joined):
            assert one["least"] == one["most"] == truth


def satisfied(table: pl.DataFrame, condition: str) -> int:
    """Count the rows of the original for which a condition holds; nodes are their labels."""
    count = 0
    for row in table.iter_rows(named=True):
        holds = True
        for part in condition.split(" and "):
            name, sign, value = part.partition(" >= " if " >= " in part else " == ")
            cell = row[name.strip("`")]
            wanted = json.loads(value)
            holds &= cell >= wanted if ">=" in sign else cell in TREE.get(wanted, [wanted])
        count += holds
    return count


@pytest.mark.parametrize("case", ["numbers", "labels"])
def test_widths_are_those_of_the_cells(case: str, tmp_path: Path) -> None:
    _, found = released(case, 7, tmp_path / "out")
    published = pl.read_csv(tmp_path / "out" / "release.csv", infer_schema=False)
    for one in found["cells"]:
        widths = sorted(_width(cell) for cell in published[one["column"]])
        rows = len(widths)
        single = 0 if one["numeric"] else 1
        assert one["exact"] == sum(width == single for width in widths) / rows
        assert one["half"] == pytest.approx(widths[-(-rows // 2) - 1])
        assert one["ninety"] == pytest.approx(widths[-(-9 * rows // 10) - 1])
        assert one["widest"] == pytest.approx(widths[-1])


def _width(cell: str) -> float:
    """Return how much a cell covers: a difference, days, or labels."""
    if not cell.startswith("["):
        return 1 if cell[:1].isalpha() else 0
    ends = json.loads(cell)
    if isinstance(ends[0], int | float):
        return ends[1] - ends[0]
    if ends[0][:1].isdigit():
        days = pl.Series(ends).str.to_date()
        return (days[1] - days[0]).days
    return len(ends)


def test_values_are_those_of_the_published_rows(tmp_path: Path) -> None:
    table, found = released("labels", 5, tmp_path / "out")
    (one,) = found["values"]
    counts = dict(table["ill"].value_counts().iter_rows())
    shares = dict(zip(one["names"], one["shares"], strict=True))
    assert shares == {label: count / table.height for label, count in counts.items()}
    table, found = released("numbers", 5, tmp_path / "more")
    (one,) = found["values"]
    assert sum(one["shares"]) == pytest.approx(1)
    below = [sum(pay < edge for pay in table["pay"]) / table.height for edge in one["edges"]]
    for place, share in enumerate(below):
        assert sum(one["shares"][: place + 1]) == pytest.approx(share)


def test_the_example_is_a_whole_group_as_it_is_published(tmp_path: Path) -> None:
    released("numbers", 3, tmp_path / "out")
    manifest = read_manifest(tmp_path / "out")
    found = shown(read_release(tmp_path / "out", manifest, lean=True))["example"]
    published = pl.read_csv(tmp_path / "out" / "release.csv", infer_schema=False)
    assert [one["name"] for one in found["columns"]] == published.columns
    group = found["rows"][0][0]
    rows = [list(row) for row in published.filter(pl.col("group") == group).iter_rows()]
    assert found["rows"] == rows
    assert found["group"] == len(rows)


def test_missing_numbers_satisfy_no_question_and_are_exact_alone(tmp_path: Path) -> None:
    chance = random.Random(4)
    table = people(4).with_columns(
        age=pl.Series([None if chance.random() < 0.2 else age for age in people(4)["age"]])
    )
    schema = shoal.Schema(quasi=["age", "born"], sensitive="pay")
    asked: Any = {"require": "KAnonymity(k=3)", "missing": "value"}
    shoal.anonymize(table, schema, **asked).write(tmp_path / "out")
    manifest = read_manifest(tmp_path / "out")
    found = shown(read_release(tmp_path / "out", manifest, lean=True))
    for one in found["questions"]:
        known = table.drop_nulls("age") if "age" in one["condition"] else table
        assert one["least"] <= satisfied(known, one["condition"]) <= one["most"]
        answer = shoal.count(tmp_path / "out", one["condition"])
        assert one["about"] == pytest.approx(answer), one
    assert found["map"]["x"]["names"][-1] == "(missing)" or "(missing)" in str(found["map"])
    assert shoal.report(tmp_path / "out").encode() == (tmp_path / "out/report.html").read_bytes()
