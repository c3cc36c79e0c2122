"""A table in Latin-1, from inspection to publication; names of files that are not UTF-8."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

import jvm
import shoal as library
from system.shell import people, shoal, write_csv

TOWNS = ("Köln", "Düsseldorf", "Genève", "Ulm")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [row | {"town": TOWNS[place % 4]} for place, row in enumerate(people(120))]
    path = write_csv(tmp_path / "table.csv", rows)
    plain = path.read_text("utf-8").encode("latin-1", "replace")
    path.write_bytes(plain)
    return path


def test_every_command_reads_it_where_the_encoding_is_said(table: Path, tmp_path: Path) -> None:
    said = ("--encoding", "latin-1")
    roles = ("--quasi", "age,town", "--sensitive", "salary")
    asked = ("--require", "KAnonymity(k=4)")
    assert shoal("inspect", table).code == 0  # it proposes what to say
    for call in (
        ("plan", table, "--sensitive", "salary"),
        ("compare", table, *roles, *asked, "--method", "Split()"),
        ("tune", table, *roles, *asked, "--method", "Split()", "--vary", "k=3,4"),
        ("audit", table, "--quasi", "age,town", "--sensitive", "salary"),
        ("anonymize", table, *roles, *asked, "--output", tmp_path / "out"),
    ):
        assert shoal(*call).code == 2, call
        outcome = shoal(*call, *said)
        assert outcome.code == 0, outcome
    published = (tmp_path / "out" / "release.csv").read_text("utf-8")
    assert "Köln" in published
    assert "Genève" in published


def test_a_schema_file_says_it_once(table: Path, tmp_path: Path) -> None:
    schema = tmp_path / "shoal.toml"
    outcome = shoal("init", table, "--output", schema, "--encoding", "latin-1")
    assert outcome.code == 0, outcome
    assert 'encoding = "latin-1"' in schema.read_text("utf-8")
    outcome = shoal("inspect", table, "--encoding", "latin-17")
    assert outcome.code == 2
    assert "--encoding takes" in outcome.said
    outcome = shoal("anonymize", "--schema", schema, "--output", tmp_path / "out")
    assert outcome.code in {0, 3}, outcome  # what init proposes may not be achievable for so few
    schema.write_text(schema.read_text("utf-8").replace("latin-1", "latin-17"), "utf-8")
    outcome = shoal("anonymize", "--schema", schema, "--output", tmp_path / "other")
    assert outcome.code == 2
    assert "shoal.toml, line" in outcome.said
    assert "encoding" in outcome.said


def test_a_release_under_any_name_is_audited(tmp_path):
    """On Linux any bytes are a name."""
    place = os.fsdecode(os.fsencode(tmp_path) + b"/r\xff")
    people = pl.DataFrame({"age": range(8), "pay": range(0, 800, 100)})
    schema = library.Schema(quasi="age", sensitive="pay")
    release = library.anonymize(people, schema, require="KAnonymity(k=2)")
    try:
        release.write(place)
    except library.OutputError:
        pytest.skip("this system knows no such names")
    assert library.audit(place).holds
    table = os.fsdecode(os.fsencode(tmp_path) + b"/t\xff.csv")
    Path(table).write_text("age,pay\n1,2\n", "utf-8")
    with pytest.raises(library.UsageError, match="not UTF-8"):
        library.init(table, tmp_path / "shoal.toml")
    assert not (tmp_path / "shoal.toml").exists()


WRITERS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda table, file: table.write_csv(file, separator="\t"),
    "jsonl": pl.DataFrame.write_ndjson,
    "parquet": pl.DataFrame.write_parquet,
    "feather": pl.DataFrame.write_ipc,
    "xlsx": pl.DataFrame.write_excel,
}


def odd_name(folder: Path, ending: str = "") -> Path:
    """Return a name that is not UTF-8; leave the test where the system knows no such names."""
    place = Path(os.fsdecode(os.fsencode(folder) + b"/t\xff" + ending.encode()))
    try:
        place.touch()
    except OSError:
        pytest.skip("this system knows no such names")
    place.unlink()
    return place


@pytest.mark.few(3)
@pytest.mark.parametrize("format", WRITERS)
def test_tables_and_releases_of_every_format_may_have_any_name(format, tmp_path):
    table, place = odd_name(tmp_path, f".{format}"), odd_name(tmp_path)
    with table.open("wb") as file:
        WRITERS[format](pl.DataFrame({"age": range(8), "pay": range(0, 800, 100)}), file)
    asked = ("--quasi", "age", "--sensitive", "pay", "--require", "KAnonymity(k=2)")
    for command in (
        ("inspect", table),
        ("plan", table, *asked[2:]),
        ("anonymize", table, *asked, "--output", place, "--format", format),
        ("audit", place, "--original", table),
        ("count", place, "pay > 300"),
        ("coarsen", place, "--require", "KAnonymity(k=4)", "--output", f"{place}-2"),
    ):
        outcome = shoal(*command)
        assert outcome.code == 0, (command, outcome.err)
    assert len(library.measures.read(place)) == 8


@pytest.mark.spark
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_spark_refuses_names_that_it_cannot_read(format, tmp_path):
    table = odd_name(tmp_path, f".{format}")
    with table.open("wb") as file:
        WRITERS[format](pl.DataFrame({"age": range(8), "pay": range(0, 800, 100)}), file)
    run = library.results.Run(
        table=table,
        schema=library.Schema(quasi="age", sensitive="pay"),
        require="KAnonymity(k=2)",
        output=tmp_path / "out",
        engine=jvm.engine(),
    )
    with pytest.raises(library.UsageError, match="not UTF-8, so Spark cannot read it"):
        run.publish()
