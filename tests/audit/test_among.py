"""Who of an original may be published: everyone who is, and nobody whom no published row fits."""

import csv
import json
import random
import re

import polars as pl
import pytest

import shoal
from shoal.audit.published import read_release
from shoal.audit.stranger import Stranger
from shoal.audit.tables import read_manifest
from shoal.exact import percent
from shoal.runs.attacking import of_one


def a_table(seed: int, rows: int = 90) -> pl.DataFrame:
    drawn = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [drawn.choice([*range(20, 60), None]) for _ in range(rows)],
            "town": [drawn.choice("abc") for _ in range(rows)],
            "ward": [drawn.choice("xyz") for _ in range(rows)],
            "pay": [drawn.choice([0, 0, *range(1000, 9000, 7)]) for _ in range(rows)],
        }
    )


def published(frame, folder, **how):
    schema = shoal.Schema(
        quasi=["age", "town"], sensitive="pay", other=["ward"], nobody_knows=["ward"]
    )
    how = {"require": "EpsilonM(epsilon=50, m=3)", "missing": "drop"} | how
    release = shoal.anonymize(frame, schema, **how)
    release.write(folder / "out", linkage=folder / "linkage.csv")
    with (folder / "linkage.csv").open(newline="") as file:
        return {int(one["row"]) for one in csv.DictReader(file)}


def fits(row: dict, line: dict) -> bool:
    """Return whether a row may be a published line, by the definition."""

    def inside(value, cell):
        read = json.loads(cell) if cell.startswith("[") else [cell]
        if isinstance(value, int):
            return float(read[0]) <= value <= float(read[-1])
        return value in map(str, read)

    if row["age"] is None or (str(row["pay"]), row["ward"]) != (line["pay"], line["ward"]):
        return False
    return inside(row["age"], line["age"]) and inside(row["town"], line["town"])


@pytest.mark.parametrize("how", [{}, {"suppress": "20%"}])
def test_who_may_be_published_is_everyone_whom_a_line_fits(tmp_path, how) -> None:
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        frame = a_table(seed)
        there = published(frame.head(75), folder, **how)
        found = Stranger.of(
            read_release(folder / "out", read_manifest(folder / "out")), frame
        ).among.tolist()
        with (folder / "out" / "release.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        expected = [
            place
            for place, row in enumerate(frame.iter_rows(named=True))
            if any(fits(row, line) for line in lines)
        ]
        assert found == expected
        assert there <= {*found}
        assert len(there) < frame.height


@pytest.mark.parametrize("form", ["two-tables", "bounds", "means"])
def test_every_form_knows_them(tmp_path, form) -> None:
    frame = a_table(9).drop("ward")
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    release = shoal.anonymize(
        frame, schema, require="EpsilonM(epsilon=50, m=3)", missing="drop", form=form
    )
    release.write(tmp_path / "out", linkage=tmp_path / "linkage.csv")
    found = Stranger.of(
        read_release(tmp_path / "out", read_manifest(tmp_path / "out")), frame
    ).among.tolist()
    known = {place for place, age in enumerate(frame["age"]) if age is not None}
    assert {*found} == known


def test_the_annex_measures_those_who_are_published(tmp_path) -> None:
    """No number of it is diluted by rows that were left out, and all say over whom they are."""
    drawn = random.Random(5)
    frame = pl.DataFrame(
        {
            "age": [drawn.choice([*range(20, 60), None]) for _ in range(120)],
            "town": [drawn.choice("abc") for _ in range(120)],
            "ward": ["x"] * 120,
            "pay": range(1000, 121000, 1000),
        }
    )
    there = published(frame.head(90), tmp_path)
    shoal.dossier(tmp_path / "out", tmp_path / "d.html", norm="gdpr", original=frame)
    page = re.sub(r"<[^>]*>", " ", (tmp_path / "d-private.html").read_text())
    page = re.sub(r"\s+", " ", page.replace("\xa0", " "))
    some = frame[sorted(there)]
    alike = some.group_by("age", "town").len()["len"]
    assert f"over the {len(there)} rows that are published, of the 120 rows" in page
    assert (
        f"{percent(int((alike == 1).sum()) / len(there))} of {len(there)} rows are the only" in page
    )
    found = of_one(shoal.attack([tmp_path / "out"], original=some)).to_dict()
    for one in (*found["linking"], *found["guessing"]):
        assert one["sentence"].replace("\xa0", " ").replace("'", "&#39;") in page


def test_where_no_row_fits_the_annex_says_that_it_does_not_know_which(tmp_path) -> None:
    frame = a_table(3)
    published(frame, tmp_path)
    other = frame.with_columns(pay=pl.col("pay") + 100_000)
    shoal.dossier(tmp_path / "out", tmp_path / "d.html", norm="gdpr", original=other)
    page = (tmp_path / "d-private.html").read_text()
    assert "over all 90 rows of the original table. The release publishes" in page
