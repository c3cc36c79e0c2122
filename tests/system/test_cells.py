"""Cells as regions, through commands and files: what is said, refused, read back and found out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.audit.regions import check_regions
from shoal.audit.tables import read_manifest
from system.shell import shoal as run

RNG = np.random.default_rng(5)
ROWS = 240
TABLE = pl.DataFrame({
    "age": RNG.integers(18, 80, ROWS),
    "born": [f"19{year:02}-0{1 + year % 9}-11" for year in RNG.integers(20, 99, ROWS)],
    "height": [f"{tenths / 10:.1f}" for tenths in RNG.integers(1500, 2000, ROWS)],
    "kind": RNG.choice(["p", "q", "r", "s"], ROWS),
    "sex": RNG.choice(["f", "m"], ROWS),
    "who": RNG.integers(0, 90, ROWS),
    "pay": RNG.integers(0, 10_000, ROWS),
})  # fmt: skip
SCHEMA = """
table = "table.csv"
quasi = ["age", "born", "height", "kind"]
never_mix = ["sex"]
sensitive = "pay"
require = "KAnonymity(k=4)"
cells = "regions"
output = "published"
[columns.age]
bounds = [0, 119]
[columns.height]
bounds = [100, 250]
step = 0.5
[columns.born]
type = "date"
bounds = [1900-01-01, "2000-12-31"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where a table and its schema file are."""
    even = pl.col("height").cast(pl.Float64)
    rounded = ((even * 2).round() / 2).cast(pl.String)
    TABLE.with_columns(height=rounded).write_csv(tmp_path / "table.csv")
    (tmp_path / "shoal.toml").write_text(SCHEMA)
    return tmp_path


def test_a_schema_file_says_where_the_grid_lies(place: Path) -> None:
    done = run("anonymize", "--schema", str(place / "shoal.toml"))
    assert done.code == 0, done.said
    manifest = json.loads((place / "published" / "manifest.json").read_text())
    assert manifest["cells"] == manifest["asked"]["cells"] == "regions"
    assert manifest["method"] == "Mondrian()"
    said = {c["name"]: c for c in manifest["columns"]}
    assert said["age"]["bounds"] == said["age"]["domain"] == [0, 119]
    assert said["height"]["step"] == 0.5
    assert said["born"]["bounds"] == ["1900-01-01", "2000-12-31"]
    assert "bounds of" not in done.said
    assert run("audit", str(place / "published")).code == 0
    book = (place / "published" / "codebook.csv").read_text()
    assert book.count("region") == 4
    counted = run("count", str(place / "published"), "age < 40", "--json")
    assert counted.code == 0


def test_a_cell_that_is_drawn_around_its_rows_fails_the_audit(place: Path) -> None:
    """Whoever shortens one region, and mends every digest, is found out by the cuts alone."""
    assert run("anonymize", "--schema", str(place / "shoal.toml")).code == 0
    release = pl.read_csv(place / "published" / "release.csv", infer_schema=False)
    manifest = read_manifest(place / "published")
    assert check_regions(release, manifest, {}) == []
    wide = release.filter(pl.col("age").str.starts_with("["))["age"][0]
    low, high = json.loads(wide)
    group = release.filter(pl.col("age") == wide)["group"][0]
    spoiled = release.with_columns(
        age=pl.when(pl.col("group") == group)
        .then(pl.lit(f"[{low}, {high - 1}]" if high - 1 > low else str(low)))
        .otherwise("age")
    )
    assert check_regions(spoiled, manifest, {})
    off = release.with_columns(height=pl.col("height").str.replace(r"\.5", ".3"))
    assert "cannot" not in str(check_regions(off, manifest, {}))
    assert "regions of column 'height' end where" in check_regions(off, manifest, {})[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "Exchange()"], "makes groups without cuts"),
        (["--method", "Mondrian(relaxed=True)"], "divides rows with equal values"),
        (["--method", "Freeform(k=4)"], "makes groups without cuts"),
        (["--ledger", "series.ledger", "--person", "who"], "bounds and a step of column 'age'"),
        (["--engine", "Spark()"], "cannot be combined"),
        (["--cells", "round"], "takes tight or regions"),
    ],
)
def test_what_regions_cannot_be_had_with_is_refused(
    place: Path, words: list[str], said: str
) -> None:
    done = run("anonymize", "--schema", str(place / "shoal.toml"), *words)
    assert done.code == 2
    assert said in done.said


def test_regions_are_not_joined_by_coarsen(place: Path) -> None:
    made = run("anonymize", "--schema", str(place / "shoal.toml"), "--quiet")
    assert made.code == 0
    out = place / "coarser"
    release = next(path.parent for path in place.rglob("manifest.json"))
    done = run("coarsen", str(release), "--require", "KAnonymity(k=8)", "--output", str(out))
    assert done.code == 2
    assert "with regions coarser" in done.said
    assert "--cells" in done.said  # what to do instead
    assert not out.exists()


def test_two_tables_have_no_cells_to_draw(place: Path) -> None:
    words = ["--form", "two-tables", "--require", "EpsilonM(epsilon=5, m=2)"]
    done = run("anonymize", "--schema", str(place / "shoal.toml"), *words)
    assert done.code == 2
    assert "--form two-tables, which publishes no cells" in " ".join(done.said.split())
    assert not (place / "published").exists()
    release = shoal.anonymize(
        TABLE, shoal.Schema(quasi="age", sensitive="pay"), require="EpsilonM(epsilon=5, m=2)",
        cells="regions",
    )  # fmt: skip
    with pytest.raises(shoal.UsageError, match="publishes no cells"):
        release.table_as("two-tables")


def test_a_whole_that_fails_is_not_joined_from_parts() -> None:
    """Tight cells may be found by joining or dealing few parts; regions end with exit 3."""
    table = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6], "pay": [1, 1, 1, 1, 2, 3]})
    for method in ("Mondrian()", "Split()", "Oblivious()", None):
        with pytest.raises(shoal.NotAchievable):
            shoal.anonymize(
                table, shoal.Schema(quasi="age", sensitive="pay"),
                require="EpsilonM(epsilon=0, m=3)", method=method, cells="regions",
            )  # fmt: skip


def test_values_outside_the_bounds_or_beside_the_grid_are_refused() -> None:
    for said in ({"bounds": {"age": [20, 70]}}, {"step": {"age": 7}}):
        asked = shoal.Schema(quasi="age", sensitive="pay", **said)
        with pytest.raises(shoal.InputError, match="age"):
            shoal.anonymize(TABLE, asked, require="KAnonymity(k=3)", cells="regions")


@pytest.mark.parametrize("cells", ["tight", "regions"])
def test_cells_of_either_kind_lose_by_the_public_bounds(cells: str, tmp_path: Path) -> None:
    """A wide range says that a cell is narrow, whatever people have; without bounds theirs does."""
    for bounds in ([0, 119], [-1000, 1000], None):
        asked = shoal.Schema(quasi="age", sensitive="pay", bounds={"age": bounds} if bounds else {})
        release = shoal.anonymize(TABLE, asked, require="KAnonymity(k=4)", cells=cells)
        ends = release.table_as("bounds").select("age_low", "age_high")
        low, high = bounds or (ends["age_low"].min(), ends["age_high"].max())
        lost = float((ends["age_high"] - ends["age_low"]).mean()) / (high - low)
        assert release.manifest.loss.gcp == pytest.approx(lost)
        release.write(tmp_path / "out", force=True)
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
        assert manifest["loss"]["ncp"]["age"] == pytest.approx(lost, abs=1e-4)


def test_missing_numbers_are_a_place_of_their_own() -> None:
    table = TABLE.with_columns(age=pl.when(pl.int_range(ROWS) % 7 > 0).then("age"))
    asked = shoal.Schema(quasi=["age", "kind"], sensitive="pay", bounds={"age": [0, 119]})
    how: dict[str, Any] = {"require": "KAnonymity(k=4)", "cells": "regions", "missing": "value"}
    release = shoal.anonymize(table, asked, **how)
    assert release.audit().holds
    with pytest.raises(shoal.UsageError, match="no mean to publish"):
        shoal.anonymize(table, asked, **how, form="means")


@pytest.mark.parametrize("values", [[50, 61, None], ["1960-01-02", "1990-05-05", None]])
def test_a_cell_with_missing_numbers_that_ends_before_the_bound_fails(values: list[Any]) -> None:
    """It would be drawn around its rows at its upper end, though missing numbers stand behind."""
    table = pl.DataFrame({"x": [one and str(one) for one in values] * 4, "pay": range(12)})
    types = {"x": "numeric" if isinstance(values[0], int) else "date"}
    asked = shoal.Schema(quasi="x", sensitive="pay", types=types)
    release = shoal.anonymize(
        table, asked, require="KAnonymity(k=12)", cells="regions", missing="value"
    )
    cells = release.table.cast({"x": pl.String})
    assert check_regions(cells, release.manifest, {}) == []
    low, high, gap = json.loads(cells["x"][0])
    assert gap is None
    short = json.dumps([low, high - 1 if isinstance(high, int) else "1990-05-04", None])
    (said,) = check_regions(cells.with_columns(x=pl.lit(short)), release.manifest, {})
    assert "end where the step and the bounds of the manifest allow no cut" in said


def test_counts_take_nobody_to_lie_at_the_ends_of_a_region(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [40] * 10, "pay": range(10)})
    asked = shoal.Schema(quasi="age", sensitive="pay", bounds={"age": [0, 99]})
    for form in ("intervals", "bounds", "means"):
        release = shoal.anonymize(
            table, asked, require="KAnonymity(k=10)", cells="regions", form=form
        )
        release.write(tmp_path / form)
        found = shoal.count(tmp_path / form, "age < 1")
        if form == "means":
            assert found < 0.2  # most lie about the mean
        else:
            assert found == pytest.approx(10 / 100)


def test_people_who_would_straddle_a_cut_are_spared() -> None:
    asked = shoal.Schema(quasi=["age", "kind"], sensitive="pay", person="who")
    release = shoal.anonymize(TABLE, asked, require="KAnonymity(k=3)", cells="regions", seed=1)
    assert release.audit().holds
    assert (release.table.group_by("person").agg(pl.col("age").n_unique())["age"] == 1).all()


def test_linked_rows_count_among_what_people_are_cut_by(tmp_path: Path) -> None:
    people = TABLE["who"].unique().to_numpy()
    visits = pl.DataFrame({"who": np.repeat(people, people % 3), "what": "x"})
    asked = shoal.Schema(
        quasi=["age"], sensitive="pay", other=["visits.what"], person="who", most_rows=1,
        nobody_knows=["visits.what"],
    )  # fmt: skip
    release = shoal.anonymize(
        TABLE, asked, require="KAnonymity(k=3)", cells="regions", linked={"visits": visits}
    )
    release.write(tmp_path / "published")
    assert shoal.audit(tmp_path / "published").problems == ()


@pytest.mark.parametrize(
    "said",
    [
        {"round": {"age": 5}},
        {"round": {"height": 2}, "bottom": {"age": 25}, "top": {"age": 72}},
        {"top": {"age": "95%"}, "bounds": {"age": [0, 119]}},
        {"round": {"age": 4}, "top": {"age": 71}, "bounds": {"age": [1, 120]}},
    ],
    ids=str,
)
def test_regions_of_what_was_rounded_or_cut_off_pass_the_audit(said: Any, tmp_path: Path) -> None:
    """Their ends lie on the grid, and need not be numbers that a row can have."""
    schema = shoal.Schema(quasi=["age", "height"], sensitive="pay", **said)
    made = shoal.anonymize(TABLE, schema, require="KAnonymity(k=6)", cells="regions")
    made.write(tmp_path / "out")
    found = shoal.audit(tmp_path / "out")
    assert not found.complaints()
    assert found.to_dict()["verdict"] == made.facts["verdict"]
