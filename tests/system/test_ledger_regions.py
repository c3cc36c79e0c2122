"""Regions in a series: each round is cut by itself, and nothing that was drawn ever changes."""

import csv
import json
import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.audit.regions import check_regions
from shoal.audit.tables import read_manifest
from system.shell import shoal as command

TREE = {"A": {"A1": ["a", "b"], "A2": ["c"]}, "B": ["d", "e"]}
UNDER = {"*": "abcde", "A": "abc", "A1": "ab", "A2": "c", "B": "de", **{x: x for x in "abcde"}}
BOUNDS, STEP = {"age": [0, 120], "height": [1, 2.5]}, {"age": 1, "height": "0.25"}
REQUIRE = "EpsilonM(epsilon=3, m=2)"


def schema(**more: Any) -> shoal.Schema:
    said: dict[str, Any] = {"hierarchies": {"town": TREE}, "bounds": BOUNDS, "step": STEP} | more
    return shoal.Schema(
        quasi=["age", "town", "height"], never_mix=["sex"], sensitive="pay", person="who", **said
    )


def somebody(draw: random.Random, number: int, towns: str) -> dict[str, str]:
    return {
        "who": f"p{number}",
        "age": str(draw.randint(18, 99)),
        "sex": draw.choice("fm"),
        "town": draw.choice(towns),
        "height": draw.choice(["1.5", "1.50", "1.75", "2"]),
        "pay": str(draw.choice([0, 10, 25, 40, 99, draw.randint(0, 400)])),
    }


def publish(where: Path, name: str, people: list[dict[str, str]], **more: Any):
    asked: dict[str, Any] = {"schema": schema(), "require": REQUIRE, "least_real": 2} | more
    return shoal.results.Run(
        table=pl.DataFrame(people), ledger=where / "ledger", output=where / name,
        **({"cells": "regions"} | asked),
    ).publish()  # fmt: skip


def series(where: Path, seed: int, **more) -> list[Path]:
    """Publish four rounds, the first with few towns; half of the people leave in each."""
    draw = random.Random(seed)
    people, found = [somebody(draw, number, "ab") for number in range(50)], []
    for turn in range(4):
        assert publish(where, f"r{turn}", people, seed=seed * 10 + turn, **more).audit.holds
        found.append(where / f"r{turn}")
        draw.shuffle(people)
        fresh = range(100 * (turn + 1), 100 * (turn + 1) + 25)
        people = people[20:] + [somebody(draw, number, "abcde") for number in fresh]
    return found


def cells_of(place: Path) -> dict[int, tuple[str, ...]]:
    """Return the quasi cells of each group, as a reader of CSV has them."""
    with (place / "release.csv").open(newline="") as file:
        return {
            int(row["group"]): tuple(row[name] for name in ("age", "sex", "town", "height"))
            for row in csv.DictReader(file)
        }


def points(cell: tuple[str, ...]) -> list[tuple]:
    """Return the combinations of values that a region covers."""
    spans = []
    for text, step in ((cell[0], Fraction(1)), (cell[3], Fraction(1, 4))):
        ends = [Fraction(end) for end in text.strip("[]").split(", ")]
        spans.append([ends[0] + step * i for i in range(int((ends[-1] - ends[0]) / step) + 1)])
    return [(cell[1], *one) for one in product(spans[0], UNDER[cell[2]], spans[1])]


@pytest.mark.parametrize("method", ["Split()", "Oblivious()", "Mondrian()"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_each_round_is_cut_by_itself_for_good(tmp_path: Path, method: str, seed: int) -> None:
    known: dict[int, tuple[str, ...]] = {}
    places = series(tmp_path, seed, method=method)
    for place in places:
        now = cells_of(place)
        assert all(known.get(group, cell) == cell for group, cell in now.items())
        known |= now
        births = json.loads((place / "manifest.json").read_text())["births"]
        firsts = [*(one["first"] for one in births), len(known)]
        for at, birth in enumerate(births):
            own = {known[g] for g in range(firsts[at], firsts[at + 1]) if g in now}
            gone = {
                (age, sex, json.loads(town)[-1], height) for age, sex, town, height in birth["gone"]
            }
            assert gone == {known[g] for g in range(firsts[at], firsts[at + 1]) if g not in now}
            covered = [one for cell in own | gone for one in points(cell)]
            assert len(covered) == len({*covered})  # regions are equal or disjoint
            ages = {(sex, age) for sex, age, _, _ in covered}  # a town may be empty on one side
            for sex in {sex for sex, _ in ages}:
                assert {(sex, 0), (sex, 120)} <= ages, sex
    assert any(one["gone"] for one in births)
    done = command("audit", *map(str, places))
    assert done.code == 0, done.said


@pytest.mark.parametrize("form", ["bounds", "means"])
def test_forms_of_a_series_have_regions_too(tmp_path: Path, form: str) -> None:
    for place in series(tmp_path, 3, method="Split()", form=form):
        assert command("audit", str(place)).code == 0


def test_a_release_that_hides_what_is_gone_fails(tmp_path: Path) -> None:
    last = series(tmp_path, 1, method="Split()")[-1]
    release = pl.read_csv(last / "release.csv", infer_schema=False)
    manifest = read_manifest(last)
    assert check_regions(release, manifest, {}) == []
    assert manifest.births[0].gone
    manifest.births[0].gone.clear()
    assert "cannot come from cuts" in check_regions(release, manifest, {})[0]
    manifest.births.pop(0)
    assert "belong to no round" in check_regions(release, manifest, {})[0]


def test_what_would_change_regions_is_refused(tmp_path: Path) -> None:
    draw = random.Random(1)
    people = [somebody(draw, number, "abcde") for number in range(50)]
    for more, said in (
        ({"bounds": {"height": [1, 2.5]}}, "bounds and a step of column 'age'"),
        ({"step": {"age": 1}}, "bounds and a step of column 'height'"),
        ({"hierarchies": {}}, "column 'town'"),
        ({"missing_cells": {"age": "value"}}, "cannot cover missing numbers"),
    ):
        with pytest.raises(shoal.UsageError, match=said):
            publish(tmp_path, "first", people, schema=schema(**more))
    publish(tmp_path, "first", people)
    with pytest.raises(shoal.UsageError, match="'cells' = regions"):
        publish(tmp_path, "second", people, cells="tight")
    with pytest.raises(shoal.UsageError, match="'bounds' = "):
        publish(tmp_path, "second", people, schema=schema(bounds=BOUNDS | {"age": [0, 130]}))
