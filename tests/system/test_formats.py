"""Every format in and out, on the command line; and every way in which a file can be wrong."""

import gzip
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
import zstandard

import shoal as package
from shoal.audit.published import read_release
from shoal.audit.tables import read_manifest
from shoal.table.files import FORMATS
from shoal.table.reading import read_table
from system.shell import COMMAND, ROLES, Outcome, Row, anonymize, names_in, run, shoal, write_csv

EPSILON_M = "EpsilonM(epsilon=500, m=3)"
ASKED = (*ROLES, "--sensitive", "salary", "--require", EPSILON_M)
Writer = Callable[[pl.DataFrame, Path], object]


def packed(write: Writer, pack: Callable[[bytes], bytes]) -> Writer:
    def writing(table: pl.DataFrame, path: Path) -> None:
        plain = path.with_name("plain")
        write(table, plain)
        path.write_bytes(pack(plain.read_bytes()))

    return writing


WRITERS: dict[str, Writer] = {
    "table.csv": pl.DataFrame.write_csv,
    "semicolons.csv": lambda table, path: table.write_csv(path, separator=";"),
    "table.tsv": lambda table, path: table.write_csv(path, separator="\t"),
    "table.parquet": pl.DataFrame.write_parquet,
    "table.arrow": pl.DataFrame.write_ipc,
    "stream.arrow": pl.DataFrame.write_ipc_stream,
    "table.jsonl": pl.DataFrame.write_ndjson,
    "table.xlsx": pl.DataFrame.write_excel,
    "table.csv.gz": packed(pl.DataFrame.write_csv, gzip.compress),
    "table.jsonl.zst": packed(pl.DataFrame.write_ndjson, zstandard.compress),
    "table.parquet.zst": packed(pl.DataFrame.write_parquet, zstandard.compress),
    "two-frames.csv.zst": packed(
        pl.DataFrame.write_csv,
        lambda data: zstandard.compress(data[:999]) + zstandard.compress(data[999:]),
    ),
    "wrong-ending.csv": pl.DataFrame.write_parquet,
    "no-ending": pl.DataFrame.write_ipc,
}


def refused(outcome: Outcome, code: int, *words: str) -> None:
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert "Traceback" not in outcome.err
    assert "unforeseen" not in outcome.err
    for word in words:
        assert word in outcome.said, (word, outcome)


@pytest.fixture
def frame(table: Path) -> pl.DataFrame:
    return pl.read_csv(table)


# In


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_is_read_whatever_it_is_written_in(
    frame: pl.DataFrame, place: Path, name: str
) -> None:
    WRITERS[name](frame, place / name)
    found = read_table(place / name)
    assert found.columns == frame.columns
    for column in ("name", "age", "town", "salary"):
        assert found[column].cast(pl.String).equals(frame[column].cast(pl.String))
    planned = shoal("plan", place / name, "--sensitive", "salary", "--m", "3", "--json")
    assert planned.json()["rows"] == frame.height


def test_numbers_of_a_sheet_that_are_whole_are_integers(place: Path) -> None:
    pl.DataFrame({"a": [1.0, 2.0], "b": [1.5, 2.0]}).write_excel(place / "t.xlsx")
    assert read_table(place / "t.xlsx").dtypes == [pl.Int64, pl.Float64]


