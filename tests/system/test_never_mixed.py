"""Numbers and dates that are never mixed stand in every form as they stood in the table."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import jvm
import shoal
from forged import reported
from shoal.runs.certificate import write_scripts
from shoal.table.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

NEVER = ("year", "dose", "day", "seen")
AGE = {
    "intervals": ("age",),
    "bounds": ("age_low", "age_high"),
    "means": ("age", "age_low", "age_high"),
    "two-tables": ("age",),
}
COUNTS = {
    "year == 2021": lambda row: row["year"] == 2021,
    "dose <= 1": lambda row: row["dose"] is not None and row["dose"] <= 1,
    'day >= "2021-02-01"': lambda row: row["day"] >= date(2021, 2, 1),
    'seen >= "2020-01-01" and year > 2020': lambda row: row["seen"] and row["year"] > 2020,
}


def patients(rows: int = 96) -> pl.DataFrame:
    """Return numbers and dates of which few are different, with missing ones, and pay of one's own.

    Every combination of values has twelve rows.
    """
    chance = random.Random(4)
    kinds = [
        (year, dose, day, seen)
        for year in (2020, 2021)
        for dose, day in ((0.5, date(2021, 1, 5)), (None, date(2021, 2, 7)))
        for seen in (None, date(2020, 3, 1))
    ]
    held = [kinds[row % len(kinds)] for row in range(rows)]
    columns = dict(zip(NEVER, map(list, zip(*held, strict=True)), strict=True))
    ages = {"age": [chance.randint(20, 80) for _ in range(rows)]}
    return pl.DataFrame(ages | columns | {"pay": [1000 * row for row in range(rows)]})


def anonymized(form: str, *, engine: Any = None) -> shoal.Release:
    table = patients()
    return shoal.anonymize(
        table if engine is None else jvm.frame(table),
        shoal.Schema(quasi=["age", *NEVER], sensitive="pay", never_mix=NEVER),
        require="EpsilonM(epsilon=500, m=2)",
        method="Split()",
        missing="value",
        form=form,
        engine=engine,
    )


def check(place: Path, form: str, cells: pl.DataFrame) -> None:
    """Compare columns and cells with the input, and what commands say of them."""
    assert cells.columns[1:] == [*AGE[form], *NEVER, *["pay"] * ("pay" in cells.columns)]
    people = patients()
    by = ["pay"] * ("pay" in cells.columns)
    rows = [
        Counter(table.select(pl.col(*NEVER, *by).cast(pl.String)).fill_null("").rows())
        for table in (cells, people)
    ]
    assert rows[0] == rows[1]
    found = shoal.audit(place)
    assert found.holds, found.complaints()
    assert shoal.report(place).encode() == (place / "report.html").read_bytes()
    for condition, meant in COUNTS.items():
        assert shoal.count(place, condition) == sum(
            bool(meant(row)) for row in people.rows(named=True)
        )
    typed = shoal.measures.read(place)
    typed = typed[0] if form == "two-tables" else typed
    assert [name for name in typed.columns if name.startswith(NEVER)] == list(NEVER)
    assert [typed[name].dtype for name in NEVER] == [pl.Int64, pl.Float64, pl.Date, pl.Date]


READERS = {
    "csv": lambda path: pl.read_csv(path, infer_schema=False),
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
    "xlsx": lambda path: pl.read_excel(path, engine="calamine"),
}


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
def test_columns_and_cells_are_those_of_the_table(form: str, tmp_path: Path) -> None:
    release = anonymized(form)
    table = release.table[0] if form == "two-tables" else release.table
    kinds = [table[name].dtype for name in NEVER]
    assert kinds == [pl.Int64, pl.Float64, pl.Date, pl.Date]
    stem = "people" if form == "two-tables" else "release"
    features = shoal.measures.features(release)
    for kind, read in READERS.items():
        place = tmp_path / kind
        release.write(place, format=kind)
        check(place, form, read(place / f"{stem}.{kind}"))
        assert shoal.measures.features(place).equals(features)


@pytest.mark.spark
def test_spark_publishes_the_same_columns_and_cells(tmp_path: Path) -> None:
    form = "means"  # has all that bounds have
    anonymized(form, engine=jvm.engine(shard=40)).write(tmp_path / "out")
    check(tmp_path / "out", form, pl.read_parquet(tmp_path / "out" / "release.parquet"))


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["bounds", "means"])
def test_other_forms_and_coarser_releases_keep_them(form: str, tmp_path: Path) -> None:
    release = anonymized("intervals").as_form(form)
    release.write(tmp_path / "out")
    coarser = shoal.coarsen(tmp_path / "out", require="KAnonymity(k=4)")
    coarser.write(tmp_path / "coarser")
    own = form if form == "bounds" else "intervals"
    for place, named in ((tmp_path / "out", form), (tmp_path / "coarser", own)):
        check(place, named, READERS["csv"](place / "release.csv"))


SPOILED = {  # cells to change, and what becomes of them
    "dose": ("0.5", ["0.4", "[0.5, 0.5, null]", ""]),
    "day": ("2021-01-05", ["2021-02-07", '["2021-01-05", "2021-02-07"]', ""]),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS[:3])
def test_a_spoiled_cell_is_found(form: str, tmp_path: Path) -> None:
    anonymized(form).write(tmp_path / "out")
    with (tmp_path / "out" / "release.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    changes = [(name, plain, one) for name, (plain, some) in SPOILED.items() for one in some]
    for at, (name, plain, cell) in enumerate(changes):
        place = tmp_path / str(at)
        shutil.copytree(tmp_path / "out", place)
        forged = [dict(line) for line in lines]
        next(line for line in forged if line[name] == plain)[name] = cell
        with (place / "release.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(forged)
        manifest = json.loads((place / "manifest.json").read_text())
        digest = hashlib.sha256((place / "release.csv").read_bytes()).hexdigest()
        manifest["digests"]["release.csv"] = f"sha256:{digest}"
        (place / "manifest.json").write_text(json.dumps(manifest))
        reported(place)
        found = shoal.audit(place)
        assert not found.holds
        assert any(repr(name) in one or "group" in one for one in found.complaints())


@pytest.mark.parametrize("form", ["intervals", "means"])
def test_loaders_give_one_column_each(form: str, tmp_path: Path) -> None:
    anonymized(form).write(tmp_path / "out")
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    with (tmp_path / "out" / "codebook.csv").open() as file:
        lines = {line["name"]: line for line in csv.DictReader(file)}
    assert [lines[name]["form"] for name in NEVER] == ["exact"] * len(NEVER)
    assert [lines[name]["type"] for name in NEVER] == ["integer", "number", "date", "date"]
    code = """
import sys; sys.path.insert(0, "scripts")
from load_release import read_release
found = read_release("out")
print({name: found[name].dtype.kind for name in found.columns if not name.startswith("age")})
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kinds = {"group": "i", "year": "i", "dose": "f", "day": "M", "seen": "M", "pay": "i"}
    assert done.stdout.strip() == str(kinds)


def test_a_column_of_such_a_name_is_no_hindrance() -> None:
    table = patients().with_columns(year_low=pl.lit("x"))
    schema = shoal.Schema(
        quasi=["age", *NEVER], sensitive="pay", never_mix=NEVER, other=["year_low"]
    )
    release = shoal.anonymize(
        table, schema, require="KAnonymity(k=2)", form="means", missing="value"
    )
    assert release.table.columns == ["group", *AGE["means"], *NEVER, "pay", "year_low"]