def test_a_sheet_is_chosen_by_its_name(frame: pl.DataFrame, place: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(place / "t.xlsx") as book:
        pl.DataFrame({"x": [1]}).write_excel(book, worksheet="first")
        frame.write_excel(book, worksheet="people")
    asked = ("plan", place / "t.xlsx", "--sensitive", "salary", "--m", "3", "--json")
    assert shoal(*asked, "--sheet", "people").json()["rows"] == frame.height
    refused(shoal(*asked), 2, "no column 'salary'")
    refused(shoal(*asked, "--sheet", "nobody"), 2, "no sheet 'nobody'", "'first', 'people'")
    frame.write_csv(place / "t.csv")
    refused(shoal("plan", place / "t.csv", "--sheet", "a", "--sensitive", "x"), 2, "no Excel file")


def test_the_delimiter_can_be_said(place: Path) -> None:
    (place / "t.csv").write_text("a;b;c,d\n1,2\n", "utf-8")
    asked = ("plan", place / "t.csv", "--sensitive", "d", "--m", "1", "--json")
    assert shoal(*asked, "--delimiter", ",").json()["rows"] == 1
    refused(shoal(*asked), 2, "Data row 1", "semicolon")
    refused(shoal(*asked, "--delimiter", "!"), 2, "--delimiter", "'!'")
    (place / "t.csv").write_text("c\td\n1\t2\n", "utf-8")
    assert shoal(*asked, "--delimiter", "tab").json()["rows"] == 1


def test_standard_input_and_output_take_any_format(
    table: Path, frame: pl.DataFrame, tmp_path: Path
) -> None:
    frame.write_parquet(tmp_path / "t.parquet")
    for path in (table, tmp_path / "t.parquet"):
        with path.open("rb") as file:
            done = run("anonymize", "-", *ASKED, "--output", "-", stdin=file)
        assert done.code == 0, done
        published = pl.read_csv(io.StringIO(done.out))
        assert published.columns == ["group", "age", "note", "town", "score", "salary"]
        assert sorted(published["salary"]) == sorted(frame["salary"])
        assert "Measured" not in done.err
    command = f"'{COMMAND}' anonymize '{table}' --quiet --format parquet --output - --quasi age "
    command += "--sensitive salary --require 'KAnonymity(k=3)'"
    assert os.system(f"{command} > '{tmp_path / 'o.parquet'}'") == 0
    assert pl.read_parquet(tmp_path / "o.parquet").height == frame.height
    refused(shoal("anonymize", table, *ASKED, "--output", "-", "--json"), 2, "--json")
    refused(shoal("anonymize", table, *ASKED, "--output", "-", "--format", "x"), 2, "'x'")
    refused(shoal("plan", "-", table, "--sensitive", "salary"), 2, "Standard input")


def test_the_linkage_of_standard_output_is_written(table: Path, place: Path) -> None:
    done = run("anonymize", table, *ASKED, "--output", "-", "--linkage", place / "linkage.csv")
    assert done.code == 0, done
    assert (place / "linkage.csv").stat().st_mode & 0o777 == 0o600
    assert pl.read_csv(place / "linkage.csv").height == 300
    again = ("anonymize", table, *ASKED, "--output", "-", "--linkage")
    refused(shoal(*again, place / "linkage.csv"), 4, "exists")
    refused(shoal(*again, table, "--force"), 2, "input table")


def test_several_files_are_one_table(rows: list[Row], place: Path) -> None:
    parts = place / "parts"
    parts.mkdir()
    write_csv(parts / "a.csv", rows[:100])
    write_csv(parts / "b.csv", rows[100:200], header=reversed(list(rows[0])))
    write_csv(parts / "c.tsv", rows[200:])
    (parts / ".hidden").write_text("no table", "utf-8")
    (parts / "_SUCCESS").touch()
    for sources in (
        [parts],
        [parts / "*.?sv"],
        [parts / "c.tsv", parts / "b.csv", parts / "a.csv"],
    ):
        planned = shoal("plan", *sources, "--sensitive", "salary", "--m", "3", "--json")
        assert planned.json()["rows"] == 300
    done = shoal("anonymize", parts, *ASKED, "--output", place / "out")
    assert done.code == 0, done
    assert shoal("audit", place / "out").code == 0
    inside = shoal("anonymize", parts, *ASKED, "--output", parts, "--force")
    refused(inside, 2, "holds the input table")


def test_files_that_are_no_one_table_are_told_apart(rows: list[Row], place: Path) -> None:
    write_csv(place / "a.csv", rows)
    write_csv(place / "b.csv", rows, header=[name for name in rows[0] if name != "age"])
    asked = ("--sensitive", "salary")
    refused(shoal("plan", place / "a.csv", place / "b.csv", *asked), 2, "'b.csv' lacks 'age'")
    refused(shoal("plan", place / "b.csv", place / "a.csv", *asked), 2, "'a.csv' has 'age' besides")
    refused(shoal("plan", place / "a.csv", place / "a.csv", *asked), 2, "'a.csv' is named twice")
    pl.read_csv(place / "a.csv").write_parquet(place / "c.parquet")
    typed = shoal("plan", place / "a.csv", place / "c.parquet", *asked)
    refused(typed, 2, "column 'age' is String in 'a.csv' but Int64 in 'c.parquet'")
    refused(shoal("plan", place / "*.txt", *asked), 2, "'*.txt'")
    (place / "none").mkdir()
    refused(shoal("plan", place / "none", *asked), 2, "'none' has no files")
    refused(shoal("plan", place, *asked), 2, "has a directory 'none'")
    (place / "none" / "manifest.json").touch()
    refused(shoal("plan", place / "none", *asked), 2, "is a release")


# Wrong files


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("missing", [12, None])
def test_a_cut_or_empty_file_is_refused_with_its_name(
    frame: pl.DataFrame, place: Path, name: str, missing: int | None
) -> None:
    WRITERS[name](frame, place / name)
    data = (place / name).read_bytes()
    (place / name).write_bytes(data[:-missing] if missing else b"")
    refused(shoal("plan", place / name, "--sensitive", "salary"), 2, name.split(".", maxsplit=1)[0])


@pytest.mark.parametrize(
    "name", [name for name in WRITERS if "csv" not in name and "tsv" not in name]
)
def test_a_spoiled_file_is_refused_with_its_name(
    frame: pl.DataFrame, place: Path, name: str
) -> None:
    WRITERS[name](frame, place / name)
    data = bytearray((place / name).read_bytes())
    data[len(data) // 3 :: 7] = bytes(255 - byte for byte in data[len(data) // 3 :: 7])
    (place / name).write_bytes(data)
    refused(shoal("plan", place / name, "--sensitive", "salary"), 2, name.split(".", maxsplit=1)[0])


def test_files_of_other_kinds_are_named_for_what_they_are(place: Path) -> None:
    cases = {
        "people.db": (b"SQLite format 3\0" + bytes(100), "sqlite:///people.db"),
        "people.duckdb": (bytes(8) + b"DUCK" + bytes(100), "duckdb:///people.duckdb"),
        "old.feather": (b"FEA1" + bytes(100), "version 1"),
        "photo.jpg": (b"\xff\xd8\xff\xe0" + bytes(100), "not text"),
        "array.json": (b'{"a": 1}\n[2]\n', "Line 2"),
        "mixed.jsonl": (b'{"a": true}\n{"a": 1}\n', "mixed types"),
        "empty.gz": (gzip.compress(b""), "empty"),
    }
    for name, (data, word) in cases.items():
        (place / name).write_bytes(data)
        refused(shoal("plan", place / name, "--sensitive", "a"), 2, name.split(".")[0], word)
    refused(shoal("plan", place / "nobody.parquet", "--sensitive", "a"), 2, "'nobody.parquet'")
    asked = ("--query", "select 1", "--sensitive", "a")
    refused(shoal("plan", place / "photo.jpg", *asked), 2, "--query")


@pytest.mark.parametrize("twice", [["a", "a"], ["a", None]])
def test_a_sheet_needs_a_header(place: Path, twice: list[str | None]) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(place / "t.xlsx") as book:
        sheet = book.add_worksheet("people")
        sheet.write_row(0, 0, twice)
        sheet.write_row(1, 0, [1, 2])
        book.add_worksheet("empty")
    word = "both named 'a'" if None not in twice else "has no name"
    asked = ("plan", place / "t.xlsx", "--sensitive", "a")
    refused(shoal(*asked), 2, word)
    refused(shoal(*asked, "--sheet", "empty"), 2, "'empty'")


@pytest.mark.parametrize(
    ("module", "extra", "arguments"),
    [
        ("fastexcel", "excel", ("plan", "t.xlsx", "--sensitive", "a")),
        ("xlsxwriter", "excel", ("anonymize", "t.csv", "--format", "xlsx", "--output", "out")),
        ("duckdb", "duckdb", ("plan", "duckdb:///t.csv?table=t", "--sensitive", "a")),
        ("psycopg", "postgresql", ("plan", "postgresql:///x?table=t", "--sensitive", "a")),
    ],
)
def test_a_missing_package_is_named_with_what_to_install(
    table: Path,
    frame: pl.DataFrame,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    extra: str,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(place)
    frame.write_excel("t.xlsx")
    frame.write_csv("t.csv")
    monkeypatch.setitem(sys.modules, module, None)  # importing it fails
    if arguments[0] == "anonymize":
        arguments = (*arguments, *ASKED)
    refused(shoal(*arguments), 2, repr(module), f"pip install 'shoal[{extra}]'")
    assert names_in(place) == ["t.csv", "t.xlsx"]


def test_matching_is_installed_by_who_needs_it(
    table: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anonymize(table, place / "fine", "--require", EPSILON_M)
    for module in ("linear_sum_assignment", "max_flow"):
        monkeypatch.setitem(sys.modules, f"ortools.graph.python.{module}", None)
    for arguments in (
        ("anonymize", str(table), *ROLES, "--sensitive", "salary", "--require", "KAnonymity(k=2)",
         "--method", "Freeform()"),
        ("coarsen", str(place / "fine"), "--require", "KAnonymity(k=4)"),
    ):  # fmt: skip
        outcome = shoal(*arguments, "--output", str(place / "out"))
        refused(outcome, 2, "'ortools'", "pip install 'shoal[matching]'")
    assert names_in(place) == ["fine"]


# Out


@pytest.mark.few(2)
@pytest.mark.parametrize("format", FORMATS)
def test_a_release_in_any_format_is_audited_from_its_file(
    table: Path, place: Path, format: str
) -> None:
    done = anonymize(table, place / "out", "--format", format, require=EPSILON_M)
    assert done.code == 0, done
    assert names_in(place / "out") == [
        "codebook.csv",
        "manifest.json",
        f"release.{format}",
        "report.html",
    ]
    assert shoal("audit", place / "out").code == 0
    spoiled = read_table(place / "out" / f"release.{format}")
    manifest = json.loads((place / "out" / "manifest.json").read_text("utf-8"))
    assert spoiled.height == manifest["rows"]
    again = anonymize(table, place / "out", "--force", require=EPSILON_M)
    assert again.code == 0, again
    assert names_in(place / "out") == [
        "codebook.csv",
        "manifest.json",
        "release.csv",
        "report.html",
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("format", ["parquet", "feather", "jsonl", "xlsx"])
def test_a_heterogeneous_release_in_any_format_is_audited_against_its_original(
    table: Path, place: Path, format: str
) -> None:
    done = anonymize(
        table, place / "out", "--format", format, "--method", "Freeform()",
        require="KAnonymity(k=3)",
    )  # fmt: skip
    assert done.code == 0, done
    pl.read_csv(table).write_parquet(place / "people.parquet")
    for original in (table, place / "people.parquet"):
        assert shoal("audit", place / "out", "--original", original).code == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "feather", "xlsx", "sqlite"])
def test_dates_and_nodes_are_read_back_from_any_format(place: Path, format: str) -> None:

    times = [datetime(1890 + n, 1 + n % 12, 3, 4, 5, n) for n in range(40)]  # noqa: DTZ001
    people = pl.DataFrame(
        {
            "born": [time.date() for time in times],
            "seen": times,
            "code": [f"{n * 37 % 100:03d}" for n in range(40)],
            "pay": range(0, 4000, 100),
            "left": list(reversed(times)),
        }
    )
    schema = package.Schema(
        quasi=["born", "seen", "code"],
        sensitive="pay",
        other="left",
        hierarchies={"code": "Prefix()"},
    )
    release = package.anonymize(people, schema, require="EpsilonM(epsilon=150, m=3)")
    assert {c.kind for c in release.manifest.columns} == {"interval", "node", None}
    if format == "sqlite":
        assert release.write(f"sqlite:///{place}/o.db?table=t").holds
        return
    release.write(place / "out", format=format)
    assert package.audit(place / "out").holds
    found = read_release(place / "out", read_manifest(place / "out")).table
    for name in ("code", "left", "pay"):
        assert found[name].cast(pl.String).equals(release.published[name])
    if format in {"jsonl", "xlsx"}:  # without types of their own, dates are spelled as in CSV
        assert found["born"].equals(release.published["born"])


def test_json_lines_hold_real_arrays(table: Path, place: Path) -> None:
    assert anonymize(table, place / "out", "--format", "jsonl", require=EPSILON_M).code == 0
    lines = (place / "out" / "release.jsonl").read_text("utf-8").splitlines()
    for entry in map(json.loads, lines):
        low, high = entry["age"]
        assert isinstance(low, int)
        assert low <= high
        assert all(isinstance(label, str) for label in entry["town"])
        assert isinstance(entry["salary"], int)


def test_a_release_file_of_text_that_was_changed_fails_its_audit(table: Path, place: Path) -> None:
    assert anonymize(table, place / "out", "--format", "tsv.gz", require=EPSILON_M).code == 0
    path = place / "out" / "release.tsv.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))
    assert shoal("audit", place / "out").code == 1


def test_another_table_beside_the_published_one_is_named_and_not_read(
    table: Path, place: Path
) -> None:
    assert anonymize(table, place / "out", "--format", "tsv.gz", require=EPSILON_M).code == 0
    (place / "out" / "release.csv").touch()
    outcome = shoal("audit", place / "out")
    assert outcome.code == 0
    assert "'release.csv'" in outcome.said


def test_a_file_that_a_manifest_lists_belongs_to_a_release_or_is_refused(
    table: Path, place: Path
) -> None:
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0
    manifest = json.loads((place / "out" / "manifest.json").read_text("utf-8"))
    for name in ("linkage.csv", "x/y.csv"):
        (place / "out" / name).parent.mkdir(exist_ok=True)
        (place / "out" / name).write_bytes(b"row,release_row\n")
        digest = hashlib.sha256(b"row,release_row\n").hexdigest()
        said = manifest | {"digests": manifest["digests"] | {name: f"sha256:{digest}"}}
        (place / "out" / "manifest.json").write_text(json.dumps(said), "utf-8")
        outcome = shoal("audit", place / "out")
        assert outcome.code == 2
        assert f"'{name}', which is not a file of a release" in outcome.said


def test_a_sheet_does_not_say_when_it_was_made(table: Path, place: Path) -> None:
    assert anonymize(table, place / "out", "--format", "xlsx", require=EPSILON_M).code == 0
    today = datetime.now(UTC).strftime("%Y-%m-%d").encode()
    with zipfile.ZipFile(place / "out" / "release.xlsx") as sheet:
        assert not [name for name in sheet.namelist() if today in sheet.read(name)]
        assert {one.date_time for one in sheet.infolist()} == {(1980, 1, 31, 0, 0, 0)}


@pytest.mark.parametrize("cell", ["\ufffe", "x" * 40_000])
def test_what_excel_cannot_hold_is_refused_and_leaves_nothing(
    rows: list[Row], place: Path, cell: str
) -> None:
    changed = [row | {"note": cell if number == 7 else "n"} for number, row in enumerate(rows)]
    write_csv(place / "t.csv", changed)
    done = anonymize(place / "t.csv", place / "out", "--format", "xlsx", require=EPSILON_M)
    refused_quietly = [line for line in done.err.splitlines() if line.startswith("shoal:")]
    assert done.code == 4, done
    assert "'note'" in refused_quietly[0]
    assert names_in(place) == ["t.csv"]


def test_too_many_rows_for_a_sheet_are_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.release.writing.EXCEL_ROWS", 8)
    people = pl.DataFrame({"age": range(8), "pay": range(0, 8000, 1000)})
    schema = package.Schema(quasi="age", sensitive="pay")
    release = package.anonymize(people, schema, require=package.principles.KAnonymity(k=2))
    with pytest.raises(package.OutputError, match="7 rows, the release has 8"):
        release.write(place / "out", format="xlsx")
    assert names_in(place) == []
